//! The blocks below the table of `run`, `compare` and `sweep`: metrics, phases, how well this computer kept
//! up, and notes.

use loggp::Latency;
use loggp_document::{DocumentBlock, plain};
use loggp_programs::{Case, FormKind, Metric};
use loggp_study::PhasePrediction;
use loggp_study::rows::Columns;
use loggp_study::rows::program_run::{StudyRow, add_cores, add_dilation, lateness_columns, phase_columns};

use crate::error::merge_sentences;
use crate::number::{Unit, percent};
use crate::tell::table::table;

/// The explanation of the mark of a late run in a table.
pub(crate) const LATE_NOTE: &str = "late: this computer did not keep up, so do not compare this time; give a larger --dilation or fewer processors, or close other programs";

/// Returns the blocks below the table.
pub(crate) fn details(rows: &[StudyRow], unit: Unit) -> Vec<DocumentBlock> {
    let mut blocks: Vec<DocumentBlock> =
        metric_table(rows, unit).into_iter().chain(phase_table(rows, unit)).collect();
    let mut notes = form_notes(rows);
    notes.extend(merge_sentences(rows.iter().filter_map(formula_note)));
    for row in rows {
        let drawn = row.answers.random_options.iter();
        notes.extend(drawn.map(|drawn| format!("the median run of {} has {drawn}", row.task.name)));
    }
    if rows.iter().any(|row| row.host().is_some()) {
        blocks.extend(host_table(rows, unit));
        notes.extend(dilation_reasons(rows));
    }
    if rows.iter().any(StudyRow::is_late) {
        notes.push(LATE_NOTE.into());
    }
    blocks.push(DocumentBlock::List(notes.into_iter().map(plain).collect()));
    blocks
}

/// Returns the table of the runs' metrics, or `None` if they have none.
fn metric_table(rows: &[StudyRow], unit: Unit) -> Option<DocumentBlock> {
    let mut columns = name_column();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for &Metric { name, unit, .. } in rows.iter().flat_map(|row| &row.answers.outcome.metrics) {
        if !seen.contains(&(name, unit)) {
            seen.push((name, unit));
            columns.add_to_table(format!("{name} {unit}").trim(), move |row| {
                let metrics = &row.answers.outcome.metrics;
                let metric = metrics.iter().find(|metric| (metric.name, metric.unit) == (name, unit));
                metric.map(|metric| metric.value)
            });
        }
    }
    table(&columns, if seen.is_empty() { &[] } else { rows }, unit)
}

/// Returns the table of the runs' phases, or `None` if they have none.
fn phase_table(rows: &[StudyRow], unit: Unit) -> Option<DocumentBlock> {
    /// Returns the phases of a run with its name, which stands at the first alone.
    fn named(row: &StudyRow) -> impl Iterator<Item = (&str, &PhasePrediction)> {
        std::iter::once(row.task.name.as_str()).chain(std::iter::repeat("")).zip(&row.answers.phases)
    }
    let phases: Vec<(&str, &PhasePrediction)> = rows.iter().flat_map(named).collect();
    let mut columns = Columns::new();
    columns.add_to_table("", |(name, _): &(&str, &PhasePrediction)| name.to_string());
    columns.extend(phase_columns(|(_, phase)| *phase));
    table(&columns, &phases, unit)
}

/// Returns the table of dilations, cores and latenesses.
fn host_table(rows: &[StudyRow], unit: Unit) -> Option<DocumentBlock> {
    let mut columns = name_column();
    add_dilation(&mut columns);
    add_cores(&mut columns);
    columns.extend(lateness_columns());
    table(&columns, rows, unit)
}

fn name_column<'a>() -> Columns<'a, StudyRow> {
    let mut columns = Columns::<StudyRow>::new();
    columns.add_to_table("", |row| row.task.name.clone());
    columns
}

/// Returns the sentences on what the formulas of the runs are.
pub(crate) fn form_notes(rows: &[StudyRow]) -> Vec<String> {
    merge_sentences(rows.iter().filter_map(|row| form_note(row, rows)))
}

/// Returns a sentence on what the formula of a run is: exact, a bound or an estimate, and whose. Of several
/// runs of an algorithm it has the greatest error.
fn form_note(row: &StudyRow, rows: &[StudyRow]) -> Option<String> {
    let (name, form) = (row.case().algorithm.name, row.answers.prediction.form?);
    let is_like = |other: &&StudyRow| {
        let form_of = |row: &StudyRow| row.answers.prediction.form.map(|form| (form.kind, form.source));
        other.case().algorithm.name == name && form_of(other) == form_of(row)
    };
    let errors = rows.iter().filter(is_like).filter_map(|row| row.answers.prediction.error_formula());
    let farthest_of =
        |errors: &mut dyn Iterator<Item = f64>| errors.max_by(|one, other| one.abs().total_cmp(&other.abs()));
    let farthest = farthest_of(&mut errors.clone());
    let wrong = farthest_of(&mut errors.clone().filter(|error| !form.kind.allows(*error)));
    let off = match (wrong, farthest) {
        (Some(error), _) => contradiction_text(error),
        (None, Some(error)) if form.kind != FormKind::Exact && errors.count() > 1 => {
            format!(", at most {} off", percent(error))
        }
        _ => String::new(),
    };
    Some(format!("formula of {name}: {form}{off}"))
}

/// Returns the end of a sentence on a formula from which the model differs by a part that the formula excludes.
pub(crate) fn contradiction_text(error: f64) -> String {
    format!("; but the model takes {}, so the formula or the program has a mistake", percent(error))
}

/// Returns a sentence on why a run has no formula or may take another time, if there is something to say.
fn formula_note(row: &StudyRow) -> Option<String> {
    let Case { algorithm, params, latency, noise, .. } = row.case();
    let name = algorithm.name;
    Some(match algorithm.formula.why_missing() {
        _ if row.answers.prediction.formula.is_some() => {
            let sentence = match (*latency != Latency::Exact, noise.is_some()) {
                (false, false) => return None,
                (true, false) => "formulas take every message to be under way for exactly L",
                (false, true) => "formulas take the processors to be free of noise",
                (true, true) => {
                    "formulas take every message to be under way for exactly L, and know no noise"
                }
            };
            sentence.into()
        }
        Some(why) => format!("no formula for {name}: {why}"),
        None if !params.is_loggp() => {
            "no formulas: they are for LogP and LogGP, and this is a LogGPS machine".into()
        }
        None => format!("no formula for {name} in this case: in general it is {}", algorithm.formula),
    })
}

/// Returns a line for each reason of a dilation.
fn dilation_reasons(rows: &[StudyRow]) -> Vec<String> {
    let hosts: Vec<_> = rows.iter().filter_map(|row| Some((&row.task.name, &row.host()?.why))).collect();
    let same = hosts.iter().all(|(_, why)| *why == hosts[0].1);
    let line = |(name, why): &(&String, &String)| match same {
        true => format!("dilation: {why}"),
        false => format!("dilation of {name}: {why}"),
    };
    merge_sentences(hosts.iter().map(line))
}
