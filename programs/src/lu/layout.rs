//! Layouts: the part of the matrix that each processor has.

use std::iter;

/// One dimension of a matrix, cut into pieces that are dealt to parts in turn. Pieces of 1/parts of the
/// length make a blocked layout, and shorter ones a cyclic layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Length of the dimension.
    n: usize,
    /// Number of parts.
    pub parts: usize,
    /// Length of a piece.
    pub piece: usize,
}

impl Cut {
    /// Creates a cut in which each part gets one piece.
    pub(super) fn blocked(n: usize, parts: usize) -> Cut {
        Cut { n, parts, piece: n.div_ceil(parts).max(1) }
    }

    /// Creates a cut in which the parts get pieces of this length in turn.
    pub(super) fn cyclic(n: usize, parts: usize, piece: usize) -> Cut {
        Cut { n, parts, piece }
    }

    /// Returns the length of the dimension.
    pub(super) fn n(&self) -> usize {
        self.n
    }

    /// Returns the part that has an index.
    pub(super) fn owner(&self, index: usize) -> usize {
        index / self.piece % self.parts
    }

    /// Returns the number of indices of a part below this one.
    pub(super) fn count_before(&self, part: usize, index: usize) -> usize {
        let (round, rest) = (index / self.piece / self.parts, index / self.piece % self.parts);
        let of_round = match part {
            part if part < rest => self.piece,
            part if part == rest => index % self.piece,
            _ => 0,
        };
        round * self.piece + of_round
    }

    /// Returns the number of indices of a part.
    pub(super) fn len(&self, part: usize) -> usize {
        self.count_before(part, self.n)
    }

    /// Returns the number of indices of a part from this one on.
    pub(super) fn count_from(&self, part: usize, index: usize) -> usize {
        self.len(part) - self.count_before(part, index)
    }

    /// Returns the most indices that any part has from this one on.
    pub(super) fn most_from(&self, index: usize) -> usize {
        (0..self.parts).map(|part| self.count_from(part, index)).max().unwrap_or(0)
    }

    /// Returns the number of parts that have indices from this one on.
    pub(super) fn parts_from(&self, index: usize) -> usize {
        (0..self.parts).filter(|part| self.count_from(*part, index) > 0).count()
    }

    /// Returns the first part, which may have none, and then the others that have indices from this one on.
    pub(super) fn parts_after(&self, first: usize, index: usize) -> impl Iterator<Item = usize> {
        let others = (first + 1..self.parts).chain(0..first);
        iter::once(first).chain(others.filter(move |part| self.count_from(*part, index) > 0))
    }

    /// Returns the indices of a part, in order.
    pub(super) fn indices(&self, part: usize) -> impl Iterator<Item = usize> {
        let (piece, step, n) = (self.piece, self.piece * self.parts, self.n);
        let firsts = (part * piece..n).step_by(step.max(1));
        firsts.flat_map(move |first| first..(first + piece).min(n))
    }

    /// Returns the end of the piece that has this index.
    fn piece_end(&self, index: usize) -> usize {
        ((index / self.piece + 1) * self.piece).min(self.n)
    }
}

/// Columns that are eliminated together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Panel {
    pub number: usize,
    /// First column.
    pub start: usize,
    /// Column after the last.
    pub end: usize,
}

impl Panel {
    /// Returns the number of columns.
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }
}

/// A matrix on a grid of processors, in rows: processor r * C + c is at (r, c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GridLayout {
    /// Number of rows and columns of the matrix.
    pub n: usize,
    /// Most columns of a panel.
    pub block: usize,
    /// Rows of the matrix, cut into parts for the rows of the grid.
    pub rows: Cut,
    /// Columns of the matrix, cut into parts for the columns of the grid.
    pub cols: Cut,
}

impl GridLayout {
    /// Returns the panels. Each lies in one grid column, and its pivot rows in one grid row.
    pub(super) fn panels(&self) -> impl Iterator<Item = Panel> {
        let end = |k: usize| (k + self.block).min(self.rows.piece_end(k)).min(self.cols.piece_end(k));
        let panel = move |number, start| (start < self.n).then(|| Panel { number, start, end: end(start) });
        iter::successors(panel(0, 0), move |before| panel(before.number + 1, before.end))
    }
}

/// Returns the rows and columns of the grid of P processors that is nearest to a square, with no more rows
/// than columns.
pub(super) fn squarest(P: usize) -> (usize, usize) {
    let rows = (1..=P.isqrt()).rev().find(|rows| P.is_multiple_of(*rows)).unwrap_or(1);
    (rows, P / rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_counts_agree_with_its_indices() {
        for n in 0..30 {
            for parts in 1..6 {
                let blocked = Cut::blocked(n, parts);
                for cut in (1..5).map(|piece| Cut::cyclic(n, parts, piece)).chain([blocked]) {
                    let mut seen = vec![0; parts];
                    for index in 0..n {
                        let owner = cut.owner(index);
                        (0..parts).for_each(|part| {
                            assert_eq!(cut.count_before(part, index), seen[part], "{cut:?}")
                        });
                        assert_eq!(cut.indices(owner).nth(seen[owner]), Some(index));
                        seen[owner] += 1;
                    }
                    (0..parts).for_each(|part| {
                        assert_eq!((cut.len(part), cut.indices(part).count()), (seen[part], seen[part]))
                    });
                }
            }
        }
    }

    #[test]
    fn panels_stay_within_pieces() {
        let layout = GridLayout { n: 10, block: 3, rows: Cut::blocked(10, 2), cols: Cut::blocked(10, 3) };
        let panels: Vec<_> = layout.panels().map(|panel| panel.start..panel.end).collect();
        assert_eq!(panels, [0..3, 3..4, 4..5, 5..8, 8..10]);
    }

    #[test]
    fn squarest_grid_is_nearest_to_a_square() {
        assert_eq!([1, 2, 12, 13, 16, 36].map(squarest), [(1, 1), (1, 2), (3, 4), (1, 13), (4, 4), (6, 6)]);
    }
}
