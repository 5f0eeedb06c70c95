//! Processors that are coroutines on their core's only thread: a hand-over switches stacks.

use corosensei::{CoroutineResult, Yielder};

use super::berth::{Berth, RunInBerth};
use crate::clock::assignment::CoreAssignment;
use crate::clock::stacks::coroutines::Coroutines;
use crate::clock::stacks::overflow::StackRegistry;
use crate::clock::wall::cores::{HostCores, pin};
use crate::error::Cause;

/// A processor's coroutine. It hands the core over by yielding the other processor's number.
struct CoroutineBerth<'a>(&'a Yielder<(), u32>);

impl Berth for CoroutineBerth<'_> {
    fn wait_for_core(&self) {} // the coroutine is first resumed when the core is handed to it

    fn hand_over_to(&self, other: u32) {
        self.0.suspend(other);
    }
}

/// Gives each core a thread, which is pinned if `pins` is set, and each processor a coroutine with `stack`
/// bytes of stack on its core's thread. Returns, when all have ended, each processor's result and whether all
/// threads could be pinned.
pub(in crate::clock) fn carry<T: Send>(
    assignment: CoreAssignment,
    stack: usize,
    pins: bool,
    fail: &(dyn Fn(Cause) + Sync),
    run_in_berth: RunInBerth<T>,
) -> (Vec<Option<T>>, bool) {
    let ids = HostCores::detect().ids();
    let (P, cores) = (assignment.P(), assignment.cores());
    let stacks = StackRegistry::new(P, stack);
    let run = |core: usize| {
        let pinned = pins && pin(core, &ids);
        let start = |id: usize, yielder: &Yielder<(), u32>| run_in_berth(id, &CoroutineBerth(yielder));
        match Coroutines::new(assignment.processors(core), stack, &stacks, &start) {
            Ok(coroutines) => (carry_core(coroutines, assignment), pinned),
            Err(cause) => {
                fail(cause);
                (Vec::new(), pinned)
            }
        }
    };
    let run = &run;
    let mut results: Vec<Option<T>> = (0..P).map(|_| None).collect();
    let mut all_pinned = true;
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(cores);
        for core in 0..cores {
            match std::thread::Builder::new()
                .name(format!("core {core}"))
                .spawn_scoped(scope, move || run(core))
            {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    fail(Cause::Host(format!(
                        "this computer gave {core} of {cores} threads, one for each core ({error})"
                    )));
                    break;
                }
            }
        }
        for (core, thread) in threads.into_iter().enumerate() {
            let (results_by_seat, pinned) = thread.join().unwrap_or_default();
            all_pinned &= pinned;
            results_by_seat
                .into_iter()
                .for_each(|(seat_index, result)| results[assignment.processor(core, seat_index)] = result);
        }
    });
    (results, all_pinned)
}

/// Resumes the coroutines of a core, one at a time, as they hand the core to each other, until the run has
/// ended. Then runs the other coroutines to their ends.
fn carry_core<T>(
    mut coroutines: Coroutines<u32, Option<T>>,
    assignment: CoreAssignment,
) -> Vec<(usize, Option<T>)> {
    let mut results_by_seat = Vec::new();
    let mut holder = 0;
    loop {
        match coroutines.resume(holder) {
            CoroutineResult::Yield(other) => holder = assignment.seat_index(other as usize),
            // A holder returns only when the run has ended: a processor that has finished stays until all
            // have.
            CoroutineResult::Return(result) => {
                results_by_seat.push((holder, result));
                break;
            }
        }
    }
    coroutines.run_to_end(|seat_index, result| results_by_seat.push((seat_index, result)));
    results_by_seat
}
