//! The layout of a compact file's items. The same code writes and reads.

use std::array;
use std::borrow::Cow;
use std::io::{Error, Result};

use loggp_model::message::MessageId;
use loggp_model::time::Time;

use super::bytes::CompactFile;
use super::kinds::{KindNumber, RENDEZVOUS, TRANSFER};
use super::memory::{Dictionary, Memory};
use crate::{Activity, ActivityKind, Message, Progress};
use crate::{Call, CallKind, CallTag, Rendezvous, SendRecv, Transfer, Until};

/// A longer name is written in full each time. If one byte could refer to it, a small file could fill the
/// computer's memory.
pub(super) const LONGEST_NAME: usize = 64;

/// Writes or reads these fields in turn, each by the method with the field's name.
macro_rules! each {
    ($codec:ident: $($field:ident),*) => {{ $($codec.$field($field)?;)* }};
}

/// A codec of a compact file, which writes or reads it and remembers what the file had so far.
///
/// Each method takes the value that is next in the file. A codec that writes leaves the value as it is; one
/// that reads overwrites it with what the file has.
pub(super) struct Codec<'a> {
    pub file: CompactFile<'a>,
    /// Values of the current list's last items.
    pub memory: Memory,
    /// The names that the file had in full so far.
    names: Dictionary<Cow<'static, str>>,
    /// The tags that the file had in full so far.
    tags: Dictionary<CallTag>,
}

/// A field of the memory to which the next value of its kind refers.
type Last<T> = fn(&mut Memory) -> &mut T;

const SENT: Last<MessageId> = |memory| &mut memory.sent;
const RECEIVED: Last<MessageId> = |memory| &mut memory.received;

