//! Dense matrices of 8-byte numbers, as programs that eliminate share them: what is in them, a fast product, and the
//! residual of a solution.

pub mod entries;
pub mod residual;

use crate::Refusal;

/// Refuses a matrix of nothing, and one that there is no room for.
pub fn check_size(n: usize, purpose: &str) -> Result<(), Refusal> {
    /// Of 8-byte numbers; there are half a dozen matrices of that size in a run and its verification.
    const MOST: usize = 1 << 13;
    match n {
        0 => Err(format!("a size of 0 leaves nothing to {purpose}; give at least 1").into()),
        n if n > MOST => {
            Err(format!("a matrix of {n} rows and columns is too much for a host; give at most {MOST}")
                .into())
        }
        _ => Ok(()),
    }
}
