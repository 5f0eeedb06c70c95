//! Runs the settled calls of a prefix under given latencies, on the machine's own network.

use std::convert::Infallible;

use super::constraints::PrefixConstraints;
use super::prefix::{CallEffect, ReceiveDeadline, SettledCall, SettledReceive, SettledSend};
use loggp_model::agenda::AgendaEntry;
use loggp_model::rules::choice::Choice;
use loggp_model::rules::drive::{Acts, drive};
use loggp_model::rules::judge::Plain;
use loggp_model::rules::network::{Entry, Ingress, Network, Passage};
use loggp_model::rules::rank::Rank;
use loggp_model::time::Time;

/// The machine that runs the settled calls of a prefix under given latencies.
pub(super) struct PrefixMachine<'k, 'p> {
    constraints: &'k PrefixConstraints<'p>,
    network: &'k Network,
    ties: Choice,
    latencies: Vec<Time>,
    processors: Vec<Processor>,
    ingresses: Box<[Ingress]>,
    /// The passage of each message that has entered.
    passages: Vec<Option<Passage>>,
    /// The messages that have entered, in the order of their entries.
    entered: Vec<usize>,
    /// Processors that may go on.
    awake: Vec<u32>,
}

struct Processor {
    rank: Rank,
    /// Number of calls that are over.
    done: usize,
    /// `true` if half of the next exchange is over.
    is_half: bool,
    /// `true` if its next message waits for its turn.
    has_turn: bool,
}

impl<'k, 'p> PrefixMachine<'k, 'p> {
    pub(super) fn new(
        constraints: &'k PrefixConstraints<'p>,
        network: &'k Network,
        ties: Choice,
        times: &[Time],
    ) -> PrefixMachine<'k, 'p> {
        let messages = constraints.prefix.messages.iter().zip(&constraints.vars);
        let latencies = messages.map(|(message, vars)| {
            (times[vars.arrival] - times[vars.enter] - message.stream).clamp(Time::ZERO, message.max_latency)
        });
        let processor =
            |id| Processor { rank: Rank::new(id, network), done: 0, is_half: false, has_turn: false };
        PrefixMachine {
            constraints,
            network,
            ties,
            latencies: latencies.collect(),
            processors: (0..constraints.prefix.calls.len()).map(processor).collect(),
            ingresses: network.new_ingresses(),
            passages: vec![None; constraints.vars.len()],
            entered: Vec::new(),
            awake: Vec::new(),
        }
    }

    /// Runs the calls, and returns the passage of each message in the order of their entries.
    pub(super) fn passages(mut self) -> Vec<(usize, Passage)> {
        let ranks = self.processors.len() as u32;
        let Ok(()) = drive(&mut self, ranks);
        self.entered.iter().filter_map(|message| Some((*message, self.passages[*message]?))).collect()
    }

