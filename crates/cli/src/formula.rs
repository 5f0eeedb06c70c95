//! How `loggp analyze` writes the critical path as a formula of the machine, and where along a parameter it is another.

use std::fmt::Display;

use loggp::path::Part;
use loggp::{Cause, Parameter, Params, ParamsBuilder, RunError, Time};
use loggp_document::{Block, plain};
use loggp_study::analysis::{Along, At, Formula, NotMade, Terms};
use loggp_study::range::Range;

use super::accounting::{Row, key, rows};
use super::column::{Column, table};
use super::failure::Failure;
use super::field::Field;
use super::number::{Unit, thousands};
use super::row::MOST_DECIMALS;

/// A formula as people write it: `3L + 6o + 10 O_s + 40 us work`.
pub fn said(formula: &Formula) -> String {
    let counted = formula.counts.iter().map(|(name, count)| match count {
        1 => name.to_string(),
        // An O behind a digit would look like a 0.
        _ if name.len() > 1 => format!("{} {name}", thousands(count)),
        _ => format!("{}{name}", thousands(count)),
    });
    let rest = formula.rest.iter().map(|(name, time)| format!("{time} {name}"));
    let terms: Vec<String> = counted.chain(rest).collect();
    if terms.is_empty() { "0".into() } else { terms.join(" + ").replace("+ -", "- ") }
}

/// The columns that JSON has of a formula; CSV has the words.
fn columns_of<'a, R: 'a>(formula: impl Fn(&R) -> &Formula + Copy + 'a) -> Vec<Column<'a, R>> {
    let mut columns = vec![Column::new("formula.text", move |row: &R| said(formula(row)))];
    let times = Parameter::ALL.iter().filter(|parameter| parameter.is_time());
    columns.extend(times.map(|parameter| {
        let count = move |row: &R| match formula(row).count(parameter.name) {
            0 => Field::Absent,
            count => Field::from(count),
        };
        Column::new(format!("formula.counts.{}", parameter.name), count).json_only()
    }));
    let rest = Part::ALL.iter().map(|part| part.name()).chain(["drawn latency", "surcharge"]);
    columns.extend(rest.map(|name| {
        let time = move |row: &R| match formula(row).rest(name) {
            Time::ZERO => Field::Absent,
            time => Field::from(time),
        };
        Column::new(format!("formula.rest_ns.{}", key(name)), time).json_only()
    }));
    columns
}

/// The runs along a parameter.
pub struct Over {
    parameter: &'static Parameter,
    along: Along,
}

impl Over {
    /// Has runs made along what `--over` says.
    pub fn read(
        over: &str,
        params: Params,
        along: impl FnOnce(&Range) -> Result<Along, NotMade>,
    ) -> Result<Over, Failure> {
        let refuse = |why: &dyn Display| Failure::Request(format!("--over {over}: {why}"));
        let range = Range::read(over, None, &ParamsBuilder::from(params)).map_err(|why| refuse(&why))?;
        let parameter = Parameter::named(range.quantity.name()).expect("without a program it is a parameter");
        if parameter.name == "P" {
            return Err(refuse(&"the run has as many processors as it has; give another parameter"));
        }
        let along = along(&range).map_err(|NotMade { at, error }| failed(&at, &error))?;
        Ok(Over { parameter, along })
    }
}

/// Why a run could not be made again.
pub fn failed(name: &str, error: &RunError) -> Failure {
    match error.cause {
        Cause::Params(_) => Failure::Request(format!("{name}: {}", error.cause)),
        _ => Failure::Run(format!("{name}: {error}")),
    }
}

/// The columns that JSON has of the runs along a parameter.
pub fn columns_over<'a, R: 'a>(over: impl Fn(&R) -> Option<&Over> + Copy + 'a) -> [Column<'a, R>; 3] {
    let of_along = |name: &'static str, ats: fn(&Along) -> &[At]| {
        let shown = move |row: &R| match over(row) {
            Some(over) => rows(&of_at(over.parameter, ""), ats(&over.along)),
            None => Field::Absent,
        };
        Column::new(name, shown).json_only()
    };
    let parameter = move |row: &R| over(row).map_or(Field::Absent, |over| over.parameter.name.into());
    [
        Column::new("over.parameter", parameter).json_only(),
        of_along("over.points", |along| &along.points),
        of_along("over.changes", |along| &along.changes),
    ]
}

/// The columns of a run: its formula, those of the path's parts, and the formulas along a parameter.
pub fn columns<'a>() -> Vec<Column<'a, Row>> {
    let mut columns = columns_of(|row: &Row| &row.analysis.formula);
    columns.extend(Part::ALL.iter().map(|&part| {
        let words = move |row: &Row| of_part(row, part).map_or(Field::Absent, |words| words.into());
        Column::new(format!("path_formulas.{}", key(part.name())), words).json_only()
    }));
    columns.extend(columns_over(|row: &Row| row.over.as_ref()));
    columns
}

/// The formula of a part of the path, if there is such a part.
pub fn of_part(row: &Row, part: Part) -> Option<String> {
    let mut hops = row.analysis.path.iter().map(|step| &step.hop).filter(|hop| hop.part == part).peekable();
    hops.peek()?;
    Some(said(&Terms::of(&row.analysis.params).formula(hops)))
}

/// The formulas of all runs: a table.
pub fn formulas(all: &[Row], unit: Unit) -> Option<Block> {
    let columns = [
        Column::shown("critical path", |row: &Row| row.short_name().to_string()),
        Column::shown("as a formula", |row: &Row| said(&row.analysis.formula)),
    ];
    table(&columns, all, unit, MOST_DECIMALS)
}

/// The columns of a value along a parameter.
fn of_at<'a>(parameter: &'static Parameter, title: &str) -> Vec<Column<'a, At>> {
    let value = if parameter.is_time() { "value_ns" } else { "value" };
    let mut columns = vec![
        Column::new(value, move |at: &At| match parameter.is_time() {
            true => Field::from(Time::from_ps(at.value)),
            false => Field::from(at.value),
        }),
        Column::shown(title, move |at: &At| {
            Field::Swept(match parameter.is_time() {
                true => Time::from_ps(at.value).to_string(),
                false => thousands(at.value),
            })
        }),
        Column::new("time_ns", |at: &At| at.time).titled("time"),
    ];
    columns.extend(columns_of(|at: &At| &at.formula));
    columns.push(Column::shown("critical path", |at: &At| said(&at.formula)));
    columns
}

/// The formulas along a parameter, and where the path is another.
pub fn over(Over { parameter, along }: &Over, unit: Unit) -> Vec<Block> {
    let points = table(&of_at(parameter, parameter.name), &along.points, unit, MOST_DECIMALS);
    let title = format!("another from {} =", parameter.name);
    let changes = table(&of_at(parameter, &title), &along.changes, unit, MOST_DECIMALS);
    let sentence = match (along.changes.len(), along.has_more) {
        (0, _) => Some(format!("the path is the same at every {}", parameter.name)),
        (_, true) => Some("there are more changes; give a smaller range, or more points".into()),
        _ => None,
    };
    let sentence = sentence.map(|sentence| Block::Paragraph(plain(sentence)));
    points.into_iter().chain(changes).chain(sentence).collect()
}
