//! Stress: under every pattern all data arrives, and no rule is broken.

use std::fs;
use std::path::PathBuf;

use loggp::audit::Audit;
use loggp::{ClockKind, Dilation, Latency, Params, Ports, Time, US, preset};
use loggp_programs::stress::{LATENCY, LONGEST_LATENCY, RATE, STRESS, THROUGHPUT};
use loggp_programs::{Case, Emulation};
use loggp_study::{Answers, Study};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::requests::answer;

/// Returns a case of a pattern in which every processor sends this many messages.
fn case(pattern: &str, params: Params, messages: usize) -> Case {
    Case { size: messages, ..Case::new(&STRESS, pattern, params) }
}

/// Runs a study of a pattern, and checks its answers.
fn run(study: &Study) -> Answers {
    let answers = study.run().unwrap_or_else(|e| panic!("{study:?}: {e}"));
    assert_eq!(answers.wrong, None, "{study:?}");
    assert!(throughput(&answers).is_none_or(|throughput| throughput <= 1.0));
    let audit = audit(&answers);
    let most = audit.most_in_transit_from.max(audit.most_in_transit_to);
    assert!(audit.capacity.is_none_or(|capacity| most <= capacity));
    answers
}

/// Returns the auditor's report.
fn audit(answers: &Answers) -> &Audit {
    answers.outcome.audit.as_ref().unwrap()
}

fn throughput(answers: &Answers) -> Option<f64> {
    let mut metrics = answers.outcome.metrics.iter();
    metrics.find(|metric| metric.name == THROUGHPUT).map(|metric| metric.value)
}

/// Returns parameters of all kinds, also with g < o, o = 0, g = 0 and L = 0.
fn any_params() -> impl Strategy<Value = Params> {
    let time = |most: i64| prop_oneof![1 => Just(0), 4 => 0..=most];
    (2..20_usize, time(60), time(20), time(40), time(3), prop_oneof![Just(1_usize), Just(4), Just(16)])
        .prop_map(|(P, L, o, g, G, word)| {
            Params::builder(P).L(L * US).o(o * US).g(g * US).G(G * US).word(word).build().unwrap()
        })
}

proptest! {
    #[test]
    fn every_pattern_is_verified(params in any_params(), messages in 1..20_usize, seed in 0..4_u64, dual: bool) {
        let ports = if dual { Ports::Dual } else { Ports::Single };
        for pattern in STRESS.algorithms {
            let case = Case { seed, ports, ..case(pattern.name, params, messages) };
            let exact = run(&Study::new(case.clone())).prediction;
            prop_assert!(exact.formula.is_none() || exact.model == exact.formula, "{}", pattern.name);
            run(&Study::new(Case { latency: Latency::Random { seed }, ..case }));
        }
    }
}

#[test]
fn a_hot_spot_takes_a_message_every_gap() {
    let cm5 = preset("cm5").unwrap().builder().P(16).build().unwrap();
    let stressed = run(&Study::new(case("all-to-one", cm5, 8)));
    assert_eq!(stressed.outcome.run.messages(), 120);
    assert_eq!(stressed.prediction.model, Some((6 + 2 * 2 + 119 * 4) * US));
    assert_eq!(stressed.prediction.formula, Some(486 * US));
    assert_eq!(throughput(&stressed), Some(1.0));
    assert_eq!((audit(&stressed).most_in_transit_to, audit(&stressed).capacity), (2, Some(2)));
    assert!(audit(&stressed).stalls > 100);
}

#[test]
fn every_processor_sends_and_receives_h_messages() {
    let params = Params::builder(7).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let stressed = run(&Study::new(case("h-relation", params, 5)));
    for stats in stressed.outcome.run.processors {
        assert_eq!((stats.sent, stats.received), (5, 5));
    }
}

#[test]
fn a_naive_remap_stalls_longer_than_an_h_relation() {
    let cm5 = preset("cm5").unwrap().builder().P(8).build().unwrap();
    let naive = run(&Study::new(case("fft-naive", cm5, 16))).outcome.run;
    assert_eq!(naive.messages(), 8 * 14);
    let relation = run(&Study::new(case("h-relation", cm5, 14))).outcome.run;
    assert!(naive.stalled() > relation.stalled());
}

/// Returns a metric of a run, in us.
fn metric(answers: &Answers, name: &str) -> f64 {
    answers.outcome.metric(name).unwrap()
}

/// Two processors each start a message every 40 us, half of that apart, without contention: each message
/// takes L + 2o. At twice the rate of the machine, each message waits for those before it.
#[test]
fn latency_grows_above_the_rate_of_the_machine() {
    let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let run_at = |rate: f64, messages| run(&Study::new(case("steady", params, messages).with(&RATE, rate)));
    let idle = run_at(0.1, 20);
    assert_eq!((metric(&idle, LATENCY), metric(&idle, LONGEST_LATENCY)), (10.0, 10.0));
    assert_eq!(idle.prediction.model, Some((20 + 19 * 40 + 10) * US));
    assert_eq!(audit(&idle).stalls, 0);
    let (some, more) = (run_at(2.0, 100), run_at(2.0, 200));
    assert!(metric(&some, LATENCY) > 80.0 && metric(&more, LATENCY) > 1.8 * metric(&some, LATENCY));
}

