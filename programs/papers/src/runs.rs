//! The table of runs that most findings have: what each took by paper, formula, model and measurement, and how far that can
//! be trusted.

use loggp::Time;

use loggp_document::{Cell, Table};
use loggp_study::Answers;

/// A table of runs, all in one unit.
pub struct Runs {
    /// The table so far.
    table: Table,
    /// The unit's length.
    unit: Time,
}

impl Runs {
    /// A table of runs that are told apart by these columns, with its times in this unit, such as `("us", US)`.
    pub fn new(name: &str, title: &str, labels: &[&str], (unit, length): (&str, Time)) -> Runs {
        let table = labels.iter().fold(Table::new(name, title), |table, label| table.text(label));
        let table = table
            .exact("paper", unit)
            .exact("formula", unit)
            .exact("model", unit)
            .percent("vs formula")
            .exact("measured", unit)
            .exact("min", unit)
            .exact("max", unit)
            .percent("vs model")
            .rough("late p99", "us")
            .rough("dilation", "")
            .text("held")
            .text("verified");
        Runs { table, unit: length }
    }

    /// One more run, and the time that the paper's text has for it, if it has one.
    pub fn push(&mut self, labels: &[&str], paper: Option<f64>, answers: &Answers) {
        let prediction = answers.prediction;
        let time = |time: Option<Time>| Cell::from(time.map(|time| time.in_units(self.unit)));
        let host = answers.outcome.run.host.as_ref();
        let mut row: Vec<Cell> = labels.iter().map(|label| Cell::from(*label)).collect();
        row.extend([
            paper.into(),
            time(prediction.formula),
            time(prediction.model),
            prediction.error_formula().into(),
            time(prediction.measured.map(|times| times.median)),
            time(prediction.measured.map(|times| times.min)),
            time(prediction.measured.map(|times| times.max)),
            prediction.error_model().into(),
            host.map(|host| host.lateness.p99.in_units(loggp::US)).into(),
            host.map(|host| host.dilation).into(),
            host.map(|host| if host.held { "yes" } else { "late" }).into(),
            if answers.wrong.is_none() { "yes" } else { "no" }.into(),
        ]);
        self.table.push(row);
    }

    /// The table, without the columns in which nobody says anything.
    pub fn table(self) -> Table {
        self.table.without_empty()
    }
}
