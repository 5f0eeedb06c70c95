//! One-sided messages: exact times, a reading of the rule by brute force, and all that a trace is good for.

use loggp::audit::audit;
use loggp::replay::Replay;
use loggp::schedule::{Operation, Player, Schedule, ScheduleBuilder};
use loggp::trace::Trace;
use loggp::{
    Capacity, ClockKind, Dilation, Latency, Level, Machine, Params, Ports, Proc, Run, Tag, Time, US,
};

use crate::cases::seeds;

const WORD: Tag<u64> = Tag::new(0);

/// The bytes of a word.
const BYTES: usize = 8;

/// L = 6, o = 2, g = 4 and G = 1.
fn params(P: usize) -> Params {
    Params::builder(P).L(6 * US).o(2 * US).g(4 * US).G(US).word(BYTES).build().unwrap()
}

/// Runs a program on all clocks and on two cores, and audits, stores and replays its trace. Returns the run.
fn run_everywhere<R: Send + PartialEq + std::fmt::Debug>(
    machine: &Machine,
    program: impl Fn(&mut Proc) -> R + Sync,
) -> Run<R> {
    let machine = machine.clone().trace(true);
    let run = machine.run(&program).unwrap();
    let trace = run.trace.as_ref().unwrap();
    assert_eq!(audit(trace).violations, [], "{:#?}", trace.messages);
    let mut file = Vec::new();
    trace.write_compact(&mut file).unwrap();
    assert_eq!(Trace::read(&file[..]).as_ref(), Ok(trace));
    let again = Replay::new(trace).trace(true).run().unwrap();
    assert_eq!(again.trace.as_ref().map(|again| &again.messages), Some(&trace.messages));
    let wall = machine.clone().clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0)).cores(1);
    for other in [machine.cores(2).oversubscribed(true), wall] {
        let other = other.run(&program).unwrap();
        assert_eq!((&other.results, other.trace.as_ref()), (&run.results, Some(trace)));
    }
    run
}

#[test]
fn put_costs_its_sender_what_a_message_does_and_its_target_nothing() {
    let run = run_everywhere(&Machine::new(params(2)), |p| {
        if p.id() == 1 {
            return vec![];
        }
        p.put(1, 6 * BYTES);
        let entered = p.now(); // its last word enters at 7, and arrives at 13
        p.put(1, BYTES);
        let second = p.now(); // 7 + g
        p.flush(Some(1));
        let known = p.now(); // there at 17, and that is known at 23
        p.flush(None);
        vec![entered, second, known, p.now()]
    });
    assert_eq!(run.results[0], [2, 11, 23, 23].map(|us| us * US));
    assert_eq!(run.processors[1].finish, Time::ZERO);
}

/// LogP, section 3.2: "reading a remote location requires time 2L + 4o", of which 2o are the target's.
#[test]
fn get_is_a_request_and_an_answer_without_overhead_at_the_memory() {
    let run = run_everywhere(&Machine::new(params(2)), |p| {
        if p.id() == 1 {
            return [Time::ZERO; 3];
        }
        p.get(1, 0, BYTES);
        let word = p.now(); // 2L + 2o
        p.get(1, 0, 6 * BYTES);
        let long = p.now(); // 2L + 2o + 5G later
        p.get(1, 3 * BYTES, BYTES); // an atomic with three words
        [word, long, p.now()]
    });
    assert_eq!(run.results[0], [16, 16 + 21, 37 + 18].map(|us| us * US));
}

/// LogP, section 3.2: "Prefetch operations, which initiate a read and continue, can be issued every g cycles".
#[test]
fn posted_gets_are_issued_every_g() {
    let run = run_everywhere(&Machine::new(params(2)), |p| {
        if p.id() == 1 {
            return vec![];
        }
        let gets = [(); 3].map(|()| p.post_get(1, 0, BYTES));
        let mut times = vec![p.now()];
        times.extend(gets.map(|get| {
            p.wait(get);
            p.now()
        }));
        times
    });
    assert_eq!(run.results[0], [6, 16, 20, 24].map(|us| us * US));
}

