//! The wall clock: processors really wait.
//!
//! On each core exactly one processor runs, the one that *holds* the core; the others stay in their berths. A holder that
//! has to wait hands the core to the processor that is due first, or spins if it is due first itself. So a switch happens
//! before a deadline and not after it, and a processor always watches an idle core. `README.md` beside this file says who
//! wakes whom, why no wake-up is lost and no deadline forgotten, and why the run ends.

pub(crate) mod carrier;
pub(crate) mod cores;
pub(crate) mod dilation;
mod front;
mod lane;
#[cfg(test)]
mod loom_tests;
mod ticks;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;

use super::agenda::{Agenda, Entry};
use super::contract::{Clock, Foreknown};
use super::seat::{Seat, blame};
use super::spread::Spread;
use super::sync::{
    AtomicU8, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering, Parker, TRIED, Unparker, look,
};
use super::watchdog::{Beat, Patience, Watched};
use crate::error::{Cause, RunError, Stopped, cause_of, say_before_abort, stop};
use crate::message::parcel::Parcel;
use crate::message::{Envelope, Letter, Seen};
use crate::params::{ByLevel, ReceptionCost};
use crate::rules::choice::Places;
use crate::rules::network::{Exit, LockedEntrance, Network, Passage};
use crate::rules::pace::Outgoing;
use crate::rules::reception::Reception;
use crate::time::{PS, Time};
use carrier::{Berth, Carrier, coroutine, thread};
use front::{Front, LAST, Moment, NEVER, Outlook, place};
use lane::{Receiver, Sender, lane};
use ticks::HostClock;

/// What all processors of a run share.
struct Wall {
    host: HostClock,
    /// The cores.
    cores: Box<[CachePadded<Mutex<Roster>>]>,
    /// What each core shows to the others.
    fronts: Box<[Front]>,
    /// The receiving sides of the network.
    entrances: Box<[LockedEntrance]>,
    known: Foreknown,
    /// Which processor is on which core.
    spread: Spread,
    /// Whether the host has fewer cores, so that several cores share one of the host's and must yield to each other.
    crowded: bool,
    /// Wakes each processor's thread, if it has one.
    unparkers: Box<[Unparker]>,
    /// [`GOING`], [`OVER`] or [`FAILED`].
    status: AtomicU8,
    /// Why the run has failed, if a processor or a carrier has said so.
    cause: Mutex<Option<Cause>>,
    /// How many cores have processors that have not come to their first wait; at 0, time begins.
    cold: AtomicUsize,
    /// How many processors have not finished.
    running: AtomicUsize,
    /// The latest tick at which a processor has finished.
    finish: AtomicU64,
    /// The run's signs of life, for the watchdog.
    watched: Watched,
}

/// The run goes on.
const GOING: u8 = 0;
/// Every processor has finished.
const OVER: u8 = 1;
/// Something went wrong; every processor unwinds at its next call.
const FAILED: u8 = 2;

/// What must be certain before a processor goes on.
#[derive(Clone, Copy, Debug)]
enum Needs {
    /// Nothing, because no other processor can see what follows.
    Nothing,
    /// All earlier acts must have been done.
    Turn,
    /// Every message that arrives by this time must have been sent.
    Arrivals(Time),
}

/// The processors of one core. The holder keeps it locked as long as it holds the core.
struct Roster {
    /// Which processor is on which core.
    spread: Spread,
    /// The seat of each processor.
    seats: Vec<Seat>,
    /// The processors that wait for a time, without the holder.
    agenda: Agenda,
    /// The lane to each other core, in the order of their numbers.
    outgoing: Vec<Sender<Letter>>,
    /// The lane from each other core. A message's key is its arrival.
    incoming: Vec<Receiver<Letter>>,
    /// What is known of the other cores.
    outlook: Outlook,
    /// Whether the core shows that its processors can do nothing more by themselves.
    hopeless: bool,
    /// By how many nanoseconds waits ended late.
    lateness: Histogram<u32>,
    cost: ByLevel<ReceptionCost>,
    /// The places of processors that act at the same time.
    places: Places,
    /// The processors that have not started, last first.
    unstarted: Vec<u32>,
    /// Whether all processors of the core have come to their first wait.
    warm: bool,
}

