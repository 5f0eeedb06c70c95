//! Fourier transforms, by rustfft. They are a crate of their own because rustfft's kernels are compiled where they are
//! planned, and here that is beside the machine rather than after it: so nothing here is generic or inlined.

use std::sync::Arc;

pub use rustfft::Fft;
use rustfft::FftPlanner;

/// Returns the forward transform of this size.
#[inline(never)]
pub fn forward(size: usize) -> Arc<dyn Fft<f64>> {
    FftPlanner::new().plan_fft_forward(size)
}

/// Returns the backward transform of this size. It does not divide by the size.
#[inline(never)]
pub fn inverse(size: usize) -> Arc<dyn Fft<f64>> {
    FftPlanner::new().plan_fft_inverse(size)
}
