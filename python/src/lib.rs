//! The machine in Python: the module `loggp._loggp`, which the package `loggp` shows.
//!
//! A Python program is a generator for each processor. The machine is the library's own: each processor is a
//! processor of a run on the virtual clock, whose program asks the generator for its next call, and makes
//! that call.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod check;
mod columns;
mod command;
mod error;
mod interned;
mod interruptible;
mod machine;
mod number;
mod order;
mod parameters;
mod program;
mod run;
mod schedule;
mod time;
mod trace;
mod value;

use pyo3::prelude::*;

/// Any object of Python.
type Object<'py> = Bound<'py, PyAny>;

#[pymodule(gil_used = true)]
mod _loggp {
    #[pymodule_export]
    use super::check::{CheckReport, Failure};
    #[pymodule_export]
    use super::columns::Columns;
    #[pymodule_export]
    use super::command::{command, cycle_of, machine_text, picoseconds};
    #[pymodule_export]
    use super::error::RunError;
    #[pymodule_export]
    use super::machine::Machine;
    #[pymodule_export]
    use super::order::Order;
    #[pymodule_export]
    use super::parameters::Parameters;
    #[pymodule_export]
    use super::program::call::Call;
    #[pymodule_export]
    use super::program::proc::{Group, Proc, Request};
    #[pymodule_export]
    use super::run::{Run, Stats};
    #[pymodule_export]
    use super::schedule::{Play, Schedule};
    #[pymodule_export]
    use super::time::Time;
    #[pymodule_export]
    use super::trace::Trace;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::refuse_other_interpreters()?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("TIME_PARAMETERS", super::command::time_parameters())?;
        super::time::add_units(module)
    }
}

/// Refuses to be loaded by an interpreter within another: they would share the types of the module.
fn refuse_other_interpreters() -> PyResult<()> {
    // SAFETY: an interpreter runs this code, so that it is there and this thread is attached to it.
    let interpreter = unsafe { pyo3::ffi::PyInterpreterState_GetID(pyo3::ffi::PyInterpreterState_Get()) };
    if interpreter == 0 {
        return Ok(());
    }
    let sentence =
        "loggp runs in the main interpreter only, not in subinterpreters; use threads or processes";
    Err(pyo3::exceptions::PyImportError::new_err(sentence))
}
