//! Bounds on the numbers of a trace that is read from a file, so that sums and differences of them don't
//! overflow.

use smallvec::{SmallVec, smallvec};

use super::call::{Call, CallKind, Transfer, Until};
use super::record::{Activity, ActivityKind, Message, Progress};
use crate::message::MessageId;
use crate::time::Time;

/// The largest count, and the largest distance of a time from 0 in ps (13 days). Eight times as much still
/// fits into 64 bits.
pub(super) const MOST: u64 = 1 << 60;

/// An item of a trace's lists.
pub(super) trait BoundedItem {
    /// Returns the times of the item.
    fn times(&self) -> SmallVec<[Time; 4]>;

    /// Returns the counts of the item: processors, words, bytes, and the numbers of messages.
    fn counts(&self) -> SmallVec<[usize; 8]>;

    /// Returns an error if a number of the item is too large.
    fn check(&self) -> Result<(), String> {
        check_times(self.times())?;
        match self.counts().iter().find(|count| **count as u64 > MOST) {
            Some(count) => Err(format!("a number {count} is too large; give at most {MOST}")),
            None => Ok(()),
        }
    }
}

/// Returns an error if a time is too long.
pub(super) fn check_times(times: impl IntoIterator<Item = Time>) -> Result<(), String> {
    match times.into_iter().find(|time| time.as_ps().unsigned_abs() > MOST) {
        Some(time) => {
            Err(format!("a time of {time} is too long; give at most {}", Time::from_ps(MOST as i64)))
        }
        None => Ok(()),
    }
}

impl BoundedItem for Activity {
    fn times(&self) -> SmallVec<[Time; 4]> {
        smallvec![self.start, self.end]
    }

    fn counts(&self) -> SmallVec<[usize; 8]> {
        kind_counts(self.id, &self.kind)
    }
}

impl BoundedItem for Progress {
    fn times(&self) -> SmallVec<[Time; 4]> {
        smallvec![self.start, self.end]
    }

    fn counts(&self) -> SmallVec<[usize; 8]> {
        kind_counts(self.id, &self.kind)
    }
}

impl BoundedItem for Message {
    fn times(&self) -> SmallVec<[Time; 4]> {
        smallvec![self.latency, self.enter, self.first, self.arrival]
    }

    fn counts(&self) -> SmallVec<[usize; 8]> {
        smallvec![self.id.from, self.id.number, self.to, self.words, self.place]
    }
}

impl BoundedItem for Call {
    fn times(&self) -> SmallVec<[Time; 4]> {
        let mut times = smallvec![self.start, self.end];
        if let CallKind::WaitUntil(moment) | CallKind::Receive { until: Until::Moment(moment), .. } =
            self.kind
        {
            times.push(moment);
        }
        times
    }

    fn counts(&self) -> SmallVec<[usize; 8]> {
        let mut counts = smallvec![self.id];
        match &self.kind {
            CallKind::Send { to, bytes, .. } | CallKind::Isend { to, bytes, .. } => {
                counts.extend([*to, *bytes])
            }
            CallKind::Receive { from, .. } | CallKind::Irecv { from, .. } => counts.extend(*from),
            CallKind::Probe { from, found, .. } => counts.extend(from.iter().chain(found).copied()),
            CallKind::SendRecv(both) => counts.extend([both.to, both.from, both.bytes]),
            CallKind::Work(_)
            | CallKind::WaitUntil(_)
            | CallKind::Barrier
            | CallKind::Wait { .. }
            | CallKind::Test { .. } => (),
        }
        for Transfer { message, rendezvous } in [self.kind.sent(), self.kind.received()].into_iter().flatten()
        {
            let agreed = rendezvous.iter().flat_map(|agreed| [agreed.request, agreed.reply]);
            counts.extend([*message].into_iter().chain(agreed).flat_map(message_counts));
        }
        counts
    }
}

/// Returns the counts of an activity.
fn kind_counts(id: usize, kind: &ActivityKind) -> SmallVec<[usize; 8]> {
    match kind {
        ActivityKind::Send(message) | ActivityKind::Receive(message) => {
            smallvec![id, message.from, message.number]
        }
        _ => smallvec![id],
    }
}

/// Returns the counts in a message's name.
fn message_counts(MessageId { from, number }: MessageId) -> [usize; 2] {
    [from, number]
}
