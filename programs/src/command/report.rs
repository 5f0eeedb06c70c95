//! A report: rows, for people or for programs.

use std::io::{self, Write};

use loggp::Time;
use loggp_programs::Algorithm;
use loggp_programs::study::{Ns, Phase, Prediction, Times};

use super::failure::Failure;
use super::interrupt;
use super::late::{self, is_late};
use super::number::{Unit, percent, rough, rough_time, thousands};
use super::options::Format;
use super::row::Row;
use super::setting::Setting;
use super::table::Table;
use super::{csv, row};

/// A report that is being written.
pub struct Report<'a> {
    /// Where it goes.
    out: &'a mut dyn Write,
    /// What it looks like.
    format: Format,
    /// The rows of a table, whose columns are as wide as the widest.
    rows: Vec<Row>,
    /// What must be said below a table.
    notes: Vec<String>,
}

/// A table shows times with at most so many decimals.
const MOST_DECIMALS: usize = 3;
/// What is measured is shown with so many digits, and no more decimals than that.
const MEASURED_DIGITS: usize = 6;

impl<'a> Report<'a> {
    /// An empty report.
    pub fn new(out: &'a mut dyn Write, format: Format) -> Report<'a> {
        Report { out, format, rows: Vec::new(), notes: Vec::new() }
    }

    /// Adds a row. Programs get it at once, people when the report is finished.
    pub fn add(&mut self, setting: &Setting, algorithm: &Algorithm, row: Row) -> Result<(), Failure> {
        match self.format {
            Format::Json => {
                let object = serde_json::to_string(&row).map_err(Failure::run)?;
                writeln!(self.out, "{object}")?;
                self.out.flush()?;
                interrupt::wrote(1);
            }
            Format::Csv => {
                if self.rows.is_empty() {
                    csv::write_titles(self.out)?;
                }
                csv::write_row(self.out, &row)?;
                self.out.flush()?;
                interrupt::wrote(1);
            }
            Format::Table => {
                let note = match row.prediction.formula {
                    None => Some(setting.why_no_formula(algorithm)),
                    Some(_) => setting.why_not_exact(),
                };
                self.notes.extend(note.filter(|note| !self.notes.contains(note)));
            }
        }
        self.rows.push(row);
        Ok(())
    }

    /// Writes what has not been written yet.
    pub fn finish(mut self, setting: &Setting) -> Result<(), Failure> {
        if self.format == Format::Table && !self.rows.is_empty() {
            self.write_table(setting)?;
            self.out.flush()?;
        }
        warn(&self.rows);
        Ok(())
    }

    /// Writes the table, how the host held what was measured, and the notes.
    fn write_table(&mut self, setting: &Setting) -> io::Result<()> {
        interrupt::wrote(self.rows.len());
        write!(
            self.out,
            "{}\n\n{}",
            setting.heading(),
            table(&self.rows, setting.choice.unit, setting.options.repeat > 1)
        )?;
        let further = [figures_table(&self.rows), phases_table(&self.rows, setting.choice.unit)];
        for table in further.into_iter().flatten() {
            write!(self.out, "\n{table}")?;
        }
        let measured: Vec<&Row> = self.rows.iter().filter(|row| row.lateness_ns.is_some()).collect();
        if !measured.is_empty() {
            write!(self.out, "\n{}", host_table(&measured))?;
            self.notes.extend(reasons(&measured));
        }
        if measured.iter().any(|row| is_late(row.held)) {
            self.notes.push(late::NOTE.into());
        }
        if !self.notes.is_empty() {
            writeln!(self.out, "\n{}", self.notes.join("\n"))?;
        }
        Ok(())
    }
}

/// Says on stderr what the host did not give, and what helps.
fn warn(rows: &[Row]) {
    let mut warnings: Vec<String> = Vec::new();
    for note in rows.iter().flat_map(|row| &row.notes) {
        if !warnings.contains(note) {
            warnings.push(note.clone());
        }
    }
    for warning in warnings {
        drop(writeln!(io::stderr(), "warning: {warning}"));
    }
    let late: Vec<String> = rows.iter().filter(|row| is_late(row.held)).map(Row::name).collect();
    late::warn(&late);
}

/// Why the machine ran so much slower than it should: a line for each reason.
fn reasons(rows: &[&Row]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows {
        let why = row.dilation_why.as_deref().unwrap_or_default();
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, names)) => names.push(row.name()),
            None => reasons.push((why, vec![row.name()])),
        }
    }
    if let [(why, _)] = reasons[..] {
        return vec![format!("dilation: {why}")];
    }
    let line = |(why, names): (&str, Vec<String>)| format!("dilation of {}: {why}", names.join(", "));
    reasons.into_iter().map(line).collect()
}

/// How this computer held the runs, as a table. Lateness is in its own time, which no dilation stretches.
fn host_table(rows: &[&Row]) -> Table {
    let mut table = Table::new();
    let rows = || rows.iter();
    table.words("", rows().map(|row| row.name()));
    table.numbers("dilation", rows().map(|row| rough(row.dilation)));
    table.numbers("cores", rows().map(|row| thousands(row.cores)));
    let late = |late: fn(&row::Lateness) -> Ns| {
        rows().map(move |row| row.lateness_ns.as_ref().map_or("-".into(), |times| rough_time(late(times).0)))
    };
    table.numbers("late p50", late(|times| times.p50));
    table.numbers("p90", late(|times| times.p90));
    table.numbers("p99", late(|times| times.p99));
    table.numbers("max", late(|times| times.max));
    table.numbers("at the end", late(|times| times.finish));
    table
}

