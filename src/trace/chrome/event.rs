//! The fields of an event that are read back.

use serde::Deserialize;
use serde_json::value::{RawValue, Value};

use super::spelling::CallText;
use crate::message::MessageId;
use crate::text::escaped;
use crate::time::{Time, US, parse_exact};
use crate::trace::call::CallKind;

#[derive(Deserialize)]
pub(super) struct JsonEvent {
    /// The event's phase: `X` for a slice, `b` for the beginning of an asynchronous slice.
    pub ph: String,
    #[serde(default)]
    pub cat: String,
    #[serde(default)]
    pub name: String,
    pub tid: Option<usize>,
    /// The message or the request to which the event belongs.
    id: Option<Value>,
    /// The time at which viewers show the event, as text, since a floating point number could hide a
    /// picosecond.
    ts: Option<Box<RawValue>>,
    /// The length for which viewers show the event.
    dur: Option<Box<RawValue>>,
    #[serde(default)]
    pub args: EventArgs,
}

/// The argument `call` of a slice: a program's call.
#[derive(Deserialize)]
pub(super) struct CallArg(#[serde(with = "CallText")] pub CallKind);

/// The arguments of an event, which viewers ignore. A slice has some of these fields, a message others.
#[derive(Default, Deserialize)]
pub(super) struct EventArgs {
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub request: Option<u32>,
    pub from: Option<usize>,
    pub number: Option<usize>,
    pub to: Option<usize>,
    pub words: Option<usize>,
    pub latency: Option<i64>,
    pub place: Option<usize>,
    pub enter: Option<i64>,
    pub first: Option<i64>,
    pub arrival: Option<i64>,
    pub call: Option<CallArg>,
}

/// Returns a value that an event must have.
pub(super) fn need<T>(value: Option<T>, name: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("an event lacks its {name:?}"))
}

/// Returns a time that an event must have, from ps.
pub(super) fn need_time(ps: Option<i64>, name: &str) -> Result<Time, String> {
    need(ps, name).map(Time::from_ps)
}

impl JsonEvent {
    /// Returns the time at which viewers show the event.
    pub(super) fn ts(&self) -> Result<Time, String> {
        self.micros(&self.ts, "ts")
    }

    /// Returns the length for which viewers show the event.
    pub(super) fn dur(&self) -> Result<Time, String> {
        self.micros(&self.dur, "dur")
    }

    fn micros(&self, number: &Option<Box<RawValue>>, name: &str) -> Result<Time, String> {
        let number = need(number.as_ref(), name)?.get();
        let odd = || {
            format!(
                "event {:?} has {name:?} {}, no whole number of picoseconds",
                escaped(&self.ph),
                escaped(number)
            )
        };
        parse_exact(number, US).map_err(|_| odd())
    }

    /// Returns the name of the message or the request to which the event belongs.
    pub(super) fn id(&self) -> Result<String, String> {
        need(self.id.as_ref().and_then(Value::as_str), "id").map(str::to_owned)
    }

    /// Returns the processor of the event, its start and its end.
    pub(super) fn span(&self) -> Result<(usize, Time, Time), String> {
        let start = need_time(self.args.start, "start")?;
        Ok((need(self.tid, "tid")?, start, need_time(self.args.end, "end")?))
    }

    /// Returns the message to which the event belongs.
    pub(super) fn message(&self) -> Result<MessageId, String> {
        Ok(MessageId { from: need(self.args.from, "from")?, number: need(self.args.number, "number")? })
    }
}
