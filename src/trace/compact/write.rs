//! How a trace is written as a small file.

use std::io::{self, BufWriter, Write};

use super::{LONGEST_NAME, MAGIC, Memory, Names, Tags, called, did, head, passage, zigzag};
use crate::message::MessageId;
use crate::time::Time;
use crate::trace::{
    Activity, ActivityKind, Call, CallKind, CallTag, Message, Progress, Trace, Transfer, Until, chrome,
};

impl Trace {
    /// Writes the trace in a few bytes for each event. [`read`](Trace::read) knows it by its beginning.
    pub fn write_compact(&self, out: impl Write) -> io::Result<()> {
        let mut out = Writer {
            out: BufWriter::new(out),
            memory: Memory::new(),
            names: Names::new(),
            tags: Tags::new(),
        };
        out.out.write_all(MAGIC)?;
        out.text(&chrome::machine(self)?)?;
        out.number(self.activities.len() as u64)?;
        for activity in &self.activities {
            out.activity(activity)?;
        }
        out.memory = Memory::new();
        out.number(self.progress.len() as u64)?;
        for progress in &self.progress {
            out.progress(progress)?;
        }
        out.memory = Memory::new();
        out.number(self.messages.len() as u64)?;
        for message in &self.messages {
            out.message(message, self.params.L)?;
        }
        out.memory = Memory::new();
        out.number(self.calls.len() as u64)?;
        for call in &self.calls {
            out.call(call)?;
        }
        out.out.flush()
    }
}

/// Writes, and remembers what it wrote.
struct Writer<W: Write> {
    /// Where it writes.
    out: BufWriter<W>,
    /// What came before.
    memory: Memory,
    /// The names that came before.
    names: Names,
    /// The tags that came before.
    tags: Tags,
}

impl<W: Write> Writer<W> {
    fn byte(&mut self, byte: u8) -> io::Result<()> {
        self.out.write_all(&[byte])
    }

