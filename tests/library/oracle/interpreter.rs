//! The oracle: an interpreter of programs without a clock, by brute force.
//!
//! It processes one event after the other: of all processors the one whose next event is the earliest, and of
//! those at the same time the one that ties put first. A processor consists of **tasks**, each with its own
//! local time: task 0 makes the calls of the program, and every request is another task.

use std::collections::{HashMap, VecDeque};

use loggp::trace::Trace;
use loggp::{Latency, PS, Protocol, Stats, Ties, Time};

use super::network::{
    ANSWERS, MessageKind, Network, PromisedMessage, SentBy, Way, WayRequest, has_negative_G_l,
};
use super::outcome::Outcome;
use crate::drawn::program::Op::*;
use crate::drawn::program::{Case, Message, MessageLedger, Note, Op, Pattern, RequestKind};

/// The values that the machine drew, which the oracle cannot know.
#[derive(Default)]
pub(crate) struct DrawnValues {
    /// The latency of each message, and its sender's place at its turn.
    messages: HashMap<(usize, u64), (i64, usize)>,
}

impl DrawnValues {
    pub(crate) fn of(trace: &Trace) -> DrawnValues {
        let messages = trace.messages.iter();
        let drawn = messages.map(|m| ((m.id.from, m.id.number as u64), (m.latency.as_ps(), m.place)));
        DrawnValues { messages: drawn.collect() }
    }
}

/// The messages that a reception takes.
#[derive(Clone, Copy, Debug)]
enum OracleFilter {
    Any(Pattern),
    Reply((usize, u64)),
    Data((usize, u64)),
    Answer((usize, u64)),
}

impl OracleFilter {
    fn can_take(self, message: &PromisedMessage) -> bool {
        match (self, message.kind) {
            (OracleFilter::Any(pattern), MessageKind::Plain(tag) | MessageKind::Request(tag, _)) => {
                pattern.can_take(message.from, tag)
            }
            (OracleFilter::Reply(number), MessageKind::Reply(n))
            | (OracleFilter::Data(number), MessageKind::Data(_, n))
            | (OracleFilter::Answer(number), MessageKind::Answer(n)) => number == n,
            _ => false,
        }
    }
}

/// A step of a task. The program's calls have steps that no request has.
#[derive(Clone, Debug)]
enum Step {
    /// Sends a message.
    Transmit {
        to: usize,
        kind: MessageKind,
        words: usize,
    },
    /// Reads a message from its sender's memory, which a request of this number has announced.
    Pull {
        tag: usize,
        request: (usize, u64),
        words: usize,
    },
    /// The rest of a send whose request has entered: waits for the reply, and sends the message.
    AfterRequest {
        to: usize,
        tag: usize,
        words: usize,
    },
    /// Receives a message, or gives up at a moment. If it is only greeted, an announced message is granted,
    /// and received later.
    Take {
        want: OracleFilter,
        by: Option<i64>,
        greets: bool,
    },
    /// Ends a look: one that found nothing and did not wait costs a cycle. Then the program continues with a
    /// call.
    Looked {
        by: i64,
        miss: Option<Op>,
    },
    /// `send_receiving`: receives until the gap before the send is over. It has received until some moment so
    /// far.
    ReceiveInGap {
        op: Op,
        until: Option<i64>,
    },
    /// `send_receiving`: receives while the message of a task stalls.
    ReceiveInStall {
        want: OracleFilter,
        task: usize,
    },
    /// `send_recv`: greets the expected message while the gap runs. It has waited for it until some moment so
    /// far.
    GreetInGap {
        want: OracleFilter,
        overhead: i64,
        until: Option<i64>,
    },
    /// `send_recv`: greets the message now, or receives it, if that is still to be done.
    Greet {
        want: OracleFilter,
    },
    TakeRest {
        want: OracleFilter,
    },
    /// Looks for a message, at most this many times.
    See {
        pattern: Pattern,
        looks: usize,
    },
    /// Waits for the first of these tasks to be done.
    Join(Vec<usize>),
    /// Tests whether a task is done, at most this many times.
    LookAt {
        task: usize,
        looks: usize,
    },
    ComeToBarrier,
    WaitAtBarrier,
    /// Records the end of a call.
    Tell,
    /// This many of the last notes are of a call that ends now.
    ToldNow(usize),
}

use Step::*;

/// The progress of `send_recv` with the expected message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GreetState {
    NotYet,
    Announced((usize, u64)),
    Come,
}

/// Picks an account of time.
type AccountPart = fn(&mut Stats) -> &mut Time;

const WORK: AccountPart = |stats| &mut stats.work;
const SEND: AccountPart = |stats| &mut stats.send;
const RECV: AccountPart = |stats| &mut stats.recv;
const GAP: AccountPart = |stats| &mut stats.gap;
const STALL: AccountPart = |stats| &mut stats.stall;
const PORT: AccountPart = |stats| &mut stats.port;
const IDLE: AccountPart = |stats| &mut stats.idle;

/// A processor's calls, or one of its requests.
#[derive(Debug)]
struct Task {
    now: i64,
    steps: VecDeque<Step>,
    /// The message that it is about to send: its number, its latency, and the moment it is ready.
    turned: Option<(u64, i64, i64)>,
    /// True while it waits, for a message or for others to enter first.
    waits: bool,
    /// The receiver, while this is an `isend` whose first message has not entered.
    is_first_to: Option<usize>,
    /// The sender and number of its last LogGPS request.
    request: (usize, u64),
    /// The pattern of a request, and its result.
    how: RequestKind,
    pattern: Pattern,
    got: Option<Message>,
    /// The account of a request, from its call on.
    pieces: Vec<(i64, i64, AccountPart)>,
}

impl Task {
    fn new(now: i64, how: RequestKind, pattern: Pattern) -> Task {
        Task {
            now,
            steps: VecDeque::new(),
            turned: None,
            waits: false,
            is_first_to: None,
            request: (0, 0),
            how,
            pattern,
            got: None,
            pieces: vec![],
        }
    }
}

