//! The calls of a running program, which its ranks post before they are done: what the recorder writes in its second
//! mode, by the same encoders.

use std::sync::Arc;

use super::access::read_end;
pub use super::access::{Access, AccessEnd, AccessKind, Guard};
use super::bytes::{Cursor, Wrong};
use super::known::Known;
pub use super::signature::Signature;

use super::record::{
    code, read_communicator, read_definition, read_post, read_ranks, read_receive, read_start_of_collective,
    wait_form,
};
use crate::call::{Communicator, MpiCallKind, Receive, RequestId, WaitForm};

/// The codes of calls that no recording has.
mod posted {
    pub(super) const SIGNATURE: u8 = 9;
    pub(super) const MPROBE: u8 = 48;
    pub(super) const IMPROBE: u8 = 49;
    pub(super) const MRECV: u8 = 50;
    pub(super) const MRECV_REQUEST: u8 = 51;
    pub(super) const CANCEL: u8 = 53;
    pub(super) const ABORT: u8 = 54;
    pub(super) const CLOCK: u8 = 55;
    pub(super) const REFUSED: u8 = 56;
    pub(super) const GET_STATUS: u8 = 57;
    pub(super) const EXITED: u8 = 58;
    pub(super) const FINDING: u8 = 59;
    pub(super) const IDUP: u8 = 60;
    pub(super) const LEFT: u8 = 61;
    pub(super) const ON_FILE: u8 = 62;
    pub(super) const AT_FILE: u8 = 63;
    pub(super) const ACCESS: u8 = 80;
    pub(super) const ACCESS_END: u8 = 81;
    pub(super) const NOTE: u8 = 82;
}

/// A call that a rank is about to make.
#[derive(Clone, Debug)]
pub struct Post {
    /// The time that the rank has computed since its call before.
    pub work_ns: u64,
    /// The number of the place from which it calls.
    pub place: u32,
    pub kind: PostKind,
    /// What a checked program's calls are about.
    pub types: Types,
}

/// Of which types the data of a call are, and by which operation they are combined: a number that is the same on all ranks, and 0
/// if it is not known. Only the ranks of a checked program say them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Types {
    pub sent: Signature,
    pub received: Signature,
    pub operation: u64,
}

/// What a rank is about to do.
#[derive(Clone, Debug)]
pub enum PostKind {
    /// A send, a receive, both, a start or a collective. It has taken nothing yet.
    Call(MpiCallKind),
    /// A wait or a test of requests, of which some may be null.
    Wait {
        form: WaitForm,
        requests: Vec<Option<RequestId>>,
    },
    /// A look at a request, which completes nothing.
    GetStatus(Option<RequestId>),
    Probe {
        receive: Receive,
        is_wait: bool,
        is_matched: bool,
    },
    /// The receive of a message that a matched probe found.
    ReceiveMatched {
        message: u64,
        request: Option<RequestId>,
    },
    /// A call that ranks make together, such as one that makes a communicator. `of` are those that take part, if not all of the
    /// parent; each gives so many bytes to all.
    Together {
        parent: u32,
        of: Option<Vec<u32>>,
        bytes: usize,
    },
    /// A call on a file that its ranks make together: its name, and how many bytes each gives to all.
    OnFile {
        communicator: u32,
        name: String,
        bytes: usize,
    },
    /// A call that reaches for a file once all that other ranks do before is done: its name, and whether it may find something else
    /// where another rank comes first.
    AtFile {
        name: String,
        depends: bool,
    },
    /// An immediate duplicate of a communicator.
    Duplicate {
        parent: u32,
        request: RequestId,
    },
    /// A look at requests that were freed before they were complete, for what has come of them.
    Left(Vec<Option<RequestId>>),
    Forget(RequestId),
    Cancel(RequestId),
    /// A look at the clock.
    Clock,
    Finalize,
    Abort(i64),
    /// A call that an emulated program cannot make, and why.
    Refused(String),
    /// The process has ended before it called `MPI_Finalize`.
    Exited,
    /// What a checked rank has found at itself: its kind, and a sentence.
    Finding(String, String),
    /// The same, of what does not end the run.
    Note(String, String),
    /// A checked rank reaches for a window.
    Access(Access),
    /// Accesses end: of which window, of which rank's memory if not of all, and which.
    AccessEnd(u32, Option<u32>, AccessEnd),
}

