//! The calls of an MPI program, whichever recorder wrote them down.
//!
//! Times are nanoseconds on one clock for all ranks, where the recorder knows one. Ranks are ranks of the
//! world, except the roots of collectives.

pub use loggp_goal::patterns::CollectiveKind;
pub use loggp_schedule::program::{Place, Unmodelled};

/// What one rank of a program did.
#[derive(Clone, Debug, Default)]
pub struct RankCalls {
    /// The end of `MPI_Init`.
    pub begin: i64,
    /// The start of `MPI_Finalize`, or the end of the last call if the trace ends before.
    pub end: i64,
    /// False if the program was aborted before it came to `MPI_Finalize`.
    pub is_whole: bool,
    /// The calls, each thread's in its order.
    pub calls: Vec<MpiCall>,
    /// The communicators that the rank had, by their numbers. The first one is the world.
    pub communicators: Vec<Communicator>,
    /// Places in the program, by their numbers. The first one is unknown.
    pub places: Vec<Place>,
    /// Calls that are not modelled.
    pub unmodelled: Vec<Unmodelled>,
}

/// A call of MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpiCall {
    pub begin: i64,
    pub end: i64,
    /// Number of the place in [`RankCalls::places`].
    pub place: u32,
    /// Number of the thread that called; 0 is the one that called `MPI_Init`.
    pub thread: u16,
    pub kind: MpiCallKind,
}

/// What a call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MpiCallKind {
    /// A send in any mode. Without a request it blocks.
    Send { mode: SendMode, message: Envelope, request: Option<RequestId> },
    /// A receive. Without a request it blocks.
    Recv { receive: Receive, request: Option<RequestId> },
    /// `MPI_Sendrecv` and `MPI_Sendrecv_replace`. A side is `None` if it is `MPI_PROC_NULL`. With a request it is
    /// `MPI_Isendrecv`, which is one request for both.
    SendRecv { message: Option<Envelope>, receive: Option<Receive>, request: Option<RequestId> },
    /// The start of persistent requests. Each start is a send or receive with a request number of its own.
    Start(Vec<MpiCallKind>),
    /// The start of a persistent collective, an immediate one. Ranks start the same one if it has the same number among
    /// those of its communicator, in the order of the calls that made them: so it is `made`.
    StartCollective { made: u64, collective: Box<MpiCallKind> },
    /// A call that waits or tests, with the requests that it found completed, in no order. A test that finds
    /// nothing completed is a [`Look`](MpiCallKind::Look).
    Complete { form: WaitForm, requests: Vec<Completed> },
    /// A series of calls that tested or probed and found nothing, with no other call between them.
    Look { count: u64, inside_ns: i64 },
    /// A probe that found a message, which a later receive takes. `is_wait` is false for `Iprobe` and `Improbe`.
    Probe { is_wait: bool, message: Envelope },
    /// A collective. With a request it is immediate.
    ///
    /// `sent` and `received` are what the rank itself gives and gets: a broadcast's root sends, and the others
    /// receive; in a gather all send, and the root receives as much from each; in a reduction to all both are the
    /// whole vector. `MPI_IN_PLACE` is filled in: what a rank leaves where it is counts as sent and received.
    Collective {
        kind: CollectiveKind,
        communicator: u32,
        root: Root,
        sent: Counts,
        received: Counts,
        request: Option<RequestId>,
    },
    /// A call of a collective kind that makes a communicator, named by its number, or none for this rank. It
    /// synchronizes as an all-gather of a word does on the parent.
    NewCommunicator { parent: u32, new: Option<u32> },
    /// A request that is given up: it never completes at this rank.
    Forget(RequestId),
    /// A one-sided call.
    OneSided(OneSided),
}

/// A call that reaches into the memory of a rank of the world, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneSided {
    Put {
        to: u32,
        bytes: u64,
    },
    /// A request of `bytes`, to which `back` bytes are the answer.
    Get {
        to: u32,
        bytes: u64,
        back: u64,
        request: Option<RequestId>,
    },
    /// A wait until all is there; if it is local, until all has come that was asked for.
    Flush {
        to: Option<u32>,
        is_local: bool,
    },
    Lock {
        window: u32,
        to: Option<u32>,
        is_exclusive: bool,
    },
    Unlock {
        window: u32,
        to: Option<u32>,
    },
    /// A flush of all, and then a wait for all ranks of the window.
    Fence {
        window: u32,
    },
    /// A wait until all that other ranks do before now is done.
    InOrder,
}

