//! Reads the lines of one rank.

use rustc_hash::FxHashMap;

use super::communicators::{Made, Named, Names, WORLD};
use super::ends::EndReader;
use super::line::{Handle, MpiLine};
use super::requests::{RequestsByAddress, completed};
use super::shape::{self, Amounts, CallShape, CollectiveShape, shape};
use super::{MpiLibrary, ReadingNotes, Stop, Unread};
use crate::call::{
    CollectiveKind, Communicator, Counts, Envelope, MpiCall, MpiCallKind, RankCalls, Receive, RequestId,
    Root, SendMode, WaitForm,
};

/// The reader of one rank's trace.
pub(super) struct AllprofReader {
    id: usize,
    /// The number of ranks.
    P: usize,
    mpi: MpiLibrary,
    requests: RequestsByAddress,
    names: Names,
    /// The communicators of the rank in `RankCalls`, by their numbers among all.
    known: FxHashMap<usize, u32>,
    /// The number of communicators that the rank made.
    made: usize,
    /// The end of the last call, and whether there was a call.
    last: Option<i64>,
    /// True after `MPI_Finalize`.
    ended: bool,
}

/// A call that can be read, or the reason why it cannot.
type Kind = Result<MpiCallKind, Unreadable>;

/// The reason why a call cannot be read, and counts as computing if it is skipped.
struct Unreadable(String);

impl AllprofReader {
    pub(super) fn new(id: usize, P: usize, mpi: MpiLibrary) -> AllprofReader {
        AllprofReader {
            id,
            P,
            mpi,
            requests: RequestsByAddress::default(),
            names: Names::new(id, P),
            known: FxHashMap::from_iter([(WORLD, 0)]),
            made: 0,
            last: None,
            ended: false,
        }
    }

    /// Returns whether the trace had its end.
    pub(super) fn is_whole(&self) -> bool {
        self.ended
    }

    /// Returns whether a communicator's name could be that of several.
    pub(super) fn has_guessed_names(&self) -> bool {
        self.names.is_guessed
    }

