//! What happened in a run: what every processor called and did when, and how every message travelled.

mod bound;
mod call;
mod chrome;
mod compact;
mod error;
mod faults;
mod machine;
mod read;
mod record;

pub use call::{Call, CallKind, CallTag, Rendezvous, SendRecv, Transfer, Until};
pub(crate) use call::{Parts, send_after_gap};
pub use error::TraceError;
pub use faults::Faults;
pub(crate) use record::Log;
pub use record::{Activity, ActivityKind, Caption, Message, Progress, Trace};

#[cfg(test)]
pub(crate) mod tests;
