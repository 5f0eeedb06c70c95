//! The report of `loggp analyze` on where the time of a run went: the tables below its row.

use loggp::path::HopKind;
use loggp::{Time, US};
use loggp_document::{DocumentBlock, plain};
use loggp_study::analysis::Overlap;
use loggp_study::analysis::accounts::Account;
use loggp_study::rows::analysis::{
    AnalyzedRun, add_accounts, call_columns, group_columns, part_formula, path_share_columns,
    processor_columns, sensitivity_columns, step_columns, time_on_path, top_groups,
};
use loggp_study::rows::{Columns, Field};

use crate::number::{Unit, thousands};
use crate::tell::table::table;

/// Returns the unit in which times are shown: the usual one, or a longer one for long runs. Cycles stay.
pub(crate) fn time_unit(rows: &[AnalyzedRun], usual: Unit) -> Unit {
    let longest = rows.iter().map(|row| row.analysis.time).max().unwrap_or_default();
    if usual.is_cycle() {
        return usual;
    }
    let units = [usual, Unit::from_text("1us", US), Unit::from_text("1ms", US), Unit::from_text("1s", US)];
    units.into_iter().find(|unit| unit.amount(longest) < 1e6).unwrap_or(usual)
}

/// Returns the tables of the accounts in percent, and of the formulas of the critical paths.
pub(crate) fn overviews(runs: &[AnalyzedRun], unit: Unit) -> Vec<DocumentBlock> {
    let mut shares = Columns::<AnalyzedRun>::new();
    shares.add_to_table("%", |row| row.short_name().to_string());
    add_accounts(&mut shares, |row, time| Field::Number(row.share(time)), |row| &row.analysis.total);
    let mut formulas = Columns::<AnalyzedRun>::new();
    formulas.add_to_table("critical path", |row| row.short_name().to_string());
    formulas.add_to_table("as a formula", |row| row.analysis.formula.to_string());
    [shares, formulas].iter().filter_map(|columns| table(columns, runs, unit)).collect()
}

/// Returns the table of each processor's accounts; a sentence instead if there are more than `most`.
pub(crate) fn processor_tables(row: &AnalyzedRun, unit: Unit, most: usize) -> Vec<DocumentBlock> {
    let P = row.analysis.machine.params.P;
    let say = |sentence: String| DocumentBlock::Paragraph(plain(sentence));
    if P > most {
        return vec![say(format!("there are {} processors; --every-processor lists them", thousands(P)))];
    }
    let silent = P - row.analysis.processors.len();
    let silent = (silent > 0).then(|| say(format!("{} processors did nothing", thousands(silent))));
    let table = table(&processor_columns(), &row.analysis.processors, unit);
    table.into_iter().chain(silent).collect()
}

/// Returns the table of the groups that cost the most.
pub(crate) fn group_table(row: &AnalyzedRun, unit: Unit, lines: usize) -> Option<DocumentBlock> {
    table(&group_columns(row), top_groups(row, lines), unit)
}

/// Returns the table of the calls that cost the most, of a recorded program.
pub(crate) fn call_table(row: &AnalyzedRun, unit: Unit, lines: usize) -> Option<DocumentBlock> {
    let calls = &row.analysis.calls;
    table(&call_columns(row), &calls[..calls.len().min(lines)], unit)
}

/// Returns the table of the waits of requests, overlapped with computing and not.
pub(crate) fn waiting_table(row: &AnalyzedRun, unit: Unit) -> Option<DocumentBlock> {
    type WaitTotal = (&'static str, Time, Time);
    let Overlap { overlapped, exposed, .. } = &row.analysis.overlap;
    let all = Account::all().map(|account| (account.name(), overlapped[account], exposed[account]));
    let waits: Vec<WaitTotal> =
        all.into_iter().filter(|(_, one, other)| *one + *other != Time::ZERO).collect();
    let mut columns = Columns::<WaitTotal>::new();
    columns.add_to_table("requests wait", |(name, ..)| *name);
    columns.add_to_table("time", |(_, overlapped, exposed)| *overlapped + *exposed);
    columns.add_to_table("overlapped", |(_, overlapped, _)| *overlapped);
    columns.add_to_table("not overlapped", |(.., exposed)| *exposed);
    table(&columns, &waits, unit)
}

/// Returns the tables of the critical path's parts, of the processors on it if there are several, and of its hops if `with_hops`.
pub(crate) fn path_tables(
    row: &AnalyzedRun,
    unit: Unit,
    lines: usize,
    with_hops: bool,
) -> Vec<DocumentBlock> {
    type PartTotal = (HopKind, usize, Time);
    let steps = &row.analysis.path;
    let part_total = |&part: &HopKind| {
        let hops = steps.iter().filter(|step| step.hop.kind == part).count();
        (hops > 0).then(|| (part, hops, time_on_path(&row.analysis, part)))
    };
    let parts: Vec<PartTotal> = HopKind::ALL.iter().filter_map(part_total).collect();
    let mut columns = Columns::<PartTotal>::new();
    columns.add_to_table("critical path", |(part, ..)| part.name());
    columns.add_to_table("hops", |(_, hops, _)| *hops);
    columns.add_to_table("time", |(.., time)| *time);
    columns.add_to_table("%", |(.., time)| 100.0 * time.in_units(row.analysis.time));
    columns.add_to_table("as a formula", |(part, ..)| part_formula(row, *part));
    let steps = if with_hops { &steps[..] } else { &[] };
    let hops = table(&step_columns(&row.analysis), steps, unit);
    let shares = Some(row.analysis.path_shares()).filter(|shares| shares.len() > 1).unwrap_or_default();
    let shares = table(&path_share_columns(row), &shares[..shares.len().min(lines)], unit);
    table(&columns, &parts, unit).into_iter().chain(shares).chain(hops).collect()
}

/// Returns the table of the effects of 1% more of each parameter.
pub(crate) fn sensitivity_table(row: &AnalyzedRun, unit: Unit) -> Option<DocumentBlock> {
    table(&sensitivity_columns(row), &row.analysis.sensitivities, unit)
}
