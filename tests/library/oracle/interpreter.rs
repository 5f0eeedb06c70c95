//! The oracle: an interpreter of programs without a clock, by brute force.
//!
//! It does one event after the other: of all processors the one whose next event is the earliest, and of those at the
//! same time the one that ties put first. All that a processor does is done by **tasks**, each with a local time of its
//! own: task 0 makes the calls of its program, and every request is another one.

use std::collections::{HashMap, VecDeque};

use loggp::{Latency, Ties};
use loggp::trace::Trace;

use super::network::{Asks, Kind, Network, Sent, takes_back};
use super::outcome::{Account, Outcome};
use super::program::Op::*;
use super::program::{Came, Case, How, Message, Note, Op, Pattern};

/// What was drawn on the machine: the oracle cannot know it.
#[derive(Default)]
pub struct Drawn {
    /// How long each message is under way, and its sender's place when its turn comes.
    messages: HashMap<(usize, u64), (i64, usize)>,
}

impl Drawn {
    pub fn of(trace: &Trace) -> Drawn {
        let messages = trace.messages.iter();
        let drawn = messages.map(|m| ((m.id.from, m.id.number as u64), (m.latency.as_ps(), m.place)));
        Drawn { messages: drawn.collect() }
    }
}

/// What a reception wants.
#[derive(Clone, Copy, Debug)]
enum Want {
    Any(Pattern),
    Reply((usize, u64)),
    Data((usize, u64)),
}

impl Want {
    fn takes(self, message: &Sent) -> bool {
        match (self, message.kind) {
            (Want::Any(pattern), Kind::Plain(tag) | Kind::Request(tag, _)) => {
                pattern.takes(message.from, tag)
            }
            (Want::Reply(number), Kind::Reply(n)) | (Want::Data(number), Kind::Data(_, n)) => number == n,
            _ => false,
        }
    }
}

/// What a task does next. A program's own calls have steps that no request has.
#[derive(Clone, Debug)]
enum Step {
    /// Sends a message.
    Transmit {
        to: usize,
        kind: Kind,
        words: usize,
    },
    /// The rest of a send whose request is gone: waits for the reply, and sends the message.
    AfterRequest {
        to: usize,
        tag: usize,
        words: usize,
    },
    /// Receives a message, or gives up at a moment. One that is only greeted is granted, if it is announced, and taken
    /// later.
    Take {
        want: Want,
        by: Option<i64>,
        greets: bool,
    },
    /// A look is over: one that found nothing and did not wait costs a cycle. Then the program goes on with a call.
    Looked {
        by: i64,
        miss: Option<Op>,
    },
    /// `send_receiving`: receives until the gap before the send is over. It has received until a moment.
    ReceiveInGap {
        op: Op,
        until: Option<i64>,
    },
    /// `send_recv`: greets the message that is to come, as long as the gap runs. It has waited for it until a moment.
    GreetInGap {
        want: Want,
        overhead: i64,
        until: Option<i64>,
    },
    /// `send_recv`: greets it now, or takes it, if that is still to be done.
    Greet {
        want: Want,
    },
    TakeRest {
        want: Want,
    },
    /// Looks for a message, so many times at most.
    See {
        want: Want,
        looks: usize,
    },
    /// Waits for the first of these tasks that is done.
    Join(Vec<usize>),
    /// Looks whether a task is done, so many times at most.
    LookAt {
        task: usize,
        looks: usize,
    },
    ComeToBarrier,
    WaitAtBarrier,
    /// Notes that a call is over.
    Tell,
    /// So many of the last notes are of a call that is over now.
    ToldNow(usize),
}

use Step::*;

/// How far `send_recv` is with the message that comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Greeted {
    NotYet,
    Announced((usize, u64)),
    Come,
}

/// An account on which time goes.
#[derive(Clone, Copy, Debug)]
enum Part {
    Work,
    Send,
    Recv,
    Gap,
    Stall,
    Port,
    Idle,
}

