//! Ranks of which several threads call MPI.

use std::time::{Duration, Instant};

use loggp::{Cause, RunError};

use crate::segment::Segment;
use crate::session::Watch;

/// What a rank says of its threads, beside what it posts: a thread that may not post has to wait, maybe for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// Several call, as the program has asked for: that cannot be emulated.
    Several,
    /// Another one than the first calls, and the program has not asked for that.
    Other,
    /// Two are in MPI at once, and the program has not asked for that.
    AtOnce,
}

impl Threads {
    /// Returns what the word of a slot says.
    pub(crate) fn of_word(word: u32) -> Option<Threads> {
        match word {
            1 => Some(Threads::Several),
            2 => Some(Threads::Other),
            3 => Some(Threads::AtOnce),
            _ => None,
        }
    }

    /// Returns a sentence on a rank.
    pub(crate) fn text(self, rank: usize) -> String {
        match self {
            Threads::Several => format!(
                "rank {rank} calls MPI in a second thread while another one is in MPI, as an emulated program cannot; let one \
                 thread make all calls, or ask MPI_Init_thread for no more than MPI_THREAD_SERIALIZED"
            ),
            Threads::Other => format!(
                "rank {rank} calls MPI in another thread than the first; only with MPI_THREAD_SERIALIZED or more may others call"
            ),
            Threads::AtOnce => format!(
                "rank {rank} calls MPI in two threads at once; with MPI_THREAD_SERIALIZED one waits until the other has returned"
            ),
        }
    }
}

/// Returns a rank that says so of its threads. Where ranks wait for ever, threads of theirs that are new have a while to call.
pub(crate) fn find_threads(segment: &Segment, watch: &Watch, error: &RunError) -> Option<(usize, Threads)> {
    const PATIENCE: Duration = Duration::from_secs(1);
    let is_deadlock = matches!(error.cause, Cause::Deadlock { .. } | Cause::PollingDeadlock { .. });
    let patience = if is_deadlock && watch.has_new_threads() { PATIENCE } else { Duration::ZERO };
    let begin = Instant::now();
    loop {
        let found = (0..watch.ranks()).find_map(|rank| Some((rank, segment.slot(rank).threads()?)));
        if found.is_some() || begin.elapsed() >= patience {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
