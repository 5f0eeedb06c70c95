//! `loggp check -n 4 ./app`: runs an MPI program under many orders of messages, and looks for faults of its calls.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use clap::{Args, ValueEnum};
use loggp::check::{CheckReport, Failure, TrialResult};
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
    /// Whether a standard send waits for its receiver: not, as MPIs do with short messages, or always, as they may
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
    /// Only with messages longer than the machine's S
    Usual,
    /// Always
    None,
}

/// A machine on which any message can be later than any others that do not wait for it.
const ANY_ORDER: &str = "L=1s,o=1us,g=1us";

/// The cost of a look on that machine, so that a program looks ten times in an L and not a million times.
const LOOK: Time = Time::from_ps(SEC.as_ps() / 10);

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
}

impl Seen {
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
        let first = self.start(&starter, self.synchronize)?;
        let ranks = first.ranks;
        let machine = self.machine(ranks).inspect_err(|_| first.session.give_up())?;
        let name = self.words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let (first, seen) = (Mutex::new(Some(first)), Seen::default());
        let trial = |order: &Order, synchronizes: bool| {
            let started = first.lock().ok().and_then(|mut first| first.take());
            self.trial(&starter, started, &machine.clone().order(order), (synchronizes, &seen))
        };
        let usual = |order: &Order| trial(order, self.synchronize);
        let mut checked = check.clone().runs(1).run_trials(&Order::default(), ranks, usual);
        let mut synchronizes = self.synchronize;
        let goes_on = |checked: &Result<CheckReport<()>, RunError>| {
            checked.as_ref().is_ok_and(CheckReport::has_passed) && !interrupt::is_stopped()
        };
        if goes_on(&checked) && !synchronizes {
            let strict =
                check.clone().runs(1).run_trials(&Order::default(), ranks, |order| trial(order, true));
            synchronizes = strict.as_ref().is_ok_and(|report| !report.has_passed());
            checked = if synchronizes || strict.is_err() { strict } else { checked };
        }
        if goes_on(&checked) && seen.has_choices.load(Ordering::Relaxed) {
            checked = check.run_trials(&Order::default(), ranks, usual);
        }
        drop((check, progress)); // both hold the bar, which goes with the last of them
        let mut checked = checked.map_err(|why| seen.error(why))?;
        checked.choices.clear(); // they are calls of the emulation
        let kept = checked.failure.as_ref().map(|failure| self.keep(failure, &path)).transpose()?;
        let has_choices = seen.has_choices.into_inner();
        self.report(out, (&name, &machine), (&checked, has_choices, synchronizes), kept.as_deref())?;
        let after = format!("{} by seed {}", count(checked.runs, "run"), self.orders.order_seed);
        let failed = checked
            .failure
            .as_ref()
            .map(|failure| CliError::Run(format!("run {} of the check failed", failure.run)));
        interrupt::stopped(&after).map_or(failed.map_or(Ok(()), Err), Err)
    }
}

impl CheckMpiCommand {
    fn machine(&self, ranks: usize) -> Result<Machine, CliError> {
        let mut options = self.choice.clone();
        if options.machines.is_empty() && options.params.is_none() {
            options.params = Some(ANY_ORDER.into());
            options.cycle = options.cycle.or(Some(LOOK));
        }
        let choice = machine_for(&options, &self.levels, ranks)?;
        Ok(Machine::new(choice.params)
            .levels(choice.levels.iter().copied())
            .ports(choice.ports.unwrap_or_default()))
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
    fn start<'a>(&self, starter: &'a Starter, synchronizes: bool) -> Result<Started<'a>, CliError> {
        let table = start::mpi_of_command(&self.words).and_then(CollectiveTable::named);
        let settings = Settings {
            speed: 0.0,
            table: table.or(Some(CollectiveTable::open_mpi())),
            limit: Some(self.limit),
            checks: Some(Checks { is_unbuffered: self.buffering == Buffering::None, synchronizes }),
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
        (synchronizes, seen): (bool, &Seen),
    ) -> TrialResult<()> {
        let started = match started {
            Some(started) => Ok(started),
            None => self.start(starter, synchronizes),
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
        let started = self.start(starter, self.synchronize)?;
        let machine = self.machine(started.ranks).inspect_err(|_| started.session.give_up())?;
        let seen = Seen::default();
        match run(started, &machine.order(failed), &seen) {
            Err(error) => Err(seen.error(error)),
            Ok(status) if status.success() => Ok(()),
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
        (checked, has_choices, synchronizes): (&CheckReport<()>, bool, bool),
        kept: Option<&str>,
    ) -> Result<(), CliError> {
        if self.format == Format::Table {
            writeln!(out, "{name}: {checked}")?;
            if checked.has_passed() && !has_choices {
                writeln!(
                    out,
                    "no call takes a message of anyone or looks for one, so that there are no other orders"
                )?;
            }
            writeln!(out, "{NOT_LOOKED_FOR}")?;
            if let Some(kept) = kept {
                let again = self.start.text(name);
                let strict = match (synchronizes, self.buffering) {
                    (false, Buffering::Usual) => "",
                    (true, Buffering::Usual) => " --synchronize",
                    (false, Buffering::None) => " --buffering none",
                    (true, Buffering::None) => " --synchronize --buffering none",
                };
                writeln!(
                    out,
                    "\nthe run is in {kept}; this makes it again:\n  loggp check{strict} --repeat-from {kept} {again}"
                )?;
            }
            return Ok(out.flush()?);
        }
        let mut columns = Columns::<&CheckReport<()>>::new();
        let why = |report: &&CheckReport<()>| report.failure.as_ref().map(|failure| failure.kind.to_string());
        let (program, file) = (name.to_owned(), kept.map(str::to_owned));
        columns.add("program", move |_| program.clone());
        columns.add("strategy", |report| report.strategy.to_string());
        columns.add("seed", |report| report.seed);
        columns.add("runs", |report| report.runs);
        columns.add("messages", |report| report.messages);
        columns.add("passed", |report| Field::Bool(report.has_passed()));
        columns.add("fault.run", |report| report.failure.as_ref().map(|failure| failure.run));
        columns.add("fault.kind", move |report| {
            why(report).and_then(|why| Some(why.split_once(": ")?.0.to_owned()))
        });
        columns.add("fault.why", why);
        columns.add("fault.trace", move |_| file.clone());
        let mut report = Report::new(out, self.format, columns);
        report.add(checked)?;
        report.finish("", Unit::default_for(machine.params()), |_| Vec::new())
    }
}

/// Runs the ranks of a program to their end, and returns the exit status of the launcher, or of the first rank that has another one
/// than 0.
fn run(started: Started, machine: &Machine, seen: &Seen) -> Result<ExitStatus, RunError> {
    let Started { session, end, .. } = started;
    let ran = session.run(machine);
    seen.has_choices.fetch_or(session.has_choices(), Ordering::Relaxed);
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
