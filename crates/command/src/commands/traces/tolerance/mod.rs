//! `loggp tolerance`: how much more latency a program tolerates, and how much more of the machine's other
//! parameters.

mod picture;
mod report;
mod source;

use std::io::Write;

use clap::{Args, ValueEnum};
use loggp::Time;
use loggp::params::{LevelParameter, LeveledParams};
use loggp_study::analysis::CurveRequest;
use loggp_study::parallel::run_in_order;
use loggp_study::rows::tolerance::{PARTS, tolerance_columns};

use crate::ask::completion_values;
use crate::ask::format::Format;
use crate::ask::options::{parse_count, parse_positive};
use crate::ask::output::Outputs;
use crate::commands::schedules::schedule_run::PlayOptions;
use crate::error::CliError;
use crate::tell::report::Report;
use source::RunSource;

/// Say how much more latency a schedule or a recorded run tolerates: its time as a function of L, and the L at which it is 1, 2
/// and 5% longer; and the same for the other parameters
#[derive(Args)]
#[command(after_help = "Examples:
  loggp tolerance dissemination.goal --machine cs2-elan -o tolerance.svg
  loggp tolerance gauss.loggp --parameter L --to 100us")]
#[command(next_help_heading = "Machine")]
#[command(mut_arg("machine", |machine| machine.help("One of the papers' machines: `loggp machines` lists them; or a file with one. \
    A trace has its own [default: cs2-elan, unless --params is given]")))]
#[command(mut_arg("params", |params| params.help("Parameters, on top of the machine's: L=6us,o=2us,g=4us,G=0.03us; a bare number \
    counts cycles. Without --machine a word is a byte")))]
pub(crate) struct ToleranceCommand {
    /// A recorded MPI program, or a schedule in GOAL, as `loggp replay` reads it, - for stdin; or a pattern: `loggp schedule
    /// --help` lists them; or a trace that `loggp run --trace` wrote: FILE.json or FILE.loggp
    #[arg(value_name = "FILE|-|PATTERN|TRACE", value_parser = completion_values::pattern(), hide_possible_values = true)]
    input: String,
    #[command(flatten)]
    play: PlayOptions,
    /// The order in which each rank of a schedule acts at other values: as at the machine's own, or as each value makes it.
    /// Only in a kept order the answer can be proven exact
    #[arg(long, value_enum, help_heading = "Schedule")]
    order: Option<RankOrder>,
    /// The parameter that grows: L, or L_1 of the outermost level within the machine; may be given several times
    /// [default: each, and L in full]
    #[arg(long, value_name = "NAME", help_heading = "Report")]
    parameter: Vec<String>,
    /// The parameter's greatest value [default: that at which the run is a little more than 5% longer]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, help_heading = "Report")]
    to: Option<String>,
    /// Only what the run tolerates, which takes a fraction of the runs: without the pieces of the time as a function of the
    /// parameter
    #[arg(long, help_heading = "Report")]
    no_pieces: bool,
    /// How many lines to list of the messages whose latency is on the critical path
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "10", allow_negative_numbers = true)]
    #[arg(help_heading = "Report")]
    top: usize,
    /// Look for up to a minute for a proof that no run between those made takes another time, where ports or the capacity
    /// delay messages. Without it a proof is looked for as long as that takes no time
    #[arg(long, help_heading = "Report")]
    prove: bool,
    /// Most runs to make for a parameter: more are needed only where its time has very many pieces, or is no function of lines
    /// [default: 300; with --prove, or without contention, up to 3,000 of fewer than a million operations in a kept order;
    /// where ports or the capacity delay messages, fewer of more than 10,000 operations]
    #[arg(long, value_name = "N", value_parser = parse_positive, allow_negative_numbers = true)]
    #[arg(help_heading = "Report")]
    runs: Option<usize>,
    /// How it is written: for people, or a JSON object or CSV line per parameter
    #[arg(long, value_enum, default_value = "table", help_heading = "Report")]
    format: Format,
    #[command(flatten)]
    outputs: Outputs,
}

