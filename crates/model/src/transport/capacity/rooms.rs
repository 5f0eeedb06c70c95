//! Capacity where a message is in transit until it is received: its room becomes free when its receiver takes
//! it from the network, which nobody knows in advance. So messages that find no room wait here.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::message::MessageId;
use crate::time::Time;

/// The messages at one level that are in transit, and those that wait for room at both of their ends.
#[derive(Debug)]
pub(super) struct Rooms {
    capacity: usize,
    /// The number of messages that had to wait so far.
    waited: u64,
    /// The sending side of each processor.
    from: Box<[End]>,
    /// The receiving side of each processor.
    to: Box<[End]>,
}

/// One side of a processor.
#[derive(Clone, Debug, Default)]
struct End {
    /// The number of messages in transit, and the time of its last change.
    in_transit: usize,
    since: Time,
    /// The largest number of messages that were in transit for some time.
    most: usize,
    /// The messages that wait for room, here or at their other end, in the order in which they asked.
    waiting: BTreeMap<u64, (MessageId, usize)>,
}

/// Messages that are admitted at once: freed room is for one at each of two ends.
pub(crate) type Admitted = SmallVec<[MessageId; 2]>;

impl Rooms {
    /// Creates the rooms of P processors, between which nothing is in transit.
    pub(super) fn new(capacity: usize, P: usize) -> Rooms {
        let ends = vec![End::default(); P];
        Rooms { capacity, waited: 0, from: ends.clone().into(), to: ends.into() }
    }

    /// Admits a message to `to` if both ends have room. If not, it waits.
    pub(super) fn ask(&mut self, id: MessageId, to: usize, at: Time) -> bool {
        let has_room = self.has_room(id.from, to);
        if has_room {
            self.admit(id.from, to, at);
        } else {
            self.waited += 1;
            self.from[id.from].waiting.insert(self.waited, (id, to));
            self.to[to].waiting.insert(self.waited, (id, to));
        }
        has_room
    }

    /// Frees the room of a message that is received, and admits those that now find room at both ends: the
    /// one first that asked first.
    pub(super) fn free(&mut self, from: usize, to: usize, at: Time) -> Admitted {
        for end in [&mut self.from[from], &mut self.to[to]] {
            end.note(at);
            end.in_transit -= 1;
        }
        let mut admitted = Admitted::new();
        while let Some((asked, (id, other))) = self.first_with_room(from, to) {
            self.from[id.from].waiting.remove(&asked);
            self.to[other].waiting.remove(&asked);
            self.admit(id.from, other, at);
            admitted.push(id);
        }
        admitted
    }

    /// Returns the first of the messages that wait at one of two ends and find room.
    fn first_with_room(&self, from: usize, to: usize) -> Option<(u64, (MessageId, usize))> {
        let fits = |(_, (id, to)): &(&u64, &(MessageId, usize))| self.has_room(id.from, *to);
        let ends = [&self.from[from], &self.to[to]];
        let first = ends.map(|end| end.waiting.iter().find(fits).map(|(asked, message)| (*asked, *message)));
        first.into_iter().flatten().min_by_key(|(asked, _)| *asked)
    }

    fn has_room(&self, from: usize, to: usize) -> bool {
        self.from[from].in_transit < self.capacity && self.to[to].in_transit < self.capacity
    }

    fn admit(&mut self, from: usize, to: usize, at: Time) {
        for end in [&mut self.from[from], &mut self.to[to]] {
            end.note(at);
            end.in_transit += 1;
        }
    }

    /// Returns the largest numbers of messages that were in transit at once from a processor, and to the processor.
    pub(super) fn most(&self, id: usize) -> [usize; 2] {
        [&self.from[id], &self.to[id]].map(|end| end.most.max(end.in_transit))
    }
}

impl End {
    /// Notes that the number of messages in transit changes.
    fn note(&mut self, at: Time) {
        if at > self.since {
            (self.since, self.most) = (at, self.most.max(self.in_transit));
        }
    }
}
