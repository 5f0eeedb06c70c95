//! The outcome of a program, by the machine and by the oracle.

use loggp::{Cause, ProcStatus, Run, RunError, Stats};

use super::program::Note;

/// A processor's account. Times are in picoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    pub finish: i64,
    pub work: i64,
    pub send: i64,
    pub recv: i64,
    pub gap: i64,
    pub stall: i64,
    pub port: i64,
    pub idle: i64,
    pub stalls: u64,
    pub longest_stall: i64,
    pub sent: u64,
    pub received: u64,
    pub words_sent: u64,
    pub words_received: u64,
    pub most_from: usize,
    pub most_to: usize,
}

impl Account {
    /// Converts the accounts of a processor of the machine.
    pub fn of(stats: &Stats) -> Account {
        Account {
            finish: stats.finish.as_ps(),
            work: stats.work.as_ps(),
            send: stats.send.as_ps(),
            recv: stats.recv.as_ps(),
            gap: stats.gap.as_ps(),
            stall: stats.stall.as_ps(),
            port: stats.port.as_ps(),
            idle: stats.idle.as_ps(),
            stalls: stats.stalls,
            longest_stall: stats.longest_stall.as_ps(),
            sent: stats.sent,
            received: stats.received,
            words_sent: stats.words_sent,
            words_received: stats.words_received,
            most_from: stats.most_from,
            most_to: stats.most_to,
        }
    }

    /// Returns whether all of its time is accounted for.
    pub fn is_complete(&self) -> bool {
        let Account { work, send, recv, gap, stall, port, idle, finish, .. } = *self;
        work + send + recv + gap + stall + port + idle == finish
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The account of each processor, and the notes of its program.
    Finished(Vec<(Account, Vec<Note>)>),
    /// A deadlock, with the time at which each processor finished, if it did.
    Deadlock(Vec<Option<i64>>),
    /// Any other error, which no program here should have.
    Failed(String),
}

impl Outcome {
    /// Converts the result of a run of the machine.
    pub fn of(run: &Result<Run<Vec<Note>>, RunError>) -> Outcome {
        let error = match run {
            Ok(run) => {
                let all = run.processors.iter().map(Account::of).zip(run.results.iter().cloned());
                return Outcome::Finished(all.collect());
            }
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
    pub fn difference_from(&self, expected: &Outcome) -> String {
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
