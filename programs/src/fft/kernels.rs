//! What a processor computes: rustfft's kernels on its own points, and twiddle factors between them.

use std::f64::consts::TAU;
use std::sync::Arc;

use crate::math::transform::{Fft, forward};
use num_complex::Complex;

use super::layout::{Layout, Shape};
use crate::math::memory::written;

/// A point of the transform.
pub type Point = Complex<f64>;

/// The point that is 0.
pub const ZERO: Point = Point { re: 0.0, im: 0.0 };

/// The kernels of a transform, which all processors share. They are planned before the run.
pub struct Kernels {
    /// The sizes of the transform and its parts.
    pub shape: Shape,
    /// The FFTs of size m.
    own: Arc<dyn Fft<f64>>,
    /// The FFTs of size P.
    across: Arc<dyn Fft<f64>>,
    /// The FFTs of size c, which together with those of size P make one of size m.
    part: Arc<dyn Fft<f64>>,
    /// The powers of w_n, the first n-th root of unity.
    roots: Roots,
}

impl Kernels {
    /// Plans the FFTs of a transform of this shape.
    pub fn new(shape: Shape) -> Kernels {
        let [own, across, part] = forward([shape.m(), shape.P, shape.c()]);
        Kernels { shape, own, across, part, roots: Roots::new(shape.n) }
    }

    /// The power w_n^j of w_n = exp(-2 pi i / n), for j < n.
    pub fn root(&self, j: usize) -> Point {
        self.roots.power(j)
    }

    /// How much scratch the kernels need.
    fn scratch(&self) -> usize {
        [&self.own, &self.across, &self.part]
            .map(|fft| fft.get_inplace_scratch_len())
            .into_iter()
            .max()
            .unwrap_or(0)
    }

    /// Computes phase I, with the twiddle factors.
    pub fn first(&self, id: usize, points: &mut [Point], scratch: &mut [Point]) {
        match self.shape.layout {
            Layout::Cyclic => {
                self.own.process_with_scratch(points, scratch);
                // Processor 0's are all 1; it takes as long as the others, if there are any.
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
    pub fn third(&self, points: &mut [Point], scratch: &mut [Point]) {
        match self.shape.layout {
            Layout::Cyclic => self.rows(points, scratch),
            Layout::Blocked => self.own.process_with_scratch(points, scratch),
        }
    }

    /// FFTs of size P.
    pub fn rows(&self, points: &mut [Point], scratch: &mut [Point]) {
        self.across.process_with_scratch(points, scratch);
    }

    /// FFTs of size c.
    pub fn parts(&self, points: &mut [Point], scratch: &mut [Point]) {
        self.part.process_with_scratch(points, scratch);
    }

    /// Multiplies the k-th point by w_n^(ak).
    pub fn twiddle(&self, row: &mut [Point], a: usize) {
        row.iter_mut().enumerate().for_each(|(k, point)| *point *= self.root(a * k));
    }
}

/// The memory of a processor. It is there before time 0, so that no phase takes time to get it.
pub struct Memory {
    /// Its points: what goes in, and in the end what comes out.
    pub points: Vec<Point>,
    /// Room for as many points again.
    pub other: Vec<Point>,
    /// Room for the kernels.
    pub scratch: Vec<Point>,
    /// If messages are long, its points for each processor, and then those from each.
    pub blocks: Vec<Vec<Point>>,
}

impl Memory {
    /// With what goes in, and for long messages or short ones.
    pub fn new(kernels: &Kernels, long: bool, points: impl Iterator<Item = Point>) -> Memory {
        let shape = kernels.shape;
        let scratch = written(kernels.scratch(), ZERO);
        let other = written(if shape.P > 1 { shape.m() } else { 0 }, ZERO);
        let blocks = if long && shape.P > 1 { shape.P } else { 0 };
        let blocks = (0..blocks).map(|_| written(shape.c(), ZERO)).collect();
        // The points come last, so that the cache has as many of them as it can.
        Memory { points: points.collect(), other, scratch, blocks }
    }
}

/// The powers of w_n, from two tables of about sqrt(n): that is as exact as one of n, and stays in the cache.
struct Roots {
    /// The powers below 2^bits.
    fine: Vec<Point>,
    /// The powers of w_n^(2^bits).
    coarse: Vec<Point>,
    /// How many low bits of an exponent `fine` is for; `coarse` is for the rest.
    bits: u32,
}

impl Roots {
    fn new(n: usize) -> Roots {
        let bits = n.ilog2() / 2;
        let root = |j: usize| Point::from_polar(1.0, -TAU * j as f64 / n as f64);
        let fine = (0..1 << bits).map(root).collect();
        let coarse = (0..n >> bits).map(|j| root(j << bits)).collect();
        Roots { fine, coarse, bits }
    }

    #[inline]
    fn power(&self, j: usize) -> Point {
        self.coarse[j >> self.bits] * self.fine[j & (self.fine.len() - 1)]
    }
}
