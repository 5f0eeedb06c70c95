//! A schedule in which each rank acts in the order of an earlier run.

use loggp_model::params::Ports;
use loggp_model::time::Time;
use loggp_model::transport::{Passage, Transport};
use parking_lot::Mutex;

use crate::sort::{sort_by_rank, sort_by_rank_and_key};
use crate::storage::Operation;

/// The acts of each rank of a run, in their order: each act waits for the one before it, and each receive
/// takes the message that it took in the run. Announcements and grants are messages like others.
///
/// [Played again](KeptOrder::run) on another machine it takes as long as a [`Schedule`](crate::Schedule) of
/// the same operations, each of which requires the one before it. While no capacity and no port delays a
/// message, that is the longest of a set of paths that does not depend on the machine, as in a linear
/// program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptOrder {
    pub(crate) ports: Ports,
    /// True if receivers read messages from their senders' memories.
    pub(crate) has_reads: bool,
    /// True if memories answer.
    pub(crate) has_answers: bool,
    pub(crate) acts: Vec<Act>,
    /// The index of each rank's first act, and the number of all acts.
    pub(crate) begins: Vec<u32>,
    /// The messages, by sender and then in the order in which it sent them.
    pub(crate) messages: Vec<KeptMessage>,
    /// The index of each rank's first message, and the number of all messages.
    pub(crate) first_messages: Vec<u32>,
    /// The memory of runs that are over.
    pub(crate) spare: SpareRuns,
}

/// The times of runs that are over, whose memory the next ones use.
#[derive(Debug, Default)]
pub(crate) struct SpareRuns(Mutex<Vec<RunTimes>>);

/// The times of a run.
#[derive(Debug, Default)]
pub(crate) struct RunTimes {
    /// The time of each act: at which the overhead, or the computation, began and at which the rank went on.
    pub spans: Vec<(Time, Time)>,
    /// The times of each message.
    pub passages: Vec<Passage>,
}

impl SpareRuns {
    /// Returns what a run has left, or nothing.
    pub(crate) fn take(&self) -> RunTimes {
        self.0.lock().pop().unwrap_or_default()
    }

    pub(crate) fn leave(&self, times: RunTimes) {
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
pub(crate) enum Act {
    Calc(Time),
    Send(u32),
    /// A read from the sender's memory.
    Read(u32),
    /// A message to a memory, which does not answer.
    Put(u32),
    /// A request to a memory, whose answer is the message after it.
    Get(u32),
    /// A wait until all is known to be there that was put into one memory, or into all.
    Flush(Option<u32>),
    Receive(u32),
}

/// The acts of the ranks of a play so far, and their messages.
#[derive(Debug, Default)]
pub(crate) struct DoneActs {
    /// By rank.
    acts: Vec<(u32, DoneAct)>,
    /// By the rank whose messages they are, and their number among these.
    messages: Vec<((u32, u32), KeptMessage)>,
    /// True if a rank waited for a moment.
    pub has_moments: bool,
}

/// An act of a play; messages by their numbers among those of the rank, or of another one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DoneAct {
    Calc(Time),
    Flush(Option<u32>),
    Send(u32),
    Put(u32),
    Get(u32),
    Read(u32, u32),
    Receive(u32, u32),
}

impl DoneActs {
    pub(crate) fn add(&mut self, rank: u32, act: DoneAct) {
        self.acts.push((rank, act));
    }

    /// Adds a message of a rank, with its number there: from where it enters, to whom, and of how many words.
    pub(crate) fn add_message(&mut self, id: (u32, u32), (from, to, words): (u32, u32, u32)) {
        self.messages.push((id, KeptMessage { from, to, words, sent_by: 0 }));
    }
}

/// A message with its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptMessage {
    /// The sender, or the rank whose memory answers.
    pub from: u32,
    pub to: u32,
    /// Length in words.
    pub words: u32,
    /// The act that sends or reads it, or asks for it.
    pub sent_by: u32,
}

