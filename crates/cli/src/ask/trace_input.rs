//! The trace that a command takes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use loggp::trace::Trace;

use super::mpi_program;
use crate::error::{CliError, system_reason};
use crate::host::draft;

/// Reads a trace from a file.
pub(crate) fn read_trace(path: &Path) -> Result<Trace, CliError> {
    let shown = path.display();
    let file = draft::open_source(path);
    let file = file
        .map_err(|error| CliError::Request(format!("{shown} cannot be read: {}", system_reason(&error))))?;
    Trace::read(file).map_err(|error| {
        let what = match is_schedule(path) {
            true => "a schedule",
            false if mpi_program::is_program(path) => "a recorded MPI program",
            false => return CliError::Request(format!("{shown}: {error}")),
        };
        CliError::Request(format!(
            "{shown}: this is {what}, and no trace of a run; `loggp replay {shown} --trace run.loggp` plays it and writes one"
        ))
    })
}

/// Returns whether a file begins as a schedule does. What is no file has none: it may have no second beginning.
pub(crate) fn is_schedule(path: &Path) -> bool {
    let mut begin = Vec::new();
    if !path.is_file() {
        return false;
    }
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut begin));
    read.is_ok() && loggp_goal::is_schedule(&begin)
}
