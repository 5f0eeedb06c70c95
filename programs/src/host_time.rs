//! What some computation takes on this computer: predictions of measured work are made of such times. They come
//! from runs of their own, never from the run that is predicted.

use std::hint::black_box;
use std::sync::Barrier;

use loggp::{NS, SEC, Time};
use rustix::time::{ClockId, clock_gettime};

/// How long it takes each of so many threads, on a core of its own, to `act` on what it has prepared, if all do
/// at the same time, since they share the computer's memory and perhaps more. Before each time `reset` makes it
/// ready.
///
/// It is the slowest thread that counts, and the median of the `rounds`, as it is of the runs that are measured:
/// others who use the computer take their part of both.
pub fn at_once<S>(
    threads: usize,
    rounds: usize,
    prepare: impl Fn() -> S + Sync,
    reset: impl Fn(&mut S) + Sync,
    act: impl Fn(&mut S) + Sync,
) -> Time {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let barrier = Barrier::new(threads);
    let live = |thread: usize| {
        if let Some(core) = cores.get(thread) {
            core_affinity::set_for_current(*core);
        }
        let mut state = prepare();
        let round = |_| {
            reset(&mut state);
            barrier.wait();
            let start = thread_time();
            act(black_box(&mut state));
            thread_time() - start
        };
        (0..rounds).map(round).collect::<Vec<Time>>()
    };
    let live = &live;
    let times: Vec<Vec<Time>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || live(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a kernel computes what it is given")).collect()
    });
    let slowest = |round: usize| times.iter().map(|times| times[round]).max().unwrap_or_default();
    let mut rounds: Vec<Time> = (0..rounds).map(slowest).collect();
    rounds.sort_unstable();
    rounds.get(rounds.len() / 2).copied().unwrap_or_default()
}

/// How long this thread has run.
fn thread_time() -> Time {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * SEC + time.tv_nsec * NS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_acts_in_every_round_on_what_was_made_ready() {
        use std::sync::atomic::{AtomicUsize, Ordering};

        let acts = AtomicUsize::new(0);
        let act = |ready: &mut bool| {
            assert!(std::mem::take(ready));
            acts.fetch_add(1, Ordering::Relaxed);
        };
        let time = at_once(3, 5, || false, |ready| *ready = true, act);
        assert_eq!(acts.into_inner(), 15);
        assert!(time >= Time::ZERO);
    }
}
