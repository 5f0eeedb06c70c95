//! How a trace is written as Chrome's trace events.

use std::fmt;
use std::io::{self, BufWriter, Write};

use super::shown::{CALLS, PID, Record};
use crate::trace::machine;
use crate::trace::record::{ActivityKind, Trace};

impl Trace {
    /// Writes the trace as Chrome's trace events, a line each: what viewers open. [`write_compact`](Trace::write_compact)
    /// writes the same in far fewer bytes.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let mut out = Writer { out: BufWriter::new(&mut out), track: None };
        out.trace(self)
    }

    /// To whom a message was sent, for a reader of the file; a trace that was tampered with may not say.
    fn receiver(&self, what: &ActivityKind) -> Option<usize> {
        let (ActivityKind::Send(id) | ActivityKind::Receive(id)) = what else { return None };
        let place = self.messages.binary_search_by_key(id, |message| message.id).ok()?;
        Some(self.messages[place].to)
    }
}

/// Writes events.
struct Writer<'a> {
    out: BufWriter<&'a mut dyn Write>,
    /// The process and the processor on whose track the last slice was.
    track: Option<(usize, usize)>,
}

impl Writer<'_> {
    fn trace(&mut self, trace: &Trace) -> io::Result<()> {
        let machine = machine::write(trace)?;
        writeln!(self.out, r#"{{"displayTimeUnit":"ns","otherData":{machine},"traceEvents":["#)?;
        write!(self.out, r#"{{"ph":"M","pid":{PID},"name":"process_name","args":{{"name":"machine"}}}}"#)?;
        for activity in &trace.activities {
            self.record(activity, trace.receiver(&activity.what))?;
        }
        trace.progress.iter().try_for_each(|progress| self.record(progress, None))?;
        trace.messages.iter().try_for_each(|message| self.record(message, None))?;
        if !trace.calls.is_empty() {
            self.event(format_args!(
                r#""ph":"M","pid":{CALLS},"name":"process_name","args":{{"name":"calls"}}"#
            ))?;
        }
        trace.calls.iter().try_for_each(|call| self.record(call, None))?;
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }

    /// Writes what shows something, and what it says of itself and perhaps of a receiver. A new track is named before.
    fn record(&mut self, record: &impl Record, to: Option<usize>) -> io::Result<()> {
        let to = to.map_or(String::new(), |to| format!(r#","to":{to}"#));
        let mut said = Some(record.said()? + &to);
        for shown in record.shown() {
            let (pid, id) = (shown.pid, shown.tid);
            if shown.ph == "X" && self.track.replace((pid, id)) != Some((pid, id)) {
                // The tracks are in the order of the processors.
                let (name, order) = (format!(r#""name":"processor {id}""#), format!(r#""sort_index":{id}"#));
                for (what, args) in [("thread_name", name), ("thread_sort_index", order)] {
                    self.event(format_args!(
                        r#""ph":"M","pid":{pid},"tid":{id},"name":"{what}","args":{{{args}}}"#
                    ))?;
                }
            }
            match said.take() {
                Some(said) => self.event(format_args!(r#"{shown},"args":{{{said}}}"#))?,
                None => self.event(format_args!("{shown}"))?,
            }
        }
        Ok(())
    }

    fn event(&mut self, fields: fmt::Arguments) -> io::Result<()> {
        write!(self.out, ",\n{{{fields}}}")
    }
}
