//! Where messages lie until they are received.
//!
//! Nearly always few messages lie there, or they are received as they come, and a list in the order of their arrivals
//! is all that is needed. Where a receiver would have to search it for long, because it wants a certain sender's
//! message first, the messages move to an index, in which every search takes logarithmic time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::message::{Envelope, RawTag, Want};
use crate::time::Time;

/// The messages sent to a processor that it has not received, those that are still under way included. A receive
/// prefers them by arrival, then by sender, then as they were sent.
///
/// Mostly there are one or two: where processors do the same, the one that came last comes before the one before it is
/// taken. Two lie in the inbox itself, and none is moved when another is taken.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Inbox {
    /// In which of the two slots the first message lies, if there is one and the messages are not in the index.
    front: u8,
    /// How many of the slots hold a message: so one that is empty need not be looked at.
    filled: u8,
    /// Whether there are others than those in the slots.
    has_more: bool,
    /// The first two in that order, the one in front and the other, if none is in the index.
    slots: [Option<Envelope>; 2],
    /// The others in that order, if none is in the index.
    list: VecDeque<Envelope>,
    /// All, once there were many. It lies elsewhere, so that those that never have many lie close together.
    index: Option<Box<Index>>,
}

/// How many messages of the list are looked at before they move to the index.
const FEW: usize = 16;

/// By arrival, then by sender, then as they were sent.
fn key(envelope: &Envelope) -> (Time, u32, u32) {
    (envelope.arrival, envelope.letter.from, envelope.letter.number)
}

/// The same of a slot; what is not there comes last.
fn key_of(slot: &Option<Envelope>) -> (Time, u32, u32) {
    slot.as_ref().map_or((Time::MAX, u32::MAX, u32::MAX), key)
}

/// Whether a receive takes what lies in a slot.
#[inline]
fn takes(want: &Want, slot: &Option<Envelope>) -> bool {
    slot.as_ref().is_some_and(|envelope| want.matches(&envelope.letter))
}

impl Inbox {
    /// Where the slots lie in it.
    #[cfg(test)]
    pub const SLOTS: usize = std::mem::offset_of!(Inbox, slots);

    /// An inbox that has room for a few more than those two.
    pub fn with_room() -> Inbox {
        Inbox { list: VecDeque::with_capacity(4), ..Inbox::default() }
    }

    /// The slots with the first message and with the second.
    #[inline]
    fn slots(&self) -> (usize, usize) {
        let front = usize::from(self.front & 1);
        (front, 1 - front)
    }

    /// Adds a message.
    #[inline]
    pub fn put(&mut self, envelope: Envelope) {
        let (first, second) = self.slots();
        match self.filled {
            _ if self.has_more => return self.put_among(envelope),
            0 => self.slots[first] = Some(envelope),
            1 => {
                if key_of(&self.slots[first]) > key(&envelope) {
                    self.front = second as u8;
                }
                self.slots[second] = Some(envelope);
            }
            _ => return self.put_among(envelope),
        }
        self.filled += 1;
    }

    /// Adds a message where there are two or more. Most arrive after all that are there, and so go to the end at once.
    #[inline(never)]
    fn put_among(&mut self, envelope: Envelope) {
        self.has_more = true;
        let (first, second) = self.slots();
        let Some(last) = &mut self.slots[second] else { return self.move_to_index().put(envelope) };
        if key(&envelope) < key(last) {
            self.list.push_front(std::mem::replace(last, envelope));
            if key_of(&self.slots[second]) < key_of(&self.slots[first]) {
                self.front = second as u8;
            }
            return;
        }
        let later = self.list.iter().rev().take(FEW).take_while(|e| key(e) > key(&envelope)).count();
        if later < FEW {
            self.list.insert(self.list.len() - later, envelope);
        } else {
            self.move_to_index().put(envelope);
        }
    }

