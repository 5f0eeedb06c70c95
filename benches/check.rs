//! What a check costs beside the same number of plain runs: a sample sort on 8 processors, ten thousand times.

#![allow(non_snake_case)] // P is the papers' name

use std::time::Instant;

use loggp::{Check, Latency, Machine, Params, Proc, Strategy, Ties, US, collectives};
use loggp_benches::measure::{asked, median};
use loggp_benches::table;

const RUNS: usize = 10_000;
/// How many keys each processor sorts.
const KEYS: usize = 64;

/// Sorts what `keys` are of all processors; returns the part of this one.
fn sample_sort(p: &mut Proc, keys: &[u32]) -> Vec<u32> {
    let (id, P) = (p.id(), p.p());
    let mut mine = keys[id * KEYS..][..KEYS].to_vec();
    p.work("sort", KEYS as u64, || mine.sort_unstable());
    let sample: Vec<u32> = (0..P).map(|i| mine[i * KEYS / P]).collect();
    let mut samples = collectives::all_gather_vector(p, &vec![P; P], sample).concat();
    samples.sort_unstable();
    let part =
        |i: usize| if i == P { KEYS } else { mine.partition_point(|key| i > 0 && *key < samples[i * P]) };
    let parts = (0..P).map(|i| mine[part(i)..part(i + 1)].to_vec());
    let mut all = collectives::all_to_all(p, parts.collect()).concat();
    p.work("sort", all.len() as u64, || all.sort_unstable());
    all
}

/// Times all in turns, so that what else this computer does slows them down alike.
fn overhead() {
    let machine = Machine::new(Params::builder(8).L(6 * US).o(2 * US).g(4 * US).G(US).build().unwrap());
    let keys: Vec<u32> = (1..=8 * KEYS as u32).map(|number| number.wrapping_mul(2_654_435_761)).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    let is_sorted =
        |parts: &[Vec<u32>]| (parts.concat() == sorted).then_some(()).ok_or("unsorted".to_string());
    let program = |p: &mut Proc| sample_sort(p, &keys);
    let time = |run: &dyn Fn()| {
        let begun = Instant::now();
        run();
        begun.elapsed().as_secs_f64()
    };
    let runs = |machine: &dyn Fn(u64) -> Machine| {
        (0..RUNS).for_each(|run| is_sorted(&machine(run as u64).run(program).unwrap().results).unwrap());
    };
    let exact = || runs(&|_| machine.clone());
    // What a check runs by this strategy: latencies and ties are drawn.
    let drawn = |seed| machine.clone().latency(Latency::Random { seed }).ties(Ties::Random { seed });
    let check = |audits| {
        let check = Check::new().strategy(Strategy::Random).runs(RUNS).audits(audits);
        assert!(check.run_verified(&machine, program, is_sorted).unwrap().is_right());
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
    asked(&[("overhead", overhead as fn())]).into_iter().for_each(|table| table());
}
