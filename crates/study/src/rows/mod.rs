//! The rows of reports: each has its values' names, headings and kinds in one place, its columns. The command prints
//! rows as tables, JSON and CSV; [`Columns::object`] gives what serde writes.

pub mod analysis;
mod column;
mod field;
pub mod formula;
pub mod machine;
pub mod program_run;

pub use column::{Column, Columns, json_key};
pub use field::{Field, Object};
