//! The rules of the machine: what a message costs between processors, what a processor does when, and what settles that
//! which the model leaves open.

pub(crate) mod choice;
pub(crate) mod network;
pub(crate) mod node;
mod stats;
mod traffic;

pub use stats::Stats;
pub use traffic::Traffic;
