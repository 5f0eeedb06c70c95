//! The end of a rank that did not call `MPI_Finalize`: its signal or status, and its place.

use loggp_mpi_trace::call::Place;
use loggp_mpi_trace::recording::places;
use loggp_mpi_trace::recording::post::Address;

use crate::fault::{FaultKind, mark};

/// The end of a rank, as the rank or the system says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RankEnd {
    /// The signal that has ended it.
    pub signal: Option<i32>,
    /// Its exit status.
    pub status: Option<i32>,
    /// Where it was, the innermost place first.
    pub frames: Vec<Address>,
}

impl RankEnd {
    /// Reads the places that a rank has written: an address of 8 bytes each, and the path of its module with a 0 behind it.
    pub(crate) fn read_frames(mut bytes: &[u8]) -> Vec<Address> {
        let mut frames = Vec::new();
        while let Some((address, rest)) = bytes.split_first_chunk()
            && let Some(end) = rest.iter().position(|byte| *byte == 0)
        {
            let path = String::from_utf8_lossy(&rest[..end]).into_owned();
            frames.push((path, u64::from_ne_bytes(*address)));
            bytes = &rest[end + 1..];
        }
        frames
    }

    /// Adds what the system says of a process that its parent has not missed yet, where the rank has said nothing.
    pub(crate) fn of_process(self, process: i32) -> RankEnd {
        if self.signal.is_some() || self.status.is_some() {
            return self;
        }
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let mut words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let is_over = words.next() == Some("Z");
        // The last word is what `wait` would say.
        match words.last().and_then(|word| word.parse::<i32>().ok()).filter(|_| is_over) {
            Some(ended) if ended & 127 != 0 => RankEnd { signal: Some(ended & 127), ..self },
            Some(ended) => RankEnd { status: Some(ended >> 8), ..self },
            None => self,
        }
    }

    /// Returns the fault of a rank that has ended so.
    pub(crate) fn fault(&self, rank: usize) -> (FaultKind, String) {
        let place = self.place();
        match (self.signal, self.status) {
            (Some(signal), _) => {
                (FaultKind::Crash, format!("rank {rank} was ended by {}{place}", name_of_signal(signal)))
            }
            (None, status) => {
                let status = status.map_or(String::new(), |status| format!(", with exit status {status}"));
                let why = format!("rank {rank} has ended before it called MPI_Finalize{status}{place}");
                (FaultKind::EarlyExit, why)
            }
        }
    }

    /// Returns the fault of a rank that has ended so after `MPI_Finalize`, if it is one.
    pub(crate) fn late_fault(&self, rank: usize) -> Option<(FaultKind, String)> {
        let place = self.place();
        match (self.signal, self.status) {
            (Some(signal), _) => {
                let why =
                    format!("rank {rank} was ended by {}{place}, after MPI_Finalize", name_of_signal(signal));
                Some((FaultKind::Crash, why))
            }
            (None, Some(status)) if status != 0 => Some((
                FaultKind::WrongResult,
                format!("rank {rank} has ended with exit status {status}{place}"),
            )),
            _ => None,
        }
    }

    /// Returns the innermost place of the program as text with a mark: one with a line if there is one, else one outside of the
    /// system's libraries. Nothing if there is none.
    pub(crate) fn place(&self) -> String {
        let is_of_system =
            |module: &str| ["/usr/lib", "/lib"].iter().any(|folder| module.starts_with(folder));
        let mut first = None;
        for (module, address) in &self.frames {
            match places::find_in(module, *address) {
                Some(place) if place.source.is_some() => return format!(" at {}", mark(&place)),
                Some(place) if first.is_none() && !is_of_system(module) && !is_of_start(&place) => {
                    first = Some(place);
                }
                _ => (),
            }
        }
        first.map_or(String::new(), |place| format!(" at {}", mark(&place)))
    }
}

/// Returns whether a place is what starts each program.
fn is_of_start(place: &Place) -> bool {
    place.function == "_start"
}

/// Returns the name of a signal of Linux.
pub(crate) fn name_of_signal(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        other => return format!("signal {other}"),
    };
    name.into()
}
