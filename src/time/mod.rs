//! Time: whole picoseconds, so that the model has no rounding and the virtual clock is exact.

mod parse;
mod picoseconds;

pub(crate) use parse::LONGEST;
pub use parse::TimeError;
pub(crate) use picoseconds::{MOST_IN_FILE, factor};
pub use picoseconds::{MS, NS, PS, SEC, Time, US};
