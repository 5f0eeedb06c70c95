//! Blocking calls: what they send and receive, and when they give up.

use std::panic::Location;

use super::processor::Proc;
use crate::message::parcel::Parcel;
use crate::message::{Envelope, NamedTag, Outside, Payload, RawTag, Tag, Want};
use crate::rules::operation::Operation;
use crate::rules::reception::Reception;
use crate::time::Time;
use crate::trace::{CallKind, CallTag, SendRecv, Until};

impl<'a> Proc<'a> {
    /// Sends a value to a processor, and goes on when its first word enters the network.
    #[track_caller]
    pub fn send<T: Payload>(&mut self, to: usize, tag: Tag<T>, value: T) {
        self.count_code();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        self.sends(to, (tag.raw, tag.name), words, Parcel::new(value));
        self.has_called_send(to, tag, bytes);
        self.restart_code();
    }

    /// Sends like [`send`](Proc::send), and receives what is there or arrives while the gap runs, as Active
    /// Messages do: messages with the tag `taking`, each of which goes to `on` with its sender's number.
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
        self.count_code();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        let at = Location::caller();
        let first = self.begin_gap(to, words);
        while let Some((from, message)) =
            self.look_in_gap(to, first, |p, until| p.takes_value(None, taking, until))
        {
            self.has_called_receive(None, taking, Until::GapOver, at);
            self.restart_code();
            on(self, from, message);
            self.count_code();
        }
        self.has_called_receive(None, taking, Until::GapOver, at); // in vain
        self.sends(to, (tag.raw, tag.name), words, Parcel::new(value));
        self.has_called_send(to, tag, bytes);
        self.restart_code();
    }

    /// Sends a value to one processor, and receives one from another, or from the same, with the same tag: a shift or an
    /// exchange, if all call it. What comes while the gap before the send runs is received meanwhile; else the message
    /// goes first.
    ///
    /// Nobody waits for ever if all call it, also where long messages wait for their receivers (LogGPS): such a one is
    /// announced, and goes on its way once what `from` sends has come or was announced.
    ///
    /// ```
    /// use loggp::{Machine, Params, Tag, US};
    ///
    /// const NUMBER: Tag<usize> = Tag::new(0);
    ///
    /// // Everyone gets its left neighbour's number.
    /// let machine = Machine::new(Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build()?);
    /// let run = machine.run(|p| {
    ///     let (id, P) = (p.id(), p.p());
    ///     p.send_recv((id + 1) % P, id, (id + P - 1) % P, NUMBER)
    /// })?;
    /// assert_eq!((run.results, run.time), (vec![3, 0, 1, 2], 10 * US));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn send_recv<T: Payload>(&mut self, to: usize, value: T, from: usize, tag: Tag<T>) -> T {
        self.count_code();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        self.check(from, 0);
        self.must_not_leave();
        let mut ours = self.sending(to, (tag.raw, tag.name), words, Parcel::new(value));
        let mut theirs = self.receiving(Some(from), tag);
        let mut until = self.now();
        while !theirs.has_met() && self.gap_over(to, self.first_words(to, words)) > until {
            until = self.gap_over(to, self.first_words(to, words));
            self.meets(&mut theirs, until);
        }
        self.begins(&mut ours);
        self.meets(&mut ours, Time::MAX);
        self.catches_up();
        if !ours.is_done() {
            self.meets(&mut theirs, Time::MAX); // our request waits for its reply, and theirs is granted meanwhile
        }
        self.drives(&mut ours, Time::MAX);
        self.drives(&mut theirs, Time::MAX);
        let Some(mut taken) = theirs.into_message() else { self.fail_to_wait() };
        let (_, message) = self.open(&mut taken, tag);
        self.engine.called(|parts| {
            let (sent, got) = parts.sent().zip(parts.got())?;
            let both = SendRecv { to, from, tag: CallTag::of(tag), bytes, sent, got };
            Some(CallKind::SendRecv(Box::new(both)))
        });
        self.restart_code();
        message
    }

    /// Receives the message with this tag that arrives first, from any processor, and waits until there is
    /// one. Returns its sender and its value.
    #[track_caller]
    pub fn recv<T: Payload>(&mut self, tag: Tag<T>) -> (usize, T) {
        self.receive_or_fail(None, tag)
    }

    /// Receives the first message with this tag from one processor.
    #[track_caller]
    pub fn recv_from<T: Payload>(&mut self, from: usize, tag: Tag<T>) -> T {
        self.receive_or_fail(Some(from), tag).1
    }

    /// Receives a message with this tag, if one can be received at once. A look at an inbox without one costs
    /// a cycle, so that polling moves time forward.
    #[track_caller]
    pub fn try_recv<T: Payload>(&mut self, tag: Tag<T>) -> Option<(usize, T)> {
        self.receive(None, tag, Time::ZERO)
    }

    /// Receives a message with this tag from one processor, if one can be received at once: what
    /// [`try_recv`](Proc::try_recv) does, but others' messages are left where they are.
    #[track_caller]
    pub fn try_recv_from<T: Payload>(&mut self, from: usize, tag: Tag<T>) -> Option<T> {
        self.receive(Some(from), tag, Time::ZERO).map(|(_, value)| value)
    }

    /// Looks for a message with this tag that has arrived, and leaves it where it is. Returns the sender of the one that
    /// a [`recv`](Proc::recv) would take now: the one that arrived first. One that was announced and waits for its
    /// receiver (LogGPS) is there too.
    ///
    /// A look costs a cycle, whatever it finds, so that polling moves time forward. To receive costs o all the same, and
    /// not before the gap since the last reception is over, which a look need not wait for: a processor can look and
    /// find, and [`try_recv`](Proc::try_recv) not yet. Who wants to take what comes needs no look but `try_recv`.
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
    pub fn probe<T: Payload>(&mut self, tag: Tag<T>) -> Option<usize> {
        self.look(None, tag)
    }

    /// Looks for a message with this tag from one processor, as [`probe`](Proc::probe) does.
    #[track_caller]
    pub fn probe_from<T: Payload>(&mut self, from: usize, tag: Tag<T>) -> bool {
        self.look(Some(from), tag).is_some()
    }

    /// Receives a message with this tag if its reception can start by `time`, and gives up then.
    #[track_caller]
    pub fn recv_until<T: Payload>(&mut self, time: Time, tag: Tag<T>) -> Option<(usize, T)> {
        self.receive(None, tag, time)
    }

    /// Receives a message with this tag from one processor if its reception can start by `time`, and gives up then.
    #[track_caller]
    pub fn recv_from_until<T: Payload>(&mut self, from: usize, time: Time, tag: Tag<T>) -> Option<T> {
        self.receive(Some(from), tag, time).map(|(_, value)| value)
    }

    /// Waits until `time`, if that is still to come.
    pub fn wait_until(&mut self, time: Time) {
        self.count_code();
        self.engine.waits_until(time);
        self.engine.called(|_| Some(CallKind::WaitUntil(time)));
        self.turn();
        self.restart_code();
    }

    /// Receives the next message from one processor or any, whatever number its tag has: its sender, the number of its
    /// tag, and its value.
    #[track_caller]
    pub fn recv_any_tag<T: Payload>(&mut self, from: Option<usize>) -> (usize, u16, T) {
        self.count_code();
        if let Some(from) = from {
            self.check(from, 0);
        }
        self.must_not_leave();
        let tag = Tag::<T>::of(RawTag::ANY, None);
        let mut call = self.receiving(from, tag);
        self.drives(&mut call, Time::MAX);
        let number = call.tag.user_number();
        let Some(mut taken) = call.into_message() else { self.fail_to_wait() };
        let (sender, value) = self.open(&mut taken, tag);
        self.has_called_receive(from, tag, Until::Come, Location::caller());
        self.restart_code();
        (sender, number, value)
    }

    /// Receives from a processor or any, and waits until there is a message.
    #[track_caller]
    fn receive_or_fail<T: Payload>(&mut self, from: Option<usize>, tag: Tag<T>) -> (usize, T) {
        match self.receive(from, tag, Time::MAX) {
            Some(message) => message,
            None => self.fail_to_wait(),
        }
    }

    /// What every receive does. A deadline that has passed means now.
    #[track_caller]
    fn receive<T: Payload>(
        &mut self,
        from: Option<usize>,
        tag: Tag<T>,
        deadline: Time,
    ) -> Option<(usize, T)> {
        self.count_code();
        if let Some(from) = from {
            self.check(from, 0);
        }
        let message = self.takes_value(from, tag, deadline.max(self.now()));
        if message.is_none() {
            self.engine.looked_in_vain(&self.setup.network, deadline);
            self.looked_in_vain();
        }
        self.has_called_receive(from, tag, Until::deadline(deadline), Location::caller());
        self.restart_code();
        message
    }

    /// Looks for a message and leaves it where it is: all kinds of probes come here.
    #[track_caller]
    fn look<T: Payload>(&mut self, from: Option<usize>, tag: Tag<T>) -> Option<usize> {
        self.count_code();
        if let Some(from) = from {
            self.check(from, 0);
        }
        let now = self.now();
        let mut seen = None;
        if !self.is_leaving() {
            self.catches_up();
            let mut look = Reception::look(Want::of(from, tag.raw), now);
            let mut got = None;
            self.clock.receive(&mut look, &mut got);
            seen = got.map(|message| message.letter.outside.from as usize);
        }
        self.engine.waits_until(now + self.setup.network.params().cycle);
        match seen {
            Some(_) => self.looks = 0,
            None => self.looked_in_vain(),
        }
        self.engine.called(|_| Some(CallKind::Probe { from, tag: CallTag::of(tag), saw: seen }));
        if self.engine.is_traced() {
            self.engine.called_at(Location::caller());
        }
        self.restart_code();
        seen
    }

    /// Sends a message, and goes on when it enters. Mostly there are no requests, and then the way is short.
    #[inline(always)]
    fn sends(&mut self, to: usize, tag: NamedTag, words: usize, parcel: Parcel) {
        if self.is_leaving() {
            return;
        }
        if self.engine.engaged || self.is_synchronous(to, words) {
            return self.sends_among(to, tag, words, parcel);
        }
        self.setup.names.hear(tag);
        self.looks = 0;
        if !self.clock.sends(&self.setup.network, &mut self.engine, to, words, tag.0, parcel) {
            self.fail_at_the_end_of_time();
        }
    }

    #[cold]
    fn sends_among(&mut self, to: usize, tag: NamedTag, words: usize, parcel: Parcel) {
        let mut call = self.sending(to, tag, words, parcel);
        self.begins(&mut call);
        self.drives(&mut call, Time::MAX);
    }

    /// Takes a message whose reception can start by a time, and opens it.
    #[inline(always)]
    #[track_caller]
    fn takes_value<T: Payload>(
        &mut self,
        from: Option<usize>,
        tag: Tag<T>,
        until: Time,
    ) -> Option<(usize, T)> {
        let mut got = None;
        self.takes(Want::of(from, tag.raw), tag.name, until, &mut got);
        let message = got.as_mut()?;
        Some(self.open(message, tag)) // not in a closure, which is nobody's call
    }

    /// Takes a message whose reception can start by a time. Mostly there are no requests, and then the way is short.
    #[inline(always)]
    fn takes(&mut self, want: Want, name: Option<&'static str>, until: Time, got: &mut Option<Envelope>) {
        if self.is_leaving() {
            return;
        }
        self.setup.names.hear((want.tag, name));
        if self.engine.engaged {
            return self.takes_among(want, name, until, got);
        }
        self.clock.takes(&self.setup.network, &mut self.engine, want, until, got);
        if let Some(message) = got {
            self.looks = 0;
            if message.letter.outside.tag.is_request() {
                self.takes_among(want, name, until, got);
            }
        }
    }

    /// The same where there are requests, or where the message was asked for and its sender is to be answered.
    #[cold]
    fn takes_among(
        &mut self,
        want: Want,
        name: Option<&'static str>,
        until: Time,
        got: &mut Option<Envelope>,
    ) {
        let mut call = Operation::receive(want).named(name);
        if let Some(asked) = got.take() {
            let Outside { from, number, tag, .. } = asked.letter.outside;
            call.has_taken(from, number, tag);
            call.got = Some(asked);
        }
        self.begins(&mut call);
        self.drives(&mut call, until);
        *got = call.into_message();
    }

    /// Lets the requests catch up before a gap is used. Returns how long the first message of the send after it is.
    #[inline]
    fn begin_gap(&mut self, to: usize, words: usize) -> usize {
        self.catches_up();
        self.first_words(to, words)
    }

    /// Looks for a message until the gap before a send is over whose first message has so many words. Requests may make the
    /// gap longer meanwhile. `look` returns what comes until a moment, if anything does.
    fn look_in_gap<M>(
        &mut self,
        to: usize,
        first: usize,
        mut look: impl FnMut(&mut Proc<'a>, Time) -> Option<M>,
    ) -> Option<M> {
        loop {
            let until = self.now().max(self.gap_over(to, first));
            let found = look(self, until);
            if found.is_some() || self.gap_over(to, first) <= until {
                return found;
            }
        }
    }

    /// Waits until the gap before a send of so many bytes is over, and receives nothing: what a recorded run did.
    pub(crate) fn wait_for_gap(&mut self, to: usize, bytes: usize) {
        let first = self.begin_gap(to, self.params().words(bytes));
        self.look_in_gap(to, first, |p, until| {
            let mut nothing = Operation::receive(Want::NOTHING);
            p.begins(&mut nothing);
            p.drives(&mut nothing, until);
            None::<()>
        });
    }

    /// Receives a message in the gap before a send of so many bytes, as a recorded run did; and after the gap, if it comes
    /// no sooner.
    #[track_caller]
    pub(crate) fn recv_in_gap<T: Payload>(&mut self, (to, bytes): (usize, usize), from: usize, tag: Tag<T>) {
        self.count_code();
        let first = self.begin_gap(to, self.params().words(bytes));
        let look = |p: &mut Proc<'a>, until| p.takes_value(Some(from), tag, until);
        let found = self.look_in_gap(to, first, look).or_else(|| look(self, Time::MAX));
        if found.is_none() {
            self.fail_to_wait();
        }
        self.has_called_receive(None, tag, Until::GapOver, Location::caller());
        self.restart_code();
    }

    /// A send that has not begun.
    #[inline]
    pub(super) fn sending(
        &self,
        to: usize,
        (tag, name): NamedTag,
        words: usize,
        parcel: Parcel,
    ) -> Operation {
        self.setup.names.hear((tag, name));
        let asks = self.is_synchronous(to, words);
        Operation::send(to as u32, tag, words as u32, asks, Some(parcel)).named(name)
    }

    /// A receive that has begun.
    #[inline]
    fn receiving<T>(&mut self, from: Option<usize>, tag: Tag<T>) -> Operation {
        let mut call = self.receive_of(from, tag);
        self.begins(&mut call);
        call
    }

    /// A receive that has not begun.
    #[inline]
    pub(super) fn receive_of<T>(&self, from: Option<usize>, tag: Tag<T>) -> Operation {
        self.setup.names.hear((tag.raw, tag.name));
        Operation::receive(Want::of(from, tag.raw)).named(tag.name)
    }

    /// How long the first message of a send is: the request for it, if there is one.
    fn first_words(&self, to: usize, words: usize) -> usize {
        if self.is_synchronous(to, words) { 0 } else { words }
    }

    /// When the gap is over before a send of k words.
    fn gap_over(&self, to: usize, k: usize) -> Time {
        self.engine.next_send(&self.setup.network, to, k)
    }

    /// Whether a message of k words waits for its receiver.
    #[inline]
    fn is_synchronous(&self, to: usize, k: usize) -> bool {
        self.setup.network.is_synchronous(self.id(), to, k)
    }

    /// Notes that a send is over, if that is traced.
    #[inline]
    fn has_called_send<T>(&mut self, to: usize, tag: Tag<T>, bytes: usize) {
        if self.engine.is_traced() {
            self.notes_send(to, tag, bytes);
        }
    }

    /// Notes that a receive is over, if that is traced.
    #[inline]
    fn has_called_receive<T>(
        &mut self,
        from: Option<usize>,
        tag: Tag<T>,
        until: Until,
        at: &'static Location<'static>,
    ) {
        if self.engine.is_traced() {
            self.notes_receive(from, tag, until, at);
        }
    }

    #[cold]
    fn notes_send<T>(&mut self, to: usize, tag: Tag<T>, bytes: usize) {
        self.engine
            .called(|parts| Some(CallKind::Send { to, tag: CallTag::of(tag), bytes, sent: parts.sent()? }));
    }

    #[cold]
    fn notes_receive<T>(
        &mut self,
        from: Option<usize>,
        tag: Tag<T>,
        until: Until,
        at: &'static Location<'static>,
    ) {
        self.engine
            .called(|parts| Some(CallKind::Receive { from, tag: CallTag::of(tag), until, got: parts.got() }));
        self.engine.called_at(at);
    }
}