/// A processor's view of the clock.
struct Waiter<'a> {
    wall: &'a Wall,
    /// The processor's number.
    id: u32,
    /// The roster of the processor's core.
    core: &'a Mutex<Roster>,
    /// The core's number.
    number: usize,
    /// The processor's place among the seats of the core.
    place: usize,
    /// The core's sign of life, for the watchdog.
    beat: &'a Beat,
    /// The locked roster, while the processor holds the core.
    roster: Option<MutexGuard<'a, Roster>>,
    /// The time until which the processor last waited, and the tick at which that wait ended.
    reached: (Time, u64),
    /// Where the processor stays while others hold the core.
    berth: &'a dyn Berth,
    /// How often the program was unwound because the run has failed.
    stops: u32,
}

/// Why a watch ended.
enum Ended {
    /// The processor's time has come.
    Due,
    /// There are messages from other cores.
    Incoming,
    /// The run is over or has failed.
    Over,
}

/// How the host held a run on the wall clock.
#[derive(Debug)]
pub(crate) struct Findings {
    /// Whether every thread could be pinned to its core.
    pub pinned: bool,
    /// When the last processor really finished.
    pub finish: Time,
    /// By how many nanoseconds of the host waits ended late.
    pub lateness: Histogram<u32>,
    /// How many messages were delivered after their receiver had taken a later one, or had looked in vain.
    pub out_of_order: u64,
}

impl Wall {
    /// A run that has not begun. `parkers` are those of the processors that are threads.
    fn new(spread: Spread, host: HostClock, known: Foreknown, watched: Watched, parkers: &[Parker]) -> Wall {
        let cores = spread.cores();
        let mut rosters: Vec<Roster> = (0..cores).map(|core| Roster::new(core, spread, &known)).collect();
        for from in 0..cores {
            for to in (0..cores).filter(|to| *to != from) {
                let (sender, receiver) = lane();
                rosters[from].outgoing.push(sender);
                rosters[to].incoming.push(receiver);
            }
        }
        Wall {
            host,
            cores: rosters.into_iter().map(|roster| CachePadded::new(Mutex::new(roster))).collect(),
            fronts: (0..cores).map(|_| Front::new(cores)).collect(),
            entrances: (0..known.entrances).map(|_| LockedEntrance::default()).collect(),
            known,
            spread,
            crowded: !TRIED && cores > cores::available_cores(),
            unparkers: parkers.iter().map(|parker| parker.unparker().clone()).collect(),
            status: AtomicU8::new(GOING),
            cause: Mutex::new(None),
            cold: AtomicUsize::new(cores),
            running: AtomicUsize::new(spread.P()),
            finish: AtomicU64::new(0),
            watched,
        }
    }

    /// Ends the run for every processor.
    fn end(&self, status: u8) {
        self.status.store(status, Ordering::SeqCst);
        self.unparkers.iter().for_each(Unparker::unpark);
    }

    /// Ends the run because something went wrong, and prints the cause if panics abort the process.
    fn fail_with(&self, cause: Cause) {
        say_before_abort(&cause);
        self.fail(cause);
    }

    /// Ends the run because something went wrong. The first cause counts.
    fn fail(&self, cause: Cause) {
        self.cause.lock().get_or_insert(cause);
        self.end(FAILED);
    }
}

impl Roster {
    /// The roster of a core.
    fn new(core: usize, spread: Spread, known: &Foreknown) -> Roster {
        let mut lateness = lateness_histogram();
        let mut unstarted: Vec<u32> = spread.processors(core).skip(1).map(|id| id as u32).collect();
        unstarted.reverse();
        lateness.reset(); // touches the histogram's memory before time begins
        Roster {
            spread,
            seats: spread.processors(core).map(|_| Seat::with_room()).collect(),
            agenda: Agenda::default(),
            outgoing: Vec::new(),
            incoming: Vec::new(),
            outlook: Outlook::new(core, spread.cores()),
            hopeless: false,
            lateness,
            cost: known.cost.clone(),
            places: known.places.clone(),
            unstarted,
            warm: false,
        }
    }

