//! The formulas of the critical path along a parameter, for `loggp analyze` and `loggp replay`.

use std::fmt::Display;

use loggp::params::Parameter;
use loggp::{Cause, Params, ParamsBuilder, RunError, Time};
use loggp_document::{DocumentBlock, plain};
use loggp_study::analysis::{FailedReplay, ParameterSweep, ReplayPoint};
use loggp_study::range::Range;

use super::column::{ReportColumn, json_rows, table};
use super::error::CliError;
use super::field::Field;
use super::formula::{formula_columns, formula_text};
use super::number::{Unit, thousands};
use super::row::MOST_DECIMALS;

/// The runs along a parameter, as `--over` asks for.
pub struct FormulaSweep {
    parameter: &'static Parameter,
    sweep: ParameterSweep,
}

impl FormulaSweep {
    /// Reads the value of `--over`, and makes the runs by `make_runs`.
    pub fn read(
        over: &str,
        params: Params,
        make_runs: impl FnOnce(&Range) -> Result<ParameterSweep, FailedReplay>,
    ) -> Result<FormulaSweep, CliError> {
        let refuse = |why: &dyn Display| CliError::Request(format!("--over {over}: {why}"));
        let range = Range::read(over, None, &ParamsBuilder::from(params)).map_err(|why| refuse(&why))?;
        let parameter =
            Parameter::by_name(range.quantity.name()).expect("without a program it is a parameter");
        if parameter.name == "P" {
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
pub fn sweep_columns<'a, R: 'a>(
    over: impl Fn(&R) -> Option<&FormulaSweep> + Copy + 'a,
) -> [ReportColumn<'a, R>; 3] {
    let column = |name: &'static str, points: fn(&ParameterSweep) -> &[ReplayPoint]| {
        let shown = move |row: &R| match over(row) {
            Some(over) => json_rows(&point_columns(over.parameter, ""), points(&over.sweep)),
            None => Field::Absent,
        };
        ReportColumn::new(name, shown).json_only()
    };
    let parameter = move |row: &R| over(row).map_or(Field::Absent, |over| over.parameter.name.into());
    [
        ReportColumn::new("over.parameter", parameter).json_only(),
        column("over.points", |sweep| &sweep.points),
        column("over.changes", |sweep| &sweep.changes),
    ]
}

/// Returns the columns of a point along a parameter.
fn point_columns<'a>(parameter: &'static Parameter, title: &str) -> Vec<ReportColumn<'a, ReplayPoint>> {
    let value = if parameter.is_time() { "value_ns" } else { "value" };
    let mut columns = vec![
        ReportColumn::new(value, move |point: &ReplayPoint| match parameter.is_time() {
            true => Field::from(Time::from_ps(point.value)),
            false => Field::from(point.value),
        }),
        ReportColumn::table_only(title, move |point: &ReplayPoint| {
            Field::Swept(match parameter.is_time() {
                true => Time::from_ps(point.value).to_string(),
                false => thousands(point.value),
            })
        }),
        ReportColumn::new("time_ns", |point: &ReplayPoint| point.time).with_title("time"),
    ];
    columns.extend(formula_columns(|point: &ReplayPoint| &point.formula));
    columns
        .push(ReportColumn::table_only("critical path", |point: &ReplayPoint| formula_text(&point.formula)));
    columns
}

/// Returns the tables of the formulas along a parameter, and of the values at which the path changes.
pub fn sweep_blocks(FormulaSweep { parameter, sweep }: &FormulaSweep, unit: Unit) -> Vec<DocumentBlock> {
    let points = table(&point_columns(parameter, parameter.name), &sweep.points, unit, MOST_DECIMALS);
    let title = format!("another from {} =", parameter.name);
    let changes = table(&point_columns(parameter, &title), &sweep.changes, unit, MOST_DECIMALS);
    let sentence = match (sweep.changes.len(), sweep.has_more) {
        (0, _) => Some(format!("the path is the same at every {}", parameter.name)),
        (_, true) => Some("there are more changes; give a smaller range, or more points".into()),
        _ => None,
    };
    let sentence = sentence.map(|sentence| DocumentBlock::Paragraph(plain(sentence)));
    points.into_iter().chain(changes).chain(sentence).collect()
}
