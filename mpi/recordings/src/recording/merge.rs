//! Makes one file of those of the ranks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::clock::ClockCorrection;
use super::error::RecordingError;
use super::header::{Facts, PlaceIndex, RankHeader};
use super::places;
use super::stream::{RankReader, sent_bytes};
use super::written::{NamedPlace, merged_header};
use crate::call::Unmodelled;

/// What the ranks' files hold.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub ranks: usize,
    pub calls: u64,
    /// Sends, and their bytes; the messages of collectives are not counted.
    pub messages: u64,
    pub bytes: u64,
    /// From the first rank's end of `MPI_Init` to the last one's begin of `MPI_Finalize`.
    pub duration_ns: i64,
    /// Ranks that did not come to `MPI_Finalize`.
    pub unfinished: Vec<usize>,
    /// Ranks whose recorder stopped before, by why it did, such as that the disk was full.
    pub stopped: BTreeMap<String, Vec<usize>>,
    /// Calls that are not modelled, by name, with how often they were made.
    pub unmodelled: BTreeMap<String, u64>,
}

/// The file of a rank, open to be merged.
struct RankFile {
    path: PathBuf,
    bytes: u64,
    header: RankHeader,
    clock: ClockCorrection,
    end: i64,
}

/// The files of all ranks.
pub struct RankFiles {
    files: Vec<RankFile>,
    facts: Facts,
    places: Vec<NamedPlace>,
    summary: Summary,
}

impl RankFiles {
    /// Reads the files of all ranks of a program, given in any order.
    pub fn read(paths: &[PathBuf]) -> Result<RankFiles, RecordingError> {
        let mut ranks = BTreeMap::new();
        for path in paths {
            let file = File::open(path).map_err(|error| in_file(path, RecordingError::Io(error)))?;
            if file.metadata()?.len() == 0 {
                let path = path.display();
                return Err(RecordingError::Request(format!(
                    "{path} is empty: its rank ended within MPI_Init, or had no room to write"
                )));
            }
            let header = RankHeader::read(&mut BufReader::new(file)).map_err(|error| in_file(path, error))?;
            let rank = header.rank;
            if let Some((other, _)) = ranks.insert(rank, (path.clone(), header)) {
                let (one, other) = (path.display(), other.display());
                return Err(RecordingError::Request(format!("{one} and {other} are both of rank {rank}")));
            }
        }
        let Some((_, first)) = ranks.values().next() else {
            return Err(RecordingError::Request("there is no file of a rank".into()));
        };
        let P = first.ranks;
        if let Some((path, other)) = ranks.values().find(|(_, header)| header.ranks != P) {
            let (path, other) = (path.display(), other.ranks);
            return Err(RecordingError::Request(format!(
                "{path} is of {other} ranks, and others are of {P}"
            )));
        }
        if let Some(missing) = (0..P).find(|rank| !ranks.contains_key(rank)) {
            return Err(RecordingError::Request(format!("the file of rank {missing} of {P} is missing")));
        }
        let facts = Facts {
            mpi: first.mpi.clone(),
            library: first.library.clone(),
            program: first.program.clone(),
            hosts: ranks.values().map(|(_, header)| header.host.clone()).collect(),
        };
        let mut read = RankFiles {
            files: Vec::new(),
            facts,
            places: Vec::new(),
            summary: Summary { ranks: P as usize, ..Summary::default() },
        };
        let mut addresses = BTreeSet::new();
        for (path, header) in ranks.into_values() {
            let file = read.scan(path, header, &mut addresses)?;
            read.files.push(file);
        }
        let begins = read.files.iter().map(|file| file.clock.correct(file.header.ns));
        let origin = begins.min().unwrap_or_default();
        read.files.iter_mut().for_each(|file| file.clock.origin = origin);
        let ends = read.files.iter().map(|file| file.clock.correct(file.end));
        read.summary.duration_ns = ends.max().unwrap_or_default();
        read.places = addresses.into_iter().map(|at| (at, crate::call::Place::default())).collect();
        for ((module, address), place) in &mut read.places {
            let file = module.rsplit('/').next().unwrap_or_default();
            place.function = format!("{file}+{address:#x}");
        }
        places::name(&mut read.places);
        Ok(read)
    }

    /// Reads all of a rank's file.
    fn scan(
        &mut self,
        path: PathBuf,
        header: RankHeader,
        addresses: &mut BTreeSet<(String, u64)>,
    ) -> Result<RankFile, RecordingError> {
        let mut source = BufReader::new(File::open(&path)?);
        source.seek_relative(header.bytes as i64)?;
        let index = Arc::<PlaceIndex>::default();
        let mut reader = RankReader::new(Box::new(source), &header, ClockCorrection::default(), index);
        while let Some(call) = reader.next_call().map_err(|error| in_file(&path, error))? {
            let (messages, bytes) = sent_bytes(&call.kind);
            self.summary.calls += 1;
            self.summary.messages += messages;
            self.summary.bytes = self.summary.bytes.saturating_add(bytes);
        }
        let rank = header.rank as usize;
        match reader.stopped() {
            Some(why) => self.summary.stopped.entry(why.into()).or_default().push(rank),
            None if !reader.is_whole() => self.summary.unfinished.push(rank),
            None => (),
        }
        let (end, bytes) = (reader.end(), reader.bytes());
        let known = reader.into_known();
        addresses.extend(known.addresses.into_iter().skip(1));
        for Unmodelled { name, count, .. } in known.unmodelled {
            let sum = self.summary.unmodelled.entry(name).or_default();
            *sum = sum.saturating_add(count);
        }
        let clock = ClockCorrection { origin: 0, offsets: known.offsets };
        Ok(RankFile { path, bytes, header, clock, end })
    }

    /// Returns what the files hold.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns what is known of the program and its MPI.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Writes all into one file.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let sections: Vec<u64> = self.files.iter().map(|file| file.bytes).collect();
        let clocks: Vec<ClockCorrection> = self.files.iter().map(|file| file.clock.clone()).collect();
        out.write_all(&merged_header(&self.facts, &sections, &clocks, &self.places))?;
        for file in &self.files {
            let mut source = File::open(&file.path)?;
            source.rewind()?;
            // A file that grew since has more than its section.
            let copied = io::copy(&mut source.take(file.bytes), out)?;
            if copied < file.bytes {
                return Err(io::Error::other(format!("{} became shorter", file.path.display())));
            }
        }
        out.flush()
    }
}

/// Puts the file's name before an error.
fn in_file(path: &Path, error: RecordingError) -> RecordingError {
    RecordingError::Request(format!("{}: {error}", path.display()))
}
