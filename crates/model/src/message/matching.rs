//! The matching of messages with receives by MPI's rule, for programs and for schedules.
//!
//! A message goes to the first posted of the receives that match it, and a receive takes the first arrived of
//! the messages that match it. An [`Inbox`] holds the messages that no receive has taken, a [`ReceiveQueue`]
//! the receives that wait.
//!
//! Both are ordered lists, because they nearly always hold few items or are emptied in order. Where a list
//! would have to be searched for long, an index with searches in logarithmic time replaces it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use smallvec::SmallVec;

use super::recv_filter::{MatchKey, Matchable, RecvFilter};
use super::tag::RawTag;
use crate::time::Time;

/// The messages to a processor that no receive has taken, including those still under way, in order of their
/// [`MatchKey`].
///
/// Mostly there are one or two, since a message often arrives before the previous one has been taken. So the
/// first two lie in slots of the inbox itself, and taking one does not move the other.
#[derive(Debug)]
#[repr(C)]
pub struct Inbox<M> {
    /// The slot of the first message, if there is one and the messages are not in the index.
    front: u8,
    /// Number of filled slots, so that empty ones need not be looked at.
    filled: u8,
    has_overflow: bool,
    /// The first two messages; both `None` while the index is in use.
    slots: [Option<M>; 2],
    /// The other messages, boxed so that the inboxes of many processors lie close together.
    overflow: Option<Box<Overflow<M>>>,
}

/// The messages that do not lie in the slots.
#[derive(Debug)]
struct Overflow<M> {
    /// All but the first two messages in order; empty once the index is in use.
    list: VecDeque<M>,
    /// All messages, once there were many.
    index: MessageIndex<M>,
}

/// Number of items of a list that are searched before they move to an index.
const SCAN_LIMIT: usize = 16;

impl<M> Default for Inbox<M> {
    fn default() -> Inbox<M> {
        Inbox { front: 0, filled: 0, has_overflow: false, slots: [None, None], overflow: None }
    }
}

impl<M> Default for Overflow<M> {
    fn default() -> Overflow<M> {
        Overflow { list: VecDeque::with_capacity(4), index: MessageIndex::default() }
    }
}

/// Returns the key of the message in a slot; an empty slot comes last.
#[inline]
fn key_of(slot: &Option<impl Matchable>) -> MatchKey {
    slot.as_ref().map_or((Time::MAX, u32::MAX, u32::MAX), Matchable::key)
}

#[inline]
fn can_take(filter: RecvFilter, slot: &Option<impl Matchable>) -> bool {
    slot.as_ref().is_some_and(|message| filter.can_take(message))
}

/// Moves what a slot holds to `to`, which must be empty, by a single copy.
#[inline]
fn move_message<M>(slot: &mut Option<M>, to: &mut Option<M>) {
    debug_assert!(to.is_none());
    // SAFETY: both are there, and apart from each other. The slot is overwritten and not dropped, so what it held is in
    // one place. `to` holds nothing that would have to be dropped.
    unsafe {
        std::ptr::copy_nonoverlapping(slot, to, 1);
        std::ptr::write(slot, None);
    }
}

impl<M: Matchable> Inbox<M> {
    /// Offset of the slots in the inbox, in bytes.
    pub const SLOTS: usize = std::mem::offset_of!(Inbox<M>, slots);

    /// Creates an inbox that can hold a few more messages than its two slots without allocating again.
    pub fn with_overflow_buffer() -> Inbox<M> {
        Inbox { overflow: Some(Box::default()), ..Inbox::default() }
    }

    /// Returns the slots of the first and the second message.
    #[inline]
    fn slots(&self) -> (usize, usize) {
        let front = usize::from(self.front & 1);
        (front, 1 - front)
    }

    pub fn put(&mut self, message: M) {
        self.put_with(message.key(), || message);
    }

    /// Adds a message with this key, made in place: moving it would take longer than all the rest.
    #[inline(always)]
    pub fn put_with(&mut self, key: MatchKey, make: impl FnOnce() -> M) {
        let (first, second) = self.slots();
        let slot = match self.filled {
            _ if self.has_overflow => return self.put_overflow(make()),
            0 => first,
            1 => {
                if key_of(&self.slots[first]) > key {
                    self.front = second as u8;
                }
                second
            }
            _ => return self.put_overflow(make()),
        };
        self.slots[slot] = Some(make());
        self.filled += 1;
    }

