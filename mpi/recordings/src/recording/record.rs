//! The records of a rank's file.

use super::bytes::{Cursor, Wrong};
use super::known::Known;
use crate::call::{
    CollectiveKind, Communicator, Completed, Counts, Envelope, MpiCall, MpiCallKind, OneSided, Place,
    Receive, Root, SendMode, Unmodelled, WaitForm,
};

/// The codes of records, as `recorder/write.h` has them.
pub(super) mod code {
    pub(in crate::recording) const PLACE: u8 = 1;
    pub(in crate::recording) const COMMUNICATOR: u8 = 2;
    pub(in crate::recording) const THREAD: u8 = 3;
    /// As recorders wrote it that did not measure these calls.
    pub(in crate::recording) const COUNTED: u8 = 4;
    pub(in crate::recording) const OFFSET: u8 = 5;
    pub(in crate::recording) const FINALIZE: u8 = 6;
    pub(in crate::recording) const UNMODELLED: u8 = 7;
    pub(in crate::recording) const STOPPED: u8 = 8;
    pub(in crate::recording) const SEND: u8 = 16;
    pub(in crate::recording) const LAST_SEND: u8 = 23;
    pub(in crate::recording) const RECV: u8 = 24;
    pub(in crate::recording) const RECV_REQUEST: u8 = 25;
    pub(in crate::recording) const SENDRECV: u8 = 26;
    pub(in crate::recording) const SENDRECV_REQUEST: u8 = 27;
    pub(in crate::recording) const COLLECTIVE: u8 = 28;
    pub(in crate::recording) const COLLECTIVE_REQUEST: u8 = 29;
    pub(in crate::recording) const START: u8 = 30;
    pub(in crate::recording) const WAIT: u8 = 31;
    pub(in crate::recording) const TEST: u8 = 32;
    pub(in crate::recording) const LOOK: u8 = 33;
    pub(in crate::recording) const PROBE: u8 = 34;
    pub(in crate::recording) const IPROBE: u8 = 35;
    pub(in crate::recording) const NEW_COMMUNICATOR: u8 = 36;
    pub(in crate::recording) const FORGET: u8 = 37;
    pub(in crate::recording) const WAITALL: u8 = 38;
    pub(in crate::recording) const WAITANY: u8 = 39;
    pub(in crate::recording) const WAITSOME: u8 = 40;
    pub(in crate::recording) const TESTALL: u8 = 41;
    pub(in crate::recording) const TESTANY: u8 = 42;
    pub(in crate::recording) const TESTSOME: u8 = 43;
    /// With its number among those of its communicator: older recorders wrote it as `START`.
    pub(in crate::recording) const START_COLLECTIVE: u8 = 44;
    pub(in crate::recording) const PUT: u8 = 64;
    pub(in crate::recording) const GET: u8 = 65;
    pub(in crate::recording) const GET_REQUEST: u8 = 66;
    pub(in crate::recording) const FLUSH: u8 = 67;
    pub(in crate::recording) const LOCK: u8 = 68;
    pub(in crate::recording) const UNLOCK: u8 = 69;
    pub(in crate::recording) const FENCE: u8 = 70;
    pub(in crate::recording) const IN_ORDER: u8 = 71;
}

