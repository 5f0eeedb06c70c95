//! How a small file is read back: byte for byte, with what is wrong and where.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use super::{LONGEST_NAME, MAGIC, Memory, called, did, head, passage, unzigzag};
use crate::message::MessageId;
use crate::time::Time;
use crate::trace::{
    Activity, ActivityKind, Call, CallKind, CallTag, Message, Progress, Rendezvous, SendRecv, Trace,
    TraceError, Transfer, Until, chrome,
};

/// Reads a trace that [`Trace::write_compact`] wrote.
///
/// The lists grow while events come, whatever number of them the file announces. An event takes two bytes at least; so what
/// is read is never more than some hundred times as long as the file.
pub fn read(input: impl Read) -> Result<Trace, TraceError> {
    let mut reader = Reader { input, at: 0, memory: Memory::new(), names: Vec::new(), tags: Vec::new() };
    reader.trace().map_err(|why| TraceError::new(format_args!("at byte {}: {why}", reader.at)))
}

/// Reads, and remembers what it read.
struct Reader<R: Read> {
    /// What it reads from, which should not be slow with single bytes.
    input: R,
    /// How many bytes it has read.
    at: u64,
    /// What came before.
    memory: Memory,
    /// The names that came before, in the order in which they came.
    names: Vec<String>,
    /// The tags that came before.
    tags: Vec<CallTag>,
}

type Result<T, E = String> = std::result::Result<T, E>;

