//! How many orders twelve small programs have: by the systematic strategy of `loggp check`, by `must-mc`, which implements
//! Must (Enea et al., "Model Checking Distributed Protocols in Must", OOPSLA 2024), and by force. Prints a section
//! of docs/results/reliability.md, for `.ci/section`.
//!
//! An order is which message each receive gets. A program is a list of steps for each processor, so that all three run the same.

#![allow(non_snake_case)] // P and L are the papers' names

mod force;
mod must_mc;
mod ours;

use std::time::{Duration, Instant};

/// What a processor does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// It sends a message about something to a processor.
    Send(usize, u16),
    /// It receives a message about something from anyone.
    Recv(u16),
    /// It receives a message about something from one processor.
    RecvFrom(usize, u16),
    /// It sends a message about something to whom it received from last.
    Answer(u16),
    /// It receives a message about something from whom it received from last.
    RecvAgain(u16),
}

use Step::{Answer, Recv, RecvAgain, RecvFrom, Send};

/// The steps of each processor.
type Program = Vec<Vec<Step>>;

/// A processor, and others that each do the same.
fn one_and_others(first: Vec<Step>, others: usize, each: &[Step]) -> Program {
    [vec![first], vec![each.to_vec(); others]].concat()
}

/// Each processor's steps by its number.
fn each(P: usize, steps: impl Fn(usize) -> Vec<Step>) -> Program {
    (0..P).map(steps).collect()
}

/// Twelve programs.
fn programs() -> Vec<(&'static str, Program)> {
    let receiver = |n: usize| vec![Recv(0); n];
    let lock = |n: usize| [Recv(0), Answer(1), RecvAgain(2)].repeat(n);
    let all_but = |P: usize, id: usize| (0..P).filter(move |other| *other != id);
    vec![
        ("three send to one", one_and_others(receiver(3), 3, &[Send(0, 0)])),
        ("six send to one", one_and_others(receiver(6), 6, &[Send(0, 0)])),
        ("two rounds of three", one_and_others(receiver(6), 3, &[Send(0, 0), Send(0, 0)])),
        ("two receivers", each(5, |id| if id < 2 { receiver(3) } else { vec![Send(0, 0), Send(1, 0)] })),
        ("one overtakes itself", vec![vec![RecvFrom(1, 0); 5], vec![Send(0, 0); 5]]),
        ("two tags", one_and_others([Recv(0), Recv(1)].repeat(3), 3, &[Send(0, 0), Send(0, 1)])),
        ("answers", one_and_others([Recv(0), Answer(1)].repeat(4), 4, &[Send(0, 0), RecvFrom(0, 1)])),
        (
            "answered twice",
            one_and_others(
                [Recv(0), Answer(1)].repeat(4),
                2,
                &[Send(0, 0), RecvFrom(0, 1), Send(0, 0), RecvFrom(0, 1)],
            ),
        ),
        ("a lock", one_and_others(lock(5), 5, &[Send(0, 0), RecvFrom(0, 1), Send(0, 2)])),
        (
            "all to all from anyone",
            each(3, |id| {
                let sends = all_but(3, id).map(|to| Send(to, 0));
                sends.chain([Recv(0); 2]).collect()
            }),
        ),
        (
            "a chain that hurries to the end",
            vec![
                vec![Send(1, 0), Send(3, 0)],
                vec![Recv(0), Send(2, 0), Send(3, 0)],
                vec![Recv(0), Send(3, 0)],
                receiver(3),
            ],
        ),
        (
            "a ring that hands on what comes",
            each(3, |id| {
                let (next, last) = ((id + 1) % 3, (id + 2) % 3);
                vec![Send(next, 0), Send(last, 0), Recv(0), Send(next, 0), Recv(0), Recv(0)]
            }),
        ),
    ]
}

/// What stands above the table's rows.
const HEAD: &str = "\
## Three ways to all orders

`(cd peers; cargo run --release -p loggp-orders) | .ci/section docs/results/reliability.md checkers` wrote this section. Twelve small
programs have as many orders by the [systematic strategy](../start/check.md#all-orders) of `loggp check`, by `must-mc` 0.1, which
implements Must (Enea et al., OOPSLA 2024), and by force: all processors that can go on do, in every way. The first two make one run for
each order. L is a million cycles, so that latencies forbid nothing, and in the last column six: so many orders are left then.

| program | P | messages | orders | `loggp check`: runs, ms | must-mc: runs, ms | by force: runs, ms | with L = 6 |
|---|---|---|---|---|---|---|---|";

/// How many orders there are, after how many runs, and how long that took.
struct Found {
    orders: usize,
    runs: usize,
    time: Duration,
}

fn timed(count: impl FnOnce() -> (usize, usize)) -> Found {
    let start = Instant::now();
    let (orders, runs) = count();
    Found { orders, runs, time: start.elapsed() }
}

fn main() {
    println!("{HEAD}");
    let mut differ = false;
    for (name, program) in programs() {
        let (P, messages) = (program.len(), program.iter().flatten().filter(|step| step.sends()).count());
        let all = [
            timed(|| ours::count(&program, 1_000_000)),
            timed(|| must_mc::count(&program)),
            timed(|| force::count(&program)),
        ];
        let (within, _) = ours::count(&program, 6);
        let [orders, ..] = all.each_ref().map(|found| found.orders);
        differ |= all.iter().any(|found| found.orders != orders);
        let [ours, theirs, force] = all.map(|found| {
            let orders =
                if found.orders == orders { String::new() } else { format!("{} orders, ", found.orders) };
            format!("{orders}{}, {:.1}", found.runs, 1000.0 * found.time.as_secs_f64())
        });
        println!("| {name} | {P} | {messages} | {orders} | {ours} | {theirs} | {force} | {within} |");
    }
    if differ {
        eprintln!("error: they do not find the same number of orders");
        std::process::exit(1);
    }
}

impl Step {
    fn sends(self) -> bool {
        matches!(self, Send(..) | Answer(_))
    }
}
