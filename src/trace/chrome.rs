//! A trace as a file: the trace event format of Chrome, which <https://ui.perfetto.dev> and `chrome://tracing`
//! open as it is.
//!
//! A processor is a thread, what it does is a slice on its track, a message is an arrow from the slice that
//! sends it to the slice that receives it, and an asynchronous slice while it is in transit. The viewers
//! count in microseconds and round; so each event also carries its times in whole picoseconds, and these are
//! what is read back. What the viewers show is held against them, so that a picture cannot say another thing
//! than an audit.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, Value};

use super::{Activity, Message, MessageId, Trace, What};
use crate::choice::{Latency, Ties};
use crate::network::Ports;
use crate::params::{LogGps, Params};
use crate::time::{Time, US};

/// The machine among the viewers' processes, the processors its threads. In Perfetto process 0 is the kernel's
/// idle one, and a thread with the process's number its main one: so the number is no processor's.
const PID: usize = 1 << 24;

/// Why a text is not a trace, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the trace of a run: {0}")]
pub struct TraceError(String);

impl TraceError {
    fn new(why: impl fmt::Display) -> TraceError {
        TraceError(why.to_string().replace(char::is_control, " ")) // it may quote the file
    }
}

impl Trace {
    /// Writes the trace as Chrome's trace events, a line each.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        let machine = serde_json::to_string(&Header::of(self))?;
        write!(out, r#"{{"displayTimeUnit":"ns","otherData":{machine},"traceEvents":["#)?;
        writeln!(out)?;
        write!(out, r#"{{"ph":"M","pid":{PID},"name":"process_name","args":{{"name":"machine"}}}}"#)?;
        let mut named = None;
        for activity in &self.activities {
            if named.replace(activity.id) != Some(activity.id) {
                name_track(&mut out, activity.id)?;
            }
            self.write_activity(&mut out, activity)?;
        }
        for message in &self.messages {
            write_transit(&mut out, message)?;
        }
        out.write_all(b"\n]}\n")?;
        out.flush()
    }

    /// Reads a trace that [`write`](Trace::write) wrote: exactly the same one.
    pub fn read(input: impl Read) -> Result<Trace, TraceError> {
        let mut input = BufReader::new(input);
        if input.fill_buf().map_err(TraceError::new)?.is_empty() {
            return Err(TraceError::new("it is empty"));
        }
        let file: File = serde_json::from_reader(input).map_err(TraceError::new)?;
        let Events { activities, messages } = file.traceEvents;
        let trace = Trace { activities, messages, ..file.otherData.machine() };
        trace.params.check().map_err(TraceError::new)?;
        match trace.barrier {
            Some(cost) if cost < Time::ZERO => {
                Err(TraceError::new(format_args!("a barrier that costs {cost} cannot be")))
            }
            _ => Ok(trace),
        }
    }

    /// Writes what a processor did as a slice, and the end of an arrow if it sent or received.
    fn write_activity(&self, out: &mut impl Write, activity: &Activity) -> io::Result<()> {
        let Activity { id: tid, start, end, ref what } = *activity;
        let (cat, name) = match what {
            What::Work(kind) => ("work", &**kind),
            What::Send(_) => ("overhead", "send"),
            What::Receive(_) => ("overhead", "receive"),
            What::Gap => ("gap", "gap"),
            What::Stall => ("stall", "stall"),
            What::Port => ("port", "port"),
            What::Idle => ("idle", "idle"),
            What::Barrier => ("idle", "barrier"),
        };
        let name = serde_json::to_string(name)?;
        let (ts, dur) = (Micros(start), Micros(end - start));
        begin(out, "X", tid)?;
        write!(out, r#","ts":{ts},"dur":{dur},"cat":"{cat}","name":{name}"#)?;
        write!(out, r#","args":{{"start":{},"end":{}"#, start.as_ps(), end.as_ps())?;
        let (id, arrow, at) = match *what {
            // The viewers bind an arrow to the slice above it in the file: here it still is the send.
            What::Send(id) => (id, "s", Micros(end)),
            What::Receive(id) => (id, "f", Micros(start)),
            _ => return out.write_all(b"}}"),
        };
        let MessageId { from, number } = id;
        write!(out, r#","from":{from},"number":{number}"#)?;
        if let Some(to) = self.receiver(id) {
            write!(out, r#","to":{to}"#)?;
        }
        write!(out, "}}}}")?;
        begin(out, arrow, tid)?;
        write!(out, r#","bp":"e","ts":{at},"cat":"message","name":"message","id":"{}"}}"#, Hex(id))
    }

    /// To whom a message was sent, for a reader of the file; a trace that was tampered with may not say.
    fn receiver(&self, id: MessageId) -> Option<usize> {
        let place = self.messages.binary_search_by_key(&id, |message| message.id).ok()?;
        Some(self.messages[place].to)
    }
}

/// Begins an event of a kind on a processor's track.
fn begin(out: &mut impl Write, kind: &str, tid: usize) -> io::Result<()> {
    writeln!(out, ",")?;
    write!(out, r#"{{"ph":"{kind}","pid":{PID},"tid":{tid}"#)
}

/// Names a processor's track, and puts the tracks in the order of the processors.
fn name_track(out: &mut impl Write, id: usize) -> io::Result<()> {
    begin(out, "M", id)?;
    write!(out, r#","name":"thread_name","args":{{"name":"processor {id}"}}}}"#)?;
    begin(out, "M", id)?;
    write!(out, r#","name":"thread_sort_index","args":{{"sort_index":{id}}}}}"#)
}

/// Writes a message's way through the network as an asynchronous slice, for many of them overlap.
fn write_transit(out: &mut impl Write, message: &Message) -> io::Result<()> {
    let Message { id, to, words, latency, place, enter, first, arrival } = *message;
    let MessageId { from, number } = id;
    // With a negative G_l a message may be there before it entered, and no slice can show that.
    for (kind, at) in [("b", enter), ("e", enter.max(arrival))] {
        begin(out, kind, from)?;
        write!(out, r#","ts":{},"cat":"transit","name":"{from} to {to}","id":"{}""#, Micros(at), Hex(id))?;
        if kind == "b" {
            write!(out, r#","args":{{"from":{from},"number":{number},"to":{to},"words":{words},"#)?;
            // What goes without saying is left out: a port was free, and who was first is the lower number.
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

/// A message's name as Perfetto takes one: a hexadecimal number.
struct Hex(MessageId);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}{:08x}", self.0.from, self.0.number)
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

/// The file. Viewers put more into the same object; that is ignored.
#[derive(Deserialize)]
struct File {
    /// The machine.
    otherData: Header,
    /// What happened.
    traceEvents: Events,
}

/// The machine, as the file says it: times in picoseconds.
#[derive(Serialize, Deserialize)]
struct Header {
    L: i64,
    o: i64,
    g: i64,
    G: i64,
    P: usize,
    word: usize,
    cycle: i64,
    /// What LogGPS adds.
    #[serde(rename = "LogGPS", skip_serializing_if = "Option::is_none")]
    gps: Option<GpsHeader>,
    #[serde(with = "PortsHeader")]
    ports: Ports,
    #[serde(with = "LatencyHeader")]
    latency: Latency,
    #[serde(with = "TiesHeader", default, skip_serializing_if = "is_by_number")]
    ties: Ties,
    /// What the machine's own barrier costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    barrier: Option<i64>,
    /// How many acts were out of their order, if any were.
    #[serde(default, skip_serializing_if = "is_zero")]
    out_of_order: u64,
}

fn is_by_number(ties: &Ties) -> bool {
    *ties == Ties::Number
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// LogGPS's parameters, as the file says them.
#[derive(Serialize, Deserialize)]
struct GpsHeader {
    s: usize,
    S: usize,
    O_s: i64,
    O_r: i64,
    G_s: i64,
    G_l: i64,
}

/// How the file spells [`Ports`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Ports", rename_all = "lowercase")]
enum PortsHeader {
    Single,
    Dual,
}

/// How the file spells [`Latency`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Latency", rename_all = "lowercase")]
enum LatencyHeader {
    Exact,
    Random { seed: u64 },
    Exponential { seed: u64 },
}

/// How the file spells [`Ties`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Ties", rename_all = "lowercase")]
enum TiesHeader {
    Number,
    Rotation,
    Random { seed: u64 },
}

impl Header {
    fn of(trace: &Trace) -> Header {
        let &Trace { params, ports, latency, ties, barrier, out_of_order, .. } = trace;
        let gps = params.gps.map(|gps| GpsHeader {
            s: gps.s,
            S: gps.S,
            O_s: gps.O_s.as_ps(),
            O_r: gps.O_r.as_ps(),
            G_s: gps.G_s.as_ps(),
            G_l: gps.G_l.as_ps(),
        });
        Header {
            L: params.L.as_ps(),
            o: params.o.as_ps(),
            g: params.g.as_ps(),
            G: params.G.as_ps(),
            P: params.P,
            word: params.word,
            cycle: params.cycle.as_ps(),
            gps,
            ports,
            latency,
            ties,
            barrier: barrier.map(Time::as_ps),
            out_of_order,
        }
    }

    /// The machine, and nothing that happened on it.
    fn machine(self) -> Trace {
        let gps = self.gps.map(|gps| LogGps {
            s: gps.s,
            S: gps.S,
            O_s: Time::from_ps(gps.O_s),
            O_r: Time::from_ps(gps.O_r),
            G_s: Time::from_ps(gps.G_s),
            G_l: Time::from_ps(gps.G_l),
        });
        let params = Params {
            L: Time::from_ps(self.L),
            o: Time::from_ps(self.o),
            g: Time::from_ps(self.g),
            G: Time::from_ps(self.G),
            P: self.P,
            word: self.word,
            cycle: Time::from_ps(self.cycle),
            gps,
        };
        Trace {
            params,
            ports: self.ports,
            latency: self.latency,
            ties: self.ties,
            barrier: self.barrier.map(Time::from_ps),
            out_of_order: self.out_of_order,
            activities: Vec::new(),
            messages: Vec::new(),
        }
    }
}

/// The events of a file, sorted out while they are read: a trace may have millions.
struct Events {
    activities: Vec<Activity>,
    messages: Vec<Message>,
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

/// What events carry: slices some of it, messages the rest.
#[derive(Default, Deserialize)]
struct Args {
    start: Option<i64>,
    end: Option<i64>,
    from: Option<usize>,
    number: Option<usize>,
    to: Option<usize>,
    words: Option<usize>,
    latency: Option<i64>,
    place: Option<usize>,
    enter: Option<i64>,
    first: Option<i64>,
    arrival: Option<i64>,
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
        let mut events = Events { activities: Vec::new(), messages: Vec::new() };
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
    fn take(&mut self, event: Event, points: &mut Points) -> Result<(), String> {
        match (&*event.ph, &*event.cat) {
            ("X", _) => {
                let activity = event.activity()?;
                event.check_slice(&activity)?;
                points.expect_arrow(&activity);
                self.activities.push(activity);
            }
            ("s" | "f", "message") | ("e", "transit") => points.show(event.point()?),
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
    /// The message.
    id: String,
    /// On which processor's track.
    tid: usize,
    /// When.
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
            What::Send(id) => self.expect("s", id, tid, end),
            What::Receive(id) => self.expect("f", id, tid, start),
            _ => {}
        }
    }

    /// What a message shows while it is in transit.
    fn expect_transit(&mut self, message: &Message) {
        let &Message { id, enter, arrival, .. } = message;
        self.expect("b", id, id.from, enter);
        self.expect("e", id, id.from, enter.max(arrival));
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

/// A number of microseconds as it is written, if it is a whole number of picoseconds.
fn exactly(number: &str) -> Option<Time> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (negative, whole) = whole.strip_prefix('-').map_or((false, whole), |whole| (true, whole));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(Time::ZERO);
    }
    // Picoseconds are the sixth decimal.
    let zeros = (digits.len() - significant.len()) as i64 - fraction.len() as i64 + 6;
    let zeros = zeros.checked_add(exponent.parse().ok()?)?;
    let ps = 10_i128.checked_pow(zeros.try_into().ok()?)?.checked_mul(significant.parse().ok()?)?;
    Some(Time::from_ps(i64::try_from(if negative { -ps } else { ps }).ok()?))
}

impl Event {
    /// From when on it is shown.
    fn ts(&self) -> Result<Time, String> {
        self.micros(&self.ts, "ts")
    }

    fn micros(&self, number: &Option<Box<RawValue>>, name: &str) -> Result<Time, String> {
        let number = need(number.as_ref(), name)?.get();
        let odd = || format!("event {:?} has {name:?} {number}, no whole number of picoseconds", self.ph);
        exactly(number).ok_or_else(odd)
    }

    /// Refuses a slice that is shown elsewhere than where the activity was.
    fn check_slice(&self, activity: &Activity) -> Result<(), String> {
        let &Activity { id, start, end, .. } = activity;
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
        let what = match (&*self.cat, &*self.name) {
            ("work", _) => What::Work(self.name.clone().into()),
            ("overhead", "send") => What::Send(self.args.id()?),
            ("overhead", "receive") => What::Receive(self.args.id()?),
            ("gap", _) => What::Gap,
            ("stall", _) => What::Stall,
            ("port", _) => What::Port,
            ("idle", "barrier") => What::Barrier,
            ("idle", _) => What::Idle,
            (cat, name) => return Err(format!("a processor does not do {cat:?} {name:?}")),
        };
        Ok(Activity { id, start: Time::from_ps(start), end: Time::from_ps(end), what })
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    fn text(trace: &Trace) -> String {
        let mut text = Vec::new();
        trace.write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn small() -> Trace {
        let id = MessageId { from: 0, number: 0 };
        let activity =
            |id, start, end, what| Activity { id, start: start * US, end: Time::from_ps(end), what };
        Trace {
            params: Params::new(2).L(6 * US).o(2 * US).g(4 * US).build().unwrap(),
            ports: Ports::Single,
            latency: Latency::Exact,
            ties: Ties::Number,
            barrier: None,
            out_of_order: 0,
            activities: vec![
                activity(0, 0, 2_000_000, What::Send(id)),
                activity(1, 0, 8_000_000, What::Idle),
                activity(1, 8, 10_000_000, What::Receive(id)),
                activity(1, 10, 10_007_630, What::Work("\"quoted\"\n".into())),
            ],
            messages: vec![Message {
                id,
                to: 1,
                words: 1,
                latency: 6 * US,
                place: 0,
                enter: 2 * US,
                first: 8 * US,
                arrival: 8 * US,
            }],
        }
    }

    /// The file, word for word: what the viewers get.
    #[test]
    fn writes_what_the_viewers_read() {
        let lines = [
            r#"{"displayTimeUnit":"ns","otherData":{"L":6000000,"o":2000000,"g":4000000,"G":4000000,"P":2,"word":8,"cycle":1000000,"ports":"single","latency":"exact"},"traceEvents":["#,
            r#"{"ph":"M","pid":16777216,"name":"process_name","args":{"name":"machine"}},"#,
            r#"{"ph":"M","pid":16777216,"tid":0,"name":"thread_name","args":{"name":"processor 0"}},"#,
            r#"{"ph":"M","pid":16777216,"tid":0,"name":"thread_sort_index","args":{"sort_index":0}},"#,
            r#"{"ph":"X","pid":16777216,"tid":0,"ts":0,"dur":2,"cat":"overhead","name":"send","args":{"start":0,"end":2000000,"from":0,"number":0,"to":1}},"#,
            r#"{"ph":"s","pid":16777216,"tid":0,"bp":"e","ts":2,"cat":"message","name":"message","id":"000000000"},"#,
            r#"{"ph":"M","pid":16777216,"tid":1,"name":"thread_name","args":{"name":"processor 1"}},"#,
            r#"{"ph":"M","pid":16777216,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},"#,
            r#"{"ph":"X","pid":16777216,"tid":1,"ts":0,"dur":8,"cat":"idle","name":"idle","args":{"start":0,"end":8000000}},"#,
            r#"{"ph":"X","pid":16777216,"tid":1,"ts":8,"dur":2,"cat":"overhead","name":"receive","args":{"start":8000000,"end":10000000,"from":0,"number":0,"to":1}},"#,
            r#"{"ph":"f","pid":16777216,"tid":1,"bp":"e","ts":8,"cat":"message","name":"message","id":"000000000"},"#,
            r#"{"ph":"X","pid":16777216,"tid":1,"ts":10,"dur":0.007630,"cat":"work","name":"\"quoted\"\n","args":{"start":10000000,"end":10007630}},"#,
            r#"{"ph":"b","pid":16777216,"tid":0,"ts":2,"cat":"transit","name":"0 to 1","id":"000000000","args":{"from":0,"number":0,"to":1,"words":1,"enter":2000000,"first":8000000,"arrival":8000000}},"#,
            r#"{"ph":"e","pid":16777216,"tid":0,"ts":8,"cat":"transit","name":"0 to 1","id":"000000000"}"#,
            "]}\n",
        ];
        assert_eq!(text(&small()), lines.join("\n"));
    }

    #[test]
    fn reads_what_a_viewer_saved_again() {
        let text = text(&small()).replacen('{', r#"{"metadata":{"who":["a viewer"]},"#, 1);
        assert_eq!(Trace::read(text.as_bytes()), Ok(small()));
    }

    #[test]
    fn says_the_barrier_and_what_was_out_of_order() {
        let mut trace = Trace { barrier: Some(3 * US), out_of_order: 7, ..small() };
        trace.activities.push(Activity { id: 1, start: US, end: US, what: What::Barrier });
        let text = text(&trace);
        assert!(text.contains(r#""latency":"exact","barrier":3000000,"out_of_order":7},"#), "{text}");
        assert!(text.contains(r#""ts":1,"dur":0,"cat":"idle","name":"barrier","#), "{text}");
        assert_eq!(Trace::read(text.as_bytes()), Ok(trace));
    }

    /// A picosecond that only the viewers see: each event in turn.
    #[test]
    fn refuses_what_the_viewers_would_show_wrong() {
        let good = text(&small());
        for (what, by, part) in [
            (
                r#""ts":0,"dur":2,"#,
                r#""ts":0.000001,"dur":2,"#,
                r#"event "send" of processor 0 is shown from 1 ps for 2 us, "#,
            ),
            (
                r#""ts":8,"dur":2,"#,
                r#""ts":8,"dur":1.999999,"#,
                "from 8 us for 1.999999 us, and its \"args\" say from 8 us to 10 us",
            ),
            (r#""dur":0.007630"#, r#""dur":0.007631"#, "from 10 us for 7.631 ns"),
            (
                r#""dur":0.007630"#,
                r#""dur":0.0076300001"#,
                r#"event "X" has "dur" 0.0076300001, no whole number"#,
            ),
            (r#""dur":0.007630"#, r#""dur":"0.007630""#, "no whole number of picoseconds"),
            (r#","dur":0.007630"#, "", r#"an event lacks its "dur""#),
            (
                r#""bp":"e","ts":2"#,
                r#""bp":"e","ts":2.000001"#,
                r#"event "s" of message "000000000" is at 2.000001 us on track 0, where"#,
            ),
            (
                r#""bp":"e","ts":8"#,
                r#""bp":"e","ts":7.999999"#,
                r#"event "f" of message "000000000" is at 7.999999 us on track 1, where"#,
            ),
            (
                r#""message","id":"000000000""#,
                r#""message","id":"000000001""#,
                r#"event "s" of message "000000001" is at 2 us"#,
            ),
            (r#""ts":2,"cat":"transit""#, r#""ts":2.000001,"cat":"transit""#, r#"event "b" of message"#),
            (r#""ts":8,"cat":"transit""#, r#""ts":8.000001,"cat":"transit""#, r#"event "e" of message"#),
        ] {
            assert_eq!(good.matches(what).count().min(1), 1, "{what}");
            let refusal = Trace::read(good.replacen(what, by, 1).as_bytes()).unwrap_err().to_string();
            assert!(refusal.contains(part) && !refusal.contains('\n'), "{refusal}");
        }
    }

    /// However a viewer writes a number that it saves again, it stays the same, to the end of time.
    #[test]
    fn reads_numbers_exactly() {
        for (text, ps) in [
            ("0", 0),
            ("-0.0", 0),
            ("0e999999999999999999999", 0),
            ("7.63e-3", 7_630),
            ("7.630E+2", 763_000_000),
            ("-12.00000100", -12_000_001),
            ("9223372036854.775807", i64::MAX),
            ("-9223372036854.775808", i64::MIN),
            ("1000e-9", 1),
        ] {
            assert_eq!(exactly(text), Some(Time::from_ps(ps)), "{text}");
        }
        for text in [
            "1e-7",
            "0.0000015",
            "9223372036854.775808",
            "1e99",
            "1e9999999999999999999",
            "",
            "null",
            "-",
            "\"1\"",
        ] {
            assert_eq!(exactly(text), None, "{text}");
        }
    }

    #[test]
    fn refuses_in_one_sentence() {
        let good = text(&small());
        for (what, by, part) in [
            (&*good, "", "it is empty"),
            ("{", "[", "expected"),
            ("otherData", "otherdata", "missing field `otherData`"),
            (r#""L":6000000"#, r#""L":-1"#, "L = -1 ps is negative"),
            (r#""L":6000000"#, r#""L":6.5"#, "invalid type: floating point `6.5`, expected i64"),
            (r#""P":2"#, r#""P":0"#, "P = 0 is not a number of processors"),
            ("single", "triple", "unknown variant `triple`"),
            (r#""end":8000000"#, r#""done":8000000"#, r#"an event lacks its "end""#),
            (r#""words":1,"#, "", r#"an event lacks its "words""#),
            ("idle", "sleeping", r#"a processor does not do "sleeping" "#),
            ("]}", "", "EOF while parsing"),
            ("]}", "]}]", "trailing characters"),
        ] {
            let refusal = Trace::read(good.replacen(what, by, 1).as_bytes()).unwrap_err().to_string();
            assert!(refusal.starts_with("this is not the trace of a run: "), "{refusal}");
            assert!(refusal.contains(part) && !refusal.contains('\n'), "{refusal}");
        }
    }

    fn time() -> impl Strategy<Value = Time> {
        prop_oneof![0..100_000_000_i64, any::<i64>()].prop_map(Time::from_ps)
    }

    fn message_id() -> impl Strategy<Value = MessageId> {
        prop_oneof![(0..4_usize, 0..9_usize), any::<(usize, usize)>()]
            .prop_map(|(from, number)| MessageId { from, number })
    }

    fn activity() -> impl Strategy<Value = Activity> {
        let what = prop_oneof![
            any::<String>().prop_map(|kind| What::Work(kind.into())),
            message_id().prop_map(What::Send),
            message_id().prop_map(What::Receive),
            Just(What::Gap),
            Just(What::Stall),
            Just(What::Port),
            Just(What::Idle),
            Just(What::Barrier),
        ];
        (any::<usize>(), time(), time(), what).prop_map(|(id, start, end, what)| Activity {
            id,
            start,
            end,
            what,
        })
    }

    fn message() -> impl Strategy<Value = Message> {
        let times = [time(), time(), time(), time()];
        (message_id(), any::<(usize, usize, usize)>(), times).prop_map(
            |(id, (to, words, place), [latency, enter, first, arrival])| Message {
                id,
                to,
                words,
                latency,
                place,
                enter,
                first,
                arrival,
            },
        )
    }

    /// Any trace at all, whether it could happen or not.
    fn trace() -> impl Strategy<Value = Trace> {
        let texts = prop::sample::select(vec![
            "L=6,o=2,g=4,G=0.03us",
            "L=1ps,o=3600s,word=16",
            "L=9us,S=100,s=10,O_s=7.63ns,O_r=4ns,G_s=1ns,G_l=-12.74ns",
        ]);
        let ports = prop::sample::select(vec![Ports::Single, Ports::Dual]);
        let latency = prop_oneof![
            Just(Latency::Exact),
            any::<u64>().prop_map(|seed| Latency::Random { seed }),
            any::<u64>().prop_map(|seed| Latency::Exponential { seed }),
        ];
        let ties = prop_oneof![
            Just(Ties::Number),
            Just(Ties::Rotation),
            any::<u64>().prop_map(|seed| Ties::Random { seed }),
        ];
        let barrier = prop::option::of((0..=i64::MAX).prop_map(Time::from_ps));
        let out_of_order = prop_oneof![Just(0), any::<u64>()];
        let machine = (texts, ports, (latency, ties), barrier, out_of_order);
        let events = (vec(activity(), 0..12), vec(message(), 0..12));
        (machine, events).prop_map(|(machine, (activities, messages))| {
            let (text, ports, (latency, ties), barrier, out_of_order) = machine;
            let params = Params::new(3).set(text).unwrap().build().unwrap();
            Trace { params, ports, latency, ties, barrier, out_of_order, activities, messages }
        })
    }

    proptest! {
        #[test]
        fn reads_back_exactly_what_it_wrote(trace in trace()) {
            prop_assert_eq!(Trace::read(text(&trace).as_bytes()), Ok(trace));
        }

        /// Whatever is done to a file, reading it gives a trace or a sentence.
        #[test]
        fn survives_any_text(
            trace in trace(),
            edits in vec((any::<Index>(), any::<Index>(), any::<u8>(), 0..4_u8), 1..6),
        ) {
            let mut text = text(&trace).into_bytes();
            for (place, other, byte, kind) in edits {
                if text.is_empty() {
                    break;
                }
                let (place, other) = (place.index(text.len()), other.index(text.len()));
                match kind {
                    0 => text[place] = byte,
                    1 => text.truncate(place),
                    2 => drop(text.drain(place.min(other)..place.max(other))),
                    _ => text.swap(place, other),
                }
            }
            if let Err(error) = Trace::read(&*text) {
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
            }
        }

        #[test]
        fn survives_bytes(bytes in vec(any::<u8>(), 0..200)) {
            prop_assert!(Trace::read(&*bytes).is_err());
        }
    }
}
