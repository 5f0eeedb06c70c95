//! Which message goes to which receive: MPI's rule, and the one matcher for programs and for schedules.
//!
//! A message goes to the receive that was posted first of those that want it, and a receive takes the message that arrived
//! first of those that it wants. Messages that no receive has taken lie in an [`Inbox`]; receives that wait lie in
//! [`Posted`].
//!
//! Both are lists in order, because nearly always few lie there, or they are taken as they come. Where a list would have
//! to be searched for long, an index takes its place, in which every search takes logarithmic time.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use smallvec::SmallVec;

use super::tag::RawTag;
use super::want::{Key, Matched, Want};
use crate::time::Time;

/// The messages sent to a processor that no receive has taken, with those that are still under way, in order of their
/// [`Key`].
///
/// Mostly there are one or two: where all processors do the same, a message often comes before the receiver has taken the
/// one before. So the first two lie in the inbox itself, in slots, and taking one does not move the other.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Inbox<M> {
    /// The slot of the first message, if there is one and the messages are not in the index.
    front: u8,
    /// How many slots hold a message, so that empty ones need not be looked at.
    filled: u8,
    /// Whether messages lie outside the slots.
    has_more: bool,
    /// The first two messages; none if they are in the index.
    slots: [Option<M>; 2],
    /// The other messages. They lie elsewhere, so that the inboxes of many processors lie close together.
    more: Option<Box<More<M>>>,
}

/// The messages that do not lie in the slots.
#[derive(Debug)]
struct More<M> {
    /// All but the first two messages in order; empty once the index is in use.
    list: VecDeque<M>,
    /// All messages, once there were many.
    index: Index<M>,
}

/// How many messages or receives of a list are looked at before they move to an index.
const FEW: usize = 16;

impl<M> Default for Inbox<M> {
    fn default() -> Inbox<M> {
        Inbox { front: 0, filled: 0, has_more: false, slots: [None, None], more: None }
    }
}

impl<M> Default for More<M> {
    fn default() -> More<M> {
        More { list: VecDeque::with_capacity(4), index: Index::default() }
    }
}

/// The key of the message in a slot; an empty slot comes last.
fn key_of(slot: &Option<impl Matched>) -> Key {
    slot.as_ref().map_or((Time::MAX, u32::MAX, u32::MAX), Matched::key)
}

/// Whether a receive takes the message in a slot.
#[inline]
fn takes(want: Want, slot: &Option<impl Matched>) -> bool {
    slot.as_ref().is_some_and(|message| want.takes(message))
}

impl<M: Matched> Inbox<M> {
    /// Where the slots lie in the inbox.
    #[cfg(test)]
    pub(crate) const SLOTS: usize = std::mem::offset_of!(Inbox<M>, slots);

    /// An inbox that holds a few more messages than its two slots without allocating.
    pub(crate) fn with_room() -> Inbox<M> {
        Inbox { more: Some(Box::default()), ..Inbox::default() }
    }

    /// The slot of the first message and that of the second.
    #[inline]
    fn slots(&self) -> (usize, usize) {
        let front = usize::from(self.front & 1);
        (front, 1 - front)
    }

    pub(crate) fn put(&mut self, message: M) {
        self.put_made(message.key(), || message);
    }

    /// Puts a message with this key, which is made where it is to lie: to move it there would take longer than all else.
    #[inline]
    pub(crate) fn put_made(&mut self, key: Key, make: impl FnOnce() -> M) {
        let (first, second) = self.slots();
        let slot = match self.filled {
            _ if self.has_more => return self.put_among(make()),
            0 => first,
            1 => {
                if key_of(&self.slots[first]) > key {
                    self.front = second as u8;
                }
                second
            }
            _ => return self.put_among(make()),
        };
        self.slots[slot] = Some(make());
        self.filled += 1;
    }

    /// Adds a message where there are two or more. Most messages arrive last of all, and so go to the end at once.
    #[inline(never)]
    fn put_among(&mut self, message: M) {
        self.has_more = true;
        let (first, second) = self.slots();
        let more = self.more.get_or_insert_default();
        let Some(last) = &mut self.slots[second] else { return more.index.put(message) };
        if message.key() < last.key() {
            more.list.push_front(std::mem::replace(last, message));
            if key_of(&self.slots[second]) < key_of(&self.slots[first]) {
                self.front = second as u8;
            }
            return;
        }
        let later = more.list.iter().rev().take(FEW).take_while(|other| other.key() > message.key()).count();
        if later < FEW {
            more.list.insert(more.list.len() - later, message);
        } else {
            self.move_to_index().put(message);
        }
    }

