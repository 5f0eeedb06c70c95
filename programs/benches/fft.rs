//! The transform on one processor, work measured, against a call of rustfft on the same data. Both have their
//! memory before.

use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loggp::{Params, Work};
use loggp_programs::fft::FFT;
use loggp_programs::{Case, Emulation};
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

fn transform(c: &mut Criterion) {
    for bits in [12, 16, 20] {
        let n = 1 << bits;
        let mut group = c.benchmark_group(format!("fft, 2^{bits} points"));
        group.sample_size(20);
        let params = Params::new(1).build().unwrap();
        let case = Case { size: n, work: Work::Measured, ..Case::new(&FFT, "short-staggered", params) };
        let plan = case.plan().unwrap();
        let run = || plan.run(&Emulation::default()).unwrap().run;
        group.bench_function("P = 1", |b| {
            b.iter_custom(|times| {
                let time = |_| run().time.as_ns();
                Duration::from_nanos((0..times).map(time).sum::<f64>() as u64)
            });
        });
        let mut rng = fastrand::Rng::with_seed(1);
        let points: Vec<Complex<f64>> = (0..n).map(|_| Complex::new(rng.f64(), rng.f64())).collect();
        // A run plans its kernels and gets its memory anew; so does this. It comes after a run, as a run does,
        // since what that leaves in the caches counts where a transform takes only 10 us.
        let prepare = || {
            run();
            let kernel = FftPlanner::new().plan_fft_forward(n);
            let scratch = vec![Complex::default(); kernel.get_inplace_scratch_len()];
            (kernel, points.clone(), scratch)
        };
        group.bench_function("rustfft", |b| {
            let transform = |(kernel, points, scratch): &mut (Arc<dyn Fft<f64>>, Vec<_>, Vec<_>)| {
                kernel.process_with_scratch(points, scratch)
            };
            b.iter_batched_ref(prepare, transform, BatchSize::PerIteration);
        });
        group.finish();
    }
}

criterion_group!(benches, transform);
criterion_main!(benches);
