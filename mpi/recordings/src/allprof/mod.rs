//! Traces of MPI programs by liballprof, the tracer that comes with LogGOPSim, one file for each rank.
//!
//! A line is a call: its name, its start, its arguments and its end, with colons between them. A datatype is
//! `kind,size,extent`, a communicator `name,rank,size`, a request its address, and times are microseconds. A rank
//! begins with the end of `MPI_Init`, because the ranks' clocks differ. The start of `MPI_Init` and the end of
//! `MPI_Finalize` are not known, and are dashes.

mod communicators;
mod ends;
mod line;
mod reader;
mod requests;
mod shape;

use std::io::{self, Read};

use self::communicators::{CommunicatorUse, Made, Names, resolve};
use self::line::{LineReader, MpiLine};
use self::reader::AllprofReader;
use self::shape::CallShape;
use crate::call::{Communicator, Place, RankCalls, Unmodelled};
use crate::error::ProgramError;
use crate::source::{CallSource, TakeCalls};

/// The MPI library of a program. Each has its own numbers for the same things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MpiLibrary {
    /// Open MPI: -1 is any source and -2 no process, and a request has 8 bytes.
    #[default]
    OpenMpi,
    /// MPICH and its kin: -2 is any source and -1 no process, and a request has 4 bytes.
    Mpich,
}

impl MpiLibrary {
    /// Returns the number for any source.
    fn any_source(self) -> i64 {
        if self == MpiLibrary::OpenMpi { -1 } else { -2 }
    }

    /// Returns the size of a request in an array, in bytes.
    fn request_size(self) -> u64 {
        if self == MpiLibrary::OpenMpi { 8 } else { 4 }
    }
}

/// A program that liballprof traced.
pub struct AllprofProgram<F> {
    P: usize,
    /// Opens the trace of a rank.
    open: F,
    mpi: MpiLibrary,
    /// True if calls that cannot be read count as computing.
    skips: bool,
    /// The communicators that each rank made, once they are needed.
    made: Option<Vec<Vec<Option<Made>>>>,
    notes: ReadingNotes,
}

/// What the traces of all ranks left open.
#[derive(Debug, Default)]
struct ReadingNotes {
    /// The kinds of calls that could not be read, in the order in which they came.
    unread: Vec<Unread>,
    /// Tests and probes, of which a trace does not say whether they found something.
    looks: u64,
    /// How often a wait for one of several requests was taken to have found the first one.
    guessed_waits: u64,
    /// How many ranks have communicators that are told apart by the order in which they were made.
    guessed_names: usize,
}

/// A kind of call that could not be read.
#[derive(Debug)]
struct Unread {
    name: String,
    /// What cannot be read, and why.
    what: String,
    /// Where it came first.
    rank: usize,
    line: u64,
    count: u64,
}

/// Why reading a line ended.
enum Stop {
    Error(String),
    /// The communicators that all ranks made must be known.
    NeedsCommunicators,
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop::Error(why)
    }
}

/// The most calls in one piece.
const PIECE: usize = 1024;

impl<R: Read, F: FnMut(usize) -> io::Result<R>> AllprofProgram<F> {
    /// Creates a program of `P` ranks, whose traces `open` opens. If `skips`, calls that cannot be read are left out,
    /// and their time counts as computing; else they are an error.
    pub fn new(P: usize, mpi: MpiLibrary, skips: bool, open: F) -> AllprofProgram<F> {
        AllprofProgram { P, open, mpi, skips, made: None, notes: ReadingNotes::default() }
    }

    fn open(&mut self, rank: usize) -> Result<LineReader<R>, ProgramError> {
        let unreadable = |why| ProgramError::of_line(rank, 1, format!("it cannot be read: {why}"));
        (self.open)(rank).map(LineReader::new).map_err(unreadable)
    }

    /// Finds the communicators that all ranks made.
    fn find_made(&mut self) -> Result<Vec<Vec<Option<Made>>>, ProgramError> {
        let mut all = Vec::new();
        for rank in 0..self.P {
            let (mut lines, mut events) = (self.open(rank)?, Vec::new());
            let mut names = Names::new(rank, self.P);
            // What a line has that cannot be read is said when it is read for good.
            while let Ok(Some(line)) = lines.next() {
                let Ok(Some(call)) = MpiLine::split(line) else { continue };
                let shape = shape::shape(call.name_bytes());
                let index = shape.communicator();
                let Some(handle) = index.and_then(|index| call.handle(index).ok()) else { continue };
                match shape {
                    CallShape::NewCommunicator { is_split: true, .. } => {
                        let number = |index| call.number(index, "a number").unwrap_or_default();
                        events.push(CommunicatorUse::Split {
                            parent: handle,
                            color: number(2),
                            key: number(3),
                        });
                    }
                    CallShape::NewCommunicator { .. } => {
                        events.push(CommunicatorUse::Copy { parent: handle })
                    }
                    _ if names.find(handle).is_none() => events.push(CommunicatorUse::Name(handle)),
                    _ => (),
                }
                names.set(handle, 0);
            }
            all.push(events);
        }
        Ok(resolve(&all))
    }

