//! MPI's requests: a send or a receive that goes on by itself while its processor does something else.
//!
//! A request does what the blocking call would do, in a local time of its own that begins with its call (LogGPS, section
//! 3.2). It needs no thread: before its processor lets time pass, the processor does what its requests have to do in that
//! time, in the order of that. So requests act in the order of all acts, as processors do.
//!
//! - Messages that come while requests are outstanding are taken out of the inbox as they arrive. One goes to the request
//!   that was called for first among those that want it, or lies with the **early** ones until a receive wants it.
//! - A message to a processor goes when those to the same processor that were called for before it have entered, so that
//!   none overtakes another. Messages to different processors go as they are ready.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::fmt;
use std::panic::Location;

use super::Proc;
use crate::error::{Cause, Doing, WantedMessage};
use crate::message::parcel::Parcel;
use crate::message::{Envelope, Letter, Payload, RawTag, Tag, Want};
use crate::rules::node::{Beside, Outgoing, Purpose, Receiving, Reception, Sending, Step};
use crate::time::Time;
use crate::trace::{CallKind, CallTag, Until};

/// A send or a receive that was called for and goes on by itself, until its processor [waits](Proc::wait) for it.
///
/// Every request must be waited for: a processor that ends with one that it has not waited for ends the run with an error
/// that names it.
#[must_use = "a request must be waited for"]
pub struct Request<R> {
    /// The processor that called for it.
    id: usize,
    /// How many requests that had called for before.
    number: u32,
    /// Makes what the processor gets of what has come.
    open: fn(&mut Proc, Done) -> R,
}

impl<R> fmt::Debug for Request<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} of processor {})", self.number, self.id)
    }
}

/// A request that is done.
struct Done {
    /// What was called for.
    call: Call,
    /// The message that came, if it is a receive.
    letter: Option<Letter>,
}

/// What was called for.
#[derive(Clone, Debug)]
struct Call {
    /// Whether it is a send.
    sends: bool,
    /// The other processor, unless any will do.
    other: Option<usize>,
    /// How long the message is, if it is a send.
    words: usize,
    /// What the message is about.
    tag: RawTag,
    /// What errors call the tag.
    name: Option<&'static str>,
    /// When it was called for.
    time: Time,
    /// Where in the program.
    at: &'static Location<'static>,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = self.tag.told(self.name);
        match (self.sends, self.other) {
            (true, other) => {
                let (words, to) = (self.words, other.unwrap_or(0));
                let s = if words == 1 { "" } else { "s" };
                write!(f, "isend of {words} word{s} to {to} {about}")?
            }
            (false, Some(other)) => write!(f, "irecv from {other} {about}")?,
            (false, None) => write!(f, "irecv {about}")?,
        }
        write!(f, ", called for at {} (at {})", self.time, self.at)
    }
}

/// A request that is under way.
struct Operation {
    /// What was called for.
    call: Call,
    /// What its protocol says.
    protocol: Protocol,
    /// What it waits for.
    stage: Stage,
    /// Its own time, and what it did.
    beside: Beside,
    /// What it sends.
    parcel: Option<Parcel>,
    /// What it has received.
    letter: Option<Letter>,
}

/// The messages that a request takes.
enum Protocol {
    /// A send.
    Sends(Sending),
    /// A receive, which knows what follows once its first message has come.
    Receives(Want, Option<Receiving>),
}

/// What a request waits for.
enum Stage {
    /// Its message goes after others to the same processor.
    Behind,
    /// The turn of its message, which has this tag, and is what the program sends or only announces that.
    Turn(Outgoing, RawTag, bool),
    /// A message.
    Message,
    /// Nothing: it is done when its own time says.
    Done,
}

/// When the turn of a message is, the number of the message, and of its request: of those that are due at the same time the
/// one goes first to which the processor turned first.
type Turn = (Time, u32, u32);

