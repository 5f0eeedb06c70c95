//! Processors that are processes: a real machine in place of the emulated one.
//!
//! A [`Link`] carries bytes from one process to another, and knows nothing of tags, types and receives: those are the
//! machine's own. So whatever can carry bytes in order can be a machine. [`Channels`] are one between threads.

mod channels;
mod contract;

pub use channels::Channels;
pub use contract::{Came, Link};
