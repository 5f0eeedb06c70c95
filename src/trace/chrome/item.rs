//! The items of a trace as events of the file: how viewers show them, and how they are read back.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::event::{CallArg, JsonEvent, need, need_time};
use super::spelling::CallText;
use crate::message::MessageId;
use crate::text::escaped;
use crate::time::{Time, US};
use crate::trace::bound::BoundedItem;
use crate::trace::call::{Call, CallKind};
use crate::trace::machine::json;
use crate::trace::record::{Activity, ActivityKind, Message, Progress};

/// The process of the machine, whose threads are the processors. In Perfetto process 0 is the kernel's idle
/// one, and a thread with the process's number is its main one, so no processor has this number.
pub(super) const PID: usize = 1 << 24;

/// The process of the calls.
pub(super) const CALLS: usize = PID + 1;

/// An item of a trace that viewers show.
pub(super) trait ChromeItem: BoundedItem + Sized {
    /// Returns the events by which viewers show the item. The first one carries the item's arguments.
    fn viewer_events(&self) -> Vec<ViewerEvent<'_>>;

    /// Returns the item's arguments, from which it is read back: the fields of a JSON object.
    fn args_json(&self) -> serde_json::Result<String>;

    /// Reads the item from an event.
    fn from_event(event: &mut JsonEvent) -> Result<Self, String>;
}

/// An event as viewers show it.
pub(super) struct ViewerEvent<'a> {
    /// Phase: `X` is a slice, `s` and `f` are the ends of an arrow, `b` and `e` those of an asynchronous
    /// slice.
    pub ph: &'static str,
    pub pid: usize,
    /// The processor on whose track it is.
    pub tid: usize,
    /// The time, or the start of a slice.
    pub at: Time,
    /// Length of a slice.
    pub dur: Option<Time>,
    pub cat: &'static str,
    pub name: Cow<'a, str>,
    /// Name of the message or the request to which it belongs.
    pub id: Option<String>,
}