struct Processor {
    tasks: Vec<Task>,
    /// The requests that have not been waited for.
    outstanding: Vec<usize>,
    /// End of the gap after the last send.
    out_free: i64,
    /// End of the gap after the last reception.
    in_free: i64,
    /// Number of messages whose sends have been prepared.
    turns: u64,
    /// True if its messages keep their order.
    in_order: bool,
    calls: VecDeque<Op>,
    came: MessageLedger,
    greeted: GreetState,
    /// The messages under way to it, and those that have arrived and were not taken.
    coming: Vec<PromisedMessage>,
    unclaimed: Vec<PromisedMessage>,
    /// By memory, the time at which the processor knows that all is there that it has put there.
    known: Vec<i64>,
    account: Stats,
    notes: Vec<Note>,
    finished: bool,
    /// The receptions that free room: their starts, and the senders.
    leaving: Vec<(i64, usize)>,
    /// The task whose message waits for room.
    stalled: Option<usize>,
    /// The key of the signal that admits it.
    admitted: Option<(i64, usize, u64)>,
    /// The tag of the messages that the program receives while its next one stalls.
    receives_in_stall: Option<usize>,
}

/// The next event of a processor. Events at the same time are processed in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A message arrives, given by its key, or one of its own is admitted to the network: that of a task.
    Arrival((i64, usize, u64), Option<usize>),
    /// A message of this sender leaves the network, where it is in transit until it is received.
    Leaving(usize),
    /// The turn of a message, given by its number, whether the program itself waits for it, and its task. Numbers are their
    /// senders', so that two messages that are read can have the same: then requests go before the program.
    Turn(u64, bool, usize),
    /// The program continues.
    GoOn,
}

pub(crate) struct Oracle {
    /// True if receivers read long messages from their senders' memories.
    pulls: bool,
    network: Network,
    latency: Latency,
    ties: Ties,
    drawn: DrawnValues,
    barrier: i64,
    processors: Vec<Processor>,
    /// The senders of the messages that wait for room, in the order in which they asked, and the receivers.
    waiting: Vec<(usize, usize)>,
}

impl Oracle {
    pub(crate) fn new(case: &Case, drawn: DrawnValues) -> Oracle {
        let nothing = Pattern { from: None, tag: None };
        let processor = |id: usize| Processor {
            tasks: vec![Task::new(0, RequestKind::Isend, nothing)],
            outstanding: vec![],
            out_free: 0,
            in_free: i64::MIN,
            turns: 0,
            in_order: case.params.gps().is_some(),
            calls: case.calls(id).into(),
            came: MessageLedger::new(case, id),
            greeted: GreetState::NotYet,
            coming: vec![],
            unclaimed: vec![],
            known: vec![0; case.program.len()],
            account: Stats::default(),
            notes: vec![],
            finished: false,
            leaving: vec![],
            stalled: None,
            admitted: None,
            receives_in_stall: None,
        };
        Oracle {
            pulls: case.rendezvous == Protocol::Pull,
            network: Network::new(
                case.params,
                case.levels.clone(),
                case.ports,
                case.capacity,
                case.noise.clone(),
            ),
            waiting: vec![],
            latency: case.latency,
            ties: case.ties,
            drawn,
            barrier: case.barrier.unwrap_or_default(),
            processors: (0..case.program.len()).map(processor).collect(),
        }
    }

    pub(crate) fn run(mut self) -> Outcome {
        let all = 0..self.processors.len();
        loop {
            let next = all.clone().filter_map(|x| {
                let (t, event) = self.next(x)?;
                Some((t, self.place(x, t, event), x, event))
            });
            let Some((t, _, x, event)) = next.min() else { break };
            self.act(x, t, event);
        }
        if !self.processors.iter().all(|p| p.finished) {
            let end = |p: &Processor| p.finished.then_some(p.tasks[0].now);
            return Outcome::Deadlock(self.processors.iter().map(end).collect());
        }
        for x in all {
            let most = self.network.max_in_transit(x);
            let account = &mut self.processors[x].account;
            (account.most_from, account.most_to) = most;
        }
        Outcome::Finished(self.processors.into_iter().map(|p| (p.account, p.notes)).collect())
    }

    // The order of events.

    /// Returns a processor's place among those that act at the same time. Where places are drawn, those of
    /// sends are known, and nothing else depends on them.
    fn place(&self, x: usize, t: i64, event: Event) -> usize {
        let P = self.processors.len();
        match (self.ties, event) {
            (Ties::Rotation, _) => {
                let params = &self.network.params;
                let turn = if params.g.as_ps() > 0 { params.g } else { params.cycle };
                (x + P - (t / turn.as_ps()) as usize % P) % P
            }
            (Ties::Random { .. }, Event::Turn(number, _, k)) => {
                let from = self.sender(x, k);
                1 + self.drawn.messages.get(&(from, number)).map_or(x, |(_, place)| *place)
            }
            (Ties::Random { .. }, _) => 0,
            _ => x,
        }
    }

    /// Returns the next event of a processor and its time.
    fn next(&self, x: usize) -> Option<(i64, Event)> {
        let p = &self.processors[x];
        let arrivals = p.coming.iter().map(|message| (message.arrival, Event::Arrival(message.key(), None)));
        let admitted = p.admitted.map(|key| (key.0, Event::Arrival(key, p.stalled)));
        let leaving = p.leaving.iter().map(|(start, from)| (*start, Event::Leaving(*from)));
        let turn = |k: usize| {
            let (number, latency, ready) = p.tasks[k].turned?;
            Some((self.turn(x, k, latency, ready), Event::Turn(number, k == 0, k)))
        };
        // A processor that stalls sends nothing else (LogP 3).
        let turns = (0..p.tasks.len()).filter_map(turn).filter(|_| p.stalled.is_none());
        arrivals
            .chain(admitted)
            .chain(leaving)
            .chain(turns)
            .chain(self.next_call_time(x).map(|t| (t, Event::GoOn)))
            .min()
    }

