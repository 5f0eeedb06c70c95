//! Which messages are the request, the reply and the data of one rendezvous (LogGPS, section 3.1).
//!
//! A trace does not say it, but the protocol does. Only a message of more than S words is announced. Its sender takes the
//! reply right before it sends the message, and its receiver sends the reply right after it has taken the request: neither,
//! nor the request that does it for one of them, sends or receives anything in between. So from the message one finds the reply, and from that the request.

use loggp::ActivityKind;
use loggp::path::Events;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A message that needs no other.
    Plain,
    /// It asks whether the message at this place may be sent.
    Request(usize),
    /// It says that the message at this place may be sent.
    Reply(usize),
    /// It waited for its receiver.
    Data {
        /// The place of the message that asked.
        request: usize,
        /// The place of the message that answered.
        reply: usize,
    },
}

/// What the messages are, by their places.
pub struct Roles(Vec<Role>);

impl Roles {
    /// What the messages of these events are.
    pub fn of(events: &Events) -> Roles {
        let mut roles = vec![Role::Plain; events.messages()];
        for data in 0..events.messages() {
            if let Some((request, reply)) = announced(events, data) {
                roles[data] = Role::Data { request, reply };
                roles[request] = Role::Request(data);
                roles[reply] = Role::Reply(data);
            }
        }
        Roles(roles)
    }

    /// What a message is.
    pub fn role(&self, message: usize) -> Role {
        self.0[message]
    }

    /// Whether a message waited for its receiver.
    pub fn is_announced(&self, message: usize) -> bool {
        matches!(self.0[message], Role::Data { .. })
    }

    /// The message that the program sent, for which this one was sent.
    pub fn data(&self, message: usize) -> usize {
        match self.0[message] {
            Role::Plain | Role::Data { .. } => message,
            Role::Request(data) | Role::Reply(data) => data,
        }
    }
}

/// The request for a message and the reply to that, if it was announced.
fn announced(events: &Events, data: usize) -> Option<(usize, usize)> {
    let message = events.message(data);
    if !events.trace.params.is_synchronous(message.words) {
        return None;
    }
    let reply = taken_before(events, events.sent(data)?)?;
    let request = taken_before(events, events.sent(reply)?)?;
    let (asks, answers) = (events.message(request), events.message(reply));
    let (sender, receiver) = (message.id.from, message.to);
    let fits = (asks.id.from, asks.to, asks.words) == (sender, receiver, 0)
        && (answers.id.from, answers.to, answers.words) == (receiver, sender, 0);
    fits.then_some((request, reply))
}

/// The message that a processor received right before it sent another.
fn taken_before(events: &Events, send: usize) -> Option<usize> {
    let mut place = events.before(send)?;
    while *events.event(place).what == ActivityKind::Gap {
        place = events.before(place)?;
    }
    match events.event(place).what {
        ActivityKind::Receive(_) => events.subject(place),
        _ => None,
    }
}
