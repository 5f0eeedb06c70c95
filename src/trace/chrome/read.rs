//! Reads a trace back, and checks that viewers show the same.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::event::{JsonEvent, need};
use super::item::{ChromeItem, ViewerEvent};
use crate::text::escaped;
use crate::time::Time;
use crate::trace::call::Call;
use crate::trace::error::TraceError;
use crate::trace::machine::MachineText;
use crate::trace::record::{Activity, Message, Progress, Trace};

/// Reads a trace that [`Trace::write`] wrote.
pub(crate) fn read(input: BufReader<&mut dyn Read>) -> Result<Trace, TraceError> {
    let file: TraceFile = serde_json::from_reader(input).map_err(TraceError::new)?;
    let FileEvents { activities, progress, messages, calls, .. } = file.traceEvents;
    Ok(Trace { activities, progress, messages, calls, ..file.otherData })
}

/// The file. Other fields, which viewers add, are ignored.
#[derive(Deserialize)]
struct TraceFile {
    #[serde(with = "MachineText")]
    otherData: Trace,
    traceEvents: FileEvents,
}

/// The events of a file, sorted while they are read, since there may be millions.
#[derive(Default)]
struct FileEvents {
    activities: Vec<Activity>,
    progress: Vec<Progress>,
    messages: Vec<Message>,
    calls: Vec<Call>,
    points: ViewerPoints,
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
        self.points.check().map_err(A::Error::custom)?;
        Ok(self)
    }
}

impl FileEvents {
    fn take(&mut self, event: JsonEvent) -> Result<(), String> {
        match (&*event.ph, &*event.cat) {
            ("X", "call") => self.points.take(event, &mut self.calls),
            ("X", _) => self.points.take(event, &mut self.activities),
            ("b", "request") => self.points.take(event, &mut self.progress),
            ("b", "transit") => self.points.take(event, &mut self.messages),
            ("s" | "f", "message") | ("e", "transit" | "request") => {
                self.points.count(ViewerPoint::from_event(&event)?, 1);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A moment of a message or a request as viewers show it: an end of an arrow or of an asynchronous slice.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ViewerPoint {
    /// Phase of the event: `s` or `f`, `b` or `e`.
    kind: String,
    /// Name of the message or the request.
    id: String,
    /// Processor on whose track it is shown.
    tid: usize,
    at: Time,
}

impl ViewerPoint {
    fn from_event(event: &JsonEvent) -> Result<ViewerPoint, String> {
        Ok(ViewerPoint {
            kind: event.ph.clone(),
            id: event.id()?,
            tid: need(event.tid, "tid")?,
            at: event.ts()?,
        })
    }
}

/// For each point, how many events show it less how many should. Points that match are removed; since they
/// are close to each other in a file, few are here at any time.
#[derive(Default)]
struct ViewerPoints(HashMap<ViewerPoint, i64>);

impl ViewerPoints {
    /// Reads the item of an event, checks how the event is shown, and adds the item to `list`.
    fn take<T: ChromeItem>(&mut self, mut event: JsonEvent, list: &mut Vec<T>) -> Result<(), String> {
        let it = T::from_event(&mut event)?;
        it.check()?;
        if event.ph == "b" {
            self.count(ViewerPoint::from_event(&event)?, 1);
        }
        for ViewerEvent { ph, tid, at, dur, id, .. } in it.viewer_events() {
            match (id, dur) {
                (Some(id), _) => self.count(ViewerPoint { kind: ph.into(), id, tid, at }, -1),
                (None, dur) => check_slice(&event, at, dur.unwrap_or_default())?,
            }
        }
        list.push(it);
        Ok(())
    }

    fn count(&mut self, point: ViewerPoint, more: i64) {
        match self.0.entry(point) {
            Entry::Vacant(entry) => _ = entry.insert(more),
            Entry::Occupied(entry) if *entry.get() == -more => _ = entry.remove(),
            Entry::Occupied(mut entry) => *entry.get_mut() += more,
        }
    }

    /// Returns an error if a point is shown that should not be. A missing point is no error, since it shows
    /// nothing wrong.
    fn check(&self) -> Result<(), String> {
        let wrong = self.0.iter().filter(|(_, count)| **count > 0).map(|(point, _)| point).min();
        let Some(ViewerPoint { kind, id, tid, at }) = wrong else { return Ok(()) };
        let (kind, id) = (escaped(kind), escaped(id));
        Err(format!("event {kind:?} of message {id:?} is at {at} on track {tid}, where no \"args\" put it"))
    }
}

/// Returns an error if a slice is not shown at the time of its activity or call.
fn check_slice(event: &JsonEvent, at: Time, length: Time) -> Result<(), String> {
    let (ts, dur) = (event.ts()?, event.dur()?);
    if (ts, dur) == (at, length) {
        return Ok(());
    }
    let ((id, start, end), name) = (event.span()?, escaped(&event.name));
    let shown = format!("event {name:?} of processor {id} is shown from {ts} for {dur}");
    Err(format!("{shown}, and its \"args\" say from {start} to {end}"))
}