    /// Puts a message into the inbox of the processor at `place`. The holder needs no entry on the agenda, because it
    /// looks at its own seat.
    #[inline]
    fn put(&mut self, place: usize, holder: u32, seen: Seen, parcel: Parcel) {
        let id = seen.1.to.id();
        if self.seats[place].put(seen, parcel, &self.cost).is_some() && id != holder {
            self.add(self.entry(id, place));
        }
    }

    #[inline]
    fn add(&mut self, entry: Entry) {
        let Roster { agenda, seats, places, spread, .. } = self;
        agenda.insert(entry, |entry| {
            let (time, place) = entry.moment();
            seats[spread.place(places.who(time, place) as usize)].ticket() == entry.ticket()
        });
    }

    /// The processor of an entry on the agenda.
    #[inline]
    fn processor(&self, entry: Entry) -> u32 {
        let (time, place) = entry.moment();
        self.places.who(time, place)
    }

    /// What the core shows of the moment before which none of its processors acts. Where processors act in the order of their
    /// numbers, no processor of another core comes between those of a block, so the others are told of a block once.
    #[inline]
    fn shown(&self, (time, place): Moment) -> Moment {
        (time, if self.places.are_numbers() { self.spread.first_of_block(place) } else { place })
    }

    /// The entry on the agenda of a processor of the core.
    #[inline]
    fn entry(&self, id: u32, place: usize) -> Entry {
        let seat = &self.seats[place];
        Entry::new(seat.wake(), self.places.place(seat.wake(), id), seat.ticket())
    }

    /// Whether there are messages from other cores.
    #[inline]
    fn has_incoming(&self) -> bool {
        self.incoming.iter().any(|lane| !lane.is_empty())
    }

    /// Lets in the messages from other cores. Returns whether there were any.
    #[inline]
    fn let_in(&mut self, holder: u32) -> bool {
        let mut any = false;
        for from in 0..self.incoming.len() {
            while let Some((arrival, Letter { outside, parcel })) = self.incoming[from].pop() {
                self.outlook.takes(from, Time::from_ps(arrival));
                let place = self.spread.place(outside.to.id() as usize);
                self.put(place, holder, (Time::from_ps(arrival), outside), parcel);
                any = true;
            }
        }
        any
    }

    /// The entry of the processor that acts first on the core: the holder, with the entry `mine`, or one on the agenda.
    #[inline]
    fn first(&mut self, mine: Entry, holder: u32) -> Entry {
        while let Some(first) = self.agenda.peek() {
            let id = self.processor(first);
            let counts = self.seats[self.spread.place(id as usize)].ticket() == first.ticket();
            if counts && id != holder {
                return first.min(mine);
            }
            self.agenda.pop();
        }
        mine
    }
}