impl Account {
    fn add(&mut self, part: Part, time: i64) {
        *match part {
            Part::Work => &mut self.work,
            Part::Send => &mut self.send,
            Part::Recv => &mut self.recv,
            Part::Gap => &mut self.gap,
            Part::Stall => &mut self.stall,
            Part::Port => &mut self.port,
            Part::Idle => &mut self.idle,
        } += time;
    }
}

/// A processor's calls, or one of its requests.
#[derive(Debug)]
struct Task {
    now: i64,
    steps: VecDeque<Step>,
    /// The message to which it has turned: its number, its latency, and when it is ready.
    turned: Option<(u64, i64, i64)>,
    /// Whether it waits where it is, for a message or for others to go first.
    waits: bool,
    /// Whom it sends to, while it is an `isend` whose first message has not entered.
    is_first_to: Option<usize>,
    /// The name of the last request that it sent for a message.
    request: (usize, u64),
    /// What a request asks for, and what it got.
    how: How,
    pattern: Pattern,
    got: Option<Message>,
    /// When a request did what, from its call on.
    pieces: Vec<(i64, i64, Part)>,
}

impl Task {
    fn new(now: i64, how: How, pattern: Pattern) -> Task {
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
    /// Which requests were called for and not waited for.
    outstanding: Vec<usize>,
    /// When the gap after its last send is over.
    out_free: i64,
    /// When the gap after its last reception is over.
    in_free: i64,
    /// To how many messages it has turned.
    turns: u64,
    /// Whether its messages keep their order.
    in_order: bool,
    calls: VecDeque<Op>,
    came: Came,
    greeted: Greeted,
    /// What is under way to it, and what has arrived and nobody has taken.
    coming: Vec<Sent>,
    unclaimed: Vec<Sent>,
    account: Account,
    notes: Vec<Note>,
    finished: bool,
}

/// What a processor can do next. What comes first here comes first at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A message arrives: its key.
    Arrival((i64, usize, u64)),
    /// The turn of a message comes: its number, and its task.
    Turn(u64, usize),
    /// The program goes on.
    GoOn,
}

/// What follows the request for a message.
fn after_request(number: (usize, u64), to: usize, tag: usize, words: usize) -> Vec<Step> {
    let reply = Take { want: Want::Reply(number), by: None, greets: false };
    vec![reply, Transmit { to, kind: Kind::Data(tag, number), words }]
}

pub struct Oracle {
    network: Network,
    latency: Latency,
    ties: Ties,
    drawn: Drawn,
    barrier: i64,
    processors: Vec<Processor>,
}

impl Oracle {
    pub fn new(case: &Case, drawn: Drawn) -> Oracle {
        let nothing = Pattern { from: None, tag: None };
        let processor = |id: usize| Processor {
            tasks: vec![Task::new(0, How::Isend, nothing)],
            outstanding: vec![],
            out_free: 0,
            in_free: i64::MIN,
            turns: 0,
            in_order: case.params.gps().is_some(),
            calls: case.calls(id).into(),
            came: Came::new(case, id),
            greeted: Greeted::NotYet,
            coming: vec![],
            unclaimed: vec![],
            account: Account::default(),
            notes: vec![],
            finished: false,
        };
        Oracle {
            network: Network::new(case.params, case.levels.clone(), case.ports, case.noise.clone()),
            latency: case.latency,
            ties: case.ties,
            drawn,
            barrier: case.barrier.unwrap_or_default(),
            processors: (0..case.program.len()).map(processor).collect(),
        }
    }

