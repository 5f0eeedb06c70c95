//! Radix sort on one processor against the crate rdst on one thread: 2^24 uniform keys. Both have their memory
//! before.

use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loggp::{Machine, Params, Work};
use loggp_programs::radix_sort::{Plan, Room, sort};
use rdst::RadixSort;

fn radix_sort(c: &mut Criterion) {
    let mut rng = fastrand::Rng::with_seed(1);
    let keys: Vec<u32> = (0..1 << 24).map(|_| rng.u32(..)).collect();
    let machine = Machine::new(Params::new(1).build().unwrap()).work(Work::Measured);
    let mut group = c.benchmark_group("radix sort, 2^24 keys of 32 bits");
    group.sample_size(10);
    let plan = Plan { radix: 8, bulk: true };
    group.bench_function("P = 1", |b| {
        let time = |_| {
            let run = machine.run(|p| {
                let mut room = p.prepare(|| Room::new(plan, keys.len(), 1));
                sort(p, plan, &keys, &mut room)
            });
            run.unwrap().time.as_ns()
        };
        b.iter_custom(|times| Duration::from_nanos((0..times).map(time).sum::<f64>() as u64));
    });
    group.bench_function("rdst", |b| {
        b.iter_batched_ref(|| keys.clone(), |keys| keys.radix_sort_unstable(), BatchSize::PerIteration);
    });
    group.finish();
}

criterion_group!(benches, radix_sort);
criterion_main!(benches);
