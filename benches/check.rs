//! The cost of a check next to the same number of plain runs: a sample sort on 8 processors, ten thousand
//! times.

#![allow(non_snake_case)] // P is the papers' name

use std::time::Instant;

use loggp::check::{Check, Strategy};
use loggp::{Latency, Machine, NS, Params, Proc, Ties, US};
use loggp_benches::measure::{median, selected_tables};
use loggp_benches::table;

#[allow(dead_code, unreachable_pub)] // its main
#[path = "../examples/sample_sort.rs"]
mod sample_sort;

const RUNS: usize = 10_000;
/// The number of keys that each processor sorts.
const KEYS: usize = 64;

/// Times all in turn, so that other load on this computer slows them all down.
fn overhead() {
    let params = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).G(US).build().unwrap();
    let machine = Machine::new(params).rate("compare", 50 * NS);
    let keys: Vec<u64> =
        (1..=8 * KEYS as u64).map(|number| number.wrapping_mul(2_654_435_761) >> 16).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    let is_sorted =
        |parts: &[Vec<u64>]| (parts.concat() == sorted).then_some(()).ok_or("unsorted".to_string());
    let program = |p: &mut Proc| sample_sort::sort(p, &keys);
    let time = |run: &dyn Fn()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    let runs = |machine: &dyn Fn(u64) -> Machine| {
        (0..RUNS).for_each(|run| is_sorted(&machine(run as u64).run(program).unwrap().results).unwrap());
    };
    let exact = || runs(&|_| machine.clone());
    // The same as the check's runs: latencies and ties are drawn.
    let drawn = |seed| machine.clone().latency(Latency::Random { seed }).ties(Ties::Random { seed });
    let check = |audits| {
        let check = Check::new().strategy(Strategy::Random).runs(RUNS).audits(audits);
        assert!(check.run_verified(&machine, program, is_sorted).unwrap().has_passed());
    };
    let times: Vec<[f64; 4]> = (0..5)
        .map(|_| [time(&|| runs(&drawn)), time(&|| check(0)), time(&|| check(50)), time(&exact)])
        .collect();
    table::begin(
        "sample sort, P = 8, 10,000 runs",
        &["", "seconds", "runs with drawn latencies and ties are 1"],
    );
    let names = [
        "runs with drawn latencies and ties",
        "`check --strategy random`, not audited",
        "the same, one run in 50 audited",
        "runs with exact latencies",
    ];
    for (place, name) in names.iter().enumerate() {
        let seconds = median(times.iter().map(|times| times[place]).collect());
        let ratio = median(times.iter().map(|times| times[place] / times[0]).collect());
        table::row(&[name.to_string(), format!("{seconds:.2}"), format!("{ratio:.2}")]);
    }
    table::end();
}

fn main() {
    selected_tables(&[("overhead", overhead as fn())]).into_iter().for_each(|table| table());
}
