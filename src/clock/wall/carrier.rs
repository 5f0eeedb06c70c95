//! The carriers of processors on the wall clock: threads and coroutines. They differ in how a core is handed
//! from one processor to another. The [wall clock](super) decides which processor holds a core, and which is
//! next.

use std::io::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use corosensei::{CoroutineResult, Yielder};
use loggp_model::error::Cause;

use super::cores::{HostCores, pin};
use crate::clock::StackSettings;
use crate::clock::assignment::CoreAssignment;
use crate::clock::stacks::coroutines::Coroutines;
use crate::clock::stacks::overflow::WatchedStacks;
use crate::clock::sync::{Parker, Unparker};

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
pub(super) trait Berth {
    /// Waits until the core is handed to the processor for the first time, or the run has ended.
    fn wait_for_core(&self);

    /// Hands the core over to processor `other`. Returns when it is handed back, or the run has ended.
    fn hand_over_to(&self, other: u32);
}

/// Runs a processor's program in its berth, from its start to its end. Returns the program's result; `None`
/// if the run has failed.
type RunInBerth<'a, T> = &'a (dyn Fn(usize, &dyn Berth) -> Option<T> + Sync);

/// Fails the run.
type Fail<'a> = &'a (dyn Fn(Cause) + Sync);

/// The berth of a processor that is a thread: a hand-over unparks the new holder's thread and parks the old
/// one's.
pub(super) struct ThreadBerth<'a> {
    pub parker: Parker,
    /// One for each processor.
    pub unparkers: &'a [Unparker],
}

impl Berth for ThreadBerth<'_> {
    fn wait_for_core(&self) {
        self.parker.park();
    }

    fn hand_over_to(&self, other: u32) {
        self.unparkers[other as usize].unpark();
        self.parker.park();
    }
}

/// The berth of a processor that is a coroutine on its core's only thread. It hands the core over by yielding
/// the other processor's number, which switches stacks.
struct CoroutineBerth<'a>(&'a Yielder<(), u32>);

impl Berth for CoroutineBerth<'_> {
    fn wait_for_core(&self) {} // the coroutine is first resumed when the core is handed to it

    fn hand_over_to(&self, other: u32) {
        self.0.suspend(other);
    }
}

/// Gives each processor a thread with `stack` bytes of stack, pinned to its core. Returns, when all have
/// ended, each processor's result and whether all threads could be pinned.
pub(super) fn carry_by_threads<T: Send>(
    parkers: Vec<Parker>,
    unparkers: &[Unparker],
    stack: usize,
    cores: usize,
    fail: Fail,
    run_in_berth: RunInBerth<T>,
) -> (Vec<Option<T>>, bool) {
    let P = parkers.len();
    let thread = |id: usize| Builder::new().name(format!("processor {id}")).stack_size(stack);
    let refused = |made: usize, error: &Error| {
        format!(
            "this computer gave {made} of {P} threads ({error}); use fewer processors, or let coroutines carry them, \
             or raise the limit that it met: ulimit -u, kernel.threads-max, vm.max_map_count or the control group's \
             pids.max"
        )
    };
    // The first processor of each core holds the core; the others start when the core is handed to them.
    unparkers[..cores].iter().for_each(Unparker::unpark);
    let (results, pinned) = run_on_threads(parkers, thread, Some(cores), fail, refused, |id, parker| {
        let _watched = WatchedStacks::of_thread(id, stack);
        run_in_berth(id, &ThreadBerth { parker, unparkers })
    });
    (results.into_iter().map(Option::flatten).collect(), pinned)
}

/// Gives each core a thread, which is pinned if `pins` is set, and each processor a coroutine on its core's
/// thread. Returns, when all have ended, each processor's result and whether all
/// threads could be pinned.
pub(super) fn carry_by_coroutines<T: Send>(
    assignment: CoreAssignment,
    stack: StackSettings,
    pins: bool,
    fail: Fail,
    run_in_berth: RunInBerth<T>,
) -> (Vec<Option<T>>, bool) {
    let cores = assignment.cores();
    let thread = |core: usize| Builder::new().name(format!("core {core}"));
    let refused = |made: usize, error: &Error| {
        format!("this computer gave {made} of {cores} threads, one for each core ({error})")
    };
    let each = vec![(); cores];
    let (by_core, pinned) = run_on_threads(each, thread, pins.then_some(cores), fail, refused, |core, ()| {
        let start = |id: usize, yielder: &Yielder<(), u32>| run_in_berth(id, &CoroutineBerth(yielder));
        let coroutines = Coroutines::new(assignment.processors(core), stack, &start);
        let Ok(mut coroutines) = coroutines.map_err(fail) else { return Vec::new() };
        let (mut holder, mut ended) = (0, Vec::new());
        // A holder returns only when the run has ended: a processor that has finished stays until all have.
        while ended.is_empty() {
            match coroutines.resume(holder) {
                CoroutineResult::Yield(other) => holder = assignment.seat_index(other as usize),
                CoroutineResult::Return(result) => ended.push((assignment.processor(core, holder), result)),
            }
        }
        coroutines.run_to_end(|seat_index, result| {
            ended.push((assignment.processor(core, seat_index), result));
        });
        ended
    });
    let mut results: Vec<Option<T>> = (0..assignment.P()).map(|_| None).collect();
    for (id, result) in by_core.into_iter().flatten().flatten() {
        results[id] = result;
    }
    (results, pinned)
}

/// Runs `work` on a thread for each item, all at the same time. They are pinned to this number of cores, one
/// after the other, if it is given. Returns their results, `None` of a thread that panicked, and whether all
/// threads could be pinned. Fails the run if the host makes fewer threads.
fn run_on_threads<I: Send, T: Send>(
    items: Vec<I>,
    thread: impl Fn(usize) -> Builder,
    pinned_to: Option<usize>,
    fail: Fail,
    refused: impl Fn(usize, &Error) -> String,
    work: impl Fn(usize, I) -> T + Sync,
) -> (Vec<Option<T>>, bool) {
    let (ids, are_pinned) = (HostCores::detect().ids(), AtomicBool::new(true));
    let run = |index: usize, item: I| {
        if !pinned_to.is_some_and(|cores| pin(index % cores, &ids)) {
            are_pinned.store(false, Ordering::Relaxed);
        }
        work(index, item)
    };
    let run = &run;
    let results = std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            match thread(index).spawn_scoped(scope, move || run(index, item)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    fail(Cause::Host(refused(index, &error)));
                    break;
                }
            }
        }
        threads.into_iter().map(|thread| thread.join().ok()).collect()
    });
    (results, are_pinned.into_inner())
}
