//! The subcommands that run programs and measure.

pub(super) mod calibrate;
pub(super) mod check;
pub(super) mod compare;
pub(super) mod cores;
pub(super) mod details;
pub(super) mod expectation;
pub(super) mod experiment;
pub(super) mod map;
pub(super) mod merge;
pub(super) mod run;
pub(super) mod stress;
pub(super) mod sweep;
pub(super) mod trend;
pub(super) mod tune;
