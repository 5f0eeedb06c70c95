//! Processors that are coroutines on their core's one thread: a hand-over switches stacks.

use corosensei::{CoroutineResult, Yielder};

use super::berth::{Berth, RunIn};
use crate::clock::spread::Spread;
use crate::clock::stacks::coroutines::Coroutines;
use crate::clock::stacks::overflow::Stacks;
use crate::clock::wall::cores::{Cores, pin};
use crate::error::Cause;

/// A processor's coroutine. It hands the core over by yielding the other processor's number.
struct CoroutineBerth<'a>(&'a Yielder<(), u32>);

impl Berth for CoroutineBerth<'_> {
    fn awaits_core(&self) {} // the coroutine is first resumed when the core is handed to it

    fn hands_over_to(&self, other: u32) {
        self.0.suspend(other);
    }
}

/// Gives each core a thread, which it pins if told, and each of its processors a coroutine with `stack` bytes of stack on one of them. Returns,
/// when all have ended, each processor's result and whether all threads could be pinned.
pub(in crate::clock) fn carry<T: Send>(
    spread: Spread,
    stack: usize,
    pins: bool,
    fail: &(dyn Fn(Cause) + Sync),
    run_in: RunIn<T>,
) -> (Vec<Option<T>>, bool) {
    let ids = Cores::here().ids();
    let (P, cores) = (spread.P(), spread.cores());
    let stacks = Stacks::new(P, stack);
    let run = |core: usize| {
        let pinned = pins && pin(core, &ids);
        let start = |id: usize, yielder: &Yielder<(), u32>| run_in(id, &CoroutineBerth(yielder));
        match Coroutines::new(spread.processors(core), stack, &stacks, &start) {
            Ok(coroutines) => (carry_core(coroutines, spread), pinned),
            Err(cause) => {
                fail(cause);
                (Vec::new(), pinned)
            }
        }
    };
    let run = &run;
    let mut lives: Vec<Option<T>> = (0..P).map(|_| None).collect();
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
            let (ended, pinned) = thread.join().unwrap_or_default();
            all_pinned &= pinned;
            ended.into_iter().for_each(|(place, life)| lives[spread.processor(core, place)] = life);
        }
    });
    (lives, all_pinned)
}

/// Resumes the coroutines of a core, one at a time, as they hand the core to each other, until the run has ended. Then
/// lets the coroutines that have not ended do so.
fn carry_core<T>(mut coroutines: Coroutines<u32, Option<T>>, spread: Spread) -> Vec<(usize, Option<T>)> {
    let mut ended = Vec::new();
    let mut holder = 0;
    loop {
        match coroutines.resume(holder) {
            CoroutineResult::Yield(other) => holder = spread.place(other as usize),
            // A holder returns only when the run has ended: a processor that has finished stays until all have.
            CoroutineResult::Return(life) => {
                ended.push((holder, life));
                break;
            }
        }
    }
    coroutines.end(|place, life| ended.push((place, life)));
    ended
}
