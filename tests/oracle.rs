//! The machine against an oracle: the rules once more, from the papers, without a clock and without a network.
//!
//! A program is data here. The oracle interprets it by brute force: it remembers every message of the run, and
//! tries one picosecond after the other. It shares nothing with the machine but the parameters.
//!
//! `LOGGP_ORACLE_SEED=123 cargo test -p loggp --test oracle` replays one random program.

#![allow(non_snake_case)] // L, S and P are the papers' names

#[path = "oracle/random.rs"]
mod random;

use std::collections::VecDeque;

use loggp::{Cause, Doing, Machine, PS, Params, Ports, Stats, Time, Work};

use random::Op::*;
use random::{Came, Case, Op, TAGS, draw, live};

// What comes out.

/// A processor's account. Times are in picoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
struct Account {
    finish: i64,
    work: i64,
    send: i64,
    recv: i64,
    gap: i64,
    stall: i64,
    port: i64,
    idle: i64,
    stalls: u64,
    longest_stall: i64,
    sent: u64,
    received: u64,
    most_from: usize,
    most_to: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Finished(Vec<Account>),
    /// Nobody can go on: when each processor finished, if it did.
    Deadlock(Vec<Option<i64>>),
    /// What no program here should end with.
    Failed(String),
}

// The machine.

fn on_the_machine(case: &Case) -> Outcome {
    let program = case.complete();
    let machine = Machine::new(case.params).ports(case.ports).work(Work::Charged);
    let run = machine.barrier(Time::from_ps(case.barrier)).run(|p| live(p, &program[p.id()]));
    let account = |stats: &Stats| Account {
        finish: stats.finish.as_ps(),
        work: stats.work.as_ps(),
        send: stats.send.as_ps(),
        recv: stats.recv.as_ps(),
        gap: stats.gap.as_ps(),
        stall: stats.stall.as_ps(),
        port: stats.port.as_ps(),
        idle: stats.idle.as_ps(),
        stalls: stats.stalls,
        longest_stall: stats.longest_stall.as_ps(),
        sent: stats.sent,
        received: stats.received,
        most_from: stats.most_from,
        most_to: stats.most_to,
    };
    match run {
        Ok(run) => Outcome::Finished(run.processors.iter().map(account).collect()),
        Err(error) => match error.cause {
            Cause::Deadlock { waiting, of } => {
                let ends = error.processors.iter().map(|state| match state.doing {
                    Doing::Finished => Some(state.at.as_ps()),
                    _ => None,
                });
                let ends: Vec<Option<i64>> = ends.collect();
                assert_eq!((waiting, of), (ends.iter().filter(|end| end.is_none()).count(), ends.len()));
                Outcome::Deadlock(ends)
            }
            _ => Outcome::Failed(error.to_string()),
        },
    }
}

// The oracle.

/// What a message is: a program's, or a part of LogGPS's rendezvous, which has a number of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Plain(usize),
    Request(usize, (usize, u64)),
    Reply((usize, u64)),
    Data(usize, (usize, u64)),
}

/// A message that was promised its way.
#[derive(Clone, Debug)]
struct Sent {
    from: usize,
    to: usize,
    /// Its number among its sender's.
    number: u64,
    words: usize,
    kind: Kind,
    /// How long it streams through a port.
    s: i64,
    ask: i64,
    enter: i64,
    first: i64,
    arrival: i64,
}

/// What a reception wants.
#[derive(Clone, Copy, Debug)]
enum Want {
    Any(Option<usize>, usize),
    Reply((usize, u64)),
    Data((usize, u64)),
}

/// A part of a call that waits for its turn.
#[derive(Clone, Debug)]
enum Step {
    Transmit {
        to: usize,
        kind: Kind,
        words: usize,
    },
    Take {
        want: Want,
        /// When it gives up, if ever.
        by: Option<i64>,
        /// Whether giving up takes time.
        look: bool,
        /// The call to go on with when it has found something, and when not.
        hit: Option<Op>,
        miss: Option<Op>,
    },
    ComeToBarrier,
    WaitAtBarrier,
}

use Step::*;

struct Processor {
    now: i64,
    /// When the gap after its last send is over.
    out_free: i64,
    /// When its last reception began.
    last_start: Option<i64>,
    calls: VecDeque<Op>,
    steps: VecDeque<Step>,
    came: Came,
    /// What was requested for it and not received.
    inbox: Vec<Sent>,
    account: Account,
    finished: bool,
}

