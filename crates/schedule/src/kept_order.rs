//! A schedule in which each rank acts in the order of an earlier run.

use loggp_model::params::{Ports, Protocol};
use loggp_model::rules::network::Passage;
use loggp_model::time::Time;
use loggp_trace::path::{EventIndex, Events};
use loggp_trace::{ActivityKind, Trace};
use parking_lot::Mutex;

use super::storage::Operation;

/// The acts of each rank of a run, in their order: each act waits for the one before it, and each receive
/// takes the message that it took in the run. Announcements and grants are messages like others.
///
/// [Played again](KeptOrder::run) on another machine it takes as long as a [`Schedule`](super::Schedule) of
/// the same operations, each of which requires the one before it. While no capacity and no port delays a
/// message, that is the longest of a set of paths that does not depend on the machine, as in a linear
/// program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptOrder {
    pub(super) ports: Ports,
    /// True if receivers read messages from their senders' memories.
    pub(super) has_reads: bool,
    pub(super) acts: Vec<Act>,
    /// The index of each rank's first act, and the number of all acts.
    pub(super) begins: Vec<u32>,
    /// The messages, by sender and then in the order in which it sent them.
    pub(super) messages: Vec<KeptMessage>,
    /// The index of each rank's first message, and the number of all messages.
    pub(super) first_messages: Vec<u32>,
    /// The memory of runs that are over.
    pub(super) spare: SpareRuns,
}

/// The times of runs that are over, whose memory the next ones use.
#[derive(Debug, Default)]
pub(super) struct SpareRuns(Mutex<Vec<RunTimes>>);

/// The times of a run.
#[derive(Debug, Default)]
pub(super) struct RunTimes {
    /// The time of each act: at which the overhead, or the computation, began and at which the rank went on.
    pub spans: Vec<(Time, Time)>,
    /// The times of each message.
    pub passages: Vec<Passage>,
}

impl SpareRuns {
    /// Returns what a run has left, or nothing.
    pub(super) fn take(&self) -> RunTimes {
        self.0.lock().pop().unwrap_or_default()
    }

    pub(super) fn leave(&self, times: RunTimes) {
        self.0.lock().push(times);
    }
}

impl Clone for SpareRuns {
    fn clone(&self) -> SpareRuns {
        SpareRuns::default()
    }
}

impl Eq for SpareRuns {}

impl PartialEq for SpareRuns {
    fn eq(&self, _: &SpareRuns) -> bool {
        true
    }
}

/// An act of a rank; messages by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Calc(Time),
    Send(u32),
    /// A read from the sender's memory.
    Read(u32),
    Receive(u32),
}

/// A message with its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeptMessage {
    pub from: u32,
    pub to: u32,
    /// Length in words.
    pub words: u32,
    /// The act that sends or reads it.
    pub sent_by: u32,
}

