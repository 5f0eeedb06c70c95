//! The headers of a rank's file and of a merged one.

use std::io::{self, Read};

use super::bytes::{Cursor, Wrong};
use super::clock::ClockCorrection;
use super::error::RecordingError;

/// The first bytes of a rank's file, as the recorder writes it.
pub(super) const RANK_MAGIC: &[u8; 8] = b"LOGGPREC";
/// The first bytes of a merged file.
pub(super) const MERGED_MAGIC: &[u8; 8] = b"LOGGPMPI";
/// The version of both forms.
pub const VERSION: u32 = 1;

/// What a recording says of the program and its MPI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Whose MPI it is: `openmpi`, `mpich`, or `mpi` if it is another one.
    pub mpi: String,
    /// What the MPI calls itself, with its version.
    pub library: String,
    /// The path of the program, at rank 0.
    pub program: String,
    /// The host of each rank.
    pub hosts: Vec<String>,
}

/// The header of a rank's file.
pub(super) struct RankHeader {
    pub rank: u32,
    pub ranks: u32,
    pub ticks: u64,
    pub ns: i64,
    pub mpi: String,
    pub library: String,
    pub host: String,
    pub program: String,
    /// Bytes up to the first block.
    pub bytes: u64,
}

impl RankHeader {
    pub(super) fn read(source: &mut impl Read) -> Result<Self, RecordingError> {
        let header = read_framed(source, RANK_MAGIC, "the file of a rank that loggp recorded")?;
        let mut cursor = Cursor::new(&header);
        let mut read = || {
            Ok(RankHeader {
                rank: cursor.small()?,
                ranks: cursor.small()?,
                ticks: cursor.number()?,
                ns: cursor.signed()?,
                mpi: cursor.text()?.into(),
                library: short_name(&cursor.text()?),
                host: cursor.text()?.into(),
                program: cursor.text()?.into(),
                bytes: 16 + header.len() as u64,
            })
        };
        let read = read().map_err(|wrong| RecordingError::header(16, wrong))?;
        if read.rank >= read.ranks {
            let what = format!("rank {} is not among {} ranks", read.rank, read.ranks).into();
            return Err(RecordingError::Header { byte: 16, what });
        }
        Ok(read)
    }
}

/// A text of a merged header, by its offset and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TextRange {
    from: u32,
    length: u32,
}

/// A place as a merged header has it: what a rank's file says of it, and what the program's files say. Texts are
/// numbers.
#[derive(Clone, Copy, Debug)]
struct IndexedPlace {
    module: u32,
    address: u64,
    function: u32,
    /// 0 if it is not known, or one more than the number of its text.
    file: u32,
    line: u32,
}

/// Where the ranks of a merged file lie, and what is known of all.
pub(super) struct Index {
    pub facts: Facts,
    /// Bytes of each rank's section.
    pub sections: Vec<u64>,
    pub clocks: Vec<ClockCorrection>,
    pub places: PlaceIndex,
    /// Bytes up to the first section.
    pub bytes: u64,
}

/// The places of a merged file.
#[derive(Debug, Default)]
pub(super) struct PlaceIndex {
    header: Vec<u8>,
    texts: Vec<TextRange>,
    /// In the order of modules' texts and addresses.
    places: Vec<IndexedPlace>,
}

impl PlaceIndex {
    fn text(&self, number: u32) -> &[u8] {
        let TextRange { from, length } = self.texts[number as usize];
        &self.header[from as usize..from as usize + length as usize]
    }

    /// Returns the place of an address in a module, if it is known.
    pub(super) fn find(&self, module: &str, address: u64) -> Option<crate::call::Place> {
        let key = (module.as_bytes(), address);
        let found = self.places.binary_search_by(|place| (self.text(place.module), place.address).cmp(&key));
        let place = self.places[found.ok()?];
        let text = |number| String::from_utf8_lossy(self.text(number)).into_owned();
        let source = place.file.checked_sub(1).map(|file| (text(file), place.line));
        Some(crate::call::Place { function: text(place.function), source })
    }
}

