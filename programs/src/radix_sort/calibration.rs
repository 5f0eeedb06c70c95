//! What computing costs on this computer: the kernels, timed before the run and apart from it.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{LazyLock, Mutex, PoisonError};

use fastrand::Rng;
use loggp::Time;

use super::alone::sort_alone;
use super::input::Key;
use super::item::Digit;
use super::kernels::{histogram, scatter, starts};
use super::setting::{Costs, Setting};
use super::sort::{Room, rank};
use crate::Case;
use crate::host_time::at_once;

/// What decides the costs: the bits of a key, the bits of a digit, whether keys go in long messages, the keys
/// of a processor, how many processors there are, and how many compute at once.
type Kernel = (u32, u32, bool, usize, usize, usize);

/// What was timed before.
static KNOWN: LazyLock<Mutex<HashMap<Kernel, Costs>>> = LazyLock::new(Mutex::default);

/// The costs for a case.
pub fn costs(setting: &Setting, case: &Case) -> Costs {
    let kernel = (setting.bits, setting.plan.radix, setting.plan.bulk, case.size, case.params.P, case.cores);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(kernel).or_insert_with(|| match setting.bits {
        32 => timed::<u32>(setting, case),
        _ => timed::<u64>(setting, case),
    })
}

/// What a thread times the kernels with.
struct Sample<K> {
    /// Where its keys come from.
    rng: Rng,
    /// Random keys, others in every round: a processor sorts each but once, and would learn their order.
    keys: Vec<K>,
    /// How many of them are in each bucket.
    counts: Vec<u32>,
    /// Room for twice as many: in `other` they are sorted by the digit, in `items` they are what came.
    room: Room<K>,
}

/// Times the kernels on random keys.
fn timed<K: Key>(setting: &Setting, case: &Case) -> Costs {
    let (n, P) = (case.size, case.params.P);
    let digit = Digit { shift: 0, bits: setting.plan.radix };
    type Act<'a, K> = &'a (dyn Fn(&mut Sample<K>) + Sync);
    let per = |units: usize, before: Act<K>, kernel: Act<K>| {
        let prepare = || {
            let (keys, counts) = (vec![K::default(); n], vec![0; digit.buckets()]);
            Sample { rng: Rng::with_seed(0), keys, counts, room: Room::new(n) }
        };
        let time = at_once(case.cores, prepare, before, kernel);
        Time::from_ps(time.as_ps() / units as i64)
    };

    let draw = |sample: &mut Sample<K>| {
        sample.keys.iter_mut().for_each(|key| *key = K::random(&mut sample.rng, u64::MAX));
        sample.counts = histogram(&sample.keys, digit);
    };
    let sort = |Sample { keys, counts, room, .. }: &mut Sample<K>| {
        scatter(keys, digit, &mut starts(counts), &mut room.other);
    };
    // What goes to others is copied into messages, and what is there, in order, into its buckets.
    let gather = |Sample { counts, room, .. }: &mut Sample<K>| {
        drop(black_box(room.other[n / P..].to_vec()));
        scatter(&room.other, digit, &mut starts(counts), &mut room.items);
    };
    // What comes before a kernel leaves the caches as it does in a pass.
    let gather_and_draw = |sample: &mut Sample<K>| {
        gather(sample);
        draw(sample);
    };
    let draw_and_sort = |sample: &mut Sample<K>| {
        draw(sample);
        sort(sample);
    };

    if P == 1 {
        let local_sort = per(n * setting.digits().len(), &draw, &|Sample { keys, room, .. }| {
            sort_alone(keys, &mut room.items, &mut room.other)
        });
        return Costs { histogram: Time::ZERO, local_sort, moving: Time::ZERO, scan: Time::ZERO };
    }
    let histograms = per(n, &draw, &|sample| drop(black_box(histogram(&sample.keys, digit))));
    let (local_sort, moving) = if setting.plan.bulk {
        (per(n, &gather_and_draw, &sort), per(n, &draw_and_sort, &gather))
    } else {
        let moving = per(n, &draw, &|Sample { keys, counts, room, .. }| {
            let mut next = starts(counts);
            for key in keys {
                let rank = rank(key, digit, &mut next);
                room.items[black_box(rank) % n] = *key;
            }
        });
        (Time::ZERO, moving) // nothing is sorted before it goes
    };
    let scan = per(digit.buckets(), &|_| (), &|Sample { counts, .. }| {
        let mut sums = black_box(&*counts).clone();
        for (sum, count) in sums.iter_mut().zip(black_box(&*counts)) {
            *sum = sum.wrapping_add(*count);
        }
        black_box(sums);
    });
    Costs { histogram: histograms, local_sort, moving, scan }
}
