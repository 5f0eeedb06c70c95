//! Time: whole picoseconds, so that the model has no rounding and the virtual clock is exact.

mod parse;
mod picoseconds;

pub use parse::TimeError;
pub(crate) use parse::{LONGEST, parse_exact};
pub use picoseconds::{MS, NS, PS, SEC, Time, US};