/// What else the runs showed, as a table; nothing where they showed no more.
fn figures_table(rows: &[Row]) -> Option<Table> {
    let mut figures: Vec<(&str, &str)> = Vec::new();
    for figure in rows.iter().flat_map(|row| &row.figures) {
        if !figures.contains(&(figure.name, figure.unit)) {
            figures.push((figure.name, figure.unit));
        }
    }
    let mut table = Table::new();
    table.words("", rows.iter().map(Row::name));
    for (name, unit) in &figures {
        let value =
            |row: &Row| row.figures.iter().find(|f| (f.name, f.unit) == (*name, *unit)).map(|f| f.value);
        let show = |row: &Row| value(row).map_or("-".into(), rough);
        table.numbers(format!("{name} {unit}").trim(), rows.iter().map(show));
    }
    (!figures.is_empty()).then_some(table)
}

/// The phases of the runs, as a table with times in this unit; nothing where they have no phases.
fn phases_table(rows: &[Row], unit: Unit) -> Option<Table> {
    let phases: Vec<(String, &Phase)> =
        rows.iter().flat_map(|row| row.phases.iter().map(|phase| (row.name(), phase))).collect();
    let predictions = || phases.iter().map(|(_, phase)| phase.prediction);
    let (decimals, measured) = decimals(predictions(), unit);
    let time = |time: Option<Time>| time.map_or("-".into(), |time| unit.number(time, decimals));
    let error = |error: Option<f64>| error.map_or("-".into(), percent);
    let mut table = Table::new();
    let first = |(i, (name, _)): (usize, &(String, _))| match i {
        0 => name.clone(),
        i if phases[i - 1].0 != *name => name.clone(),
        _ => String::new(),
    };
    table.words("", phases.iter().enumerate().map(first));
    table.words("phase", phases.iter().map(|(_, phase)| phase.phase.to_string()));
    table.numbers("formula", predictions().map(|times| time(times.formula)));
    table.numbers("model", predictions().map(|times| time(times.model)));
    table.numbers("vs formula", predictions().map(|times| error(times.error_formula())));
    if predictions().any(|times| times.measured.is_some()) {
        let show = |times: Times| unit.number(times.median, measured);
        table.numbers("measured", predictions().map(|times| times.measured.map_or("-".into(), show)));
        table.numbers("vs model", predictions().map(|times| error(times.error_model())));
    }
    (!phases.is_empty()).then_some(table)
}

/// With how many decimals predictions are shown, what is exact and what was measured.
fn decimals(predictions: impl Iterator<Item = Prediction> + Clone, unit: Unit) -> (usize, usize) {
    let times = predictions.clone().flat_map(|times| [times.formula, times.model]);
    let exact = times.flatten().map(|time| unit.decimals(time)).max().unwrap_or(0).min(MOST_DECIMALS);
    (exact, measured_decimals(predictions, unit, exact))
}

/// How many decimals show what was measured: none that is only noise.
fn measured_decimals(predictions: impl Iterator<Item = Prediction>, unit: Unit, exact: usize) -> usize {
    let shortest = predictions.filter_map(|times| times.measured).map(|times| times.min).min();
    let whole = shortest.map_or(1, |time| unit.number(time, 0).chars().filter(char::is_ascii_digit).count());
    MEASURED_DIGITS.saturating_sub(whole).min(MOST_DECIMALS).max(exact)
}

/// The rows as a table, with times in this unit.
fn table(rows: &[Row], unit: Unit, repeated: bool) -> Table {
    let (decimals, measured_decimals) = decimals(rows.iter().map(|row| row.prediction), unit);
    let time = |time: Option<Time>| time.map_or("-".into(), |time| unit.number(time, decimals));
    let error = |error: Option<f64>| error.map_or("-".into(), percent);
    let in_transit = |row::Stalls { max_in_transit, capacity, .. }: &row::Stalls| match capacity {
        Some(capacity) => format!("{} of {}", thousands(max_in_transit), thousands(capacity)),
        None => "-".into(),
    };
    let verified = |row: &Row| if row.verified { "yes" } else { "NO" };

    let mut table = Table::new();
    let rows = || rows.iter();
    if let Some((name, _)) = rows().find_map(|row| row.at.as_ref()) {
        table.numbers(name, rows().map(|row| row.at.as_ref().map_or("-".into(), |(_, value)| value.clone())));
    }
    table.words("algorithm", rows().map(|row| row.algorithm.into()));
    table.numbers("formula", rows().map(|row| time(row.prediction.formula)));
    table.numbers("model", rows().map(|row| time(row.prediction.model)));
    table.numbers("vs formula", rows().map(|row| error(row.prediction.error_formula())));
    if rows().any(|row| row.prediction.measured.is_some()) {
        let measured = |which: fn(Times) -> Time| {
            let show = move |times| unit.number(which(times), measured_decimals);
            rows().map(move |row| row.prediction.measured.map_or("-".into(), show))
        };
        table.numbers("measured", measured(|times| times.median));
        if repeated {
            table.numbers("min", measured(|times| times.min));
            table.numbers("max", measured(|times| times.max));
        }
        table.numbers("vs model", rows().map(|row| error(row.prediction.error_model())));
        late::mark(&mut table, rows().map(|row| row.held));
    }
    table.numbers("messages", rows().map(|row| thousands(row.messages)));
    table.numbers("stalls", rows().map(|row| thousands(row.stalls.count)));
    if rows().any(|row| row.stalls.count > 0) {
        table.numbers("stalled", rows().map(|row| time(Some(row.stalls.ns.0))));
    }
    table.numbers("in transit", rows().map(|row| in_transit(&row.stalls)));
    table.words("verified", rows().map(|row| verified(row).into()));
    table
}
