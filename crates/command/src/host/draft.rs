//! Outputs: files, and stdout, which is called `-`. A file is written beside its target and renamed when it is complete,
//! so that nobody finds half a file, and an old one stays until there is a new one. What goes to stdout is complete before
//! it is written too, and nothing else is written there.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::interrupt::{self, KeptRows, UnfinishedFile};
use super::links::{link_target, parent_folder};
use super::source;
use super::stdout::{self, Stdout};
use crate::error::{CliError, system_reason};

/// Returns whether a name is that of stdout.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// An output file that does not have its name yet. It is removed when it is dropped.
pub struct Draft {
    /// Kind of the file, such as `trace`, which is also the name of the option that asks for it.
    kind: &'static str,
    path: PathBuf,
    draft: NamedTempFile,
}

impl Draft {
    /// Creates a draft, before any run. Refuses a path that cannot be written.
    pub fn create(path: &Path, kind: &'static str) -> Result<Draft, CliError> {
        let refuse = |why: &dyn Display| {
            CliError::Request(format!("no {kind} can be written to {}: {why}", path.display()))
        };
        let is_stdout = is_stdout(path);
        if path.exists() && !path.is_file() && !is_stdout {
            return Err(refuse(&"it is not a file; give the name of one, new or old"));
        }
        let target = match is_stdout {
            true => path.into(),
            false => link_target(path).map_err(|why| refuse(&system_reason(&why)))?,
        };
        if source::is_read(&target) {
            return Err(refuse(&"it is what the command reads; give another name"));
        }
        let mut drafts = interrupt::drafts();
        if let Some(other) = drafts.iter().find(|other| other.target == target) {
            let sentence = format!(
                "--{} and --{kind} name the same file, {}; give each a file of its own",
                other.kind,
                path.display()
            );
            return Err(CliError::Request(sentence));
        }
        let draft = match is_stdout {
            true => NamedTempFile::new(),
            false => create_beside(&target),
        };
        let draft = draft.map_err(|error| refuse(&system_reason(&error)))?;
        if is_stdout {
            stdout::keep_for_file();
        }
        let own = draft.path().into();
        drafts.push(UnfinishedFile { kind, target: target.clone(), draft: own, kept: None });
        Ok(Draft { kind, path: target, draft })
    }

    /// Writes the file, and renames it to its target.
    pub fn write(self, contents: impl FnOnce(&File) -> io::Result<()>) -> Result<(), CliError> {
        self.fill(contents)?;
        publish(vec![self])
    }

    /// Sets what the file gets if the command is interrupted, by what it would get so far. Stdout gets nothing.
    pub fn keep(&self, set: impl FnOnce(&mut KeptRows)) {
        let mut drafts = interrupt::drafts();
        let own = drafts.iter_mut().find(|unfinished| unfinished.draft == self.draft.path());
        if let Some(own) = own.filter(|own| !is_stdout(&own.target)) {
            set(own.kept.get_or_insert_default());
        }
    }

    fn fill(&self, contents: impl FnOnce(&File) -> io::Result<()>) -> Result<(), CliError> {
        contents(self.draft.as_file()).map_err(|error| write_error(self.kind, &self.path, &error))
    }
}

/// Writes a file for a caller that is not the command: an old one stays until the new one is complete. What is
/// there and is no file, such as a pipe, is written itself. `begun` gets the name of the unfinished file, which the
/// caller removes if the process ends before the writing.
pub fn replace_file(
    path: &Path,
    begun: impl FnOnce(&Path),
    contents: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    if path.exists() && !path.is_file() {
        return contents(&OpenOptions::new().write(true).open(path)?);
    }
    let target = link_target(path)?;
    let draft = create_beside(&target)?;
    begun(draft.path());
    contents(draft.as_file())?;
    draft.persist(&target)?;
    Ok(())
}

/// Writes several files, and renames them when all are complete.
pub fn write_all(files: Vec<(Draft, Vec<u8>)>) -> Result<(), CliError> {
    files.iter().try_for_each(|(draft, contents)| draft.fill(|mut file| file.write_all(contents)))?;
    publish(files.into_iter().map(|(draft, _)| draft).collect())
}

/// Renames complete files to their targets.
fn publish(complete: Vec<Draft>) -> Result<(), CliError> {
    for Draft { draft, .. } in complete.iter().filter(|draft| is_stdout(&draft.path)) {
        io::copy(&mut draft.reopen()?, &mut Stdout::for_file())?;
    }
    // While the lock is held, the command is not interrupted between two files.
    let mut drafts = interrupt::drafts();
    drafts.retain(|unfinished| complete.iter().all(|draft| unfinished.draft != draft.draft.path()));
    let mut files = complete.into_iter().filter(|draft| !is_stdout(&draft.path));
    files.try_for_each(|Draft { kind, path, draft }| {
        draft.persist(&path).map(drop).map_err(|error| write_error(kind, &path, &error.error))
    })
}

fn write_error(kind: &str, path: &Path, error: &io::Error) -> CliError {
    CliError::Run(format!("the {kind} cannot be written to {}: {}", path.display(), system_reason(error)))
}

/// Creates a draft in the folder of `target`, with the permissions of the old file, or of a new one.
fn create_beside(target: &Path) -> io::Result<NamedTempFile> {
    let old = fs::metadata(target).ok().map(|old| old.permissions());
    if old.as_ref().is_some_and(|old| old.readonly()) {
        return Err(io::Error::other(
            "it is there and may not be written; give another name, or make it writable",
        ));
    }
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    let mut draft = tempfile::Builder::new();
    draft.prefix(&prefix);
    #[cfg(unix)]
    draft.permissions(fs::Permissions::from_mode(0o666)); // the umask applies
    let draft = draft.tempfile_in(parent_folder(target))?;
    if let Some(old) = old {
        drop(draft.as_file().set_permissions(old)); // if this fails, it has those of a new file
    }
    Ok(draft)
}