struct Oracle {
    params: Params,
    single: bool,
    barrier: i64,
    processors: Vec<Processor>,
    /// Every message of the run, in the order in which they were promised their ways.
    promised: Vec<Sent>,
}

/// Whether two intervals, neither empty, have a moment in common.
fn overlap(a: (i64, i64), b: (i64, i64)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

impl Oracle {
    fn new(case: &Case) -> Oracle {
        let processor = |calls: Vec<Op>| Processor {
            now: 0,
            out_free: 0,
            last_start: None,
            calls: calls.into(),
            steps: VecDeque::new(),
            came: Came(vec![[0; TAGS]; case.params.P]),
            inbox: vec![],
            account: Account::default(),
            finished: false,
        };
        Oracle {
            params: case.params,
            single: case.ports == Ports::Single,
            barrier: case.barrier,
            processors: case.complete().into_iter().map(processor).collect(),
            promised: vec![],
        }
    }

    /// Of all processors that can act, the one with the least (time, number) does.
    fn run(mut self) -> Outcome {
        let all = 0..self.processors.len();
        loop {
            all.clone().for_each(|x| self.go_on(x));
            let Some((_, x)) = all.clone().filter_map(|x| Some((self.moment(x)?, x))).min() else { break };
            self.act(x);
        }
        if !self.processors.iter().all(|p| p.finished) {
            return Outcome::Deadlock(self.processors.iter().map(|p| p.finished.then_some(p.now)).collect());
        }
        // Where the capacity is unlimited nobody counts.
        let most = |transits: Vec<(i64, i64)>| {
            let at = |m: i64| transits.iter().filter(|(from, to)| (*from..*to).contains(&m)).count();
            transits
                .iter()
                .map(|(from, _)| at(*from))
                .max()
                .filter(|_| self.capacity().is_some())
                .unwrap_or(0)
        };
        let most: Vec<(usize, usize)> =
            all.map(|x| (most(self.transits(|m| m.from == x)), most(self.transits(|m| m.to == x)))).collect();
        for (p, most) in self.processors.iter_mut().zip(most) {
            (p.account.most_from, p.account.most_to) = most;
        }
        Outcome::Finished(self.processors.into_iter().map(|p| p.account).collect())
    }

    // What a message costs.

    /// The overhead of sending: o (LogP 3); o' + k O_s (LogGPS, table 3).
    fn send_overhead(&self, words: usize) -> i64 {
        (self.params.o + words as i64 * self.params.gps().map_or(Time::ZERO, |gps| gps.O_s)).as_ps()
    }

    /// The overhead of receiving: o (LogP 3); o' + k O_r (LogGPS, table 3).
    fn recv_overhead(&self, words: usize) -> i64 {
        (self.params.o + words as i64 * self.params.gps().map_or(Time::ZERO, |gps| gps.O_r)).as_ps()
    }

    /// From the first word to the last: (k-1)G (LogGP 2.1), where nothing counts as a word; kG_s, or sG_s + (k-s)G_l
    /// (LogGPS, table 3).
    fn stream(&self, words: usize) -> i64 {
        let k = words as i64;
        match self.params.gps() {
            None => (k - 1).max(0) * self.params.G().unwrap().as_ps(),
            Some(gps) if words <= gps.s => k * gps.G_s.as_ps(),
            Some(gps) => gps.s as i64 * gps.G_s.as_ps() + (k - gps.s as i64) * gps.G_l.as_ps(),
        }
    }

    /// At most ceil(L/g) messages are in transit from a processor or to one (LogP 3), one at least; g = 0 sets no
    /// limit.
    fn capacity(&self) -> Option<usize> {
        let (L, g) = (self.params.L.as_ps(), self.params.g.as_ps());
        (g > 0).then(|| ((L + g - 1) / g).max(1) as usize)
    }

    // What was promised.

    /// When a port is taken: a processor's only one, or its sending or its receiving one (LogGP 2: "at any given
    /// time a processor can either be sending or receiving a single message").
    fn port(&self, x: usize, sends: bool) -> Vec<(i64, i64)> {
        let streams = self.promised.iter().filter(|m| m.s > 0);
        let ends = streams.flat_map(|m| [(m.from, true, m.enter, m.s), (m.to, false, m.first, m.s)]);
        let here = ends.filter(|(of, sending, ..)| *of == x && (self.single || *sending == sends));
        here.map(|(_, _, from, s)| (from, from + s)).collect()
    }

    /// When messages are in transit: from the first word's departure to the last one's arrival (LogP 3).
    fn transits(&self, which: impl Fn(&Sent) -> bool) -> Vec<(i64, i64)> {
        let chosen = self.promised.iter().filter(|m| which(m) && m.enter < m.arrival);
        chosen.map(|m| (m.enter, m.arrival)).collect()
    }

    /// The way of a message: when it is admitted, when it enters, when its first word comes and when its last.
    fn way(&self, from: usize, to: usize, s: i64, ready: i64) -> (i64, i64, i64, i64) {
        let L = self.params.L.as_ps();
        let (out_port, in_port) = (self.port(from, true), self.port(to, false));
        let (sent, coming) = (self.transits(|m| m.from == from), self.transits(|m| m.to == to));
        let free = |port: &[(i64, i64)], at: i64| port.iter().all(|taken| !overlap(*taken, (at, at + s)));
        // What is taken stays taken until something that was promised ends: so only those moments are tried.
        let earliest = |from: i64, ends: &mut dyn Iterator<Item = i64>, fits: &dyn Fn(i64) -> bool| {
            ends.filter(|end| *end > from).chain([from]).filter(|at| fits(*at)).min().unwrap()
        };
        // The receiver's port is sought from e + L on (LogGP 2). One word, or a stream of negative length, needs none.
        // LogGPS is MPI, where no message overtakes another between the same two.
        let before =
            self.promised.iter().filter(|m| self.params.gps().is_some() && (m.from, m.to) == (from, to));
        let ahead = before.map(|m| m.arrival).max();
        let first = |e: i64| {
            let soonest = ahead.map_or(e + L, |ahead| (e + L).max(ahead - s));
            let own = |f: i64| self.single && from == to && overlap((e, e + s), (f, f + s));
            let mut ends = in_port.iter().map(|(_, end)| *end).chain([e + s]);
            if s <= 0 { soonest } else { earliest(soonest, &mut ends, &|f| free(&in_port, f) && !own(f)) }
        };
        // LogP 3: it stalls "until the message can be sent without exceeding the capacity limit". How many are in
        // transit grows only where one enters.
        let room = |e: i64| {
            let arrival = first(e) + s;
            let Some(C) = self.capacity().filter(|_| arrival > e) else { return true };
            let entries = sent.iter().chain(&coming).map(|(enter, _)| *enter);
            let moments = entries.filter(|m| (e..arrival).contains(m)).chain([e]);
            let fewer = |transits: &[(i64, i64)], m: i64| {
                transits.iter().filter(|(from, to)| (*from..*to).contains(&m)).count() < C
            };
            moments.into_iter().all(|m| fewer(&sent, m) && fewer(&coming, m))
        };
        let ends = || out_port.iter().chain(&sent).chain(&coming).map(|(_, end)| *end).chain(ahead);
        let admitted = earliest(ready, &mut ends(), &room);
        let enter = earliest(ready, &mut ends(), &|e| room(e) && (s <= 0 || free(&out_port, e)));
        (admitted, enter, first(enter), first(enter) + s)
    }

    // What processors do.

    /// Makes a processor's calls until one of them has to wait for its turn.
    fn go_on(&mut self, x: usize) {
        while self.processors[x].steps.is_empty() && !self.processors[x].finished {
            let next = self.processors[x].calls.pop_front();
            let steps = next.map(|op| self.begin(x, op));
            let p = &mut self.processors[x];
            match steps {
                Some(steps) => p.steps.extend(steps),
                None => (p.finished, p.account.finish) = (true, p.now),
            }
        }
    }

    /// Begins a call: what it has to wait with for its turn.
    fn begin(&mut self, x: usize, op: Op) -> Vec<Step> {
        // A message above S waits for its receiver: first goes a request of no words (LogGPS 3.1).
        let waits = |words: usize| self.params.gps().is_some_and(|gps| words > gps.S);
        let request_overhead = self.send_overhead(0);
        let cycle = self.params.cycle.as_ps();
        let p = &self.processors[x];
        let (now, number) = (p.now, (x, p.account.sent));
        match op {
            Work(units) => {
                let p = &mut self.processors[x];
                p.account.work += units * cycle;
                p.now += units * cycle;
                vec![]
            }
            Wait(time) => {
                let p = &mut self.processors[x];
                p.account.idle += time;
                p.now += time;
                vec![]
            }
            Barrier => vec![ComeToBarrier],
            Send { to, tag, words } if waits(words) => vec![
                Transmit { to, kind: Kind::Request(tag, number), words: 0 },
                Take { want: Want::Reply(number), by: None, look: false, hit: None, miss: None },
                Transmit { to, kind: Kind::Data(tag, number), words },
            ],
            Send { to, tag, words } => vec![Transmit { to, kind: Kind::Plain(tag), words }],
            // LogP 4.1.4 counts on receptions while the gap runs.
            SendReceiving { to, tag, words, taking } => {
                let overhead = if waits(words) { request_overhead } else { self.send_overhead(words) };
                let by = Some(now.max(p.out_free - overhead));
                let (hit, miss) = (Some(op), Some(Send { to, tag, words }));
                vec![Take { want: Want::Any(None, taking), by, look: false, hit, miss }]
            }
            Recv { from, tag, upto } if p.came.count(from, tag) < upto => {
                vec![Take { want: Want::Any(from, tag), by: None, look: false, hit: Some(op), miss: None }]
            }
            Recv { .. } => vec![],
            Until { tag, wait } => {
                let by = Some(now + wait.max(0));
                vec![Take { want: Want::Any(None, tag), by, look: true, hit: None, miss: None }]
            }
            Poll { looks: 0, .. } => vec![],
            Poll { tag, looks } => {
                let miss = Some(Poll { tag, looks: looks - 1 });
                vec![Take { want: Want::Any(None, tag), by: Some(now), look: true, hit: None, miss }]
            }
        }
    }

    /// When a processor can act, if it can.
    fn moment(&self, x: usize) -> Option<i64> {
        let p = &self.processors[x];
        match *p.steps.front()? {
            Transmit { words, .. } => Some(self.ask(x, words).1),
            Take { want, by, .. } => match self.reception(x, want, by) {
                Some((message, start)) => Some(start + self.recv_overhead(p.inbox[message].words)),
                None => by,
            },
            ComeToBarrier => Some(p.now),
            WaitAtBarrier => None,
        }
    }

    /// When a message is ready, and when it asks for its way. The overhead overlaps the gap (LogGP 2.1, figure 1); a
    /// negative G_l (LogGPS, table 5) may let it arrive before it is ready, and then it asks at its arrival.
    fn ask(&self, x: usize, words: usize) -> (i64, i64) {
        let p = &self.processors[x];
        let ready = p.out_free.max(p.now + self.send_overhead(words));
        (ready, ready.min(ready + self.params.L.as_ps() + self.stream(words)))
    }

    /// Which message of its inbox a processor takes, and when the reception starts: the first to arrive, a gap after
    /// the last reception (LogP 3).
    fn reception(&self, x: usize, want: Want, by: Option<i64>) -> Option<(usize, i64)> {
        let p = &self.processors[x];
        let gap_over = p.last_start.map_or(0, |at| at + self.params.g.as_ps());
        let wanted = |m: &Sent| match (want, m.kind) {
            (Want::Any(from, tag), Kind::Plain(t) | Kind::Request(t, _)) => {
                tag == t && from.is_none_or(|from| from == m.from)
            }
            (Want::Reply(number), Kind::Reply(n)) | (Want::Data(number), Kind::Data(_, n)) => number == n,
            _ => false,
        };
        // What took no time at all is not seen by a look that ends at this very moment, but from the next one on. (A
        // negative G_l only says that a message's way lies within its overhead.)
        let timely = self.params.gps().is_none_or(|gps| gps.G_l >= Time::ZERO);
        let seen = |m: &Sent| !(timely && by == Some(m.arrival) && m.arrival == m.ask && m.from != x);
        let messages = p.inbox.iter().enumerate().filter(|(_, m)| wanted(m) && seen(m));
        let (place, message) = messages.min_by_key(|(_, m)| (m.arrival, m.from, m.number))?;
        let start = p.now.max(message.arrival).max(gap_over);
        by.is_none_or(|by| start <= by).then_some((place, start))
    }

    /// What a processor waited for its turn with.
    fn act(&mut self, x: usize) {
        match self.processors[x].steps.pop_front().unwrap() {
            Transmit { to, kind, words } => self.transmit(x, to, kind, words),
            Take { want, by, look, hit, miss } => {
                let found = self.reception(x, want, by);
                let go_on_with = if found.is_some() { hit } else { miss };
                go_on_with.into_iter().for_each(|op| self.processors[x].calls.push_front(op));
                match found {
                    Some((message, start)) => self.take(x, message, start),
                    // A look that finds nothing ends at its deadline, or after a cycle.
                    None if look => {
                        let p = &mut self.processors[x];
                        let by = by.unwrap();
                        let idle = if by > p.now { by - p.now } else { self.params.cycle.as_ps() };
                        p.account.idle += idle;
                        p.now += idle;
                    }
                    None => {}
                }
            }
            // LogP 4.1.4, footnote 5: a barrier beside the network.
            ComeToBarrier => {
                let last = self.processors[x].now;
                self.processors[x].steps.push_front(WaitAtBarrier);
                let is_here = |p: &Processor| matches!(p.steps.front(), Some(WaitAtBarrier));
                if self.processors.iter().all(is_here) {
                    for p in &mut self.processors {
                        p.steps.pop_front();
                        p.account.idle += last + self.barrier - p.now;
                        p.now = last + self.barrier;
                    }
                }
            }
            WaitAtBarrier => unreachable!("who waits does not act"),
        }
    }

    fn transmit(&mut self, x: usize, to: usize, kind: Kind, words: usize) {
        let (overhead, s) = (self.send_overhead(words), self.stream(words));
        let (ready, ask) = self.ask(x, words);
        let (admitted, enter, first, arrival) = self.way(x, to, s, ready);
        let g = self.params.g.as_ps();
        let p = &mut self.processors[x];
        assert!(p.now <= ask && ask <= arrival, "a message is after its send");
        p.account.gap += ready - overhead - p.now;
        p.account.send += overhead;
        p.account.stall += admitted - ready;
        p.account.stalls += u64::from(admitted > ready);
        p.account.longest_stall = p.account.longest_stall.max(admitted - ready);
        p.account.port += enter - admitted;
        // The gap counts from the last word, and the processor goes on when the first has entered (LogGP 2.1).
        p.out_free = enter + s.max(0) + g;
        p.now = enter;
        let number = p.account.sent;
        p.account.sent += 1;
        let message = Sent { from: x, to, number, words, kind, s, ask, enter, first, arrival };
        self.promised.push(message.clone());
        self.processors[to].inbox.push(message);
    }

    fn take(&mut self, x: usize, message: usize, start: i64) {
        let Sent { from, kind, words, arrival, .. } = self.processors[x].inbox.remove(message);
        let overhead = self.recv_overhead(words);
        let p = &mut self.processors[x];
        let idle = (arrival - p.now).max(0);
        p.account.idle += idle;
        p.account.gap += start - (p.now + idle);
        p.account.recv += overhead;
        p.account.received += 1;
        p.last_start = Some(start);
        p.now = start + overhead;
        match kind {
            Kind::Plain(tag) | Kind::Data(tag, _) => p.came.0[from][tag] += 1,
            Kind::Reply(_) => {}
            // LogGPS 3.1: the receive that takes a request replies, and waits for the data.
            Kind::Request(_, number) => {
                let want = Want::Data(number);
                p.steps.push_front(Take { want, by: None, look: false, hit: None, miss: None });
                p.steps.push_front(Transmit { to: from, kind: Kind::Reply(number), words: 0 });
            }
        }
    }
}

fn by_the_oracle(case: &Case) -> Outcome {
    Oracle::new(case).run()
}

// Comparing.

/// Makes a program on which the two differ as short as it can.
fn shorten(mut case: Case) -> Case {
    let differs = |case: &Case| by_the_oracle(case) != on_the_machine(case);
    loop {
        let calls = |case: &Case| case.program.iter().map(Vec::len).sum::<usize>();
        let before = calls(&case);
        for id in 0..case.program.len() {
            for place in (0..case.program[id].len()).rev() {
                let mut shorter = case.clone();
                shorter.program[id].remove(place);
                if differs(&shorter) {
                    case = shorter;
                }
            }
        }
        if calls(&case) == before {
            return case;
        }
    }
}

/// The two outcomes, where they differ.
fn compare(case: &Case) -> Result<Outcome, String> {
    let (oracle, machine) = (by_the_oracle(case), on_the_machine(case));
    if oracle == machine {
        return Ok(oracle);
    }
    let mut text = format!("{:?}\n{:?}, a barrier of {} ps\n", case.params, case.ports, case.barrier);
    for (id, calls) in case.program.iter().enumerate() {
        text += &format!("  processor {id}: {calls:?}\n");
    }
    match (oracle, machine) {
        (Outcome::Finished(oracle), Outcome::Finished(machine)) => {
            for (id, (oracle, machine)) in oracle.iter().zip(&machine).enumerate() {
                if oracle != machine {
                    text += &format!("processor {id}, oracle:  {oracle:?}\n");
                    text += &format!("processor {id}, machine: {machine:?}\n");
                }
            }
        }
        (oracle, machine) => text += &format!("oracle: {oracle:?}\nmachine: {machine:?}\n"),
    }
    Err(text)
}

// Programs small enough to be done by hand.

/// What a program does on a machine, and then: when each processor finishes, and how long it stalls and waits for
/// its port.
struct ByHand {
    case: Case,
    finish: Vec<i64>,
    stall: Vec<i64>,
    port: Vec<i64>,
}

/// One that neither stalls nor waits for a port.
fn by_hand(parameters: &str, program: &[&[Op]], finish: &[i64]) -> ByHand {
    let params = Params::builder(program.len()).cycle(PS).word(1).set(parameters).unwrap().build().unwrap();
    let program: Vec<Vec<Op>> = program.iter().map(|calls| calls.to_vec()).collect();
    let none = vec![0; program.len()];
    let case = Case { params, ports: Ports::Single, barrier: 3, program };
    ByHand { case, finish: finish.to_vec(), stall: none.clone(), port: none }
}

impl ByHand {
    fn dual(mut self) -> ByHand {
        self.case.ports = Ports::Dual;
        self
    }

    fn stall(self, stall: &[i64]) -> ByHand {
        ByHand { stall: stall.to_vec(), ..self }
    }

    fn port(self, port: &[i64]) -> ByHand {
        ByHand { port: port.to_vec(), ..self }
    }
}

fn short(to: usize) -> Op {
    Send { to, tag: 0, words: 1 }
}

fn long(to: usize, words: usize) -> Op {
    Send { to, tag: 0, words }
}

fn all_by_hand() -> Vec<ByHand> {
    let look = |looks| Poll { tag: 0, looks };
    let self_send = || by_hand("L=1, G=1", &[&[long(0, 6)]], &[10]);
    let beside = |finish: &[i64]| {
        let sends = [Wait(5), long(2, 5), long(2, 11)];
        by_hand("L=10, G=1", &[&sends, &[long(0, 11)], &[]], finish)
    };
    vec![
        // 1's second message asks at 12 only, when the gap is over; so 2's goes at 5 without a stall.
        by_hand("L=2, o=2, g=10", &[&[], &[short(2), short(0)], &[Work(3), short(0)]], &[19, 12, 7]),
        // Who asks at the same moment is served by number. With a capacity of 1 the other stalls.
        by_hand("L=4, g=4", &[&[], &[short(0)], &[short(0)]], &[8, 0, 4]).stall(&[0, 0, 4]),
        by_hand("L=8, g=4", &[&[], &[short(0)], &[short(0)]], &[12, 0, 0]),
        // Long messages to one processor come one after the other; from one, they are a gap apart as well.
        by_hand(
            "L=100, o=2, g=20, G=1",
            &[&[], &[long(0, 101)], &[long(0, 101)], &[long(0, 101)]],
            &[404, 2, 2, 2],
        ),
        by_hand("L=100, o=2, g=20, G=1", &[&[long(1, 101), long(1, 101), long(1, 101)], &[]], &[242, 444]),
        // Where L = 0 a word is never in transit, so it needs no room; a long message does.
        by_hand("L=0, g=4, G=1", &[&[], &[long(0, 11)], &[short(0)], &[long(0, 11)]], &[20, 0, 0, 10])
            .stall(&[0, 0, 0, 10]),
        // 0's port receives in [10, 20): the shorter message fits before that and the longer one does not.
        beside(&[20, 0, 40]).port(&[11, 0, 0]),
        beside(&[20, 0, 29]).dual(),
        // 2 is to enter at 14, after what it receives. Before that there is room for two messages from 3, and for
        // the third when 2's has arrived.
        by_hand(
            "L=4, g=4, G=1",
            &[&[], &[long(2, 11)], &[Wait(3), long(0, 3)], &[Wait(5), short(0), short(0), short(0)]],
            &[24, 0, 14, 20],
        )
        .port(&[0, 0, 11, 0])
        .stall(&[0, 0, 0, 7]),
        // A processor that sends to itself needs a single port twice.
        self_send(),
        by_hand("L=1, G=1", &[&[long(0, 6)]], &[6]).dual(),
        // What takes no time is seen from the next moment on, whoever of the two is first by number; what comes from
        // the processor itself is seen at once.
        by_hand("", &[&[Wait(5), short(1)], &[Wait(5), look(3)]], &[5, 6]),
        by_hand("", &[&[Wait(5), look(3)], &[Wait(5), short(0)]], &[6, 5]),
        by_hand("", &[&[short(0), look(3)]], &[0]),
        // A look in time may end late; one within the gap finds nothing.
        by_hand("L=4, o=3", &[&[short(1)], &[Until { tag: 0, wait: 7 }]], &[3, 10]),
        by_hand("L=4, o=3, g=9", &[&[short(1), short(1)], &[Until { tag: 0, wait: 20 }, look(9)]], &[12, 19]),
        // While its gap runs, 0 receives from 10 to 12.
        by_hand(
            "L=8, o=2, g=20",
            &[&[short(1), SendReceiving { to: 1, tag: 0, words: 1, taking: 0 }], &[short(0)]],
            &[22, 32],
        ),
        // The machine's own barrier costs 3.
        by_hand("", &[&[Work(5), Barrier], &[Barrier, Work(1)]], &[8, 9]),
        // A request is there at 6, the reply at 13, and the data, which take 3 from the first to the last, at 26.
        by_hand("L=5, o=1, s=2, S=2, O_s=1, O_r=1, G_s=1, G_l=1", &[&[long(1, 3)], &[]], &[18, 30]),
        // It arrives at 6, before its overhead is over.
        by_hand("L=1, o=1, s=0, O_s=2, G_l=-1", &[&[long(1, 4)], &[]], &[9, 7]),
    ]
}

#[test]
fn the_oracle_is_right_where_it_can_be_checked_by_hand() {
    for by_hand in all_by_hand() {
        let Outcome::Finished(accounts) = by_the_oracle(&by_hand.case) else { panic!("{:?}", by_hand.case) };
        let part = |part: fn(&Account) -> i64| accounts.iter().map(part).collect::<Vec<i64>>();
        assert_eq!(part(|account| account.finish), by_hand.finish, "{:?}", by_hand.case);
        assert_eq!(part(|account| account.stall), by_hand.stall, "{:?}", by_hand.case);
        assert_eq!(part(|account| account.port), by_hand.port, "{:?}", by_hand.case);
        for account in &accounts {
            let Account { work, send, recv, gap, stall, port, idle, .. } = *account;
            assert_eq!(work + send + recv + gap + stall + port + idle, account.finish, "{:?}", by_hand.case);
        }
    }
}

#[test]
fn the_machine_is_right_where_it_can_be_checked_by_hand() {
    for by_hand in all_by_hand() {
        compare(&by_hand.case).unwrap_or_else(|text| panic!("{text}"));
    }
}

/// Two that send to each other wait for ever, and a third one has finished.
#[test]
fn both_find_a_deadlock() {
    let case = by_hand("s=0, S=0", &[&[long(1, 1)], &[long(0, 1)], &[Work(4)]], &[]).case;
    assert_eq!(compare(&case), Ok(Outcome::Deadlock(vec![None, None, Some(4)])));
}

#[test]
fn random_programs_do_what_the_oracle_says() {
    let replayed = std::env::var("LOGGP_ORACLE_SEED").ok().map(|seed| seed.parse().expect("a number"));
    let seeds = replayed.map_or(0..20_000, |seed: u64| seed..seed + 1);
    let (mut stalls, mut waits_for_ports, mut deadlocks) = (0, 0, 0);
    for seed in seeds {
        let case = draw(seed);
        match compare(&case) {
            Ok(Outcome::Finished(accounts)) => {
                stalls += accounts.iter().map(|account| account.stalls).sum::<u64>();
                waits_for_ports += accounts.iter().filter(|account| account.port > 0).count();
            }
            Ok(_) => deadlocks += 1,
            Err(text) => panic!(
                "seed {seed}: LOGGP_ORACLE_SEED={seed} cargo test -p loggp --test oracle\n{text}\nas short as it can be:\n{}",
                compare(&shorten(case)).unwrap_err()
            ),
        }
    }
    println!("{stalls} stalls, {waits_for_ports} waits for a port, {deadlocks} deadlocks");
}
