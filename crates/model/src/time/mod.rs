//! Time: whole picoseconds, so that the model has no rounding and the virtual clock is exact.

mod parse;
mod picoseconds;

pub(crate) use parse::LONGEST;
pub use parse::TimeError;
pub use picoseconds::MOST_IN_FILE;
pub use picoseconds::factor;
pub use picoseconds::{MS, NS, PS, SEC, Time, US};
