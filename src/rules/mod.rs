//! The rules of the machine: what a message costs between processors, what a processor does when, and what settles that
//! which the model leaves open.

mod capacity;
pub(crate) mod choice;
pub(crate) mod engine;
pub(crate) mod network;
pub(crate) mod operation;
pub(crate) mod pace;
pub(crate) mod reception;
mod stats;
mod stretches;
mod traffic;

pub use stats::Stats;
pub use traffic::Traffic;