/// Reads a record, and returns the call if it is one.
#[inline]
pub(super) fn read(cursor: &mut Cursor, known: &mut Known) -> Result<Option<MpiCall>, Wrong> {
    let code = cursor.byte()?;
    if code < code::SEND {
        read_definition(code, cursor, known)?;
        return Ok(None);
    }
    let begin = known.last_end.wrapping_add(cursor.signed()? as u64);
    let length = cursor.number()?;
    let end = begin.wrapping_add(length);
    known.last_end = end;
    let place = cursor.small()?;
    if place as usize >= known.places.len() {
        return cursor.wrong(format!("place {place} is not known before this call"));
    }
    let kind = match code {
        code::START => {
            let code = cursor.byte()?;
            MpiCallKind::Start(vec![read_post(code, cursor, known, true)?])
        }
        code::START_COLLECTIVE => read_start_of_collective(cursor, known)?,
        code::LOOK => {
            let count = cursor.number()?;
            MpiCallKind::Look { count, inside_ns: known.clock.length(cursor.number()?) }
        }
        code::PROBE | code::IPROBE => {
            MpiCallKind::Probe { is_wait: code == code::PROBE, message: read_message(cursor, known)? }
        }
        code::NEW_COMMUNICATOR => {
            let parent = read_communicator(cursor, known)?;
            let new = cursor.small()?.checked_sub(1);
            match new {
                Some(new) if new as usize >= known.communicators.len() => {
                    return cursor.wrong(format!("communicator {new} is not known before this call"));
                }
                new => MpiCallKind::NewCommunicator { parent, new },
            }
        }
        code::FORGET => {
            let distance = cursor.number()?;
            match known.requests.take(distance) {
                Some(request) => MpiCallKind::Forget(request),
                None => return no_request(cursor, known, distance),
            }
        }
        code => match wait_form(code) {
            Some(form) => MpiCallKind::Complete { form, requests: read_completed(cursor, known)? },
            None => read_post(code, cursor, known, true)?,
        },
    };
    let ticks = end;
    let begin = known.moment(begin);
    let end = known.clock.ns(end).max(begin);
    known.latest = Some((ticks, end));
    Ok(Some(MpiCall { begin, end, place, thread: known.thread, kind }))
}

pub(super) fn wait_form(code: u8) -> Option<WaitForm> {
    Some(match code {
        code::WAIT => WaitForm::Wait,
        code::TEST => WaitForm::Test,
        code::WAITALL => WaitForm::Waitall,
        code::WAITANY => WaitForm::Waitany,
        code::WAITSOME => WaitForm::Waitsome,
        code::TESTALL => WaitForm::Testall,
        code::TESTANY => WaitForm::Testany,
        code::TESTSOME => WaitForm::Testsome,
        _ => return None,
    })
}

fn no_request<T>(cursor: &Cursor, known: &Known, distance: u64) -> Result<T, Wrong> {
    let next = known.requests.next;
    cursor.wrong(format!(
        "of {next} requests none waits to be completed that is {distance} before the next one"
    ))
}

/// Reads a record that is no call.
pub(super) fn read_definition(code: u8, cursor: &mut Cursor, known: &mut Known) -> Result<(), Wrong> {
    match code {
        code::PLACE => {
            let (module, address) = (cursor.text()?, cursor.number()?);
            let unnamed = || {
                let file = module.rsplit('/').next().unwrap_or_default();
                Place { function: format!("{file}+{address:#x}"), source: None }
            };
            known.places.push(known.index.find(&module, address).unwrap_or_else(unnamed));
            known.addresses.push((module.into_owned(), address));
        }
        code::COMMUNICATOR => {
            let communicator = read_definition_of_communicator(cursor, known)?;
            known.communicators.push(communicator);
        }
        code::THREAD => match u16::try_from(cursor.number()?) {
            Ok(thread) => known.thread = thread,
            Err(_) => return cursor.wrong("a thread's number is above 65535"),
        },
        code::COUNTED | code::UNMODELLED => {
            let (name, count) = (cursor.text()?, cursor.number()?);
            let inside_ns = match code {
                code::UNMODELLED => Some(known.clock.length(cursor.number()?)),
                _ => None,
            };
            let made = Unmodelled { name: name.into_owned(), count, inside_ns };
            match known.unmodelled.iter().position(|known| known.name == made.name) {
                Some(at) => known.unmodelled[at] = made,
                None if known.unmodelled.len() == MOST_UNMODELLED => {
                    return cursor.wrong(format!("over {MOST_UNMODELLED} kinds of calls are not modelled"));
                }
                None => known.unmodelled.push(made),
            }
        }
        code::OFFSET => {
            let (when, offset, _round_trip) = (cursor.signed()?, cursor.signed()?, cursor.signed()?);
            if known.offsets.len() == MOST_OFFSETS {
                return cursor.wrong("a clock's offset is measured at the begin and at the end only");
            }
            known.offsets.push((when, offset));
        }
        code::FINALIZE => {
            let ticks = known.last_end.wrapping_add(cursor.signed()? as u64);
            known.finalize = Some(known.moment(ticks));
        }
        code::STOPPED => known.stopped = Some(cursor.text()?.into_owned()),
        code => return cursor.wrong(format!("there is no record of code {code}")),
    }
    Ok(())
}

