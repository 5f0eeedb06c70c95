//! How `loggp analyze` says which waiting of requests was overlapped.

use loggp::Time;
use loggp_document::Block;
use loggp_study::analysis::accounts::Account;

use super::accounting::{Row, key};
use super::column::{Column, table};
use super::field::Field;
use super::number::Unit;
use super::row::MOST_DECIMALS;

/// The columns of a run that JSON has, if it has requests.
pub fn columns<'a>() -> Vec<Column<'a, Row>> {
    let overlap = |row: &Row| Some(row.analysis.overlap).filter(|overlap| overlap.requests > 0);
    let count = move |row: &Row| overlap(row).map_or(Field::Absent, |overlap| overlap.requests.into());
    let mut columns = vec![Column::new("requests.count", count).json_only()];
    for is_overlapped in [true, false] {
        let name = if is_overlapped { "overlapped" } else { "exposed" };
        columns.extend(Account::ALL.iter().map(|&account| {
            let time = move |row: &Row| {
                let time = overlap(row).map(|overlap| match is_overlapped {
                    true => overlap.overlapped[account],
                    false => overlap.exposed[account],
                });
                time.filter(|time| *time != Time::ZERO).map_or(Field::Absent, Field::from)
            };
            Column::new(format!("requests.{name}_ns.{}", key(account.name())), time).json_only()
        }));
    }
    columns
}

/// What requests waited for, beside what their processors did and beside nothing.
pub fn waiting(row: &Row, unit: Unit) -> Option<Block> {
    type Waiting = (&'static str, Time, Time);
    let overlap = &row.analysis.overlap;
    let of = |&account: &Account| {
        let both = (overlap.overlapped[account], overlap.exposed[account]);
        (both != (Time::ZERO, Time::ZERO)).then_some((account.name(), both.0, both.1))
    };
    let rows: Vec<Waiting> = Account::ALL.iter().filter_map(of).collect();
    let columns = [
        Column::shown("requests wait", |(name, ..): &Waiting| *name),
        Column::shown("time", |(_, overlapped, exposed): &Waiting| *overlapped + *exposed),
        Column::shown("overlapped", |(_, overlapped, _): &Waiting| *overlapped),
        Column::shown("not overlapped", |(.., exposed): &Waiting| *exposed),
    ];
    table(&columns, &rows, unit, MOST_DECIMALS)
}
