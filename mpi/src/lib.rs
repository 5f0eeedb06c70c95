//! MPI programs for the command `loggp`: `record` writes down what one calls, `emulate` runs one on the machine, `check -- mpirun`
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
mod record;

use loggp_command::annex::{Annex, DerivedSubcommand, RealMachine};

/// What the command has for MPI programs.
pub const ANNEX: Annex = Annex {
    feature: "mpi",
    subcommands: &[
        // What stands behind `--` is a command that starts an MPI program.
        &DerivedSubcommand::<check::CheckMpiCommand>::new("check-mpi")
            .instead(|verb, rest| verb == "check" && rest.contains(&"--")),
        &DerivedSubcommand::<mpi2goal::Mpi2GoalCommand>::new("mpi2goal"),
        &DerivedSubcommand::<record::RecordCommand>::new("record").diagnoses(doctor::diagnoses),
        &DerivedSubcommand::<emulate::EmulateCommand>::new("emulate"),
    ],
    inputs: &[&mpi_program::MpiProgram],
    real_machine: REAL_MACHINE,
    ..Annex::EMPTY
};

#[cfg(feature = "link")]
const REAL_MACHINE: Option<&'static dyn RealMachine> = Some(&link::MpiMachine);
#[cfg(not(feature = "link"))]
const REAL_MACHINE: Option<&'static dyn RealMachine> = None;
