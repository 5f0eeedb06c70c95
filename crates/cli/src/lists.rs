//! `loggp programs` and `loggp machines`: what there is. The networks of machines are in [`super::topologies`].

use std::io::Write;

use clap::Args;
use loggp::{Parameter, Preset, PresetValue, presets};
use loggp_programs::{PROGRAMS, Program};

use super::failure::Failure;
use super::machine_file;
use super::number::thousands;
use super::options::{Format, count};
use super::topologies;

/// The arguments of `machines`.
#[derive(Args)]
pub struct Machines {
    /// How they are listed: for people, or one JSON object each, which --machine FILE reads; --topology has csv too
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// List networks instead, with the average distance of their processors (LogP, section 5.1)
    #[arg(long)]
    topology: bool,
    /// Numbers of processors of the networks [default: 1024]
    #[arg(short = 'P', long = "processors", value_name = "N,...", value_parser = count, allow_negative_numbers = true)]
    #[arg(value_delimiter = ',', requires = "topology")]
    P: Vec<usize>,
}

/// Lists the programs: what they do, what their size is, and their algorithms.
pub fn programs(out: &mut dyn Write) -> Result<(), Failure> {
    for (i, program) in PROGRAMS.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        list_program(out, program)?;
    }
    Ok(())
}

/// Lists a program.
fn list_program(out: &mut dyn Write, program: &Program) -> Result<(), Failure> {
    let (size, algorithms) = (&program.size, program.algorithms);
    let width = algorithms.iter().map(|algorithm| algorithm.name.len()).max().unwrap_or(0);
    writeln!(out, "{}: {}", program.name, program.about)?;
    writeln!(out, "  size: {}; {} unless told", size.meaning, thousands(size.default))?;
    for option in program.options {
        let default = match option.default().text() {
            text if text.is_empty() => text,
            text => format!("; {text} unless told"),
        };
        writeln!(out, "  --{} {}: {}{default}", option.name(), option.placeholder(), option.about())?;
    }
    for algorithm in algorithms {
        writeln!(out, "  {:width$}  {}", algorithm.name, algorithm.about)?;
        match algorithm.formula.strip_prefix("none: ") {
            None => writeln!(out, "  {:width$}  formula: {}", "", algorithm.formula)?,
            Some(why) => writeln!(out, "  {:width$}  no formula: {why}", "")?,
        }
    }
    Ok(())
}

impl Machines {
    /// Lists the machines: every value, and where it comes from.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        if self.topology {
            return topologies::list(out, &self.P, self.format);
        }
        if self.format == Format::Csv {
            let why = "machines have no lines of csv; give --format table or json, or list networks with --topology";
            return Err(Failure::request(why));
        }
        for (i, preset) in presets().iter().enumerate() {
            if self.format == Format::Json {
                serde_json::to_writer(&mut *out, &machine_file::preset(preset)?).map_err(Failure::run)?;
                writeln!(out)?;
                continue;
            }
            if i > 0 {
                writeln!(out)?;
            }
            list_machine(out, preset)?;
        }
        Ok(())
    }
}

/// Lists a machine.
fn list_machine(out: &mut dyn Write, preset: &Preset) -> Result<(), Failure> {
    writeln!(out, "{}: {}", preset.name, preset.about)?;
    for PresetValue { name, value, source, .. } in preset.values() {
        let unit = match Parameter::named(name) {
            Some(parameter) => parameter.unit,
            None if name == "longest" => Some("word"),
            None => None,
        };
        let value = match (unit, value) {
            (_, None) => "open".into(),
            (Some(unit), Some(value)) if value == "1" => format!("1 {unit}"),
            (Some(unit), Some(value)) => format!("{value} {unit}s"),
            (None, Some(value)) => value,
        };
        writeln!(out, "  {name:7}  {value:>10}  {source}")?;
    }
    Ok(())
}
