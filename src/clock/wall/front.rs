//! What a core shows to the others, and what it sees of them, so that acts happen in their order.
//!
//! This is conservative parallel simulation (Chandy and Misra, 1979), in real time. A processor acts only when no
//! processor on another core can still act earlier. So each core shows its **front**, the moment before which none
//! of its processors acts, and counts the messages that it has sent and let in. A core that looks at the fronts of
//! the others, and at the messages under way between them, finds its **horizon**: all acts before the horizon have
//! been done. `README.md` beside this file proves it.

use crossbeam_utils::CachePadded;
use smallvec::SmallVec;

use super::ticks::HostClock;
use crate::clock::sync::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use crate::time::{NS, Time};

/// A moment in the order of all acts: the time, and the processor's place among those that act at this time.
pub(super) type Moment = (Time, u32);

/// The moment after all acts.
pub(super) const NEVER: Moment = (Time::MAX, u32::MAX);

/// The last time at which any processor acts.
///
/// The front of a processor that computes is no later than this: whatever its local time, it will go on. Only a processor
/// that waits for a message without a deadline may never act.
pub(super) const LAST: Time = Time::from_ps(Time::MAX.as_ps() - 1);

/// How much less than the host's time a processor is taken to have computed: it reads the clock before it says how long it
/// has computed.
const BEHIND: Time = Time::from_ps(250 * NS.as_ps());

/// What a core shows. Only its holder writes it.
#[repr(align(128))]
pub(super) struct Front {
    /// No processor of the core acts before this time.
    time: AtomicI64,
    /// At this time, no processor of the core with a lower place acts.
    place: AtomicU64,
    /// The tick at which the holder began to compute, if it computes and its work is measured; else 0.
    since: AtomicU64,
    /// Whether the core's processors can do nothing more by themselves: some look for messages, but in vain.
    hopeless: AtomicBool,
    /// How often the front was lowered, because of a message on which its receiver can act earlier.
    lowered: AtomicU64,
    /// How many messages the core has let in from each other core.
    taken: SmallVec<[AtomicU64; 4]>,
    /// What the core has sent to each other core. It is not written if there are two cores: only a third one reads it.
    sent: CachePadded<Box<[Sent]>>,
}

/// What a core shows of the messages that it has sent to another core.
#[derive(Default)]
struct Sent {
    /// How many messages it has sent.
    count: AtomicU64,
    /// No message that is still under way arrives before this.
    least: AtomicI64,
}

/// What the holder of a core knows of the others.
pub(super) struct Outlook {
    /// The core's number.
    number: usize,
    /// The front that the core shows.
    shown: Moment,
    /// No other core acts before this, except because of a message that this core sends later.
    horizon: Moment,
    /// How many messages it has sent to each other core, and the least arrival of those that may be under way.
    sent: SmallVec<[(u64, Time); 4]>,
    /// How many messages it has let in from each other core, and the number of these that it shows.
    taken: SmallVec<[(u64, u64); 4]>,
}

/// The place of core `other` among all cores but `core`.
#[inline]
pub(super) fn place(core: usize, other: usize) -> usize {
    other - usize::from(other > core)
}

impl Front {
    /// The front of one of so many cores. It begins at time 0, when all processors first act.
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
    /// The time is read before the place, and written after it. So a reader that gets one number of an old front and one
    /// of a new, higher front has a moment that is no later than the new front.
    #[inline]
    fn read(&self, host: &HostClock) -> Moment {
        let since = self.since.load(Ordering::Acquire);
        let time = Time::from_ps(self.time.load(Ordering::Acquire));
        if since != 0 && self.since.load(Ordering::Acquire) == since {
            // The holder has computed since then, and its local time has gone on as long, unless the host stopped it.
            return (time.max(time + host.since(since) - BEHIND).min(LAST), 0);
        }
        (time, self.place.load(Ordering::Acquire) as u32)
    }

    /// Shows whether the core's processors can do anything more by themselves.
    pub(super) fn shows_hope(&self, hope: bool) {
        self.hopeless.store(!hope, Ordering::SeqCst);
    }

    /// The holder computes from the tick `now` on; the front shows its local time at that tick.
    #[inline]
    pub(super) fn computes(&self, now: u64) {
        self.since.store(now.max(1), Ordering::Release);
    }

    #[inline]
    pub(super) fn has_computed(&self) {
        self.since.store(0, Ordering::Release);
    }
}

impl Outlook {
    /// The outlook of core `number` at time 0.
    pub(super) fn new(number: usize, cores: usize) -> Outlook {
        let horizon = if cores == 1 { NEVER } else { (Time::ZERO, 0) };
        let (sent, taken) = (1..cores).map(|_| ((0, Time::MAX), (0, 0))).unzip();
        Outlook { number, shown: (Time::ZERO, 0), horizon, sent, taken }
    }

    /// No other core acts before this moment, as far as this core knows.
    #[inline]
    pub(super) fn horizon(&self) -> Moment {
        self.horizon
    }

