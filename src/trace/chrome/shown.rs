//! What viewers are shown of all that a trace holds, and what of that is read back.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::event::{Called, Event, need, need_time};
use super::spelling::CallText;
use crate::message::MessageId;
use crate::text::outside;
use crate::time::{Time, US};
use crate::trace::bound::Bounded;
use crate::trace::call::{Call, CallKind};
use crate::trace::machine::json;
use crate::trace::record::{Activity, ActivityKind, Message, Progress};

/// The machine among the viewers' processes, the processors its threads. In Perfetto process 0 is the kernel's
/// idle one, and a thread with the process's number its main one: so the number is no processor's.
pub(super) const PID: usize = 1 << 24;

/// The process of the calls.
pub(super) const CALLS: usize = PID + 1;

/// What a trace holds and viewers show.
pub(super) trait Record: Bounded + Sized {
    /// By which events it is shown. In the first stands what it says of itself.
    fn shown(&self) -> Vec<Shown<'_>>;

    /// What it says of itself, so that it can be read back: the fields of an object.
    fn said(&self) -> serde_json::Result<String>;

    /// The one that an event says.
    fn of(event: &mut Event) -> Result<Self, String>;
}

/// An event as the viewers see it.
pub(super) struct Shown<'a> {
    /// `X` is a slice, `s` and `f` are the ends of an arrow, `b` and `e` those of an asynchronous slice.
    pub ph: &'static str,
    pub pid: usize,
    /// On which processor's track it is.
    pub tid: usize,
    /// When it is, or begins.
    pub at: Time,
    /// How long a slice is.
    pub dur: Option<Time>,
    pub cat: &'static str,
    pub name: Cow<'a, str>,
    /// The name of the message or the request to which it belongs.
    pub id: Option<String>,
}

/// As it stands in a file, but for the braces around it.
impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown { ph, pid, tid, at, dur, cat, name, id } = self;
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

/// A slice, and the end of an arrow if the processor sent or received.
impl Record for Activity {
    fn shown(&self) -> Vec<Shown<'_>> {
        let Activity { id: tid, start, end, ref what } = *self;
        let (cat, name) = category(what);
        let mut events = vec![slice(PID, tid, [start, end], cat, name)];
        // The viewers bind an arrow to the slice above it in the file: here it still is the send.
        let arrow = match *what {
            ActivityKind::Send(id) => Some((id, "s", end)),
            ActivityKind::Receive(id) => Some((id, "f", start)),
            _ => None,
        };
        events.extend(arrow.map(|(id, ph, at)| {
            let (cat, name, id) = ("message", "message".into(), Some(hex(id)));
            Shown { ph, pid: PID, tid, at, dur: None, cat, name, id }
        }));
        events
    }

    fn said(&self) -> serde_json::Result<String> {
        let said = times(self.start, self.end) + &message(&self.what);
        Ok(match self.what {
            ActivityKind::Post(request) | ActivityKind::Wait(request) => {
                format!(r#"{said},"request":{request}"#)
            }
            _ => said,
        })
    }

    fn of(event: &mut Event) -> Result<Activity, String> {
        let (id, start, end) = event.span()?;
        Ok(Activity { id, start, end, what: kind(&event.cat, event)? })
    }
}

