//! The subcommands that say what there is, and help to begin.

pub mod completions;
pub mod doctor;
pub mod machines;
pub mod man;
pub mod new;
pub mod programs;
pub mod topologies;