impl Index {
    pub(super) fn read(source: &mut impl Read) -> Result<Self, RecordingError> {
        let header = read_framed(source, MERGED_MAGIC, "a program that loggp recorded")?;
        let mut index = Index::from_bytes(&header).map_err(|wrong| RecordingError::header(16, wrong))?;
        index.places.header = header;
        Ok(index)
    }

    fn from_bytes(header: &[u8]) -> Result<Self, Wrong> {
        let cursor = &mut Cursor::new(header);
        let (mpi, library, program) = (cursor.text()?.into(), cursor.text()?.into(), cursor.text()?.into());
        let origin = cursor.signed()?;
        let ranks = cursor.length()?;
        if ranks == 0 {
            return cursor.wrong("a recording has at least one rank");
        }
        let (mut sections, mut clocks, mut hosts) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ranks {
            sections.push(cursor.number()?);
            hosts.push(cursor.text()?.into());
            let mut clock = ClockCorrection { origin, offsets: Vec::new() };
            for _ in 0..cursor.length()? {
                clock.offsets.push((cursor.signed()?, cursor.signed()?));
            }
            clocks.push(clock);
        }
        let mut texts = Vec::new();
        for _ in 0..cursor.length()? {
            let length = cursor.length()?;
            let small =
                |number: usize| u32::try_from(number).or_else(|_| cursor.wrong("a header of over 4 GB"));
            texts.push(TextRange { from: small(cursor.at)?, length: small(length)? });
            cursor.at += length;
        }
        let mut places = Vec::new();
        let known = |cursor: &mut Cursor| match cursor.small()? {
            text if (text as usize) < texts.len() => Ok(text),
            text => cursor.wrong(format!("text {text} is not among {}", texts.len())),
        };
        for _ in 0..cursor.length()? {
            let (module, address, function) = (known(cursor)?, cursor.number()?, known(cursor)?);
            let file = match cursor.small()? {
                file if file as usize <= texts.len() => file,
                file => return cursor.wrong(format!("file {file} is not among {} texts", texts.len())),
            };
            places.push(IndexedPlace { module, address, function, file, line: cursor.small()? });
        }
        let facts = Facts { mpi, library, program, hosts };
        let places = PlaceIndex { header: Vec::new(), texts, places };
        Ok(Index { facts, sections, clocks, places, bytes: 16 + header.len() as u64 })
    }
}

/// Reads a header: its first bytes, the version, its length, and what is so long.
fn read_framed(source: &mut impl Read, magic: &[u8; 8], what: &str) -> Result<Vec<u8>, RecordingError> {
    let mut frame = [0; 16];
    let short = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => RecordingError::Request(format!("this is not {what}")),
        _ => RecordingError::Io(error),
    };
    source.read_exact(&mut frame).map_err(short)?;
    let [version, length] = [8, 12].map(|at| u32::from_le_bytes([0, 1, 2, 3].map(|i| frame[at + i])));
    if frame[..8] != magic[..] {
        return Err(RecordingError::Request(format!("this is not {what}")));
    }
    if version != VERSION {
        return Err(RecordingError::Request(format!(
            "this recording has version {version} of its form, and only version {VERSION} is read: record it \
             with this loggp's recorder"
        )));
    }
    let mut header = Vec::new();
    source.take(u64::from(length)).read_to_end(&mut header)?;
    if header.len() < length as usize {
        let what = format!("the header ends after {} of {length} bytes", header.len()).into();
        return Err(RecordingError::Header { byte: 16 + header.len() as u64, what });
    }
    Ok(header)
}

/// Returns what an MPI calls itself, such as `Open MPI v4.1.4`, without how it was built.
fn short_name(text: &str) -> String {
    let name = text.lines().next().unwrap_or_default().split(", package:").next().unwrap_or_default();
    name.replace("Version:", "").split_whitespace().collect::<Vec<_>>().join(" ")
}