impl KeptOrder {
    /// Returns the order in which the ranks of a play acted, or `None` if one waited for a moment.
    pub(crate) fn from_acts(done: DoneActs, ranks: usize, transport: Transport) -> Option<KeptOrder> {
        let DoneActs { mut acts, mut messages, has_moments } = done;
        if has_moments || u32::try_from(acts.len().max(messages.len())).is_err() {
            return None;
        }
        sort_by_rank(&mut acts, ranks, |(rank, _)| *rank as usize);
        sort_by_rank_and_key(&mut messages, ranks, |((rank, _), _)| *rank as usize, |(id, _)| *id);
        let ranks = 0..=ranks as u32;
        let first_message = |rank| messages.partition_point(|((of, _), _)| *of < rank) as u32;
        let first_messages: Vec<u32> = ranks.clone().map(first_message).collect();
        let begins = ranks.map(|rank| acts.partition_point(|(of, _)| *of < rank) as u32).collect();
        let mut messages: Vec<KeptMessage> = messages.into_iter().map(|(_, message)| message).collect();
        let message = |rank: u32, number: u32| first_messages[rank as usize] + number;
        let mut has_answers = false;
        let kept = |(act, (rank, done)): (usize, (u32, DoneAct))| {
            let mut sent = |message: u32| {
                messages[message as usize].sent_by = act as u32;
                message
            };
            match done {
                DoneAct::Calc(time) => Act::Calc(time),
                DoneAct::Flush(memory) => Act::Flush(memory),
                DoneAct::Send(number) => Act::Send(sent(message(rank, number))),
                DoneAct::Put(number) => Act::Put(sent(message(rank, number))),
                DoneAct::Read(from, number) => Act::Read(sent(message(from, number))),
                DoneAct::Get(number) => {
                    has_answers = true;
                    sent(message(rank, number) + 1);
                    Act::Get(sent(message(rank, number)))
                }
                DoneAct::Receive(from, number) => Act::Receive(message(from, number)),
            }
        };
        let acts = acts.into_iter().enumerate().map(kept).collect();
        let Transport { ports, rendezvous, .. } = transport;
        let (has_reads, spare) = (rendezvous.is_read(), SpareRuns::default());
        Some(KeptOrder { ports, has_reads, has_answers, acts, begins, messages, first_messages, spare })
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.begins.len() - 1
    }

    /// Returns what a rank does; the length of a message is in words, and each has its own tag. Reads from other
    /// ranks' memories are left out, since schedules have none, and the receptions of memories' answers.
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
            Act::Put(message) => {
                let KeptMessage { to, words, .. } = self.messages[message as usize];
                Some(Operation::Put { to, bytes: words.into() })
            }
            Act::Get(request) => {
                let KeptMessage { to, words: asked, .. } = self.messages[request as usize];
                let bytes = self.messages[request as usize + 1].words.into();
                Some(Operation::Get { from: to, asked, bytes })
            }
            Act::Flush(to) => Some(Operation::Flush { to }),
            Act::Receive(tag) if self.is_answer(tag) => None,
            Act::Receive(tag) => {
                let KeptMessage { from, words, .. } = self.messages[tag as usize];
                Some(Operation::Recv { from: Some(from), bytes: words.into(), tag: Some(tag) })
            }
        })
    }

    /// Returns whether a message is read from its sender's memory.
    #[inline]
    pub(crate) fn is_read(&self, message: u32) -> bool {
        let sent_by = || self.acts[self.messages[message as usize].sent_by as usize];
        self.has_reads && matches!(sent_by(), Act::Read(_))
    }

    /// Returns whether a message is a memory's answer to the message before it.
    #[inline]
    pub(crate) fn is_answer(&self, message: u32) -> bool {
        let sent_by = || self.acts[self.messages[message as usize].sent_by as usize];
        self.has_answers && matches!(sent_by(), Act::Get(request) if request != message)
    }

    /// Returns the rank that sent a message; an answer is one of the rank that asked for it.
    #[inline]
    pub(crate) fn owner(&self, message: u32) -> u32 {
        let KeptMessage { from, to, .. } = self.messages[message as usize];
        if self.is_answer(message) { to } else { from }
    }

    /// Returns the sender and the receiver of a message by its index among all, sorted by id. An answer is a message
    /// of the rank that asked, to itself.
    ///
    /// # Panics
    ///
    /// If there is no such message.
    pub fn ends(&self, message: usize) -> [usize; 2] {
        [self.owner(message as u32) as usize, self.messages[message].to as usize]
    }
}
