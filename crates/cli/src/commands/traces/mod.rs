//! The subcommands that look into recorded runs.

pub mod accounting;
pub mod analyze;
pub mod audit;
pub mod bars;
pub mod timeline;
pub mod tolerance;
pub mod trace2goal;