impl<'a> Waiter<'a> {
    fn new(wall: &'a Wall, id: usize, berth: &'a dyn Berth) -> Waiter<'a> {
        let (number, place) = wall.spread.seat_of(id);
        let (id, core, beat) = (id as u32, &*wall.cores[number], wall.watched.beat(number));
        Waiter { wall, id, core, number, place, beat, roster: None, reached: (-PS, 0), berth, stops: 0 }
    }

    /// Waits until the core is handed to the processor for the first time.
    fn start(&mut self) {
        if !self.wall.host.has_come() {
            touch_stack(if self.wall.spread.P() > MANY { 1 } else { TOUCHED_PAGES });
        }
        self.berth.awaits_core();
        self.goes_on();
        self.seat().start();
        self.beat.runs(self.id, Time::ZERO);
    }

    /// The core's roster. Only in a failed run is it used by a processor that does not hold the core.
    #[inline]
    fn roster(&mut self) -> &mut Roster {
        self.roster.get_or_insert_with(|| self.core.lock())
    }

    #[inline]
    fn seat(&mut self) -> &mut Seat {
        let place = self.place;
        &mut self.roster().seats[place]
    }

    /// Returns true, holding the core, when the time has come at which the processor's seat wakes, and what it needs for
    /// what `follows` is certain. Returns false once the run is over.
    fn sleep(&mut self, follows: Needs) -> bool {
        self.beat.called();
        let (id, place) = (self.id, self.place);
        let mut waited = false;
        loop {
            let (wall, number) = (self.wall, self.number);
            if self.roster().let_in(id) {
                self.hopes();
            }
            let roster = self.roster();
            if let Some(other) = roster.unstarted.pop() {
                let mine = roster.entry(id, place);
                if !self.hand_over(other, mine) {
                    return false;
                }
                waited = true;
                continue;
            }
            let mine = roster.entry(id, place);
            let first = roster.first(mine, id);
            let wake = roster.seats[place].wake();
            let shown = roster.shown(first.moment());
            roster.outlook.show(&wall.fronts[number], shown);
            if first != mine {
                roster.agenda.pop();
                let other = roster.processor(first);
                if !self.hand_over(other, mine) {
                    return false;
                }
                // Who hands the core over has let in what had to be let in before the horizon.
                let wake = self.seat().wake();
                if self.has(Needs::Turn, wake) && self.is_due(wake) {
                    return true;
                }
                waited = true;
                continue;
            }
            let needs = roster.seats[place].known_until().map_or(follows, Needs::Arrivals);
            if !roster.warm {
                roster.warm = true;
                if wall.cold.fetch_sub(1, Ordering::SeqCst) == 1 {
                    wall.host.begin();
                }
            }
            if wake == self.reached.0 && !waited && self.has(needs, wake) {
                return self.goes_on(); // code that costs no time in the model does not wait
            }
            match self.watch(wake, needs) {
                Ended::Due => return true,
                Ended::Incoming => waited = true,
                Ended::Over => return false,
            }
        }
    }

    /// Hands the core over to another processor. Returns true when it is handed back, and false once the run is over.
    fn hand_over(&mut self, other: u32, mine: Entry) -> bool {
        if mine.moment().0 < Time::MAX {
            self.roster().add(mine);
        }
        self.beat.rests();
        self.roster = None;
        self.berth.hands_over_to(other);
        self.goes_on()
    }

    /// Whether the processor has what it needs to go on at `wake`, by what is known of the other cores.
    #[inline]
    fn has(&mut self, needs: Needs, wake: Time) -> bool {
        let (id, Foreknown { places, lookahead, .. }) = (self.id, &self.wall.known);
        let horizon = self.roster().outlook.horizon();
        let has_turn = || horizon > (wake, places.place(wake, id));
        match needs {
            Needs::Nothing => true,
            Needs::Turn => has_turn(),
            Needs::Arrivals(time) => horizon.0 + *lookahead > time || has_turn(),
        }
    }

    /// Notes that a processor of the core does more than look for messages.
    #[inline]
    fn hopes(&mut self) {
        if self.roster().hopeless {
            self.roster().hopeless = false;
            self.wall.fronts[self.number].shows_hope(true);
        }
    }

    fn look_around(&mut self) {
        let wall = self.wall;
        self.roster().outlook.look(&wall.fronts, &wall.host);
    }

    /// Whether the run goes on. If it has failed, the processor unwinds.
    #[inline]
    fn goes_on(&mut self) -> bool {
        let status = self.wall.status.load(Ordering::Relaxed);
        if status == FAILED {
            stop(self.id as usize, &mut self.stops);
        }
        status == GOING
    }

    /// Whether another core, as far as this one knows, has not done what is due long ago by the host's time: the host does not
    /// let it run.
    fn others_are_behind(&mut self) -> bool {
        let (host, horizon) = (&self.wall.host, self.roster().outlook.horizon().0);
        !host.never_comes(horizon) && host.now().saturating_sub(host.tick_of(horizon)) > host.ticks(LONG)
    }

    /// Whether a time comes so soon that a nap might last longer.
    fn comes_during_a_nap(&self, wake: Time) -> bool {
        let host = &self.wall.host;
        let left = host.tick_of(wake).saturating_sub(host.now());
        left > 0 && left < host.ticks(NAP_LASTS)
    }

    /// Whether a time has come. If it has, the processor goes on.
    #[inline]
    fn is_due(&mut self, wake: Time) -> bool {
        let host = &self.wall.host;
        let (now, deadline) = (host.now(), host.tick_of(wake));
        if now < deadline {
            return false;
        }
        if wake != self.reached.0 && !host.has_come() {
            let late = host.nanoseconds(now - deadline);
            self.roster().lateness.saturating_record(late);
        }
        self.reached = (wake, now);
        self.beat.runs(self.id, wake);
        true
    }

    /// Spins until `wake` has come and the processor has what it needs, or until there is something else to do.
    fn watch(&mut self, wake: Time, needs: Needs) -> Ended {
        /// After how many rounds it checks whether the run is stuck: the check must not delay a message that comes soon.
        const SELDOM: u32 = if TRIED { 1 } else { 1 << 14 };
        /// The same number once each round lets the host run something else, which may take long.
        const SELDOM_IF_SLOW: u32 = 1 << 6;
        /// After how many rounds in a row in which another core was behind the holder lets the host run something else. A core
        /// that runs shows something new sooner.
        const SPINS: u32 = 1 << 9;
        /// How many times it then yields to another core before it sleeps.
        const YIELDS: u32 = 1 << 9;
        let crowded = self.wall.crowded;
        let (mut looks, mut behind) = (0_u32, 0_u32);
        self.beat.rests();
        loop {
            if !self.goes_on() {
                return Ended::Over;
            }
            if self.roster().has_incoming() {
                return Ended::Incoming;
            }
            if wake < Time::MAX {
                if !self.has(needs, wake) {
                    // Messages that the others sent before this look lie in the lanes now, so the next round looks there first.
                    self.look_around();
                } else if self.is_due(wake) {
                    return Ended::Due;
                }
            }
            behind = if self.others_are_behind() { behind.saturating_add(1) } else { 0 };
            if behind >= SPINS && !self.wall.host.has_come() {
                // Nothing that the holder waits for may have made it look, and then what it knows is old.
                self.look_around();
                if !self.others_are_behind() {
                    behind = 0;
                }
            }
            let slow = crowded || behind > SPINS;
            if TRIED || !slow {
                look();
            } else if behind <= SPINS + YIELDS || self.comes_during_a_nap(wake) {
                std::thread::yield_now();
            } else {
                std::thread::sleep(NAP);
            }
            let seldom = if slow { SELDOM_IF_SLOW } else { SELDOM };
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(seldom) && self.wall.host.never_comes(wake) {
                self.look_around();
                if wake < Time::MAX {
                    if self.has(Needs::Turn, wake) && !self.roster().has_incoming() {
                        // All earlier acts have been done.
                        self.wall.fail_with(Cause::EndOfTime { id: self.id as usize });
                    }
                } else if self.roster().outlook.horizon().0 == Time::MAX && !self.roster().has_incoming() {
                    // No processor of any core waits for a time, and no message is under way.
                    let (waiting, of) = (self.wall.running.load(Ordering::SeqCst), self.wall.spread.P());
                    say_before_abort(&Cause::Deadlock { waiting, of });
                    self.wall.end(FAILED);
                }
            }
        }
    }
}

