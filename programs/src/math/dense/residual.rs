//! The residual of a solution of Ax = b, scaled as in Linpack.

use ndarray::{Array1, Array2};

/// The scaled residual that Linpack allows a solution.
pub const MOST_SCALED: f64 = 16.0;

/// Returns the scaled residual of x: the largest number of Ax - b, in units of the rounding error to expect.
pub fn scaled(matrix: &Array2<f64>, x: &Array1<f64>, b: &Array1<f64>) -> f64 {
    largest(matrix.dot(x) - b) / allowance(matrix, x, b)
}

/// Refuses `what`, a solution that Linpack would refuse if `epsilon` is the unit of rounding errors.
pub fn check(
    what: &str,
    matrix: &Array2<f64>,
    x: &Array1<f64>,
    b: &Array1<f64>,
    epsilon: f64,
) -> Result<(), String> {
    let scaled = scaled(matrix, x, b) * f64::EPSILON / epsilon;
    match scaled < MOST_SCALED {
        true => Ok(()),
        false => {
            Err(format!("{what} has a scaled residual of {scaled:.3}, and Linpack allows {MOST_SCALED}"))
        }
    }
}

/// Returns the rounding error to expect in a number of Ax - b: the unit of the scaled residual.
pub fn allowance(matrix: &Array2<f64>, x: &Array1<f64>, b: &Array1<f64>) -> f64 {
    let of_a = largest(matrix.rows().into_iter().map(|row| row.iter().map(|value| value.abs()).sum()));
    let [of_x, of_b] = [x, b].map(|vector| largest(vector.iter().copied()));
    f64::EPSILON * (of_a * of_x + of_b) * b.len() as f64
}

/// Returns the largest absolute value, or NaN if there is one.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    let larger = |most: f64, value: f64| if value.is_nan() { value } else { most.max(value) };
    let values = values.into_iter().map(f64::abs);
    values.fold(0.0, |most, value| if most.is_nan() { most } else { larger(most, value) })
}
