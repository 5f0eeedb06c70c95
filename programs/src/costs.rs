//! What computing costs on this computer: predictions of measured work are made of that. It is found in
//! rehearsals, which are runs of their own and never the run that is predicted.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use loggp::{Time, thread_time};

use crate::memory::written;

/// What each kind of computing costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs(Vec<(&'static str, Time)>);

impl Costs {
    /// The cost of one kind, if that is known.
    pub fn of(&self, kind: &str) -> Option<Time> {
        self.0.iter().find(|(other, _)| *other == kind).map(|(_, cost)| *cost)
    }

    /// Adds to the cost of a kind.
    pub fn add(&mut self, kind: &'static str, cost: Time) {
        match self.0.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, sum)) => *sum += cost,
            None => self.0.push((kind, cost)),
        }
    }

    /// The median of each kind's costs: all have the same kinds.
    pub fn median(all: &[Costs]) -> Costs {
        let Some(Costs(kinds)) = all.first() else { return Costs::default() };
        let median = |kind| {
            let mut costs: Vec<Time> = all.iter().filter_map(|costs| costs.of(kind)).collect();
            costs.sort_unstable();
            costs[costs.len() / 2]
        };
        Costs(kinds.iter().map(|(kind, _)| (*kind, median(kind))).collect())
    }
}

/// Something to do in a rehearsal, and what kind of computing that is. Steps of no kind are not timed.
pub(crate) struct Step<'a, S> {
    kind: Option<&'static str>,
    together: bool,
    act: Box<dyn Fn(usize, &mut S) + Sync + 'a>,
}

impl<'a, S> Step<'a, S> {
    /// Computing of some kind.
    pub fn timed(kind: &'static str, act: impl Fn(&mut S) + Sync + 'a) -> Step<'a, S> {
        Step { kind: Some(kind), together: true, act: Box::new(move |_, state| act(state)) }
    }

    /// The same, and perhaps one thread after the other.
    pub fn together(self, together: bool) -> Step<'a, S> {
        Step { together, ..self }
    }

    /// What must happen between, as messages do; it is told which thread it is.
    pub fn between(act: impl Fn(usize, &mut S) + Sync + 'a) -> Step<'a, S> {
        Step { kind: None, together: true, act: Box::new(act) }
    }
}

/// What each kind of computing costs a processor in all these steps.
///
/// As many threads as are said, each on a core of its own, take the steps together, on what each has prepared: as
/// processors do, which share the computer's memory and perhaps more, and find in their caches what the step before
/// has left there. Of a step the slowest thread counts, and of many rounds the median: others who use the
/// computer take their part of a rehearsal as they do of a run.
pub(crate) fn rehearse<S>(
    threads: usize,
    prepare: impl Fn() -> S + Sync,
    steps: &[Step<S>],
) -> Costs {
    /// The others come and go in tenths of a second.
    const FOR: Duration = Duration::from_millis(150);
    const LEAST: usize = 3;
    /// As many bytes as a core has caches of its own.
    const CACHE: usize = 4 << 20;
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let live = |thread: usize, meeting: &Meeting| {
        if let Some(core) = cores.get(thread) {
            core_affinity::set_for_current(*core);
        }
        drop(black_box(written(CACHE, 0_u8)));
        let mut state = prepare();
        let time = |step: &Step<S>| {
            // All begin together; who is not to act waits once for each that is before.
            let (before, after) = if step.together { (1, 0) } else { (thread + 1, threads - thread - 1) };
            (0..before).for_each(|_| meeting.wait());
            let start = thread_time();
            (step.act)(thread, black_box(&mut state));
            let time = thread_time() - start;
            (0..after).for_each(|_| meeting.wait());
            time
        };
        steps.iter().map(time).collect()
    };
    let round = || {
        let meeting = Meeting::new(threads);
        let (live, meeting) = (&live, &meeting);
        let times: Vec<Vec<Time>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || live(thread, meeting))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a kernel computes what it is given")).collect()
        });
        let mut costs = Costs::default();
        for (index, step) in steps.iter().enumerate() {
            if let Some(kind) = step.kind {
                let sum: Time = times.iter().map(|times| times[index]).sum();
                costs.add(kind, Time::from_ps(sum.as_ps() / threads as i64));
            }
        }
        costs
    };
    let begin = Instant::now();
    let mut rounds = Vec::new();
    while rounds.len() < LEAST || begin.elapsed() < FOR {
        rounds.push(round());
    }
    Costs::median(&rounds)
}

struct Meeting {
    threads: usize,
    come: AtomicUsize,
}
impl Meeting {
    fn new(threads: usize) -> Meeting { Meeting { threads, come: AtomicUsize::new(0) } }
    fn wait(&self) {
        let come = self.come.fetch_add(1, Ordering::AcqRel);
        let all = (come / self.threads + 1) * self.threads;
        let mut spins = 0;
        while self.come.load(Ordering::Acquire) < all {
            spins += 1;
            if spins > 100_000 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::{MS, NS, US};

    #[test]
    fn every_thread_takes_every_step_on_what_it_has_prepared() {
        let steps = [
            Step::timed("first", |steps: &mut Vec<usize>| {
                assert!(steps.is_empty());
                steps.push(7);
            }),
            Step::between(|thread, steps| {
                assert!(thread < 3 && *steps == [7]);
                steps.push(thread);
            }),
            Step::timed("second", |steps| assert_eq!(steps.len(), 2)),
            Step::timed("first", |steps| {
                let begin = thread_time();
                while steps[1] == 1 && thread_time() - begin < MS {}
            }),
        ];
        let costs = rehearse(3, Vec::new, &steps);
        let kinds: Vec<_> = costs.0.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, ["first", "second"]);
        assert!(costs.of("first").unwrap() >= MS, "the slowest counts: {costs:?}");
        assert_eq!(costs.of("third"), None);
    }

    #[test]
    fn a_median_is_that_of_each_kind() {
        let costs = |first, second| Costs(vec![("first", first * US), ("second", second * NS)]);
        let all = [costs(1, 30), costs(9, 10), costs(2, 20)];
        assert_eq!(Costs::median(&all), costs(2, 20));
        assert_eq!(Costs::median(&[]), Costs::default());
    }
}
