//! A schedule with what is known of its program.

use super::index::{CallSpan, RankIndex, SpanKind};
use super::unseen::Unseen;
use crate::Schedule;

/// The schedule of a program: what its operations are, from where they were called, and how long they took.
#[derive(Debug)]
pub struct ProgramSchedule {
    pub schedule: Schedule,
    /// What each rank did, beside its operations.
    pub ranks: Vec<RankIndex>,
    /// The places from which the ranks called. The first one is unknown.
    pub places: Vec<Place>,
    /// Sentences about what was left out or guessed.
    pub warnings: Vec<String>,
    /// What the schedule does not say.
    pub unseen: Unseen,
}

impl From<Schedule> for ProgramSchedule {
    /// Returns a schedule of which no program is known.
    fn from(schedule: Schedule) -> ProgramSchedule {
        let (places, unseen) = (Vec::new(), Unseen::default());
        ProgramSchedule { schedule, ranks: Vec::new(), places, warnings: Vec::new(), unseen }
    }
}

impl ProgramSchedule {
    /// Returns whether it is that of a recorded program.
    pub fn is_recorded(&self) -> bool {
        !self.ranks.is_empty()
    }

    /// Returns which part of the time of all ranks so many nanoseconds are.
    pub fn share_of_time(&self, ns: f64) -> f64 {
        let all: f64 = self.ranks.iter().map(|rank| rank.recorded_ns as f64).sum();
        if all > 0.0 { ns / all } else { 0.0 }
    }

    /// Returns the call to which an operation of a rank belongs, or `None` if that is not known.
    pub fn call_of(&self, rank: usize, operation: u32) -> Option<CallSpan> {
        let spans = &self.ranks.get(rank)?.spans;
        spans.get(spans.call_of(operation)?)
    }

    /// Returns the function that a call called and its place, such as `MPI_Allreduce at solve (solver.c:12)`.
    pub fn call_name(&self, SpanKind { function, place, .. }: SpanKind) -> String {
        let called = function.to_string();
        match self.places.get(place as usize) {
            None | Some(Place { source: None, .. }) if place == 0 => called,
            Some(Place { function, source: Some((file, line)) }) => {
                format!("{called} at {function} ({}:{line})", self.short_name(file))
            }
            Some(Place { function, .. }) => format!("{called} at {function}"),
            None => called,
        }
    }

    /// Returns the name of a source file without its folders, if they begin at the root and no other file has this
    /// name.
    fn short_name<'f>(&self, file: &'f str) -> &'f str {
        let last = |file: &'f str| file.rsplit('/').next().unwrap_or(file);
        let short = last(file);
        let mut files = self.places.iter().filter_map(|place| Some(&*place.source.as_ref()?.0));
        let is_other = |other: &str| other != file && other.rsplit('/').next() == Some(short);
        if file.starts_with('/') && !files.any(is_other) { short } else { file }
    }
}

/// A place in the program from which it called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The function, or what is known instead of it, such as `app+0x1234`.
    pub function: String,
    /// The source file, and the line in the file.
    pub source: Option<(String, u32)>,
}
