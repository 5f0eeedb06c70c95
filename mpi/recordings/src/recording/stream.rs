//! The calls of one rank, one after another.

use std::io::{self, Read};
use std::sync::Arc;

use super::bytes::{Cursor, Wrong};
use super::clock::{BlockClock, ClockCorrection};
use super::error::RecordingError;
use super::header::{PlaceIndex, RankHeader};
use super::known::Known;
use super::record;
#[cfg(feature = "merge")]
use crate::call::MpiCallKind;
use crate::call::{Communicator, MpiCall, Place, Unmodelled};

/// The calls of one rank, read one after another. What memory it takes does not grow with their number.
pub struct RankReader {
    rank: usize,
    source: Box<dyn Read + Send>,
    clock: ClockCorrection,
    header: (u64, i64),
    block: Vec<u8>,
    at: usize,
    /// Where the block's records begin in the rank's file.
    block_begin: u64,
    /// Both clocks at the end of the last block, with which the next one begins.
    block_end: (u64, i64),
    begin: i64,
    last_end: i64,
    known: Known,
    is_ended: bool,
}

const BLOCK_HEADER: usize = 36;

impl RankReader {
    /// Reads the calls of a rank, whose number is in the header that was read from the source.
    pub(super) fn new(
        source: Box<dyn Read + Send>,
        header: &RankHeader,
        clock: ClockCorrection,
        index: Arc<PlaceIndex>,
    ) -> RankReader {
        let begin = clock.correct(header.ns);
        RankReader {
            rank: header.rank as usize,
            source,
            clock,
            header: (header.ticks, header.ns),
            block: Vec::new(),
            at: 0,
            block_begin: header.bytes,
            block_end: (header.ticks, header.ns),
            begin,
            last_end: begin,
            known: Known::new(header.ranks, index),
            is_ended: false,
        }
    }

    /// Returns the rank whose calls these are.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the end of `MPI_Init`.
    pub fn begin(&self) -> i64 {
        self.begin
    }

    /// Returns the begin of `MPI_Finalize`, or the end of the last call so far.
    pub fn end(&self) -> i64 {
        self.known.finalize.unwrap_or(self.last_end)
    }

    /// Returns true if the program came to `MPI_Finalize`. It is known when all calls are read.
    pub fn is_whole(&self) -> bool {
        self.known.finalize.is_some()
    }

    /// Returns why the recorder stopped before the program did, such as that the disk was full. It is known when
    /// all calls are read.
    pub fn stopped(&self) -> Option<&str> {
        self.known.stopped.as_deref()
    }

    /// Returns the communicators that calls so far have named, by their numbers.
    pub fn communicators(&self) -> &[Communicator] {
        &self.known.communicators
    }

    /// Returns the places of calls so far, by their numbers.
    pub fn places(&self) -> &[Place] {
        &self.known.places
    }

    /// Returns the calls so far that are not modelled.
    pub fn unmodelled(&self) -> &[Unmodelled] {
        &self.known.unmodelled
    }

    /// Returns how many bytes of the rank's file were read, to the end of the last whole block.
    #[cfg(feature = "merge")]
    pub(super) fn bytes(&self) -> u64 {
        self.block_begin + self.block.len() as u64
    }

    /// Returns what is known at the end: communicators, places, and calls that are not modelled.
    pub(super) fn into_known(self) -> Known {
        self.known
    }

    /// Returns the next call, or `None` at the end.
    pub fn next_call(&mut self) -> Result<Option<MpiCall>, RecordingError> {
        while !self.is_ended {
            let mut cursor = Cursor { bytes: &self.block, at: self.at };
            while !cursor.is_at_end() {
                match record::read(&mut cursor, &mut self.known) {
                    Ok(Some(call)) => {
                        self.at = cursor.at;
                        self.last_end = self.last_end.max(call.end);
                        return Ok(Some(call));
                    }
                    Ok(None) => (),
                    Err(Wrong { at, what }) => {
                        self.is_ended = true;
                        let byte = self.block_begin + at as u64;
                        return Err(RecordingError::Rank { rank: self.rank, byte, what });
                    }
                }
            }
            self.at = 0;
            self.is_ended = !self.read_block()?;
        }
        Ok(None)
    }

    /// Reads the next block, and returns false if there is no whole one.
    fn read_block(&mut self) -> Result<bool, RecordingError> {
        self.block_begin += self.block.len() as u64;
        self.block.clear();
        let mut header = [0; BLOCK_HEADER];
        if !read_whole(&mut self.source, &mut header)? {
            return Ok(false);
        }
        let length = u32::from_le_bytes([0, 1, 2, 3].map(|i| header[i]));
        // What follows is room that a killed program had not filled.
        if length == 0 {
            return Ok(false);
        }
        let word = |at: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| header[at + i]));
        (&mut self.source).take(u64::from(length)).read_to_end(&mut self.block)?;
        let begin = (word(4), word(12) as i64);
        let end = (word(20), word(28) as i64);
        // A program that was killed within a call has left a part of its record, which is no block.
        let follows = begin == self.block_end || self.block.first() == Some(&record::code::STOPPED);
        if self.block.len() < length as usize || !follows {
            self.block.clear();
            return Ok(false);
        }
        self.block_begin += BLOCK_HEADER as u64;
        self.block_end = end;
        self.known.clock = BlockClock::new(&self.clock, self.header, begin, end);
        self.known.last_end = begin.0;
        Ok(true)
    }
}

impl Iterator for RankReader {
    type Item = Result<MpiCall, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_call().transpose()
    }
}

/// Fills the buffer, or returns false if the source ends before.
pub(super) fn read_whole(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match source.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns how many messages a call sends, and their bytes.
#[cfg(feature = "merge")]
pub(super) fn sent_bytes(kind: &MpiCallKind) -> (u64, u64) {
    match kind {
        MpiCallKind::Send { message, .. } | MpiCallKind::SendRecv { message: Some(message), .. } => {
            (1, message.bytes)
        }
        MpiCallKind::Start(starts) => starts
            .iter()
            .map(sent_bytes)
            .fold((0, 0), |(messages, bytes), next| (messages + next.0, bytes.saturating_add(next.1))),
        _ => (0, 0),
    }
}