/// A place in a program: its module, and the address in the module.
pub type Address = (String, u64);

/// Reads what a rank posts.
pub struct PostReader {
    known: Known,
    has_types: bool,
    /// The signatures that the rank has named, the first of which says nothing.
    signatures: Vec<Signature>,
}

impl PostReader {
    /// Creates a reader for a rank of a program of so many. The ranks of a checked program say of which types data are.
    pub fn new(ranks: u32, has_types: bool) -> PostReader {
        PostReader {
            known: Known::new(ranks, Arc::default()),
            has_types,
            signatures: vec![Signature::default()],
        }
    }

    /// Returns the communicators that the rank has named so far, by their numbers.
    pub fn communicators(&self) -> &[Communicator] {
        &self.known.communicators
    }

    /// Returns where a place is.
    pub fn address(&self, place: u32) -> Address {
        self.known.addresses.get(place as usize).cloned().unwrap_or_default()
    }

    /// Reads posts, one after another. An error is a sentence.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Vec<Post>, String> {
        let mut cursor = Cursor::new(bytes);
        let mut posts = Vec::new();
        while !cursor.is_at_end() {
            match self.read_one(&mut cursor) {
                Ok(post) => posts.extend(post),
                Err(Wrong { at, what }) => {
                    return Err(format!("{what}, at byte {at} of what the rank posted"));
                }
            }
        }
        Ok(posts)
    }

    fn read_one(&mut self, cursor: &mut Cursor) -> Result<Option<Post>, Wrong> {
        let (code, known) = (cursor.byte()?, &mut self.known);
        if code == posted::SIGNATURE {
            self.signatures.push(Signature::read(cursor)?);
            return Ok(None);
        }
        if code < code::SEND && code != code::FINALIZE {
            read_definition(code, cursor, known)?;
            return Ok(None);
        }
        let (work_ns, place) = (cursor.number()?, cursor.small()?);
        let kind = match code {
            code::FINALIZE => PostKind::Finalize,
            code::START => {
                let code = cursor.byte()?;
                PostKind::Call(MpiCallKind::Start(vec![read_post(code, cursor, known, false)?]))
            }
            code::START_COLLECTIVE => PostKind::Call(read_start_of_collective(cursor, known)?),
            code::PROBE | code::IPROBE | posted::MPROBE | posted::IMPROBE => PostKind::Probe {
                receive: read_receive(cursor, known, false)?,
                is_wait: matches!(code, code::PROBE | posted::MPROBE),
                is_matched: matches!(code, posted::MPROBE | posted::IMPROBE),
            },
            posted::MRECV | posted::MRECV_REQUEST => {
                let (message, _most) = (cursor.number()?, cursor.number()?);
                let request = (code == posted::MRECV_REQUEST).then(|| known.requests.add());
                PostKind::ReceiveMatched { message, request }
            }
            code::NEW_COMMUNICATOR => {
                let parent = read_communicator(cursor, known)?;
                let of = if cursor.byte()? != 0 { Some(read_ranks(cursor, known)?) } else { None };
                PostKind::Together { parent, of, bytes: cursor.small()? as usize }
            }
            posted::ON_FILE => PostKind::OnFile {
                communicator: read_communicator(cursor, known)?,
                name: cursor.text()?.into_owned(),
                bytes: cursor.small()? as usize,
            },
            posted::AT_FILE => {
                PostKind::AtFile { name: cursor.text()?.into_owned(), depends: cursor.byte()? != 0 }
            }
            code::FORGET => PostKind::Forget(read_request(cursor, known)?),
            posted::CANCEL => PostKind::Cancel(read_request(cursor, known)?),
            posted::ABORT => PostKind::Abort(cursor.signed()?),
            posted::CLOCK => PostKind::Clock,
            posted::REFUSED => PostKind::Refused(cursor.text()?.into_owned()),
            posted::EXITED => PostKind::Exited,
            posted::FINDING => {
                let kind = cursor.text()?.into_owned();
                PostKind::Finding(kind, cursor.text()?.into_owned())
            }
            posted::NOTE => {
                let kind = cursor.text()?.into_owned();
                PostKind::Note(kind, cursor.text()?.into_owned())
            }
            posted::ACCESS => PostKind::Access(Access::read(cursor, known)?),
            posted::ACCESS_END => {
                let (window, of, which) = read_end(cursor, known)?;
                PostKind::AccessEnd(window, of, which)
            }
            posted::IDUP => PostKind::Duplicate {
                parent: read_communicator(cursor, known)?,
                request: known.requests.add(),
            },
            posted::LEFT => PostKind::Left(read_requests(cursor, known)?),
            posted::GET_STATUS => PostKind::GetStatus(read_requests(cursor, known)?.pop().flatten()),
            code => match wait_form(code) {
                Some(form) => PostKind::Wait { form, requests: read_requests(cursor, known)? },
                None => PostKind::Call(read_post(code, cursor, known, false)?),
            },
        };
        let types = match &kind {
            PostKind::Call(call) if self.has_types => read_types(cursor, &self.signatures, call)?,
            _ => Types::default(),
        };
        Ok(Some(Post { work_ns, place, kind, types }))
    }
}

