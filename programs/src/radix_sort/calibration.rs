//! What computing costs on this computer: the kernels, timed before the run and apart from it.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{LazyLock, Mutex, PoisonError};

use loggp::Time;

use super::alone::sort_alone;
use super::input::{Input, Key};
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

/// Times the kernels on random keys.
fn timed<K: Key>(setting: &Setting, case: &Case) -> Costs {
    let (n, P) = (case.size, case.params.P);
    let digit = Digit { shift: 0, bits: setting.plan.radix };
    let keys: Vec<K> = Input::Uniform.keys(n, setting.plan.radix, 0);
    let counts = histogram(&keys, digit);
    let first = starts(&counts);
    let mut sorted = keys.clone();
    scatter(&keys, digit, &mut first.clone(), &mut sorted);
    // Every thread has keys of its own, and room for twice as many.
    let per = |keys: &[K], units: usize, work: &(dyn Fn(&[K], &mut Room<K>) + Sync)| {
        /// So many units in all make a time that can be trusted.
        const ENOUGH: usize = 1 << 20;
        const LEAST: usize = 25;
        let (prepare, rounds) = (|| (keys.to_vec(), Room::new(n)), LEAST.max(ENOUGH / units));
        let time = at_once(case.cores, rounds, prepare, |_| (), |(keys, room)| work(keys, room));
        Time::from_ps(time.as_ps() / units as i64)
    };
    let histograms = per(&keys, n, &|keys, _| drop(black_box(histogram(keys, digit))));
    let local_sort = match P {
        1 => per(&keys, n * setting.digits().len(), &|keys, room| {
            sort_alone(keys, &mut room.items, &mut room.other)
        }),
        _ => per(&keys, n, &|keys, room| scatter(keys, digit, &mut starts(&counts), &mut room.items)),
    };
    let moving = if setting.plan.bulk {
        // What goes to others is copied into messages, and what is there, in order, into its buckets.
        per(&sorted, n, &|keys, room| {
            drop(black_box(keys[n / P..].to_vec()));
            scatter(keys, digit, &mut first.clone(), &mut room.items);
        })
    } else {
        per(&keys, n, &|keys, room| {
            let mut next = first.clone();
            for key in keys {
                let rank = rank(key, digit, &mut next);
                room.items[black_box(rank) % n] = *key;
            }
        })
    };
    let scan = per(&keys, counts.len(), &|_, _| {
        let mut sums = black_box(&counts).clone();
        for (sum, count) in sums.iter_mut().zip(black_box(&counts)) {
            *sum = sum.wrapping_add(*count);
        }
        black_box(sums);
    });
    Costs { histogram: histograms, local_sort, moving, scan }
}
