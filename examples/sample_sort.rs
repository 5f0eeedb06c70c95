//! Sample sort: samples from all processors decide the ranges of keys, and one all-to-all moves the keys.

#![allow(non_snake_case)] // P is the papers' name

use loggp::{Machine, NS, Params, Proc, RunError, US, collectives};

/// Returns about the number of comparisons for sorting `keys` keys.
fn comparisons(keys: usize) -> u64 {
    keys as u64 * u64::from(keys.max(1).ilog2())
}

/// Sorts the keys of all processors, each of which has the same number. Returns this processor's part.
pub(crate) fn sort(p: &mut Proc, keys: &[u64]) -> Vec<u64> {
    let (P, n) = (p.P(), keys.len() / p.P());
    let mut mine = keys[p.id() * n..][..n].to_vec();
    p.work("compare", comparisons(n), || mine.sort_unstable());

    // Each processor samples P keys at equal distances. Of all samples, every P-th separates two processors.
    let sample: Vec<u64> = (0..P).map(|i| mine[i * n / P]).collect();
    let mut samples = collectives::all_gather_vector(p, &vec![P; P], sample).concat();
    p.work("compare", comparisons(P * P), || samples.sort_unstable());
    let ends: Vec<usize> =
        (1..P).map(|i| mine.partition_point(|key| *key < samples[i * P])).chain([n]).collect();
    let parts = (0..P).map(|i| mine[if i == 0 { 0 } else { ends[i - 1] }..ends[i]].to_vec());

    let mut part = collectives::all_to_all(p, parts.collect()).concat();
    p.work("compare", comparisons(part.len()), || part.sort_unstable());
    part
}

pub fn main() -> Result<(), RunError> {
    let params @ Params { P, .. } = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).G(50 * NS).build()?;
    // Squares of random numbers: small keys are frequent, so equal ranges would not be equal shares.
    let mut seed = 1_u64;
    let mut key = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 40) * (seed >> 40)
    };
    let keys: Vec<u64> = (0..1000 * P).map(|_| key()).collect();

    let run = Machine::new(params).rate("compare", 50 * NS).run(|p| sort(p, &keys))?;

    let mut sorted = keys;
    sorted.sort_unstable();
    assert_eq!(run.results.concat(), sorted);
    for (id, part) in run.results.iter().enumerate() {
        println!(
            "processor {id}: {:4} keys, from {:>15} to {:>15}",
            part.len(),
            part[0],
            part[part.len() - 1]
        );
    }
    println!("{} keys are sorted in {}, with {} messages", sorted.len(), run.time, run.messages());
    assert_eq!(run.time, 1_176_200 * NS); // in every run
    Ok(())
}
