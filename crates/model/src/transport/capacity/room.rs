//! The room that a message needs while it is in transit, where that is reserved.

use super::ends::Occupancy;
use crate::time::Time;
use crate::transport::judge::Judge;

/// The room that a message needs, from its entry until some time after its arrival.
pub(crate) struct Room<'a> {
    /// The messages with which it shares the room, at the two ends.
    pub shared: [&'a Occupancy; 2],
    /// The most messages at each end.
    pub most: usize,
    /// The time for which it takes the room beyond its arrival.
    pub beyond: Time,
}

impl Room<'_> {
    /// Returns whether an end is full at some moment after `ready`.
    pub(crate) fn is_full_after(&self, judge: &mut impl Judge, ready: Time) -> bool {
        let [one, other] = self.shared.map(|end| end.free_from(self.most));
        judge.is_before(ready, one.max(other))
    }

    /// Returns when there is room again, if there is none at some moment for a message that enters and arrives at
    /// these times: after the last such moment. Returns `None` if there is room.
    pub(crate) fn next(&self, judge: &mut impl Judge, (enter, arrival): (Time, Time)) -> Option<Time> {
        let ([one, other], stay) = (self.shared, (enter, arrival + self.beyond));
        one.next_room(judge, stay, self.most).max(other.next_room(judge, stay, self.most))
    }
}
