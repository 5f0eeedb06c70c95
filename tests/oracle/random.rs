//! Programs that are data, and such programs drawn at random.

use loggp::{LogGps, PS, Params, Ports, Proc, Tag, Time};

/// What all messages are about; they differ by its steps.
pub const MESSAGE: Tag<Vec<u8>> = Tag::new(0);

/// Tags are below this.
pub const TAGS: usize = 3;

/// A call of a program. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// So many units of work, a cycle each.
    Work(i64),
    /// `wait_until` so much later.
    Wait(i64),
    /// The machine's own barrier.
    Barrier,
    Send {
        to: usize,
        tag: usize,
        words: usize,
    },
    SendReceiving {
        to: usize,
        tag: usize,
        words: usize,
        taking: usize,
    },
    /// Receives until so many messages with this tag have come in all, from this processor or from anyone.
    Recv {
        from: Option<usize>,
        tag: usize,
        upto: usize,
    },
    /// One `recv_until`, so much later.
    Until {
        tag: usize,
        wait: i64,
    },
    /// So many `try_recv`, or fewer if one finds a message.
    Poll {
        tag: usize,
        looks: usize,
    },
}

use Op::*;

/// A machine and a program for it: each processor's calls.
#[derive(Clone, Debug)]
pub struct Case {
    pub params: Params,
    pub ports: Ports,
    pub barrier: i64,
    pub program: Vec<Vec<Op>>,
}

impl Case {
    /// How many messages with this tag the program sends to a processor, from one or from all.
    pub fn sent(&self, from: Option<usize>, to: usize, tag: usize) -> usize {
        let senders = (0..self.program.len()).filter(|id| from.is_none_or(|from| from == *id));
        let counts = |op: &&Op| match **op {
            Send { to: t, tag: u, .. } | SendReceiving { to: t, tag: u, .. } => (t, u) == (to, tag),
            _ => false,
        };
        senders.map(|id| self.program[id].iter().filter(counts).count()).sum()
    }

    /// The program that is run: nobody waits for more than is sent, and at last everyone receives what is left.
    pub fn complete(&self) -> Vec<Vec<Op>> {
        let of = |id: usize| {
            let calls = self.program[id].iter().map(|op| match op.clone() {
                Recv { from, tag, upto } => Recv { from, tag, upto: upto.min(self.sent(from, id, tag)) },
                op => op,
            });
            let rest = (0..TAGS).map(|tag| Recv { from: None, tag, upto: self.sent(None, id, tag) });
            calls.chain(rest).collect()
        };
        (0..self.program.len()).map(of).collect()
    }
}

/// How many messages have come to a processor: by sender and tag.
#[derive(Clone, Debug)]
pub struct Came(pub Vec<[usize; TAGS]>);

impl Came {
    pub fn count(&self, from: Option<usize>, tag: usize) -> usize {
        match from {
            Some(from) => self.0[from][tag],
            None => self.0.iter().map(|tags| tags[tag]).sum(),
        }
    }
}

/// Makes the calls.
pub fn live(p: &mut Proc, calls: &[Op]) {
    type Message = (usize, Vec<u8>);
    let message = |words| vec![0_u8; words];
    let mut came = Came(vec![[0; TAGS]; p.p()]);
    let count = |came: &mut Came, tag: usize, got: Option<Message>| {
        if let Some((from, _)) = &got {
            came.0[*from][tag] += 1;
        }
        got.is_some()
    };
    for op in calls {
        match *op {
            Work(units) => p.work("work", units as u64, || ()),
            Wait(time) => p.wait_until(p.now() + time * PS),
            Barrier => p.barrier(),
            Send { to, tag, words } => p.send(to, MESSAGE.step(tag), message(words)),
            SendReceiving { to, tag, words, taking } => {
                let take = |_: &mut Proc, from: usize, got| _ = count(&mut came, taking, Some((from, got)));
                p.send_receiving(to, MESSAGE.step(tag), message(words), MESSAGE.step(taking), take);
            }
            Recv { from, tag, upto } => {
                while came.count(from, tag) < upto {
                    let got = match from {
                        Some(from) => (from, p.recv_from(from, MESSAGE.step(tag))),
                        None => p.recv(MESSAGE.step(tag)),
                    };
                    count(&mut came, tag, Some(got));
                }
            }
            Until { tag, wait } => {
                let got = p.recv_until(p.now() + wait * PS, MESSAGE.step(tag));
                count(&mut came, tag, got);
            }
            Poll { tag, looks } => {
                (0..looks).any(|_| count(&mut came, tag, p.try_recv(MESSAGE.step(tag))));
            }
        }
    }
}

/// Draws a machine and a program for it. Times are small and often equal, so that much happens at the same time.
pub fn draw(seed: u64) -> Case {
    let mut rng = fastrand::Rng::with_seed(seed);
    let P = if rng.usize(0..50) == 0 { rng.usize(13..=30) } else { rng.usize(1..=12) };
    let params = draw_params(&mut rng, P);
    let program = draw_program(&mut rng, &params);
    let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
    Case { params, ports, barrier: rng.i64(-6..=6).max(0), program }
}