    /// Returns a processor's next call.
    fn next_call(&self, id: usize) -> Option<&'p SettledCall> {
        self.constraints.prefix.calls[id].get(self.processors[id].done)
    }

    /// Returns what a processor sends next, if that is what it does next.
    fn next_send(&self, id: usize) -> Option<&'p SettledSend> {
        let call = self.next_call(id)?;
        match &call.effect {
            CallEffect::Send(send) => Some(send),
            CallEffect::Exchange(send, _) => {
                let is_receive_first = self.constraints.receives_first.get(&call.index) == Some(&Some(true));
                (is_receive_first == self.processors[id].is_half).then_some(send)
            }
            _ => None,
        }
    }

    /// Returns the entry of a processor's next message.
    fn entry(&self, id: usize, send: &SettledSend) -> Entry {
        let (rank, message) = (&self.processors[id].rank, &self.constraints.prefix.messages[send.message]);
        let entry = self.network.predict_entry(&rank.egress, message.room.0, message.words, rank.now);
        Entry { latency: self.latencies[send.message], ..entry }
    }

    /// Counts a processor's next call as over, or half of an exchange.
    fn finish_call(&mut self, id: usize, call: &SettledCall) {
        let processor = &mut self.processors[id];
        processor.is_half = matches!(call.effect, CallEffect::Exchange(..)) && !processor.is_half;
        if !processor.is_half {
            processor.done = if call.has_next { processor.done + 1 } else { usize::MAX };
        }
    }

    /// Receives the message of a call, or gives up. Returns `false` if the message has not entered yet.
    fn receive(&mut self, id: usize, receive: &SettledReceive) -> bool {
        let rank = &mut self.processors[id].rank;
        match (receive.got, receive.deadline) {
            (Some(got), _) => {
                let Some(passage) = self.passages[got] else { return false };
                let message = &self.constraints.prefix.messages[got];
                rank.receive(self.network, (message.id.from, message.words), passage.arrival);
            }
            (None, Some(ReceiveDeadline::After(_))) => rank.now += receive.vain_length,
            (None, Some(ReceiveDeadline::GapOver(_)) | None) => (),
        }
        true
    }

    /// Lets all processors pass a barrier if each that comes to it is there. Returns whether they do.
    fn pass_barrier(&mut self, number: usize) -> bool {
        let is_it = |call: &SettledCall| matches!(call.effect, CallEffect::Barrier(it, _) if it == number);
        let comes = |id: &usize| {
            let left =
                self.constraints.prefix.calls[*id].get(self.processors[*id].done..).unwrap_or_default();
            left.iter().any(is_it)
        };
        let coming: Vec<usize> = (0..self.processors.len()).filter(comes).collect();
        let is_there = |id: &usize| self.next_call(*id).is_some_and(|call| is_it(call) && call.has_next);
        if !coming.iter().all(is_there) {
            return false;
        }
        let last = coming.iter().map(|id| self.processors[*id].rank.now).max().unwrap_or_default();
        for id in coming {
            if let Some(SettledCall { effect: CallEffect::Barrier(_, over), .. }) = self.next_call(id) {
                let processor = &mut self.processors[id];
                (processor.rank.now, processor.done) = (last + *over, processor.done + 1);
                self.awake.push(id as u32);
            }
        }
        true
    }
}

impl Acts for PrefixMachine<'_, '_> {
    type Error = Infallible;

    fn plan(&mut self, rank: u32) -> Option<AgendaEntry> {
        let id = rank as usize;
        while let Some(call) = self.next_call(id) {
            if let Some(send) = self.next_send(id) {
                if std::mem::replace(&mut self.processors[id].has_turn, true) {
                    break;
                }
                let turn = self.network.turn_time(&self.entry(id, send));
                return Some(AgendaEntry::new(turn, self.ties.place(turn, rank), 0));
            }
            match &call.effect {
                CallEffect::Fixed(lasts) | CallEffect::Look { lasts, .. } => {
                    self.processors[id].rank.now += *lasts;
                }
                CallEffect::Receive(receive) | CallEffect::Exchange(_, receive)
                    if self.receive(id, receive) => {}
                CallEffect::Barrier(number, _) => {
                    self.pass_barrier(*number);
                    break;
                }
                _ => break,
            }
            self.finish_call(id, call);
        }
        None
    }

    fn act(&mut self, entry: AgendaEntry) -> Result<u32, Infallible> {
        let (turn, place) = entry.moment();
        let rank = self.ties.processor_at(turn, place);
        let id = rank as usize;
        if let (Some(call), Some(send)) = (self.next_call(id), self.next_send(id)) {
            let (entry, to) = (self.entry(id, send), self.constraints.prefix.messages[send.message].room.0);
            let sender = &mut self.processors[id];
            sender.has_turn = false;
            self.passages[send.message] =
                Some(sender.rank.send(self.network, &mut Plain, &mut self.ingresses, to, &entry));
            self.entered.push(send.message);
            self.finish_call(id, call);
            self.awake.push(to as u32);
        }
        Ok(rank)
    }

    fn next_awake(&mut self) -> Option<u32> {
        self.awake.pop()
    }
}
