//! The table of all runs: the times of each case by formula, model and measurement.

use loggp::Time;

use loggp_document::{Cell, Table};

use super::series::SeriesResult;

/// Returns the table without empty columns, or `None` if nothing was run.
pub fn runs_table(results: &[SeriesResult], (unit, length): (&str, Time)) -> Option<Table> {
    let mut along: Vec<&str> =
        results.iter().map(|series| series.along).filter(|along| !along.is_empty()).collect();
    along.dedup();
    let table = Table::new("runs", "What was run").text("run");
    let table = along.iter().fold(table, |table, along| table.exact(along, ""));
    let table = table.exact("formula", unit).exact("model", unit).percent("vs formula");
    let mut table = table.exact("measured", unit).percent("vs model").text("held").text("result");
    let time = |time: Option<Time>| Cell::from(time.map(|time| time.in_units(length)));
    for series in results {
        for result in &series.points {
            let prediction = result.prediction;
            let mut row = vec![series.name.as_str().into()];
            row.extend(along.iter().map(|along| match *along == series.along {
                true => result.x.into(),
                false => Cell::Nothing,
            }));
            let host = result.answers.as_ref().and_then(|answers| answers.outcome.run.host.as_ref());
            let wrong = result.answers.as_ref().map(|answers| answers.wrong.is_some());
            row.extend([
                time(prediction.formula),
                time(prediction.model),
                prediction.error_formula().into(),
                time(prediction.measured.map(|times| times.median)),
                prediction.error_model().into(),
                host.map(|host| if host.on_time { "in time" } else { "late" }).into(),
                wrong.map(|wrong| if wrong { "wrong" } else { "right" }).into(),
            ]);
            table.push(row);
        }
    }
    (!table.rows.is_empty()).then(|| table.without_empty())
}
