//! Credits: a sender has so many for each receiver. A message takes one when it enters the network, and its receiver's
//! interface sends it back when the message has arrived, which takes L. So what one sender can have under way to
//! one receiver does not grow with L, as with the fixed windows of flow control on clusters.

use std::collections::HashMap;

use super::ends::{NOTHING, Occupancy};
use super::room::Room;
use crate::time::Time;
use crate::transport::judge::Judge;

/// The credits at a level.
#[derive(Debug)]
pub(super) struct Credits {
    /// The credits of a sender for one receiver.
    pub most: usize,
    /// The time that a credit takes back.
    pub back: Time,
}

/// The credits of one sender that are in use, by receiver.
#[derive(Debug, Default)]
pub(super) struct CreditsInUse(HashMap<u32, Occupancy>);

impl Credits {
    /// Returns the room for a message to a receiver.
    pub(super) fn room<'a>(&self, in_use: Option<&'a CreditsInUse>, to: usize) -> Room<'a> {
        let in_use = in_use.and_then(|in_use| in_use.0.get(&(to as u32))).unwrap_or(&NOTHING);
        Room { shared: [in_use, &NOTHING], most: self.most, beyond: self.back }
    }

    /// Takes a credit for a message that enters and arrives at these times, and whose departure is served `now`.
    pub(super) fn reserve(
        &self,
        judge: &mut impl Judge,
        in_use: &mut CreditsInUse,
        to: usize,
        (enter, arrival): (Time, Time),
        now: Time,
    ) {
        let back = arrival + self.back;
        if back > enter {
            in_use.0.entry(to as u32).or_default().reserve(judge, (enter, back), now, self.most);
        }
    }
}

impl CreditsInUse {
    /// Returns the largest number of credits for one receiver that were in use at once.
    pub(super) fn most(&self) -> u32 {
        self.0.values().map(|in_use| in_use.most).max().unwrap_or(0)
    }
}
