//! The subcommands that make and play schedules.

pub(super) mod matrix;
pub(super) mod replay;
pub(super) mod schedule;
pub(super) mod schedule_input;
pub(super) mod schedule_run;
