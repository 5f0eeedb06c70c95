//! `loggp check -n 4 ./app`: runs an MPI program under many orders of messages, and looks for faults of its calls.

mod entry;
mod junit;
mod line_file;
mod list;
mod program;
mod report;
mod sarif;
mod suppress;
mod verdict;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use loggp::check::{Check, CheckReport, FailureKind, Strategy, TrialResult};
use loggp::trace::Trace;
use loggp::{Cause, Machine, Order, RunError, SEC, Time};
use loggp_emulate::{Checks, Fault, FaultKind, Settings};
use loggp_mpi_trace::libraries::{self, open_mpi};

use crate::ranks::StartOptions;
use crate::record::start;
use loggp_command::annex::Execute;
use loggp_command::ask::format::Format;
use loggp_command::ask::levels::LevelOptions;
use loggp_command::ask::options::{ChoiceOptions, parse_duration};
use loggp_command::ask::orders::OrderOptions;
use loggp_command::ask::output::{self, TRACE_EXTENSIONS};
use loggp_command::ask::rank_machine::machine_for;
use loggp_command::ask::trace_input::read_trace;
use loggp_command::error::CliError;
use loggp_command::host::interrupt;

use entry::Entry;
use program::{CheckedProgram, Found, StartedRun, Streams};
use suppress::Suppressions;
use verdict::{ReviewFiles, Verdict};

/// Run an MPI program again and again under other orders of messages, and look for faults of its calls
#[derive(Args)]
#[command(override_usage = "loggp check [OPTIONS] -n RANKS ./APP...
       loggp check [OPTIONS] -- mpirun -n RANKS ./APP...
       loggp check [OPTIONS] --programs FILE")]
#[command(mut_arg("runs", |runs| runs.help(RUNS_HELP)), mut_arg("trace", |trace| trace.help(TRACE_HELP)))]
#[command(mut_arg("machine", |machine| machine.help(MACHINE_HELP)))]
#[command(
    after_help = "Found are arguments that cannot be, calls that do not belong together or come in another order, message \
races, requests, buffers and threads that are not as MPI wants them, what is never freed, crashes, early exits and endless loops; \
each with its calls, and their lines where the program has -g.

Examples:
  loggp check -n 3 ./app
  loggp check --strategy systematic --buffering none -- mpirun -n 3 ./app"
)]
pub(crate) struct CheckMpiCommand {
    /// The program, or the command that starts it, such as mpirun -n 3 ./app
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
    #[command(flatten)]
    start: StartOptions,
    /// Check the programs of a file, one a line, such as -n 3 ./app; several at once where there are cores
    #[arg(long, value_name = "FILE", help_heading = "MPI program", conflicts_with_all = ["words", "ranks", "repeat_from", "trace"])]
    programs: Option<PathBuf>,
    #[command(flatten)]
    choice: ChoiceOptions,
    #[command(flatten)]
    levels: LevelOptions,
    #[command(flatten)]
    orders: OrderOptions,
    /// Whether a standard send waits for its receiver, as it may; a program that then waits for ever relies on buffering
    #[arg(long, value_enum, default_value = "usual", help_heading = "MPI program")]
    buffering: Buffering,
    /// Each rank waits in a collective until all have called it, as it may; without this one run does so
    #[arg(long, help_heading = "MPI program")]
    synchronize: bool,
    /// The longest that a rank may compute between two calls
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s", help_heading = "MPI program")]
    limit: Duration,
    /// Take for a fault what MPI allows and is odd, such as a wait for a request that is not started; without this it is warned of
    #[arg(long, help_heading = "MPI program")]
    strict: bool,
    /// Run it once, with what it prints, in the order of a run that failed
    #[arg(long, value_name = "FILE", help_heading = "Orders")]
    repeat_from: Option<PathBuf>,
    /// How it is written: for people, as a JSON object, or as a CSV line
    #[arg(long, value_enum, default_value = "table", help_heading = "Report")]
    format: Format,
    /// Write the faults as SARIF too, for reviews that show them at their lines
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    sarif: Option<PathBuf>,
    /// Write the check as a test case of JUnit too, for continuous integration
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    junit: Option<PathBuf>,
    /// Leave out the faults that a file names, a kind and a place a line, such as resource leak: main.c:12
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    suppress: Option<PathBuf>,
}

const RUNS_HELP: &str = "How many runs are made, where a call depends on the order of messages [default: 50; with --for as many as \
                         there is time for]";
