//! How a trace is read back: what it says, and whether the viewers show the same.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::io::Read;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::{RawValue, Value};

use super::call::CallText;
use super::{Hex, LatencyHeader, Own, PortsHeader, TiesHeader, model};
use crate::message::MessageId;
use crate::params::Ports;
use crate::params::{Latency, Ties};
use crate::params::{Parameter, Params};
use crate::time::{Time, US, exactly};
use crate::trace::{Activity, ActivityKind, Call, CallKind, Message, Progress, Trace, TraceError};

/// Reads a trace that [`Trace::write`] wrote.
pub fn read(input: impl Read) -> Result<Trace, TraceError> {
    let file: File = serde_json::from_reader(input).map_err(TraceError::new)?;
    let Events { activities, progress, messages, calls } = file.traceEvents;
    let machine = file.otherData.machine().map_err(TraceError::new)?;
    Ok(Trace { activities, progress, messages, calls, ..machine })
}

/// The machine that a JSON text says, and nothing that happened on it.
pub fn machine_of(text: &str) -> Result<Trace, String> {
    let header: Header = serde_json::from_str(text).map_err(|error| error.to_string())?;
    header.machine()
}

/// The file. Viewers put more into the same object; that is ignored.
#[derive(Deserialize)]
struct File {
    /// The machine.
    otherData: Header,
    /// What happened.
    traceEvents: Events,
}

/// The machine, as the file says it: times in picoseconds.
#[derive(Deserialize)]
struct Header {
    /// The parameters by name, and whatever else there is.
    #[serde(flatten)]
    params: HashMap<String, Value>,
    #[serde(with = "PortsHeader")]
    ports: Ports,
    #[serde(with = "LatencyHeader")]
    latency: Latency,
    #[serde(with = "TiesHeader", default)]
    ties: Ties,
    /// What the machine's own barrier costs.
    #[serde(default)]
    barrier: Option<i64>,
    /// How many acts were out of their order, if any were.
    #[serde(default)]
    out_of_order: u64,
}

impl Header {
    /// The machine, and nothing that happened on it.
    fn machine(self) -> Result<Trace, String> {
        let barrier = self.barrier.map(Time::from_ps);
        if let Some(cost) = barrier.filter(|cost| *cost < Time::ZERO) {
            return Err(format!("a barrier that costs {cost} cannot be"));
        }
        Ok(Trace {
            params: self.params()?,
            ports: self.ports,
            latency: self.latency,
            ties: self.ties,
            barrier,
            out_of_order: self.out_of_order,
            activities: Vec::new(),
            progress: Vec::new(),
            messages: Vec::new(),
            calls: Vec::new(),
        })
    }

    /// The parameters. A machine of LogP has no G, but the file says what follows from the others.
    fn params(&self) -> Result<Params, String> {
        let gps = self.params.get("LogGPS");
        let is_logp = self.params.get("model").is_some_and(|model| model == "LogP");
        let mut builder = Params::builder(0);
        for parameter in Parameter::ALL.iter().chain([&Parameter::CYCLE]) {
            let name = parameter.name;
            let value = match (parameter.is_loggps(), gps) {
                (true, None) => continue,
                (true, Some(gps)) => gps.get(name),
                (false, _) if name == "G" && (is_logp || gps.is_some()) => continue,
                (false, _) => self.params.get(name),
            };
            let value = value.ok_or_else(|| format!("its machine lacks its {name:?}"))?;
            let number = value.as_i64().ok_or_else(|| {
                let kind = if parameter.is_time() { "picoseconds" } else { "things" };
                format!("its machine has {name:?} {value}, no whole number of {kind}")
            })?;
            builder = builder.set_number(parameter, number);
        }
        let params = builder.build().map_err(|why| why.to_string())?;
        let said = self.params.get("G").and_then(Value::as_i64).map(Time::from_ps);
        if is_logp && said.is_some() && said != params.G() {
            return Err("its machine is one of LogP, and its G is not max(g, o)".into());
        }
        match self.params.get("model") {
            Some(said) if said != model(&params) => Err(format!(
                "its machine is said to be one of {said}, and has the parameters of {}",
                model(&params)
            )),
            _ => Ok(params),
        }
    }
}

/// The events of a file, sorted out while they are read: a trace may have millions.
struct Events {
    activities: Vec<Activity>,
    progress: Vec<Progress>,
    messages: Vec<Message>,
    calls: Vec<Call>,
}

