//! The virtual clock on one core: time jumps to the next event.
//!
//! Processors are coroutines on one thread, and the earliest one runs. When it waits for a time that is still
//! the earliest, it goes on at once; else it is put on the agenda, and the processor that is now the earliest
//! is resumed. So when a processor acts at t, all acts before t have been done: the run is exact, and the
//! same every time. Processors that act at the same time do so in the order of their places. On several cores
//! the virtual clock runs on the wall clock's code (`wall/README.md`).

use std::cell::{Cell, RefCell, RefMut};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};

use corosensei::{CoroutineResult, Yielder};
use loggp_model::agenda::{Agenda, AgendaEntry};
use loggp_model::error::{Cause, RunError, cause_from_panic, stop};
use loggp_model::message::parcel::Parcel;
use loggp_model::message::{ArrivedHeader, ArrivedMessage};
use loggp_model::panics::contain;
use loggp_model::params::{PerLevel, ReceptionCost};
use loggp_model::prefetch::prefetch_lines;
use loggp_model::rules::choice::Places;
use loggp_model::rules::engine::Clock;
use loggp_model::rules::message_wait::MessageWait;
use loggp_model::rules::network::Network;
use loggp_model::rules::rank::OutgoingMessage;
use loggp_model::time::Time;
use loggp_model::transport::{Egress, Ingress, Passage, most_in_transit_to};

use super::program_clock::{CoroutineClock, ProgramClock};
use super::run_info::{RunInfo, RunOutcome};
use super::seat::{Seat, failure_cause};
use super::stacks::coroutines::Coroutines;
use super::stacks::prefetch::{PROC_LINES, prefetch_stack};
use super::stacks::{ParentStack, ThreadStack};
use super::wall::dilation::RecordedWait;
use super::watchdog::{Heartbeat, WatchGuard};

/// The state that all processors of a run share. They run on one thread, so nothing is locked.
struct VirtualState {
    state: RefCell<SchedulerState>,
    /// Set once the run has failed, so that every program unwinds at its next call.
    failed: Cell<bool>,
    /// The time from which on nobody runs: the end of time, or that of a run that ends before its programs.
    end: Time,
    /// Set once the run has ended before its programs.
    is_cut: Cell<bool>,
    cause: RefCell<Option<Cause>>,
    cost: PerLevel<ReceptionCost>,
    places: Places,
    watch_guard: WatchGuard,
    /// The waits of each processor so far, if they are recorded.
    waits: Option<RefCell<Vec<Vec<RecordedWait>>>>,
}

/// The part of the state that is borrowed mutably.
struct SchedulerState {
    agenda: Agenda,
    /// One for each processor.
    seats: Box<[Seat]>,
    ingresses: Box<[Ingress]>,
    /// For each processor, the memory that it touches when it is resumed.
    hot_addresses: Box<[HotAddresses]>,
}

/// The addresses of the memory that a processor touches when it is resumed.
#[derive(Clone, Default)]
struct HotAddresses {
    /// The top of its stack, while it sleeps.
    stack: usize,
    /// The part of its own state that its calls touch.
    proc: usize,
    /// Its [`VirtualClock`].
    clock: usize,
}

impl HotAddresses {
    #[inline]
    fn prefetch(&self) {
        prefetch_stack(self.stack);
        prefetch_lines(self.proc, PROC_LINES);
        prefetch_lines(self.clock, 1);
    }
}

/// A processor's view of the clock. It fills a cache line.
#[repr(align(64))]
struct VirtualClock<'a> {
    shared: &'a VirtualState,
    /// Switches back to the thread's own stack, with the number of the processor that runs next.
    yielder: &'a Yielder<(), u32>,
    beat: &'a Heartbeat,
    id: u32,
    /// The number of times that the program was unwound because the run has failed.
    stops: u32,
}

/// Stands for no processor.
const NO_PROCESSOR: u32 = u32::MAX;

impl SchedulerState {
    /// Puts a processor on the agenda.
    #[inline(always)]
    fn insert(&mut self, id: u32, wake_time: Time, places: &Places) {
        let entry =
            AgendaEntry::new(wake_time, places.place(wake_time, id), self.seats[id as usize].ticket());
        self.agenda.insert(entry, |entry| is_current(&self.seats, entry, places));
    }

    /// Puts a processor that sleeps until `wake_time` on the agenda.
    #[inline(never)]
    fn schedule(&mut self, id: u32, wake_time: Time, places: &Places) {
        self.insert(id, wake_time, places);
    }

    /// Removes the processor that runs next from the agenda, and prefetches the memory of the one after it.
    /// Returns [`NO_PROCESSOR`] if the agenda is empty.
    #[inline(always)]
    fn pop_next(&mut self, places: &Places) -> u32 {
        while let Some(entry) = self.agenda.pop() {
            let id = processor(entry, places);
            if self.seats[id as usize].ticket() == entry.ticket() {
                if let Some(after) = self.agenda.peek() {
                    let after = processor(after, places) as usize;
                    self.hot_addresses[after].prefetch();
                    self.seats[after].prefetch();
                }
                return id;
            }
        }
        NO_PROCESSOR
    }
}

