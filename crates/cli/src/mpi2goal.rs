//! `loggp mpi2goal`: what an MPI program did, as a schedule. `loggp replay` plays it.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use loggp::{Schedule, Time};
use loggp_goal::mpi::{self, Mpi};

use super::draft;
use super::failure::Failure;
use super::options::length;
use super::schedule::Goal;

/// The arguments.
#[derive(Args)]
pub struct Mpi2Goal {
    /// The traces, a file for each rank, such as pmpi-trace-rank-0.txt: the last number in a name says whose it is
    #[arg(required = true)]
    traces: Vec<PathBuf>,
    /// Whose MPI the program used: what stands for any source and for nobody, and how long a request is, is not the same
    #[arg(long, value_name = "MPI", value_enum, default_value = "openmpi")]
    mpi: Whose,
    /// What a unit of `calc` is
    #[arg(long, value_name = "TIME", default_value = "1ns", value_parser = length)]
    unit: Time,
    /// Write it to FILE.goal as text, or to FILE.bin in LogGOPSim's binary form [default: to stdout, as text]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Whose MPI a program used.
#[derive(Clone, Copy, ValueEnum)]
enum Whose {
    /// Open MPI
    #[value(name = "openmpi")]
    OpenMpi,
    /// MPICH, and what is made of it: Intel's, Cray's, MVAPICH
    Mpich,
}

impl Mpi2Goal {
    /// Reads the traces, and writes the schedule.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let goal = Goal::of(self.output.as_deref())?;
        goal.write(&self.schedule()?, self.unit, out)
    }

    fn schedule(&self) -> Result<Schedule, Failure> {
        let traces = in_order(&self.traces)?;
        let files = traces.iter().map(|path| draft::source(path).map(BufReader::new));
        let mpi = match self.mpi {
            Whose::OpenMpi => Mpi::OpenMpi,
            Whose::Mpich => Mpi::Mpich,
        };
        let read = mpi::read(files, mpi, self.unit);
        read.map_err(|why| Failure::Request(format!("{}: {why}", traces[why.rank].display())))
    }
}

/// The files of all ranks, from rank 0.
fn in_order(traces: &[PathBuf]) -> Result<Vec<&Path>, Failure> {
    let mut numbered = Vec::new();
    for path in traces {
        let Some(rank) = rank(path) else {
            let refusal = format!("{}: its name has no number that says of which rank it is", path.display());
            return Err(Failure::Request(refusal));
        };
        path.metadata().map_err(|why| Failure::Request(format!("{}: {why}", path.display())))?;
        numbered.push((rank, path.as_path()));
    }
    numbered.sort();
    for (expected, (rank, path)) in numbered.iter().enumerate() {
        if *rank != expected as u64 {
            return Err(Failure::Request(match expected.checked_sub(1).map(|before| numbered[before]) {
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

/// The last number in the name of a file.
fn rank(path: &Path) -> Option<u64> {
    let name = path.file_stem()?.to_str()?;
    name.split(|c: char| !c.is_ascii_digit()).rfind(|digits| !digits.is_empty())?.parse().ok()
}
