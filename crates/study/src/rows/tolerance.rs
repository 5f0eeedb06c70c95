//! How much more of a parameter runs tolerate, as rows.

use loggp::Time;
use loggp::params::LeveledParams;

use super::formula::formula_columns;
use super::machine::{level_columns, machine_columns};
use super::{Columns, Field};
use crate::analysis::{CurveChecks, CurvePiece, LatencyUse, RunCurve};

/// How much longer the run may become, in per cent.
pub const PARTS: [u32; 3] = [1, 2, 5];

/// What is known about a run along one parameter.
pub struct ToleranceRow<'a> {
    pub input: &'a str,
    pub machine: Option<&'static str>,
    pub machine_params: LeveledParams,
    pub order: RunOrder,
    pub curve: RunCurve,
    /// True if all pieces of the curve are known.
    pub is_whole: bool,
    /// The time at what is tolerated for each of [`PARTS`], where the ranks may act in another order; only of
    /// a curve with all pieces.
    pub free: [Option<Time>; PARTS.len()],
    /// Latencies on the critical path, by the kind of their message; for L, or that of a level.
    pub uses: Vec<LatencyUse<String>>,
    /// What a recorded program did that its schedule does not say.
    pub unseen: Option<UnseenCalls>,
}

/// The order in which each rank acts at all values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOrder {
    /// The order of a schedule on the machine itself.
    Kept,
    /// The order to which each value leads.
    Free,
    /// The order of a recorded run's calls.
    Calls,
}

impl RunOrder {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            RunOrder::Kept => "kept",
            RunOrder::Free => "free",
            RunOrder::Calls => "calls",
        }
    }
}

/// What a recorded program did that its schedule does not say.
#[derive(Clone, Copy)]
pub struct UnseenCalls {
    /// True if other times of messages might have led to another program.
    pub is_open: bool,
    /// Number of calls that are not modelled.
    pub calls: u64,
    /// The part of the recorded time that these calls take, if the recording says it.
    pub share: Option<f64>,
    /// Number of looks for messages that found none, and the part of the recorded time that they take.
    pub vain_looks: u64,
    pub vain_share: f64,
    /// Number of looks that found a message.
    pub found_looks: u64,
}

impl ToleranceRow<'_> {
    /// Returns whether it can be known how much more the run tolerates.
    pub fn is_known(&self) -> bool {
        self.unseen.is_none_or(|unseen| !unseen.is_open)
    }
}

/// Returns the columns of the report, with so many kinds of messages in JSON.
pub fn tolerance_columns<'a>(top: usize) -> Columns<'a, ToleranceRow<'a>> {
    let mut columns = Columns::<ToleranceRow>::new();
    columns.add("input", |row| row.input);
    columns.extend(machine_columns(|row: &ToleranceRow| (row.machine, row.machine_params.params), true));
    columns.extend(level_columns(|row: &ToleranceRow| &*row.machine_params.levels));
    columns.add("order", |row| row.order.name()).json_only();
    columns.add("parameter", |row| row.curve.parameter.name()).title("parameter");
    columns.add("value_ns", |row| Time::from_ps(row.curve.value));
    columns.add_to_table("value", |row| Field::Given(Time::from_ps(row.curve.value)));
    columns.add("time_ns", |row| row.curve.time).title("time");
    columns.add("is_known", |row| Field::Bool(row.is_known()));
    columns.add("slope", |row| if_known(row, row.curve.slope)).title("on path");
    columns.add("share", |row| if_known(row, row.curve.share()));
    columns.add_to_table("% of run", |row| if_known(row, 100.0 * row.curve.share()));
    for (index, part) in PARTS.into_iter().enumerate() {
        let value = move |row: &ToleranceRow| row.curve.tolerated(part).map(Time::from_ps);
        columns.add(format!("bears_{part}_percent.until_ns"), value);
        let more = move |row: &ToleranceRow| {
            row.curve.tolerated(part).map(|value| Time::from_ps(value - row.curve.value))
        };
        columns.add(format!("bears_{part}_percent.more_ns"), more);
        let free = move |row: &ToleranceRow| row.free[index].map_or(Field::Absent, Field::from);
        columns.add(format!("bears_{part}_percent.time_in_free_order_ns"), free).json_only();
        columns.add_to_table(&format!("+{part}% after"), move |row| match more(row) {
            _ if !row.is_known() => "not known".into(),
            Some(more) if row.curve.may_tolerate_more(part) => Field::More("at least ", more),
            Some(more) => Field::More("", more),
            None if row.curve.is_flat => "never".into(),
            None => Field::More("over ", Time::from_ps(row.curve.end - row.curve.value)),
        });
    }
    columns.add("known_until_ns", |row| if_known(row, Time::from_ps(row.curve.end)));
    columns.add("exact_until_ns", |row| if_known(row, Time::from_ps(row.curve.exact_until))).json_only();
    columns.add("certainty", |row| if_known(row, certainty(&[row], &|time| time.to_string()))).json_only();
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

/// Returns a value of a row in which it is known how much more the run tolerates.
fn if_known(row: &ToleranceRow, value: impl Into<Field>) -> Field {
    if row.is_known() { value.into() } else { Field::Null }
}