/// Returns the processor of an entry of the agenda.
#[inline]
fn processor(entry: AgendaEntry, places: &Places) -> u32 {
    let (time, place) = entry.moment();
    places.processor_at(time, place)
}

/// Returns whether an entry of the agenda is up to date: its ticket is still that of its processor.
#[inline]
fn is_current(seats: &[Seat], entry: AgendaEntry, places: &Places) -> bool {
    seats[processor(entry, places) as usize].ticket() == entry.ticket()
}

impl VirtualClock<'_> {
    /// Lets the other processors run until this one is the earliest. It runs next at `wake_time`, unless a
    /// message that is delivered meanwhile changes that. `is_act` tells whether other processors can see what
    /// it does then.
    #[inline(always)]
    fn sleep(&mut self, state: RefMut<'_, SchedulerState>, wake_time: Time, is_act: bool) {
        let shared = self.shared;
        self.beat.count_call();
        let is_first = shared.places.are_numbers()
            && state.agenda.is_before_all(AgendaEntry::new(wake_time, self.id, 0));
        if !is_first || wake_time >= shared.end || shared.failed.get() {
            self.switch_away(state, wake_time);
        } else {
            drop(state);
        }
        if let Some(waits) = &shared.waits {
            self.record_wait(waits, is_act);
        }
    }

    /// Records the wait that ends now.
    #[cold]
    fn record_wait(&self, waits: &RefCell<Vec<Vec<RecordedWait>>>, is_act: bool) {
        let until = self.shared.state.borrow().seats[self.id as usize].wake_time();
        waits.borrow_mut()[self.id as usize].push(RecordedWait { until, is_act });
    }

    /// Lets the other processors run. This is the slow path of [`sleep`](VirtualClock::sleep), for a
    /// processor that may not be the earliest.
    #[inline(never)]
    fn switch_away(&mut self, mut state: RefMut<'_, SchedulerState>, wake_time: Time) {
        let (shared, id) = (self.shared, self.id);
        if shared.failed.get() {
            drop(state);
            return stop(id as usize, &mut self.stops);
        }
        if wake_time < shared.end {
            state.insert(id, wake_time, &shared.places);
        }
        let next = state.pop_next(&shared.places);
        if next == id {
            return; // it was the earliest
        }
        let top = 0_u8;
        state.hot_addresses[id as usize].stack = (&raw const *black_box(&top)).addr();
        drop(state);
        self.yielder.suspend(next);
        self.beat.enter_program(id, wake_time);
        if shared.failed.get() {
            stop(id as usize, &mut self.stops);
        }
    }
}

impl Clock for VirtualClock<'_> {
    #[inline(always)]
    fn wait_until(&mut self, t: Time) {
        let mut state = self.shared.state.borrow_mut();
        state.seats[self.id as usize].wait_until(t);
        self.sleep(state, t, false);
    }

    #[inline(always)]
    fn wait_to_act(&mut self, t: Time) {
        let mut state = self.shared.state.borrow_mut();
        state.seats[self.id as usize].wait_until(t);
        self.sleep(state, t, true);
    }

    #[inline(always)]
    fn wait_for_turn(&mut self, turn: Time, is_visible: bool) {
        match is_visible {
            true => self.wait_to_act(turn),
            false => self.wait_until(turn),
        }
    }

    #[inline(always)]
    fn serve(&mut self, network: &Network, egress: &mut Egress, message: &OutgoingMessage) -> Passage {
        let state = &mut *self.shared.state.borrow_mut();
        state.seats[message.to].prefetch(); // it is needed once the network's rules have been applied
        network.serve(&mut *state.ingresses, egress, message.to, &message.departure)
    }

    #[inline(always)]
    fn deliver(&mut self, arrived: ArrivedHeader, parcel: Parcel) {
        let VirtualState { state, cost, places, end, .. } = self.shared;
        let (mut state, to) = (state.borrow_mut(), arrived.1.to.id());
        if let Some(wake_time) = state.seats[to as usize].put(arrived, parcel, cost)
            && wake_time < *end
        {
            state.schedule(to, wake_time, places);
        }
    }

    #[inline(always)]
    fn receive(&mut self, wait: &mut MessageWait, got: &mut Option<ArrivedMessage>) {
        let (shared, id) = (self.shared, self.id as usize);
        let mut state = shared.state.borrow_mut();
        let wake_time = state.seats[id].start_wait(wait, &shared.cost);
        self.sleep(state, wake_time, true);
        shared.state.borrow_mut().seats[id].finish_wait(wait, got);
    }

    fn report_vain_looks(&mut self) -> bool {
        let mut state = self.shared.state.borrow_mut();
        state.seats[self.id as usize].mark_vain_looks();
        state.seats.iter().all(Seat::is_hopeless)
    }

    fn fail(&mut self, cause: Cause) {
        self.shared.cause.borrow_mut().get_or_insert(cause);
        self.shared.failed.set(true);
    }

    fn end(&mut self, at: Time, well: bool) {
        self.shared.state.borrow_mut().seats[self.id as usize].end(at, well);
    }
}