    /// Returns the error of the calls that could not be read.
    fn unread_error(&self) -> Option<ProgramError> {
        let (first, others) = self.notes.unread.split_first()?;
        let times = |count: u64| if count > 1 { format!(", {count} times") } else { String::new() };
        let mut why = format!("{}{}; --skip makes time of it", first.what, times(first.count));
        for Unread { what, rank, line, count, .. } in others.iter().take(MOST_QUOTED) {
            why += &format!(". Rank {rank}, line {line}{}: {what}", times(*count));
        }
        if others.len() > MOST_QUOTED {
            why += &format!(". {} other kinds of calls cannot be read either", others.len() - MOST_QUOTED);
        }
        Some(ProgramError::of_line(first.rank, first.line, why))
    }
}

/// How many kinds of calls that cannot be read are quoted after the first.
const MOST_QUOTED: usize = 3;

impl<R: Read, F: FnMut(usize) -> io::Result<R>> CallSource for AllprofProgram<F> {
    fn ranks(&self) -> usize {
        self.P
    }

    fn read_rank(&mut self, rank: usize, take: TakeCalls) -> Result<(), ProgramError> {
        if rank == 0 {
            self.notes = ReadingNotes::default();
        }
        let mut lines = self.open(rank)?;
        let mut reader = AllprofReader::new(rank, self.P, self.mpi);
        let world = Communicator { members: (0..self.P as u32).collect(), ..Communicator::default() };
        let places = vec![Place::default()];
        let mut calls = RankCalls { communicators: vec![world], places, ..RankCalls::default() };
        let mut number = 0;
        loop {
            number += 1;
            let refuse = |why| ProgramError::of_line(rank, number, why);
            let Some(line) = lines.next().map_err(refuse)? else { break };
            loop {
                let made = self.made.as_ref().map(|made| &made[rank][..]);
                match reader.read_line((line, number), &mut calls, made, &mut self.notes) {
                    Ok(()) => break,
                    Err(Stop::Error(why)) => return Err(refuse(why)),
                    Err(Stop::NeedsCommunicators) => self.made = Some(self.find_made()?),
                }
            }
            if calls.calls.len() >= PIECE {
                take(&calls)?;
                calls.calls.clear();
            }
        }
        let unread = if self.skips { None } else { self.unread_error() };
        if !reader.is_whole() {
            if let Some(error) = unread {
                return Err(error);
            }
            let why = "the trace ends here, without MPI_Finalize; give one that is whole";
            return Err(ProgramError::of_line(rank, number, why));
        }
        self.notes.guessed_names += usize::from(reader.has_guessed_names());
        calls.is_whole = true;
        take(&calls)?;
        match unread {
            Some(error) if rank + 1 == self.P => Err(error),
            _ => Ok(()),
        }
    }

    fn knows_taken(&self) -> bool {
        false
    }

    fn unread(&self) -> Vec<Unmodelled> {
        let ReadingNotes { unread, looks, .. } = &self.notes;
        let looks = (*looks > 0).then_some(("MPI_Test and MPI_Iprobe", *looks)).into_iter();
        let calls = unread.iter().map(|unread| (&*unread.name, unread.count)).chain(looks);
        calls.map(|(name, count)| Unmodelled { name: name.into(), count, inside_ns: None }).collect()
    }

    fn warnings(&self) -> Vec<String> {
        let ReadingNotes { unread, guessed_waits, guessed_names, .. } = &self.notes;
        let skipped = unread.iter().map(|Unread { what, rank, line, count, .. }| {
            format!("{count} calls are computing time, the first one on rank {rank}, line {line}: {what}")
        });
        let waits = (*guessed_waits > 0).then(|| {
            format!(
                "{guessed_waits} calls of MPI_Waitany and MPI_Waitsome do not say what was completed, and are taken to \
                 wait for the request that was started first"
            )
        });
        let names = (*guessed_names > 0).then(|| {
            format!("{guessed_names} ranks have communicators of equal size, which are told apart by the order in \
                     which they were made")
        });
        skipped.chain(waits).chain(names).collect()
    }
}
