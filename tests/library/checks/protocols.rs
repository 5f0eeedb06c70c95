//! Tests of checks of protocols whose mistakes show only if several messages are late together.

use loggp::check::{Check, CheckReport, Strategy};
use loggp::{Machine, Params, Proc, Tag, US};

use crate::cases::times;

/// Creates a machine on which a message can be late for longer than a phase of a protocol takes.
fn machine(P: usize) -> Machine {
    Machine::new(Params::builder(P).L(100 * US).o(US).g(US).build().unwrap())
}

/// A question to a replica: its number, and the timestamp to write, if any. The number is the step of the
/// answer's tag.
const ASK: Tag<(usize, Option<usize>)> = Tag::named(0, "ask");
const ANSWER: Tag<usize> = Tag::named(1, "answer");
const NEXT: Tag<()> = Tag::named(100, "next");

/// Asks all replicas, and returns the latest timestamp among the first answers of a majority.
fn ask(p: &mut Proc, question: usize, write: Option<usize>) -> usize {
    let replicas = 3..p.P();
    replicas.clone().for_each(|replica| p.send(replica, ASK, (question, write)));
    let majority = replicas.len() / 2 + 1;
    (0..majority).map(|_| p.recv(ANSWER.step(question))).max().unwrap()
}

/// A register of five replicas: one processor writes twice, and a second one reads after the first one has
/// read. A right reader writes back the value that it has read. Returns the value that was read.
fn register(p: &mut Proc, writes_back: bool) -> usize {
    let reader_asks = if writes_back { 2 } else { 1 };
    let read = |p: &mut Proc| {
        let read = ask(p, 0, None);
        if writes_back {
            ask(p, 1, Some(read));
        }
        read
    };
    let (read, asked) = match p.id() {
        0 => {
            (1..=2).for_each(|timestamp| _ = ask(p, timestamp - 1, Some(timestamp)));
            (0, 2)
        }
        1 => {
            p.wait_until(30 * US); // while the second value is written
            let read = read(p);
            p.send(2, NEXT, ());
            (read, reader_asks)
        }
        2 => {
            p.recv(NEXT.from(1));
            (read(p), reader_asks)
        }
        _ => {
            let mut latest = 0;
            for _ in 0..2 + 2 * reader_asks {
                let (from, (question, write)) = p.recv_with_sender(ASK);
                latest = latest.max(write.unwrap_or(0));
                p.send(from, ANSWER.step(question), latest);
            }
            return 0;
        }
    };
    // The answers that came too late to matter.
    let late = (p.P() - 3) / 2;
    (0..asked).for_each(|question| (0..late).for_each(|_| _ = p.recv(ANSWER.step(question))));
    read
}

/// Verifies that the second reader has no older value than the first.
fn is_not_stale(read: &[usize]) -> Result<(), String> {
    let (one, two) = (read[1], read[2]);
    if one <= two { Ok(()) } else { Err(format!("{one} was read, and then {two}")) }
}

/// A question to an acceptor: to promise a ballot, to accept a value in it, or neither.
const BALLOT: Tag<(usize, Option<usize>, bool)> = Tag::named(0, "ballot");
/// An acceptor's answer: whether it promises, and the ballot and value that it has accepted.
const PROMISE: Tag<(bool, (usize, usize))> = Tag::named(1, "promise");
const ACCEPTED: Tag<bool> = Tag::named(2, "accepted");

/// Two proposers and three acceptors agree on a value (Paxos). The second proposer takes over when the first
/// has asked for its value to be accepted. A wrong acceptor accepts any ballot. Returns the value that a
/// proposer takes to be decided, or 0.
fn paxos(p: &mut Proc, accepts_any: bool) -> usize {
    let acceptors = 2..p.P();
    let majority = acceptors.len() / 2 + 1;
    if p.id() >= 2 {
        let (mut promised, mut accepted) = (0, (0, 0));
        for _ in 0..4 {
            match p.recv_with_sender(BALLOT) {
                (from, (ballot, None, true)) => {
                    let promises = ballot > promised;
                    promised = promised.max(ballot);
                    p.send(from, PROMISE, (promises, accepted));
                }
                (from, (ballot, Some(value), _)) => {
                    let accepts = accepts_any || ballot >= promised;
                    if accepts {
                        (promised, accepted) = (promised.max(ballot), (ballot, value));
                    }
                    p.send(from, ACCEPTED, accepts);
                }
                _ => (),
            }
        }
        return 0;
    }
    if p.id() == 1 {
        p.recv(NEXT.from(0));
    }
    let ballot = 1 + p.id();
    acceptors.clone().for_each(|acceptor| p.send(acceptor, BALLOT, (ballot, None, true)));
    let (mut promises, mut came, mut before) = (0, 0, (0, 0));
    while promises < majority && came < acceptors.len() {
        let (promised, accepted) = p.recv(PROMISE);
        came += 1;
        if promised {
            promises += 1;
            before = before.max(accepted);
        }
    }
    let value = (promises >= majority).then_some(if before.0 > 0 { before.1 } else { 10 + p.id() });
    acceptors.clone().for_each(|acceptor| p.send(acceptor, BALLOT, (ballot, value, false)));
    if p.id() == 0 {
        p.send(1, NEXT, ());
    }
    let answers = if value.is_some() { acceptors.len() } else { 0 };
    let accepted = (0..answers).filter(|_| p.recv(ACCEPTED)).count();
    (came..acceptors.len()).for_each(|_| _ = p.recv(PROMISE));
    value.filter(|_| accepted >= majority).unwrap_or(0)
}

/// Verifies that no two values are decided.
fn is_one_value(decided: &[usize]) -> Result<(), String> {
    let (one, two) = (decided[0], decided[1]);
    if one == two || one == 0 || two == 0 { Ok(()) } else { Err(format!("{one} and {two} are decided")) }
}

type Program = fn(&mut Proc) -> usize;
type Verify = fn(&[usize]) -> Result<(), String>;

/// Each protocol with its number of processors, its wrong and its right program, and its verification.
const PROTOCOLS: [(&str, usize, Program, Program, Verify); 2] = [
    ("register", 8, |p| register(p, false), |p| register(p, true), is_not_stale),
    ("paxos", 5, |p| paxos(p, true), |p| paxos(p, false), is_one_value),
];

fn run_check(check: &Check, P: usize, program: Program, verify: Verify) -> CheckReport<Vec<usize>> {
    check.clone().results_may_differ(true).run_verified(&machine(P), program, verify).unwrap()
}

#[test]
fn wrong_protocols_are_found_by_every_seed_and_right_ones_are_not_blamed() {
    for (name, P, wrong, right, verify) in PROTOCOLS {
        let usual = machine(P).run(wrong).unwrap().results;
        assert_eq!(verify(&usual), Ok(()), "{name}: its mistake must need an order to be found");
        for seed in 1..=u64::from(times(5)) {
            let found = run_check(&Check::new().seed(seed).runs(40_000), P, wrong, verify);
            let failure = found.failure.as_ref().unwrap_or_else(|| panic!("{name}, seed {seed}: {found}"));
            let again = machine(P).order(&failure.order).run(wrong).unwrap();
            assert!(verify(&again.results).is_err(), "{name}, seed {seed}");
        }
        for strategy in [Strategy::Mixed, Strategy::FewChanges] {
            let found = run_check(&Check::new().strategy(strategy).runs(1000), P, right, verify);
            assert!(found.has_passed(), "{name}: {found}");
        }
    }
}
