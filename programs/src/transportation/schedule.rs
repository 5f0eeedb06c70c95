//! Schedules of messages of any lengths: a linear permutation, or distributed random scheduling.

use loggp::Proc;

use super::linear::{Stage, send_linear};
use super::packet::Packet;
use super::random::{RandomSchedule, RequestCounts, send_random};

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

    /// Sends the messages of a stage, and receives those for this processor.
    pub fn send(
        self,
        p: &mut Proc,
        stage: &Stage,
        message: impl FnMut(usize) -> Packet,
        receive: impl FnMut(usize, Packet),
    ) -> RequestCounts {
        match self {
            SendSchedule::Linear => {
                send_linear(p, stage, message, receive);
                RequestCounts::default()
            }
            SendSchedule::Random(form) => send_random(p, stage, form, message, receive),
        }
    }
}
