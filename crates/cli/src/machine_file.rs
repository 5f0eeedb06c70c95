//! A machine as JSON: what `loggp machines --format json` prints a line of for each, and `--machine FILE` reads.
//!
//! `params` has every parameter by its name, times in picoseconds; null is what a paper leaves open, and the G that LogP does
//! not have. So a row of `loggp run --format json` is a machine too. By hand a time is written with its unit: `"L": "6us"`.
//! A machine with levels has a list `levels`, from the outermost: each has `params`, of which P is the number of processors of a
//! group, and may have `ports` and `one_port`. The machine itself may have `ports` too.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, is_separator};

use loggp::{Level, LongMessages, Parameter, Params, ParamsBuilder, Ports, Preset, TimeError, outside};
use serde_json::{Map, Value};

use super::draft::source;
use super::failure::Failure;
use super::field::{Field, Object};
use super::levels::Draft;

/// A machine that was read from a file.
pub struct MachineFile {
    /// What it is called.
    pub name: &'static str,
    /// What the file says of it.
    pub builder: ParamsBuilder,
    /// Its ports, if the file says which.
    pub ports: Option<Ports>,
    /// The levels within it.
    pub levels: Vec<Draft>,
}

/// No machine takes more bytes to describe.
const LONGEST: u64 = 1 << 20;

/// Whether what should be a machine's name is that of a file.
pub fn is_meant(text: &str) -> bool {
    text.contains(is_separator) || text.ends_with(".json") || Path::new(text).exists()
}

impl MachineFile {
    /// Reads a machine. If the file does not say how many processors there are, there are so many.
    pub fn read(path: &str, P: usize) -> Result<MachineFile, Failure> {
        let refuse = |why: String| Failure::Request(format!("--machine {path}: {why}"));
        let mut text = Vec::new();
        let file = source(Path::new(path)).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text));
        file.map_err(|error| refuse(format!("it cannot be read: {error}")))?;
        if text.len() as u64 > LONGEST {
            return Err(refuse(format!("it is longer than {LONGEST} bytes, and no machine is")));
        }
        let (name, builder, ports, levels) = machine(&text, P).map_err(refuse)?;
        let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = name.or(stem).unwrap_or_default();
        // A command has one machine, for as long as it lasts.
        Ok(MachineFile { name: name.leak(), builder, ports, levels })
    }
}

/// What a machine's text says: a name and ports, if there are any, its parameters and its levels.
pub type Said = (Option<String>, ParamsBuilder, Option<Ports>, Vec<Draft>);

/// What a text says of a machine.
pub fn machine(text: &[u8], P: usize) -> Result<Said, String> {
    const LIKE: &str = "write one as `loggp machines --format json` does";
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let value = values.next().ok_or_else(|| format!("it is empty; {LIKE}"))?;
    let value = value.map_err(|error| format!("it is no JSON: {error}; {LIKE}"))?;
    match values.next() {
        None => (),
        Some(Ok(_)) => return Err("there are several machines in it; leave one".into()),
        Some(Err(error)) => return Err(format!("behind the machine is no JSON: {error}; {LIKE}")),
    }
    let Some(params) = value.get("params").and_then(Value::as_object) else {
        return Err(format!("there is no object params in it; {LIKE}"));
    };
    let mut builder = ParamsBuilder::unknown(P);
    if let Some(cycle) = value.get("cycle_ns") {
        let ns = cycle
            .as_number()
            .ok_or_else(|| format!("cycle_ns = {} is not a number", outside(&cycle.to_string())))?;
        let cycle = format!("{ns}ns").parse().map_err(|why: TimeError| format!("cycle_ns = {ns}: {why}"))?;
        builder = builder.cycle(cycle);
    }
    let name = value
        .get("machine")
        .and_then(Value::as_str)
        .map(|name| name.chars().filter(|c| !c.is_control()).collect());
    let levels = match value.get("levels") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(levels)) => levels.iter().map(Draft::read).collect::<Result<_, _>>()?,
        Some(_) => return Err("its levels are no list; write one, from the outermost level".into()),
    };
    Ok((name, set(builder, params)?, ports(&value)?, levels))
}

/// The ports of a machine or of a level, if they are said.
pub fn ports(of: &Value) -> Result<Option<Ports>, String> {
    match of.get("ports").filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.parse().map_err(|why| format!("ports: {why}"))?)),
        Some(other) => Err(format!("it has ports {other}; give \"single\" or \"dual\"")),
    }
}

