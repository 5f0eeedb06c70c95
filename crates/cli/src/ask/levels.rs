//! The levels within a machine, such as nodes and sockets, from a machine's file or the command line; and the
//! parameters and ports of a level or of a machine in JSON.

use clap::Args;
use loggp::params::Parameter;
use loggp::{Level, Params, ParamsBuilder, Ports};
use loggp_model::text::escaped;
use serde_json::{Map, Value};

/// The options that describe levels.
#[derive(Args, Default)]
#[command(next_display_order = 20)]
pub struct LevelOptions {
    /// How many groups each level has, from the outermost: 64x16 is 64 nodes of 16 processors
    #[arg(long, value_name = "NxN", value_parser = parse_sizes)]
    pub levels: Option<LevelSizes>,
    /// What messages cost within a group of the level, once for each level from the outermost: L=1us,o=0.2us,g=0.5us
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub level: Vec<String>,
}

/// The number of groups of each level, such as `64x2x8`.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelSizes(Vec<usize>);

impl LevelSizes {
    /// Returns the number of processors.
    pub fn P(&self) -> usize {
        self.0.iter().product()
    }

    /// Returns the number of processors in a group of each level within the machine.
    fn groups(&self) -> Vec<usize> {
        (1..self.0.len()).map(|level| self.0[level..].iter().product()).collect()
    }
}

/// Reads sizes, such as `64x16`.
fn parse_sizes(text: &str) -> Result<LevelSizes, String> {
    let numbers: Option<Vec<usize>> = text.split('x').map(|number| number.parse().ok()).collect();
    let product = |all: &Vec<usize>| all.iter().try_fold(1_usize, |product, n| product.checked_mul(*n));
    match numbers {
        Some(all) if (2..=3).contains(&all.len()) && product(&all).is_some_and(|P| P > 0) => {
            Ok(LevelSizes(all))
        }
        _ => {
            Err("give two or three numbers from the outermost level, such as 64x16 for 64 nodes of 16".into())
        }
    }
}

/// A level whose parameters are read, and which is completed when its machine is known.
#[derive(Clone)]
pub struct LevelDraft {
    builder: ParamsBuilder,
    ports: Ports,
    one_port: bool,
}

impl LevelDraft {
    /// Reads a level from a machine's file.
    pub fn read(level: &Value) -> Result<LevelDraft, String> {
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

    fn finish(self, params: &Params, P: Option<usize>) -> Result<Level, String> {
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

impl LevelOptions {
    /// Returns the number of processors that `--levels` makes, if it is given.
    pub fn P(&self) -> Option<usize> {
        self.levels.as_ref().map(LevelSizes::P)
    }

    /// Builds the levels of a machine with these parameters, from the command line or else from its file.
    pub fn build(&self, file_levels: &[LevelDraft], params: &Params) -> Result<Vec<Level>, String> {
        let draft = |text: &String| {
            let builder = ParamsBuilder::with_open_times(1).cycle(params.cycle).set(text);
            let builder = builder.map_err(|why| format!("--level {text}: {why}"))?;
            Ok(LevelDraft { builder, ports: Ports::default(), one_port: false })
        };
        let given: Vec<LevelDraft> = self.level.iter().map(draft).collect::<Result<_, String>>()?;
        let drafts = if given.is_empty() { file_levels } else { &given };
        let groups = self.levels.as_ref().map(LevelSizes::groups);
        if let Some(sizes) = self.levels.as_ref().filter(|sizes| sizes.P() != params.P) {
            let (all, P) = (sizes.P(), params.P);
            return Err(format!(
                "--levels makes {all} processors, and P = {P}; give it so that both are the same"
            ));
        }
        match &groups {
            Some(groups) if groups.len() != drafts.len() => {
                let (n, described) = (groups.len(), drafts.len());
                return Err(format!(
                    "--levels has {n} within the machine, and {described} are described; give --level L=1us,o=0.2us,g=0.5us once for each"
                ));
            }
            None if !given.is_empty() => {
                return Err("--level is for --levels; give how many there are, as in --levels 64x16".into());
            }
            _ => (),
        }
        let P = |place: usize| groups.as_ref().map(|groups| groups[place]);
        let levels = drafts.iter().enumerate().map(|(place, draft)| draft.clone().finish(params, P(place)));
        levels.collect()
    }
}

/// Parses the ports of a machine or of a level, if it has any.
pub fn parse_ports(object: &Value) -> Result<Option<Ports>, String> {
    match object.get("ports").filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.parse().map_err(|why| format!("ports: {why}"))?)),
        Some(other) => Err(format!("it has ports {other}; give \"single\" or \"dual\"")),
    }
}

/// Sets all parameters of a JSON object.
pub fn set_parameters(
    mut builder: ParamsBuilder,
    params: &Map<String, Value>,
) -> Result<ParamsBuilder, String> {
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

    #[test]
    fn sizes_are_read_from_the_outermost() {
        let read = parse_sizes("64x2x8").unwrap();
        assert_eq!((read.P(), read.groups()), (1024, vec![16, 8]));
        for wrong in ["64", "64x", "x16", "0x4", "2x2x2x2", "64*16", "99999999999x99999999999"] {
            assert!(parse_sizes(wrong).unwrap_err().starts_with("give two or three numbers"), "{wrong}");
        }
    }
}
