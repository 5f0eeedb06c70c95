//! Parameters in files: by name, and those of LogGPS together. Times are in ps.

use std::collections::{BTreeMap, HashMap};

use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::params::{LongMessages, Params};
use super::table::Parameter;
use crate::text::escaped;
use crate::time::Time;

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = |loggps: bool| {
            let those = all().filter(move |parameter| parameter.is_loggps() == loggps);
            those.filter_map(|parameter| Some((parameter.name, parameter.number(self)?)))
        };
        let mut map = serializer.serialize_map(None)?;
        for (name, number) in numbers(false) {
            map.serialize_entry(name, &number)?;
        }
        map.serialize_entry("model", model(self))?;
        let gps: BTreeMap<_, _> = numbers(true).collect();
        if !gps.is_empty() {
            map.serialize_entry("LogGPS", &gps)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Params, D::Error> {
        params_of(&HashMap::deserialize(deserializer)?).map_err(D::Error::custom)
    }
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
fn params_of(fields: &HashMap<String, Value>) -> Result<Params, String> {
    let (gps, stated_model) = (fields.get("LogGPS"), fields.get("model"));
    let is_logp = stated_model.is_some_and(|model| model == "LogP");
    let mut builder = Params::builder(0);
    for parameter in all() {
        let name = parameter.name;
        let value = match (parameter.is_loggps(), gps) {
            (true, None) => continue,
            (true, Some(gps)) => gps.get(name),
            (false, _) => fields.get(name),
        };
        let is_left_out = parameter.is_explicit() && value.is_none();
        if is_left_out || name == "G" && (is_logp || gps.is_some()) {
            continue;
        }
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
