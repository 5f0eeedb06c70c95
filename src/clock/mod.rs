//! Clocks, which decide which processor runs when: the virtual clock, the wall clock, and that of a real
//! machine.

mod assignment;
mod faulty;
pub(crate) mod linked;
pub(crate) mod program_clock;
mod run_info;
mod seat;
pub(crate) mod stacks;
mod sync;
pub(crate) mod virtual_time;
pub(crate) mod wall;
pub(crate) mod watchdog;

pub(crate) use faulty::FaultyClock;
pub(crate) use program_clock::ProgramClock;
pub use run_info::ClockKind;
pub(crate) use run_info::{RunEnd, RunInfo, RunOutcome, StackSettings};