/// An asynchronous slice: requests overlap what their processor does.
impl Record for Progress {
    fn shown(&self) -> Vec<Shown<'_>> {
        let Progress { id, request, start, end, ref what } = *self;
        let own = format!("1{id:08x}{request:08x}"); // which is no message's name
        asynchronous(id, [start, end], "request", category(what).1.into(), own)
    }

    fn said(&self) -> serde_json::Result<String> {
        let Progress { request, start, end, ref what, .. } = *self;
        Ok(format!(r#""request":{request},{}{}"#, times(start, end), message(what)))
    }

    fn of(event: &mut Event) -> Result<Progress, String> {
        let (id, start, end) = event.span()?;
        let category = match &*event.name {
            "send" | "receive" => "overhead",
            name => name, // what is no overhead is called as its category is
        };
        let request = need(event.args.request, "request")?;
        Ok(Progress { id, request, start, end, what: kind(category, event)? })
    }
}

/// An asynchronous slice on its sender's track while it is in the network: many of them overlap.
impl Record for Message {
    fn shown(&self) -> Vec<Shown<'_>> {
        let MessageId { from, .. } = self.id;
        let name = format!("{from} to {}", self.to).into();
        // With a negative G_l a message may be there before it entered, and no slice can show that.
        asynchronous(from, [self.enter, self.enter.max(self.arrival)], "transit", name, hex(self.id))
    }

    fn said(&self) -> serde_json::Result<String> {
        let Message { id: MessageId { from, number }, to, words, latency, place, enter, first, arrival } =
            *self;
        let mut said = format!(r#""from":{from},"number":{number},"to":{to},"words":{words}"#);
        // What goes without saying is left out: a port was free, and the lower number goes first.
        if latency != first - enter {
            said += &format!(r#","latency":{}"#, latency.as_ps());
        }
        if place != from {
            said += &format!(r#","place":{place}"#);
        }
        let [enter, first, arrival] = [enter, first, arrival].map(Time::as_ps);
        Ok(format!(r#"{said},"enter":{enter},"first":{first},"arrival":{arrival}"#))
    }

    fn of(event: &mut Event) -> Result<Message, String> {
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

/// A slice of another process, with all that the call is.
impl Record for Call {
    fn shown(&self) -> Vec<Shown<'_>> {
        let name = match &self.what {
            CallKind::Work(kind) => kind,
            what => what.name(),
        };
        vec![slice(CALLS, self.id, [self.start, self.end], "call", name)]
    }

    fn said(&self) -> serde_json::Result<String> {
        let call = json(|to| CallText::serialize(&self.what, to))?;
        Ok(format!(r#"{},"call":{call}"#, times(self.start, self.end)))
    }

    fn of(event: &mut Event) -> Result<Call, String> {
        let Called(what) = need(event.args.call.take(), "call")?;
        let (id, start, end) = event.span()?;
        Ok(Call { id, start, end, what })
    }
}

fn slice<'a>(pid: usize, tid: usize, [start, end]: [Time; 2], cat: &'static str, name: &'a str) -> Shown<'a> {
    Shown { ph: "X", pid, tid, at: start, dur: Some(end - start), cat, name: name.into(), id: None }
}

/// The two ends of an asynchronous slice.
fn asynchronous<'a>(
    tid: usize,
    [begin, end]: [Time; 2],
    cat: &'static str,
    name: Cow<'a, str>,
    id: String,
) -> Vec<Shown<'a>> {
    let shown = |ph, at, name, id| Shown { ph, pid: PID, tid, at, dur: None, cat, name, id: Some(id) };
    vec![shown("b", begin, name.clone(), id.clone()), shown("e", end, name, id)]
}

/// A message's name as Perfetto takes one: a hexadecimal number.
fn hex(id: MessageId) -> String {
    format!("{:x}{:08x}", id.from, id.number)
}

/// What something says of its times.
fn times(start: Time, end: Time) -> String {
    format!(r#""start":{},"end":{}"#, start.as_ps(), end.as_ps())
}

/// What something says of its message, after its times.
fn message(what: &ActivityKind) -> String {
    match what {
        ActivityKind::Send(id) | ActivityKind::Receive(id) => {
            format!(r#","from":{},"number":{}"#, id.from, id.number)
        }
        _ => String::new(),
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

/// What was done, in this category.
fn kind(category: &str, event: &Event) -> Result<ActivityKind, String> {
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
            return Err(format!("a processor does not do {:?} {:?}", outside(category), outside(name)));
        }
    })
}
