//! Blocking calls: sends, receives, looks and waits.
//!
//! [`Proc::send`] checks the call and makes the parcel, and [`Engine::send`](crate::rules::engine::Engine::send)
//! applies the rules and waits. A receive has the same layers.

use std::panic::Location;

use loggp_model::message::parcel::Parcel;
use loggp_model::message::{ArrivedMessage, Filter, Payload, RecvFilter, Tag, WithSender};
use loggp_model::rules::engine::StalledSend;
use loggp_model::rules::message_wait::MessageWait;
use loggp_model::rules::operation::ActiveOperation;
use loggp_model::time::Time;
use loggp_trace::{CallKind, CallTag, SendRecv, Until};

use super::processor::Proc;

impl<'a> Proc<'a> {
    /// Sends a value to a processor, and goes on when its first word enters the network.
    #[track_caller]
    pub fn send<T: Payload>(&mut self, to: usize, tag: Tag<T>, value: T) {
        self.enter_call();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        self.send_value(to, tag, words, value);
        self.log_send(to, tag, bytes);
        self.leave_call();
    }

    /// Sends like [`send`](Proc::send), and receives messages while the gap before the send runs, as Active
    /// Messages do: each message that the filter `taking` takes and that has arrived or arrives then goes to
    /// `on`, as [`recv`](Proc::recv) would return it.
    ///
    /// A processor is busy for o only, so it can send and receive a message every g, not every 2g.
    ///
    /// Where a message is in transit until it is [received](crate::Capacity::Received), the processor also receives
    /// while its message stalls, if that is of one word: two that send to each other would else wait for ever.
    #[track_caller]
    pub fn send_receiving<T: Payload, F: Filter>(
        &mut self,
        to: usize,
        tag: Tag<T>,
        value: T,
        taking: F,
        mut on: impl FnMut(&mut Proc<'a>, F::Received),
    ) {
        self.enter_call();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        let at = Location::caller();
        self.check_sender(taking);
        while let Some(message) = self.look_in_gap(to, words, |p, until| p.receive_value(taking, until)) {
            self.log_receive(taking, Until::GapOver, at);
            self.leave_call();
            on(self, message);
            self.enter_call();
        }
        self.log_receive(taking, Until::GapOver, at); // the last look found nothing
        if !self.engine.may_receive_in_stall(to, words) || self.is_unwinding() {
            self.send_value(to, tag, words, value);
        } else {
            let send = self.new_send(to, tag, words, value);
            if let Some(stalled) = self.engine.start_stall(self.clock, send) {
                while let Some(message) = self.receive_in_stall(&stalled, taking) {
                    self.log_receive(taking, Until::GapOver, at);
                    self.leave_call();
                    on(self, message);
                    self.enter_call();
                }
                self.engine.end_stall(stalled);
            }
        }
        self.log_send(to, tag, bytes);
        self.leave_call();
    }

    /// Receives a message while one of its own stalls, unless that enters first.
    #[track_caller]
    fn receive_in_stall<F: Filter>(&mut self, stalled: &StalledSend, filter: F) -> Option<F::Received> {
        let tag = filter.tag();
        self.setup.names.record((tag.raw, tag.name));
        let mut got = None;
        let sought = RecvFilter::new(filter.sender(), tag.raw);
        self.engine.receive_in_stall(self.clock, stalled, sought, tag.name, &mut got);
        Some(self.open_received::<F>(got.as_mut()?, tag))
    }

    /// Sends a value to one processor, and receives one from another, or from the same, with the same tag: a
    /// shift or an exchange, if all call it. If the message of `from` arrives while the gap before the send
    /// runs, it is received first; else the send goes first.
    ///
    /// If all processors call it, none waits for ever, even where long messages wait for their receivers
    /// (LogGPS): a long message is announced first, and waits for its grant only once the message of `from` has
    /// arrived or has been announced.
    ///
    /// ```
    /// use loggp::{Machine, Params, Tag, US};
    ///
    /// const NUMBER: Tag<usize> = Tag::new(0);
    ///
    /// // Each processor gets its left neighbour's number.
    /// let machine = Machine::new(Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build()?);
    /// let run = machine.run(|p| {
    ///     let (id, P) = (p.id(), p.P());
    ///     p.send_recv((id + 1) % P, (id + P - 1) % P, NUMBER, id)
    /// })?;
    /// assert_eq!((run.results, run.time), (vec![3, 0, 1, 2], 10 * US));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn send_recv<T: Payload>(&mut self, to: usize, from: usize, tag: Tag<T>, value: T) -> T {
        self.enter_call();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        self.check(from, 0);
        self.refuse_unwinding();
        let mut send = self.new_send(to, tag, words, value);
        let mut receive = self.new_receive(Some(from), tag);
        self.drive_both((to, words), &mut send, &mut receive);
        let Some(mut taken) = receive.into_message() else { self.fail_to_wait() };
        let (_, message) = self.open_at(&mut taken, tag, Location::caller());
        self.engine.log_call(|messages| {
            let (sent, got) = messages.sent().zip(messages.received())?;
            let both = SendRecv { to, from, tag: CallTag::new(tag), bytes, sent, received: got };
            Some(CallKind::SendRecv(Box::new(both)))
        });
        self.leave_call();
        message
    }

