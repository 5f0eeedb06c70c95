//! Checks: what they try, what they find, and what they make of it.

use std::collections::BTreeSet;

use loggp::{Check, Checked, Latency, Machine, Params, Proc, Request, Strategy, Tag, US};

const WORD: Tag<usize> = Tag::new(0);
const OTHER: Tag<usize> = Tag::new(1);

/// A machine on which a message can be under way for so many cycles.
fn machine(P: usize, L: i64) -> Machine {
    Machine::new(Params::builder(P).L(L * US).o(US).build().unwrap())
}

/// What each processor took, in its order.
type Taken = Vec<Vec<usize>>;

/// All that can be taken when each message is under way for 0, 1, ..., L cycles.
fn by_force(machine: &Machine, program: fn(&mut Proc) -> Vec<usize>) -> BTreeSet<Taken> {
    let L = machine.params().L.as_ps() / US.as_ps();
    let first = machine.clone().latency(Latency::Random { seed: 1 }).trace(true).run(program).unwrap();
    let trace = first.trace.unwrap();
    let n = trace.messages.len();
    let all = (0..(L + 1).pow(n as u32)).map(|number| {
        let mut number = number;
        let mut trace = trace.clone();
        for message in &mut trace.messages {
            message.latency = number % (L + 1) * US;
            number /= L + 1;
        }
        machine.clone().repeat(&trace).run(program).unwrap().results
    });
    all.collect()
}

/// All that the systematic strategy finds, and what it says of that.
fn systematic(machine: &Machine, program: fn(&mut Proc) -> Vec<usize>) -> (Checked<Taken>, BTreeSet<Taken>) {
    let check = Check::new().strategy(Strategy::Systematic).runs(100_000).results_may_differ(true);
    let checked = check.run(machine, program).unwrap();
    let found = checked.classes.iter().map(|class| class.result.clone()).collect();
    (checked, found)
}

/// Three send at once, and the first takes what comes.
fn three_at_once(p: &mut Proc) -> Vec<usize> {
    match p.id() {
        0 => (1..p.p()).map(|_| p.recv(WORD).0).collect(),
        id => {
            p.send(0, WORD, id);
            Vec::new()
        }
    }
}

/// Two receivers; what each takes does not matter to the other.
fn two_receivers(p: &mut Proc) -> Vec<usize> {
    match p.id() {
        id @ (0 | 1) => (0..2).map(|_| p.recv(WORD).0 + id).collect(),
        id => {
            (0..2).for_each(|to| p.send(to, WORD, id));
            Vec::new()
        }
    }
}

/// Who has sent once is answered and sends again, perhaps before the other's first message comes.
fn answered(p: &mut Proc) -> Vec<usize> {
    match p.id() {
        0 => {
            let mut taken = Vec::new();
            while taken.len() < 4 {
                let from = p.recv(WORD).0;
                if !taken.contains(&from) {
                    p.send(from, OTHER, 0);
                }
                taken.push(from);
            }
            taken
        }
        id => {
            p.send(0, WORD, id);
            p.recv(OTHER);
            p.send(0, WORD, id);
            Vec::new()
        }
    }
}

/// Messages of one sender overtake each other.
fn overtaking(p: &mut Proc) -> Vec<usize> {
    match p.id() {
        0 => (0..3).map(|_| p.recv_from(1, WORD)).collect(),
        _ => {
            (0..3).for_each(|word| p.send(0, WORD, word));
            Vec::new()
        }
    }
}

/// Requests, of which the first that is done is taken.
fn first_done(p: &mut Proc) -> Vec<usize> {
    match p.id() {
        0 => {
            let mut requests: Vec<Request<usize>> = (1..p.p()).map(|id| p.irecv_from(id, WORD)).collect();
            (1..p.p()).map(|_| p.wait_any(&mut requests).1).collect()
        }
        id => {
            p.send(0, WORD, id);
            Vec::new()
        }
    }
}

/// Requests that take what comes, and are waited for the other way round.
fn requests(p: &mut Proc) -> Vec<usize> {
    match p.id() {
        0 => {
            let (one, two) = (p.irecv(WORD), p.irecv(WORD));
            let three = p.recv(WORD);
            vec![p.wait(two).0, p.wait(one).0, three.0]
        }
        id => {
            p.send(0, WORD, id);
            Vec::new()
        }
    }
}

/// Looks three times, whether something has come or not.
fn looks(p: &mut Proc) -> Vec<usize> {
    match p.id() {
        0 => {
            let mut taken: Vec<usize> =
                (0..3).map(|_| p.try_recv(WORD).map_or(0, |(from, _)| from)).collect();
            while taken.iter().filter(|from| **from > 0).count() < 2 {
                taken.push(p.recv(WORD).0);
            }
            taken
        }
        id => {
            p.send(0, WORD, id);
            Vec::new()
        }
    }
}

/// Looks, and leaves what it finds.
fn probes(p: &mut Proc) -> Vec<usize> {
    match p.id() {
        0 => {
            let mut taken = Vec::new();
            taken.extend((0..2).map(|_| p.probe(WORD).unwrap_or(0)));
            taken.extend((1..p.p()).map(|_| p.recv(WORD).0));
            taken
        }
        id => {
            p.send(0, WORD, id);
            Vec::new()
        }
    }
}

#[test]
fn the_systematic_strategy_finds_what_brute_force_finds() {
    let programs: [(&str, usize, i64, fn(&mut Proc) -> Vec<usize>); 8] = [
        ("three at once", 4, 6, three_at_once),
        ("two receivers", 4, 6, two_receivers),
        ("answered", 3, 4, answered),
        ("overtaking", 2, 6, overtaking),
        ("first done", 4, 6, first_done),
        ("requests", 4, 6, requests),
        ("looks", 3, 6, looks),
        ("probes", 3, 6, probes),
    ];
    for (name, P, L, program) in programs {
        let machine = machine(P, L);
        let (checked, found) = systematic(&machine, program);
        println!("{name}: {:?} in {} runs", checked.coverage, checked.runs);
        assert_eq!(found, by_force(&machine, program), "{name}");
    }
}
