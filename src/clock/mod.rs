//! Clocks, which decide which processor runs when: the virtual clock, the wall clock, and that of a real
//! machine.

pub(crate) mod agenda;
mod assignment;
mod contract;
mod faulty;
pub(crate) mod linked;
mod seat;
pub(crate) mod stacks;
mod sync;
pub(crate) mod virtual_time;
pub(crate) mod wall;
pub(crate) mod watchdog;

pub use contract::ClockKind;
pub(crate) use contract::RunInfo;
pub(crate) use faulty::FaultyClock;
