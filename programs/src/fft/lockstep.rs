//! A processor of many that do the same at the same time: a prediction, and no part of the machine.
//!
//! In a staggered remap every processor is sent to by one, so nothing stalls, and what a processor sends at a
//! time another sends to it then. So the time of all is that of one, which is arithmetic: a message a
//! max(point + 2o, g), and L for the last (LogP, section 4.1.4), with all terms kept. The terms that the paper
//! drops: o to send the first and to receive the last; while nothing has come, a message takes its sender
//! max(point + o, g); what comes in the last L may be received in less than L, or take longer; and a reception
//! that begins shortly before the gap is over delays the next send.
//!
//! It knows nothing of capacity, ports or other processors, as the paper's formula does not: where nobody stalls it makes
//! no difference who asks the network first.
//!
//! Long messages keep the two directions apart only on a machine with two ports. With one it is a lower bound.

use std::collections::VecDeque;

use loggp::{Params, Time};

/// A processor that stands for all, since all do the same at the same time.
pub struct Lockstep {
    /// The machine's parameters.
    params: Params,
    /// Its local time.
    pub t: Time,
    /// When the gap after its last send is over.
    gap_over: Time,
    /// When the gap after its last reception is over.
    ready: Time,
    /// When the messages that it has not received arrive.
    under_way: VecDeque<Time>,
}

impl Lockstep {
    /// A processor at time 0.
    pub fn new(params: Params) -> Lockstep {
        let (t, gap_over, ready) = (Time::ZERO, Time::ZERO, Time::ZERO);
        Lockstep { params, t, gap_over, ready, under_way: VecDeque::new() }
    }

    /// Computes for so long.
    pub fn compute(&mut self, time: Time) {
        self.t += time;
    }

    /// Sends a message whose last word comes so long after its first, and receives what it can before that.
    pub fn send_receiving(&mut self, stream: Time) {
        while let Some(arrival) = self.under_way.front()
            && self.t.max(*arrival).max(self.ready) <= self.t.max(self.gap_over - self.params.o)
        {
            self.receive();
        }
        self.send(stream);
    }

    /// Receives all that was sent.
    pub fn receive_all(&mut self) {
        while !self.under_way.is_empty() {
            self.receive();
        }
    }

    /// The barrier made of messages, when nothing else is under way.
    pub fn barrier(&mut self) {
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
