//! The product of two matrices, by the kernels of the crate gemm.
//!
//! They are asked for 8-byte numbers directly: to build those for all types takes minutes.

#![allow(unsafe_code)]

use gemm_common::Parallelism;
use ndarray::{ArrayView2, ArrayViewMut2};

/// A -= L U.
///
/// # Panics
///
/// If the shapes do not fit.
pub fn subtract_product(mut a: ArrayViewMut2<f64>, l: ArrayView2<f64>, u: ArrayView2<f64>) {
    if a.strides()[0] > a.strides()[1] {
        // The kernels want columns that lie together.
        return subtract_product(a.reversed_axes(), u.reversed_axes(), l.reversed_axes());
    }
    let (rows, columns) = a.dim();
    assert_eq!((l.dim(), u.dim()), ((rows, l.ncols()), (l.ncols(), columns)), "the shapes must fit");
    let ([a_rs, a_cs], [l_rs, l_cs], [u_rs, u_cs]) =
        (strides(a.strides()), strides(l.strides()), strides(u.strides()));
    // SAFETY: the pointers, shapes and strides are those of views, so every element that the kernel touches lies in memory
    // that a view borrows; A's is borrowed for writing, so it overlaps neither of the others. The shapes fit, by the
    // assertion above. A is read before it is written, and all of it holds numbers.
    unsafe {
        gemm_f64::gemm::f64::get_gemm_fn()(
            rows,
            columns,
            l.ncols(),
            a.as_mut_ptr(),
            a_cs,
            a_rs,
            true,
            l.as_ptr(),
            l_cs,
            l_rs,
            u.as_ptr(),
            u_cs,
            u_rs,
            1.0,
            -1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// The distances from row to row and from column to column.
fn strides(strides: &[isize]) -> [isize; 2] {
    [strides[0], strides[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, ShapeBuilder, s};

    /// Parts of larger matrices, in both orders, of all small sizes and some larger ones.
    #[test]
    fn a_product_is_taken_away_and_nothing_else_is_touched() {
        let sizes = [0, 1, 2, 3, 7, 8, 9, 17, 65];
        for (rows, inner, columns) in
            sizes.iter().flat_map(|r| sizes.iter().flat_map(move |i| sizes.map(|c| (*r, *i, c))))
        {
            for by_columns in [false, true] {
                let of = |rows: usize, columns: usize, factor: usize| {
                    let entry = |(i, j): (usize, usize)| ((i * factor + j * 3) % 11) as f64 - 5.0;
                    Array2::from_shape_fn((rows, columns).set_f(by_columns), entry)
                };
                let (before, l, u) =
                    (of(rows + 2, columns + 3, 5), of(rows, inner, 7), of(inner, columns, 2));
                let mut a = before.clone();
                subtract_product(a.slice_mut(s![1..rows + 1, 2..columns + 2]), l.view(), u.view());
                for ((i, j), value) in a.indexed_iter() {
                    let inside = (1..rows + 1).contains(&i) && (2..columns + 2).contains(&j);
                    let taken: f64 =
                        if inside { (0..inner).map(|m| l[(i - 1, m)] * u[(m, j - 2)]).sum() } else { 0.0 };
                    assert_eq!(*value, before[(i, j)] - taken, "{rows} {inner} {columns} at {i}, {j}");
                }
            }
        }
    }
}
