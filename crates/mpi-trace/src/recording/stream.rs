//! The calls of one rank, one after another.

use std::io::{self, Read};
use std::sync::Arc;

use super::bytes::{Cursor, Wrong};
use super::error::RecordingError;
use super::header::{PlaceIndex, RankHeader};
use super::record::{self, Requests};
#[cfg(feature = "merge")]
use crate::call::CallKind;
use crate::call::{Call, Communicator, Place};

/// By how much a rank's clock is to be corrected.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// The time from which all is counted.
    pub origin: i64,
    /// At which times of the own clock it was how much behind that of rank 0.
    pub offsets: Vec<(i64, i64)>,
}

impl Clock {
    /// Returns a time on the clock of all ranks: the offset is that of a line through the first and the last
    /// measurement.
    pub fn correct(&self, ns: i64) -> i64 {
        let offset = match (self.offsets.first(), self.offsets.last()) {
            (Some(&(from, before)), Some(&(to, after))) if to > from => {
                let share = ns.saturating_sub(from) as f64 / to.saturating_sub(from) as f64;
                before.saturating_add((share * after.saturating_sub(before) as f64) as i64)
            }
            (Some(&(_, offset)), _) => offset,
            _ => 0,
        };
        ns.saturating_add(offset).saturating_sub(self.origin)
    }
}

/// How ticks become nanoseconds: within a block between the two times at which both clocks were read, and before
/// it by the rate since the recording began.
#[derive(Clone, Copy, Default)]
pub(super) struct BlockClock {
    ticks: u64,
    ns: i64,
    rate: f64,
    rate_before: f64,
}

impl BlockClock {
    fn new(clock: &Clock, header: (u64, i64), begin: (u64, i64), end: (u64, i64)) -> Self {
        let rate = |from: (u64, i64), to: (u64, i64)| {
            let ticks = to.0.wrapping_sub(from.0) as i64;
            (ticks > 0)
                .then(|| clock.correct(to.1).saturating_sub(clock.correct(from.1)) as f64 / ticks as f64)
        };
        let within = rate(begin, end).or_else(|| rate(header, end)).unwrap_or(1.0).max(0.0);
        let before = rate(header, begin).unwrap_or(within).max(0.0);
        BlockClock { ticks: begin.0, ns: clock.correct(begin.1), rate: within, rate_before: before }
    }

    #[inline]
    pub fn ns(&self, ticks: u64) -> i64 {
        let ticks = ticks.wrapping_sub(self.ticks) as i64;
        let rate = if ticks < 0 { self.rate_before } else { self.rate };
        self.ns.saturating_add((ticks as f64 * rate) as i64)
    }

    #[inline]
    pub fn length(&self, ticks: u64) -> i64 {
        (ticks as f64 * self.rate) as i64
    }
}

/// What is known of a rank up to a place in its file.
pub(super) struct Known {
    pub ranks: u32,
    pub communicators: Vec<Communicator>,
    pub places: Vec<Place>,
    /// What the file says of each place: its module and the address in it.
    pub addresses: Vec<(String, u64)>,
    pub unmodelled: Vec<(String, u64)>,
    pub offsets: Vec<(i64, i64)>,
    pub requests: Requests,
    pub clock: BlockClock,
    /// The end of the last call in the file, in ticks.
    pub last_end: u64,
    /// The end of the last call, in ticks and in ns.
    pub latest: Option<(u64, i64)>,
    pub thread: u16,
    /// When `MPI_Finalize` began.
    pub finalize: Option<i64>,
    pub index: Arc<PlaceIndex>,
}

impl Known {
    /// Returns a moment in ns: no earlier than the end of the last call, unless it is so in ticks. Two blocks may
    /// take a moment between them for two that are some ns apart.
    #[inline]
    pub fn moment(&self, ticks: u64) -> i64 {
        let ns = self.clock.ns(ticks);
        match self.latest {
            Some((last, end)) if ticks.wrapping_sub(last) as i64 >= 0 => ns.max(end),
            _ => ns,
        }
    }
}

/// The calls of one rank, read one after another. What memory it takes does not grow with their number.
pub struct RankReader {
    rank: usize,
    source: Box<dyn Read + Send>,
    clock: Clock,
    header: (u64, i64),
    block: Vec<u8>,
    at: usize,
    /// Where the block's records begin in the rank's file.
    block_begin: u64,
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
        clock: Clock,
        index: Arc<PlaceIndex>,
    ) -> RankReader {
        let ranks = header.ranks;
        let members: Vec<u32> = (0..ranks).collect();
        let begin = clock.correct(header.ns);
        let known = Known {
            ranks,
            communicators: vec![Communicator { members, ..Communicator::default() }],
            places: vec![Place { function: "?".into(), source: None }],
            addresses: vec![(String::new(), 0)],
            unmodelled: Vec::new(),
            offsets: Vec::new(),
            requests: Requests::default(),
            clock: BlockClock::default(),
            last_end: 0,
            latest: None,
            thread: 0,
            finalize: None,
            index,
        };
        RankReader {
            rank: header.rank as usize,
            source,
            clock,
            header: (header.ticks, header.ns),
            block: Vec::new(),
            at: 0,
            block_begin: header.bytes,
            begin,
            last_end: begin,
            known,
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

    /// Returns the communicators that calls so far have named, by their numbers.
    pub fn communicators(&self) -> &[Communicator] {
        &self.known.communicators
    }

    /// Returns the places of calls so far, by their numbers.
    pub fn places(&self) -> &[Place] {
        &self.known.places
    }

    /// Returns the calls that are not modelled, with how often they were made so far.
    pub fn unmodelled(&self) -> &[(String, u64)] {
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
    pub fn next_call(&mut self) -> Result<Option<Call>, RecordingError> {
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
        if self.block.len() < length as usize {
            self.block.clear();
            return Ok(false);
        }
        self.block_begin += BLOCK_HEADER as u64;
        let begin = (word(4), word(12) as i64);
        let end = (word(20), word(28) as i64);
        self.known.clock = BlockClock::new(&self.clock, self.header, begin, end);
        self.known.last_end = begin.0;
        Ok(true)
    }
}

impl Iterator for RankReader {
    type Item = Result<Call, RecordingError>;

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
pub(super) fn sent_bytes(kind: &CallKind) -> (u64, u64) {
    match kind {
        CallKind::Send { message, .. } | CallKind::SendRecv { message: Some(message), .. } => {
            (1, message.bytes)
        }
        CallKind::Start(starts) => starts
            .iter()
            .map(sent_bytes)
            .fold((0, 0), |(messages, bytes), next| (messages + next.0, bytes.saturating_add(next.1))),
        _ => (0, 0),
    }
}
