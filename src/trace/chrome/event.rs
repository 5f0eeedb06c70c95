//! An event as a file has it, as far as it matters here.

use serde::Deserialize;
use serde_json::value::{RawValue, Value};

use super::spelling::CallText;
use crate::message::MessageId;
use crate::time::{Time, US, exactly};
use crate::trace::call::CallKind;

#[derive(Deserialize)]
pub(super) struct Event {
    /// What it is: `X` a slice, `b` the begin of an asynchronous one.
    pub ph: String,
    #[serde(default)]
    pub cat: String,
    #[serde(default)]
    pub name: String,
    pub tid: Option<usize>,
    /// Which message or request it belongs to.
    id: Option<Value>,
    /// From when on it is shown, as it is written: a floating point number could hide a picosecond.
    ts: Option<Box<RawValue>>,
    /// How long it is shown.
    dur: Option<Box<RawValue>>,
    #[serde(default)]
    pub args: Args,
}

/// What was called.
#[derive(Deserialize)]
pub(super) struct Called(#[serde(with = "CallText")] pub CallKind);

/// What events carry: slices some of it, messages the rest.
#[derive(Default, Deserialize)]
pub(super) struct Args {
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
    pub call: Option<Called>,
}

/// What an event must have.
pub(super) fn need<T>(value: Option<T>, name: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("an event lacks its {name:?}"))
}

/// A time in picoseconds that an event must have.
pub(super) fn need_time(ps: Option<i64>, name: &str) -> Result<Time, String> {
    need(ps, name).map(Time::from_ps)
}

impl Event {
    /// From when on it is shown.
    pub(super) fn ts(&self) -> Result<Time, String> {
        self.micros(&self.ts, "ts")
    }

    /// For how long it is shown.
    pub(super) fn dur(&self) -> Result<Time, String> {
        self.micros(&self.dur, "dur")
    }

    fn micros(&self, number: &Option<Box<RawValue>>, name: &str) -> Result<Time, String> {
        let number = need(number.as_ref(), name)?.get();
        let odd = || format!("event {:?} has {name:?} {number}, no whole number of picoseconds", self.ph);
        exactly(number, US).map_err(|_| odd())
    }

    /// The name of the message or the request to which it belongs.
    pub(super) fn id(&self) -> Result<String, String> {
        need(self.id.as_ref().and_then(Value::as_str), "id").map(str::to_owned)
    }

    /// Whose it is, and from when to when.
    pub(super) fn span(&self) -> Result<(usize, Time, Time), String> {
        let start = need_time(self.args.start, "start")?;
        Ok((need(self.tid, "tid")?, start, need_time(self.args.end, "end")?))
    }

    /// The message of which it tells.
    pub(super) fn message(&self) -> Result<MessageId, String> {
        Ok(MessageId { from: need(self.args.from, "from")?, number: need(self.args.number, "number")? })
    }
}
