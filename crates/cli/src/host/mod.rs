//! What the command needs of this computer: memory, files, the terminal, signals and other programs.

pub(crate) mod alloc;
pub(crate) mod browser;
pub(crate) mod draft;
pub(crate) mod executable;
pub(crate) mod folder;
pub(crate) mod interrupt;
pub(crate) mod picture;
pub(crate) mod source;
pub(crate) mod stdout;
