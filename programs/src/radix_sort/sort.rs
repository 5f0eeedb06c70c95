//! The sort on each processor: one pass per digit, lowest first.

use std::mem::{swap, take};
use std::ops::Range;

use loggp::{Payload, Proc, Time};

use super::alone::sort_alone;
use super::item::{Digit, SortItem};
use super::kernels::{histogram, scatter, starts};
use super::ranks::{self, KeyRanks, compute_ranks};
use super::tag::{keys, pass_tag};
use crate::math::memory::allocate_written;

/// The method by which a pass distributes keys.
#[derive(Clone, Copy, Debug)]
pub struct SortMethod {
    /// Bits of a digit.
    pub radix: u32,
    /// True if keys are sent in long messages.
    pub bulk: bool,
}

/// The memory of a processor, allocated before time 0 so that no phase takes time for it.
#[derive(Debug)]
pub struct SortMemory<T> {
    /// The processor's part of the sorted items, in the end.
    pub items: Vec<T>,
    /// Room for as many items.
    pub(super) other: Vec<T>,
    /// With long messages, the keys for each processor, and then those from each.
    pub(super) messages: Vec<Vec<T>>,
}

impl<T: SortItem> SortMemory<T> {
    /// Allocates memory for n items of each of P processors.
    pub fn new(method: SortMethod, n: usize, P: usize) -> SortMemory<T> {
        let items = || allocate_written(n, T::default());
        let messages = if method.bulk && P > 1 { P } else { 0 };
        // Keys do not spread evenly; a message with more than these grows.
        let most = n / P + 4 * (n / P).isqrt();
        let message = |_| {
            let mut message = allocate_written(most, T::default());
            message.clear();
            message
        };
        SortMemory { items: items(), other: items(), messages: (0..messages).map(message).collect() }
    }
}

impl SortMethod {
    /// Returns the phases of a pass, in order, with more than one processor.
    pub fn phases(self) -> &'static [&'static str] {
        match self.bulk {
            true => &["histogram", "ranks", "local sort", "distribution"],
            false => &["histogram", "ranks", "distribution"],
        }
    }
}

/// Sorts the items of all processors by their keys; items with equal keys stay in order. Every processor
/// begins with n items, and ends with n in `memory`: processor 0 with the first, the last processor with the
/// last. Returns the end of each phase of each pass; of one processor only the end of all.
pub fn sort<T: SortItem>(
    p: &mut Proc,
    method: SortMethod,
    mine: &[T],
    memory: &mut SortMemory<T>,
) -> Vec<Time> {
    let SortMemory { items, other, messages } = memory;
    if p.P() == 1 {
        let work = (mine.len() * Digit::all(T::BITS, method.radix).len()) as u64;
        p.work("local sort", work, || sort_alone(mine, items, other));
        return vec![p.local_time()];
    }
    let mut ends = Vec::new();
    // The first pass that moves anything reads the input where it is.
    let mut moved = false;
    for (pass, digit) in (0..).zip(Digit::all(T::BITS, method.radix)) {
        let now: &[T] = if moved { items } else { mine };
        let counts = p.work("histogram", mine.len() as u64, || histogram(now, digit));
        ends.push(p.local_time());
        let ranks = compute_ranks(p, method.bulk, pass, &counts);
        ends.push(p.local_time());
        if ranks.is_settled {
            ends.resize(ends.len() + method.phases().len() - 2, p.local_time());
            continue;
        }
        if method.bulk {
            p.work("local sort", mine.len() as u64, || scatter(now, digit, &mut starts(&counts), other));
            ends.push(p.local_time());
            distribute_long(p, pass, digit, (&counts, ranks), (other, messages), items);
        } else {
            distribute_short(p, pass, digit, ranks, now, other);
            swap(items, other);
        }
        moved = true;
        ends.push(p.local_time());
    }
    if !moved {
        items.copy_from_slice(mine);
    }
    ends
}

/// An item and its place at its receiver. The place is the message's address, which the papers do not count
/// as data (LogP, section 4.1.4: 20 bytes with the address, 16 of data).
#[derive(Payload)]
struct PlacedItem<T> {
    #[payload(free)]
    place: u32,
    item: T,
}