impl<'a> Codec<'a> {
    /// Creates a codec at the start of a file.
    pub(super) fn new(file: CompactFile<'a>) -> Codec<'a> {
        Codec { file, memory: Memory::new(), names: Dictionary::new("name"), tags: Dictionary::new("tag") }
    }

    pub(super) fn activity(&mut self, activity: &mut Activity) -> Result<()> {
        let Activity { id, start, end, kind } = activity;
        self.begin(kind, id, start, end)?;
        self.subject(kind)
    }

    pub(super) fn progress(&mut self, progress: &mut Progress) -> Result<()> {
        let Progress { id, request, start, end, kind } = progress;
        self.begin(kind, id, start, end)?;
        self.request(request)?;
        self.subject(kind)
    }

    pub(super) fn message(&mut self, message: &mut Message, L: Time) -> Result<()> {
        let next = next(self.memory.sent);
        let Message { id, to, words, latency, place, enter, first, arrival } = message;
        let are_so = [
            *id == next,
            *latency == L,
            *place == id.from,
            *first == plus(*enter, *latency),
            arrival == first,
            *words == self.memory.length,
        ];
        let (_, [is_next, exact, by_number, free, short, alike]) = self.head("no message", 0, 0, are_so)?;
        self.unless(is_next, id, next, Self::id)?;
        self.more(to, self.memory.to)?;
        self.unless(alike, words, self.memory.length, |codec, words, _| codec.count(words))?;
        self.unless(exact, latency, L, Self::later)?;
        self.unless(by_number, place, id.from, |codec, place, _| codec.count(place))?;
        self.later(enter, self.memory.enter)?;
        let out = plus(*enter, *latency);
        self.unless(free, first, out, |codec, first, _| codec.later(first, *enter))?;
        self.check_time(*first)?;
        self.unless(short, arrival, *first, Self::later)?;
        (self.memory.sent, self.memory.to) = (*id, *to);
        (self.memory.length, self.memory.enter) = (*words, *enter);
        Ok(())
    }

    pub(super) fn call(&mut self, call: &mut Call) -> Result<()> {
        let Call { id, start, end, kind } = call;
        self.begin(kind, id, start, end)?;
        match kind {
            CallKind::Work(kind) => self.name(kind)?,
            CallKind::WaitUntil(moment) => self.later(moment, *start)?,
            CallKind::Send { to, tag, bytes, sent } => each!(self: to, tag, bytes, sent),
            CallKind::Receive { from, tag, until, received } => {
                each!(self: from, tag);
                let (number, [has_message]) =
                    self.head("no receive", 4, until.number(), [received.is_some()])?;
                until.set_kind(number)?;
                if let Until::Moment(moment) = until {
                    self.later(moment, *start)?;
                }
                if has_message {
                    self.received(received.get_or_insert(TRANSFER))?;
                }
            }
            CallKind::SendRecv(both) => {
                let SendRecv { to, from, tag, bytes, sent, received } = &mut **both;
                let mut source = Some(*from);
                self.to(to)?;
                self.from(&mut source)?;
                *from = source.ok_or_else(|| Error::other("a send_recv names no source"))?;
                each!(self: tag, bytes, sent, received);
            }
            CallKind::Probe { from, tag, found } => {
                each!(self: from, tag);
                self.from(found)?;
            }
            CallKind::Barrier => {}
            CallKind::Isend { request, to, tag, bytes } => each!(self: request, to, tag, bytes),
            CallKind::Irecv { request, from, tag } => each!(self: request, from, tag),
            CallKind::Wait { request, is_send: true, transfer: sent } => each!(self: request, sent),
            CallKind::Wait { request, is_send: false, transfer: received } => each!(self: request, received),
            CallKind::Test { request } => self.request(request)?,
            CallKind::OneSided { to, bytes, back, request, sent } => {
                each!(self: to, bytes);
                let (has_back, is_posted) = (self.flag(back.is_some())?, self.flag(request.is_some())?);
                if has_back {
                    self.bytes(back.get_or_insert(0))?;
                }
                if is_posted {
                    self.request(request.get_or_insert(0))?;
                }
                if self.flag(sent.is_some())? {
                    self.sent(sent.get_or_insert(TRANSFER))?;
                }
            }
            CallKind::Flush { to } => self.from(to)?,
        }
        Ok(())
    }

    /// Codes the common head of activities, progress and calls: kind, processor, start and end.
    fn begin<K: KindNumber>(
        &mut self,
        kind: &mut K,
        id: &mut usize,
        start: &mut Time,
        end: &mut Time,
    ) -> Result<()> {
        let Memory { id: last, end: ended, .. } = self.memory;
        // The first item of another processor is expected to begin at 0.
        let before = |same: bool| if same { ended } else { Time::ZERO };
        let same = *id == last;
        let at_once = *start == before(same);
        let (number, [same, at_once]) = self.head("nothing", 4, kind.number(), [same, at_once])?;
        self.unless(same, id, last, Self::more)?;
        self.unless(at_once, start, before(same), Self::later)?;
        self.later(end, *start)?;
        (self.memory.id, self.memory.end) = (*id, *end);
        kind.set_kind(number)
    }

    /// Codes the name of an activity's work, its message or its request.
    fn subject(&mut self, kind: &mut ActivityKind) -> Result<()> {
        match kind {
            ActivityKind::Work(kind) => self.name(kind),
            ActivityKind::Send(id) => self.id_after(id, SENT),
            ActivityKind::Receive(id) => self.id_after(id, RECEIVED),
            ActivityKind::Post(request) | ActivityKind::Wait(request) => self.request(request),
            _ => Ok(()),
        }
    }

    fn sent(&mut self, sent: &mut Transfer) -> Result<()> {
        self.transfer(sent, SENT)
    }

    fn received(&mut self, received: &mut Transfer) -> Result<()> {
        self.transfer(received, RECEIVED)
    }

    /// Codes a message, and the request and the reply of its rendezvous if it had one.
    fn transfer(&mut self, transfer: &mut Transfer, last: Last<MessageId>) -> Result<()> {
        let Transfer { message, rendezvous } = transfer;
        let agreed = self.flag(rendezvous.is_some())?;
        self.id_after(message, last)?;
        if agreed {
            let Rendezvous { request, reply } = &mut **rendezvous.get_or_insert_with(|| RENDEZVOUS.into());
            self.id(request, *message)?;
            self.id(reply, *message)?;
        }
        Ok(())
    }

    /// Codes a message's name as its difference from the name that follows the last such message's.
    fn id_after(&mut self, id: &mut MessageId, last: Last<MessageId>) -> Result<()> {
        let near = next(*last(&mut self.memory));
        self.id(id, near)?;
        *last(&mut self.memory) = *id;
        Ok(())
    }

    fn to(&mut self, to: &mut usize) -> Result<()> {
        self.more_than_last(to, |memory| &mut memory.to)
    }

    /// Codes an optional source.
    fn from(&mut self, from: &mut Option<usize>) -> Result<()> {
        match self.flag(from.is_some())? {
            true => self.more_than_last(from.get_or_insert(0), |memory| &mut memory.from)?,
            false => *from = None,
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &mut usize) -> Result<()> {
        self.more_than_last(bytes, |memory| &mut memory.length)
    }

    fn more_than_last(&mut self, number: &mut usize, last: Last<usize>) -> Result<()> {
        let than = *last(&mut self.memory);
        self.more(number, than)?;
        *last(&mut self.memory) = *number;
        Ok(())
    }

    fn request(&mut self, request: &mut u32) -> Result<()> {
        let last = self.memory.request;
        let more = i32::try_from(self.signed((request.wrapping_sub(last) as i32).into())?);
        let more = more.map_err(|_| Error::other("a request's number is longer than 32 bits"))?;
        *request = last.wrapping_add_signed(more);
        self.memory.request = *request;
        Ok(())
    }

    /// Codes the number of a tag that the file had before, or 0 and the tag in full.
    fn tag(&mut self, tag: &mut CallTag) -> Result<()> {
        let number = self.number(self.tags.number(tag))?;
        if number > 0 {
            *tag = self.tags.get(number)?;
            return Ok(());
        }
        let last = self.memory.tag;
        tag.number = last.wrapping_add_signed(self.signed(tag.number.wrapping_sub(last) as i64)?);
        self.memory.tag = tag.number;
        if self.flag(tag.name.is_some())? {
            self.name(tag.name.get_or_insert_default())?;
        }
        if tag.name.as_ref().is_none_or(|name| name.len() <= LONGEST_NAME) {
            self.tags.add(tag.clone());
        }
        Ok(())
    }

    /// Codes the number of a name that the file had before, or 0 and the name in full.
    fn name(&mut self, name: &mut Cow<'static, str>) -> Result<()> {
        let number = self.number(self.names.number(name))?;
        if number > 0 {
            *name = self.names.get(number)?;
            return Ok(());
        }
        *name = self.text(name.to_string())?.into();
        if name.len() <= LONGEST_NAME {
            self.names.add(name.clone());
        }
        Ok(())
    }

    /// Codes a message's name as its difference from another one.
    fn id(&mut self, id: &mut MessageId, near: MessageId) -> Result<()> {
        self.more(&mut id.from, near.from)?;
        self.more(&mut id.number, near.number)
    }

    /// Codes a time as its difference from another one. A recent difference takes one byte.
    fn later(&mut self, time: &mut Time, than: Time) -> Result<()> {
        let code = zigzag(time.as_ps().wrapping_sub(than.as_ps()));
        let slot = Memory::slot(code);
        let new = 0x80 | u8::from(code > 0x3F) << 6 | (code & 0x3F) as u8;
        let byte = if self.memory.times[slot] == Some(code) { slot as u8 } else { new };
        let byte = self.file.byte(byte)?;
        let code = if byte < 0x80 {
            let lately = self.memory.times[usize::from(byte)];
            lately
                .ok_or_else(|| Error::other("a time is said to be one that was there before, and was not"))?
        } else {
            let rest = if byte & 0x40 != 0 { self.number(code >> 6)? } else { 0 };
            if rest > u64::MAX >> 6 {
                return Err(Error::other("a time is longer than 64 bits"));
            }
            let code = rest << 6 | u64::from(byte & 0x3F);
            self.memory.times[Memory::slot(code)] = Some(code);
            code
        };
        *time = plus(than, Time::from_ps(unzigzag(code)));
        self.check_time(*time)
    }

    /// Refuses a time that was read and is too long.
    fn check_time(&self, time: Time) -> Result<()> {
        match self.file {
            CompactFile::Written(_) => Ok(()),
            CompactFile::Read { .. } => time.in_file().map(drop).map_err(Error::other),
        }
    }

    /// Codes the first byte of `what`: its `low` lowest bits are a number, and each of the `N` bits above
    /// them is a flag.
    fn head<const N: usize>(
        &mut self,
        what: &str,
        low: usize,
        number: u8,
        are_so: [bool; N],
    ) -> Result<(u8, [bool; N])> {
        let bits = (0..N).fold(number, |bits, index| bits | u8::from(are_so[index]) << (low + index));
        let bits = self.file.byte(bits)?;
        if bits >> (low + N) != 0 {
            return Err(Error::other(format!("{what} begins with {bits:#x}")));
        }
        Ok((bits & !(u8::MAX << low), array::from_fn(|index| bits >> (low + index) & 1 == 1)))
    }

    /// Codes a value by `code`, unless `is_so` says that it has the expected value, which the file leaves
    /// out.
    fn unless<T>(
        &mut self,
        is_so: bool,
        it: &mut T,
        foreseen: T,
        code: impl FnOnce(&mut Self, &mut T, T) -> Result<()>,
    ) -> Result<()> {
        if !is_so {
            return code(self, it, foreseen);
        }
        *it = foreseen;
        Ok(())
    }

    /// Codes a number as its difference from another one.
    fn more(&mut self, number: &mut usize, than: usize) -> Result<()> {
        let more = self.signed(number.wrapping_sub(than) as i64)?;
        *number = than.wrapping_add(more as usize);
        Ok(())
    }

    /// Codes a number that must fit into this computer's `usize`.
    fn count(&mut self, count: &mut usize) -> Result<()> {
        let number = self.number(*count as u64)?;
        *count = number.try_into().map_err(|_| Error::other("a number is too large for this computer"))?;
        Ok(())
    }

    /// Codes a number that may be negative.
    fn signed(&mut self, number: i64) -> Result<i64> {
        self.number(zigzag(number)).map(unzigzag)
    }

    /// Codes a number with seven bits in a byte, the lowest first. The eighth bit says that another byte
    /// follows.
    pub(super) fn number(&mut self, number: u64) -> Result<u64> {
        let mut whole = 0;
        for shift in (0..64).step_by(7) {
            let rest = number >> shift;
            let byte = self.file.byte((rest & 0x7F) as u8 | u8::from(rest > 0x7F) << 7)?;
            if shift == 63 && byte > 1 {
                break;
            }
            whole |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(whole);
            }
        }
        Err(Error::other("a number is longer than 64 bits"))
    }

    pub(super) fn text(&mut self, text: String) -> Result<String> {
        let length = self.number(text.len() as u64)?;
        let bytes = self.file.bytes(text.into_bytes(), length)?;
        String::from_utf8(bytes).map_err(|_| Error::other("a text is not in UTF-8"))
    }

    fn flag(&mut self, flag: bool) -> Result<bool> {
        match self.file.byte(flag.into())? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Error::other(format!("{other} is neither 0 nor 1"))),
        }
    }
}

/// Returns the name of the sender's next message.
fn next(id: MessageId) -> MessageId {
    MessageId { from: id.from, number: id.number.wrapping_add(1) }
}

/// Returns the sum modulo 2^64 ps, so that any difference is restored exactly.
fn plus(time: Time, more: Time) -> Time {
    Time::from_ps(time.as_ps().wrapping_add(more.as_ps()))
}

/// Returns the code of a number that may be negative. Numbers near to 0 have small codes.
pub(super) fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// Returns the number with this code.
pub(super) fn unzigzag(code: u64) -> i64 {
    (code >> 1) as i64 ^ -((code & 1) as i64)
}
