//! Rows of a system of equations, and the arithmetic of an elimination on them. Nothing here is sent.
//!
//! The pivot of a row is its largest number, and its column takes the row's place among the columns: the
//! unknowns change their order. So the owner of a row finds its pivot alone. A row is divided by its pivot,
//! so that no number right of the diagonal of the remaining U is above 1. U's diagonal is 1.

use std::ops::Range;

use loggp::Payload;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

use crate::math::product::subtract_product;

/// Some rows of Ax = b.
pub(super) struct Rows {
    /// Numbers of the rows; those of an eliminated row are U's.
    a: Array2<f64>,
    /// Right sides; that of an eliminated row is divided by its pivot too.
    b: Array1<f64>,
}

/// The pivot of a row, as all processors need it.
#[derive(Clone, Payload)]
pub(super) struct Pivot {
    /// Column that takes the row's place.
    pub column: usize,
    /// Right side of the row.
    pub y: f64,
    /// Numbers of that column in the rows of U that come before this one in its block.
    pub above: Vec<f64>,
}

/// Rows that were eliminated together, as others need them to subtract them.
pub(super) struct EliminatedBlock {
    /// First row in the matrix.
    pub k: usize,
    /// Pivots, row by row.
    pub pivots: Vec<Pivot>,
    /// Rows of U right of the block, row after row.
    pub u: Vec<f64>,
}

impl EliminatedBlock {
    /// Returns the number of rows.
    pub(super) fn width(&self) -> usize {
        self.pivots.len()
    }
}

/// Returns the flops of [`Rows::eliminate_row`] for row r of a block, with `columns` columns from its
/// diagonal on: the subtraction of the rows before it, the search, and the division.
pub(super) fn pivot_flops(r: usize, columns: usize) -> u64 {
    (2 * r * (columns + 1) + 2 * columns) as u64
}

/// Returns the flops of [`Rows::subtract`] for a block of w rows with `columns` columns right of it.
pub(super) fn subtract_flops(rows: usize, w: usize, columns: usize) -> u64 {
    (rows * w * (w + 1 + 2 * columns)) as u64
}

/// Returns the flops of [`Rows::solve`] for w rows.
pub(super) fn solve_flops(w: usize) -> u64 {
    (w * w.saturating_sub(1)) as u64
}

/// Returns the flops of [`Rows::substitute`] for w unknowns.
pub(super) fn substitute_flops(rows: usize, w: usize) -> u64 {
    2 * (rows * w) as u64
}

impl Rows {
    /// Selects rows of a matrix, with their right sides.
    pub(super) fn select(matrix: &ArrayView2<f64>, b: &Array1<f64>, which: &[usize]) -> Rows {
        Rows {
            a: matrix.select(Axis(0), which).as_standard_layout().into_owned(),
            b: b.select(Axis(0), which),
        }
    }

    /// Returns rows of zeros, with n columns.
    pub(super) fn zeros(rows: usize, n: usize) -> Rows {
        Rows { a: Array2::zeros((rows, n)), b: Array1::zeros(rows) }
    }

    /// Copies row `from` of other rows into row `to`.
    pub(super) fn copy_row(&mut self, to: usize, other: &Rows, from: usize) {
        self.a.row_mut(to).assign(&other.a.row(from));
        self.b[to] = other.b[from];
    }

    /// Returns the numbers of an eliminated row right of its diagonal, in 4 bytes each, and rounds its own to
    /// them.
    pub(super) fn round_row(&mut self, row: usize, diagonal: usize) -> Vec<f32> {
        let mut right = self.a.slice_mut(s![row, diagonal + 1..]);
        right.mapv_inplace(|value| f64::from(value as f32));
        right.iter().map(|value| *value as f32).collect()
    }

    /// Sets an eliminated row: its numbers right of its diagonal, and its right side.
    pub(super) fn set_row(&mut self, row: usize, diagonal: usize, right: &[f32], y: f64) {
        let numbers = self.a.slice_mut(s![row, diagonal + 1..]);
        numbers.into_iter().zip(right).for_each(|(number, value)| *number = f64::from(*value));
        self.b[row] = y;
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.b.len()
    }