    /// Returns the sender of the message that a task sends or reads next.
    fn sender(&self, x: usize, k: usize) -> usize {
        match self.processors[x].tasks[k].steps.front() {
            Some(Pull { request, .. }) => request.0,
            _ => x,
        }
    }

    /// Returns the time of the turn of a task's message.
    fn turn(&self, x: usize, k: usize, latency: i64, ready: i64) -> i64 {
        let asks = match self.processors[x].tasks[k].steps.front() {
            Some(Transmit { to, words, .. }) => self.network.ask((x, *to), *words, latency, ready),
            _ => ready,
        };
        asks - self.network.head_start()
    }

    /// Returns the steps after the request for a message.
    fn after_request(&self, number: (usize, u64), to: usize, tag: usize, words: usize) -> Vec<Step> {
        let reply = Take { want: OracleFilter::Reply(number), by: None, greets: false };
        let data = Transmit { to, kind: MessageKind::Data(tag, number), words };
        if self.pulls { vec![reply] } else { vec![reply, data] }
    }

    /// Returns the time at which the program continues, if it can.
    fn next_call_time(&self, x: usize) -> Option<i64> {
        let p = &self.processors[x];
        let own = &p.tasks[0];
        match own.steps.front() {
            _ if p.finished => None,
            Some(Transmit { .. } | Pull { .. } | WaitAtBarrier) if own.waits => None,
            Some(Take { want, by, .. }) if p.outstanding.is_empty() => match self.reception(x, *want, *by) {
                Some((message, start)) => {
                    let overhead = self.network.recv_overhead((message.from, x), message.words);
                    // Where a reception frees room, it is decided on at its start.
                    let overhead = if self.network.until_received { 0 } else { overhead };
                    Some(self.network.busy_until(x, start, overhead))
                }
                None => *by,
            },
            Some(Take { by, .. }) if own.waits => *by,
            Some(Join(tasks)) => Some(own.now.max(self.first_done(x, tasks)?.0)),
            _ => Some(own.now),
        }
    }

    /// Returns the task that is done first, and the time.
    fn first_done(&self, x: usize, tasks: &[usize]) -> Option<(i64, usize)> {
        let tasks = tasks.iter().enumerate().map(|(place, k)| (place, *k, &self.processors[x].tasks[*k]));
        let done = tasks.filter(|(.., task)| task.steps.is_empty());
        done.map(|(place, k, task)| (task.now, place, k)).min().map(|(end, _, k)| (end, k))
    }

    /// Returns whether a message took no time from its request to its arrival, at a level where messages take
    /// none. (A negative G_l only means that a message's way lies within its overhead.)
    fn is_instant(&self, message: &PromisedMessage) -> bool {
        let takes_back = has_negative_G_l(self.network.between(message.from, message.to));
        let timely = self.latency == Latency::Exact && !takes_back;
        timely && message.arrival == message.ask
    }

    /// Returns the time at which a task can start to receive a message: a gap after the last reception (LogP
    /// 3).
    fn start(&self, x: usize, k: usize, message: &PromisedMessage) -> i64 {
        let p = &self.processors[x];
        p.tasks[k].now.max(message.arrival).max(p.in_free)
    }

    /// Returns whether a look that ends at a moment can see a message: not if that took no time and arrives
    /// at this moment.
    fn is_seen(&self, x: usize, message: &PromisedMessage, by: Option<i64>) -> bool {
        !(by == Some(message.arrival) && message.from != x && self.is_instant(message))
    }

    /// Returns the message that a program without requests takes, the first to arrive, and the start of the
    /// reception.
    fn reception(&self, x: usize, want: OracleFilter, by: Option<i64>) -> Option<(&PromisedMessage, i64)> {
        let p = &self.processors[x];
        let messages = p.unclaimed.iter().chain(&p.coming);
        let wanted = messages.filter(|m| want.can_take(m) && self.is_seen(x, m, by));
        let message = wanted.min_by_key(|m| m.key())?;
        let start = self.start(x, 0, message);
        by.is_none_or(|by| start <= by).then_some((message, start))
    }

    // The effects of events.

    fn act(&mut self, x: usize, t: i64, event: Event) {
        match event {
            Event::Arrival(_, Some(k)) => {
                (self.processors[x].stalled, self.processors[x].admitted) = (None, None);
                self.enter_at(x, k, t);
            }
            Event::Arrival(key, None) => self.on_arrival(x, key),
            Event::Leaving(from) => self.leave(x, from, t),
            Event::Turn(.., k) => self.enter(x, k, t),
            Event::GoOn => self.advance(x, t),
        }
        self.turn_all(x, t);
    }

    /// Gives a message to the first posted receive that matches it, or leaves it unclaimed.
    fn on_arrival(&mut self, x: usize, key: (i64, usize, u64)) {
        let coming = &mut self.processors[x].coming;
        let message = coming.remove(coming.iter().position(|m| m.key() == key).unwrap());
        let p = &self.processors[x];
        let wanted = |k: &usize| match p.tasks[*k].steps.front() {
            Some(Take { want, by, .. }) => {
                let in_time = by.is_none_or(|by| self.start(x, *k, &message) <= by);
                let is_posted = *k > 0 || (p.tasks[0].waits && !p.outstanding.is_empty());
                is_posted && want.can_take(&message) && in_time && self.is_seen(x, &message, *by)
            }
            _ => false,
        };
        // The program's own receive was posted after all requests.
        match (1..p.tasks.len()).chain([0]).find(wanted) {
            Some(k) => {
                self.receive(x, k, message);
                self.take_unclaimed(x, k);
            }
            None => self.processors[x].unclaimed.push(message),
        }
    }