/// As in the file, but without the braces.
impl fmt::Display for ViewerEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ViewerEvent { ph, pid, tid, at, dur, cat, name, id } = self;
        write!(f, r#""ph":"{ph}","pid":{pid},"tid":{tid}"#)?;
        if matches!(*ph, "s" | "f") {
            write!(f, r#","bp":"e""#)?; // it is bound to the slice around it
        }
        write!(f, r#","ts":{}"#, Micros(*at))?;
        if let Some(dur) = dur {
            write!(f, r#","dur":{}"#, Micros(*dur))?;
        }
        write!(f, r#","cat":"{cat}","name":{}"#, Value::from(&**name))?;
        id.as_ref().map_or(Ok(()), |id| write!(f, r#","id":"{id}""#))
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

/// A slice, and the end of an arrow if it is a send or a reception.
impl ChromeItem for Activity {
    fn viewer_events(&self) -> Vec<ViewerEvent<'_>> {
        let Activity { id: tid, start, end, ref kind } = *self;
        let (cat, name) = category(kind);
        let mut events = vec![slice(PID, tid, [start, end], cat, name)];
        // Viewers bind an arrow to the slice before it in the file, which here is its own.
        let arrow = match *kind {
            ActivityKind::Send(id) => Some((id, "s", end)),
            ActivityKind::Receive(id) => Some((id, "f", start)),
            _ => None,
        };
        events.extend(arrow.map(|(id, ph, at)| {
            let (cat, name, id) = ("message", "message".into(), Some(hex(id)));
            ViewerEvent { ph, pid: PID, tid, at, dur: None, cat, name, id }
        }));
        events
    }

    fn args_json(&self) -> serde_json::Result<String> {
        let args = times(self.start, self.end) + &message(&self.kind);
        Ok(match self.kind {
            ActivityKind::Post(request) | ActivityKind::Wait(request) => {
                format!(r#"{args},"request":{request}"#)
            }
            _ => args,
        })
    }

    fn from_event(event: &mut JsonEvent) -> Result<Activity, String> {
        let (id, start, end) = event.span()?;
        Ok(Activity { id, start, end, kind: activity_kind(&event.cat, event)? })
    }
}

/// An asynchronous slice, since requests overlap their processor's activities.
impl ChromeItem for Progress {
    fn viewer_events(&self) -> Vec<ViewerEvent<'_>> {
        let Progress { id, request, start, end, ref kind } = *self;
        let own = format!("1{id:08x}{request:08x}"); // not the name of any message
        asynchronous(id, [start, end], "request", category(kind).1.into(), own)
    }

    fn args_json(&self) -> serde_json::Result<String> {
        let Progress { request, start, end, ref kind, .. } = *self;
        Ok(format!(r#""request":{request},{}{}"#, times(start, end), message(kind)))
    }

    fn from_event(event: &mut JsonEvent) -> Result<Progress, String> {
        let (id, start, end) = event.span()?;
        let category = match &*event.name {
            "send" | "receive" => "overhead",
            name => name, // all but overheads are named like their category
        };
        let request = need(event.args.request, "request")?;
        Ok(Progress { id, request, start, end, kind: activity_kind(category, event)? })
    }
}

/// An asynchronous slice on the sender's track while the message is in the network, since many overlap.
impl ChromeItem for Message {
    fn viewer_events(&self) -> Vec<ViewerEvent<'_>> {
        let MessageId { from, .. } = self.id;
        let name = format!("{from} to {}", self.to).into();
        // With a negative G_l a message may arrive before it enters, which no slice can show.
        asynchronous(from, [self.enter, self.enter.max(self.arrival)], "transit", name, hex(self.id))
    }

    fn args_json(&self) -> serde_json::Result<String> {
        let Message { id: MessageId { from, number }, to, words, latency, place, enter, first, arrival } =
            *self;
        let mut args = format!(r#""from":{from},"number":{number},"to":{to},"words":{words}"#);
        // The usual is left out: the port was free, and the lower number goes first.
        if latency != first - enter {
            args += &format!(r#","latency":{}"#, latency.as_ps());
        }
        if place != from {
            args += &format!(r#","place":{place}"#);
        }
        let [enter, first, arrival] = [enter, first, arrival].map(Time::as_ps);
        Ok(format!(r#"{args},"enter":{enter},"first":{first},"arrival":{arrival}"#))
    }

    fn from_event(event: &mut JsonEvent) -> Result<Message, String> {
        let (id, args) = (event.message()?, &event.args);
        let (enter, first) = (need_time(args.enter, "enter")?, need_time(args.first, "first")?);
        Ok(Message {
            id,
            to: need(args.to, "to")?,
            words: need(args.words, "words")?,
            latency: args.latency.map_or(first - enter, Time::from_ps),
            place: args.place.unwrap_or(id.from),
            enter,
            first,
            arrival: need_time(args.arrival, "arrival")?,
        })
    }
}

/// A slice of another process, with the whole call as an argument.
impl ChromeItem for Call {
    fn viewer_events(&self) -> Vec<ViewerEvent<'_>> {
        let name = match &self.kind {
            CallKind::Work(kind) => kind,
            kind => kind.name(),
        };
        vec![slice(CALLS, self.id, [self.start, self.end], "call", name)]
    }

    fn args_json(&self) -> serde_json::Result<String> {
        let call = json(|to| CallText::serialize(&self.kind, to))?;
        Ok(format!(r#"{},"call":{call}"#, times(self.start, self.end)))
    }

    fn from_event(event: &mut JsonEvent) -> Result<Call, String> {
        let CallArg(kind) = need(event.args.call.take(), "call")?;
        let (id, start, end) = event.span()?;
        Ok(Call { id, start, end, kind })
    }
}

fn slice<'a>(
    pid: usize,
    tid: usize,
    [start, end]: [Time; 2],
    cat: &'static str,
    name: &'a str,
) -> ViewerEvent<'a> {
    ViewerEvent { ph: "X", pid, tid, at: start, dur: Some(end - start), cat, name: name.into(), id: None }
}

/// Returns the two ends of an asynchronous slice.
fn asynchronous<'a>(
    tid: usize,
    [begin, end]: [Time; 2],
    cat: &'static str,
    name: Cow<'a, str>,
    id: String,
) -> Vec<ViewerEvent<'a>> {
    let shown = |ph, at, name, id| ViewerEvent { ph, pid: PID, tid, at, dur: None, cat, name, id: Some(id) };
    vec![shown("b", begin, name.clone(), id.clone()), shown("e", end, name, id)]
}

/// Returns a message's name as Perfetto takes it: a hexadecimal number.
fn hex(id: MessageId) -> String {
    format!("{:x}{:08x}", id.from, id.number)
}

/// Returns the arguments for times.
fn times(start: Time, end: Time) -> String {
    format!(r#""start":{},"end":{}"#, start.as_ps(), end.as_ps())
}

/// Returns the arguments for the message of an activity, if it has one.
fn message(kind: &ActivityKind) -> String {
    match kind {
        ActivityKind::Send(id) | ActivityKind::Receive(id) => {
            format!(r#","from":{},"number":{}"#, id.from, id.number)
        }
        _ => String::new(),
    }
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

/// Returns the kind of activity of an event in this category.
fn activity_kind(category: &str, event: &JsonEvent) -> Result<ActivityKind, String> {
    Ok(match (category, &*event.name) {
        ("work", kind) => ActivityKind::Work(kind.to_owned().into()),
        ("overhead", "send") => ActivityKind::Send(event.message()?),
        ("overhead", "receive") => ActivityKind::Receive(event.message()?),
        ("gap", _) => ActivityKind::Gap,
        ("stall", _) => ActivityKind::Stall,
        ("port", _) => ActivityKind::Port,
        ("overhead", "post") => ActivityKind::Post(need(event.args.request, "request")?),
        ("idle", "wait") => ActivityKind::Wait(need(event.args.request, "request")?),
        ("idle", "barrier") => ActivityKind::Barrier,
        ("idle", _) => ActivityKind::Idle,
        (category, name) => {
            return Err(format!("a processor does not do {:?} {:?}", escaped(category), escaped(name)));
        }
    })
}
