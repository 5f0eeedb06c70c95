//! The rules of the machine: the costs of a message between processors, the times at which a processor
//! can act, and the decisions that the model leaves open.

mod busy_intervals;
mod capacity;
pub(crate) mod choice;
pub(crate) mod engine;
pub(crate) mod judge;
pub(crate) mod message_wait;
pub(crate) mod network;
mod noise;
pub(crate) mod operation;
pub(crate) mod pace;
mod rooms;
mod stats;
mod traffic;

pub use stats::Stats;
pub use traffic::Traffic;
