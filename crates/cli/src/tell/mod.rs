//! What the command tells: rows with their columns, headings, tables and progress.

pub(crate) mod call_names;
pub(crate) mod compared;
pub(crate) mod formula;
pub(crate) mod heading;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod words;
