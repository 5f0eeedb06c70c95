//! Coroutines, and the stacks of coroutines and threads: their memory, and the error of an overflow.

mod arena;
pub(super) mod coroutines;
mod mappings;
pub(super) mod overflow;
pub(crate) mod prefetch;
mod thread_stack;

pub(crate) use arena::{guards_any_number, unmap_kept};
pub(crate) use mappings::{SPARE_MAPPINGS, mappings};
pub use thread_stack::ThreadStack;
pub(crate) use thread_stack::{OwnStack, ParentStack};
