//! What each processor does: a pass per digit, lowest first.

use std::mem::{swap, take};
use std::ops::Range;

use loggp::{Payload, Proc, Time};

use super::alone::sort_alone;
use super::item::{Digit, Item};
use super::kernels::{histogram, scatter, starts};
use super::ranks::{self, Ranks, ranks};
use super::tag::{Tags, keys};
use crate::math::memory::written;

/// How to sort.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The bits of a digit.
    pub radix: u32,
    /// Whether keys go in long messages.
    pub bulk: bool,
}

/// The memory of a processor. It is there before time 0, so that no phase takes time to get it.
#[derive(Debug)]
pub struct Room<T> {
    /// In the end, its part of the sorted items.
    pub items: Vec<T>,
    /// Room for as many.
    pub(super) other: Vec<T>,
    /// If keys go in long messages, those for each processor, and then those from each.
    pub(super) messages: Vec<Vec<T>>,
}

impl<T: Item> Room<T> {
    /// Room for n items of each of P processors.
    pub fn new(method: Method, n: usize, P: usize) -> Room<T> {
        let items = || written(n, T::default());
        let messages = if method.bulk && P > 1 { P } else { 0 };
        // Keys do not spread evenly; where there are more, a message grows.
        let most = n / P + 4 * (n / P).isqrt();
        let message = |_| {
            let mut message = written(most, T::default());
            message.clear();
            message
        };
        Room { items: items(), other: items(), messages: (0..messages).map(message).collect() }
    }
}

impl Method {
    /// The phases of a pass, in order, with more than one processor.
    pub fn phases(self) -> &'static [&'static str] {
        match self.bulk {
            true => &["histogram", "ranks", "local sort", "distribution"],
            false => &["histogram", "ranks", "distribution"],
        }
    }
}

/// Sorts the items of all processors by their keys; items with equal keys stay in order. Every processor
/// begins with n, and ends with as many in its room: processor 0 with the first, the last with the last.
/// Returns when it had done each phase of each pass; or all, if it was alone.
pub fn sort<T: Item>(p: &mut Proc, method: Method, mine: &[T], room: &mut Room<T>) -> Vec<Time> {
    let Room { items, other, messages } = room;
    if p.p() == 1 {
        let work = (mine.len() * Digit::all(T::BITS, method.radix).len()) as u64;
        p.work("local sort", work, || sort_alone(mine, items, other));
        return vec![p.now()];
    }
    let mut ends = Vec::new();
    // The first pass that moves anything reads the input where it is.
    let mut moved = false;
    for (pass, digit) in (0..).zip(Digit::all(T::BITS, method.radix)) {
        let tags = Tags { pass };
        let now: &[T] = if moved { items } else { mine };
        let counts = p.work("histogram", mine.len() as u64, || histogram(now, digit));
        ends.push(p.now());
        let ranks = ranks(p, method.bulk, tags, &counts);
        ends.push(p.now());
        if ranks.settled {
            ends.resize(ends.len() + method.phases().len() - 2, p.now());
            continue;
        }
        if method.bulk {
            p.work("local sort", mine.len() as u64, || scatter(now, digit, &mut starts(&counts), other));
            ends.push(p.now());
            long(p, tags, digit, (&counts, ranks), (other, messages), items);
        } else {
            short(p, tags, digit, ranks, now, other);
            swap(items, other);
        }
        moved = true;
        ends.push(p.now());
    }
    if !moved {
        items.copy_from_slice(mine);
    }
    ends
}

/// An item and its place at its receiver. The place is the message's address, which the papers do not count
/// among its data (LogP, section 4.1.4: 20 bytes with the address, 16 of data).
#[derive(Payload)]
struct Put<T> {
    #[payload(free)]
    place: u32,
    item: T,
}

/// Each key is sent to its place as soon as that is known, and keys are received meanwhile.
fn short<T: Item>(p: &mut Proc, tags: Tags, digit: Digit, ranks: Ranks, items: &[T], out: &mut [T]) {
    let (id, n, mut next, tag) = (p.id(), items.len(), ranks.own, tags.of(keys(), 0));
    let mut missing = n;
    for item in items {
        let rank = p.work("move", 1, || rank(item, digit, &mut next));
        let (to, place) = (rank / n, rank % n);
        if to == id {
            out[place] = *item;
            missing -= 1;
        } else {
            let put = Put { place: place as u32, item: *item };
            p.send_receiving(to, tag, put, tag, |_, _, put| {
                out[put.place as usize] = put.item;
                missing -= 1;
            });
        }
    }
    for _ in 0..missing {
        let (_, put) = p.recv(tag);
        out[put.place as usize] = put.item;
    }
}

/// The rank of the next item.
#[inline]
pub fn rank<T: Item>(item: &T, digit: Digit, next: &mut [u32]) -> usize {
    let next = &mut next[item.digit(digit)];
    *next += 1;
    *next as usize - 1
}

/// All keys for a processor are sent at once: after the local sort they are next to each other. What comes
/// from the processors, in their order, goes to its buckets.
fn long<T: Item>(
    p: &mut Proc,
    tags: Tags,
    digit: Digit,
    (counts, ranks): (&[u32], Ranks),
    (sorted, messages): (&[T], &mut Vec<Vec<T>>),
    out: &mut [T],
) {
    let (id, n) = (p.id(), sorted.len());
    let slices = slices(counts, &ranks.own, n, p.p());
    // Where work is charged, this is a part of the local sort.
    p.work("move", 0, || {
        for (to, message) in messages.iter_mut().enumerate() {
            message.clear();
            message.extend_from_slice(if to == id { &[] } else { &sorted[slices[to].clone()] });
        }
    });
    let own = &sorted[slices[id].clone()];
    exchange(p, tags, n - own.len(), messages);
    p.work("move", n as u64, || {
        // Of a bucket that begins before this processor's first place, the rest begins there.
        let mut next: Vec<u32> =
            ranks.bucket.iter().map(|rank| rank.saturating_sub((id * n) as u32)).collect();
        for (from, message) in messages.iter().enumerate() {
            scatter(if from == id { own } else { message }, digit, &mut next, out);
        }
    });
}

/// Which of a processor's items go to each processor, when they are sorted by a digit: their ranks grow.
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

/// Everyone sends everyone its messages that are not empty, and gets so many items. Leaves what came, by sender.
fn exchange<T: Item>(p: &mut Proc, tags: Tags, mut missing: usize, messages: &mut Vec<Vec<T>>) {
    let (id, P, tag) = (p.id(), p.p(), tags.of(keys(), 0));
    let mut came = vec![Vec::new(); P];
    if p.params().gps().is_some() {
        // A message may wait for its receiver (LogGPS 3.1): so pairs meet, in rounds. The partner's partner
        // is oneself, and everyone meets everyone.
        for other in (0..P).map(|round| (round + P - id) % P).filter(|other| *other != id) {
            came[other] = ranks::swap(p, other, tag, take(&mut messages[other]));
        }
        *messages = came;
        return;
    }
    // At stage i processor p sends to (i + p) mod P (LogGP, section 3).
    for to in (1..P).map(|stage| (id + stage) % P) {
        let message = take(&mut messages[to]);
        if message.is_empty() {
            continue;
        }
        p.send_receiving(to, tag, message, tag, |_, from, message| {
            missing -= message.len();
            came[from] = message;
        });
    }
    while missing > 0 {
        let (from, message) = p.recv(tag);
        missing -= message.len();
        came[from] = message;
    }
    *messages = came;
}
