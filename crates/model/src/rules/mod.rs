//! The rules of the machine: the costs of a message between processors, the times at which a processor
//! can act, and the decisions that the model leaves open.

mod busy_intervals;
mod capacity;
pub mod choice;
pub mod drive;
pub mod engine;
pub mod judge;
pub mod message_wait;
pub mod network;
mod noise;
pub mod operation;
pub mod rank;
pub mod read;
mod rooms;
mod stats;
mod traffic;

pub use stats::Stats;
pub use traffic::Traffic;
