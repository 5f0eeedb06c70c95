//! What the command needs of this computer: memory, files, the terminal, signals and other programs.

pub mod alloc;
pub mod browser;
pub mod draft;
pub mod executable;
pub mod interrupt;
pub mod stdout;
