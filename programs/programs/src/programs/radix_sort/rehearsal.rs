//! What a sort's computing costs on this computer: a processor's part of it, without the others.

use std::hint::black_box;
use std::mem::swap;
use std::sync::atomic::{AtomicU64, Ordering};

use loggp::Time;

use super::alone::sort_alone;
use super::input::Key;
use super::item::Digit;
use super::kernels::{histogram, scatter, starts};
use super::setting::{Rates, Setting};
use super::sort::{Room, rank};
use crate::costs::{Step, rehearse as all_at_once};
use crate::{Case, Costs};

/// The kinds of computing.
const KINDS: [&str; 4] = ["histogram", "local sort", "move", "scan"];

/// What a unit of each kind costs, if that was rehearsed. What the rehearsal did not need costs nothing.
pub fn rates(costs: &Costs) -> Option<Rates> {
    KINDS.iter().any(|kind| costs.of(kind).is_some()).then(|| {
        let [histogram, local_sort, moving, scan] = KINDS.map(|kind| costs.of(kind).unwrap_or_default());
        Rates { histogram, local_sort, moving, scan }
    })
}

/// The costs of a key, and of a bucket, over all passes.
pub fn rehearse(case: &Case, setting: &Setting, threads: usize) -> Costs {
    match setting.bits {
        32 => of::<u32>(case, setting, threads),
        _ => of::<u64>(case, setting, threads),
    }
}

/// What a thread sorts.
struct Part<K> {
    /// Its keys before the first pass.
    keys: Vec<K>,
    /// How many of them are in each bucket.
    counts: Vec<u32>,
    /// Its memory.
    room: Room<K>,
}

fn of<K: Key>(case: &Case, setting: &Setting, threads: usize) -> Costs {
    let (n, P, plan) = (case.size, case.params.P, setting.plan);
    // Other keys in every round: a processor would learn them.
    let seed = AtomicU64::new(case.seed.wrapping_add(1));
    let prepare = || {
        let keys = setting.input.keys(n, plan.radix, seed.fetch_add(1, Ordering::Relaxed));
        Part { keys, counts: Vec::new(), room: Room::new(plan, n, P) }
    };
    let mut steps = Vec::new();
    for (pass, digit) in setting.digits().enumerate().filter(|_| P > 1) {
        steps.push(Step::timed("histogram", move |Part { keys, counts, room }: &mut Part<K>| {
            *counts = histogram(now(pass, keys, &room.items), digit);
        }));
        steps.push(Step::timed("scan", |part: &mut Part<K>| {
            let mut sums = black_box(&part.counts).clone();
            sums.iter_mut()
                .zip(black_box(&part.counts))
                .for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
            black_box(sums);
        }));
        if plan.bulk {
            steps.extend(long(case, threads, pass, digit));
        } else {
            steps.push(Step::timed("move", move |Part { keys, counts, room }| {
                let mut next = starts(counts);
                for key in now(pass, keys, &room.items) {
                    let rank = rank(key, digit, &mut next);
                    room.other[black_box(rank) % n] = *key;
                }
                swap(&mut room.items, &mut room.other);
            }));
        }
    }
    if P == 1 {
        steps.push(Step::timed("local sort", |Part { keys, room, .. }| {
            sort_alone(keys, &mut room.items, &mut room.other)
        }));
    }
    let total = all_at_once(threads, prepare, &steps);
    let mut costs = Costs::default();
    for kind in KINDS {
        let buckets: usize = setting.digits().map(Digit::buckets).sum();
        let units = if kind == "scan" { buckets } else { n * setting.digits().len() };
        if let Some(total) = total.of(kind) {
            costs.add(kind, Time::from_ps(total.as_ps() / units as i64));
        }
    }
    costs
}

/// The local sort of a pass, and its distribution: what goes to others comes to another core.
fn long<'a, K: Key>(case: &Case, threads: usize, pass: usize, digit: Digit) -> [Step<'a, Part<K>>; 6] {
    let [leave, come] = Step::exchange(threads, |part: &mut Part<K>| &mut part.room.messages);
    [
        Step::timed("local sort", move |Part { keys, counts, room }| {
            let Room { items, other, .. } = room;
            scatter(now(pass, keys, items), digit, &mut starts(counts), other);
        }),
        Step::timed("move", move |Part { room: Room { other, messages, .. }, .. }| {
            for (slice, message) in slices(other, messages.len()).zip(messages).skip(1) {
                message.clear();
                message.extend_from_slice(slice);
            }
        }),
        leave,
        come,
        Step::between(move |Part { counts, room: Room { other, messages, .. }, .. }| {
            counts.fill(0);
            for part in parts(other, messages) {
                counts.iter_mut().zip(histogram(part, digit)).for_each(|(sum, count)| *sum += count);
            }
        }),
        Step::timed("move", move |Part { counts, room: Room { items, other, messages }, .. }| {
            let mut next = starts(counts);
            parts(other, messages).for_each(|part| scatter(part, digit, &mut next, items));
        })
        .on_what_came(case.ports),
    ]
}

/// The keys before a pass.
fn now<'a, K>(pass: usize, keys: &'a [K], items: &'a [K]) -> &'a [K] {
    if pass == 0 { keys } else { items }
}

/// What goes to each of P processors, if keys spread evenly.
fn slices<K>(sorted: &[K], P: usize) -> impl Iterator<Item = &[K]> {
    let start = move |to| sorted.len() * to / P;
    (0..P).map(move |to| &sorted[start(to)..start(to + 1)])
}

/// What comes from each: one's own slice, and messages.
fn parts<'a, K>(sorted: &'a [K], messages: &'a [Vec<K>]) -> impl Iterator<Item = &'a [K]> {
    let own = slices(sorted, messages.len()).take(1);
    own.chain(messages.iter().skip(1).map(Vec::as_slice))
}
