//! What the command tells: rows with their columns, headings, tables and progress.

pub mod call_names;
pub mod column;
pub mod compared;
pub mod field;
pub mod formula;
pub mod heading;
pub mod progress;
pub mod report;
pub mod row;
