//! `loggp programs` and `loggp machines`. The list of networks is in [`super::topologies`].

use std::io::Write;

use clap::Args;
use loggp::params::{Parameter, Preset, PresetValue, presets};
use loggp_programs::{PROGRAMS, Program};

use super::error::CliError;
use super::format::Format;
use super::machine_file;
use super::number::thousands;
use super::options::parse_count;
use super::topologies;

/// The arguments of `loggp machines`.
#[derive(Args)]
pub struct MachinesCommand {
    /// How they are listed: for people, or one JSON object each, which --machine FILE reads; --topology has csv too
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// List networks instead, with the average distance of their processors (LogP, section 5.1)
    #[arg(long)]
    topology: bool,
    /// Numbers of processors of the networks [default: 1024]
    #[arg(short = 'P', long = "processors", value_name = "N,...", value_parser = parse_count, allow_negative_numbers = true)]
    #[arg(value_delimiter = ',', requires = "topology")]
    P: Vec<usize>,
}

/// Lists the programs with their sizes, options and algorithms.
pub fn list_programs(out: &mut dyn Write) -> Result<(), CliError> {
    for (i, program) in PROGRAMS.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        list_program(out, program)?;
    }
    Ok(())
}

fn list_program(out: &mut dyn Write, program: &Program) -> Result<(), CliError> {
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

impl MachinesCommand {
    /// Lists the machines with every value and its source.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if self.topology {
            return topologies::list(out, &self.P, self.format);
        }
        if self.format == Format::Csv {
            let why = "machines have no lines of csv; give --format table or json, or list networks with --topology";
            return Err(CliError::request(why));
        }
        for (i, preset) in presets().iter().enumerate() {
            if self.format == Format::Json {
                serde_json::to_writer(&mut *out, &machine_file::preset_object(preset)?).map_err(CliError::run)?;
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

fn list_machine(out: &mut dyn Write, preset: &Preset) -> Result<(), CliError> {
    writeln!(out, "{}: {}", preset.name, preset.about)?;
    for PresetValue { name, value, source, .. } in preset.values() {
        let unit = match Parameter::by_name(name) {
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