impl OneSided {
    /// Returns MPI's name in small letters, without `MPI_`, of the call, or of one like it.
    pub fn name(&self) -> &'static str {
        match self {
            OneSided::Put { .. } => "put",
            OneSided::Get { .. } => "get",
            OneSided::Flush { .. } => "win_flush",
            OneSided::Lock { .. } => "win_lock",
            OneSided::Unlock { .. } => "win_unlock",
            OneSided::Fence { .. } => "win_fence",
            OneSided::InOrder => "win_sync",
        }
    }
}

/// The function that waits or tests: MPI's own name in small letters, without `MPI_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitForm {
    Wait,
    Waitall,
    Waitany,
    Waitsome,
    Test,
    Testall,
    Testany,
    Testsome,
}

impl WaitForm {
    /// Returns its name, such as `waitall`.
    pub fn name(self) -> &'static str {
        match self {
            WaitForm::Wait => "wait",
            WaitForm::Waitall => "waitall",
            WaitForm::Waitany => "waitany",
            WaitForm::Waitsome => "waitsome",
            WaitForm::Test => "test",
            WaitForm::Testall => "testall",
            WaitForm::Testany => "testany",
            WaitForm::Testsome => "testsome",
        }
    }
}

/// Number of a request, unique within its rank: each start of a persistent one has its own.
pub type RequestId = u64;

/// The mode of a send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SendMode {
    #[default]
    Standard,
    Buffered,
    Synchronous,
    Ready,
}

/// A message: its other end, tag, communicator and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// The receiver of a send and the sender of a receive, in the world.
    pub peer: u32,
    pub tag: i32,
    /// Number of the communicator in [`RankCalls::communicators`].
    pub communicator: u32,
    pub bytes: u64,
}

/// A receive, as it was asked for and as it was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receive {
    /// The sender, or `None` for any.
    pub from: Option<u32>,
    /// The tag, or `None` for any.
    pub tag: Option<i32>,
    pub communicator: u32,
    /// The length of the buffer.
    pub bytes: u64,
    /// The message that it took. `None` as long as that is not known, which the completion of its request says, or
    /// if the recorder does not say.
    pub taken: Option<Envelope>,
}

/// A request that was found completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    pub request: RequestId,
    /// The message that a receive took, if the recorder knows it.
    pub taken: Option<Envelope>,
    /// True if it was cancelled.
    pub is_cancelled: bool,
}

/// The root of a collective, counted in its communicator; in an intercommunicator counted in the remote group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// The collective has none.
    None,
    Rank(u32),
    /// `MPI_ROOT`: this rank, in an intercommunicator.
    This,
    /// `MPI_PROC_NULL`: another rank of this group, in an intercommunicator.
    Nobody,
}

/// How many bytes a rank exchanges with each rank of a communicator (of its neighbours, in collectives of these).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// As many with each; 0 if it does not matter at this rank.
    Same(u64),
    /// So many with each, in the order of ranks.
    Each(Vec<u64>),
}

/// A communicator, as one of its ranks knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Communicator {
    /// World ranks of its members in their order; in an intercommunicator those of this rank's group.
    pub members: Vec<u32>,
    /// World ranks of the remote group, in an intercommunicator.
    pub remote: Option<Vec<u32>>,
    /// The ranks to which this one sends in neighbours' collectives, in the order of their counts, in the world;
    /// `None` entries are `MPI_PROC_NULL`.
    pub destinations: Vec<Option<u32>>,
    /// The ranks from which this one receives in neighbours' collectives.
    pub sources: Vec<Option<u32>>,
    /// The communicator from which it was made, by number; for the world, itself.
    pub parent: u32,
    /// How many communicators the parent had made before, counted at this rank. With the parent and the members
    /// it tells communicators with the same members apart on all ranks alike. From 2^32 on it counts those that not all
    /// ranks of the parent make (`MPI_Comm_create_group`, `MPI_Intercomm_create`, `MPI_COMM_SELF`), among those with the
    /// same members; the two groups of an intercommunicator have other parents, and the same number.
    pub number_at_parent: u64,
}