    pub fn run(mut self) -> Outcome {
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
            let most = self.network.most(x);
            let account = &mut self.processors[x].account;
            (account.most_from, account.most_to) = most;
        }
        Outcome::Finished(self.processors.into_iter().map(|p| (p.account, p.notes)).collect())
    }

    // Who acts when.

    /// A processor's place among those that act at the same time. Where places are drawn, those of sends are known, and
    /// nothing else depends on them.
    fn place(&self, x: usize, t: i64, event: Event) -> usize {
        let P = self.processors.len();
        match (self.ties, event) {
            (Ties::Rotation, _) => {
                let params = &self.network.params;
                let turn = if params.g.as_ps() > 0 { params.g } else { params.cycle };
                (x + P - (t / turn.as_ps()) as usize % P) % P
            }
            (Ties::Random { .. }, Event::Turn(number, _)) => {
                1 + self.drawn.messages.get(&(x, number)).map_or(x, |(_, place)| *place)
            }
            (Ties::Random { .. }, _) => 0,
            _ => x,
        }
    }

    /// The next that a processor can do, and when.
    fn next(&self, x: usize) -> Option<(i64, Event)> {
        let p = &self.processors[x];
        let arrivals = p.coming.iter().map(|message| (message.arrival, Event::Arrival(message.key())));
        let turn = |k: usize| {
            let (number, latency, ready) = p.tasks[k].turned?;
            Some((self.turn(x, k, latency, ready), Event::Turn(number, k)))
        };
        let turns = (0..p.tasks.len()).filter_map(turn);
        arrivals.chain(turns).chain(self.goes_on(x).map(|t| (t, Event::GoOn))).min()
    }

    /// When the turn of a task's message is.
    fn turn(&self, x: usize, k: usize, latency: i64, ready: i64) -> i64 {
        let Some(Transmit { to, words, .. }) = self.processors[x].tasks[k].steps.front() else {
            unreachable!()
        };
        self.network.ask((x, *to), *words, latency, ready) - self.network.head_start()
    }

    /// When the program goes on, if it can.
    fn goes_on(&self, x: usize) -> Option<i64> {
        let p = &self.processors[x];
        let own = &p.tasks[0];
        match own.steps.front() {
            _ if p.finished => None,
            Some(Transmit { .. } | WaitAtBarrier) if own.waits => None,
            Some(Take { want, by, .. }) if p.outstanding.is_empty() => match self.reception(x, *want, *by) {
                Some((message, start)) => {
                    let overhead = self.network.recv_overhead((message.from, x), message.words);
                    Some(self.network.busy_until(x, start, overhead))
                }
                None => *by,
            },
            Some(Take { by, .. }) if own.waits => *by,
            Some(Join(tasks)) => Some(own.now.max(self.first_done(x, tasks)?.0)),
            _ => Some(own.now),
        }
    }

    /// Which of these tasks is done first, and when.
    fn first_done(&self, x: usize, tasks: &[usize]) -> Option<(i64, usize)> {
        let tasks = tasks.iter().enumerate().map(|(place, k)| (place, *k, &self.processors[x].tasks[*k]));
        let done = tasks.filter(|(.., task)| task.steps.is_empty());
        done.map(|(place, k, task)| (task.now, place, k)).min().map(|(end, _, k)| (end, k))
    }

    /// Whether a message took no time from its request to its arrival, at a level where that is so of messages. (A
    /// negative G_l only says that a message's way lies within its overhead.)
    fn is_instant(&self, message: &Sent) -> bool {
        let takes_back = takes_back(self.network.between(message.from, message.to));
        let timely = self.latency == Latency::Exact && !takes_back;
        timely && message.arrival == message.ask
    }

    /// When a task can begin the reception of a message: a gap after the last reception (LogP 3).
    fn start(&self, x: usize, k: usize, message: &Sent) -> i64 {
        let p = &self.processors[x];
        p.tasks[k].now.max(message.arrival).max(p.in_free)
    }

    /// Whether a look that ends at a moment can see a message: not if that took no time, and comes at this very moment.
    fn is_seen(&self, x: usize, message: &Sent, by: Option<i64>) -> bool {
        !(by == Some(message.arrival) && message.from != x && self.is_instant(message))
    }

    /// The message that the program takes which has no requests, the first to arrive, and when the reception starts.
    fn reception(&self, x: usize, want: Want, by: Option<i64>) -> Option<(&Sent, i64)> {
        let p = &self.processors[x];
        let messages = p.unclaimed.iter().chain(&p.coming);
        let wanted = messages.filter(|m| want.takes(m) && self.is_seen(x, m, by));
        let message = wanted.min_by_key(|m| m.key())?;
        let start = self.start(x, 0, message);
        by.is_none_or(|by| start <= by).then_some((message, start))
    }

    // What happens.

    fn act(&mut self, x: usize, t: i64, event: Event) {
        match event {
            Event::Arrival(key) => self.arrives(x, key),
            Event::Turn(_, k) => self.enters(x, k),
            Event::GoOn => self.go_on(x, t),
        }
        self.turn_all(x, t);
    }

    /// A message goes to the receive that was posted first among those that want it; if there is none, it lies there.
    fn arrives(&mut self, x: usize, key: (i64, usize, u64)) {
        let coming = &mut self.processors[x].coming;
        let message = coming.remove(coming.iter().position(|m| m.key() == key).unwrap());
        let p = &self.processors[x];
        let wanted = |k: &usize| match p.tasks[*k].steps.front() {
            Some(Take { want, by, .. }) => {
                let in_time = by.is_none_or(|by| self.start(x, *k, &message) <= by);
                let is_posted = *k > 0 || (p.tasks[0].waits && !p.outstanding.is_empty());
                is_posted && want.takes(&message) && in_time && self.is_seen(x, &message, *by)
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

    /// A request takes what lies there, if it waits for that.
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

    fn first_unclaimed(&self, x: usize, want: Want, by: Option<i64>) -> Option<Sent> {
        let wanted = self.processors[x].unclaimed.iter().filter(|m| want.takes(m) && self.is_seen(x, m, by));
        wanted.min_by_key(|m| m.key()).cloned()
    }

    /// Lets a task's time pass until a moment, if that is still to come.
    fn pass(&mut self, x: usize, k: usize, part: Part, until: i64) {
        let p = &mut self.processors[x];
        let task = &mut p.tasks[k];
        if until > task.now {
            match k {
                0 => p.account.add(part, until - task.now),
                _ => task.pieces.push((task.now, until, part)),
            }
            task.now = until;
        }
    }

    /// A task receives a message.
    fn receive(&mut self, x: usize, k: usize, message: Sent) {
        let start = self.start(x, k, &message);
        self.pass(x, k, Part::Idle, message.arrival);
        self.pass(x, k, Part::Gap, start);
        let overhead = self.network.recv_overhead((message.from, x), message.words);
        self.pass(x, k, Part::Recv, self.network.busy_until(x, start, overhead));
        let gap = self.network.between(message.from, x).g.as_ps();
        let p = &mut self.processors[x];
        p.account.received += 1;
        p.account.words_received += self.network.counted((message.from, x), message.words);
        p.in_free = start + gap;
        let task = &mut p.tasks[k];
        task.waits = false;
        let Some(Take { greets, .. }) = task.steps.pop_front() else { unreachable!() };
        let Sent { from, words, .. } = message;
        match message.kind {
            Kind::Plain(tag) | Kind::Data(tag, _) => {
                task.got = Some(Message { from, tag, words });
                p.greeted = if greets { Greeted::Come } else { p.greeted };
            }
            Kind::Reply(_) => {}
            // LogGPS 3.1: the receive that takes a request replies, and waits for the data.
            Kind::Request(_, number) => {
                if greets {
                    p.greeted = Greeted::Announced(number);
                } else {
                    task.steps.push_front(Take { want: Want::Data(number), by: None, greets: false });
                }
                task.steps.push_front(Transmit { to: from, kind: Kind::Reply(number), words: 0 });
            }
        }
    }

    /// Tasks turn to the messages that can go: the first message of a send goes when those of all sends to the same
    /// processor have entered that were called for before.
    fn turn_all(&mut self, x: usize, t: i64) {
        let all = self.processors[x].tasks.len();
        for k in (1..all).chain([0]) {
            let tasks = &self.processors[x].tasks;
            let Some(Transmit { to, kind, .. }) = tasks[k].steps.front() else { continue };
            let before = if k == 0 { 1..all } else { 1..k };
            let is_free = !kind.is_first() || before.into_iter().all(|k| tasks[k].is_first_to != Some(*to));
            if is_free && tasks[k].turned.is_none() && (k > 0 || tasks[0].waits) {
                self.turn_to(x, k, t);
            }
        }
    }

    /// A task turns to its message. Its turn is not before this moment.
    fn turn_to(&mut self, x: usize, k: usize, t: i64) {
        let p = &mut self.processors[x];
        let number = p.turns;
        p.turns += 1;
        let Some(Transmit { to, words, .. }) = p.tasks[k].steps.front() else { unreachable!() };
        let exact = self.network.between(x, *to).L.as_ps();
        let latency = match self.latency {
            Latency::Exact => exact,
            _ => self.drawn.messages.get(&(x, number)).map_or(exact, |(latency, _)| *latency),
        };
        // The overhead overlaps the gap (LogGP 2.1, figure 1).
        let overhead = self.network.send_overhead((x, *to), *words);
        let busy = |begin: i64| self.network.busy_until(x, begin, overhead);
        let ready = busy(p.tasks[k].now.max(p.out_free - overhead));
        let turn = self.turn(x, k, latency, ready);
        let ready = if t > turn { busy(ready + (t - turn) - overhead) } else { ready };
        self.processors[x].tasks[k].turned = Some((number, latency, ready));
    }

    /// The turn of a task's message has come; it is put off if others of its processor have entered meanwhile.
    fn enters(&mut self, x: usize, k: usize) {
        let p = &mut self.processors[x];
        let (number, latency, ready) = p.tasks[k].turned.unwrap();
        let Some(Transmit { to, words, .. }) = p.tasks[k].steps.front() else { unreachable!() };
        let overhead = self.network.send_overhead((x, *to), *words);
        let put_off = self.network.busy_until(x, p.out_free - overhead, overhead);
        if put_off > ready {
            p.tasks[k].turned = Some((number, latency, put_off));
            return;
        }
        let in_order = p.in_order;
        let Some(Transmit { to, kind, words }) = p.tasks[k].steps.pop_front() else { unreachable!() };
        let s = self.network.stream((x, to), words);
        let ask = self.network.ask((x, to), words, latency, ready);
        let way = self.network.way(Asks { from: x, to, s, latency, ready, in_order });
        assert!(ask <= way.arrival, "a message is after its send");
        let begin = self.network.began(x, self.processors[x].tasks[k].now, ready, overhead);
        self.pass(x, k, Part::Gap, begin);
        self.pass(x, k, Part::Send, ready);
        self.pass(x, k, Part::Stall, way.admitted);
        self.pass(x, k, Part::Port, way.enter);
        let p = &mut self.processors[x];
        let stall = way.admitted - ready;
        p.account.sent += 1;
        p.account.words_sent += self.network.counted((x, to), words);
        p.account.stalls += u64::from(stall > 0);
        p.account.longest_stall = p.account.longest_stall.max(stall);
        // The gap counts from the last word, and the task goes on when the first has entered (LogGP 2.1).
        p.out_free = way.enter + s.max(0) + self.network.between(x, to).g.as_ps();
        let task = &mut p.tasks[k];
        (task.turned, task.waits) = (None, false);
        if kind.is_first() {
            task.is_first_to = None;
        }
        // A request has its number now.
        let kind = match kind {
            Kind::Request(tag, _) => {
                task.request = (x, number);
                Kind::Request(tag, task.request)
            }
            kind => kind,
        };
        if k > 0
            && let Some(&AfterRequest { to, tag, words }) = task.steps.front()
        {
            task.steps = after_request(task.request, to, tag, words).into();
        }
        let (enter, first, arrival) = (way.enter, way.first, way.arrival);
        let message = Sent { from: x, to, number, words, kind, s, ask, enter, first, arrival };
        self.network.promise(message.clone());
        self.processors[to].coming.push(message);
        self.take_unclaimed(x, k);
    }

    /// A send's steps. Of a message that waits for its receiver the request goes first.
    fn send(&self, x: usize, to: usize, tag: usize, words: usize) -> Vec<Step> {
        if self.network.waits_for_receiver((x, to), words) {
            let kind = Kind::Request(tag, (to, 0));
            vec![Transmit { to, kind, words: 0 }, AfterRequest { to, tag, words }]
        } else {
            vec![Transmit { to, kind: Kind::Plain(tag), words }]
        }
    }

    /// The overhead of a send's first message.
    fn first_overhead(&self, way: (usize, usize), words: usize) -> i64 {
        self.network.send_overhead(way, if self.network.waits_for_receiver(way, words) { 0 } else { words })
    }

    /// The program goes on: with what it waits with, or with its next call.
    fn go_on(&mut self, x: usize, t: i64) {
        let p = &mut self.processors[x];
        let Some(step) = p.tasks[0].steps.front().cloned() else {
            match p.calls.pop_front() {
                Some(op) => self.call(x, op),
                None => (p.finished, p.account.finish) = (true, p.tasks[0].now),
            }
            return;
        };
        match step {
            Transmit { .. } => p.tasks[0].waits = true,
            Take { want, by, .. } => self.take(x, t, want, by),
            step => {
                p.tasks[0].steps.pop_front();
                self.do_step(x, step);
            }
        }
    }

    /// The program's own receive: it takes what there is, waits, or gives up.
    fn take(&mut self, x: usize, t: i64, want: Want, by: Option<i64>) {
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

    /// Puts steps before all others of a program.
    fn first(&mut self, x: usize, steps: Vec<Step>) {
        steps.into_iter().rev().for_each(|step| self.processors[x].tasks[0].steps.push_front(step));
    }

    /// Makes a call again, or another, before the rest.
    fn again(&mut self, x: usize, op: Op) {
        self.processors[x].calls.push_front(op);
    }

    /// A step of a program's own calls that is over at once.
    fn do_step(&mut self, x: usize, step: Step) {
        let cycle = self.network.params.cycle.as_ps();
        let p = &mut self.processors[x];
        let now = p.tasks[0].now;
        match step {
            Tell => {
                let came = p.tasks[0].got.take();
                came.into_iter().for_each(|message| p.came.has_come(message));
                self.note(x, came);
            }
            ToldNow(n) => {
                let told = p.notes.len() - n;
                p.notes[told..].iter_mut().for_each(|note| note.now = now);
            }
            Looked { by, miss } => {
                if p.tasks[0].got.is_none() {
                    miss.into_iter().for_each(|op| p.calls.push_front(op));
                    self.pass(x, 0, Part::Idle, if by > now { by } else { now + cycle });
                }
                self.first(x, vec![Tell]);
            }
            ReceiveInGap { op, until } => {
                let SendReceiving { to, tag, words, taking } = op else { unreachable!() };
                let again = |until| ReceiveInGap { op: op.clone(), until };
                if p.tasks[0].got.is_some() {
                    return self.first(x, vec![Tell, again(None)]);
                }
                let overhead = self.first_overhead((x, to), words);
                // LogP 4.1.4 counts on receptions while the gap runs. Requests may have made that longer.
                let over = self.processors[x].out_free - overhead;
                let now = until.unwrap_or(now).max(now);
                if until.is_some() && over <= now {
                    return self.first(x, [self.send(x, to, tag, words), vec![Tell]].concat());
                }
                let (by, want) = (Some(now.max(over)), Want::Any(Pattern { from: None, tag: Some(taking) }));
                self.first(x, vec![Take { want, by, greets: false }, again(by)]);
            }
            GreetInGap { want, overhead, until } if p.greeted == Greeted::NotYet => {
                let over = self.processors[x].out_free - overhead;
                if over > until.unwrap_or(now).max(now) {
                    let again = GreetInGap { want, overhead, until: Some(over) };
                    self.first(x, vec![Take { want, by: Some(over), greets: true }, again]);
                }
            }
            GreetInGap { .. } => {}
            AfterRequest { to, tag, words } => {
                let request = p.tasks[0].request;
                self.first(x, after_request(request, to, tag, words));
            }
            Greet { want } if p.greeted == Greeted::NotYet => {
                self.first(x, vec![Take { want, by: None, greets: true }]);
            }
            Greet { .. } => {}
            TakeRest { want } => match p.greeted {
                Greeted::NotYet => self.first(x, vec![Take { want, by: None, greets: false }]),
                Greeted::Announced(number) => {
                    self.first(x, vec![Take { want: Want::Data(number), by: None, greets: false }]);
                }
                Greeted::Come => {}
            },
            See { want, looks } => {
                let seen = self.first_unclaimed(x, want, Some(now));
                self.pass(x, 0, Part::Idle, now + cycle);
                let tag = |kind| match kind {
                    Kind::Plain(tag) | Kind::Request(tag, _) => tag,
                    _ => unreachable!(),
                };
                self.note(x, seen.as_ref().map(|m| Message { from: m.from, tag: tag(m.kind), words: 0 }));
                if seen.is_none() && looks > 1 {
                    self.first(x, vec![See { want, looks: looks - 1 }]);
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
                self.pass(x, 0, Part::Idle, now + cycle);
                self.note(x, None);
                if looks > 1 {
                    self.first(x, vec![LookAt { task, looks: looks - 1 }]);
                }
            }
            // LogP 4.1.4, footnote 5: a barrier beside the network.
            ComeToBarrier => {
                p.tasks[0].steps.push_front(WaitAtBarrier);
                p.tasks[0].waits = true;
                let is_here = |p: &Processor| matches!(p.tasks[0].steps.front(), Some(WaitAtBarrier));
                if self.processors.iter().all(is_here) {
                    for x in 0..self.processors.len() {
                        self.pass(x, 0, Part::Idle, now + self.barrier);
                        let own = &mut self.processors[x].tasks[0];
                        own.waits = false;
                        own.steps.pop_front();
                    }
                }
            }
            WaitAtBarrier | Transmit { .. } | Take { .. } => unreachable!(),
        }
    }

    /// The program waits for a request that is done, for o at least (LogGPS, equation 11). What the request did
    /// meanwhile is where the time goes.
    fn join(&mut self, x: usize, k: usize) {
        let called = self.processors[x].tasks[0].now;
        let least = self.network.busy_until(x, called, self.network.params.o.as_ps());
        let p = &mut self.processors[x];
        let task = &p.tasks[k];
        let part = if task.how == How::Isend { Part::Send } else { Part::Recv };
        for (start, end, part) in &task.pieces {
            p.account.add(*part, (end - start.max(&called)).max(0));
        }
        p.account.add(part, (least - called.max(task.now)).max(0));
        let (end, got) = (least.max(task.now), task.got);
        if task.how != How::Isend {
            p.came.is_done(task.pattern);
        }
        p.tasks[0].now = end;
        p.tasks[0].got = got;
        p.outstanding.retain(|other| *other != k);
        self.do_step(x, Tell);
    }

    /// The requests that a processor called for in some way, and has not waited for.
    fn called_for(&self, x: usize, how: How) -> Vec<usize> {
        let p = &self.processors[x];
        p.outstanding.iter().copied().filter(|k| p.tasks[*k].how == how).collect()
    }

    /// Calls for a request, which goes on in a time of its own.
    fn post(&mut self, x: usize, how: How, pattern: Pattern, steps: Vec<Step>) {
        let p = &mut self.processors[x];
        let (now, k) = (p.tasks[0].now, p.tasks.len());
        let mut task = Task::new(now, how, pattern);
        if let Some(Transmit { to, .. }) = steps.first() {
            task.is_first_to = Some(*to);
        }
        task.steps = steps.into();
        p.tasks.push(task);
        p.outstanding.push(k);
        let part = if how == How::Isend { Part::Send } else { Part::Recv };
        self.pass(x, 0, part, self.network.busy_until(x, now, self.network.params.o.as_ps()));
        self.take_unclaimed(x, k);
        self.note(x, None);
    }

    /// Begins a call.
    fn call(&mut self, x: usize, op: Op) {
        let cycle = self.network.params.cycle.as_ps();
        let p = &mut self.processors[x];
        let now = p.tasks[0].now;
        let of = |from: Option<usize>, tag: usize| Want::Any(Pattern { from, tag: Some(tag) });
        let take = |want| Take { want, by: None, greets: false };
        let steps = match op.clone() {
            Work(units) => {
                return self.pass(x, 0, Part::Work, self.network.busy_until(x, now, units * cycle));
            }
            Wait(time) => return self.pass(x, 0, Part::Idle, now + time),
            Barrier => vec![ComeToBarrier, Tell],
            Together(..) => unreachable!("the oracle does not know what collectives send"),
            Send { to, tag, words } => [self.send(x, to, tag, words), vec![Tell]].concat(),
            SendReceiving { .. } => vec![ReceiveInGap { op, until: None }],
            SendRecv { to, tag, words, from } => {
                let pattern = Pattern { from: Some(from), tag: Some(tag) };
                if !p.came.is_left(pattern) {
                    return self.again(x, Send { to, tag, words });
                }
                p.greeted = Greeted::NotYet;
                let want = Want::Any(pattern);
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
                if !p.came.goes_on(pattern, upto) {
                    return;
                }
                self.again(x, op);
                vec![take(Want::Any(pattern)), Tell]
            }
            Until { from, tag, wait } => {
                let by = now + wait.max(0);
                let take = Take { want: of(from, tag), by: Some(by), greets: false };
                vec![take, Looked { by, miss: None }]
            }
            Poll { looks: 0, .. } | Probe { looks: 0, .. } | Test { looks: 0, .. } => return,
            Poll { from, tag, looks } => {
                let take = Take { want: of(from, tag), by: Some(now), greets: false };
                let miss = Some(Poll { from, tag, looks: looks - 1 });
                vec![take, Looked { by: now, miss }]
            }
            Probe { from, tag, looks } => vec![See { want: of(from, tag), looks }],
            Isend { to, tag, words } => {
                p.in_order = true;
                let steps = self.send(x, to, tag, words);
                return self.post(x, How::Isend, Pattern { from: None, tag: None }, steps);
            }
            Irecv(pattern) => {
                if p.came.is_left(pattern) {
                    p.came.is_called_for(pattern);
                    self.post(x, How::of(pattern), pattern, vec![take(Want::Any(pattern))]);
                }
                return;
            }
            WaitFor { how, place } => match &self.called_for(x, how)[..] {
                [] => return,
                all => vec![Join(vec![all[place % all.len()]])],
            },
            WaitAny(how) => match self.called_for(x, how) {
                all if all.is_empty() => return,
                all => vec![Join(all)],
            },
            WaitAll(how) => {
                let all = self.called_for(x, how);
                let joins = all.iter().map(|k| Join(vec![*k]));
                joins.chain([ToldNow(all.len())]).collect()
            }
            Test { how, place, looks } => match &self.called_for(x, how)[..] {
                [] => return,
                all => vec![LookAt { task: all[place % all.len()], looks }],
            },
        };
        self.first(x, steps);
    }
}