/// The requests of a processor that has called for one.
#[derive(Default)]
pub(super) struct Requests {
    /// How many were called for.
    begun: u32,
    /// All that the processor's requests do until then is done.
    at: Time,
    /// Those that were not waited for, by number.
    operations: BTreeMap<u32, Operation>,
    /// Whose message's turn is when.
    turns: BinaryHeap<Reverse<Turn>>,
    /// Who waits for which message, in the order of their calls.
    wants: Vec<(u32, Want)>,
    /// Who sends to each processor and has not yet, in the order of their calls.
    queues: HashMap<usize, VecDeque<u32>>,
    /// The messages that came, and that nobody has taken.
    early: VecDeque<Envelope>,
}

impl Requests {
    /// Whether there is nothing that a processor without requests does not know of.
    fn is_over(&self) -> bool {
        self.operations.is_empty() && self.early.is_empty()
    }

    /// When the next message's turn is.
    fn next_turn(&self) -> Option<Turn> {
        self.turns.peek().map(|Reverse(next)| *next)
    }

    /// Takes the first message that came and is wanted.
    fn take_early(&mut self, want: &Want) -> Option<Envelope> {
        let place = self.early.iter().position(|envelope| want.matches(&envelope.letter))?;
        self.early.remove(place)
    }

    /// When a request is done, if that is known.
    fn done(&self, number: u32) -> Option<Time> {
        let operation = self.operations.get(&number)?;
        matches!(operation.stage, Stage::Done).then_some(operation.beside.now)
    }
}

/// Any message at all, for requests that know what to do with it.
const ANYTHING: Want = Want { from: None, tag: RawTag::ANYTHING, name: None };

