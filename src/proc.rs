//! A processor, as its program sees it.

use std::panic::Location;

use crate::clock::Clock;
use crate::error::{Cause, say_before_abort};
use crate::message::{Collective, Envelope, Letter, Payload, RawTag, Tag, Want};
use crate::network::{Exit, reception};
use crate::params::Params;
use crate::parcel::Parcel;
use crate::setup::Setup;
use crate::stats::Stats;
use crate::time::Time;
use crate::trace::{Activity, Log, Message, MessageId, What};
use crate::work::{Stopwatch, Work};

/// A virtual processor. A program gets one and calls it to compute and to communicate.
///
/// Each call takes as long as the model says, in the processor's own local time, [`now`](Proc::now). A call
/// that cannot be right (a processor that is not there, a message of another type than was sent) ends the
/// whole run with an error.
pub struct Proc<'a> {
    /// Its number.
    id: usize,
    /// Its local time.
    now: Time,
    /// When it began the last reception; the gap counts from there.
    received_at: Option<Time>,
    /// When it may act.
    clock: &'a mut dyn Clock,
    /// What everything costs.
    setup: &'a Setup,
    /// Its end of the network.
    exit: Exit,
    /// Where its time went.
    stats: Stats,
    /// How many collectives it has begun.
    collectives: u32,
    /// What it did, if that is traced.
    log: Option<Box<Log>>,
    /// Times its code, if that is measured.
    stopwatch: Option<Box<Stopwatch>>,
    /// How often it has looked for messages in vain since it last sent or received one.
    looks: u32,
}

/// What became of a letter that was received.
enum Greeted {
    /// It is the message itself.
    Come(Letter),
    /// It was the request for the message that this takes.
    Agreed(Want),
}