pub fn draw_params(rng: &mut fastrand::Rng, P: usize) -> Params {
    loop {
        let unit = [1, 1, 2, 5][rng.usize(0..4)];
        let mut time = |most: i64| rng.i64(-1..=most).max(0) * unit * PS;
        let (L, o, g, G) = (time(12), time(4), time(8), time(3));
        let (O_s, O_r, G_s, G_l) = (time(1), time(1), time(2), time(5) - time(2) - time(2));
        let params = Params::builder(P).word(1).cycle(rng.i64(1..=3) * PS).o(o);
        let params = match rng.usize(0..10) {
            // LogP, with a capacity of 1 or 2.
            0..4 => {
                let g = g.max(PS);
                params.g(g).L(Time::from_ps(rng.i64(0..=2 * g.as_ps())))
            }
            4..8 => params.g(g).L(L).G(G),
            _ => {
                let s = rng.usize(0..6);
                let S = if rng.bool() { usize::from(u16::MAX) } else { s + rng.usize(0..5) };
                let g = if rng.bool() { g } else { Time::ZERO };
                params.g(g).L(L).gps(LogGps { s, S, O_s, O_r, G_s, G_l })
            }
        };
        // No machine's G_l takes back more from a word than there is.
        if let Ok(params) = params.build() {
            return params;
        }
    }
}

/// The longest message that does not arrive before its send is called.
pub fn longest(params: &Params, most: usize) -> usize {
    let Some(gps) = params.gps() else { return most };
    let fits = |words: usize| {
        let (short, long) = (words.min(gps.s) as i64, words.saturating_sub(gps.s) as i64);
        let k = words as i64;
        params.o + k * gps.O_s + params.L + short * gps.G_s + long * gps.G_l >= Time::ZERO
    };
    (0..=most).take_while(|words| fits(*words)).last().unwrap()
}

pub fn draw_program(rng: &mut fastrand::Rng, params: &Params) -> Vec<Vec<Op>> {
    let P = params.P;
    let mut program = vec![vec![]; P];
    let longest = longest(params, [1, 9, 9, 25][rng.usize(0..4)]);
    // Many messages go to one processor, so that senders stall.
    let (hot, heat) = (rng.usize(0..P), rng.usize(0..4));
    let busy = rng.usize(0..4);
    let to = |rng: &mut fastrand::Rng| if rng.usize(0..4) < heat { hot } else { rng.usize(0..P) };
    let send = |rng: &mut fastrand::Rng, to: usize, tag: usize| {
        let words = rng.usize(0..=longest);
        match rng.usize(0..4) {
            0 => SendReceiving { to, tag, words, taking: rng.usize(0..TAGS) },
            _ => Send { to, tag, words },
        }
    };
    let other = |rng: &mut fastrand::Rng, calls: &mut Vec<Op>| {
        if rng.usize(0..4) < busy {
            calls.push(match rng.usize(0..5) {
                0 | 1 => Work(rng.i64(0..=8)),
                2 => Wait(rng.i64(0..=8)),
                3 => Until { tag: rng.usize(0..TAGS), wait: rng.i64(-2..=12) },
                _ => Poll { tag: rng.usize(0..TAGS), looks: rng.usize(1..=20) },
            });
        }
    };
    if rng.usize(0..3) == 0 {
        // One message after the other: each is sent, and then received. Even if they are all above S, that comes to an
        // end, unless somebody takes a message too early.
        for _ in 0..rng.usize(1..=3 * P) {
            let (from, to, tag) = (rng.usize(0..P), to(rng), rng.usize(0..TAGS));
            other(rng, &mut program[from]);
            program[from].push(send(rng, to, tag));
            other(rng, &mut program[to]);
            let from = (rng.usize(0..3) > 0).then_some(from);
            let so_far = Case { params: *params, ports: Ports::Single, barrier: 0, program: program.clone() };
            program[to].push(Recv { from, tag, upto: so_far.sent(from, to, tag) });
            if rng.usize(0..20) == 0 {
                program.iter_mut().for_each(|calls| calls.push(Barrier));
            }
        }
    } else {
        // Rounds: all send, and then receive what was sent to them.
        for round in 0..rng.usize(1..=TAGS) {
            let mut comes = vec![vec![0; P]; P];
            for id in 0..P {
                for _ in 0..rng.usize(0..=4) {
                    other(rng, &mut program[id]);
                    let to = to(rng);
                    program[id].push(send(rng, to, round));
                    comes[to][id] += 1;
                }
            }
            for (calls, comes) in program.iter_mut().zip(&comes) {
                match rng.usize(0..3) {
                    // Later.
                    0 => {}
                    1 => {
                        for upto in 1..=comes.iter().sum() {
                            other(rng, calls);
                            calls.push(Recv { from: None, tag: round, upto });
                        }
                    }
                    _ => {
                        let mut sources: Vec<usize> = (0..P).filter(|from| comes[*from] > 0).collect();
                        rng.shuffle(&mut sources);
                        for from in sources {
                            calls.push(Recv { from: Some(from), tag: round, upto: comes[from] });
                        }
                    }
                }
            }
            if rng.usize(0..4) == 0 {
                program.iter_mut().for_each(|calls| calls.push(Barrier));
            }
        }
    }
    // Without any order some will wait for each other for ever.
    if rng.usize(0..10) == 0 {
        program.iter_mut().for_each(|calls| rng.shuffle(calls));
    }
    program
}
