//! The events of a run in order, the causes of each, and the critical path through them.

mod blockers;
mod events;
mod formula;
pub(crate) mod index;
mod walk;

pub use events::{Event, Events, Track};
pub(crate) use events::{all_events, sorted_events};
pub use formula::{Formula, FormulaBuilder};
pub(crate) use index::{EventIndex, IndexedEvent, IndexedKind};
pub use walk::{Hop, HopKind, HopTerm, Path};
pub(crate) use walk::{Walk, WalkPosition, last_event};
