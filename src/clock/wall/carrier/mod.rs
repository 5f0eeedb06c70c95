//! What carries a processor on the wall clock, and how its core passes from one to another.
//!
//! All else is the same for all carriers: who holds a core, when, and who is next is the [wall clock](super::wall)'s.

mod berth;
pub(super) mod coroutine;
pub(super) mod thread;

pub(super) use berth::Berth;
pub use berth::Carrier;
