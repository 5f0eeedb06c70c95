//! What programs compute with, compiled once for 8-byte numbers. To build it for each program that changes would take longer
//! than the program.

pub mod product;

use std::sync::Arc;

pub use rustfft::Fft;
use rustfft::FftPlanner;

/// The transforms of these sizes, forward.
pub fn forward<const N: usize>(sizes: [usize; N]) -> [Arc<dyn Fft<f64>>; N] {
    let mut plan = planned();
    sizes.map(|size| plan(size, false))
}

/// A transform of this size, backward, which no one divides by the size.
pub fn inverse(size: usize) -> Arc<dyn Fft<f64>> {
    planned()(size, true)
}

/// Plans transforms. What has several of them has parts of them once.
fn planned() -> Box<dyn FnMut(usize, bool) -> Arc<dyn Fft<f64>>> {
    let mut planner = FftPlanner::new();
    Box::new(move |size, inverse| match inverse {
        true => planner.plan_fft_inverse(size),
        false => planner.plan_fft_forward(size),
    })
}
