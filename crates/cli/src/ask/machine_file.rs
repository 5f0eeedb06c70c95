//! Machines as JSON, which `loggp machines --format json` prints and `--machine FILE` reads.
//!
//! `params` has every parameter by its name, with times in ps. A parameter that a paper leaves open is null,
//! and so is G in LogP. So a row of `loggp run --format json` is a machine too. A time may also be written
//! with its unit: `"L": "6us"`. A machine with levels has a list `levels`, from the outermost: each has
//! `params`, of which P is the number of processors in a group, and may have `ports` and `one_port`. The
//! machine may have `ports` too. What the command writes has a `version`; what is written by hand needs none.

use std::path::{Path, is_separator};

use loggp_model::text::escaped;
use loggp::{ParamsBuilder, Ports, TimeError};
use loggp_study::rows::machine::VERSION;
use serde_json::Value;

use super::levels::{LevelDraft, parse_ports, set_parameters};
use crate::error::CliError;
use crate::host::draft::read_source;

/// A machine as far as a file or the options describe it: parameters may still be open.
#[derive(Clone)]
pub struct PartialMachine {
    /// Name of the machine, if it has one.
    pub name: Option<&'static str>,
    pub builder: ParamsBuilder,
    /// The ports that its file gives.
    pub ports: Option<Ports>,
    /// The levels that its file gives.
    pub levels: Vec<LevelDraft>,
}

/// Limit of the bytes in a file.
const LONGEST: u64 = 1 << 20;

/// Returns whether the value of `--machine` names a file.
pub fn is_file_name(text: &str) -> bool {
    text.contains(is_separator) || text.ends_with(".json") || Path::new(text).exists()
}

/// Reads the machine of `--machine`. It has `P` processors unless the file gives another number. Its name is
/// that in the file, or else the file's own without its ending.
pub fn read(path: &str, P: usize) -> Result<PartialMachine, CliError> {
    let read = read_file(Path::new(path), P);
    let (name, builder, ports, levels) =
        read.map_err(|why| CliError::Request(format!("--machine {path}: {why}")))?;
    let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.or(stem).unwrap_or_default();
    // A command reads one machine, so the leak is bounded.
    Ok(PartialMachine { name: Some(name.leak()), builder, ports, levels })
}

/// Reads a machine's file.
pub fn read_file(path: &Path, P: usize) -> Result<ParsedMachine, String> {
    parse_machine(&read_source(path, LONGEST, ", and no machine is")?, P)
}

/// The contents of a machine's file: name, parameters, ports and levels.
pub type ParsedMachine = (Option<String>, ParamsBuilder, Option<Ports>, Vec<LevelDraft>);

