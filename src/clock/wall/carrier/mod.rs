//! What carries a processor on the wall clock, and how a core is handed from one processor to another. Which processor
//! holds a core, and which is next, is the same for all carriers: the [wall clock](super::wall) decides it.

mod berth;
pub(super) mod coroutine;
pub(super) mod thread;

pub(super) use berth::Berth;
pub use berth::Carrier;
