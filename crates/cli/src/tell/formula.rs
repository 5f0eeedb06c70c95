//! The critical path as a formula of the machine's parameters, and along one of them, for `loggp analyze` and
//! `loggp replay`.

use std::fmt::Display;

use loggp::params::{LevelParameter, LeveledParams, Parameter};
use loggp::path::HopKind;
use loggp::{Cause, RunError, Time};
use loggp_document::{DocumentBlock, plain};
use loggp_study::analysis::{FailedReplay, Formula, ParameterSweep, ReplayPoint};
use loggp_study::range::Range;
use loggp_study::rows::{Columns, Field, json_key};

use super::table::table;
use crate::error::CliError;
use crate::number::{Unit, thousands};

/// Returns the columns of a formula: its text, and for JSON its terms.
pub fn formula_columns<'a, R: 'a>(formula: impl Fn(&R) -> &Formula + Copy + 'a) -> Columns<'a, R> {
    let mut columns = Columns::<R>::new();
    columns.add("formula.text", move |row| formula(row).to_string());
    for parameter in Parameter::ALL.iter().filter(|parameter| parameter.is_time()) {
        for name in parameter.all_names() {
            let count = move |row: &R| match formula(row).count(name) {
                0 => Field::Absent,
                count => Field::from(count),
            };
            columns.add(format!("formula.counts.{name}"), count).json_only();
        }
    }
    for name in HopKind::ALL.iter().map(|part| part.name()).chain(["drawn latency", "surcharge"]) {
        let time = move |row: &R| match formula(row).rest(name) {
            Time::ZERO => Field::Absent,
            time => Field::from(time),
        };
        columns.add(format!("formula.rest_ns.{}", json_key(name)), time).json_only();
    }
    columns
}

/// The runs along a parameter, as `--over` asks for.
pub struct FormulaSweep {
    parameter: LevelParameter,
    sweep: ParameterSweep,
}

impl FormulaSweep {
    /// Reads the value of `--over`, and makes the runs by `make_runs`.
    pub fn read(
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
        let sweep =
            make_runs(&range).map_err(|FailedReplay { value, error }| replay_error(&value, &error))?;
        Ok(FormulaSweep { parameter, sweep })
    }
}

/// Converts the error of a replay.
pub fn replay_error(name: &str, error: &RunError) -> CliError {
    match error.cause {
        Cause::Params(_) => CliError::Request(format!("{name}: {}", error.cause)),
        _ => CliError::Run(format!("{name}: {error}")),
    }
}

/// Returns the columns of the runs along a parameter, for JSON only.
pub fn sweep_columns<'a, R: 'a>(over: impl Fn(&R) -> Option<&FormulaSweep> + Copy + 'a) -> Columns<'a, R> {
    let points = |points: fn(&ParameterSweep) -> &[ReplayPoint]| {
        move |row: &R| match over(row) {
            Some(over) => point_columns(over.parameter, "").objects(points(&over.sweep)),
            None => Field::Absent,
        }
    };
    let parameter = move |row: &R| over(row).map_or(Field::Absent, |over| over.parameter.name().into());
    let mut columns = Columns::new();
    columns.add("over.parameter", parameter).json_only();
    columns.add("over.points", points(|sweep| &sweep.points)).json_only();
    columns.add("over.changes", points(|sweep| &sweep.changes)).json_only();
    columns
}

/// Returns the columns of a point along a parameter.
fn point_columns<'a>(parameter: LevelParameter, title: &str) -> Columns<'a, ReplayPoint> {
    let mut columns = Columns::<ReplayPoint>::new();
    if parameter.is_time() {
        columns.add("value_ns", |point| Time::from_ps(point.value));
        columns.add_to_table(title, |point| Field::Swept(Time::from_ps(point.value).to_string()));
    } else {
        columns.add("value", |point| point.value);
        columns.add_to_table(title, |point| Field::Swept(thousands(point.value)));
    }
    columns.add("time_ns", |point| point.time).title("time");
    columns.extend(formula_columns(|point: &ReplayPoint| &point.formula));
    columns.add_to_table("critical path", |point| point.formula.to_string());
    columns
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
