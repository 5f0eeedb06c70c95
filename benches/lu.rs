//! LU decomposition with measured work and free messages: one processor against two, on two cores.

#![allow(non_snake_case)] // P is the papers' name

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use loggp::{ClockKind, Dilation, Params, Work};
use loggp_programs::lu::{BLOCK, LU};
use loggp_programs::{Case, Emulation};

fn decompose(c: &mut Criterion) {
    for n in [512, 2048] {
        let mut group = c.benchmark_group(format!("lu, n = {n}, panels of 64 columns"));
        group.sample_size(10);
        for (P, algorithm) in [(1, "column-cyclic"), (2, "column-cyclic"), (2, "grid-cyclic-lookahead")] {
            let params = Params::builder(P).build().unwrap();
            let case = Case { size: n, work: Work::Measured, ..Case::new(&LU, algorithm, params) };
            let case = case.with(&BLOCK, 64);
            let plan = case.plan().unwrap();
            let emulation =
                Emulation { dilation: Dilation::Fixed(1.0), ..Emulation::with_clock(ClockKind::Wall) };
            // The run's own time: without the matrix and its verification.
            let run = || plan.run(&emulation).unwrap().run.time.as_ns();
            group.bench_function(format!("{algorithm}, P = {P}"), |b| {
                b.iter_custom(|times| Duration::from_nanos((0..times).map(|_| run()).sum::<f64>() as u64));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, decompose);
criterion_main!(benches);
