//! Whether a decomposition is right: held against the matrix that was decomposed.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ShapeBuilder, s};

use super::layout::Layout;
use super::panel::Singular;

/// PA - LU may be so many times n max|A| eps.
const MOST_RESIDUAL: f64 = 20.0;
/// The scaled residual that Linpack allows a solution.
const MOST_SCALED: f64 = 16.0;

/// What came of a decomposition: L below the diagonal, each column with its rows in the order in which they were when
/// their panel was done, and U.
pub struct Factors {
    /// L and U, in one matrix.
    pub lu: Array2<f64>,
    /// Which rows were pivots, step by step.
    pub pivots: Vec<usize>,
}

/// Refuses a decomposition that is wrong, in one sentence.
pub fn verify(matrix: &Array2<f64>, mut factors: Factors, layout: &Layout) -> Result<(), String> {
    let n = matrix.nrows();
    if factors.pivots.len() != n {
        return Err(format!("{} of {n} pivots were found", factors.pivots.len()));
    }
    // Rows of L take the places that later pivots gave them.
    for panel in layout.panels() {
        let mut left = factors.lu.slice_mut(s![.., ..panel.start]);
        for (row, pivot) in panel.clone().map(|row| (row, factors.pivots[row])) {
            if pivot < row || pivot >= n {
                return Err(format!("row {pivot} cannot be the pivot of step {row}"));
            }
            for mut column in left.columns_mut() {
                column.swap(row, pivot);
            }
        }
    }
    let mut l = Array2::<f64>::eye(n);
    let mut u = Array2::<f64>::zeros((n, n).f());
    for ((i, j), value) in factors.lu.indexed_iter() {
        if i > j {
            if value.abs() > 1.0 || value.is_nan() {
                return Err(format!("L[{i}][{j}] is {value}, which is more than 1"));
            }
            l[(i, j)] = *value;
        } else {
            u[(i, j)] = *value;
        }
    }
    let mut permuted: Vec<usize> = (0..n).collect();
    factors.pivots.iter().enumerate().for_each(|(row, pivot)| permuted.swap(row, *pivot));
    let most = matrix.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let mut residual = Array2::from_shape_fn((n, n).f(), |(i, j)| matrix[(permuted[i], j)]);
    general_mat_mul(-1.0, &l, &u, 1.0, &mut residual);
    let scale = n as f64 * most * f64::EPSILON;
    let off = largest(residual.iter().copied());
    if off.is_nan() || off >= MOST_RESIDUAL * scale {
        return Err(format!("PA - LU is up to {off:.3e}, {:.3} times n max|A| eps", off / scale));
    }
    solution(matrix, &l, &u, &permuted)
}

/// Solves Ax = b by the factors for some b, and refuses an x that Linpack would refuse.
fn solution(
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
    let of_a = largest(matrix.rows().into_iter().map(|row| row.iter().map(|value| value.abs()).sum()));
    let [of_x, of_b] = [&x, &b].map(|vector| largest(vector.iter().copied()));
    let off = largest(matrix.dot(&x) - &b);
    let scaled = off / (f64::EPSILON * (of_a * of_x + of_b) * n as f64);
    if scaled.is_nan() || scaled >= MOST_SCALED {
        return Err(format!(
            "the solution of Ax = b has a scaled residual of {scaled:.3}, and Linpack allows {MOST_SCALED}"
        ));
    }
    Ok(())
}

/// The largest absolute value; NaN, if there is one.
fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    let larger = |most: f64, value: f64| if value.is_nan() { value } else { most.max(value) };
    let values = values.into_iter().map(f64::abs);
    values.fold(0.0, |most, value| if most.is_nan() { most } else { larger(most, value) })
}

/// Refuses a step at which there should have been a pivot, or other pivots than there should be: elimination by a single
/// processor finds none at the same step.
pub fn verify_singular(matrix: &Array2<f64>, found: Singular) -> Result<(), String> {
    let n = matrix.nrows();
    let mut a = matrix.clone();
    for k in 0..n {
        let pivot = (k..n).fold(k, |most, i| if a[(i, k)].abs() > a[(most, k)].abs() { i } else { most });
        if a[(pivot, k)] == 0.0 {
            return match found == Singular(k) {
                true => Ok(()),
                false => Err(format!(
                    "no pivot was found at step {}, and the first without one is {}",
                    found.0 + 1,
                    k + 1
                )),
            };
        }
        for j in 0..n {
            a.swap((k, j), (pivot, j));
        }
        for i in k + 1..n {
            a[(i, k)] /= a[(k, k)];
        }
        for j in k + 1..n {
            for i in k + 1..n {
                a[(i, j)] -= a[(i, k)] * a[(k, j)];
            }
        }
    }
    Err(format!("no pivot was found at step {}, and there are pivots at all steps", found.0 + 1))
}

#[cfg(test)]
mod tests {
    use super::super::layout::Cut;
    use super::*;

    /// A matrix and its factors, with panels of one column.
    fn right() -> (Array2<f64>, Factors, Layout) {
        let matrix = ndarray::array![[1.0, 2.0, 0.5], [4.0, 4.0, 2.0], [2.0, 4.0, 8.0]];
        // Row 1 is the first pivot; then row 2, so that L's first column changes places once more.
        let lu = ndarray::array![[4.0, 4.0, 2.0], [0.25, 2.0, 7.0], [0.5, 0.5, -3.5]];
        let cut = Cut::cyclic(3, 1, 1);
        (matrix, Factors { lu, pivots: vec![1, 2, 2] }, Layout { n: 3, block: 1, rows: cut, cols: cut })
    }

    #[test]
    fn what_is_right_is_accepted() {
        let (matrix, factors, layout) = right();
        assert_eq!(verify(&matrix, factors, &layout), Ok(()));
    }

    #[test]
    fn what_is_wrong_is_noticed() {
        let wrong = |change: &dyn Fn(&mut Factors), part: &str| {
            let (matrix, mut factors, layout) = right();
            change(&mut factors);
            let why = verify(&matrix, factors, &layout).unwrap_err();
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

    #[test]
    fn a_step_without_a_pivot_is_found_again() {
        let (regular, ..) = right();
        let singular = ndarray::array![[1.0, 2.0, 3.0], [2.0, 4.0, 7.0], [3.0, 6.0, 8.0]];
        assert_eq!(verify_singular(&singular, Singular(1)), Ok(()));
        assert!(verify_singular(&singular, Singular(2)).unwrap_err().ends_with("the first without one is 2"));
        assert!(
            verify_singular(&regular, Singular(2)).unwrap_err().ends_with("there are pivots at all steps")
        );
    }
}