/// Two answers of a memory share its port, and what its processor sends through its only one.
#[test]
fn answers_share_the_ports() {
    let program = |p: &mut Proc| {
        match p.id() {
            0 if p.P() > 3 => p.put(3, 11 * BYTES), // through the port from 2 to 12
            0 => {}
            3 => {}
            _ => p.get(0, 0, 6 * BYTES),
        }
        p.now()
    };
    let ends = |machine: &Machine| run_everywhere(machine, program).results;
    // Both requests are there at 8. The first words of the answers are there at 14 and at 19.
    assert_eq!(ends(&Machine::new(params(3))), [0, 21, 26].map(|us| us * US));
    assert_eq!(ends(&Machine::new(params(3)).ports(Ports::Dual)), [0, 21, 26].map(|us| us * US));
    assert_eq!(ends(&Machine::new(params(4))), [2, 25, 30, 0].map(|us| us * US));
    assert_eq!(ends(&Machine::new(params(4)).ports(Ports::Dual)), [2, 25, 30, 0].map(|us| us * US));
}

/// A put or a get of an ordinary program beside its messages.
#[derive(Clone, Copy, Debug)]
enum Act {
    Put(usize, usize),
    Get(usize, usize),
    Flush(usize),
    Work(u64),
}

fn draw_acts(rng: &mut fastrand::Rng, P: usize) -> Vec<Act> {
    let act = |rng: &mut fastrand::Rng| match rng.u8(..8) {
        0..3 => Act::Put(rng.usize(..P), rng.usize(1..5)),
        3..6 => Act::Get(rng.usize(..P), rng.usize(1..5)),
        6 => Act::Flush(rng.usize(..P)),
        _ => Act::Work(rng.u64(1..9)),
    };
    (0..rng.usize(1..7)).map(|_| act(rng)).collect()
}

/// The rule read by brute force: each moment of each place in the network is looked at, in whole units.
struct BruteForce {
    numbers: [usize; 4],
    is_dual: bool,
    capacity: usize,
    /// The number of messages at each moment, by the kind of place and the processor.
    taken: [Vec<Vec<usize>>; 5],
}

// The kinds of places.
const FROM: usize = 0;
const TO: usize = 1;
const MEMORY: usize = 2;
const OUT: usize = 3;
/// Into a processor, or the only port.
const IN: usize = 4;

impl BruteForce {
    fn has_room(&self, place: usize, id: usize, most: usize, begin: usize, end: usize) -> bool {
        self.taken[place][id][begin..end].iter().all(|taken| *taken < most)
    }

    /// Sends a message, and returns when it enters, and when it arrives.
    fn pass(&mut self, from: (usize, usize), to: usize, words: usize, ready: usize) -> (usize, usize) {
        let [L, _, _, G] = self.numbers;
        let stream = (words - 1) * G;
        let out = if self.is_dual { OUT } else { IN };
        let latency = if out == IN && from.1 == to { L.max(stream) } else { L };
        for enter in ready.. {
            let is_free = |first: &usize| self.has_room(IN, to, 1, *first, first + stream);
            let arrival = (enter + latency..).find(is_free).unwrap() + stream;
            let is_through = self.has_room(out, from.1, 1, enter, enter + stream);
            let has_room = |place, id| self.has_room(place, id, self.capacity, enter, arrival);
            if is_through && has_room(from.0, from.1) && has_room(TO, to) {
                for (place, id, begin, end) in [
                    (from.0, from.1, enter, arrival),
                    (TO, to, enter, arrival),
                    (out, from.1, enter, enter + stream),
                    (IN, to, arrival - stream, arrival),
                ] {
                    self.taken[place][id][begin..end].iter_mut().for_each(|taken| *taken += 1);
                }
                return (enter, arrival);
            }
        }
        unreachable!()
    }