/// A message to a hot spot waits for all that were started earlier.
#[test]
fn latency_counts_from_when_a_message_was_to_be_started() {
    let cm5 = preset("cm5").unwrap().builder().P(16).build().unwrap();
    let stressed = run(&Study::new(case("all-to-one", cm5, 1)));
    // Messages are received at 10, 14, 18 ... us.
    assert_eq!(metric(&stressed, LONGEST_LATENCY), 66.0);
    assert_eq!(metric(&stressed, LATENCY), 38.0);
}

#[test]
fn the_wall_clock_obeys_the_capacity_too() {
    let cm5 = preset("cm5").unwrap().builder().P(8).build().unwrap();
    let emulation = Emulation { dilation: Dilation::Auto, ..Emulation::with_clock(ClockKind::Wall) };
    for pattern in STRESS.algorithms {
        let study = Study { emulation: emulation.clone(), ..Study::new(case(pattern.name, cm5, 4)) };
        let stressed = run(&study);
        assert!(stressed.outcome.run.host.is_some());
        assert!(stressed.prediction.measured.unwrap().median > Time::ZERO);
    }
}

/// No computer is fast enough for this dilation. The run is right, and its time is marked.
#[test]
fn a_late_run_is_marked() {
    let line = "stress all-to-one --machine cm5 -P 4 --load 4 --dilation 0.0001";
    let (status, table, err) = answer(line);
    assert_eq!(status, Some(0));
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("all-to-one")).collect();
    assert!(rows[0].contains("%  late ") && table.contains("\nverified: yes\n"), "{table}");
    assert!(
        table.ends_with("\nlate: this computer did not keep up, so do not compare this time; give a larger --dilation or fewer processors, or close other programs\n")
    );
    let expected = "warning: this computer was late: all-to-one with P = 4, load 4; a larger --dilation or ";
    assert!(err.starts_with(expected) && err.lines().count() == 1, "{err}");
    let (status, row, _) = answer(&format!("{line} --format json"));
    let row: Value = serde_json::from_str(&row).unwrap();
    assert_eq!((status, &row["held"]), (Some(0), &json!(false)));
}

#[test]
fn stress_has_a_row_for_every_pattern_load_and_number_of_processors() {
    let line = "stress all-to-one h-relation --machine cm5 -P 4,8 --load 1,8 --clock virtual --format json";
    let (status, out, _) = answer(line);
    let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((status, rows.len()), (Some(0), 8));
    let row = &rows[1];
    assert_eq!(
        (&row["pattern"], &row["load"], &row["params"]["P"]),
        (&json!("all-to-one"), &json!(8), &json!(4))
    );
    assert_eq!((&row["formula_ns"], &row["model_ns"]), (&json!(102_000), &json!(102_000)));
    assert_eq!(
        (&row["measured_ns"], &row["throughput"], &row["verified"]),
        (&json!(null), &json!(1.0), &json!(true))
    );
    let stalls = &row["stalls"];
    assert_eq!((&stalls["max_in_transit"], &stalls["capacity"]), (&json!(2), &json!(2)));
    assert!(stalls["longest_ns"].as_f64() >= stalls["shortest_ns"].as_f64());

    let (_, csv, _) = answer(&line.replace("json", "csv"));
    let widths: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!((widths.len(), widths.iter().min()), (9, widths.iter().max()));
}

/// Returns the name of a row in warnings.
fn row_name(row: &Value) -> String {
    let pattern = row["pattern"].as_str().unwrap();
    format!("{pattern} with P = {}, load {}", row["params"]["P"], row["load"])
}

#[test]
fn stress_measures_and_draws() {
    let plot = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stress.svg");
    let (status, out, err) =
        answer(&format!("stress --machine cm5 -P 2,4 --load 1,2 --format json -o {}", plot.display()));
    // A warning may say that this computer was late.
    assert_eq!(status, Some(0), "{err}");
    assert!(err.lines().all(|line| line.starts_with("warning: this computer was late: ")), "{err}");
    for row in out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        assert_eq!(row["held"] == false, err.contains(&row_name(&row)), "{row}");
        assert!(row["measured_ns"].as_f64() > Some(0.0) && row["verified"] == true, "{row}");
    }
    let svg = fs::read_to_string(plot).unwrap();
    for text in ["all-to-one", "h-relation", "P = 2", "P = 4", "stalled time per message [us]"] {
        assert!(svg.contains(text), "{text}");
    }
}