const MACHINE_HELP: &str = "One of the papers' machines: `loggp machines` lists them; or a file with one as `loggp machines --format \
                            json` has it [default: one on which any message can be later than all that do not wait for it, \
                            L=1s,o=1us,g=1us, unless --params is given]";
const TRACE_HELP: &str = "Write the run that failed to this file, FILE.json or FILE.loggp [default: mpi-failed.json, with a number \
                          if another run is there]";

/// Whether a standard send waits for its receiver.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Buffering {
    /// In one run, and else only with messages longer than the machine's S
    Usual,
    /// Only with messages longer than the machine's S: for a program that may rely on buffering
    Eager,
    /// In all runs but the first
    None,
}

/// What a run assumes of the MPI beyond the order of messages, as it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Assumed {
    synchronizes: bool,
    is_unbuffered: bool,
}

/// A machine on which any message can be later than any others that do not wait for it.
const ANY_ORDER: &str = "L=1s,o=1us,g=1us";

/// The cost of a look on that machine: the first ones in vain are short, and a program that looks for long looks ten times in an
/// L and not a million times.
const FIRST_LOOK: Time = Time::from_ps(SEC.as_ps() / 1_000_000);
const LONGEST_LOOK: Time = Time::from_ps(SEC.as_ps() / 10);

/// The same where all orders are tried, of which there are the more the shorter a look is.
const LOOK_OF_ALL: Time = Time::from_ps(SEC.as_ps() / 64);

/// The runs of a program whose calls depend on the order, unless it is said how many.
const USUAL_RUNS: usize = 50;

/// The orders that are tried to find one in which a program is right that fails in the first one, and the time for that.
const RIGHT_ORDERS: usize = 20;
const TIME_FOR_RIGHT_ORDERS: Duration = Duration::from_secs(10);

/// A program that has been checked.
struct Checked {
    /// The program as it stands on the command line, without and with how it is started.
    name: String,
    start: String,
    report: CheckReport<()>,
    found: Found,
    /// The faults of all runs that end none.
    notes: Vec<Fault>,
    /// The same of calls that MPI allows, which are faults with `--strict` alone.
    warnings: Vec<Fault>,
    /// The faults that were left out, each with the line that says so.
    left_out: Vec<(Fault, String)>,
    /// True if a call has depended on the order of messages.
    has_choices: bool,
    /// What the run that failed assumes.
    assumed: Assumed,
    /// The run that is right, if the one that fails is only wrong by its order.
    right: Option<Trace>,
    /// The files with the runs that failed and that was right.
    traces: Vec<String>,
}

impl Checked {
    fn has_passed(&self) -> bool {
        self.report.has_passed() && self.notes.is_empty()
    }

    /// Returns all faults: those of the run that failed first.
    fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.found.faults.iter().chain(&self.notes)
    }

    /// Returns what is wrong: the run that failed, or what is wrong with others that went on.
    fn why(&self) -> Option<String> {
        let failure = self.report.failure.as_ref().map(|failure| text_of(&failure.kind));
        failure.or_else(|| self.notes.first().map(ToString::to_string))
    }
}

impl Execute for CheckMpiCommand {
    fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if self.words.is_empty() && self.programs.is_none() {
            return Err(CliError::request("what is to be checked? give a program, such as -n 3 ./app"));
        }
        let path = self.orders.trace.clone().unwrap_or_else(|| "mpi-failed.json".into());
        output::check_extension(Some(&path), TRACE_EXTENSIONS, ".json, or in .loggp for fewer bytes")?;
        drop(self.machine(self.levels.P().unwrap_or(2))?);
        let suppressions =
            self.suppress.as_deref().map_or(Ok(Suppressions::default()), Suppressions::read)?;
        let streams = Streams::new(self.repeat_from.is_none(), self.programs.is_none())?;
        let entry = Entry { start: self.start.clone(), words: self.words.clone() };
        if let Some(path) = &self.repeat_from {
            let subject = CheckedProgram::new(&entry, self.settings(&entry), streams, &suppressions)?;
            return self.repeat(&subject, &read_trace(path)?);
        }
        let files = ReviewFiles::create(self.sarif.as_deref(), self.junit.as_deref())?;
        let mut verdicts = match &self.programs {
            Some(file) => self.check_all(&list::read(file)?, &suppressions),
            None => {
                let (check, progress) = self.orders.check(USUAL_RUNS, 1, "the program");
                let verdict = self.judge(&entry, streams, &suppressions, &check);
                drop((check, progress)); // both hold the bar, which goes with the last of them
                vec![verdict]
            }
        };
        let mut checked = verdicts.iter_mut().filter_map(|verdict| verdict.checked.as_mut().ok());
        checked.try_for_each(|checked| self.keep_traces(checked, &path))?;
        files.write(&verdicts)?;
        self.report(out, &verdicts)?;
        verdict::end(verdicts, self.orders.order_seed)
    }
}

