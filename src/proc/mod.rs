//! A processor, as its program sees it.

mod group;
mod requests;
mod setup;
mod work;

pub use group::Group;
pub(crate) use group::Groups;
pub use requests::Request;
pub(crate) use setup::Setup;
pub(crate) use work::Rates;
pub use work::{Work, measure};

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::Location;

use crate::clock::Clock;
use crate::error::{Cause, say_before_abort};
use crate::message::parcel::Parcel;
use crate::message::{Collective, Envelope, Letter, Payload, RawTag, Tag, Want};
use crate::params::Params;
use crate::rules::Stats;
use crate::rules::node::{Node, Purpose, Receiving, Reception, Sending, Step};
use crate::time::Time;
use crate::trace::{CallKind, CallTag, Log, SendRecv, Until};
use requests::Requests;
use work::Stopwatch;

/// A virtual processor. A program gets one and calls it to compute and to communicate.
///
/// Each call takes as long as the model says, in the processor's own local time, [`now`](Proc::now). A call
/// that cannot be right (a processor that is not there, a message of another type than was sent) ends the
/// whole run with an error.
// What every message touches comes first, and fills three cache lines: with many processors each line of them comes from
// main memory when its processor goes on.
#[repr(C, align(64))]
pub struct Proc<'a> {
    /// When it may act.
    clock: &'a mut dyn Clock,
    /// What everything costs.
    setup: &'a Setup,
    /// Times its code, if that is measured.
    stopwatch: Option<Box<Stopwatch>>,
    /// How often it has looked for messages in vain since it last sent or received one.
    looks: u32,
    /// Whether requests are outstanding, so that whatever lets time pass must let them go on.
    engaged: bool,
    /// Its own rules: what it does when, and where its time goes.
    node: Node,
    /// How many collectives of all processors it has begun.
    collectives: u32,
    /// In which group it acts, if not with all.
    acting: Option<Acting>,
    /// The groups in which it has acted: their numbers, and how many collectives of each it has begun.
    groups: HashMap<Group, (u32, u32)>,
    /// Its requests.
    requests: Box<Requests>,
}

/// A processor's place in the group in which it acts.
#[derive(Clone)]
pub(crate) struct Acting {
    /// The group.
    pub group: Group,
    /// The group's number in this run.
    pub number: u32,
    /// The processor's rank in it.
    pub rank: usize,
}

