//! Verification of a solution of Ax = b, by the equations, and by an elimination on one processor.

use ndarray::{Array1, Array2};

use super::rows::{EliminatedBlock, Rows};
use crate::math::dense::residual::{MOST_SCALED, largest};
use crate::math::dense::{SingularStep, residual};

/// Largest number in the rest of a row without a pivot, in units of n max|A| eps.
const MOST_LEFT: f64 = 20.0;

/// Refuses a wrong result of the processors, and a singular matrix, in one sentence. `epsilon` is the unit of
/// the rounding errors.
pub(super) fn verify(
    matrix: &Array2<f64>,
    b: &Array1<f64>,
    found: &[Result<Vec<f64>, SingularStep>],
    epsilon: f64,
) -> Result<(), String> {
    let bits = |found: &Result<Vec<f64>, SingularStep>| -> Result<Vec<u64>, SingularStep> {
        found.as_ref().map(|x| x.iter().map(|value| value.to_bits()).collect()).map_err(|singular| *singular)
    };
    let first = bits(&found[0]);
    if let Some(other) = found.iter().position(|other| bits(other) != first) {
        return Err(format!("processor {other} has another solution than processor 0"));
    }
    let alone = SequentialElimination::eliminate(matrix, b);
    let x = match &found[0] {
        Ok(x) => Array1::from(x.clone()),
        Err(SingularStep(step)) => return Err(alone.explain_singular(matrix, *step, epsilon)),
    };
    residual::check("the solution", matrix, &x, b, epsilon)?;
    let Some(other) = alone.x else { return Ok(()) }; // it may find 0 where the others find a rounding error
    // Two good solutions may be far apart, depending on A; the product of A and their difference may not.
    let allowed = [&x, &other].map(|x| residual::allowance(matrix, x, b)).iter().sum::<f64>()
        * (epsilon / f64::EPSILON);
    let apart = largest(matrix.dot(&(&x - &other))) / allowed;
    match apart < MOST_SCALED {
        true => Ok(()),
        false => Err(format!(
            "the solution is not that of a sequential elimination: A makes {apart:.3} of the difference"
        )),
    }
}

/// The elimination on one processor.
struct SequentialElimination {
    pivots: Vec<f64>,
    /// Solution, if it found all pivots.
    x: Option<Array1<f64>>,
}

impl SequentialElimination {
    /// Eliminates all rows, in larger blocks than the parallel program.
    fn eliminate(matrix: &Array2<f64>, b: &Array1<f64>) -> SequentialElimination {
        const BLOCK: usize = 32;
        let n = b.len();
        let all: Vec<usize> = (0..n).collect();
        let mut rows = Rows::select(&matrix.view(), b, &all);
        let (mut unknowns, mut found) = (all, Vec::with_capacity(n));
        for k in (0..n).step_by(BLOCK) {
            let place = k..(k + BLOCK).min(n);
            let mut pivots = Vec::new();
            for r in 0..place.len() {
                let Some((pivot, value)) = rows.eliminate_row(place.clone(), k, r) else {
                    return SequentialElimination { pivots: found, x: None };
                };
                rows.exchange_columns(0..k, k + r, pivot.column);
                rows.exchange_columns(place.end..n, k + r, pivot.column);
                unknowns.swap(k + r, pivot.column);
                found.push(value);
                pivots.push(pivot);
            }
            let u = rows.values_right_of(place.clone(), k);
            rows.subtract(place.end..n, &EliminatedBlock { k, pivots, u });
        }
        let mut x = Array1::zeros(n);
        for k in (0..n).step_by(BLOCK).rev() {
            let place = k..(k + BLOCK).min(n);
            let known = rows.solve(place.clone(), k);
            rows.substitute(0..k, k, &known);
            place.zip(known).for_each(|(column, value)| x[unknowns[column]] = value);
        }
        SequentialElimination { pivots: found, x: Some(x) }
    }

    /// Explains a step without a pivot.
    fn explain_singular(&self, matrix: &Array2<f64>, step: usize, epsilon: f64) -> String {
        let number = step + 1;
        let least = MOST_LEFT * matrix.nrows() as f64 * largest(matrix.iter().copied()) * epsilon;
        match self.pivots.get(step) {
            Some(pivot) if pivot.abs() > least => {
                format!("step {number} found no pivot, and a sequential elimination finds {pivot}")
            }
            _ if self.pivots.len() < step => format!(
                "step {number} found no pivot, and a sequential elimination none in step {}",
                self.pivots.len() + 1
            ),
            _ => format!(
                "A is singular, so there is no one solution: row {number} depends on those before it, and has no pivot"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first row's pivot is its 2, and the second row less four times that row over 2 is [4, 0, 1].
    fn right() -> (Array2<f64>, Array1<f64>, Vec<f64>) {
        let matrix = ndarray::array![[0.0, 2.0, 0.5], [4.0, 4.0, 2.0], [2.0, 4.0, 8.0]];
        let x = vec![1.0, -2.0, 3.0];
        let b = matrix.dot(&Array1::from(x.clone()));
        (matrix, b, x)
    }

    #[test]
    fn verification_accepts_a_right_solution() {
        let (matrix, b, x) = right();
        assert_eq!(verify(&matrix, &b, &[Ok(x.clone()), Ok(x)], f64::EPSILON), Ok(()));
    }

    #[test]
    fn verification_notices_a_wrong_solution() {
        let (matrix, b, x) = right();
        let mut other = x.clone();
        other[1] += 1e-9;
        let refused = |found: &[_], part: &str| {
            let why = verify(&matrix, &b, found, f64::EPSILON).unwrap_err();
            assert!(why.contains(part), "{why}");
        };
        refused(&[Ok(x.clone()), Ok(other.clone())], "processor 1 has another solution");
        refused(&[Ok(other.clone()), Ok(other)], "scaled residual");
        refused(&[Ok(vec![f64::NAN; 3])], "scaled residual of NaN");
        refused(&[Ok(vec![f64::INFINITY; 3])], "scaled residual of NaN");
        refused(&[Err(SingularStep(1))], "step 2 found no pivot, and a sequential elimination finds 4");
        refused(&[Err(SingularStep(2)), Ok(x)], "processor 1 has another solution");
    }

    #[test]
    fn singular_matrix_is_distinguished_from_a_mistake() {
        let matrix = ndarray::array![[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 2.0]];
        let b = ndarray::array![1.0, 2.0, 3.0];
        let why = |step| verify(&matrix, &b, &[Err(SingularStep(step))], f64::EPSILON).unwrap_err();
        assert!(why(1).starts_with("A is singular") && why(1).contains("row 2 depends"), "{}", why(1));
        assert!(why(0).starts_with("step 1 found no pivot"), "{}", why(0));
        assert!(why(2).ends_with("none in step 2"), "{}", why(2));
        assert!(verify(&matrix, &b, &[Ok(vec![1.0, 0.0, 0.0])], f64::EPSILON).is_err());
    }
}