    /// Adds a message to an inbox that holds two or more. Most messages arrive last, and go straight to the
    /// end.
    #[inline(never)]
    fn put_overflow(&mut self, message: M) {
        self.has_overflow = true;
        let (first, second) = self.slots();
        let more = self.overflow.get_or_insert_default();
        let Some(last) = &mut self.slots[second] else { return more.index.put(message) };
        if message.key() < last.key() {
            more.list.push_front(std::mem::replace(last, message));
            if key_of(&self.slots[second]) < key_of(&self.slots[first]) {
                self.front = second as u8;
            }
            return;
        }
        let later =
            more.list.iter().rev().take(SCAN_LIMIT).take_while(|other| other.key() > message.key()).count();
        if later < SCAN_LIMIT {
            more.list.insert(more.list.len() - later, message);
        } else {
            self.move_to_index().put(message);
        }
    }

    /// Returns the first matching message.
    #[inline(always)]
    pub fn first(&mut self, filter: RecvFilter) -> Option<&M> {
        let (first, second) = self.slots();
        match () {
            () if self.filled > 0 && can_take(filter, &self.slots[first]) => self.slots[first].as_ref(),
            () if self.filled > 1 && can_take(filter, &self.slots[second]) => self.slots[second].as_ref(),
            () if self.has_overflow => self.first_of_overflow(filter),
            () => None,
        }
    }

    /// Returns the first matching message outside the slots.
    #[inline(never)]
    fn first_of_overflow(&mut self, filter: RecvFilter) -> Option<&M> {
        match self.find(filter) {
            Some(index) => self.overflow.as_ref()?.list.get(index),
            None => self.overflow.as_mut()?.index.first(filter),
        }
    }

    /// Takes the first matching message.
    pub fn take(&mut self, filter: RecvFilter) -> Option<M> {
        let mut taken = None;
        self.take_into(filter, &mut taken);
        taken
    }

    /// Takes the first matching message and writes it to `taken`, which must be empty: moving it there afterwards
    /// would take longer than all the rest.
    #[inline(always)]
    pub fn take_into(&mut self, filter: RecvFilter, taken: &mut Option<M>) {
        let (first, second) = self.slots();
        let slot = match () {
            () if self.filled > 0 && can_take(filter, &self.slots[first]) => {
                self.front = second as u8;
                first
            }
            () if self.filled > 1 && can_take(filter, &self.slots[second]) => second,
            () if self.has_overflow => return *taken = self.take_from_overflow(filter),
            () => return,
        };
        move_message(&mut self.slots[slot], taken);
        if self.has_overflow {
            self.slots[slot] = self.overflow.as_mut().and_then(|more| more.list.pop_front());
            self.update_has_overflow();
        } else {
            self.filled -= 1;
        }
    }

    /// Takes the first matching message outside the slots.
    #[inline(never)]
    fn take_from_overflow(&mut self, filter: RecvFilter) -> Option<M> {
        let index = self.find(filter);
        let more = self.overflow.as_mut()?;
        let taken = match index {
            Some(index) => more.list.remove(index),
            None => more.index.take(filter),
        };
        self.update_has_overflow();
        taken
    }

    fn update_has_overflow(&mut self) {
        let Some(more) = &mut self.overflow else { return };
        if more.list.is_empty() {
            more.list.clear(); // the next message goes to the start of the buffer, which is in the cache
        }
        self.has_overflow = !more.list.is_empty() || !more.index.messages.is_empty();
    }

    pub(crate) fn len(&self) -> usize {
        let more = self.overflow.as_ref().map_or(0, |more| more.list.len() + more.index.messages.len());
        usize::from(self.filled) + more
    }

