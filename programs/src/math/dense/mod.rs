//! Dense matrices of 8-byte numbers for the programs that eliminate: entries, and the residual of a solution.

pub mod entries;
pub mod residual;

use loggp::Payload;

use crate::Refusal;

/// The matrix is singular: in this step no pivot was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Payload)]
pub struct SingularStep(pub usize);

/// Refuses an empty matrix, and one that is too large for a host.
pub fn check_size(n: usize, purpose: &str) -> Result<(), Refusal> {
    /// A run and its verification hold half a dozen matrices of 8-byte numbers.
    const MOST: usize = 1 << 13;
    match n {
        0 => refuse!("a size of 0 leaves nothing to {purpose}; give at least 1"),
        n if n > MOST => {
            refuse!("a matrix of {n} rows and columns is too much for a host; give at most {MOST}")
        }
        _ => Ok(()),
    }
}
