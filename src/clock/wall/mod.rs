//! The wall clock: processors really wait.
//!
//! On each core exactly one processor runs, the one that *holds* the core; the others stay in their berths. A
//! holder that has to wait hands the core to the processor that is due first, or spins if it is due first
//! itself. So a switch happens before a deadline and not after it, and a processor always watches an idle
//! core. `README.md` beside this file explains wake-ups, deadlines and the end of a run.

pub(crate) mod carrier;
pub(crate) mod cores;
pub(crate) mod dilation;
mod front;
mod lane;
#[cfg(test)]
mod loom_tests;
pub(crate) mod ticks;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use loggp_model::agenda::{Agenda, AgendaEntry};
use loggp_model::error::{Cause, RunError, RunStopped, cause_from_panic, print_before_abort, stop};
use loggp_model::message::parcel::Parcel;
use loggp_model::message::{ArrivedHeader, ArrivedMessage, SentMessage};
use loggp_model::params::{PerLevel, ReceptionCost};
use loggp_model::rules::choice::Places;
use loggp_model::rules::engine::Clock;
use loggp_model::rules::message_wait::MessageWait;
use loggp_model::rules::network::Network;
use loggp_model::rules::rank::OutgoingMessage;
use loggp_model::time::{PS, Time};
use loggp_model::transport::{Egress, LockedIngress, Passage, most_in_transit_to};

use super::assignment::CoreAssignment;
use super::program_clock::{CoreClock, ProgramClock};
use super::run_info::{RunInfo, RunOutcome};
use super::seat::{Seat, failure_cause};
use super::sync::{
    AtomicU8, AtomicU64, AtomicUsize, IS_MODEL_CHECKED, Mutex, MutexGuard, Ordering, Parker, Unparker,
    spin_once,
};
use super::watchdog::{Heartbeat, WatchGuard};
use carrier::{Berth, Carrier, carry_by_coroutines, carry_by_threads};
use front::{Front, LAST, Moment, NEVER, Outlook, index_among_others};
use lane::{LaneReceiver, LaneSender, lane};
use ticks::HostClock;

/// The state that all processors of a run share.
struct WallState {
    host: HostClock,
    cores: Box<[CachePadded<Mutex<CoreState>>]>,
    fronts: Box<[Front]>,
    ingresses: Box<[LockedIngress]>,
    run_info: RunInfo,
    assignment: CoreAssignment,
    /// Whether the host has fewer cores, so that some of the run's cores share one and must yield to each
    /// other.
    is_crowded: bool,
    /// For each processor that is a thread.
    unparkers: Box<[Unparker]>,
    /// [`RUNNING`], [`FINISHED`] or [`FAILED`].
    status: AtomicU8,
    /// The cause of the run's failure, if a processor or a carrier has reported one.
    cause: Mutex<Option<Cause>>,
    /// The number of cores with processors that have not reached their first wait. Time begins when it is 0.
    cold_cores: AtomicUsize,
    /// The number of processors that have not finished.
    unfinished: AtomicUsize,
    /// The latest tick at which a processor finished.
    finish: AtomicU64,
    watch_guard: WatchGuard,
}

/// The run goes on.
const RUNNING: u8 = 0;
/// Every processor has finished.
const FINISHED: u8 = 1;
/// The run has failed: every processor unwinds at its next call.
const FAILED: u8 = 2;

/// The facts that must be certain before a processor goes on.
#[derive(Clone, Copy, Debug)]
enum NeededCertainty {
    /// Nothing must be certain, because no other processor can see what follows.
    Nothing,
    /// All earlier acts must have been done.
    Turn,
    /// Every message that arrives by this time must have been sent.
    Arrivals(Time),
}

