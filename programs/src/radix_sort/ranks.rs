//! Global ranks: the places of each processor's buckets among the keys of all.
//!
//! The rank of a processor's first key in bucket b is the number of all keys in the buckets before b, plus
//! the keys in b of the processors before it. So a pass needs for every bucket a prefix sum over the
//! processors and the sum of all: as many scans as there are buckets, at once. Then every processor computes
//! a prefix sum over the buckets by itself.

use loggp::{Proc, Tag};

use super::kernels::starts;
use super::tag::{COUNTS, SCAN, SUMS, TOTAL, pass_tag};

/// The ranks that a processor needs to place its keys.
pub(super) struct KeyRanks {
    /// Rank of its own first key in each bucket.
    pub own: Vec<u32>,
    /// Rank of the first key of all in each bucket.
    pub bucket: Vec<u32>,
    /// True if all keys are in one bucket, so that they stay where they are.
    pub is_settled: bool,
}

/// Computes the ranks from the processor's own counts.
pub(super) fn compute_ranks(p: &mut Proc, bulk: bool, pass: usize, counts: &[u32]) -> KeyRanks {
    let BucketSums { before, all } =
        if bulk { sum_by_doubling(p, pass, counts) } else { sum_by_pipeline(p, pass, counts) };
    p.work("scan", all.len() as u64, || {
        let bucket = starts(&all);
        let own = bucket.iter().zip(&before).map(|(bucket, before)| bucket + before).collect();
        let used = all.iter().filter(|count| **count > 0).count();
        KeyRanks { own, bucket, is_settled: used <= 1 }
    })
}

/// Sums of the processors' counts, for each bucket.
struct BucketSums {
    /// Sums over the processors before this one.
    before: Vec<u32>,
    /// Sums over all processors.
    all: Vec<u32>,
}

/// Computes the sums with short messages. Processor 0 sends its counts to 1, one message each, which adds its
/// own and sends them on: buckets follow each other through the processors as through a pipeline. The last
/// processor has the sums of all, and sends them to 0, which keeps them and sends them on.
fn sum_by_pipeline(p: &mut Proc, pass: usize, counts: &[u32]) -> BucketSums {
    let (id, last) = (p.id(), p.P() - 1);
    let mut sums = BucketSums { before: vec![0; counts.len()], all: vec![0; counts.len()] };
    for (b, count) in counts.iter().enumerate() {
        if id > 0 {
            sums.before[b] = p.recv(pass_tag(SCAN, pass, b).from(id - 1));
        }
        let sum = p.work("scan", 1, || sums.before[b] + count);
        match id {
            _ if id == last => sums.all[b] = sum,
            _ => p.send(id + 1, pass_tag(SCAN, pass, b), sum),
        }
    }
    let (from, to) = ((id + last) % (last + 1), (id + 1) % (last + 1));
    for (b, all) in sums.all.iter_mut().enumerate() {
        if id < last {
            *all = p.recv(pass_tag(TOTAL, pass, b).from(from));
        }
        if to != last {
            p.send(to, pass_tag(TOTAL, pass, b), *all);
        }
    }
    sums
}

/// Computes the sums with long messages, which carry all buckets, by recursive doubling: after i rounds every
/// processor has the sums of 2^i processors, and swaps them with a partner that has those of the next 2^i.
///
/// If P is no power of two, the first processors form pairs, of which one takes part for both.
fn sum_by_doubling(p: &mut Proc, pass: usize, counts: &[u32]) -> BucketSums {
    let (id, P, buckets) = (p.id(), p.P(), counts.len());
    let rounds = P.ilog2() as usize;
    let pairs = P - (1 << rounds);
    let paired = id < 2 * pairs;
    if paired && id % 2 == 1 {
        p.send(id - 1, pass_tag(COUNTS, pass, rounds), counts.to_vec());
        let (before, all) = p.recv(pass_tag(SUMS, pass, 0).from(id - 1));
        return BucketSums { before, all };
    }
    let mut sums = BucketSums { before: vec![0; buckets], all: counts.to_vec() };
    let mut own = Vec::new();
    if paired {
        own = counts.to_vec();
        let others = p.recv(pass_tag(COUNTS, pass, rounds).from(id + 1));
        p.work("scan", buckets as u64, || add(&mut sums.all, &others));
    }
    let place = if paired { id / 2 } else { id - pairs };
    for round in 0..rounds {
        let partner = place ^ (1 << round);
        let other = if partner < pairs { 2 * partner } else { partner + pairs };
        let theirs = swap(p, other, pass_tag(COUNTS, pass, round), sums.all.clone());
        p.work("scan", buckets as u64, || {
            if partner < place {
                add(&mut sums.before, &theirs);
            }
            add(&mut sums.all, &theirs);
        });
    }
    if paired {
        p.work("scan", buckets as u64, || add(&mut own, &sums.before));
        p.send(id + 1, pass_tag(SUMS, pass, 0), (own, sums.all.clone()));
    }
    sums
}

fn add(sums: &mut [u32], counts: &[u32]) {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}

/// Swaps values with another processor. Where a message waits for its receiver (LogGPS 3.1), two processors
/// that both sent first would wait for each other forever.
pub(super) fn swap<T: loggp::Payload>(p: &mut Proc, other: usize, tag: Tag<T>, mine: T) -> T {
    if p.params().gps().is_some() && other < p.id() {
        let theirs = p.recv(tag.from(other));
        p.send(other, tag, mine);
        return theirs;
    }
    p.send(other, tag, mine);
    p.recv(tag.from(other))
}
