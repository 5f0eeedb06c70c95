//! The virtual clock: time jumps to the next thing that happens.
//!
//! Processors are coroutines on one thread. The earliest runs; when it waits for a time that is still the
//! earliest, it just carries on, else it is put on the agenda and the new earliest is resumed. So whatever a
//! processor does at t, everything that others do before t has been done: the run is exact, and the same
//! every time. Processors that act at the same time do so in the order of their numbers.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::Clock;
use super::agenda::{Agenda, Entry};
use super::prefetch::prefetch_stack;
use crate::error::{Cause, Doing, RunError, State, WantedMessage, cause_of};
use crate::message::{Envelope, Inbox, Want};
use crate::network::reception;
use crate::time::Time;

/// What the processors share: all on one thread, so nothing is locked.
struct Jumping {
    /// Who runs next.
    agenda: RefCell<Agenda>,
    /// One for each processor.
    seats: Box<[RefCell<Seat>]>,
    /// Where the stack of each sleeping processor ends.
    stack_tops: Box<[Cell<usize>]>,
}

/// What the clock knows of a processor. What every message touches comes first.
#[derive(Default)]
#[repr(C, align(64))]
struct Seat {
    /// Its messages.
    inbox: Inbox,
    /// What it waits for, if for a message.
    waits_for: Option<Wish>,
    /// When it runs next; the end of time if a message must come first.
    wake: Time,
    /// The ticket of the one entry on the agenda that is valid.
    ticket: u32,
    /// Its local time when it last waited or ended.
    at: Time,
    /// How far its program is.
    stage: Stage,
}

/// A receive that waits.
#[derive(Clone, Copy)]
struct Wish {
    /// The messages that it takes.
    want: Want,
    /// From when on it could.
    ready: Time,
    /// When it gives up.
    deadline: Time,
    /// The arrival and the sender of the message that it would take now.
    best: (Time, u32),
}

impl Wish {
    /// When the processor goes on if this message is the best, unless it gives up before.
    fn over(&mut self, envelope: &Envelope) -> Option<Time> {
        let start = reception(self.ready, envelope.arrival);
        let key = (envelope.arrival, envelope.from);
        if start > self.deadline || key >= self.best {
            return None;
        }
        self.best = key;
        Some(start + envelope.overhead)
    }
}

/// How far a processor's program is.
#[derive(Clone, Copy, Default, PartialEq)]
enum Stage {
    #[default]
    NotStarted,
    Running,
    Finished,
}

/// A processor's view of the clock.
struct Jumper<'a> {
    clock: &'a Jumping,
    /// Its way back to the thread's own stack.
    yielder: &'a Yielder<(), Option<Entry>>,
    id: u32,
}

impl Jumping {
    fn seat(&self, id: u32) -> std::cell::RefMut<'_, Seat> {
        self.seats[id as usize].borrow_mut()
    }
}

impl Jumper<'_> {
    /// Lets the others run until the processor's `wake` is the earliest. Its seat says when that is, and who
    /// delivers a message there may yet change it.
    #[inline]
    fn sleep(&mut self, wake: Time, ticket: u32) {
        let (next, after_next) = {
            let mut agenda = self.clock.agenda.borrow_mut();
            let next = if wake == Time::MAX {
                agenda.pop()
            } else {
                match agenda.exchange(Entry::new(wake, self.id, ticket)) {
                    None => return,
                    next => next,
                }
            };
            (next, agenda.peek())
        };
        if let Some(entry) = after_next {
            prefetch_stack(self.clock.stack_tops[entry.id() as usize].get());
        }
        let top = 0_u8;
        self.clock.stack_tops[self.id as usize].set((&raw const *black_box(&top)).addr());
        self.yielder.suspend(next);
    }
}

impl Clock for Jumper<'_> {
    fn wait_until(&mut self, t: Time) {
        let ticket = {
            let mut seat = self.clock.seat(self.id);
            seat.wake = t;
            seat.at = t;
            seat.ticket
        };
        self.sleep(t, ticket);
    }

    fn deliver(&mut self, to: usize, envelope: Envelope) {
        let mut seat = self.clock.seats[to].borrow_mut();
        if let Some(wish) = &mut seat.waits_for
            && wish.want.matches(&envelope)
            && let Some(wake) = wish.over(&envelope)
        {
            seat.wake = wake;
            seat.ticket += 1;
            self.clock.agenda.borrow_mut().add(Entry::new(wake, to as u32, seat.ticket));
        }
        seat.inbox.put(envelope);
    }

    fn receive(&mut self, want: Want, ready: Time, deadline: Time) -> Option<Envelope> {
        let mut wish = Wish { want, ready, deadline, best: (Time::MAX, 0) };
        let (wake, ticket) = {
            let mut seat = self.clock.seat(self.id);
            let over = seat.inbox.first(&want).and_then(|envelope| wish.over(envelope));
            seat.wake = over.unwrap_or(deadline);
            seat.waits_for = Some(wish);
            seat.at = ready;
            (seat.wake, seat.ticket)
        };
        self.sleep(wake, ticket);
        let mut seat = self.clock.seat(self.id);
        let wish = seat.waits_for.take().expect("it was set above");
        if wish.best.0 == Time::MAX { None } else { seat.inbox.take(&want) }
    }

    fn end(&mut self, at: Time, well: bool) {
        let mut seat = self.clock.seat(self.id);
        seat.at = at;
        seat.stage = if well { Stage::Finished } else { Stage::Running };
    }
}

