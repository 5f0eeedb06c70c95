//! A processor's time in pieces, each of which belongs to one account and, if it is about a message, to that.

use loggp::{Activity, ActivityKind, Time};

use super::accounts::Account;
use super::events::{Events, Track};
use super::rendezvous::{Role, Roles};

/// A piece of a processor's time.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// How long it lasts.
    pub time: Time,
    /// What it goes to.
    pub account: Account,
    /// What the processor did.
    pub activity: &'a Activity,
    /// The message that the program sent or received with it, if it was about one.
    pub message: Option<usize>,
}

/// Takes a processor's time to pieces, from the first to the last.
pub fn take_apart<'a>(events: &Events<'a>, roles: &Roles, track: &Track, mut on: impl FnMut(Piece<'a>)) {
    let mut sent = None;
    for place in track.places.clone() {
        let activity = events.activity(place);
        let mut piece = |time, account, message: Option<usize>| {
            let message = message.map(|message| roles.data(message));
            on(Piece { time, account, activity, message });
        };
        let time = activity.end - activity.start;
        match activity.what {
            ActivityKind::Work(_) => piece(time, Account::Computation, None),
            ActivityKind::Send(_) => {
                sent = events.subject(place);
                piece(time, Account::Send, sent);
            }
            ActivityKind::Receive(_) => piece(time, Account::Receive, events.subject(place)),
            ActivityKind::Stall => piece(time, Account::Stall, sent),
            ActivityKind::Port => piece(time, Account::Port, sent),
            ActivityKind::Gap => {
                let next = events.after(place).and_then(|next| events.subject(next));
                piece(time, Account::Gap, next);
            }
            ActivityKind::Barrier => piece(time, Account::Barrier, None),
            ActivityKind::Idle => match awaited(events, place) {
                None => piece(time, Account::Idle, None),
                Some(message) => match roles.role(message) {
                    Role::Plain | Role::Request(_) => piece(time, Account::ReceiverSync, Some(message)),
                    Role::Data { .. } => piece(time, Account::Handshake, Some(message)),
                    Role::Reply(data) => {
                        let late = lateness(events, roles, activity, data);
                        piece(late, Account::SenderSync, Some(message));
                        piece(time - late, Account::Handshake, Some(message));
                    }
                },
            },
        }
    }
}

/// The message for which a processor waited: it receives that next, and the wait ended when it arrived.
pub fn awaited(events: &Events, idle: usize) -> Option<usize> {
    let mut next = events.after(idle)?;
    if events.activity(next).what == ActivityKind::Gap {
        next = events.after(next)?;
    }
    let ActivityKind::Receive(_) = events.activity(next).what else { return None };
    let message = events.subject(next)?;
    (events.message(message).arrival == events.activity(idle).end).then_some(message)
}

/// How much of a wait for a reply lies between the arrival of the request and the call of the receive that took it: the
/// sender synchronization cost (LogGPS, section 2).
fn lateness(events: &Events, roles: &Roles, wait: &Activity, data: usize) -> Time {
    let Role::Data { request, .. } = roles.role(data) else { return Time::ZERO };
    let Some(taken) = events.received(request) else { return Time::ZERO };
    // A receiver that waits for its gap has called already.
    let gap = events.before(taken).filter(|before| events.activity(*before).what == ActivityKind::Gap);
    let called = events.activity(gap.unwrap_or(taken)).start;
    let asked = events.message(request).arrival;
    let (from, until) = (wait.start.max(asked), wait.end.min(called));
    (until - from).max(Time::ZERO)
}
