//! A processor's time in pieces, each of which belongs to one account and, if it is about a message, to that.

use loggp::path::{Event, Events, Track};
use loggp::{ActivityKind, Time};

use super::accounts::Account;

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
            ActivityKind::Post(request) => request_of(events, track.id, *request),
            ActivityKind::Wait(request) if track.request.is_none() => {
                let at = beside(events, roles, event, *request, on);
                let (account, message) = request_of(events, track.id, *request);
                // What is left of the wait is its own overhead (LogGPS, equation 11).
                let message = message.map(|message| roles.data(message));
                on(Piece { start: at, end, account, event, message });
                continue;
            }
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
            _ => (Account::Idle, None),
        };
        on(Piece { start, end, account, event, message: message.map(|message| roles.data(message)) });
    }
}

/// What a request did while its processor waited for it is where that one's time went. Returns until when.
fn beside<'a>(
    events: &Events<'a>,
    roles: &Roles,
    wait: Event,
    request: u32,
    on: &mut dyn FnMut(Piece<'a>),
) -> Time {
    let mut at = wait.start;
    let Some(track) = events.track(wait.id, Some(request)) else { return at };
    take_apart(events, roles, track, &mut |piece| {
        let (start, end) = (piece.start.max(at), piece.end.min(wait.end));
        if start < end {
            at = end;
            on(Piece { start, end, ..piece });
        }
    });
    at
}

/// The account of a request's own overhead, and its message: it sends if that is what it does first.
fn request_of(events: &Events, id: usize, request: u32) -> (Account, Option<usize>) {
    let is =
        |account: Account, place: Option<usize>| (account, place.and_then(|place| events.subject(place)));
    let Some(track) = events.track(id, Some(request)) else { return is(Account::Receive, None) };
    let mut messages = track.places.clone().filter(|place| events.subject(*place).is_some());
    match messages.next() {
        Some(first) if matches!(events.event(first).what, ActivityKind::Send(_)) => {
            is(Account::Send, Some(first))
        }
        first => is(Account::Receive, first),
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
    let from = events.message(request).arrival.max(wait.start).min(wait.end);
    [from, called.max(from).min(wait.end)]
}
