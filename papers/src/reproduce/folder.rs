//! The folder of a report: a record for each exhibit with its pictures and tables, and the page.
//!
//! A record is written after its pictures and tables, and the page after the record; each file replaces an
//! old one when it is complete. So a command that is stopped at any moment leaves a readable folder, and only
//! exhibits without a record have to be made again.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::html::{self, GENERATOR};
use super::record::ExhibitRecord;
use super::report;
use loggp_command::error::CliError;
use loggp_command::host::draft::Draft;
use loggp_command::host::interrupt;
use loggp_command::host::stdout;

pub(super) struct ReportFolder {
    path: PathBuf,
    /// The records in the folder, in the papers' order.
    pub records: Vec<ExhibitRecord>,
    /// Ids of the records that were written since the folder was opened.
    pub new: BTreeSet<String>,
    /// Lock that keeps other commands from writing to the folder.
    _lock: File,
}

/// Name of the page.
const PAGE: &str = "index.html";
/// Name of the file that is locked.
const LOCK: &str = ".lock";

impl ReportFolder {
    /// Opens the folder, or creates it. Refuses one that holds another page, or that another command writes
    /// to.
    pub(super) fn open(path: &Path) -> Result<ReportFolder, CliError> {
        let refuse = |why: &dyn std::fmt::Display| {
            CliError::Request(format!("no report can be written to {}: {why}", path.display()))
        };
        if path.exists() && !path.is_dir() {
            return Err(refuse(&"it is not a folder; give the name of one, new or old"));
        }
        let page = fs::read(path.join(PAGE)).unwrap_or_default();
        if !page.is_empty() && !String::from_utf8_lossy(&page).contains(&format!("content=\"{GENERATOR}\"")) {
            return Err(refuse(&format_args!("its {PAGE} is another page; give another folder")));
        }
        fs::create_dir_all(path).map_err(|error| refuse(&error))?;
        let lock = File::create(path.join(LOCK)).map_err(|error| refuse(&error))?;
        // Other errors are ignored, since a file system may have no locks.
        if flock(&lock, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            return Err(refuse(&"another command is writing to it; wait for it, or give another folder"));
        }
        remove_drafts(path);
        stdout::expect_folder();
        let records = crate::exhibits().filter_map(|(_, exhibit)| read_record(path, exhibit.id)).collect();
        Ok(ReportFolder { path: path.into(), records, new: BTreeSet::new(), _lock: lock })
    }

    /// Returns the record of the exhibit with this id, if there is one.
    pub(super) fn record(&self, id: &str) -> Option<&ExhibitRecord> {
        self.records.iter().find(|record| record.id == id)
    }

    /// Writes a record with its pictures and tables, which replaces an old one, and the page.
    pub(super) fn write(&mut self, record: ExhibitRecord) -> Result<(), CliError> {
        let file = self.path.join(ExhibitRecord::file(&record.id));
        // The old record goes first: its files may be half replaced from now on.
        drop(fs::remove_file(&file));
        let files = record.files();
        files.iter().try_for_each(|(name, contents)| self.write_file(name, contents))?;
        let mut json = serde_json::to_vec_pretty(&record).map_err(CliError::run)?;
        json.push(b'\n');
        self.write_file(&ExhibitRecord::file(&record.id), &json)?;
        interrupt::add_written(1);
        let at = self.records.iter().position(|old| old.id == record.id);
        if let Some(old) = at.map(|at| self.records.remove(at)) {
            let is_kept = |name: &String| files.iter().any(|(other, _)| other == name);
            for (name, _) in old.files().iter().filter(|(name, _)| !is_kept(name)) {
                drop(fs::remove_file(self.path.join(name)));
            }
        }
        self.new.insert(record.id.clone());
        self.records.push(record);
        let place =
            |record: &ExhibitRecord| crate::exhibits().position(|(_, exhibit)| exhibit.id == record.id);
        self.records.sort_by_key(place);
        self.write_page().map(drop)
    }

    /// Writes the page, and returns its path.
    pub(super) fn write_page(&self) -> Result<PathBuf, CliError> {
        self.write_file(PAGE, html::page(&report::page(&self.records)).as_bytes())?;
        Ok(self.path.join(PAGE))
    }

    fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), CliError> {
        Draft::create(&self.path.join(name), "report")?.write(|mut file| file.write_all(bytes))
    }
}

/// Reads the record of an exhibit with its pictures. Returns `None` if it is incomplete, or has another
/// format.
fn read_record(folder: &Path, id: &str) -> Option<ExhibitRecord> {
    let mut record: ExhibitRecord =
        serde_json::from_slice(&fs::read(folder.join(ExhibitRecord::file(id))).ok()?).ok()?;
    if record.id != id || !record.files().iter().all(|(name, _)| folder.join(name).is_file()) {
        return None;
    }
    let stems: Vec<String> =
        record.finding.pictures.iter().map(|picture| record.stem(&picture.name)).collect();
    for (picture, stem) in record.finding.pictures.iter_mut().zip(stems) {
        picture.svg = fs::read_to_string(folder.join(format!("{stem}.svg"))).ok()?;
        picture.narrow = fs::read_to_string(folder.join(format!("{stem}-narrow.svg"))).ok();
    }
    Some(record)
}

/// Removes the drafts that a killed command left. A draft's name begins with a dot and the name of its file.
fn remove_drafts(folder: &Path) {
    let is_draft = |name: &str| {
        let ids = || crate::exhibits().map(|(_, exhibit)| exhibit.id);
        name.strip_prefix('.')
            .is_some_and(|name| name.starts_with(PAGE) || ids().any(|id| name.starts_with(id)))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_draft) {
            drop(fs::remove_file(entry.path())); // a draft that stays does no harm
        }
    }
}
