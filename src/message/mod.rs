//! Messages: payloads, tags, names, and the matching of messages with receives.

mod envelope;
mod filter;
mod id;
pub(crate) mod matching;
mod pack;
mod packed_value;
pub(crate) mod parcel;
mod payload;
mod recv_filter;
mod tag;
mod tag_names;

pub(crate) use envelope::{ArrivedHeader, Envelope, Header, Receiver, SentMessage};
pub use filter::{AnyTag, Filter, TagFrom};
pub use id::MessageId;
pub(crate) use pack::stable_hash;
pub use pack::{Body, Pack, Plain, Slice, Unpack};
pub(crate) use packed_value::PackedValue;
pub use payload::Payload;
pub(crate) use recv_filter::{MatchKey, Matchable, RecvFilter};
pub use tag::Tag;
pub(crate) use tag::{Collective, NamedTag, RawTag};
pub(crate) use tag_names::TagNames;
