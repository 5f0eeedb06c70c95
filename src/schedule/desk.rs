//! Where a rank's messages find its receives, if it has many under way.
//!
//! As on the machine a message goes to the receive that was posted first of those that take it, and a receive takes the
//! message that arrived first. Those that have found each other wait here until the rank gets round to them.

use super::Packed;
use crate::message::matching::{Inbox, Posted, Receive};
use crate::message::{Matched, RawTag, Want};
use crate::time::Time;

/// A message at its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mail {
    /// When it is there.
    pub arrival: Time,
    /// Its sender.
    pub from: u32,
    /// The operation that sent it.
    pub sent_by: u32,
    /// How many messages its sender had sent before.
    pub number: u32,
    /// What it is about.
    pub tag: RawTag,
    /// Its length.
    pub words: u32,
}

impl Matched for Mail {
    #[inline]
    fn arrival(&self) -> Time {
        self.arrival
    }

    #[inline]
    fn from(&self) -> u32 {
        self.from
    }

    #[inline]
    fn number(&self) -> u32 {
        self.number
    }

    #[inline]
    fn tag(&self) -> RawTag {
        self.tag
    }
}

/// What an operation receives.
pub(super) fn wanted(operation: &Packed) -> Want {
    let named = |number: u32| (number != super::ANY).then_some(number);
    Want { from: operation.peer, tag: RawTag::scheduled(named(operation.tag)) }
}

/// A message and its receive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// When both are there.
    pub ready: Time,
    /// The message.
    pub mail: Mail,
    /// The receive.
    receive: Receive,
    /// The pair before it in its rank's list.
    before: u32,
    /// The pair after it, or the free place after this one.
    after: u32,
}

impl Pair {
    /// The operation that receives.
    pub(super) fn operation(&self) -> u32 {
        self.receive.place.1
    }

    /// Its place among others: both are there first, or the receive was written first.
    fn key(&self) -> (Time, u32) {
        (self.ready, self.operation())
    }
}

/// No pair.
const NONE: u32 = u32::MAX;

/// A rank's receives and messages.
#[derive(Debug)]
pub(super) struct Desk {
    /// Messages that have no receive.
    mail: Inbox<Mail>,
    /// Receives that have no message.
    posted: Posted,
    /// The first pair, by the time at which both are there.
    head: u32,
    /// The last one.
    tail: u32,
    /// The last message so far: mostly they come in order.
    latest: (Time, u32),
}

impl Default for Desk {
    fn default() -> Desk {
        let (mail, posted) = (Inbox::default(), Posted::default());
        Desk { mail, posted, head: NONE, tail: NONE, latest: (Time::ZERO, 0) }
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

    /// A message has come, in the order of its arrival. Returns whether one of the rank's receives has another message than
    /// before.
    #[inline]
    pub(super) fn deliver(&mut self, desk: &mut Desk, mail: Mail) -> bool {
        if (mail.arrival, mail.from) < desk.latest {
            return self.deliver_late(desk, mail);
        }
        desk.latest = (mail.arrival, mail.from);
        match desk.posted.take(&mail) {
            Some(receive) => self.pair(desk, mail, receive),
            None => {
                desk.mail.put(mail);
                false
            }
        }
    }

    /// A message has come that arrives before others that have, so that one of them may have its receive.
    fn deliver_late(&mut self, desk: &mut Desk, mut mail: Mail) -> bool {
        let mut is_new = false;
        loop {
            let posted = desk.posted.first(&mail);
            let mut best = (posted.map_or((Time::MAX, NONE), |receive| receive.place), NONE);
            let mut place = desk.tail;
            while place != NONE && self.pairs[place as usize].ready >= mail.arrival {
                let other = &self.pairs[place as usize];
                if other.mail.key() > mail.key() && other.receive.want.takes(&mail) {
                    best = best.min((other.receive.place, place));
                }
                place = other.before;
            }
            match (best, posted) {
                ((_, NONE), None) => {
                    desk.mail.put(mail);
                    return is_new;
                }
                ((_, NONE), Some(receive)) => {
                    desk.posted.remove(receive);
                    return self.pair(desk, mail, receive) || is_new;
                }
                ((_, place), _) => {
                    let other = self.remove(desk, place);
                    is_new |= self.pair(desk, mail, other.receive);
                    mail = other.mail;
                }
            }
        }
    }

    /// An operation waits for a message from a time on. It may be there already.
    #[inline]
    pub(super) fn post(&mut self, desk: &mut Desk, want: Want, since: Time, operation: u32) {
        let receive = Receive { place: (since, operation), want };
        match desk.mail.take(want) {
            Some(mail) => _ = self.pair(desk, mail, receive),
            None => desk.posted.post(receive),
        }
    }

    /// A message has found its receive.
    #[inline]
    fn pair(&mut self, desk: &mut Desk, mail: Mail, receive: Receive) -> bool {
        let ready = mail.arrival.max(receive.place.0);
        let mut before = desk.tail;
        while before != NONE && self.pairs[before as usize].key() > (ready, receive.place.1) {
            before = self.pairs[before as usize].before;
        }
        let after = match before {
            NONE => desk.head,
            before => self.pairs[before as usize].after,
        };
        let pair = Pair { ready, mail, receive, before, after };
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
        self.head != NONE || !self.posted.is_empty()
    }

    /// The messages that no receive has taken.
    pub(super) fn left(&self) -> impl Iterator<Item = &Mail> {
        self.mail.iter()
    }
}