/// An event, as far as it matters here.
#[derive(Deserialize)]
struct Event {
    /// What it is: `X` a slice, `b` the begin of an asynchronous one.
    ph: String,
    #[serde(default)]
    cat: String,
    #[serde(default)]
    name: String,
    tid: Option<usize>,
    /// Which message it belongs to.
    id: Option<Value>,
    /// From when on it is shown, as it is written: a floating point number could hide a picosecond.
    ts: Option<Box<RawValue>>,
    /// How long it is shown.
    dur: Option<Box<RawValue>>,
    #[serde(default)]
    args: Args,
}

/// What was called.
#[derive(Deserialize)]
struct Called(#[serde(with = "CallText")] CallKind);

/// What events carry: slices some of it, messages the rest.
#[derive(Default, Deserialize)]
struct Args {
    start: Option<i64>,
    end: Option<i64>,
    request: Option<u32>,
    from: Option<usize>,
    number: Option<usize>,
    to: Option<usize>,
    words: Option<usize>,
    latency: Option<i64>,
    place: Option<usize>,
    enter: Option<i64>,
    first: Option<i64>,
    arrival: Option<i64>,
    call: Option<Called>,
}

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Events, D::Error> {
        deserializer.deserialize_seq(Collector)
    }
}

/// Takes the events one by one.
struct Collector;

impl<'de> Visitor<'de> for Collector {
    type Value = Events;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Events, A::Error> {
        let mut events =
            Events { activities: Vec::new(), progress: Vec::new(), messages: Vec::new(), calls: Vec::new() };
        let mut points = Points::default();
        while let Some(event) = sequence.next_element::<Event>()? {
            events.take(event, &mut points).map_err(A::Error::custom)?;
        }
        points.check().map_err(A::Error::custom)?;
        Ok(events)
    }
}

