//! Calls as JSON. Each type here mirrors one of the trace's, so that the trace can change and the file stays
//! the same.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::message::MessageId;
use crate::text::escaped;
use crate::time::Time;
use crate::trace::call::{CallKind, CallTag, Rendezvous, SendRecv, Transfer, Until};

/// A [`CallKind`] in a file.
#[derive(Serialize, Deserialize)]
#[serde(remote = "CallKind", rename_all = "snake_case")]
pub(super) enum CallText {
    Work(Cow<'static, str>),
    WaitUntil(#[serde(with = "ps")] Time),
    Send {
        to: usize,
        #[serde(with = "TagText")]
        tag: CallTag,
        bytes: usize,
        #[serde(with = "TransferText")]
        sent: Transfer,
    },
    Receive {
        from: Option<usize>,
        #[serde(with = "TagText")]
        tag: CallTag,
        #[serde(with = "UntilText")]
        until: Until,
        #[serde(rename = "got", default, skip_serializing_if = "Option::is_none", with = "transfer")]
        received: Option<Transfer>,
    },
    SendRecv(
        #[serde(serialize_with = "SendRecvText::serialize", deserialize_with = "send_recv")] Box<SendRecv>,
    ),
    Probe {
        from: Option<usize>,
        #[serde(with = "TagText")]
        tag: CallTag,
        #[serde(rename = "saw")]
        found: Option<usize>,
    },
    Barrier,
    Isend {
        request: u32,
        to: usize,
        #[serde(with = "TagText")]
        tag: CallTag,
        bytes: usize,
    },
    Irecv {
        request: u32,
        from: Option<usize>,
        #[serde(with = "TagText")]
        tag: CallTag,
    },
    Wait {
        request: u32,
        #[serde(rename = "sends")]
        is_send: bool,
        #[serde(with = "TransferText")]
        transfer: Transfer,
    },
    Test {
        request: u32,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SendRecv")]
struct SendRecvText {
    to: usize,
    from: usize,
    #[serde(with = "TagText")]
    tag: CallTag,
    bytes: usize,
    #[serde(with = "TransferText")]
    sent: Transfer,
    #[serde(rename = "got", with = "TransferText")]
    received: Transfer,
}

fn send_recv<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<SendRecv>, D::Error> {
    SendRecvText::deserialize(deserializer).map(Box::new)
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Transfer")]
struct TransferText {
    #[serde(with = "IdText")]
    message: MessageId,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rendezvous")]
    rendezvous: Option<Box<Rendezvous>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Rendezvous")]
struct RendezvousText {
    #[serde(with = "IdText")]
    request: MessageId,
    #[serde(with = "IdText")]
    reply: MessageId,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "MessageId")]
struct IdText {
    from: usize,
    number: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Until", rename_all = "snake_case")]
enum UntilText {
    #[serde(rename = "come")]
    Arrival,
    Moment(#[serde(with = "ps")] Time),
    GapOver,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CallTag")]
struct TagText {
    #[serde(with = "hex")]
    number: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'static, str>>,
}

/// A time in ps.
mod ps {
    use super::*;

    pub(super) fn serialize<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(time.as_ps())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        i64::deserialize(deserializer).map(Time::from_ps)
    }
}

/// A tag's number, as text, because viewers that save a file again round large numbers.
mod hex {
    use super::*;

    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{number:x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        let refusal = || {
            D::Error::custom(format_args!("a tag's number is {:?}, and no hexadecimal one", escaped(&text)))
        };
        u64::from_str_radix(&text, 16).map_err(|_| refusal())
    }
}

/// An optional value that the file leaves out if it is `None`.
macro_rules! if_there {
    ($name:ident: $type:ty as $text:ident) => {
        mod $name {
            use super::*;

            pub(super) fn serialize<S: Serializer>(
                it: &Option<$type>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                match it {
                    Some(it) => $text::serialize(it, serializer),
                    None => serializer.serialize_none(),
                }
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<$type>, D::Error> {
                $text::deserialize(from).map(|it| Some(it.into()))
            }
        }
    };
}

if_there!(transfer: Transfer as TransferText);
if_there!(rendezvous: Box<Rendezvous> as RendezvousText);
