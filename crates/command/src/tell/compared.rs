//! A recorded program beside its prediction, in reports.

use loggp_document::DocumentBlock;
use loggp_schedule::program::{Comparison, RankComparison, TimePair};
use loggp_study::rows::{Columns, Field};

use super::table::table;
use crate::number::Unit;

/// A part of the time.
struct TimePart {
    name: String,
    time: TimePair,
}

/// Returns the columns of a comparison, of which CSV has the recorded time alone.
pub fn comparison_columns<'a, R: 'a>(
    compared: impl Fn(&R) -> Option<&Comparison> + Copy + 'a,
) -> Columns<'a, R> {
    let mut columns = Columns::<R>::new();
    columns
        .add("recorded_ns", move |row| compared(row).map(|compared| compared.end.recorded))
        .title("recorded")
        .optional();
    let parts = move |row: &R| match compared(row) {
        Some(compared) => part_columns("").objects(&parts(&compared.mean)),
        None => Field::Absent,
    };
    columns.add("parts", parts).json_only();
    let ranks = move |row: &R| match compared(row) {
        Some(compared) => part_columns("").objects(&ranks(compared)),
        None => Field::Absent,
    };
    columns.add("by_rank", ranks).json_only();
    columns
}

/// Returns the tables of a comparison: of the ranks if there are few of them, and of what the time goes to.
pub fn comparison_tables(compared: &Comparison, has_ranks: bool, unit: Unit) -> Vec<DocumentBlock> {
    let ranks = if has_ranks { table(&part_columns("rank"), &ranks(compared), unit) } else { None };
    let parts = table(&part_columns("mean of all ranks"), &parts(&compared.mean), unit);
    ranks.into_iter().chain(parts).collect()
}

fn part_columns<'a>(title: &str) -> Columns<'a, TimePart> {
    let mut columns = Columns::<TimePart>::new();
    columns.add("name", |part| part.name.clone()).title(title);
    columns.add("recorded_ns", |part| part.time.recorded).title("recorded");
    columns.add("predicted_ns", |part| part.time.predicted).title("predicted");
    columns.add("difference_ns", |part| part.time.difference()).title("difference");
    columns.add("error", |part| part.time.error().map_or(Field::Null, Field::Error)).title("off");
    columns
}

/// Returns what the time of a rank goes to.
fn parts(rank: &RankComparison) -> Vec<TimePart> {
    let computing = TimePart { name: "computing".into(), time: rank.computing };
    let groups = rank.groups.iter().map(|(group, time)| TimePart { name: group.name.into(), time: *time });
    [computing].into_iter().chain(groups).filter(|part| part.time != TimePair::default()).collect()
}

fn ranks(compared: &Comparison) -> Vec<TimePart> {
    let ranks = compared.ranks.iter().enumerate();
    ranks.map(|(rank, compared)| TimePart { name: rank.to_string(), time: compared.end }).collect()
}
