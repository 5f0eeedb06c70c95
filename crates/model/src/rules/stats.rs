//! The accounts of a processor's time.

use crate::message::{Pack, Payload, Unpack};
use crate::time::Time;

/// The time of a processor, by account. The seven times from [`send`](Stats::send) to [`work`](Stats::work)
/// add up to [`finish`](Stats::finish).
// The fields that every message changes come first, in a cache line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(C)]
pub struct Stats {
    /// Number of messages sent.
    pub sent: u64,
    /// Number of words sent.
    pub words_sent: u64,
    /// Number of messages received.
    pub received: u64,
    /// Number of words received.
    pub words_received: u64,
    /// Busy with the overhead of sends.
    pub send: Time,
    /// Busy with the overhead of receptions.
    pub recv: Time,
    /// Waiting for the gap after a send or a reception.
    pub gap: Time,
    /// Waiting for a message, a moment or the machine's barrier.
    pub idle: Time,
    /// Stalled: waiting until the capacity let a message in.
    pub stall: Time,
    /// Waiting for a port that another long message occupied.
    pub port: Time,
    /// Time spent computing.
    pub work: Time,
    /// The time at which the processor finished.
    pub finish: Time,
    /// Number of stalls.
    pub stalls: u64,
    /// The longest stall.
    pub longest_stall: Time,
    /// Number of its messages that the network served after a later one, because the host was late with work
    /// that is measured; 0 on the virtual clock and wherever work is charged.
    pub out_of_order: u64,
    /// The largest number of messages in transit from it at once; 0 where the capacity is unlimited.
    pub most_from: usize,
    /// The largest number of messages in transit to it at once; 0 where the capacity is unlimited.
    pub most_to: usize,
}

/// Implements [`Payload`]: all fields are packed as numbers, to send them from one process to another.
macro_rules! impl_payload {
    ($($field:ident: $to:ident),*) => {
        impl Payload for Stats {
            fn bytes(&self) -> usize {
                size_of::<Stats>()
            }
            fn pack<'v>(&'v self, to: &mut Pack<'v>) {
                $(self.$field.pack(to);)*
            }
            fn unpack(from: &mut Unpack) -> Option<Stats> {
                Some(Stats { $($field: $to::unpack(from)?),* })
            }
        }
    };
}
impl_payload!(
    sent: u64, words_sent: u64, received: u64, words_received: u64, send: Time, recv: Time, gap: Time, idle: Time,
    stall: Time, port: Time, work: Time, finish: Time, stalls: u64, longest_stall: Time, out_of_order: u64,
    most_from: usize, most_to: usize
);

impl Stats {
    /// Returns the largest number of messages in transit at once, from the processor or to it.
    pub fn most_in_transit(&self) -> usize {
        self.most_from.max(self.most_to)
    }
}