impl CheckMpiCommand {
    fn machine(&self, ranks: usize) -> Result<Machine, CliError> {
        let mut options = self.choice.clone();
        if options.machines.is_empty() && options.params.is_none() {
            options.params = Some(ANY_ORDER.into());
            let look = if self.tries_all_looks() { LOOK_OF_ALL } else { FIRST_LOOK };
            options.cycle = options.cycle.or(Some(look));
        }
        let choice = machine_for(&options, &self.levels, ranks)?;
        Ok(Machine::new(choice.params)
            .levels(choice.levels.iter().copied())
            .ports(choice.ports.unwrap_or_default()))
    }

    /// Returns whether each look is a choice that the search for all orders knows.
    fn tries_all_looks(&self) -> bool {
        self.orders.strategy == Strategy::Systematic
    }

    /// Returns how long a look in vain takes where a program has looked for long.
    fn longest_look(&self) -> Time {
        let has_own = !self.choice.machines.is_empty() || self.choice.params.is_some();
        if has_own || self.choice.cycle.is_some() || self.tries_all_looks() {
            return Time::ZERO;
        }
        LONGEST_LOOK
    }

    /// Returns what the first run assumes.
    fn usual(&self) -> Assumed {
        Assumed { synchronizes: self.synchronize, is_unbuffered: false }
    }

    /// Returns what one run each assumes beside the usual.
    fn also_assumed(&self) -> Vec<Assumed> {
        let usual = self.usual();
        let synchronized = (!self.synchronize).then_some(Assumed { synchronizes: true, ..usual });
        let is_tried = self.buffering != Buffering::Eager;
        let unbuffered = is_tried.then_some(Assumed { is_unbuffered: true, ..usual });
        synchronized.into_iter().chain(unbuffered).collect()
    }

    fn settings(&self, entry: &Entry) -> Settings {
        let table = start::mpi_of_command(&entry.words).and_then(libraries::table_named);
        let longest_look = self.longest_look();
        Settings {
            speed: 0.0,
            table: table.or(Some(open_mpi())),
            limit: Some(self.limit),
            checks: Some(Checks { longest_look, ..Checks::default() }),
            ..Settings::default()
        }
    }

    /// Returns the faults that ended no run, and what is only warned of.
    fn notes(&self, subject: &CheckedProgram) -> (Vec<Fault>, Vec<Fault>) {
        let notes = subject.seen.notes(subject.suppressions);
        notes.into_iter().partition(|note| self.strict || note.kind == FaultKind::ResourceLeak)
    }

    /// Checks a program.
    fn judge(&self, entry: &Entry, streams: Streams, suppressions: &Suppressions, check: &Check) -> Verdict {
        let begin = Instant::now();
        let subject = CheckedProgram::new(entry, self.settings(entry), streams, suppressions);
        let checked = subject.and_then(|subject| self.check(entry, &subject, check));
        Verdict { start: entry.text(), took: begin.elapsed(), checked }
    }

