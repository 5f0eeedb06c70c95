//! The product of two matrices.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};

/// Computes A -= L U.
///
/// # Panics
///
/// If the shapes do not match.
pub fn subtract_product(mut a: ArrayViewMut2<f64>, l: ArrayView2<f64>, u: ArrayView2<f64>) {
    general_mat_mul(-1.0, &l, &u, 1.0, &mut a);
}
