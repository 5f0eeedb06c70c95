//! One processor that stands for all, which do the same at the same time. It is a prediction, and no part of
//! the machine.
//!
//! In a staggered remap every processor is the receiver of one, so nothing stalls, and whenever a processor
//! sends, another sends to it at the same time. So the time of all is that of one: a message each max(point +
//! 2o, g), and L for the last (LogP, section 4.1.4), with all terms kept. The terms that the paper drops: o
//! to send the first and o to receive the last; until the first arrival a message takes its sender
//! max(point + o, g); the messages that arrive in the last L may take more or less than L to receive; and a
//! reception that begins shortly before the end of the gap delays the next send.
//!
//! Like the paper's formula it has no capacity, no ports and no other processors: where nothing stalls, the
//! order in which processors ask the network makes no difference.
//!
//! Long messages are independent in both directions only on a machine with two ports. With one it is a lower
//! bound.

use std::collections::VecDeque;

use loggp::{Params, Time};

/// A processor that stands for all.
pub(super) struct Lockstep {
    params: Params,
    /// Local time.
    pub t: Time,
    /// End of the gap after its last send.
    gap_over: Time,
    /// End of the gap after its last reception.
    ready: Time,
    /// Arrival times of the messages that it has not received.
    under_way: VecDeque<Time>,
}

impl Lockstep {
    /// Creates a processor at time 0.
    pub(super) fn new(params: Params) -> Lockstep {
        let (t, gap_over, ready) = (Time::ZERO, Time::ZERO, Time::ZERO);
        Lockstep { params, t, gap_over, ready, under_way: VecDeque::new() }
    }

    /// Computes for this time.
    pub(super) fn compute(&mut self, time: Time) {
        self.t += time;
    }

    /// Sends a message whose last word follows `stream` after its first, and receives meanwhile what it can.
    pub(super) fn send_receiving(&mut self, stream: Time) {
        while let Some(arrival) = self.under_way.front()
            && self.t.max(*arrival).max(self.ready) <= self.t.max(self.gap_over - self.params.o)
        {
            self.receive();
        }
        self.send(stream);
    }

    /// Receives all messages.
    pub(super) fn receive_all(&mut self) {
        while !self.under_way.is_empty() {
            self.receive();
        }
    }

    /// Runs the barrier made of messages, when no other message is under way.
    pub(super) fn barrier(&mut self) {
        for _ in 0..self.params.P.ilog2() {
            self.send(Time::ZERO);
            self.receive();
        }
    }

    fn send(&mut self, stream: Time) {
        let Params { L, o, g, .. } = self.params;
        self.t = (self.t + o).max(self.gap_over);
        self.gap_over = self.t + stream + g;
        self.under_way.push_back(self.t + stream + L);
    }

    fn receive(&mut self) {
        let Some(arrival) = self.under_way.pop_front() else { return };
        let start = self.t.max(arrival).max(self.ready);
        self.ready = start + self.params.g;
        self.t = start + self.params.o;
    }
}
