//! Recorded MPI programs as inputs of all that play schedules.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use loggp::Time;
use loggp_goal::patterns::CollectiveTable;
use loggp_mpi_trace::allprof::{AllprofProgram, MpiLibrary};
use loggp_mpi_trace::libraries::{self, open_mpi};
use loggp_mpi_trace::recording::{MpiRecording, is_recording};
use loggp_mpi_trace::schedule::{self, ScheduleOptions};
use loggp_mpi_trace::source::CallSource;
use loggp_schedule::program::ProgramSchedule;

use loggp_command::annex::Input;
use loggp_command::ask::options::parse_length;
use loggp_command::error::{CliError, say, system_reason};
use loggp_command::host::source;

/// The options of a recorded MPI program.
#[derive(Args)]
#[command(next_help_heading = "MPI program")]
pub(crate) struct MpiOptions {
    /// By whose algorithms collectives become messages: openmpi, mpich, or a file with lines of a collective, the least ranks and
    /// bytes, an algorithm and perhaps a segment [default: those of the MPI that a recording names; the usual patterns for
    /// liballprof's files]
    #[arg(long, value_name = "openmpi|mpich|FILE")]
    collectives: Option<String>,
    /// How long a rank computes for each byte that a reduction combines [default: no time]
    #[arg(long, value_name = "TIME", value_parser = parse_length, allow_hyphen_values = true)]
    combine: Option<Time>,
    /// Whose MPI wrote liballprof's files: what stands for any source and for nobody, and how long a request is, is not the
    /// same [default: openmpi]
    #[arg(long, value_name = "MPI", value_enum, hide_possible_values = true)]
    mpi: Option<MpiKind>,
    /// Take calls of liballprof's files that cannot be read as computing time
    #[arg(long)]
    skip: bool,
}

/// The MPI implementation that a program used.
#[derive(Clone, Copy, ValueEnum)]
enum MpiKind {
    /// Open MPI
    #[value(name = "openmpi")]
    OpenMpi,
    /// MPICH, and what is made of it: Intel's, Cray's, MVAPICH
    Mpich,
}

impl MpiOptions {
    /// Returns the table of algorithms that is asked for.
    fn table(&self) -> Result<Option<&'static CollectiveTable>, CliError> {
        self.collectives.as_ref().map(|name| table_named(name)).transpose()
    }
}

/// Returns the table of algorithms with this name, or that is in a file.
pub(crate) fn table_named(name: &str) -> Result<&'static CollectiveTable, CliError> {
    if let Some(table) = libraries::table_named(name) {
        return Ok(table);
    }
    let refuse = |why: &dyn std::fmt::Display| CliError::Request(format!("--collectives {name}: {why}"));
    let path = Path::new(name);
    if !source::is_there(path) {
        return Err(refuse(&"there is no such file; give openmpi, mpich or a file"));
    }
    let text = source::read_source(path, MOST_TABLE, "").map_err(|why| refuse(&why))?;
    let table = libraries::parse_table(&String::from_utf8_lossy(&text)).map_err(|why| refuse(&why))?;
    // It is read once for all of the command.
    Ok(Box::leak(Box::new(table)))
}

/// The most bytes of a table of algorithms.
const MOST_TABLE: u64 = 1 << 20;

/// A kind of file with a recorded program.
#[derive(Clone, Copy, PartialEq)]
enum ProgramKind {
    Recording,
    Allprof,
}

/// Returns the kind of program of a file that begins so, if it has one.
fn kind_of(beginning: &[u8]) -> Option<ProgramKind> {
    if is_recording(beginning) {
        Some(ProgramKind::Recording)
    } else if beginning.starts_with(b"MPI_") || beginning.starts_with(b"#") {
        Some(ProgramKind::Allprof)
    } else {
        None
    }
}

/// A recorded MPI program, or the traces of its ranks.
pub(crate) struct MpiProgram;

impl Input for MpiProgram {
    fn name(&self) -> &'static str {
        "a recorded MPI program"
    }

    fn knows(&self, beginning: &[u8]) -> bool {
        kind_of(beginning).is_some()
    }

    fn add_options(&self, command: Command) -> Command {
        MpiOptions::augment_args(command)
    }

    fn read(
        &self,
        files: &[PathBuf],
        options: &ArgMatches,
        unit: Time,
        has_places: bool,
    ) -> Result<ProgramSchedule, CliError> {
        let options = MpiOptions::from_arg_matches(options).map_err(CliError::CommandLine)?;
        read_program(files, &options, unit, has_places)
    }
}

