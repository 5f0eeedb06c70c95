//! The rows of reports: each has its values' names, headings and kinds in one place, its columns. The command prints
//! rows as tables, JSON and CSV; [`Columns::object`] gives what serde writes.

pub mod analysis;
mod column;
pub mod emulated;
mod field;
pub mod finding;
pub mod formula;
pub mod machine;
pub mod played;
pub mod program_run;
pub mod stress;
pub mod tolerance;
pub mod tuned;

pub use column::{Column, Columns, json_key};
pub use field::{Field, Object};
