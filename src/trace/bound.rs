//! How large the numbers of a trace may be: whoever reads one adds, subtracts and draws them.

use smallvec::{SmallVec, smallvec};

use super::call::{Call, CallKind, Transfer, Until};
use super::record::{Activity, ActivityKind, Message, Progress};
use crate::message::MessageId;
use crate::time::Time;

/// No count is above this, and no time farther from 0 in picoseconds, which are 13 days: eight times as much is still a number.
pub(super) const MOST: u64 = 1 << 60;

/// Something that a trace holds.
pub(super) trait Bounded {
    /// Its times.
    fn times(&self) -> SmallVec<[Time; 4]>;

    /// Its counts: processors, words, bytes, and the numbers of messages.
    fn counts(&self) -> SmallVec<[usize; 8]>;

    /// Refuses numbers that are too large to be added.
    fn check(&self) -> Result<(), String> {
        check_times(self.times())?;
        match self.counts().iter().find(|count| **count as u64 > MOST) {
            Some(count) => Err(format!("a number {count} is too large; give at most {MOST}")),
            None => Ok(()),
        }
    }
}

/// Refuses times that are too long to be added.
pub(super) fn check_times(times: impl IntoIterator<Item = Time>) -> Result<(), String> {
    match times.into_iter().find(|time| time.as_ps().unsigned_abs() > MOST) {
        Some(time) => {
            Err(format!("a time of {time} is too long; give at most {}", Time::from_ps(MOST as i64)))
        }
        None => Ok(()),
    }
}

impl Bounded for Activity {
    fn times(&self) -> SmallVec<[Time; 4]> {
        smallvec![self.start, self.end]
    }

    fn counts(&self) -> SmallVec<[usize; 8]> {
        of_kind(self.id, &self.what)
    }
}

impl Bounded for Progress {
    fn times(&self) -> SmallVec<[Time; 4]> {
        smallvec![self.start, self.end]
    }

    fn counts(&self) -> SmallVec<[usize; 8]> {
        of_kind(self.id, &self.what)
    }
}

impl Bounded for Message {
    fn times(&self) -> SmallVec<[Time; 4]> {
        smallvec![self.latency, self.enter, self.first, self.arrival]
    }

    fn counts(&self) -> SmallVec<[usize; 8]> {
        smallvec![self.id.from, self.id.number, self.to, self.words, self.place]
    }
}

impl Bounded for Call {
    fn times(&self) -> SmallVec<[Time; 4]> {
        let mut times = smallvec![self.start, self.end];
        if let CallKind::WaitUntil(moment) | CallKind::Receive { until: Until::Moment(moment), .. } =
            self.what
        {
            times.push(moment);
        }
        times
    }

    fn counts(&self) -> SmallVec<[usize; 8]> {
        let mut counts = smallvec![self.id];
        match &self.what {
            CallKind::Send { to, bytes, .. } | CallKind::Isend { to, bytes, .. } => {
                counts.extend([*to, *bytes])
            }
            CallKind::Receive { from, .. } | CallKind::Irecv { from, .. } => counts.extend(*from),
            CallKind::Probe { from, saw, .. } => counts.extend(from.iter().chain(saw).copied()),
            CallKind::SendRecv(both) => counts.extend([both.to, both.from, both.bytes]),
            CallKind::Work(_)
            | CallKind::WaitUntil(_)
            | CallKind::Barrier
            | CallKind::Wait { .. }
            | CallKind::Test { .. } => (),
        }
        for Transfer { message, rendezvous } in [self.what.sent(), self.what.got()].into_iter().flatten() {
            let agreed = rendezvous.iter().flat_map(|agreed| [agreed.request, agreed.reply]);
            counts.extend([*message].into_iter().chain(agreed).flat_map(parts));
        }
        counts
    }
}

/// The counts of what a processor does.
fn of_kind(id: usize, what: &ActivityKind) -> SmallVec<[usize; 8]> {
    match what {
        ActivityKind::Send(message) | ActivityKind::Receive(message) => {
            smallvec![id, message.from, message.number]
        }
        _ => smallvec![id],
    }
}

/// The counts in the name of a message.
fn parts(MessageId { from, number }: MessageId) -> [usize; 2] {
    [from, number]
}