    /// Exchanges two columns in some of the rows.
    pub(super) fn exchange_columns(&mut self, rows: Range<usize>, i: usize, j: usize) {
        if i != j {
            self.a.slice_mut(s![rows, ..]).rows_mut().into_iter().for_each(|mut row| row.swap(i, j));
        }
    }

    /// Eliminates row r of a block, whose first row is row k of the matrix: brings it up to date, finds its
    /// pivot, exchanges the columns in the whole block, and divides the row. Returns the pivot and the number
    /// that was there, or `None` if all numbers are 0.
    pub(super) fn eliminate_row(&mut self, block: Range<usize>, k: usize, r: usize) -> Option<(Pivot, f64)> {
        let (row, diagonal) = (block.start + r, k + r);
        let (done, mut left) = self.a.view_mut().split_at(Axis(0), row);
        let mut values = left.row_mut(0);
        for q in 0..r {
            let (factor, u) = (values[k + q], done.row(block.start + q));
            values.slice_mut(s![k + q + 1..]).scaled_add(-factor, &u.slice(s![k + q + 1..]));
            self.b[row] -= factor * self.b[block.start + q];
        }
        let larger = |most: (usize, f64), (j, value): (usize, &f64)| {
            if value.abs() > most.1 { (j, value.abs()) } else { most }
        };
        let candidates = values.iter().enumerate().skip(diagonal);
        let (column, size) = candidates.fold((diagonal, 0.0), larger);
        if size == 0.0 {
            return None;
        }
        self.exchange_columns(block.clone(), diagonal, column);
        let value = self.a[(row, diagonal)];
        self.a.slice_mut(s![row, diagonal + 1..]).mapv_inplace(|number| number / value);
        self.b[row] /= value;
        let above = self.a.slice(s![block.start..row, diagonal]).to_vec();
        Some((Pivot { column, y: self.b[row], above }, value))
    }

    /// Returns the numbers right of a block, whose first row is row k of the matrix.
    pub(super) fn values_right_of(&self, block: Range<usize>, k: usize) -> Vec<f64> {
        let right = self.a.slice(s![block.clone(), k + block.len()..]);
        right.iter().copied().collect()
    }

    /// Subtracts a block from rows below it, which makes its columns 0 there. (The factors of its rows stay
    /// in these columns, and are not used again.)
    pub(super) fn subtract(&mut self, rows: Range<usize>, block: &EliminatedBlock) {
        let (k, w, n) = (block.k, block.width(), self.a.ncols());
        for i in rows.clone() {
            for (q, pivot) in block.pivots.iter().enumerate() {
                let factor = self.a[(i, k + q)];
                for (r, later) in block.pivots.iter().enumerate().skip(q + 1) {
                    self.a[(i, k + r)] -= factor * later.above[q];
                }
                self.b[i] -= factor * pivot.y;
            }
        }
        let u = ArrayView2::from_shape((w, n - k - w), &block.u).expect("a block has whole rows");
        let (left, right) = self.a.slice_mut(s![rows, ..]).split_at(Axis(1), k + w);
        subtract_product(right, left.slice(s![.., k..]), u);
    }

    /// Returns the unknowns of a block, whose first row is row k of the matrix, after later unknowns have
    /// been substituted.
    pub(super) fn solve(&self, block: Range<usize>, k: usize) -> Vec<f64> {
        let mut x = self.b.slice(s![block.clone()]).to_vec();
        for r in (0..x.len()).rev() {
            for q in r + 1..x.len() {
                x[r] -= self.a[(block.start + r, k + q)] * x[q];
            }
        }
        x
    }

    /// Substitutes the unknowns of a block that begins at row k into rows above it.
    pub(super) fn substitute(&mut self, rows: Range<usize>, k: usize, x: &[f64]) {
        for i in rows {
            let known: f64 = x.iter().enumerate().map(|(q, x)| self.a[(i, k + q)] * x).sum();
            self.b[i] -= known;
        }
    }
}