/// As many names as the recorder counts.
const MOST_UNMODELLED: usize = 512;
const MOST_OFFSETS: usize = 2;

fn read_definition_of_communicator(cursor: &mut Cursor, known: &Known) -> Result<Communicator, Wrong> {
    let parent = read_communicator(cursor, known)?;
    let number_at_parent = cursor.number()?;
    let flags = cursor.byte()?;
    let members = read_ranks(cursor, known)?;
    let remote = if flags & 1 != 0 { Some(read_ranks(cursor, known)?) } else { None };
    let (destinations, sources) = match flags & 2 {
        0 => (Vec::new(), Vec::new()),
        _ => (read_neighbours(cursor, known)?, read_neighbours(cursor, known)?),
    };
    Ok(Communicator { members, remote, destinations, sources, parent, number_at_parent })
}

pub(super) fn read_ranks(cursor: &mut Cursor, known: &Known) -> Result<Vec<u32>, Wrong> {
    let length = cursor.length()?;
    let mut ranks = Vec::with_capacity(length);
    let mut last = -1_i64;
    for _ in 0..length {
        last = last.wrapping_add(cursor.signed()?).wrapping_add(1);
        match u32::try_from(last) {
            Ok(rank) if rank < known.ranks => ranks.push(rank),
            _ => return cursor.wrong(format!("rank {last} is not among {}", known.ranks)),
        }
    }
    Ok(ranks)
}

fn read_neighbours(cursor: &mut Cursor, known: &Known) -> Result<Vec<Option<u32>>, Wrong> {
    let length = cursor.length()?;
    let mut neighbours = Vec::with_capacity(length);
    for _ in 0..length {
        neighbours.push(read_rank_or_all(cursor, known)?);
    }
    Ok(neighbours)
}

#[inline]
pub(super) fn read_communicator(cursor: &mut Cursor, known: &Known) -> Result<u32, Wrong> {
    match cursor.small()? {
        number if (number as usize) < known.communicators.len() => Ok(number),
        number => cursor.wrong(format!("communicator {number} is not known before this call")),
    }
}

#[inline]
pub(super) fn read_rank(cursor: &mut Cursor, known: &Known) -> Result<u32, Wrong> {
    match cursor.small()? {
        rank if rank < known.ranks => Ok(rank),
        rank => cursor.wrong(format!("rank {rank} is not among {}", known.ranks)),
    }
}

/// Reads a rank; `None` for any, or all.
#[inline]
pub(super) fn read_rank_or_all(cursor: &mut Cursor, known: &Known) -> Result<Option<u32>, Wrong> {
    match cursor.small()?.checked_sub(1) {
        Some(rank) if rank >= known.ranks => {
            cursor.wrong(format!("rank {rank} is not among {}", known.ranks))
        }
        rank => Ok(rank),
    }
}

#[inline]
fn read_tag(cursor: &Cursor, tag: i64) -> Result<i32, Wrong> {
    i32::try_from(tag).or_else(|_| cursor.wrong(format!("tag {tag} has more than 32 bits")))
}

#[inline]
fn read_message(cursor: &mut Cursor, known: &Known) -> Result<Envelope, Wrong> {
    let peer = read_rank(cursor, known)?;
    let tag = cursor.signed()?;
    let tag = read_tag(cursor, tag)?;
    let communicator = read_communicator(cursor, known)?;
    Ok(Envelope { peer, tag, communicator, bytes: cursor.number()? })
}

