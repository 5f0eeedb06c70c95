//! The report of `loggp tolerance`: a row for each parameter, the pieces of its curve, and the messages whose
//! latency is on the critical path.

use std::cmp::Reverse;

use loggp::Time;
use loggp_document::{DocumentBlock, plain};
use loggp_mpi_trace::call::Unmodelled;
use loggp_mpi_trace::schedule::{ProgramSchedule, Unseen};
use loggp_study::analysis::{CurvePiece, LatencyUse};
use loggp_study::rows::machine::{level_columns, machine_columns};
use loggp_study::rows::{Columns, Field};

use super::{PARTS, ToleranceRow};
use crate::number::{Unit, count, percent, thousands};
use crate::tell::table::table;
use loggp_study::rows::formula::formula_columns;

/// Limit of the pieces that a table lists.
const MOST_PIECES: usize = 24;

/// Returns the columns of the report, with so many kinds of messages in JSON.
pub fn columns<'a>(top: usize) -> Columns<'a, ToleranceRow<'a>> {
    let mut columns = Columns::<ToleranceRow>::new();
    columns.add("input", |row| row.input);
    columns.extend(machine_columns(|row: &ToleranceRow| (row.machine, row.machine_params.params), true));
    columns.extend(level_columns(|row: &ToleranceRow| &*row.machine_params.levels));
    columns.add("parameter", |row| row.curve.parameter.name()).title("what grows");
    columns.add("value_ns", |row| Time::from_ps(row.curve.value));
    columns.add_to_table("from", |row| Field::Swept(Time::from_ps(row.curve.value).to_string()));
    columns.add("time_ns", |row| row.curve.time).title("time");
    columns.add("is_known", |row| Field::Bool(row.is_known()));
    columns.add("slope", |row| if_known(row, row.curve.slope)).title("on the path");
    columns.add("share", |row| if_known(row, row.curve.share()));
    columns.add_to_table("% of the run", |row| if_known(row, 100.0 * row.curve.share()));
    for (place, part) in PARTS.into_iter().enumerate() {
        let value = move |row: &ToleranceRow| row.curve.tolerated(part).map(Time::from_ps);
        columns.add(format!("bears_{part}_percent.until_ns"), value);
        let more = move |row: &ToleranceRow| {
            row.curve.tolerated(part).map(|value| Time::from_ps(value - row.curve.value))
        };
        columns.add(format!("bears_{part}_percent.more_ns"), more);
        let free = move |row: &ToleranceRow| row.free[place].map_or(Field::Absent, Field::from);
        columns.add(format!("bears_{part}_percent.time_in_free_order_ns"), free).json_only();
        columns.add_to_table(&format!("bears for {part}%"), move |row| match more(row) {
            _ if !row.is_known() => "not known".into(),
            Some(more) if row.curve.may_bear_more(part) => format!("at least {more} more"),
            Some(more) => format!("{more} more"),
            None if row.curve.is_flat => "any".into(),
            None => format!("over {} more", Time::from_ps(row.curve.end - row.curve.value)),
        });
    }
    columns.add("known_until_ns", |row| if_known(row, Time::from_ps(row.curve.end)));
    columns.add("exact_until_ns", |row| if_known(row, Time::from_ps(row.curve.exact_until))).json_only();
    columns.add("certainty", |row| if_known(row, certainty(row))).json_only();
    columns.add("runs", |row| row.curve.runs);
    let pieces = |row: &ToleranceRow| match row.is_whole {
        true => piece_columns("from").objects(&row.curve.pieces),
        false => Field::Absent,
    };
    columns.add("pieces", pieces).json_only();
    let irregular = |row: &ToleranceRow| {
        Field::Times(row.curve.irregular().map(|piece| Time::from_ps(piece.from)).collect())
    };
    columns.add("irregular_ns", irregular).json_only();
    let gaps = |row: &ToleranceRow| match row.is_whole {
        true => gap_columns().objects(&row.curve.gaps),
        false => Field::Absent,
    };
    columns.add("unknown", gaps).json_only();
    let uses = move |row: &ToleranceRow| match row.uses.is_empty() {
        true => Field::Absent,
        false => use_columns(row).objects(&row.uses[..row.uses.len().min(top)]),
    };
    columns.add("latencies", uses).json_only();
    columns.extend(unseen_columns());
    columns
}

