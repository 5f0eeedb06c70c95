//! What computing costs on this computer: the kernels, timed alone and before the run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{LazyLock, Mutex, PoisonError};

use loggp::{NS, SEC, Time};
use rustix::time::{ClockId, clock_gettime};

use super::alone::sorted;
use super::input::{Input, Key};
use super::item::Digit;
use super::kernels::{histogram, scatter, starts};
use super::setting::{Costs, Setting};
use super::sort::rank;

/// What decides the costs: the bits of a key, the bits of a digit, the keys of a processor, the way,
/// and whether there is one processor.
type Kernel = (u32, u32, usize, bool, bool);

/// What was timed before.
static KNOWN: LazyLock<Mutex<HashMap<Kernel, Costs>>> = LazyLock::new(Mutex::default);

/// The costs for so many keys per processor, of which there may be one.
pub fn costs(setting: &Setting, n: usize, alone: bool) -> Costs {
    let kernel = (setting.bits, setting.plan.radix, n, setting.plan.bulk, alone);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(kernel).or_insert_with(|| match setting.bits {
        32 => timed::<u32>(setting, n, alone),
        _ => timed::<u64>(setting, n, alone),
    })
}

/// Times the kernels on random keys.
fn timed<K: Key>(setting: &Setting, n: usize, alone: bool) -> Costs {
    let digit = Digit { shift: 0, bits: setting.plan.radix };
    let keys: Vec<K> = Input::Uniform.keys(n, setting.plan.radix, 0);
    let counts = histogram(&keys, digit);
    let first = starts(&counts);
    let out = RefCell::new(keys.clone());
    let histograms = per(n, || histogram(&keys, digit));
    let local_sort = match alone {
        true => per(n * setting.digits().len(), || sorted(&keys)),
        false => per(n, || scatter(&keys, digit, &mut starts(&counts), &mut out.borrow_mut())),
    };
    let moving = if setting.plan.bulk {
        let keys = out.borrow().clone();
        // What is sent is copied into its message, and what is there into its buckets.
        per(n, || scatter(&keys.to_vec(), digit, &mut first.clone(), &mut out.borrow_mut()))
    } else {
        per(n, || {
            let (mut next, mut out) = (first.clone(), out.borrow_mut());
            for key in &keys {
                let rank = rank(key, digit, &mut next);
                out[black_box(rank) % n] = *key;
            }
        })
    };
    let sums = RefCell::new(vec![0_u32; counts.len()]);
    let scan = per(counts.len(), || {
        for (sum, count) in sums.borrow_mut().iter_mut().zip(black_box(&counts)) {
            *sum = sum.wrapping_add(*count);
        }
    });
    Costs { histogram: histograms, local_sort, moving, scan }
}

/// What a unit of some work costs that has so many, by the thread's own time. Who shares the computer only
/// adds to that, so the shortest of some times is it.
fn per<R>(units: usize, work: impl Fn() -> R) -> Time {
    /// So many units in all make a time that can be trusted.
    const ENOUGH: usize = 1 << 20;
    const LEAST: usize = 5;
    let times = (0..LEAST.max(ENOUGH / units)).map(|_| {
        let start = thread_time();
        black_box(work());
        thread_time() - start
    });
    let shortest = times.min().expect("there are some");
    Time::from_ps(shortest.as_ps() / units as i64)
}

/// How long this thread has run.
fn thread_time() -> Time {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * SEC + time.tv_nsec * NS
}
