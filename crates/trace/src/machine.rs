//! The machine of a trace as JSON, which is a part of both forms of file. Times are in ps.

use std::io::{BufReader, Read};

use loggp_model::log::Call;
use loggp_model::log::Faults;
use loggp_model::log::{Activity, Message, Progress};
use loggp_model::message::MessageId;
use loggp_model::params::{Latency, Level, Noise, Params, Ports, Precedence, Ties};
use loggp_model::time::Time;
use loggp_model::transport::{Capacity, Protocol};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::trace::{Caption, Trace};

/// Returns the machine of a trace as JSON.
pub(super) fn write(trace: &Trace) -> serde_json::Result<String> {
    let mut text = Vec::new();
    MachineText::serialize(trace, &mut serde_json::Serializer::new(&mut text))?;
    String::from_utf8(text).map_err(serde_json::Error::custom)
}

/// Reads the JSON of [`write`]. Returns a trace with that machine and no events.
pub(super) fn read(text: &str) -> serde_json::Result<Trace> {
    // Of the type that reads a whole file in JSON, so that a program has this code once.
    let mut bytes = text.as_bytes();
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(&mut bytes as &mut dyn Read));
    let trace = deserialize(&mut json)?;
    json.end()?;
    Ok(trace)
}

/// Reads a machine whose levels fit together.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Trace, D::Error> {
    let trace = MachineText::deserialize(deserializer)?;
    Level::check(&trace.params, &trace.levels).map_err(D::Error::custom)?;
    Ok(trace)
}

/// The machine of a [`Trace`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Trace")]
struct MachineText {
    #[serde(flatten)]
    params: Params,
    #[serde(default, skip_serializing_if = "is_default")]
    levels: Vec<Level>,
    ports: Ports,
    #[serde(default, skip_serializing_if = "is_default")]
    rendezvous: Protocol,
    #[serde(default, skip_serializing_if = "is_default")]
    capacity: Capacity,
    latency: Latency,
    #[serde(default, skip_serializing_if = "is_default")]
    ties: Ties,
    #[serde(with = "precedence_text", default, skip_serializing_if = "is_default")]
    precedence: Precedence,
    #[serde(default, skip_serializing_if = "is_default")]
    noise: Option<Noise>,
    #[serde(with = "faults_text", default, skip_serializing_if = "is_default")]
    faults: Faults,
    #[serde(deserialize_with = "read_barrier_cost", default, skip_serializing_if = "is_default")]
    barrier: Option<Time>,
    #[serde(default, skip_serializing_if = "is_default")]
    out_of_order: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    reaches_memories: bool,
    #[serde(rename = "run", default, skip_serializing_if = "is_default")]
    caption: Option<Caption>,
    #[serde(skip)]
    activities: Vec<Activity>,
    #[serde(skip)]
    progress: Vec<Progress>,
    #[serde(skip)]
    messages: Vec<Message>,
    #[serde(skip)]
    calls: Vec<Call>,
}

/// Returns whether a value is the default, which the file leaves out.
fn is_default<T: Default + PartialEq>(it: &T) -> bool {
    *it == T::default()
}

/// Reads the cost of the machine's own barrier.
fn read_barrier_cost<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Time>, D::Error> {
    match Option::deserialize(deserializer)? {
        Some(cost) if cost < Time::ZERO => {
            Err(D::Error::custom(format_args!("a barrier that costs {cost} cannot be")))
        }
        cost => Ok(cost),
    }
}

/// The order of processors at particular moments: pairs of a time in ps and processors.
mod precedence_text {
    use super::*;

    pub(super) fn serialize<S: Serializer>(first: &Precedence, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(first)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Precedence, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

/// The faults.
mod faults_text {
    use super::*;

    /// A message is a pair of its sender and its number; `twice` adds how much later it arrives again, in ps.
    /// A crash is a pair of a processor and the message's number before which it crashes.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct FaultsText {
        #[serde(skip_serializing_if = "is_default")]
        lost: Vec<(usize, usize)>,
        #[serde(skip_serializing_if = "is_default")]
        twice: Vec<(usize, usize, Time)>,
        #[serde(skip_serializing_if = "is_default")]
        crashed: Vec<(usize, usize)>,
        #[serde(skip_serializing_if = "is_default")]
        ended_early: bool,
    }

    pub(super) fn serialize<S: Serializer>(faults: &Faults, serializer: S) -> Result<S::Ok, S::Error> {
        let lost = faults.lost.iter().map(|id| (id.from, id.number)).collect();
        let crashed = faults.crashed.iter().map(|(id, number)| (*id, *number)).collect();
        let twice = faults.twice.iter().map(|(id, later)| (id.from, id.number, *later)).collect();
        FaultsText { lost, twice, crashed, ended_early: faults.ended_early }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Faults, D::Error> {
        let FaultsText { lost, twice, crashed, ended_early } = FaultsText::deserialize(deserializer)?;
        if twice.iter().any(|(.., later)| *later <= Time::ZERO) {
            return Err(D::Error::custom("a message cannot come a second time before the first"));
        }
        Ok(Faults {
            lost: lost.into_iter().map(|(from, number)| MessageId { from, number }).collect(),
            twice: twice
                .into_iter()
                .map(|(from, number, later)| (MessageId { from, number }, later))
                .collect(),
            crashed: crashed.into_iter().collect(),
            ended_early,
        })
    }
}