    /// Returns the messages in order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = &M> + Clone {
        let (first, second) = self.slots();
        let few = self.slots[first].iter().chain(&self.slots[second]);
        few.chain(self.overflow.iter().flat_map(|more| more.list.iter().chain(more.index.messages.values())))
    }

    /// Returns the position in the list of the first matching message, or `None` if the list has none or is
    /// so long that its messages have moved to the index.
    fn find(&mut self, filter: RecvFilter) -> Option<usize> {
        let list = &self.overflow.as_ref()?.list;
        let found = list.iter().take(SCAN_LIMIT).position(|message| filter.can_take(message));
        if found.is_none() && list.len() > SCAN_LIMIT {
            self.move_to_index();
        }
        found
    }

    #[cold]
    fn move_to_index(&mut self) -> &mut MessageIndex<M> {
        let Overflow { list, index } = &mut **self.overflow.get_or_insert_default();
        self.filled = 0;
        let few = self.slots.iter_mut().filter_map(Option::take);
        few.chain(list.drain(..)).for_each(|message| index.put(message));
        index
    }
}

/// Messages in order, and by sender and tag or by tag alone, as a receive can name them. The announcement of
/// a message is filed under that message's tag, because the same receives take both.
#[derive(Debug)]
struct MessageIndex<M> {
    messages: BTreeMap<IndexKey, M>,
    /// By sender, tag, arrival and number.
    by_sender: BTreeSet<(u32, RawTag, Time, u32)>,
    /// By tag, arrival, sender and number; built at the first search that names no sender.
    by_tag: Option<BTreeSet<(RawTag, Time, u32, u32)>>,
}

/// A message's key and tag. The tag is needed because a signal of the barrier has the number of its sender's
/// next message, which may arrive at the same moment.
type IndexKey = (Time, u32, u32, RawTag);

fn index_key(message: &impl Matchable) -> IndexKey {
    let (arrival, from, number) = message.key();
    (arrival, from, number, message.tag().without_announce())
}

impl<M> Default for MessageIndex<M> {
    fn default() -> MessageIndex<M> {
        MessageIndex { messages: BTreeMap::new(), by_sender: BTreeSet::new(), by_tag: None }
    }
}

impl<M: Matchable> MessageIndex<M> {
    fn put(&mut self, message: M) {
        let (arrival, from, number, tag) = index_key(&message);
        self.by_sender.insert((from, tag, arrival, number));
        if let Some(by_tag) = &mut self.by_tag {
            by_tag.insert((tag, arrival, from, number));
        }
        self.messages.insert((arrival, from, number, tag), message);
    }

    /// Returns the key of the first matching message.
    fn find(&mut self, filter: RecvFilter) -> Option<IndexKey> {
        let RecvFilter { from, tag } = filter;
        if tag.is_wild() {
            return self.messages.iter().find(|(_, message)| filter.can_take(*message)).map(|(key, _)| *key);
        }
        if from != RecvFilter::ANY_SENDER {
            let (sender, of, arrival, number) = *self.by_sender.range((from, tag, Time::ZERO, 0)..).next()?;
            return (sender == from && of == tag).then_some((arrival, from, number, tag));
        }
        let turned = |&(from, tag, arrival, number): &_| (tag, arrival, from, number);
        let by_tag = self.by_tag.get_or_insert_with(|| self.by_sender.iter().map(turned).collect());
        let &(of, arrival, from, number) = by_tag.range((tag, Time::ZERO, 0, 0)..).next()?;
        (of == tag).then_some((arrival, from, number, tag))
    }

    fn first(&mut self, filter: RecvFilter) -> Option<&M> {
        let key = self.find(filter)?;
        self.messages.get(&key)
    }

    fn take(&mut self, filter: RecvFilter) -> Option<M> {
        let key = self.find(filter)?;
        let (message, (arrival, from, number, tag)) = (self.messages.remove(&key)?, key);
        self.by_sender.remove(&(from, tag, arrival, number));
        if let Some(by_tag) = &mut self.by_tag {
            by_tag.remove(&(tag, arrival, from, number));
        }
        Some(message)
    }
}

