//! The kinds of capacity: what limits the messages in transit, and until when one is.
//!
//! - `ends.rs`: at most C from a processor and C to it, each until it arrives, so that all ends are known and a
//!   way is reserved;
//! - `rooms.rs`: the same until a message is received, which nobody knows in advance;
//! - `credits.rs`: C from a sender to each receiver, until word of the arrival is back.
//!
//! A further kind is a file here, a value of [`Capacity`] with what it refuses, and a limit in [`Limits`]. `room.rs` is
//! the room that a message reserves.

mod credits;
mod ends;
mod room;
mod rooms;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use self::credits::{Credits, CreditsInUse};
pub(super) use self::ends::Occupancy;
pub(super) use self::room::Room;
pub(crate) use self::rooms::Admitted;
use self::rooms::Rooms;
use crate::message::MessageId;
use crate::params::{Params, ParamsError};
use crate::text::names;
use crate::time::Time;
use crate::transport::judge::Judge;

names!(Capacity: "arrived" Arrived "received" Received "credits" Credits);

/// The moment until which a message is in transit, and what it shares its room with, where at most C are: see
/// [`Params::capacity`](crate::params::Params::capacity).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Capacity {
    /// Until it arrives.
    #[default]
    Arrived,
    /// Until its reception starts: a receiver that does not keep up holds its senders back.
    Received,
    /// Until its credit is back, L after its arrival: a sender has C credits for each receiver.
    Credits,
}

impl Capacity {
    /// The values by name, with what each means.
    #[doc(hidden)]
    pub const MEANINGS: &[(&str, &str)] = &[
        ("arrived", "Until it arrives"),
        (
            "received",
            "Until its reception starts, so that a receiver that does not keep up holds its senders back",
        ),
        (
            "credits",
            "Until its credit is back, L after its arrival; a sender has C credits for each receiver",
        ),
    ];

    /// Returns whether a message is in transit until its receiver takes it.
    #[doc(hidden)]
    pub fn lasts_until_received(self) -> bool {
        self == Capacity::Received
    }

    /// Returns what ends stalls, where who looks at a run from outside (an analysis, a tolerance, the timing of a check)
    /// does not follow that.
    #[doc(hidden)]
    pub fn unfollowed(self) -> Option<&'static str> {
        match self {
            Capacity::Arrived => None,
            Capacity::Received => Some("receptions"),
            Capacity::Credits => Some("credits that come back"),
        }
    }

    /// Returns the setting after a comma; empty for the default.
    pub fn setting(self) -> &'static str {
        match self {
            Capacity::Arrived => "",
            Capacity::Received => ", capacity until received",
            Capacity::Credits => ", capacity by credits",
        }
    }

    /// Refuses it on a machine of these parameters, at whose messages faults may happen.
    pub(super) fn check<'a>(
        self,
        mut all: impl Iterator<Item = &'a Params>,
        has_faults: bool,
    ) -> Result<(), ParamsError> {
        let sentence = if self == Capacity::Received && all.any(Params::has_negative_G_l) {
            "a message that arrives before it enters, by a negative G_l, cannot be in transit until it is received; let it be until it arrives, or give G_l of 0 or more"
        } else if self == Capacity::Received && has_faults {
            "a message that is in transit until it is received cannot be lost or come twice, nor can its receiver crash; let it be in transit until it arrives"
        } else if self == Capacity::Credits && all.any(Params::has_negative_G_l) {
            "a message that arrives before it enters, by a negative G_l, cannot hold a credit; let it be in transit until it arrives, or give G_l of 0 or more"
        } else {
            return Ok(());
        };
        Err(ParamsError::new(sentence))
    }
}

/// The messages of a sender in transit, beside those at the outermost level that both ends count.
#[derive(Debug, Default)]
pub(super) struct MoreTransits {
    /// The messages in transit at each of the inner levels.
    inner: Box<[Occupancy]>,
    credits: CreditsInUse,
}

impl MoreTransits {
    /// Creates that of a sender that has sent nothing, with so many inner levels.
    pub(super) fn new(inner_levels: usize) -> MoreTransits {
        let inner = (0..inner_levels).map(|_| Occupancy::default()).collect();
        MoreTransits { inner, ..MoreTransits::default() }
    }

