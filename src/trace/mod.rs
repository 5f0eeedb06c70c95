//! Traces: the calls and activities of every processor in a run, and the way of every message.

mod bound;
mod call;
mod chrome;
mod compact;
mod error;
mod faults;
pub(crate) mod kinds;
mod log;
mod machine;
mod read;
mod record;

pub use call::{Call, CallKind, CallTag, Rendezvous, SendRecv, Transfer, Until};
pub(crate) use call::{CallMessages, CallParts, send_after_gap};
pub use error::TraceError;
pub use faults::Faults;
pub(crate) use log::Log;
pub use record::{Activity, ActivityKind, Caption, Message, Progress, Trace};

#[cfg(test)]
pub(crate) mod tests;