/// The receives of a processor that wait for a message, in the order of posting.
#[derive(Debug, Default)]
pub struct ReceiveQueue {
    /// All receives, until they are so many that they move to the index.
    list: SmallVec<[PostedReceive; 1]>,
    /// Number of receives at the front of the list that are taken already: moving up the others each time
    /// would take long.
    taken: usize,
    /// All receives by their filters, once there were many.
    index: Option<Box<ReceiveIndex>>,
}

/// A receive that waits for a message.
#[derive(Clone, Copy, Debug)]
pub struct PostedReceive {
    /// The order of posting: the receive with the lower order was posted first.
    pub order: (Time, u32),
    pub filter: RecvFilter,
}

/// Receives by their filters, those of each filter in the order of posting.
#[derive(Debug, Default)]
struct ReceiveIndex {
    /// The orders of the receives with each filter.
    posted: HashMap<RecvFilter, VecDeque<(Time, u32)>>,
    /// Number of receives whose filters match several senders or tags.
    wild: usize,
}

impl ReceiveQueue {
    /// Returns whether no receive waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending().is_empty() && self.index.as_ref().is_none_or(|index| index.posted.is_empty())
    }

    /// Returns the receives in the list that still wait.
    #[inline]
    fn pending(&self) -> &[PostedReceive] {
        &self.list[self.taken..]
    }

    /// Posts a receive. Its order is mostly the last.
    pub fn post(&mut self, receive: PostedReceive) {
        if let Some(index) = &mut self.index {
            return index.post(receive);
        }
        if 2 * self.taken > self.list.len() {
            self.list.drain(..self.taken);
            self.taken = 0;
        }
        let later = self.pending().iter().rev().take_while(|other| other.order > receive.order).count();
        self.list.insert(self.list.len() - later, receive);
    }

    /// Returns the receive that a message goes to, or `None` if no receive matches.
    #[inline]
    pub fn first(&mut self, message: &impl Matchable) -> Option<PostedReceive> {
        if self.index.is_none() {
            let found =
                self.pending().iter().take(SCAN_LIMIT).find(|receive| receive.filter.can_take(message));
            if found.is_some() || self.pending().len() <= SCAN_LIMIT {
                return found.copied();
            }
        }
        self.index().first(message)
    }

    /// Removes a receive.
    #[inline]
    pub fn remove(&mut self, receive: PostedReceive) {
        match &mut self.index {
            Some(index) => index.remove(receive),
            None => {
                let index = self.pending().iter().position(|other| other.order == receive.order);
                index.into_iter().for_each(|index| _ = self.take_from_list(index));
            }
        }
    }

    /// Removes a receive from the list. The few receives before it move by one.
    #[inline]
    fn take_from_list(&mut self, index: usize) -> PostedReceive {
        let taken = self.list[self.taken + index];
        self.list.copy_within(self.taken..self.taken + index, self.taken + 1);
        self.taken += 1;
        taken
    }

    #[cold]
    fn index(&mut self) -> &mut ReceiveIndex {
        let index = self.index.get_or_insert_default();
        self.list.drain(..).skip(self.taken).for_each(|receive| index.post(receive));
        self.taken = 0;
        index
    }

    /// Returns an upper bound on the number of [`candidates`](ReceiveQueue::candidates).
    fn max_candidates(&self) -> usize {
        self.pending().len() + self.index.as_ref().map_or(0, |index| index.posted.len())
    }

    /// Returns the receives to which a message could go: from the index, only the first of each filter.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = PostedReceive> {
        let first = |(filter, orders): (&RecvFilter, &VecDeque<(Time, u32)>)| {
            Some(PostedReceive { order: *orders.front()?, filter: *filter })
        };
        let listed = self.pending().iter().copied();
        listed.chain(self.index.iter().flat_map(move |index| index.posted.iter().filter_map(first)))
    }
}

/// Returns the first message that arrives by a time and matches a posted receive, with that receive.
pub fn first_pair<M: Matchable>(
    inbox: &mut Inbox<M>,
    posted: &mut ReceiveQueue,
    by: Time,
) -> Option<(MatchKey, PostedReceive)> {
    if posted.max_candidates() < inbox.len() {
        let first = |receive: PostedReceive| Some((inbox.first(receive.filter)?.key(), receive));
        let pairs = posted.candidates().filter_map(first);
        return pairs.min_by_key(|(key, receive)| (*key, receive.order)).filter(|(key, _)| key.0 <= by);
    }
    let mut arrived = inbox.iter().take_while(|message| message.key().0 <= by);
    arrived.find_map(|message| Some((message.key(), posted.first(message)?)))
}

