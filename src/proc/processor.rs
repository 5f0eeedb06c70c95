//! A processor, as its program sees it. It drives its engine, and waits at its clock.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::Ordering;

use loggp_model::error::Cause;
use loggp_model::log::Log;
use loggp_model::message::parcel::Parcel;
use loggp_model::message::{ArrivedMessage, Payload, Tag};
use loggp_model::params::{Params, Work, innermost_params};
use loggp_model::rules::Stats;
use loggp_model::rules::engine::{Engine, fail_program};
use loggp_model::time::Time;

use super::group::{Group, GroupMembership};
use super::setup::Setup;
use super::work::Stopwatch;
use crate::clock::ProgramClock;

/// A virtual processor. A program gets one and calls it to compute and to communicate.
///
/// Each call takes as long as the model says, in the processor's own local time, [`now`](Proc::now). A wrong
/// call (a processor that does not exist, a message of another type than was sent) ends the whole run with an
/// error.
// The fields that every message touches come first, and fill three cache lines: with many processors, each
// line comes from main memory when its processor goes on.
#[repr(C, align(64))]
pub struct Proc<'a> {
    pub(super) clock: &'a mut dyn ProgramClock,
    pub(crate) setup: &'a Setup,
    /// Times the program's own code, if work is measured.
    pub(super) stopwatch: Option<Box<Stopwatch>>,
    pub(super) engine: Engine<'a>,
    /// Number of collectives of all processors that it has started.
    pub(super) collective_count: u32,
    /// The group in which it acts; `None` if it acts with all.
    pub(crate) membership: Option<GroupMembership>,
    /// The groups in which it has acted: their numbers, and the number of their collectives that it has
    /// started.
    pub(super) groups: HashMap<Group, (u32, u32)>,
}

