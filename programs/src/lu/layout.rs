//! Which processor has which part of the matrix.

use std::ops::Range;

/// One dimension of a matrix, cut into pieces that are dealt to parts in turn. Pieces of the whole length over the
/// parts make a blocked layout, and shorter ones a cyclic layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The length of what is cut.
    n: usize,
    /// How many parts there are.
    pub parts: usize,
    /// The length of a piece.
    pub piece: usize,
}

impl Cut {
    /// Each part gets one piece: all that lies together.
    pub fn blocked(n: usize, parts: usize) -> Cut {
        Cut { n, parts, piece: n.div_ceil(parts).max(1) }
    }

    /// The parts get pieces of this length in turn.
    pub fn cyclic(n: usize, parts: usize, piece: usize) -> Cut {
        Cut { n, parts, piece }
    }

    /// The length of what is cut.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The part that has an index.
    pub fn owner(&self, index: usize) -> usize {
        index / self.piece % self.parts
    }

    /// How many indices of a part lie below this one.
    pub fn before(&self, part: usize, index: usize) -> usize {
        let (round, rest) = (index / self.piece / self.parts, index / self.piece % self.parts);
        let of_round = match part {
            part if part < rest => self.piece,
            part if part == rest => index % self.piece,
            _ => 0,
        };
        round * self.piece + of_round
    }

    /// How many indices a part has.
    pub fn len(&self, part: usize) -> usize {
        self.before(part, self.n)
    }

    /// How many indices of a part are this one or lie above it.
    pub fn from(&self, part: usize, index: usize) -> usize {
        self.len(part) - self.before(part, index)
    }

    /// The most indices of a part that are this one or lie above it.
    pub fn most_from(&self, index: usize) -> usize {
        (0..self.parts).map(|part| self.from(part, index)).max().unwrap_or(0)
    }

    /// How many parts have indices from this one on.
    pub fn parts_from(&self, index: usize) -> usize {
        (0..self.parts).filter(|part| self.from(*part, index) > 0).count()
    }

    /// The indices of a part, in order.
    pub fn of(&self, part: usize) -> impl Iterator<Item = usize> {
        let (piece, step, n) = (self.piece, self.piece * self.parts, self.n);
        let firsts = (part * piece..n).step_by(step.max(1));
        firsts.flat_map(move |first| first..(first + piece).min(n))
    }

    /// Where the piece ends that has this index.
    fn end(&self, index: usize) -> usize {
        ((index / self.piece + 1) * self.piece).min(self.n)
    }
}

/// A matrix on a grid of processors, in rows: processor r * C + c is at (r, c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The matrix has n rows and n columns.
    pub n: usize,
    /// The columns of a panel, at most.
    pub block: usize,
    /// Which row of the grid has a row of the matrix.
    pub rows: Cut,
    /// Which column of the grid has a column of the matrix.
    pub cols: Cut,
}

impl Layout {
    /// The columns that are eliminated together, each of one grid column, and their pivot rows of one grid row.
    pub fn panels(&self) -> impl Iterator<Item = Range<usize>> {
        let end = |k: usize| (k + self.block).min(self.rows.end(k)).min(self.cols.end(k));
        let first = (self.n > 0).then(|| 0..end(0));
        std::iter::successors(first, move |panel| (panel.end < self.n).then(|| panel.end..end(panel.end)))
    }
}

/// The grid for P processors that is nearest to a square, with no more rows than columns.
pub fn squarest(P: usize) -> (usize, usize) {
    let rows = (1..=P.isqrt()).rev().find(|rows| P.is_multiple_of(*rows)).unwrap_or(1);
    (rows, P / rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_counts_what_it_deals_out() {
        for n in 0..30 {
            for parts in 1..6 {
                let blocked = Cut::blocked(n, parts);
                for cut in (1..5).map(|piece| Cut::cyclic(n, parts, piece)).chain([blocked]) {
                    let mut seen = vec![0; parts];
                    for index in 0..n {
                        let owner = cut.owner(index);
                        (0..parts)
                            .for_each(|part| assert_eq!(cut.before(part, index), seen[part], "{cut:?}"));
                        assert_eq!(cut.of(owner).nth(seen[owner]), Some(index));
                        seen[owner] += 1;
                    }
                    (0..parts).for_each(|part| {
                        assert_eq!((cut.len(part), cut.of(part).count()), (seen[part], seen[part]))
                    });
                }
            }
        }
    }

    #[test]
    fn panels_stay_within_pieces() {
        let layout = Layout { n: 10, block: 3, rows: Cut::blocked(10, 2), cols: Cut::blocked(10, 3) };
        let panels: Vec<_> = layout.panels().collect();
        assert_eq!(panels, [0..3, 3..4, 4..5, 5..8, 8..10]);
    }

    #[test]
    fn the_squarest_grid() {
        assert_eq!([1, 2, 12, 13, 16, 36].map(squarest), [(1, 1), (1, 2), (3, 4), (1, 13), (4, 4), (6, 6)]);
    }
}