impl<'a> Proc<'a> {
    /// Calls for a send, and goes on after o (LogGPS, equation 6). The message goes by itself, as with
    /// [`send`](Proc::send), and is gone when a [`wait`](Proc::wait) for the request returns.
    ///
    /// Messages from one processor to another go in the order of their calls, whether of `isend` or of `send`, and from
    /// its first `isend` on they arrive in that order too. (On a machine of LogGPS they always do.)
    ///
    /// ```
    /// use loggp::{Machine, Params, Tag, US};
    ///
    /// const ROW: Tag<Vec<u64>> = Tag::new(0);
    ///
    /// // Two exchange long messages. With blocking sends that would be a deadlock: S = 100 is shorter.
    /// let params = Params::builder(2).set("L=6,o=2,g=0,O_s=10ns,O_r=0,G_s=10ns,G_l=10ns,s=50,S=100")?.build()?;
    /// let run = Machine::new(params).run(|p| {
    ///     let other = 1 - p.id();
    ///     let sends = p.isend(other, ROW, vec![p.id() as u64; 1000]);
    ///     let row = p.recv_from(other, ROW);
    ///     p.wait(sends);
    ///     row[999]
    /// })?;
    /// assert_eq!(run.results, [1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn isend<T: Payload>(&mut self, to: usize, tag: Tag<T>, value: T) -> Request<()> {
        self.count_code();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        let (raw, name, time, at) = (tag.raw, tag.name, self.now(), Location::caller());
        let call = Call { sends: true, other: Some(to), words, tag: raw, name, time, at };
        let sending = Sending::new(&self.setup.network, to, tag, words);
        let request = self.call_for(call, Protocol::Sends(sending), Some(Parcel::new(value)), |_, _| ());
        self.has_called_for(|request| CallKind::Isend { request, to, tag: CallTag::of(tag), bytes });
        self.restart_code();
        request
    }

    /// Calls for a receive of a message with this tag from any processor, and goes on after o (LogGPS, equation 10).
    ///
    /// A message goes to the receive that was called for first among those that want it.
    #[track_caller]
    pub fn irecv<T: Payload>(&mut self, tag: Tag<T>) -> Request<(usize, T)> {
        self.call_for_receive(None, tag, |p, done| p.opened::<T>(done))
    }

    /// Calls for a receive of a message with this tag from one processor.
    #[track_caller]
    pub fn irecv_from<T: Payload>(&mut self, from: usize, tag: Tag<T>) -> Request<T> {
        self.call_for_receive(Some(from), tag, |p, done| p.opened::<T>(done).1)
    }

    /// Calls for a receive of the next message from one processor or any, whatever number its tag has; the collectives'
    /// messages are none of these. It gets the sender, the number of the tag, and the value, which must be a `T`.
    #[track_caller]
    pub fn irecv_any_tag<T: Payload>(&mut self, from: Option<usize>) -> Request<(usize, u16, T)> {
        self.call_for_receive(from, Tag::<T>::of(RawTag::ANY, None), |p, done| {
            let number = done.call.tag.user_number();
            let (from, value) = p.opened::<T>(done);
            (from, number, value)
        })
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
        // Of a long message only the request has the number, so that is taken by itself.
        let taken = self.take(Want::of(from, tag), Time::MAX);
        let Some(first) = taken else { self.fail_to_wait() };
        let number = first.letter.tag.user_number();
        let mut receiving = Receiving::new(&first.letter, None);
        let Some(taken) = self.takes_rest(first, &mut receiving) else { self.fail_to_wait() };
        let (sender, value) = self.open(taken.letter, tag);
        self.has_called_receive(from, tag, Until::Come);
        self.restart_code();
        (sender, number, value)
    }

    /// Waits until a request is done, and at least for o (LogGPS, equation 11). Returns what was received, and nothing
    /// of a send.
    #[track_caller]
    pub fn wait<R>(&mut self, request: Request<R>) -> R {
        self.count_code();
        let done = self.wait_for(&request);
        let value = (request.open)(self, done);
        self.restart_code();
        value
    }

    /// Waits for all requests, one after the other. Returns what was received, in their order.
    #[track_caller]
    pub fn wait_all<R>(&mut self, requests: impl IntoIterator<Item = Request<R>>) -> Vec<R> {
        let mut values = Vec::new();
        for request in requests {
            values.push(self.wait(request));
        }
        values
    }

    /// Waits for the request that is done first, the first of those that are done at the same time, and takes it out.
    /// Returns its place, and what was received.
    #[track_caller]
    pub fn wait_any<R>(&mut self, requests: &mut Vec<Request<R>>) -> (usize, R) {
        self.count_code();
        if requests.is_empty() {
            self.misused("waits for any of no requests; give at least one");
        }
        requests.iter().for_each(|request| self.check_own(request));
        self.setup.waits_among(
            self.id(),
            Doing::WaitingForRequest(format!("any of its {} requests", requests.len())),
        );
        self.progress(self.now());
        let first = loop {
            let requests = requests.iter().enumerate();
            let done =
                requests.filter_map(|(place, request)| Some((self.requests.done(request.number)?, place)));
            let first = done.min();
            // What was not done when all until then had happened is done later.
            let until = first.map_or(Time::MAX, |(done, _)| done);
            if !self.steps(until)
                && let Some((_, place)) = first
            {
                break place;
            }
        };
        let request = requests.remove(first);
        let done = self.wait_for(&request);
        let value = (request.open)(self, done);
        self.restart_code();
        (first, value)
    }

    /// Looks whether a request is done. If it is, that costs o, as a wait does, and returns what was received; else it
    /// costs a cycle and gives the request back.
    #[track_caller]
    pub fn test<R>(&mut self, request: Request<R>) -> Result<R, Request<R>> {
        self.count_code();
        self.check_own(&request);
        self.progress(self.now());
        let tested = match self.requests.done(request.number) {
            Some(done) if done <= self.now() => {
                let done = self.wait_for(&request);
                Ok((request.open)(self, done))
            }
            _ => {
                self.node.waits_until(self.now() + self.params().cycle);
                self.looked_in_vain();
                self.node.called(|_| Some(CallKind::Test { request: request.number }));
                Err(request)
            }
        };
        self.restart_code();
        tested
    }

    /// Calls for a receive.
    #[track_caller]
    fn call_for_receive<T, R>(
        &mut self,
        from: Option<usize>,
        tag: Tag<T>,
        open: fn(&mut Proc, Done) -> R,
    ) -> Request<R> {
        self.count_code();
        if let Some(from) = from {
            self.check(from, 0);
        }
        let (raw, name, time, at) = (tag.raw, tag.name, self.now(), Location::caller());
        let call = Call { sends: false, other: from, words: 0, tag: raw, name, time, at };
        let request = self.call_for(call, Protocol::Receives(Want::of(from, tag), None), None, open);
        self.has_called_for(|request| CallKind::Irecv { request, from, tag: CallTag::of(tag) });
        self.restart_code();
        request
    }

    /// Notes that a request was called for, if that is traced. None is while the program unwinds.
    fn has_called_for(&mut self, what: impl FnOnce(u32) -> CallKind) {
        if !self.is_leaving() {
            let request = self.requests.begun - 1;
            self.node.called(|_| Some(what(request)));
        }
    }

    /// Calls for a request.
    fn call_for<R>(
        &mut self,
        call: Call,
        protocol: Protocol,
        parcel: Option<Parcel>,
        open: fn(&mut Proc, Done) -> R,
    ) -> Request<R> {
        let (id, number) = (self.id(), self.requests.begun);
        if self.is_leaving() {
            return Request { id, number, open };
        }
        self.requests.begun += 1;
        if self.engaged {
            self.progress(self.now());
        } else {
            self.requests.at = self.now();
            self.engaged = true;
        }
        let beside = self.node.posts(&self.setup.network, number, call.sends);
        let (to, want, stage) = match protocol {
            Protocol::Sends(sending) => (Some(sending.to), None, Stage::Behind),
            Protocol::Receives(want, _) => (None, Some(want), Stage::Message),
        };
        let operation = Operation { call, protocol, stage, beside, parcel, letter: None };
        self.requests.operations.insert(number, operation);
        if let Some(to) = to {
            self.node.keeps_order();
            self.requests.queues.entry(to).or_default().push_back(number);
            self.goes_if_first(to);
        }
        if let Some(want) = want {
            self.requests.wants.push((number, want));
            self.takes_early(number, want);
        }
        Request { id, number, open }
    }

    /// Ends the run if a request is not the processor's own, or was waited for.
    #[track_caller]
    fn check_own<R>(&mut self, request: &Request<R>) {
        if self.is_leaving() {
            self.fail_to_wait();
        }
        if request.id != self.id() {
            let other = request.id;
            self.misused(format!("waits for a request of processor {other}; only that one can"));
        }
    }

    /// Waits until a request is done.
    #[track_caller]
    fn wait_for<R>(&mut self, request: &Request<R>) -> Done {
        self.check_own(request);
        let number = request.number;
        if let Some(operation) = self.requests.operations.get(&number)
            && !matches!(operation.stage, Stage::Done)
        {
            self.setup.waits_among(self.id(), Doing::WaitingForRequest(format!("its {}", operation.call)));
        }
        while self.requests.done(number).is_none() {
            self.steps(Time::MAX);
        }
        let Operation { call, beside, letter, .. } =
            self.requests.operations.remove(&number).expect("it is done once");
        self.node.joins(&self.setup.network, number, call.sends, beside);
        self.looks = 0;
        self.disengage();
        Done { call, letter }
    }

    /// The value that was received.
    #[track_caller]
    fn opened<T: Payload>(&mut self, done: Done) -> (usize, T) {
        let Done { call: Call { tag, name, at, .. }, letter } = done;
        self.open_at(letter.expect("a receive that is done has its message"), Tag::of(tag, name), at)
    }

    /// Forgets requests when nothing is left of them.
    fn disengage(&mut self) {
        if self.requests.is_over() {
            self.engaged = false;
            self.setup.has_no_requests(self.id());
        }
    }

    /// Does all that requests have to do until `t`. Local time has come there then.
    pub(super) fn progress(&mut self, t: Time) {
        if self.engaged {
            while self.steps(t) {}
        }
    }

    /// Does the next thing that requests have to do until `t`; or, if there is none, lets time pass until then. Returns
    /// whether there was one.
    fn steps(&mut self, t: Time) -> bool {
        self.steps_before(t, u32::MAX)
    }

    /// The same, but what is due at `t` is done for messages below a number only.
    fn steps_before(&mut self, t: Time, number: u32) -> bool {
        let next = self.requests.next_turn().filter(|(turn, message, _)| (*turn, *message) < (t, number));
        let deadline = next.map_or(t, |(turn, ..)| turn).max(self.requests.at);
        let ready = self.requests.at;
        let fetch = Reception { want: ANYTHING, ready, deadline, purpose: Purpose::Fetch };
        if let Some(envelope) = self.clock.receive(&fetch) {
            self.requests.at = ready.max(envelope.arrival);
            self.came(envelope);
            return true;
        }
        self.requests.at = deadline;
        let Some((turn, _, request)) = next else { return false };
        self.requests.turns.pop();
        self.turn_of(request, turn);
        true
    }

    /// A message has come: it goes to the first request that wants it.
    fn came(&mut self, envelope: Envelope) {
        let wanted = self.requests.wants.iter().position(|(_, want)| want.matches(&envelope.letter));
        match wanted {
            Some(place) => {
                let (number, want) = self.requests.wants.remove(place);
                self.gets(number, want, envelope);
            }
            None => self.requests.early.push_back(envelope),
        }
    }

    /// A request that waits for a message gets one that is there already, if there is one.
    fn takes_early(&mut self, number: u32, want: Want) {
        if let Some(envelope) = self.requests.take_early(&want) {
            self.requests.wants.retain(|(other, _)| *other != number);
            self.gets(number, want, envelope);
        }
    }

    /// A request gets its message.
    fn gets(&mut self, number: u32, want: Want, envelope: Envelope) {
        let network = &self.setup.network;
        let Some(operation) = self.requests.operations.get_mut(&number) else { return };
        let Envelope { arrival, letter } = envelope;
        self.node.beside(&mut operation.beside, |node| {
            let reception = node.is_ready(network, want, Time::MAX);
            node.takes(network, &reception, arrival, &letter);
        });
        if let Protocol::Receives(_, receiving) = &mut operation.protocol {
            if receiving.is_none() {
                // Which of any tags it is: of a long message only the request has it.
                operation.call.tag = letter.tag.requested();
                *receiving = Some(Receiving::new(&letter, want.name));
            }
            operation.letter = Some(letter);
        }
        self.goes_on(number);
    }

    /// The first request that sends to a processor goes on, if there is one that waits to.
    fn goes_if_first(&mut self, to: usize) {
        let Some(&first) = self.requests.queues.get(&to).and_then(|queue| queue.front()) else { return };
        let waits = |operation: &Operation| matches!(operation.stage, Stage::Behind);
        if self.requests.operations.get(&first).is_some_and(waits) {
            self.goes_on(first);
        }
    }

    /// A request has done all before, and turns to what comes next.
    fn goes_on(&mut self, number: u32) {
        let (network, at) = (&self.setup.network, self.requests.at);
        let Some(operation) = self.requests.operations.get_mut(&number) else { return };
        let Operation { protocol, beside, letter, .. } = operation;
        let (step, to) = match protocol {
            Protocol::Sends(sending) => (sending.next(), sending.to),
            Protocol::Receives(_, Some(receiving)) => {
                (receiving.next(), letter.as_ref().map_or(0, |letter| letter.from as usize))
            }
            Protocol::Receives(_, None) => return,
        };
        match step {
            Step::Send { tag, words, is_data } => {
                let turned = self.node.beside(beside, |node| node.turns_to(network, to, words));
                let Some(mut outgoing) = turned else { self.fail_at_the_end_of_time() };
                self.node.puts_off(network, &mut outgoing, at);
                if let Protocol::Sends(sending) = protocol {
                    sending.has_sent(outgoing.number);
                }
                operation.stage = Stage::Turn(outgoing, tag, is_data);
                self.requests.turns.push(Reverse((outgoing.turn, outgoing.number, number)));
            }
            Step::Take(want) => {
                operation.stage = Stage::Message;
                let wants = &mut self.requests.wants;
                let place = wants.partition_point(|(other, _)| *other < number);
                wants.insert(place, (number, want));
                self.takes_early(number, want);
            }
            Step::Done => operation.stage = Stage::Done,
        }
    }

    /// The turn of a request's message has come, unless others of its processor have entered meanwhile that it has to wait
    /// for.
    fn turn_of(&mut self, number: u32, turn: Time) {
        let network = &self.setup.network;
        let Some(operation) = self.requests.operations.get_mut(&number) else { return };
        let Stage::Turn(outgoing, tag, is_data) = &mut operation.stage else { return };
        if self.node.puts_off(network, outgoing, turn) {
            return self.requests.turns.push(Reverse((outgoing.turn, outgoing.number, number)));
        }
        let (outgoing, tag, is_data) = (*outgoing, *tag, *is_data);
        if outgoing.is_seen {
            self.clock.act_at(turn);
        }
        let arrival = self.node.beside(&mut operation.beside, |node| node.enters(network, &outgoing));
        let parcel = if is_data { operation.parcel.take() } else { None }.unwrap_or_else(|| Parcel::new(()));
        self.post(outgoing.number, arrival, self.message(outgoing.to, tag, outgoing.words, parcel));
        let was_first = tag.is_first();
        self.goes_on(number);
        if was_first && let Some(queue) = self.requests.queues.get_mut(&outgoing.to) {
            queue.pop_front();
            self.goes_if_first(outgoing.to);
        }
    }

    /// Sends a message of the processor's own while requests are outstanding: after theirs to the same processor.
    #[cold]
    pub(super) fn transmit_among(&mut self, message: Envelope) -> u32 {
        let Letter { to, words, tag, .. } = message.letter;
        let (to, words) = (to as usize, words as usize);
        self.progress(self.now());
        while tag.is_first() && self.requests.queues.get(&to).is_some_and(|queue| !queue.is_empty()) {
            self.steps(Time::MAX);
        }
        let network = &self.setup.network;
        let Some(mut outgoing) = self.node.turns_to(network, to, words) else {
            self.fail_at_the_end_of_time()
        };
        self.node.puts_off(network, &mut outgoing, self.requests.at);
        loop {
            while self.steps_before(outgoing.turn, outgoing.number) {}
            if !self.node.puts_off(network, &mut outgoing, self.requests.at) {
                break;
            }
        }
        if outgoing.is_seen {
            self.clock.act_at(outgoing.turn);
        }
        let arrival = self.node.enters(network, &outgoing);
        self.node.has_sent(outgoing.number, tag);
        self.post(outgoing.number, arrival, message)
    }

    /// Receives while requests are outstanding: what they do not want.
    #[cold]
    pub(super) fn take_among(&mut self, want: Want, deadline: Time) -> Option<Envelope> {
        let network = &self.setup.network;
        self.progress(self.now());
        let mut waits = false;
        loop {
            if let Some(envelope) = self.requests.take_early(&want) {
                let reception = self.node.is_ready(network, want, deadline);
                if reception.start(envelope.arrival).is_none() {
                    self.requests.early.push_front(envelope);
                    self.progress(deadline);
                    return None;
                }
                self.node.takes(network, &reception, envelope.arrival, &envelope.letter);
                self.looks = 0;
                self.disengage();
                return Some(envelope);
            }
            if !waits && deadline == Time::MAX {
                self.setup.waits_among(self.id(), Doing::WaitingFor(WantedMessage(want)));
                waits = true;
            }
            if !self.steps(deadline) {
                return None;
            }
        }
    }

    /// Looks for a message while requests are outstanding, among those that they do not want.
    pub(super) fn look_among(&mut self, want: &Want) -> Option<usize> {
        self.progress(self.now());
        let seen = self.requests.early.iter().find(|envelope| want.matches(&envelope.letter));
        seen.map(|envelope| envelope.letter.from as usize)
    }

    /// Waits for a signal of the machine's barrier while requests are outstanding. Returns when it came.
    pub(super) fn signal_among(&mut self, want: &Want) -> Time {
        loop {
            if let Some(signal) = self.requests.take_early(want) {
                return signal.arrival;
            }
            self.steps(Time::MAX);
        }
    }

    /// The program has returned: what it has not waited for is a mistake, and what it has not received lies in its inbox.
    pub(super) fn ends_requests(&mut self) {
        self.progress(self.now());
        if let Some((_, first)) = self.requests.operations.first_key_value() {
            let (count, first) = (self.requests.operations.len(), first.call.to_string());
            self.fail(Cause::NotWaited { id: self.id(), count, first });
        }
        self.engaged = false;
        while let Some(envelope) = self.requests.early.pop_front() {
            self.clock.deliver(envelope);
        }
    }
}