    /// Gives a waiting request an unclaimed message.
    fn take_unclaimed(&mut self, x: usize, k: usize) {
        while k > 0
            && let Some(Take { want, .. }) = self.processors[x].tasks[k].steps.front()
        {
            let want = *want;
            let Some(message) = self.first_unclaimed(x, want, None) else { return };
            self.processors[x].unclaimed.retain(|m| m.key() != message.key());
            self.receive(x, k, message);
        }
    }

    fn first_unclaimed(&self, x: usize, want: OracleFilter, by: Option<i64>) -> Option<PromisedMessage> {
        let wanted =
            self.processors[x].unclaimed.iter().filter(|m| want.can_take(m) && self.is_seen(x, m, by));
        wanted.min_by_key(|m| m.key()).cloned()
    }

    /// Advances a task's time to a moment, if that is later.
    fn pass(&mut self, x: usize, k: usize, part: AccountPart, until: i64) {
        let p = &mut self.processors[x];
        let task = &mut p.tasks[k];
        if until > task.now {
            match k {
                0 => *part(&mut p.account) += (until - task.now) * PS,
                _ => task.pieces.push((task.now, until, part)),
            }
            task.now = until;
        }
    }

    /// Receives a message in a task.
    fn receive(&mut self, x: usize, k: usize, message: PromisedMessage) {
        let start = self.start(x, k, &message);
        self.pass(x, k, IDLE, message.arrival);
        self.pass(x, k, GAP, start);
        let overhead = self.network.recv_overhead((message.from, x), message.words);
        self.pass(x, k, RECV, self.network.busy_until(x, start, overhead));
        let gap = self.network.between(message.from, x).g.as_ps();
        let p = &mut self.processors[x];
        p.account.received += 1;
        p.account.words_received += self.network.counted_words((message.from, x), message.words);
        p.in_free = start + gap;
        if self.network.until_received {
            p.leaving.push((start, message.from));
        }
        let task = &mut p.tasks[k];
        task.waits = false;
        let Some(Take { greets, .. }) = task.steps.pop_front() else { unreachable!() };
        let PromisedMessage { from, words, offers, .. } = message;
        match message.kind {
            MessageKind::Plain(tag) | MessageKind::Data(tag, _) => {
                task.got = Some(Message { from, tag, words });
                p.greeted = if greets { GreetState::Come } else { p.greeted };
            }
            MessageKind::Reply(_) | MessageKind::Answer(_) => {}
            MessageKind::Put | MessageKind::Get(_) => unreachable!("a memory does not receive"),
            // It reads the data, and says that it has them.
            MessageKind::Request(tag, request) if self.pulls => {
                let reply = Transmit { to: from, kind: MessageKind::Reply(request), words: 0 };
                task.steps.push_front(reply);
                task.steps.push_front(Take { want: OracleFilter::Data(request), by: None, greets });
                task.steps.push_front(Pull { tag, request, words: offers });
            }
            // LogGPS 3.1: the receive that takes a request replies, and waits for the data.
            MessageKind::Request(_, number) => {
                if greets {
                    p.greeted = GreetState::Announced(number);
                } else {
                    task.steps.push_front(Take { want: OracleFilter::Data(number), by: None, greets: false });
                }
                task.steps.push_front(Transmit { to: from, kind: MessageKind::Reply(number), words: 0 });
            }
        }
    }

    /// Prepares the messages that can be sent: the first message of a send waits until those of all earlier
    /// sends to the same processor have entered.
    fn turn_all(&mut self, x: usize, t: i64) {
        let all = self.processors[x].tasks.len();
        for k in (1..all).chain([0]) {
            let tasks = &self.processors[x].tasks;
            let before = if k == 0 { 1..all } else { 1..k };
            let is_free = match tasks[k].steps.front() {
                Some(Transmit { to, kind, .. }) if kind.is_first() => {
                    before.into_iter().all(|k| tasks[k].is_first_to != Some(*to))
                }
                Some(Transmit { .. } | Pull { .. }) => true,
                _ => continue,
            };
            if is_free && tasks[k].turned.is_none() && (k > 0 || tasks[0].waits) {
                self.turn_to(x, k, t);
            }
        }
    }

    /// Prepares a task's message, whose turn is not before this moment.
    fn turn_to(&mut self, x: usize, k: usize, t: i64) {
        let p = &mut self.processors[x];
        if let Some(&Pull { request: (from, announced), .. }) = p.tasks[k].steps.front() {
            return self.turn_to_pull(x, k, (from, announced + 1));
        }
        let number = p.turns;
        let Some(&Transmit { to, words, kind }) = p.tasks[k].steps.front() else { unreachable!() };
        // The data that a receiver reads have the number after their request's.
        let keeps_number = match kind {
            MessageKind::Request(..) => self.pulls,
            MessageKind::Get(_) => true, // for the answer
            _ => false,
        };
        p.turns += 1 + u64::from(keeps_number);
        let latency = self.latency((x, to), number);
        // The overhead overlaps the gap (LogGP 2.1, figure 1).
        let overhead = self.network.send_overhead((x, to), words, kind);
        let p = &self.processors[x];
        let busy = |begin: i64| self.network.busy_until(x, begin, overhead);
        let ready = busy(p.tasks[k].now.max(p.out_free - overhead));
        let turn = self.turn(x, k, latency, ready);
        let ready = if t > turn { busy(ready + (t - turn) - overhead) } else { ready };
        self.processors[x].tasks[k].turned = Some((number, latency, ready));
    }

    /// Prepares a read from a memory: it takes the o of a message of no words, and then L until the request is there.
    fn turn_to_pull(&mut self, x: usize, k: usize, (from, number): (usize, u64)) {
        let latency = self.latency((from, x), number);
        let request = self.network.send_overhead((x, from), 0, MessageKind::Plain(0));
        let cost = request + self.network.between(from, x).L.as_ps();
        let task = &mut self.processors[x].tasks[k];
        task.turned = Some((number, latency, self.network.busy_until(x, task.now, cost)));
    }

