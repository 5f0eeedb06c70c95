//! What was tried in tuning, as rows.

use loggp::Time;
use loggp::params::LeveledParams;

use super::machine::{level_columns, machine_columns};
use super::{Columns, Field};
use crate::tuning::Candidate;

/// A case that was tried.
pub struct TuneRow {
    pub machine: Option<&'static str>,
    pub candidate: Candidate,
    pub time: Time,
    /// The part of the fastest one's time by which it takes longer.
    pub slower: f64,
    /// The command that runs it.
    pub command: String,
}

/// A way to do a collective, as a pattern of schedules.
pub struct PatternRow {
    /// Name of the machine, if it has one.
    pub machine: Option<&'static str>,
    pub machine_params: LeveledParams,
    pub pattern: String,
    /// The algorithm that ran, where that is another one: what a library chooses, or what stands in for an algorithm that
    /// cannot do it with so many ranks or so few bytes.
    pub ran: Option<String>,
    pub size: usize,
    pub time: Time,
    pub slower: f64,
    pub command: String,
}

impl TuneRow {
    /// Returns the algorithm with its options.
    pub fn name(&self) -> String {
        let choices: Vec<String> = self.candidate.choices.iter().map(ToString::to_string).collect();
        let with = if choices.is_empty() { "" } else { " with " };
        format!("{}{with}{}", self.candidate.case.algorithm.name, choices.join(", "))
    }
}

/// Returns the columns of cases that were tried.
pub fn tune_columns() -> Columns<'static, TuneRow> {
    let mut columns = Columns::<TuneRow>::new();
    columns.add("program", |row| row.candidate.case.program.name);
    columns.add("algorithm", |row| row.candidate.case.algorithm.name).title("algorithm");
    columns.extend(machine_columns(|row: &TuneRow| (row.machine, row.candidate.case.params), true));
    columns.add("size", |row| row.candidate.case.size);
    let choices = |row: &TuneRow| match &row.candidate.choices[..] {
        [] => Field::Null,
        choices => choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(",").into(),
    };
    columns.add("choices", choices).title("options").optional();
    columns.add("formula_ns", |row| row.candidate.formula()).title("formula");
    columns.add("model_ns", |row| row.candidate.model).title("model");
    columns.add("time_ns", |row| row.time);
    columns.add("slower", |row| Field::Error(row.slower)).title("slower by");
    columns
        .add("verified", |row| row.candidate.model.map(|_| Field::Verified(row.candidate.wrong.is_none())));
    columns.add("command", |row| row.command.clone());
    columns
}

/// Returns the columns of ways to do a collective.
pub fn pattern_columns() -> Columns<'static, PatternRow> {
    let mut columns = Columns::<PatternRow>::new();
    columns.add("schedule", |row| row.pattern.clone()).title("pattern");
    columns.add("ran", |row| row.ran.clone()).title("what ran").optional();
    columns.extend(machine_columns(|row: &PatternRow| (row.machine, row.machine_params.params), true));
    columns.extend(level_columns(|row: &PatternRow| &*row.machine_params.levels));
    columns.add("size", |row| row.size);
    columns.add("time_ns", |row| row.time).title("time");
    columns.add("slower", |row| Field::Error(row.slower)).title("slower by");
    columns.add("command", |row| row.command.clone());
    columns
}
