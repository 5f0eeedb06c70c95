//! Schedules that were played, as rows.

use loggp::params::LeveledParams;
use loggp::schedule::{CostModel, PlayReport, Schedule};
use loggp::{Noise, Ports};

use super::formula::FormulaSweep;
use super::machine::{level_columns, machine_columns};
use super::{Columns, Field};

/// Limit of the ranks whose finishing times are shown.
pub const MOST_SHOWN: usize = 16;

/// A schedule that was played.
pub struct PlayedSchedule<'a> {
    pub name: &'a str,
    pub schedule: &'a Schedule,
    /// Name of the machine, if it has one.
    pub machine: Option<&'static str>,
    pub machine_params: LeveledParams,
    pub ports: Ports,
    pub rules: CostModel,
    pub noise: Option<&'a Noise>,
    pub play_report: PlayReport,
    /// The runs along a parameter.
    pub sweep: Option<FormulaSweep>,
}

/// Returns the columns of schedules that were played, without the runs along a parameter.
pub fn played_columns<'a>() -> Columns<'a, PlayedSchedule<'a>> {
    let mut columns = Columns::<PlayedSchedule>::new();
    columns.add("schedule", |row| row.name);
    columns.extend(machine_columns(|row: &PlayedSchedule| (row.machine, row.machine_params.params), true));
    columns.add("cycle_ns", |row| row.machine_params.params.cycle);
    columns.extend(level_columns(|row: &PlayedSchedule| &*row.machine_params.levels));
    columns.add("ports", |row| row.ports.to_string());
    columns.add("rules", |row| row.rules.to_string());
    columns.add("noise", |row| row.noise.map(Noise::to_string));
    columns.add("ranks", |row| row.play_report.finishes.len()).title("ranks");
    columns.add("operations", |row| row.schedule.len()).title("operations");
    columns.add("requirements", |row| row.schedule.requirements());
    columns.add("time_ns", |row| row.play_report.time).title("time");
    columns.add("messages", |row| row.play_report.messages).title("messages");
    columns.add("stalls.count", |row| row.play_report.stalls).title("stalls");
    columns.add("stalls.ns", |row| row.play_report.stall_time).title("stalled").optional();
    columns.add("events", |row| row.play_report.events).title("events");
    let finishes = |row: &PlayedSchedule| match &row.play_report.finishes {
        finishes if finishes.len() > MOST_SHOWN => Field::Absent,
        finishes => Field::Times(finishes.clone()),
    };
    columns.add("finishes_ns", finishes).json_only();
    columns
}
