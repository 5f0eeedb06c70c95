//! Blocking calls: sends, receives, looks and waits.
//!
//! A send has three layers: [`Proc::send`] checks the call and makes the parcel, `send_parcel` chooses the
//! path, and [`Clock::send_without_requests`](crate::clock::Clock::send_without_requests) applies the rules
//! and waits, or `send_with_requests` does where requests are under way. A receive has the same layers.

use std::panic::Location;

use super::processor::Proc;
use crate::message::parcel::Parcel;
use crate::message::{Envelope, Filter, Header, NamedTag, Payload, RecvFilter, Tag};
use crate::rules::message_wait::MessageWait;
use crate::rules::operation::ActiveOperation;
use crate::time::Time;
use crate::trace::{CallKind, CallTag, SendRecv, Until};

impl<'a> Proc<'a> {
    /// Sends a value to a processor, and goes on when its first word enters the network.
    #[track_caller]
    pub fn send<T: Payload>(&mut self, to: usize, tag: Tag<T>, value: T) {
        self.enter_call();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        self.send_parcel(to, (tag.raw, tag.name), words, Parcel::new(value));
        self.log_send(to, tag, bytes);
        self.leave_call();
    }

    /// Sends like [`send`](Proc::send), and receives messages while the gap before the send runs, as Active
    /// Messages do: each message with the tag `taking` that has arrived or arrives then goes to `on`, with
    /// its sender's number.
    ///
    /// A processor is busy for o only, so it can send and receive a message every g, not every 2g.
    #[track_caller]
    pub fn send_receiving<T: Payload, M: Payload>(
        &mut self,
        to: usize,
        tag: Tag<T>,
        value: T,
        taking: Tag<M>,
        mut on: impl FnMut(&mut Proc<'a>, usize, M),
    ) {
        self.enter_call();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        let at = Location::caller();
        let first = self.begin_gap(to, words);
        while let Some((from, message)) =
            self.look_in_gap(to, first, |p, until| p.receive_value(None, taking, until))
        {
            self.log_receive(None, taking, Until::GapOver, at);
            self.leave_call();
            on(self, from, message);
            self.enter_call();
        }
        self.log_receive(None, taking, Until::GapOver, at); // the last look found nothing
        self.send_parcel(to, (tag.raw, tag.name), words, Parcel::new(value));
        self.log_send(to, tag, bytes);
        self.leave_call();
    }

    /// Sends a value to one processor, and receives one from another, or from the same, with the same tag: a
    /// shift or an exchange, if all call it. If the message of `from` arrives while the gap before the send
    /// runs, it is received first; else the send goes first.
    ///
    /// If all processors call it, none waits for ever, even where long messages wait for their receivers
    /// (LogGPS): a long message sends its request first, and waits for the reply only once the message of
    /// `from` has arrived or its request has.
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
        let mut send = self.send_operation(to, (tag.raw, tag.name), words, Parcel::new(value));
        let mut receive = self.start_receive(Some(from), tag);
        let mut until = self.now();
        while !receive.is_matched() && self.next_send_to(to, self.first_message_words(to, words)) > until {
            until = self.next_send_to(to, self.first_message_words(to, words));
            self.drive_until_matched(&mut receive, until);
        }
        self.start(&mut send);
        self.drive_until_matched(&mut send, Time::MAX);
        self.catch_up();
        if !send.is_done() {
            // The send waits for the reply to its request: answer the other request meanwhile.
            self.drive_until_matched(&mut receive, Time::MAX);
        }
        self.drive(&mut send, Time::MAX);
        self.drive(&mut receive, Time::MAX);
        let Some(mut taken) = receive.into_message() else { self.fail_to_wait() };
        let (_, message) = self.open(&mut taken, tag);
        self.engine.log_call(|messages| {
            let (sent, got) = messages.sent().zip(messages.received())?;
            let both = SendRecv { to, from, tag: CallTag::new(tag), bytes, sent, received: got };
            Some(CallKind::SendRecv(Box::new(both)))
        });
        self.leave_call();
        message
    }