    fn latency(&self, (from, to): (usize, usize), number: u64) -> i64 {
        let exact = self.network.between(from, to).L.as_ps();
        match self.latency {
            Latency::Exact => exact,
            _ => self.drawn.messages.get(&(from, number)).map_or(exact, |(latency, _)| *latency),
        }
    }

    /// Handles the turn of a read.
    fn pull(&mut self, x: usize, k: usize) {
        let p = &mut self.processors[x];
        let (number, latency, ready) = p.tasks[k].turned.take().unwrap();
        let Some(Pull { tag, request, words }) = p.tasks[k].steps.pop_front() else { unreachable!() };
        p.tasks[k].waits = false;
        let from = request.0;
        let s = self.network.stream((from, x), words);
        let by = SentBy::Reader;
        let asks = WayRequest { from, to: x, s, latency, ready, in_order: false, by };
        let way = self.network.way(asks);
        self.pass(x, k, SEND, ready);
        self.pass(x, k, STALL, way.admitted);
        self.pass(x, k, PORT, way.enter);
        let account = &mut self.processors[x].account;
        let stall = way.admitted - ready;
        account.sent += 1;
        account.words_sent += self.network.counted_words((from, x), words);
        account.stalls += u64::from(stall > 0);
        account.longest_stall = account.longest_stall.max(stall * PS);
        let Way { enter, first, arrival, .. } = way;
        let kind = MessageKind::Data(tag, request);
        let message = PromisedMessage {
            from,
            to: x,
            number,
            words,
            kind,
            offers: 0,
            by,
            s,
            ask: ready,
            enter,
            first,
            arrival,
        };
        self.network.promise(message.clone());
        self.processors[x].coming.push(message);
    }

    /// Handles the turn of a task's message, which is deferred if others of its processor have entered
    /// meanwhile.
    fn enter(&mut self, x: usize, k: usize, t: i64) {
        let p = &mut self.processors[x];
        if let Some(Pull { .. }) = p.tasks[k].steps.front() {
            return self.pull(x, k);
        }
        let (number, latency, ready) = p.tasks[k].turned.unwrap();
        let Some(Transmit { to, words, kind }) = p.tasks[k].steps.front() else { unreachable!() };
        let overhead = self.network.send_overhead((x, *to), *words, *kind);
        let put_off = self.network.busy_until(x, p.out_free - overhead, overhead);
        if put_off > ready {
            p.tasks[k].turned = Some((number, latency, put_off));
            return;
        }
        let to = *to;
        if self.network.until_received {
            if !self.network.has_room(x, to) {
                self.processors[x].stalled = Some(k);
                self.waiting.push((x, to));
                self.receive_in_stall(x, k, overhead);
                return;
            }
            self.network.hold(x, to, t);
        }
        self.enter_at(x, k, ready);
    }

    /// Lets the program receive while its message stalls, if it does so: the message goes on in another task.
    fn receive_in_stall(&mut self, x: usize, k: usize, overhead: i64) {
        let p = &mut self.processors[x];
        let Some(tag) = p.receives_in_stall.take_if(|_| k == 0) else { return };
        let (_, _, ready) = p.tasks[0].turned.unwrap();
        let begin = self.network.start_of_activity(x, p.tasks[0].now, ready, overhead);
        self.pass(x, 0, GAP, begin);
        self.pass(x, 0, SEND, ready);
        let p = &mut self.processors[x];
        let task = p.tasks.len();
        let mut stalled = Task::new(ready, RequestKind::Isend, Pattern { from: None, tag: None });
        stalled.turned = p.tasks[0].turned.take();
        stalled.steps.extend(p.tasks[0].steps.pop_front());
        p.tasks.push(stalled);
        p.outstanding.push(task);
        p.stalled = Some(task);
        p.tasks[0].waits = false;
        let want = OracleFilter::Any(Pattern { from: None, tag: Some(tag) });
        self.prepend_steps(x, vec![ReceiveInStall { want, task }]);
    }

    /// Frees the room of a message that a processor receives. Of the messages that wait, each that now finds
    /// room at both ends is admitted, in the order in which they asked.
    fn leave(&mut self, x: usize, from: usize, t: i64) {
        let leaving = &mut self.processors[x].leaving;
        leaving.remove(leaving.iter().position(|gone| *gone == (t, from)).unwrap());
        self.network.leave(from, x, t);
        let turns = self.processors[x].turns;
        let mut place = 0;
        while let Some(&(sender, to)) = self.waiting.get(place) {
            if self.network.has_room(sender, to) {
                self.waiting.remove(place);
                self.network.hold(sender, to, t);
                self.processors[sender].admitted = Some((t, x, turns));
            } else {
                place += 1;
            }
        }
    }

