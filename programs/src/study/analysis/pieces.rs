//! A processor's time in pieces, each of which belongs to one account and, if it is about a message, to that.

use loggp::{ActivityKind, Time};

use super::accounts::Account;
use super::events::{Event, Events, Track};
use super::rendezvous::{Role, Roles};

/// A piece of a processor's time.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// When it begins.
    pub start: Time,
    /// When it is over.
    pub end: Time,
    /// What it goes to.
    pub account: Account,
    /// What the processor did.
    pub event: Event<'a>,
    /// The message that the program sent or received with it, if it was about one.
    pub message: Option<usize>,
}

impl Piece<'_> {
    /// How long it is.
    pub fn time(&self) -> Time {
        self.end - self.start
    }
}

/// Takes a track's time to pieces, from the first to the last.
pub fn take_apart<'a>(events: &Events<'a>, roles: &Roles, track: &Track, on: &mut dyn FnMut(Piece<'a>)) {
    let mut sent = None;
    for place in track.places.clone() {
        let event = events.event(place);
        let Event { start, end, .. } = event;
        let (account, message) = match event.what {
            ActivityKind::Work(_) => (Account::Computation, None),
            ActivityKind::Send(_) => {
                sent = events.subject(place);
                (Account::Send, sent)
            }
            ActivityKind::Receive(_) => (Account::Receive, events.subject(place)),
            ActivityKind::Stall => (Account::Stall, sent),
            ActivityKind::Port => (Account::Port, sent),
            ActivityKind::Gap => (Account::Gap, events.after(place).and_then(|next| events.subject(next))),
            ActivityKind::Barrier => (Account::Barrier, None),
            ActivityKind::Idle => match awaited(events, place) {
                None => (Account::Idle, None),
                Some(message) => match roles.role(message) {
                    Role::Plain | Role::Request(_) => (Account::ReceiverSync, Some(message)),
                    Role::Data { .. } => (Account::Handshake, Some(message)),
                    Role::Reply(data) => {
                        let [from, until] = late(events, roles, event, data);
                        let mut piece = |start, end, account| {
                            on(Piece { start, end, account, event, message: Some(data) });
                        };
                        piece(start, from, Account::Handshake);
                        piece(from, until, Account::SenderSync);
                        piece(until, end, Account::Handshake);
                        continue;
                    }
                },
            },
        };
        on(Piece { start, end, account, event, message: message.map(|message| roles.data(message)) });
    }
}

/// The message for which a processor waited: it receives that next, and the wait ended when it arrived.
fn awaited(events: &Events, idle: usize) -> Option<usize> {
    let mut next = events.after(idle)?;
    if *events.event(next).what == ActivityKind::Gap {
        next = events.after(next)?;
    }
    let ActivityKind::Receive(_) = events.event(next).what else { return None };
    let message = events.subject(next)?;
    (events.message(message).arrival == events.event(idle).end).then_some(message)
}

/// From when until when a wait for a reply lies between the arrival of the request and the call of the receive that took it:
/// the sender synchronization cost (LogGPS, section 2).
fn late(events: &Events, roles: &Roles, wait: Event, data: usize) -> [Time; 2] {
    let Role::Data { request, .. } = roles.role(data) else { return [wait.start; 2] };
    let Some(taken) = events.received(request) else { return [wait.start; 2] };
    // A receiver that waits for its gap has called already.
    let gap = events.before(taken).filter(|before| *events.event(*before).what == ActivityKind::Gap);
    let called = events.event(gap.unwrap_or(taken)).start;
    let from = events.message(request).arrival.clamp(wait.start, wait.end);
    [from, called.clamp(from, wait.end)]
}
