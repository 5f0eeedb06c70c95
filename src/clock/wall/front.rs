//! The fronts that cores show to each other, and the outlook of each core, so that acts happen in their
//! order.
//!
//! This is conservative parallel simulation (Chandy and Misra, 1979), in real time. A processor acts only
//! when no processor on another core can still act earlier. So each core shows its **front**, the moment
//! before which none of its processors acts, and counts the messages that it has sent and let in. A core that
//! looks at the fronts of the others, and at the messages under way between them, finds its **horizon**: all
//! acts before the horizon have been done. `README.md` beside this file has the proof.

use crossbeam_utils::CachePadded;
use loggp_model::time::{NS, Time};
use smallvec::SmallVec;

use super::ticks::HostClock;
use crate::clock::sync::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// A moment in the order of all acts: the time, and the processor's place among those that act at this time.
pub(super) type Moment = (Time, u32);

/// The moment after all acts.
pub(super) const NEVER: Moment = (Time::MAX, u32::MAX);

/// The last time at which any processor acts.
///
/// The front of a processor that computes is no later than this, because it will go on. Only a processor that
/// waits for a message without a deadline may never act.
pub(super) const LAST: Time = Time::from_ps(Time::MAX.as_ps() - 1);

/// The time that is subtracted from the host's time for which a processor has computed, because the processor
/// reads its clock a little before it reports.
const CLOCK_READING: Time = Time::from_ps(250 * NS.as_ps());

/// The state that a core shows to the others. Only the core's holder writes the state.
#[repr(align(128))]
pub(super) struct Front {
    /// No processor of the core acts before this time.
    time: AtomicI64,
    /// At this time, no processor of the core with a lower place acts.
    place: AtomicU64,
    /// The tick at which the holder began to compute, if it computes and its work is measured; else 0.
    computing_since: AtomicU64,
    /// Whether the core's processors can do nothing more by themselves: some poll for messages, but find
    /// none.
    is_hopeless: AtomicBool,
    /// The number of times that the front was lowered, because of a message on which its receiver can act
    /// earlier.
    lowered: AtomicU64,
    /// The number of messages that the core has let in from each other core.
    let_in: SmallVec<[AtomicU64; 4]>,
    /// The messages sent to each other core. Not written if there are two cores, because only a third core
    /// reads these numbers.
    sent: CachePadded<Box<[ShownSends]>>,
}

/// The state that a core shows of the messages that it has sent to another core.
#[derive(Default)]
struct ShownSends {
    /// The number of messages sent.
    count: AtomicU64,
    /// No message that is still under way arrives before this time.
    least_arrival: AtomicI64,
}

/// The knowledge that the holder of a core has of the other cores.
pub(super) struct Outlook {
    /// The core's number.
    number: usize,
    /// The front that the core shows.
    shown: Moment,
    /// No other core acts before this moment, except because of a message that this core sends later.
    horizon: Moment,
    /// For each other core, the number of messages sent to it, and the least arrival of those that may be
    /// under way.
    sent: SmallVec<[(u64, Time); 4]>,
    /// For each other core, the number of messages let in from it, and the number that the front shows.
    let_in: SmallVec<[(u64, u64); 4]>,
}

/// Returns the index of core `other` among all cores but `core`.
#[inline]
pub(super) fn index_among_others(core: usize, other: usize) -> usize {
    other - usize::from(other > core)
}

impl Front {
    /// Makes the front of one of `cores` cores. It begins at time 0, when all processors first act.
    pub(super) fn new(cores: usize) -> Front {
        let others = cores - 1;
        Front {
            time: AtomicI64::new(0),
            place: AtomicU64::new(0),
            computing_since: AtomicU64::new(0),
            is_hopeless: AtomicBool::new(false),
            lowered: AtomicU64::new(0),
            let_in: (0..others).map(|_| AtomicU64::new(0)).collect(),
            sent: CachePadded::new((0..others).map(|_| ShownSends::default()).collect()),
        }
    }

    /// Reads the moment before which no processor of the core acts.
    ///
    /// The time is read before the place, and written after the place. So a reader that gets one number of an
    /// old front and one of a new, higher front has a moment that is no later than the new front.
    #[inline]
    fn read(&self, host: &HostClock) -> Moment {
        let since = self.computing_since.load(Ordering::Acquire);
        let time = Time::from_ps(self.time.load(Ordering::Acquire));
        if since != 0 && self.computing_since.load(Ordering::Acquire) == since {
            // The holder has computed since then, and its local time has gone on as long, unless the host
            // stopped the thread.
            return (time.max(time + host.elapsed_since(since) - CLOCK_READING).min(LAST), 0);
        }
        (time, self.place.load(Ordering::Acquire) as u32)
    }

    /// Shows whether the core's processors can do anything more by themselves (`hope`).
    pub(super) fn show_hope(&self, hope: bool) {
        self.is_hopeless.store(!hope, Ordering::SeqCst);
    }

