//! The file of a trace, as commands are given it.

use std::fs::File;
use std::path::Path;

use loggp::Trace;

use super::failure::Failure;

/// Reads a trace, or says in one sentence why it is none.
pub fn read(path: &Path) -> Result<Trace, Failure> {
    let shown = path.display();
    let file = File::open(path);
    let file = file.map_err(|error| Failure::Request(format!("{shown} cannot be read: {error}")))?;
    Trace::read(file).map_err(|error| Failure::Request(format!("{shown}: {error}")))
}
