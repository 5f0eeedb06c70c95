//! Random machines and programs.

use std::num::NonZeroUsize;

use fastrand::Rng;
use loggp::{Capacity, Latency, Level, Noise, PS, Params, Ports, Protocol, Ties, Time};

use super::machines::{draw_levels, draw_params, longest};
use super::program::Op::*;
use super::program::{Case, GroupCall, Op, Pattern, RequestKind, TAGS};

/// Draws a machine and a program for it. Times are small and often equal, so that much happens at the same
/// time.
pub(crate) fn draw(seed: u64) -> Case {
    let mut rng = Rng::with_seed(seed);
    let P = match rng.usize(0..50) {
        0 => rng.usize(13..=30),
        1..6 => 2,
        _ => rng.usize(1..=12),
    };
    draw_with(draw_params(&mut rng, P), rng, seed)
}

/// Draws a machine with a capacity that is not the usual one, and a program for it; often few messages may be
/// in transit. Returns `None` where the machine is refused, because its G_l is negative.
pub(crate) fn draw_with_capacity(capacity: Capacity, seed: u64) -> Option<Case> {
    let case = draw(seed);
    let rendezvous = if capacity.lasts_until_received() { Protocol::Push } else { case.rendezvous };
    let mut case = Case { capacity, rendezvous, ..case };
    let mut rng = Rng::with_seed(!seed);
    if case.params.C.is_none() && rng.bool() {
        case.params.C = NonZeroUsize::new(rng.usize(1..=4));
    }
    let is_refused = |params: &Params| params.gps().is_some_and(|gps| gps.G_l < Time::ZERO);
    let is_refused = is_refused(&case.params) || case.levels.iter().any(|level| is_refused(&level.params));
    (!is_refused).then_some(case)
}

/// Draws a program that also reaches into memories, often into those of processors that have ended. What it sends
/// there and gets from there is often longer than S.
pub(crate) fn draw_one_sided(seed: u64) -> Case {
    let mut case = draw(seed);
    let mut rng = Rng::with_seed(!seed);
    let P = case.params.P;
    let most = [1, 9, 25][rng.usize(0..3)];
    let all = case.levels.iter().map(|level| &level.params).chain([&case.params]);
    let longest = all.map(|params| longest(params, most)).min().unwrap();
    let hot = rng.usize(0..P);
    for calls in &mut case.program {
        for _ in 0..rng.usize(0..8) {
            let to = if rng.bool() { hot } else { rng.usize(0..P) };
            let (words, asked, back) =
                (rng.usize(0..=longest), rng.usize(0..=longest.min(3)), rng.usize(0..=most));
            // It asks with one word at least, which may be too long already.
            let op = match rng.usize(0..9) {
                0..3 => Put { to, words },
                3..5 if longest > 0 => Get { to, asked, back },
                5..7 if longest > 0 => PostGet { to, asked, back },
                7 => Flush(Some(to).filter(|_| rng.bool())),
                _ => WaitFor { how: RequestKind::Get, place: rng.usize(0..4) },
            };
            let place = rng.usize(0..=calls.len());
            calls.insert(place, op);
        }
    }
    case
}

/// Draws a program of two processors whose messages take no time.
pub(crate) fn draw_instant_pair(seed: u64) -> Case {
    let params =
        Params::builder(2).word(1).cycle(PS).G(Time::ZERO).build().expect("nothing is wrong with zeros");
    let case = draw_with(params, Rng::with_seed(seed), seed);
    Case { latency: Latency::Exact, ties: Ties::Number, levels: vec![], ..case }
}

/// Draws a machine of up to `most` processors and a program for it.
pub(crate) fn draw_large(seed: u64, most: usize) -> Case {
    let mut rng = Rng::with_seed(seed);
    let P = rng.usize(1..=most);
    draw_with(draw_params(&mut rng, P), rng, seed)
}

fn draw_with(params: Params, mut rng: Rng, seed: u64) -> Case {
    let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
    let latency = match rng.usize(0..8) {
        0 => Latency::Random { seed },
        1 => Latency::Exponential { seed },
        _ => Latency::Exact,
    };
    let ties = match rng.usize(0..6) {
        0 => Ties::Random { seed },
        1 => Ties::Rotation,
        _ => Ties::Number,
    };
    let barrier = (rng.usize(0..8) > 0).then(|| rng.i64(-6..=6).max(0));
    let levels = draw_levels(&mut rng, &params);
    let program = Drawing::new(&mut rng, &params, &levels).program();
    let noise = if rng.usize(0..3) == 0 { Some(draw_noise(&mut rng).seed(seed)) } else { None };
    let capacity = Capacity::Arrived;
    let rendezvous = draw_rendezvous(&mut rng, &params, &levels);
    Case { params, levels, ports, rendezvous, capacity, latency, ties, noise, barrier, program }
}

