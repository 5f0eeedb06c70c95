//! The ports that the processors of a group share.

use super::busy_intervals::Port;
use super::sides::Ingress;
use crate::params::Ports;
use crate::time::Time;

/// The ports of a level's groups, where the processors of a group share one.
#[derive(Debug)]
pub(super) struct GroupPorts {
    group_size: usize,
    groups: Box<[GroupPort]>,
}

/// The port that the processors of a group share.
#[derive(Debug, Default)]
struct GroupPort {
    /// The single port, or the one for sending if there are two.
    send_port: Port,
    /// The port for receiving, if there are two.
    receive_port: Port,
    /// The latest `asked_at` of the departures that were served.
    last_served: Time,
}

impl GroupPorts {
    /// Creates the ports of groups of `size` among `all` processors.
    pub(super) fn new(size: usize, all: usize) -> GroupPorts {
        let groups = (0..all.div_ceil(size)).map(|_| GroupPort::default()).collect();
        GroupPorts { group_size: size, groups }
    }

    /// Notes that a departure between two groups is served. Returns whether a later departure was served before.
    pub(super) fn mark_served(&mut self, from: usize, to: usize, asked_at: Time) -> bool {
        let mut is_late = false;
        for processor in [from, to] {
            let group = &mut self.groups[processor / self.group_size];
            is_late |= asked_at < group.last_served;
            group.last_served = group.last_served.max(asked_at);
        }
        is_late
    }

    /// Swaps the ports of two groups with those of their processors, where the search for a way looks.
    pub(super) fn swap_ports(
        &mut self,
        ports: Ports,
        (from, sender): (usize, Option<&mut Ingress>),
        (to, receiver): (usize, &mut Ingress),
    ) {
        let [from_group, to_group] = [from, to].map(|processor| processor / self.group_size);
        if let Some(sender) = sender {
            std::mem::swap(sender.port_out(ports), &mut self.groups[from_group].send_port);
        }
        let group = &mut self.groups[to_group];
        let into = if ports == Ports::Single { &mut group.send_port } else { &mut group.receive_port };
        std::mem::swap(&mut receiver.port, into);
    }
}
