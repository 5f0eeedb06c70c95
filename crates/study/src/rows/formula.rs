//! Critical paths as formulas of the machine's parameters, and along one of them, as rows.

use loggp::Time;
use loggp::params::{LevelParameter, Parameter};
use loggp::path::HopKind;

use super::{Columns, Field, json_key};
use crate::analysis::{Formula, ParameterSweep, ReplayPoint};

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

/// The runs along a parameter.
pub struct FormulaSweep {
    pub parameter: LevelParameter,
    pub sweep: ParameterSweep,
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
pub fn point_columns<'a>(parameter: LevelParameter, title: &str) -> Columns<'a, ReplayPoint> {
    let mut columns = Columns::<ReplayPoint>::new();
    if parameter.is_time() {
        columns.add("value_ns", |point| Time::from_ps(point.value));
        columns.add_to_table(title, |point| Field::Given(Time::from_ps(point.value)));
    } else {
        columns.add("value", |point| point.value);
        columns.add_to_table(title, |point| point.value);
    }
    columns.add("time_ns", |point| point.time).title("time");
    columns.extend(formula_columns(|point: &ReplayPoint| &point.formula));
    columns.add_to_table("critical path", |point| point.formula.to_string());
    columns
}
