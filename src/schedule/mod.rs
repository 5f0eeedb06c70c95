//! Schedules: what every rank of a parallel program sends, receives and computes, and what of it must come first.
//!
//! A schedule has no data and no code, and ranks that do the same share a script, so millions of ranks fit into memory: an
//! operation of a script takes 28 bytes, and a requirement four; while it is played, a rank's operation takes one.

mod builder;
mod desk;
mod early;
mod loggopsim;
mod mail;
mod outcome;
mod papers;
mod player;
mod progress;
mod queue;
mod record;
#[cfg(test)]
mod replay_tests;
mod stored;
mod unmet;

pub use builder::ScheduleBuilder;
pub use outcome::Played;
use outcome::{not_received, stuck};
pub use player::{Player, Rules};
use stored::{Kind, Packed};
pub use stored::{Operation, Placed, Requirement, Schedule, ScheduleError};
