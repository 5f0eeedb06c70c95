//! `loggp mpi2goal`: converts traces of an MPI program into a schedule, which `loggp replay` plays.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use loggp::Time;
use loggp::schedule::Schedule;
use loggp_goal::mpi::{self, MpiLibrary};

use super::draft;
use super::error::CliError;
use super::options::parse_length;
use super::schedule::GoalOutput;

/// Write what an MPI program did, as liballprof traced it, as a GOAL schedule
#[derive(Args)]
// The files are in the project's folder examples/mpi.
#[command(after_help = "Examples:
  loggp mpi2goal jacobi-0.txt jacobi-1.txt jacobi-2.txt jacobi-3.txt
  loggp mpi2goal jacobi-0.txt jacobi-1.txt jacobi-2.txt jacobi-3.txt -o jacobi.goal")]
pub struct Mpi2GoalCommand {
    /// The traces, a file for each rank, such as pmpi-trace-rank-0.txt: the last number in a name says whose it is
    #[arg(required = true)]
    traces: Vec<PathBuf>,
    /// Whose MPI the program used: what stands for any source and for nobody, and how long a request is, is not the same
    #[arg(long, value_name = "MPI", value_enum, default_value = "openmpi")]
    mpi: MpiKind,
    /// What a unit of `calc` is
    #[arg(long, value_name = "TIME", default_value = "1ns", value_parser = parse_length)]
    unit: Time,
    /// Write it to FILE.goal as text, or to FILE.bin in LogGOPSim's binary form [default: to stdout, as text]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
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

impl Mpi2GoalCommand {
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let goal = GoalOutput::open(self.output.as_deref())?;
        goal.write(&self.schedule()?, self.unit, out)
    }

    fn schedule(&self) -> Result<Schedule, CliError> {
        let traces = sort_by_rank(&self.traces)?;
        let files = traces.iter().map(|path| draft::open_source(path).map(BufReader::new));
        let mpi = match self.mpi {
            MpiKind::OpenMpi => MpiLibrary::OpenMpi,
            MpiKind::Mpich => MpiLibrary::Mpich,
        };
        let read = mpi::read(files, mpi, self.unit);
        read.map_err(|why| CliError::Request(format!("{}: {why}", traces[why.rank].display())))
    }
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