    fn check(&self, entry: &Entry, subject: &CheckedProgram, check: &Check) -> Result<Checked, CliError> {
        let usual = self.usual();
        let first = subject.start(usual)?;
        let ranks = first.ranks;
        let machine = self.machine(ranks).inspect_err(|_| first.give_up())?;
        let first: Mutex<Option<StartedRun>> = Mutex::new(Some(first));
        let trial = |order: &Order, assumed: Assumed| {
            let started = first.lock().ok().and_then(|mut first| first.take());
            subject.trial(started, &machine.clone().order(order), assumed)
        };
        // The first run of a search for all orders has messages that come at once, and these have late ones.
        let check_of_one = check.clone().strategy(Strategy::Mixed).runs(1);
        let one = |assumed: Assumed| {
            check_of_one.run_trials(&Order::default(), ranks, |order| trial(order, assumed))
        };
        let mut checked = one(usual);
        let mut assumed = usual;
        let wants_more = |checked: &Result<CheckReport<()>, RunError>| {
            checked.as_ref().is_ok_and(CheckReport::has_passed) && !interrupt::is_stopped()
        };
        for also in self.also_assumed() {
            if wants_more(&checked) {
                let strict = one(also);
                if !strict.as_ref().is_ok_and(CheckReport::has_passed) {
                    (checked, assumed) = (strict, also);
                }
            }
        }
        let has_more_orders = subject.seen.has_choices() || self.tries_all_looks();
        if wants_more(&checked) && has_more_orders {
            assumed = Assumed { is_unbuffered: self.buffering == Buffering::None, ..usual };
            checked = check.clone().run_trials(&Order::default(), ranks, |order| trial(order, assumed));
        }
        let mut report = checked.map_err(|why| subject.seen.error(why))?;
        report.choices.clear(); // they are calls of the emulation
        let (mut found, mut right) = (Found::default(), None);
        let (notes, mut warnings) = self.notes(subject);
        if let Some(failure) = &mut report.failure {
            found = subject.seen.found(&text_of(&failure.kind));
            if found.faults.iter().any(|fault| fault.may_be_race) {
                let found = find_right(check, ranks, |order| trial(order, assumed));
                right = found.map_err(|why| subject.seen.error(why))?;
            }
            if right.is_some() {
                let may_be_race = found.faults.iter_mut().filter(|fault| fault.may_be_race);
                may_be_race.for_each(|fault| fault.kind = FaultKind::MessageRace);
            }
            if let [fault] = &found.faults[..] {
                failure.kind = FailureKind::RunFailed(Cause::OtherProcess(fault.to_string()).into());
            }
        }
        // What a fault says already.
        let is_said =
            |warning: &Fault, fault: &Fault| warning.places.iter().all(|place| fault.places.contains(place));
        warnings.retain(|warning| !found.faults.iter().any(|fault| is_said(warning, fault)));
        Ok(Checked {
            name: entry.name(),
            start: entry.text(),
            report,
            found,
            notes,
            warnings,
            left_out: subject.seen.left_out(),
            has_choices: subject.seen.has_choices(),
            assumed,
            right,
            traces: Vec::new(),
        })
    }

    /// Runs the program once, in the order of a run that failed.
    fn repeat(&self, subject: &CheckedProgram, failed: &Trace) -> Result<(), CliError> {
        let assumed = Assumed { is_unbuffered: self.buffering == Buffering::None, ..self.usual() };
        let started = subject.start(assumed)?;
        let machine = self.machine(started.ranks).inspect_err(|_| started.give_up())?;
        let race = FaultKind::MessageRace.name();
        let was_race = failed.caption.as_ref().is_some_and(|caption| caption.about.starts_with(race));
        let ran = subject.trial(Some(started), &machine.order(failed), assumed);
        let (notes, _) = self.notes(subject);
        let (text, error) = match ran {
            Ok(Ok(())) if notes.is_empty() => return Ok(()),
            Ok(Ok(())) => {
                let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
                return Err(CliError::Run(notes.join("\n")));
            }
            Ok(Err(why)) => (why.clone(), CliError::Run(why)),
            Err(error) => (error.to_string(), subject.seen.error(error)),
        };
        Err(match &mut subject.seen.found(&text).faults[..] {
            [fault] => {
                if was_race && fault.may_be_race {
                    fault.kind = FaultKind::MessageRace;
                }
                CliError::run(fault)
            }
            _ => error,
        })
    }
}

/// Returns a run of a program that fails in another order and is right in this one, if one is found soon.
fn find_right(
    check: &Check,
    ranks: usize,
    trial: impl Fn(&Order) -> TrialResult<()> + Sync,
) -> Result<Option<Trace>, RunError> {
    // What is looked for is a run that is right, as a check looks for one that is not.
    let is_right = |order: &Order| match trial(order) {
        Ok(Ok(())) => Ok(Err(String::new())),
        Err(why) if matches!(why.cause, Cause::Params(_) | Cause::Host(_)) => Err(why),
        Ok(Err(_)) | Err(_) => Ok(Ok(())),
    };
    let search = check.clone().runs(RIGHT_ORDERS).time(TIME_FOR_RIGHT_ORDERS);
    let searched = search.run_trials(&Order::default(), ranks, is_right)?;
    Ok(searched.failure.map(|right| right.trace))
}

/// Returns the text of a failure, by which what a run has found is known.
fn text_of(failure: &FailureKind) -> String {
    match failure {
        FailureKind::RunFailed(error) => error.to_string(),
        FailureKind::WrongResult(why) => why.clone(),
        other => other.to_string(),
    }
}
