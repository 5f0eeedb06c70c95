//! The arithmetic of an elimination, on the numbers of one processor.

use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};

use crate::math::product::subtract_product;

/// Most columns that are eliminated one by one and not by a product of matrices.
pub(super) const LEAF: usize = 8;

/// Computes A -= L U.
pub(super) fn update(mut a: ArrayViewMut2<f64>, l: ArrayView2<f64>, u: ArrayView2<f64>) {
    /// Products of fewer columns are not worth the copies that a product makes.
    const FEW: usize = 4;
    if l.ncols() >= FEW {
        return subtract_product(a, l, u);
    }
    if a.strides()[0] > a.strides()[1] {
        // Rows lie together: compute the transpose.
        return update(a.reversed_axes(), u.reversed_axes(), l.reversed_axes());
    }
    for (l, u) in l.columns().into_iter().zip(u.rows()) {
        for (mut column, factor) in a.columns_mut().into_iter().zip(u) {
            match (column.as_slice_mut(), l.as_slice()) {
                (Some(column), Some(l)) => column.iter_mut().zip(l).for_each(|(to, l)| *to -= factor * l),
                _ => column.iter_mut().zip(l).for_each(|(to, l)| *to -= factor * l),
            }
        }
    }
}

/// Solves L X = U in place of U. L's diagonal is 1, and the numbers above it are ignored.
pub(super) fn solve(l: ArrayView2<f64>, mut u: ArrayViewMut2<f64>) {
    let w = l.nrows();
    if w <= LEAF {
        for mut column in u.columns_mut() {
            for i in 0..w {
                let factor = column[i];
                (i + 1..w).for_each(|row| column[row] -= factor * l[(row, i)]);
            }
        }
        return;
    }
    let half = w / 2;
    let (mut upper, mut lower) = u.split_at(Axis(0), half);
    solve(l.slice(s![..half, ..half]), upper.view_mut());
    subtract_product(lower.view_mut(), l.slice(s![half.., ..half]), upper.view());
    solve(l.slice(s![half.., half..]), lower);
}

/// Returns the flops of [`solve`] for w rows.
pub(super) fn solve_flops(w: usize, columns: usize) -> u64 {
    (w * w.saturating_sub(1) * columns) as u64
}

/// Returns the flops of a whole elimination of n rows. Each step divides the rest of a column, and then
/// subtracts it from each of as many columns.
pub(super) fn elimination_flops(n: usize) -> u64 {
    (1..n as u64).map(|left| left + 2 * left * left).sum()
}

/// Returns the flops of [`update`].
pub(super) fn update_flops(rows: usize, w: usize, columns: usize) -> u64 {
    2 * (rows * w * columns) as u64
}
