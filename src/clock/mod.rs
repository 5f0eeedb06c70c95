//! Which processor runs when: on the virtual clock, on the wall clock, and on a real machine.

pub(crate) mod agenda;
mod contract;
mod faulty;
pub(crate) mod linked;
mod seat;
mod spread;
pub(crate) mod stacks;
mod sync;
pub(crate) mod virtual_time;
pub(crate) mod wall;
pub(crate) mod watchdog;

pub use contract::ClockKind;
pub(crate) use contract::{Clock, Foreknown};
pub(crate) use faulty::Faulty;
