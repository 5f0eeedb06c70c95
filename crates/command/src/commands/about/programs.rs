//! `loggp programs`.

use std::io::Write;

use clap::Args;
use loggp_document::{Document, DocumentBlock, Table};
use loggp_programs::{ClosedForm, Program};
use serde_json::{Value, json};

use crate::annex::programs;
use crate::ask::format::Format;
use crate::error::CliError;
use crate::host::stdout;
use crate::number::thousands;

/// List the programs, their sizes and their algorithms
#[derive(Args)]
#[command(after_help = "Examples:
  loggp programs
  loggp run lu --help")]
pub(crate) struct ProgramsCommand {
    /// How they are listed: for people, or one JSON object each
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

impl ProgramsCommand {
    /// Lists the programs with their sizes, options and algorithms.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if self.format == Format::Csv {
            return Err(CliError::request("programs have no lines of csv; give --format table or json"));
        }
        for (i, program) in programs().iter().enumerate() {
            if self.format == Format::Json {
                writeln!(out, "{}", program_object(program))?;
                continue;
            }
            if i > 0 {
                writeln!(out)?;
            }
            list_program(out, program)?;
        }
        Ok(())
    }
}

/// Returns a program as a JSON object.
fn program_object(program: &Program) -> Value {
    let options = program.options.iter().map(|option| {
        let info = option.info();
        json!({"name": option.name(), "value": info.placeholder, "about": info.about, "default": option.default().text()})
    });
    let algorithms = program.algorithms.iter().map(|algorithm| {
        let form = algorithm.formula;
        json!({
            "name": algorithm.name,
            "about": algorithm.about,
            "formula": form.text(),
            "formula_source": form.source(),
            "no_formula": form.why_missing(),
        })
    });
    json!({
        "program": program.name,
        "about": program.about,
        "size": {"meaning": program.size.meaning, "default": program.size.default},
        "options": options.collect::<Vec<_>>(),
        "algorithms": algorithms.collect::<Vec<_>>(),
    })
}

fn list_program(out: &mut dyn Write, program: &Program) -> Result<(), CliError> {
    let size = &program.size;
    let two_columns = || Table::new("", "").text("").text("");
    let (mut settings, mut algorithms) = (two_columns(), two_columns());
    let about = format!("{}; {} by default", size.meaning, thousands(size.default));
    settings.push(vec!["  size:".into(), about.into()]);
    for option in program.options {
        let default = match option.default().text() {
            text if text.is_empty() => text,
            text => format!("; {text} by default"),
        };
        let (name, info) = (option.name(), option.info());
        let value = format!("  --{name} {}:", info.placeholder);
        settings.push(vec![value.into(), format!("{}{default}", info.about).into()]);
    }
    for algorithm in program.algorithms {
        algorithms.push(vec![format!("  {}", algorithm.name).into(), algorithm.about.into()]);
        let formula = match algorithm.formula {
            ClosedForm::None(why) => format!("no formula: {why}"),
            form => format!("formula: {form}"),
        };
        algorithms.push(vec!["".into(), formula.into()]);
    }
    let title = format!("{}: {}", program.name, program.about);
    let blocks = vec![DocumentBlock::Table(settings), DocumentBlock::Table(algorithms)];
    out.write_all(Document { title, blocks }.to_text(stdout::width()).as_bytes())?;
    Ok(())
}
