//! Writes traces as Chrome's trace events.

use std::fmt;
use std::io::{self, BufWriter, Write};

use super::item::{CALLS, ChromeItem, PID};
use crate::trace::machine;
use crate::trace::record::{ActivityKind, Trace};

impl Trace {
    /// Writes the trace as Chrome's trace events, one per line, which viewers open.
    /// [`write_compact`](Trace::write_compact) writes the same in far fewer bytes.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let mut out = Writer { out: BufWriter::new(&mut out), track: None };
        out.write_trace(self)
    }

    /// Returns the receiver of an activity's message, for human readers of the file; `None` if the activity
    /// has no message or the trace doesn't have it.
    fn receiver(&self, kind: &ActivityKind) -> Option<usize> {
        let (ActivityKind::Send(id) | ActivityKind::Receive(id)) = kind else { return None };
        let place = self.messages.binary_search_by_key(id, |message| message.id).ok()?;
        Some(self.messages[place].to)
    }
}

struct Writer<'a> {
    out: BufWriter<&'a mut dyn Write>,
    /// The process and the processor of the last slice's track.
    track: Option<(usize, usize)>,
}

impl Writer<'_> {
    fn write_trace(&mut self, trace: &Trace) -> io::Result<()> {
        let machine = machine::write(trace)?;
        writeln!(self.out, r#"{{"displayTimeUnit":"ns","otherData":{machine},"traceEvents":["#)?;
        write!(self.out, r#"{{"ph":"M","pid":{PID},"name":"process_name","args":{{"name":"machine"}}}}"#)?;
        for activity in &trace.activities {
            self.write_item(activity, trace.receiver(&activity.kind))?;
        }
        trace.progress.iter().try_for_each(|progress| self.write_item(progress, None))?;
        trace.messages.iter().try_for_each(|message| self.write_item(message, None))?;
        if !trace.calls.is_empty() {
            self.write_event(format_args!(
                r#""ph":"M","pid":{CALLS},"name":"process_name","args":{{"name":"calls"}}"#
            ))?;
        }
        trace.calls.iter().try_for_each(|call| self.write_item(call, None))?;
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }

    /// Writes the events of an item, with its arguments and perhaps the message's receiver. A new track is
    /// named first.
    fn write_item(&mut self, record: &impl ChromeItem, to: Option<usize>) -> io::Result<()> {
        let to = to.map_or(String::new(), |to| format!(r#","to":{to}"#));
        let mut item_args = Some(record.args_json()? + &to);
        for shown in record.viewer_events() {
            let (pid, id) = (shown.pid, shown.tid);
            if shown.ph == "X" && self.track.replace((pid, id)) != Some((pid, id)) {
                let (name, order) = (format!(r#""name":"processor {id}""#), format!(r#""sort_index":{id}"#));
                for (what, args) in [("thread_name", name), ("thread_sort_index", order)] {
                    self.write_event(format_args!(
                        r#""ph":"M","pid":{pid},"tid":{id},"name":"{what}","args":{{{args}}}"#
                    ))?;
                }
            }
            match item_args.take() {
                Some(item_args) => self.write_event(format_args!(r#"{shown},"args":{{{item_args}}}"#))?,
                None => self.write_event(format_args!("{shown}"))?,
            }
        }
        Ok(())
    }

    fn write_event(&mut self, fields: fmt::Arguments) -> io::Result<()> {
        write!(self.out, ",\n{{{fields}}}")
    }
}
