//! The critical path as a formula in the machine's parameters: by hand for known runs, and along a sweep.

use std::path::PathBuf;

use loggp::replay::Replay;
use loggp::schedule::Player;
use loggp::trace::Trace;
use loggp::{Latency, Machine, Params, ParamsBuilder, Proc, Tag, Time, US};
use loggp_goal::patterns::{PATTERNS, method_schedule};
use loggp_study::analysis::accounts::Account;
use loggp_study::analysis::{Analysis, Formula, ParameterSweep, WhatIf};
use loggp_study::range::Range;

use crate::requests::{assert_refused, rows, stdout_of};

/// Returns the parameters in a text, such as `P=8,L=6us`.
pub(crate) fn params(text: &str) -> Params {
    Params::builder(1).set(text).unwrap().build().unwrap()
}

const WORDS: Tag<Vec<u64>> = Tag::new(3);

fn record_trace(text: &str, program: impl Fn(&mut Proc) + Sync) -> Trace {
    Machine::new(params(text)).trace(true).run(program).unwrap().trace.unwrap()
}

/// Returns the formula of a run, and checks that its value is the run's time.
fn formula(trace: &Trace) -> Formula {
    let analysis = Analysis::from_trace(trace).unwrap();
    assert_eq!(analysis.formula.value(&trace.machine()), analysis.time);
    analysis.formula
}

/// Returns a program that sends one message of this many words.
fn message(words: usize) -> impl Fn(&mut Proc) + Sync {
    move |p| match p.id() {
        0 => p.send(1, WORDS, vec![0; words]),
        _ => _ = p.recv(WORDS),
    }
}

/// The receiver computes for 50 us before it takes a message of 10 words, which waits for it.
fn late_receiver() -> Trace {
    record_trace("P=2,L=10us,o=2us,O_s=1us,G_s=1us,G_l=1us,s=2,S=4", |p| match p.id() {
        0 => p.send(1, WORDS, vec![0; 10]),
        _ => {
            p.work("think", 50, || ());
            p.recv(WORDS);
        }
    })
}

/// LogP, figure 3.
#[test]
fn formula_of_the_optimal_broadcast() {
    let children: [&[usize]; 8] = [&[1, 2, 3, 5], &[4, 6], &[7], &[], &[], &[], &[], &[]];
    let trace = record_trace("P=8,L=6us,o=2us,g=4us", |p| {
        if p.id() > 0 {
            p.recv(WORDS);
        }
        for &child in children[p.id()] {
            p.send(child, WORDS, vec![1]);
        }
    });
    let formula = formula(&trace);
    assert_eq!((formula.counts, formula.rest), (vec![("L", 2), ("o", 4), ("g", 1)], vec![]));
}

#[test]
fn formula_of_a_ring() {
    let trace = record_trace("P=8,L=6us,o=2us,g=4us", |p| {
        let next = (p.id() + 1) % 8;
        if p.id() == 0 {
            p.send(next, WORDS, vec![1]);
            p.recv(WORDS);
        } else {
            let value = p.recv(WORDS);
            p.work("think", 5, || ());
            p.send(next, WORDS, value);
        }
    });
    let formula = formula(&trace);
    assert_eq!((formula.counts, formula.rest), (vec![("L", 8), ("o", 16)], vec![("work", 35 * US)]));
}

#[test]
fn formula_of_a_message() {
    let counts = |text: &str, words: usize| formula(&record_trace(text, message(words))).counts;
    // LogGP, section 2.
    assert_eq!(counts("P=2,L=6us,o=2us,g=4us,G=30ns", 11), [("L", 1), ("o", 2), ("G", 10)]);
    // Under LogP a further word takes max(g, o).
    assert_eq!(counts("P=2,L=6us,o=2us,g=4us", 11), [("L", 1), ("o", 2), ("g", 10)]);
    assert_eq!(counts("P=2,L=6us,o=4us,g=4us", 11), [("L", 1), ("o", 2), ("g", 10)]);
    assert_eq!(counts("P=2,L=6us,o=5us,g=4us", 11), [("L", 1), ("o", 12)]);
    // LogGPS, table 3. Parameters of 0 are left out, and negative ones are counted.
    let gps = "P=2,L=9us,o=2us,O_s=5ns,O_r=3ns,G_s=15ns,G_l=-1ns,s=8,S=100";
    let expected = [("L", 1), ("o", 2), ("O_s", 20), ("O_r", 20), ("G_s", 8), ("G_l", 12)];
    assert_eq!(counts(gps, 20), expected);
    assert_eq!(
        counts("P=2,L=9us,o=2us,O_s=5ns,G_s=15ns,s=8,S=100", 8),
        [("L", 1), ("o", 2), ("O_s", 8), ("G_s", 8)]
    );
    // Above S with R, and with both processors in time: the request, the reply and the message.
    let gps = "P=2,L=9us,o=2us,O_s=5ns,G_s=15ns,G_l=20ns,s=2,S=4,R=1us";
    assert_eq!(counts(gps, 5), [("L", 3), ("o", 6), ("O_s", 5), ("G_s", 2), ("G_l", 3), ("R", 1)]);
    let late = formula(&late_receiver());
    assert_eq!(late.counts, [("L", 2), ("o", 5), ("O_s", 10), ("G_s", 2), ("G_l", 8)]);
    assert_eq!(late.rest, [("work", 50 * US)]);
}

