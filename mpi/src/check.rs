//! `loggp check -n 4 ./app`: runs an MPI program under many orders of messages, and looks for faults of its calls.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use clap::{Args, ValueEnum};
use loggp::check::{CheckReport, Failure, Strategy, TrialResult};
use loggp::trace::Trace;
use loggp::{Cause, ClockKind, Machine, Order, RunError, SEC, Time};
use loggp_emulate::{Checks, Session, Settings};
use loggp_goal::patterns::CollectiveTable;
use loggp_study::rows::{Columns, Field};

use crate::emulate::MPI_SETTINGS;
use crate::ranks::{KeptProgram, StartOptions, refuse_memory, say_launched};
use crate::record::start::{self, Launch};
use loggp_command::annex::Execute;
use loggp_command::ask::format::Format;
use loggp_command::ask::levels::LevelOptions;
use loggp_command::ask::options::{ChoiceOptions, parse_duration};
use loggp_command::ask::orders::{OrderOptions, own_path};
use loggp_command::ask::output::{self, TRACE_EXTENSIONS, write_trace};
use loggp_command::ask::rank_machine::machine_for;
use loggp_command::ask::trace_input::read_trace;
use loggp_command::error::{CliError, system_reason};
use loggp_command::host::draft::Draft;
use loggp_command::host::interrupt;
use loggp_command::number::{Unit, count};
use loggp_command::tell::report::Report;

/// Run an MPI program again and again under other orders of messages, and look for faults of its calls
#[derive(Args)]
#[command(override_usage = "loggp check [OPTIONS] -n RANKS ./APP...
       loggp check [OPTIONS] -- mpirun -n RANKS ./APP...")]
#[command(after_help = "Examples:
  loggp check -n 3 ./app
  loggp check --strategy systematic --buffering none -- mpirun -n 3 ./app")]
pub(crate) struct CheckMpiCommand {
    /// The program, or the command that starts it, such as mpirun -n 3 ./app
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
    #[command(flatten)]
    start: StartOptions,
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
    /// Run it once, with what it prints, in the order of a run that failed
    #[arg(long, value_name = "FILE", help_heading = "Orders")]
    repeat_from: Option<PathBuf>,
    /// How it is written: for people, as a JSON object, or as a CSV line
    #[arg(long, value_enum, default_value = "table", help_heading = "Report")]
    format: Format,
}

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

/// A machine on which any message can be later than any others that do not wait for it.
const ANY_ORDER: &str = "L=1s,o=1us,g=1us";

/// The cost of a look on that machine: the first ones in vain are short, and a program that looks for long looks ten times in an
/// L and not a million times.
const FIRST_LOOK: Time = Time::from_ps(SEC.as_ps() / 1_000_000);
const LONGEST_LOOK: Time = Time::from_ps(SEC.as_ps() / 10);

/// The same where all orders are tried, of which there are the more the shorter a look is.
const LOOK_OF_ALL: Time = Time::from_ps(SEC.as_ps() / 64);

/// Ranks that a run has ended are not waited for: Open MPI 4 and 5 give them a second, in each run that fails.
const END_AT_ONCE: [(&str, &str); 2] =
    [("OMPI_MCA_odls_base_sigkill_timeout", "0"), ("PRTE_MCA_odls_base_sigkill_timeout", "0")];

/// The faults that a check does not look for, and what finds them.
const NOT_LOOKED_FOR: &str = "not looked for: races in memory between threads (ThreadSanitizer finds them), conflicts of one-sided calls (MUST), and files";

/// How the program is started again and again.
enum Starter {
    Launcher(Launch),
    Forks(KeptProgram),
}

/// A program that has been started.
struct Started<'a> {
    session: Session,
    end: Ending<'a>,
    ranks: usize,
}

/// Whose end is that of a started program.
enum Ending<'a> {
    Launcher(Child),
    Forks(&'a KeptProgram),
}

/// Observations of a program's runs, beside their results.
#[derive(Default)]
struct Seen {
    /// True if a call has depended on the order of messages.
    has_choices: AtomicBool,
    /// Why the program cannot be checked.
    refused: OnceLock<String>,
    /// What ranks have not freed, and which ranks.
    leaks: Mutex<BTreeMap<String, BTreeSet<usize>>>,
}

/// What a run assumes of the MPI beyond the order of messages, as it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Assumed {
    synchronizes: bool,
    is_unbuffered: bool,
}

