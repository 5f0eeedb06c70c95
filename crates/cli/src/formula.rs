//! The critical path as a formula of the machine's parameters.

use loggp::Time;
use loggp::params::Parameter;
use loggp::path::HopKind;
use loggp_study::analysis::Formula;

use super::column::{ReportColumn, json_key};
use super::field::Field;
use super::number::thousands;

/// Returns a formula as text: `3L + 6o + 10 O_s + 40 us work`.
pub fn formula_text(formula: &Formula) -> String {
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

/// Returns the columns of a formula: its text, and for JSON its terms.
pub fn formula_columns<'a, R: 'a>(formula: impl Fn(&R) -> &Formula + Copy + 'a) -> Vec<ReportColumn<'a, R>> {
    let mut columns = vec![ReportColumn::new("formula.text", move |row: &R| formula_text(formula(row)))];
    let times = Parameter::ALL.iter().filter(|parameter| parameter.is_time());
    columns.extend(times.map(|parameter| {
        let count = move |row: &R| match formula(row).count(parameter.name) {
            0 => Field::Absent,
            count => Field::from(count),
        };
        ReportColumn::new(format!("formula.counts.{}", parameter.name), count).json_only()
    }));
    let rest = HopKind::ALL.iter().map(|part| part.name()).chain(["drawn latency", "surcharge"]);
    columns.extend(rest.map(|name| {
        let time = move |row: &R| match formula(row).rest(name) {
            Time::ZERO => Field::Absent,
            time => Field::from(time),
        };
        ReportColumn::new(format!("formula.rest_ns.{}", json_key(name)), time).json_only()
    }));
    columns
}
