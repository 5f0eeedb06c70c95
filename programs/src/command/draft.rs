//! A file that a request asks for. It is written beside where it shall be and put there when it is whole, so
//! that nobody finds half of one.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use super::failure::Failure;
use super::interrupt;

/// A file that is there already, though not yet under its name. Dropped, it goes.
pub struct Draft {
    /// What it will be, such as `trace`.
    what: &'static str,
    /// Where it shall be.
    path: PathBuf,
    /// Where it is written.
    draft: PathBuf,
    /// The draft.
    file: File,
}

impl Draft {
    /// Makes the draft, or refuses a path to which nothing can be written: better before a run than after.
    pub fn create(path: &Path, what: &'static str) -> Result<Draft, Failure> {
        let refuse = |why: &dyn Display| {
            Failure::Request(format!("no {what} can be written to {}: {why}", path.display()))
        };
        // What a link points to is replaced, and the link stays.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        if target.exists() && !target.is_file() {
            return Err(refuse(&"it is not a file; give the name of one, new or old"));
        }
        let Some(name) = target.file_name() else {
            return Err(refuse(&"it is not a name; give that of a file, new or old"));
        };
        let mut draft_name = std::ffi::OsString::from(".");
        draft_name.push(name);
        draft_name.push(format!(".{what}.{}", process::id()));
        let draft = target.with_file_name(draft_name);
        let mut drafts = interrupt::drafts();
        let file = OpenOptions::new().write(true).create_new(true).open(&draft);
        let file = file.map_err(|error| refuse(&error))?;
        drafts.push(draft.clone());
        Ok(Draft { what, path: target, draft, file })
    }

    /// Writes the file, and gives it its name.
    pub fn write(self, contents: impl FnOnce(&File) -> io::Result<()>) -> Result<(), Failure> {
        let written = contents(&self.file).and_then(|()| fs::rename(&self.draft, &self.path));
        written.map_err(|error| {
            Failure::Run(format!("the {} cannot be written to {}: {error}", self.what, self.path.display()))
        })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.draft); // it is gone if it has its name
        interrupt::drafts().retain(|draft| *draft != self.draft);
    }
}