impl<'a> Proc<'a> {
    pub(crate) fn new(id: usize, clock: &'a mut dyn Clock, setup: &'a Setup) -> Proc<'a> {
        Proc {
            clock,
            setup,
            stopwatch: (setup.work == Work::Measured).then(|| Box::new(Stopwatch::start())),
            looks: 0,
            engaged: false,
            node: Node::new(id, &setup.network, setup.trace),
            collectives: 0,
            acting: None,
            groups: HashMap::new(),
            requests: Box::default(),
        }
    }

    /// The processor's number, from 0 to P - 1.
    #[inline]
    pub fn id(&self) -> usize {
        self.node.id()
    }

    /// The number of processors.
    #[inline]
    pub fn p(&self) -> usize {
        self.params().P
    }

    /// The machine's parameters.
    #[inline]
    pub fn params(&self) -> &'a Params {
        self.setup.network.params()
    }

    /// The processor's local time.
    #[inline]
    pub fn now(&self) -> Time {
        self.node.now()
    }

    /// From when on a send would not have to wait for the gap after the last one.
    pub fn next_send(&self) -> Time {
        self.node.next_send(&self.setup.network, 0)
    }

    /// Sends a value to a processor, and goes on when its first word enters the network.
    #[track_caller]
    pub fn send<T: Payload>(&mut self, to: usize, tag: Tag<T>, value: T) {
        self.count_code();
        let bytes = value.bytes();
        let words = self.words(to, bytes);
        self.send_words(to, tag, words, value);
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
        let first = if self.params().is_synchronous(words) { 0 } else { words };
        let want = Want::of(None, taking);
        while let Some(taken) = self.take_agreed(want, self.now().max(self.gap_over(first))) {
            let (from, message) = self.open(taken.letter, taking);
            self.has_called_receive(None, taking, Until::GapOver);
            self.restart_code();
            on(self, from, message);
            self.count_code();
        }
        self.node.waits_for_gap(&self.setup.network, first);
        self.send_words(to, tag, words, value);
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
    /// let machine = Machine::new(Params::new(4).L(6 * US).o(2 * US).g(4 * US).build()?);
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
        let want = Want::of(Some(from), tag);
        let sending = Sending::new(&self.setup.network, to, tag, words);
        let first = if self.params().is_synchronous(words) { 0 } else { words };
        let gap_over = self.gap_over(first);
        let mut theirs = None;
        if gap_over > self.now() {
            theirs = self.take(want, gap_over).map(|taken| self.greets(taken, want.name));
        }
        self.go_on_sending(sending, Parcel::new(value), |p| {
            if theirs.is_none() {
                theirs = p.take(want, Time::MAX).map(|taken| p.greets(taken, want.name));
            }
        });
        let taken = match theirs {
            Some((first, mut receiving)) => self.takes_rest(first, &mut receiving),
            None => self.take_agreed(want, Time::MAX),
        };
        let Some(taken) = taken else { self.fail_to_wait() };
        let (_, message) = self.open(taken.letter, tag);
        self.node.called(|parts| {
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
    /// let machine = Machine::new(Params::new(2).L(6 * US).o(2 * US).g(4 * US).build()?);
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
        self.node.waits_until(time);
        self.node.called(|_| Some(CallKind::WaitUntil(time)));
        self.turn();
        self.restart_code();
    }

    /// Computes. That costs `units` times the machine's rate for this kind of work, or what this computer takes for it
    /// if the machine measures work: see [`Work`].
    pub fn work<R>(&mut self, kind: &'static str, units: u64, compute: impl FnOnce() -> R) -> R {
        self.count_code();
        let Some(stopwatch) = &mut self.stopwatch else {
            let cost = self.setup.rates.cost(kind, units, self.params().cycle);
            self.node.works(kind, cost);
            if !self.engaged {
                self.clock.not_before(self.node.now());
            }
            return compute();
        };
        self.clock.computes_from(self.node.now());
        let (result, cost) = stopwatch.time(units, || {
            let result = compute();
            self.clock.has_computed();
            result
        });
        self.node.works(kind, cost);
        self.restart_code();
        result
    }

    /// Computes for so long, and computes nothing: what a recorded run had computed.
    pub(crate) fn computes_for(&mut self, kind: Cow<'static, str>, time: Time) {
        self.node.works(kind, time);
        self.clock.not_before(self.node.now());
    }

    /// Does what is no part of the program, such as getting memory: it takes no time, even if work is measured.
    /// It belongs before the first call. What comes later makes the host late on the wall clock, where nobody
    /// else can use the core meanwhile.
    ///
    /// ```
    /// use loggp::{MS, Machine, Params, Work};
    ///
    /// let machine = Machine::new(Params::new(2).build()?).work(Work::Measured);
    /// let run = machine.run(|p| {
    ///     let before = p.now();
    ///     p.prepare(|| std::thread::sleep(std::time::Duration::from_millis(5)));
    ///     p.now() - before
    /// })?;
    /// assert!(run.results.iter().all(|time| *time < MS));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prepare<R>(&mut self, prepare: impl FnOnce() -> R) -> R {
        self.count_code();
        let prepared = prepare();
        self.restart_code();
        prepared
    }

    /// Receives from a processor or any, and waits until there is a message.
    #[track_caller]
    fn receive_or_fail<T: Payload>(&mut self, from: Option<usize>, tag: Tag<T>) -> (usize, T) {
        match self.receive(from, tag, Time::MAX) {
            Some(message) => message,
            None => self.fail_to_wait(),
        }
    }

    /// Refuses to wait for a message while the program unwinds.
    #[track_caller]
    fn must_not_leave(&mut self) {
        if self.is_leaving() {
            self.fail_to_wait();
        }
    }

    #[cold]
    #[track_caller]
    fn fail_to_wait(&mut self) -> ! {
        self.misused("waited for a message while its program unwound, which it must not")
    }

    /// What some work will cost, if that is known before.
    pub(crate) fn charge(&self, kind: &str, units: u64) -> Time {
        match self.setup.work {
            Work::Charged => self.setup.rates.cost(kind, units, self.params().cycle),
            Work::Measured => Time::ZERO,
        }
    }

    /// Begins a collective: how many this processor had begun before, of all or of the group in which it acts. All call
    /// them in the same order, so the number tells which one a message belongs to.
    pub(crate) fn begin_collective(&mut self) -> u32 {
        let begun = match &self.acting {
            None => &mut self.collectives,
            Some(acting) => &mut self.groups.entry(acting.group.clone()).or_default().1,
        };
        let number = *begun;
        *begun = number.wrapping_add(1);
        number
    }

    /// The group in which it acts, if not with all.
    pub(crate) fn acting(&self) -> Option<&Acting> {
        self.acting.as_ref()
    }

    /// Acts in a group from now on. Returns how it acted before.
    #[track_caller]
    pub(crate) fn act_in(&mut self, group: &Group) -> Option<Acting> {
        let number = match self.groups.get(group) {
            Some((number, _)) => *number,
            None => self.join(group),
        };
        let Some(rank) = group.rank(self.id()) else {
            self.misused(format!("is not in {group}, and only members can act in it"))
        };
        self.acting.replace(Acting { group: group.clone(), number, rank })
    }

    /// Acts again as before it acted in a group.
    pub(crate) fn act_as_before(&mut self, before: Option<Acting>) {
        self.acting = before;
    }

    /// Looks at a group in which it has not acted, and gets the group's number.
    #[track_caller]
    fn join(&mut self, group: &Group) -> u32 {
        if let Some(last) = group.last() {
            self.check(last, 0);
        }
        if let Some(twice) = group.twice() {
            self.misused(format!("acts in {group}, in which processor {twice} is twice; give each once"));
        }
        let number = self.setup.groups.number(group);
        if number > RawTag::LAST_GROUP {
            let most = RawTag::LAST_GROUP;
            self.misused(format!("acts in a group more than a run can have; use at most {most} groups"));
        }
        self.groups.insert(group.clone(), (number, 0));
        number
    }

    /// Ends the run, because the processor gave what a call cannot take.
    #[track_caller]
    pub(crate) fn misused(&mut self, why: impl Into<String>) -> ! {
        self.fail(Cause::Misused { id: self.id(), why: why.into(), at: Location::caller() })
    }

    /// Waits in the machine's own barrier. Returns whether there is one.
    pub(crate) fn own_barrier(&mut self) -> bool {
        let cost = self.setup.barrier;
        if let Some(cost) = cost {
            self.hardware_barrier(cost);
        }
        cost.is_some()
    }

    /// The machine's own barrier. Its network is a binary tree, as the CM-5's control network is: signals run
    /// up the tree, and when the root has both, down again. They bypass the data network and its rules, take
    /// no time, and are no messages; so all know at once when the last processor has come.
    fn hardware_barrier(&mut self, cost: Time) {
        self.count_code();
        let number = self.begin_collective();
        let [up, down] = [0, 1].map(|step| RawTag::collective(Collective::HardwareBarrier, 0, number, step));
        let id = self.id();
        let children = (2 * id + 1..=2 * id + 2).take_while(|child| *child < self.params().P);
        let children: smallvec::SmallVec<[usize; 2]> = children.collect();
        self.turn();
        let mut all_came = self.now();
        for child in &children {
            all_came = self.await_signal(*child, up, all_came);
        }
        if id > 0 {
            let parent = (id - 1) / 2;
            self.signal(parent, up, all_came);
            all_came = self.await_signal(parent, down, all_came);
        }
        for child in &children {
            if cost == Time::ZERO {
                self.clock.act_at(all_came); // whom it lets go on may act in this very instant
            }
            self.signal(*child, down, all_came);
        }
        self.node.waits_in_barrier(all_came + cost);
        self.node.called(|_| Some(CallKind::Barrier));
        self.turn();
        self.restart_code();
    }

    /// Sends a signal of the machine's barrier, at a time that its node knows nothing of: the barrier is one wait,
    /// whatever signals it waits for.
    fn signal(&mut self, to: usize, tag: RawTag, at: Time) {
        let (from, to, number) = (self.id() as u32, to as u32, self.node.next_number());
        let letter = Letter { from, to, number, words: 0, tag, parcel: Parcel::new(()) };
        self.clock.deliver(Envelope { arrival: at, letter });
    }

    /// Waits for a signal of the machine's barrier, from some time on. Returns when it has come.
    fn await_signal(&mut self, from: usize, tag: RawTag, ready: Time) -> Time {
        let want = Want { from: Some(from as u32), tag, name: None };
        if self.engaged {
            return ready.max(self.signal_among(&want));
        }
        let purpose = Purpose::Take;
        let signal = self.clock.receive(&Reception { want, ready, deadline: Time::MAX, purpose });
        signal.map_or(ready, |signal| ready.max(signal.arrival))
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
        let message = match self.take_agreed(Want::of(from, tag), deadline.max(self.now())) {
            Some(taken) => Some(self.open(taken.letter, tag)),
            None => {
                self.node.looked_in_vain(&self.setup.network, deadline);
                self.looked_in_vain();
                None
            }
        };
        self.has_called_receive(from, tag, Until::deadline(deadline));
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
        let want = Want::of(from, tag);
        let look = Reception { want, ready: now, deadline: now, purpose: Purpose::Look };
        let seen = match () {
            _ if self.is_leaving() => None,
            _ if self.engaged => self.look_among(&want),
            _ => self.clock.receive(&look).map(|envelope| envelope.letter.from as usize),
        };
        self.node.waits_until(now + self.params().cycle);
        match seen {
            Some(_) => self.looks = 0,
            None => self.looked_in_vain(),
        }
        self.node.called(|_| Some(CallKind::Probe { from, tag: CallTag::of(tag), saw: seen }));
        self.restart_code();
        seen
    }

    /// Ends the run if the processor looks for messages again and again, and nobody is left who could send one.
    fn looked_in_vain(&mut self) {
        /// How often in a row a processor must look in vain before it is worth asking the clock.
        const OFTEN: u32 = 1 << 20;
        self.looks += 1;
        if self.looks >= OFTEN {
            self.looks = 0;
            if !self.is_leaving() && self.clock.looks_in_vain() {
                self.fail(Cause::Forsaken { id: self.id() });
            }
        }
    }

    /// Takes a wanted message; if what comes is a request, grants it and takes the message that follows.
    #[inline]
    fn take_agreed(&mut self, want: Want, deadline: Time) -> Option<Envelope> {
        if self.is_leaving() {
            return None;
        }
        let mut taken = self.take(want, deadline);
        if taken.as_ref().is_some_and(|first| first.letter.tag.is_request()) {
            self.takes_requested(&mut taken, want.name); // the protocol has nothing to say of nearly all others
        }
        taken
    }

    /// Grants the request that was taken, and takes the message that follows in its place.
    #[cold]
    fn takes_requested(&mut self, taken: &mut Option<Envelope>, name: Option<&'static str>) {
        if let Some(first) = taken.take() {
            let mut receiving = Receiving::new(&first.letter, name);
            *taken = self.takes_rest(first, &mut receiving);
        }
    }

    /// Grants what was received, if it is a request for a message that errors call so.
    fn greets(&mut self, taken: Envelope, name: Option<&'static str>) -> (Envelope, Receiving) {
        let mut receiving = Receiving::new(&taken.letter, name);
        if let Step::Send { tag, words, .. } = receiving.next() {
            self.transmit(self.message(taken.letter.from as usize, tag, words, Parcel::new(())));
        }
        (taken, receiving)
    }

    /// Finishes a receive that has taken a first message, and returns the one that it is about.
    #[cold]
    fn takes_rest(&mut self, mut taken: Envelope, receiving: &mut Receiving) -> Option<Envelope> {
        loop {
            match receiving.next() {
                Step::Send { tag, words, .. } => {
                    self.transmit(self.message(taken.letter.from as usize, tag, words, Parcel::new(())));
                }
                Step::Take(want) => taken = self.take(want, Time::MAX)?,
                Step::Done => return Some(taken),
            }
        }
    }

    /// When the gap is over before a send of k words.
    fn gap_over(&self, k: usize) -> Time {
        self.node.next_send(&self.setup.network, k)
    }

    /// Ends the run from inside one of the processor's calls. The stack is unwound, so drops run, and the panic hook
    /// stays silent: the run's error says it all.
    #[cold]
    pub(crate) fn fail(&mut self, cause: Cause) -> ! {
        say_before_abort(&cause);
        self.clock.fail(cause.clone());
        std::panic::resume_unwind(Box::new(cause))
    }

    /// Whether the program unwinds, since it has panicked or the run has failed. Then nothing waits any more: what is
    /// sent goes nowhere, and looks find nothing. A destructor may do either, and must not hold up the others.
    #[inline]
    pub(crate) fn is_leaving(&self) -> bool {
        std::thread::panicking()
    }

    /// Sends a message, once its receiver agrees if it is that long.
    #[inline]
    fn send_words<T: Payload>(&mut self, to: usize, tag: Tag<T>, words: usize, value: T) {
        if self.is_leaving() {
            return;
        }
        let message = self.message(to, tag.raw, words, Parcel::new(value));
        if self.params().is_synchronous(words) {
            self.send_agreed(tag, message);
        } else {
            self.transmit(message);
        }
    }

    /// Sends a message once its receiver agrees.
    #[cold]
    fn send_agreed<T: Payload>(&mut self, tag: Tag<T>, message: Envelope) {
        let Letter { to, words, parcel, .. } = message.letter;
        let sending = Sending::new(&self.setup.network, to as usize, tag, words as usize);
        self.go_on_sending(sending, parcel, |_| ());
    }

    /// Sends all messages of a send. What is to be done before it waits until its receiver agrees, `before_reply` does.
    fn go_on_sending(
        &mut self,
        mut sending: Sending,
        parcel: Parcel,
        mut before_reply: impl FnMut(&mut Proc<'a>),
    ) {
        let mut parcel = Some(parcel);
        loop {
            match sending.next() {
                Step::Send { tag, words, is_data } => {
                    let parcel = if is_data { parcel.take() } else { None };
                    let parcel = parcel.unwrap_or_else(|| Parcel::new(()));
                    let number = self.transmit(self.message(sending.to, tag, words, parcel));
                    sending.has_sent(number);
                }
                Step::Take(want) => {
                    before_reply(self);
                    self.setup.asks(self.id(), sending.words);
                    self.take(want, Time::MAX);
                }
                Step::Done => return,
            }
        }
    }

    /// The next message of the processor, which has still to enter the network and to arrive.
    #[inline]
    fn message(&self, to: usize, tag: RawTag, words: usize, parcel: Parcel) -> Envelope {
        let (from, number) = (self.id() as u32, self.node.next_number());
        let letter = Letter { from, to: to as u32, number, words: words as u32, tag, parcel };
        Envelope { arrival: Time::MAX, letter }
    }

    /// Sends a message through the network, once its turn has come. Returns its number.
    fn transmit(&mut self, mut message: Envelope) -> u32 {
        if self.engaged {
            return self.transmit_among(message);
        }
        let network = &self.setup.network;
        let Letter { to, words, tag, .. } = message.letter;
        let Some(outgoing) = self.node.turns_to(network, to as usize, words as usize) else {
            self.fail_at_the_end_of_time()
        };
        if outgoing.is_seen {
            self.clock.act_at(outgoing.turn);
        } else {
            self.clock.wait_until(outgoing.turn);
        }
        message.arrival = self.node.enters(network, &outgoing);
        self.node.has_sent(outgoing.number, tag);
        self.looks = 0;
        self.clock.deliver(message);
        outgoing.number
    }

    /// Puts a message that has entered on its way, which others may have overtaken. Returns its number.
    fn post(&mut self, number: u32, arrival: Time, mut message: Envelope) -> u32 {
        self.looks = 0;
        (message.letter.number, message.arrival) = (number, arrival);
        self.clock.deliver(message);
        number
    }

    /// Receives from the inbox, if a message comes by the deadline.
    fn take(&mut self, want: Want, deadline: Time) -> Option<Envelope> {
        if self.engaged {
            return self.take_among(want, deadline);
        }
        let network = &self.setup.network;
        let reception = self.node.is_ready(network, want, deadline);
        let taken = self.clock.receive(&reception);
        if let Some(Envelope { arrival, letter }) = &taken {
            self.looks = 0;
            self.node.takes(network, &reception, *arrival, letter);
        }
        taken
    }

    /// The value in a message that was received.
    #[track_caller]
    fn open<T: Payload>(&mut self, letter: Letter, tag: Tag<T>) -> (usize, T) {
        self.open_at(letter, tag, Location::caller())
    }

    /// The value in a message that was received for a call at this place.
    #[inline]
    fn open_at<T: Payload>(
        &mut self,
        letter: Letter,
        tag: Tag<T>,
        at: &'static Location<'static>,
    ) -> (usize, T) {
        let from = letter.from as usize;
        match letter.parcel.open() {
            Ok(value) => (from, value),
            Err(parcel) => self.fail_to_open(from, tag, &parcel, at),
        }
    }

    /// Ends the run, because a message carries something else than was asked for.
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
            about: tag.raw.told(tag.name).to_string(),
            sent: parcel.type_name(),
            at,
        })
    }

    /// Notes that a send is over, if that is traced.
    #[inline]
    fn has_called_send<T>(&mut self, to: usize, tag: Tag<T>, bytes: usize) {
        if self.node.has_notes() {
            self.notes_send(to, tag, bytes);
        }
    }

    /// Notes that a receive is over, if that is traced.
    #[inline]
    fn has_called_receive<T>(&mut self, from: Option<usize>, tag: Tag<T>, until: Until) {
        if self.node.has_notes() {
            self.notes_receive(from, tag, until);
        }
    }

    #[cold]
    fn notes_send<T>(&mut self, to: usize, tag: Tag<T>, bytes: usize) {
        self.node
            .called(|parts| Some(CallKind::Send { to, tag: CallTag::of(tag), bytes, sent: parts.sent()? }));
    }

    #[cold]
    fn notes_receive<T>(&mut self, from: Option<usize>, tag: Tag<T>, until: Until) {
        self.node
            .called(|parts| Some(CallKind::Receive { from, tag: CallTag::of(tag), until, got: parts.got() }));
    }

    /// The length of a message of so many bytes to `to`, if there can be one.
    #[inline]
    #[track_caller]
    fn words(&mut self, to: usize, bytes: usize) -> usize {
        let words = self.params().words(bytes);
        self.check(to, words);
        words
    }

    /// Refuses a processor that is not there and a message that cannot be.
    #[inline]
    #[track_caller]
    pub(crate) fn check(&mut self, other: usize, words: usize) {
        if other >= self.p() || words > self.setup.network.longest() {
            self.refuse(other, words);
        }
    }

    /// Ends the run, because a processor is not there or a message cannot be.
    #[cold]
    #[track_caller]
    fn refuse(&mut self, other: usize, words: usize) -> ! {
        let (id, last) = (self.id(), self.p() - 1);
        if other > last {
            self.fail(Cause::NoSuchProcessor { id, other, last, at: Location::caller() });
        }
        self.fail(Cause::TooLong { id, words, longest: self.setup.network.longest() })
    }

    /// Ends the run, because the processor has nothing to do before the end of time.
    #[cold]
    fn fail_at_the_end_of_time(&mut self) -> ! {
        self.fail(Cause::EndOfTime { id: self.id() })
    }

    /// Waits until the processor's local time has come.
    fn turn(&mut self) {
        if self.is_leaving() {
            return;
        }
        if self.now() == Time::MAX {
            self.fail_at_the_end_of_time();
        }
        self.progress(self.node.now());
        self.clock.wait_until(self.node.now());
    }

    /// Begins a call: the program's own code since the last one was work, where work is measured.
    #[inline]
    fn count_code(&mut self) {
        if self.stopwatch.is_some() {
            self.stop_counting();
        }
    }

    /// Ends a call: what follows is the program's own code.
    #[inline]
    fn restart_code(&mut self) {
        if self.stopwatch.is_some() {
            self.start_counting();
        }
    }

    /// The program's own code since the last call was work.
    #[cold]
    fn stop_counting(&mut self) {
        if let Some(stopwatch) = &mut self.stopwatch {
            let code = stopwatch.lap();
            self.clock.has_computed();
            self.node.works("code", code);
        }
    }

    /// What follows is the program's own code.
    #[cold]
    fn start_counting(&mut self) {
        if let Some(stopwatch) = &mut self.stopwatch {
            self.clock.computes_from(self.node.now());
            stopwatch.lap();
        }
    }

    /// The program has returned: the processor's local time is over, and so is its account.
    pub(crate) fn finish(mut self) -> (Stats, Option<Box<Log>>) {
        self.count_code();
        if self.engaged {
            self.ends_requests();
        }
        self.turn();
        self.clock.end(self.node.now(), true);
        self.node.finishes()
    }

    /// The program has panicked.
    pub(crate) fn abandon(&mut self) {
        self.clock.end(self.node.now(), false);
    }
}
