//! The file for a trace. It is written beside where it shall be and put there when it is whole, so that
//! nobody finds half of one.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use loggp::Trace;

use super::failure::Failure;

/// A file that is there for the trace already, though not yet under its name. Dropped, it goes.
pub struct TraceFile {
    /// Where the trace shall be.
    path: PathBuf,
    /// Where it is written.
    draft: PathBuf,
    /// The draft.
    file: File,
}

impl TraceFile {
    /// Makes the draft, or refuses a path to which no trace can be written: better before a run than after.
    pub fn create(path: &Path) -> Result<TraceFile, Failure> {
        let refuse = |why: &dyn std::fmt::Display| {
            Failure::Request(format!("no trace can be written to {}: {why}", path.display()))
        };
        // What a link points to is replaced, and the link stays.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        if target.exists() && !target.is_file() {
            return Err(refuse(&"it is not a file; give the name of one, new or old"));
        }
        let Some(name) = target.file_name() else {
            return Err(refuse(&"it is not a name; give one, as in trace.json"));
        };
        let mut draft_name = std::ffi::OsString::from(".");
        draft_name.push(name);
        draft_name.push(format!(".{}", process::id()));
        let draft = target.with_file_name(draft_name);
        let file = OpenOptions::new().write(true).create_new(true).open(&draft);
        let file = file.map_err(|error| refuse(&error))?;
        Ok(TraceFile { path: target, draft, file })
    }

    /// Writes the trace, and gives it its name.
    pub fn write(self, trace: &Trace) -> Result<(), Failure> {
        let written = trace.write(&self.file).and_then(|()| fs::rename(&self.draft, &self.path));
        written.map_err(|error: io::Error| {
            Failure::Run(format!("the trace cannot be written to {}: {error}", self.path.display()))
        })
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.draft); // it is gone if it has its name
    }
}
