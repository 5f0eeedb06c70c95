//! Receives that have no message, and messages that have no receive: what the two rules have in common.

use super::early::EarlyOf;
use crate::message::Matched;
use crate::message::matching::{Inbox, Posted, Receive};

/// A rank's receives without messages, and its messages without receives.
#[derive(Debug)]
pub(super) struct Unmet<M> {
    /// All but early receives, once there were any. They lie elsewhere, since in most schedules there are none.
    open: Option<Box<Open<M>>>,
    /// How many early receives there are.
    early: u32,
}

/// Messages, and receives that are not early.
#[derive(Debug)]
struct Open<M> {
    mail: Inbox<M>,
    posted: Posted,
}

/// A receive that takes a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The receive.
    pub receive: Receive,
    /// Whether it is an early one.
    is_early: bool,
}

impl<M> Default for Unmet<M> {
    fn default() -> Unmet<M> {
        Unmet { open: None, early: 0 }
    }
}

impl<M: Matched> Unmet<M> {
    #[inline]
    fn open(&mut self) -> &mut Open<M> {
        self.open.get_or_insert_with(|| Box::new(Open { mail: Inbox::default(), posted: Posted::default() }))
    }

    /// Whether there are receives.
    #[inline]
    pub(super) fn expects(&self) -> bool {
        self.early > 0 || self.open.as_ref().is_some_and(|open| !open.posted.is_empty())
    }

    /// The messages.
    pub(super) fn left(&self) -> impl Iterator<Item = &M> {
        self.open.iter().flat_map(|open| open.mail.iter())
    }

    /// A message has come for which there is no receive.
    #[inline]
    pub(super) fn put(&mut self, message: M) {
        self.open().mail.put(message);
    }

    /// An early receive is posted. No message was there before it.
    #[inline]
    pub(super) fn posts_early(&mut self) {
        self.early += 1;
    }

    /// A receive is posted. Returns the message that was there for it, if any.
    #[inline]
    pub(super) fn post(&mut self, receive: Receive) -> Option<M> {
        let Open { mail, posted } = self.open();
        let message = mail.take(receive.want);
        if message.is_none() {
            posted.post(receive);
        }
        message
    }

    /// The receive that takes a message: the one that was posted first.
    #[inline]
    pub(super) fn first(&mut self, early: &EarlyOf<'_, '_>, message: &M) -> Option<Found> {
        let posted = self.open.as_mut().and_then(|open| open.posted.first(message));
        let early = if self.early > 0 && message.tag().is_first() { early.first(message) } else { None };
        let posted = posted.map(|receive| Found { receive, is_early: false });
        let early = early.map(|receive| Found { receive, is_early: true });
        posted.into_iter().chain(early).min_by_key(|found| found.receive.place)
    }

    /// A receive has found its message, and waits no more.
    #[inline]
    pub(super) fn takes(
        &mut self,
        early: &mut EarlyOf<'_, '_>,
        Found { receive, is_early }: Found,
    ) -> Receive {
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