    /// The message with the smallest arrival among those that a receive wants.
    #[inline]
    pub fn first(&mut self, want: &Want) -> Option<&Envelope> {
        let (first, second) = self.slots();
        match () {
            () if self.filled > 0 && takes(want, &self.slots[first]) => self.slots[first].as_ref(),
            () if self.filled > 1 && takes(want, &self.slots[second]) => self.slots[second].as_ref(),
            () if self.has_more => self.first_of_more(want),
            () => None,
        }
    }

    /// The same, if it is none of the first two.
    #[inline(never)]
    fn first_of_more(&mut self, want: &Want) -> Option<&Envelope> {
        match self.find(want) {
            Some(place) => self.list.get(place),
            None => self.index.as_mut()?.first(want),
        }
    }

    /// Takes that message.
    #[inline]
    pub fn take(&mut self, want: &Want) -> Option<Envelope> {
        let (first, second) = self.slots();
        let place = match () {
            () if self.filled > 0 && takes(want, &self.slots[first]) => {
                self.front = second as u8;
                first
            }
            () if self.filled > 1 && takes(want, &self.slots[second]) => second,
            () if self.has_more => return self.take_of_more(want),
            () => return None,
        };
        let taken = self.slots[place].take();
        if self.has_more {
            self.slots[place] = self.list.pop_front();
            self.counts_more();
        } else {
            self.filled -= 1;
        }
        taken
    }

    /// Takes it, if it is none of the first two.
    #[inline(never)]
    fn take_of_more(&mut self, want: &Want) -> Option<Envelope> {
        let taken = match self.find(want) {
            Some(place) => self.list.remove(place),
            None => self.index.as_mut()?.take(want),
        };
        self.counts_more();
        taken
    }

    /// Notes whether there are still others than the first two.
    fn counts_more(&mut self) {
        if self.list.is_empty() {
            self.list.clear(); // the next one goes where the last one was, which is in the cache
        }
        let is_indexed = self.index.as_ref().is_some_and(|index| !index.messages.is_empty());
        self.has_more = is_indexed || !self.list.is_empty();
    }

    /// The messages that are left, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Envelope> + Clone {
        let few = self.slots.iter().flatten().chain(&self.list);
        few.chain(self.index.iter().flat_map(|index| index.messages.values()))
    }

    /// The place of that message in the list; nothing if it is not there, or in the index.
    fn find(&mut self, want: &Want) -> Option<usize> {
        let found = self.list.iter().take(FEW).position(|e| want.matches(&e.letter));
        if found.is_none() && self.list.len() > FEW {
            self.move_to_index();
        }
        found
    }

    #[cold]
    fn move_to_index(&mut self) -> &mut Index {
        let index = self.index.get_or_insert_default();
        self.filled = 0;
        let few = self.slots.iter_mut().filter_map(Option::take);
        few.chain(self.list.drain(..)).for_each(|envelope| index.put(envelope));
        index
    }
}

/// Messages by what a receive can name: their sender and tag, or their tag alone. A request for a message lies under
/// that message's tag, as the same receives take it.
#[derive(Debug, Default)]
struct Index {
    /// By sender, tag, arrival and number.
    messages: BTreeMap<(u32, RawTag, Time, u32), Envelope>,
    /// The messages by tag, arrival, sender and number, from the first search on that names no sender.
    by_tag: Option<BTreeSet<(RawTag, Time, u32, u32)>>,
}

impl Index {
    fn put(&mut self, envelope: Envelope) {
        let (tag, (arrival, from, number)) = (envelope.letter.tag.requested(), key(&envelope));
        if let Some(by_tag) = &mut self.by_tag {
            by_tag.insert((tag, arrival, from, number));
        }
        self.messages.insert((from, tag, arrival, number), envelope);
    }

