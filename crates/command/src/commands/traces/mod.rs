//! The subcommands that look into recorded runs.

pub(super) mod accounting;
pub(super) mod analyze;
pub(super) mod audit;
pub(super) mod bars;
pub(super) mod timeline;
pub(super) mod tolerance;
pub(super) mod trace2goal;
