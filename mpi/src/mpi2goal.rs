//! `loggp mpi2goal`: converts traces of an MPI program into a schedule, which `loggp replay` plays.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp::Time;

use crate::mpi_program::{MpiOptions, read_program};
use loggp_command::annex::Execute;
use loggp_command::ask::goal_output::GoalOutput;
use loggp_command::ask::options::parse_length;
use loggp_command::error::CliError;

/// Write what an MPI program did, as liballprof traced it, as a GOAL schedule
#[derive(Args)]
// The files are in the project's folder examples/mpi.
#[command(after_help = "Examples:
  loggp mpi2goal jacobi-0.txt jacobi-1.txt jacobi-2.txt jacobi-3.txt
  loggp mpi2goal jacobi-0.txt jacobi-1.txt jacobi-2.txt jacobi-3.txt -o jacobi.goal")]
pub(crate) struct Mpi2GoalCommand {
    /// The traces, a file for each rank, such as pmpi-trace-rank-0.txt: the last number in a name says whose it is
    #[arg(required = true)]
    traces: Vec<PathBuf>,
    #[command(flatten)]
    mpi: MpiOptions,
    /// What a unit of `calc` is
    #[arg(long, value_name = "TIME", default_value = "1ns", value_parser = parse_length)]
    unit: Time,
    /// Write it to FILE.goal as text, or to FILE.bin in LogGOPSim's binary form [default: to stdout, as text]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Execute for Mpi2GoalCommand {
    fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let goal = GoalOutput::open(self.output.as_deref())?;
        let program = read_program(&self.traces, &self.mpi, self.unit, false)?;
        goal.write(&program.schedule, self.unit, out)
    }
}
