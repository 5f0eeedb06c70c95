//! The calls of a run, and which *happens before* which (Lamport, "Time, Clocks, and the Ordering of Events in
//! a Distributed System", 1978): a call happens before another if it comes earlier on the same processor, if
//! it sends a message that the other takes, if one of the machine's barriers is between them, or through a
//! chain of such steps. Each call has a vector clock (Mattern 1989; Fidge 1988).

use std::collections::HashMap;
use std::ops::Range;

use loggp_model::message::MessageId;
use loggp_trace::{Call, CallKind, Trace};

/// The origin of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The call that sent the message.
    pub call: usize,
    /// The last call that happens before the message is sent, or `None` if there is none.
    pub after: Option<usize>,
}

/// The calls of a run.
pub(super) struct Calls<'a> {
    trace: &'a Trace,
    /// The number of each call among those of its processor.
    numbers: Vec<usize>,
    /// Each call's vector clock: for each processor, the number of its calls that happen before the call, the
    /// call itself included.
    clocks: Vec<u32>,
}

impl<'a> Calls<'a> {
    /// Orders the calls of a run; `origins` has the origin of each message.
    pub(super) fn new(trace: &'a Trace, origins: &HashMap<MessageId, Origin>) -> Calls<'a> {
        let (P, all) = (trace.params.P, &trace.calls);
        let mut numbers = Vec::with_capacity(all.len());
        let mut left: Vec<Range<usize>> = vec![0..0; P];
        for (index, call) in all.iter().enumerate() {
            let before = previous_call(trace, index);
            numbers.push(before.map_or(0, |before| numbers[before] + 1));
            left[call.id] = before.map_or(index, |_| left[call.id].start)..index + 1;
        }
        let mut calls = Calls { trace, numbers, clocks: vec![0; all.len() * P] };
        let mut done = vec![false; all.len()];
        let is_barrier = |call: usize| all[call].kind == CallKind::Barrier;
        let next = |range: &Range<usize>| range.clone().next();
        loop {
            let mut progressed = false;
            for range in &mut left {
                while let Some(call) = next(range).filter(|call| !is_barrier(*call)) {
                    let sends = awaited(&all[call]).filter_map(|id| origins.get(&id)?.after);
                    let predecessors: Vec<usize> =
                        sends.filter(|at| *at != call).chain(previous_call(trace, call)).collect();
                    if !predecessors.iter().all(|at| done[*at]) {
                        break;
                    }
                    calls.add_predecessors(call, &predecessors);
                    (done[call], progressed) = (true, true);
                    range.start += 1;
                }
            }
            // All processors that have not ended are in a barrier, or the run has failed and some wait for
            // messages that never came.
            let waiting: Vec<usize> = left.iter().filter_map(next).collect();
            if !waiting.is_empty() && waiting.iter().all(|call| is_barrier(*call)) {
                for call in &waiting {
                    calls.add_predecessors(*call, previous_call(trace, *call).as_slice());
                    done[*call] = true;
                }
                waiting.iter().for_each(|call| calls.add_predecessors(*call, &waiting));
                left.iter_mut().for_each(|range| range.start = range.end.min(range.start + 1));
            } else if !progressed {
                return calls;
            }
        }
    }

    /// Notes that some calls, and all that happen before them, happen before a call.
    fn add_predecessors(&mut self, call: usize, others: &[usize]) {
        let P = self.trace.params.P;
        for other in others {
            for id in 0..P {
                self.clocks[call * P + id] = self.clocks[call * P + id].max(self.clocks[other * P + id]);
            }
        }
        self.clocks[call * P + self.trace.calls[call].id] = self.numbers[call] as u32 + 1;
    }

    /// Returns whether a call happens before another, or is that call.
    pub(super) fn happens_before(&self, call: usize, other: usize) -> bool {
        self.counts_before(other)[self.trace.calls[call].id] as usize > self.numbers[call]
    }

    /// Returns a call's vector clock: for each processor, how many of its calls happen before the call, the
    /// call itself included.
    pub(super) fn counts_before(&self, call: usize) -> &[u32] {
        let P = self.trace.params.P;
        &self.clocks[call * P..][..P]
    }

    /// Returns the number of a call among those of its processor.
    pub(super) fn number(&self, call: usize) -> usize {
        self.numbers[call]
    }
}

/// Returns the call before another one in the same program, if there is one.
pub(super) fn previous_call(trace: &Trace, call: usize) -> Option<usize> {
    call.checked_sub(1).filter(|before| trace.calls[*before].id == trace.calls[call].id)
}

/// Returns the messages that a call waited for.
fn awaited(call: &Call) -> impl Iterator<Item = MessageId> {
    let got = call.kind.received().map(|got| [got.message, got.first()]);
    let granted = call.kind.sent().and_then(|sent| sent.rendezvous.as_ref());
    got.into_iter().flatten().chain(granted.map(|granted| granted.reply))
}
