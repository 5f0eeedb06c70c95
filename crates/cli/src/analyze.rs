//! `loggp analyze`: where the time of recorded runs went, and what they would have taken if.

use std::io::Write;
use std::mem::take;
use std::path::PathBuf;

use clap::Args;
use loggp::{Model, Trace};
use loggp_document::{Block, plain};
use loggp_study::analysis;
use loggp_study::analysis::{Along, Analysis, WhatIf};

use super::accounting::{self, Row};
use super::audit;
use super::bars;
use super::failure::Failure;
use super::formula::{self, Over, failed};
use super::heading::{self, parameters};
use super::number::Unit;
use super::options::{Format, count};
use super::output::Outputs;
use super::overlapping;
use super::report::Report;
use super::row::MOST_DECIMALS;

/// The arguments.
#[derive(Args)]
pub struct Analyze {
    /// Files that `loggp run --trace` wrote
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,
    /// Make the run again under other parameters: S=65536,L=2us; also with fragments=16383, the longest piece of a message
    /// in words, and model=loggp-1. May be given several times
    #[arg(long, value_name = "NAME=VALUE,...", allow_hyphen_values = true)]
    what_if: Vec<String>,
    /// Make the run again by another model (LogGPS, table 8): loggp-1 or loggp-2. May be given several times
    #[arg(long, value_name = "MODEL")]
    model: Vec<Model>,
    /// Make the run again along a parameter, say its critical path at each value as a formula, and from which value on that is
    /// another: L=1us..100us:log:7, L=1us..100us:10 or S=4,8,16
    #[arg(long, value_name = "NAME=A..B:N", allow_hyphen_values = true)]
    over: Option<String>,
    /// Leave out what 1% more of each parameter changes: each takes a replay
    #[arg(long)]
    no_sensitivities: bool,
    /// How many lines to list of what costs the most
    #[arg(long, value_name = "N", value_parser = count, default_value = "10", allow_negative_numbers = true)]
    top: usize,
    /// List every processor, also if there are more than 32
    #[arg(long)]
    every_processor: bool,
    /// List the hops of the critical path
    #[arg(long)]
    path: bool,
    /// Where else it goes.
    #[command(flatten)]
    outputs: Outputs,
    /// How it is written: for people, or one JSON object or CSV line per run
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// So many processors are listed unless told: more would push everything else off the screen.
const LISTED: usize = 32;

impl Analyze {
    /// Analyzes each trace, and what it would be under each change.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut files = self.outputs.open()?;
        let mut rows = Vec::new();
        let mut heading = String::new();
        for path in &self.traces {
            let trace = audit::read(path)?;
            let name = path.display().to_string();
            let first = self.recorded(&name, &trace)?;
            if heading.is_empty() {
                let said = parameters(&trace.params, &Unit::usual(&trace.params)).join(", ");
                heading = format!("{name}: {said}\n{}", heading::recorded(&trace));
            }
            let time = first.analysis.time;
            rows.push(first);
            for what_if in self.what_ifs(&trace)? {
                let again = replay(&what_if, &trace)?;
                let analysis = Analysis::of_run(&again);
                rows.push(Row {
                    name: what_if.name,
                    trace: name.clone(),
                    was: Some(time),
                    analysis,
                    over: None,
                });
            }
        }
        if self.traces.len() > 1 {
            heading = format!("{} traces, of which the first is {heading}", self.traces.len());
        }
        let unit = accounting::unit(&rows);
        heading += &format!(", times in {}", unit.name);
        let mut report = Report::new(out, self.format, accounting::columns(self.top, self.path))
            .files(take(&mut files.rows));
        rows.into_iter().try_for_each(|row| report.add(row))?;
        report.finish(&heading, unit, MOST_DECIMALS, |rows| self.details(rows, unit))?;
        files.draw_svg(|| bars::svg(&report.rows, unit))
    }

    /// What a trace says.
    fn recorded(&self, name: &str, trace: &Trace) -> Result<Row, Failure> {
        let refuse = |why: &dyn std::fmt::Display| Failure::Request(format!("{name}: {why}"));
        let mut analysis = Analysis::of(trace).map_err(|why| refuse(&why))?;
        if self.no_sensitivities {
            analysis.sensitivities.clear();
        } else if !trace.calls.is_empty()
            && let Err(error) = analysis::replay(trace, &mut analysis.sensitivities)
        {
            Failure::Run(format!("what 1% more changes by a replay of {name}: {}", error.cause)).warn();
        }
        let over = |over: &String| Over::read(over, trace.params, |range| Along::of(trace, range));
        let over = self.over.as_ref().map(over).transpose()?;
        Ok(Row { name: name.into(), trace: name.into(), was: None, analysis, over })
    }

    /// All that is to be tried.
    fn what_ifs(&self, trace: &Trace) -> Result<Vec<WhatIf>, Failure> {
        let by = |model: &Model| WhatIf {
            name: format!("model={model}"),
            params: trace.params,
            fragments: None,
            model: *model,
        };
        let asked = self.what_if.iter().map(|text| read_what_if(text, trace));
        asked.chain(self.model.iter().map(|model| Ok(by(model)))).collect()
    }

    /// What stands below the table of the runs.
    fn details(&self, rows: &[Row], unit: Unit) -> Vec<Block> {
        let listed = if self.every_processor { usize::MAX } else { LISTED };
        let mut blocks: Vec<Block> = accounting::shares(rows, unit).into_iter().collect();
        blocks.extend(formula::formulas(rows, unit));
        for row in rows.iter().filter(|row| row.was.is_none()) {
            if self.traces.len() > 1 {
                blocks.push(Block::Heading(2, plain(&*row.name)));
            }
            blocks.extend(accounting::processors(row, unit, listed));
            blocks.extend(accounting::top(row, unit, self.top));
            blocks.extend(overlapping::waiting(row, unit));
            blocks.extend(accounting::path(row, unit, self.path));
            blocks.extend(row.over.iter().flat_map(|over| formula::over(over, unit)));
            blocks.extend(accounting::sensitivities(row, unit));
        }
        blocks
    }
}

/// Reads what `--what-if` says of a run.
pub fn read_what_if(text: &str, trace: &Trace) -> Result<WhatIf, Failure> {
    WhatIf::read(text, trace.params).map_err(|why| Failure::Request(format!("--what-if {text}: {why}")))
}

/// Makes a run again.
pub fn replay(what_if: &WhatIf, trace: &Trace) -> Result<Trace, Failure> {
    what_if.replay(trace).map_err(|error| failed(&what_if.name, &error))
}
