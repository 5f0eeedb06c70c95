//! `loggp emulate` where it cannot run.

use std::ffi::OsString;
use std::io::Write;

use clap::Args;

use loggp_command::annex::Execute;
use loggp_command::error::CliError;

/// Run an MPI program on the machine, which is possible on Linux only
#[derive(Args)]
#[command(after_help = "Examples:
  loggp emulate --machine cm5 -n 4 ./ring
  loggp emulate --params L=5us,o=1us,g=2us,G=1ns --work none -- mpirun -n 2 ./osu_latency")]
pub(crate) struct EmulateCommand {
    /// The options, and the command that starts the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<OsString>,
}

impl Execute for EmulateCommand {
    fn execute(&self, _out: &mut dyn Write) -> Result<(), CliError> {
        Err(CliError::request(
            "MPI programs are emulated on Linux only; record the program there, and replay the recording here",
        ))
    }
}
