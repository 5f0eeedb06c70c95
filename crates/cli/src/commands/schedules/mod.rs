//! The subcommands that record, make and play schedules.

#[cfg_attr(not(target_os = "linux"), path = "emulate_elsewhere.rs")]
pub(super) mod emulate;
pub(super) mod matrix;
pub(super) mod mpi2goal;
pub(super) mod record;
pub(super) mod replay;
pub(super) mod schedule;
pub(super) mod schedule_input;
pub(super) mod schedule_run;