    /// The first message that a receive wants.
    #[inline]
    pub(crate) fn first(&mut self, want: Want) -> Option<&M> {
        let (first, second) = self.slots();
        match () {
            () if self.filled > 0 && takes(want, &self.slots[first]) => self.slots[first].as_ref(),
            () if self.filled > 1 && takes(want, &self.slots[second]) => self.slots[second].as_ref(),
            () if self.has_more => self.first_of_more(want),
            () => None,
        }
    }

    /// The first message that a receive wants, if it lies in no slot.
    #[inline(never)]
    fn first_of_more(&mut self, want: Want) -> Option<&M> {
        match self.find(want) {
            Some(place) => self.more.as_ref()?.list.get(place),
            None => self.more.as_mut()?.index.first(want),
        }
    }

    /// Takes the first message that a receive wants.
    pub(crate) fn take(&mut self, want: Want) -> Option<M> {
        let mut taken = None;
        self.take_into(want, &mut taken);
        taken
    }

    /// Takes the first message that a receive wants, and puts it where it is to lie: to move it there would take longer than
    /// all else.
    #[inline]
    pub(crate) fn take_into(&mut self, want: Want, taken: &mut Option<M>) {
        let (first, second) = self.slots();
        let place = match () {
            () if self.filled > 0 && takes(want, &self.slots[first]) => {
                self.front = second as u8;
                first
            }
            () if self.filled > 1 && takes(want, &self.slots[second]) => second,
            () if self.has_more => return *taken = self.take_of_more(want),
            () => return,
        };
        *taken = self.slots[place].take();
        if self.has_more {
            self.slots[place] = self.more.as_mut().and_then(|more| more.list.pop_front());
            self.counts_more();
        } else {
            self.filled -= 1;
        }
    }

    /// Takes the first message that a receive wants, if it lies in no slot.
    #[inline(never)]
    fn take_of_more(&mut self, want: Want) -> Option<M> {
        let place = self.find(want);
        let more = self.more.as_mut()?;
        let taken = match place {
            Some(place) => more.list.remove(place),
            None => more.index.take(want),
        };
        self.counts_more();
        taken
    }

    /// Notes whether messages lie outside the slots.
    fn counts_more(&mut self) {
        let Some(more) = &mut self.more else { return };
        if more.list.is_empty() {
            more.list.clear(); // the next message goes to the start of the buffer, which is in the cache
        }
        self.has_more = !more.list.is_empty() || !more.index.messages.is_empty();
    }

    /// How many messages no receive has taken.
    pub(crate) fn len(&self) -> usize {
        let more = self.more.as_ref().map_or(0, |more| more.list.len() + more.index.messages.len());
        usize::from(self.filled) + more
    }

    /// The messages that no receive has taken, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &M> + Clone {
        let (first, second) = self.slots();
        let few = self.slots[first].iter().chain(&self.slots[second]);
        few.chain(self.more.iter().flat_map(|more| more.list.iter().chain(more.index.messages.values())))
    }

    /// The place in the list of the first message that a receive wants. `None` if the list has no such message, or is so long
    /// that its messages have moved to the index.
    fn find(&mut self, want: Want) -> Option<usize> {
        let list = &self.more.as_ref()?.list;
        let found = list.iter().take(FEW).position(|message| want.takes(message));
        if found.is_none() && list.len() > FEW {
            self.move_to_index();
        }
        found
    }

    #[cold]
    fn move_to_index(&mut self) -> &mut Index<M> {
        let More { list, index } = &mut **self.more.get_or_insert_default();
        self.filled = 0;
        let few = self.slots.iter_mut().filter_map(Option::take);
        few.chain(list.drain(..)).for_each(|message| index.put(message));
        index
    }
}

/// Messages in order, and by what a receive can name: sender and tag, or the tag alone. A request for a message lies
/// under that message's tag, as the same receives take both.
#[derive(Debug)]
struct Index<M> {
    messages: BTreeMap<Place, M>,
    /// By sender, tag, arrival and number.
    by_sender: BTreeSet<(u32, RawTag, Time, u32)>,
    /// By tag, arrival, sender and number; built at the first search that names no sender.
    by_tag: Option<BTreeSet<(RawTag, Time, u32, u32)>>,
}

/// A message's place in the index: its key, and its tag. A signal of the barrier has the number of the message that its sender
/// sends next, which may come at the same moment.
type Place = (Time, u32, u32, RawTag);

fn place_of(message: &impl Matched) -> Place {
    let (arrival, from, number) = message.key();
    (arrival, from, number, message.tag().requested())
}