/// Parses a machine's JSON. It has `P` processors unless the text gives another number.
pub fn parse_machine(text: &[u8], P: usize) -> Result<ParsedMachine, String> {
    const LIKE: &str = "write one as `loggp machines --format json` does";
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let value = values.next().ok_or_else(|| format!("it is empty; {LIKE}"))?;
    let value = value.map_err(|error| format!("it is no JSON: {error}; {LIKE}"))?;
    match values.next() {
        None => (),
        Some(Ok(_)) => return Err("there are several machines in it; leave one".into()),
        Some(Err(error)) => return Err(format!("behind the machine is no JSON: {error}; {LIKE}")),
    }
    if let Some(version) = value.get("version").filter(|version| version.as_u64() != Some(VERSION)) {
        return Err(format!(
            "it has version {} of its form, and only version {VERSION} is read; write it anew with this loggp",
            escaped(&version.to_string())
        ));
    }
    let Some(params) = value.get("params").and_then(Value::as_object) else {
        return Err(format!("there is no object params in it; {LIKE}"));
    };
    let mut builder = ParamsBuilder::with_open_times(P);
    if let Some(cycle) = value.get("cycle_ns") {
        let ns = cycle
            .as_number()
            .ok_or_else(|| format!("cycle_ns = {} is not a number", escaped(&cycle.to_string())))?;
        let cycle = format!("{ns}ns").parse().map_err(|why: TimeError| format!("cycle_ns = {ns}: {why}"))?;
        builder = builder.cycle(cycle);
    }
    let name = value
        .get("machine")
        .and_then(Value::as_str)
        .map(|name| name.chars().filter(|c| !c.is_control()).collect());
    let levels = match value.get("levels") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(levels)) => levels.iter().map(LevelDraft::read).collect::<Result<_, _>>()?,
        Some(_) => return Err("its levels are no list; write one, from the outermost level".into()),
    };
    Ok((name, set_parameters(builder, params)?, parse_ports(&value)?, levels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::Params;
    use loggp::params::presets;
    use loggp_study::rows::machine::preset_object;

    #[test]
    fn printed_machines_can_be_read() {
        for one in presets() {
            let text = serde_json::to_vec(&preset_object(one).unwrap()).unwrap();
            let (name, read, _, _) = parse_machine(&text, 3).unwrap();
            assert_eq!((name.as_deref(), read.open_names()), (Some(one.name), one.builder().open_names()));
            let given = |builder: ParamsBuilder| {
                let open = builder.open_names().to_vec();
                open.iter()
                    .fold(builder, |builder, name| builder.set(&format!("{name}=7")).unwrap())
                    .build()
                    .unwrap()
            };
            assert_eq!(given(read), given(one.builder()), "{}", one.name);
        }
    }

    #[test]
    fn machine_can_be_written_by_hand() {
        let text = br#"{"params": {"L": "6us", "o": 2000000, "g": "4", "word": 16}, "cycle_ns": 0.5}"#;
        let (name, builder, _, _) = parse_machine(text, 5).unwrap();
        let params = builder.build().unwrap();
        let expected = Params::builder(5).L(6 * loggp::US).o(2 * loggp::US).g(2 * loggp::NS).word(16);
        assert_eq!((name, params), (None, expected.cycle(500 * loggp::PS).build().unwrap()));
    }

    #[test]
    fn malformed_machines_are_refused_in_a_sentence() {
        for (text, why) in [
            ("", "it is empty; write one as"),
            ("{", "it is no JSON: EOF while parsing an object at line 1 column 1"),
            ("\n {\"params\": {\"L\": 1,}}", "line 2 column"),
            ("[]", "there is no object params in it"),
            ("{\"params\": 3}", "there is no object params in it"),
            ("{\"params\": {}, \"version\": 2}", "it has version 2 of its form, and only version 1 is read"),
            ("{\"params\": {}, \"version\": \"1\"}", "it has version \"1\" of its form"),
            ("{\"params\": {}} {\"params\": {}}", "there are several machines in it"),
            ("{\"params\": {}} nonsense", "behind the machine is no JSON"),
            ("{\"params\": {\"Q\": 1}}", "\"Q\" is not a parameter; there are L, o, g"),
            ("{\"params\": {\"L\": 1.5}}", "L = 1.5 is not a whole number of picoseconds"),
            ("{\"params\": {\"P\": -1}}", "P = -1 is not a whole number of things"),
            ("{\"params\": {\"L\": [1]}}", "L = [1] is no value"),
            ("{\"params\": {\"L\": \"6us,o=1\"}}", "is no value"),
            ("{\"params\": {\"L\": \"6parsec\"}}", "there is no unit parsec"),
            ("{\"params\": {\"G\": 1, \"G_s\": 1}}", "G_s belongs to LogGPS"),
            ("{\"params\": {}, \"cycle_ns\": \"1\"}", "cycle_ns = \"1\" is not a number"),
            ("{\"params\": {}, \"cycle_ns\": 1e-9}", "cycle_ns = "),
        ] {
            let refusal = parse_machine(text.as_bytes(), 2).map(|_| ()).unwrap_err();
            assert!(refusal.contains(why) && !refusal.contains('\n'), "{text}: {refusal}");
        }
        let deep = "[".repeat(1 << 15);
        assert!(parse_machine(deep.as_bytes(), 2).map(|_| ()).unwrap_err().contains("recursion limit"));
    }
}
