//! Messages: what can be sent, what it is about, what it is called, and what travels.

mod envelope;
mod id;
pub(crate) mod matching;
mod names;
mod pack;
mod packed;
pub(crate) mod parcel;
mod payload;
mod tag;
mod want;

pub(crate) use envelope::{Envelope, Letter, Outside, Receiver, Seen};
pub use id::MessageId;
pub(crate) use names::Names;
pub(crate) use pack::number_of;
pub use pack::{Body, Pack, Plain, Slice, Unpack};
pub(crate) use packed::Packed;
pub use payload::Payload;
pub use tag::Tag;
pub(crate) use tag::{Collective, NamedTag, RawTag};
pub(crate) use want::{Key, Matched, Want};