    /// Returns the messages in transit at an inner level.
    pub(super) fn at(&self, level: usize) -> &Occupancy {
        &self.inner[level - 1]
    }

    pub(super) fn at_mut(&mut self, level: usize) -> &mut Occupancy {
        &mut self.inner[level - 1]
    }

    /// Returns the largest number of messages that were in transit at once.
    pub(super) fn most(&self) -> u32 {
        self.inner.iter().map(|occupancy| occupancy.most).max().unwrap_or(0).max(self.credits.most())
    }
}

/// The limits of what is in transit at a level.
#[derive(Debug)]
pub(crate) struct Limits {
    /// The most messages from a processor and to it that are in transit until they arrive; `usize::MAX` if any
    /// number may be.
    pub at_ends: usize,
    /// The messages in transit, if they are so until they are received.
    rooms: Option<Mutex<Rooms>>,
    /// The credits of each sender for each receiver, if there are any.
    credits: Option<Credits>,
}

impl Limits {
    /// Creates the limits of a level with these parameters, on a machine of `all` processors.
    pub(super) fn new(capacity: Capacity, params: &Params, all: usize) -> Limits {
        let none = Limits { at_ends: usize::MAX, rooms: None, credits: None };
        match (capacity, params.capacity()) {
            (_, None) => none,
            (Capacity::Arrived, Some(most)) => Limits { at_ends: most, ..none },
            (Capacity::Received, Some(most)) => {
                Limits { rooms: Some(Mutex::new(Rooms::new(most, all))), ..none }
            }
            (Capacity::Credits, Some(most)) => {
                Limits { credits: Some(Credits { most, back: params.L }), ..none }
            }
        }
    }

    /// Returns whether messages compete for room with those of other processors.
    pub(crate) fn is_shared(&self) -> bool {
        self.at_ends != usize::MAX || self.has_rooms()
    }

    /// Returns whether messages take room until they are received.
    pub(crate) fn has_rooms(&self) -> bool {
        self.rooms.is_some()
    }

    /// Returns whether messages share their room with others of their sender alone.
    pub(super) fn is_own(&self) -> bool {
        self.credits.is_some()
    }

    /// Returns the room that a message to `to` needs beside what is in transit from its sender at its level and
    /// otherwise, and to its receiver.
    pub(super) fn room<'a>(
        &self,
        (at_level, more): (&'a Occupancy, Option<&'a MoreTransits>),
        to_receiver: &'a Occupancy,
        to: usize,
    ) -> Room<'a> {
        match &self.credits {
            Some(credits) => credits.room(more.map(|more| &more.credits), to),
            None => Room { shared: [at_level, to_receiver], most: self.at_ends, beyond: Time::ZERO },
        }
    }

    /// Reserves the room of a message that [only its sender's](Limits::is_own) share, and whose departure is served
    /// `now`.
    pub(super) fn reserve_own(
        &self,
        judge: &mut impl Judge,
        more: &mut MoreTransits,
        to: usize,
        way: (Time, Time),
        now: Time,
    ) {
        if let Some(credits) = &self.credits {
            credits.reserve(judge, &mut more.credits, to, way, now);
        }
    }

    /// Asks for room for a message to `to` that takes it until it is received. Returns whether there is some; if not,
    /// the message waits until [`free`](Limits::free) admits it.
    pub(crate) fn ask(&self, id: MessageId, to: usize, at: Time) -> bool {
        self.rooms.as_ref().is_none_or(|rooms| rooms.lock().ask(id, to, at))
    }

    /// Frees the room of a message from one processor to another, whose reception starts. Returns the messages that
    /// this admits.
    pub(crate) fn free(&self, from: usize, to: usize, at: Time) -> Admitted {
        self.rooms.as_ref().map(|rooms| rooms.lock().free(from, to, at)).unwrap_or_default()
    }

    /// Returns the largest numbers of messages that took room at once from a processor and to it, until they were
    /// received.
    pub(crate) fn most_in_rooms(&self, id: usize) -> [usize; 2] {
        self.rooms.as_ref().map(|rooms| rooms.lock().most(id)).unwrap_or_default()
    }
}