    /// Drives a send of so many words and a receive until both are done.
    fn drive_both(
        &mut self,
        (to, words): (usize, usize),
        send: &mut ActiveOperation,
        receive: &mut ActiveOperation,
    ) {
        let (engine, clock) = (&mut self.engine, &mut *self.clock);
        let is_matched = ActiveOperation::is_matched;
        engine.start(clock, receive);
        let mut until = engine.rank.now;
        while !receive.is_matched() && engine.next_send(to, words) > until {
            until = engine.next_send(to, words);
            engine.drive(clock, receive, until, is_matched);
        }
        engine.start(clock, send);
        engine.drive(clock, send, Time::MAX, is_matched);
        engine.catch_up(clock);
        if !send.is_done() {
            // The send waits for its grant: grant the other one's message meanwhile.
            engine.drive(clock, receive, Time::MAX, is_matched);
        }
        engine.drive(clock, send, Time::MAX, ActiveOperation::is_done);
        engine.drive(clock, receive, Time::MAX, ActiveOperation::is_done);
    }

    /// Receives the message that the [filter](Filter) takes and that arrives first, and waits until there is
    /// one. Returns its value, or what the filter says.
    #[track_caller]
    pub fn recv<F: Filter>(&mut self, filter: F) -> F::Received {
        match self.receive(filter, Time::MAX) {
            Some(message) => message,
            None => self.fail_to_wait(),
        }
    }

    /// Receives a message as [`recv`](Proc::recv) does, and returns its sender too. `p.recv_with_sender(TAG)` is
    /// short for `p.recv(TAG.with_sender())`: with that filter other calls return the sender.
    #[track_caller]
    pub fn recv_with_sender<F: Filter>(&mut self, filter: F) -> (usize, F::Received) {
        self.recv(WithSender(filter))
    }

    /// Receives a message if its reception can start at once. A look at an inbox without one costs a cycle,
    /// so that polling moves time forward.
    #[track_caller]
    pub fn try_recv<F: Filter>(&mut self, filter: F) -> Option<F::Received> {
        self.receive(filter, Time::ZERO)
    }

    /// Receives a message if its reception can start by `deadline`, and gives up then.
    #[track_caller]
    pub fn recv_deadline<F: Filter>(&mut self, filter: F, deadline: Time) -> Option<F::Received> {
        self.receive(filter, deadline)
    }

