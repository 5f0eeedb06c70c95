//! One layout for the whole butterfly: log P of its columns need a remote datum for each node (LogP, section
//! 4.1.1).
//!
//! In such a column processors pair up. Each sends all its points to its partner and computes its own half of
//! their m butterflies: one of the pair the sums, the other the differences times the twiddle factors. After
//! these columns the processors' numbers are bit-reversed, as the rows of the butterfly are.

use loggp::Proc;

use super::kernels::{Kernels, Point};
use super::layout::{Layout, Shape};
use super::remap::{Addressed, POINT, load};

/// A column in which every node needs the partner's.
pub struct Column {
    /// The distance to the partner.
    half: usize,
}

impl Column {
    /// All of them, in order.
    pub fn all(P: usize) -> impl Iterator<Item = Column> {
        (0..P.ilog2()).map(move |column| Column { half: P >> (column + 1) })
    }

    /// Sends all points to the partner and receives his.
    pub fn exchange(&self, p: &mut Proc, points: &[Point], others: &mut [Point]) {
        // A partner may be a column ahead, so each has its step.
        let (partner, tag) = (p.id() ^ self.half, POINT.step(self.half));
        let mut missing = points.len();
        for i in 0..points.len() {
            let message = Addressed { i: i as u32, point: load(p, points, i) };
            p.send_receiving(partner, tag, message, tag, |_, _, Addressed { i, point }| {
                others[i as usize] = point;
                missing -= 1;
            });
        }
        for _ in 0..missing {
            let Addressed { i, point } = p.recv_from(partner, tag);
            others[i as usize] = point;
        }
    }

    /// This processor's half of the butterflies: m nodes.
    pub fn compute(&self, kernels: &Kernels, id: usize, points: &mut [Point], others: &[Point]) {
        let Shape { n, P, layout } = kernels.shape;
        let pairs = points.iter_mut().zip(others);
        if id & self.half == 0 {
            return pairs.for_each(|(mine, other)| *mine += other);
        }
        // Of a transform of size 2 half, or in the blocked layout of one of size 2 half m, this is point
        // `first`, or `first` and those that follow it, of the second half.
        let first = id % self.half;
        match layout {
            Layout::Cyclic => {
                let root = kernels.root(first * (n / (2 * self.half)));
                pairs.for_each(|(mine, other)| *mine = (other - *mine) * root);
            }
            Layout::Blocked => {
                let stride = P / (2 * self.half);
                let place = first * points.len();
                for (j, (mine, other)) in points.iter_mut().zip(others).enumerate() {
                    *mine = (other - *mine) * kernels.root((place + j) * stride);
                }
            }
        }
    }
}

/// Which input is point j of a processor, when there is one layout.
pub fn input(shape: &Shape, id: usize, j: usize) -> usize {
    match shape.layout {
        Layout::Cyclic => id + shape.P * j,
        Layout::Blocked => id * shape.m() + j,
    }
}

/// Which output is point j of a processor, when there is one layout.
pub fn output(shape: &Shape, id: usize, j: usize) -> usize {
    let reversed = if shape.P == 1 { 0 } else { id.reverse_bits() >> (usize::BITS - shape.P.ilog2()) };
    match shape.layout {
        Layout::Cyclic => j + shape.m() * reversed,
        Layout::Blocked => reversed + shape.P * j,
    }
}