    /// Sends a task's message, which the capacity admits at a moment.
    fn enter_at(&mut self, x: usize, k: usize, admitted: i64) {
        let p = &mut self.processors[x];
        let (number, latency, ready) = p.tasks[k].turned.unwrap();
        let in_order = p.in_order;
        let Some(Transmit { to, kind, words }) = p.tasks[k].steps.pop_front() else { unreachable!() };
        let overhead = self.network.send_overhead((x, to), words, kind);
        let s = self.network.stream((x, to), words);
        let ask = self.network.ask((x, to), words, latency, admitted);
        let way = self.network.way(WayRequest {
            from: x,
            to,
            s,
            latency,
            ready: admitted,
            in_order,
            by: SentBy::Processor,
        });
        assert!(ask <= way.arrival, "a message is after its send");
        let begin = self.network.start_of_activity(x, self.processors[x].tasks[k].now, ready, overhead);
        self.pass(x, k, GAP, begin);
        self.pass(x, k, SEND, ready);
        self.pass(x, k, STALL, way.admitted);
        self.pass(x, k, PORT, way.enter);
        let p = &mut self.processors[x];
        let stall = way.admitted - ready;
        p.account.sent += 1;
        p.account.words_sent += self.network.counted_words((x, to), words);
        p.account.stalls += u64::from(stall > 0);
        p.account.longest_stall = p.account.longest_stall.max(stall * PS);
        // The gap counts from the last word, and the task continues when the first has entered (LogGP 2.1).
        p.out_free = way.enter + s.max(0) + self.network.between(x, to).g.as_ps();
        if let Some(ReceiveInStall { task, .. }) = p.tasks[0].steps.get(2)
            && *task == k
            && matches!(p.tasks[0].steps.front(), Some(Take { .. }))
        {
            // The program no longer waits for a message.
            p.tasks[0].steps.drain(..2);
            p.tasks[0].waits = false;
        }
        p.receives_in_stall = p.receives_in_stall.filter(|_| k > 0);
        let task = &mut p.tasks[k];
        (task.turned, task.waits) = (None, false);
        if kind.is_first() {
            task.is_first_to = None;
        }
        // Now the request has its number.
        let kind = match kind {
            MessageKind::Request(tag, _) => {
                task.request = (x, number);
                MessageKind::Request(tag, task.request)
            }
            kind => kind,
        };
        let request = task.request;
        let mut offers = 0;
        // `send_recv` greets in between.
        let after = task.steps.iter().find(|step| matches!(step, AfterRequest { .. }));
        if let (MessageKind::Request(..), Some(&AfterRequest { to, tag, words })) = (kind, after) {
            offers = words;
            if k > 0 {
                self.processors[x].tasks[k].steps = self.after_request(request, to, tag, words).into();
            }
        }
        let (enter, first, arrival) = (way.enter, way.first, way.arrival);
        let by = SentBy::Processor;
        let message =
            PromisedMessage { from: x, to, number, words, kind, offers, by, s, ask, enter, first, arrival };
        self.network.promise(message.clone());
        match kind {
            MessageKind::Put => {
                let known = &mut self.processors[x].known[to];
                *known = (arrival + self.network.between(x, to).L.as_ps()).max(*known);
            }
            MessageKind::Get(words) => self.answer(x, k, &message, words),
            _ => self.processors[to].coming.push(message),
        }
        self.take_unclaimed(x, k);
    }

    /// Lets a memory answer a request, which a task of processor x has sent and now waits for. LogP 3.2: "reading a
    /// remote location requires time 2L + 4o", of which the o of the processor there are not spent.
    fn answer(&mut self, x: usize, k: usize, request: &PromisedMessage, words: usize) {
        let PromisedMessage { to: memory, number, ask, arrival: ready, .. } = *request;
        let by = SentBy::Memory;
        let s = self.network.stream((memory, x), words).max(0);
        let latency = self.latency((x, memory), number + 1);
        let asks = WayRequest { from: memory, to: x, s, latency, ready, in_order: false, by };
        let Way { enter, first, arrival, .. } = self.network.way(asks);
        let kind = MessageKind::Answer((x, number));
        let number = number + ANSWERS;
        let (from, to, offers) = (memory, x, 0);
        let answer =
            PromisedMessage { from, to, number, words, kind, offers, by, s, ask, enter, first, arrival };
        self.network.promise(answer.clone());
        let p = &mut self.processors[x];
        p.coming.push(answer);
        let want = OracleFilter::Answer((x, request.number));
        p.tasks[k].steps.push_front(Take { want, by: None, greets: false });
    }

    /// Returns the steps of a send. If the message waits for its receiver, its request goes first.
    fn send(&self, x: usize, to: usize, tag: usize, words: usize) -> Vec<Step> {
        if self.network.waits_for_receiver((x, to), words) {
            let kind = MessageKind::Request(tag, (to, 0));
            vec![Transmit { to, kind, words: 0 }, AfterRequest { to, tag, words }]
        } else {
            vec![Transmit { to, kind: MessageKind::Plain(tag), words }]
        }
    }

    /// Returns the step that asks a memory. The request has at least one word.
    fn request(&self, to: usize, asked: usize, back: usize) -> Step {
        Transmit { to, kind: MessageKind::Get(back), words: asked.max(1) }
    }

    /// Returns the overhead of a send's first message.
    fn first_overhead(&self, way: (usize, usize), words: usize) -> i64 {
        let words = if self.network.waits_for_receiver(way, words) { 0 } else { words };
        self.network.send_overhead(way, words, MessageKind::Plain(0))
    }

    /// Continues the program: with its next step, or with its next call.
    fn advance(&mut self, x: usize, t: i64) {
        let p = &mut self.processors[x];
        let Some(step) = p.tasks[0].steps.front().cloned() else {
            match p.calls.pop_front() {
                Some(op) => self.call(x, op),
                None => (p.finished, p.account.finish) = (true, p.tasks[0].now * PS),
            }
            return;
        };
        match step {
            Transmit { .. } | Pull { .. } => p.tasks[0].waits = true,
            Take { want, by, .. } => self.take(x, t, want, by),
            step => {
                p.tasks[0].steps.pop_front();
                self.do_step(x, step);
            }
        }
    }

    /// Receives in the program itself: takes a message, waits, or gives up.
    fn take(&mut self, x: usize, t: i64, want: OracleFilter, by: Option<i64>) {
        let p = &self.processors[x];
        let found = match p.outstanding.is_empty() {
            true => self.reception(x, want, by).map(|(message, _)| message.clone()),
            false => {
                self.first_unclaimed(x, want, by).filter(|m| by.is_none_or(|by| self.start(x, 0, m) <= by))
            }
        };
        let p = &mut self.processors[x];
        if let Some(message) = found {
            p.unclaimed.retain(|m| m.key() != message.key());
            p.coming.retain(|m| m.key() != message.key());
            self.receive(x, 0, message);
        } else if by == Some(t) {
            p.tasks[0].steps.pop_front();
            p.tasks[0].waits = false;
        } else {
            p.tasks[0].waits = true;
        }
    }

    fn note(&mut self, x: usize, came: Option<Message>) {
        let p = &mut self.processors[x];
        p.notes.push(Note { now: p.tasks[0].now, came });
    }

