//! `loggp machines`. The list of networks is in [`super::topologies`].

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp::params::{Parameter, Preset, PresetValue, presets};
use loggp::preset;
use loggp_study::rows::machine;

use super::topologies;
use crate::ask::completion_values;
use crate::ask::format::Format;
use crate::ask::options::parse_count;
use crate::ask::output;
use crate::error::CliError;
use crate::host::draft::Draft;

/// List the papers' machines, every value with its source, or networks and how far apart their processors
/// are
#[derive(Args)]
#[command(after_help = "Examples:
  loggp machines cm5 -o my.json
  loggp machines --topology -P 64,1k")]
pub(crate) struct MachinesCommand {
    /// Only these [default: all]
    #[arg(value_name = "MACHINE", value_parser = completion_values::machine(), hide_possible_values = true)]
    #[arg(conflicts_with = "topology")]
    machines: Vec<String>,
    /// Write the one that is named to FILE.json, which --machine reads, to be changed; - is stdout
    #[arg(short, long, value_name = "FILE.json", conflicts_with_all = ["topology", "format"])]
    output: Option<PathBuf>,
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

impl MachinesCommand {
    /// Lists the machines with every value and its source.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if self.topology {
            return topologies::list(out, &self.P, self.format);
        }
        if self.format == Format::Csv {
            let why = "machines have no lines of csv; give --format table or json, or list networks with --topology";
            return Err(CliError::request(why));
        }
        let machines: Vec<&Preset> = match &self.machines[..] {
            [] => presets().iter().collect(),
            names => {
                names.iter().map(|name| preset(name)).collect::<Result<_, _>>().map_err(CliError::request)?
            }
        };
        if let Some(path) = &self.output {
            let [machine] = machines[..] else {
                let sentence = "-o writes the file of one machine; name it: loggp machines cm5 -o my.json";
                return Err(CliError::request(sentence));
            };
            output::check_extension(Some(path), &["json"], ".json")?;
            let object = machine::preset_object(machine).map_err(CliError::run)?;
            let text = serde_json::to_string_pretty(&object).map_err(CliError::run)?;
            return Draft::create(path, "output")?.write(|mut file| writeln!(file, "{text}"));
        }
        for (i, preset) in machines.into_iter().enumerate() {
            if self.format == Format::Json {
                serde_json::to_writer(&mut *out, &machine::preset_object(preset).map_err(CliError::run)?)
                    .map_err(CliError::run)?;
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
