//! The command `loggp`, for a process of its own: `loggp._command` starts it.

use std::ffi::OsString;

use loggp::params::Parameter;
use pyo3::prelude::*;

use crate::machine::Machine;

/// Carries out a command line, whose first word is the command's name, and returns the exit status. Signals
/// end the process.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| loggp_command::main(words))
}

/// Returns a machine's parameters as a file for `--machine` has them.
#[pyfunction]
pub fn machine_text(machine: &Machine) -> String {
    loggp_command::machine_text(machine.machine.params())
}

/// Returns the names of the parameters that are times.
pub fn time_parameters() -> Vec<&'static str> {
    Parameter::ALL.iter().filter(|parameter| parameter.is_time()).map(|parameter| parameter.name).collect()
}
