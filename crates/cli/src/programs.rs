//! `loggp programs`.

use std::io::Write;

use clap::Args;
use loggp_programs::{PROGRAMS, Program};

use super::error::CliError;
use super::number::thousands;

/// List the programs, their sizes and their algorithms
#[derive(Args)]
#[command(after_help = "Examples:
  loggp programs
  loggp run lu --help")]
pub struct ProgramsCommand;

impl ProgramsCommand {
    /// Lists the programs with their sizes, options and algorithms.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        for (i, program) in PROGRAMS.iter().enumerate() {
            if i > 0 {
                writeln!(out)?;
            }
            list_program(out, program)?;
        }
        Ok(())
    }
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
        let (name, info) = (option.name(), option.info());
        writeln!(out, "  --{name} {}: {}{default}", info.placeholder, info.about)?;
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