    /// Seven bits a byte, the lowest first; the eighth says that there are more.
    fn number(&mut self, mut number: u64) -> io::Result<()> {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80)?;
            number >>= 7;
        }
        self.byte(number as u8)
    }

    /// How much more a number is than one that was there.
    fn more(&mut self, number: usize, than: usize) -> io::Result<()> {
        self.number(zigzag(number.wrapping_sub(than) as i64))
    }

    /// How much later a time is than one that was there: a byte if it was as much lately.
    fn later(&mut self, time: Time, than: Time) -> io::Result<()> {
        let code = zigzag(time.as_ps().wrapping_sub(than.as_ps()));
        let place = Memory::place(code);
        if self.memory.times[place].replace(code) == Some(code) {
            return self.byte(place as u8);
        }
        let rest = code >> 6;
        self.byte(0x80 | if rest > 0 { 0x40 } else { 0 } | (code & 0x3F) as u8)?;
        if rest > 0 { self.number(rest) } else { Ok(()) }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.out.write_all(text.as_bytes())
    }

    /// 0 and a new name, or the number of one that was there.
    fn name(&mut self, name: &str) -> io::Result<()> {
        if let Some(&number) = self.names.get(name) {
            return self.number(number);
        }
        if name.len() <= LONGEST_NAME {
            self.names.insert(name.to_owned(), self.names.len() as u64 + 1);
        }
        self.number(0)?;
        self.text(name)
    }

    /// 0 and a new tag, or the number of one that was there.
    fn tag(&mut self, tag: &CallTag) -> io::Result<()> {
        if let Some(&number) = self.tags.get(tag) {
            return self.number(number);
        }
        if tag.name.as_ref().is_none_or(|name| name.len() <= LONGEST_NAME) {
            self.tags.insert(tag.clone(), self.tags.len() as u64 + 1);
        }
        self.number(0)?;
        self.number(zigzag(tag.number.wrapping_sub(self.memory.tag) as i64))?;
        self.memory.tag = tag.number;
        match &tag.name {
            None => self.byte(0),
            Some(name) => {
                self.byte(1)?;
                self.name(name)
            }
        }
    }

    /// A message's name, by one that was there.
    fn id(&mut self, id: MessageId, near: MessageId) -> io::Result<()> {
        self.more(id.from, near.from)?;
        self.more(id.number, near.number)
    }

    /// What activities and calls begin with: what it is, whose, from when to when.
    fn begin(&mut self, kind: u8, id: usize, start: Time, end: Time) -> io::Result<()> {
        let same = id == self.memory.id;
        if !same {
            // Another processor begins at 0, and with its first message.
            self.memory.end = Time::ZERO;
        }
        let at_once = start == self.memory.end;
        let bits = if same { head::SAME } else { 0 } | if at_once { head::AT_ONCE } else { 0 };
        self.byte(kind | bits)?;
        if !same {
            self.more(id, self.memory.id)?;
        }
        if !at_once {
            self.later(start, self.memory.end)?;
        }
        self.later(end, start)
    }

    fn activity(&mut self, activity: &Activity) -> io::Result<()> {
        let Activity { id, start, end, ref what } = *activity;
        self.begin(kind(what), id, start, end)?;
        self.what(what)?;
        self.memory.did(id, end);
        Ok(())
    }

    fn progress(&mut self, progress: &Progress) -> io::Result<()> {
        let Progress { id, request, start, end, ref what } = *progress;
        self.begin(kind(what), id, start, end)?;
        self.request(request)?;
        self.what(what)?;
        self.memory.did(id, end);
        Ok(())
    }

    /// What belongs to a kind of activity.
    fn what(&mut self, what: &ActivityKind) -> io::Result<()> {
        match *what {
            ActivityKind::Work(ref kind) => self.name(kind),
            ActivityKind::Send(message) => self.sent(message),
            ActivityKind::Receive(message) => self.got(message),
            ActivityKind::Post(request) | ActivityKind::Wait(request) => self.request(request),
            _ => Ok(()),
        }
    }

    fn request(&mut self, request: u32) -> io::Result<()> {
        self.number(zigzag(request.wrapping_sub(self.memory.request) as i32 as i64))?;
        self.memory.request = request;
        Ok(())
    }

    /// The name of a message that was sent.
    fn sent(&mut self, id: MessageId) -> io::Result<()> {
        self.id(id, Memory::next(self.memory.sent))?;
        self.memory.sent = id;
        Ok(())
    }

    /// The name of a message that was received.
    fn got(&mut self, id: MessageId) -> io::Result<()> {
        self.id(id, Memory::next(self.memory.got))?;
        self.memory.got = id;
        Ok(())
    }

    fn message(&mut self, message: &Message, L: Time) -> io::Result<()> {
        let Message { id, to, words, latency, place, enter, first, arrival } = *message;
        let is_next = id == Memory::next(self.memory.sent);
        let bits = [
            (is_next, passage::NEXT),
            (latency == L, passage::EXACT),
            (place == id.from, passage::BY_NUMBER),
            (first.as_ps() == enter.as_ps().wrapping_add(latency.as_ps()), passage::FREE),
            (arrival == first, passage::SHORT),
            (words == self.memory.length, passage::ALIKE),
        ];
        let bits = bits.iter().filter(|(is_so, _)| *is_so).fold(0, |bits, (_, bit)| bits | bit);
        let isnt = |bit: u8| bits & bit == 0;
        self.byte(bits)?;
        if isnt(passage::NEXT) {
            self.id(id, Memory::next(self.memory.sent))?;
        }
        self.more(to, self.memory.to)?;
        if isnt(passage::ALIKE) {
            self.number(words as u64)?;
        }
        if isnt(passage::EXACT) {
            self.later(latency, L)?;
        }
        if isnt(passage::BY_NUMBER) {
            self.number(place as u64)?;
        }
        self.later(enter, self.memory.enter)?;
        if isnt(passage::FREE) {
            self.later(first, enter)?;
        }
        if isnt(passage::SHORT) {
            self.later(arrival, first)?;
        }
        self.memory.passed(message);
        Ok(())
    }

    fn call(&mut self, call: &Call) -> io::Result<()> {
        let Call { id, start, end, ref what } = *call;
        let kind = match what {
            CallKind::Work(_) => called::WORK,
            CallKind::WaitUntil(_) => called::WAIT_UNTIL,
            CallKind::Send { .. } => called::SEND,
            CallKind::Receive { .. } => called::RECEIVE,
            CallKind::SendRecv(_) => called::SEND_RECV,
            CallKind::Probe { .. } => called::PROBE,
            CallKind::Barrier => called::BARRIER,
            CallKind::Isend { .. } => called::ISEND,
            CallKind::Irecv { .. } => called::IRECV,
            CallKind::Wait { sends: true, .. } => called::WAIT_SEND,
            CallKind::Wait { sends: false, .. } => called::WAIT_RECEIVE,
            CallKind::Test { .. } => called::TEST,
        };
        self.begin(kind, id, start, end)?;
        match what {
            CallKind::Work(kind) => self.name(kind)?,
            CallKind::WaitUntil(time) => self.later(*time, start)?,
            CallKind::Send { to, tag, bytes, sent } => {
                self.to(*to)?;
                self.tag(tag)?;
                self.length(*bytes)?;
                self.transfer(sent, true)?;
            }
            CallKind::Receive { from, tag, until, got } => {
                self.from(*from)?;
                self.tag(tag)?;
                let until_code = match until {
                    Until::Come => 0,
                    Until::Moment(_) => 1,
                    Until::GapOver => 2,
                };
                self.byte(until_code | if got.is_some() { 0x10 } else { 0 })?;
                if let Until::Moment(time) = until {
                    self.later(*time, start)?;
                }
                if let Some(got) = got {
                    self.transfer(got, false)?;
                }
            }
            CallKind::SendRecv(both) => {
                self.to(both.to)?;
                self.from(Some(both.from))?;
                self.tag(&both.tag)?;
                self.length(both.bytes)?;
                self.transfer(&both.sent, true)?;
                self.transfer(&both.got, false)?;
            }
            CallKind::Probe { from, tag, saw } => {
                self.from(*from)?;
                self.tag(tag)?;
                self.from(*saw)?;
            }
            CallKind::Barrier => {}
            CallKind::Isend { request, to, tag, bytes } => {
                self.request(*request)?;
                self.to(*to)?;
                self.tag(tag)?;
                self.length(*bytes)?;
            }
            CallKind::Irecv { request, from, tag } => {
                self.request(*request)?;
                self.from(*from)?;
                self.tag(tag)?;
            }
            CallKind::Wait { request, sends, transfer } => {
                self.request(*request)?;
                self.transfer(transfer, *sends)?;
            }
            CallKind::Test { request } => self.request(*request)?,
        }
        self.memory.did(id, end);
        Ok(())
    }

    fn to(&mut self, to: usize) -> io::Result<()> {
        self.more(to, self.memory.to)?;
        self.memory.to = to;
        Ok(())
    }

    /// A source, if there is one.
    fn from(&mut self, from: Option<usize>) -> io::Result<()> {
        let Some(from) = from else { return self.byte(0) };
        self.byte(1)?;
        self.more(from, self.memory.from)?;
        self.memory.from = from;
        Ok(())
    }

    fn length(&mut self, bytes: usize) -> io::Result<()> {
        self.more(bytes, self.memory.length)?;
        self.memory.length = bytes;
        Ok(())
    }

    /// A message that a call sent or received, and those that made it possible.
    fn transfer(&mut self, transfer: &Transfer, sends: bool) -> io::Result<()> {
        self.byte(u8::from(transfer.rendezvous.is_some()))?;
        if sends { self.sent(transfer.message) } else { self.got(transfer.message) }?;
        if let Some(rendezvous) = &transfer.rendezvous {
            self.id(rendezvous.request, transfer.message)?;
            self.id(rendezvous.reply, transfer.message)?;
        }
        Ok(())
    }
}

/// The number of a kind of activity.
fn kind(what: &ActivityKind) -> u8 {
    match what {
        ActivityKind::Work(_) => did::WORK,
        ActivityKind::Send(_) => did::SEND,
        ActivityKind::Receive(_) => did::RECEIVE,
        ActivityKind::Gap => did::GAP,
        ActivityKind::Stall => did::STALL,
        ActivityKind::Port => did::PORT,
        ActivityKind::Idle => did::IDLE,
        ActivityKind::Barrier => did::BARRIER,
        ActivityKind::Post(_) => did::POST,
        ActivityKind::Wait(_) => did::WAIT,
    }
}