fn read_types(cursor: &mut Cursor, signatures: &[Signature], call: &MpiCallKind) -> Result<Types, Wrong> {
    let (has_sent, has_received, has_operation) = match call {
        MpiCallKind::Send { .. } => (true, false, false),
        MpiCallKind::Recv { .. } => (false, true, false),
        MpiCallKind::SendRecv { message, receive, .. } => (message.is_some(), receive.is_some(), false),
        MpiCallKind::Collective { .. } => (true, true, true),
        MpiCallKind::Start(calls) => {
            let read = |call| read_types(cursor, signatures, call);
            return calls.first().map_or(Ok(Types::default()), read);
        }
        MpiCallKind::StartCollective { collective, .. } => return read_types(cursor, signatures, collective),
        _ => return Ok(Types::default()),
    };
    let mut signature = |is_there: bool| {
        let number = if is_there { cursor.small()? } else { 0 };
        match signatures.get(number as usize) {
            Some(signature) => Ok(signature.clone()),
            None => cursor.wrong(format!("types of number {number} have not been named")),
        }
    };
    let (sent, received) = (signature(has_sent)?, signature(has_received)?);
    Ok(Types { sent, received, operation: if has_operation { cursor.number()? } else { 0 } })
}

fn read_requests(cursor: &mut Cursor, known: &Known) -> Result<Vec<Option<RequestId>>, Wrong> {
    let length = cursor.length()?;
    (0..length).map(|_| read_null_or_request(cursor, known)).collect()
}

fn read_request(cursor: &mut Cursor, known: &Known) -> Result<RequestId, Wrong> {
    match read_null_or_request(cursor, known)? {
        Some(request) => Ok(request),
        None => cursor.wrong("a request is null"),
    }
}

fn read_null_or_request(cursor: &mut Cursor, known: &Known) -> Result<Option<RequestId>, Wrong> {
    match cursor.number()? {
        0 => Ok(None),
        distance => match known.requests.next.checked_sub(distance) {
            Some(request) => Ok(Some(request)),
            None => cursor.wrong("a request was posted before all requests"),
        },
    }
}
