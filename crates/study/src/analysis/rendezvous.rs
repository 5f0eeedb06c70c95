//! Finds the request, the reply and the data of each rendezvous (LogGPS, section 3.1).
//!
//! A trace does not mark them, but the protocol does. Only a message of more than S words to a processor is announced. Its
//! sender takes the reply right before it sends the message, and its receiver sends the reply right after it
//! has taken the request; neither sends or receives anything in between, nor does the program's request that
//! acts for it. So the message leads to the reply, and the reply to the request. A receiver that pulls reads the message
//! right after it has taken the request, and sends the reply right after it has the message.

use loggp::Protocol;
use loggp::path::Events;
use loggp::trace::ActivityKind;

/// The part of a message in a rendezvous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageRole {
    /// A message without a rendezvous.
    Plain,
    /// A request to send the message at this index.
    Request(usize),
    /// A reply that the message at this index may be sent.
    Reply(usize),
    /// A message that waited for its receiver.
    Data {
        /// Index of the request.
        request: usize,
        /// Index of the reply.
        reply: usize,
    },
}

/// The parts of all messages, by their indices.
pub(super) struct MessageRoles(Vec<MessageRole>);

impl MessageRoles {
    /// Finds the parts of the messages of these events.
    pub(super) fn from_events(events: &Events) -> MessageRoles {
        let mut roles = vec![MessageRole::Plain; events.message_count()];
        for data in 0..events.message_count() {
            if let Some((request, reply)) = find_rendezvous(events, data) {
                roles[data] = MessageRole::Data { request, reply };
                roles[request] = MessageRole::Request(data);
                roles[reply] = MessageRole::Reply(data);
            }
        }
        MessageRoles(roles)
    }

    pub(super) fn role(&self, message: usize) -> MessageRole {
        self.0[message]
    }

    /// Returns whether a message waited for its receiver.
    pub(super) fn is_announced(&self, message: usize) -> bool {
        matches!(self.0[message], MessageRole::Data { .. })
    }

    /// Returns the program's message for which this message was sent.
    pub(super) fn data(&self, message: usize) -> usize {
        match self.0[message] {
            MessageRole::Plain | MessageRole::Data { .. } => message,
            MessageRole::Request(data) | MessageRole::Reply(data) => data,
        }
    }
}

/// Returns the request for a message and its reply, if it was announced.
fn find_rendezvous(events: &Events, data: usize) -> Option<(usize, usize)> {
    if !events.is_synchronous(data) {
        return None;
    }
    let message = events.message(data);
    let sent = events.send_event(data)?;
    let (request, reply) = match events.trace.rendezvous {
        Protocol::Pull => (received_before(events, sent)?, sent_after(events, events.receive_event(data)?)?),
        _ => {
            let reply = received_before(events, sent)?;
            (received_before(events, events.send_event(reply)?)?, reply)
        }
    };
    let (asks, answers) = (events.message(request), events.message(reply));
    let (sender, receiver) = (message.id.from, message.to);
    let fits = (asks.id.from, asks.to, asks.words) == (sender, receiver, 0)
        && (answers.id.from, answers.to, answers.words) == (receiver, sender, 0);
    fits.then_some((request, reply))
}

/// Returns the message that a processor sent right after a reception.
fn sent_after(events: &Events, reception: usize) -> Option<usize> {
    let mut index = events.next(reception)?;
    while *events.event(index).kind == ActivityKind::Gap {
        index = events.next(index)?;
    }
    match events.event(index).kind {
        ActivityKind::Send(_) => events.message_of(index),
        _ => None,
    }
}

/// Returns the message that a processor received right before a send.
fn received_before(events: &Events, send: usize) -> Option<usize> {
    let mut index = events.previous(send)?;
    while *events.event(index).kind == ActivityKind::Gap {
        index = events.previous(index)?;
    }
    match events.event(index).kind {
        ActivityKind::Receive(_) => events.message_of(index),
        _ => None,
    }
}
