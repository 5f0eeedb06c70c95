//! The catalog: algorithms, machines, parameters.

use loggp_model::params::Parameter;
use loggp_predict::{Preset, presets};

use super::algorithm::{ALGORITHMS, OPERATIONS, PageAlgorithm, ScheduleSource};
use super::answer::PageAnswer;
use super::json::{JsonObject, Raw, ToJson};

/// Returns all of it.
pub(crate) fn answer() -> PageAnswer {
    let operations = OPERATIONS.iter().map(|(name, about)| operation(name, about));
    let parameter = |name: &&str| {
        let parameter = Parameter::by_name(name)?;
        let object = JsonObject::default().with("name", name).with("about", parameter.about);
        Some(object.with("time", parameter.is_time()))
    };
    let parameters = ["L", "o", "g", "G", "P", "C", "word"].iter().filter_map(parameter);
    let all = JsonObject::default()
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("operations", Raw::list(operations))
        .with("machines", Raw::list(presets().iter().map(machine)))
        .with("parameters", Raw::list(parameters));
    PageAnswer::new(all)
}

fn operation(name: &str, about: &str) -> JsonObject {
    let of = ALGORITHMS.iter().filter(|algorithm| algorithm.operation() == name);
    let size = of.clone().find_map(PageAlgorithm::size);
    let size = size.map_or(None::<()>.json(), |(meaning, default)| {
        JsonObject::default().with("meaning", meaning).with("default", default).with("most", 1 << 18).json()
    });
    JsonObject::default()
        .with("name", name)
        .with("about", about)
        .with("size", Raw(size))
        .with("algorithms", Raw::list(of.map(algorithm)))
}

fn algorithm(algorithm: &PageAlgorithm) -> JsonObject {
    let fixed = algorithm.fixed_P();
    let recorded =
        if let ScheduleSource::Recording(recording) = &algorithm.source { Some(recording.run) } else { None };
    let P = JsonObject::default()
        .with("least", fixed.unwrap_or(1))
        .with("most", fixed.unwrap_or(algorithm.most_P))
        .with("fixed", fixed);
    JsonObject::default()
        .with("id", algorithm.id)
        .with("name", algorithm.name())
        .with("about", algorithm.about())
        .with("uses", algorithm.uses)
        .with("P", P)
        .with("recorded", recorded)
        .with("tree", algorithm.operation() == "broadcast")
}

/// Returns one of the papers' machines.
fn machine(preset: &Preset) -> JsonObject {
    let values = preset.values();
    let known = values.iter().filter(|value| value.value.is_some() && value.name != "longest");
    let params: JsonObject = known.map(|value| (value.name, value.value.as_deref())).collect();
    let open: Vec<&str> =
        values.iter().filter(|value| value.value.is_none()).map(|value| value.name).collect();
    let is_loggps =
        values.iter().any(|value| Parameter::by_name(value.name).is_some_and(Parameter::is_loggps));
    JsonObject::default()
        .with("name", preset.name)
        .with("about", preset.about)
        .with("params", params)
        .with("open", open)
        .with("loggps", is_loggps)
}
