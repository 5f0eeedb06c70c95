//! The command `loggp`, for a process of its own: `loggp._command` starts it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use loggp::params::Parameter;
use loggp::preset;
use loggp_command::FileMachine;
use pyo3::prelude::*;

use crate::machine::Machine;
use crate::time::{Time, read_time};

/// Carries out a command line, whose first word is the command's name, and returns the exit status. Signals
/// end the process. The command is where its environment's Python is, which may be a link to another one.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<OsString>) -> PyResult<u8> {
    let python: Option<PathBuf> = py.import("sys")?.getattr("executable")?.extract()?;
    let folder = python.as_deref().and_then(Path::parent);
    Ok(py.detach(|| match folder {
        Some(folder) => loggp_cli::main_in(folder.to_path_buf(), words),
        None => loggp_cli::main(words),
    }))
}

/// Returns a machine's parameters as a file for `--machine` has them.
#[pyfunction]
pub fn machine_text(machine: &Machine) -> String {
    loggp_command::machine_text(machine.machine.params())
}

/// Returns the cycle of a machine of the papers, or of one in a file; 1 us if there is no such machine.
#[pyfunction]
pub fn cycle_of(name: &str) -> Time {
    let builder = preset(name).map(|preset| preset.builder()).ok();
    let builder = builder.or_else(|| FileMachine::read(Path::new(name)).ok().map(|file| file.builder));
    Time(builder.map_or(loggp::US, |builder| builder.so_far().cycle))
}

/// Returns the picoseconds of a number of cycles, or of another time.
#[pyfunction]
pub fn picoseconds(time: &Bound<'_, PyAny>, cycle: Time) -> PyResult<i64> {
    Ok(read_time(time, cycle.0)?.as_ps())
}

/// Returns the names of the parameters that are times, of the machine and of its levels.
pub fn time_parameters() -> Vec<&'static str> {
    Parameter::ALL.iter().filter(|parameter| parameter.is_time()).flat_map(Parameter::all_names).collect()
}
