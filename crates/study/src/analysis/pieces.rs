//! A processor's time in pieces, each with an account and, if it is about one, a message.

use loggp::Time;
use loggp::path::{Event, Events, Track};
use loggp::trace::ActivityKind;

use super::accounts::Account;
use super::rendezvous::{MessageRole, MessageRoles};

/// A piece of a processor's time.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimePiece<'a> {
    pub start: Time,
    pub end: Time,
    pub account: Account,
    /// Event that the piece is part of.
    pub event: Event<'a>,
    /// Message that the program sent or received with it, if it was about one.
    pub message: Option<usize>,
}

impl TimePiece<'_> {
    pub(super) fn time(&self) -> Time {
        self.end - self.start
    }
}

/// Passes the pieces of a track's time to `on`, from the first to the last.
pub(super) fn for_each_piece<'a>(
    events: &Events<'a>,
    roles: &MessageRoles,
    track: &Track,
    on: &mut dyn FnMut(TimePiece<'a>),
) {
    let mut sent = None;
    for index in track.indices.clone() {
        let event = events.event(index);
        let Event { start, end, .. } = event;
        let (account, message) = match event.kind {
            ActivityKind::Work(_) => (Account::Computation, None),
            ActivityKind::Send(_) => {
                sent = events.message_of(index);
                (Account::Send, sent)
            }
            ActivityKind::Receive(_) => (Account::Receive, events.message_of(index)),
            ActivityKind::Stall => (Account::Stall, sent),
            ActivityKind::Port => (Account::Port, sent),
            ActivityKind::Gap => (Account::Gap, events.next(index).and_then(|next| events.message_of(next))),
            ActivityKind::Barrier => (Account::Barrier, None),
            ActivityKind::Post(request) => request_account(events, track.id, *request),
            ActivityKind::Wait(request) if track.request.is_none() => {
                let at = split_request_wait(events, roles, event, *request, on);
                let (account, message) = request_account(events, track.id, *request);
                // The rest of the wait is the request's own overhead (LogGPS, equation 11).
                let message = message.map(|message| roles.data(message));
                on(TimePiece { start: at, end, account, event, message });
                continue;
            }
            ActivityKind::Idle => match awaited_message(events, index) {
                None => (Account::Idle, None),
                Some(message) => match roles.role(message) {
                    MessageRole::Plain | MessageRole::Request(_) => (Account::ReceiverSync, Some(message)),
                    MessageRole::Data { .. } => (Account::Handshake, Some(message)),
                    MessageRole::Reply(data) => {
                        let [from, until] = sender_sync_span(events, roles, event, data);
                        let mut piece = |start, end, account| {
                            on(TimePiece { start, end, account, event, message: Some(data) });
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
        on(TimePiece { start, end, account, event, message: message.map(|message| roles.data(message)) });
    }
}

/// Passes to `on` the pieces of a request's time that lie within its processor's wait for it. Returns the end
/// of the last piece.
fn split_request_wait<'a>(
    events: &Events<'a>,
    roles: &MessageRoles,
    wait: Event,
    request: u32,
    on: &mut dyn FnMut(TimePiece<'a>),
) -> Time {
    let mut at = wait.start;
    let Some(track) = events.track(wait.id, Some(request)) else { return at };
    for_each_piece(events, roles, track, &mut |piece| {
        let (start, end) = (piece.start.max(at), piece.end.min(wait.end));
        if start < end {
            at = end;
            on(TimePiece { start, end, ..piece });
        }
    });
    at
}

/// Returns the account of a request's own overhead, and its message. A request is a send if that is what it
/// does first.
fn request_account(events: &Events, id: usize, request: u32) -> (Account, Option<usize>) {
    let is =
        |account: Account, index: Option<usize>| (account, index.and_then(|index| events.message_of(index)));
    let Some(track) = events.track(id, Some(request)) else { return is(Account::Receive, None) };
    let mut messages = track.indices.clone().filter(|index| events.message_of(*index).is_some());
    match messages.next() {
        Some(first) if matches!(events.event(first).kind, ActivityKind::Send(_)) => {
            is(Account::Send, Some(first))
        }
        first => is(Account::Receive, first),
    }
}

/// Returns the message for which a processor waited: it is received next, and the wait ended when it arrived.
fn awaited_message(events: &Events, idle: usize) -> Option<usize> {
    let mut next = events.next(idle)?;
    if *events.event(next).kind == ActivityKind::Gap {
        next = events.next(next)?;
    }
    let ActivityKind::Receive(_) = events.event(next).kind else { return None };
    let message = events.message_of(next)?;
    (events.message(message).arrival == events.event(idle).end).then_some(message)
}

/// Returns the part of a wait for a reply between the arrival of the request and the call of the receive that
/// took it: the sender synchronization cost (LogGPS, section 2).
fn sender_sync_span(events: &Events, roles: &MessageRoles, wait: Event, data: usize) -> [Time; 2] {
    let MessageRole::Data { request, .. } = roles.role(data) else { return [wait.start; 2] };
    let Some(taken) = events.receive_event(request) else { return [wait.start; 2] };
    // A receiver that waits for its gap has called already.
    let gap = events.previous(taken).filter(|before| *events.event(*before).kind == ActivityKind::Gap);
    let called = events.event(gap.unwrap_or(taken)).start;
    let from = events.message(request).arrival.max(wait.start).min(wait.end);
    [from, called.max(from).min(wait.end)]
}