/// Runs `body` for each of `P` processors until all have ended, and returns what each returned.
///
/// `body` gets the processor's number and its clock.
pub(crate) fn run<T>(
    P: usize,
    stack: usize,
    body: impl Fn(usize, &mut dyn Clock) -> T,
) -> Result<Vec<T>, RunError> {
    let clock = Jumping {
        agenda: RefCell::default(),
        seats: (0..P).map(|_| RefCell::default()).collect(),
        stack_tops: (0..P).map(|_| Cell::default()).collect(),
    };
    let (clock, body) = (&clock, &body);
    let mut coroutines = Vec::with_capacity(P);
    for id in 0..P as u32 {
        let stack = DefaultStack::new(stack).map_err(|error| no_room(P, id as usize, stack, &error))?;
        let start = move |yielder: &Yielder<(), Option<Entry>>, ()| {
            clock.seat(id).stage = Stage::Running;
            body(id as usize, &mut Jumper { clock, yielder, id })
        };
        // SAFETY: what `start` borrows lives in this function or longer, and the coroutines are dropped in
        // it, which unwinds those that have not ended: nothing here forgets one.
        coroutines.push(unsafe { Coroutine::with_stack_unchecked(stack, start) });
        clock.agenda.borrow_mut().add(Entry::new(Time::ZERO, id, 0));
    }

    let mut results: Vec<Option<T>> = (0..P).map(|_| None).collect();
    let running = Cell::new(0);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut next = clock.agenda.borrow_mut().pop();
        while let Some(entry) = next {
            let id = entry.id() as usize;
            next = if clock.seats[id].borrow().ticket != entry.ticket() {
                clock.agenda.borrow_mut().pop() // a message made it run earlier than this
            } else {
                running.set(id);
                match coroutines[id].resume(()) {
                    CoroutineResult::Yield(next) => next,
                    CoroutineResult::Return(result) => {
                        results[id] = Some(result);
                        clock.agenda.borrow_mut().pop()
                    }
                }
            };
        }
    }));
    let cause = match outcome {
        Err(payload) => Some(cause_of(running.get(), payload)),
        Ok(()) => stuck(clock).or_else(|| not_received(clock)),
    };
    match cause {
        None => Ok(results.into_iter().map(|result| result.expect("it has ended")).collect()),
        Some(cause) => {
            let processors = clock.seats.iter().enumerate();
            let processors = processors.map(|(id, seat)| seat.borrow().state(id)).collect();
            Err(RunError { cause, processors })
        }
    }
}

impl Seat {
    fn state(&self, id: usize) -> State {
        let doing = match (self.stage, self.waits_for) {
            (Stage::NotStarted, _) => Doing::NotStarted,
            (Stage::Finished, _) => Doing::Finished,
            (Stage::Running, Some(wish)) => Doing::WaitingFor(WantedMessage(wish.want)),
            (Stage::Running, None) => Doing::Running,
        };
        State { id, at: self.at, doing }
    }
}

/// Nobody can run any more: whether somebody still should.
fn stuck(clock: &Jumping) -> Option<Cause> {
    let waiting = clock.seats.iter().filter(|seat| seat.borrow().waits_for.is_some()).count();
    (waiting > 0).then_some(Cause::Deadlock { waiting, of: clock.seats.len() })
}

/// All have finished: whether a message is left over.
fn not_received(clock: &Jumping) -> Option<Cause> {
    let seats: Vec<_> = clock.seats.iter().map(|seat| seat.borrow()).collect();
    let left = || seats.iter().enumerate().flat_map(|(to, seat)| seat.inbox.iter().map(move |e| (to, e)));
    let (to, first) = left().min_by_key(|(to, e)| (e.arrival, *to))?;
    Some(Cause::NotReceived { count: left().count(), from: first.from as usize, to, arrival: first.arrival })
}

/// This computer has no room for all the stacks.
fn no_room(processors: usize, made: usize, stack: usize, error: &std::io::Error) -> RunError {
    let kib = stack / 1024;
    Cause::Host(format!(
        "this computer has room for {made} of {processors} processors with stacks of {kib} KiB ({error}); \
         use fewer processors or smaller stacks, or raise vm.max_map_count, of which each stack takes two"
    ))
    .into()
}
