//! Where a rank's messages find its receives, if it has many under way.
//!
//! As on the machine a message goes to the receive that was posted first of those that take it, and a receive takes the
//! message that arrived first. Those that have found each other wait here until the rank gets round to them.

use super::early::EarlyOf;
use super::mail::Mail;
use crate::message::matching::{Inbox, Posted, Receive};
use crate::message::{Matched, Want};
use crate::time::Time;

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

/// A receive that takes a message.
#[derive(Clone, Copy, Debug)]
struct Found {
    receive: Receive,
    /// Whether it is an early one.
    is_early: bool,
}

/// No pair.
const NONE: u32 = u32::MAX;

/// A rank's receives and messages.
#[derive(Debug)]
pub(super) struct Desk {
    /// What has not found what it needs, once there was any. It lies elsewhere, since in most schedules there is none.
    open: Option<Box<Open>>,
    /// How many early receives have no message.
    early: u32,
    /// The first pair, by the time at which both are there.
    head: u32,
    /// The last one.
    tail: u32,
    /// The last message so far: mostly they come in order.
    latest: (Time, u32),
}

/// Messages without receives, and receives without messages.
#[derive(Debug, Default)]
struct Open {
    /// Messages that have no receive.
    mail: Inbox<Mail>,
    /// Receives that have no message, but for early ones.
    posted: Posted,
}

impl Default for Desk {
    fn default() -> Desk {
        Desk { open: None, early: 0, head: NONE, tail: NONE, latest: (Time::ZERO, 0) }
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
    pub(super) fn deliver(&mut self, desk: &mut Desk, early: &mut EarlyOf<'_, '_>, mail: Mail) -> bool {
        if (mail.arrival, mail.from) < desk.latest {
            return self.deliver_late(desk, early, mail);
        }
        desk.latest = (mail.arrival, mail.from);
        match desk.first(early, &mail) {
            Some(found) => {
                let receive = desk.takes(early, found);
                self.pair(desk, mail, receive)
            }
            None => {
                desk.open().mail.put(mail);
                false
            }
        }
    }

    /// A message has come that arrives before others that have, so that one of them may have its receive.
    fn deliver_late(&mut self, desk: &mut Desk, early: &mut EarlyOf<'_, '_>, mut mail: Mail) -> bool {
        let mut is_new = false;
        loop {
            let found = desk.first(early, &mail);
            let mut best = (found.map_or((Time::MAX, NONE), |found| found.receive.place), NONE);
            let mut place = desk.tail;
            while place != NONE && self.pairs[place as usize].ready >= mail.arrival {
                let other = &self.pairs[place as usize];
                if other.mail.key() > mail.key() && other.receive.want.takes(&mail) {
                    best = best.min((other.receive.place, place));
                }
                place = other.before;
            }
            match (best, found) {
                ((_, NONE), None) => {
                    desk.open().mail.put(mail);
                    return is_new;
                }
                ((_, NONE), Some(found)) => {
                    let receive = desk.takes(early, found);
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
        match desk.open().mail.take(want) {
            Some(mail) => _ = self.pair(desk, mail, receive),
            None => desk.open().posted.post(receive),
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
        let is_posted = || self.open.as_ref().is_some_and(|open| !open.posted.is_empty());
        self.head != NONE || self.early > 0 || is_posted()
    }

    /// The messages that no receive has taken.
    pub(super) fn left(&self) -> impl Iterator<Item = &Mail> {
        self.open.iter().flat_map(|open| open.mail.iter())
    }

    /// An early receive is posted, and has no message.
    #[inline]
    pub(super) fn posts_early(&mut self) {
        self.early += 1;
    }

    #[inline]
    fn open(&mut self) -> &mut Open {
        self.open.get_or_insert_default()
    }

    /// The receive without a message that takes one: the one that was posted first.
    #[inline]
    fn first(&mut self, early: &EarlyOf<'_, '_>, mail: &Mail) -> Option<Found> {
        let posted = self.open.as_mut().and_then(|open| open.posted.first(mail));
        let early = if self.early > 0 && mail.tag.is_first() { early.first(mail) } else { None };
        let posted = posted.map(|receive| Found { receive, is_early: false });
        let early = early.map(|receive| Found { receive, is_early: true });
        posted.into_iter().chain(early).min_by_key(|found| found.receive.place)
    }

    /// A receive has found its message, and waits no more.
    #[inline]
    fn takes(&mut self, early: &mut EarlyOf<'_, '_>, Found { receive, is_early }: Found) -> Receive {
        match is_early {
            true => {
                self.early -= 1;
                early.meets(receive);
            }
            false => self.open().posted.remove(receive),
        }
        receive
    }
}