/// The processors of one core. The holder keeps it locked as long as it holds the core.
struct CoreState {
    assignment: CoreAssignment,
    seats: Vec<Seat>,
    /// The processors that wait for a time, except the holder.
    agenda: Agenda,
    /// The lane to each other core, in the order of their numbers.
    outgoing: Vec<LaneSender<SentMessage>>,
    /// The lane from each other core. A message's key is its arrival.
    incoming: Vec<LaneReceiver<SentMessage>>,
    outlook: Outlook,
    /// Whether the core has one processor of an instant pair. It runs ahead of its turns when it sends, and
    /// leaves messages in the lane until they matter.
    is_instant_pair: bool,
    /// Whether the core shows that its processors can do nothing more by themselves.
    is_hopeless: bool,
    /// The lateness of waits, in ns of the host.
    lateness: Histogram<u32>,
    cost: PerLevel<ReceptionCost>,
    places: Places,
    /// The processors that have not started, last first.
    unstarted: Vec<u32>,
    /// Whether all processors of the core have reached their first wait.
    is_warm: bool,
}

/// A processor's view of the clock.
struct WallClock<'a> {
    wall: &'a WallState,
    id: u32,
    core_mutex: &'a Mutex<CoreState>,
    /// The core's number.
    core_number: usize,
    seat_index: usize,
    beat: &'a Heartbeat,
    /// The locked state of the core, while the processor holds it.
    core_state: Option<MutexGuard<'a, CoreState>>,
    /// The time until which the processor last waited, and the tick at which that wait ended.
    reached: (Time, u64),
    berth: &'a dyn Berth,
    /// The number of times that the program was unwound because the run has failed.
    stops: u32,
}

/// The reason why a watch ended.
enum WatchEnd {
    /// The processor's time has come.
    Due,
    /// There are messages from other cores.
    Incoming,
    /// The run is over or has failed.
    Over,
}

/// The host's performance in a run on the wall clock.
#[derive(Debug)]
pub(crate) struct HostReport {
    /// Whether every thread could be pinned to its core.
    pub is_pinned: bool,
    /// The time at which the last processor really finished.
    pub finish: Time,
    /// The lateness of waits, in ns of the host.
    pub lateness: Histogram<u32>,
    /// The number of messages that were delivered after their receiver had taken a later one, or had looked
    /// in vain.
    pub out_of_order: u64,
}

impl WallState {
    /// Makes the state of a run that has not begun. `parkers` are those of the processors that are threads.
    fn new(
        assignment: CoreAssignment,
        host: HostClock,
        run_info: RunInfo,
        watch_guard: WatchGuard,
        parkers: &[Parker],
    ) -> WallState {
        let cores = assignment.cores();
        let mut core_states: Vec<CoreState> =
            (0..cores).map(|core| CoreState::new(core, assignment, &run_info)).collect();
        for from in 0..cores {
            for to in (0..cores).filter(|to| *to != from) {
                let (sender, receiver) = lane();
                core_states[from].outgoing.push(sender);
                core_states[to].incoming.push(receiver);
            }
        }
        WallState {
            host,
            cores: core_states
                .into_iter()
                .map(|core_state| CachePadded::new(Mutex::new(core_state)))
                .collect(),
            fronts: (0..cores).map(|_| Front::new(cores)).collect(),
            ingresses: (0..run_info.ingress_count).map(|_| LockedIngress::default()).collect(),
            run_info,
            assignment,
            is_crowded: !IS_MODEL_CHECKED && cores > cores::available_cores(),
            unparkers: parkers.iter().map(|parker| parker.unparker().clone()).collect(),
            status: AtomicU8::new(RUNNING),
            cause: Mutex::new(None),
            cold_cores: AtomicUsize::new(cores),
            unfinished: AtomicUsize::new(assignment.P()),
            finish: AtomicU64::new(0),
            watch_guard,
        }
    }

    /// Ends the run for every processor.
    fn end(&self, status: u8) {
        self.status.store(status, Ordering::SeqCst);
        self.unparkers.iter().for_each(Unparker::unpark);
    }

    /// Fails the run, and prints the cause if panics abort the process.
    fn fail_and_print(&self, cause: Cause) {
        print_before_abort(&cause);
        self.fail(cause);
    }

    /// Fails the run. Only the first cause is kept.
    fn fail(&self, cause: Cause) {
        self.cause.lock().get_or_insert(cause);
        self.end(FAILED);
    }
}

