//! Schedules: the sends, receives and computations of every rank of a parallel program, and their order.
//!
//! A schedule has no data and no code, and equal ranks share a script, so millions of ranks fit into memory:
//! an operation of a script takes twelve bytes, a message that differs from those before it 24 more, and a
//! requirement four; during a play, each operation of each rank takes one more byte.

#![allow(non_snake_case)] // P is the papers' name

mod acts;
mod builder;
mod early;
mod kept;
mod lists;
mod loggopsim;
mod matching;
#[doc(hidden)]
pub mod memory;
mod operations;
mod outcome;
mod papers;
mod player;
pub mod program;
mod progress;
#[cfg(test)]
mod replay_tests;
#[doc(hidden)]
pub mod rounds;
mod sort;
mod storage;
mod traffic;
mod unmatched;
mod watch;

pub use builder::ScheduleBuilder;
#[doc(hidden)]
pub use kept::{KeptChoices, Side};
pub use kept::{KeptOrder, KeptRun};
use operations::{OperationKind, PackedOperation};
pub use outcome::PlayReport;
pub use player::{CostModel, Player};
pub use storage::{Operation, PlacedOperation, Requirement, Schedule, ScheduleError};
pub use traffic::Traffic;
pub use watch::Beginning;
