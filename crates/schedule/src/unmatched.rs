//! Receives without messages and messages without receives, for both sets of rules.

use loggp_model::message::matching::{Inbox, PostedReceive, ReceiveQueue};
use loggp_model::message::{Matchable, RecvFilter};

use super::early::RankEarlyReceives;

/// A rank's receives without messages, and its messages without receives.
#[derive(Debug)]
pub(super) struct UnmatchedSet<M> {
    /// All but early receives, allocated on first use: most schedules have no others.
    open: Option<Box<OpenQueues<M>>>,
    /// The number of early receives that have no message yet.
    early: u32,
}

/// Messages, and receives that are not early.
#[derive(Debug)]
struct OpenQueues<M> {
    mail: Inbox<M>,
    posted: ReceiveQueue,
}

/// A receive that accepts a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchingReceive {
    pub receive: PostedReceive,
    is_early: bool,
}

impl<M> Default for UnmatchedSet<M> {
    fn default() -> UnmatchedSet<M> {
        UnmatchedSet { open: None, early: 0 }
    }
}

impl<M: Matchable> UnmatchedSet<M> {
    #[inline]
    fn open(&mut self) -> &mut OpenQueues<M> {
        self.open.get_or_insert_with(|| {
            Box::new(OpenQueues { mail: Inbox::default(), posted: ReceiveQueue::default() })
        })
    }

    /// Returns whether a receive waits for a message.
    #[inline]
    pub(super) fn has_receives(&self) -> bool {
        self.early > 0 || self.open.as_ref().is_some_and(|open| !open.posted.is_empty())
    }

    /// Returns the messages without receives.
    pub(super) fn messages(&self) -> impl Iterator<Item = &M> {
        self.open.iter().flat_map(|open| open.mail.iter())
    }

    /// Adds a message for which there is no receive.
    #[inline(always)]
    pub(super) fn add_message(&mut self, message: M) {
        self.open().mail.put(message);
    }

    /// Returns the first message without a receive that a filter takes.
    #[inline]
    pub(super) fn first_message(&mut self, filter: RecvFilter) -> Option<&M> {
        self.open.as_mut()?.mail.first(filter)
    }

    /// Takes the first message without a receive that a filter takes.
    #[inline]
    pub(super) fn take_message(&mut self, filter: RecvFilter) -> Option<M> {
        let mut taken = None;
        self.open.as_mut()?.mail.take_into(filter, &mut taken);
        taken
    }

    /// Counts an early receive as posted. No message can have arrived before it.
    #[inline]
    pub(super) fn post_early(&mut self) {
        self.early += 1;
    }

    /// Posts a receive. Returns the message that was there for it, or `None` if the receive has to wait.
    #[inline]
    pub(super) fn post(&mut self, receive: PostedReceive) -> Option<M> {
        let OpenQueues { mail, posted } = self.open();
        let message = mail.take(receive.filter);
        if message.is_none() {
            posted.post(receive);
        }
        message
    }

    /// Returns the receive that accepts a message and was posted first.
    #[inline]
    pub(super) fn find_receive(
        &mut self,
        early: &RankEarlyReceives<'_, '_>,
        message: &M,
    ) -> Option<MatchingReceive> {
        let posted = self.open.as_mut().and_then(|open| open.posted.first(message));
        let early = if self.early > 0 && message.tag().is_start_of_send() {
            early.find_receive(message)
        } else {
            None
        };
        let posted = posted.map(|receive| MatchingReceive { receive, is_early: false });
        let early = early.map(|receive| MatchingReceive { receive, is_early: true });
        posted.into_iter().chain(early).min_by_key(|found| found.receive.order)
    }

    /// Removes a receive that has found its message.
    #[inline]
    pub(super) fn take_receive(
        &mut self,
        early: &mut RankEarlyReceives<'_, '_>,
        MatchingReceive { receive, is_early }: MatchingReceive,
    ) -> PostedReceive {
        match is_early {
            true => {
                self.early -= 1;
                early.mark_met(receive);
            }
            false => self.open().posted.remove(receive),
        }
        receive
    }
}