impl CoreState {
    fn new(core: usize, assignment: CoreAssignment, run_info: &RunInfo) -> CoreState {
        let mut lateness = lateness_histogram();
        let mut unstarted: Vec<u32> = assignment.processors(core).skip(1).map(|id| id as u32).collect();
        unstarted.reverse();
        lateness.reset(); // touches the histogram's memory before time begins
        CoreState {
            assignment,
            seats: assignment.processors(core).map(|_| Seat::with_room()).collect(),
            agenda: Agenda::default(),
            outgoing: Vec::new(),
            incoming: Vec::new(),
            outlook: Outlook::new(core, assignment.cores()),
            is_instant_pair: run_info.is_instant_pair && assignment.cores() == 2,
            is_hopeless: false,
            lateness,
            cost: run_info.cost.clone(),
            places: run_info.places.clone(),
            unstarted,
            is_warm: false,
        }
    }

    /// Puts a message into the inbox of the processor in a seat. Returns the processor's new entry on the
    /// agenda, if the message changes it. The holder needs none, because it looks at its own seat.
    #[inline]
    fn put_in_seat(
        &mut self,
        seat_index: usize,
        holder: u32,
        arrived: ArrivedHeader,
        parcel: Parcel,
    ) -> Option<AgendaEntry> {
        let id = arrived.1.to.id();
        self.seats[seat_index].put(arrived, parcel, &self.cost).filter(|_| id != holder)?;
        let entry = self.agenda_entry(id, seat_index);
        self.add(entry);
        Some(entry)
    }

    #[inline]
    fn add(&mut self, entry: AgendaEntry) {
        let CoreState { agenda, seats, places, assignment, .. } = self;
        agenda.insert(entry, |entry| {
            let (time, place) = entry.moment();
            seats[assignment.seat_index(places.processor_at(time, place) as usize)].ticket() == entry.ticket()
        });
    }

    /// Returns the processor of an entry on the agenda.
    #[inline]
    fn processor(&self, entry: AgendaEntry) -> u32 {
        let (time, place) = entry.moment();
        self.places.processor_at(time, place)
    }

    /// Returns the moment that the core shows as its front if none of its processors acts before the given
    /// moment. Where processors act in the order of their numbers, no processor of another core comes between
    /// those of a block, so the front changes only once for a block.
    #[inline]
    fn front_moment(&self, (time, place): Moment) -> Moment {
        (time, if self.places.are_numbers() { self.assignment.first_of_block(place) } else { place })
    }

    /// Returns the agenda entry of a processor of the core.
    #[inline]
    fn agenda_entry(&self, id: u32, seat_index: usize) -> AgendaEntry {
        let seat = &self.seats[seat_index];
        AgendaEntry::new(seat.wake_time(), self.places.place(seat.wake_time(), id), seat.ticket())
    }

    /// Returns whether there are messages from other cores to let in.
    #[inline]
    fn has_incoming(&self) -> bool {
        (0..self.incoming.len()).any(|from| self.has_incoming_from(from))
    }

    #[inline]
    fn has_incoming_from(&self, from: usize) -> bool {
        let lane = &self.incoming[from];
        match self.is_instant_pair {
            false => !lane.is_empty(),
            true => {
                lane.has_first(|arrival, sent| self.seats[0].needs((Time::from_ps(arrival), &sent.header)))
            }
        }
    }

    /// Lets in the messages from other cores. Returns whether there were any.
    #[inline]
    fn let_in(&mut self, holder: u32) -> bool {
        let mut any = false;
        for from in 0..self.incoming.len() {
            while self.has_incoming_from(from)
                && let Some((arrival, SentMessage { header, parcel })) = self.incoming[from].pop()
            {
                self.outlook.count_let_in(from, Time::from_ps(arrival));
                let seat_index = self.assignment.seat_index(header.to.id() as usize);
                self.put_in_seat(seat_index, holder, (Time::from_ps(arrival), header), parcel);
                any = true;
            }
        }
        any
    }