    fn run(&mut self, programs: &[Vec<Act>]) -> Vec<usize> {
        let [L, o, g, G] = self.numbers;
        let P = programs.len();
        let (mut now, mut sent, mut received) = (vec![0; P], vec![0; P], vec![0; P]);
        let (mut known, mut next) = (vec![vec![0; P]; P], vec![0; P]);
        loop {
            for id in 0..P {
                while let Some(act) = programs[id].get(next[id]) {
                    match *act {
                        Act::Flush(to) => now[id] = now[id].max(known[id][to]),
                        Act::Work(units) => now[id] += units as usize,
                        _ => break,
                    }
                    next[id] += 1;
                }
            }
            let ready = |id: &usize| (sent[*id].max(now[*id] + o), *id);
            let acting = (0..P).filter(|id| next[*id] < programs[*id].len());
            let Some(id) = acting.min_by_key(ready) else { return now };
            let ready = ready(&id).0;
            match programs[id][next[id]] {
                Act::Put(to, words) => {
                    let (enter, arrival) = self.pass((FROM, id), to, words, ready);
                    (now[id], sent[id]) = (enter, enter + (words - 1) * G + g);
                    known[id][to] = known[id][to].max(arrival + L);
                }
                Act::Get(to, words) => {
                    let (enter, arrival) = self.pass((FROM, id), to, 1, ready);
                    let (_, there) = self.pass((MEMORY, to), id, words, arrival);
                    sent[id] = enter + g;
                    let start = there.max(received[id]);
                    (now[id], received[id]) = (start + o, start + g);
                }
                Act::Flush(_) | Act::Work(_) => unreachable!(),
            }
            next[id] += 1;
        }
    }
}

#[test]
fn machine_agrees_with_a_reading_by_brute_force() {
    for seed in seeds(300) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let P = rng.usize(1..5);
        let numbers = [rng.usize(1..9), rng.usize(1..4), rng.usize(1..6), rng.usize(0..4)];
        let [L, o, g, G] = numbers;
        let programs: Vec<_> = (0..P).map(|_| draw_acts(&mut rng, P)).collect();
        let is_dual = rng.bool();
        let us = |number: usize| number as i64 * US;
        let params = Params::builder(P).L(us(L)).o(us(o)).g(us(g)).G(us(G)).word(BYTES).build().unwrap();
        let machine = Machine::new(params).ports(if is_dual { Ports::Dual } else { Ports::Single });
        let program = |p: &mut Proc| {
            for act in &programs[p.id()] {
                match *act {
                    Act::Put(to, words) => p.put(to, words * BYTES),
                    Act::Get(to, words) => p.get(to, 0, words * BYTES),
                    Act::Flush(to) => p.flush(Some(to)),
                    Act::Work(units) => p.work("work", units, || ()),
                }
            }
            p.now()
        };
        let ends = machine.trace(true).run(program).unwrap();
        let mut by_force = BruteForce {
            numbers,
            is_dual,
            capacity: L.div_ceil(g),
            taken: std::array::from_fn(|_| vec![vec![0; 2000]; P]),
        };
        let expected: Vec<Time> = by_force.run(&programs).into_iter().map(us).collect();
        assert_eq!(ends.results, expected, "seed {seed}, {numbers:?}, dual: {is_dual}, {programs:?}");
        let trace = ends.trace.as_ref().unwrap();
        let found = audit(trace);
        assert_eq!(found.violations, [], "seed {seed}, {numbers:?}, dual: {is_dual}, {programs:?}");
        // A schedule of the same acts in a row is played alike.
        let player = Player::new(trace.params).ports(trace.ports).trace(true);
        let played = player.run(&schedule_of(&programs)).unwrap();
        assert_eq!(played.finishes, ends.results, "seed {seed}, {numbers:?}, dual: {is_dual}, {programs:?}");
        let again = played.trace.unwrap();
        assert_eq!(again.messages, trace.messages, "seed {seed}, {numbers:?}, dual: {is_dual}, {programs:?}");
        assert_eq!(played.operations.len(), again.messages.len());
        let found = audit(&again);
        assert_eq!(found.violations, [], "played, seed {seed}, {numbers:?}, dual: {is_dual}, {programs:?}");
    }
}