/// Returns a value of a row in which it is known what the run bears.
fn if_known(row: &ToleranceRow, value: impl Into<Field>) -> Field {
    if row.is_known() { value.into() } else { Field::Null }
}

/// Returns the columns of what a recorded program did that its schedule does not say.
fn unseen_columns<'a>() -> Columns<'a, ToleranceRow<'a>> {
    let mut columns = Columns::<ToleranceRow>::new();
    let mut add = |name: &'static str, value: fn(&ProgramSchedule) -> Field| {
        let of_row = move |row: &ToleranceRow| row.program.map_or(Field::Absent, value);
        columns.add(name, of_row).json_only();
    };
    add("not_modelled.calls", |program| sum_of_calls(&program.unseen).into());
    add("not_modelled.share", |program| share_of_calls(program).map_or(Field::Null, Field::from));
    add("looks.in_vain", |program| program.unseen.vain_looks.into());
    add("looks.in_vain_share", |program| program.share_of_time(program.unseen.vain_ns as f64).into());
    add("looks.found", |program| program.unseen.found_looks.into());
    columns
}

/// Returns how many calls are not modelled.
fn sum_of_calls(unseen: &Unseen) -> u64 {
    unseen.calls.iter().fold(0, |sum: u64, calls| sum.saturating_add(calls.count))
}

/// Returns which part of the time calls take that are not modelled, if the recording says it.
fn share_of_calls(program: &ProgramSchedule) -> Option<f64> {
    let times = program.unseen.calls.iter().map(|calls| Some(calls.inside_ns? as f64));
    times.sum::<Option<f64>>().map(|sum| program.share_of_time(sum))
}

/// Returns sentences on what a recorded program did that its schedule does not say, and what follows from it.
fn unseen_notes(program: &ProgramSchedule) -> Vec<String> {
    /// Limit of the names of calls.
    const MOST: usize = 3;
    let Unseen { calls, vain_looks, vain_ns, found_looks } = &program.unseen;
    let percent = |share: f64| format!("{:.2}% of the recorded time", 100.0 * share);
    let looks =
        |number: u64| format!("{} (MPI_Test, MPI_Iprobe and the like)", count(number as usize, "look"));
    let mut notes = Vec::new();
    if !calls.is_empty() {
        let mut calls: Vec<&Unmodelled> = calls.iter().collect();
        calls.sort_by_key(|calls| Reverse(calls.count));
        let named = calls.iter().take(MOST).map(|calls| format!("{} {}", thousands(calls.count), calls.name));
        let mut named: Vec<String> = named.collect();
        if let Some(more @ 1..) = calls.len().checked_sub(MOST) {
            named.push(format!("{} more", count(more, "kind")));
        }
        let share = share_of_calls(program).map_or_else(String::new, |share| format!(", {}", percent(share)));
        notes.push(format!(
            "not known: {} that are not modelled ({}){share}, may exchange messages that the schedule does not have",
            count(sum_of_calls(&program.unseen) as usize, "call"),
            named.join(", ")
        ));
    }
    if *vain_looks > 0 {
        notes.push(format!(
            "not known: {} found nothing, {}, and the program went on with something else; at other times they might have \
             found something",
            looks(*vain_looks),
            percent(program.share_of_time(*vain_ns as f64))
        ));
    } else if *found_looks > 0 && calls.is_empty() {
        notes.push(format!(
            "only for the order that was recorded: {} found something, and at other times they might have found nothing, or \
             something else",
            looks(*found_looks)
        ));
    }
    notes
}

/// Returns the columns of a piece of a curve.
fn piece_columns<'a>(title: &str) -> Columns<'a, CurvePiece> {
    let mut columns = Columns::<CurvePiece>::new();
    columns.add("from_ns", |piece| Time::from_ps(piece.from));
    columns.add("until_ns", |piece| Time::from_ps(piece.until));
    columns.add_to_table(title, |piece| Field::Swept(Time::from_ps(piece.from).to_string()));
    columns.add("time_ns", |piece| piece.time).title("time");
    columns.add("slope", |piece| piece.slope).title("slope");
    columns.add("intercept_ns", |piece| piece.time_at(0));
    columns.extend(formula_columns(|piece: &CurvePiece| &piece.formula));
    columns.add_to_table("critical path", |piece| piece.formula.to_string());
    columns
}

fn gap_columns<'a>() -> Columns<'a, (i64, i64)> {
    let mut columns = Columns::<(i64, i64)>::new();
    columns.add("from_ns", |(from, _)| Time::from_ps(*from));
    columns.add("until_ns", |(_, until)| Time::from_ps(*until));
    columns
}