/// Sends each key to its place as soon as it is known, and receives keys meanwhile.
fn distribute_short<T: SortItem>(
    p: &mut Proc,
    pass: usize,
    digit: Digit,
    ranks: KeyRanks,
    items: &[T],
    out: &mut [T],
) {
    let (id, n, mut next, tag) = (p.id(), items.len(), ranks.own, pass_tag(keys(), pass, 0));
    let mut missing = n;
    for item in items {
        let rank = p.work("move", 1, || next_rank(item, digit, &mut next));
        let (to, place) = (rank / n, rank % n);
        if to == id {
            out[place] = *item;
            missing -= 1;
        } else {
            let put = PlacedItem { place: place as u32, item: *item };
            p.send_receiving(to, tag, put, tag, |_, put| {
                out[put.place as usize] = put.item;
                missing -= 1;
            });
        }
    }
    for _ in 0..missing {
        let put = p.recv(tag);
        out[put.place as usize] = put.item;
    }
}

/// Returns the rank of the next item.
#[inline]
pub(super) fn next_rank<T: SortItem>(item: &T, digit: Digit, next: &mut [u32]) -> usize {
    let next = &mut next[item.digit(digit)];
    *next += 1;
    *next as usize - 1
}

/// Sends all keys for a processor at once: after the local sort they are next to each other. Then moves the
/// received keys, in the order of their processors, to their buckets.
fn distribute_long<T: SortItem>(
    p: &mut Proc,
    pass: usize,
    digit: Digit,
    (counts, ranks): (&[u32], KeyRanks),
    (sorted, messages): (&[T], &mut Vec<Vec<T>>),
    out: &mut [T],
) {
    let (id, n) = (p.id(), sorted.len());
    let slices = slices(counts, &ranks.own, n, p.P());
    // Where work is charged, this is part of the local sort.
    p.work("move", 0, || {
        for (to, message) in messages.iter_mut().enumerate() {
            message.clear();
            message.extend_from_slice(if to == id { &[] } else { &sorted[slices[to].clone()] });
        }
    });
    let own = &sorted[slices[id].clone()];
    exchange(p, pass, n - own.len(), messages);
    p.work("move", n as u64, || {
        // A bucket that begins before this processor's first place continues there.
        let mut next: Vec<u32> =
            ranks.bucket.iter().map(|rank| rank.saturating_sub((id * n) as u32)).collect();
        for (from, message) in messages.iter().enumerate() {
            scatter(if from == id { own } else { message }, digit, &mut next, out);
        }
    });
}

/// Returns the range of a processor's items that goes to each processor. The items are sorted by a digit, so
/// their ranks ascend.
fn slices(counts: &[u32], ranks: &[u32], n: usize, P: usize) -> Vec<Range<usize>> {
    let mut lengths = vec![0; P];
    for (count, rank) in counts.iter().zip(ranks) {
        let mut ranks = *rank as usize..(rank + count) as usize;
        while !ranks.is_empty() {
            let to = ranks.start / n;
            let end = ranks.end.min((to + 1) * n);
            lengths[to] += end - ranks.start;
            ranks.start = end;
        }
    }
    let mut end = 0;
    let slice = |length| {
        end += length;
        end - length..end
    };
    lengths.into_iter().map(slice).collect()
}

/// Exchanges all messages that are not empty, until no items are missing. `messages` then has the received
/// ones, by sender.
fn exchange<T: SortItem>(p: &mut Proc, pass: usize, mut missing: usize, messages: &mut Vec<Vec<T>>) {
    let (id, P, tag) = (p.id(), p.P(), pass_tag(keys(), pass, 0));
    let mut received = vec![Vec::new(); P];
    if p.params().gps().is_some() {
        // A message may wait for its receiver (LogGPS 3.1): so pairs meet, in rounds. In a round the partner
        // of one's partner is oneself, and over all rounds every processor meets all others.
        for other in (0..P).map(|round| (round + P - id) % P).filter(|other| *other != id) {
            received[other] = ranks::swap(p, other, tag, take(&mut messages[other]));
        }
        *messages = received;
        return;
    }
    // At stage i processor p sends to (i + p) mod P (LogGP, section 3).
    for to in (1..P).map(|stage| (id + stage) % P) {
        let message = take(&mut messages[to]);
        if message.is_empty() {
            continue;
        }
        p.send_receiving(to, tag, message, tag.with_sender(), |_, (from, message)| {
            missing -= message.len();
            received[from] = message;
        });
    }
    while missing > 0 {
        let (from, message) = p.recv_with_sender(tag);
        missing -= message.len();
        received[from] = message;
    }
    *messages = received;
}
