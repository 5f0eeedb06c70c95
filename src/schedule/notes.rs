//! What happened while a schedule was played, for a trace: as the engine notes it of a processor.

use crate::message::MessageId;
use crate::params::{Latency, Ports, Ties};
use crate::rules::network::{Network, Passage};
use crate::rules::pace::Outgoing;
use crate::time::Time;
use crate::trace::{Activity, ActivityKind, Message, Trace};

/// What ranks did, each in its order.
#[derive(Debug, Default)]
pub(super) struct Notes {
    activities: Vec<Activity>,
    messages: Vec<Message>,
}

impl Notes {
    /// A rank was busy. A send that costs nothing is a send.
    fn spends(&mut self, id: usize, start: Time, end: Time, what: ActivityKind) {
        self.activities.push(Activity { id, start, end, what });
    }

    /// A rank waited, if it did. Returns until when.
    fn waits(&mut self, id: usize, start: Time, until: Time, what: ActivityKind) -> Time {
        if until > start {
            self.spends(id, start, until, what);
        }
        until.max(start)
    }

    /// A rank has computed.
    pub(super) fn computes(&mut self, rank: u32, start: Time, end: Time) {
        self.waits(rank as usize, start, end, ActivityKind::Work("compute".into()));
    }

    /// A rank that was free since `start` has sent.
    #[cold]
    pub(super) fn sends(
        &mut self,
        network: &Network,
        rank: u32,
        start: Time,
        outgoing: &Outgoing,
        passage: &Passage,
    ) {
        let (from, to, words) = (rank as usize, outgoing.to, outgoing.words);
        let id = MessageId { from, number: outgoing.number as usize };
        let Passage { ready, admitted, enter, first, arrival, .. } = *passage;
        let begun = ready - network.send_overhead(from, to, words);
        let begun = self.waits(from, start, begun, ActivityKind::Gap);
        self.spends(from, begun, ready, ActivityKind::Send(id));
        let at = self.waits(from, ready, admitted, ActivityKind::Stall);
        self.waits(from, at, enter, ActivityKind::Port);
        let (latency, place) = (outgoing.request.latency, network.place(outgoing.turn, from));
        self.messages.push(Message { id, to, words, latency, place, enter, first, arrival });
    }

    /// A rank that was free since `start` has received a message that had arrived then.
    pub(super) fn receives(
        &mut self,
        rank: u32,
        message: MessageId,
        start: Time,
        arrival: Time,
        [begun, over]: [Time; 2],
    ) {
        let at = self.waits(rank as usize, start, arrival, ActivityKind::Idle);
        self.waits(rank as usize, at, begun, ActivityKind::Gap);
        self.spends(rank as usize, begun, over, ActivityKind::Receive(message));
    }

    /// The trace, which holds no calls.
    pub(super) fn trace(self, network: &Network, ports: Ports) -> Trace {
        let Notes { mut activities, mut messages } = self;
        activities.sort_by_key(|activity| activity.id);
        messages.sort_by_key(|message| message.id);
        Trace {
            params: *network.params(),
            levels: Vec::new(),
            ports,
            latency: Latency::Exact,
            ties: Ties::Number,
            barrier: None,
            out_of_order: 0,
            activities,
            progress: Vec::new(),
            messages,
            calls: Vec::new(),
        }
    }
}