    /// Returns the entry of the processor that acts first on the core: the holder, with the entry `mine`, or
    /// one on the agenda.
    #[inline]
    fn first_entry(&mut self, mine: AgendaEntry, holder: u32) -> AgendaEntry {
        while let Some(first) = self.agenda.peek() {
            let id = self.processor(first);
            let is_current = self.seats[self.assignment.seat_index(id as usize)].ticket() == first.ticket();
            if is_current && id != holder {
                return first.min(mine);
            }
            self.agenda.pop();
        }
        mine
    }
}

impl<'a> WallClock<'a> {
    fn new(wall: &'a WallState, id: usize, berth: &'a dyn Berth) -> WallClock<'a> {
        let (number, seat_index) = wall.assignment.core_and_seat(id);
        let (id, core, beat) = (id as u32, &*wall.cores[number], wall.watch_guard.beat(number));
        WallClock {
            wall,
            id,
            core_mutex: core,
            core_number: number,
            seat_index,
            beat,
            core_state: None,
            reached: (-PS, 0),
            berth,
            stops: 0,
        }
    }

    /// Waits until the core is handed to the processor for the first time.
    fn start(&mut self) {
        if !self.wall.host.is_unpaced() {
            touch_stack(if self.wall.assignment.P() > MANY_PROCESSORS { 1 } else { TOUCHED_PAGES });
        }
        self.berth.wait_for_core();
        self.check_running();
        self.seat().start();
        self.beat.enter_program(self.id, Time::ZERO);
    }

    /// Returns the state of the core. Only in a failed run may the processor use it without holding the core.
    #[inline]
    fn core_state(&mut self) -> &mut CoreState {
        self.core_state.get_or_insert_with(|| self.core_mutex.lock())
    }

    #[inline]
    fn seat(&mut self) -> &mut Seat {
        let seat_index = self.seat_index;
        &mut self.core_state().seats[seat_index]
    }

    /// Sleeps until the wake time of the processor's seat has come, and what `needs` asks for is certain.
    /// Returns true with the core held by the processor, or false once the run is over.
    fn sleep(&mut self, needs: NeededCertainty) -> bool {
        self.beat.count_call();
        let (id, seat_index) = (self.id, self.seat_index);
        let mut waited = false;
        loop {
            let (wall, number) = (self.wall, self.core_number);
            if self.core_state().let_in(id) {
                self.clear_hopeless();
            }
            let core_state = self.core_state();
            if let Some(other) = core_state.unstarted.pop() {
                let mine = core_state.agenda_entry(id, seat_index);
                if !self.hand_over(other, mine) {
                    return false;
                }
                waited = true;
                continue;
            }
            let mine = core_state.agenda_entry(id, seat_index);
            let first = core_state.first_entry(mine, id);
            let wake_time = core_state.seats[seat_index].wake_time();
            let shown = core_state.front_moment(first.moment());
            core_state.outlook.show(&wall.fronts[number], shown);
            if first != mine {
                core_state.agenda.pop();
                let other = core_state.processor(first);
                if !self.hand_over(other, mine) {
                    return false;
                }
                // The processor that handed the core over has let in all messages that arrive before the
                // horizon.
                let wake_time = self.seat().wake_time();
                if self.is_certain(NeededCertainty::Turn, wake_time) && self.go_on_if_due(wake_time) {
                    return true;
                }
                waited = true;
                continue;
            }
            let seat = &mut core_state.seats[seat_index];
            let needs = if core_state.is_instant_pair && seat.takes_from_other(id) {
                NeededCertainty::Nothing
            } else {
                let known_until = seat.known_until(wall.run_info.signals_are_acts);
                known_until.map_or(needs, NeededCertainty::Arrivals)
            };
            if !core_state.is_warm {
                core_state.is_warm = true;
                if wall.cold_cores.fetch_sub(1, Ordering::SeqCst) == 1 {
                    wall.host.begin();
                }
            }
            if wake_time == self.reached.0 && !waited && self.is_certain(needs, wake_time) {
                return self.check_running(); // code that costs no time in the model does not wait
            }
            match self.watch(wake_time, needs) {
                WatchEnd::Due => return true,
                WatchEnd::Incoming => waited = true,
                WatchEnd::Over => return false,
            }
        }
    }

    /// Hands the core over to another processor. Returns true when the core is handed back, or false once the
    /// run is over.
    fn hand_over(&mut self, other: u32, mine: AgendaEntry) -> bool {
        if mine.moment().0 < Time::MAX {
            self.core_state().add(mine);
        }
        self.beat.leave_program();
        self.core_state = None;
        self.berth.hand_over_to(other);
        self.check_running()
    }

    /// Returns whether what the processor needs to go on at `wake_time` is certain, by what is known of the
    /// other cores.
    #[inline]
    fn is_certain(&mut self, needs: NeededCertainty, wake_time: Time) -> bool {
        let (id, RunInfo { places, lookahead, .. }) = (self.id, &self.wall.run_info);
        let horizon = self.core_state().outlook.horizon();
        let has_turn = || horizon > (wake_time, places.place(wake_time, id));
        match needs {
            NeededCertainty::Nothing => true,
            NeededCertainty::Turn => has_turn(),
            NeededCertainty::Arrivals(time) => horizon.0 + *lookahead > time || has_turn(),
        }
    }

    /// Notes that a processor of the core does more than look for messages.
    #[inline]
    fn clear_hopeless(&mut self) {
        if self.core_state().is_hopeless {
            self.core_state().is_hopeless = false;
            self.wall.fronts[self.core_number].show_hope(true);
        }
    }

    fn look_around(&mut self) {
        let wall = self.wall;
        self.core_state().outlook.look(&wall.fronts, &wall.host);
    }

    /// Returns whether the run goes on. Unwinds the program if the run has failed.
    #[inline]
    fn check_running(&mut self) -> bool {
        let status = self.wall.status.load(Ordering::Relaxed);
        if status == FAILED {
            stop(self.id as usize, &mut self.stops);
        }
        status == RUNNING
    }

    /// Returns whether another core, as far as this one knows, has not done what was due long ago by the
    /// host's time: then the host does not let that core run.
    fn are_others_behind(&mut self) -> bool {
        let (host, horizon) = (&self.wall.host, self.core_state().outlook.horizon().0);
        !host.is_unreachable(horizon)
            && host.now().saturating_sub(host.tick_of(horizon)) > host.ticks(BEHIND_NS)
    }

    /// Returns whether a time comes so soon that a nap might last longer.
    fn is_due_during_nap(&self, wake_time: Time) -> bool {
        let host = &self.wall.host;
        let left = host.tick_of(wake_time).saturating_sub(host.now());
        left > 0 && left < host.ticks(LONGEST_NAP_NS)
    }

    /// Lets the processor go on if its wake time has come. Returns whether it has.
    #[inline]
    fn go_on_if_due(&mut self, wake_time: Time) -> bool {
        let host = &self.wall.host;
        let (now, deadline) = (host.now(), host.tick_of(wake_time));
        if now < deadline {
            return false;
        }
        if wake_time != self.reached.0 && !host.is_unpaced() {
            let late = host.nanoseconds(now - deadline);
            self.core_state().lateness.saturating_record(late);
        }
        self.reached = (wake_time, now);
        self.beat.enter_program(self.id, wake_time);
        true
    }

    /// Spins until `wake_time` has come and the processor has what it needs, or until there is something else
    /// to do.
    fn watch(&mut self, wake_time: Time, needs: NeededCertainty) -> WatchEnd {
        /// The number of rounds between checks whether the run is stuck. A check must not delay a message
        /// that comes soon.
        const STUCK_CHECK_ROUNDS: u32 = if IS_MODEL_CHECKED { 1 } else { 1 << 14 };
        /// The same, once each round lets the host run something else, which may take long.
        const STUCK_CHECK_ROUNDS_IF_SLOW: u32 = 1 << 6;
        /// The number of rounds in a row with another core behind before the holder lets the host run
        /// something else. A core that runs shows a new front sooner.
        const SPINS: u32 = 1 << 9;
        /// The number of rounds in which it then yields to another core before it sleeps.
        const YIELDS: u32 = 1 << 9;
        let is_crowded = self.wall.is_crowded;
        let (mut rounds, mut behind) = (0_u32, 0_u32);
        self.beat.leave_program();
        loop {
            if !self.check_running() {
                return WatchEnd::Over;
            }
            if self.core_state().has_incoming() {
                return WatchEnd::Incoming;
            }
            if wake_time < Time::MAX {
                if !self.is_certain(needs, wake_time) {
                    // Messages that the others sent before this look are in the lanes now, and the next round
                    // looks there first.
                    self.look_around();
                } else if self.go_on_if_due(wake_time) {
                    return WatchEnd::Due;
                }
            }
            behind = if self.are_others_behind() { behind.saturating_add(1) } else { 0 };
            if behind >= SPINS && !self.wall.host.is_unpaced() {
                // The outlook may be old: a holder that waits only for a time has not looked.
                self.look_around();
                if !self.are_others_behind() {
                    behind = 0;
                }
            }
            let slow = is_crowded || behind > SPINS;
            if IS_MODEL_CHECKED || !slow {
                spin_once();
            } else if behind <= SPINS + YIELDS || self.is_due_during_nap(wake_time) {
                std::thread::yield_now();
            } else {
                std::thread::sleep(NAP);
            }
            let seldom = if slow { STUCK_CHECK_ROUNDS_IF_SLOW } else { STUCK_CHECK_ROUNDS };
            rounds = rounds.wrapping_add(1);
            if rounds.is_multiple_of(seldom) && self.wall.host.is_unreachable(wake_time) {
                self.end_if_stuck(wake_time);
            }
        }
    }

    /// Ends the run if nothing can happen before `wake_time`, which the host does not reach.
    fn end_if_stuck(&mut self, wake_time: Time) {
        self.look_around();
        if wake_time < Time::MAX {
            if self.is_certain(NeededCertainty::Turn, wake_time) && !self.core_state().has_incoming() {
                // All that comes earlier has been done.
                self.wall.fail_and_print(Cause::EndOfTime { id: self.id as usize });
            }
        } else if self.core_state().outlook.horizon().0 == Time::MAX && !self.core_state().has_incoming() {
            // No processor of any core waits for a time, and no message is under way.
            let (waiting, of) = (self.wall.unfinished.load(Ordering::SeqCst), self.wall.assignment.P());
            print_before_abort(&Cause::Deadlock { waiting, of });
            self.wall.end(FAILED);
        }
    }
}

