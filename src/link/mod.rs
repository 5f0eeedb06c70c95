//! Links between processes, which make a real machine in place of the emulated one.
//!
//! A [`Link`] carries bytes from one process to another, and knows nothing of tags, types and receives, which
//! the machine handles. So everything that can carry bytes in order can be a link. [`Channels`] are a link
//! between threads.

mod channels;
mod contract;

pub use channels::Channels;
pub use contract::{Incoming, Link};