impl KeptOrder {
    /// Returns the order of a run, or `None` if a processor did something else in it than to compute, send
    /// and receive, such as to wait for a moment.
    pub fn from_trace(trace: &Trace) -> Option<KeptOrder> {
        use ActivityKind::{Gap, Idle, Port, Receive, Send, Stall, Work};
        if !trace.progress.is_empty() || trace.noise.is_some() {
            return None;
        }
        let events = Events::new(trace);
        u32::try_from(events.len().max(events.message_count())).ok()?;
        let message = |message: usize| {
            let of = events.message(message);
            let is_one = events.receive_event(message).is_some() && of.id.from < trace.params.P;
            let is_one = is_one && of.to < trace.params.P && events.send_event(message).is_some();
            let words = u32::try_from(of.words).ok().filter(|_| is_one)?;
            Some(KeptMessage { from: of.id.from as u32, to: of.to as u32, words, sent_by: 0 })
        };
        let mut messages: Vec<KeptMessage> =
            (0..events.message_count()).map(message).collect::<Option<_>>()?;
        let has_reads = trace.rendezvous == Protocol::Pull;
        let is_read =
            |message: usize| has_reads && message < events.message_count() && events.is_read(message);
        let (mut acts, mut begins, mut first_messages) = (Vec::new(), vec![0], vec![0]);
        let mut tracks = events.processors().peekable();
        for rank in 0..trace.params.P {
            let mut sent = first_messages[rank];
            if let Some(track) = tracks.next_if(|track| track.id == rank) {
                for place in track.places.clone() {
                    let event = events.event(place);
                    acts.push(match (event.kind, events.message_of(place)) {
                        (Work(_), _) => Act::Calc(event.length()),
                        (Send(_), Some(message)) if is_read(message) => {
                            messages[message].sent_by = acts.len() as u32;
                            Act::Read(message as u32)
                        }
                        (Send(_), Some(message)) => {
                            while is_read(sent as usize) {
                                sent += 1;
                            }
                            // The network numbers them as they are sent.
                            if message as u32 != sent {
                                return None;
                            }
                            sent += 1;
                            messages[message].sent_by = acts.len() as u32;
                            Act::Send(message as u32)
                        }
                        (Receive(_), Some(message)) if messages[message].to as usize == rank => {
                            Act::Receive(message as u32)
                        }
                        (Idle, _) if !is_before_reception(&events, place) => return None,
                        (Gap | Idle | Port | Stall, _) => continue,
                        _ => return None,
                    });
                }
            }
            while is_read(sent as usize) && messages[sent as usize].from as usize == rank {
                sent += 1;
            }
            begins.push(acts.len() as u32);
            first_messages.push(sent);
        }
        let is_all = tracks.next().is_none() && first_messages.last() == Some(&(messages.len() as u32));
        let (ports, spare) = (trace.ports, SpareRuns::default());
        is_all.then_some(KeptOrder { ports, has_reads, acts, begins, messages, first_messages, spare })
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.begins.len() - 1
    }

    /// Returns what a rank does; the length of a message is in words, and each has its own tag. Reads from other
    /// ranks' memories are left out, since schedules have none.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    pub fn operations(&self, rank: usize) -> impl Iterator<Item = Operation> + '_ {
        let acts = &self.acts[self.begins[rank] as usize..self.begins[rank + 1] as usize];
        acts.iter().filter_map(|act| match *act {
            Act::Calc(time) => Some(Operation::Calc(time)),
            Act::Read(_) => None,
            Act::Send(tag) => {
                let KeptMessage { to, words, .. } = self.messages[tag as usize];
                Some(Operation::Send { to, bytes: words.into(), tag })
            }
            Act::Receive(tag) => {
                let KeptMessage { from, words, .. } = self.messages[tag as usize];
                Some(Operation::Recv { from: Some(from), bytes: words.into(), tag: Some(tag) })
            }
        })
    }

    /// Returns whether a message is read from its sender's memory.
    #[inline]
    pub(super) fn is_read(&self, message: u32) -> bool {
        let sent_by = || self.acts[self.messages[message as usize].sent_by as usize];
        self.has_reads && matches!(sent_by(), Act::Read(_))
    }

    /// Returns the sender and the receiver of a message by its index among all, sorted by id.
    ///
    /// # Panics
    ///
    /// If there is no such message.
    pub fn ends(&self, message: usize) -> [usize; 2] {
        let KeptMessage { from, to, .. } = self.messages[message];
        [from as usize, to as usize]
    }
}

/// Returns whether a wait is for the message that is received after it.
fn is_before_reception(events: &Events, wait: usize) -> bool {
    let after = std::iter::successors(events.next(wait), |place| events.next(*place));
    let mut kinds = after.map(|place| events.event(place).kind);
    kinds
        .find(|kind| **kind != ActivityKind::Gap)
        .is_some_and(|kind| matches!(kind, ActivityKind::Receive(_)))
}
