//! The report of `loggp tolerance`: a row for each parameter, the pieces of its curve, and the messages whose
//! latency is on the critical path.

use loggp::Time;
use loggp_document::{DocumentBlock, plain};
use loggp_study::analysis::{CurvePiece, LatencyUse};

use super::super::column::Columns;
use super::super::field::Field;
use super::super::formula::formula_columns;
use super::super::number::{Unit, count, percent, thousands};
use super::super::row::{MOST_DECIMALS, level_columns, machine_columns};
use super::{PARTS, ToleranceRow};

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
    columns.add("slope", |row| row.curve.slope).title("on the path");
    columns.add("share", |row| row.curve.share());
    columns.add_to_table("% of the run", |row| 100.0 * row.curve.share());
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
            Some(more) if row.curve.may_bear_more(part) => format!("at least {more} more"),
            Some(more) => format!("{more} more"),
            None if row.curve.is_flat => "any".into(),
            None => format!("over {} more", Time::from_ps(row.curve.end - row.curve.value)),
        });
    }
    columns.add("known_until_ns", |row| Time::from_ps(row.curve.end));
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
    columns
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
    let mut blocks = Vec::new();
    for row in rows {
        let curve = &row.curve;
        let name = curve.parameter.name();
        let mut notes = Vec::new();
        if row.is_whole {
            let shown = &curve.pieces[..curve.pieces.len().min(MOST_PIECES)];
            blocks.extend(piece_columns(&format!("{name} from")).table(shown, unit, MOST_DECIMALS));
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
        if curve.is_flat {
            notes.push(format!("the run does not depend on {name}"));
        }
        if !curve.gaps.is_empty() && row.is_whole {
            let gaps = count(curve.gaps.len(), "range");
            let runs = thousands(curve.runs);
            notes.push(format!("after {runs} runs {gaps} of {name} are not known in full; give more --runs, or a smaller --to"));
        }
        blocks.push(DocumentBlock::List(notes.into_iter().map(plain).collect()));
        let uses = &row.uses[..row.uses.len().min(top)];
        blocks.extend(use_columns(row).table(uses, unit, MOST_DECIMALS));
    }
    blocks
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
