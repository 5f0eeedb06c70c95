//! Fourier transforms, by rustfft. They are a crate of their own because rustfft's kernels are compiled where they are
//! used, and here that is beside the machine rather than after it.

use std::sync::Arc;

pub use rustfft::Fft;
use rustfft::FftPlanner;

/// Returns the forward transforms of these sizes.
pub fn forward<const N: usize>(sizes: [usize; N]) -> [Arc<dyn Fft<f64>>; N] {
    let mut planner = FftPlanner::new();
    sizes.map(|size| planner.plan_fft_forward(size))
}

/// Returns the backward transform of this size. It does not divide by the size.
pub fn inverse(size: usize) -> Arc<dyn Fft<f64>> {
    FftPlanner::new().plan_fft_inverse(size)
}
