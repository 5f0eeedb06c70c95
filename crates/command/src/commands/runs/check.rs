//! `loggp check`: runs an algorithm under many orders of messages, and reduces a failing one.

use std::io::Write;
use std::path::Path;

use clap::{Args, Command};
use loggp::check::{CheckReport, Strategy};
use loggp::{ClockKind, Order, Work};
use loggp_programs::Emulation;

use super::experiment::{Experiment, ProgramSetup};
use crate::ask::arguments::{self, command_name, without_options};
use crate::ask::options::{ClockOptions, CoreOptions, MachineOptions, ProgramOptions, RunOptions, all_cores};
use crate::ask::orders::{FaultOptions, OrderOptions, own_path};
use crate::ask::output::{self, TRACE_EXTENSIONS, write_trace};
use crate::ask::program_args::ProgramArgs;
use crate::error::CliError;
use crate::host::draft::{Draft, is_stdout};
use crate::host::{interrupt, stdout};
use crate::number::count;
use crate::tell::style::is_quiet;

/// Run an algorithm of a program again and again under other orders of messages, and reduce what fails
#[derive(Args)]
#[command(after_help = "Examples:
  loggp check radix-sort -P 4 --size 64 --runs 200
  loggp check broadcast -P 3 --strategy systematic --params L=6,o=2,g=4")]
pub(crate) struct CheckCommand {
    #[command(subcommand)]
    program: ProgramArgs<CheckArgs>,
}

/// The arguments of `loggp check` for one program.
#[derive(Args)]
struct CheckArgs {
    /// Which algorithm to run [default: the best known]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithm: Option<String>,
    #[command(flatten)]
    program: ProgramOptions,
    #[command(flatten)]
    machine: MachineOptions,
    #[command(flatten)]
    cores: CoreOptions,
    #[command(flatten)]
    orders: OrderOptions,
    #[command(flatten)]
    faults: FaultOptions,
}

impl CheckCommand {
    /// Runs the algorithm under many orders, and prints the result.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let CheckArgs { algorithm, program, machine, cores, orders, faults } = &self.program.request;
        let clock = ClockOptions { cores: *cores, ..ClockOptions::default() };
        let run = RunOptions { clock, repeat: 1, ..RunOptions::default() };
        let setup = ProgramSetup::new(&self.program, program, machine, &run, ClockKind::Virtual)?;
        let Experiment { mut tasks, heading, unit, .. } = setup.single(algorithm, false)?;
        if program.work == Some(Work::Measured) {
            return Err(CliError::request("no run with measured work could be made again; leave out --work"));
        }
        let capacity = program.capacity.capacity;
        if capacity.unfollowed().is_some() && orders.strategy == Strategy::Systematic {
            return Err(CliError::request(format!(
                "the systematic strategy knows when a message leaves the network only where it does so on arrival; leave out --capacity {capacity}, or give another strategy",
            )));
        }
        let study = &mut tasks[0].study;
        study.case.work = Work::Charged;
        let (program, algorithm) = (study.case.program.name, study.case.algorithm.name);
        let plan = study.case.plan().map_err(CliError::request)?;
        let failed = || format!("{program}-{algorithm}-failed.json").into();
        let path = orders.trace.clone().unwrap_or_else(failed);
        output::check_extension(Some(&path), TRACE_EXTENSIONS, ".json, or in .loggp for fewer bytes")?;
        if is_stdout(&path) {
            stdout::keep_for_file();
        }

        let cores = study.emulation.cores.unwrap_or_else(all_cores);
        let (check, progress) = orders.check(1000, cores, algorithm);
        let check = faults.apply(check);
        let emulation = Emulation { cores: Some(1), ..study.emulation.clone() };
        let checked = check.run_trials(&Order::default(), study.case.params.P, |order| {
            let outcome = plan.run(&Emulation { order: Some(order.clone()), ..emulation.clone() })?;
            Ok(outcome.verified.map(|()| outcome.digest))
        });
        drop((check, progress)); // both hold the bar, which goes with the last of them
        let checked = checked.map_err(|error| CliError::from(loggp_study::StudyError::from(error)))?;
        let heading = if is_quiet() { String::new() } else { format!("{heading}\n\n") };
        writeln!(out, "{heading}{algorithm}: {}", checked.text(&|time| unit.show(time)))?;
        out.flush()?;
        let after = format!("{} by seed {}", count(checked.runs, "run"), orders.order_seed);
        let failed = write_failed_run(&checked, &path, orders.trace.is_some(), arguments::words(), out);
        interrupt::stopped(&after).map_or(failed, Err)
    }
}

/// Writes the trace of the run that failed, if one did, and prints the command that repeats it.
fn write_failed_run<R>(
    checked: &CheckReport<R>,
    path: &Path,
    may_replace: bool,
    arguments: impl Iterator<Item = String>,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let Some(failure) = &checked.failure else { return Ok(()) };
    let path = &if may_replace { path.into() } else { own_path(path, &failure.trace) };
    let shown = path.display();
    write_trace(Draft::create(path, "trace")?, path, &failure.trace)?;
    writeln!(out, "\nthe run is in {shown}; this makes it again:\n  {}", repeat_command(arguments, path))?;
    Err(CliError::Run(format!("run {} of the check failed", failure.run)))
}

/// Returns the command line that repeats the run whose trace is at `path`.
fn repeat_command(arguments: impl Iterator<Item = String>, path: &Path) -> String {
    let own = FaultOptions::augment_args(OrderOptions::augment_args(Command::new("check")));
    let words = without_options(arguments, &own, |word| word == "check");
    let charged = if words.contains(" --work") { "" } else { " --work charged" };
    format!("{} run{words}{charged} --repeat-from {}", command_name(), path.display())
}

#[cfg(test)]
mod tests {
    use loggp::{Machine, Params, Tag, US};

    use loggp::check::Check;
    use loggp::trace::Trace;

    use super::*;

    #[test]
    fn failed_run_is_written_and_its_command_line_printed() {
        const WORD: Tag<usize> = Tag::new(0);
        let machine = Machine::new(Params::builder(3).L(6 * US).o(US).build().unwrap());
        let checked = Check::new().run_trials(&Order::default(), 3, |order| {
            let run = machine.clone().order(order).run(|p| match p.id() {
                0 => [p.recv_with_sender(WORD).0, p.recv_with_sender(WORD).0],
                id => {
                    p.send(0, WORD, id);
                    [0, 0]
                }
            })?;
            Ok(if run.results[0] == [1, 2] { Ok(()) } else { Err("2 was first".into()) })
        });
        let path = std::env::temp_dir().join(format!("loggp-check-{}.json", std::process::id()));
        let arguments =
            ["check", "lu", "--losses", "1", "-P", "3", "--crashes=2", "--duplicates", "1", "--runs=9"];
        let arguments = arguments.map(String::from);
        let mut output = Vec::new();
        let end = write_failed_run(&checked.unwrap(), &path, true, arguments.into_iter(), &mut output);
        assert!(matches!(end, Err(CliError::Run(why)) if why == "run 2 of the check failed"));
        let shown = path.display();
        let command = format!("  loggp run lu -P 3 --work charged --repeat-from {shown}\n");
        assert!(String::from_utf8(output).unwrap().ends_with(&command));
        let trace = Trace::read(std::fs::File::open(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            machine
                .order(&trace)
                .run(|p| if p.id() == 0 {
                    p.recv_with_sender(WORD).0 + p.recv_with_sender(WORD).0
                } else {
                    p.send(0, WORD, 1);
                    0
                })
                .unwrap()
                .results[0],
            3
        );
    }
}
