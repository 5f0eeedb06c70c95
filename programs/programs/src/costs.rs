//! What computing costs on this computer: predictions of measured work are made of that. It is found in
//! rehearsals, which are runs of their own and never the run that is predicted.

use std::hint::black_box;
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use loggp::{Ports, Time, measure};
use parking_lot::Mutex;

use crate::math::median::median;
use crate::math::memory::written;

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
        let of = |kind| all.iter().filter_map(|costs| costs.of(kind)).collect::<Vec<Time>>();
        Costs(kinds.iter().map(|(kind, _)| (*kind, median(&of(kind)))).collect())
    }
}

/// Something to do in a rehearsal.
pub(crate) struct Step<'a, S> {
    /// What kind of computing it is, if it is to be timed.
    kind: Option<&'static str>,
    /// Whether all do it at the same time, or one after the other.
    together: bool,
    /// Does it, as this thread.
    act: Act<'a, S>,
}

/// What a thread with a number does with what it has prepared.
type Act<'a, S> = Box<dyn Fn(usize, &mut S) + Sync + 'a>;

impl<'a, S: 'a> Step<'a, S> {
    /// Computing of some kind.
    pub fn timed(kind: &'static str, act: impl Fn(&mut S) + Sync + 'a) -> Step<'a, S> {
        Step { kind: Some(kind), ..Step::between(act) }
    }

    /// The same, with what came in an exchange. With single ports one of two that exchange is done when the
    /// other's message begins, so one thread acts after the other.
    pub fn on_what_came(self, ports: Ports) -> Step<'a, S> {
        Step { together: ports == Ports::Dual, ..self }
    }

    /// What must be done between, and takes no time.
    pub fn between(act: impl Fn(&mut S) + Sync + 'a) -> Step<'a, S> {
        Step::of(Box::new(move |_, state| act(state)))
    }

    /// What each of so many threads has there goes to another, as messages come from another core.
    pub fn exchange<T>(threads: usize, there: fn(&mut S) -> &mut T) -> [Step<'a, S>; 2]
    where
        T: Default + Send + 'a,
    {
        let way: Arc<[Mutex<T>]> = (0..threads).map(|_| Mutex::default()).collect();
        let left = Arc::clone(&way);
        let leave = move |thread: usize, state: &mut S| *way[thread].lock() = take(there(state));
        let come = move |thread: usize, state: &mut S| {
            *there(state) = take(&mut *left[(thread + 1) % threads].lock())
        };
        [Step::of(Box::new(leave)), Step::of(Box::new(come))]
    }

    /// What all do at the same time, and is not timed.
    fn of(act: Act<'a, S>) -> Step<'a, S> {
        Step { kind: None, together: true, act }
    }
}

/// What each kind of computing costs a processor in all these steps: the mean of the threads, and the median of
/// many rounds.
///
/// A round is as much like a run as it can be without messages. There are as many threads as processors compute at
/// once, new ones, each on a core of its own, and they begin each step together: processors share the computer's memory
/// and perhaps more. Each has prepared what it acts on. If there are several, their caches know nothing of what all
/// share, which in a run another thread has made. A step finds there what the step before has left. Others who use
/// the computer take their part of a rehearsal as they do of a run.
pub(crate) fn rehearse<S>(threads: usize, prepare: impl Fn() -> S + Sync, steps: &[Step<S>]) -> Costs {
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
        if threads > 1 {
            drop(black_box(written(CACHE, 0_u8)));
        }
        let mut state = prepare();
        let time = |step: &Step<S>| {
            // All begin together; who is not to act waits once for each that is before.
            let (before, after) = if step.together { (1, 0) } else { (thread + 1, threads - thread - 1) };
            (0..before).for_each(|_| meeting.wait());
            let ((), time) = measure(|| (step.act)(thread, black_box(&mut state)));
            (0..after).for_each(|_| meeting.wait());
            time
        };
        steps.iter().map(time).collect()
    };
    let round = || {
        let meeting = Meeting::new(threads);
        let (live, meeting) = (&live, &meeting);
        let times: Vec<Vec<Time>> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..threads).map(|thread| scope.spawn(move || live(thread, meeting))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("a kernel computes what it is given"))
                .collect()
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

/// Where threads wait for each other without sleeping, as processors do: to wake up takes a while, and so does
/// what comes next.
struct Meeting {
    /// How many there are.
    threads: usize,
    /// How many have come, all times together.
    come: AtomicUsize,
}

impl Meeting {
    fn new(threads: usize) -> Meeting {
        Meeting { threads, come: AtomicUsize::new(0) }
    }

    /// Waits until all have come as often.
    fn wait(&self) {
        /// After so many looks somebody may need the core.
        const LOOKS: usize = 100_000;
        let all = (self.come.fetch_add(1, Ordering::AcqRel) / self.threads + 1) * self.threads;
        let mut looks = 0;
        while self.come.load(Ordering::Acquire) < all {
            looks += 1;
            if looks < LOOKS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::thread::ThreadId;

    use loggp::{NS, US};

    #[test]
    fn every_thread_takes_every_step_on_what_it_has_prepared() {
        let steps = [
            Step::timed("first", |steps: &mut Vec<usize>| {
                assert!(steps.is_empty());
                steps.push(7);
            }),
            Step::between(|steps: &mut Vec<usize>| {
                assert_eq!(*steps, [7]);
                steps.push(8);
            }),
            Step::timed("second", |steps| assert_eq!(*steps, [7, 8])),
            Step::timed("first", |_| {
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_millis(1) {}
            }),
        ];
        let costs = rehearse(3, Vec::new, &steps);
        let kinds: Vec<_> = costs.0.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, ["first", "second"]);
        assert!(costs.of("first") > costs.of("second"), "{costs:?}");
        assert_eq!(costs.of("third"), None);
    }

    #[test]
    fn one_thread_acts_after_the_other_where_ports_are_single() {
        let acting = AtomicBool::new(false);
        let alone = Step::timed("alone", |_| {
            assert!(!acting.swap(true, Ordering::SeqCst));
            std::thread::sleep(Duration::from_millis(1));
            acting.store(false, Ordering::SeqCst);
        });
        rehearse(3, || (), &[alone.on_what_came(Ports::Single)]);
    }

    #[test]
    fn what_is_exchanged_comes_from_another_thread() {
        let id = || std::thread::current().id();
        let mut steps = vec![Step::between(|sent: &mut Vec<ThreadId>| sent.push(id()))];
        steps.extend(Step::exchange(3, |sent| sent));
        steps.push(Step::between(|came: &mut Vec<ThreadId>| assert!(came.len() == 1 && came[0] != id())));
        rehearse(3, Vec::new, &steps);
    }

    #[test]
    fn a_median_is_that_of_each_kind() {
        let costs = |first, second| Costs(vec![("first", first * US), ("second", second * NS)]);
        let all = [costs(1, 30), costs(9, 10), costs(2, 20)];
        assert_eq!(Costs::median(&all), costs(2, 20));
        assert_eq!(Costs::median(&[]), Costs::default());
    }
}
