//! The types of a trace.

use std::collections::{BTreeMap, HashMap};

use loggp_model::log::{Activity, Call, CallKind, CallTag, Faults, Message, Progress, Transfer, Until};
use loggp_model::message::MessageId;
use loggp_model::params::{
    Latency, Level, LeveledParams, Noise, Params, Ports, Precedence, Ties, innermost_params,
};
use loggp_model::time::Time;
use loggp_model::transport::{Capacity, Protocol, Transport};
use serde::{Deserialize, Serialize};

/// The record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The machine's parameters.
    pub params: Params,
    /// The levels within the machine, from the outermost to the innermost.
    pub levels: Vec<Level>,
    /// The machine's ports.
    pub ports: Ports,
    /// The way in which long messages moved. In old files they were pushed.
    pub rendezvous: Protocol,
    /// The moment until which a message was in transit, for the capacity.
    pub capacity: Capacity,
    /// The way in which latencies are drawn.
    pub latency: Latency,
    /// The order of processors that act at the same time.
    pub ties: Ties,
    /// The order of processors at particular moments, which replaces that of the ties.
    pub precedence: Precedence,
    /// The noise of the processors, which lengthens what keeps them busy; `None` if there was none.
    pub noise: Option<Noise>,
    /// The faults of the machine.
    pub faults: Faults,
    /// The cost of the machine's own barrier, if it has one.
    pub barrier: Option<Time>,
    /// The number of acts that happened out of order because the host was late; 0 on the virtual clock and
    /// whenever work is charged.
    pub out_of_order: u64,
    /// True if it was played from a schedule with messages to memories, which are those that no processor received: it has
    /// no calls that say which.
    pub reaches_memories: bool,
    /// Title and description of the run. Old files have none.
    pub caption: Option<Caption>,
    /// The activities of the processors, by processor and then by time.
    pub activities: Vec<Activity>,
    /// The progress of requests beside that: by processor, then by when it waited for them, and then by time.
    pub progress: Vec<Progress>,
    /// The messages, by sender and then in the order in which it sent them.
    pub messages: Vec<Message>,
    /// The calls of the programs, by processor and then by time. Schedules and old files have none.
    pub calls: Vec<Call>,
}

impl Trace {
    /// Returns a trace of a machine with exact latencies and single ports, on which nothing has happened.
    pub fn empty(params: Params) -> Trace {
        Trace {
            params,
            levels: Vec::new(),
            ports: Ports::Single,
            rendezvous: Protocol::Push,
            capacity: Capacity::Arrived,
            latency: Latency::Exact,
            ties: Ties::Number,
            precedence: Precedence::new(),
            noise: None,
            faults: Faults::default(),
            barrier: None,
            out_of_order: 0,
            reaches_memories: false,
            caption: None,
            activities: Vec::new(),
            progress: Vec::new(),
            messages: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Returns what the machine did with messages on their way.
    #[doc(hidden)]
    pub fn transport(&self) -> Transport {
        let Trace { ports, capacity, rendezvous, .. } = *self;
        Transport { ports, capacity, rendezvous }
    }

    /// Returns this trace, of a machine that does this with messages on their way.
    #[doc(hidden)]
    pub fn with_transport(self, transport: Transport) -> Trace {
        let Transport { ports, capacity, rendezvous } = transport;
        Trace { ports, capacity, rendezvous, ..self }
    }

    /// Returns the parameters of the machine and of its levels.
    pub fn machine(&self) -> LeveledParams {
        LeveledParams::new(self.params, self.levels.iter().copied())
    }

    /// Returns the parameters of messages between two processors: those of the innermost level that has both in
    /// one group, or else the machine's own.
    pub fn params_between(&self, x: usize, y: usize) -> &Params {
        innermost_params(&self.params, &self.levels, x, y)
    }

    /// Returns the messages that the program sent, as far as the calls say: name, tag and size in bytes.
    /// Requests and replies of a rendezvous are left out.
    pub fn sent(&self) -> impl Iterator<Item = (MessageId, &CallTag, usize)> {
        self.sends().map(|(sent, tag, bytes)| (sent.message, tag, bytes))
    }

    /// Iterates over the transfers, tags and sizes in bytes of the messages that the program sent.
    pub(crate) fn sends(&self) -> impl Iterator<Item = (&Transfer, &CallTag, usize)> {
        self.posted_calls().filter_map(|(call, posted)| {
            let posted = self.calls[posted].kind.parts();
            Some((call.kind.sent()?, posted.tag?, posted.to_send?.1))
        })
    }

    /// Iterates over the calls but those that only make a request, each with the index of the call that asked
    /// for its result: an `isend` or `irecv` for a wait, or else itself. Waits for requests that no call made
    /// are left out.
    #[doc(hidden)]
    pub fn posted_calls(&self) -> impl Iterator<Item = (&Call, usize)> {
        let mut posted = HashMap::new();
        self.calls.iter().enumerate().filter_map(move |(index, call)| {
            let parts = call.kind.parts();
            let Some(request) = parts.request else { return Some((call, index)) };
            if parts.tag.is_some() {
                posted.insert((call.id, request), index);
                return None;
            }
            Some((call, *posted.get(&(call.id, request))?))
        })
    }

    /// Returns the size in bytes of each message that the program sent, as far as the calls say.
    pub fn lengths(&self) -> HashMap<MessageId, usize> {
        self.sent().map(|(id, _, bytes)| (id, bytes)).collect()
    }

    /// Returns whether a processor may have ended in the middle of a call, and with requests that it had not waited for.
    pub(crate) fn may_have_stopped(&self, id: usize) -> bool {
        self.faults.ended_early || self.faults.crashed.contains_key(&id)
    }

    /// Returns the latencies of all messages by sender and number: maps, since a trace from a file may have
    /// any numbers.
    pub(crate) fn latencies(&self) -> HashMap<usize, BTreeMap<usize, Time>> {
        let mut latencies = HashMap::<usize, BTreeMap<usize, Time>>::new();
        for Message { id, latency, .. } in &self.messages {
            latencies.entry(id.from).or_default().insert(id.number, *latency);
        }
        latencies
    }
}

/// Among a processor's calls from a receive with [`Until::GapOver`] on, finds the send to which it belongs:
/// the one right after the first such receive without a message. Returns its index and the call.
#[doc(hidden)]
pub fn send_after_gap(calls: &[Call]) -> Option<(usize, &Call)> {
    let is_it = |two: &[Call]| {
        let look = matches!(two[0].kind, CallKind::Receive { until: Until::GapOver, received: None, .. });
        look && matches!(two[1].kind, CallKind::Send { .. })
    };
    let index = 1 + calls.windows(2).position(is_it)?;
    Some((index, &calls[index]))
}

/// A description of a run, beyond its events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caption {
    /// A program and its algorithm, or a schedule.
    #[serde(default)]
    pub title: String,
    /// The machine, the problem's size and settings.
    #[serde(default)]
    pub about: String,
    /// The unit in which the run's times were given: `cycles`, `us` or another; empty if nobody said one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// The end of the run by a formula, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<Time>,
}
