//! What requests waited for while their processor was busy, and what they waited for while it was not.

use loggp::Time;
use loggp::path::{Events, Track};

use super::accounts::{Account, Accounts};
use super::pieces;
use super::rendezvous::Roles;

/// The waiting of requests, of all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// How many requests there are.
    pub requests: usize,
    /// What they waited for while their processor computed, sent or received.
    pub overlapped: Accounts,
    /// What they waited for while their processor waited too.
    pub exposed: Accounts,
}

impl Overlap {
    /// The waiting of the requests of these events.
    pub(super) fn of(events: &Events, roles: &Roles) -> Overlap {
        let mut overlap = Overlap::default();
        let mut busy: Vec<[Time; 2]> = Vec::new();
        let is_busy = |account| matches!(account, Account::Computation | Account::Send | Account::Receive);
        // A processor's own track stands before those of its requests.
        for track in events.tracks() {
            if track.request.is_none() {
                busy = intervals(events, roles, track, is_busy);
                continue;
            }
            overlap.requests += 1;
            pieces::take_apart(events, roles, track, &mut |piece| {
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

/// When what a processor did was on such accounts, in order.
fn intervals(
    events: &Events,
    roles: &Roles,
    track: &Track,
    is_one: impl Fn(Account) -> bool,
) -> Vec<[Time; 2]> {
    let mut intervals = Vec::new();
    pieces::take_apart(events, roles, track, &mut |piece| {
        if is_one(piece.account) && piece.start < piece.end {
            intervals.push([piece.start, piece.end]);
        }
    });
    intervals
}
