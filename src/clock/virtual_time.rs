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
use super::stacks::prefetch::prefetch_stack;
use super::watchdog::{Beat, Patience, Watched};
use crate::error::{Cause, RunError, cause_of, stop};
use crate::message::Envelope;
use crate::params::{ByLevel, ReceptionCost};
use crate::rules::choice::Places;
use crate::rules::reception::Reception;
use crate::time::Time;

/// The clock, which the processors share. They are all on one thread, so nothing is locked.
struct Jumping {
    agenda: RefCell<Agenda>,
    /// One for each processor.
    seats: RefCell<Box<[Seat]>>,
    /// The stack pointer of each sleeping processor.
    stack_tops: Box<[Cell<usize>]>,
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

/// A processor's view of the clock.
struct Jumper<'a> {
    clock: &'a Jumping,
    /// The way back to the thread's own stack.
    yielder: &'a Yielder<(), Option<Entry>>,
    /// The run's sign of life.
    beat: &'a Beat,
    /// The processor's number.
    id: u32,
    /// How often the program was unwound because the run has failed.
    stops: u32,
}

impl Jumping {
    #[inline]
    fn seat(&self, id: usize) -> RefMut<'_, Seat> {
        RefMut::map(self.seats.borrow_mut(), |seats| &mut seats[id])
    }

    /// A processor's entry on the agenda.
    #[inline]
    fn entry(&self, id: u32, wake: Time, ticket: u32) -> Entry {
        Entry::new(wake, self.places.place(wake, id), ticket)
    }

    /// Whether an entry on the agenda still says when its processor runs next.
    fn counts(&self, entry: Entry) -> bool {
        self.seats.borrow()[self.processor(entry) as usize].ticket() == entry.ticket()
    }

    /// Which processor an entry belongs to.
    #[inline]
    fn processor(&self, entry: Entry) -> u32 {
        let (time, place) = entry.moment();
        self.places.who(time, place)
    }
}

impl Jumper<'_> {
    fn seat(&self) -> RefMut<'_, Seat> {
        self.clock.seat(self.id as usize)
    }

    /// Lets the others run until this processor is the earliest. `wake` is when it runs next; a message that is
    /// delivered meanwhile may change that.
    #[inline]
    fn sleep(&mut self, wake: Time, ticket: u32) {
        if self.clock.failed.get() {
            return stop(self.id as usize, &mut self.stops);
        }
        self.beat.called();
        let (next, after_next) = {
            let mut agenda = self.clock.agenda.borrow_mut();
            let next = if wake == Time::MAX {
                agenda.pop()
            } else {
                match agenda
                    .exchange(self.clock.entry(self.id, wake, ticket), |entry| self.clock.counts(entry))
                {
                    None => return,
                    next => next,
                }
            };
            (next, agenda.peek())
        };
        if let Some(entry) = after_next {
            prefetch_stack(self.clock.stack_tops[self.clock.processor(entry) as usize].get());
        }
        let top = 0_u8;
        self.clock.stack_tops[self.id as usize].set((&raw const *black_box(&top)).addr());
        self.yielder.suspend(next);
        self.beat.runs(self.id, wake);
        if self.clock.failed.get() {
            stop(self.id as usize, &mut self.stops);
        }
    }
}

impl Clock for Jumper<'_> {
    fn wait_until(&mut self, t: Time) {
        let ticket = {
            let mut seat = self.seat();
            seat.wait_until(t);
            seat.ticket()
        };
        self.sleep(t, ticket);
    }

    fn act_at(&mut self, t: Time) {
        self.wait_until(t);
    }

    fn deliver(&mut self, envelope: Envelope) {
        let to = envelope.letter.to;
        let mut seat = self.clock.seat(to as usize);
        if seat.put(envelope, &self.clock.cost) {
            let entry = self.clock.entry(to, seat.wake(), seat.ticket());
            drop(seat);
            self.clock.agenda.borrow_mut().insert(entry, |entry| self.clock.counts(entry));
        }
    }

    fn receive(&mut self, reception: &mut Reception) -> Option<Envelope> {
        let (wake, ticket) = {
            let mut seat = self.seat();
            seat.ask(reception, &self.clock.cost);
            (seat.wake(), seat.ticket())
        };
        self.sleep(wake, ticket);
        self.seat().answer(reception)
    }

    fn looks_in_vain(&mut self) -> bool {
        self.seat().looks_in_vain();
        self.clock.seats.borrow().iter().all(Seat::is_hopeless)
    }

    fn fail(&mut self, cause: Cause) {
        self.clock.cause.borrow_mut().get_or_insert(cause);
        self.clock.failed.set(true);
    }

    fn end(&mut self, at: Time, well: bool) {
        self.seat().end(at, well);
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
    let clock = Jumping {
        agenda: RefCell::default(),
        seats: RefCell::new((0..P).map(|_| Seat::default()).collect()),
        stack_tops: (0..P).map(|_| Cell::default()).collect(),
        failed: Cell::new(false),
        cause: RefCell::default(),
        cost: known.cost,
        places: known.places,
        watched: Watched::new(1, patience),
    };
    let clock = &clock;
    let (stacks, _alternate) = (Stacks::new(P, stack), AlternateStack::provide());
    let start = |id: usize, yielder: &Yielder<(), Option<Entry>>| {
        clock.seat(id).start();
        let beat = clock.watched.beat(0);
        let mut jumper = Jumper { clock, yielder, beat, id: id as u32, stops: 0 };
        beat.runs(id as u32, Time::ZERO);
        catch_unwind(AssertUnwindSafe(|| body(id, &mut jumper)))
    };
    let mut coroutines = Coroutines::new(0..P, stack, &stacks, &start)?;
    (0..P as u32).for_each(|id| clock.agenda.borrow_mut().add(clock.entry(id, Time::ZERO, 0)));

    let mut results: Vec<Option<T>> = (0..P).map(|_| None).collect();
    let mut next = clock.agenda.borrow_mut().pop();
    while let Some(entry) = next.filter(|_| !clock.failed.get()) {
        let id = clock.processor(entry) as usize;
        next = if clock.seat(id).ticket() != entry.ticket() {
            clock.agenda.borrow_mut().pop() // a message has changed when the processor runs
        } else {
            match coroutines.resume(id) {
                CoroutineResult::Yield(next) => next,
                CoroutineResult::Return(Ok(result)) => {
                    results[id] = Some(result);
                    clock.agenda.borrow_mut().pop()
                }
                CoroutineResult::Return(Err(payload)) => {
                    clock.cause.borrow_mut().get_or_insert_with(|| cause_of(id, payload));
                    None
                }
            }
        };
    }
    clock.watched.beat(0).rests();
    let seats = clock.seats.borrow();
    let cause = clock.cause.take().or_else(|| blame(seats.iter()));
    let Some(cause) = cause else {
        return Ok(results.into_iter().map(|result| result.expect("it has ended")).collect());
    };
    let processors = seats.iter().enumerate().map(|(id, seat)| seat.state(id)).collect();
    drop(seats);
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
