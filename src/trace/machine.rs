//! The machine of a trace as JSON, which both forms of a file have: times in picoseconds.
//!
//! Each type here mirrors one of the library's, which can change without the file.

use std::collections::{BTreeMap, HashMap};

use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::bound::check_times;
use super::call::Call;
use super::faults::Faults;
use super::record::{Activity, Caption, Message, Progress, Trace};
use crate::message::MessageId;
use crate::params::{Latency, Level, LongMessages, Noise, Parameter, Params, Ports, Precedence, Ties};
use crate::text::outside;
use crate::time::Time;

/// The machine of a trace.
pub(super) fn write(trace: &Trace) -> serde_json::Result<String> {
    json(|to| Machine::serialize(trace, to))
}

/// What a mirror serializes.
pub(super) fn json(
    mirror: impl FnOnce(&mut serde_json::Serializer<&mut Vec<u8>>) -> serde_json::Result<()>,
) -> serde_json::Result<String> {
    let mut text = Vec::new();
    mirror(&mut serde_json::Serializer::new(&mut text))?;
    String::from_utf8(text).map_err(serde_json::Error::custom)
}

/// A trace that has the machine of which [`write`] wrote, and nothing that happened on it.
pub(super) fn read(text: &str) -> serde_json::Result<Trace> {
    let mut json = serde_json::Deserializer::from_str(text);
    let trace = Machine::deserialize(&mut json)?;
    json.end()?;
    Ok(trace)
}

/// A [`Trace`] as far as its machine.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Trace")]
pub(super) struct Machine {
    #[serde(flatten, with = "by_name")]
    params: Params,
    #[serde(with = "levels_text", default, skip_serializing_if = "is_default")]
    levels: Vec<Level>,
    #[serde(with = "PortsText")]
    ports: Ports,
    #[serde(with = "LatencyText")]
    latency: Latency,
    #[serde(with = "TiesText", default, skip_serializing_if = "is_default")]
    ties: Ties,
    #[serde(with = "precedence_text", default, skip_serializing_if = "is_default")]
    precedence: Precedence,
    #[serde(with = "noise_text", default, skip_serializing_if = "is_default")]
    noise: Option<Noise>,
    #[serde(with = "faults_text", default, skip_serializing_if = "is_default")]
    faults: Faults,
    #[serde(with = "cost", default, skip_serializing_if = "is_default")]
    barrier: Option<Time>,
    #[serde(default, skip_serializing_if = "is_default")]
    out_of_order: u64,
    #[serde(with = "caption_text", rename = "run", default, skip_serializing_if = "is_default")]
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

#[derive(Serialize, Deserialize)]
#[serde(remote = "Ports", rename_all = "lowercase")]
enum PortsText {
    Single,
    Dual,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Latency", rename_all = "lowercase")]
enum LatencyText {
    Exact,
    Random { seed: u64 },
    Exponential { seed: u64 },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Ties", rename_all = "lowercase")]
enum TiesText {
    Number,
    Rotation,
    Random { seed: u64 },
}

/// Whether something goes without saying.
pub(super) fn is_default<T: Default + PartialEq>(it: &T) -> bool {
    *it == T::default()
}

/// What the machine's own barrier costs.
mod cost {
    use super::*;

    pub(super) fn serialize<S: Serializer>(cost: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
        cost.map(Time::as_ps).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Time>, D::Error> {
        match Option::deserialize(deserializer)?.map(Time::from_ps) {
            Some(cost) if cost < Time::ZERO => {
                Err(D::Error::custom(format_args!("a barrier that costs {cost} cannot be")))
            }
            cost => check_times(cost).map(|()| cost).map_err(D::Error::custom),
        }
    }
}

/// What is said of the run.
mod caption_text {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Text {
        #[serde(default)]
        title: String,
        #[serde(default)]
        about: String,
        #[serde(default, skip_serializing_if = "is_default")]
        formula: Option<i64>,
    }

