//! The outcome of a program, by the machine and by the oracle.

use loggp::{Cause, ProcStatus, Run, RunError, Stats};

use crate::drawn::Note;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The account of each processor, and the notes of its program.
    Finished(Vec<(Stats, Vec<Note>)>),
    /// A deadlock, with the time at which each processor finished, if it did.
    Deadlock(Vec<Option<i64>>),
    /// Any other error, which no program here should have.
    Failed(String),
}

impl Outcome {
    pub(crate) fn of_finished(run: &Run<Vec<Note>>) -> Outcome {
        Outcome::Finished(run.processors.iter().cloned().zip(run.results.iter().cloned()).collect())
    }

    /// Converts the result of a run of the machine.
    pub(crate) fn of(run: &Result<Run<Vec<Note>>, RunError>) -> Outcome {
        let error = match run {
            Ok(run) => return Outcome::of_finished(run),
            Err(error) => error,
        };
        let Cause::Deadlock { waiting, of } = error.cause else { return Outcome::Failed(error.to_string()) };
        let ends = error.processors.iter().map(|state| match state.status {
            ProcStatus::Finished => Some(state.at.as_ps()),
            _ => None,
        });
        let ends: Vec<Option<i64>> = ends.collect();
        assert_eq!((waiting, of), (ends.iter().filter(|end| end.is_none()).count(), ends.len()));
        Outcome::Deadlock(ends)
    }

    /// Describes the difference from the expected outcome.
    pub(crate) fn difference_from(&self, expected: &Outcome) -> String {
        let (Outcome::Finished(these), Outcome::Finished(those)) = (self, expected) else {
            return format!("  expected: {expected:?}\n  and is:   {self:?}\n");
        };
        let mut text = String::new();
        for (id, (this, that)) in these.iter().zip(those).enumerate().filter(|(_, (this, that))| this != that)
        {
            if this.0 != that.0 {
                text += &format!(
                    "  processor {id}, expected: {:?}\n  processor {id}, and is:   {:?}\n",
                    that.0, this.0
                );
            }
            let notes = this.1.iter().map(Some).chain([None]).zip(that.1.iter().map(Some).chain([None]));
            if let Some((place, (is, expected))) =
                notes.enumerate().find(|(_, (is, expected))| is != expected)
            {
                text += &format!(
                    "    its note {place}, expected: {expected:?}\n    its note {place}, and is:   {is:?}\n"
                );
            }
        }
        text
    }
}
