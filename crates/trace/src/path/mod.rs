//! The events of a run in order, the causes of each, and the critical path through the run.

mod blockers;
mod events;
mod formula;
pub(crate) mod index;
mod message_kind;
mod walk;

pub use events::all_events;
pub(crate) use events::sorted_events;
pub use events::{Event, Events, Track};
pub use formula::{Formula, FormulaBuilder};
pub use index::{EventIndex, partition_index};
pub use message_kind::MessageKind;
pub use walk::Walk;
pub use walk::WalkPosition;
pub use walk::last_event;
pub use walk::{Hop, HopKind, HopTerm, Path};