    /// Receives the message that the [filter](Filter) takes and that arrives first, and waits until there is
    /// one.
    ///
    /// `p.recv(TAG)` returns the sender and the value, `p.recv(TAG.from(3))` the value.
    #[track_caller]
    pub fn recv<F: Filter>(&mut self, filter: F) -> F::Received {
        match self.receive(filter, Time::MAX) {
            Some(message) => message,
            None => self.fail_to_wait(),
        }
    }

    /// Receives the first message with this tag from one processor: short for `p.recv(tag.from(from))`.
    #[track_caller]
    pub fn recv_from<T: Payload>(&mut self, from: usize, tag: Tag<T>) -> T {
        self.recv(tag.from(from))
    }

    /// Receives a message if its reception can start at once. A look at an inbox without one costs a cycle,
    /// so that polling moves time forward.
    #[track_caller]
    pub fn try_recv<F: Filter>(&mut self, filter: F) -> Option<F::Received> {
        self.receive(filter, Time::ZERO)
    }

    /// Receives a message if its reception can start by `deadline`, and gives up then.
    #[track_caller]
    pub fn recv_until<F: Filter>(&mut self, filter: F, deadline: Time) -> Option<F::Received> {
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
    ///     p.recv_from(1, DATUM);
    ///     steps
    /// })?;
    /// assert_eq!((run.results[0], run.time), (3, (3 * 3 + 1 + 2) * US)); // it is there at 8, and seen at 9
    /// # Ok::<(), loggp::RunError>(())
    /// ```
    #[track_caller]
    pub fn probe<F: Filter>(&mut self, filter: F) -> Option<usize> {
        self.look(filter.sender(), filter.tag())
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
        let (from, tag) = (filter.sender(), filter.tag());
        self.enter_call();
        if let Some(from) = from {
            self.check(from, 0);
        }
        let until = deadline.max(self.now());
        let received = match F::ANY_TAG {
            true => self.receive_any_tag(from, tag, until),
            false => self.receive_value(from, tag, until).map(|(sender, value)| (sender, 0, value)),
        };
        if received.is_none() {
            self.engine.wait_in_vain(&self.setup.network, deadline);
            self.count_vain_look();
        }
        self.log_receive(from, tag, Until::from_deadline(deadline), Location::caller());
        self.leave_call();
        received.map(|(sender, number, value)| F::received(sender, number, value))
    }

    /// Receives a message with any tag. Returns its sender, the number of its tag, and its value.
    #[cold]
    #[track_caller]
    fn receive_any_tag<T: Payload>(
        &mut self,
        from: Option<usize>,
        tag: Tag<T>,
        until: Time,
    ) -> Option<(usize, u16, T)> {
        self.refuse_unwinding();
        let mut call = self.start_receive(from, tag);
        self.drive(&mut call, until);
        let number = call.tag.user_number();
        let (sender, value) = self.open(&mut call.into_message()?, tag);
        Some((sender, number, value))
    }

    /// Looks for a message that has arrived, and leaves it in the inbox. Returns its sender.
    #[track_caller]
    fn look<T: Payload>(&mut self, from: Option<usize>, tag: Tag<T>) -> Option<usize> {
        self.enter_call();
        if let Some(from) = from {
            self.check(from, 0);
        }
        let now = self.now();
        let mut seen = None;
        if !self.is_unwinding() {
            self.catch_up();
            let mut look = MessageWait::for_probe(RecvFilter::new(from, tag.raw), now);
            let mut got = None;
            self.clock.receive(&mut look, &mut got);
            seen = got.map(|message| message.message.header.from as usize);
        }
        self.engine.wait_until(now + self.setup.network.params().cycle);
        match seen {
            Some(_) => self.vain_looks = 0,
            None => self.count_vain_look(),
        }
        self.engine.log_call(|_| Some(CallKind::Probe { from, tag: CallTag::new(tag), found: seen }));
        if self.engine.is_traced() {
            self.engine.log_location(Location::caller());
        }
        self.leave_call();
        seen
    }

    /// Sends a message, and goes on when it enters. Mostly there are no requests, which is the fast path.
    #[inline(always)]
    fn send_parcel(&mut self, to: usize, tag: NamedTag, words: usize, parcel: Parcel) {
        if self.is_unwinding() {
            return;
        }
        if self.engine.has_requests || self.is_synchronous(to, words) {
            return self.send_with_requests(to, tag, words, parcel);
        }
        self.setup.names.record(tag);
        self.vain_looks = 0;
        if !self.clock.send_without_requests(&self.setup.network, &mut self.engine, to, words, tag.0, parcel)
        {
            self.fail_at_the_end_of_time();
        }
    }

    #[cold]
    fn send_with_requests(&mut self, to: usize, tag: NamedTag, words: usize, parcel: Parcel) {
        let mut call = self.send_operation(to, tag, words, parcel);
        self.start(&mut call);
        self.drive(&mut call, Time::MAX);
    }

    /// Receives a message whose reception can start by a time, and opens it.
    #[inline(always)]
    #[track_caller]
    fn receive_value<T: Payload>(
        &mut self,
        from: Option<usize>,
        tag: Tag<T>,
        until: Time,
    ) -> Option<(usize, T)> {
        let mut got = None;
        self.receive_envelope(RecvFilter::new(from, tag.raw), tag.name, until, &mut got);
        let message = got.as_mut()?;
        Some(self.open(message, tag)) // not in a closure, which has no caller to track
    }

    /// Receives a message whose reception can start by a time. Mostly there are no requests, which is the
    /// fast path.
    #[inline(always)]
    fn receive_envelope(
        &mut self,
        filter: RecvFilter,
        name: Option<&'static str>,
        until: Time,
        got: &mut Option<Envelope>,
    ) {
        if self.is_unwinding() {
            return;
        }
        self.setup.names.record((filter.tag, name));
        if self.engine.has_requests {
            return self.receive_with_requests(filter, name, until, got);
        }
        self.clock.receive_without_requests(&self.setup.network, &mut self.engine, filter, until, got);
        if let Some(message) = got {
            self.vain_looks = 0;
            if message.message.header.tag.is_request() {
                self.receive_with_requests(filter, name, until, got);
            }
        }
    }

    /// Receives a message where there are requests, or where `got` is the request for it, which has to be
    /// answered.
    #[cold]
    fn receive_with_requests(
        &mut self,
        filter: RecvFilter,
        name: Option<&'static str>,
        until: Time,
        got: &mut Option<Envelope>,
    ) {
        let mut call = ActiveOperation::receive(filter).with_name(name);
        if let Some(request) = got.take() {
            let Header { from, number, tag, .. } = request.message.header;
            call.on_received(from, number, tag);
            call.received = Some(request);
        }
        self.start(&mut call);
        self.drive(&mut call, until);
        *got = call.into_message();
    }

    /// Lets the requests catch up before messages are received in a gap. Returns the length of the first
    /// message of the send after the gap.
    #[inline]
    fn begin_gap(&mut self, to: usize, words: usize) -> usize {
        self.catch_up();
        self.first_message_words(to, words)
    }

    /// Looks for a message until the gap before a send is over; the first message of the send has `first`
    /// words. Requests may make the gap longer meanwhile. `look` looks until a moment.
    fn look_in_gap<M>(
        &mut self,
        to: usize,
        first: usize,
        mut look: impl FnMut(&mut Proc<'a>, Time) -> Option<M>,
    ) -> Option<M> {
        loop {
            let until = self.now().max(self.next_send_to(to, first));
            let found = look(self, until);
            if found.is_some() || self.next_send_to(to, first) <= until {
                return found;
            }
        }
    }

    /// Waits until the gap before a send of `bytes` is over, and receives nothing, as a recorded run did.
    pub(crate) fn wait_for_gap(&mut self, to: usize, bytes: usize) {
        let first = self.begin_gap(to, self.params().words(bytes));
        self.look_in_gap(to, first, |p, until| {
            let mut nothing = ActiveOperation::receive(RecvFilter::NOTHING);
            p.start(&mut nothing);
            p.drive(&mut nothing, until);
            None::<()>
        });
    }

    /// Receives a message in the gap before a send of `bytes`, as a recorded run did, or after the gap if it
    /// arrives later.
    #[track_caller]
    pub(crate) fn recv_in_gap<T: Payload>(&mut self, (to, bytes): (usize, usize), from: usize, tag: Tag<T>) {
        self.enter_call();
        let first = self.begin_gap(to, self.params().words(bytes));
        let look = |p: &mut Proc<'a>, until| p.receive_value(Some(from), tag, until);
        let found = self.look_in_gap(to, first, look).or_else(|| look(self, Time::MAX));
        if found.is_none() {
            self.fail_to_wait();
        }
        self.log_receive(None, tag, Until::GapOver, Location::caller());
        self.leave_call();
    }

    /// Creates a send that has not started.
    #[inline]
    pub(super) fn send_operation(
        &self,
        to: usize,
        (tag, name): NamedTag,
        words: usize,
        parcel: Parcel,
    ) -> ActiveOperation {
        self.setup.names.record((tag, name));
        let is_synchronous = self.is_synchronous(to, words);
        ActiveOperation::send(to as u32, tag, words as u32, is_synchronous, Some(parcel)).with_name(name)
    }

    /// Starts a receive.
    #[inline]
    fn start_receive<T>(&mut self, from: Option<usize>, tag: Tag<T>) -> ActiveOperation {
        let mut call = self.receive_operation(from, tag);
        self.start(&mut call);
        call
    }

    /// Creates a receive that has not started.
    #[inline]
    pub(super) fn receive_operation<T>(&self, from: Option<usize>, tag: Tag<T>) -> ActiveOperation {
        self.setup.names.record((tag.raw, tag.name));
        ActiveOperation::receive(RecvFilter::new(from, tag.raw)).with_name(tag.name)
    }

    /// Returns the length of the first message of a send: that of its request, if there is one.
    fn first_message_words(&self, to: usize, words: usize) -> usize {
        if self.is_synchronous(to, words) { 0 } else { words }
    }

    /// Returns the earliest time at which a send of k words need not wait for the gap after the last send.
    fn next_send_to(&self, to: usize, k: usize) -> Time {
        self.engine.next_send(&self.setup.network, to, k)
    }

    /// Returns whether a message of k words waits until its receiver is ready for it.
    #[inline]
    fn is_synchronous(&self, to: usize, k: usize) -> bool {
        self.setup.network.is_synchronous(self.id(), to, k)
    }

    /// Logs a send that is over, if the run is traced.
    #[inline]
    fn log_send<T>(&mut self, to: usize, tag: Tag<T>, bytes: usize) {
        if self.engine.is_traced() {
            self.write_send(to, tag, bytes);
        }
    }

    /// Logs a receive that is over, if the run is traced.
    #[inline]
    fn log_receive<T>(
        &mut self,
        from: Option<usize>,
        tag: Tag<T>,
        until: Until,
        at: &'static Location<'static>,
    ) {
        if self.engine.is_traced() {
            self.write_receive(from, tag, until, at);
        }
    }

    #[cold]
    fn write_send<T>(&mut self, to: usize, tag: Tag<T>, bytes: usize) {
        self.engine.log_call(|messages| {
            Some(CallKind::Send { to, tag: CallTag::new(tag), bytes, sent: messages.sent()? })
        });
    }

    #[cold]
    fn write_receive<T>(
        &mut self,
        from: Option<usize>,
        tag: Tag<T>,
        until: Until,
        at: &'static Location<'static>,
    ) {
        self.engine.log_call(|messages| {
            Some(CallKind::Receive { from, tag: CallTag::new(tag), until, received: messages.received() })
        });
        self.engine.log_location(at);
    }
}
