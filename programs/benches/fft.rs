//! The transform on one processor, work measured, against a call of rustfft on the same data.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loggp::{Machine, Params, Work};
use loggp_programs::fft::Fft;
use loggp_programs::{Case, Program};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

fn fft(c: &mut Criterion) {
    for bits in [12, 16, 20] {
        let n = 1 << bits;
        let mut group = c.benchmark_group(format!("fft, 2^{bits} points"));
        group.sample_size(20);
        let params = Params::new(1).build().unwrap();
        let case = Case { size: n, work: Work::Measured, ..Case::new(&Fft, "short-staggered", params) };
        let machine = Machine::new(params).work(Work::Measured);
        group.bench_function("P = 1", |b| {
            b.iter_custom(|times| {
                let time = |_| Fft.run(&case, &machine).unwrap().run.time.as_ns();
                Duration::from_nanos((0..times).map(time).sum::<f64>() as u64)
            });
        });
        let mut rng = fastrand::Rng::with_seed(1);
        let points: Vec<Complex<f64>> = (0..n).map(|_| Complex::new(rng.f64(), rng.f64())).collect();
        let kernel = FftPlanner::new().plan_fft_forward(n);
        group.bench_function("rustfft, in place", |b| {
            b.iter_batched_ref(|| points.clone(), |points| kernel.process(points), BatchSize::PerIteration);
        });
        group.bench_function("rustfft, into new memory", |b| {
            b.iter_with_large_drop(|| {
                let mut transform = vec![Complex::default(); n];
                let mut scratch = vec![Complex::default(); kernel.get_immutable_scratch_len()];
                kernel.process_immutable_with_scratch(&points, &mut transform, &mut scratch);
                black_box((transform, scratch))
            });
        });
        group.finish();
    }
}

criterion_group!(benches, fft);
criterion_main!(benches);
