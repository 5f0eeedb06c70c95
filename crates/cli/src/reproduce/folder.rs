//! The folder of a report: a record for every exhibit with its pictures and tables, and the page of all.
//!
//! A record is written after its pictures and tables, and the page after the record. Every file takes its place when it is
//! whole. So whoever is stopped at any moment leaves a folder that can be read, and has to make again only what has no record.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::super::draft::Draft;
use super::super::failure::Failure;
use super::super::interrupt;
use super::super::stdout;
use super::record::Record;
use super::report::{self, GENERATOR};

/// The folder of a report.
pub struct Folder {
    /// Where it is.
    path: PathBuf,
    /// The records in it, in the papers' order.
    records: Vec<Record>,
    /// The ids of those that were written by now.
    new: BTreeSet<String>,
    /// Keeps others from writing to it as long as it is open.
    _lock: File,
}

/// The page's name.
const PAGE: &str = "index.html";
/// What is locked while somebody writes.
const LOCK: &str = ".lock";

impl Folder {
    /// Opens the folder, and makes it if it is not there. Refuses one that holds another page, or that somebody else writes to.
    pub fn open(path: &Path) -> Result<Folder, Failure> {
        let refuse = |why: &dyn std::fmt::Display| {
            Failure::Request(format!("no report can be written to {}: {why}", path.display()))
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
        // A file system may have no locks.
        if flock(&lock, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            return Err(refuse(&"another command is writing to it; wait for it, or give another folder"));
        }
        sweep(path);
        stdout::owe_folder();
        let records = loggp_papers::exhibits().filter_map(|(_, exhibit)| read(path, exhibit.id)).collect();
        Ok(Folder { path: path.into(), records, new: BTreeSet::new(), _lock: lock })
    }

    /// The record of the exhibit with this id, if it is there.
    pub fn record(&self, id: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.id == id)
    }

    /// All records.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Whether the record with this id was written since the folder was opened.
    pub fn is_new(&self, id: &str) -> bool {
        self.new.contains(id)
    }

    /// Where the page is.
    pub fn page(&self) -> PathBuf {
        self.path.join(PAGE)
    }

    /// Writes a record with its pictures and tables in place of an old one, and the page.
    pub fn write(&mut self, record: Record) -> Result<(), Failure> {
        let own = self.path.join(Record::file(&record.id));
        // Without it what else there is of the old one counts for nothing.
        drop(fs::remove_file(&own));
        for picture in &record.finding.pictures {
            let drawings = [Some(&picture.svg), picture.narrow.as_ref()].into_iter().flatten();
            for (file, svg) in record.drawings(picture).zip(drawings) {
                self.put(&file, svg.as_bytes())?;
            }
        }
        for table in &record.finding.tables {
            self.put(&format!("{}.csv", record.stem(&table.name)), &table.to_csv())?;
        }
        let mut json = serde_json::to_vec_pretty(&record).map_err(Failure::run)?;
        json.push(b'\n');
        self.put(&Record::file(&record.id), &json)?;
        interrupt::wrote(1);
        let at = self.records.iter().position(|old| old.id == record.id);
        if let Some(old) = at.map(|at| self.records.remove(at)) {
            let kept = record.files();
            for file in old.files().iter().filter(|file| !kept.contains(file)) {
                drop(fs::remove_file(self.path.join(file)));
            }
        }
        self.new.insert(record.id.clone());
        self.records.push(record);
        let place =
            |record: &Record| loggp_papers::exhibits().position(|(_, exhibit)| exhibit.id == record.id);
        self.records.sort_by_key(place);
        self.write_page()
    }

    /// Writes the page.
    pub fn write_page(&self) -> Result<(), Failure> {
        self.put(PAGE, report::page(&self.records).to_html(GENERATOR).as_bytes())
    }

    /// Writes a file.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        Draft::create(&self.path.join(name), "report")?.write(|mut file| file.write_all(bytes))
    }
}

/// The record of an exhibit with its pictures. One that is not whole, or not as this command writes it, is none.
fn read(folder: &Path, id: &str) -> Option<Record> {
    let mut record: Record = serde_json::from_slice(&fs::read(folder.join(Record::file(id))).ok()?).ok()?;
    if record.id != id || !record.files().iter().all(|file| folder.join(file).is_file()) {
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

/// Removes what a command that was killed had not finished: drafts, which have the name of what they were to be.
fn sweep(folder: &Path) {
    let is_draft = |name: &str| {
        let ids = || loggp_papers::exhibits().map(|(_, exhibit)| exhibit.id);
        name.strip_prefix('.')
            .is_some_and(|name| name.starts_with(PAGE) || ids().any(|id| name.starts_with(id)))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_draft) {
            drop(fs::remove_file(entry.path())); // it takes room, and does no harm
        }
    }
}
