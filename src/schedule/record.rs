//! What ranks did, for the trace of a play: in the words of the machine's own traces.

use crate::message::MessageId;
use crate::params::{Latency, Noise, Params, Ports, Precedence, Ties};
use crate::rules::network::{Network, Passage};
use crate::rules::pace::Outgoing;
use crate::time::Time;
use crate::trace::{Activity, ActivityKind, Message, Trace};

/// What happened until now, in the order in which it did.
#[derive(Debug)]
pub(super) struct Record {
    ports: Ports,
    noise: Option<Noise>,
    activities: Vec<Activity>,
    messages: Vec<Message>,
}

impl Record {
    /// Nothing has happened on a machine with these ports and this noise.
    pub(super) fn of(ports: Ports, noise: Option<Noise>) -> Record {
        Record { ports, noise, activities: Vec::new(), messages: Vec::new() }
    }

    /// A rank did something from one moment to another, if there is anything between them.
    fn waits(&mut self, id: u32, start: Time, end: Time, what: ActivityKind) {
        if start < end {
            self.does(id, start, end, what);
        }
    }

    fn does(&mut self, id: u32, start: Time, end: Time, what: ActivityKind) {
        self.activities.push(Activity { id: id as usize, start, end, what });
    }

    /// A rank computed.
    #[cold]
    pub(super) fn calculates(&mut self, id: u32, start: Time, end: Time) {
        self.waits(id, start, end, ActivityKind::Work("calc".into()));
    }

    /// A rank that was free at `now` sent a message, with an overhead from `begin` on.
    #[cold]
    pub(super) fn sends(
        &mut self,
        network: &Network,
        id: u32,
        (now, begin): (Time, Time),
        outgoing: &Outgoing,
        passage: &Passage,
    ) {
        let Outgoing { turn, request, to, words, number, .. } = *outgoing;
        let Passage { ready, admitted, enter, first, arrival, .. } = *passage;
        let name = MessageId { from: id as usize, number: number as usize };
        self.waits(id, now, begin, ActivityKind::Gap);
        self.does(id, begin, ready, ActivityKind::Send(name));
        self.waits(id, ready, admitted, ActivityKind::Stall);
        self.waits(id, admitted, enter, ActivityKind::Port);
        let (latency, place) = (request.latency, network.place(turn, name.from));
        self.messages.push(Message { id: name, to, words, latency, place, enter, first, arrival });
    }

    /// A rank that was free at `now` received a message, of which it could know from `ready` on, with an overhead.
    #[cold]
    pub(super) fn receives(
        &mut self,
        id: u32,
        (now, ready): (Time, Time),
        (begin, end): (Time, Time),
        message: MessageId,
    ) {
        self.waits(id, now, ready, ActivityKind::Idle);
        self.waits(id, now.max(ready), begin, ActivityKind::Gap);
        self.does(id, begin, end, ActivityKind::Receive(message));
    }

    /// All of it, as a run would have it.
    pub(super) fn trace(mut self, params: Params) -> Trace {
        self.activities.sort_by_key(|activity| activity.id);
        self.messages.sort_unstable_by_key(|message| message.id);
        Trace {
            params,
            levels: Vec::new(),
            ports: self.ports,
            latency: Latency::Exact,
            ties: Ties::Number,
            precedence: Precedence::new(),
            noise: self.noise,
            faults: Default::default(),
            barrier: None,
            out_of_order: 0,
            caption: None,
            activities: self.activities,
            progress: Vec::new(),
            messages: self.messages,
            calls: Vec::new(),
        }
    }
}