/// The order in which each rank of a schedule acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum RankOrder {
    /// The same at every value
    #[default]
    Kept,
    /// Whatever can begin first
    Free,
}

impl ToleranceCommand {
    /// Finds the curves of the run, and prints what they say.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let files = self.outputs.open()?;
        let source = RunSource::read(self)?;
        let (machine, unit) = (source.machine(), source.unit());
        let is_open = source.program().is_some_and(|program| program.unseen.is_open());
        let mut wanted = self.parameters(&machine)?;
        // What is not known needs no runs.
        wanted.iter_mut().for_each(|(_, is_whole)| *is_whole &= !is_open);
        if self.to.is_some() && wanted.len() > 1 {
            return Err(CliError::request(
                "--to is the end of one parameter; give it with --parameter L, say",
            ));
        }
        let heading = source.heading();
        let mut report = Report::new(out, self.format, tolerance_columns(self.top)).with_files(files);
        let threads = source.threads();
        let whole = wanted.iter().filter(|(_, is_whole)| *is_whole).count();
        let request = |&(parameter, is_whole): &(LevelParameter, bool)| {
            Ok(CurveRequest {
                parameter,
                end: self.end(parameter, &machine)?,
                parts: if is_open { Vec::new() } else { PARTS.into() },
                has_all_pieces: is_whole,
                is_proof_wanted: self.prove,
                most_runs: self.runs.unwrap_or_else(|| source.usual_runs(self.prove)),
                // Curves in full need most runs, so these share the cores.
                threads: if is_whole || whole == 0 { threads.div_ceil(whole.max(1)) } else { 1 },
            })
        };
        let requests: Vec<CurveRequest> = wanted.iter().map(request).collect::<Result<_, CliError>>()?;
        let find = |request: &CurveRequest| source.row(&machine, request);
        run_in_order(requests.into_iter(), threads, find, |_, row| report.add(row?))?;
        let notes = (source.program(), source.order_note());
        report.finish(&heading, unit, |rows| report::blocks(rows, notes, unit, self.top))?;
        report.draw_svg(|rows| picture::svg(rows, &heading, unit))
    }

    /// Returns the parameters that grow, each with whether all pieces of its curve are asked for.
    fn parameters(&self, machine: &LeveledParams) -> Result<Vec<(LevelParameter, bool)>, CliError> {
        let there: Vec<LevelParameter> = CurveRequest::parameters(machine).collect();
        if self.parameter.is_empty() {
            let is_set =
                |parameter: &&LevelParameter| parameter.number(machine) != Some(0) || parameter.name() == "L";
            let is_whole =
                |parameter: &LevelParameter| (*parameter, parameter.name() == "L" && !self.no_pieces);
            return Ok(there.iter().filter(is_set).map(is_whole).collect());
        }
        let find = |name: &String| {
            let found = there.iter().find(|parameter| parameter.name() == name);
            let refuse = || {
                let names = there.iter().map(LevelParameter::name).collect::<Vec<_>>().join(", ");
                CliError::Request(format!(
                    "--parameter {name}: this machine's parameters that are times are {names}"
                ))
            };
            found.map(|parameter| (*parameter, !self.no_pieces)).ok_or_else(refuse)
        };
        self.parameter.iter().map(find).collect()
    }

    /// Reads the greatest value of the parameter.
    fn end(&self, parameter: LevelParameter, machine: &LeveledParams) -> Result<Option<i64>, CliError> {
        let Some(text) = &self.to else { return Ok(None) };
        let refuse = |why: &dyn std::fmt::Display| CliError::Request(format!("--to {text}: {why}"));
        let changed = machine.set(&format!("{}={text}", parameter.name())).map_err(|why| refuse(&why))?;
        let (now, end) = (parameter.number(machine).unwrap_or(0), parameter.number(&changed).unwrap_or(0));
        if end <= now {
            let (name, now) = (parameter.name(), Time::from_ps(now));
            return Err(refuse(&format_args!("the machine's {name} is {now}; give a greater one")));
        }
        Ok(Some(end))
    }
}
