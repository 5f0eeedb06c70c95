//! Requests under way, and what came of them.

use loggp::Request;
use loggp_mpi_trace::call::{CollectiveKind, Counts, Receive, Root, SendMode};
use loggp_mpi_trace::recording::post::Signature;

use crate::board::{CollectiveId, Taken};
use crate::parcel::ProgramMessage;

/// What came of a request.
pub(crate) enum Completion {
    Send,
    /// A message, and its sender in the communicator.
    Receive(u64, ProgramMessage),
    Collective(Taken),
    Cancelled,
}

impl Completion {
    /// Returns the number of its kind for the rank, and whether it was cancelled.
    pub(crate) fn kind(&self) -> (u64, bool) {
        match self {
            Completion::Send => (0, false),
            Completion::Receive(..) => (1, false),
            Completion::Collective(_) => (2, false),
            Completion::Cancelled => (0, true),
        }
    }
}

/// A send of the program.
#[derive(Clone, Copy)]
pub(crate) struct ProgramSend {
    pub(crate) to: u32,
    /// The number of its message among the rank's.
    pub(crate) number: u64,
    pub(crate) mode: SendMode,
}

/// A request under way.
pub(crate) enum Pending {
    /// It is over.
    Ready(Completion),
    /// A send; if it is one of the program, of which message.
    Send(Request<()>, Option<ProgramSend>),
    Receive {
        request: Request<(usize, ProgramMessage)>,
        communicator: u32,
        scope: u32,
        from: Option<u32>,
        tag: Option<i32>,
        /// The types of the data, if they are known.
        types: Signature,
    },
    /// A receive from the rank itself, which has not sent yet.
    Own(Receive),
    /// A send to the rank itself that waits for its receive, of the message with this number among them.
    OwnSend {
        number: u64,
        mode: SendMode,
    },
    /// A receive and a send that are one request.
    Both(Box<[Pending; 2]>),
    Collective(Box<Open>),
}

/// A collective under way: how to take what the rank gets of it.
pub(crate) struct Open {
    pub(crate) id: CollectiveId,
    pub(crate) communicator: u32,
    pub(crate) kind: CollectiveKind,
    pub(crate) root: Root,
    pub(crate) received: Counts,
    /// True if the communicator is duplicated: it carries no data.
    pub(crate) duplicates: bool,
}