impl ReceiveIndex {
    fn post(&mut self, PostedReceive { order, filter }: PostedReceive) {
        self.wild += usize::from(filter.is_wild());
        let orders = self.posted.entry(filter).or_default();
        let later = orders.iter().rev().take_while(|other| **other > order).count();
        orders.insert(orders.len() - later, order);
    }

    fn first(&self, message: &impl Matchable) -> Option<PostedReceive> {
        let (from, tag) = (message.from(), message.tag().without_announce());
        let exact = RecvFilter { from, tag };
        let first =
            |filter: RecvFilter| Some(PostedReceive { order: *self.posted.get(&filter)?.front()?, filter });
        if self.wild == 0 {
            return first(exact);
        }
        let kinds = [from, RecvFilter::ANY_SENDER]
            .into_iter()
            .flat_map(|from| tag.filters().map(|tag| RecvFilter { from, tag }));
        kinds.filter(|filter| filter.can_take(message)).filter_map(first).min_by_key(|receive| receive.order)
    }

    fn remove(&mut self, PostedReceive { order, filter }: PostedReceive) {
        let Some(orders) = self.posted.get_mut(&filter) else { return };
        match orders.front() {
            Some(first) if *first == order => _ = orders.pop_front(),
            _ => orders.retain(|other| *other != order),
        }
        if orders.is_empty() {
            self.posted.remove(&filter);
        }
        self.wild -= usize::from(filter.is_wild());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::parcel::Parcel;
    use crate::message::{ArrivedMessage, Header, Receiver, SentMessage};
    use crate::time::US;

    fn arrived(arrival: i64, from: u32, tag: RawTag, number: u32) -> ArrivedMessage {
        let parcel = Parcel::new(number);
        let header = Header { from, to: Receiver::new(0, false), number, words: 1, tag };
        ArrivedMessage { arrival: arrival * US, message: SentMessage { header, parcel } }
    }

    /// Draws a filter for one sender or any, with one of three tags or any.
    fn random_filter(rng: &mut fastrand::Rng) -> RecvFilter {
        let tag = if rng.u8(..) < 30 { RawTag::ANY } else { RawTag::user(rng.u16(0..3)) };
        RecvFilter::new(rng.bool().then(|| rng.usize(0..20)), tag)
    }

    /// Draws a message with one of three tags, or the announcement of one.
    fn message(rng: &mut fastrand::Rng, number: u32) -> ArrivedMessage {
        let tag = RawTag::user(rng.u16(0..3));
        let tag = if rng.u8(..) < 40 { tag.announce() } else { tag };
        arrived(i64::from(number) / 3 + rng.i64(0..40), rng.u32(0..20), tag, number)
    }

    /// Returns whether a filter matches a message, without the code under test.
    fn is_match(filter: RecvFilter, from: u32, tag: RawTag) -> bool {
        let is_tag = [filter.tag, filter.tag.announce()].contains(&tag) || filter.tag == RawTag::ANY;
        is_tag && (filter.from == from || filter.from == RecvFilter::ANY_SENDER)
    }

    #[test]
    fn inbox_gives_the_earliest_and_then_the_lowest_sender() {
        let mut inbox = Inbox::default();
        for (arrival, from, tag, number) in [(5, 3, 0, 0), (4, 2, 0, 1), (4, 1, 0, 2), (3, 9, 1, 3)] {
            inbox.put(arrived(arrival, from, RawTag::user(tag), number));
        }
        let (any, from_3) =
            (RecvFilter::new(None, RawTag::user(0)), RecvFilter::new(Some(3), RawTag::user(0)));
        assert_eq!(inbox.first(any).map(|e| e.arrival), Some(4 * US));
        assert_eq!(inbox.take(any).unwrap().message.header.from, 1);
        assert_eq!(inbox.take(from_3).unwrap().message.header.number, 0);
        assert_eq!(inbox.take(any).unwrap().message.header.from, 2);
        assert!(inbox.take(any).is_none());
        assert_eq!(inbox.iter().count(), 1);
    }

    /// The inbox finds the same message as a search through all, for any number and order of messages.
    #[test]
    fn inbox_agrees_with_a_linear_search() {
        for seed in crate::cases::seeds(60) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut inbox, mut all) = (Inbox::default(), Vec::new());
            for number in 0..400 {
                let message = message(&mut rng, number);
                all.push((message.key(), message.tag()));
                inbox.put(message);
                for _ in 0..if number > 200 { rng.u32(0..4) } else { rng.u32(0..2) } {
                    let filter = random_filter(&mut rng);
                    let matching = all.iter().filter(|((_, from, _), tag)| is_match(filter, *from, *tag));
                    let expected = matching.map(|(key, _)| *key).min();
                    assert_eq!(inbox.first(filter).map(Matchable::key), expected, "seed {seed}");
                    if rng.bool() {
                        assert_eq!(inbox.take(filter).as_ref().map(Matchable::key), expected, "seed {seed}");
                        all.retain(|(key, _)| Some(*key) != expected);
                    }
                }
                assert_eq!((inbox.iter().count(), inbox.len()), (all.len(), all.len()));
                assert!(inbox.iter().is_sorted_by_key(Matchable::key), "seed {seed}");
            }
        }
    }

    /// A signal of the barrier may have the key of a message.
    #[test]
    fn messages_with_equal_keys_differ_by_tag() {
        let [signal, tag] = [7, 8].map(RawTag::user);
        let mut inbox = Inbox::default();
        (0..40).for_each(|number| inbox.put(arrived(1, 3, tag, number)));
        assert!(inbox.take(RecvFilter { from: 2, tag }).is_none(), "so all lie in the index");
        inbox.put(arrived(1, 3, signal, 39));
        assert_eq!(inbox.len(), 41);
        assert!(inbox.take(RecvFilter { from: RecvFilter::ANY_SENDER, tag: signal }).is_some());
        (0..40).for_each(|_| assert!(inbox.take(RecvFilter { from: 3, tag }).is_some()));
    }

    /// The same receive is found as by a search through all, and the same first pair of a message and a
    /// receive.
    #[test]
    fn receive_queue_agrees_with_a_linear_search() {
        for seed in crate::cases::seeds(60) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut posted, mut all) = (ReceiveQueue::default(), Vec::<PostedReceive>::new());
            let (mut inbox, many) = (Inbox::default(), rng.usize(1..60));
            for number in 0..400 {
                let receive =
                    PostedReceive { order: (rng.i64(0..3) * US, number), filter: random_filter(&mut rng) };
                posted.post(receive);
                all.push(receive);
                all.sort_by_key(|receive| receive.order);
                let message = message(&mut rng, number);
                let takes = |receive: &&PostedReceive, message: &ArrivedMessage| {
                    is_match(receive.filter, message.from(), message.tag())
                };
                let expected = all.iter().find(|receive| takes(receive, &message)).map(|r| r.order);
                assert_eq!(posted.first(&message).map(|r| r.order), expected, "seed {seed}");
                inbox.put(message);
                let by = i64::from(number) / 3 * US;
                let mut there = inbox.iter().filter(|message| message.key().0 <= by);
                let pair = |message: &ArrivedMessage| {
                    let receive = all.iter().find(|receive| takes(receive, message))?;
                    Some((message.key(), receive.order))
                };
                let expected = there.find_map(pair);
                drop(there);
                let found = first_pair(&mut inbox, &mut posted, by);
                assert_eq!(found.map(|(key, receive)| (key, receive.order)), expected, "seed {seed}");
                if let Some((_, order)) = expected
                    && all.len() > many
                {
                    let receive = *all.iter().find(|receive| receive.order == order).unwrap();
                    posted.remove(receive);
                    all.retain(|receive| receive.order != order);
                }
                if inbox.len() > many {
                    inbox.take(random_filter(&mut rng));
                }
                assert_eq!(posted.is_empty(), all.is_empty());
            }
        }
    }
}
