//! The subcommands that say what there is, and help to begin.

pub(super) mod completions;
pub(super) mod doctor;
pub(super) mod machines;
pub(super) mod man;
pub(super) mod new;
pub(super) mod programs;
pub(super) mod topologies;