/// What a check has found.
struct Verdict {
    checked: CheckReport<()>,
    has_choices: bool,
    /// What the run that failed assumes.
    assumed: Assumed,
    /// Sentences on what ranks have not freed.
    leaks: Vec<String>,
}

impl Verdict {
    fn has_passed(&self) -> bool {
        self.checked.has_passed() && self.leaks.is_empty()
    }

    /// Returns what is wrong: the run that failed, or what is left at the end of others.
    fn fault(&self) -> Option<String> {
        let failure = self.checked.failure.as_ref().map(|failure| failure.kind.to_string());
        failure.or_else(|| self.leaks.first().cloned())
    }
}

impl Seen {
    /// Returns sentences on what ranks have not freed.
    fn leaks(&self) -> Vec<String> {
        let leaks = self.leaks.lock().unwrap_or_else(PoisonError::into_inner);
        let text = |(what, ranks): (&String, &BTreeSet<usize>)| {
            let first = ranks.first().copied().unwrap_or_default();
            let others = match ranks.len() {
                1 => String::new(),
                2 => " (1 rank more too)".into(),
                n => format!(" ({} ranks more too)", n - 1),
            };
            format!("resource leak: rank {first} {what}{others}")
        };
        leaks.iter().map(text).collect()
    }

    /// Returns the error of a check that came to no verdict.
    fn error(&self, why: RunError) -> CliError {
        self.refused.get().map_or_else(|| CliError::run(why), CliError::request)
    }
}

impl Execute for CheckMpiCommand {
    fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if self.words.is_empty() {
            return Err(CliError::request("what is to be checked? give a program, such as -n 3 ./app"));
        }
        let path = self.orders.trace.clone().unwrap_or_else(|| "mpi-failed.json".into());
        output::check_extension(Some(&path), TRACE_EXTENSIONS, ".json, or in .loggp for fewer bytes")?;
        drop(self.machine(self.levels.P().unwrap_or(2))?);
        let starter = self.starter()?;
        if let Some(path) = &self.repeat_from {
            return self.repeat(&starter, &read_trace(path)?);
        }
        let (check, progress) = self.orders.check(50, 1, "the program");
        let usual = self.usual();
        let first = self.start(&starter, usual)?;
        let ranks = first.ranks;
        let machine = self.machine(ranks).inspect_err(|_| first.session.give_up())?;
        let name = self.words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let (first, seen) = (Mutex::new(Some(first)), Seen::default());
        let trial = |order: &Order, assumed: Assumed| {
            let started = first.lock().ok().and_then(|mut first| first.take());
            self.trial(&starter, started, &machine.clone().order(order), (assumed, &seen))
        };
        // The first run of a search for all orders has messages that come at once, and these have late ones.
        let check_of_one = check.clone().strategy(Strategy::Mixed).runs(1);
        let one = |assumed: Assumed| {
            check_of_one.run_trials(&Order::default(), ranks, |order| trial(order, assumed))
        };
        let mut checked = one(usual);
        let mut assumed = usual;
        let goes_on = |checked: &Result<CheckReport<()>, RunError>| {
            checked.as_ref().is_ok_and(CheckReport::has_passed) && !interrupt::is_stopped()
        };
        for also in self.also_assumed() {
            if goes_on(&checked) {
                let strict = one(also);
                if !strict.as_ref().is_ok_and(CheckReport::has_passed) {
                    (checked, assumed) = (strict, also);
                }
            }
        }
        let has_more_orders = seen.has_choices.load(Ordering::Relaxed) || self.tries_all_looks();
        if goes_on(&checked) && has_more_orders {
            assumed = Assumed { is_unbuffered: self.buffering == Buffering::None, ..usual };
            checked = check.run_trials(&Order::default(), ranks, |order| trial(order, assumed));
        }
        drop((check, check_of_one, progress)); // they hold the bar, which goes with the last of them
        let mut checked = checked.map_err(|why| seen.error(why))?;
        checked.choices.clear(); // they are calls of the emulation
        let kept = checked.failure.as_ref().map(|failure| self.keep(failure, &path)).transpose()?;
        let leaks = seen.leaks();
        let verdict = Verdict { checked, has_choices: seen.has_choices.into_inner(), assumed, leaks };
        self.report(out, (&name, &machine), &verdict, kept.as_deref())?;
        let after = format!("{} by seed {}", count(verdict.checked.runs, "run"), self.orders.order_seed);
        let failed = verdict.checked.failure.as_ref();
        let failed = match (failed.map(|failure| failure.run), verdict.leaks.len()) {
            (Some(run), _) => Err(CliError::Run(format!("run {run} of the check failed"))),
            (None, 0) => Ok(()),
            (None, leaks) => Err(CliError::Run(format!("{} found", count(leaks, "leak")))),
        };
        interrupt::stopped(&after).map_or(failed, Err)
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

