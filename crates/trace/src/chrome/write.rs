//! Writes traces as Chrome's trace events.

use std::fmt;
use std::io::{self, BufWriter, Write};

use loggp_model::message::MessageId;
use loggp_model::time::{Time, US};
use serde_json::Value;

use crate::error::VERSION;
use crate::machine;
use crate::{Activity, ActivityKind, Message, Progress, Trace};
use crate::{Call, CallKind};

/// The process of the machine, whose threads are the processors. In Perfetto process 0 is the kernel's idle
/// one, and a thread with the process's number is its main one, so no processor has this number.
const PID: usize = 1 << 24;

/// The process of the calls.
const CALLS: usize = PID + 1;

/// Returns the ends of a message's slice. With a negative G_l it may arrive before it enters, which no slice can show.
pub(super) fn span(message: &Message) -> [Time; 2] {
    [message.enter, message.enter.max(message.arrival)]
}

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
        let index = self.messages.binary_search_by_key(&kind.message()?, |message| message.id).ok()?;
        Some(self.messages[index].to)
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
        writeln!(
            self.out,
            r#"{{"displayTimeUnit":"ns","loggp trace":{VERSION},"otherData":{machine},"traceEvents":["#
        )?;
        write!(self.out, r#"{{"ph":"M","pid":{PID},"name":"process_name","args":{{"name":"machine"}}}}"#)?;
        for activity in &trace.activities {
            self.write_activity(activity, trace.receiver(&activity.kind))?;
        }
        trace.progress.iter().try_for_each(|progress| self.write_progress(progress))?;
        trace.messages.iter().try_for_each(|message| self.write_message(message))?;
        if !trace.calls.is_empty() {
            self.write_event(format_args!(
                r#""ph":"M","pid":{CALLS},"name":"process_name","args":{{"name":"calls"}}"#
            ))?;
        }
        trace.calls.iter().try_for_each(|call| self.write_call(call))?;
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }

    /// Writes a slice, and the end of an arrow if it is a send or a reception. Viewers bind an arrow to the
    /// slice before it in the file.
    fn write_activity(&mut self, activity: &Activity, to: Option<usize>) -> io::Result<()> {
        let Activity { id, start, end, kind } = activity;
        let mut args = message_args(kind);
        if let ActivityKind::Post(request) | ActivityKind::Wait(request) = kind {
            args += &format!(r#","request":{request}"#);
        }
        if let Some(to) = to {
            args += &format!(r#","to":{to}"#);
        }
        let (cat, name) = category(kind);
        self.write_slice(PID, *id, [*start, *end], cat, name, &args)?;
        let (message, ph, at) = match kind {
            ActivityKind::Send(message) => (message, "s", *end),
            ActivityKind::Receive(message) => (message, "f", *start),
            _ => return Ok(()),
        };
        let (at, message) = (Micros(at), hex(*message));
        self.write_event(format_args!(
            r#""ph":"{ph}","pid":{PID},"tid":{id},"bp":"e","ts":{at},"cat":"message","name":"message","id":"{message}""#
        ))
    }

    /// Writes an asynchronous slice, since requests overlap their processor's activities.
    fn write_progress(&mut self, progress: &Progress) -> io::Result<()> {
        let Progress { id, request, start, end, kind } = progress;
        let own = format!("1{id:08x}{request:08x}"); // not the name of any message
        let args = format!(r#""request":{request},{}{}"#, time_args(*start, *end), message_args(kind));
        self.write_asynchronous(*id, [*start, *end], "request", category(kind).1, &own, &args)
    }

    /// Writes an asynchronous slice on the sender's track while the message is in the network, since many
    /// overlap.
    fn write_message(&mut self, message: &Message) -> io::Result<()> {
        let Message { id, to, words, latency, place, enter, first, arrival } = *message;
        let MessageId { from, number } = id;
        let mut args = format!(r#""from":{from},"number":{number},"to":{to},"words":{words}"#);
        // The usual is left out: the port was free, and the lower number goes first.
        if latency != first - enter {
            args += &format!(r#","latency":{}"#, latency.as_ps());
        }
        if place != from {
            args += &format!(r#","place":{place}"#);
        }
        let times = [enter, first, arrival].map(Time::as_ps);
        args += &format!(r#","enter":{},"first":{},"arrival":{}"#, times[0], times[1], times[2]);
        self.write_asynchronous(from, span(message), "transit", &format!("{from} to {to}"), &hex(id), &args)
    }

    /// Writes a slice of another process, with the whole call as an argument.
    fn write_call(&mut self, Call { id, start, end, kind }: &Call) -> io::Result<()> {
        let name = match kind {
            CallKind::Work(kind) => kind,
            kind => kind.name(),
        };
        let args = format!(r#","call":{}"#, serde_json::to_string(kind)?);
        self.write_slice(CALLS, *id, [*start, *end], "call", name, &args)
    }

    /// Writes a slice. A new track is named first.
    fn write_slice(
        &mut self,
        pid: usize,
        id: usize,
        [start, end]: [Time; 2],
        cat: &str,
        name: &str,
        more_args: &str,
    ) -> io::Result<()> {
        if self.track.replace((pid, id)) != Some((pid, id)) {
            let (named, order) = (format!(r#""name":"processor {id}""#), format!(r#""sort_index":{id}"#));
            for (what, args) in [("thread_name", named), ("thread_sort_index", order)] {
                self.write_event(format_args!(
                    r#""ph":"M","pid":{pid},"tid":{id},"name":"{what}","args":{{{args}}}"#
                ))?;
            }
        }
        let (at, dur, name, times) = (Micros(start), Micros(end - start), json(name), time_args(start, end));
        self.write_event(format_args!(
            r#""ph":"X","pid":{pid},"tid":{id},"ts":{at},"dur":{dur},"cat":"{cat}","name":{name},"args":{{{times}{more_args}}}"#
        ))
    }

    /// Writes the two ends of an asynchronous slice.
    fn write_asynchronous(
        &mut self,
        id: usize,
        [begin, end]: [Time; 2],
        cat: &str,
        name: &str,
        own: &str,
        args: &str,
    ) -> io::Result<()> {
        let (begin, end, name) = (Micros(begin), Micros(end), json(name));
        self.write_event(format_args!(
            r#""ph":"b","pid":{PID},"tid":{id},"ts":{begin},"cat":"{cat}","name":{name},"id":"{own}","args":{{{args}}}"#
        ))?;
        self.write_event(format_args!(
            r#""ph":"e","pid":{PID},"tid":{id},"ts":{end},"cat":"{cat}","name":{name},"id":"{own}""#
        ))
    }

    fn write_event(&mut self, fields: fmt::Arguments) -> io::Result<()> {
        write!(self.out, ",\n{{{fields}}}")
    }
}

/// A time as viewers count it: in us, with all decimals.
struct Micros(Time);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ps, unit) = (self.0.as_ps().unsigned_abs(), US.as_ps() as u64);
        let sign = if self.0 < Time::ZERO { "-" } else { "" };
        match ps % unit {
            0 => write!(f, "{sign}{}", ps / unit),
            rest => write!(f, "{sign}{}.{rest:06}", ps / unit),
        }
    }
}

fn json(text: &str) -> Value {
    Value::from(text)
}

/// Returns a message's name as Perfetto takes it: a hexadecimal number.
pub(super) fn hex(id: MessageId) -> String {
    format!("{:x}{:08x}", id.from, id.number)
}

fn time_args(start: Time, end: Time) -> String {
    format!(r#""start":{},"end":{}"#, start.as_ps(), end.as_ps())
}

/// Returns the arguments for the message of an activity, if it has one.
fn message_args(kind: &ActivityKind) -> String {
    kind.message().map_or(String::new(), |id| format!(r#","from":{},"number":{}"#, id.from, id.number))
}

/// Returns the category and the name with which viewers show an activity.
fn category(kind: &ActivityKind) -> (&'static str, &str) {
    match kind {
        ActivityKind::Work(kind) => ("work", kind),
        ActivityKind::Send(_) => ("overhead", "send"),
        ActivityKind::Receive(_) => ("overhead", "receive"),
        ActivityKind::Gap => ("gap", "gap"),
        ActivityKind::Stall => ("stall", "stall"),
        ActivityKind::Port => ("port", "port"),
        ActivityKind::Idle => ("idle", "idle"),
        ActivityKind::Barrier => ("idle", "barrier"),
        ActivityKind::Post(_) => ("overhead", "post"),
        ActivityKind::Wait(_) => ("idle", "wait"),
    }
}