    /// Inserts steps before all others of a program.
    fn prepend_steps(&mut self, x: usize, steps: Vec<Step>) {
        steps.into_iter().rev().for_each(|step| self.processors[x].tasks[0].steps.push_front(step));
    }

    /// Makes this call next, before the rest.
    fn repeat_call(&mut self, x: usize, op: Op) {
        self.processors[x].calls.push_front(op);
    }

    /// Does a step of the program's own calls.
    fn do_step(&mut self, x: usize, step: Step) {
        let cycle = self.network.params.cycle.as_ps();
        let p = &mut self.processors[x];
        let now = p.tasks[0].now;
        match step.clone() {
            Tell => {
                let came = p.tasks[0].got.take();
                came.into_iter().for_each(|message| p.came.add_received(message));
                self.note(x, came);
            }
            ToldNow(n) => {
                let told = p.notes.len() - n;
                p.notes[told..].iter_mut().for_each(|note| note.now = now);
            }
            Looked { by, miss } => {
                if p.tasks[0].got.is_none() {
                    miss.into_iter().for_each(|op| p.calls.push_front(op));
                    self.pass(x, 0, IDLE, if by > now { by } else { now + cycle });
                }
                self.prepend_steps(x, vec![Tell]);
            }
            ReceiveInGap { op, until } => {
                let SendReceiving { to, tag, words, taking } = op else { unreachable!() };
                let again = |until| ReceiveInGap { op: op.clone(), until };
                if p.tasks[0].got.is_some() {
                    return self.prepend_steps(x, vec![Tell, again(None)]);
                }
                let overhead = self.first_overhead((x, to), words);
                // LogP 4.1.4 counts on receptions while the gap runs. Requests may have made that longer.
                let over = self.processors[x].out_free - overhead;
                let now = until.unwrap_or(now).max(now);
                if until.is_some() && over <= now {
                    let waits = self.network.waits_for_receiver((x, to), words);
                    if self.network.until_received && self.network.stream((x, to), words) <= 0 && !waits {
                        self.processors[x].receives_in_stall = Some(taking);
                    }
                    return self.prepend_steps(x, [self.send(x, to, tag, words), vec![Tell]].concat());
                }
                let (by, want) =
                    (Some(now.max(over)), OracleFilter::Any(Pattern { from: None, tag: Some(taking) }));
                self.prepend_steps(x, vec![Take { want, by, greets: false }, again(by)]);
            }
            ReceiveInStall { task, .. } if p.tasks[task].steps.is_empty() => {
                let entered = p.tasks[task].now;
                p.outstanding.retain(|other| *other != task);
                self.pass(x, 0, STALL, entered);
            }
            ReceiveInStall { want, .. } => {
                self.prepend_steps(x, vec![Take { want, by: None, greets: false }, Tell, step]);
            }
            GreetInGap { want, overhead, until } if p.greeted == GreetState::NotYet => {
                let over = self.processors[x].out_free - overhead;
                if over > until.unwrap_or(now).max(now) {
                    let again = GreetInGap { want, overhead, until: Some(over) };
                    self.prepend_steps(x, vec![Take { want, by: Some(over), greets: true }, again]);
                }
            }
            GreetInGap { .. } => {}
            AfterRequest { to, tag, words } => {
                let request = p.tasks[0].request;
                self.prepend_steps(x, self.after_request(request, to, tag, words));
            }
            Greet { want } if p.greeted == GreetState::NotYet => {
                self.prepend_steps(x, vec![Take { want, by: None, greets: true }]);
            }
            Greet { .. } => {}
            TakeRest { want } => match p.greeted {
                GreetState::NotYet => self.prepend_steps(x, vec![Take { want, by: None, greets: false }]),
                GreetState::Announced(number) => {
                    self.prepend_steps(
                        x,
                        vec![Take { want: OracleFilter::Data(number), by: None, greets: false }],
                    );
                }
                GreetState::Come => {}
            },
            See { pattern, looks } => {
                let seen = self.first_unclaimed(x, OracleFilter::Any(pattern), Some(now));
                self.pass(x, 0, IDLE, now + cycle);
                // A probe for any tag does not say which tag it has seen.
                let tag = pattern.tag.unwrap_or(0);
                self.note(x, seen.as_ref().map(|m| Message { from: m.from, tag, words: 0 }));
                if seen.is_none() && looks > 1 {
                    self.prepend_steps(x, vec![See { pattern, looks: looks - 1 }]);
                }
            }
            Join(tasks) => {
                let (_, k) = self.first_done(x, &tasks).unwrap();
                self.join(x, k);
            }
            LookAt { task, .. } if p.tasks[task].steps.is_empty() && p.tasks[task].now <= now => {
                self.join(x, task)
            }
            LookAt { task, looks } => {
                self.pass(x, 0, IDLE, now + cycle);
                self.note(x, None);
                if looks > 1 {
                    self.prepend_steps(x, vec![LookAt { task, looks: looks - 1 }]);
                }
            }
            // LogP 4.1.4, footnote 5: a barrier beside the network.
            ComeToBarrier => {
                p.tasks[0].steps.push_front(WaitAtBarrier);
                p.tasks[0].waits = true;
                let is_here = |p: &Processor| matches!(p.tasks[0].steps.front(), Some(WaitAtBarrier));
                if self.processors.iter().all(is_here) {
                    for x in 0..self.processors.len() {
                        self.pass(x, 0, IDLE, now + self.barrier);
                        let own = &mut self.processors[x].tasks[0];
                        own.waits = false;
                        own.steps.pop_front();
                    }
                }
            }
            WaitAtBarrier | Transmit { .. } | Pull { .. } | Take { .. } => unreachable!(),
        }
    }

