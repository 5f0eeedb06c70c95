//! Schedules of messages of any lengths: a linear permutation, or distributed random scheduling.

use loggp::{Proc, Tag};

use super::linear::send_linear;
use super::packet::Packet;
use super::random::{RandomSchedule, RequestCounts, SchedulingNote, send_random};

/// A schedule of messages of any lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendSchedule {
    /// The modified linear permutation (section 5).
    Linear,
    /// Distributed random scheduling (section 6).
    Random(RandomSchedule),
}

impl SendSchedule {
    /// Returns the same schedule with blocks of `block` elements, if it has blocks.
    #[must_use]
    pub fn with_block(self, block: usize) -> SendSchedule {
        match self {
            SendSchedule::Linear => SendSchedule::Linear,
            SendSchedule::Random(random) => SendSchedule::Random(RandomSchedule { block, ..random }),
        }
    }

    /// Sends each processor j its message if `sendl[j]` > 0, and receives one from each with `recvl[j]` > 0.
    /// Each stage has its own tags, since another processor may be a stage ahead.
    #[allow(clippy::too_many_arguments)] // the stage, the seed, the vectors and the callbacks
    pub fn send(
        self,
        p: &mut Proc,
        stage: u16,
        seed: u64,
        sendl: &[usize],
        recvl: &[usize],
        message: impl FnMut(usize) -> Packet,
        receive: impl FnMut(usize, Packet),
    ) -> RequestCounts {
        match self {
            SendSchedule::Linear => {
                send_linear(p, Tag::named(2 * stage, "data"), sendl, recvl, message, receive);
                RequestCounts::default()
            }
            SendSchedule::Random(form) => {
                let tag: Tag<SchedulingNote> = Tag::named(2 * stage + 1, "note");
                send_random(p, tag, form, seed, sendl, recvl, message, receive)
            }
        }
    }
}