    /// Finds out how the program is started. One whose ranks are forks of one process comes to that point now.
    fn starter(&self) -> Result<Starter, CliError> {
        if let Some(program) = self.start.forked(&self.words)? {
            let settings = [&MPI_SETTINGS[..], &END_AT_ONCE].concat();
            match KeptProgram::start(&program, &settings, self.repeat_from.is_none())? {
                Ok(kept) => return Ok(Starter::Forks(kept)),
                Err(why) => say_launched(&why),
            }
        }
        Ok(Starter::Launcher(Launch::prepare(&self.start.launched(&self.words)?)?))
    }

    /// Starts the program, and waits until its ranks have come.
    fn start<'a>(&self, starter: &'a Starter, assumed: Assumed) -> Result<Started<'a>, CliError> {
        let table = start::mpi_of_command(&self.words).and_then(CollectiveTable::named);
        let Assumed { synchronizes, is_unbuffered } = assumed;
        let settings = Settings {
            speed: 0.0,
            table: table.or(Some(CollectiveTable::open_mpi())),
            limit: Some(self.limit),
            checks: Some(Checks { is_unbuffered, synchronizes, longest_look: self.longest_look() }),
            ..Settings::default()
        };
        let session = Session::new(settings, ClockKind::Virtual, 1).map_err(|why| refuse_memory(&why))?;
        let launch = match starter {
            Starter::Launcher(launch) => launch,
            Starter::Forks(kept) => {
                kept.fork(&session).map_err(CliError::Run)?;
                return Ok(Started { session, end: Ending::Forks(kept), ranks: kept.ranks });
            }
        };
        let mut command = launch.command(session.variables(), &MPI_SETTINGS);
        command.envs(END_AT_ONCE);
        if self.repeat_from.is_none() {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let mut child =
            interrupt::spawn_apart(command.stdin(Stdio::null())).map_err(|error| launch.refusal(&error))?;
        let is_over = || child.try_wait().is_ok_and(|status| status.is_some());
        match session.wait_for_ranks(is_over) {
            Ok(Some(ranks)) => Ok(Started { session, end: Ending::Launcher(child), ranks }),
            Ok(None) => Err(CliError::request(
                "no rank has come: either the program does not call MPI_Init, or its MPI is not that of the library",
            )),
            Err(why) => Err(CliError::Run(why)),
        }
    }

    /// Runs the program once, on a machine with an order.
    fn trial(
        &self,
        starter: &Starter,
        started: Option<Started>,
        machine: &Machine,
        (assumed, seen): (Assumed, &Seen),
    ) -> TrialResult<()> {
        let started = match started {
            Some(started) => Ok(started),
            None => self.start(starter, assumed),
        };
        let started = started.map_err(|why| {
            RunError::from(Cause::Host(why.into_sentence().unwrap_or_else(|| "it cannot be started".into())))
        })?;
        Ok(match run(started, machine, seen)? {
            status if status.success() => Ok(()),
            status => Err(format!("the program ended with {status}")),
        })
    }

    /// Runs the program once, in the order of a run that failed.
    fn repeat(&self, starter: &Starter, failed: &Trace) -> Result<(), CliError> {
        let is_unbuffered = self.buffering == Buffering::None;
        let started = self.start(starter, Assumed { is_unbuffered, ..self.usual() })?;
        let machine = self.machine(started.ranks).inspect_err(|_| started.session.give_up())?;
        let seen = Seen::default();
        let ran = run(started, &machine.order(failed), &seen);
        let leaks = seen.leaks();
        match ran {
            Err(error) => Err(seen.error(error)),
            Ok(status) if status.success() && leaks.is_empty() => Ok(()),
            Ok(status) if status.success() => Err(CliError::Run(leaks.join("\n"))),
            Ok(status) => Err(CliError::Run(format!("the program ended with {status}"))),
        }
    }

    /// Writes the trace of the run that failed. Returns the file's name.
    fn keep(&self, failure: &Failure, path: &std::path::Path) -> Result<String, CliError> {
        let trace: &Trace = &failure.trace;
        let path = if self.orders.trace.is_some() { path.into() } else { own_path(path, trace) };
        write_trace(Draft::create(&path, "trace")?, &path, trace)?;
        Ok(path.display().to_string())
    }

    fn report(
        &self,
        out: &mut dyn Write,
        (name, machine): (&str, &Machine),
        verdict: &Verdict,
        kept: Option<&str>,
    ) -> Result<(), CliError> {
        if self.format == Format::Table {
            let Verdict { checked, has_choices, assumed, leaks } = verdict;
            writeln!(out, "{name}: {checked}")?;
            leaks.iter().try_for_each(|leak| writeln!(out, "{leak}"))?;
            if checked.has_passed() && !has_choices {
                writeln!(
                    out,
                    "no call takes a message of anyone or looks for one, so that there are no other orders"
                )?;
            }
            if checked.has_passed() {
                writeln!(out, "{}", self.text_of_assumed())?;
            }
            writeln!(out, "{NOT_LOOKED_FOR}")?;
            if let Some(kept) = kept {
                let again = self.start.text(name);
                let mut strict = String::new();
                let options = [
                    (assumed.synchronizes, " --synchronize"),
                    (assumed.is_unbuffered, " --buffering none"),
                    (self.tries_all_looks(), " --strategy systematic"),
                ];
                options.into_iter().filter(|(is_set, _)| *is_set).for_each(|(_, option)| strict += option);
                writeln!(
                    out,
                    "\nthe run is in {kept}; this makes it again:\n  loggp check{strict} --repeat-from {kept} {again}"
                )?;
            }
            return Ok(out.flush()?);
        }
        let mut columns = Columns::<&Verdict>::new();
        let why = |verdict: &&Verdict| verdict.fault();
        let (program, file) = (name.to_owned(), kept.map(str::to_owned));
        columns.add("program", move |_| program.clone());
        columns.add("strategy", |verdict| verdict.checked.strategy.to_string());
        columns.add("seed", |verdict| verdict.checked.seed);
        columns.add("runs", |verdict| verdict.checked.runs);
        columns.add("messages", |verdict| verdict.checked.messages);
        columns.add("passed", |verdict| Field::Bool(verdict.has_passed()));
        columns.add("fault.run", |verdict| verdict.checked.failure.as_ref().map(|failure| failure.run));
        columns.add("fault.kind", move |verdict| {
            why(verdict).and_then(|why| Some(why.split_once(": ")?.0.to_owned()))
        });
        columns.add("fault.why", why);
        columns.add("fault.trace", move |_| file.clone());
        let mut report = Report::new(out, self.format, columns);
        report.add(verdict)?;
        report.finish("", Unit::default_for(machine.params()), |_| Vec::new())
    }
}

