//! Messages: payloads, tags, names, and the matching of messages with receives.

mod envelope;
mod id;
pub(crate) mod matching;
mod tag_names;
mod pack;
mod packed_value;
pub(crate) mod parcel;
mod payload;
mod tag;
mod filter;
mod recv_filter;

pub(crate) use envelope::{Envelope, SentMessage, Header, Receiver, ArrivedHeader};
pub use id::MessageId;
pub(crate) use tag_names::TagNames;
pub(crate) use pack::stable_hash;
pub use pack::{Body, Pack, Plain, Slice, Unpack};
pub(crate) use packed_value::PackedValue;
pub use payload::Payload;
pub use tag::Tag;
pub(crate) use tag::{Collective, NamedTag, RawTag};
pub use filter::{AnyTag, Filter, TagFrom};
pub(crate) use recv_filter::{MatchKey, Matchable, RecvFilter};