    /// Shows that the holder computes from the tick `now` on. The front must show its local time at that
    /// tick.
    #[inline]
    pub(super) fn start_computing(&self, now: u64) {
        self.computing_since.store(now.max(1), Ordering::Release);
    }

    #[inline]
    pub(super) fn stop_computing(&self) {
        self.computing_since.store(0, Ordering::Release);
    }
}

impl Outlook {
    /// Makes the outlook of core `number` at time 0.
    pub(super) fn new(number: usize, cores: usize) -> Outlook {
        let horizon = if cores == 1 { NEVER } else { (Time::ZERO, 0) };
        let (sent, taken) = (1..cores).map(|_| ((0, Time::MAX), (0, 0))).unzip();
        Outlook { number, shown: (Time::ZERO, 0), horizon, sent, let_in: taken }
    }

    /// Returns the moment before which no other core acts, as far as this core knows.
    #[inline]
    pub(super) fn horizon(&self) -> Moment {
        self.horizon
    }

    /// Shows the moment before which no processor of the core will act, and the numbers of messages let in.
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
                // The count is raised after the front is lower, and before the sender can learn that its
                // message was let in. Only a third core reads these numbers.
                front.lowered.fetch_add(1, Ordering::SeqCst);
            }
        }
        for ((let_in, shown), slot) in self.let_in.iter_mut().zip(&front.let_in) {
            if let_in != shown {
                *shown = *let_in;
                slot.store(*let_in, Ordering::Release);
            }
        }
    }

    /// Shows that a processor of the core may act at this moment, if that is earlier than what is shown.
    #[inline]
    pub(super) fn show_earlier(&mut self, front: &Front, moment: Moment) {
        if moment < self.shown {
            self.show(front, moment);
        }
    }

    /// Counts a message that was let in from the core with index `from`. If it arrives at the horizon's time,
    /// its sender may act at that time again, and at an earlier place than the horizon's: an act of a later
    /// place may have brought that about, with a message that took no time.
    #[inline]
    pub(super) fn count_let_in(&mut self, from: usize, arrival: Time) {
        self.let_in[from].0 += 1;
        if arrival == self.horizon.0 {
            self.horizon = (arrival, 0);
        }
    }

    /// Counts a message sent to the core with index `to`, which may act when the message arrives.
    #[inline]
    pub(super) fn count_sent(&mut self, front: &Front, to: usize, arrival: Time) {
        self.horizon = self.horizon.min((arrival, 0));
        let (count, least) = &mut self.sent[to];
        *count += 1;
        *least = arrival.min(*least);
        if front.let_in.len() > 1 {
            front.sent[to].least_arrival.store(least.as_ps(), Ordering::Release);
            front.sent[to].count.store(*count, Ordering::Release);
        }
    }

    /// Returns whether no core can do anything more by itself, and no message is under way between cores.
    ///
    /// The counts of messages let in are read first, and the counts of messages sent last. So a message that
    /// was let in before its core was seen as hopeless is counted with all messages that it caused, and for
    /// one that was let in later the counts differ.
    pub(super) fn is_hopeless(&self, fronts: &[Front]) -> bool {
        let all = || 0..fronts.len();
        // With two cores a sender shows no counts: messages to this core are in its lanes, which the caller
        // looks at.
        let others =
            || all().flat_map(|from| all().map(move |to| (from, to))).filter(|(from, to)| from != to);
        let counted = || others().filter(|(from, _)| fronts.len() > 2 || *from == self.number);
        let let_in = |(from, to): (usize, usize)| {
            fronts[to].let_in[index_among_others(to, from)].load(Ordering::SeqCst)
        };
        let let_in: SmallVec<[u64; 12]> = counted().map(let_in).collect();
        // If a core's front is the end of time, all its processors wait for messages.
        let is_waiting = |front: &Front| front.time.load(Ordering::SeqCst) == Time::MAX.as_ps();
        let is_hopeless = |front: &Front| is_waiting(front) || front.is_hopeless.load(Ordering::SeqCst);
        let sent = |(from, to): (usize, usize)| match from == self.number {
            true => self.sent[index_among_others(from, to)].0,
            false => fronts[from].sent[index_among_others(from, to)].count.load(Ordering::SeqCst),
        };
        fronts.iter().all(is_hopeless) && counted().map(sent).eq(let_in)
    }

    /// Finds the horizon by a look at all other cores. It is valid once the messages in the core's lanes are
    /// let in.
    pub(super) fn look(&mut self, fronts: &[Front], host: &HostClock) {
        /// The number of looks if fronts are lowered meanwhile. If all of them fail, the old horizon is still
        /// valid.
        const TRIES: usize = 4;
        let me = self.number;
        let others = || (0..fronts.len()).filter(move |other| *other != me);
        let lowered = || others().map(|other| fronts[other].lowered.load(Ordering::SeqCst)).sum::<u64>();
        let several = fronts.len() > 2;
        for _ in 0..TRIES {
            let before = if several { lowered() } else { 0 };
            let mut horizon = NEVER;
            for other in others() {
                let (sent, front) = (&mut self.sent[index_among_others(me, other)], &fronts[other]);
                // The count is read before the front, so the front accounts for all messages that are
                // counted.
                if front.let_in[index_among_others(other, me)].load(Ordering::Acquire) == sent.0 {
                    sent.1 = Time::MAX;
                }
                horizon = horizon.min((sent.1, 0)).min(front.read(host));
            }
            if several {
                for (from, to) in others().flat_map(|from| others().map(move |to| (from, to))) {
                    if from == to {
                        continue;
                    }
                    let sent = &fronts[from].sent[index_among_others(from, to)];
                    let count = sent.count.load(Ordering::Acquire);
                    if fronts[to].let_in[index_among_others(to, from)].load(Ordering::Acquire) < count {
                        horizon = horizon.min((Time::from_ps(sent.least_arrival.load(Ordering::Acquire)), 0));
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
    use loggp_model::time::US;

    /// Core 1 sends a message to core 2, which acts on it at 2 us, while core 0 looks at both. Core 2
    /// first shows what `before` makes it show, and core 1 then shows what `after` makes it show.
    fn try_all(
        before: fn(&mut Outlook, &Front),
        after: fn(&mut Outlook, &Front),
        look_at: fn(&mut Outlook, &[Front]),
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
                second.count_sent(&shows[1], index_among_others(1, 2), 2 * US);
                lane.store(1, Ordering::Release);
                after(&mut second, &shows[1]);
            });
            let (shows, lane) = (fronts.clone(), in_lane);
            let taking = thread::spawn(move || {
                if lane.load(Ordering::Acquire) == 1 {
                    third.count_let_in(index_among_others(2, 1), 2 * US);
                    shows[2].show_hope(true);
                    third.show(&shows[2], (2 * US, 2));
                }
            });
            look_at(&mut first, &fronts);
            sending.join().unwrap();
            taking.join().unwrap();
        });
    }

    fn show_waiting(core: &mut Outlook, front: &Front) {
        core.show(front, NEVER);
    }

    fn show_vain_looks(core: &mut Outlook, front: &Front) {
        core.show(front, (3 * US, core.number as u32));
        front.show_hope(false);
    }

    /// Core 0 must not find a horizon of 3 us, wherever the message is when it looks.
    #[test]
    fn third_core_sees_messages_under_way_between_two() {
        try_all(show_waiting, show_waiting, |first, fronts| {
            first.look(fronts, &HostClock::unpaced());
            assert!(first.horizon() < (2 * US, 3), "{:?}", first.horizon());
        });
    }

    /// Core 2 will act on the message, wherever it is.
    fn assert_hope(first: &mut Outlook, fronts: &[Front]) {
        fronts[0].show_hope(false);
        assert!(!first.is_hopeless(fronts));
    }

    #[test]
    fn message_to_a_core_that_looks_in_vain_brings_hope() {
        try_all(show_vain_looks, show_vain_looks, assert_hope);
        try_all(show_vain_looks, show_waiting, assert_hope);
    }

    #[test]
    fn message_to_a_core_that_waits_brings_hope() {
        try_all(show_waiting, show_vain_looks, assert_hope);
        try_all(show_waiting, show_waiting, assert_hope);
    }

    /// An act of core 0 wakes a processor of its own with an earlier place, and then one of core 1.
    #[test]
    fn core_sees_whom_the_same_act_has_woken_before() {
        loom::model(|| {
            let fronts: Arc<Vec<Front>> = Arc::new((0..2).map(|_| Front::new(2)).collect());
            let [mut first, mut second] = [0, 1].map(|core| Outlook::new(core, 2));
            first.show(&fronts[0], (US, 2));
            let in_lane = Arc::new(AtomicU64::new(0));

            let (shows, lane) = (fronts.clone(), in_lane.clone());
            let acting = thread::spawn(move || {
                first.show_earlier(&shows[0], (US, 0));
                first.count_sent(&shows[0], index_among_others(0, 1), US);
                lane.store(1, Ordering::Release);
            });
            if in_lane.load(Ordering::Acquire) == 1 {
                second.count_let_in(index_among_others(1, 0), US);
                second.look(&fronts, &HostClock::unpaced());
                assert_eq!(second.horizon(), (US, 0));
            }
            acting.join().unwrap();
        });
    }

    /// Some of the cores look and some wait, and all messages are let in.
    #[test]
    fn cores_that_wait_or_look_in_vain_are_hopeless() {
        loom::model(|| {
            let fronts: Vec<Front> = (0..3).map(|_| Front::new(3)).collect();
            let [mut first, mut second, mut third] = [0, 1, 2].map(|core| Outlook::new(core, 3));
            show_vain_looks(&mut first, &fronts[0]);
            show_vain_looks(&mut second, &fronts[1]);
            assert!(!first.is_hopeless(&fronts));
            show_waiting(&mut third, &fronts[2]);
            assert!(first.is_hopeless(&fronts));
        });
    }
}
