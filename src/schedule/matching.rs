//! Matches a rank's messages with its receives.
//!
//! As on the machine, a message goes to the first-posted receive that accepts it, and a receive takes the
//! accepted message that arrived first. Matched pairs wait here until the rank performs the reception.

use super::early::RankEarlyReceives;
use super::mail::Mail;
use super::unmatched::UnmatchedSet;
use crate::message::matching::PostedReceive;
use crate::message::{Matchable, RawTag, RecvFilter};
use crate::time::Time;

/// A message and its receive, in one cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchedPair {
    pub mail: Mail,
    /// The moment at which the receive was posted.
    since: Time,
    tag: RawTag,
    from: u32,
    pub operation: u32,
    /// The pair before this one in its rank's list.
    before: u32,
    /// The pair after this one, or for a free place the next free place.
    after: u32,
}

impl MatchedPair {
    /// Returns the moment from which both the message and its receive are there.
    #[inline]
    pub(super) fn ready(&self) -> Time {
        self.mail.arrival.max(self.since)
    }

    fn receive(&self) -> PostedReceive {
        PostedReceive {
            place: (self.since, self.operation),
            filter: RecvFilter { from: self.from, tag: self.tag },
        }
    }

    /// Returns the sort key of the pair: the earliest ready first, then the receive that was written first.
    fn key(&self) -> (Time, u32) {
        (self.ready(), self.operation)
    }
}

/// Stands for no pair.
const NONE: u32 = u32::MAX;

/// Receives and messages of one rank.
#[derive(Debug)]
pub(super) struct RankMatching {
    unmatched: UnmatchedSet<Mail>,
    /// The first pair in the order of [`MatchedPair::key`].
    head: u32,
    /// The last pair.
    tail: u32,
}

impl Default for RankMatching {
    fn default() -> RankMatching {
        RankMatching { unmatched: UnmatchedSet::default(), head: NONE, tail: NONE }
    }
}

/// The matched pairs of all ranks, one linked list for each rank.
#[derive(Debug)]
pub(super) struct MatchedPairs {
    /// The pairs, and the places that are free.
    pairs: Vec<MatchedPair>,
    /// The first free place, or [`NONE`].
    free: u32,
}

impl MatchedPairs {
    pub(super) fn new() -> MatchedPairs {
        MatchedPairs { pairs: Vec::new(), free: NONE }
    }

    /// Adds a message. If it arrives before others that are already matched, it may take the receive of one
    /// of them. Returns whether any receive of the rank got a different message.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        matching: &mut RankMatching,
        early: &mut RankEarlyReceives<'_, '_>,
        mut mail: Mail,
    ) -> bool {
        let mut is_new = false;
        loop {
            let found = matching.unmatched.find_receive(early, &mail);
            let mut best = (found.map_or((Time::MAX, NONE), |found| found.receive.place), NONE);
            let mut place = matching.tail;
            while place != NONE && self.pairs[place as usize].ready() >= mail.arrival {
                let other = &self.pairs[place as usize];
                let receive = other.receive();
                if other.mail.key() > mail.key() && receive.filter.can_take(&mail) {
                    best = best.min((receive.place, place));
                }
                place = other.before;
            }
            match (best, found) {
                ((_, NONE), None) => {
                    matching.unmatched.add_message(mail);
                    return is_new;
                }
                ((_, NONE), Some(found)) => {
                    let receive = matching.unmatched.take_receive(early, found);
                    return self.insert(matching, mail, receive) || is_new;
                }
                ((_, place), _) => {
                    let other = self.remove(matching, place);
                    is_new |= self.insert(matching, mail, other.receive());
                    mail = other.mail;
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
        let receive = PostedReceive { place: (since, operation), filter };
        if let Some(mail) = matching.unmatched.post(receive) {
            self.insert(matching, mail, receive);
        }
    }

    /// Inserts a pair into its rank's list. Always returns `true`.
    #[inline]
    fn insert(&mut self, matching: &mut RankMatching, mail: Mail, receive: PostedReceive) -> bool {
        let PostedReceive { place: (since, operation), filter: RecvFilter { from, tag } } = receive;
        let mut pair = MatchedPair { mail, since, tag, from, operation, before: NONE, after: NONE };
        let mut before = matching.tail;
        while before != NONE && self.pairs[before as usize].key() > pair.key() {
            before = self.pairs[before as usize].before;
        }
        let after = match before {
            NONE => matching.head,
            before => self.pairs[before as usize].after,
        };
        (pair.before, pair.after) = (before, after);
        let new = match self.free {
            NONE => {
                self.pairs.push(pair);
                (self.pairs.len() - 1) as u32
            }
            place => {
                self.free = self.pairs[place as usize].after;
                self.pairs[place as usize] = pair;
                place
            }
        };
        *self.after(matching, before) = new;
        *self.before(matching, after) = new;
        true
    }

    /// Removes a pair.
    #[inline]
    fn remove(&mut self, matching: &mut RankMatching, place: u32) -> MatchedPair {
        let pair = self.pairs[place as usize];
        *self.after(matching, pair.before) = pair.after;
        *self.before(matching, pair.after) = pair.before;
        self.pairs[place as usize].after = self.free;
        self.free = place;
        pair
    }

    /// Returns the link to the pair after `place`, or to the first pair if `place` is [`NONE`].
    #[inline]
    fn after<'d>(&'d mut self, matching: &'d mut RankMatching, place: u32) -> &'d mut u32 {
        if place == NONE { &mut matching.head } else { &mut self.pairs[place as usize].after }
    }

    /// Returns the link to the pair before `place`, or to the last pair if `place` is [`NONE`].
    #[inline]
    fn before<'d>(&'d mut self, matching: &'d mut RankMatching, place: u32) -> &'d mut u32 {
        if place == NONE { &mut matching.tail } else { &mut self.pairs[place as usize].before }
    }

    /// Returns the first pair in the order of [`MatchedPair::key`].
    #[inline]
    pub(super) fn first(&self, matching: &RankMatching) -> Option<&MatchedPair> {
        if matching.head == NONE { None } else { Some(&self.pairs[matching.head as usize]) }
    }

    /// Removes the first pair and returns it.
    #[inline]
    pub(super) fn take_first(&mut self, matching: &mut RankMatching) -> Option<MatchedPair> {
        if matching.head == NONE { None } else { Some(self.remove(matching, matching.head)) }
    }
}

impl RankMatching {
    /// Returns whether a receive is posted, with or without a message.
    #[inline]
    pub(super) fn has_receives(&self) -> bool {
        self.head != NONE || self.unmatched.has_receives()
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