/// Reads a recorded program and makes its schedule. What was left out or guessed is said on stderr.
pub(crate) fn read_program(
    files: &[PathBuf],
    options: &MpiOptions,
    unit: Time,
    has_spans: bool,
) -> Result<ProgramSchedule, CliError> {
    let mut schedule_options = ScheduleOptions {
        unit,
        has_spans,
        table: options.table()?,
        combine: options.combine.unwrap_or_default(),
    };
    if let [file] = files
        && source::beginning(file).is_ok_and(|beginning| kind_of(&beginning) == Some(ProgramKind::Recording))
    {
        let refuse = |why: &dyn std::fmt::Display| CliError::Request(format!("{}: {why}", file.display()));
        for (option, given) in [("--mpi", options.mpi.is_some()), ("--skip", options.skip)] {
            if given {
                return Err(refuse(&format_args!(
                    "{option} is for liballprof's files, and this is a recording; leave it out"
                )));
            }
        }
        let mut recording = open_recording(file).map_err(|why| refuse(&why))?;
        let named = libraries::table_named(&recording.facts().mpi);
        let table = schedule_options.table.or(named);
        schedule_options.table = table.or(Some(open_mpi()));
        return make_schedule(&mut recording, schedule_options, &|_| file);
    }
    if options.combine.is_some() && schedule_options.table.is_none() {
        let sentence = "--combine is for reductions by an algorithm of an MPI, and liballprof's files name none; give \
                        --collectives too";
        return Err(CliError::request(sentence));
    }
    let traces = sort_by_rank(files)?;
    let mpi = match options.mpi {
        None | Some(MpiKind::OpenMpi) => MpiLibrary::OpenMpi,
        Some(MpiKind::Mpich) => MpiLibrary::Mpich,
    };
    let open = |rank: usize| source::open_source(traces[rank]);
    let mut source = AllprofProgram::new(traces.len(), mpi, options.skip, open);
    make_schedule(&mut source, schedule_options, &|rank| traces.get(rank).unwrap_or(&traces[0]))
}

/// Opens a recording.
pub(crate) fn open_recording(path: &Path) -> Result<MpiRecording, String> {
    let unreadable = |why| format!("it cannot be read: {}", system_reason(&why));
    // Seen before what a pipe has is copied, which may be endless.
    if !is_recording(&source::beginning(path).map_err(unreadable)?) {
        return Err("this is not a program that loggp recorded".into());
    }
    let path = source::as_file(path).map_err(unreadable)?;
    MpiRecording::open(path).map_err(|why| why.to_string())
}

/// Makes the schedule of a program, whose ranks' files `file` returns.
fn make_schedule<'a>(
    source: &mut dyn CallSource,
    options: ScheduleOptions,
    file: &dyn Fn(usize) -> &'a Path,
) -> Result<ProgramSchedule, CliError> {
    let program = schedule::read(source, options).map_err(|why| {
        CliError::Request(format!("{}: {why}", file(why.rank.unwrap_or_default()).display()))
    })?;
    for warning in &program.warnings {
        say("warning: ", warning);
    }
    Ok(program)
}

/// Returns the traces in the order of their ranks. Refuses a missing rank, and two files of one rank.
fn sort_by_rank(traces: &[PathBuf]) -> Result<Vec<&Path>, CliError> {
    let mut numbered = Vec::new();
    for path in traces {
        let Some(rank) = rank_of(path) else {
            let refusal = format!("{}: its name has no number that says of which rank it is", path.display());
            return Err(CliError::Request(refusal));
        };
        path.metadata().map_err(|why| CliError::Request(format!("{}: {why}", path.display())))?;
        numbered.push((rank, path.as_path()));
    }
    numbered.sort();
    for (expected, (rank, path)) in numbered.iter().enumerate() {
        if *rank != expected as u64 {
            return Err(CliError::Request(match expected.checked_sub(1).map(|before| numbered[before]) {
                Some((before, other)) if before == *rank => {
                    format!(
                        "{} and {} are both of rank {rank}; give one for each",
                        other.display(),
                        path.display()
                    )
                }
                _ => format!("the trace of rank {expected} is not there; give those of all ranks from 0"),
            }));
        }
    }
    Ok(numbered.into_iter().map(|(_, path)| path).collect())
}

/// Returns the rank of a trace: the last number in the file's name.
fn rank_of(path: &Path) -> Option<u64> {
    let name = path.file_stem()?.to_str()?;
    name.split(|c: char| !c.is_ascii_digit()).rfind(|digits| !digits.is_empty())?.parse().ok()
}
