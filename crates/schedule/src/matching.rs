//! Matches a rank's messages with its receives.
//!
//! As on the machine, a message goes to the first-posted receive that accepts it, and a receive takes the
//! accepted message that arrived first. Matched pairs wait here until the rank performs the reception.

use loggp_model::message::matching::PostedReceive;
use loggp_model::message::{MatchKey, Matchable, RawTag, RecvFilter};
use loggp_model::time::Time;

use super::early::RankEarlyReceives;
use super::lists::{List, ListPool, Sorted};
use super::unmatched::UnmatchedSet;

/// A message on its way to its receiver, or waiting there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mail {
    /// Time of arrival.
    pub arrival: Time,
    pub from: u32,
    /// The send operation.
    pub sent_by: u32,
    /// The number of messages that the sender had sent before.
    pub number: u32,
    pub tag: RawTag,
    /// Length in words.
    pub words: u32,
}

impl Matchable for Mail {
    #[inline]
    fn key(&self) -> MatchKey {
        (self.arrival, self.from, self.number)
    }

    #[inline]
    fn tag(&self) -> RawTag {
        self.tag
    }
}

/// A message and its receive, in one cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchedPair {
    pub mail: Mail,
    /// The moment at which the receive was posted.
    since: Time,
    tag: RawTag,
    from: u32,
    pub operation: u32,
}

/// The earliest ready comes first, then the receive that was written first.
impl Sorted for MatchedPair {
    #[inline]
    fn key(&self) -> (Time, u32) {
        (self.ready(), self.operation)
    }
}

impl MatchedPair {
    /// Returns the moment from which both the message and its receive are there.
    #[inline]
    pub(super) fn ready(&self) -> Time {
        self.mail.arrival.max(self.since)
    }

    fn receive(&self) -> PostedReceive {
        PostedReceive {
            order: (self.since, self.operation),
            filter: RecvFilter { from: self.from, tag: self.tag },
        }
    }
}

/// A reception that a rank can do: of a message that has found its receive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reception {
    pub operation: u32,
    /// From this moment on both the message and its receive are there.
    pub ready: Time,
    pub from: u32,
    /// Length in words.
    pub words: u32,
}

/// Receives and messages of one rank.
#[derive(Debug)]
pub(super) struct RankMatching {
    unmatched: UnmatchedSet<Mail>,
    pairs: List,
    /// True if at most one receive is posted at a time, as of operations that wait for each other in a row. Then its message
    /// is taken when it is received.
    pub is_in_row: bool,
    /// That receive, and the key of its first message; the last possible key if there is none.
    only: Option<PostedReceive>,
    first: MatchKey,
}

/// Comes after the key of any message.
const NONE: MatchKey = (Time::MAX, u32::MAX, u32::MAX);

/// The matched pairs of all ranks, one list for each rank.
pub(super) type MatchedPairs = ListPool<MatchedPair>;

impl MatchedPairs {
    /// Adds a message. If it arrives before others that are already matched, it may take the receive of one
    /// of them. Returns whether any receive of the rank got a different message.
    pub(super) fn deliver(
        &mut self,
        matching: &mut RankMatching,
        early: &mut RankEarlyReceives<'_, '_>,
        mut mail: Mail,
    ) -> bool {
        let mut is_new = false;
        loop {
            let found = matching.unmatched.find_receive(early, &mail);
            let later =
                self.iter_back(&matching.pairs).take_while(|(_, other)| other.ready() >= mail.arrival);
            let can_take =
                |other: &MatchedPair| other.mail.key() > mail.key() && other.receive().filter.can_take(&mail);
            let taken =
                later.filter(|(_, other)| can_take(other)).map(|(node, other)| (other.receive().order, node));
            let best =
                taken.min().filter(|(posted, _)| found.is_none_or(|found| *posted < found.receive.order));
            match (best, found) {
                (Some((_, node)), _) => {
                    let other = self.remove(&mut matching.pairs, node);
                    self.match_with(matching, mail, other.receive());
                    (mail, is_new) = (other.mail, true);
                }
                (None, Some(found)) => {
                    let receive = matching.unmatched.take_receive(early, found);
                    self.match_with(matching, mail, receive);
                    return true;
                }
                (None, None) => {
                    matching.unmatched.add_message(mail);
                    return is_new;
                }
            }
        }
    }

