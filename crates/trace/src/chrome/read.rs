//! Reads a trace back from the arguments of its events, and refuses one of which viewers show other times.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufReader, Read};

use loggp_model::message::MessageId;
use loggp_model::text::escaped;
use loggp_model::time::Time;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::write::{hex, span};
use crate::bound::BoundedItem;
use crate::error::{OTHER_VERSION, TraceError, VERSION, json_reason};
use crate::machine;
use crate::{Activity, ActivityKind, Message, Progress, Trace};
use crate::{Call, CallKind};

/// Reads a trace that [`Trace::write`] wrote.
pub(crate) fn read(input: BufReader<&mut dyn Read>) -> Result<Trace, TraceError> {
    let file: TraceFile = serde_json::from_reader(input).map_err(|why| refuse(&why))?;
    let FileEvents { activities, progress, messages, calls, .. } = file.traceEvents;
    Ok(Trace { activities, progress, messages, calls, ..file.otherData })
}

/// Returns the error of a file that the parser refuses, in words that are not the parser's own.
fn refuse(why: &serde_json::Error) -> TraceError {
    let text = why.to_string();
    match text.split_once(" (os error ") {
        Some((text, _)) => TraceError::new(format_args!("it cannot be read: {text}")),
        None if text.starts_with("missing field `otherData`") => TraceError::new(format_args!(
            "it is JSON of another kind, without the machine of a run (otherData), which ends at line {} column {}; `loggp run --trace` writes a trace",
            why.line(),
            why.column()
        )),
        None => TraceError::new(json_reason(why)),
    }
}

/// The file. Other fields, which viewers add, are ignored.
#[derive(Deserialize)]
struct TraceFile {
    /// The first files had none.
    #[serde(rename = "loggp trace", deserialize_with = "check_version", default)]
    _version: (),
    #[serde(deserialize_with = "machine::deserialize")]
    otherData: Trace,
    traceEvents: FileEvents,
}

fn check_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match u64::deserialize(deserializer)? {
        VERSION => Ok(()),
        _ => Err(D::Error::custom(OTHER_VERSION)),
    }
}

/// The events of a file, sorted while they are read, since there may be millions.
#[derive(Default)]
struct FileEvents {
    activities: Vec<Activity>,
    progress: Vec<Progress>,
    messages: Vec<Message>,
    calls: Vec<Call>,
    /// The asynchronous slices that are open, by their ids, and when they end.
    open: HashMap<String, Time>,
}

impl<'de> Deserialize<'de> for FileEvents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FileEvents, D::Error> {
        deserializer.deserialize_seq(FileEvents::default())
    }
}

impl<'de> Visitor<'de> for FileEvents {
    type Value = FileEvents;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<FileEvents, A::Error> {
        while let Some(event) = sequence.next_element()? {
            self.take(event).map_err(A::Error::custom)?;
        }
        Ok(self)
    }
}

impl FileEvents {
    fn take(&mut self, event: ChromeEvent) -> Result<(), String> {
        match (&*event.ph, &*event.cat) {
            ("X", cat) => {
                let (_, start, end) = event.span()?;
                event.check("ts", event.ts, start)?;
                event.check("dur", event.dur, end - start)?;
                match cat {
                    "call" => add(&mut self.calls, event.call()?),
                    _ => add(&mut self.activities, event.activity()?),
                }
            }
            ("b", "request") => {
                let progress = event.progress()?;
                self.begin(event, [progress.start, progress.end])?;
                add(&mut self.progress, progress)
            }
            ("b", "transit") => {
                let message = event.message()?;
                self.begin(event, span(&message))?;
                add(&mut self.messages, message)
            }
            ("e", "request" | "transit") => match self.open.remove(&event.id) {
                Some(end) => event.check("ts", event.ts, end),
                None => Err(format!("{} ends, and has not begun", event.title())),
            },
            ("s" | "f", "message") => self.check_arrow(&event),
            _ => Ok(()),
        }
    }

    /// Opens an asynchronous slice.
    fn begin(&mut self, event: ChromeEvent, [begin, end]: [Time; 2]) -> Result<(), String> {
        event.check("ts", event.ts, begin)?;
        self.open.insert(event.id, end);
        Ok(())
    }

    /// Refuses an end of an arrow that is not at its slice, the last before it.
    fn check_arrow(&self, event: &ChromeEvent) -> Result<(), String> {
        let (message, at) = match (self.activities.last(), &*event.ph) {
            (Some(Activity { end, kind: ActivityKind::Send(message), .. }), "s") => (message, end),
            (Some(Activity { start, kind: ActivityKind::Receive(message), .. }), "f") => (message, start),
            _ => return Err(format!("{} is an arrow, and no send or receive is before it", event.title())),
        };
        if event.id != hex(*message) {
            return Err(format!("{} is an arrow, and not that of the slice before it", event.title()));
        }
        event.check("ts", event.ts, *at)
    }
}