#[inline]
pub(super) fn read_receive(cursor: &mut Cursor, known: &Known, has_taken: bool) -> Result<Receive, Wrong> {
    let from = read_rank_or_all(cursor, known)?;
    let tag = match cursor.number()?.checked_sub(1) {
        Some(tag) => Some(read_tag(cursor, i64::try_from(tag).unwrap_or(i64::MAX))?),
        None => None,
    };
    let communicator = read_communicator(cursor, known)?;
    let bytes = cursor.number()?;
    let taken = if has_taken { Some(read_message(cursor, known)?) } else { None };
    Ok(Receive { from, tag, communicator, bytes, taken })
}

/// Reads a call that may have a request. If it `is_over`, a blocking receive says what it took.
#[inline]
pub(super) fn read_post(
    code: u8,
    cursor: &mut Cursor,
    known: &mut Known,
    is_over: bool,
) -> Result<MpiCallKind, Wrong> {
    Ok(match code {
        code::SEND..=code::LAST_SEND => {
            let mode = match (code - code::SEND) / 2 {
                0 => SendMode::Standard,
                1 => SendMode::Buffered,
                2 => SendMode::Synchronous,
                _ => SendMode::Ready,
            };
            let message = read_message(cursor, known)?;
            MpiCallKind::Send { mode, message, request: (code % 2 == 1).then(|| known.requests.add()) }
        }
        code::RECV | code::RECV_REQUEST => {
            let receive = read_receive(cursor, known, is_over && code == code::RECV)?;
            MpiCallKind::Recv { receive, request: (code == code::RECV_REQUEST).then(|| known.requests.add()) }
        }
        code::SENDRECV | code::SENDRECV_REQUEST => {
            let sides = cursor.byte()?;
            let message = if sides & 1 != 0 { Some(read_message(cursor, known)?) } else { None };
            let receive = match sides & 2 {
                0 => None,
                _ => Some(read_receive(cursor, known, is_over && code == code::SENDRECV)?),
            };
            let request = (code == code::SENDRECV_REQUEST).then(|| known.requests.add());
            MpiCallKind::SendRecv { message, receive, request }
        }
        code::COLLECTIVE | code::COLLECTIVE_REQUEST => read_collective(code, cursor, known)?,
        code::PUT..=code::IN_ORDER => MpiCallKind::OneSided(read_one_sided(code, cursor, known)?),
        code => return cursor.wrong(format!("there is no record of code {code}")),
    })
}

fn read_one_sided(code: u8, cursor: &mut Cursor, known: &mut Known) -> Result<OneSided, Wrong> {
    Ok(match code {
        code::PUT => OneSided::Put { to: read_rank(cursor, known)?, bytes: cursor.number()? },
        code::GET | code::GET_REQUEST => OneSided::Get {
            to: read_rank(cursor, known)?,
            bytes: cursor.number()?,
            back: cursor.number()?,
            request: (code == code::GET_REQUEST).then(|| known.requests.add()),
        },
        code::FLUSH => {
            OneSided::Flush { to: read_rank_or_all(cursor, known)?, is_local: cursor.byte()? != 0 }
        }
        code::FENCE => OneSided::Fence { window: read_communicator(cursor, known)? },
        code::LOCK | code::UNLOCK => {
            let (window, to) = (read_communicator(cursor, known)?, read_rank_or_all(cursor, known)?);
            match cursor.byte()? {
                _ if code == code::UNLOCK => OneSided::Unlock { window, to },
                exclusive => OneSided::Lock { window, to, is_exclusive: exclusive != 0 },
            }
        }
        _ => OneSided::InOrder,
    })
}

