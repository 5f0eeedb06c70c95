//! The rules of the machine: what a message costs between processors, when a processor can do what, and how a run settles
//! what the model leaves open.

mod capacity;
pub(crate) mod choice;
pub(crate) mod engine;
pub(crate) mod network;
mod noise;
pub(crate) mod operation;
pub(crate) mod pace;
pub(crate) mod reception;
mod stats;
mod stretches;
mod traffic;

pub use stats::Stats;
pub use traffic::Traffic;
