//! The log of a run: what its processors called, did and sent.

mod call;
mod faults;
mod indexed;
pub mod kinds;
#[expect(clippy::module_inception)] // the file has `Log`, for which the folder is named
mod log;
mod record;

pub use call::{Call, CallKind, CallMessages, CallParts, CallTag, Rendezvous, SendRecv, Transfer, Until};
pub use faults::Faults;
pub use indexed::{IndexedEvent, IndexedKind};
pub use log::Log;
pub use record::{Activity, ActivityKind, Message, Progress, Records};