impl<R: Read> Reader<R> {
    fn trace(&mut self) -> Result<Trace> {
        for expected in MAGIC {
            if self.byte()? != *expected {
                let text = String::from_utf8_lossy(MAGIC);
                return Err(format!("it begins like a compact trace, and not with {:?}", text.trim_end()));
            }
        }
        let mut trace = chrome::machine_of(&self.text()?)?;
        for _ in 0..self.number()? {
            let activity = self.activity()?;
            trace.activities.push(activity);
        }
        self.memory = Memory::new();
        for _ in 0..self.number()? {
            let progress = self.progress()?;
            trace.progress.push(progress);
        }
        self.memory = Memory::new();
        for _ in 0..self.number()? {
            let message = self.message(trace.params.L)?;
            trace.messages.push(message);
        }
        self.memory = Memory::new();
        for _ in 0..self.number()? {
            let call = self.call()?;
            trace.calls.push(call);
        }
        match self.input.read(&mut [0]) {
            Ok(0) => Ok(trace),
            Ok(_) => Err("the trace is over, and the file goes on".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => "the file ends in the middle of the trace".into(),
            _ => error.to_string(),
        })?;
        self.at += 1;
        Ok(byte[0])
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                break;
            }
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number is longer than 64 bits".into())
    }

    /// A number that counts things of this machine, or names one.
    fn count(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| "a number is too large for this computer".into())
    }

    fn more(&mut self, than: usize) -> Result<usize> {
        Ok(than.wrapping_add(unzigzag(self.number()?) as usize))
    }

    fn later(&mut self, than: Time) -> Result<Time> {
        let byte = self.byte()?;
        let code = if byte < 0x80 {
            let lately = self.memory.times[usize::from(byte)];
            lately.ok_or("a time is said to be one that was there before, and was not")?
        } else {
            let rest = if byte & 0x40 != 0 { self.number()? } else { 0 };
            if rest > u64::MAX >> 6 {
                return Err("a time is longer than 64 bits".into());
            }
            let code = rest << 6 | u64::from(byte & 0x3F);
            self.memory.times[Memory::place(code)] = Some(code);
            code
        };
        Ok(Time::from_ps(than.as_ps().wrapping_add(unzigzag(code))))
    }

    fn text(&mut self) -> Result<String> {
        let length = self.number()?;
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(length).read_to_end(&mut bytes);
        let read = read.map_err(|error| error.to_string())?;
        self.at += read as u64;
        if read as u64 != length {
            return Err(format!("a text is said to have {length} bytes, and the file ends"));
        }
        String::from_utf8(bytes).map_err(|_| "a text is not in UTF-8".into())
    }

    fn name(&mut self) -> Result<Cow<'static, str>> {
        let number = self.count()?;
        let Some(place) = number.checked_sub(1) else {
            let name = self.text()?;
            if name.len() <= LONGEST_NAME {
                self.names.push(name.clone());
            }
            return Ok(name.into());
        };
        let name = self.names.get(place).ok_or_else(|| format!("there is no name {number}"))?;
        Ok(name.clone().into())
    }

    fn tag(&mut self) -> Result<CallTag> {
        let number = self.count()?;
        let Some(place) = number.checked_sub(1) else {
            let number = self.memory.tag.wrapping_add(unzigzag(self.number()?) as u64);
            self.memory.tag = number;
            let name = if self.flag()? { Some(self.name()?) } else { None };
            let tag = CallTag { number, name };
            if tag.name.as_ref().is_none_or(|name| name.len() <= LONGEST_NAME) {
                self.tags.push(tag.clone());
            }
            return Ok(tag);
        };
        let tag = self.tags.get(place).ok_or_else(|| format!("there is no tag {number}"))?;
        Ok(tag.clone())
    }

    fn flag(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("{other} is neither 0 nor 1")),
        }
    }

    fn id(&mut self, near: MessageId) -> Result<MessageId> {
        let from = self.more(near.from)?;
        Ok(MessageId { from, number: self.more(near.number)? })
    }

    /// What an activity or a call is, whose, from when to when.
    fn begin(&mut self) -> Result<(u8, usize, Time, Time)> {
        let bits = self.byte()?;
        if bits & !(head::KIND | head::SAME | head::AT_ONCE) != 0 {
            return Err(format!("nothing begins with {bits:#x}"));
        }
        let mut id = self.memory.id;
        if bits & head::SAME == 0 {
            self.memory.end = Time::ZERO;
            id = self.more(id)?;
        }
        let mut start = self.memory.end;
        if bits & head::AT_ONCE == 0 {
            start = self.later(start)?;
        }
        Ok((bits & head::KIND, id, start, self.later(start)?))
    }

    fn activity(&mut self) -> Result<Activity> {
        let (kind, id, start, end) = self.begin()?;
        let what = self.what(kind)?;
        self.memory.did(id, end);
        Ok(Activity { id, start, end, what })
    }

    fn progress(&mut self) -> Result<Progress> {
        let (kind, id, start, end) = self.begin()?;
        let request = self.request()?;
        let what = self.what(kind)?;
        self.memory.did(id, end);
        Ok(Progress { id, request, start, end, what })
    }

    /// A kind of activity, and what belongs to it.
    fn what(&mut self, kind: u8) -> Result<ActivityKind> {
        Ok(match kind {
            did::WORK => ActivityKind::Work(self.name()?),
            did::SEND => ActivityKind::Send(self.sent()?),
            did::RECEIVE => ActivityKind::Receive(self.got()?),
            did::GAP => ActivityKind::Gap,
            did::STALL => ActivityKind::Stall,
            did::PORT => ActivityKind::Port,
            did::IDLE => ActivityKind::Idle,
            did::BARRIER => ActivityKind::Barrier,
            did::POST => ActivityKind::Post(self.request()?),
            did::WAIT => ActivityKind::Wait(self.request()?),
            other => return Err(format!("a processor does nothing that has number {other}")),
        })
    }

    fn request(&mut self) -> Result<u32> {
        let more = i32::try_from(unzigzag(self.number()?));
        let more = more.map_err(|_| "a request's number is longer than 32 bits")?;
        self.memory.request = self.memory.request.wrapping_add(more as u32);
        Ok(self.memory.request)
    }

    fn sent(&mut self) -> Result<MessageId> {
        self.memory.sent = self.id(Memory::next(self.memory.sent))?;
        Ok(self.memory.sent)
    }

    fn got(&mut self) -> Result<MessageId> {
        self.memory.got = self.id(Memory::next(self.memory.got))?;
        Ok(self.memory.got)
    }

    fn message(&mut self, L: Time) -> Result<Message> {
        let bits = self.byte()?;
        if bits > passage::ALL {
            return Err(format!("no message begins with {bits:#x}"));
        }
        let is = |bit: u8| bits & bit != 0;
        let mut id = Memory::next(self.memory.sent);
        if !is(passage::NEXT) {
            id = self.id(id)?;
        }
        let to = self.more(self.memory.to)?;
        let words = if is(passage::ALIKE) { self.memory.length } else { self.count()? };
        let latency = if is(passage::EXACT) { L } else { self.later(L)? };
        let place = if is(passage::BY_NUMBER) { id.from } else { self.count()? };
        let enter = self.later(self.memory.enter)?;
        let free = || Time::from_ps(enter.as_ps().wrapping_add(latency.as_ps()));
        let first = if is(passage::FREE) { free() } else { self.later(enter)? };
        let arrival = if is(passage::SHORT) { first } else { self.later(first)? };
        let message = Message { id, to, words, latency, place, enter, first, arrival };
        self.memory.passed(&message);
        Ok(message)
    }

    fn call(&mut self) -> Result<Call> {
        let (kind, id, start, end) = self.begin()?;
        let what = match kind {
            called::WORK => CallKind::Work(self.name()?),
            called::WAIT_UNTIL => CallKind::WaitUntil(self.later(start)?),
            called::SEND => {
                let (to, tag, bytes) = (self.to()?, self.tag()?, self.length()?);
                CallKind::Send { to, tag, bytes, sent: self.transfer(true)? }
            }
            called::RECEIVE => {
                let (from, tag) = (self.from()?, self.tag()?);
                let code = self.byte()?;
                let until = match code & !0x10 {
                    0 => Until::Come,
                    1 => Until::Moment(self.later(start)?),
                    2 => Until::GapOver,
                    _ => return Err(format!("no receive waits like {code}")),
                };
                let got = if code & 0x10 != 0 { Some(self.transfer(false)?) } else { None };
                CallKind::Receive { from, tag, until, got }
            }
            called::SEND_RECV => {
                let to = self.to()?;
                let from = self.from()?.ok_or("a send_recv names no source")?;
                let (tag, bytes) = (self.tag()?, self.length()?);
                let (sent, got) = (self.transfer(true)?, self.transfer(false)?);
                CallKind::SendRecv(Box::new(SendRecv { to, from, tag, bytes, sent, got }))
            }
            called::PROBE => {
                let (from, tag) = (self.from()?, self.tag()?);
                CallKind::Probe { from, tag, saw: self.from()? }
            }
            called::BARRIER => CallKind::Barrier,
            called::ISEND => {
                let (request, to, tag) = (self.request()?, self.to()?, self.tag()?);
                CallKind::Isend { request, to, tag, bytes: self.length()? }
            }
            called::IRECV => {
                let (request, from) = (self.request()?, self.from()?);
                CallKind::Irecv { request, from, tag: self.tag()? }
            }
            called::WAIT_SEND | called::WAIT_RECEIVE => {
                let (request, sends) = (self.request()?, kind == called::WAIT_SEND);
                CallKind::Wait { request, sends, transfer: self.transfer(sends)? }
            }
            called::TEST => CallKind::Test { request: self.request()? },
            other => return Err(format!("a program calls nothing that has number {other}")),
        };
        self.memory.did(id, end);
        Ok(Call { id, start, end, what })
    }

    fn to(&mut self) -> Result<usize> {
        self.memory.to = self.more(self.memory.to)?;
        Ok(self.memory.to)
    }

    fn from(&mut self) -> Result<Option<usize>> {
        if !self.flag()? {
            return Ok(None);
        }
        self.memory.from = self.more(self.memory.from)?;
        Ok(Some(self.memory.from))
    }

    fn length(&mut self) -> Result<usize> {
        self.memory.length = self.more(self.memory.length)?;
        Ok(self.memory.length)
    }

    fn transfer(&mut self, sends: bool) -> Result<Transfer> {
        let has_rendezvous = self.flag()?;
        let message = if sends { self.sent()? } else { self.got()? };
        let rendezvous = if has_rendezvous {
            let (request, reply) = (self.id(message)?, self.id(message)?);
            Some(Box::new(Rendezvous { request, reply }))
        } else {
            None
        };
        Ok(Transfer { message, rendezvous })
    }
}