    /// The place of the message that a receive takes.
    fn find(&mut self, want: &Want) -> Option<(u32, RawTag, Time, u32)> {
        if want.tag.is_wild() {
            let wanted = self.messages.iter().filter(|(_, envelope)| want.matches(&envelope.letter));
            return wanted.min_by_key(|(_, envelope)| key(envelope)).map(|(place, _)| *place);
        }
        if let Some(from) = want.from {
            let (&place, _) = self.messages.range((from, want.tag, Time::ZERO, 0)..).next()?;
            return (place.0 == from && place.1 == want.tag).then_some(place);
        }
        let swap = |(from, tag, arrival, number): &(u32, RawTag, Time, u32)| (*tag, *arrival, *from, *number);
        let by_tag = self.by_tag.get_or_insert_with(|| self.messages.keys().map(swap).collect());
        let &(tag, arrival, from, number) = by_tag.range((want.tag, Time::ZERO, 0, 0)..).next()?;
        (tag == want.tag).then_some((from, tag, arrival, number))
    }

    fn first(&mut self, want: &Want) -> Option<&Envelope> {
        let place = self.find(want)?;
        self.messages.get(&place)
    }

    fn take(&mut self, want: &Want) -> Option<Envelope> {
        let place = self.find(want)?;
        let (from, tag, arrival, number) = place;
        if let Some(by_tag) = &mut self.by_tag {
            by_tag.remove(&(tag, arrival, from, number));
        }
        self.messages.remove(&place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Letter;
    use crate::message::parcel::Parcel;
    use crate::time::US;

    fn envelope(arrival: i64, from: u32, tag: RawTag, number: u32) -> Envelope {
        let parcel = Parcel::new(number);
        Envelope { arrival: arrival * US, letter: Letter { from, to: 0, number, words: 1, tag, parcel } }
    }

    #[test]
    fn takes_the_earliest_and_then_the_lowest_sender() {
        let mut inbox = Inbox::default();
        for (arrival, from, tag, number) in [(5, 3, 0, 0), (4, 2, 0, 1), (4, 1, 0, 2), (3, 9, 1, 3)] {
            inbox.put(envelope(arrival, from, RawTag::user(tag), number));
        }
        let any = Want { from: None, tag: RawTag::user(0), name: None };
        let from_3 = Want { from: Some(3), tag: RawTag::user(0), name: None };
        assert_eq!(inbox.first(&any).map(|e| e.arrival), Some(4 * US));
        assert_eq!(inbox.take(&any).unwrap().letter.from, 1);
        assert_eq!(inbox.take(&from_3).unwrap().letter.number, 0);
        assert_eq!(inbox.take(&any).unwrap().letter.from, 2);
        assert!(inbox.take(&any).is_none());
        assert_eq!(inbox.iter().count(), 1);
    }

    /// However many there are, and in whatever order they come and are wanted: what a search through all says.
    #[test]
    fn many_messages_are_found_as_few_are() {
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut inbox, mut all) = (Inbox::default(), Vec::new());
            for number in 0..400 {
                let tag = RawTag::user(rng.u16(0..3));
                let tag = if rng.u8(..) < 40 { tag.request() } else { tag };
                let (arrival, from) = (i64::from(number) / 3 + rng.i64(0..40), rng.u32(0..20));
                inbox.put(envelope(arrival, from, tag, number));
                all.push(((arrival * US, from, number), tag));
                for _ in 0..if number > 200 { rng.u32(0..4) } else { rng.u32(0..2) } {
                    let from = rng.bool().then(|| rng.u32(0..20));
                    let want = Want { from, tag: RawTag::user(rng.u16(0..3)), name: None };
                    let matching = all.iter().filter(|((_, sender, _), tag)| {
                        (*tag == want.tag || *tag == want.tag.request())
                            && from.is_none_or(|from| from == *sender)
                    });
                    let expected = matching.map(|(key, _)| *key).min();
                    assert_eq!(inbox.first(&want).map(key), expected, "seed {seed}");
                    if rng.bool() {
                        assert_eq!(inbox.take(&want).as_ref().map(key), expected, "seed {seed}");
                        all.retain(|(key, _)| Some(*key) != expected);
                    }
                }
                assert_eq!(inbox.iter().count(), all.len());
            }
        }
    }
}
