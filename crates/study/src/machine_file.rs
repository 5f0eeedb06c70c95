//! Machines as JSON, which `loggp machines --format json` prints and `--machine FILE` reads.
//!
//! `params` has every parameter by its name, with times in ps. A parameter that a paper leaves open is null,
//! and so is G in LogP. So a row of `loggp run --format json` is a machine too. A time may also be written
//! with its unit: `"L": "6us"`. A machine with levels has a list `levels`, from the outermost: each has
//! `params`, of which P is the number of processors in a group, and may have `ports` and `one_port`. The
//! machine may have `ports` too, and `rendezvous`. What the command writes has a `version`; what is written by hand needs none.

use loggp::params::Parameter;
use std::str::FromStr;

use loggp::{Level, Params, ParamsBuilder, ParamsError, Ports, Protocol, TimeError};
use loggp_model::text::escaped;
use loggp_trace::json_reason;
use serde_json::{Map, Value};

use crate::rows::machine::VERSION;

/// The contents of a machine's file, in which parameters may be open.
pub struct ParsedMachine {
    /// Name of the machine, if it has one.
    pub name: Option<String>,
    pub builder: ParamsBuilder,
    pub ports: Option<Ports>,
    /// Who moves long messages.
    pub rendezvous: Option<Protocol>,
    pub levels: Vec<LevelDraft>,
}

/// Parses a machine's JSON. It has `P` processors unless the text gives another number.
pub fn parse_machine(text: &[u8], P: usize) -> Result<ParsedMachine, String> {
    const LIKE: &str = "write one as `loggp machines --format json` does";
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let value = values.next().ok_or_else(|| format!("it is empty; {LIKE}"))?;
    let value = value.map_err(|error| format!("it is no JSON: {}; {LIKE}", json_reason(&error)))?;
    match values.next() {
        None => (),
        Some(Ok(_)) => return Err("there are several machines in it; leave one".into()),
        Some(Err(error)) => {
            return Err(format!("behind the machine is no JSON: {}; {LIKE}", json_reason(&error)));
        }
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
    let (builder, ports) = (set_parameters(builder, params)?, parse_ports(&value)?);
    let rendezvous = parse_setting(&value, "rendezvous", "give \"push\" or \"pull\"")?;
    Ok(ParsedMachine { name, builder, ports, rendezvous, levels })
}

/// A level whose parameters are read, and which is completed when its machine is known.
#[derive(Clone)]
pub struct LevelDraft {
    builder: ParamsBuilder,
    ports: Ports,
    one_port: bool,
}

impl LevelDraft {
    /// Creates a level with these parameters, a single port and nothing else.
    pub fn new(builder: ParamsBuilder) -> LevelDraft {
        LevelDraft { builder, ports: Ports::default(), one_port: false }
    }

    /// Reads a level from a machine's file.
    fn read(level: &Value) -> Result<LevelDraft, String> {
        let of = |name: &str| level.get(name).filter(|value| !value.is_null());
        let params = of("params").and_then(Value::as_object);
        let params = params.ok_or("a level in it has no object params; write one as the machine's")?;
        let builder = set_parameters(ParamsBuilder::with_open_times(1), params)?;
        let ports = parse_ports(level)?.unwrap_or_default();
        let one_port = match of("one_port") {
            None => false,
            Some(value) => {
                value.as_bool().ok_or(format!("a level in it has one_port {value}; give true or false"))?
            }
        };
        Ok(LevelDraft { builder, ports, one_port })
    }

    /// Completes the level of a machine with these parameters, with groups of `P` processors unless the level says so.
    pub fn finish(self, params: &Params, P: Option<usize>) -> Result<Level, String> {
        let builder = self.builder.word(params.word.get()).cycle(params.cycle);
        if let [first, ..] = builder.open_names() {
            let open = builder.open_names().join(" and ");
            return Err(format!("a level leaves {open} open; give a value, as in {first}=1us"));
        }
        let params =
            P.map_or(builder.clone(), |P| builder.P(P)).build().map_err(|why| format!("a level: {why}"))?;
        Ok(Level::new(params).ports(self.ports).one_port(self.one_port))
    }
}

/// Parses the ports of a machine or of a level, if it has any.
fn parse_ports(object: &Value) -> Result<Option<Ports>, String> {
    parse_setting(object, "ports", "give \"single\" or \"dual\"")
}

/// Parses a setting of a machine or of a level, if it has it. `choices` says what can be given.
fn parse_setting<T: FromStr<Err = ParamsError>>(
    object: &Value,
    name: &str,
    choices: &str,
) -> Result<Option<T>, String> {
    match object.get(name).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.parse().map_err(|why| format!("{name}: {why}"))?)),
        Some(other) => Err(format!("it has {name} {other}; {choices}")),
    }
}

/// Sets all parameters of a JSON object.
fn set_parameters(mut builder: ParamsBuilder, params: &Map<String, Value>) -> Result<ParamsBuilder, String> {
    for (name, value) in params {
        let Some(parameter) = Parameter::by_name(name) else {
            let name = escaped(name);
            return Err(format!("{name:?} is not a parameter; there are {}", Parameter::names()));
        };
        let is_time = parameter.is_time();
        let text = match value {
            Value::Null => continue,
            Value::Number(number) if is_time && number.is_i64() => format!("{number}ps"),
            Value::Number(number) if !is_time && number.is_u64() => number.to_string(),
            Value::Number(number) => {
                let what = if is_time { "picoseconds; write \"6us\" for other units" } else { "things" };
                return Err(format!("{name} = {number} is not a whole number of {what}"));
            }
            Value::String(text) if !text.contains([',', '=']) => text.clone(),
            value => {
                let value = value.to_string();
                return Err(format!("{name} = {} is no value; write 6000000 or \"6us\"", escaped(&value)));
            }
        };
        builder = builder.set(&format!("{name}={text}")).map_err(|why| why.to_string())?;
    }
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::machine::preset_object;
    use loggp::Params;
    use loggp::params::presets;

    #[test]
    fn printed_machines_can_be_read() {
        for one in presets() {
            let text = serde_json::to_vec(&preset_object(one).unwrap()).unwrap();
            let ParsedMachine { name, builder: read, .. } = parse_machine(&text, 3).unwrap();
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
        let ParsedMachine { name, builder, .. } = parse_machine(text, 5).unwrap();
        let params = builder.build().unwrap();
        let expected = Params::builder(5).L(6 * loggp::US).o(2 * loggp::US).g(2 * loggp::NS).word(16);
        assert_eq!((name, params), (None, expected.cycle(500 * loggp::PS).build().unwrap()));
    }

    #[test]
    fn malformed_machines_are_refused_in_a_sentence() {
        for (text, why) in [
            ("", "it is empty; write one as"),
            ("{\"params\": {\"L\": ", "it ends too early: a value is missing, at line 1 column 17"),
            ("{\"params\" 1", "`:` is missing, at line 1 column 11"),
            ("{", "it is no JSON: it ends too early: a } is missing, at line 1 column 1"),
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
        assert!(parse_machine(deep.as_bytes(), 2).map(|_| ()).unwrap_err().contains("nested too deeply"));
    }
}