impl Clock for WallClock<'_> {
    fn wait_until(&mut self, t: Time) {
        self.check_running();
        if t == self.reached.0 {
            return; // code that costs no time in the model does not wait
        }
        self.clear_hopeless();
        self.seat().wait_until(t);
        self.sleep(NeededCertainty::Nothing);
    }

    fn wait_to_act(&mut self, t: Time) {
        self.check_running();
        self.clear_hopeless();
        if t == self.reached.0 && self.is_certain(NeededCertainty::Turn, t) {
            let first = self.core_state().agenda.peek();
            let mine = (t, self.wall.run_info.places.place(t, self.id));
            if first.is_none_or(|first| first.moment() > mine) {
                return;
            }
        }
        self.seat().wait_until(t);
        self.sleep(NeededCertainty::Turn);
    }

    #[inline]
    fn wait_for_turn(&mut self, turn: Time, is_visible: bool) {
        if !is_visible {
            self.wait_until(turn);
        } else if self.core_state().is_instant_pair {
            // The other one sees the message when its turn has come.
            self.clear_hopeless();
            self.wait_until(turn);
        } else {
            self.wait_to_act(turn);
        }
    }

    fn serve(&mut self, network: &Network, egress: &mut Egress, message: &OutgoingMessage) -> Passage {
        network.serve(&mut &*self.wall.ingresses, egress, message.to, &message.departure)
    }

    fn deliver(&mut self, arrived: ArrivedHeader, parcel: Parcel) {
        let (arrival, header) = arrived;
        let (to, seat) = self.wall.assignment.core_and_seat(header.to.id() as usize);
        let (from, id, wall) = (self.core_number, self.id, self.wall);
        let core_state = self.core_state();
        if to == from {
            if let Some(entry) = core_state.put_in_seat(seat, id, arrived, parcel) {
                // The same act may send more messages: their receivers must see who acts before them.
                let moment = core_state.front_moment(entry.moment());
                core_state.outlook.show_earlier(&wall.fronts[from], moment);
            }
            return;
        }
        let lane = index_among_others(from, to);
        core_state.outlook.count_sent(&wall.fronts[from], lane, arrival);
        core_state.outgoing[lane].push(arrival.as_ps(), SentMessage { header, parcel });
    }

    fn report_vain_looks(&mut self) -> bool {
        let (wall, number) = (self.wall, self.core_number);
        self.seat().mark_vain_looks();
        let core_state = self.core_state();
        core_state.is_hopeless =
            core_state.unstarted.is_empty() && core_state.seats.iter().all(Seat::is_hopeless);
        wall.fronts[number].show_hope(!core_state.is_hopeless);
        // A core whose holder waits for a message does not show that it is hopeless, but its front is
        // `NEVER`.
        core_state.outlook.look(&wall.fronts, &wall.host);
        let forsaken =
            core_state.outlook.horizon().0 == Time::MAX || core_state.outlook.is_hopeless(&wall.fronts);
        core_state.is_hopeless && forsaken && !core_state.has_incoming()
    }

    fn fail(&mut self, cause: Cause) {
        self.core_state = None;
        self.wall.fail(cause);
    }

    fn receive(&mut self, wait: &mut MessageWait, got: &mut Option<ArrivedMessage>) {
        self.check_running(); // in a failed run the seat must stay as it was when the run failed
        let cost = &self.wall.run_info.cost;
        self.seat().start_wait(wait, cost);
        if self.sleep(NeededCertainty::Turn) {
            self.seat().finish_wait(wait, got);
        }
    }

    fn end(&mut self, at: Time, well: bool) {
        self.seat().end(at, well);
        if !well {
            self.beat.leave_program();
            self.core_state = None;
            return;
        }
        self.wall.finish.fetch_max(self.reached.1, Ordering::SeqCst); // its last wait was until `at`
        if self.wall.unfinished.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.wall.end(FINISHED);
        } else {
            // The core may still need a processor that watches, and the end of a thread would disturb others
            // that run.
            self.sleep(NeededCertainty::Nothing);
        }
    }
}