const COLLECTIVES: [CollectiveKind; 22] = [
    CollectiveKind::Barrier,
    CollectiveKind::Bcast,
    CollectiveKind::Reduce,
    CollectiveKind::Allreduce,
    CollectiveKind::Scan,
    CollectiveKind::Exscan,
    CollectiveKind::Gather,
    CollectiveKind::Gatherv,
    CollectiveKind::Scatter,
    CollectiveKind::Scatterv,
    CollectiveKind::Allgather,
    CollectiveKind::Allgatherv,
    CollectiveKind::Alltoall,
    CollectiveKind::Alltoallv,
    CollectiveKind::Alltoallw,
    CollectiveKind::ReduceScatter,
    CollectiveKind::ReduceScatterBlock,
    CollectiveKind::NeighborAllgather,
    CollectiveKind::NeighborAllgatherv,
    CollectiveKind::NeighborAlltoall,
    CollectiveKind::NeighborAlltoallv,
    CollectiveKind::NeighborAlltoallw,
];

fn read_collective(code: u8, cursor: &mut Cursor, known: &mut Known) -> Result<MpiCallKind, Wrong> {
    let number = cursor.byte()?;
    let Some(&kind) = COLLECTIVES.get(usize::from(number)) else {
        return cursor.wrong(format!("there is no collective of number {number}"));
    };
    let communicator = read_communicator(cursor, known)?;
    let with = &known.communicators[communicator as usize];
    let peers = with.remote.as_ref().unwrap_or(&with.members).len();
    let root = match cursor.small()? {
        0 => Root::None,
        1 => Root::This,
        2 => Root::Nobody,
        root if ((root - 3) as usize) < peers => Root::Rank(root - 3),
        root => return cursor.wrong(format!("root {} is not among {peers} ranks", root - 3)),
    };
    use CollectiveKind::*;
    let is_of_neighbours = matches!(
        kind,
        NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw
    );
    let (to, from) = match (kind, is_of_neighbours) {
        (_, true) => (with.destinations.len(), with.sources.len()),
        (ReduceScatter, _) => (with.members.len(), peers),
        _ => (peers, peers),
    };
    let (sent, received) = (read_counts(cursor, to)?, read_counts(cursor, from)?);
    let request = (code == code::COLLECTIVE_REQUEST).then(|| known.requests.add());
    Ok(MpiCallKind::Collective { kind, communicator, root, sent, received, request })
}

pub(super) fn read_start_of_collective(cursor: &mut Cursor, known: &mut Known) -> Result<MpiCallKind, Wrong> {
    let made = cursor.number()?;
    match cursor.byte()? {
        code @ code::COLLECTIVE_REQUEST => {
            let collective = Box::new(read_collective(code, cursor, known)?);
            Ok(MpiCallKind::StartCollective { made, collective })
        }
        code => cursor.wrong(format!("{code} is no persistent collective")),
    }
}

fn read_counts(cursor: &mut Cursor, peers: usize) -> Result<Counts, Wrong> {
    if let Some(same) = cursor.number()?.checked_sub(1) {
        return Ok(Counts::Same(same));
    }
    let length = cursor.length()?;
    if length != peers {
        return cursor.wrong(format!("{length} counts are for {peers} ranks"));
    }
    let mut counts = Vec::with_capacity(length);
    for _ in 0..length {
        counts.push(cursor.number()?);
    }
    Ok(Counts::Each(counts))
}

fn read_completed(cursor: &mut Cursor, known: &mut Known) -> Result<Vec<Completed>, Wrong> {
    let length = cursor.length()?;
    // Each of them was a record before, so that more than these cannot be.
    let mut requests = Vec::with_capacity(length.min(64));
    for _ in 0..length {
        let word = cursor.number()?;
        let Some(request) = known.requests.take(word >> 2) else {
            return no_request(cursor, known, word >> 2);
        };
        let taken = if word & 1 != 0 { Some(read_message(cursor, known)?) } else { None };
        requests.push(Completed { request, taken, is_cancelled: word & 2 != 0 });
    }
    Ok(requests)
}
