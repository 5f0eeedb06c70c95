//! The formats of a report.

use clap::ValueEnum;

/// The format of rows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns for people
    Table,
    /// A JSON object a line
    Json,
    /// Comma-separated values, under a line of titles
    Csv,
}