/// Draws who moves long messages. A machine whose G_l is negative does not let receivers pull them.
fn draw_rendezvous(rng: &mut Rng, params: &Params, levels: &[Level]) -> Protocol {
    let can_pull = |params: &Params| params.gps().is_some_and(|gps| gps.G_l >= Time::ZERO);
    let can_pull = can_pull(params) && levels.iter().all(|level| can_pull(&level.params));
    if can_pull && rng.bool() { Protocol::Pull } else { Protocol::Push }
}

/// Draws noise with detours as short as messages.
fn draw_noise(rng: &mut Rng) -> Noise {
    let pairs = |rng: &mut Rng, most: i64| -> Vec<_> {
        let pairs = 0..rng.usize(1..=3);
        pairs.map(|_| (rng.i64(2..=most) * PS, rng.i64(1..=6) * PS)).collect()
    };
    loop {
        let (periods, mut record) = (pairs(rng, 20), pairs(rng, 60));
        record.sort();
        let noise = if rng.bool() { Noise::from_periods(periods) } else { Noise::from_record(record) };
        if let Ok(noise) = noise {
            return if rng.usize(0..5) == 0 { noise.together() } else { noise };
        }
    }
}

/// A program that is being drawn.
struct Drawing<'a> {
    rng: &'a mut Rng,
    P: usize,
    calls: Vec<Vec<Op>>,
    /// The messages sent so far: sender, receiver and tag.
    sent: Vec<(usize, usize, usize)>,
    /// Length of the longest message, and of the longest that a blocking call sends.
    longest: usize,
    longest_blocking: usize,
    /// Number of messages in four that go to one processor, so that senders stall.
    hot: usize,
    heat: usize,
    /// Number of other calls before one call in four.
    busy: usize,
    /// Number of sends and receives in four that are requests.
    requests: usize,
    /// True if all tags are used at any time, and not one after the other.
    mixes_tags: bool,
    /// True if there are collectives.
    meets: bool,
}

