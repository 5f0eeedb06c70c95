//! The virtual clock on one core: time jumps to the next thing that happens.
//!
//! Processors are coroutines on one thread. The earliest processor runs. When it waits for a time that is still
//! the earliest, it just carries on; else it is put on the agenda, and the new earliest is resumed. So when a
//! processor acts at t, all acts before t have been done: the run is exact, and the same every time. Processors
//! that act at the same time do so in the order of their places. On several cores the virtual clock is the wall clock's code
//! (`wall/README.md`).

use std::cell::{Cell, RefCell, RefMut};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};

use corosensei::{CoroutineResult, Yielder};

use super::agenda::{Agenda, Entry};
use super::contract::{Clock, Foreknown};
use super::seat::{Seat, blame};
use super::stacks::coroutines::Coroutines;
use super::stacks::overflow::{AlternateStack, Stacks};
use super::stacks::prefetch::{PROC_LINES, prefetch_lines, prefetch_stack};
use super::watchdog::{Beat, Patience, Watched};
use crate::error::{Cause, RunError, cause_of, stop};
use crate::message::parcel::Parcel;
use crate::message::{Envelope, Seen};
use crate::params::{ByLevel, ReceptionCost};
use crate::rules::choice::Places;
use crate::rules::network::{Entrance, Exit, Network, Passage};
use crate::rules::pace::Outgoing;
use crate::rules::reception::Reception;
use crate::time::Time;

/// The clock, which the processors share. They are all on one thread, so nothing is locked.
struct Jumping {
    state: RefCell<State>,
    /// Whether the run has failed, so that every program unwinds at its next call.
    failed: Cell<bool>,
    /// Why the run has failed.
    cause: RefCell<Option<Cause>>,
    cost: ByLevel<ReceptionCost>,
    /// The places of processors that act at the same time.
    places: Places,
    /// The run's signs of life, for the watchdog.
    watched: Watched,
}

/// Who runs when.
struct State {
    agenda: Agenda,
    /// One for each processor.
    seats: Box<[Seat]>,
    /// The receiving sides of the network.
    entrances: Box<[Entrance]>,
    /// Where each processor has what it touches when it goes on.
    lies_at: Box<[LiesAt]>,
}

/// The addresses of what a processor touches when it goes on.
#[derive(Clone, Default)]
struct LiesAt {
    /// Its stack, while it sleeps.
    stack: usize,
    /// What its calls touch of it.
    proc: usize,
    /// Its view of the clock.
    jumper: usize,
}

impl LiesAt {
    #[inline]
    fn prefetch(&self) {
        prefetch_stack(self.stack);
        prefetch_lines(self.proc, PROC_LINES);
        prefetch_lines(self.jumper, 1);
    }
}

/// A processor's view of the clock. It fills a cache line.
#[repr(align(64))]
struct Jumper<'a> {
    clock: &'a Jumping,
    /// The way back to the thread's own stack, with the number of the processor that runs next.
    yielder: &'a Yielder<(), u32>,
    /// The run's sign of life.
    beat: &'a Beat,
    /// The processor's number.
    id: u32,
    /// How often the program was unwound because the run has failed.
    stops: u32,
}

/// Stands for no processor.
const NOBODY: u32 = u32::MAX;

impl State {
    /// Puts a processor on the agenda.
    #[inline]
    fn insert(&mut self, id: u32, wake: Time, places: &Places) {
        let entry = Entry::new(wake, places.place(wake, id), self.seats[id as usize].ticket());
        self.agenda.insert(entry, |entry| counts(&self.seats, entry, places));
    }

    /// Puts a processor on the agenda that sleeps until then.
    #[inline(never)]
    fn wakes(&mut self, id: u32, wake: Time, places: &Places) {
        self.insert(id, wake, places);
    }

    /// Takes the processor that runs next from the agenda, and fetches what the one after it touches.
    #[inline]
    fn next(&mut self, places: &Places) -> u32 {
        while let Some(entry) = self.agenda.pop() {
            let id = processor(entry, places);
            if self.seats[id as usize].ticket() == entry.ticket() {
                if let Some(after) = self.agenda.peek() {
                    let after = processor(after, places) as usize;
                    self.lies_at[after].prefetch();
                    self.seats[after].prefetch();
                }
                return id;
            }
        }
        NOBODY
    }
}

/// Which processor an entry of the agenda belongs to.
#[inline]
fn processor(entry: Entry, places: &Places) -> u32 {
    let (time, place) = entry.moment();
    places.who(time, place)
}

/// Whether an entry of the agenda still says when its processor runs next.
#[inline]
fn counts(seats: &[Seat], entry: Entry, places: &Places) -> bool {
    seats[processor(entry, places) as usize].ticket() == entry.ticket()
}

impl Jumper<'_> {
    /// Lets the others run until this processor is the earliest. `wake` is when it runs next; a message that is
    /// delivered meanwhile may change that.
    #[inline]
    fn sleep(&mut self, state: RefMut<'_, State>, wake: Time) {
        let clock = self.clock;
        self.beat.called();
        let is_first = clock.places.are_numbers() && state.agenda.is_before_all(Entry::new(wake, self.id, 0));
        if !is_first || wake == Time::MAX || clock.failed.get() {
            self.lets_run(state, wake);
        }
    }

    /// Lets the others run. Whoever is known to be the earliest need not go so far.
    #[inline(never)]
    fn lets_run(&mut self, mut state: RefMut<'_, State>, wake: Time) {
        let (clock, id) = (self.clock, self.id);
        if clock.failed.get() {
            drop(state);
            return stop(id as usize, &mut self.stops);
        }
        if wake < Time::MAX {
            state.insert(id, wake, &clock.places);
        }
        let next = state.next(&clock.places);
        if next == id {
            return; // it was the earliest
        }
        let top = 0_u8;
        state.lies_at[id as usize].stack = (&raw const *black_box(&top)).addr();
        drop(state);
        self.yielder.suspend(next);
        self.beat.runs(id, wake);
        if clock.failed.get() {
            stop(id as usize, &mut self.stops);
        }
    }
}

