//! Ranks of which several threads call MPI.

/// A word of a rank on its threads, beside its posts: a thread that may not post has to wait, maybe for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// One calls while another one is in MPI, as the program has asked for. If that one waits for ever, this cannot be emulated.
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
                "rank {rank} calls MPI in one thread while another one waits in MPI for what does not come; the calls of an \
                 emulated rank take turns, so that none goes on while another one waits: let one thread make all calls that wait, or \
                 ask MPI_Init_thread for no more than MPI_THREAD_SERIALIZED"
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
