//! A file that a request asks for. It is written beside where it shall be and put there when it is whole, so
//! that nobody finds half of one, and an old one stays until there is a new one.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::failure::Failure;
use super::interrupt::{self, Unfinished};

/// A file that is there already, though not yet under its name. Dropped, it goes.
pub struct Draft {
    /// What it will be, such as `trace`; the option that asks for it has the same name.
    what: &'static str,
    /// Where the file shall be.
    path: PathBuf,
    /// The file that is written until it is whole.
    draft: NamedTempFile,
}

/// The files that the command reads.
static SOURCES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Opens a file that the command reads. Then it does not write it: what it reads would be lost.
pub fn source(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if let Ok(target) = target(path) {
        let drafts = interrupt::drafts();
        if let Some(draft) = drafts.iter().find(|draft| draft.target == target) {
            return Err(io::Error::other(format!(
                "it would be written as --{}; give that another name",
                draft.what
            )));
        }
        SOURCES.lock().unwrap_or_else(PoisonError::into_inner).push(target);
    }
    Ok(file)
}

/// A link is followed to a link so often; more is taken for a circle.
const MOST_LINKS: usize = 40;

impl Draft {
    /// Makes the draft, or refuses a path to which nothing can be written: better before a run than after.
    pub fn create(path: &Path, what: &'static str) -> Result<Draft, Failure> {
        let refuse = |why: &dyn Display| {
            Failure::Request(format!("no {what} can be written to {}: {why}", path.display()))
        };
        if path.exists() && !path.is_file() {
            return Err(refuse(&"it is not a file; give the name of one, new or old"));
        }
        let target = target(path).map_err(|why| refuse(&why))?;
        if SOURCES.lock().unwrap_or_else(PoisonError::into_inner).contains(&target) {
            return Err(refuse(&"it is what the command reads; give another name"));
        }
        let mut drafts = interrupt::drafts();
        if let Some(other) = drafts.iter().find(|other| other.target == target) {
            let sentence = format!(
                "--{} and --{what} name the same file, {}; give each a file of its own",
                other.what,
                path.display()
            );
            return Err(Failure::Request(sentence));
        }
        let old = fs::metadata(&target).ok().map(|old| old.permissions());
        if old.as_ref().is_some_and(|old| old.readonly()) {
            return Err(refuse(
                &"it is there and may not be written; give another name, or make it writable",
            ));
        }
        let draft = open(&target).map_err(|error| refuse(&error))?;
        drafts.push(Unfinished { what, target: target.clone(), draft: draft.path().into() });
        if let Some(old) = old {
            drop(draft.as_file().set_permissions(old)); // without them it is as readable as any new file
        }
        Ok(Draft { what, path: target, draft })
    }

    /// Writes the file, and gives it its name.
    pub fn write(self, contents: impl FnOnce(&File) -> io::Result<()>) -> Result<(), Failure> {
        let filled = self.fill(contents);
        let mut drafts = interrupt::drafts();
        drafts.retain(|unfinished| unfinished.draft != self.draft.path());
        filled.and_then(|()| self.publish())
    }

    /// Writes what the file will hold.
    fn fill(&self, contents: impl FnOnce(&File) -> io::Result<()>) -> Result<(), Failure> {
        contents(self.draft.as_file()).map_err(|error| failure(self.what, &self.path, &error))
    }

    /// Gives the file its name.
    fn publish(self) -> Result<(), Failure> {
        let Draft { what, path, draft } = self;
        draft.persist(&path).map(drop).map_err(|error| failure(what, &path, &error))
    }
}

/// Writes several files, and gives them their names when all are whole.
pub fn write_all(files: Vec<(Draft, Vec<u8>)>) -> Result<(), Failure> {
    files.iter().try_for_each(|(draft, contents)| draft.fill(|mut file| file.write_all(contents)))?;
    // While this is held, the command is not interrupted between two names.
    let mut drafts = interrupt::drafts();
    drafts.retain(|unfinished| files.iter().all(|(draft, _)| unfinished.draft != draft.draft.path()));
    files.into_iter().try_for_each(|(draft, _)| draft.publish())
}

/// Says that a file cannot be written.
fn failure(what: &str, path: &Path, error: &dyn Display) -> Failure {
    Failure::Run(format!("the {what} cannot be written to {}: {error}", path.display()))
}

/// The file that a path means, by the one path that names it: what a link points to is replaced, and the link stays.
fn target(path: &Path) -> Result<PathBuf, String> {
    let mut path = path.to_path_buf();
    let mut links = 0;
    while let Ok(to) = fs::read_link(&path) {
        links += 1;
        if links > MOST_LINKS {
            return Err("it is a link that leads to no file; give the name of one, new or old".into());
        }
        path = folder(&path).join(to);
    }
    let Some(name) = path.file_name() else {
        return Err("it is not a name; give that of a file, new or old".into());
    };
    let folder = folder(&path).canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound => "its folder is not there; give one that is".into(),
        _ => error.to_string(),
    })?;
    Ok(folder.join(name))
}

/// The folder in which a path lies.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new file beside this one, which whoever may read a new file may read.
fn open(target: &Path) -> io::Result<NamedTempFile> {
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    let mut draft = tempfile::Builder::new();
    draft.prefix(&prefix);
    #[cfg(unix)]
    draft.permissions(fs::Permissions::from_mode(0o666)); // less what the umask takes
    draft.tempfile_in(folder(target))
}
