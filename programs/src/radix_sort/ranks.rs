//! Global ranks: where the keys of each processor's buckets belong among the keys of all.
//!
//! The rank of a processor's first key in bucket b is the number of all keys in the buckets before b, and of
//! the keys in b of the processors before it. So a pass needs for every bucket a prefix sum over the
//! processors and the sum of all: as many scans as there are buckets, at once. Then everyone has a prefix sum
//! over the buckets by itself.

use loggp::{Proc, Tag};

use super::kernels::starts;
use super::tag::{COUNTS, SCAN, SUMS, TOTAL, Tags};

/// What a processor knows of the keys of all.
pub struct Ranks {
    /// The rank of its own first key in each bucket.
    pub own: Vec<u32>,
    /// The rank of the first key in each bucket.
    pub bucket: Vec<u32>,
    /// Whether all keys are in one bucket, so that they are where they belong.
    pub settled: bool,
}

/// The ranks, from the processor's own counts.
pub fn ranks(p: &mut Proc, bulk: bool, tags: Tags, counts: &[u32]) -> Ranks {
    let Sums { before, all } = if bulk { doubling(p, tags, counts) } else { pipeline(p, tags, counts) };
    p.work("scan", all.len() as u64, || {
        let bucket = starts(&all);
        let own = bucket.iter().zip(&before).map(|(bucket, before)| bucket + before).collect();
        let used = all.iter().filter(|count| **count > 0).count();
        Ranks { own, bucket, settled: used <= 1 }
    })
}

/// For each bucket, sums of the processors' counts.
struct Sums {
    /// The sums over the processors before this one.
    before: Vec<u32>,
    /// The sums over all processors.
    all: Vec<u32>,
}

/// With short messages. Processor 0 sends its counts to 1, a message each, which adds its own and sends them
/// on; buckets follow each other through the processors as through a pipeline. The last one has the sums of
/// all, and sends them to 0, which keeps them and sends them on.
fn pipeline(p: &mut Proc, tags: Tags, counts: &[u32]) -> Sums {
    let (id, last) = (p.id(), p.p() - 1);
    let mut sums = Sums { before: vec![0; counts.len()], all: vec![0; counts.len()] };
    for (b, count) in counts.iter().enumerate() {
        if id > 0 {
            sums.before[b] = p.recv_from(id - 1, tags.of(SCAN, b));
        }
        let sum = p.work("scan", 1, || sums.before[b] + count);
        match id {
            _ if id == last => sums.all[b] = sum,
            _ => p.send(id + 1, tags.of(SCAN, b), sum),
        }
    }
    let (from, to) = ((id + last) % (last + 1), (id + 1) % (last + 1));
    for (b, all) in sums.all.iter_mut().enumerate() {
        if id < last {
            *all = p.recv_from(from, tags.of(TOTAL, b));
        }
        if to != last {
            p.send(to, tags.of(TOTAL, b), *all);
        }
    }
    sums
}

/// With long messages, which carry all buckets, by recursive doubling: after i rounds everyone has the sums
/// of 2^i processors, and swaps them with one who has those of the 2^i that are next to them.
///
/// If P is no power of two, the first processors go in pairs, of which one takes part for both.
fn doubling(p: &mut Proc, tags: Tags, counts: &[u32]) -> Sums {
    let (id, P, buckets) = (p.id(), p.p(), counts.len());
    let rounds = P.ilog2() as usize;
    let pairs = P - (1 << rounds);
    let paired = id < 2 * pairs;
    if paired && id % 2 == 1 {
        p.send(id - 1, tags.of(COUNTS, rounds), counts.to_vec());
        let (before, all) = p.recv_from(id - 1, tags.of(SUMS, 0));
        return Sums { before, all };
    }
    let mut sums = Sums { before: vec![0; buckets], all: counts.to_vec() };
    let mut own = Vec::new();
    if paired {
        own = counts.to_vec();
        let others = p.recv_from(id + 1, tags.of(COUNTS, rounds));
        p.work("scan", buckets as u64, || add(&mut sums.all, &others));
    }
    let place = if paired { id / 2 } else { id - pairs };
    for round in 0..rounds {
        let partner = place ^ (1 << round);
        let other = if partner < pairs { 2 * partner } else { partner + pairs };
        let theirs = swap(p, other, tags.of(COUNTS, round), sums.all.clone());
        p.work("scan", buckets as u64, || {
            if partner < place {
                add(&mut sums.before, &theirs);
            }
            add(&mut sums.all, &theirs);
        });
    }
    if paired {
        p.work("scan", buckets as u64, || add(&mut own, &sums.before));
        p.send(id + 1, tags.of(SUMS, 0), (own, sums.all.clone()));
    }
    sums
}

/// Adds to each sum.
fn add(sums: &mut [u32], counts: &[u32]) {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}

/// Two processors send each other something. Where a message waits for its receiver (LogGPS 3.1), two that
/// both sent first would wait for ever.
pub fn swap<T: loggp::Payload>(p: &mut Proc, other: usize, tag: Tag<T>, mine: T) -> T {
    if p.params().gps().is_some() && other < p.id() {
        let theirs = p.recv_from(other, tag);
        p.send(other, tag, mine);
        return theirs;
    }
    p.send(other, tag, mine);
    p.recv_from(other, tag)
}
