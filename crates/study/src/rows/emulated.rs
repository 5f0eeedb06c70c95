//! MPI programs that ran on the machine, as rows.

use loggp::params::LeveledParams;
use loggp::{Noise, Ports, Run, Stats, Time};

use super::Columns;
use super::machine::{level_columns, machine_columns};

/// A program whose ranks were processors of a machine.
pub struct EmulatedProgram<'a> {
    pub program: &'a str,
    /// Name of the machine, if it has one.
    pub machine: Option<&'static str>,
    pub machine_params: LeveledParams,
    pub ports: Ports,
    pub noise: Option<&'a Noise>,
    pub clock: String,
    pub run: Run<()>,
    /// The time that the emulation took.
    pub took: Time,
}

impl EmulatedProgram<'_> {
    fn sum(&self, of: impl Fn(&Stats) -> Time) -> Time {
        self.run.processors.iter().map(of).sum()
    }

    /// Returns the mean of a rank's account.
    fn mean(&self, of: impl Fn(&Stats) -> Time) -> Time {
        self.sum(of) / self.run.processors.len().max(1) as i64
    }
}

/// Returns the columns of programs that ran on the machine.
pub fn emulated_columns<'a>() -> Columns<'a, EmulatedProgram<'a>> {
    let mut columns = Columns::<EmulatedProgram>::new();
    let count =
        |of: fn(&Stats) -> u64| move |row: &EmulatedProgram| row.run.processors.iter().map(of).sum::<u64>();
    columns.add("program", |row| row.program);
    columns.extend(machine_columns(|row: &EmulatedProgram| (row.machine, row.machine_params.params), true));
    columns.add("cycle_ns", |row| row.machine_params.params.cycle);
    columns.extend(level_columns(|row: &EmulatedProgram| &*row.machine_params.levels));
    columns.add("ports", |row| row.ports.to_string());
    columns.add("noise", |row| row.noise.map(Noise::to_string));
    columns.add("clock", |row| row.clock.clone());
    columns.add("ranks", |row| row.run.processors.len()).title("ranks");
    columns.add("time_ns", |row| row.run.time).title("time");
    columns.add("model_ns", |row| row.run.model);
    columns.add("mean.work_ns", |row| row.mean(|stats| stats.work)).title("work");
    columns.add("mean.send_ns", |row| row.mean(|stats| stats.send)).title("send");
    columns.add("mean.recv_ns", |row| row.mean(|stats| stats.recv)).title("receive");
    columns.add("mean.gap_ns", |row| row.mean(|stats| stats.gap)).title("gap").optional();
    columns.add("mean.stall_ns", |row| row.mean(|stats| stats.stall)).title("stall").optional();
    columns.add("mean.port_ns", |row| row.mean(|stats| stats.port)).title("port").optional();
    columns.add("mean.idle_ns", |row| row.mean(|stats| stats.idle)).title("idle");
    columns.add("messages", count(|stats| stats.sent)).title("messages");
    columns.add("words", count(|stats| stats.words_sent));
    columns.add("stalls.count", count(|stats| stats.stalls)).title("stalls");
    columns.add("stalls.ns", |row| row.sum(|stats| stats.stall));
    let late = |row: &EmulatedProgram| row.run.host.as_ref().map(|host| host.lateness.max);
    columns.add("late_ns", late).title("late").optional();
    columns.add("took_ns", |row| row.took);
    columns
}
