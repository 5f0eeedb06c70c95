//! A compact file as a whole: its magic bytes, the machine and four lists.

use std::io::{BufReader, BufWriter, Error, Read, Result, Write};

use loggp_model::time::Time;

use super::bytes::CompactFile;
use super::codec::Codec;
use super::kinds::ID;
use super::memory::Memory;
use crate::bound::BoundedItem;
use crate::error::{OTHER_VERSION, TraceError};
use crate::machine;
use crate::{Activity, ActivityKind, Message, Progress, Trace};
use crate::{Call, CallKind};

/// The first bytes of a compact file, with the version. No JSON begins with these bytes.
pub(crate) const MAGIC: &[u8; 14] = b"loggp trace 1\n";
/// The position of the version.
const VERSION_AT: usize = 12;

impl Trace {
    /// Writes the trace in a few bytes for each event. [`read`](Trace::read) recognizes the form by its first
    /// bytes.
    pub fn write_compact(&self, mut out: impl Write) -> Result<()> {
        Codec::new(CompactFile::Written(BufWriter::new(&mut out))).trace(Some(self)).map(drop)
    }
}

/// Reads a trace that [`Trace::write_compact`] wrote.
pub(crate) fn read(input: BufReader<&mut dyn Read>) -> std::result::Result<Trace, TraceError> {
    let mut codec = Codec::new(CompactFile::Read { input, at: 0 });
    codec.trace(None).map_err(|why| TraceError::new(format_args!("{}{why}", codec.file.position())))
}

impl Codec<'_> {
    /// Writes `trace`, or reads one if that is `None`.
    fn trace(&mut self, trace: Option<&Trace>) -> Result<Trace> {
        for (at, expected) in MAGIC.iter().enumerate() {
            match self.file.byte(*expected)? {
                byte if byte == *expected => (),
                byte if at >= VERSION_AT && byte.is_ascii_digit() => return Err(Error::other(OTHER_VERSION)),
                _ => {
                    let why = "it begins like a compact trace, and not with \"loggp trace 1\"";
                    return Err(Error::other(why));
                }
            }
        }
        let text = trace.map(machine::write).transpose()?;
        let machine = machine::read(&self.text(text.unwrap_or_default())?)?;
        let L = machine.params.L;
        // Blank items, which reading overwrites.
        let (zero, kind) = (Time::ZERO, ActivityKind::Gap);
        let activity = Activity { id: 0, start: zero, end: zero, kind: kind.clone() };
        let progress = Progress { id: 0, request: 0, start: zero, end: zero, kind };
        let (id, latency, enter, first, arrival) = (ID, zero, zero, zero, zero);
        let message = Message { id, to: 0, words: 0, latency, place: 0, enter, first, arrival };
        let call = Call { id: 0, start: zero, end: zero, kind: CallKind::Barrier };
        let trace = Trace {
            activities: self.list(trace.map(|trace| &*trace.activities), activity, Self::activity)?,
            progress: self.list(trace.map(|trace| &*trace.progress), progress, Self::progress)?,
            messages: self.list(trace.map(|trace| &*trace.messages), message, |codec, message| {
                codec.message(message, L)
            })?,
            calls: self.list(trace.map(|trace| &*trace.calls), call, Self::call)?,
            ..machine
        };
        self.file.end()?;
        Ok(trace)
    }

    /// Writes the length and the items of a list, or reads a list, each item into a copy of `blank`.
    ///
    /// A list that is read grows item by item, whatever length the file states. An item takes at least two
    /// bytes, so the list's memory is at most some hundred times the length of the file.
    fn list<T: Clone + BoundedItem>(
        &mut self,
        written: Option<&[T]>,
        blank: T,
        item: impl Fn(&mut Self, &mut T) -> Result<()>,
    ) -> Result<Vec<T>> {
        self.memory = Memory::new();
        let Some(written) = written else {
            let mut read = Vec::new();
            for _ in 0..self.number(0)? {
                let mut it = blank.clone();
                item(self, &mut it)?;
                it.check().map_err(Error::other)?;
                read.push(it);
            }
            return Ok(read);
        };
        self.number(written.len() as u64)?;
        written.iter().try_for_each(|it| item(self, &mut it.clone()))?;
        Ok(Vec::new())
    }
}
