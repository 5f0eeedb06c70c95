//! The events of a run in order, the causes of each, and the critical path through them.

mod blockers;
mod events;
mod walk;

pub use events::{Event, Events, Track};
pub(crate) use walk::{WalkPosition, Walk, last_event};
pub use walk::{HopTerm, Hop, HopKind, Path};
