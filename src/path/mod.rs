//! What happened in a run in order, and what each of it waited for: so the critical path.

mod causes;
mod events;
mod walk;

pub use events::{Event, Events, Track};
pub(crate) use walk::{At, Walk, end};
pub use walk::{Cost, Hop, Part, Path};
