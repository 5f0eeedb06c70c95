//! The subcommands that record, make and play schedules.

pub(super) mod emulate;
pub(super) mod matrix;
pub(super) mod mpi2goal;
pub(super) mod record;
pub(super) mod replay;
pub(super) mod schedule;
pub(super) mod schedule_input;
pub(super) mod schedule_run;
