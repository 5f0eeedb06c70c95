//! The catalog: algorithms, machines, parameters.

use loggp_model::params::{Parameter, presets};

use super::algorithm::{ALGORITHMS, Algorithm, OPERATIONS, Source};
use super::answer::Answer;
use super::json::Object;

/// Returns all of it.
pub fn answer() -> Answer {
    let operations: Vec<Object> = OPERATIONS.iter().map(|(name, about)| operation(name, about)).collect();
    let parameter = |name: &&str| {
        let parameter = Parameter::by_name(name)?;
        let object = Object::default().with("name", name).with("about", parameter.about);
        Some(object.with("time", parameter.is_time()))
    };
    let parameters: Vec<Object> =
        ["L", "o", "g", "G", "P", "C", "word"].iter().filter_map(parameter).collect();
    let all = Object::default()
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("operations", operations)
        .with("machines", machines())
        .with("parameters", parameters);
    Answer::new(all)
}

fn operation(name: &str, about: &str) -> Object {
    let of = ALGORITHMS.iter().filter(|algorithm| algorithm.operation() == name);
    let size = of.clone().find_map(Algorithm::size);
    let size = size.map(|(meaning, default)| {
        Object::default().with("meaning", meaning).with("default", default).with("most", 1_usize << 18)
    });
    let algorithms: Vec<Object> = of.map(algorithm).collect();
    Object::default()
        .with("name", name)
        .with("about", about)
        .with("size", size)
        .with("algorithms", algorithms)
}

fn algorithm(algorithm: &Algorithm) -> Object {
    let fixed = algorithm.fixed_P();
    let recorded =
        if let Source::Recording(recording) = &algorithm.source { Some(recording.run) } else { None };
    let P = Object::default()
        .with("least", fixed.unwrap_or(1))
        .with("most", fixed.unwrap_or(algorithm.most_P))
        .with("fixed", fixed);
    Object::default()
        .with("id", algorithm.id)
        .with("name", algorithm.name())
        .with("about", algorithm.about())
        .with("uses", algorithm.uses)
        .with("P", P)
        .with("recorded", recorded)
        .with("tree", algorithm.operation() == "broadcast")
}

/// Returns the papers' machines.
fn machines() -> Vec<Object> {
    let machine = |preset: &loggp_model::params::Preset| {
        let values = preset.values();
        let known =
            |value: &&loggp_model::params::PresetValue| value.value.is_some() && value.name != "longest";
        let params: Object =
            values.iter().filter(known).map(|value| (value.name, value.value.as_deref())).collect();
        let open: Vec<&str> =
            values.iter().filter(|value| value.value.is_none()).map(|value| value.name).collect();
        let is_loggps =
            values.iter().any(|value| Parameter::by_name(value.name).is_some_and(Parameter::is_loggps));
        Object::default()
            .with("name", preset.name)
            .with("about", preset.about)
            .with("params", params)
            .with("open", open)
            .with("loggps", is_loggps)
    };
    presets().iter().map(machine).collect()
}
