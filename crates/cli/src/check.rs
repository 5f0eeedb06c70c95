//! `loggp check`: is an algorithm right under every order of messages?

use std::env;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::{Arg, Args};
use loggp::{Check, Checked, ClockKind, Latency, Order, Strategy, Ties, Work};
use loggp_programs::Emulation;

use super::draft::Draft;
use super::failure::Failure;
use super::options::{Format, Named, Options, count, one_of, seed};
use super::output::{self, TRACES, write_trace};
use super::own::OfProgram;
use super::progress::Progress;
use super::run::{Asked, One};

/// The arguments.
#[derive(Args)]
pub struct CheckCommand {
    /// Of which program.
    #[command(subcommand)]
    of: OfProgram<Request>,
}

/// What is asked of the program.
#[derive(Args)]
#[command(mut_args(hidden_if_useless))]
struct Request {
    /// Which run.
    #[command(flatten)]
    one: One,
    /// Which orders.
    #[command(flatten)]
    orders: Orders,
}

/// Which orders of messages are tried.
#[derive(Args)]
#[command(next_help_heading = "Orders")]
struct Orders {
    /// Which orders of messages are tried
    #[arg(long, value_parser = one_of::<Strategy>(STRATEGIES), default_value = "mixed")]
    strategy: Strategy,
    /// How many runs are made [default: 1000; with --for as many as there is time for]
    #[arg(long, value_name = "N", value_parser = runs, allow_negative_numbers = true)]
    runs: Option<usize>,
    /// For how long runs are begun: 30s
    #[arg(long = "for", id = "for", value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    time: Option<Duration>, // a program has an option `--time`
    /// At most so many messages are lost in each run
    #[arg(long, value_name = "N", value_parser = count, default_value = "0", allow_negative_numbers = true)]
    losses: usize,
    /// At most so many messages come twice in each run
    #[arg(long, value_name = "N", value_parser = count, default_value = "0", allow_negative_numbers = true)]
    duplicates: usize,
    /// At most so many processors crash in each run
    #[arg(long, value_name = "N", value_parser = count, default_value = "0", allow_negative_numbers = true)]
    crashes: usize,
    /// Draws the orders
    #[arg(long, value_name = "N", value_parser = seed, default_value = "1", allow_negative_numbers = true)]
    order_seed: u64,
    /// One run of so many is held against the rules of the machine, as `loggp audit` does; 0 is none
    #[arg(long, value_name = "N", value_parser = count, default_value = "50", allow_negative_numbers = true)]
    audit: usize,
    /// Write the run that failed to this file, FILE.json or FILE.loggp [default: PROGRAM-ALGORITHM-failed.json]
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

const STRATEGIES: &[Named] = &[
    ("mixed", "The next five, one run of each in turn"),
    ("random", "Each message is under way for any time up to L, and any processor goes first"),
    ("late-few", "One or two messages are under way for L, and all others arrive at once"),
    (
        "few-changes",
        "What a processor sends is under way for L or arrives at once, and few change in between",
    ),
    ("one-end", "All that one processor sends, or gets, is under way for L, and all else arrives at once"),
    ("ties", "Latencies are exact, and any processor goes first"),
    ("systematic", "All orders that differ in what a receive from anyone, a look or a wait takes"),
];

/// The options that `run` does not have.
const OWN: [&str; 9] = [
    "--strategy",
    "--runs",
    "--for",
    "--losses",
    "--duplicates",
    "--crashes",
    "--order-seed",
    "--audit",
    "--trace",
];

/// Says whether an option is given.
type IsGiven = fn(&Options) -> bool;

/// The options of `run` that a check has no use for. It runs on the virtual clock.
const USELESS: [(&str, IsGiven); 13] = [
    ("latency", |given| given.machine.latency != Latency::default()),
    ("ties", |given| given.machine.ties != Ties::default()),
    ("noise", |given| given.noise.is_some()),
    ("repeat-from", |given| given.repeat_from.is_some()),
    ("repeat", |given| given.repeat > 1),
    ("seeds", |given| given.seeds.is_some()),
    ("shard", |given| given.shard.is_some()),
    ("on", |given| given.on.on.is_some()),
    ("also", |given| given.also.is_some()),
    ("format", |given| given.machine.format != Format::Table),
    ("clock", |given| given.machine.clock.clock == Some(ClockKind::Wall)),
    ("carrier", |given| given.machine.clock.carrier.is_some()),
    ("dilation", |given| given.machine.clock.dilation.is_some()),
];

/// Leaves an option that a check has no use for out of its help.
fn hidden_if_useless(option: Arg) -> Arg {
    let is_useless = USELESS.iter().any(|(name, _)| option.get_long() == Some(name));
    if is_useless { option.hide(true) } else { option }
}

impl CheckCommand {
    /// Runs it under many orders, and says what came of that.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let request = &self.of.request;
        let options = &request.one.options;
        if let Some((name, _)) = USELESS.iter().find(|(_, is_given)| is_given(options)) {
            return Err(Failure::Request(format!("a check has no use for --{name}; leave it out")));
        }
        let Asked { mut study, heading, .. } = Asked::of(&self.of, &request.one, false)?;
        if request.one.options.work == Some(Work::Measured) {
            return Err(Failure::request("no run with measured work could be made again; leave out --work"));
        }
        study.case.work = Work::Charged;
        let (program, algorithm) = (study.case.program.name, study.case.algorithm.name);
        let plan = study.case.plan().map_err(Failure::request)?;
        let failed = || format!("{program}-{algorithm}-failed.json").into();
        let path = request.orders.trace.clone().unwrap_or_else(failed);
        output::check(Some(&path), TRACES, ".json, or in .loggp for fewer bytes")?;

