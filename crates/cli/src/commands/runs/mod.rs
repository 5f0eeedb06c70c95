//! The subcommands that run programs and measure.

pub mod calibrate;
pub mod check;
pub mod compare;
pub mod cores;
pub mod details;
pub mod expectation;
pub mod experiment;
pub mod map;
pub mod merge;
pub mod reproduce;
pub mod run;
pub mod stress;
pub mod sweep;
pub mod trend;
pub mod tune;