impl<M> Default for Index<M> {
    fn default() -> Index<M> {
        Index { messages: BTreeMap::new(), by_sender: BTreeSet::new(), by_tag: None }
    }
}

impl<M: Matched> Index<M> {
    fn put(&mut self, message: M) {
        let (arrival, from, number, tag) = place_of(&message);
        self.by_sender.insert((from, tag, arrival, number));
        if let Some(by_tag) = &mut self.by_tag {
            by_tag.insert((tag, arrival, from, number));
        }
        self.messages.insert((arrival, from, number, tag), message);
    }

    /// The place of the message that a receive takes.
    fn find(&mut self, want: Want) -> Option<Place> {
        let Want { from, tag } = want;
        if tag.is_wild() {
            return self.messages.iter().find(|(_, message)| want.takes(*message)).map(|(place, _)| *place);
        }
        if from != Want::ANYONE {
            let (sender, of, arrival, number) = *self.by_sender.range((from, tag, Time::ZERO, 0)..).next()?;
            return (sender == from && of == tag).then_some((arrival, from, number, tag));
        }
        let turned = |&(from, tag, arrival, number): &_| (tag, arrival, from, number);
        let by_tag = self.by_tag.get_or_insert_with(|| self.by_sender.iter().map(turned).collect());
        let &(of, arrival, from, number) = by_tag.range((tag, Time::ZERO, 0, 0)..).next()?;
        (of == tag).then_some((arrival, from, number, tag))
    }

    fn first(&mut self, want: Want) -> Option<&M> {
        let place = self.find(want)?;
        self.messages.get(&place)
    }

    fn take(&mut self, want: Want) -> Option<M> {
        let place = self.find(want)?;
        let (message, (arrival, from, number, tag)) = (self.messages.remove(&place)?, place);
        self.by_sender.remove(&(from, tag, arrival, number));
        if let Some(by_tag) = &mut self.by_tag {
            by_tag.remove(&(tag, arrival, from, number));
        }
        Some(message)
    }
}

/// The receives of a processor that wait for a message, in the order in which they were posted.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    /// All receives, until there are so many that they move to the index.
    list: SmallVec<[Receive; 1]>,
    /// How many receives at the front of the list are taken: moving up the others each time would take long.
    gone: usize,
    /// All receives by what they want, once there were many.
    index: Option<Box<Classes>>,
}

/// A receive that waits for a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receive {
    /// Its place among all receives: the one with the lower place was posted first.
    pub place: (Time, u32),
    pub want: Want,
}

/// Receives by what they want, each in the order in which they were posted.
#[derive(Debug, Default)]
struct Classes {
    /// The places of the receives that want the same.
    posted: HashMap<Want, VecDeque<(Time, u32)>>,
    /// How many receives take messages of several senders or tags.
    wild: usize,
}

impl Posted {
    /// Whether no receive waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting().is_empty() && self.index.as_ref().is_none_or(|index| index.posted.is_empty())
    }

    /// The receives in the list that wait.
    #[inline]
    fn waiting(&self) -> &[Receive] {
        &self.list[self.gone..]
    }

    /// Posts a receive. Mostly its place is the last.
    pub(crate) fn post(&mut self, receive: Receive) {
        if let Some(index) = &mut self.index {
            return index.post(receive);
        }
        if 2 * self.gone > self.list.len() {
            self.list.drain(..self.gone);
            self.gone = 0;
        }
        let later = self.waiting().iter().rev().take_while(|other| other.place > receive.place).count();
        self.list.insert(self.list.len() - later, receive);
    }

    /// The receive that a message goes to.
    #[inline]
    pub(crate) fn first(&mut self, message: &impl Matched) -> Option<Receive> {
        if self.index.is_none() {
            let found = self.waiting().iter().take(FEW).find(|receive| receive.want.takes(message));
            if found.is_some() || self.waiting().len() <= FEW {
                return found.copied();
            }
        }
        self.index().first(message)
    }

    /// Takes a receive out.
    #[inline]
    pub(crate) fn remove(&mut self, receive: Receive) {
        match &mut self.index {
            Some(index) => index.remove(receive),
            None => {
                let place = self.waiting().iter().position(|other| other.place == receive.place);
                place.into_iter().for_each(|place| _ = self.take_from_list(place));
            }
        }
    }

    /// Takes a receive out of the list. The few receives before it move by one.
    #[inline]
    fn take_from_list(&mut self, place: usize) -> Receive {
        let taken = self.list[self.gone + place];
        self.list.copy_within(self.gone..self.gone + place, self.gone + 1);
        self.gone += 1;
        taken
    }

    #[cold]
    fn index(&mut self) -> &mut Classes {
        let index = self.index.get_or_insert_default();
        self.list.drain(..).skip(self.gone).for_each(|receive| index.post(receive));
        self.gone = 0;
        index
    }

    /// At most how many [`kinds`](Posted::kinds) there are.
    fn most_kinds(&self) -> usize {
        self.waiting().len() + self.index.as_ref().map_or(0, |index| index.posted.len())
    }

    /// The receives to which a message could go: from the index only the first of those that want the same.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Receive> {
        let first = |(want, places): (&Want, &VecDeque<(Time, u32)>)| {
            Some(Receive { place: *places.front()?, want: *want })
        };
        let listed = self.waiting().iter().copied();
        listed.chain(self.index.iter().flat_map(move |index| index.posted.iter().filter_map(first)))
    }
}

