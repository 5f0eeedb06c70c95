//! The bound on the counts of a trace that is read from a file, so that sums and products of them don't
//! overflow.

use loggp_model::log::{Activity, Message, Progress};
use loggp_model::log::{Call, Transfer};
use loggp_model::message::MessageId;
use loggp_model::time::MOST_IN_FILE;
use smallvec::{SmallVec, smallvec};

/// An item of a trace's lists.
pub(super) trait BoundedItem {
    /// Returns the counts of the item: processors, words, bytes, and the numbers of messages.
    fn counts(&self) -> SmallVec<[usize; 8]>;

    /// Returns an error if a count of the item is too large.
    fn check(&self) -> Result<(), String> {
        match self.counts().iter().find(|count| **count as u64 > MOST_IN_FILE) {
            Some(count) => Err(format!("a number {count} is too large; give at most {MOST_IN_FILE}")),
            None => Ok(()),
        }
    }
}

impl BoundedItem for Activity {
    fn counts(&self) -> SmallVec<[usize; 8]> {
        [self.id].into_iter().chain(self.kind.message().into_iter().flat_map(id_counts)).collect()
    }
}

impl BoundedItem for Progress {
    fn counts(&self) -> SmallVec<[usize; 8]> {
        [self.id].into_iter().chain(self.kind.message().into_iter().flat_map(id_counts)).collect()
    }
}

impl BoundedItem for Message {
    fn counts(&self) -> SmallVec<[usize; 8]> {
        smallvec![self.id.from, self.id.number, self.to, self.words, self.place]
    }
}

impl BoundedItem for Call {
    fn counts(&self) -> SmallVec<[usize; 8]> {
        let parts = self.kind.parts();
        let mut counts = smallvec![self.id];
        counts.extend(parts.to_send.into_iter().flat_map(<[usize; 2]>::from));
        counts.extend(parts.from.into_iter().chain(parts.found));
        for Transfer { message, rendezvous } in parts.sent.into_iter().chain(parts.received) {
            let agreed = rendezvous.iter().flat_map(|agreed| [agreed.request, agreed.reply]);
            counts.extend([*message].into_iter().chain(agreed).flat_map(id_counts));
        }
        counts
    }
}

/// Returns the counts in a message's name.
fn id_counts(MessageId { from, number }: MessageId) -> [usize; 2] {
    [from, number]
}