impl Clock for Waiter<'_> {
    fn wait_until(&mut self, t: Time) {
        self.goes_on();
        if t == self.reached.0 {
            return; // code that costs no time in the model does not wait
        }
        self.hopes();
        self.seat().wait_until(t);
        self.sleep(Needs::Nothing);
    }

    fn act_at(&mut self, t: Time) {
        self.goes_on();
        self.hopes();
        if t == self.reached.0 && self.has(Needs::Turn, t) {
            let first = self.roster().agenda.peek();
            let mine = (t, self.wall.known.places.place(t, self.id));
            if first.is_none_or(|first| first.moment() > mine) {
                return;
            }
        }
        self.seat().wait_until(t);
        self.sleep(Needs::Turn);
    }

    fn serve(&mut self, network: &Network, exit: &mut Exit, message: &Outgoing) -> Passage {
        network.serve(&mut &*self.wall.entrances, exit, message.to, &message.request)
    }

    fn most_to(&self, network: &Network) -> usize {
        network.most_in_transit_to(self.id as usize, &mut &*self.wall.entrances)
    }

    fn deliver(&mut self, seen: Seen, parcel: Parcel) {
        let (arrival, outside) = seen;
        let (to, seat) = self.wall.spread.seat_of(outside.to.id() as usize);
        let (from, id, wall) = (self.number, self.id, self.wall);
        let roster = self.roster();
        if to == from {
            return roster.put(seat, id, seen, parcel);
        }
        let lane = place(from, to);
        roster.outlook.sends(&wall.fronts[from], lane, arrival);
        roster.outgoing[lane].push(arrival.as_ps(), Letter { outside, parcel });
    }

    fn looks_in_vain(&mut self) -> bool {
        let (wall, number) = (self.wall, self.number);
        self.seat().looks_in_vain();
        let roster = self.roster();
        roster.hopeless = roster.unstarted.is_empty() && roster.seats.iter().all(Seat::is_hopeless);
        wall.fronts[number].shows_hope(!roster.hopeless);
        // A core whose holder waits for a message does not show that it is hopeless, but its front is never.
        roster.outlook.look(&wall.fronts, &wall.host);
        let forsaken = roster.outlook.horizon().0 == Time::MAX || roster.outlook.is_hopeless(&wall.fronts);
        roster.hopeless && forsaken && !roster.has_incoming()
    }

    fn fail(&mut self, cause: Cause) {
        self.roster = None;
        self.wall.fail(cause);
    }

    fn not_before(&mut self, t: Time) {
        self.hopes();
        let (id, wall, number) = (self.id, self.wall, self.number);
        let roster = self.roster();
        if roster.unstarted.is_empty() {
            let first = roster.agenda.peek().map_or(NEVER, Entry::moment);
            let mine = (t.min(LAST), roster.places.place(t, id));
            let shown = roster.shown(first.min(mine));
            roster.outlook.show(&wall.fronts[number], shown);
        }
    }

    fn computes_from(&mut self, t: Time) {
        self.not_before(t);
        self.wall.fronts[self.number].computes(self.wall.host.now());
    }

    fn has_computed(&mut self) {
        self.wall.fronts[self.number].has_computed();
    }

    fn receive(&mut self, reception: &mut Reception, got: &mut Option<Envelope>) {
        self.goes_on(); // in a failed run the seat must stay as it was when the run failed
        let cost = &self.wall.known.cost;
        self.seat().ask(reception, cost);
        if self.sleep(Needs::Turn) {
            self.seat().answer(reception, got);
        }
    }

    fn end(&mut self, at: Time, well: bool) {
        self.seat().end(at, well);
        if !well {
            self.beat.rests();
            self.roster = None;
            return;
        }
        self.wall.finish.fetch_max(self.reached.1, Ordering::SeqCst); // its last wait was until `at`
        if self.wall.running.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.wall.end(OVER);
        } else {
            // The core may still need a processor that watches, and an exit would disturb others that run.
            self.sleep(Needs::Nothing);
        }
    }
}

