//! The carriers of processors on the wall clock: threads and coroutines. They differ in how a core is handed
//! from one processor to another. The [wall clock](super::wall) decides which processor holds a core, and
//! which is next.

mod berth;
pub(super) mod coroutine;
pub(super) mod thread;

pub(super) use berth::Berth;
pub use berth::Carrier;