    /// Looks for a message that has arrived, and leaves it where it is. Returns the sender of the message
    /// that a [`recv`](Proc::recv) would take now, or `None` if there is none. A message that was announced
    /// and waits for its receiver (LogGPS) is there too.
    ///
    /// A look costs a cycle, whatever it finds, so that polling moves time forward. A look need not wait for
    /// the gap since the last reception, as a receive must: [`try_recv`](Proc::try_recv) may fail after a
    /// look that has found a message. A program that takes any message needs only `try_recv`.
    ///
    /// ```
    /// use loggp::{Machine, Params, Tag, US};
    ///
    /// const DATUM: Tag<f64> = Tag::new(0);
    ///
    /// // Processor 0 computes until a datum is there.
    /// let machine = Machine::new(Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?);
    /// let run = machine.run(|p| {
    ///     if p.id() == 1 {
    ///         p.send(0, DATUM, 1.5);
    ///         return 0;
    ///     }
    ///     let mut steps = 0;
    ///     while p.probe(DATUM).is_none() {
    ///         p.work("step", 2, || steps += 1);
    ///     }
    ///     p.recv(DATUM.from(1));
    ///     steps
    /// })?;
    /// assert_eq!((run.results[0], run.time), (3, (3 * 3 + 1 + 2) * US)); // it is there at 8, and seen at 9
    /// # Ok::<(), loggp::RunError>(())
    /// ```
    #[track_caller]
    pub fn probe<F: Filter>(&mut self, filter: F) -> Option<usize> {
        let (from, tag) = (filter.sender(), filter.tag());
        self.enter_call();
        self.check_sender(filter);
        let now = self.local_time();
        let mut seen = None;
        if !self.is_unwinding() {
            self.engine.catch_up(self.clock);
            let mut look = MessageWait::for_probe(RecvFilter::new(from, tag.raw), now);
            let mut got = None;
            self.clock.receive(&mut look, &mut got);
            seen = got.map(|message| message.message.header.from as usize);
        }
        self.engine.wait_until(now + self.setup.network.params().cycle);
        match seen {
            Some(_) => self.engine.vain_looks = 0,
            None => self.engine.count_vain_look(self.clock),
        }
        self.engine.log_call(|_| Some(CallKind::Probe { from, tag: CallTag::new(tag), found: seen }));
        self.engine.log_location(Location::caller());
        self.leave_call();
        seen
    }

    /// Waits until `time`, unless it has passed.
    pub fn wait_until(&mut self, time: Time) {
        self.enter_call();
        self.engine.wait_until(time);
        self.engine.log_call(|_| Some(CallKind::WaitUntil(time)));
        self.wait_for_local_time();
        self.leave_call();
    }

    /// Receives a message whose reception can start by `deadline`. A deadline that has passed means now.
    #[track_caller]
    fn receive<F: Filter>(&mut self, filter: F, deadline: Time) -> Option<F::Received> {
        self.enter_call();
        self.check_sender(filter);
        let until = deadline.max(self.local_time());
        let received = self.receive_value(filter, until);
        if received.is_none() {
            self.engine.wait_in_vain(deadline);
            self.engine.count_vain_look(self.clock);
        }
        self.log_receive(filter, Until::from_deadline(deadline), Location::caller());
        self.leave_call();
        received
    }

    /// Ends the run if a filter names a sender that is no processor.
    #[track_caller]
    pub(super) fn check_sender(&mut self, filter: impl Filter) {
        if let Some(from) = filter.sender() {
            self.check(from, 0);
        }
    }

    /// Sends a value, and goes on when it enters.
    #[inline(always)]
    fn send_value<T: Payload>(&mut self, to: usize, tag: Tag<T>, words: usize, value: T) {
        if !self.is_unwinding() {
            let named = (tag.raw, tag.name);
            self.setup.names.record(named);
            self.engine.send(self.clock, to, named, words, Parcel::new(value));
        }
    }

    /// Receives a message whose reception can start by a time, and opens it.
    #[inline(always)]
    #[track_caller]
    fn receive_value<F: Filter>(&mut self, filter: F, until: Time) -> Option<F::Received> {
        if self.is_unwinding() {
            return None;
        }
        let tag = filter.tag();
        self.setup.names.record((tag.raw, tag.name));
        let mut got = None;
        let sought = RecvFilter::new(filter.sender(), tag.raw);
        self.engine.receive(self.clock, sought, tag.name, until, &mut got);
        Some(self.open_received::<F>(got.as_mut()?, tag))
    }