/// Sets all parameters of an object.
pub fn set(mut builder: ParamsBuilder, params: &Map<String, Value>) -> Result<ParamsBuilder, String> {
    for (name, value) in params {
        let parameter = Parameter::named(name);
        let text = match (value, parameter) {
            (Value::Null, Some(_)) => continue,
            (Value::Number(number), Some(parameter)) if parameter.is_time() && number.is_i64() => {
                format!("{number}ps")
            }
            (Value::Number(number), Some(parameter)) if !parameter.is_time() && number.is_u64() => {
                number.to_string()
            }
            (Value::Number(number), Some(parameter)) => {
                let what =
                    if parameter.is_time() { "picoseconds; write \"6us\" for other units" } else { "things" };
                return Err(format!("{name} = {number} is not a whole number of {what}"));
            }
            (Value::String(text), Some(_)) if !text.contains([',', '=']) => text.clone(),
            (value, Some(_)) => {
                return Err(format!(
                    "{name} = {} is no value; write 6000000 or \"6us\"",
                    outside(&value.to_string())
                ));
            }
            (_, None) => {
                let name = outside(name);
                return Err(format!("{name:?} is not a parameter; there are {}", Parameter::names()));
            }
        };
        builder = builder.set(&format!("{name}={text}")).map_err(|why| why.to_string())?;
    }
    Ok(builder)
}

/// A level within a machine.
pub fn level(level: &Level) -> Object {
    let mut values = parameters(&level.params, &[]);
    values.push(("ports".into(), level.ports.into()));
    values.push(("one_port".into(), Field::Truth(level.one_port)));
    Object(values)
}

/// A machine with these parameters, but for those that are open.
pub fn object(name: Option<&str>, params: &Params, open: &[&str]) -> Object {
    let mut values = vec![(Cow::from("machine"), name.into())];
    values.extend(parameters(params, open));
    values.push(("cycle_ns".into(), params.cycle.into()));
    Object(values)
}

/// The parameters by their names, but for those that are open.
fn parameters(params: &Params, open: &[&str]) -> Vec<(Cow<'static, str>, Field)> {
    let value = |parameter: &&'static Parameter| {
        let has_no_G = parameter.name == "G" && params.long == LongMessages::LogP;
        let number = parameter.number(params)?;
        let path = Cow::from(format!("params.{}", parameter.name));
        Some((
            path,
            if has_no_G || open.contains(&parameter.name) { Field::Nothing } else { Field::from(number) },
        ))
    };
    Parameter::ALL.iter().filter_map(|parameter| value(&parameter)).collect()
}

/// A paper's machine, with the sources of its values.
pub fn preset(preset: &Preset) -> Result<Object, Failure> {
    let builder = preset.builder();
    let open = builder.open().to_vec();
    // What is open is nothing here, and not said.
    let builder = open.iter().try_fold(builder, |builder, name| builder.set(&format!("{name}=0")));
    let params = builder.and_then(ParamsBuilder::build).map_err(Failure::run)?;
    let Object(mut values) = object(Some(preset.name), &params, &open);
    values.insert(1, ("about".into(), preset.about.into()));
    let source =
        |value: &loggp::PresetValue| (Cow::from(format!("sources.{}", value.name)), value.source.into());
    values.extend(preset.values().iter().map(source));
    Ok(Object(values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::presets;

    /// What is printed of a machine is that machine when it is read.
    #[test]
    fn every_machine_comes_back() {
        for one in presets() {
            let text = serde_json::to_vec(&preset(one).unwrap()).unwrap();
            let (name, read, _, _) = machine(&text, 3).unwrap();
            assert_eq!((name.as_deref(), read.open()), (Some(one.name), one.builder().open()));
            let given = |builder: ParamsBuilder| {
                let open = builder.open().to_vec();
                open.iter()
                    .fold(builder, |builder, name| builder.set(&format!("{name}=7")).unwrap())
                    .build()
                    .unwrap()
            };
            assert_eq!(given(read), given(one.builder()), "{}", one.name);
        }
    }

    #[test]
    fn a_machine_is_written_by_hand_too() {
        let text = br#"{"params": {"L": "6us", "o": 2000000, "g": "4", "word": 16}, "cycle_ns": 0.5}"#;
        let (name, builder, _, _) = machine(text, 5).unwrap();
        let params = builder.build().unwrap();
        let expected = Params::builder(5).L(6 * loggp::US).o(2 * loggp::US).g(2 * loggp::NS).word(16);
        assert_eq!((name, params), (None, expected.cycle(500 * loggp::PS).build().unwrap()));
    }

    #[test]
    fn what_is_no_machine_is_refused_in_a_sentence() {
        for (text, why) in [
            ("", "it is empty; write one as"),
            ("{", "it is no JSON: EOF while parsing an object at line 1 column 1"),
            ("\n {\"params\": {\"L\": 1,}}", "line 2 column"),
            ("[]", "there is no object params in it"),
            ("{\"params\": 3}", "there is no object params in it"),
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
            let refusal = machine(text.as_bytes(), 2).map(|_| ()).unwrap_err();
            assert!(refusal.contains(why) && !refusal.contains('\n'), "{text}: {refusal}");
        }
        let deep = "[".repeat(1 << 15);
        assert!(machine(deep.as_bytes(), 2).map(|_| ()).unwrap_err().contains("recursion limit"));
    }
}
