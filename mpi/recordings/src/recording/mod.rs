//! Recordings: the calls of a program that loggp's own recorder wrote down.
//!
//! Each rank wrote a file, and the module `merge` makes one file of all. `README.md` of the crate has the
//! form.

mod access;
mod bytes;
mod clock;
mod error;
mod header;
mod known;
#[cfg(feature = "merge")]
pub mod merge;
#[cfg(feature = "merge")]
pub mod places;
pub mod post;
mod record;
mod signature;
mod source;
mod stream;
#[cfg(feature = "merge")]
mod written;

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use error::RecordingError;
pub use header::{Facts, VERSION};
pub use stream::RankReader;

use crate::call::RankCalls;
use clock::ClockCorrection;
use header::{Index, MERGED_MAGIC, PlaceIndex, RANK_MAGIC, RankHeader};

/// How many first bytes [`is_recording`] wants to see.
pub const MAGIC_BYTES: usize = 8;

/// Returns true if a file that begins so is a recording, or the file of one rank of it.
pub fn is_recording(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(MERGED_MAGIC) || first_bytes.starts_with(RANK_MAGIC)
}

/// A recorded program.
pub struct MpiRecording {
    path: PathBuf,
    facts: Facts,
    /// Where each rank's section begins, and its length.
    sections: Vec<(u64, u64)>,
    clocks: Vec<ClockCorrection>,
    places: Arc<PlaceIndex>,
}

impl MpiRecording {
    /// Opens a merged file, or that of a program of one rank.
    pub fn open(path: impl AsRef<Path>) -> Result<MpiRecording, RecordingError> {
        let path = path.as_ref().to_path_buf();
        let mut file = BufReader::new(File::open(&path)?);
        let length = file.get_ref().metadata()?.len();
        let mut magic = [0; MAGIC_BYTES];
        stream::read_whole(&mut file, &mut magic)?;
        file.rewind()?;
        if &magic == RANK_MAGIC {
            return MpiRecording::of_one_rank(path, &mut file, length);
        }
        let index = Index::read(&mut file)?;
        let mut sections = Vec::new();
        let mut begin = index.bytes;
        for (rank, &bytes) in index.sections.iter().enumerate() {
            let end = begin.checked_add(bytes).filter(|&end| end <= length);
            let Some(end) = end else {
                return Err(RecordingError::Rank {
                    rank,
                    byte: begin,
                    what: format!("its {bytes} bytes do not fit in a file of {length}").into(),
                });
            };
            sections.push((begin, bytes));
            begin = end;
        }
        Ok(MpiRecording {
            path,
            facts: index.facts,
            sections,
            clocks: index.clocks,
            places: Arc::new(index.places),
        })
    }

    fn of_one_rank(path: PathBuf, file: &mut impl Read, length: u64) -> Result<MpiRecording, RecordingError> {
        let header = RankHeader::read(file)?;
        if header.ranks > 1 {
            return Err(RecordingError::Request(format!(
                "this is the file of rank {} of {}; `loggp record --merge -o run.mpi FILES` makes one of all",
                header.rank, header.ranks
            )));
        }
        let clocks = vec![ClockCorrection { origin: header.ns, offsets: Vec::new() }];
        let facts = Facts {
            mpi: header.mpi,
            library: header.library,
            program: header.program,
            hosts: vec![header.host],
        };
        Ok(MpiRecording { path, facts, sections: vec![(0, length)], clocks, places: Arc::default() })
    }

    /// Returns how many ranks the program had.
    pub fn ranks(&self) -> usize {
        self.sections.len()
    }

    /// Returns what is known of the program and its MPI.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Reads the calls of a rank one after another.
    pub fn calls(&self, rank: usize) -> Result<RankReader, RecordingError> {
        let Some(&(begin, bytes)) = self.sections.get(rank) else {
            return Err(RecordingError::Request(format!("there is no rank {rank} of {}", self.ranks())));
        };
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(begin))?;
        let mut source = BufReader::new(file).take(bytes);
        let header = RankHeader::read(&mut source)?;
        if (header.rank as usize, header.ranks as usize) != (rank, self.ranks()) {
            return Err(RecordingError::Rank {
                rank,
                byte: 16,
                what: format!("its file says that it is rank {} of {}", header.rank, header.ranks).into(),
            });
        }
        Ok(RankReader::new(Box::new(source), &header, self.clocks[rank].clone(), self.places.clone()))
    }

    /// Reads all calls of a rank.
    pub fn rank(&self, rank: usize) -> Result<RankCalls, RecordingError> {
        let mut reader = self.calls(rank)?;
        let mut calls = Vec::new();
        while let Some(call) = reader.next_call()? {
            calls.push(call);
        }
        let (begin, end, is_whole) = (reader.begin(), reader.end(), reader.is_whole());
        let known = reader.into_known();
        let (communicators, places, unmodelled) = (known.communicators, known.places, known.unmodelled);
        Ok(RankCalls { begin, end, is_whole, calls, communicators, places, unmodelled })
    }
}
