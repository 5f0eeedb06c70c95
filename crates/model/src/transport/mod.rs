//! Transport: what the machine does with a message between its send and its reception.
//!
//! A [`Transport`] is a setting of the machine, and answers for all messages: who may enter, who waits, what is
//! announced, who moves long data, and what ends a message's transit. What a message costs its processors is in
//! [`rules`](crate::rules).
//!
//! - `way.rs`: the earliest way of a message through the network, and its reservation;
//! - `capacity/`: the kinds of capacity, a file each: what limits the messages in transit, and until when one is;
//! - `ports.rs`: the ports of processors and of groups; `busy_intervals.rs`: when they are taken;
//! - `rendezvous.rs`: long messages, to which their receivers have to agree, and who moves them;
//! - `sides.rs`: the state of a processor's sending and receiving side;
//! - `judge.rs`: the comparisons on which all times depend, which a proof watches.

mod busy_intervals;
mod capacity;
pub mod judge;
mod ports;
mod rendezvous;
mod sides;
mod way;

pub(crate) use capacity::Admitted;
pub use capacity::Capacity;
pub use rendezvous::{DataRead, Protocol};
pub use sides::{Egress, Ingress, Ingresses, LockedIngress, Watched, most_in_transit_to};
pub(crate) use way::LevelTransport;
pub use way::{Departure, Passage};

use crate::params::{Params, ParamsError, Ports};

/// The machine's treatment of messages on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transport {
    /// The ports between the outermost groups.
    pub ports: Ports,
    /// Until when a message is in transit, and what limits those that are.
    pub capacity: Capacity,
    /// The side that moves long messages.
    pub rendezvous: Protocol,
}

impl From<Ports> for Transport {
    fn from(ports: Ports) -> Transport {
        Transport { ports, ..Transport::default() }
    }
}

impl Transport {
    /// Refuses it on a machine of these parameters, at whose messages faults may happen.
    pub fn check<'a>(
        self,
        all: impl Iterator<Item = &'a Params> + Clone,
        has_faults: bool,
    ) -> Result<(), ParamsError> {
        self.rendezvous.check(all.clone(), self.capacity)?;
        self.capacity.check(all, has_faults)
    }
}