impl ProgramClock for VirtualClock<'_> {
    fn coroutine<'s>(&self) -> Option<&(dyn CoroutineClock + 's)>
    where
        Self: 's,
    {
        Some(self)
    }
}

impl CoroutineClock for VirtualClock<'_> {
    fn set_prefetch_address(&self, proc: usize) {
        let addresses = &mut self.shared.state.borrow_mut().hot_addresses[self.id as usize];
        (addresses.proc, addresses.clock) = (proc, (&raw const *self).addr());
    }

    fn thread_stack<'s>(&self) -> Box<dyn ThreadStack + 's>
    where
        Self: 's,
    {
        Box::new(ParentStack(self.yielder))
    }

    fn is_cut(&self) -> bool {
        self.shared.is_cut.get()
    }
}

impl VirtualState {
    fn new(run_info: &RunInfo, records_waits: bool) -> VirtualState {
        let P = run_info.P;
        let state = SchedulerState {
            agenda: Agenda::default(),
            seats: (0..P).map(|_| Seat::default()).collect(),
            ingresses: (0..run_info.ingress_count).map(|_| Ingress::default()).collect(),
            hot_addresses: vec![HotAddresses::default(); P].into(),
        };
        VirtualState {
            state: RefCell::new(state),
            failed: Cell::new(false),
            end: run_info.end.at,
            is_cut: Cell::new(false),
            cause: RefCell::default(),
            cost: run_info.cost.clone(),
            places: run_info.places.clone(),
            watch_guard: WatchGuard::new(1, run_info.patience.clone()),
            waits: records_waits.then(|| RefCell::new(vec![Vec::new(); P])),
        }
    }
}

/// Runs `body` for each processor until all have ended. Returns what is left of the run, and all their waits if
/// `records_waits` is set. `body` gets the number of the processor and its clock.
pub(crate) fn run<T>(
    run_info: RunInfo,
    records_waits: bool,
    body: &dyn Fn(usize, &mut dyn ProgramClock) -> T,
) -> Result<(RunOutcome<T>, Vec<Vec<RecordedWait>>), RunError> {
    let P = run_info.P;
    let shared = &VirtualState::new(&run_info, records_waits);
    let results: RefCell<Vec<Option<T>>> = RefCell::new((0..P).map(|_| None).collect());
    let start = |id: usize, yielder: &Yielder<(), u32>| {
        shared.state.borrow_mut().seats[id].start();
        let beat = shared.watch_guard.beat(0);
        let mut clock = VirtualClock { shared, yielder, beat, id: id as u32, stops: 0 };
        beat.enter_program(id as u32, Time::ZERO);
        match catch_unwind(AssertUnwindSafe(|| body(id, &mut clock))) {
            Ok(result) => results.borrow_mut()[id] = Some(result),
            Err(payload) if !shared.failed.get() => clock.fail(cause_from_panic(id, payload)),
            Err(payload) => contain(|| drop(payload)),
        }
    };
    let mut coroutines = Coroutines::new(0..P, run_info.stack, &start)?;
    for id in 0..P as u32 {
        shared.state.borrow_mut().schedule(id, Time::ZERO, &shared.places);
    }
    let first = || shared.state.borrow_mut().pop_next(&shared.places);
    let mut next = first();
    while next != NO_PROCESSOR && !shared.failed.get() {
        next = match coroutines.resume(next as usize) {
            CoroutineResult::Yield(next) => next,
            CoroutineResult::Return(()) => first(),
        };
    }
    shared.watch_guard.beat(0).leave_program();
    let finished = || {
        let results = results.take().into_iter().map(|result| result.expect("it has ended")).collect();
        let sides = &shared.state.borrow().ingresses;
        let most_to = most_in_transit_to(P, sides.iter().map(Ingress::most_in_transit));
        (RunOutcome { results, most_to }, shared.waits.as_ref().map(RefCell::take).unwrap_or_default())
    };
    if !shared.failed.get() && run_info.end.at < Time::MAX && coroutines.has_suspended() {
        // What is left of the programs is unwound, and that is no failure.
        shared.is_cut.set(true);
        shared.failed.set(true);
        coroutines.run_to_end(|_, _| ());
        return Ok(finished());
    }
    match failure(shared, &run_info) {
        None => {
            drop(coroutines); // the memory of many stacks is given back before more is taken
            Ok(finished())
        }
        Some(error) => {
            shared.failed.set(true);
            if cfg!(panic = "abort") && coroutines.has_suspended() {
                // Programs that wait cannot be unwound, and threads that they have started may use their
                // stacks and borrows.
                eprintln!("{error}");
                std::process::abort();
            }
            coroutines.run_to_end(|_, _| ());
            Err(error)
        }
    }
}

/// Returns why a run that has ended failed, if it did.
fn failure(shared: &VirtualState, run_info: &RunInfo) -> Option<RunError> {
    let state = shared.state.borrow();
    let seats = &state.seats;
    let cause = shared.cause.take().or_else(|| failure_cause(seats.iter(), run_info))?;
    let processors = seats.iter().enumerate().map(|(id, seat)| seat.state(id, &run_info.tag_names)).collect();
    Some(RunError { cause, processors })
}
