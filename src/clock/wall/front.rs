//! What a core shows to the others, and what it sees of them: who may act next, and where.
//!
//! This is conservative parallel simulation (Chandy and Misra, 1979), in real time. An act that others can see
//! happens only when nobody on another core can still do what comes before it. So each core shows its **front**,
//! the moment before which none of its processors acts, and counts the messages that it has sent and let in. A
//! core that looks at the fronts of the others, and at what is under way between them, finds its **horizon**:
//! all that comes before it has been done. `README.md` beside this file proves it.

use crossbeam_utils::CachePadded;
use smallvec::SmallVec;

use super::ticks::HostClock;
use crate::clock::sync::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use crate::time::{NS, Time};

/// A moment in the order of all acts: the time, and the processor's place among those that act at it.
pub(super) type Moment = (Time, u32);

/// After all acts.
pub(super) const NEVER: Moment = (Time::MAX, u32::MAX);

/// The last time at which anybody acts.
///
/// A processor that computes is shown no later than this: whatever its local time, it goes on, and only who waits for a
/// message alone never acts by itself.
pub(super) const LAST: Time = Time::from_ps(Time::MAX.as_ps() - 1);

/// A processor that computes is taken to be up to this far behind its own time: it has to read the clock before it can
/// say how long it has computed.
const BEHIND: Time = Time::from_ps(250 * NS.as_ps());

/// What a core shows. Only its holder writes it.
#[repr(align(128))]
pub(super) struct Front {
    /// No processor of the core acts before this time.
    time: AtomicI64,
    /// At that time, none of them with a lower place than this acts.
    place: AtomicU64,
    /// If the holder computes, which takes as long as the host takes: the tick at which it began; else 0.
    since: AtomicU64,
    /// Whether nothing more can come of the core's processors by themselves: some look for messages, in vain.
    hopeless: AtomicBool,
    /// How often the front was lowered, because a message came that its receiver can act on earlier.
    lowered: AtomicU64,
    /// How many messages the core has let in from each other core.
    taken: SmallVec<[AtomicU64; 4]>,
    /// What the core has sent to each other core. With two cores nobody but the sender wants to know.
    sent: CachePadded<Box<[Sent]>>,
}

/// What a core shows of the messages that it has sent to another.
#[derive(Default)]
struct Sent {
    /// How many messages it has sent there.
    count: AtomicU64,
    /// No message that was not let in there yet arrives before this.
    least: AtomicI64,
}

/// What the holder of a core knows of the others.
pub(super) struct Outlook {
    /// The core's number.
    number: usize,
    /// What the core shows to the others.
    shown: Moment,
    /// No other core acts before this, unless because of a message that is let in here, or is sent from here later.
    horizon: Moment,
    /// What it has sent to each other core: how many messages, and the least arrival of those that may be under way.
    sent: SmallVec<[(u64, Time); 4]>,
    /// How many messages it has let in from each other core, and how many of them it has shown.
    taken: SmallVec<[(u64, u64); 4]>,
}

/// The place of core `other` among all cores but `core`.
#[inline]
pub(super) fn place(core: usize, other: usize) -> usize {
    other - usize::from(other > core)
}

impl Front {
    /// The front of one of so many cores, whose processors all act at time 0 first.
    pub(super) fn new(cores: usize) -> Front {
        let others = cores - 1;
        Front {
            time: AtomicI64::new(0),
            place: AtomicU64::new(0),
            since: AtomicU64::new(0),
            hopeless: AtomicBool::new(false),
            lowered: AtomicU64::new(0),
            taken: (0..others).map(|_| AtomicU64::new(0)).collect(),
            sent: CachePadded::new((0..others).map(|_| Sent::default()).collect()),
        }
    }

    /// The moment before which no processor of the core acts.
    ///
    /// The time is read before the place, and written after it. So what is read of two fronts in a row, the later one
    /// being later, is never later than the later one.
    #[inline]
    fn read(&self, host: &HostClock) -> Moment {
        let since = self.since.load(Ordering::Acquire);
        let time = Time::from_ps(self.time.load(Ordering::Acquire));
        if since != 0 && self.since.load(Ordering::Acquire) == since {
            // It has computed for so long, if the host has let it; then its own time is as far.
            return (time.max(time + host.since(since) - BEHIND).min(LAST), 0);
        }
        (time, self.place.load(Ordering::Acquire) as u32)
    }

    /// Says whether anything more can come of the core's processors by themselves.
    pub(super) fn shows_hope(&self, hope: bool) {
        self.hopeless.store(!hope, Ordering::SeqCst);
    }

    /// The holder computes from now on; what it shows is the time from which it does.
    #[inline]
    pub(super) fn computes(&self, now: u64) {
        self.since.store(now.max(1), Ordering::Release);
    }

    /// The holder has computed.
    #[inline]
    pub(super) fn has_computed(&self) {
        self.since.store(0, Ordering::Release);
    }
}

impl Outlook {
    /// The outlook of core `number` of so many.
    pub(super) fn new(number: usize, cores: usize) -> Outlook {
        let horizon = if cores == 1 { NEVER } else { (Time::ZERO, 0) };
        let (sent, taken) = (1..cores).map(|_| ((0, Time::MAX), (0, 0))).unzip();
        Outlook { number, shown: (Time::ZERO, 0), horizon, sent, taken }
    }

    /// No other core acts before this, as far as is known.
    #[inline]
    pub(super) fn horizon(&self) -> Moment {
        self.horizon
    }

