//! `loggp emulate`: runs an MPI program whose ranks are processors of the machine.

use std::ffi::OsString;
use std::io::Write;
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use loggp::trace::Caption;
use loggp::{ClockKind, Machine, NS, Noise, Order, Ports, Protocol, Run, Time};
use loggp_document::{DocumentBlock, plain};
use loggp_emulate::{Keeper, Nursery, Session, Settings};
use loggp_mpi_trace::libraries::{self, open_mpi};
use loggp_study::rows::emulated::{EmulatedProgram, emulated_columns};

use crate::mpi_program::table_named;
use crate::ranks::{ForkedProgram, StartOptions, output_for_ranks, refuse_memory, say_launched};
use crate::record::attend::End;
use crate::record::describe;
use crate::record::start::{self, Launch};
use loggp_command::annex::Execute;
use loggp_command::ask::choice::MachineChoice;
use loggp_command::ask::format::Format;
use loggp_command::ask::levels::LevelOptions;
use loggp_command::ask::options::{
    CapacityOption, ChoiceOptions, ClockOptions, DrawOptions, NoiseOption, PORTS, RendezvousOption,
    clock_text, one_of, parse_duration, parse_length, parse_noise, parse_seed,
};
use loggp_command::ask::rank_machine::machine_for;
use loggp_command::ask::trace_outputs::{RunOutputs, TraceOutputs};
use loggp_command::error::{CliError, system_reason};
use loggp_command::tell::heading::{choice_heading, noise_text, parameters, wire_text};
use loggp_command::tell::report::Report;

/// Run an MPI program on the machine: its ranks are processors, and its messages cost what the machine says
#[derive(Args)]
#[command(override_usage = "loggp emulate [OPTIONS] -n RANKS ./APP...
       loggp emulate [OPTIONS] -- mpirun -n RANKS ./APP...")]
#[command(after_help = "Examples:
  loggp emulate --machine cm5 -n 4 ./ring
  loggp emulate --params L=5us,o=1us,g=2us,G=1ns --work none -- mpirun -n 2 ./osu_latency")]
#[command(next_help_heading = "Machine")]
#[command(mut_arg("params", |params| {
    params.help("Parameters, on top of the machine's: L=6us,o=2us,g=4us,G=0.03us; a bare number counts cycles. Without --machine \
                 a word is a byte")
}))]
pub(crate) struct EmulateCommand {
    /// The program, or the command that starts it, such as mpirun -n 4 ./app; the machine has as many processors as there are ranks
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
    #[command(flatten)]
    start: StartOptions,
    #[command(flatten)]
    choice: ChoiceOptions,
    #[command(flatten)]
    levels: LevelOptions,
    /// Whether long messages to and from a rank share a port [default: as the machine's file says, or single]
    #[arg(long, value_parser = one_of::<Ports>(PORTS))]
    ports: Option<Ports>,
    #[command(flatten)]
    rendezvous: RendezvousOption,
    #[command(flatten)]
    capacity: CapacityOption,
    #[command(flatten)]
    draws: DrawOptions,
    #[command(flatten)]
    clock: ClockOptions,
    /// The noise of the processors: every 10 ms the operating system takes 25 us, or what a file in LogGOPSim's form says
    #[arg(long, value_name = "10ms:25us,...|FILE", value_parser = parse_noise)]
    noise: Option<NoiseOption>,
    /// Draws for each rank where its noise begins [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_seed, allow_negative_numbers = true, requires = "noise")]
    seed: Option<u64>,
    /// What computing between calls costs: the processor time that it takes here, or nothing
    #[arg(long, value_enum, default_value = "measured", help_heading = "MPI program")]
    work: Computing,
    /// How much longer than here a rank computes on the machine: 2 is a processor of half the speed
    #[arg(long, value_name = "FACTOR", value_parser = parse_speed, default_value = "1", help_heading = "MPI program")]
    speed: f64,
    /// The clocks of the operating system show the program the machine's time, as MPI_Wtime does
    #[arg(long, help_heading = "MPI program")]
    clocks: bool,
    /// By whose algorithms collectives become messages: openmpi, mpich, or a file as for a recorded program [default: those of
    /// the program's MPI]
    #[arg(long, value_name = "openmpi|mpich|FILE", help_heading = "MPI program")]
    collectives: Option<String>,
    /// How long a rank computes for each byte that a reduction combines [default: no time]
    #[arg(long, value_name = "TIME", value_parser = parse_length, allow_hyphen_values = true, help_heading = "MPI program")]
    combine: Option<Time>,
    /// The longest that a rank may compute between two calls: 30s [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "MPI program")]
    limit: Option<Duration>,
    /// How it is written: for people, as a JSON object, or as a CSV line; of the last two stdout has nothing else, and what the
    /// program prints goes to stderr
    #[arg(long, value_enum, default_value = "table", help_heading = "Report")]
    format: Format,
    #[command(flatten)]
    outputs: RunOutputs,
}

