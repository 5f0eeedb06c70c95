//! The trace that a command takes.

use std::path::Path;

use loggp::trace::Trace;

use crate::annex;
use crate::error::{CliError, system_reason};
use crate::host::source;

/// Reads a trace from a file.
pub fn read_trace(path: &Path) -> Result<Trace, CliError> {
    let shown = path.display();
    let file = source::open_source(path);
    let file = file
        .map_err(|error| CliError::Request(format!("{shown} cannot be read: {}", system_reason(&error))))?;
    Trace::read(file).map_err(|error| {
        let what = match is_schedule(path) {
            true => "a schedule",
            false => match annex::input_of(path) {
                Some(kind) => kind.name(),
                None => return annex::unread(path).unwrap_or(CliError::Request(format!("{shown}: {error}"))),
            },
        };
        CliError::Request(format!(
            "{shown}: this is {what}, and no trace of a run; `loggp replay {shown} --trace run.loggp` plays it and writes one"
        ))
    })
}

/// Returns whether an input begins as a schedule does.
pub fn is_schedule(path: &Path) -> bool {
    source::beginning(path).is_ok_and(|begin| loggp_goal::is_schedule(&begin))
}