/// The first message that arrives by a time and that a posted receive wants, and the receive that it goes to.
pub(crate) fn first_pair<M: Matched>(
    inbox: &mut Inbox<M>,
    posted: &mut Posted,
    by: Time,
) -> Option<(Key, Receive)> {
    if posted.most_kinds() < inbox.len() {
        let first = |receive: Receive| Some((inbox.first(receive.want)?.key(), receive));
        let pairs = posted.kinds().filter_map(first);
        return pairs.min_by_key(|(key, receive)| (*key, receive.place)).filter(|(key, _)| key.0 <= by);
    }
    let mut there = inbox.iter().take_while(|message| message.arrival() <= by);
    there.find_map(|message| Some((message.key(), posted.first(message)?)))
}

impl Classes {
    fn post(&mut self, Receive { place, want }: Receive) {
        self.wild += usize::from(want.is_wild());
        let places = self.posted.entry(want).or_default();
        let later = places.iter().rev().take_while(|other| **other > place).count();
        places.insert(places.len() - later, place);
    }

    fn first(&self, message: &impl Matched) -> Option<Receive> {
        let (from, tag) = (message.from(), message.tag().requested());
        let exact = Want { from, tag };
        let first = |want: Want| Some(Receive { place: *self.posted.get(&want)?.front()?, want });
        if self.wild == 0 {
            return first(exact);
        }
        let kinds = [from, Want::ANYONE]
            .into_iter()
            .flat_map(|from| [tag, RawTag::ANY].map(|tag| Want { from, tag }));
        kinds.filter(|want| want.takes(message)).filter_map(first).min_by_key(|receive| receive.place)
    }

