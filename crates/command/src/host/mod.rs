//! What the command needs of this computer: memory, files, the terminal, signals and other programs.

pub mod alloc;
pub mod browser;
pub mod draft;
pub mod executable;
pub mod folder;
pub mod interrupt;
pub mod links;
pub mod picture;
pub mod source;
pub mod stdout;