/// Returns the columns of what a recorded program did that its schedule does not say.
fn unseen_columns<'a>() -> Columns<'a, ToleranceRow<'a>> {
    let mut columns = Columns::<ToleranceRow>::new();
    let mut add = |name: &'static str, value: fn(UnseenCalls) -> Field| {
        columns.add(name, move |row: &ToleranceRow| row.unseen.map_or(Field::Absent, value)).json_only();
    };
    add("not_modelled.calls", |unseen| unseen.calls.into());
    add("not_modelled.share", |unseen| unseen.share.into());
    add("looks.in_vain", |unseen| unseen.vain_looks.into());
    add("looks.in_vain_share", |unseen| unseen.vain_share.into());
    add("looks.found", |unseen| unseen.found_looks.into());
    columns
}

/// Returns the columns of a piece of a curve.
pub fn piece_columns<'a>(title: &str) -> Columns<'a, CurvePiece> {
    let mut columns = Columns::<CurvePiece>::new();
    columns.add("from_ns", |piece| Time::from_ps(piece.from));
    columns.add("until_ns", |piece| Time::from_ps(piece.until));
    columns.add_to_table(title, |piece| Field::Given(Time::from_ps(piece.from)));
    columns.add("time_ns", |piece| piece.time).title("time");
    columns.add("slope", |piece| piece.slope).title("slope");
    columns.add("intercept_ns", |piece| piece.time_at(0));
    columns.extend(formula_columns(|piece: &CurvePiece| &piece.formula));
    columns.add_to_table("critical path", |piece| piece.formula.to_string());
    columns
}

/// Returns the columns of a range that is not known in full.
fn gap_columns<'a>() -> Columns<'a, (i64, i64)> {
    let mut columns = Columns::<(i64, i64)>::new();
    columns.add("from_ns", |(from, _)| Time::from_ps(*from));
    columns.add("until_ns", |(_, until)| Time::from_ps(*until));
    columns
}

/// Returns the columns of a kind of messages.
pub fn use_columns<'a>(row: &ToleranceRow<'a>) -> Columns<'a, LatencyUse<String>> {
    let name = row.curve.parameter.name();
    let time = row.curve.time;
    let share =
        move |uses: &LatencyUse<String>| if time == Time::ZERO { 0.0 } else { uses.time.in_units(time) };
    let mut columns = Columns::<LatencyUse<String>>::new();
    columns.add("what", |uses| uses.kind.clone()).title(&format!("{name} on the critical path"));
    columns.add("count", |uses| uses.count).title("count");
    columns.add("time_ns", |uses| uses.time).title("time");
    columns.add("share", share);
    columns.add_to_table("% of run", move |uses| 100.0 * share(uses));
    columns
}

/// Returns what the sentence on where the answer is exact depends on: whether that is everywhere, or somewhere above
/// the machine's own value, whether a longer proof may say more, and what was checked.
pub fn certainty_kind(row: &ToleranceRow) -> (bool, bool, bool, Option<CurveChecks>) {
    let RunCurve { exact_until, end, value, may_be_proven, checks, .. } = row.curve;
    if exact_until == end {
        return (true, true, false, None);
    }
    (false, exact_until > value, may_be_proven, checks)
}

/// Returns a sentence on where the answer is exact, for rows of one [kind](certainty_kind), with times as `show` has them.
pub fn certainty(rows: &[&ToleranceRow], show: &dyn Fn(Time) -> String) -> String {
    let until = |row: &&ToleranceRow| {
        format!("{} up to {}", row.curve.parameter.name(), show(Time::from_ps(row.curve.exact_until)))
    };
    let until: Vec<String> = rows.iter().map(until).collect();
    let names: Vec<&str> = rows.iter().map(|row| row.curve.parameter.name()).collect();
    let (is_exact, is_exact_first, may_be_proven, checks) = certainty_kind(rows[0]);
    if is_exact {
        return format!("exact: no run with {} takes another time than this says", until.join(", or "));
    }
    let exactly = match is_exact_first {
        true => format!("exact for {}; above, ", until.join(", ")),
        false => format!("{}: ", names.join(", ")),
    };
    let proof = if may_be_proven { "; --prove looks for a proof" } else { "" };
    let (points, each) = match checks {
        Some(CurveChecks::Pieces(points)) => (points, "in each piece"),
        Some(CurveChecks::Tolerated(points)) => (points, "up to each of these values"),
        None => {
            return format!(
                "{exactly}not checked, because the limit of the runs came before: a run may take another time; give \
                 more --runs, or a smaller --to{proof}"
            );
        }
    };
    format!("{exactly}checked at {points} points {each}; between them a run may take another time{proof}")
}

/// Returns the part of the run that the parameters of these rows make up together, if it is more than the whole: then
/// paths are equally long, and each has other parameters on it.
pub fn share_on_ties(rows: &[ToleranceRow]) -> Option<f64> {
    let known = rows.iter().filter(|row| row.is_known());
    let share: f64 = known.map(|row| row.curve.share()).sum();
    Some(share).filter(|share| *share > 1.0 + 1e-9)
}
