//! Recorded MPI programs, for all commands that read them.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use loggp::Time;
use loggp_mpi_trace::allprof::{AllprofProgram, MpiLibrary};
use loggp_mpi_trace::schedule::{self, ProgramSchedule, ScheduleOptions};

use super::draft;
use super::error::CliError;

/// How a recorded MPI program is read.
#[derive(Args)]
pub struct MpiOptions {
    /// Whose MPI wrote liballprof's files: what stands for any source and for nobody, and how long a request is, is not the
    /// same
    #[arg(long, value_name = "MPI", value_enum, default_value = "openmpi")]
    mpi: MpiKind,
    /// Take calls that cannot be read as computing time
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

/// Reads a recorded program and makes its schedule. What was left out or guessed is said on stderr.
pub fn read_program(
    files: &[PathBuf],
    options: &MpiOptions,
    unit: Time,
    has_spans: bool,
) -> Result<ProgramSchedule, CliError> {
    let traces = sort_by_rank(files)?;
    let mpi = match options.mpi {
        MpiKind::OpenMpi => MpiLibrary::OpenMpi,
        MpiKind::Mpich => MpiLibrary::Mpich,
    };
    let open = |rank: usize| -> io::Result<File> { draft::open_source(traces[rank]) };
    let mut source = AllprofProgram::new(traces.len(), mpi, options.skip, open);
    let read = schedule::read(&mut source, ScheduleOptions { unit, has_spans, table: None });
    let program = read.map_err(|why| {
        let file = why.rank.and_then(|rank| traces.get(rank)).unwrap_or(&traces[0]);
        CliError::Request(format!("{}: {why}", file.display()))
    })?;
    for warning in &program.warnings {
        drop(writeln!(io::stderr(), "warning: {warning}"));
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
