//! The table of what was run: what each case took by formula, model and measurement.

use loggp::Time;

use loggp_document::{Cell, Table};

use super::series::Ran;

/// The table, without the columns in which nobody says anything; nothing if nothing was run.
pub fn table(ran: &[Ran], (unit, length): (&str, Time)) -> Option<Table> {
    let mut along: Vec<&str> = ran.iter().map(|ran| ran.along).filter(|along| !along.is_empty()).collect();
    along.dedup();
    let table = Table::new("runs", "What was run").text("run");
    let table = along.iter().fold(table, |table, along| table.exact(along, ""));
    let table = table.exact("formula", unit).exact("model", unit).percent("vs formula");
    let mut table = table.exact("measured", unit).percent("vs model").text("held").text("result");
    let time = |time: Option<Time>| Cell::from(time.map(|time| time.in_units(length)));
    for ran in ran {
        for told in &ran.points {
            let prediction = told.prediction;
            let mut row = vec![ran.name.as_str().into()];
            row.extend(along.iter().map(|along| match *along == ran.along {
                true => told.x.into(),
                false => Cell::Nothing,
            }));
            let host = told.answers.as_ref().and_then(|answers| answers.outcome.run.host.as_ref());
            let wrong = told.answers.as_ref().map(|answers| answers.wrong.is_some());
            row.extend([
                time(prediction.formula),
                time(prediction.model),
                prediction.error_formula().into(),
                time(prediction.measured.map(|times| times.median)),
                prediction.error_model().into(),
                host.map(|host| if host.held { "in time" } else { "late" }).into(),
                wrong.map(|wrong| if wrong { "wrong" } else { "right" }).into(),
            ]);
            table.push(row);
        }
    }
    (!table.rows.is_empty()).then(|| table.without_empty())
}
