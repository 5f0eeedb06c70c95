//! The interface between a processor and its carrier.

/// The carrier of a processor on the wall clock. On the virtual clock it is always a coroutine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Carrier {
    /// Each processor has a thread of its own, pinned to its core.
    #[default]
    Thread,
    /// The processors of a core share one thread, on which each is a coroutine. Handing the core over then
    /// takes less than a tenth of the time, so far more processors can act at once. But the processors share
    /// everything that belongs to a thread: thread-locals, and locks that know which thread holds them.
    Coroutine,
}

/// The berth in which a processor stays while others hold its core.
pub(in crate::clock::wall) trait Berth {
    /// Waits until the core is handed to the processor for the first time, or the run has ended.
    fn wait_for_core(&self);

    /// Hands the core over to processor `other`. Returns when it is handed back, or the run has ended.
    fn hand_over_to(&self, other: u32);
}

/// Runs a processor's program in its berth, from its start to its end. Returns the program's result; `None`
/// if the run has failed.
pub(super) type RunInBerth<'a, T> = &'a (dyn Fn(usize, &dyn Berth) -> Option<T> + Sync);
