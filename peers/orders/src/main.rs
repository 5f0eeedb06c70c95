//! Counts the orders of twelve small programs by the systematic strategy of `loggp check`, by `must-mc`,
//! which implements Must (Enea et al., "Model Checking Distributed Protocols in Must", OOPSLA 2024), and by
//! force. Prints a section of docs/results/reliability.md, for `docs/results/make/section`.
//!
//! An order says which message each receive gets. A program is a list of steps for each processor, so that
//! all three run the same.

#![allow(non_snake_case)] // P and L are the papers' names

mod force;
mod must_mc;
mod systematic;

use std::time::{Duration, Instant};

/// A step of a processor.
#[derive(Clone, Copy, Debug)]
enum ProgramStep {
    /// Send a message with a tag to a processor.
    Send(usize, u16),
    /// Receive a message with a tag from any processor.
    Recv(u16),
    /// Receive a message with a tag from one processor.
    RecvFrom(usize, u16),
    /// Send a message with a tag to the sender of the last received message.
    Answer(u16),
    /// Receive a message with a tag from the sender of the last received message.
    RecvAgain(u16),
}

use ProgramStep::{Answer, Recv, RecvAgain, RecvFrom, Send};

/// The steps of each processor.
type OrderProgram = Vec<Vec<ProgramStep>>;

/// Returns a program of a first processor, and of others that each do the same.
fn first_and_others(first: Vec<ProgramStep>, others: usize, each: &[ProgramStep]) -> OrderProgram {
    [vec![first], vec![each.to_vec(); others]].concat()
}

/// Returns a program from each processor's steps.
fn by_number(P: usize, steps: impl Fn(usize) -> Vec<ProgramStep>) -> OrderProgram {
    (0..P).map(steps).collect()
}

/// Returns the twelve programs with their names.
fn programs() -> Vec<(&'static str, OrderProgram)> {
    let receiver = |n: usize| vec![Recv(0); n];
    let lock = |n: usize| [Recv(0), Answer(1), RecvAgain(2)].repeat(n);
    let all_but = |P: usize, id: usize| (0..P).filter(move |other| *other != id);
    vec![
        ("three send to one", first_and_others(receiver(3), 3, &[Send(0, 0)])),
        ("six send to one", first_and_others(receiver(6), 6, &[Send(0, 0)])),
        ("two rounds of three", first_and_others(receiver(6), 3, &[Send(0, 0), Send(0, 0)])),
        ("two receivers", by_number(5, |id| if id < 2 { receiver(3) } else { vec![Send(0, 0), Send(1, 0)] })),
        ("one overtakes itself", vec![vec![RecvFrom(1, 0); 5], vec![Send(0, 0); 5]]),
        ("two tags", first_and_others([Recv(0), Recv(1)].repeat(3), 3, &[Send(0, 0), Send(0, 1)])),
        ("answers", first_and_others([Recv(0), Answer(1)].repeat(4), 4, &[Send(0, 0), RecvFrom(0, 1)])),
        (
            "answered twice",
            first_and_others(
                [Recv(0), Answer(1)].repeat(4),
                2,
                &[Send(0, 0), RecvFrom(0, 1), Send(0, 0), RecvFrom(0, 1)],
            ),
        ),
        ("a lock", first_and_others(lock(5), 5, &[Send(0, 0), RecvFrom(0, 1), Send(0, 2)])),
        (
            "all to all from anyone",
            by_number(3, |id| {
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
            by_number(3, |id| {
                let (next, last) = ((id + 1) % 3, (id + 2) % 3);
                vec![Send(next, 0), Send(last, 0), Recv(0), Send(next, 0), Recv(0), Recv(0)]
            }),
        ),
    ]
}

/// Head of the printed section.
const HEAD: &str = "\
## Three ways to all orders

`(cd peers; cargo run --release -p loggp-orders) | docs/results/make/section docs/results/reliability.md checkers` wrote this section. For each of
twelve small programs the [systematic strategy](../start/check.md#all-orders) of `loggp check` finds as many orders as `must-mc` 0.1, which
implements Must (Enea et al., OOPSLA 2024), and as brute force, which tries every sequence of the processors' steps. The first two make one
run for each order. L is a million cycles, so that latencies exclude no order; the last column has the number of orders with L = 6.

| program | P | messages | orders | `loggp check`: runs, ms | must-mc: runs, ms | by force: runs, ms | with L = 6 |
|---|---|---|---|---|---|---|---|";

/// The number of orders, the runs that it took to find it, and their time.
struct OrderCount {
    orders: usize,
    runs: usize,
    time: Duration,
}

fn measure(count: impl FnOnce() -> (usize, usize)) -> OrderCount {
    let start = Instant::now();
    let (orders, runs) = count();
    OrderCount { orders, runs, time: start.elapsed() }
}

fn main() {
    println!("{HEAD}");
    let mut differ = false;
    for (name, program) in programs() {
        let (P, messages) = (program.len(), program.iter().flatten().filter(|step| step.is_send()).count());
        let all = [
            measure(|| systematic::count(&program, 1_000_000)),
            measure(|| must_mc::count(&program)),
            measure(|| force::count(&program)),
        ];
        let (within, _) = systematic::count(&program, 6);
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

impl ProgramStep {
    fn is_send(self) -> bool {
        matches!(self, Send(..) | Answer(_))
    }
}
