//! Records the trace of a play in the form of the machine's own traces.

use crate::message::MessageId;
use crate::params::{Latency, Noise, Params, Ports, Precedence, Ties};
use crate::rules::network::{Network, Passage};
use crate::rules::pace::OutgoingMessage;
use crate::time::Time;
use crate::trace::{Activity, ActivityKind, Message, Trace};

/// Activities and messages so far, in the order in which they happened.
#[derive(Debug)]
pub(super) struct PlayRecorder {
    ports: Ports,
    noise: Option<Noise>,
    activities: Vec<Activity>,
    messages: Vec<Message>,
}

impl PlayRecorder {
    /// Creates an empty record.
    pub(super) fn new(ports: Ports, noise: Option<Noise>) -> PlayRecorder {
        PlayRecorder { ports, noise, activities: Vec::new(), messages: Vec::new() }
    }

    /// Adds an activity, unless it takes no time.
    fn add_wait(&mut self, id: u32, start: Time, end: Time, kind: ActivityKind) {
        if start < end {
            self.add(id, start, end, kind);
        }
    }

    fn add(&mut self, id: u32, start: Time, end: Time, kind: ActivityKind) {
        self.activities.push(Activity { id: id as usize, start, end, kind });
    }

    /// Adds a computation.
    #[cold]
    pub(super) fn add_calc(&mut self, id: u32, start: Time, end: Time) {
        self.add_wait(id, start, end, ActivityKind::Work("calc".into()));
    }

    /// Adds a send of a rank that was free at `now`: the gap, the overhead from `begin` on, the stall, the
    /// wait for the port and the message.
    #[cold]
    pub(super) fn add_send(
        &mut self,
        network: &Network,
        id: u32,
        (now, begin): (Time, Time),
        outgoing: &OutgoingMessage,
        passage: &Passage,
    ) {
        let OutgoingMessage { turn, entry: request, to, words, number, .. } = *outgoing;
        let Passage { ready, admitted, enter, first, arrival, .. } = *passage;
        let name = MessageId { from: id as usize, number: number as usize };
        self.add_wait(id, now, begin, ActivityKind::Gap);
        self.add(id, begin, ready, ActivityKind::Send(name));
        self.add_wait(id, ready, admitted, ActivityKind::Stall);
        self.add_wait(id, admitted, enter, ActivityKind::Port);
        let (latency, place) = (request.latency, network.place(turn, name.from));
        self.messages.push(Message { id: name, to, words, latency, place, enter, first, arrival });
    }

    /// Adds a reception of a rank that was free at `now`, of a message that was ready at `ready`: the wait,
    /// the gap and the overhead.
    #[cold]
    pub(super) fn add_receive(
        &mut self,
        id: u32,
        (now, ready): (Time, Time),
        (begin, end): (Time, Time),
        message: MessageId,
    ) {
        self.add_wait(id, now, ready, ActivityKind::Idle);
        self.add_wait(id, now.max(ready), begin, ActivityKind::Gap);
        self.add(id, begin, end, ActivityKind::Receive(message));
    }

    /// Returns the trace, sorted as that of a run.
    pub(super) fn into_trace(mut self, params: Params) -> Trace {
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