fn add<T: BoundedItem>(list: &mut Vec<T>, it: T) -> Result<(), String> {
    it.check()?;
    list.push(it);
    Ok(())
}

/// The part of an event that is read.
#[derive(Deserialize)]
struct ChromeEvent {
    /// Phase: `X` for a slice, `b` for the beginning of an asynchronous slice.
    ph: String,
    #[serde(default)]
    cat: String,
    #[serde(default)]
    name: String,
    tid: Option<usize>,
    /// Where viewers show it, in us.
    ts: Option<f64>,
    dur: Option<f64>,
    /// What an asynchronous slice, or an arrow, has in common with its end.
    #[serde(default)]
    id: String,
    #[serde(default)]
    args: EventArgs,
}

/// The arguments of an event, which viewers ignore. A slice has some of these fields, a message others.
#[derive(Default, Deserialize)]
struct EventArgs {
    start: Option<Time>,
    end: Option<Time>,
    request: Option<u32>,
    from: Option<usize>,
    number: Option<usize>,
    to: Option<usize>,
    words: Option<usize>,
    latency: Option<Time>,
    place: Option<usize>,
    enter: Option<Time>,
    first: Option<Time>,
    arrival: Option<Time>,
    call: Option<CallKind>,
}

/// Returns a value that an event must have.
fn need<T>(value: Option<T>, name: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("an event lacks its {name:?}"))
}

impl ChromeEvent {
    fn activity(&self) -> Result<Activity, String> {
        let (id, start, end) = self.span()?;
        Ok(Activity { id, start, end, kind: self.activity_kind()? })
    }

    fn progress(&self) -> Result<Progress, String> {
        let (id, start, end) = self.span()?;
        Ok(Progress { id, request: self.request()?, start, end, kind: self.activity_kind()? })
    }

    fn message(&self) -> Result<Message, String> {
        let (id, args) = (self.message_id()?, &self.args);
        let (enter, first) = (need(args.enter, "enter")?, need(args.first, "first")?);
        Ok(Message {
            id,
            to: need(args.to, "to")?,
            words: need(args.words, "words")?,
            latency: args.latency.unwrap_or(first - enter),
            place: args.place.unwrap_or(id.from),
            enter,
            first,
            arrival: need(args.arrival, "arrival")?,
        })
    }

    fn call(self) -> Result<Call, String> {
        let (id, start, end) = self.span()?;
        Ok(Call { id, start, end, kind: need(self.args.call, "call")? })
    }

    /// Refuses a time that viewers would show elsewhere than it is. Viewers count in ns, and may round to
    /// whole ns.
    fn check(&self, name: &str, shown: Option<f64>, exact: Time) -> Result<(), String> {
        let shown = need(shown, name)?;
        if (1e3 * shown - exact.as_ns()).abs() < 1.0 {
            return Ok(());
        }
        Err(format!("{} has \"{name}\" {shown} us, and its exact times say {exact}", self.title()))
    }

    /// Returns the event's name and processor for an error.
    fn title(&self) -> String {
        let name = escaped(&self.name);
        self.tid.map_or_else(|| format!("{name:?}"), |id| format!("{name:?} of processor {id}"))
    }

    /// Returns the processor of the event, its start and its end.
    fn span(&self) -> Result<(usize, Time, Time), String> {
        Ok((need(self.tid, "tid")?, need(self.args.start, "start")?, need(self.args.end, "end")?))
    }

    fn message_id(&self) -> Result<MessageId, String> {
        Ok(MessageId { from: need(self.args.from, "from")?, number: need(self.args.number, "number")? })
    }

    fn request(&self) -> Result<u32, String> {
        need(self.args.request, "request")
    }

    /// Returns the kind of activity. Its name says it, except that work has the name of its own kind.
    fn activity_kind(&self) -> Result<ActivityKind, String> {
        Ok(match &*self.name {
            kind if self.cat == "work" => ActivityKind::Work(kind.to_owned().into()),
            "send" => ActivityKind::Send(self.message_id()?),
            "receive" => ActivityKind::Receive(self.message_id()?),
            "gap" => ActivityKind::Gap,
            "stall" => ActivityKind::Stall,
            "port" => ActivityKind::Port,
            "idle" => ActivityKind::Idle,
            "barrier" => ActivityKind::Barrier,
            "post" => ActivityKind::Post(self.request()?),
            "wait" => ActivityKind::Wait(self.request()?),
            name => {
                let (cat, name) = (escaped(&self.cat), escaped(name));
                return Err(format!("a processor does not do {cat:?} {name:?}"));
            }
        })
    }
}
