//! The catalog: algorithms, machines, parameters.

use loggp::params::{Parameter, presets};
use serde_json::{Value, json};

use super::algorithm::{ALGORITHMS, Algorithm, OPERATIONS, Source};
use super::answer::Answer;

/// Returns all of it.
pub fn answer() -> Answer {
    let operations: Vec<Value> = OPERATIONS.iter().map(|(name, about)| operation(name, about)).collect();
    let parameter = |name: &&str| {
        let parameter = Parameter::by_name(name)?;
        Some(json!({ "name": name, "about": parameter.about, "time": parameter.is_time() }))
    };
    let parameters: Vec<Value> =
        ["L", "o", "g", "G", "P", "C", "word"].iter().filter_map(parameter).collect();
    Answer::new(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "operations": operations,
        "machines": machines(),
        "parameters": parameters,
    }))
}

fn operation(name: &str, about: &str) -> Value {
    let of = ALGORITHMS.iter().filter(|algorithm| algorithm.operation() == name);
    let size = of.clone().find_map(Algorithm::size);
    let size =
        size.map(|(meaning, default)| json!({ "meaning": meaning, "default": default, "most": 1 << 18 }));
    let algorithms: Vec<Value> = of.map(algorithm).collect();
    json!({ "name": name, "about": about, "size": size, "algorithms": algorithms })
}

fn algorithm(algorithm: &Algorithm) -> Value {
    let fixed = algorithm.fixed_P();
    let recorded =
        if let Source::Recording(recording) = &algorithm.source { Some(recording.run) } else { None };
    json!({
        "id": algorithm.id,
        "name": algorithm.name(),
        "about": algorithm.about(),
        "formula": algorithm.formula(),
        "uses": algorithm.uses,
        "P": { "least": fixed.unwrap_or(1), "most": fixed.unwrap_or(algorithm.most_P), "fixed": fixed },
        "recorded": recorded,
        "tree": algorithm.operation() == "broadcast",
    })
}

/// Returns the papers' machines.
fn machines() -> Vec<Value> {
    let machine = |preset: &loggp::params::Preset| {
        let values = preset.values();
        let known = |value: &&loggp::params::PresetValue| value.value.is_some() && value.name != "longest";
        let params: serde_json::Map<String, Value> =
            values.iter().filter(known).map(|value| (value.name.into(), json!(value.value))).collect();
        let open: Vec<&str> =
            values.iter().filter(|value| value.value.is_none()).map(|value| value.name).collect();
        let is_loggps =
            values.iter().any(|value| Parameter::by_name(value.name).is_some_and(Parameter::is_loggps));
        json!({
            "name": preset.name,
            "about": preset.about,
            "params": params,
            "open": open,
            "loggps": is_loggps,
        })
    };
    presets().iter().map(machine).collect()
}