        let Orders { strategy, runs, time, losses, duplicates, crashes, order_seed, audit, .. } =
            request.orders;
        let most = runs.unwrap_or(if time.is_some() { usize::MAX } else { 1000 });
        let cores =
            study.emulation.cores.unwrap_or_else(|| available_parallelism().map_or(1, NonZeroUsize::get));
        let progress = Arc::new(match time {
            None => Progress::of(most),
            Some(_) => Progress::with(usize::MAX, "{pos} runs, now {msg}"),
        });
        progress.begin(0, algorithm);
        let check = Check::new()
            .strategy(strategy)
            .runs(most)
            .seed(order_seed)
            .cores(cores)
            .audits(audit)
            .losses(losses)
            .duplicates(duplicates)
            .crashes(crashes);
        let check = time.map_or(check.clone(), |time| check.time(time)).results_may_differ(true);
        let step = Arc::clone(&progress);
        let check = check.on_run(move |_| step.step());
        let emulation = Emulation { cores: Some(1), ..study.emulation.clone() };
        let checked = check.trials(&Order::default(), study.case.params.P, |order| {
            let outcome = plan.run(&Emulation { order: Some(order.clone()), ..emulation.clone() })?;
            Ok(outcome.verified.map(|()| outcome.digest))
        });
        drop((check, progress)); // the bar goes with the last of them
        let checked = checked.map_err(|error| Failure::from(loggp_study::Failed::from(error)))?;
        writeln!(out, "{heading}\n\n{algorithm}: {checked}")?;
        out.flush()?;
        failed_with(&checked, &path, env::args().skip(1), out)
    }
}

/// Writes the run that failed, and says how to run it again.
fn failed_with<R>(
    checked: &Checked<R>,
    path: &Path,
    arguments: impl Iterator<Item = String>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Some(failure) = &checked.failure else { return Ok(()) };
    let shown = path.display();
    write_trace(Draft::create(path, "trace")?, path, &failure.trace)?;
    writeln!(out, "\nthe run is in {shown}; this makes it again:\n  {}", again(arguments, path))?;
    Err(Failure::Run(format!("run {} of the check failed", failure.run)))
}

/// The command line that makes the run again.
fn again(arguments: impl Iterator<Item = String>, path: &Path) -> String {
    let mut words = vec!["loggp".to_string()];
    let mut is_value = false;
    for word in arguments {
        let name = word.split_once('=').map_or(&*word, |(name, _)| name);
        if std::mem::take(&mut is_value) {
            continue;
        }
        if OWN.contains(&name) {
            is_value = name.len() == word.len();
        } else if word == "check" && words.len() == 1 {
            words.push("run".into());
        } else {
            words.push(word);
        }
    }
    let charged = if words.iter().any(|word| word.starts_with("--work")) { "" } else { " --work charged" };
    format!("{}{charged} --repeat-from {}", words.join(" "), path.display())
}

/// Reads a number of runs.
fn runs(text: &str) -> Result<usize, String> {
    count(text).ok().filter(|runs| *runs > 0).ok_or_else(|| "give a whole number from 1".into())
}

/// Reads for how long runs are begun.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "give a time above 0 in s, ms or us, such as 30s".to_string();
    let time: loggp::Time = text.parse().map_err(|_| wrong())?;
    match time.as_ps() {
        ps if ps > 0 => Ok(Duration::from_nanos((ps / 1000).max(1) as u64)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use loggp::{Machine, Params, Tag, Trace, US};

    use super::*;

    #[test]
    fn a_run_that_failed_is_written_and_the_command_line_for_it_is_told() {
        const WORD: Tag<usize> = Tag::new(0);
        let machine = Machine::new(Params::builder(3).L(6 * US).o(US).build().unwrap());
        let checked = Check::new().trials(&Order::default(), 3, |order| {
            let run = machine.clone().ordered(order).run(|p| match p.id() {
                0 => [p.recv(WORD).0, p.recv(WORD).0],
                id => {
                    p.send(0, WORD, id);
                    [0, 0]
                }
            })?;
            Ok(if run.results[0] == [1, 2] { Ok(()) } else { Err("2 was first".into()) })
        });
        let path = env::temp_dir().join(format!("loggp-check-{}.json", std::process::id()));
        let arguments =
            ["check", "lu", "--losses", "1", "-P", "3", "--crashes=2", "--duplicates", "1", "--runs=9"];
        let arguments = arguments.map(String::from);
        let mut said = Vec::new();
        let end = failed_with(&checked.unwrap(), &path, arguments.into_iter(), &mut said);
        assert!(matches!(end, Err(Failure::Run(why)) if why == "run 2 of the check failed"));
        let shown = path.display();
        let command = format!("  loggp run lu -P 3 --work charged --repeat-from {shown}\n");
        assert!(String::from_utf8(said).unwrap().ends_with(&command));
        let trace = Trace::read(std::fs::File::open(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            machine
                .repeat(&trace)
                .run(|p| if p.id() == 0 {
                    p.recv(WORD).0 + p.recv(WORD).0
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
