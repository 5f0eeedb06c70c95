//! How messages of any lengths are sent: by a linear permutation, or by distributed random scheduling.

use loggp::{Proc, Tag};

use super::linear::linear;
use super::packet::Packet;
use super::random::{Counts, Note, Random, random};

/// How messages of any lengths are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// The modified linear permutation (section 5).
    Linear,
    /// Distributed random scheduling (section 6).
    Random(Random),
}

impl Schedule {
    /// The same with blocks of so many elements, if it has blocks.
    #[must_use]
    pub fn with_block(self, block: usize) -> Schedule {
        match self {
            Schedule::Linear => Schedule::Linear,
            Schedule::Random(random) => Schedule::Random(Random { block, ..random }),
        }
    }

    /// Sends everyone j its message, if `sendl[j]` > 0, and receives one from everyone with `recvl[j]` > 0. Each stage has
    /// tags of its own, since another processor may be a stage ahead.
    #[allow(clippy::too_many_arguments)] // who, how, in which stage, by which chance, and the two vectors
    pub fn send(
        self,
        p: &mut Proc,
        stage: u16,
        seed: u64,
        sendl: &[usize],
        recvl: &[usize],
        message: impl FnMut(usize) -> Packet,
        receives: impl FnMut(usize, Packet),
    ) -> Counts {
        match self {
            Schedule::Linear => {
                linear(p, Tag::named(2 * stage, "data"), sendl, recvl, message, receives);
                Counts::default()
            }
            Schedule::Random(how) => {
                let tag: Tag<Note> = Tag::named(2 * stage + 1, "note");
                random(p, tag, how, seed, sendl, recvl, message, receives)
            }
        }
    }
}
