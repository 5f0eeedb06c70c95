//! How a trace is written as Chrome's trace events.

use std::fmt;
use std::io::{self, BufWriter, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::call::CallText;
use super::{CALLS, Hex, LatencyHeader, Own, PID, PortsHeader, TiesHeader, model};
use crate::message::MessageId;
use crate::params::Ports;
use crate::params::{Latency, Ties};
use crate::params::{Parameter, Params};
use crate::time::{Time, US};
use crate::trace::{Activity, ActivityKind, Call, CallKind, Message, Progress, Trace};

impl Trace {
    /// Writes the trace as Chrome's trace events, a line each: what viewers open. [`write_compact`](Trace::write_compact)
    /// writes the same in far fewer bytes.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        let machine = machine(self)?;
        write!(out, r#"{{"displayTimeUnit":"ns","otherData":{machine},"traceEvents":["#)?;
        writeln!(out)?;
        write!(out, r#"{{"ph":"M","pid":{PID},"name":"process_name","args":{{"name":"machine"}}}}"#)?;
        let mut named = None;
        for activity in &self.activities {
            if named.replace(activity.id) != Some(activity.id) {
                name_track(&mut out, PID, activity.id)?;
            }
            self.write_activity(&mut out, activity)?;
        }
        for progress in &self.progress {
            write_progress(&mut out, progress)?;
        }
        for message in &self.messages {
            write_transit(&mut out, message)?;
        }
        if !self.calls.is_empty() {
            writeln!(out, ",")?;
            write!(out, r#"{{"ph":"M","pid":{CALLS},"name":"process_name","args":{{"name":"calls"}}}}"#)?;
        }
        let mut named = None;
        for call in &self.calls {
            if named.replace(call.id) != Some(call.id) {
                name_track(&mut out, CALLS, call.id)?;
            }
            write_call(&mut out, call)?;
        }
        out.write_all(b"\n]}\n")?;
        out.flush()
    }

    /// Writes what a processor did as a slice, and the end of an arrow if it sent or received.
    fn write_activity(&self, out: &mut impl Write, activity: &Activity) -> io::Result<()> {
        let Activity { id: tid, start, end, ref what } = *activity;
        let (cat, name) = category(what);
        let name = serde_json::to_string(name)?;
        let (ts, dur) = (Micros(start), Micros(end - start));
        begin(out, "X", PID, tid)?;
        write!(out, r#","ts":{ts},"dur":{dur},"cat":"{cat}","name":{name}"#)?;
        write!(out, r#","args":{{"start":{},"end":{}"#, start.as_ps(), end.as_ps())?;
        let (id, arrow, at) = match *what {
            // The viewers bind an arrow to the slice above it in the file: here it still is the send.
            ActivityKind::Send(id) => (id, "s", Micros(end)),
            ActivityKind::Receive(id) => (id, "f", Micros(start)),
            ActivityKind::Post(request) | ActivityKind::Wait(request) => {
                return write!(out, r#","request":{request}}}}}"#);
            }
            _ => return out.write_all(b"}}"),
        };
        let MessageId { from, number } = id;
        write!(out, r#","from":{from},"number":{number}"#)?;
        if let Some(to) = self.receiver(id) {
            write!(out, r#","to":{to}"#)?;
        }
        write!(out, "}}}}")?;
        begin(out, arrow, PID, tid)?;
        write!(out, r#","bp":"e","ts":{at},"cat":"message","name":"message","id":"{}"}}"#, Hex(id))
    }

    /// To whom a message was sent, for a reader of the file; a trace that was tampered with may not say.
    fn receiver(&self, id: MessageId) -> Option<usize> {
        let place = self.messages.binary_search_by_key(&id, |message| message.id).ok()?;
        Some(self.messages[place].to)
    }
}

/// In which category a viewer shows an activity, and under which name.
fn category(what: &ActivityKind) -> (&'static str, &str) {
    match what {
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

/// Begins an event of a kind on a processor's track in one of the two groups.
fn begin(out: &mut impl Write, kind: &str, pid: usize, tid: usize) -> io::Result<()> {
    writeln!(out, ",")?;
    write!(out, r#"{{"ph":"{kind}","pid":{pid},"tid":{tid}"#)
}

/// Names a processor's track, and puts the tracks in the order of the processors.
fn name_track(out: &mut impl Write, pid: usize, id: usize) -> io::Result<()> {
    begin(out, "M", pid, id)?;
    write!(out, r#","name":"thread_name","args":{{"name":"processor {id}"}}}}"#)?;
    begin(out, "M", pid, id)?;
    write!(out, r#","name":"thread_sort_index","args":{{"sort_index":{id}}}}}"#)
}

/// Writes what a program called as a slice, with all that the call is.
fn write_call(out: &mut impl Write, call: &Call) -> io::Result<()> {
    let Call { id: tid, start, end, ref what } = *call;
    let name = match what {
        CallKind::Work(kind) => &**kind,
        _ => what.name(),
    };
    begin(out, "X", CALLS, tid)?;
    write!(out, r#","ts":{},"dur":{},"cat":"call","name":"#, Micros(start), Micros(end - start))?;
    serde_json::to_writer(&mut *out, name)?;
    write!(out, r#","args":{{"start":{},"end":{},"call":"#, start.as_ps(), end.as_ps())?;
    CallText::serialize(what, &mut serde_json::Serializer::new(&mut *out))?;
    out.write_all(b"}}")
}

/// Writes what a request did as an asynchronous slice, for requests overlap what their processor does.
fn write_progress(out: &mut impl Write, progress: &Progress) -> io::Result<()> {
    let &Progress { id, request, start, end, ref what } = progress;
    let name = serde_json::to_string(category(what).1)?;
    for (kind, at) in [("b", start), ("e", end)] {
        begin(out, kind, PID, id)?;
        write!(out, r#","ts":{},"cat":"request","name":{name},"id":"{}""#, Micros(at), Own(id, request))?;
        if kind == "b" {
            write!(out, r#","args":{{"request":{request},"start":{},"end":{}"#, start.as_ps(), end.as_ps())?;
            if let ActivityKind::Send(MessageId { from, number })
            | ActivityKind::Receive(MessageId { from, number }) = what
            {
                write!(out, r#","from":{from},"number":{number}"#)?;
            }
            write!(out, "}}")?;
        }
        write!(out, "}}")?;
    }
    Ok(())
}

/// Writes a message's way through the network as an asynchronous slice, for many of them overlap.
fn write_transit(out: &mut impl Write, message: &Message) -> io::Result<()> {
    let Message { id, to, words, latency, place, enter, first, arrival } = *message;
    let MessageId { from, number } = id;
    // With a negative G_l a message may be there before it entered, and no slice can show that.
    for (kind, at) in [("b", enter), ("e", enter.max(arrival))] {
        begin(out, kind, PID, from)?;
        write!(out, r#","ts":{},"cat":"transit","name":"{from} to {to}","id":"{}""#, Micros(at), Hex(id))?;
        if kind == "b" {
            write!(out, r#","args":{{"from":{from},"number":{number},"to":{to},"words":{words},"#)?;
            // What goes without saying is left out: a port was free, and the lower number goes first.
            if latency != first - enter {
                write!(out, r#""latency":{},"#, latency.as_ps())?;
            }
            if place != from {
                write!(out, r#""place":{place},"#)?;
            }
            let [enter, first, arrival] = [enter, first, arrival].map(Time::as_ps);
            write!(out, r#""enter":{enter},"first":{first},"arrival":{arrival}}}"#)?;
        }
        write!(out, "}}")?;
    }
    Ok(())
}

/// A time as the viewers count it: microseconds, with all decimals.
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

/// The machine of a trace as JSON.
pub fn machine(trace: &Trace) -> io::Result<String> {
    Ok(serde_json::to_string(&Header::of(trace))?)
}

/// The machine, as the file says it: times in picoseconds.
#[derive(Serialize)]
struct Header<'a> {
    #[serde(flatten, serialize_with = "by_name")]
    params: &'a Params,
    #[serde(with = "PortsHeader")]
    ports: Ports,
    #[serde(with = "LatencyHeader")]
    latency: Latency,
    #[serde(with = "TiesHeader", skip_serializing_if = "is_by_number")]
    ties: Ties,
    /// What the machine's own barrier costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    barrier: Option<i64>,
    /// How many acts were out of their order, if any were.
    #[serde(skip_serializing_if = "is_zero")]
    out_of_order: u64,
}

fn is_by_number(ties: &Ties) -> bool {
    *ties == Ties::Number
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Header<'_> {
    fn of(trace: &Trace) -> Header<'_> {
        let &Trace { ref params, ports, latency, ties, barrier, out_of_order, .. } = trace;
        Header { params, ports, latency, ties, barrier: barrier.map(Time::as_ps), out_of_order }
    }
}

/// Parameters by name, and those of LogGPS together.
fn by_name<S: Serializer>(params: &&Params, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    let number = |parameter: &Parameter| Some((parameter.name, parameter.number(params)?));
    let all = Parameter::ALL.iter().chain([&Parameter::CYCLE]);
    for (name, number) in all.filter(|parameter| !parameter.is_loggps()).filter_map(number) {
        map.serialize_entry(name, &number)?;
    }
    map.serialize_entry("model", model(params))?;
    let gps: serde_json::Map<_, _> = Parameter::ALL
        .iter()
        .filter(|parameter| parameter.is_loggps())
        .filter_map(number)
        .map(|(name, number)| (name.to_owned(), number.into()))
        .collect();
    if !gps.is_empty() {
        map.serialize_entry("LogGPS", &gps)?;
    }
    map.end()
}