impl Events {
    /// Takes what an event says. Names are for the viewers alone.
    fn take(&mut self, mut event: Event, points: &mut Points) -> Result<(), String> {
        match (&*event.ph, &*event.cat) {
            ("X", "call") => {
                let call = event.call()?;
                event.check_slice(call.id, call.start, call.end)?;
                self.calls.push(call);
            }
            ("X", _) => {
                let activity = event.activity()?;
                event.check_slice(activity.id, activity.start, activity.end)?;
                points.expect_arrow(&activity);
                self.activities.push(activity);
            }
            ("b", "request") => {
                let progress = event.progress()?;
                points.show(event.point()?);
                points.expect_progress(&progress);
                self.progress.push(progress);
            }
            ("s" | "f", "message") | ("e", "transit" | "request") => points.show(event.point()?),
            ("b", "transit") => {
                let message = event.message()?;
                points.show(event.point()?);
                points.expect_transit(&message);
                self.messages.push(message);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A moment that a message has in the viewers: the end of an arrow, or of an asynchronous slice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Point {
    /// What event shows it: `s` or `f`, `b` or `e`.
    kind: String,
    /// The name of the message.
    id: String,
    /// The processor on whose track it is shown.
    tid: usize,
    /// When the message has it.
    at: Time,
}

/// The points that events show, less those that should be shown. A point and what it follows from are close to
/// each other in a file, so these are few at any time.
#[derive(Default)]
struct Points(HashMap<Point, i64>);

impl Points {
    fn show(&mut self, point: Point) {
        self.count(point, 1);
    }

    /// What an overhead shows: an arrow begins at its end, or ends at its start.
    fn expect_arrow(&mut self, activity: &Activity) {
        let &Activity { id: tid, start, end, ref what } = activity;
        match *what {
            ActivityKind::Send(id) => self.expect("s", id, tid, end),
            ActivityKind::Receive(id) => self.expect("f", id, tid, start),
            _ => {}
        }
    }

    /// What a message shows while it is in transit.
    fn expect_transit(&mut self, message: &Message) {
        let &Message { id, enter, arrival, .. } = message;
        self.expect("b", id, id.from, enter);
        self.expect("e", id, id.from, enter.max(arrival));
    }

    /// What a request shows while it does something.
    fn expect_progress(&mut self, progress: &Progress) {
        let &Progress { id: tid, request, start, end, .. } = progress;
        for (kind, at) in [("b", start), ("e", end)] {
            self.count(Point { kind: kind.into(), id: Own(tid, request).to_string(), tid, at }, -1);
        }
    }

    fn expect(&mut self, kind: &str, id: MessageId, tid: usize, at: Time) {
        self.count(Point { kind: kind.into(), id: Hex(id).to_string(), tid, at }, -1);
    }

    fn count(&mut self, point: Point, more: i64) {
        match self.0.entry(point) {
            Entry::Vacant(entry) => _ = entry.insert(more),
            Entry::Occupied(entry) if *entry.get() == -more => _ = entry.remove(),
            Entry::Occupied(mut entry) => *entry.get_mut() += more,
        }
    }

    /// Refuses a point that should not be there. One that is missing hides something, and says nothing wrong.
    fn check(&self) -> Result<(), String> {
        let wrong = self.0.iter().filter(|(_, count)| **count > 0).map(|(point, _)| point).min();
        let Some(Point { kind, id, tid, at }) = wrong else { return Ok(()) };
        Err(format!("event {kind:?} of message {id:?} is at {at} on track {tid}, where no \"args\" put it"))
    }
}

impl Event {
    /// The moment from which on it is shown.
    fn ts(&self) -> Result<Time, String> {
        self.micros(&self.ts, "ts")
    }

    fn micros(&self, number: &Option<Box<RawValue>>, name: &str) -> Result<Time, String> {
        let number = need(number.as_ref(), name)?.get();
        let odd = || format!("event {:?} has {name:?} {number}, no whole number of picoseconds", self.ph);
        exactly(number, US).map_err(|_| odd())
    }

    /// Refuses a slice that is shown elsewhere than where the activity or the call was.
    fn check_slice(&self, id: usize, start: Time, end: Time) -> Result<(), String> {
        let (ts, dur) = (self.ts()?, self.micros(&self.dur, "dur")?);
        if (ts, dur) == (start, end - start) {
            return Ok(());
        }
        let shown = format!("event {:?} of processor {id} is shown from {ts} for {dur}", self.name);
        Err(format!("{shown}, and its \"args\" say from {start} to {end}"))
    }

    /// The point of a message that it shows.
    fn point(&self) -> Result<Point, String> {
        let id = need(self.id.as_ref().and_then(Value::as_str), "id")?.to_owned();
        Ok(Point { kind: self.ph.clone(), id, tid: need(self.tid, "tid")?, at: self.ts()? })
    }

    fn activity(&self) -> Result<Activity, String> {
        let id = need(self.tid, "tid")?;
        let (start, end) = (need(self.args.start, "start")?, need(self.args.end, "end")?);
        let what = self.kind(&self.cat)?;
        Ok(Activity { id, start: Time::from_ps(start), end: Time::from_ps(end), what })
    }

    fn progress(&self) -> Result<Progress, String> {
        let (id, request) = (need(self.tid, "tid")?, need(self.args.request, "request")?);
        let [start, end] =
            [(self.args.start, "start"), (self.args.end, "end")].map(|(ps, name)| need(ps, name));
        let category = match &*self.name {
            "send" | "receive" => "overhead",
            name => name, // what is no overhead is called as its category is
        };
        let what = self.kind(category)?;
        Ok(Progress { id, request, start: Time::from_ps(start?), end: Time::from_ps(end?), what })
    }

    /// What was done, in this category.
    fn kind(&self, category: &str) -> Result<ActivityKind, String> {
        Ok(match (category, &*self.name) {
            ("work", _) => ActivityKind::Work(self.name.clone().into()),
            ("overhead", "send") => ActivityKind::Send(self.args.id()?),
            ("overhead", "receive") => ActivityKind::Receive(self.args.id()?),
            ("gap", _) => ActivityKind::Gap,
            ("stall", _) => ActivityKind::Stall,
            ("port", _) => ActivityKind::Port,
            ("overhead", "post") => ActivityKind::Post(need(self.args.request, "request")?),
            ("idle", "wait") => ActivityKind::Wait(need(self.args.request, "request")?),
            ("idle", "barrier") => ActivityKind::Barrier,
            ("idle", _) => ActivityKind::Idle,
            (cat, name) => return Err(format!("a processor does not do {cat:?} {name:?}")),
        })
    }

    fn call(&mut self) -> Result<Call, String> {
        let Called(what) = need(self.args.call.take(), "call")?;
        let (start, end) = (need(self.args.start, "start")?, need(self.args.end, "end")?);
        Ok(Call { id: need(self.tid, "tid")?, start: Time::from_ps(start), end: Time::from_ps(end), what })
    }

    fn message(&self) -> Result<Message, String> {
        let time = |ps, name| need(ps, name).map(Time::from_ps);
        let (id, enter, first) =
            (self.args.id()?, time(self.args.enter, "enter")?, time(self.args.first, "first")?);
        Ok(Message {
            id,
            to: need(self.args.to, "to")?,
            words: need(self.args.words, "words")?,
            latency: self.args.latency.map_or(first - enter, Time::from_ps),
            place: self.args.place.unwrap_or(id.from),
            enter,
            first,
            arrival: time(self.args.arrival, "arrival")?,
        })
    }
}

impl Args {
    fn id(&self) -> Result<MessageId, String> {
        Ok(MessageId { from: need(self.from, "from")?, number: need(self.number, "number")? })
    }
}

/// What an event must have.
fn need<T>(value: Option<T>, name: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("an event lacks its {name:?}"))
}
