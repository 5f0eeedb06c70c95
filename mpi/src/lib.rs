//! MPI programs for the command `loggp`: `record` writes down what one calls, `emulate` runs one on the machine, `check -n`
//! looks for its faults, `mpi2goal` makes a schedule of traces; and what they wrote is an input of all that play schedules.

#![allow(non_snake_case)] // P is the papers' name

#[cfg_attr(not(target_os = "linux"), path = "check_elsewhere.rs")]
mod check;
mod doctor;
#[cfg_attr(not(target_os = "linux"), path = "emulate_elsewhere.rs")]
mod emulate;
#[cfg(feature = "link")]
mod link;
mod mpi2goal;
mod mpi_program;
#[cfg(target_os = "linux")]
mod ranks;
mod record;

use loggp_command::annex::{Annex, DerivedSubcommand, RealMachine, starts_ranks};
use loggp_mpi_trace::libraries::LIBRARIES;

/// Readers of what is recorded, for who holds the command against them.
pub use loggp_mpi_trace;

/// Returns whether a command line is about the command of an MPI program.
fn is_of_mpi(verb: &str, rest: &[&str]) -> bool {
    verb == "check" && rest.iter().any(|word| starts_ranks(word))
}

/// What the help of `check` says of MPI programs.
const CHECK_HELP: &str = "MPI programs:
  loggp check -n 3 ./app            an unchanged MPI program, on 3 ranks
  loggp check -- mpirun -n 3 ./app  the same, as it is started elsewhere
  loggp check --programs FILE       several, one a line
  loggp check-mpi --help            what is found, and the options for these";

/// What the command has for MPI programs.
pub const ANNEX: Annex = Annex {
    feature: "mpi",
    subcommands: &[
        // What stands behind `--`, or has a number of ranks, is an MPI program.
        &DerivedSubcommand::<check::CheckMpiCommand>::new("check-mpi")
            .instead("check", CHECK_HELP, is_of_mpi),
        &DerivedSubcommand::<mpi2goal::Mpi2GoalCommand>::new("mpi2goal"),
        &DerivedSubcommand::<record::RecordCommand>::new("record").diagnoses(doctor::diagnoses),
        &DerivedSubcommand::<emulate::EmulateCommand>::new("emulate"),
    ],
    inputs: &[&mpi_program::MpiProgram],
    libraries: LIBRARIES,
    real_machine: REAL_MACHINE,
    ..Annex::EMPTY
};

#[cfg(feature = "link")]
const REAL_MACHINE: Option<&'static dyn RealMachine> = Some(&link::MpiMachine);
#[cfg(not(feature = "link"))]
const REAL_MACHINE: Option<&'static dyn RealMachine> = None;
