//! The events of a run in order, the causes of each, and the critical path through them.

mod blockers;
mod walk;

pub use crate::trace::events::{Event, Events, Track};
pub use walk::{Hop, HopKind, HopTerm, Path};
pub(crate) use walk::{Walk, WalkPosition, last_event};
