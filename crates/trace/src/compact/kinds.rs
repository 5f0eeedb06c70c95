//! The numbers of kinds of activities, calls and waits in a compact file.

use std::borrow::Cow;
use std::io::{Error, Result};
use std::mem::discriminant;
use std::sync::LazyLock;

use loggp_model::message::MessageId;
use loggp_model::time::Time;

use crate::ActivityKind;
use crate::{CallKind, CallTag, Rendezvous, SendRecv, Transfer, Until};

/// A type whose values are of several kinds, each with a number.
pub(super) trait KindNumber: Clone + 'static {
    /// Start of the error about a number that no kind has; the number follows.
    const NONE: &'static str;

    /// Returns a blank value of each kind, in the order of their numbers.
    fn all() -> &'static [Self];

    /// Returns whether two values are of the same kind.
    fn is_same_kind(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other)
    }

    /// Returns the number of this value's kind.
    fn number(&self) -> u8 {
        let index = Self::all().iter().position(|kind| kind.is_same_kind(self));
        index.expect("all kinds are there") as u8
    }

    /// Makes this a blank value of the kind with this number, unless it is of that kind already.
    fn set_kind(&mut self, number: u8) -> Result<()> {
        if self.number() != number {
            let kind = Self::all().get(usize::from(number)).cloned();
            *self = kind.ok_or_else(|| Error::other(format!("{} {number}", Self::NONE)))?;
        }
        Ok(())
    }
}

// Parts of blank values.
pub(super) const ID: MessageId = MessageId { from: 0, number: 0 };
pub(super) const TAG: CallTag = CallTag { number: 0, name: None };
pub(super) const TRANSFER: Transfer = Transfer { message: ID, rendezvous: None };
pub(super) const RENDEZVOUS: Rendezvous = Rendezvous { request: ID, reply: ID };

impl KindNumber for ActivityKind {
    const NONE: &'static str = "a processor does nothing that has number";

    fn all() -> &'static [ActivityKind] {
        static ALL: [ActivityKind; 10] = [
            ActivityKind::Work(Cow::Borrowed("")),
            ActivityKind::Send(ID),
            ActivityKind::Receive(ID),
            ActivityKind::Gap,
            ActivityKind::Stall,
            ActivityKind::Port,
            ActivityKind::Idle,
            ActivityKind::Barrier,
            ActivityKind::Post(0),
            ActivityKind::Wait(0),
        ];
        &ALL
    }
}

impl KindNumber for CallKind {
    const NONE: &'static str = "a program calls nothing that has number";

    fn all() -> &'static [CallKind] {
        static ALL: LazyLock<[CallKind; 14]> = LazyLock::new(|| {
            let both = SendRecv { to: 0, from: 0, tag: TAG, bytes: 0, sent: TRANSFER, received: TRANSFER };
            [
                CallKind::Work(Cow::Borrowed("")),
                CallKind::WaitUntil(Time::ZERO),
                CallKind::Send { to: 0, tag: TAG, bytes: 0, sent: TRANSFER },
                CallKind::Receive { from: None, tag: TAG, until: Until::Arrival, received: None },
                CallKind::SendRecv(Box::new(both)),
                CallKind::Probe { from: None, tag: TAG, found: None },
                CallKind::Barrier,
                CallKind::Isend { request: 0, to: 0, tag: TAG, bytes: 0 },
                CallKind::Irecv { request: 0, from: None, tag: TAG },
                CallKind::Wait { request: 0, is_send: true, transfer: TRANSFER },
                CallKind::Wait { request: 0, is_send: false, transfer: TRANSFER },
                CallKind::Test { request: 0 },
                CallKind::OneSided { to: 0, bytes: 0, back: None, request: None, sent: None },
                CallKind::Flush { to: None },
            ]
        });
        &*ALL
    }

    fn is_same_kind(&self, other: &CallKind) -> bool {
        match (self, other) {
            (CallKind::Wait { is_send, .. }, CallKind::Wait { is_send: other, .. }) => is_send == other,
            _ => discriminant(self) == discriminant(other),
        }
    }
}

impl KindNumber for Until {
    const NONE: &'static str = "no receive waits like";

    fn all() -> &'static [Until] {
        &[Until::Arrival, Until::Moment(Time::ZERO), Until::GapOver]
    }
}