impl<'a> Proc<'a> {
    pub(crate) fn new(id: usize, clock: &'a mut dyn Clock, setup: &'a Setup) -> Proc<'a> {
        Proc {
            id,
            now: Time::ZERO,
            received_at: None,
            clock,
            setup,
            exit: setup.network.exit(id),
            stats: Stats::default(),
            collectives: 0,
            log: setup.trace.then(Box::default),
            stopwatch: (setup.work == Work::Measured).then(|| Box::new(Stopwatch::start())),
            looks: 0,
        }
    }

    /// The processor's number, from 0 to P - 1.
    pub fn id(&self) -> usize {
        self.id
    }

    /// The number of processors.
    pub fn p(&self) -> usize {
        self.params().P
    }

    /// The machine's parameters.
    pub fn params(&self) -> &'a Params {
        self.setup.network.params()
    }

    /// The processor's local time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// From when on a send would not have to wait for the gap after the last one.
    pub fn next_send(&self) -> Time {
        self.exit.gap_over() - self.params().o
    }

    /// Sends a value to a processor, and goes on when its first word enters the network.
    #[track_caller]
    pub fn send<T: Payload>(&mut self, to: usize, tag: Tag<T>, value: T) {
        self.count_code();
        let words = self.words(to, &value);
        self.send_words(to, tag, words, value);
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
        let words = self.words(to, &value);
        let first = if self.params().is_synchronous(words) { 0 } else { words };
        let overhead = self.params().send_overhead(first);
        let want = Want::of(None, taking);
        while let Some(letter) = self.take_agreed(want, self.now.max(self.exit.gap_over() - overhead)) {
            let (from, message) = self.open(letter, taking);
            self.restart_code();
            on(self, from, message);
            self.count_code();
        }
        let gap = self.exit.gap_over() - overhead - self.now;
        self.spend(|stats| &mut stats.gap, gap, || What::Gap);
        self.send_words(to, tag, words, value);
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
        let words = self.words(to, &value);
        self.check(from, 0);
        self.must_not_leave();
        let want = Want::of(Some(from), tag);
        let is_synchronous = self.params().is_synchronous(words);
        let overhead = self.params().send_overhead(if is_synchronous { 0 } else { words });
        let gap_over = self.exit.gap_over() - overhead;
        let mut theirs = None;
        if gap_over > self.now
            && let Some(letter) = self.take(want, gap_over)
        {
            theirs = Some(self.greet(letter, want.name));
        }
        if is_synchronous {
            let number = self.announce(to, tag.raw);
            if theirs.is_none()
                && let Some(letter) = self.take(want, Time::MAX)
            {
                theirs = Some(self.greet(letter, want.name));
            }
            self.send_agreed(to, number, tag.name, words, Parcel::new(value));
        } else {
            self.transmit(to, tag.raw, words, Parcel::new(value));
        }
        let letter = match theirs {
            Some(Greeted::Come(letter)) => Some(letter),
            Some(Greeted::Agreed(want)) => self.take(want, Time::MAX),
            None => self.take_agreed(want, Time::MAX),
        };
        let Some(letter) = letter else { self.fail_to_wait() };
        let (_, message) = self.open(letter, tag);
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
        self.spend(|stats| &mut stats.idle, time - self.now, || What::Idle);
        self.turn();
        self.restart_code();
    }

    /// Computes. That costs `units` times the machine's rate for this kind of work, or what this computer takes for it
    /// if the machine measures work: see [`Work`].
    pub fn work<R>(&mut self, kind: &'static str, units: u64, compute: impl FnOnce() -> R) -> R {
        self.count_code();
        let account: fn(&mut Stats) -> &mut Time = |stats| &mut stats.work;
        let Some(stopwatch) = &mut self.stopwatch else {
            let cost = self.setup.rates.cost(kind, units, self.params().cycle);
            self.spend(account, cost, || What::Work(kind.into()));
            self.clock.not_before(self.now);
            return compute();
        };
        self.clock.computes_from(self.now);
        let (result, cost) = stopwatch.time(units, || {
            let result = compute();
            self.clock.has_computed();
            result
        });
        self.spend(account, cost, || What::Work(kind.into()));
        self.restart_code();
        result
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
        let why = "waited for a message while its program unwound, which it must not".into();
        self.fail(Cause::Misused { id: self.id, why, at: Location::caller() })
    }

    /// What some work will cost, if that is known before.
    pub(crate) fn charge(&self, kind: &str, units: u64) -> Time {
        match self.setup.work {
            Work::Charged => self.setup.rates.cost(kind, units, self.params().cycle),
            Work::Measured => Time::ZERO,
        }
    }

    /// Begins a collective: how many this processor had begun before. All call them in the same order, so the
    /// number tells which one a message belongs to.
    pub(crate) fn begin_collective(&mut self) -> u32 {
        let number = self.collectives;
        self.collectives = number.wrapping_add(1);
        number
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
        let [up, down] = [0, 1].map(|step| RawTag::collective(Collective::HardwareBarrier, number, step));
        let children = (2 * self.id + 1..=2 * self.id + 2).take_while(|child| *child < self.params().P);
        let children: smallvec::SmallVec<[usize; 2]> = children.collect();
        self.turn();
        let came = self.now;
        for child in &children {
            self.await_signal(*child, up);
        }
        if self.id > 0 {
            let parent = (self.id - 1) / 2;
            self.signal(parent, up);
            self.await_signal(parent, down);
        }
        for child in &children {
            self.signal(*child, down);
        }
        // It is one wait, whatever signals it waited for.
        let over = self.now + cost;
        self.now = came;
        self.pass(|stats| &mut stats.idle, over - came, || What::Barrier);
        self.turn();
        self.restart_code();
    }

    /// Sends a signal of the machine's barrier.
    fn signal(&mut self, to: usize, tag: RawTag) {
        let (from, to, number) = (self.id as u32, to as u32, self.stats.sent as u32);
        let letter = Letter { from, to, number, words: 0, tag, parcel: Parcel::new(()) };
        self.clock.deliver(Envelope { arrival: self.now, letter });
    }

    /// Waits for a signal of the machine's barrier; the barrier accounts for it.
    fn await_signal(&mut self, from: usize, tag: RawTag) {
        let want = Want { from: Some(from as u32), tag, name: None };
        let signal = self.clock.receive(want, self.now, Time::MAX);
        self.now = signal.map_or(self.now, |signal| self.now.max(signal.arrival));
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
        let message = match self.take_agreed(Want::of(from, tag), deadline.max(self.now)) {
            Some(letter) => Some(self.open(letter, tag)),
            None => {
                let wait = deadline - self.now;
                let wait = if wait > Time::ZERO { wait } else { self.params().cycle };
                self.spend(|stats| &mut stats.idle, wait, || What::Idle);
                self.looked_in_vain();
                None
            }
        };
        self.restart_code();
        message
    }

    /// Ends the run if the processor looks for messages again and again, and nobody is left who could send one.
    fn looked_in_vain(&mut self) {
        /// So often in a row that one may ask.
        const OFTEN: u32 = 1 << 20;
        self.looks += 1;
        if self.looks >= OFTEN {
            self.looks = 0;
            if !self.is_leaving() && self.clock.looks_in_vain() {
                self.fail(Cause::Forsaken { id: self.id });
            }
        }
    }

    /// Takes a wanted message; if what comes is a request, grants it and takes the message that follows.
    fn take_agreed(&mut self, want: Want, deadline: Time) -> Option<Letter> {
        if self.is_leaving() {
            return None;
        }
        let letter = self.take(want, deadline)?;
        match self.greet(letter, want.name) {
            Greeted::Come(letter) => Some(letter),
            Greeted::Agreed(want) => self.take(want, Time::MAX),
        }
    }

    /// Grants what was received, if it is a request for a message that errors call so.
    #[inline]
    fn greet(&mut self, letter: Letter, name: Option<&'static str>) -> Greeted {
        if !letter.tag.is_request() {
            return Greeted::Come(letter);
        }
        let Letter { from, number, .. } = letter;
        self.transmit(from as usize, RawTag::reply(number), 0, Parcel::new(()));
        Greeted::Agreed(Want { from: Some(from), tag: RawTag::agreed(number), name })
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
    pub(crate) fn is_leaving(&self) -> bool {
        std::thread::panicking()
    }

    /// Sends a message, once its receiver agrees if it is that long.
    #[inline]
    fn send_words<T: Payload>(&mut self, to: usize, tag: Tag<T>, words: usize, value: T) {
        if self.is_leaving() {
            return;
        }
        let parcel = Parcel::new(value);
        if !self.params().is_synchronous(words) {
            return self.transmit(to, tag.raw, words, parcel);
        }
        let number = self.announce(to, tag.raw);
        self.send_agreed(to, number, tag.name, words, parcel);
    }

    /// Asks whether a long message may come. Returns the number of the request.
    fn announce(&mut self, to: usize, tag: RawTag) -> u32 {
        let number = self.stats.sent as u32;
        self.transmit(to, tag.request(), 0, Parcel::new(number));
        number
    }

    /// Sends a long message, which errors call so, when the request for it is granted.
    fn send_agreed(
        &mut self,
        to: usize,
        number: u32,
        name: Option<&'static str>,
        words: usize,
        parcel: Parcel,
    ) {
        self.take(Want { from: Some(to as u32), tag: RawTag::reply(number), name }, Time::MAX);
        self.transmit(to, RawTag::agreed(number), words, parcel);
    }

    /// Sends through the network, by rules 1 to 3. The network is asked when the message is ready, and not now.
    fn transmit(&mut self, to: usize, tag: RawTag, words: usize, parcel: Parcel) {
        let network = &self.setup.network;
        let request = network.request(&mut self.exit, words, self.now);
        if request.ask == Time::MAX {
            self.fail(Cause::EndOfTime { id: self.id });
        }
        if self.setup.has_chains || network.is_shared(&request) {
            self.clock.act_at(network.turn(&request));
        } else {
            self.clock.wait_until(network.turn(&request));
        }
        let passage = network.serve(self.id, &mut self.exit, to, request);
        self.stats.out_of_order += u64::from(passage.out_of_order);
        let number = self.stats.sent as u32;
        let id = MessageId { from: self.id, number: number as usize };
        let overhead = self.params().send_overhead(words);
        self.stats.sent += 1;
        self.looks = 0;
        self.spend(|stats| &mut stats.gap, passage.ready - overhead - self.now, || What::Gap);
        self.pass(|stats| &mut stats.send, overhead, || What::Send(id));
        let stall = passage.admitted - passage.ready;
        if stall > Time::ZERO {
            self.stats.stalls += 1;
            self.stats.longest_stall = self.stats.longest_stall.max(stall);
            self.spend(|stats| &mut stats.stall, stall, || What::Stall);
        }
        self.spend(|stats| &mut stats.port, passage.enter - passage.admitted, || What::Port);
        if let Some(log) = &mut self.log {
            let (enter, first, arrival) = (passage.enter, passage.first, passage.arrival);
            log.messages.push(Message { id, to, words, enter, first, arrival });
        }
        let (from, to, words) = (self.id as u32, to as u32, words as u32);
        let letter = Letter { from, to, number, words, tag, parcel };
        self.clock.deliver(Envelope { arrival: passage.arrival, letter });
    }

    /// Receives from the inbox, by rule 4.
    fn take(&mut self, want: Want, deadline: Time) -> Option<Letter> {
        let gap_over = self.received_at.map_or(Time::ZERO, |at| at + self.params().g);
        let ready = self.now.max(gap_over);
        let Envelope { arrival, letter } = self.clock.receive(want, ready, deadline)?;
        let start = reception(ready, arrival);
        self.received_at = Some(start);
        self.looks = 0;
        self.stats.received += 1;
        self.spend(|stats| &mut stats.idle, arrival - self.now, || What::Idle);
        self.spend(|stats| &mut stats.gap, start - self.now, || What::Gap);
        let id = MessageId { from: letter.from as usize, number: letter.number as usize };
        let costs = self.setup.network.receiving();
        self.pass(|stats| &mut stats.recv, costs.of(letter.words as usize), || What::Receive(id));
        Some(letter)
    }

    /// The value in a message that was received.
    #[track_caller]
    fn open<T: Payload>(&mut self, letter: Letter, tag: Tag<T>) -> (usize, T) {
        let from = letter.from as usize;
        match letter.parcel.open() {
            Ok(value) => (from, value),
            Err(parcel) => self.fail(Cause::WrongType {
                id: self.id,
                from,
                asked: std::any::type_name::<T>(),
                about: tag.raw.told(tag.name).to_string(),
                sent: parcel.type_name(),
                at: Location::caller(),
            }),
        }
    }

    /// The length of a message to `to`, if there can be one.
    #[track_caller]
    fn words<T: Payload>(&mut self, to: usize, value: &T) -> usize {
        let words = self.params().words(value.bytes());
        self.check(to, words);
        words
    }

    /// Refuses a processor that is not there and a message that cannot be.
    #[track_caller]
    pub(crate) fn check(&mut self, other: usize, words: usize) {
        let (id, last) = (self.id, self.p() - 1);
        if other > last {
            self.fail(Cause::NoSuchProcessor { id, other, last, at: Location::caller() });
        }
        let longest = self.params().longest().unwrap_or(usize::MAX).min(u32::MAX as usize);
        if words > longest {
            self.fail(Cause::TooLong { id, words, longest });
        }
    }

    /// Waits until the processor's local time has come.
    fn turn(&mut self) {
        if self.is_leaving() {
            return;
        }
        if self.now == Time::MAX {
            self.fail(Cause::EndOfTime { id: self.id });
        }
        self.clock.wait_until(self.now);
    }

    /// Waits or works, on one account. Nothing to do is nothing done.
    #[inline]
    fn spend(&mut self, account: fn(&mut Stats) -> &mut Time, time: Time, what: impl FnOnce() -> What) {
        if time > Time::ZERO {
            self.pass(account, time, what);
        }
    }

    /// Lets local time pass, on one account. A send, a reception or a barrier is one even if it costs nothing.
    #[inline]
    fn pass(&mut self, account: fn(&mut Stats) -> &mut Time, time: Time, what: impl FnOnce() -> What) {
        *account(&mut self.stats) += time;
        let start = self.now;
        self.now += time;
        if let Some(log) = &mut self.log {
            log.activities.push(Activity { id: self.id, start, end: self.now, what: what() });
        }
    }

    /// Begins a call: the program's own code since the last one was work, where work is measured.
    fn count_code(&mut self) {
        if let Some(stopwatch) = &mut self.stopwatch {
            let code = stopwatch.lap();
            self.clock.has_computed();
            self.spend(|stats| &mut stats.work, code, || What::Work("code".into()));
        }
    }

    /// Ends a call: what follows is the program's own code.
    fn restart_code(&mut self) {
        if let Some(stopwatch) = &mut self.stopwatch {
            self.clock.computes_from(self.now);
            stopwatch.lap();
        }
    }

    /// The program has returned: the processor's local time is over, and so is its account.
    pub(crate) fn finish(mut self) -> (Stats, Log) {
        self.count_code();
        self.turn();
        self.clock.end(self.now, true);
        self.stats.finish = self.now;
        self.stats.most_from = self.exit.most_in_transit();
        (self.stats, self.log.map(|log| *log).unwrap_or_default())
    }

    /// The program has panicked.
    pub(crate) fn abandon(&mut self) {
        self.clock.end(self.now, false);
    }
}
