//! The subcommands that record, make and play schedules.

pub mod matrix;
pub mod mpi2goal;
pub mod record;
pub mod replay;
pub mod schedule;
pub mod schedule_input;
pub mod schedule_run;
