//! The report of `loggp analyze` on the waits of requests that were overlapped with computing.

use loggp::Time;
use loggp_document::DocumentBlock;
use loggp_study::analysis::accounts::Account;

use super::analyzed_run::AnalyzedRun;
use super::column::{ReportColumn, json_key, table};
use super::field::Field;
use super::number::Unit;
use super::row::MOST_DECIMALS;

/// Returns the columns of a run's requests, for JSON only.
pub fn run_columns<'a>() -> Vec<ReportColumn<'a, AnalyzedRun>> {
    let overlap = |row: &AnalyzedRun| Some(row.analysis.overlap).filter(|overlap| overlap.requests > 0);
    let count =
        move |row: &AnalyzedRun| overlap(row).map_or(Field::Absent, |overlap| overlap.requests.into());
    let mut columns = vec![ReportColumn::new("requests.count", count).json_only()];
    for is_overlapped in [true, false] {
        let name = if is_overlapped { "overlapped" } else { "exposed" };
        columns.extend(Account::all().into_iter().map(|account| {
            let time = move |row: &AnalyzedRun| {
                let time = overlap(row).map(|overlap| match is_overlapped {
                    true => overlap.overlapped[account],
                    false => overlap.exposed[account],
                });
                time.filter(|time| *time != Time::ZERO).map_or(Field::Absent, Field::from)
            };
            ReportColumn::new(format!("requests.{name}_ns.{}", json_key(account.name())), time).json_only()
        }));
    }
    columns
}

/// Returns the table of the waits of requests, overlapped and not.
pub fn waiting_table(row: &AnalyzedRun, unit: Unit) -> Option<DocumentBlock> {
    type WaitTotal = (&'static str, Time, Time);
    let overlap = &row.analysis.overlap;
    let wait_total = |&account: &Account| {
        let times = (overlap.overlapped[account], overlap.exposed[account]);
        (times != (Time::ZERO, Time::ZERO)).then_some((account.name(), times.0, times.1))
    };
    let rows: Vec<WaitTotal> = Account::all().iter().filter_map(wait_total).collect();
    let columns = [
        ReportColumn::table_only("requests wait", |(name, ..): &WaitTotal| *name),
        ReportColumn::table_only("time", |(_, overlapped, exposed): &WaitTotal| *overlapped + *exposed),
        ReportColumn::table_only("overlapped", |(_, overlapped, _): &WaitTotal| *overlapped),
        ReportColumn::table_only("not overlapped", |(.., exposed): &WaitTotal| *exposed),
    ];
    table(&columns, &rows, unit, MOST_DECIMALS)
}
