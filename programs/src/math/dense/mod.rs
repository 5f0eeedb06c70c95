//! Dense matrices of 8-byte numbers for the programs that eliminate: entries, and the residual of a solution.

pub mod entries;
pub mod residual;

use crate::Refusal;

/// Refuses an empty matrix, and one that is too large for a host.
pub fn check_size(n: usize, purpose: &str) -> Result<(), Refusal> {
    /// A run and its verification hold half a dozen matrices of 8-byte numbers.
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
