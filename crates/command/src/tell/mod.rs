//! What the command tells: rows with their columns, headings, tables and progress.

pub mod call_names;
pub mod compared;
pub mod diagnosis;
pub mod formula;
pub mod heading;
pub mod progress;
pub mod report;
pub mod style;
pub mod table;
pub mod words;