    /// Posts the receive of `operation` at time `since`, and matches it with a message that is already there.
    #[inline]
    pub(super) fn post(
        &mut self,
        matching: &mut RankMatching,
        filter: RecvFilter,
        since: Time,
        operation: u32,
    ) {
        let receive = PostedReceive { order: (since, operation), filter };
        if matching.is_in_row {
            matching.post_in_row(receive);
        } else if let Some(mail) = matching.unmatched.post(receive) {
            self.match_with(matching, mail, receive);
        }
    }

    /// Matches a message with a receive.
    #[inline]
    fn match_with(&mut self, matching: &mut RankMatching, mail: Mail, receive: PostedReceive) {
        let PostedReceive { order: (since, operation), filter: RecvFilter { from, tag } } = receive;
        self.insert(&mut matching.pairs, MatchedPair { mail, since, tag, from, operation });
    }

    /// Returns the receive that a rank will do next, as far as is known.
    #[inline]
    pub(super) fn next_receive(&self, matching: &RankMatching) -> Option<u32> {
        match matching.is_in_row {
            true => matching.only.map(|PostedReceive { order: (_, operation), .. }| operation),
            false => self.first(&matching.pairs).map(|pair| pair.operation),
        }
    }

    /// Returns the first reception of a rank.
    #[inline]
    pub(super) fn first_reception(&self, matching: &mut RankMatching) -> Option<Reception> {
        if matching.is_in_row {
            return matching.reception_in_row();
        }
        let pair = self.first(&matching.pairs)?;
        let Mail { from, words, .. } = pair.mail;
        Some(Reception { operation: pair.operation, ready: pair.ready(), from, words })
    }

    /// Removes the first reception of a rank, and returns it with its message.
    #[inline]
    pub(super) fn take_reception(&mut self, matching: &mut RankMatching) -> Option<(u32, Time, Mail)> {
        if matching.is_in_row {
            let PostedReceive { order: (since, operation), filter } = matching.only.take()?;
            let mail = matching.unmatched.take_message(filter)?;
            return Some((operation, mail.arrival.max(since), mail));
        }
        let pair = self.take_first(&mut matching.pairs)?;
        Some((pair.operation, pair.ready(), pair.mail))
    }
}

impl RankMatching {
    /// Creates it for a rank whose operations wait for each other in a row, or not.
    pub(super) fn new(is_in_row: bool) -> RankMatching {
        let (unmatched, pairs) = (UnmatchedSet::default(), List::default());
        RankMatching { unmatched, pairs, is_in_row, only: None, first: NONE }
    }

    /// Posts the only receive. Returns its reception, if there is a message for it.
    #[inline(always)]
    pub(super) fn post_in_row(&mut self, receive: PostedReceive) -> Option<Reception> {
        self.only = Some(receive);
        self.reception_in_row()
    }

    /// Returns the only reception, if there is a message for it.
    #[inline(always)]
    fn reception_in_row(&mut self) -> Option<Reception> {
        let PostedReceive { order: (since, operation), filter } = self.only?;
        let first = self.unmatched.first_message(filter);
        self.first = first.map_or(NONE, Matchable::key);
        let Mail { arrival, from, words, .. } = *first?;
        Some(Reception { operation, ready: arrival.max(since), from, words })
    }

    /// Adds a message. Returns whether the only receive gets a different one.
    #[inline(always)]
    pub(super) fn deliver_in_row(&mut self, mail: Mail) -> bool {
        let is_new = mail.key() < self.first && self.only.is_some_and(|only| only.filter.can_take(&mail));
        if is_new {
            self.first = mail.key();
        }
        self.unmatched.add_message(mail);
        is_new
    }

    /// Returns whether a receive is posted, with or without a message.
    #[inline]
    pub(super) fn has_receives(&self) -> bool {
        !self.pairs.is_empty() || self.only.is_some() || self.unmatched.has_receives()
    }

    /// Returns the messages that no receive has taken.
    pub(super) fn unreceived(&self) -> impl Iterator<Item = &Mail> {
        self.unmatched.messages()
    }

    /// Counts an early receive as posted, without a message.
    #[inline]
    pub(super) fn post_early(&mut self) {
        self.unmatched.post_early();
    }
}