impl ProgramClock for WallClock<'_> {
    fn cores(&mut self) -> Option<&mut dyn CoreClock> {
        Some(self)
    }
}

impl CoreClock for WallClock<'_> {
    fn promise_no_act_before(&mut self, t: Time) {
        self.clear_hopeless();
        let (id, wall, number) = (self.id, self.wall, self.core_number);
        let core_state = self.core_state();
        if core_state.unstarted.is_empty() {
            let first = core_state.agenda.peek().map_or(NEVER, AgendaEntry::moment);
            let mine = (t.min(LAST), core_state.places.place(t, id));
            let shown = core_state.front_moment(first.min(mine));
            core_state.outlook.show(&wall.fronts[number], shown);
        }
    }

    fn start_computing_at(&mut self, t: Time) {
        self.promise_no_act_before(t);
        self.wall.fronts[self.core_number].start_computing(self.wall.host.now());
    }

    fn stop_computing(&mut self) {
        self.wall.fronts[self.core_number].stop_computing();
    }
}

/// Runs `body` for each processor on this number of cores, with time stretched by `dilation`. Without
/// a dilation no processor waits for the host's time: that is the virtual clock on several cores. `body` gets
/// the processor's number and its clock. Returns what is left of the run and the host's report when all have ended.
pub(crate) fn run<T: Send>(
    run_info: RunInfo,
    carrier: Carrier,
    cores: usize,
    dilation: Option<f64>,
    body: &(dyn Fn(usize, &mut dyn ProgramClock) -> T + Sync),
) -> Result<(RunOutcome<T>, HostReport), RunError> {
    let (P, stack) = (run_info.P, run_info.stack);
    let threads = if carrier == Carrier::Thread { P } else { 0 };
    let parkers: Vec<Parker> = (0..threads).map(|_| Parker::new()).collect();
    let watch_guard = WatchGuard::new(cores, run_info.patience.clone());
    let host = dilation.map_or_else(HostClock::unpaced, HostClock::new);
    let assignment = if dilation.is_some() {
        CoreAssignment::round_robin(P, cores)
    } else {
        CoreAssignment::in_blocks(P, cores)
    };
    let wall = WallState::new(assignment, host, run_info, watch_guard, &parkers);
    let run_processor = |id: usize, berth: &dyn Berth| {
        let mut clock = WallClock::new(&wall, id, berth);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            clock.start();
            body(id, &mut clock)
        }));
        match outcome {
            Ok(result) => Some(result),
            Err(payload) => {
                if !payload.is::<RunStopped>() {
                    wall.fail(cause_from_panic(id, payload));
                }
                None
            }
        }
    };
    let fail = |cause: Cause| wall.fail_and_print(cause);
    let (results, pinned) = match carrier {
        Carrier::Thread => {
            carry_by_threads(parkers, &wall.unparkers, stack.size, cores, &fail, &run_processor)
        }
        Carrier::Coroutine => {
            carry_by_coroutines(assignment, stack, dilation.is_some(), &fail, &run_processor)
        }
    };

    let report = host_report(&wall, pinned)?;
    match results.into_iter().collect() {
        Some(results) => {
            let sides = wall.ingresses.iter().map(|side| side.lock().most_in_transit());
            Ok((RunOutcome { results, most_to: most_in_transit_to(P, sides) }, report))
        }
        None => {
            Err(Cause::Host("the run ended early, and nobody said why: that is a fault of loggp".into())
                .into())
        }
    }
}

