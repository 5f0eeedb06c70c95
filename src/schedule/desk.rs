//! Where a rank's messages find its receives, if it has many under way.
//!
//! As on the machine a message goes to the receive that was posted first of those that take it, and a receive takes the
//! message that arrived first. Those that have found each other wait here until the rank gets round to them.

use super::early::EarlyOf;
use super::mail::Mail;
use super::unmet::Unmet;
use crate::message::matching::Receive;
use crate::message::{Matched, RawTag, Want};
use crate::time::Time;

/// A message and its receive, in one cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// The message.
    pub mail: Mail,
    /// Since when the receive is posted.
    since: Time,
    /// What tag it takes.
    tag: RawTag,
    /// From whom it takes it.
    from: u32,
    /// The operation that receives.
    pub operation: u32,
    /// The pair before it in its rank's list.
    before: u32,
    /// The pair after it, or the free place after this one.
    after: u32,
}

impl Pair {
    /// When both are there.
    #[inline]
    pub(super) fn ready(&self) -> Time {
        self.mail.arrival.max(self.since)
    }

    /// The receive.
    fn receive(&self) -> Receive {
        Receive { place: (self.since, self.operation), want: Want { from: self.from, tag: self.tag } }
    }

    /// Its place among others: both are there first, or the receive was written first.
    fn key(&self) -> (Time, u32) {
        (self.ready(), self.operation)
    }
}

/// No pair.
const NONE: u32 = u32::MAX;

/// A rank's receives and messages.
#[derive(Debug)]
pub(super) struct Desk {
    /// What has not found what it needs.
    unmet: Unmet<Mail>,
    /// The first pair, by the time at which both are there.
    head: u32,
    /// The last one.
    tail: u32,
}

impl Default for Desk {
    fn default() -> Desk {
        Desk { unmet: Unmet::default(), head: NONE, tail: NONE }
    }
}

/// The pairs of all ranks.
#[derive(Debug)]
pub(super) struct Pairs {
    /// The pairs, and those places that are free.
    pairs: Vec<Pair>,
    /// The first free place.
    free: u32,
}

impl Pairs {
    /// There is none.
    pub(super) fn new() -> Pairs {
        Pairs { pairs: Vec::new(), free: NONE }
    }

    /// A message has come. One that arrives before others may take the receive of one of them. Returns whether one of the
    /// rank's receives has another message than before.
    #[inline]
    pub(super) fn deliver(&mut self, desk: &mut Desk, early: &mut EarlyOf<'_, '_>, mut mail: Mail) -> bool {
        let mut is_new = false;
        loop {
            let found = desk.unmet.first(early, &mail);
            let mut best = (found.map_or((Time::MAX, NONE), |found| found.receive.place), NONE);
            let mut place = desk.tail;
            while place != NONE && self.pairs[place as usize].ready() >= mail.arrival {
                let other = &self.pairs[place as usize];
                let receive = other.receive();
                if other.mail.key() > mail.key() && receive.want.takes(&mail) {
                    best = best.min((receive.place, place));
                }
                place = other.before;
            }
            match (best, found) {
                ((_, NONE), None) => {
                    desk.unmet.put(mail);
                    return is_new;
                }
                ((_, NONE), Some(found)) => {
                    let receive = desk.unmet.takes(early, found);
                    return self.pair(desk, mail, receive) || is_new;
                }
                ((_, place), _) => {
                    let other = self.remove(desk, place);
                    is_new |= self.pair(desk, mail, other.receive());
                    mail = other.mail;
                }
            }
        }
    }

    /// An operation waits for a message from a time on. It may be there already.
    #[inline]
    pub(super) fn post(&mut self, desk: &mut Desk, want: Want, since: Time, operation: u32) {
        let receive = Receive { place: (since, operation), want };
        if let Some(mail) = desk.unmet.post(receive) {
            self.pair(desk, mail, receive);
        }
    }

    /// A message has found its receive.
    #[inline]
    fn pair(&mut self, desk: &mut Desk, mail: Mail, receive: Receive) -> bool {
        let Receive { place: (since, operation), want: Want { from, tag } } = receive;
        let mut pair = Pair { mail, since, tag, from, operation, before: NONE, after: NONE };
        let mut before = desk.tail;
        while before != NONE && self.pairs[before as usize].key() > pair.key() {
            before = self.pairs[before as usize].before;
        }
        let after = match before {
            NONE => desk.head,
            before => self.pairs[before as usize].after,
        };
        (pair.before, pair.after) = (before, after);
        let here = match self.free {
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
        *self.after(desk, before) = here;
        *self.before(desk, after) = here;
        true
    }

    /// Takes a pair out.
    #[inline]
    fn remove(&mut self, desk: &mut Desk, place: u32) -> Pair {
        let pair = self.pairs[place as usize];
        *self.after(desk, pair.before) = pair.after;
        *self.before(desk, pair.after) = pair.before;
        self.pairs[place as usize].after = self.free;
        self.free = place;
        pair
    }

    /// Which pair comes after one, or first of all.
    #[inline]
    fn after<'d>(&'d mut self, desk: &'d mut Desk, place: u32) -> &'d mut u32 {
        if place == NONE { &mut desk.head } else { &mut self.pairs[place as usize].after }
    }

    /// Which pair comes before one, or last of all.
    #[inline]
    fn before<'d>(&'d mut self, desk: &'d mut Desk, place: u32) -> &'d mut u32 {
        if place == NONE { &mut desk.tail } else { &mut self.pairs[place as usize].before }
    }

    /// The message whose reception comes first, and its receive: both are there first, or that was written first.
    #[inline]
    pub(super) fn first(&self, desk: &Desk) -> Option<&Pair> {
        if desk.head == NONE { None } else { Some(&self.pairs[desk.head as usize]) }
    }

    /// Takes that pair.
    #[inline]
    pub(super) fn take_first(&mut self, desk: &mut Desk) -> Option<Pair> {
        if desk.head == NONE { None } else { Some(self.remove(desk, desk.head)) }
    }
}

impl Desk {
    /// Whether a message that comes now can find a receive, or a message has found one.
    #[inline]
    pub(super) fn expects(&self) -> bool {
        self.head != NONE || self.unmet.expects()
    }

    /// The messages that no receive has taken.
    pub(super) fn left(&self) -> impl Iterator<Item = &Mail> {
        self.unmet.left()
    }

    /// An early receive is posted, and has no message.
    #[inline]
    pub(super) fn posts_early(&mut self) {
        self.unmet.posts_early();
    }
}
