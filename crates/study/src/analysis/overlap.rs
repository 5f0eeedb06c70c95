//! The waits of requests, while their processor was busy and while it was not.

use loggp::Time;
use loggp::path::{Events, Track};

use super::accounts::{Account, Accounts};
use super::pieces;
use super::rendezvous::MessageRoles;

/// The waits of all requests together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// Number of requests.
    pub requests: usize,
    /// Waits while their processor computed, sent or received.
    pub overlapped: Accounts,
    /// Waits while their processor waited too.
    pub exposed: Accounts,
}

impl Overlap {
    /// Returns the waits of the requests of these events.
    pub(super) fn from_events(events: &Events, roles: &MessageRoles) -> Overlap {
        let mut overlap = Overlap::default();
        let mut busy: Vec<[Time; 2]> = Vec::new();
        let is_busy = |account| matches!(account, Account::Computation | Account::Send | Account::Receive);
        // A processor's own track precedes those of its requests.
        for track in events.tracks() {
            if track.request.is_none() {
                busy = account_intervals(events, roles, track, is_busy);
                continue;
            }
            overlap.requests += 1;
            pieces::for_each_piece(events, roles, track, &mut |piece| {
                if is_busy(piece.account) {
                    return;
                }
                let first = busy.partition_point(|[_, end]| *end <= piece.start);
                let beside = busy[first..].iter().take_while(|[start, _]| *start < piece.end);
                let beside = beside.map(|[start, end]| (*end).min(piece.end) - (*start).max(piece.start));
                let beside: Time = beside.sum();
                overlap.overlapped[piece.account] += beside;
                overlap.exposed[piece.account] += piece.time() - beside;
            });
        }
        overlap
    }
}

/// Returns the times in which a processor's accounts fulfil `is_one`, in order.
fn account_intervals(
    events: &Events,
    roles: &MessageRoles,
    track: &Track,
    is_one: impl Fn(Account) -> bool,
) -> Vec<[Time; 2]> {
    let mut intervals = Vec::new();
    pieces::for_each_piece(events, roles, track, &mut |piece| {
        if is_one(piece.account) && piece.start < piece.end {
            intervals.push([piece.start, piece.end]);
        }
    });
    intervals
}