/// Returns the acts as operations, each of which waits for the one before.
fn schedule_of(programs: &[Vec<Act>]) -> Schedule {
    let mut builder = ScheduleBuilder::new(programs.len()).unwrap();
    for (rank, acts) in programs.iter().enumerate() {
        builder.begin_rank(rank).unwrap();
        for act in acts {
            let operation = builder.add(match *act {
                Act::Put(to, words) => Operation::Put { to: to as u32, bytes: (words * BYTES) as u64 },
                Act::Get(from, words) => {
                    Operation::Get { from: from as u32, asked: 0, bytes: (words * BYTES) as u64 }
                }
                Act::Flush(to) => Operation::Flush { to: Some(to as u32) },
                Act::Work(units) => Operation::Calc(units as i64 * US),
            });
            let operation = operation.unwrap();
            if operation > 0 {
                builder.require_done(operation, operation - 1).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

/// One-sided messages among others: requests, receives, levels, drawn latencies.
#[test]
fn one_sided_messages_go_beside_others() {
    for seed in seeds(40) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let acts: Vec<_> = (0..4).map(|_| draw_acts(&mut rng, 4)).collect();
        let mut machine = Machine::new(params(4));
        if rng.bool() {
            machine = machine.ports(Ports::Dual);
        }
        match rng.u8(..4) {
            0 => machine = machine.latency(Latency::Random { seed }),
            1 => {
                machine =
                    machine.levels([Level::new(Params { P: 2, L: US, o: US, ..params(2) }).one_port(true)])
            }
            2 => {
                let text = "L=6us,o=2us,g=1us,O_s=100ns,O_r=200ns,G_s=1us,G_l=-200ns,s=2,S=3";
                let gps = Params::builder(4).word(BYTES).set(text).unwrap().build().unwrap();
                machine = Machine::new(gps);
            }
            _ => (),
        }
        run_everywhere(&machine, |p| {
            let (id, P) = (p.id(), p.P());
            let mut gets = Vec::new();
            for (number, act) in acts[id].iter().enumerate() {
                match *act {
                    Act::Put(to, words) => p.put(to, words * BYTES),
                    Act::Get(to, words) if number % 2 == 0 => p.get(to, words * BYTES, BYTES),
                    Act::Get(to, words) => gets.push(p.post_get(to, 0, words * BYTES)),
                    Act::Flush(to) => p.flush(Some(to)),
                    Act::Work(units) => p.work("work", units, || ()),
                }
            }
            let sent = p.isend((id + 1) % P, WORD, 7);
            p.recv(WORD.from((id + P - 1) % P));
            p.wait_all(gets);
            p.wait(sent);
            p.flush(None);
            p.now()
        });
    }
}

#[test]
fn auditor_finds_an_answer_that_comes_too_late_or_is_not_asked_for() {
    let get = |p: &mut Proc| {
        if p.id() == 0 {
            p.get(1, 0, 3 * BYTES)
        }
    };
    let trace = Machine::new(params(2)).trace(true).run(get).unwrap().trace.unwrap();
    let sentences =
        |trace: &Trace| audit(trace).violations.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(sentences(&trace), [""; 0]);
    let mut late = trace.clone();
    let answer = &mut late.messages[1];
    (answer.enter, answer.first, answer.arrival) = (9 * US, 15 * US, 17 * US);
    for activity in &mut late.activities[1..] {
        activity.end = activity.end.max(17 * US);
    }
    let found = sentences(&late);
    assert!(
        found.iter().any(|it| it
            .contains("message 1 of processor 0 to 0 waits for a port until 9 us, and could enter at 8 us")),
        "{found:?}"
    );
    let mut short = trace;
    short.messages[1].words = 2;
    let found = sentences(&short);
    assert!(found.iter().any(|it| it.contains("get at 0 us is not answered with 3 words")), "{found:?}");
}

#[test]
fn memory_does_not_receive_so_a_capacity_until_received_is_refused() {
    let machine = Machine::new(params(2)).capacity(Capacity::Received);
    let refusal = machine
        .run(|p| {
            if p.id() == 0 {
                p.put(1, BYTES)
            }
        })
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("leave out --capacity received"), "{refusal}");
}
