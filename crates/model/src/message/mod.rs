//! Messages: payloads, tags, names, and the matching of messages with receives.

mod filter;
mod id;
pub mod matching;
mod pack;
mod packed_value;
pub mod parcel;
mod payload;
mod recv_filter;
mod sent;
mod tag;
mod tag_names;

pub use filter::{AnyTag, Filter, TagFrom, WithSender};
pub use id::MessageId;
pub use pack::stable_hash;
pub use pack::{Body, Pack, Plain, Slice, Unpack};
pub use packed_value::PackedValue;
pub use payload::Payload;
pub use recv_filter::MatchKey;
pub use recv_filter::Matchable;
pub use recv_filter::RecvFilter;
pub use sent::{ArrivedHeader, ArrivedMessage, Header, Receiver, SentMessage};
pub use tag::Collective;
pub(crate) use tag::NamedTag;
pub use tag::RawTag;
pub use tag::Tag;
pub use tag_names::TagNames;