    pub(super) fn serialize<S: Serializer>(
        caption: &Option<Caption>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let text = caption.clone().map(|Caption { title, about, formula }| {
            let formula = formula.map(Time::as_ps);
            Text { title, about, formula }
        });
        text.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Caption>, D::Error> {
        let text: Option<Text> = Option::deserialize(deserializer)?;
        let caption = text.map(|Text { title, about, formula }| {
            let formula = formula.map(Time::from_ps);
            Caption { title, about, formula }
        });
        check_times(caption.iter().filter_map(|caption| caption.formula)).map_err(D::Error::custom)?;
        Ok(caption)
    }
}

/// Who went first at some moments: pairs of picoseconds and processors.
mod precedence_text {
    use super::*;

    pub(super) fn serialize<S: Serializer>(first: &Precedence, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(first.iter().map(|(time, who)| (time.as_ps(), who)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Precedence, D::Error> {
        let pairs = Vec::<(i64, Vec<usize>)>::deserialize(deserializer)?.into_iter();
        let first: Precedence = pairs.map(|(time, who)| (Time::from_ps(time), who)).collect();
        check_times(first.keys().copied()).map_err(D::Error::custom)?;
        Ok(first)
    }
}

/// What went wrong.
mod faults_text {
    use super::*;

    /// Messages are pairs of their sender and their number, and how much later they come again; a processor crashes before
    /// such a message.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Text {
        #[serde(skip_serializing_if = "is_default")]
        lost: Vec<(usize, usize)>,
        #[serde(skip_serializing_if = "is_default")]
        twice: Vec<(usize, usize, i64)>,
        #[serde(skip_serializing_if = "is_default")]
        crashed: Vec<(usize, usize)>,
    }

    pub(super) fn serialize<S: Serializer>(faults: &Faults, serializer: S) -> Result<S::Ok, S::Error> {
        let lost = faults.lost.iter().map(|id| (id.from, id.number)).collect();
        let crashed = faults.crashed.iter().map(|(id, number)| (*id, *number)).collect();
        let twice = faults.twice.iter().map(|(id, later)| (id.from, id.number, later.as_ps())).collect();
        Text { lost, twice, crashed }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Faults, D::Error> {
        let Text { lost, twice, crashed } = Text::deserialize(deserializer)?;
        let again = |(from, number, later)| (MessageId { from, number }, Time::from_ps(later));
        let twice: BTreeMap<_, _> = twice.into_iter().map(again).collect();
        if twice.values().any(|later| *later <= Time::ZERO) {
            return Err(D::Error::custom("a message cannot come a second time before the first"));
        }
        check_times(twice.values().copied()).map_err(D::Error::custom)?;
        let lost = lost.into_iter().map(|(from, number)| MessageId { from, number }).collect();
        Ok(Faults { lost, twice, crashed: crashed.into_iter().collect() })
    }
}

/// The noise of the processors.
mod noise_text {
    use super::*;

    /// Pairs of picoseconds: periods and the lengths of their detours, or the beginnings and the lengths of those of a record.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Text {
        #[serde(skip_serializing_if = "is_default")]
        periods: Vec<(i64, i64)>,
        #[serde(skip_serializing_if = "is_default")]
        record: Vec<(i64, i64)>,
        seed: u64,
        #[serde(skip_serializing_if = "is_default")]
        together: bool,
    }

    pub(super) fn serialize<S: Serializer>(noise: &Option<Noise>, serializer: S) -> Result<S::Ok, S::Error> {
        let text = noise.as_ref().map(|noise| {
            let [periods, record] = noise.parts();
            let (seed, together) = noise.phases();
            Text {
                periods: periods.iter().map(|(period, length)| (period.as_ps(), length.as_ps())).collect(),
                record: record.iter().map(|(start, end)| (start.as_ps(), (*end - *start).as_ps())).collect(),
                seed,
                together,
            }
        });
        text.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Noise>, D::Error> {
        let Some(Text { periods, record, seed, together }) = Option::deserialize(deserializer)? else {
            return Ok(None);
        };
        let times =
            |pairs: Vec<(i64, i64)>| pairs.into_iter().map(|(a, b)| (Time::from_ps(a), Time::from_ps(b)));
        let noise =
            if record.is_empty() { Noise::periodic(times(periods)) } else { Noise::recorded(times(record)) };
        let noise =
            noise.map_err(|why| D::Error::custom(format_args!("its machine has a noise: {why}")))?.seed(seed);
        Ok(Some(if together { noise.together() } else { noise }))
    }
}

/// A [`Level`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Level")]
struct LevelText {
    #[serde(flatten, with = "by_name")]
    params: Params,
    #[serde(with = "PortsText")]
    ports: Ports,
    #[serde(default, skip_serializing_if = "is_default")]
    one_port: bool,
}

/// The levels within a machine.
mod levels_text {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Text(#[serde(with = "LevelText")] Level);

    pub(super) fn serialize<S: Serializer>(levels: &[Level], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(levels.iter().copied().map(Text))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Level>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().map(|Text(level)| level).collect())
    }
}

/// Parameters by name, and those of LogGPS together.
mod by_name {
    use super::*;

    pub(super) fn serialize<S: Serializer>(params: &Params, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = |loggps: bool| {
            let those = all().filter(move |parameter| parameter.is_loggps() == loggps);
            those.filter_map(|parameter| Some((parameter.name, parameter.number(params)?)))
        };
        let mut map = serializer.serialize_map(None)?;
        for (name, number) in numbers(false) {
            map.serialize_entry(name, &number)?;
        }
        map.serialize_entry("model", model(params))?;
        let gps: BTreeMap<_, _> = numbers(true).collect();
        if !gps.is_empty() {
            map.serialize_entry("LogGPS", &gps)?;
        }
        map.end()
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Params, D::Error> {
        params(&HashMap::deserialize(deserializer)?).map_err(D::Error::custom)
    }

    fn all() -> impl Iterator<Item = &'static Parameter> {
        Parameter::ALL.iter().chain([&Parameter::CYCLE])
    }

    /// Which model a machine follows. With LogP the G that is said is no parameter, but max(g, o).
    fn model(params: &Params) -> &'static str {
        match params.long {
            LongMessages::LogP => "LogP",
            LongMessages::LogGP { .. } => "LogGP",
            LongMessages::LogGPS(_) => "LogGPS",
        }
    }

    /// The parameters among what is said.
    fn params(said: &HashMap<String, Value>) -> Result<Params, String> {
        let (gps, said_model) = (said.get("LogGPS"), said.get("model"));
        let is_logp = said_model.is_some_and(|model| model == "LogP");
        let mut builder = Params::builder(0);
        for parameter in all() {
            let name = parameter.name;
            let value = match (parameter.is_loggps(), gps) {
                (true, None) => continue,
                (true, Some(gps)) if parameter.is_told() && gps.get(name).is_none() => continue,
                (true, Some(gps)) => gps.get(name),
                (false, _) if name == "G" && (is_logp || gps.is_some()) => continue,
                (false, _) if parameter.is_told() && !said.contains_key(name) => continue,
                (false, _) => said.get(name),
            };
            let value = value.ok_or_else(|| format!("its machine lacks its {name:?}"))?;
            let number = value.as_i64().ok_or_else(|| {
                let kind = if parameter.is_time() { "picoseconds" } else { "things" };
                format!("its machine has {name:?} {}, no whole number of {kind}", outside(&value.to_string()))
            })?;
            builder = builder.set_number(parameter, number);
        }
        let params = builder.build().map_err(|why| why.to_string())?;
        let G = said.get("G").and_then(Value::as_i64).map(Time::from_ps);
        if is_logp && G.is_some() && G != params.G() {
            return Err("its machine is one of LogP, and its G is not max(g, o)".into());
        }
        let model = model(&params);
        match said_model {
            Some(said) if said != model => {
                Err(format!("its machine is said to be one of {said}, and has the parameters of {model}"))
            }
            _ => Ok(params),
        }
    }
}
