//! Where the calls have their arguments. The start of a call is argument 0, a datatype stands behind its count, and
//! an array of counts behind its address.

use crate::call::{CollectiveKind, WaitForm};

/// What a call is, and where its arguments are.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallShape {
    Send {
        is_immediate: bool,
        mode: u8,
    },
    Recv {
        is_immediate: bool,
    },
    SendRecv,
    SendRecvReplace,
    /// Makes a persistent request for a send in a mode, or for a receive.
    Init {
        mode: Option<u8>,
    },
    Start,
    StartAll,
    Wait(WaitForm),
    /// Gives up a request.
    Forget,
    Probe,
    Collective(CollectiveShape),
    /// Makes a communicator from the one at this index.
    NewCommunicator {
        parent: usize,
        is_split: bool,
    },
    /// Uses a communicator, and sends and receives nothing.
    Names(usize),
    /// Sends and receives nothing.
    Local,
    Begin,
    End,
    Unknown,
}

/// Where a collective has its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectiveShape {
    pub kind: CollectiveKind,
    pub sent: Amounts,
    pub received: Amounts,
    pub root: Option<usize>,
    pub communicator: usize,
    pub is_immediate: bool,
}

/// Where a call says how much it sends or receives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Amounts {
    Nothing,
    /// A count.
    Same(usize),
    /// Counts, and their datatype.
    Each(usize, usize),
    /// One count for each rank, of which this rank's is meant.
    Own(usize, usize),
}

/// Modes of sends, by the letter in the call's name.
pub(super) const STANDARD: u8 = b's';
pub(super) const BUFFERED: u8 = b'b';
pub(super) const SYNCHRONOUS: u8 = b'y';
pub(super) const READY: u8 = b'r';

/// Prefixes of calls that send and receive nothing: their time counts as computation.
const LOCAL: [&[u8]; 19] = [
    b"MPI_Comm_",
    b"MPI_Type_",
    b"MPI_Op_",
    b"MPI_Group_",
    b"MPI_Info_",
    b"MPI_Errhandler_",
    b"MPI_Error_",
    b"MPI_Attr_",
    b"MPI_Test",
    b"MPI_Iprobe",
    b"MPI_Get_",
    b"MPI_Wtime",
    b"MPI_Wtick",
    b"MPI_Initialized",
    b"MPI_Finalized",
    b"MPI_Address",
    b"MPI_Pcontrol",
    b"MPI_Cart_",
    b"MPI_Buffer_",
];

/// Returns the shape of a call. The usual calls come first.
pub(super) fn shape(name: &[u8]) -> CallShape {
    let send = |is_immediate, mode| CallShape::Send { is_immediate, mode };
    match name {
        b"MPI_Irecv" => CallShape::Recv { is_immediate: true },
        b"MPI_Isend" => send(true, STANDARD),
        b"MPI_Wait" => CallShape::Wait(WaitForm::Wait),
        b"MPI_Waitall" => CallShape::Wait(WaitForm::Waitall),
        b"MPI_Send" => send(false, STANDARD),
        b"MPI_Recv" => CallShape::Recv { is_immediate: false },
        b"MPI_Waitany" => CallShape::Wait(WaitForm::Waitany),
        b"MPI_Waitsome" => CallShape::Wait(WaitForm::Waitsome),
        b"MPI_Start" => CallShape::Start,
        b"MPI_Startall" => CallShape::StartAll,
        b"MPI_Sendrecv" => CallShape::SendRecv,
        b"MPI_Sendrecv_replace" => CallShape::SendRecvReplace,
        b"MPI_Bsend" => send(false, BUFFERED),
        b"MPI_Ssend" => send(false, SYNCHRONOUS),
        b"MPI_Rsend" => send(false, READY),
        b"MPI_Ibsend" => send(true, BUFFERED),
        b"MPI_Issend" => send(true, SYNCHRONOUS),
        b"MPI_Irsend" => send(true, READY),
        b"MPI_Send_init" => CallShape::Init { mode: Some(STANDARD) },
        b"MPI_Bsend_init" => CallShape::Init { mode: Some(BUFFERED) },
        b"MPI_Ssend_init" => CallShape::Init { mode: Some(SYNCHRONOUS) },
        b"MPI_Rsend_init" => CallShape::Init { mode: Some(READY) },
        b"MPI_Recv_init" => CallShape::Init { mode: None },
        b"MPI_Probe" => CallShape::Probe,
        b"MPI_Cancel" | b"MPI_Request_free" => CallShape::Forget,
        b"MPI_Init" | b"MPI_Init_thread" => CallShape::Begin,
        b"MPI_Finalize" => CallShape::End,
        b"MPI_Comm_rank" | b"MPI_Comm_size" | b"MPI_Comm_group" => CallShape::Names(1),
        b"MPI_Comm_split" => CallShape::NewCommunicator { parent: 1, is_split: true },
        b"MPI_Comm_dup" | b"MPI_Comm_dup_with_info" => {
            CallShape::NewCommunicator { parent: 1, is_split: false }
        }
        b"MPI_Comm_create"
        | b"MPI_Comm_split_type"
        | b"MPI_Cart_create"
        | b"MPI_Cart_sub"
        | b"MPI_Graph_create"
        | b"MPI_Dist_graph_create"
        | b"MPI_Dist_graph_create_adjacent" => CallShape::NewCommunicator { parent: 1, is_split: false },
        _ => {
            if LOCAL.iter().any(|local| name.starts_with(local)) {
                CallShape::Local
            } else {
                collective(name).map_or(CallShape::Unknown, CallShape::Collective)
            }
        }
    }
}

