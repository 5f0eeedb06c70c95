//! Verification of a decomposition, by the matrix that was decomposed.

use ndarray::{Array1, Array2, ShapeBuilder, s};

use super::layout::GridLayout;
use crate::math::dense::SingularStep;
use crate::math::dense::residual::{self, largest};
use crate::math::product::subtract_product;

/// Largest PA - LU, in units of n max|A| eps.
const MOST_RESIDUAL: f64 = 20.0;

/// The result of a decomposition: U, and L below the diagonal. Each column of L has its rows in the order
/// that they had at the end of its panel.
pub(super) struct Factors {
    /// L and U in one matrix.
    pub lu: Array2<f64>,
    /// Row numbers of the pivots, step by step.
    pub pivots: Vec<usize>,
}

/// Refuses a wrong decomposition, in one sentence. Where a step found no pivot, the columns up to that one
/// are compared with the matrix: the rest of the last of them must be 0, but for rounding.
pub(super) fn verify(
    matrix: &Array2<f64>,
    mut factors: Factors,
    layout: &GridLayout,
    singular: Option<SingularStep>,
) -> Result<(), String> {
    let (n, steps) = (matrix.nrows(), factors.pivots.len());
    if steps != singular.map_or(n, |SingularStep(step)| step) {
        let step =
            singular.map_or(String::new(), |SingularStep(step)| format!(", and none at step {}", step + 1));
        return Err(format!("{steps} of {n} pivots were found{step}"));
    }
    let columns = n.min(steps + 1);
    // Rows of L take their places after later pivots.
    for panel in layout.panels() {
        let mut left = factors.lu.slice_mut(s![.., ..panel.start]);
        for (row, pivot) in (panel.start..panel.end.min(steps)).map(|row| (row, factors.pivots[row])) {
            if pivot < row || pivot >= n {
                return Err(format!("row {pivot} cannot be the pivot of step {row}"));
            }
            for mut column in left.columns_mut() {
                column.swap(row, pivot);
            }
        }
    }
    let mut l = Array2::<f64>::zeros((n, steps).f());
    let mut u = Array2::<f64>::zeros((steps, columns).f());
    for ((i, j), value) in factors.lu.slice(s![.., ..columns]).indexed_iter() {
        if i <= j && i < steps {
            u[(i, j)] = *value;
        }
        if i > j && j < steps {
            if value.abs() > 1.0 || value.is_nan() {
                return Err(format!("L[{i}][{j}] is {value}, which is more than 1"));
            }
            l[(i, j)] = *value;
        }
    }
    l.diag_mut().fill(1.0);
    let mut permuted: Vec<usize> = (0..n).collect();
    factors.pivots.iter().enumerate().for_each(|(row, pivot)| permuted.swap(row, *pivot));
    let most = largest(matrix.iter().copied());
    let mut residual = Array2::from_shape_fn((n, columns).f(), |(i, j)| matrix[(permuted[i], j)]);
    subtract_product(residual.view_mut(), l.view(), u.view());
    let scale = n as f64 * most * f64::EPSILON;
    let off = largest(residual.iter().copied());
    if off.is_nan() || off > 0.0 && off >= MOST_RESIDUAL * scale {
        return Err(format!("PA - LU is up to {off:.3e}, {:.3} times n max|A| eps", off / scale));
    }
    match singular {
        Some(_) => Ok(()),
        None => check_solution(matrix, &l, &u, &permuted),
    }
}

/// Solves Ax = b by the factors for some b, and refuses an x that Linpack would refuse.
fn check_solution(
    matrix: &Array2<f64>,
    l: &Array2<f64>,
    u: &Array2<f64>,
    permuted: &[usize],
) -> Result<(), String> {
    let n = matrix.nrows();
    let b = Array1::from_shape_fn(n, |i| ((i * 7 + 3) % 11) as f64 / 11.0 - 0.5);
    let mut x: Array1<f64> = permuted.iter().map(|row| b[*row]).collect();
    for i in 0..n {
        x[i] -= l.slice(s![i, ..i]).dot(&x.slice(s![..i]));
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - u.slice(s![i, i + 1..]).dot(&x.slice(s![i + 1..]))) / u[(i, i)];
    }
    residual::check("the solution of Ax = b", matrix, &x, &b, f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::super::layout::Cut;
    use super::*;

    /// A matrix and its factors, with panels of one column.
    fn right() -> (Array2<f64>, Factors, GridLayout) {
        let matrix = ndarray::array![[1.0, 2.0, 0.5], [4.0, 4.0, 2.0], [2.0, 4.0, 8.0]];
        // Row 1 is the first pivot; then row 2, so that L's first column changes places once more.
        let lu = ndarray::array![[4.0, 4.0, 2.0], [0.25, 2.0, 7.0], [0.5, 0.5, -3.5]];
        let cut = Cut::cyclic(3, 1, 1);
        (matrix, Factors { lu, pivots: vec![1, 2, 2] }, GridLayout { n: 3, block: 1, rows: cut, cols: cut })
    }

    #[test]
    fn verification_accepts_right_factors() {
        let (matrix, factors, layout) = right();
        assert_eq!(verify(&matrix, factors, &layout, None), Ok(()));
    }

    #[test]
    fn verification_notices_wrong_factors() {
        let wrong = |change: &dyn Fn(&mut Factors), part: &str| {
            let (matrix, mut factors, layout) = right();
            change(&mut factors);
            let why = verify(&matrix, factors, &layout, None).unwrap_err();
            assert!(why.contains(part), "{why}");
        };
        wrong(&|factors| factors.lu[(2, 2)] += 1e-9, "PA - LU is up to");
        wrong(&|factors| factors.lu[(0, 2)] = f64::NAN, "PA - LU is up to NaN");
        wrong(&|factors| factors.lu[(1, 0)] = 1.5, "which is more than 1");
        wrong(&|factors| factors.lu[(1, 0)] = f64::NAN, "which is more than 1");
        wrong(&|factors| factors.pivots[1] = 1, "PA - LU is up to");
        wrong(&|factors| factors.pivots[1] = 0, "row 0 cannot be the pivot of step 1");
        wrong(&|factors| factors.pivots.truncate(2), "2 of 3 pivots were found");
    }

    /// The rest of a column must be 0, and the columns before it right.
    #[test]
    fn step_without_a_pivot_is_compared_with_the_matrix() {
        let singular = ndarray::array![[1.0, 2.0, 3.0], [2.0, 4.0, 7.0], [4.0, 8.0, 8.0]];
        let (regular, _, layout) = right();
        let after = |matrix: &Array2<f64>, pivots: Vec<usize>, lu: Array2<f64>, step: usize| {
            verify(matrix, Factors { lu, pivots }, &layout, Some(SingularStep(step)))
        };
        let lu = || ndarray::array![[4.0, 8.0, 8.0], [0.5, 0.0, 0.0], [0.25, 0.0, 0.0]];
        assert_eq!(after(&singular, vec![2], lu(), 1), Ok(()));
        assert!(after(&regular, vec![2], lu(), 1).unwrap_err().starts_with("PA - LU is up to"));
        assert!(after(&singular, vec![], lu(), 0).unwrap_err().starts_with("PA - LU is up to"));
        let why = after(&singular, vec![2], lu(), 2).unwrap_err();
        assert_eq!(why, "1 of 3 pivots were found, and none at step 3");
    }
}