/// A message's stall is replaced by its cause on the path.
#[test]
fn formula_of_stalls_and_barriers() {
    let trace = record_trace("P=3,L=6us,o=1us,g=6us", |p| match p.id() {
        2 => (0..2).for_each(|_| _ = p.recv(WORDS)),
        _ => p.send(2, WORDS, vec![1]),
    });
    assert_eq!(formula(&trace).counts, [("L", 2), ("o", 2)]);
    let machine = Machine::new(params("P=4,L=6us,o=2us,g=4us")).barrier(3 * US).trace(true);
    let run = machine.run(|p| {
        p.work("think", 10 * p.id() as u64, || ());
        p.barrier();
    });
    assert_eq!(formula(&run.unwrap().trace.unwrap()).rest, [("barrier", 3 * US), ("work", 30 * US)]);
}

/// Times that do not follow from a parameter are a rest of their own.
#[test]
fn formula_of_drawn_latencies_and_of_a_model() {
    let machine =
        Machine::new(params("P=2,L=6us,o=2us,g=4us")).latency(Latency::Random { seed: 1 }).trace(true);
    let run = machine.run(message(1)).unwrap();
    let drawn = formula(&run.trace.unwrap());
    assert_eq!((&*drawn.counts, drawn.rest("drawn latency")), (&[("o", 2)][..], run.time - 4 * US));
    let trace = late_receiver();
    let again = WhatIf::read("model=loggp-1,L=1us", trace.params).unwrap().replay(&trace).unwrap();
    let analysis = Analysis::from_run(&again);
    assert_eq!(analysis.formula.value(&again.machine()), analysis.time);
}

/// Computation during a request hides a part of the request's wait.
#[test]
fn requests_have_overlapped_and_exposed_waits() {
    let waits = |work: u64| {
        let trace = record_trace("P=2,L=20us,o=2us,g=4us", |p| match p.id() {
            0 => p.send(1, WORDS, vec![1]),
            _ => {
                let request = p.irecv(WORDS);
                p.work("meanwhile", work, || ());
                p.wait(request);
            }
        });
        let overlap = Analysis::from_trace(&trace).unwrap().overlap;
        assert_eq!(overlap.requests, 1);
        let receiver_sync =
            |accounts: loggp_study::analysis::accounts::Accounts| accounts[Account::ReceiverSync];
        (receiver_sync(overlap.overlapped), receiver_sync(overlap.exposed))
    };
    // The message arrives at 22. Its receiver calls until 2, and then computes.
    let (all, part) = (waits(50), waits(5));
    assert_eq!(all.1, Time::ZERO);
    assert_eq!((part.0 + part.1, part.1), (all.0, 15 * US));
}

fn range(text: &str, params: Params) -> Range {
    Range::read(text, None, &ParamsBuilder::from(params)).unwrap()
}

