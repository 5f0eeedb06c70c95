//! The rules of the machine: the costs of a message between processors, the times at which a processor
//! can act, and the decisions that the model leaves open.

pub mod choice;
pub mod engine;
pub mod message_wait;
pub mod network;
mod noise;
pub mod operation;
pub mod rank;
mod stats;

pub use stats::Stats;
