//! Runs the settled calls of a prefix under given latencies, on the machine's own network.

use super::constraints::PrefixConstraints;
use super::prefix::{CallEffect, ReceiveDeadline, SettledCall, SettledMessage};
use loggp_model::rules::choice::Choice;
use loggp_model::rules::network::{Egress, Entry, Ingress, Network, Passage};
use loggp_model::time::Time;

/// The machine that runs the settled calls of a prefix under given latencies.
pub(super) struct PrefixMachine<'k, 'p> {
    constraints: &'k PrefixConstraints<'p>,
    network: &'k Network,
    ties: Choice,
    latencies: Vec<Time>,
    processors: Vec<Processor>,
    arrivals: Vec<Option<Time>>,
    ingresses: Vec<Ingress>,
}

struct Processor {
    now: Time,
    /// Number of calls that are over.
    done: usize,
    /// `true` if half of the next exchange is over.
    is_half: bool,
    egress: Egress,
    receive_gap_end: Time,
}

impl Processor {
    /// Counts a call as over, or half of an exchange.
    fn finish_call(&mut self, is_half: bool, has_next: bool) {
        self.is_half = is_half;
        if !is_half {
            self.done = if has_next { self.done + 1 } else { usize::MAX };
        }
    }
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
        let processor = |id| Processor {
            now: Time::ZERO,
            done: 0,
            is_half: false,
            egress: network.new_egress(id),
            receive_gap_end: Time::ZERO,
        };
        PrefixMachine {
            constraints,
            network,
            ties,
            latencies: latencies.collect(),
            processors: (0..constraints.prefix.calls.len()).map(processor).collect(),
            arrivals: vec![None; constraints.vars.len()],
            ingresses: (0..network.ingress_count()).map(|_| Ingress::default()).collect(),
        }
    }

    /// Runs the calls, and returns the passage of each message in the order of their entries.
    pub(super) fn passages(mut self) -> Vec<(usize, Passage)> {
        let mut all = Vec::new();
        loop {
            while (0..self.processors.len()).any(|id| self.step(id)) || self.pass_barrier() {}
            let ready = |(id, processor): (usize, &Processor)| {
                let call = self.constraints.prefix.calls[id].get(processor.done)?;
                let send = match &call.effect {
                    CallEffect::Send(send) => send,
                    CallEffect::Exchange(send, _) if self.is_receive_first(call) == processor.is_half => send,
                    _ => return None,
                };
                let ready = (processor.now + send.overhead).max(processor.egress.send_gap_end());
                let is_half = matches!(call.effect, CallEffect::Exchange(..)) && !processor.is_half;
                let SettledMessage { stream, room: (to, _), .. } =
                    self.constraints.prefix.messages[send.message];
                let entry = Entry::when_ready(ready, self.latencies[send.message], stream);
                Some((entry, id, to, send.message, is_half, call.has_next))
            };
            let next = self.processors.iter().enumerate().filter_map(ready);
            let Some((entry, id, to, message, is_half, has_next)) = next.min_by_key(|(entry, id, ..)| {
                let turn = self.network.turn_time(entry);
                (turn, self.ties.place(turn, *id as u32))
            }) else {
                return all;
            };
            let processor = &mut self.processors[id];
            let passage = self.network.serve(&mut self.ingresses[..], &mut processor.egress, to, &entry);
            self.arrivals[message] = Some(passage.arrival);
            processor.now = passage.enter;
            processor.finish_call(is_half, has_next);
            all.push((message, passage));
        }
    }

    /// Returns whether an exchange receives before it sends.
    fn is_receive_first(&self, call: &SettledCall) -> bool {
        self.constraints.receives_first.get(&call.index) == Some(&Some(true))
    }

    /// Makes a processor's next call unless that is a send. Returns whether it could.
    fn step(&mut self, id: usize) -> bool {
        let Processor { now, done, is_half, receive_gap_end: gap_end, .. } = self.processors[id];
        let Some(call) = self.constraints.prefix.calls[id].get(done) else { return false };
        let mut next_gap_end = gap_end;
        let over = match &call.effect {
            CallEffect::Fixed(lasts) => now + *lasts,
            CallEffect::Look { lasts, .. } => now + *lasts,
            CallEffect::Exchange(..) if self.is_receive_first(call) == is_half => return false,
            CallEffect::Receive(receive) | CallEffect::Exchange(_, receive) => match receive.got {
                Some(got) => {
                    let Some(arrival) = self.arrivals[got] else { return false };
                    let start = now.max(arrival).max(gap_end);
                    next_gap_end = start + receive.gap;
                    start + receive.overhead
                }
                None => match receive.deadline {
                    Some(ReceiveDeadline::GapOver(_)) | None => now,
                    Some(ReceiveDeadline::After(_)) => now + receive.vain_length,
                },
            },
            CallEffect::Send(_) | CallEffect::Join { .. } | CallEffect::Barrier(..) => return false,
        };
        let is_half = matches!(call.effect, CallEffect::Exchange(..)) && !is_half;
        let processor = &mut self.processors[id];
        (processor.now, processor.receive_gap_end) = (over, next_gap_end);
        processor.finish_call(is_half, call.has_next);
        true
    }

    /// Lets all processors pass a barrier if they are in it. Returns whether they were.
    fn pass_barrier(&mut self) -> bool {
        let here = self.processors.iter().enumerate().filter_map(|(id, processor)| {
            let call = self.constraints.prefix.calls[id].get(processor.done)?;
            let CallEffect::Barrier(number, over) = call.effect else { return None };
            call.has_next.then_some((number, id, processor.now, over))
        });
        let here: Vec<_> = here.collect();
        let Some(first) = here.iter().map(|(number, ..)| *number).min() else { return false };
        let here: Vec<_> = here.into_iter().filter(|(number, ..)| *number == first).collect();
        let still = self.processors.iter().enumerate().filter(|(id, processor)| {
            let left = self.constraints.prefix.calls[*id].get(processor.done..).unwrap_or_default();
            left.iter().any(|call| matches!(call.effect, CallEffect::Barrier(number, _) if number == first))
        });
        if still.count() != here.len() {
            return false;
        }
        let last = here.iter().map(|(_, _, now, _)| *now).max().unwrap_or_default();
        for (_, id, _, over) in here {
            let processor = &mut self.processors[id];
            (processor.now, processor.done) = (last + over, processor.done + 1);
        }
        true
    }
}
