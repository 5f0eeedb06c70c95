//! What a trace holds.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;

use super::call::{Call, CallKind, CallTag, Parts};
use super::faults::Faults;
use crate::message::MessageId;
use crate::params::{Latency, Level, Noise, Params, Ports, Precedence, Ties};
use crate::time::Time;

/// The record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The machine's parameters.
    pub params: Params,
    /// The levels within the machine, from the outermost to the innermost.
    pub levels: Vec<Level>,
    /// The machine's ports.
    pub ports: Ports,
    /// How the machine draws latencies.
    pub latency: Latency,
    /// Who went first among those that acted at the same time.
    pub ties: Ties,
    /// Who went first at some moments, whatever the ties say.
    pub precedence: Precedence,
    /// The noise of the processors, if there was any: what kept them busy lasts longer by it.
    pub noise: Option<Noise>,
    /// What went wrong through no fault of the program.
    pub faults: Faults,
    /// What its own barrier costs, if it has one.
    pub barrier: Option<Time>,
    /// How many acts the host let happen out of their order; 0 on the virtual clock and wherever work is
    /// charged.
    pub out_of_order: u64,
    /// What is said of the run by who made it. Files from before traces held this have none.
    pub caption: Option<Caption>,
    /// What the processors did: by processor, and each one's by time.
    pub activities: Vec<Activity>,
    /// What requests did beside that: by processor, by when it waited for them, and each one's by time.
    pub progress: Vec<Progress>,
    /// The messages: by sender, and each one's as it turned to them.
    pub messages: Vec<Message>,
    /// What the programs called: by processor, and each one's by time. Schedules have none, and files from before traces held calls.
    pub calls: Vec<Call>,
}

impl Trace {
    /// The messages that the program sent, as far as the calls say it: for each its name, what it is about, and for how many
    /// bytes it counts. A rendezvous' requests and replies are none.
    pub fn sent(&self) -> impl Iterator<Item = (MessageId, &CallTag, usize)> {
        let mut posted = HashMap::new();
        self.calls.iter().filter_map(move |call| match &call.what {
            CallKind::Send { tag, bytes, sent, .. } => Some((sent.message, tag, *bytes)),
            CallKind::SendRecv(both) => Some((both.sent.message, &both.tag, both.bytes)),
            CallKind::Isend { request, tag, bytes, .. } => {
                posted.insert((call.id, *request), (tag, *bytes));
                None
            }
            // Which message it was, its end says.
            CallKind::Wait { request, sends: true, transfer } => {
                let (tag, bytes) = posted.remove(&(call.id, *request))?;
                Some((transfer.message, tag, bytes))
            }
            _ => None,
        })
    }

    /// For how many bytes each message counted that a program sent, as far as the calls say it.
    pub fn lengths(&self) -> HashMap<MessageId, usize> {
        self.sent().map(|(id, _, bytes)| (id, bytes)).collect()
    }

    /// The latencies of all messages, by sender and number. A trace from a file may say any, so nothing is as large as they are.
    pub(crate) fn latencies(&self) -> HashMap<usize, BTreeMap<usize, Time>> {
        let mut latencies = HashMap::<usize, BTreeMap<usize, Time>>::new();
        for Message { id, latency, .. } in &self.messages {
            latencies.entry(id.from).or_default().insert(id.number, *latency);
        }
        latencies
    }
}

/// What is said of a run that its events do not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caption {
    /// What ran: a program and its algorithm, or a schedule.
    pub title: String,
    /// On which machine, how large, and how.
    pub about: String,
    /// When it ends by a formula, if there is one.
    pub formula: Option<Time>,
}

/// What a processor did for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The processor.
    pub id: usize,
    /// When it began.
    pub start: Time,
    /// When it was over.
    pub end: Time,
    /// What it did.
    pub what: ActivityKind,
}

/// What a processor can do in a run, as a trace tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActivityKind {
    /// Compute: this kind of work.
    Work(Cow<'static, str>),
    /// The overhead of sending a message.
    Send(MessageId),
    /// The overhead of receiving a message.
    Receive(MessageId),
    /// Wait for the gap after a send or a reception.
    Gap,
    /// Wait for the capacity.
    Stall,
    /// Wait for the port.
    Port,
    /// Wait for a message or a moment.
    Idle,
    /// Wait in the machine's own barrier: for the other processors, and for as long as the barrier costs. A barrier that
    /// takes no time is in the trace too.
    Barrier,
    /// Call for a request, the one with this number.
    Post(u32),
    /// Wait for a request, the one with this number.
    Wait(u32),
}

impl ActivityKind {
    /// Returns whether it is all the processor's own doing, so that [noise](crate::Noise) lengthens all of it.
    pub fn is_busy(&self) -> bool {
        use ActivityKind::{Post, Receive, Send, Work};
        matches!(self, Work(_) | Send(_) | Receive(_) | Post(_))
    }
}

/// What a request did for a while, beside what its processor did: a send or a receive goes on by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The processor.
    pub id: usize,
    /// The request's number: how many requests its processor had called for before.
    pub request: u32,
    /// When it began.
    pub start: Time,
    /// When it was over.
    pub end: Time,
    /// What it was.
    pub what: ActivityKind,
}

/// How a message travelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The name of the message.
    pub id: MessageId,
    /// Its receiver.
    pub to: usize,
    /// Its length in words.
    pub words: usize,
    /// How long its first word would be under way if the port were free: what was drawn for it, or L.
    pub latency: Time,
    /// Its sender's place among all processors, if others act when its turn comes: by the order of the machine's
    /// [`Ties`].
    pub place: usize,
    /// When its first word entered the network.
    pub enter: Time,
    /// When its first word came out.
    pub first: Time,
    /// When all of it was there.
    pub arrival: Time,
}

/// One processor's part of a trace, which it writes while it runs.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// What it did.
    pub activities: Vec<Activity>,
    /// What its requests did beside that.
    pub progress: Vec<Progress>,
    /// What it sent.
    pub messages: Vec<Message>,
    /// What its program called.
    pub calls: Vec<Call>,
    /// Where in the program calls are that may take one of several messages, by their places among its calls.
    pub places: Vec<(usize, &'static Location<'static>)>,
    /// The messages of the call that it is in.
    pub parts: Parts,
}

impl Log {
    /// A call is over, if it was one. It began when the one before it ended, since local time passes in calls alone.
    pub(crate) fn called(&mut self, id: usize, end: Time, what: Option<CallKind>) {
        let start = self.calls.last().map_or(Time::ZERO, |before| before.end);
        self.calls.extend(what.map(|what| Call { id, start, end, what }));
        self.parts.clear();
    }

    /// The last call may take one of several messages, and is here in the program.
    pub(crate) fn was_at(&mut self, at: &'static Location<'static>) {
        self.places.extend(self.calls.len().checked_sub(1).map(|last| (last, at)));
    }
}
