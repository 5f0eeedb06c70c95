//! Radix sort on one processor against the crate rdst on one thread: 2^24 uniform keys. Both have their memory
//! before.

use std::sync::Mutex;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loggp::{Machine, Params, Work};
use loggp_programs::radix_sort::{Plan, Room, sort};
use rdst::RadixSort;

fn radix_sort(c: &mut Criterion) {
    let mut rng = fastrand::Rng::with_seed(1);
    let keys: Vec<u32> = (0..1 << 24).map(|_| rng.u32(..)).collect();
    let machine = Machine::new(Params::new(1).build().unwrap()).work(Work::Charged);
    let mut group = c.benchmark_group("radix sort, 2^24 keys of 32 bits");
    group.sample_size(10);
    let plan = Plan { radix: 8, bulk: true };
    group.bench_function("P = 1", |b| {
        let room = || Mutex::new(Room::new(keys.len()));
        let run = |room: &mut Mutex<_>| {
            let room = &*room;
            machine.run(|p| sort(p, plan, &keys, &mut room.lock().unwrap())).unwrap()
        };
        b.iter_batched_ref(room, run, BatchSize::PerIteration);
    });
    group.bench_function("rdst", |b| {
        b.iter_batched_ref(|| keys.clone(), |keys| keys.radix_sort_unstable(), BatchSize::PerIteration);
    });
    group.finish();
}

criterion_group!(benches, radix_sort);
criterion_main!(benches);
