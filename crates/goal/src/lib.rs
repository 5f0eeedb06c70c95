//! Schedules in GOAL, the language of LogGOPSim and its generator, in text and binary form; and schedules of
//! usual communication patterns.

#![allow(non_snake_case)] // P is the papers' name

mod binary;
mod blocks;
mod lexer;
pub mod patterns;
mod ranks;
mod text;
pub mod trace;

use std::io::{self, BufRead, BufReader, Read};

use loggp_model::time::Time;
use loggp_schedule::{Operation, Schedule, ScheduleBuilder};

pub use binary::write as write_binary;
pub use text::write;

/// The error of a schedule that cannot be read: the place, and in one sentence what is wrong and what would
/// be right.
#[derive(Debug, thiserror::Error)]
pub enum GoalError {
    /// The file could not be read to its end.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// There is an error in a text.
    #[error("line {line}, column {column}: {why}")]
    Text {
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
        /// The error.
        why: String,
    },
    /// There is an error in a binary file.
    #[error("byte {byte}: {why}")]
    Binary {
        /// The byte, from 0.
        byte: u64,
        /// The error.
        why: String,
    },
}

/// Reads a schedule in text or binary form, which its first bytes tell. `unit` is the length of a unit of
/// `calc`.
///
/// ```
/// use loggp::{NS, US};
/// use loggp_goal as goal;
///
/// let text = "num_ranks 2\nrank 0 {\n  send 8b to 1 tag 5\n}\nrank 1 {\n  recv 8b from 0 tag 5\n}\n";
/// let schedule = goal::read(text.as_bytes(), NS)?;
/// assert_eq!((schedule.ranks(), schedule.len()), (2, 2));
///
/// let error = goal::read("num_ranks 1\nrank 0 {\n  send 8b to 1\n}".as_bytes(), US).unwrap_err();
/// assert_eq!(error.to_string(), "line 3, column 14: rank 0 sends to rank 1, and there are ranks 0 to 0");
/// # Ok::<(), goal::GoalError>(())
/// ```
pub fn read(input: impl Read, unit: Time) -> Result<Schedule, GoalError> {
    read_in_blocks(input, unit, 1 << 19)
}

/// Reads a schedule. A text is read in blocks of about `bytes` bytes, or more where a rank is longer.
#[doc(hidden)]
pub fn read_in_blocks(mut input: impl Read, unit: Time, bytes: usize) -> Result<Schedule, GoalError> {
    let mut input = BufReader::with_capacity(1 << 16, &mut input as &mut dyn Read);
    // An empty input is read as text, whose error says what is missing.
    let is_binary = input.fill_buf()?.first() == Some(&binary::MAGIC.to_le_bytes()[0]);
    if is_binary { binary::read(input, unit) } else { text::read(&mut input, unit, bytes) }
}

/// Returns whether a file with this beginning is a schedule.
pub fn is_schedule(begin: &[u8]) -> bool {
    begin.starts_with(&binary::MAGIC.to_le_bytes()) || begin.windows(9).any(|word| word == b"num_ranks")
}

/// Returns the number of units of a computation, or an error if that is not whole.
fn units(time: Time, unit: Time) -> io::Result<i64> {
    let (ps, unit_ps) = (time.as_ps(), unit.as_ps().max(1));
    match ps % unit_ps {
        0 => Ok(ps / unit_ps),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "a computation of {time} is no whole number of units of {unit}; give a finer unit, as in 1ps"
            ),
        )),
    }
}

/// Returns the error for an operation that GOAL does not have.
fn not_in_goal(operation: &Operation) -> io::Error {
    let what = operation.beyond_goal().unwrap_or("does something else");
    let sentence = format!(
        "a rank {what}, and GOAL has no such operation; only schedules of sends, receives and computations are written"
    );
    io::Error::new(io::ErrorKind::InvalidInput, sentence)
}

/// Returns the length of this many units, or `None` if that is after the end of time.
fn length(units: u64, unit: Time) -> Option<Time> {
    let ps = i64::try_from(units).ok()?.checked_mul(unit.as_ps())?;
    (ps < i64::MAX).then_some(Time::from_ps(ps))
}

/// Creates a builder for this many ranks.
fn new_builder(ranks: u64) -> Result<ScheduleBuilder, String> {
    ScheduleBuilder::new(usize::try_from(ranks).unwrap_or(usize::MAX)).map_err(|why| why.to_string())
}
