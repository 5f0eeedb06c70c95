//! What a processor computes: rustfft's kernels on its own points, and twiddle factors between them.

use std::f64::consts::TAU;
use std::sync::Arc;

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use super::layout::{Layout, Shape};

/// A point of the transform.
pub type Point = Complex<f64>;

/// Zero.
pub const ZERO: Point = Point { re: 0.0, im: 0.0 };

/// The kernels of a transform, which all processors share. They are planned before the run.
pub struct Kernels {
    /// The sizes.
    pub shape: Shape,
    /// The FFTs of size m.
    own: Arc<dyn Fft<f64>>,
    /// The FFTs of size P.
    across: Arc<dyn Fft<f64>>,
    /// The FFTs of size c, which together with those of size P make one of size m.
    part: Arc<dyn Fft<f64>>,
    /// w_n.
    roots: Roots,
}

impl Kernels {
    /// Plans them.
    pub fn new(shape: Shape) -> Kernels {
        let mut planner = FftPlanner::new();
        let [own, across, part] = [shape.m(), shape.P, shape.c()].map(|size| planner.plan_fft_forward(size));
        Kernels { shape, own, across, part, roots: Roots::new(shape.n) }
    }

    /// The power w_n^j of w_n = exp(-2 pi i / n), for j < n.
    pub fn root(&self, j: usize) -> Point {
        self.roots.power(j)
    }

    /// Phase I, with the twiddle factors.
    pub fn first(&self, id: usize, points: &[Point]) -> Vec<Point> {
        let fft = if self.shape.layout == Layout::Cyclic { &self.own } else { &self.across };
        let mut points = transformed(fft, points);
        match self.shape.layout {
            Layout::Cyclic if id == 0 => (), // w_n^0
            Layout::Cyclic => {
                points.iter_mut().enumerate().for_each(|(k, point)| *point *= self.root(id * k));
            }
            Layout::Blocked => {
                let rows = points.chunks_mut(self.shape.P).zip(id * self.shape.c()..);
                rows.for_each(|(row, a)| self.twiddle(row, a));
            }
        }
        points
    }

    /// Phase III.
    pub fn third(&self, points: &mut [Point]) {
        match self.shape.layout {
            Layout::Cyclic if self.shape.P == 1 => (),
            Layout::Cyclic => transform(&self.across, points),
            Layout::Blocked => self.whole(points),
        }
    }

    /// An FFT over all points of a processor.
    pub fn whole(&self, points: &mut [Point]) {
        transform(&self.own, points);
    }

    /// Multiplies the k-th point by w_n^(ak).
    pub fn twiddle(&self, row: &mut [Point], a: usize) {
        row.iter_mut().enumerate().for_each(|(k, point)| *point *= self.root(a * k));
    }

    /// An FFT of size P.
    pub fn row(&self, row: &mut [Point]) {
        transform(&self.across, row);
    }

    /// FFTs of size c.
    pub fn parts(&self, points: &mut [Point]) {
        transform(&self.part, points);
    }
}

/// FFTs of the points into others.
fn transformed(fft: &Arc<dyn Fft<f64>>, points: &[Point]) -> Vec<Point> {
    let mut result = vec![ZERO; points.len()];
    let mut scratch = vec![ZERO; fft.get_immutable_scratch_len()];
    fft.process_immutable_with_scratch(points, &mut result, &mut scratch);
    result
}

/// FFTs of the points in their place.
fn transform(fft: &Arc<dyn Fft<f64>>, points: &mut [Point]) {
    let mut scratch = vec![ZERO; fft.get_inplace_scratch_len()];
    fft.process_with_scratch(points, &mut scratch);
}

/// The powers of w_n, from two tables of about sqrt(n): that is as exact as one of n, and stays in the cache.
struct Roots {
    /// The powers below 2^bits.
    fine: Vec<Point>,
    /// The powers of w_n^(2^bits).
    coarse: Vec<Point>,
    /// See there.
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
