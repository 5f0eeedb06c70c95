//! How a trace is read back: what it says, and whether the viewers show the same.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::event::{Event, need};
use super::shown::{Record, Shown};
use crate::text::outside;
use crate::time::Time;
use crate::trace::call::Call;
use crate::trace::error::TraceError;
use crate::trace::machine::Machine;
use crate::trace::record::{Activity, Message, Progress, Trace};

/// Reads a trace that [`Trace::write`] wrote.
pub(crate) fn read(input: BufReader<&mut dyn Read>) -> Result<Trace, TraceError> {
    let file: File = serde_json::from_reader(input).map_err(TraceError::new)?;
    let Events { activities, progress, messages, calls, .. } = file.traceEvents;
    Ok(Trace { activities, progress, messages, calls, ..file.otherData })
}

/// The file. Viewers put more into the same object; that is ignored.
#[derive(Deserialize)]
struct File {
    /// The machine.
    #[serde(with = "Machine")]
    otherData: Trace,
    /// What happened.
    traceEvents: Events,
}

/// The events of a file, sorted out while they are read: a trace may have millions.
#[derive(Default)]
struct Events {
    activities: Vec<Activity>,
    progress: Vec<Progress>,
    messages: Vec<Message>,
    calls: Vec<Call>,
    points: Points,
}

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Events, D::Error> {
        deserializer.deserialize_seq(Events::default())
    }
}

impl<'de> Visitor<'de> for Events {
    type Value = Events;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<Events, A::Error> {
        while let Some(event) = sequence.next_element()? {
            self.take(event).map_err(A::Error::custom)?;
        }
        self.points.check().map_err(A::Error::custom)?;
        Ok(self)
    }
}

impl Events {
    fn take(&mut self, event: Event) -> Result<(), String> {
        match (&*event.ph, &*event.cat) {
            ("X", "call") => self.points.take(event, &mut self.calls),
            ("X", _) => self.points.take(event, &mut self.activities),
            ("b", "request") => self.points.take(event, &mut self.progress),
            ("b", "transit") => self.points.take(event, &mut self.messages),
            ("s" | "f", "message") | ("e", "transit" | "request") => {
                self.points.count(Point::of(&event)?, 1);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A moment that a message or a request has in the viewers: the end of an arrow, or of an asynchronous slice.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

impl Point {
    fn of(event: &Event) -> Result<Point, String> {
        Ok(Point { kind: event.ph.clone(), id: event.id()?, tid: need(event.tid, "tid")?, at: event.ts()? })
    }
}

/// The points that events show, less those that should be shown. A point and what it follows from are close to
/// each other in a file, so these are few at any time.
#[derive(Default)]
struct Points(HashMap<Point, i64>);

impl Points {
    /// Takes what an event says of itself, and holds against it how it is shown.
    fn take<T: Record>(&mut self, mut event: Event, list: &mut Vec<T>) -> Result<(), String> {
        let it = T::of(&mut event)?;
        it.check()?;
        if event.ph == "b" {
            self.count(Point::of(&event)?, 1);
        }
        for Shown { ph, tid, at, dur, id, .. } in it.shown() {
            match (id, dur) {
                (Some(id), _) => self.count(Point { kind: ph.into(), id, tid, at }, -1),
                (None, dur) => check_slice(&event, at, dur.unwrap_or_default())?,
            }
        }
        list.push(it);
        Ok(())
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
        let (kind, id) = (outside(kind), outside(id));
        Err(format!("event {kind:?} of message {id:?} is at {at} on track {tid}, where no \"args\" put it"))
    }
}

/// Refuses a slice that is shown elsewhere than where the activity or the call was.
fn check_slice(event: &Event, at: Time, length: Time) -> Result<(), String> {
    let (ts, dur) = (event.ts()?, event.dur()?);
    if (ts, dur) == (at, length) {
        return Ok(());
    }
    let ((id, start, end), name) = (event.span()?, outside(&event.name));
    let shown = format!("event {name:?} of processor {id} is shown from {ts} for {dur}");
    Err(format!("{shown}, and its \"args\" say from {start} to {end}"))
}
