//! The report of `loggp tolerance` below the table of parameters: the pieces of curves, and the messages whose
//! latency is on the critical path.

use std::cmp::Reverse;

use loggp::Time;
use loggp_document::{DocumentBlock, plain};
use loggp_schedule::program::{ProgramSchedule, Unmodelled, Unseen};
use loggp_study::rows::tolerance::{
    ToleranceRow, UnseenCalls, certainty, certainty_kind, piece_columns, share_on_ties, use_columns,
};

use crate::number::{Unit, count, percent, thousands};
use crate::tell::table::table;

/// Limit of the pieces that a table lists.
const MOST_PIECES: usize = 24;

/// Returns what the program did that its schedule does not say.
pub(super) fn unseen_calls(program: &ProgramSchedule) -> UnseenCalls {
    let Unseen { vain_looks, vain_ns, found_looks, .. } = program.unseen;
    UnseenCalls {
        is_open: program.unseen.is_open(),
        calls: sum_of_calls(&program.unseen),
        share: share_of_calls(program),
        vain_looks,
        vain_share: program.share_of_time(vain_ns as f64),
        found_looks,
    }
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

/// Returns the blocks below the table of the parameters.
pub(super) fn blocks(
    rows: &[ToleranceRow],
    (program, order_note): (Option<&ProgramSchedule>, Option<&str>),
    unit: Unit,
    top: usize,
) -> Vec<DocumentBlock> {
    let mut notes = program.map_or_else(Vec::new, unseen_notes);
    notes.extend(order_note.map(String::from));
    notes.extend(tie_note(rows));
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
            curve.irregular().map(|piece| unit.show(Time::from_ps(piece.from))).collect();
        if !irregular.is_empty() {
            notes.push(irregular_note(name, &irregular));
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
    blocks.push(DocumentBlock::List(certainties(rows, unit).into_iter().map(plain).collect()));
    blocks
}

/// Returns a sentence on percentages that are more than the run together.
fn tie_note(rows: &[ToleranceRow]) -> Option<String> {
    let share = 100.0 * share_on_ties(rows)?;
    Some(format!(
        "two paths are equally long, and each has other parameters on it: the percentages count both, {share:.0}% together"
    ))
}

/// Returns sentences on which parameters do not matter, and on where the answer is exact, each once.
fn certainties(rows: &[ToleranceRow], unit: Unit) -> Vec<String> {
    let known = || rows.iter().filter(|row| row.is_known());
    let flat: Vec<&str> =
        known().filter(|row| row.curve.is_flat).map(|row| row.curve.parameter.name()).collect();
    let mut notes = Vec::new();
    if !flat.is_empty() {
        notes.push(format!("the run does not depend on {}", flat.join(", ")));
    }
    let mut kinds: Vec<_> = known().map(certainty_kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds.into_iter().rev() {
        let rows: Vec<&ToleranceRow> = known().filter(|row| certainty_kind(row) == kind).collect();
        notes.push(certainty(&rows, &|time| unit.show(time)));
    }
    notes
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
        "the time is not a smooth function of {name}: it jumps, or grows more slowly, at {name} = {named}{more}, because of the \
         capacity, a port or the order in which messages are received (found by bisection)"
    )
}