/// Returns the shape of a collective, blocking or immediate.
fn collective(name: &[u8]) -> Option<CollectiveShape> {
    let rest = name.strip_prefix(b"MPI_")?;
    let lower = rest.to_ascii_lowercase();
    if let Some(shape) = blocking(&lower) {
        return Some(shape);
    }
    let shape = lower.strip_prefix(b"i").and_then(blocking)?;
    Some(CollectiveShape { is_immediate: true, ..shape })
}

fn blocking(name: &[u8]) -> Option<CollectiveShape> {
    use Amounts::{Each, Nothing, Own, Same};
    let both = |count| (Same(count), Same(count));
    let (kind, (sent, received), root, communicator) = match name {
        b"barrier" => (CollectiveKind::Barrier, (Nothing, Nothing), None, 1),
        b"bcast" => (CollectiveKind::Bcast, both(2), Some(4), 5),
        b"reduce" => (CollectiveKind::Reduce, both(3), Some(6), 7),
        b"allreduce" => (CollectiveKind::Allreduce, both(3), None, 6),
        b"scan" => (CollectiveKind::Scan, both(3), None, 6),
        b"exscan" => (CollectiveKind::Exscan, both(3), None, 6),
        b"gather" => (CollectiveKind::Gather, (Same(2), Same(5)), Some(7), 8),
        // What the other side has is known at the root alone.
        b"scatter" => (CollectiveKind::Scatter, (Same(2), Same(5)), Some(7), 8),
        b"allgather" => (CollectiveKind::Allgather, both(5), None, 7),
        b"alltoall" => (CollectiveKind::Alltoall, both(5), None, 7),
        b"gatherv" => (CollectiveKind::Gatherv, (Same(2), Each(6, 9)), Some(10), 11),
        b"scatterv" => (CollectiveKind::Scatterv, (Each(3, 6), Same(8)), Some(10), 11),
        b"allgatherv" => (CollectiveKind::Allgatherv, (Same(2), Each(6, 9)), None, 10),
        b"alltoallv" => (CollectiveKind::Alltoallv, (Each(3, 6), Each(9, 12)), None, 13),
        b"reduce_scatter" => (CollectiveKind::ReduceScatter, (Each(4, 5), Own(4, 5)), None, 7),
        b"reduce_scatter_block" => (CollectiveKind::ReduceScatterBlock, both(3), None, 6),
        _ => return None,
    };
    Some(CollectiveShape { kind, sent, received, root, communicator, is_immediate: false })
}

impl CallShape {
    /// Returns where the call names its communicator.
    pub(super) fn communicator(&self) -> Option<usize> {
        match *self {
            CallShape::Send { .. } | CallShape::Recv { .. } | CallShape::Init { .. } => Some(6),
            CallShape::SendRecv => Some(11),
            CallShape::SendRecvReplace => Some(8),
            CallShape::Probe => Some(3),
            CallShape::Collective(shape) => Some(shape.communicator),
            CallShape::NewCommunicator { parent, .. } => Some(parent),
            CallShape::Names(index) => Some(index),
            _ => None,
        }
    }
}