impl<'a> Drawing<'a> {
    fn new(rng: &'a mut Rng, params: &Params, levels: &[Level]) -> Drawing<'a> {
        let P = params.P;
        let most = [1, 9, 9, 25][rng.usize(0..4)];
        let all = || levels.iter().map(|level| &level.params).chain([params]);
        let longest = all().map(|params| longest(params, most)).min().unwrap();
        // If all send first and messages wait for their receivers, no processor would start to receive.
        let S = all().filter_map(Params::gps).map(|gps| gps.S).min().unwrap_or(usize::MAX);
        Drawing {
            P,
            calls: vec![vec![]; P],
            sent: vec![],
            longest,
            longest_blocking: if rng.usize(0..8) == 0 { longest } else { longest.min(S) },
            hot: rng.usize(0..P),
            heat: rng.usize(0..4),
            busy: rng.usize(0..4),
            requests: [0, 0, 1, 2, 3][rng.usize(0..5)],
            mixes_tags: rng.bool(),
            meets: rng.usize(0..10) == 0,
            rng,
        }
    }

    fn program(mut self) -> Vec<Vec<Op>> {
        match self.rng.usize(0..3) {
            0 => {
                self.longest_blocking = self.longest;
                self.send_and_receive_in_turn();
            }
            _ => self.rounds(),
        }
        // Without any order some programs deadlock.
        if !self.meets && self.rng.usize(0..10) == 0 {
            self.calls.iter_mut().for_each(|calls| self.rng.shuffle(calls));
        }
        self.calls
    }

    /// Adds messages that are sent and then received. Even if they are all above S, that ends, unless a
    /// receive takes a message too early.
    fn send_and_receive_in_turn(&mut self) {
        for _ in 0..self.rng.usize(1..=3 * self.P) {
            let (from, to, tag) = (self.rng.usize(0..self.P), self.to(), self.rng.usize(0..TAGS));
            self.other_call(from);
            let before = from != to && self.rng.usize(0..4) == 0;
            if before {
                self.receive(to, Some(from), tag);
            }
            self.send(from, to, tag);
            self.other_call(to);
            if !before {
                self.receive(to, Some(from), tag);
            }
            if self.rng.usize(0..20) == 0 {
                self.collective_call();
            }
        }
    }

    /// Adds rounds in which all send, and then receive all messages to them.
    fn rounds(&mut self) {
        for round in 0..self.rng.usize(1..=TAGS) {
            if self.rng.usize(0..6) == 0 {
                self.shift(round);
            }
            let mut comes = vec![vec![]; self.P];
            for id in 0..self.P {
                for _ in 0..self.rng.usize(0..=4) {
                    self.other_call(id);
                    let (to, tag) =
                        (self.to(), if self.mixes_tags { self.rng.usize(0..TAGS) } else { round });
                    self.send(id, to, tag);
                    comes[to].push((id, tag));
                }
            }
            for (id, mut comes) in comes.into_iter().enumerate() {
                match self.rng.usize(0..3) {
                    // Later.
                    0 => {}
                    in_order => {
                        if in_order == 2 {
                            self.rng.shuffle(&mut comes);
                        }
                        for (from, tag) in comes {
                            self.other_call(id);
                            self.receive(id, Some(from).filter(|_| in_order == 2), tag);
                        }
                    }
                }
            }
            if self.rng.usize(0..4) == 0 {
                self.collective_call();
            }
        }
    }

    /// Adds a round in which all send to one neighbour and receive from another.
    fn shift(&mut self, round: usize) {
        let by = self.rng.usize(0..self.P);
        for id in 0..self.P {
            self.other_call(id);
            let (to, from, words) = ((id + by) % self.P, (id + self.P - by) % self.P, self.words());
            self.sent.push((id, to, round));
            self.calls[id].push(SendRecv { to, tag: round, words, from });
        }
    }

    fn words(&mut self) -> usize {
        self.rng.usize(0..=self.longest)
    }

    fn to(&mut self) -> usize {
        if self.rng.usize(0..4) < self.heat { self.hot } else { self.rng.usize(0..self.P) }
    }

    fn is_request(&mut self) -> bool {
        self.rng.usize(0..4) < self.requests
    }

    fn send(&mut self, from: usize, to: usize, tag: usize) {
        self.sent.push((from, to, tag));
        if self.is_request() {
            let words = self.words();
            return self.calls[from].push(Isend { to, tag, words });
        }
        let words = self.rng.usize(0..=self.longest_blocking);
        let op = match self.rng.usize(0..4) {
            0 => SendReceiving { to, tag, words, taking: self.rng.usize(0..TAGS) },
            _ => Send { to, tag, words },
        };
        self.calls[from].push(op);
    }

    /// Adds a receive of a message from one sender, of the first with its tag, or of any.
    fn receive(&mut self, id: usize, from: Option<usize>, tag: usize) {
        let from = from.filter(|_| self.rng.usize(0..3) > 0);
        let tag = Some(tag).filter(|_| !self.mixes_tags || self.rng.usize(0..6) > 0);
        let pattern = Pattern { from, tag };
        if self.is_request() {
            return self.calls[id].push(Irecv(pattern));
        }
        // No receive waits for a message that is sent later.
        let all =
            self.sent.iter().filter(|(from, to, tag)| *to == id && pattern.can_take(*from, *tag)).count();
        let upto = self.rng.usize(0..=all);
        self.calls[id].push(Recv { pattern, upto });
    }

    /// Adds a collective of all processors, or of some.
    fn collective_call(&mut self) {
        if !self.meets {
            return self.calls.iter_mut().for_each(|calls| calls.push(Barrier));
        }
        let mut who: Vec<usize> = (0..self.P).collect();
        self.rng.shuffle(&mut who);
        who.truncate(self.rng.usize(1..=self.P));
        let what = [GroupCall::Barrier, GroupCall::Broadcast, GroupCall::AllReduce, GroupCall::AllToAll]
            [self.rng.usize(0..4)];
        for id in &who {
            self.calls[*id].push(Together(what, who.clone()));
        }
    }

    /// Adds one of the other calls.
    fn other_call(&mut self, id: usize) {
        if self.rng.usize(0..4) >= self.busy {
            return;
        }
        let how = RequestKind::ALL[self.rng.usize(0..4)];
        let (tag, place) = (self.rng.usize(0..TAGS), self.rng.usize(0..4));
        let from = (self.rng.usize(0..4) == 0).then(|| self.rng.usize(0..self.P));
        let pattern = Pattern { from, tag: (self.rng.usize(0..4) > 0).then_some(tag) };
        let kinds = if self.requests > 0 { 11 } else { 6 };
        let op = match self.rng.usize(0..kinds) {
            0 | 1 => Work(self.rng.i64(0..=8)),
            2 => Wait(self.rng.i64(0..=8)),
            3 => Until { pattern, wait: self.rng.i64(-2..=12) },
            4 => Poll { pattern, looks: self.rng.usize(1..=20) },
            5 => Probe { pattern, looks: self.rng.usize(1..=6) },
            6 | 7 => Test { how, place, looks: self.rng.usize(1..=8) },
            8 if self.rng.usize(0..4) == 0 => WaitAll(how),
            8 | 9 => WaitFor { how, place },
            _ => WaitAny(how),
        };
        self.calls[id].push(op);
    }
}
