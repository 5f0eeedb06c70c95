//! Where each processor's time went.

use crate::message::{Pack, Payload, Unpack};
use crate::time::Time;

/// What a processor did with its time. The seven times from [`send`](Stats::send) to [`work`](Stats::work) add up to
/// [`finish`](Stats::finish). The fields that every message changes come first, in a cache line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(C)]
pub struct Stats {
    /// How many messages it sent.
    pub sent: u64,
    /// How many words it sent.
    pub words_sent: u64,
    /// How many messages it received.
    pub received: u64,
    /// How many words it received.
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
    /// When the processor finished.
    pub finish: Time,
    /// How often it stalled.
    pub stalls: u64,
    /// Its longest stall.
    pub longest_stall: Time,
    /// How many of its messages the network served after one that asked later, because the host was late with work that
    /// is measured; 0 on the virtual clock and wherever work is charged.
    pub out_of_order: u64,
    /// The most messages that were in transit from it at once; 0 where the capacity is unlimited.
    pub most_from: usize,
    /// The most messages that were in transit to it at once; 0 where the capacity is unlimited.
    pub most_to: usize,
}

/// Packs and unpacks all fields as numbers, to bring them home from another process.
macro_rules! travels {
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
travels!(
    sent: u64, words_sent: u64, received: u64, words_received: u64, send: Time, recv: Time, gap: Time, idle: Time,
    stall: Time, port: Time, work: Time, finish: Time, stalls: u64, longest_stall: Time, out_of_order: u64,
    most_from: usize, most_to: usize
);

impl Stats {
    /// The most messages in transit at once, from it or to it.
    pub fn most_in_transit(&self) -> usize {
        self.most_from.max(self.most_to)
    }
}