/// Runs `body` for each of `P` processors on so many cores, with time stretched by `dilation`; without one nobody waits for the
/// host's time, which is the virtual clock on several cores. `body` gets the processor's number and its clock. Returns the
/// results, and how the host held the run, when all have ended.
#[expect(clippy::too_many_arguments, reason = "all are different, and all come from the machine")]
pub(crate) fn run<T: Send>(
    P: usize,
    carrier: Carrier,
    stack: usize,
    cores: usize,
    known: Foreknown,
    patience: Patience,
    dilation: Option<f64>,
    body: &(dyn Fn(usize, &mut dyn Clock) -> T + Sync),
) -> Result<(Vec<T>, Findings), RunError> {
    let threads = if carrier == Carrier::Thread { P } else { 0 };
    let parkers: Vec<Parker> = (0..threads).map(|_| Parker::new()).collect();
    let watched = Watched::new(cores, patience);
    let host = dilation.map_or_else(HostClock::that_has_come, HostClock::new);
    let spread = if dilation.is_some() { Spread::one_by_one(P, cores) } else { Spread::in_blocks(P, cores) };
    let wall = Wall::new(spread, host, known, watched, &parkers);
    let live = |id: usize, berth: &dyn Berth| {
        let mut waiter = Waiter::new(&wall, id, berth);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            waiter.start();
            body(id, &mut waiter)
        }));
        match outcome {
            Ok(result) => Some(result),
            Err(payload) => {
                if !payload.is::<Stopped>() {
                    wall.fail(cause_of(id, payload));
                }
                None
            }
        }
    };
    let fail = |cause: Cause| wall.fail_with(cause);
    let (lives, pinned) = match carrier {
        Carrier::Thread => thread::carry(parkers, &wall.unparkers, stack, cores, &fail, &live),
        Carrier::Coroutine => coroutine::carry(spread, stack, dilation.is_some(), &fail, &live),
    };

    let mut rosters: Vec<_> = wall.cores.iter().map(|core| core.lock()).collect();
    rosters.iter_mut().for_each(|roster| _ = roster.let_in(u32::MAX));
    let seats = (0..P).map(|id| {
        let (core, place) = spread.seat_of(id);
        &rosters[core].seats[place]
    });
    if let Some(cause) = wall.cause.lock().take().or_else(|| blame(seats.clone(), &wall.known)) {
        let began = !matches!(cause, Cause::Host(_));
        let processors = seats
            .clone()
            .enumerate()
            .filter(|_| began)
            .map(|(id, seat)| seat.state(id, &wall.known.names))
            .collect();
        return Err(RunError { cause, processors });
    }
    let finish = wall.host.time_of(wall.finish.load(Ordering::SeqCst));
    let out_of_order = seats.clone().map(Seat::out_of_order).sum();
    let mut findings = Findings { pinned, finish, lateness: lateness_histogram(), out_of_order };
    for roster in &rosters {
        findings.lateness.add(&roster.lateness).expect("the bounds are the same");
    }
    match lives.into_iter().collect() {
        Some(results) => Ok((results, findings)),
        None => {
            Err(Cause::Host("the run ended early, and nobody said why: that is a fault of loggp".into())
                .into())
        }
    }
}

/// How far another core must be behind for a holder to let the host run something else, in nanoseconds.
const LONG: f64 = 20_000.0;
/// How long a holder sleeps at a time.
const NAP: Duration = Duration::from_micros(50);
/// How long it may be until the host wakes it then, in nanoseconds.
const NAP_LASTS: f64 = 250_000.0;

/// How many pages of its stack a processor touches before time begins.
const TOUCHED_PAGES: usize = 4;
/// With more processors than this, each touches one page: more memory would take long to get.
const MANY: usize = 4096;

/// Touches the part of the stack that a program is likely to use, so that the host provides its memory before
/// time begins.
#[inline(never)]
fn touch_stack(pages: usize) {
    let mut page = [0_u8; 4096];
    std::hint::black_box(&mut page);
    if pages > 1 {
        touch_stack(pages - 1);
    }
    std::hint::black_box(&mut page);
}

/// A histogram of nanoseconds up to a minute, with two digits.
fn lateness_histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 60_000_000_000, 2).expect("the bounds are right")
}