    fn remove(&mut self, Receive { place, want }: Receive) {
        let Some(places) = self.posted.get_mut(&want) else { return };
        match places.front() {
            Some(first) if *first == place => _ = places.pop_front(),
            _ => places.retain(|other| *other != place),
        }
        if places.is_empty() {
            self.posted.remove(&want);
        }
        self.wild -= usize::from(want.is_wild());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::parcel::Parcel;
    use crate::message::{Envelope, Letter, Outside, Receiver};
    use crate::time::US;

    fn envelope(arrival: i64, from: u32, tag: RawTag, number: u32) -> Envelope {
        let parcel = Parcel::new(number);
        let outside = Outside { from, to: Receiver::new(0, false), number, words: 1, tag };
        Envelope { arrival: arrival * US, letter: Letter { outside, parcel } }
    }

    /// A receive from one sender or from any, with one tag or with any.
    fn want(rng: &mut fastrand::Rng) -> Want {
        let tag = if rng.u8(..) < 30 { RawTag::ANY } else { RawTag::user(rng.u16(0..3)) };
        Want::of(rng.bool().then(|| rng.usize(0..20)), tag)
    }

    /// A message with one of three tags, or the request for one.
    fn message(rng: &mut fastrand::Rng, number: u32) -> Envelope {
        let tag = RawTag::user(rng.u16(0..3));
        let tag = if rng.u8(..) < 40 { tag.request() } else { tag };
        envelope(i64::from(number) / 3 + rng.i64(0..40), rng.u32(0..20), tag, number)
    }

    /// Whether a receive takes a message, without the code under test.
    fn takes(want: Want, from: u32, tag: RawTag) -> bool {
        let is_tag = [want.tag, want.tag.request()].contains(&tag) || want.tag == RawTag::ANY;
        is_tag && (want.from == from || want.from == Want::ANYONE)
    }

    #[test]
    fn takes_the_earliest_and_then_the_lowest_sender() {
        let mut inbox = Inbox::default();
        for (arrival, from, tag, number) in [(5, 3, 0, 0), (4, 2, 0, 1), (4, 1, 0, 2), (3, 9, 1, 3)] {
            inbox.put(envelope(arrival, from, RawTag::user(tag), number));
        }
        let (any, from_3) = (Want::of(None, RawTag::user(0)), Want::of(Some(3), RawTag::user(0)));
        assert_eq!(inbox.first(any).map(|e| e.arrival), Some(4 * US));
        assert_eq!(inbox.take(any).unwrap().letter.outside.from, 1);
        assert_eq!(inbox.take(from_3).unwrap().letter.outside.number, 0);
        assert_eq!(inbox.take(any).unwrap().letter.outside.from, 2);
        assert!(inbox.take(any).is_none());
        assert_eq!(inbox.iter().count(), 1);
    }

    /// The inbox finds the same message as a search through all, however many there are and in whatever order they come.
    #[test]
    fn many_messages_are_found_as_few_are() {
        for seed in crate::cases::seeds(60) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut inbox, mut all) = (Inbox::default(), Vec::new());
            for number in 0..400 {
                let message = message(&mut rng, number);
                all.push((message.key(), message.tag()));
                inbox.put(message);
                for _ in 0..if number > 200 { rng.u32(0..4) } else { rng.u32(0..2) } {
                    let want = want(&mut rng);
                    let matching = all.iter().filter(|((_, from, _), tag)| takes(want, *from, *tag));
                    let expected = matching.map(|(key, _)| *key).min();
                    assert_eq!(inbox.first(want).map(Matched::key), expected, "seed {seed}");
                    if rng.bool() {
                        assert_eq!(inbox.take(want).as_ref().map(Matched::key), expected, "seed {seed}");
                        all.retain(|(key, _)| Some(*key) != expected);
                    }
                }
                assert_eq!((inbox.iter().count(), inbox.len()), (all.len(), all.len()));
                assert!(inbox.iter().is_sorted_by_key(Matched::key), "seed {seed}");
            }
        }
    }

    /// A signal of the barrier may have the key of a message.
    #[test]
    fn messages_of_one_key_are_told_apart_by_their_tags() {
        let [signal, tag] = [7, 8].map(RawTag::user);
        let mut inbox = Inbox::default();
        (0..40).for_each(|number| inbox.put(envelope(1, 3, tag, number)));
        assert!(inbox.take(Want { from: 2, tag }).is_none(), "so all lie in the index");
        inbox.put(envelope(1, 3, signal, 39));
        assert_eq!(inbox.len(), 41);
        assert!(inbox.take(Want { from: Want::ANYONE, tag: signal }).is_some());
        (0..40).for_each(|_| assert!(inbox.take(Want { from: 3, tag }).is_some()));
    }

    /// The same receive is found as by a search through all, and the same first pair of a message and a receive.
    #[test]
    fn many_receives_are_found_as_few_are() {
        for seed in crate::cases::seeds(60) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut posted, mut all) = (Posted::default(), Vec::<Receive>::new());
            let (mut inbox, many) = (Inbox::default(), rng.usize(1..60));
            for number in 0..400 {
                let receive = Receive { place: (rng.i64(0..3) * US, number), want: want(&mut rng) };
                posted.post(receive);
                all.push(receive);
                all.sort_by_key(|receive| receive.place);
                let message = message(&mut rng, number);
                let takes = |receive: &&Receive, message: &Envelope| {
                    takes(receive.want, message.from(), message.tag())
                };
                let expected = all.iter().find(|receive| takes(receive, &message)).map(|r| r.place);
                assert_eq!(posted.first(&message).map(|r| r.place), expected, "seed {seed}");
                inbox.put(message);
                let by = i64::from(number) / 3 * US;
                let mut there = inbox.iter().filter(|message| message.arrival() <= by);
                let pair = |message: &Envelope| {
                    let receive = all.iter().find(|receive| takes(receive, message))?;
                    Some((message.key(), receive.place))
                };
                let expected = there.find_map(pair);
                drop(there);
                let found = first_pair(&mut inbox, &mut posted, by);
                assert_eq!(found.map(|(key, receive)| (key, receive.place)), expected, "seed {seed}");
                if let Some((_, place)) = expected
                    && all.len() > many
                {
                    let receive = *all.iter().find(|receive| receive.place == place).unwrap();
                    posted.remove(receive);
                    all.retain(|receive| receive.place != place);
                }
                if inbox.len() > many {
                    inbox.take(want(&mut rng));
                }
                assert_eq!(posted.is_empty(), all.is_empty());
            }
        }
    }
}
