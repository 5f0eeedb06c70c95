//! The critical path as a formula of the machine's parameters, and along one of them, for `loggp analyze` and
//! `loggp replay`.

use std::fmt::Display;

use loggp::params::LeveledParams;
use loggp::{Cause, RunError};
use loggp_document::{DocumentBlock, plain};
use loggp_study::analysis::{FailedReplay, ParameterSweep};
use loggp_study::range::Range;
use loggp_study::rows::formula::{FormulaSweep, point_columns};

use super::table::table;
use crate::error::CliError;
use crate::number::Unit;

/// Reads the value of `--over`, and makes the runs by `make_runs`.
pub fn read_sweep(
    over: &str,
    machine: &LeveledParams,
    make_runs: impl FnOnce(&Range) -> Result<ParameterSweep, FailedReplay>,
) -> Result<FormulaSweep, CliError> {
    let refuse = |why: &dyn Display| CliError::Request(format!("--over {over}: {why}"));
    let range = Range::of_parameter(over, machine).map_err(|why| refuse(&why))?;
    let parameter = range.quantity.parameter().expect("without a program it is a parameter");
    if parameter.parameter.name == "P" {
        return Err(refuse(&"the run has as many processors as it has; give another parameter"));
    }
    let sweep = make_runs(&range).map_err(|FailedReplay { value, error }| replay_error(&value, &error))?;
    Ok(FormulaSweep { parameter, sweep })
}

/// Converts the error of a replay.
pub fn replay_error(name: &str, error: &RunError) -> CliError {
    match error.cause {
        Cause::Params(_) => CliError::Request(format!("{name}: {}", error.cause)),
        _ => CliError::Run(format!("{name}: {error}")),
    }
}

/// Returns the tables of the formulas along a parameter, and of the values at which the path changes.
pub fn sweep_blocks(&FormulaSweep { parameter, ref sweep }: &FormulaSweep, unit: Unit) -> Vec<DocumentBlock> {
    let name = parameter.name();
    let points = table(&point_columns(parameter, name), &sweep.points, unit);
    let title = format!("another from {name} =");
    let changes = table(&point_columns(parameter, &title), &sweep.changes, unit);
    let sentence = match (sweep.changes.len(), sweep.has_more) {
        (0, _) => Some(format!("the path is the same at every {name}")),
        (_, true) => Some("there are more changes; give a smaller range, or more points".into()),
        _ => None,
    };
    let sentence = sentence.map(|sentence| DocumentBlock::Paragraph(plain(sentence)));
    points.into_iter().chain(changes).chain(sentence).collect()
}