    /// Waits in the program for a request that is done, for at least o (LogGPS, equation 11). The time is
    /// accounted by what the request did meanwhile.
    fn join(&mut self, x: usize, k: usize) {
        let called = self.processors[x].tasks[0].now;
        let least = self.network.busy_until(x, called, self.network.params.o.as_ps());
        let p = &mut self.processors[x];
        let task = &p.tasks[k];
        let part = if task.how.is_send() { SEND } else { RECV };
        for (start, end, part) in &task.pieces {
            *part(&mut p.account) += (end - start.max(&called)).max(0) * PS;
        }
        *part(&mut p.account) += (least - called.max(task.now)).max(0) * PS;
        let (end, got) = (least.max(task.now), task.got);
        if !task.how.is_send() {
            p.came.remove_call(task.pattern);
        }
        p.tasks[0].now = end;
        p.tasks[0].got = got;
        p.outstanding.retain(|other| *other != k);
        self.do_step(x, Tell);
    }

    /// Returns the requests of some kind that a processor has not waited for.
    fn requests_made(&self, x: usize, how: RequestKind) -> Vec<usize> {
        let p = &self.processors[x];
        p.outstanding.iter().copied().filter(|k| p.tasks[*k].how == how).collect()
    }

    /// Starts a request, which has its own time.
    fn post(&mut self, x: usize, how: RequestKind, pattern: Pattern, steps: Vec<Step>) {
        let p = &mut self.processors[x];
        let (now, k) = (p.tasks[0].now, p.tasks.len());
        let mut task = Task::new(now, how, pattern);
        if let Some(Transmit { to, .. }) = steps.first() {
            task.is_first_to = Some(*to);
        }
        task.steps = steps.into();
        p.tasks.push(task);
        p.outstanding.push(k);
        let part = if how.is_send() { SEND } else { RECV };
        self.pass(x, 0, part, self.network.busy_until(x, now, self.network.params.o.as_ps()));
        self.take_unclaimed(x, k);
        self.note(x, None);
    }

    /// Starts a call.
    fn call(&mut self, x: usize, op: Op) {
        let cycle = self.network.params.cycle.as_ps();
        let p = &mut self.processors[x];
        let now = p.tasks[0].now;
        let take = |want| Take { want, by: None, greets: false };
        let steps = match op.clone() {
            Work(units) => {
                return self.pass(x, 0, WORK, self.network.busy_until(x, now, units * cycle));
            }
            Wait(time) => return self.pass(x, 0, IDLE, now + time),
            Barrier => vec![ComeToBarrier, Tell],
            Together(..) => unreachable!("the oracle does not know what collectives send"),
            Send { to, tag, words } => [self.send(x, to, tag, words), vec![Tell]].concat(),
            Put { to, words } => vec![Transmit { to, kind: MessageKind::Put, words }, Tell],
            Get { to, asked, back } => vec![self.request(to, asked, back), Tell],
            PostGet { to, asked, back } => {
                p.in_order = true;
                let steps = vec![self.request(to, asked, back)];
                return self.post(x, RequestKind::Get, Pattern { from: None, tag: None }, steps);
            }
            Flush(of) => {
                let all = p.known.iter().enumerate();
                let known = all.filter(|(memory, _)| of.is_none_or(|of| of == *memory));
                let known = known.map(|(_, known)| *known).max().unwrap();
                self.pass(x, 0, IDLE, known);
                return self.note(x, None);
            }
            SendReceiving { .. } => vec![ReceiveInGap { op, until: None }],
            SendRecv { to, tag, words, from } => {
                let pattern = Pattern { from: Some(from), tag: Some(tag) };
                if !p.came.is_left(pattern) {
                    return self.repeat_call(x, Send { to, tag, words });
                }
                p.greeted = GreetState::NotYet;
                let want = OracleFilter::Any(pattern);
                let mut steps =
                    vec![GreetInGap { want, overhead: self.first_overhead((x, to), words), until: None }];
                steps.extend(self.send(x, to, tag, words));
                if self.network.waits_for_receiver((x, to), words) {
                    steps.insert(2, Greet { want });
                }
                steps.extend([TakeRest { want }, Tell]);
                steps
            }
            Recv { pattern, upto } => {
                if !p.came.needs_more(pattern, upto) {
                    return;
                }
                self.repeat_call(x, op);
                vec![take(OracleFilter::Any(pattern)), Tell]
            }
            Until { pattern, wait } => {
                let by = now + wait.max(0);
                let take = Take { want: OracleFilter::Any(pattern), by: Some(by), greets: false };
                vec![take, Looked { by, miss: None }]
            }
            Poll { looks: 0, .. } | Probe { looks: 0, .. } | Test { looks: 0, .. } => return,
            Poll { pattern, looks } => {
                let take = Take { want: OracleFilter::Any(pattern), by: Some(now), greets: false };
                let miss = Some(Poll { pattern, looks: looks - 1 });
                vec![take, Looked { by: now, miss }]
            }
            Probe { pattern, looks } => vec![See { pattern, looks }],
            Isend { to, tag, words } => {
                p.in_order = true;
                let steps = self.send(x, to, tag, words);
                return self.post(x, RequestKind::Isend, Pattern { from: None, tag: None }, steps);
            }
            Irecv(pattern) => {
                if p.came.is_left(pattern) {
                    p.came.add_call(pattern);
                    self.post(x, RequestKind::of(pattern), pattern, vec![take(OracleFilter::Any(pattern))]);
                }
                return;
            }
            WaitFor { how, place } => match &self.requests_made(x, how)[..] {
                [] => return,
                all => vec![Join(vec![all[place % all.len()]])],
            },
            WaitAny(how) => match self.requests_made(x, how) {
                all if all.is_empty() => return,
                all => vec![Join(all)],
            },
            WaitAll(how) => {
                let all = self.requests_made(x, how);
                let joins = all.iter().map(|k| Join(vec![*k]));
                joins.chain([ToldNow(all.len())]).collect()
            }
            Test { how, place, looks } => match &self.requests_made(x, how)[..] {
                [] => return,
                all => vec![LookAt { task: all[place % all.len()], looks }],
            },
        };
        self.prepend_steps(x, steps);
    }
}