/// The request arrives before the receiver calls, until L is 48 us. From there the path starts at the sender.
#[test]
fn a_sweep_finds_where_the_path_changes() {
    let trace = late_receiver();
    let along = ParameterSweep::replay(&trace, &range("L=1us..100us:log:7", trace.params)).unwrap();
    assert_eq!((along.points.len(), along.changes.len(), along.has_more), (7, 1, false));
    let [first, last] = [&along.points[0], &along.points[6]];
    let change = &along.changes[0];
    assert!((change.value - (48 * US).as_ps()).abs() <= 1, "{change:?}");
    assert_eq!((first.formula.count("L"), change.formula.count("L")), (2, 3));
    assert_eq!((change.formula.rest("work"), &change.formula), (Time::ZERO, &last.formula));
    for point in along.points.iter().chain(&along.changes) {
        let L = Time::from_ps(point.value);
        let time = Replay::new(&trace).params(Params { L, ..trace.params }).run().unwrap().time;
        assert_eq!(time, point.time);
    }
    // Thresholds of a length are found by bisection alone.
    let along = ParameterSweep::replay(&trace, &range("S=1,1000", trace.params)).unwrap();
    assert_eq!(along.changes.iter().map(|at| (at.value, at.time)).collect::<Vec<_>>(), [(10, 52 * US)]);
    let same = ParameterSweep::replay(&trace, &range("o=1us..3us:3", trace.params)).unwrap();
    assert!(same.changes.is_empty());
    assert!(ParameterSweep::replay(&trace, &range("P=2,3", trace.params)).is_err());
    let refusal =
        Range::read("size=1..4:2", None, &ParamsBuilder::from(trace.params)).unwrap_err().to_string();
    assert!(refusal.starts_with("there is no size to sweep over; there are L, o"), "{refusal}");
}

/// The times of all common patterns follow from the parameters, also with waits for gaps and the capacity.
#[test]
fn formula_of_every_pattern() {
    for pattern in PATTERNS {
        for text in
            ["L=6us,o=2us,g=4us", "L=5us,o=1us,g=2us,G=1us", "L=9us,o=2us,O_s=5ns,G_s=15ns,G_l=20ns,s=9,S=99"]
        {
            let schedule = method_schedule(pattern, 8, 40).unwrap();
            let played = Player::new(params(&format!("{text},P=8"))).trace(true).run(&schedule).unwrap();
            let formula = formula(&played.trace.unwrap());
            assert_eq!(formula.rest, [], "{}, {text}", pattern.name);
            assert!(formula.count("o") > 0, "{}, {text}", pattern.name);
        }
    }
}

/// The trace of a schedule is analyzed like that of a program.
#[test]
fn formula_of_a_schedule() {
    let path = write_trace("schedule.loggp", &late_receiver());
    let line = format!("replay binomial-broadcast -P 8 --params L=6us,o=2us,g=4us --trace {path}");
    stdout_of(&line);
    let text = stdout_of(&format!("analyze {path}"));
    assert!(text.contains("schedule.loggp  3L + 6o\n"), "{text}");
    // A binary tree is as deep, but its second child is a gap later.
    let text = stdout_of("replay binary-broadcast -P 8 --params L=6us,o=2us,g=4us --over g=1us..9us:3");
    assert!(text.contains("3L + 6o"), "{text}");
}

/// Writes a trace to a file, and returns its path.
fn write_trace(name: &str, trace: &Trace) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    trace.write(std::fs::File::create(&path).unwrap()).unwrap();
    path.display().to_string()
}

#[test]
fn analyze_shows_the_formula() {
    let path = write_trace("formula.loggp", &late_receiver());
    let over = format!("analyze {path} --over L=1us..100us:log:3 --no-sensitivities --what-if S=10");
    let text = stdout_of(&over);
    for part in [
        "2L + 5o + 10 O_s + 2 G_s + 8 G_l + 50 us work",
        "3L + 6o + 10 O_s + 2 G_s + 8 G_l",
        "o + 50 us work",
        "another from L =",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("1% more"), "{text}");
    let row = &rows(&format!("{over} --path"))[0];
    assert_eq!(row["formula"]["text"], "2L + 5o + 10 O_s + 2 G_s + 8 G_l + 50 us work");
    assert_eq!(row["formula"]["counts"]["O_s"], 10);
    assert_eq!(row["formula"]["rest_ns"]["work"], 50_000);
    assert_eq!(row["path_formulas"]["o_at_receivers"], "3o");
    assert_eq!(row["hops"][1]["formula"], "o");
    let over = &row["over"];
    assert_eq!((&over["parameter"], &over["points"][1]["value_ns"]), (&"L".into(), &10_000.into()));
    assert_eq!(over["points"][1]["time_ns"], 100_000);
    let from = over["changes"][0]["value_ns"].as_f64().unwrap();
    assert!((from - 48_000.0).abs() < 0.01, "{from}");
    assert_eq!(over["changes"][0]["formula"]["counts"]["L"], 3);
    assert_eq!(row["one_percent_more"], serde_json::json!([]));
    assert_refused(
        &[
            ("size=1,2", "there is no size to sweep over"),
            ("P=3", "as many processors as it has"),
            ("L=1us..2us", "a range needs"),
        ]
        .map(|(over, part)| (format!("analyze {path} --over {over}"), part)),
    );
}
