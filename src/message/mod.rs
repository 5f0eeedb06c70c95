//! Messages: what can be sent, what it is about, what it is called, and what travels.

mod envelope;
mod id;
pub(crate) mod matching;
pub(crate) mod parcel;
mod payload;
mod tag;

pub(crate) use envelope::{Envelope, Letter, Want};
pub use id::MessageId;
pub use payload::Payload;
pub use tag::Tag;
pub(crate) use tag::{Collective, RawTag};