/// What computing costs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Computing {
    /// The processor time that it takes here
    Measured,
    /// Nothing: only messages take time
    None,
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(factor) if (1e-6..=1e6).contains(&factor) => Ok(factor),
        _ => Err("give a number from 0.000001 to 1000000".into()),
    }
}

/// What the program's MPI is told by its own variables: more ranks than cores are well, and who waits leaves others the core.
pub(crate) const MPI_SETTINGS: [(&str, &str); 6] = [
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("PRTE_MCA_hwloc_default_binding_policy", "none"),
    ("MPIR_CVAR_POLLS_BEFORE_YIELD", "1"),
];

impl Execute for EmulateCommand {
    fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if self.words.is_empty() {
            return Err(CliError::request("what is to be run? give a program, such as -n 4 ./app"));
        }
        let (mut run_files, files) = self.outputs.open()?;
        // What is wrong with the machine is said before anything starts.
        drop(self.machine(self.levels.P().unwrap_or(2))?);
        let begin = Instant::now();
        let StartedProgram { end, ran, left } = match self.start.forked(&self.words)? {
            None => self.run_launched()?,
            Some(program) => match self.run_forks(&program)? {
                Ok(started) => started,
                Err(why) => {
                    say_launched(&why);
                    self.run_launched()?
                }
            },
        };
        let took = begin.elapsed();
        let program = self.words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let is_interrupted = matches!(end, End::Interrupted { .. });
        let (status, ended) = describe(end, &self.words[0].to_string_lossy());
        let ran = match ran {
            Ok(Some(ran)) if status == 0 => ran,
            // A rank that an interrupt has ended is not what went wrong.
            Err(why) if !is_interrupted => return Err(why),
            Ok(None) if status == 0 => return Err(CliError::request(NO_RANK)),
            Ok(_) | Err(_) => return Err(CliError::Program(status, ended)),
        };
        self.report(out, (&program, took), (ran, left.as_deref()), (&mut run_files, files))
    }
}

impl EmulateCommand {
    fn settings(&self) -> Result<Settings, CliError> {
        let named = start::mpi_of_command(&self.words).and_then(libraries::table_named);
        let given = self.collectives.as_ref().map(|name| table_named(name)).transpose()?;
        Ok(Settings {
            speed: if self.work == Computing::None { 0.0 } else { self.speed },
            has_clocks: self.clocks,
            table: given.or(named).or(Some(open_mpi())),
            combine: self.combine.unwrap_or_default(),
            limit: self.limit,
            checks: None,
        })
    }

    /// Returns the machine for so many ranks.
    fn machine(&self, ranks: usize) -> Result<(MachineChoice, Machine), CliError> {
        if let Some(P) = self.levels.P().filter(|P| *P != ranks) {
            return Err(CliError::Request(format!(
                "--levels has {P} processors, and the program {ranks} ranks; give as many"
            )));
        }
        let choice = machine_for(&self.choice, &self.levels, ranks)?;
        let emulation = self.clock.emulation(ClockKind::Virtual)?;
        let machine = emulation.machine(choice.params).trace(self.outputs.needs_trace());
        let machine = machine.levels(choice.levels.iter().copied()).ports(self.ports(&choice));
        let machine = machine.rendezvous(self.protocol(&choice));
        let machine = machine.capacity(self.capacity.capacity).order(Order {
            latency: self.draws.latency,
            ties: self.draws.ties,
            noise: self.noise()?,
            ..Order::default()
        });
        Ok((choice, machine))
    }

    fn ports(&self, choice: &MachineChoice) -> Ports {
        self.ports.or(choice.ports).unwrap_or_default()
    }

    fn protocol(&self, choice: &MachineChoice) -> Protocol {
        self.rendezvous.rendezvous.or(choice.rendezvous).unwrap_or_default()
    }

    fn noise(&self) -> Result<Option<Noise>, CliError> {
        self.noise.as_ref().map(|noise| noise.read(self.seed.unwrap_or(1))).transpose()
    }

    fn session(&self) -> Result<Session, CliError> {
        let (clock, cores) = (self.clock.clock.unwrap_or(ClockKind::Virtual), self.clock.cores.cores);
        Session::new(self.settings()?, clock, cores.unwrap_or(1)).map_err(|why| refuse_memory(&why))
    }

    /// Starts the program by its launcher, and runs its ranks on the machine.
    fn run_launched(&self) -> Result<StartedProgram, CliError> {
        let launch = Launch::prepare(&self.start.launched(&self.words)?)?;
        let session = self.session()?;
        self.run(&launch, &session, session.variables(), || {
            let ranks = session.wait_for_ranks(|| false).map_err(CliError::Run)?;
            ranks.map(|ranks| self.run_ranks(&session, ranks)).transpose()
        })
    }

