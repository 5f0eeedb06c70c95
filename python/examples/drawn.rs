//! Writes random programs as data, with what the machine and the oracle say of each: `tests/test_drawn.py` runs the
//! same programs in Python.
//!
//! `cargo run --release --example drawn > tests/drawn.json` draws them again.

#![allow(non_snake_case)] // L, G and P are the papers' names

use loggp::params::Parameter;
use loggp::{Level, Params, Ports};
use serde_json::{Value, json};

#[path = "../../tests/library/drawn/mod.rs"]
mod drawn;

#[allow(dead_code)] // programs are checked here, and not shortened
#[path = "../../tests/library/oracle"]
mod oracle {
    pub mod check;
    pub mod interpreter;
    pub mod network;
    pub mod outcome;
}

use drawn::program::{GroupCall, Op, Pattern, RequestKind};
use drawn::random::draw_one_sided;
use drawn::{Case, Note, draw};
use oracle::check::check;
use oracle::outcome::Outcome;

/// The number of programs.
const PROGRAMS: u64 = 500;

fn main() {
    // Noise that was drawn has no text from which it could be read.
    let drawn = (0..).map(|seed| if seed % 2 == 0 { draw(seed) } else { draw_one_sided(seed) });
    let cases = drawn.filter(|case| case.noise.is_none()).map(ask_with_a_word);
    for case in cases.take(PROGRAMS as usize) {
        let (outcome, faults) = check(&case, false);
        assert!(faults.is_empty(), "{faults:?}");
        println!("{}", json!({"machine": machine(&case), "calls": calls(&case), "outcome": said(&outcome)}));
    }
}

/// Returns the program with requests of a word for what a memory holds, as each is in Python.
fn ask_with_a_word(mut case: Case) -> Case {
    for call in case.program.iter_mut().flatten() {
        if let Op::Get { asked, .. } | Op::PostGet { asked, .. } = call {
            *asked = 1;
        }
    }
    case
}

/// Returns the parameters by name, with times in ps.
fn params(params: &Params) -> Value {
    let all = Parameter::ALL.iter().chain([&Parameter::CYCLE]);
    let own = all.filter(|parameter| {
        parameter.name != "G" || matches!(params.long, loggp::params::LongMessages::LogGP { .. })
    });
    let text = |parameter: &Parameter| {
        let number = parameter.number(params)?;
        let value = if parameter.is_time() { json!(format!("{number}ps")) } else { json!(number) };
        Some((parameter.name.to_string(), value))
    };
    own.filter_map(text).collect::<serde_json::Map<_, _>>().into()
}

fn ports(ports: Ports) -> Value {
    ports.to_string().into()
}

fn machine(case: &Case) -> Value {
    let Case { levels, latency, ties, barrier, .. } = case;
    let mut machine = params(&case.params);
    machine["ports"] = ports(case.ports);
    machine["rendezvous"] = case.rendezvous.to_string().into();
    machine["latency"] = latency.to_string().into();
    machine["ties"] = ties.to_string().into();
    if let Some(cost) = barrier {
        machine["barrier"] = format!("{cost}ps").into();
    }
    let level = |level: &Level| {
        let mut described = params(&level.params);
        described["ports"] = ports(level.ports);
        described["one_port"] = level.one_port.into();
        described
    };
    if !levels.is_empty() {
        machine["levels"] = levels.iter().map(level).collect();
    }
    machine
}

/// Returns the calls of each processor.
fn calls(case: &Case) -> Value {
    (0..case.program.len()).map(|id| case.calls(id).iter().map(call).collect::<Value>()).collect()
}

fn call(op: &Op) -> Value {
    let pattern = |Pattern { from, tag }: &Pattern| json!([from, tag]);
    let how = |how: &RequestKind| format!("{how:?}");
    match op {
        Op::Work(units) => json!(["work", units]),
        Op::Wait(time) => json!(["wait_until", time]),
        Op::Barrier => json!(["barrier"]),
        Op::Together(what, who) => {
            let name = match what {
                GroupCall::Barrier => "barrier",
                GroupCall::Broadcast => "broadcast",
                GroupCall::AllReduce => "all_reduce",
                GroupCall::AllToAll => "all_to_all",
            };
            json!(["together", name, who])
        }
        Op::Send { to, tag, words } => json!(["send", to, tag, words]),
        Op::SendReceiving { to, tag, words, taking } => json!(["send_receiving", to, tag, words, taking]),
        Op::SendRecv { to, tag, words, from } => json!(["send_recv", to, tag, words, from]),
        Op::Recv { pattern: of, upto } => json!(["recv", pattern(of), (*upto != usize::MAX).then_some(upto)]),
        Op::Until { pattern: of, wait } => json!(["recv_deadline", pattern(of), wait]),
        Op::Poll { pattern: of, looks } => json!(["try_recv", pattern(of), looks]),
        Op::Probe { pattern: of, looks } => json!(["probe", pattern(of), looks]),
        Op::Put { to, words } => json!(["put", to, words]),
        Op::Get { to, back, .. } => json!(["get", to, back]),
        Op::PostGet { to, back, .. } => json!(["iget", to, back]),
        Op::Flush(of) => json!(["flush", of]),
        Op::Isend { to, tag, words } => json!(["isend", to, tag, words]),
        Op::Irecv(of) => json!(["irecv", pattern(of)]),
        Op::WaitFor { how: kind, place } => json!(["wait", how(kind), place]),
        Op::WaitAll(kind) => json!(["wait_all", how(kind)]),
        Op::WaitAny(kind) => json!(["wait_any", how(kind)]),
        Op::Test { how: kind, place, looks } => json!(["test", how(kind), place, looks]),
    }
}

/// Returns the end of each processor and its notes, or of a deadlock the ends of those that finished.
fn said(outcome: &Outcome) -> Value {
    let note = |Note { now, came }: &Note| json!([now, came.map(|came| (came.from, came.tag, came.words))]);
    match outcome {
        Outcome::Finished(accounts) => {
            let of = |(account, notes): &(loggp::Stats, Vec<Note>)| {
                json!([account.finish.as_ps(), notes.iter().map(note).collect::<Value>()])
            };
            json!({"finished": accounts.iter().map(of).collect::<Value>()})
        }
        Outcome::Deadlock(ends) => json!({"deadlock": ends}),
        Outcome::Failed(why) => panic!("{why}"),
    }
}
