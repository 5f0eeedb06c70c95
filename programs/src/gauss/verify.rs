//! Whether a solution of Ax = b is right: held against the equations, and against an elimination by one processor.

use ndarray::{Array1, Array2};

use super::rows::{Block, Rows, Singular};
use crate::math::dense::residual;
use crate::math::dense::residual::{MOST_SCALED, largest};

/// What is left of a row without a pivot may be so many times n max|A| eps.
const MOST_LEFT: f64 = 20.0;

/// Refuses what the processors found if it is wrong, and a matrix that has no solution to find, in one sentence.
pub fn verify(
    matrix: &Array2<f64>,
    b: &Array1<f64>,
    found: &[Result<Vec<f64>, Singular>],
) -> Result<(), String> {
    let bits = |found: &Result<Vec<f64>, Singular>| -> Result<Vec<u64>, Singular> {
        found.as_ref().map(|x| x.iter().map(|value| value.to_bits()).collect()).map_err(|singular| *singular)
    };
    let first = bits(&found[0]);
    if let Some(other) = found.iter().position(|other| bits(other) != first) {
        return Err(format!("processor {other} has another solution than processor 0"));
    }
    let alone = Alone::eliminate(matrix, b);
    let x = match &found[0] {
        Ok(x) => Array1::from(x.clone()),
        Err(Singular(step)) => return Err(alone.singular(matrix, *step)),
    };
    let scaled = residual::scaled(matrix, &x, b);
    if scaled.is_nan() || scaled >= MOST_SCALED {
        return Err(format!(
            "the solution has a scaled residual of {scaled:.3}, and Linpack allows {MOST_SCALED}"
        ));
    }
    let Some(other) = alone.x else { return Ok(()) }; // it may find 0 where rounding left the others something
    // How far two good solutions may lie apart depends on A; what A makes of their difference does not.
    let allowed = [&x, &other].map(|x| residual::allowance(matrix, x, b)).iter().sum::<f64>();
    let apart = largest(matrix.dot(&(&x - &other))) / allowed;
    match apart < MOST_SCALED {
        true => Ok(()),
        false => Err(format!(
            "the solution is not that of a sequential elimination: A makes {apart:.3} of the difference"
        )),
    }
}

/// The elimination by one processor.
struct Alone {
    /// The pivots that it found.
    pivots: Vec<f64>,
    /// The solution, if it found them all.
    x: Option<Array1<f64>>,
}

impl Alone {
    /// Eliminates all rows, in blocks that are larger than those that travel.
    fn eliminate(matrix: &Array2<f64>, b: &Array1<f64>) -> Alone {
        const BLOCK: usize = 32;
        let n = b.len();
        let all: Vec<usize> = (0..n).collect();
        let mut rows = Rows::of(&matrix.view(), b, &all);
        let (mut unknowns, mut found) = (all, Vec::with_capacity(n));
        for k in (0..n).step_by(BLOCK) {
            let place = k..(k + BLOCK).min(n);
            let mut pivots = Vec::new();
            for r in 0..place.len() {
                let Some((pivot, value)) = rows.pivot(place.clone(), k, r) else {
                    return Alone { pivots: found, x: None };
                };
                rows.exchange(0..k, k + r, pivot.column);
                rows.exchange(place.end..n, k + r, pivot.column);
                unknowns.swap(k + r, pivot.column);
                found.push(value);
                pivots.push(pivot);
            }
            let u = rows.right_of(place.clone(), k);
            rows.subtract(place.end..n, &Block { k, pivots, u });
        }
        let mut x = Array1::zeros(n);
        for k in (0..n).step_by(BLOCK).rev() {
            let place = k..(k + BLOCK).min(n);
            let known = rows.solve(place.clone(), k);
            rows.substitute(0..k, k, &known);
            place.zip(known).for_each(|(column, value)| x[unknowns[column]] = value);
        }
        Alone { pivots: found, x: Some(x) }
    }

    /// What a step without a pivot means.
    fn singular(&self, matrix: &Array2<f64>, step: usize) -> String {
        let number = step + 1;
        let least = MOST_LEFT * matrix.nrows() as f64 * largest(matrix.iter().copied()) * f64::EPSILON;
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
    fn what_is_right_is_accepted() {
        let (matrix, b, x) = right();
        assert_eq!(verify(&matrix, &b, &[Ok(x.clone()), Ok(x)]), Ok(()));
    }

    #[test]
    fn what_is_wrong_is_noticed() {
        let (matrix, b, x) = right();
        let mut other = x.clone();
        other[1] += 1e-9;
        let refused = |found: &[_], part: &str| {
            let why = verify(&matrix, &b, found).unwrap_err();
            assert!(why.contains(part), "{why}");
        };
        refused(&[Ok(x.clone()), Ok(other.clone())], "processor 1 has another solution");
        refused(&[Ok(other.clone()), Ok(other)], "scaled residual");
        refused(&[Ok(vec![f64::NAN; 3])], "scaled residual of NaN");
        refused(&[Ok(vec![f64::INFINITY; 3])], "scaled residual of NaN");
        refused(&[Err(Singular(1))], "step 2 found no pivot, and a sequential elimination finds 4");
        refused(&[Err(Singular(2)), Ok(x)], "processor 1 has another solution");
    }

    #[test]
    fn a_matrix_without_a_solution_is_told_from_a_mistake() {
        let matrix = ndarray::array![[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 2.0]];
        let b = ndarray::array![1.0, 2.0, 3.0];
        let why = |step| verify(&matrix, &b, &[Err(Singular(step))]).unwrap_err();
        assert!(why(1).starts_with("A is singular") && why(1).contains("row 2 depends"), "{}", why(1));
        assert!(why(0).starts_with("step 1 found no pivot"), "{}", why(0));
        assert!(why(2).ends_with("none in step 2"), "{}", why(2));
        assert!(verify(&matrix, &b, &[Ok(vec![1.0, 0.0, 0.0])]).is_err());
    }
}
