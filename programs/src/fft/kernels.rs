//! Local computation of the FFT: rustfft's kernels on a processor's points, and twiddle factors between them.

use std::f64::consts::TAU;
use std::sync::Arc;

use num_complex::Complex;

use super::layout::{Layout, Shape};
use crate::math::memory::allocate_written;
use loggp_fourier::{Fft, forward};

/// A point of the transform.
pub(super) type FftPoint = Complex<f64>;

pub(super) const ZERO: FftPoint = FftPoint { re: 0.0, im: 0.0 };

/// The kernels of a transform, planned before the run and shared by all processors.
pub(super) struct Kernels {
    /// Sizes of the transform and its parts.
    pub shape: Shape,
    /// FFT of size m.
    own: Arc<dyn Fft<f64>>,
    /// FFT of size P.
    pub across: Arc<dyn Fft<f64>>,
    /// FFT of size c. Together with those of size P it makes one of size m.
    pub part: Arc<dyn Fft<f64>>,
    /// Powers of w_n, the first n-th root of unity.
    roots: Roots,
}

impl Kernels {
    /// Plans the FFTs of a transform of this shape.
    pub(super) fn new(shape: Shape) -> Kernels {
        let [own, across, part] = [shape.m(), shape.P, shape.c()].map(forward);
        Kernels { shape, own, across, part, roots: Roots::new(shape.n) }
    }

    /// Returns w_n^j for w_n = exp(-2 pi i / n) and j < n.
    pub(super) fn root(&self, j: usize) -> FftPoint {
        self.roots.power(j)
    }

    /// Returns the scratch that the kernels need, in points.
    fn scratch_len(&self) -> usize {
        [&self.own, &self.across, &self.part]
            .map(|fft| fft.get_inplace_scratch_len())
            .into_iter()
            .max()
            .unwrap_or(0)
    }

    /// Computes phase I, with the twiddle factors.
    pub(super) fn compute_first(&self, id: usize, points: &mut [FftPoint], scratch: &mut [FftPoint]) {
        match self.shape.layout {
            Layout::Cyclic => {
                self.own.process_with_scratch(points, scratch);
                // Processor 0's factors are all 1; it takes as long as the others, if there are any.
                if self.shape.P > 1 {
                    self.twiddle(points, id);
                }
            }
            Layout::Blocked => {
                self.across.process_with_scratch(points, scratch);
                let rows = points.chunks_mut(self.shape.P).zip(id * self.shape.c()..);
                rows.for_each(|(row, a)| self.twiddle(row, a));
            }
        }
    }

    /// Computes phase III.
    pub(super) fn compute_third(&self, points: &mut [FftPoint], scratch: &mut [FftPoint]) {
        match self.shape.layout {
            Layout::Cyclic => self.across.process_with_scratch(points, scratch),
            Layout::Blocked => self.own.process_with_scratch(points, scratch),
        }
    }

    /// Multiplies the k-th point by w_n^(ak).
    pub(super) fn twiddle(&self, row: &mut [FftPoint], a: usize) {
        row.iter_mut().enumerate().for_each(|(k, point)| *point *= self.root(a * k));
    }
}

/// The memory of a processor, allocated before time 0 so that no phase takes time for it.
pub(super) struct FftMemory {
    /// Its points: first the input, in the end the output.
    pub points: Vec<FftPoint>,
    /// Room for as many points again.
    pub other: Vec<FftPoint>,
    /// Scratch for the kernels.
    pub scratch: Vec<FftPoint>,
    /// With long messages, its points for each processor, and then those from each.
    pub blocks: Vec<Vec<FftPoint>>,
}

impl FftMemory {
    /// Allocates the memory, with these points as input.
    pub(super) fn new(kernels: &Kernels, long: bool, points: impl Iterator<Item = FftPoint>) -> FftMemory {
        let shape = kernels.shape;
        let scratch = allocate_written(kernels.scratch_len(), ZERO);
        let other = allocate_written(if shape.P > 1 { shape.m() } else { 0 }, ZERO);
        let blocks = if long && shape.P > 1 { shape.P } else { 0 };
        let blocks = (0..blocks).map(|_| allocate_written(shape.c(), ZERO)).collect();
        // The points come last, so that the cache has as many of them as it can.
        FftMemory { points: points.collect(), other, scratch, blocks }
    }
}

/// Powers of w_n from two tables of about sqrt(n) each: these are as exact as one of n, and stay in the
/// cache.
struct Roots {
    /// Powers below 2^bits.
    fine: Vec<FftPoint>,
    /// Powers of w_n^(2^bits).
    coarse: Vec<FftPoint>,
    /// Number of low bits of an exponent that `fine` is for; `coarse` is for the rest.
    bits: u32,
}

impl Roots {
    fn new(n: usize) -> Roots {
        let bits = n.ilog2() / 2;
        let root = |j: usize| FftPoint::from_polar(1.0, -TAU * j as f64 / n as f64);
        let fine = (0..1 << bits).map(root).collect();
        let coarse = (0..n >> bits).map(|j| root(j << bits)).collect();
        Roots { fine, coarse, bits }
    }

    #[inline]
    fn power(&self, j: usize) -> FftPoint {
        self.coarse[j >> self.bits] * self.fine[j & (self.fine.len() - 1)]
    }
}