    /// Reads a line, which has a number.
    pub(super) fn read_line(
        &mut self,
        (line, number): (&[u8], u64),
        calls: &mut RankCalls,
        made: Option<&[Option<Made>]>,
        notes: &mut ReadingNotes,
    ) -> Result<(), Stop> {
        let Some(call) = MpiLine::split(line)? else { return Ok(()) };
        if self.ended {
            return Err("a call comes after MPI_Finalize; give the trace of one run".to_string().into());
        }
        let shape = shape(call.name_bytes());
        if self.is_timeless(&call, shape, calls, notes)? {
            return Ok(());
        }
        if matches!(shape, CallShape::NewCommunicator { .. }) && made.is_none() {
            return Err(Stop::NeedsCommunicators);
        }
        let begin = call.moment(0)?;
        if self.last.is_some_and(|last| begin < last) {
            return Err("the call begins before the last one ended".to_string().into());
        }
        if self.last.is_none() {
            calls.begin = begin;
        }
        if let CallShape::End = shape {
            (self.ended, calls.end) = (true, begin);
            return Ok(());
        }
        let end = call.end()?;
        if end < begin {
            return Err(format!("{} ends before it begins", call.name()).into());
        }
        match self.read_call(&call, shape, calls, made, notes)? {
            Ok(kind) => {
                calls.calls.push(MpiCall { begin, end, place: 0, thread: 0, kind });
                (self.last, calls.end) = (Some(end), end);
            }
            Err(Unreadable(what)) => {
                self.last = Some(self.last.unwrap_or(begin));
                match notes.unread.iter_mut().find(|other| other.what == what) {
                    Some(other) => other.count += 1,
                    None => {
                        let (name, rank) = (call.name().into(), self.id);
                        notes.unread.push(Unread { name, what, rank, line: number, count: 1 });
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads a call of which the times do not matter. Returns whether it is such a call.
    fn is_timeless(
        &mut self,
        call: &MpiLine,
        shape: CallShape,
        calls: &mut RankCalls,
        notes: &mut ReadingNotes,
    ) -> Result<bool, Stop> {
        match shape {
            CallShape::Local => {
                let name = call.name();
                let is_test = name.starts_with("MPI_Test") && name != "MPI_Test_cancelled";
                notes.looks += u64::from(is_test || name == "MPI_Iprobe");
            }
            CallShape::Begin => {
                let end = call.end()?;
                if call.begin()?.is_some_and(|begin| end < begin) {
                    return Err(format!("{} ends before it begins", call.name()).into());
                }
                (self.last, calls.begin, calls.end) = (Some(end), end, end);
            }
            CallShape::Names(index) => {
                // A communicator gets its name early if the rank asks for its own number in the communicator.
                if let Ok(handle) = call.handle(index)
                    && handle.size <= self.P
                {
                    let _ = self.communicator(call, handle, calls)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a call of which the times are read.
    fn read_call(
        &mut self,
        call: &MpiLine,
        shape: CallShape,
        calls: &mut RankCalls,
        made: Option<&[Option<Made>]>,
        notes: &mut ReadingNotes,
    ) -> Result<Kind, String> {
        let communicator = match shape.communicator().map(|index| call.handle(index)).transpose()? {
            None => 0,
            Some(handle) => match self.communicator(call, handle, calls)? {
                Ok(communicator) => communicator,
                Err(why) => return Ok(Err(why)),
            },
        };
        let members = &calls.communicators[communicator as usize].members;
        let ends = EndReader { call, communicator, members, any_source: self.mpi.any_source() };
        let kind = match shape {
            CallShape::Send { .. }
            | CallShape::Recv { .. }
            | CallShape::SendRecv
            | CallShape::SendRecvReplace
            | CallShape::Init { .. }
            | CallShape::Probe => self.messages(&ends, shape)?,
            CallShape::Start | CallShape::StartAll | CallShape::Wait(_) | CallShape::Forget => {
                self.old_requests(call, shape, notes)?
            }
            CallShape::Collective(shape) => self.collective(call, shape, communicator, members)?,
            CallShape::NewCommunicator { .. } => {
                let new = made.and_then(|made| made.get(self.made)).cloned().flatten();
                self.made += 1;
                let new = new.map(|made| self.add_made(made, communicator, calls));
                MpiCallKind::NewCommunicator { parent: communicator, new }
            }
            _ => {
                return Ok(Err(Unreadable(format!(
                    "{} cannot be read; calls that can are sends, receives, probes, persistent requests, waits, \
                     collectives, communicators from Comm_dup and Comm_split, and those that send nothing",
                    call.name()
                ))));
            }
        };
        Ok(Ok(kind))
    }

    /// Reads a call that sends, receives or waits for a message.
    fn messages(&mut self, ends: &EndReader, shape: CallShape) -> Result<MpiCallKind, String> {
        let address = || ends.call.natural(7, "a request");
        Ok(match shape {
            CallShape::Send { is_immediate, mode } => {
                let message = ends.send(2, 4)?;
                let request = self.new_request(ends.call, is_immediate, message.is_some())?;
                let mode = send_mode(mode);
                message.map_or_else(nothing, |message| MpiCallKind::Send { mode, message, request })
            }
            CallShape::Recv { is_immediate } => {
                let receive = ends.receive(2, 4)?;
                let request = self.new_request(ends.call, is_immediate, receive.is_some())?;
                receive.map_or_else(nothing, |receive| MpiCallKind::Recv { receive, request })
            }
            CallShape::SendRecv => {
                let (message, receive) = (ends.send(2, 4)?, ends.receive(7, 9)?);
                MpiCallKind::SendRecv { message, receive, request: None }
            }
            CallShape::SendRecvReplace => {
                let (message, receive) = (ends.send(2, 4)?, ends.receive(2, 6)?);
                MpiCallKind::SendRecv { message, receive, request: None }
            }
            CallShape::Init { mode } => {
                let kind = match mode {
                    Some(mode) => ends.send(2, 4)?.map(|message| MpiCallKind::Send {
                        mode: send_mode(mode),
                        message,
                        request: None,
                    }),
                    None => ends.receive(2, 4)?.map(|receive| MpiCallKind::Recv { receive, request: None }),
                };
                self.requests.keep(address()?, kind);
                nothing()
            }
            _ => match ends.receive_of(1, 0)? {
                Some(Receive { from: Some(peer), tag: Some(tag), communicator, .. }) => {
                    let message = Envelope { peer, tag, communicator, bytes: 0 };
                    MpiCallKind::Probe { is_wait: true, message }
                }
                // The receive that follows waits for the message.
                _ => nothing(),
            },
        })
    }

    /// Returns the request of an immediate call, which has none if it sends or receives nothing.
    fn new_request(
        &mut self,
        call: &MpiLine,
        is_immediate: bool,
        has_message: bool,
    ) -> Result<Option<RequestId>, String> {
        if !is_immediate {
            return Ok(None);
        }
        let address = call.natural(7, "a request")?;
        if has_message {
            return Ok(Some(self.requests.start(address)));
        }
        self.requests.clear(address);
        Ok(None)
    }

    /// Reads a call that starts, completes or forgets requests.
    fn old_requests(
        &mut self,
        call: &MpiLine,
        shape: CallShape,
        notes: &mut ReadingNotes,
    ) -> Result<MpiCallKind, String> {
        let (address, size) = (|index| call.natural(index, "a request"), self.mpi.request_size());
        let wait = |form: WaitForm, requests: Vec<RequestId>| MpiCallKind::Complete {
            form,
            requests: requests.into_iter().map(completed).collect(),
        };
        Ok(match shape {
            CallShape::Start => MpiCallKind::Start(self.requests.restart(address(1)?).into_iter().collect()),
            CallShape::StartAll => {
                let (count, first) = (call.natural(1, "a count")?, address(2)?);
                MpiCallKind::Start(self.requests.restart_all(first, count, size))
            }
            CallShape::Wait(WaitForm::Wait) => {
                wait(WaitForm::Wait, self.requests.complete(address(1)?).into_iter().collect())
            }
            CallShape::Wait(form) => {
                let (count, first) = (call.natural(1, "a count")?, address(2)?);
                let mut under_way = self.requests.under_way(first, count, size);
                if form != WaitForm::Waitall {
                    notes.guessed_waits += u64::from(under_way.len() > 1);
                    under_way =
                        under_way.into_iter().min_by_key(|(_, request)| *request).into_iter().collect();
                }
                let requests = under_way.into_iter();
                wait(form, requests.filter_map(|(address, _)| self.requests.complete(address)).collect())
            }
            _ => self.requests.forget(address(1)?).map_or_else(nothing, MpiCallKind::Forget),
        })
    }

    /// Adds a communicator that the rank made.
    fn add_made(&mut self, made: Made, parent: u32, calls: &mut RankCalls) -> u32 {
        let number = calls.communicators.len() as u32;
        let members = made.members.to_vec();
        let number_at_parent = made.number_at_parent;
        calls.communicators.push(Communicator {
            members,
            parent,
            number_at_parent,
            ..Communicator::default()
        });
        self.known.insert(made.number, number);
        self.names.add(made);
        number
    }

    /// Returns the number of a communicator in `RankCalls`, or why it has none.
    #[inline]
    fn communicator(
        &mut self,
        call: &MpiLine,
        handle: Handle,
        calls: &mut RankCalls,
    ) -> Result<Result<u32, Unreadable>, String> {
        match self.names.find(handle) {
            Some(number) => Ok(Ok(number as u32)),
            None => self.new_communicator(call, handle, calls),
        }
    }

    #[cold]
    fn new_communicator(
        &mut self,
        call: &MpiLine,
        handle: Handle,
        calls: &mut RankCalls,
    ) -> Result<Result<u32, Unreadable>, String> {
        let (name, Handle { rank, size, .. }, P) = (call.name(), handle, self.P);
        if size > P {
            return Err(format!(
                "{name} is on a communicator of {size} ranks, and there are {P}; give the traces of all"
            ));
        }
        let number = match self.names.resolve(handle) {
            Named::World => 0,
            Named::New(made) => self.known[&made.number],
            Named::Alone => {
                let number = calls.communicators.len() as u32;
                let members = vec![self.id as u32];
                calls.communicators.push(Communicator { members, ..Communicator::default() });
                number
            }
            Named::Unknown => {
                let known =
                    "only those of all ranks in their order, and those of Comm_dup and Comm_split, are known";
                return Ok(Err(Unreadable(if size == P {
                    format!("{name} is on a communicator in which this is rank {rank}; {known}")
                } else {
                    format!("{name} is on a communicator of {size} ranks, and there are {P}; {known}")
                })));
            }
        };
        self.names.set(handle, number as usize);
        Ok(Ok(number))
    }

    /// Reads a collective.
    fn collective(
        &mut self,
        call: &MpiLine,
        shape: CollectiveShape,
        communicator: u32,
        members: &[u32],
    ) -> Result<MpiCallKind, String> {
        let root = match shape.root.map(|index| call.number(index, "a rank")).transpose()? {
            None => Root::None,
            Some(root) if (0..members.len() as i64).contains(&root) => Root::Rank(root as u32),
            Some(_) => return Err(format!("{}: its root is no rank", call.name())),
        };
        let me = call.handle(shape.communicator)?.rank;
        // Only the root knows what others send or receive.
        let is_root = !matches!(root, Root::Rank(root) if root as usize != me);
        let counts = |amounts: Amounts| match amounts {
            Amounts::Nothing => Ok(Counts::Same(0)),
            Amounts::Same(count) => call.bytes(count).map(Counts::Same),
            Amounts::Each(counts, datatype) => {
                call.all_bytes(counts, datatype, members.len()).map(Counts::Each)
            }
            Amounts::Own(counts, datatype) => {
                let all = call.all_bytes(counts, datatype, members.len())?;
                Ok(Counts::Same(all.get(me).copied().unwrap_or_default()))
            }
        };
        let (sent, received) = match shape.kind {
            CollectiveKind::Gather | CollectiveKind::Gatherv if !is_root => {
                (counts(shape.sent)?, Counts::Same(0))
            }
            CollectiveKind::Scatter | CollectiveKind::Scatterv if !is_root => {
                (Counts::Same(0), counts(shape.received)?)
            }
            _ => (counts(shape.sent)?, counts(shape.received)?),
        };
        let request = match shape.is_immediate {
            true => Some(self.requests.start(call.natural(shape.communicator + 1, "a request")?)),
            false => None,
        };
        Ok(MpiCallKind::Collective { kind: shape.kind, communicator, root, sent, received, request })
    }
}

/// Returns a call that does nothing.
fn nothing() -> MpiCallKind {
    MpiCallKind::Complete { form: WaitForm::Wait, requests: Vec::new() }
}

fn send_mode(mode: u8) -> SendMode {
    match mode {
        shape::BUFFERED => SendMode::Buffered,
        shape::SYNCHRONOUS => SendMode::Synchronous,
        shape::READY => SendMode::Ready,
        _ => SendMode::Standard,
    }
}
