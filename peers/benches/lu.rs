//! LU decomposition on one processor, work measured, against faer's on one thread.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use loggp::{Params, Work};
use loggp_programs::lu::LU;
use loggp_programs::{Case, Emulation};

fn decompose(c: &mut Criterion) {
    faer::set_global_parallelism(faer::Par::Seq);
    for n in [512, 2048] {
        let mut group = c.benchmark_group(format!("lu, n = {n}"));
        group.sample_size(10);
        let params = Params::new(1).build().unwrap();
        let case = Case { size: n, work: Work::Measured, ..Case::new(&LU, "column-cyclic", params) };
        let case = case.with("block", 64);
        let plan = case.plan().unwrap();
        let run = || plan.run(&Emulation::default()).unwrap().run.time.as_ns();
        group.bench_function("loggp, P = 1, panels of 64 columns", |b| {
            b.iter_custom(|times| Duration::from_nanos((0..times).map(|_| run()).sum::<f64>() as u64));
        });
        let entry =
            |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 10_007) as f64 / 5003.5 - 1.0;
        let matrix = faer::Mat::<f64>::from_fn(n, n, entry);
        group.bench_function("faer", |b| b.iter(|| black_box(matrix.partial_piv_lu())));
        group.finish();
    }
}

criterion_group!(benches, decompose);
criterion_main!(benches);