    /// Shows the moment before which no processor of the core will act, and how many messages were let in.
    #[inline]
    pub(super) fn show(&mut self, front: &Front, moment: Moment) {
        if self.sent.is_empty() {
            return; // there are no other cores
        }
        if moment != self.shown {
            let lower = moment < self.shown;
            self.shown = moment;
            front.place.store(moment.1.into(), Ordering::Release);
            front.time.store(moment.0.as_ps(), Ordering::Release);
            if lower && self.sent.len() > 1 {
                // After the front is lower, and before the sender can learn that its message was let in. Only a
                // third core reads the count.
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

    /// Counts a message that was let in from the core at this place. If it arrives at the horizon's time, its sender may act at
    /// that time again, and at an earlier place than the horizon's: an act of a later place may have brought that about, with a
    /// message that took no time.
    #[inline]
    pub(super) fn takes(&mut self, from: usize, arrival: Time) {
        self.taken[from].0 += 1;
        if arrival == self.horizon.0 {
            self.horizon = (arrival, 0);
        }
    }

    /// Counts a message to the core at this place, which may act when it arrives.
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

    /// Whether no core can do anything more by itself, and no message is under way between them.
    ///
    /// What was let in is read first, and what was sent last. So a message that was let in before a core was seen without hope
    /// is counted with all that it brought about, and one that came later is missed among those let in.
    pub(super) fn is_hopeless(&self, fronts: &[Front]) -> bool {
        let all = || 0..fronts.len();
        // With two cores a sender shows no counts; messages to this core are in its lanes, which the caller looks at.
        let others =
            || all().flat_map(|from| all().map(move |to| (from, to))).filter(|(from, to)| from != to);
        let counted = || others().filter(|(from, _)| fronts.len() > 2 || *from == self.number);
        let taken = |(from, to): (usize, usize)| fronts[to].taken[place(to, from)].load(Ordering::SeqCst);
        let taken: SmallVec<[u64; 12]> = counted().map(taken).collect();
        // All processors of a core wait for messages if its front is the end of time.
        let waits = |front: &Front| front.time.load(Ordering::SeqCst) == Time::MAX.as_ps();
        let is_hopeless = |front: &Front| waits(front) || front.hopeless.load(Ordering::SeqCst);
        let sent = |(from, to): (usize, usize)| match from == self.number {
            true => self.sent[place(from, to)].0,
            false => fronts[from].sent[place(from, to)].count.load(Ordering::SeqCst),
        };
        fronts.iter().all(is_hopeless) && counted().map(sent).eq(taken)
    }

    /// Finds the horizon by a look at all other cores. It holds once the messages that lie in the core's lanes are let in.
    pub(super) fn look(&mut self, fronts: &[Front], host: &HostClock) {
        /// How often it looks if fronts are lowered meanwhile. If none of these looks will do, the old horizon still holds.
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
                // The count is read before the front: so the front accounts for all messages that are counted.
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

    /// Core 1 sends a message to core 2, on which that acts at 2 us, while core 0 `sees` what they show. Core 2 shows first
    /// what `before` has it show, and core 1 shows `after` that it waits.
    fn try_all(
        before: fn(&mut Outlook, &Front),
        after: fn(&mut Outlook, &Front),
        sees: fn(&mut Outlook, &[Front]),
    ) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = builder.preemption_bound.or(Some(2));
        builder.check(move || {
            let fronts: Arc<Vec<Front>> = Arc::new((0..3).map(|_| Front::new(3)).collect());
            let [mut first, mut second, mut third] = [0, 1, 2].map(|core| Outlook::new(core, 3));
            first.show(&fronts[0], (3 * US, 0));
            second.show(&fronts[1], (US, 1));
            before(&mut third, &fronts[2]);
            let in_lane = Arc::new(AtomicU64::new(0));

            let (shows, lane) = (fronts.clone(), in_lane.clone());
            let sending = thread::spawn(move || {
                second.sends(&shows[1], place(1, 2), 2 * US);
                lane.store(1, Ordering::Release);
                after(&mut second, &shows[1]);
            });
            let (shows, lane) = (fronts.clone(), in_lane);
            let taking = thread::spawn(move || {
                if lane.load(Ordering::Acquire) == 1 {
                    third.takes(place(2, 1), 2 * US);
                    shows[2].shows_hope(true);
                    third.show(&shows[2], (2 * US, 2));
                }
            });
            sees(&mut first, &fronts);
            sending.join().unwrap();
            taking.join().unwrap();
        });
    }

    fn waits(core: &mut Outlook, front: &Front) {
        core.show(front, NEVER);
    }

    fn looks(core: &mut Outlook, front: &Front) {
        core.show(front, (3 * US, core.number as u32));
        front.shows_hope(false);
    }

    /// Wherever the message is when core 0 looks, core 0 must not find a horizon of 3 us.
    #[test]
    fn a_third_core_sees_what_is_under_way_between_two() {
        try_all(waits, waits, |first, fronts| {
            first.look(fronts, &HostClock::that_has_come());
            assert!(first.horizon() < (2 * US, 3), "{:?}", first.horizon());
        });
    }

    /// Wherever the message is, core 2 will act on it.
    fn has_hope(first: &mut Outlook, fronts: &[Front]) {
        fronts[0].shows_hope(false);
        assert!(!first.is_hopeless(fronts));
    }

    #[test]
    fn a_message_to_who_looks_in_vain_brings_hope() {
        try_all(looks, looks, has_hope);
        try_all(looks, waits, has_hope);
    }

    #[test]
    fn a_message_to_who_waits_brings_hope() {
        try_all(waits, looks, has_hope);
        try_all(waits, waits, has_hope);
    }

    /// Cores of which some look and some wait, with all messages let in.
    #[test]
    fn cores_that_wait_or_look_in_vain_are_hopeless() {
        loom::model(|| {
            let fronts: Vec<Front> = (0..3).map(|_| Front::new(3)).collect();
            let [mut first, mut second, mut third] = [0, 1, 2].map(|core| Outlook::new(core, 3));
            looks(&mut first, &fronts[0]);
            looks(&mut second, &fronts[1]);
            assert!(!first.is_hopeless(&fronts));
            waits(&mut third, &fronts[2]);
            assert!(first.is_hopeless(&fronts));
        });
    }
}
