//! Coroutines, and the memory that their stacks and those of threads lie in.

mod arena;
pub(super) mod coroutines;
mod mappings;
pub(super) mod overflow;
pub(crate) mod prefetch;

pub(crate) use mappings::{SPARE_MAPPINGS, first_number, mappings};
