//! The machine of a trace as JSON, which is a part of both forms of file. Times are in ps.
//!
//! Each type here mirrors one of the library's, so that the library can change and the file stays the same.

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
use crate::text::escaped;
use crate::time::Time;

/// Returns the machine of a trace as JSON.
pub(super) fn write(trace: &Trace) -> serde_json::Result<String> {
    json(|to| MachineText::serialize(trace, to))
}

/// Returns the JSON that a mirror type serializes.
pub(super) fn json(
    mirror: impl FnOnce(&mut serde_json::Serializer<&mut Vec<u8>>) -> serde_json::Result<()>,
) -> serde_json::Result<String> {
    let mut text = Vec::new();
    mirror(&mut serde_json::Serializer::new(&mut text))?;
    String::from_utf8(text).map_err(serde_json::Error::custom)
}

/// Reads the JSON of [`write`]. Returns a trace with that machine and no events.
pub(super) fn read(text: &str) -> serde_json::Result<Trace> {
    let mut json = serde_json::Deserializer::from_str(text);
    let trace = MachineText::deserialize(&mut json)?;
    json.end()?;
    Ok(trace)
}

/// The machine of a [`Trace`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Trace")]
pub(super) struct MachineText {
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
    #[serde(with = "barrier_cost", default, skip_serializing_if = "is_default")]
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

/// Returns whether a value is the default, which the file leaves out.
pub(super) fn is_default<T: Default + PartialEq>(it: &T) -> bool {
    *it == T::default()
}

/// Cost of the machine's own barrier.
mod barrier_cost {
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

/// Title and description of the run.
mod caption_text {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct CaptionText {
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
            CaptionText { title, about, formula }
        });
        text.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Caption>, D::Error> {
        let text: Option<CaptionText> = Option::deserialize(deserializer)?;
        let caption = text.map(|CaptionText { title, about, formula }| {
            let formula = formula.map(Time::from_ps);
            Caption { title, about, formula }
        });
        check_times(caption.iter().filter_map(|caption| caption.formula)).map_err(D::Error::custom)?;
        Ok(caption)
    }
}

/// The order of processors at particular moments: pairs of a time in ps and processors.
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
        twice: Vec<(usize, usize, i64)>,
        #[serde(skip_serializing_if = "is_default")]
        crashed: Vec<(usize, usize)>,
    }

    pub(super) fn serialize<S: Serializer>(faults: &Faults, serializer: S) -> Result<S::Ok, S::Error> {
        let lost = faults.lost.iter().map(|id| (id.from, id.number)).collect();
        let crashed = faults.crashed.iter().map(|(id, number)| (*id, *number)).collect();
        let twice = faults.twice.iter().map(|(id, later)| (id.from, id.number, later.as_ps())).collect();
        FaultsText { lost, twice, crashed }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Faults, D::Error> {
        let FaultsText { lost, twice, crashed } = FaultsText::deserialize(deserializer)?;
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

    /// Pairs in ps: periods and the lengths of their detours, or the starts and lengths of recorded detours.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct NoiseText {
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
            let [periods, record] = noise.periods_and_record();
            let (seed, together) = noise.phases();
            NoiseText {
                periods: periods.iter().map(|(period, length)| (period.as_ps(), length.as_ps())).collect(),
                record: record.iter().map(|(start, end)| (start.as_ps(), (*end - *start).as_ps())).collect(),
                seed,
                together,
            }
        });
        text.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Noise>, D::Error> {
        let Some(NoiseText { periods, record, seed, together }) = Option::deserialize(deserializer)? else {
            return Ok(None);
        };
        let times =
            |pairs: Vec<(i64, i64)>| pairs.into_iter().map(|(a, b)| (Time::from_ps(a), Time::from_ps(b)));
        let noise = if record.is_empty() {
            Noise::from_periods(times(periods))
        } else {
            Noise::from_record(times(record))
        };
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
    struct LevelItem(#[serde(with = "LevelText")] Level);

    pub(super) fn serialize<S: Serializer>(levels: &[Level], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(levels.iter().copied().map(LevelItem))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Level>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().map(|LevelItem(level)| level).collect())
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

    /// Returns the name of the machine's model. With LogP the file's G is no parameter, but max(g, o).
    fn model(params: &Params) -> &'static str {
        match params.long {
            LongMessages::LogP => "LogP",
            LongMessages::LogGP { .. } => "LogGP",
            LongMessages::LogGPS(_) => "LogGPS",
        }
    }

    /// Returns the parameters among the fields of a file.
    fn params(fields: &HashMap<String, Value>) -> Result<Params, String> {
        let (gps, stated_model) = (fields.get("LogGPS"), fields.get("model"));
        let is_logp = stated_model.is_some_and(|model| model == "LogP");
        let mut builder = Params::builder(0);
        for parameter in all() {
            let name = parameter.name;
            let value = match (parameter.is_loggps(), gps) {
                (true, None) => continue,
                (true, Some(gps)) if parameter.is_explicit() && gps.get(name).is_none() => continue,
                (true, Some(gps)) => gps.get(name),
                (false, _) if name == "G" && (is_logp || gps.is_some()) => continue,
                (false, _) if parameter.is_explicit() && !fields.contains_key(name) => continue,
                (false, _) => fields.get(name),
            };
            let value = value.ok_or_else(|| format!("its machine lacks its {name:?}"))?;
            let number = value.as_i64().ok_or_else(|| {
                let kind = if parameter.is_time() { "picoseconds" } else { "things" };
                format!("its machine has {name:?} {}, no whole number of {kind}", escaped(&value.to_string()))
            })?;
            builder = builder.set_number(parameter, number);
        }
        let params = builder.build().map_err(|why| why.to_string())?;
        let G = fields.get("G").and_then(Value::as_i64).map(Time::from_ps);
        if is_logp && G.is_some() && G != params.G() {
            return Err("its machine is one of LogP, and its G is not max(g, o)".into());
        }
        let model = model(&params);
        match stated_model {
            Some(stated) if stated != model => {
                Err(format!("its machine is said to be one of {stated}, and has the parameters of {model}"))
            }
            _ => Ok(params),
        }
    }
}