/// Returns the host's report of a run that has ended, or why the run failed.
fn host_report(wall: &WallState, is_pinned: bool) -> Result<HostReport, RunError> {
    let mut core_states: Vec<_> = wall.cores.iter().map(|core| core.lock()).collect();
    core_states.iter_mut().for_each(|core_state| _ = core_state.let_in(u32::MAX));
    let seats = (0..wall.assignment.P()).map(|id| {
        let (core, seat_index) = wall.assignment.core_and_seat(id);
        &core_states[core].seats[seat_index]
    });
    if let Some(cause) = wall.cause.lock().take().or_else(|| failure_cause(seats.clone(), &wall.run_info)) {
        let began = !matches!(cause, Cause::Host(_));
        let processors = seats.clone().enumerate().filter(|_| began);
        let processors = processors.map(|(id, seat)| seat.state(id, &wall.run_info.tag_names)).collect();
        return Err(RunError { cause, processors });
    }
    let finish = wall.host.time_of(wall.finish.load(Ordering::SeqCst));
    let out_of_order = seats.clone().map(Seat::out_of_order).sum();
    let mut report = HostReport { is_pinned, finish, lateness: lateness_histogram(), out_of_order };
    for core_state in &core_states {
        report.lateness.add(&core_state.lateness).expect("the bounds are the same");
    }
    Ok(report)
}

/// The lag of another core at which a holder lets the host run something else, in ns of the host.
const BEHIND_NS: f64 = 20_000.0;
/// The length of a holder's nap.
const NAP: Duration = Duration::from_micros(50);
/// The longest time after which the host may wake a holder from a nap, in ns of the host.
const LONGEST_NAP_NS: f64 = 250_000.0;

/// The number of stack pages that a processor touches before time begins.
const TOUCHED_PAGES: usize = 4;
/// With more processors than this, each touches only one page: more memory would take long to get.
const MANY_PROCESSORS: usize = 4096;

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

/// Makes a histogram of nanoseconds up to a minute, with two significant digits.
fn lateness_histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 60_000_000_000, 2).expect("the bounds are right")
}
