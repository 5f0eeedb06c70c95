//! Messages: what can be sent, what it is about, and what travels.

mod envelope;
mod payload;
mod tag;

pub(crate) use envelope::{Envelope, Letter, Want};
pub use payload::Payload;
pub use tag::Tag;
pub(crate) use tag::{Collective, RawTag};