impl<'a> Proc<'a> {
    pub(crate) fn new(id: usize, clock: &'a mut dyn ProgramClock, setup: &'a Setup) -> Proc<'a> {
        Proc {
            clock,
            setup,
            stopwatch: (setup.work == Work::Measured).then(|| Box::new(Stopwatch::start())),
            engine: Engine::new(id, &setup.network, setup.new_log()),
            collective_count: 0,
            membership: None,
            groups: HashMap::new(),
        }
    }

    /// Tells its clock the processor's address in memory.
    pub(crate) fn register_with_clock(&mut self) {
        let address = (&raw const *self).addr();
        if let Some(clock) = self.clock.coroutine() {
            clock.set_prefetch_address(address);
        }
    }

    /// Returns the processor's number, from 0 to P - 1.
    #[inline]
    pub fn id(&self) -> usize {
        self.engine.id()
    }

    /// Returns the number of processors.
    #[inline]
    pub fn P(&self) -> usize {
        self.params().P
    }

    /// Returns the machine's parameters.
    #[inline]
    pub fn params(&self) -> &'a Params {
        &self.setup.params
    }

    /// Returns the processor's local time.
    #[inline]
    pub fn now(&self) -> Time {
        self.note_time_asked();
        self.local_time()
    }

    /// Returns the processor's local time to who only writes that down: nothing that the program does may depend on it,
    /// so that a check of all orders of messages does not see the call.
    #[inline]
    pub fn local_time(&self) -> Time {
        self.engine.rank.now
    }

    #[inline]
    fn note_time_asked(&self) {
        if self.engine.is_traced {
            self.setup.time_asked.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the parameters between this processor and another: on a machine with
    /// [levels](crate::Machine::levels) those of the innermost group that has both. The
    /// [`params`](Proc::params) of the machine are those between its outermost groups.
    ///
    /// # Panics
    ///
    /// If there is no such processor.
    pub fn params_to(&self, other: usize) -> &'a Params {
        assert!(other < self.P(), "there is no processor {other}: there are 0 to {}", self.P() - 1);
        innermost_params(self.params(), &self.setup.levels, self.id(), other)
    }

    /// Returns the earliest time at which a send need not wait for the gap after the last send; on a machine
    /// with levels, a send at the outermost of them.
    pub fn next_send(&self) -> Time {
        self.note_time_asked();
        self.local_next_send()
    }

    /// Returns what [`next_send`](Proc::next_send) does, as [`local_time`](Proc::local_time) the time.
    pub fn local_next_send(&self) -> Time {
        self.engine.rank.egress.send_gap_end() - self.setup.network.params().o
    }

    /// Refuses to wait for a message while the program unwinds.
    #[track_caller]
    pub(super) fn refuse_unwinding(&mut self) {
        if self.is_unwinding() {
            self.fail_to_wait();
        }
    }

    #[cold]
    #[track_caller]
    pub(super) fn fail_to_wait(&mut self) -> ! {
        self.fail_misused("waited for a message while its program unwound, which it must not")
    }

    /// Returns the cost of work where work is charged, else 0.
    pub(crate) fn charged_cost(&self, kind: &str, units: u64) -> Time {
        match self.setup.work {
            Work::Charged => self.setup.rates.cost(kind, units, self.params().cycle),
            Work::Measured => Time::ZERO,
        }
    }

    /// Ends the run, because the processor called a function with a wrong argument.
    #[track_caller]
    pub(crate) fn fail_misused(&mut self, why: impl Into<String>) -> ! {
        self.fail(Cause::Misused { id: self.id(), why: why.into(), at: Location::caller() })
    }

    /// Ends the run from inside one of the processor's calls.
    pub(crate) fn fail(&mut self, cause: Cause) -> ! {
        fail_program(self.clock, cause)
    }

    /// Returns whether the program unwinds, since it has panicked or the run has failed. Then calls do not
    /// wait: sends go nowhere, and looks find nothing. A destructor may do either, and must not hold up other
    /// processors.
    #[inline]
    pub(crate) fn is_unwinding(&self) -> bool {
        std::thread::panicking()
    }

    /// Returns the sender and the value of a message that was received for a call at this location.
    #[inline]
    pub(super) fn open_at<T: Payload>(
        &mut self,
        message: &mut ArrivedMessage,
        tag: Tag<T>,
        at: &'static Location<'static>,
    ) -> (usize, T) {
        let from = message.message.header.from as usize;
        match message.message.parcel.open() {
            Some(value) => (from, value),
            None => self.fail_to_open(from, tag, &message.message.parcel, at),
        }
    }

    /// Ends the run, because a message has a value of another type than was asked for.
    #[cold]
    fn fail_to_open<T: Payload>(
        &mut self,
        from: usize,
        tag: Tag<T>,
        parcel: &Parcel,
        at: &'static Location<'static>,
    ) -> ! {
        self.fail(Cause::WrongType {
            id: self.id(),
            from,
            asked: std::any::type_name::<T>(),
            about: tag.raw.display(tag.name).to_string(),
            sent: parcel.type_name(),
            at,
        })
    }

    /// Returns the length in words of a message to `to`. Ends the run if there can be no such message.
    #[inline]
    #[track_caller]
    pub(super) fn words(&mut self, to: usize, bytes: usize) -> usize {
        let words = self.params().words(bytes);
        self.check(to, words);
        words
    }

    /// Ends the run if a processor does not exist or a message is too long.
    #[inline]
    #[track_caller]
    pub(crate) fn check(&mut self, other: usize, words: usize) {
        if other >= self.P() || words > self.setup.network.longest(self.id(), other) {
            self.refuse(other, words);
        }
    }

    #[cold]
    #[track_caller]
    fn refuse(&mut self, other: usize, words: usize) -> ! {
        let (id, last) = (self.id(), self.P() - 1);
        if other > last {
            self.fail(Cause::NoSuchProcessor { id, other, last, at: Location::caller() });
        }
        self.fail(Cause::TooLong { id, words, longest: self.setup.network.longest(id, other) })
    }

    /// Waits at the clock until the processor's local time.
    pub(super) fn wait_for_local_time(&mut self) {
        if !self.is_unwinding() {
            self.engine.wait_for_local_time(self.clock);
        }
    }

    /// Enters a call. Where work is measured, charges the program's own code since the last call.
    #[inline]
    pub(super) fn enter_call(&mut self) {
        if self.stopwatch.is_some() {
            self.charge_code();
        }
    }

    /// Leaves a call: the program's own code follows.
    #[inline]
    pub(super) fn leave_call(&mut self) {
        if self.stopwatch.is_some() {
            self.restart_stopwatch();
        }
    }

    #[cold]
    fn charge_code(&mut self) {
        let passed = self.unseen_time();
        if let Some(stopwatch) = &mut self.stopwatch {
            let code = passed.unwrap_or_else(|| stopwatch.lap());
            if let Some(cores) = self.clock.cores() {
                cores.stop_computing();
            }
            self.engine.work("code", code);
        }
    }

    /// Returns the time that has passed on a real machine since the processor's local time, or `None` on an
    /// emulated machine.
    pub(super) fn unseen_time(&mut self) -> Option<Time> {
        let now = self.clock.real()?.time();
        Some((now - self.local_time()).max(Time::ZERO))
    }

    #[cold]
    fn restart_stopwatch(&mut self) {
        if let Some(real) = self.clock.real() {
            self.engine.wait_until(real.time());
        } else if let Some(stopwatch) = &mut self.stopwatch {
            if let Some(cores) = self.clock.cores() {
                cores.start_computing_at(self.engine.rank.now);
            }
            stopwatch.lap();
        }
    }

    /// Returns whether the run has ended before the processor's program.
    pub(crate) fn is_cut(&self) -> bool {
        self.clock.coroutine().is_some_and(|clock| clock.is_cut())
    }

    /// Ends the processor, whose program has returned.
    pub(crate) fn end(&mut self) {
        self.enter_call();
        self.engine.catch_up(self.clock);
        if let Some(GroupMembership { group, .. }) = self.membership.take() {
            self.fail_misused(format!(
                "ended while it acted in {group}; drop what `within` gives, and do not forget it"
            ));
        }
        if let Some((count, first)) = self.engine.unawaited_requests()
            && !self.setup.end.may_leave_messages
        {
            self.fail(Cause::NotWaited { id: self.id(), count, first });
        }
        self.wait_for_local_time();
    }

    /// Returns the processor's accounts, and its log if the run is traced; `well` if its program returned
    /// without a panic.
    pub(crate) fn finish(self, well: bool) -> (Stats, Option<Box<Log>>) {
        self.clock.end(self.engine.rank.now, well);
        self.engine.finish()
    }
}