    /// Opens a message that a receive with a filter of this tag has taken.
    #[inline(always)]
    #[track_caller]
    pub(super) fn open_received<F: Filter>(
        &mut self,
        message: &mut ArrivedMessage,
        tag: Tag<F::Value>,
    ) -> F::Received {
        let number = message.message.header.tag.user_number();
        let (sender, value) = self.open_at(message, tag, Location::caller());
        F::received(sender, number, value)
    }

    /// Looks for a message until the gap before a send of `words` is over. Requests may make the gap longer
    /// meanwhile. `look` looks until a moment.
    fn look_in_gap<M>(
        &mut self,
        to: usize,
        words: usize,
        mut look: impl FnMut(&mut Proc<'a>, Time) -> Option<M>,
    ) -> Option<M> {
        self.engine.catch_up(self.clock);
        loop {
            let until = self.local_time().max(self.engine.next_send(to, words));
            let found = look(self, until);
            if found.is_some() || self.engine.next_send(to, words) <= until {
                return found;
            }
        }
    }

    /// Waits until the gap before a send of `bytes` is over, and receives nothing, as a recorded run did.
    pub(crate) fn wait_for_gap(&mut self, to: usize, bytes: usize) {
        self.look_in_gap(to, self.params().words(bytes), |p, until| {
            let mut nothing = ActiveOperation::receive(RecvFilter::NOTHING);
            p.engine.start_and_finish(p.clock, &mut nothing, until);
            None::<()>
        });
    }

    /// Receives a message in the gap before a send of `bytes`, as a recorded run did, or after the gap if it
    /// arrives later.
    #[track_caller]
    pub(crate) fn recv_in_gap<T: Payload>(&mut self, (to, bytes): (usize, usize), from: usize, tag: Tag<T>) {
        self.enter_call();
        let words = self.params().words(bytes);
        let look = |p: &mut Proc<'a>, until| p.receive_value(tag.from(from), until);
        let found = self.look_in_gap(to, words, look).or_else(|| look(self, Time::MAX));
        if found.is_none() {
            self.fail_to_wait();
        }
        self.log_receive(tag, Until::GapOver, Location::caller());
        self.leave_call();
    }

    /// Creates a send that has not started.
    pub(super) fn new_send<T: Payload>(
        &self,
        to: usize,
        tag: Tag<T>,
        words: usize,
        value: T,
    ) -> ActiveOperation {
        self.setup.names.record((tag.raw, tag.name));
        self.engine.new_send(to, (tag.raw, tag.name), words, Parcel::new(value))
    }

    /// Creates a receive that has not started.
    pub(super) fn new_receive<T>(&self, from: Option<usize>, tag: Tag<T>) -> ActiveOperation {
        self.setup.names.record((tag.raw, tag.name));
        ActiveOperation::receive(RecvFilter::new(from, tag.raw)).with_name(tag.name)
    }

    /// Logs a send that is over, if the run is traced.
    #[inline]
    pub(super) fn log_send<T>(&mut self, to: usize, tag: Tag<T>, bytes: usize) {
        if self.engine.is_traced {
            self.write_send(to, CallTag::new(tag), bytes);
        }
    }

    #[cold]
    fn write_send(&mut self, to: usize, tag: CallTag, bytes: usize) {
        self.engine.log_call(|messages| Some(CallKind::Send { to, tag, bytes, sent: messages.sent()? }));
    }

    /// Logs a receive that is over, if the run is traced.
    #[inline]
    pub(super) fn log_receive(&mut self, filter: impl Filter, until: Until, at: &'static Location<'static>) {
        if self.engine.is_traced {
            self.write_receive(filter.sender(), CallTag::new(filter.tag()), until, at);
        }
    }

    #[cold]
    fn write_receive(
        &mut self,
        from: Option<usize>,
        tag: CallTag,
        until: Until,
        at: &'static Location<'static>,
    ) {
        self.engine
            .log_call(|messages| Some(CallKind::Receive { from, tag, until, received: messages.received() }));
        self.engine.log_location(at);
    }
}
