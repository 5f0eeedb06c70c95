//! What some computation takes on this computer: predictions of measured work are made of such times. They come
//! from runs of their own, never from the run that is predicted.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loggp::{Time, thread_time};

/// How long it takes each of so many threads, on a core of its own, to `act` on what it has prepared, if all do
/// at the same time, since they share the computer's memory and perhaps more. Before each round `reset` makes it
/// ready.
///
/// It is the slowest thread that counts, and the median of the rounds, as it is of the runs that are measured:
/// others who use the computer take their part of both.
pub fn at_once<S>(
    threads: usize,
    prepare: impl Fn() -> S + Sync,
    reset: impl Fn(&mut S) + Sync,
    act: impl Fn(&mut S) + Sync,
) -> Time {
    /// The others come and go in tenths of a second.
    const FOR: Duration = Duration::from_millis(150);
    const LEAST: usize = 5;
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let (barrier, over) = (Barrier::new(threads), AtomicBool::new(false));
    let live = |thread: usize| {
        if let Some(core) = cores.get(thread) {
            core_affinity::set_for_current(*core);
        }
        let mut state = prepare();
        let mut times = Vec::new();
        let begin = Instant::now();
        loop {
            reset(&mut state);
            // One decides for all: before they meet, so that all know, and not again before they have met twice.
            if thread == 0 && times.len() >= LEAST && begin.elapsed() > FOR {
                over.store(true, Ordering::Relaxed);
            }
            barrier.wait();
            if over.load(Ordering::Relaxed) {
                return times;
            }
            barrier.wait();
            let start = thread_time();
            act(black_box(&mut state));
            times.push(thread_time() - start);
        }
    };
    let live = &live;
    let times: Vec<Vec<Time>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || live(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a kernel computes what it is given")).collect()
    });
    let slowest = |round: usize| times.iter().map(|times| times[round]).max().unwrap_or_default();
    let mut rounds: Vec<Time> = (0..times[0].len()).map(slowest).collect();
    rounds.sort_unstable();
    rounds[rounds.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_acts_in_every_round_on_what_was_made_ready() {
        use std::sync::atomic::AtomicUsize;

        let acts = AtomicUsize::new(0);
        let act = |ready: &mut bool| {
            assert!(std::mem::take(ready));
            acts.fetch_add(1, Ordering::Relaxed);
        };
        let time = at_once(3, || false, |ready| *ready = true, act);
        let acts = acts.into_inner();
        assert!(acts >= 15 && acts.is_multiple_of(3), "{acts}");
        assert!(time >= Time::ZERO);
    }
}