    /// The same of a program whose ranks are forks of one process. The inner error is a reason why it cannot be forked.
    fn run_forks(&self, program: &ForkedProgram) -> Result<Result<StartedProgram, String>, CliError> {
        let launch = Launch::prepare_alone(&program.words)?;
        let session = self.session()?;
        let nursery = Nursery::create().map_err(|why| refuse_memory(&why))?;
        let reason = OnceLock::new();
        let has_ended = || session.has_ended();
        let started = self.run(&launch, &session, nursery.variables(), || {
            match nursery.wait(has_ended) {
                Keeper::Ready(_) => (),
                Keeper::Cannot(why) => {
                    let _: Result<(), _> = reason.set(why);
                    return Ok(None);
                }
                Keeper::Ended => return Ok(None),
            }
            let ran = self.run_forked(&session, &nursery, program.ranks);
            nursery.wait(has_ended);
            nursery.end();
            ran
        })?;
        Ok(match reason.into_inner() {
            None => Ok(started),
            Some(why) => Err(why),
        })
    }

    /// Lets the keeper fork the ranks, and runs them.
    fn run_forked(
        &self,
        session: &Session,
        nursery: &Nursery,
        ranks: usize,
    ) -> Result<Option<Ran>, CliError> {
        nursery.fork(session, ranks).map_err(|why| CliError::Run(system_reason(&why)))?;
        // It says so when all have ended, or when one could not be forked.
        let come = session.wait_for(ranks, || nursery.has_said().is_some());
        if let Some(Keeper::Cannot(why)) = nursery.has_said() {
            return Err(CliError::Run(why));
        }
        come.map_err(CliError::Run)?.map(|ranks| self.run_ranks(session, ranks)).transpose()
    }

    /// Starts a command, and beside it runs what becomes of its ranks.
    fn run(
        &self,
        launch: &Launch,
        session: &Session,
        variables: [(&'static str, OsString); 1],
        run_ranks: impl FnOnce() -> Result<Option<Ran>, CliError> + Send,
    ) -> Result<StartedProgram, CliError> {
        let (end, ran) = std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            scope.spawn(move || _ = sender.send(run_ranks()));
            // What another program reads stands alone.
            let is_alone = self.format != Format::Table;
            let own = if is_alone { rustix::stdio::stderr() } else { rustix::stdio::stdout() };
            let end = launch.run(variables, &MPI_SETTINGS, output_for_ranks(own));
            session.end();
            (end, receiver.recv().unwrap_or(Ok(None)))
        });
        Ok(StartedProgram { end: end?, ran, left: session.left().map(str::to_owned) })
    }

    /// Runs the ranks, which have come, on the machine.
    fn run_ranks(&self, session: &Session, ranks: usize) -> Result<Ran, CliError> {
        let (choice, machine) = self.machine(ranks).inspect_err(|_| session.give_up())?;
        let run = session.run(&machine).map_err(CliError::run)?;
        session.release(run.time);
        Ok((choice, run))
    }

    fn report(
        &self,
        out: &mut dyn Write,
        (program, took): (&str, Duration),
        ((choice, mut run), left): (Ran, Option<&str>),
        (run_files, files): (&mut TraceOutputs, loggp_command::ask::output::OutputFiles),
    ) -> Result<(), CliError> {
        let (unit, ports, noise) = (choice.unit, self.ports(&choice), self.noise()?);
        let wires = wire_text(self.draws.latency, self.draws.ties, ports)
            + self.protocol(&choice).setting()
            + self.capacity.capacity.setting()
            + &noise_text(noise.as_ref());
        let emulation = self.clock.emulation(ClockKind::Virtual)?;
        let clock = clock_text(emulation.clock, emulation.carrier);
        let about = choice_heading(
            &choice,
            &parameters(&choice.params, &unit).join(", "),
            &format!("{clock}{wires}"),
        );
        if let Some(mut trace) = run.trace.take() {
            trace.caption = Some(Caption {
                title: program.into(),
                about: about.clone(),
                unit: unit.name.into(),
                formula: None,
            });
            run_files.write(&trace, unit)?;
        }
        let mut report = Report::new(out, self.format, emulated_columns()).with_files(files);
        report.add(EmulatedProgram {
            program,
            machine: choice.name,
            machine_params: choice.machine(),
            ports,
            noise: noise.as_ref(),
            clock,
            run,
            took: took.as_nanos() as i64 * NS,
        })?;
        report.finish(&format!("{program}\n{about}"), unit, |_| {
            left.into_iter().map(|left| DocumentBlock::Paragraph(plain(left))).collect()
        })
    }
}

/// A program that was started: how it ended, the run, or `None` if no rank has come, and a sentence on messages that are left.
struct StartedProgram {
    end: End,
    ran: Result<Option<Ran>, CliError>,
    left: Option<String>,
}

/// The machine, and the run on it.
type Ran = (MachineChoice, Run<()>);

const NO_RANK: &str = "no rank has come: either the program does not call MPI_Init, or it is linked statically, or with another \
                       MPI than the library that is loaded into it";