/// Returns the columns of a kind of messages.
fn use_columns<'a>(row: &ToleranceRow<'a>) -> Columns<'a, LatencyUse<String>> {
    let name = row.curve.parameter.name();
    let time = row.curve.time;
    let share =
        move |uses: &LatencyUse<String>| if time == Time::ZERO { 0.0 } else { uses.time.in_units(time) };
    let mut columns = Columns::<LatencyUse<String>>::new();
    columns.add("what", |uses| uses.kind.clone()).title(&format!("{name} on the critical path"));
    columns.add("count", |uses| uses.count).title("count");
    columns.add("time_ns", |uses| uses.time).title("time");
    columns.add("share", share);
    columns.add_to_table("% of the run", move |uses| 100.0 * share(uses));
    columns
}

/// Returns the blocks below the table of the parameters.
pub fn blocks(rows: &[ToleranceRow], unit: Unit, top: usize) -> Vec<DocumentBlock> {
    let notes = rows.first().and_then(|row| row.program).map_or_else(Vec::new, unseen_notes);
    let mut blocks = vec![DocumentBlock::List(notes.into_iter().map(plain).collect())];
    for row in rows {
        let curve = &row.curve;
        let name = curve.parameter.name();
        let mut notes = Vec::new();
        if row.is_whole {
            let shown = &curve.pieces[..curve.pieces.len().min(MOST_PIECES)];
            blocks.extend(table(&piece_columns(&format!("{name} from")), shown, unit));
            if let Some(more @ 1..) = curve.pieces.len().checked_sub(shown.len()) {
                notes.push(format!("and {} more; JSON has all", count(more, "piece")));
            }
        }
        let free = row.free.iter().flatten();
        let free: Vec<String> = free.map(|time| percent(time.in_units(curve.time) - 1.0)).collect();
        if !free.is_empty() {
            notes.push(format!(
                "each rank keeps the order of the machine's own {name}; in the order that those {name} lead to, the run \
                 changes by {}",
                free.join(", ")
            ));
        }
        let irregular: Vec<String> =
            curve.irregular().map(|piece| Time::from_ps(piece.from).to_string()).collect();
        if !irregular.is_empty() {
            notes.push(irregular_note(name, &irregular));
        }
        if row.is_known() {
            if curve.is_flat {
                notes.push(format!("the run does not depend on {name}"));
            }
            notes.push(certainty(row));
        }
        if !curve.gaps.is_empty() && row.is_whole {
            let gaps = count(curve.gaps.len(), "range");
            let runs = thousands(curve.runs);
            notes.push(format!("after {runs} runs {gaps} of {name} are not known in full; give more --runs, or a smaller --to"));
        }
        blocks.push(DocumentBlock::List(notes.into_iter().map(plain).collect()));
        let uses = &row.uses[..row.uses.len().min(top)];
        blocks.extend(table(&use_columns(row), uses, unit));
    }
    blocks
}

/// Returns a sentence on where the answer is exact.
fn certainty(row: &ToleranceRow) -> String {
    let curve = &row.curve;
    let name = curve.parameter.name();
    let [exact, end] = [curve.exact_until, curve.end].map(Time::from_ps);
    if exact == end {
        return format!("exact: no run with {name} up to {end} takes another time than this says");
    }
    let exactly = match curve.exact_until > curve.value {
        true => format!("exact for {name} up to {exact}; above, "),
        false => format!("{name}: "),
    };
    let each = if row.is_whole { "in each piece" } else { "up to each of these" };
    match curve.checks {
        Some(points) => format!(
            "{exactly}checked at {points} points {each}: between them a time is possible that no run showed"
        ),
        None => format!(
            "{exactly}not checked {each}, because the limit of the runs came before: a time is possible that no \
             run showed; give more --runs, or a smaller --to"
        ),
    }
}

/// Returns a sentence on the values at which the time is no maximum of lines.
fn irregular_note(name: &str, values: &[String]) -> String {
    /// Limit of the values that are named.
    const MOST: usize = 4;
    let named = values[..values.len().min(MOST)].join(", ");
    let more = match values.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {} more", thousands(more)),
    };
    format!(
        "the capacity, a port or the order in which messages are received makes the time no maximum of lines: \
         it jumps or bends down at {name} = {named}{more}, found by bisection"
    )
}
