//! The rules of the machine: what a message costs between processors, when a processor can act, and how a run
//! decides what the model leaves open.

mod busy_intervals;
mod capacity;
pub(crate) mod choice;
pub(crate) mod engine;
pub(crate) mod network;
mod noise;
pub(crate) mod operation;
pub(crate) mod pace;
pub(crate) mod reception;
mod stats;
mod traffic;

pub use stats::Stats;
pub use traffic::Traffic;
