//! One layout for the whole butterfly: log P of its columns need a remote datum for each node (LogP, section
//! 4.1.1).
//!
//! In such a column processors form pairs. Each sends all its points to its partner and computes its own half
//! of their m butterflies: one of the pair the sums, the other the differences times the twiddle factors.
//! After these columns the processors' numbers are bit-reversed, as the rows of the butterfly are.

use loggp::Proc;

use super::kernels::{FftPoint, Kernels};
use super::layout::{Layout, Shape};
use super::remap::{AddressedPoint, POINT, load};

/// A column in which every node needs a point of the partner.
pub(super) struct ButterflyColumn {
    /// Distance to the partner.
    half: usize,
}

impl ButterflyColumn {
    /// Returns all such columns, in order.
    pub(super) fn all(P: usize) -> impl Iterator<Item = ButterflyColumn> {
        (0..P.ilog2()).map(move |column| ButterflyColumn { half: P >> (column + 1) })
    }

    /// Sends all points to the partner and receives the partner's.
    pub(super) fn exchange(&self, p: &mut Proc, points: &[FftPoint], others: &mut [FftPoint]) {
        // A partner may be a column ahead, so each column has its own step of the tag.
        let (partner, tag) = (p.id() ^ self.half, POINT.step(self.half));
        let mut missing = points.len();
        for i in 0..points.len() {
            let message = AddressedPoint { i: i as u32, point: load(p, points, i) };
            p.send_receiving(partner, tag, message, tag, |_, AddressedPoint { i, point }| {
                others[i as usize] = point;
                missing -= 1;
            });
        }
        for _ in 0..missing {
            let AddressedPoint { i, point } = p.recv(tag.from(partner));
            others[i as usize] = point;
        }
    }

    /// Computes this processor's half of the butterflies: m nodes.
    pub(super) fn compute(&self, kernels: &Kernels, id: usize, points: &mut [FftPoint], others: &[FftPoint]) {
        let Shape { n, P, layout } = kernels.shape;
        let pairs = points.iter_mut().zip(others);
        if id & self.half == 0 {
            return pairs.for_each(|(mine, other)| *mine += other);
        }
        // In a transform of size 2 half this is point `first` of the second half. With the blocked layout, in
        // a transform of size 2 half m, these are m points of the second half, from first m on.
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

/// Returns the index in the input of point j of a processor, with one layout.
pub(super) fn input(shape: &Shape, id: usize, j: usize) -> usize {
    match shape.layout {
        Layout::Cyclic => id + shape.P * j,
        Layout::Blocked => id * shape.m() + j,
    }
}

/// Returns the index in the output of point j of a processor, with one layout.
pub(super) fn output(shape: &Shape, id: usize, j: usize) -> usize {
    let reversed = if shape.P == 1 { 0 } else { id.reverse_bits() >> (usize::BITS - shape.P.ilog2()) };
    match shape.layout {
        Layout::Cyclic => j + shape.m() * reversed,
        Layout::Blocked => reversed + shape.P * j,
    }
}