impl CheckMpiCommand {
    /// Returns a sentence on what the runs of a right program have assumed of the MPI.
    fn text_of_assumed(&self) -> String {
        let runs = if self.synchronize { "in all runs" } else { "in one run" };
        let sends = match self.buffering {
            Buffering::Usual => "in one run sends wait for their receivers",
            Buffering::None => "in all runs but the first, sends wait for their receivers",
            Buffering::Eager => "sends of short messages are taken not to wait for their receivers",
        };
        format!("{runs} collectives wait for all, and {sends}")
    }
}

/// Runs the ranks of a program to their end, and returns the exit status of the launcher, or of the first rank that has another one
/// than 0.
fn run(started: Started, machine: &Machine, seen: &Seen) -> Result<ExitStatus, RunError> {
    let Started { session, end, .. } = started;
    let ran = session.run(machine);
    seen.has_choices.fetch_or(session.has_choices(), Ordering::Relaxed);
    if let Ok(mut leaks) = seen.leaks.lock() {
        session.leaks().for_each(|(what, ranks)| leaks.entry(what.into()).or_default().extend(ranks));
    }
    session.refused().into_iter().for_each(|why| _ = seen.refused.get_or_init(|| why.into()));
    if let Ok(run) = &ran {
        session.release(run.time);
    }
    let ended = match end {
        Ending::Launcher(mut child) => child.wait().map_err(|why| system_reason(&why)),
        Ending::Forks(kept) => kept.status().map(|status| ExitStatus::from_raw((status as i32) << 8)),
    };
    ran.and(ended.map_err(|why| RunError::from(Cause::Host(why))))
}