    /// Shows the moment before which no processor of the core will act, and what was let in.
    #[inline]
    pub(super) fn show(&mut self, front: &Front, moment: Moment) {
        if self.sent.is_empty() {
            return; // there are no others
        }
        if moment != self.shown {
            let lower = moment < self.shown;
            self.shown = moment;
            front.place.store(moment.1.into(), Ordering::Release);
            front.time.store(moment.0.as_ps(), Ordering::Release);
            if lower && self.sent.len() > 1 {
                // After it is lower, and before the sender can learn that its message was let in. With two cores
                // nobody else asks.
                front.lowered.fetch_add(1, Ordering::SeqCst);
            }
        }
        for ((taken, shown), slot) in self.taken.iter_mut().zip(&front.taken) {
            if taken != shown {
                *shown = *taken;
                slot.store(*taken, Ordering::Release);
            }
        }
    }

    /// A message was let in from the core at this place.
    #[inline]
    pub(super) fn takes(&mut self, from: usize) {
        self.taken[from].0 += 1;
    }

    /// A message goes to the core at this place, which may act on it when it arrives.
    #[inline]
    pub(super) fn sends(&mut self, front: &Front, to: usize, arrival: Time) {
        self.horizon = self.horizon.min((arrival, 0));
        let (count, least) = &mut self.sent[to];
        *count += 1;
        *least = arrival.min(*least);
        if front.taken.len() > 1 {
            front.sent[to].least.store(least.as_ps(), Ordering::Release);
            front.sent[to].count.store(*count, Ordering::Release);
        }
    }

    /// Whether there is no hope on any core, and nothing is under way between them.
    pub(super) fn is_hopeless(&self, fronts: &[Front]) -> bool {
        let all = || 0..fronts.len();
        let count = |from: usize, to: usize| match from == self.number {
            true => self.sent[place(from, to)].0,
            false => fronts[from].sent[place(from, to)].count.load(Ordering::SeqCst),
        };
        let taken = |from: usize, to: usize| fronts[to].taken[place(to, from)].load(Ordering::SeqCst);
        // With two cores a sender shows no counts, but the lanes to this core have been looked at.
        let others = all().flat_map(|from| all().map(move |to| (from, to))).filter(|(from, to)| from != to);
        let mut counted = others.filter(|(from, _)| fronts.len() > 2 || *from == self.number);
        all().all(|core| fronts[core].hopeless.load(Ordering::SeqCst))
            && counted.all(|(from, to)| taken(from, to) == count(from, to))
    }

    /// Looks at all other cores for the horizon. What they have sent here must be let in before it holds.
    pub(super) fn look(&mut self, fronts: &[Front], host: &HostClock) {
        /// How often it looks if the others change meanwhile; the horizon that was known holds as well.
        const TRIES: usize = 4;
        let me = self.number;
        let others = || (0..fronts.len()).filter(move |other| *other != me);
        let lowered = || others().map(|other| fronts[other].lowered.load(Ordering::SeqCst)).sum::<u64>();
        let several = fronts.len() > 2;
        for _ in 0..TRIES {
            let before = if several { lowered() } else { 0 };
            let mut horizon = NEVER;
            for other in others() {
                let (sent, front) = (&mut self.sent[place(me, other)], &fronts[other]);
                // In this order: the front that is read accounts for all that was taken.
                if front.taken[place(other, me)].load(Ordering::Acquire) == sent.0 {
                    sent.1 = Time::MAX;
                }
                horizon = horizon.min((sent.1, 0)).min(front.read(host));
            }
            if several {
                for (from, to) in others().flat_map(|from| others().map(move |to| (from, to))) {
                    if from == to {
                        continue;
                    }
                    let sent = &fronts[from].sent[place(from, to)];
                    let count = sent.count.load(Ordering::Acquire);
                    if fronts[to].taken[place(to, from)].load(Ordering::Acquire) < count {
                        horizon = horizon.min((Time::from_ps(sent.least.load(Ordering::Acquire)), 0));
                    }
                }
                if lowered() != before {
                    continue;
                }
            }
            self.horizon = horizon;
            return;
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::time::US;

    /// Core 1 acts at 1 us, and sends to core 2, which can act on it at 2 us. Wherever the message is when core 0 looks,
    /// core 0 must not take it that nothing comes before 3 us.
    #[test]
    fn a_third_core_sees_what_is_under_way_between_two() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(|| {
            let fronts: Arc<Vec<Front>> = Arc::new((0..3).map(|_| Front::new(3)).collect());
            let [mut first, mut second, mut third] = [0, 1, 2].map(|core| Outlook::new(core, 3));
            first.show(&fronts[0], (3 * US, 0));
            second.show(&fronts[1], (US, 1));
            third.show(&fronts[2], NEVER);
            let in_lane = Arc::new(AtomicU64::new(0));

            let (sees, lane) = (fronts.clone(), in_lane.clone());
            let sending = thread::spawn(move || {
                second.sends(&sees[1], place(1, 2), 2 * US);
                lane.store(1, Ordering::Release);
                second.show(&sees[1], NEVER);
            });
            let (sees, lane) = (fronts.clone(), in_lane);
            let taking = thread::spawn(move || {
                if lane.load(Ordering::Acquire) == 1 {
                    third.takes(place(2, 1));
                    third.show(&sees[2], (2 * US, 2));
                }
            });
            first.look(&fronts, &HostClock::new(1.0));
            assert!(first.horizon() < (2 * US, 3), "{:?}", first.horizon());
            sending.join().unwrap();
            taking.join().unwrap();
        });
    }
}