impl Clock for Jumper<'_> {
    #[inline]
    fn wait_until(&mut self, t: Time) {
        let mut state = self.clock.state.borrow_mut();
        state.seats[self.id as usize].wait_until(t);
        self.sleep(state, t);
    }

    #[inline]
    fn act_at(&mut self, t: Time) {
        self.wait_until(t);
    }

    #[inline]
    fn serve(&mut self, network: &Network, exit: &mut Exit, message: &Outgoing) -> Passage {
        let state = &mut *self.clock.state.borrow_mut();
        state.seats[message.to].prefetch(); // it comes while the rules are applied, and is needed after them
        network.serve(&mut *state.entrances, exit, message.to, &message.request)
    }

    fn most_to(&self, network: &Network) -> usize {
        network.most_in_transit_to(self.id as usize, &mut *self.clock.state.borrow_mut().entrances)
    }

    #[inline]
    fn deliver(&mut self, seen: Seen, parcel: Parcel) {
        let Jumping { state, cost, places, .. } = self.clock;
        let (mut state, to) = (state.borrow_mut(), seen.1.to.id());
        if let Some(wake) = state.seats[to as usize].put(seen, parcel, cost) {
            state.wakes(to, wake, places);
        }
    }

    #[inline]
    fn receive(&mut self, reception: &mut Reception, got: &mut Option<Envelope>) {
        let (clock, id) = (self.clock, self.id as usize);
        let mut state = clock.state.borrow_mut();
        let wake = state.seats[id].ask(reception, &clock.cost);
        self.sleep(state, wake);
        clock.state.borrow_mut().seats[id].answer(reception, got);
    }

    fn calls_touch(&mut self, proc: usize) {
        let lies_at = &mut self.clock.state.borrow_mut().lies_at[self.id as usize];
        (lies_at.proc, lies_at.jumper) = (proc, (&raw const *self).addr());
    }

    fn looks_in_vain(&mut self) -> bool {
        let mut state = self.clock.state.borrow_mut();
        state.seats[self.id as usize].looks_in_vain();
        state.seats.iter().all(Seat::is_hopeless)
    }

    fn fail(&mut self, cause: Cause) {
        self.clock.cause.borrow_mut().get_or_insert(cause);
        self.clock.failed.set(true);
    }

    fn end(&mut self, at: Time, well: bool) {
        self.clock.state.borrow_mut().seats[self.id as usize].end(at, well);
    }
}

/// Runs `body` for each of `P` processors until all have ended, and returns their results. `body` gets the processor's
/// number and its clock.
pub(crate) fn run<T>(
    P: usize,
    stack: usize,
    known: Foreknown,
    patience: Patience,
    body: &dyn Fn(usize, &mut dyn Clock) -> T,
) -> Result<Vec<T>, RunError> {
    let state = State {
        agenda: Agenda::default(),
        seats: (0..P).map(|_| Seat::default()).collect(),
        entrances: (0..known.entrances).map(|_| Entrance::default()).collect(),
        lies_at: vec![LiesAt::default(); P].into(),
    };
    let clock = &Jumping {
        state: RefCell::new(state),
        failed: Cell::new(false),
        cause: RefCell::default(),
        cost: known.cost.clone(),
        places: known.places.clone(),
        watched: Watched::new(1, patience),
    };
    let results: RefCell<Vec<Option<T>>> = RefCell::new((0..P).map(|_| None).collect());
    let (stacks, _alternate) = (Stacks::new(P, stack), AlternateStack::provide());
    let start = |id: usize, yielder: &Yielder<(), u32>| {
        clock.state.borrow_mut().seats[id].start();
        let beat = clock.watched.beat(0);
        let mut jumper = Jumper { clock, yielder, beat, id: id as u32, stops: 0 };
        beat.runs(id as u32, Time::ZERO);
        match catch_unwind(AssertUnwindSafe(|| body(id, &mut jumper))) {
            Ok(result) => results.borrow_mut()[id] = Some(result),
            Err(payload) if !clock.failed.get() => jumper.fail(cause_of(id, payload)),
            Err(_) => (),
        }
    };
    let mut coroutines = Coroutines::new(0..P, stack, &stacks, &start)?;
    for id in 0..P as u32 {
        clock.state.borrow_mut().wakes(id, Time::ZERO, &clock.places);
    }
    let first = || clock.state.borrow_mut().next(&clock.places);
    let mut next = first();
    while next != NOBODY && !clock.failed.get() {
        next = match coroutines.resume(next as usize) {
            CoroutineResult::Yield(next) => next,
            CoroutineResult::Return(()) => first(),
        };
    }
    clock.watched.beat(0).rests();
    let state = clock.state.borrow();
    let cause = clock.cause.take().or_else(|| blame(state.seats.iter(), &known));
    let Some(cause) = cause else {
        let results = results.take().into_iter();
        return Ok(results.map(|result| result.expect("it has ended")).collect());
    };
    let processors = state.seats.iter().enumerate().map(|(id, seat)| seat.state(id, &known.names)).collect();
    drop(state);
    clock.failed.set(true);
    let error = RunError { cause, processors };
    if cfg!(panic = "abort") && coroutines.any_waits() {
        // Programs that wait cannot be unwound, and threads that they have started may use their stacks and borrows.
        eprintln!("{error}");
        std::process::abort();
    }
    coroutines.end(|_, _| ());
    Err(error)
}
