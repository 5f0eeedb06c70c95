//! Which processor runs when, on the virtual clock and on the wall clock.

pub(crate) mod agenda;
mod contract;
mod seat;
pub(crate) mod stacks;
mod sync;
pub(crate) mod virtual_time;
pub(crate) mod wall;
pub(crate) mod watchdog;

pub use contract::ClockKind;
pub(crate) use contract::{Clock, Foreknown};
