//! The calls of a run, and their order.
//!
//! A call is *after* another if it comes later in the same program, if it took a message that it would not
//! have got without the other, or if one of the machine's barriers is between them.

use std::collections::HashMap;
use std::ops::Range;

use loggp_model::message::MessageId;
use loggp_trace::{Call, CallKind, Trace};

/// The origin of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The call that sent it.
    pub call: usize,
    /// The last call that the message comes after, or `None` if there is none.
    pub after: Option<usize>,
}

/// The calls of a run.
pub(super) struct Calls<'a> {
    trace: &'a Trace,
    /// The number of each call among those of its processor.
    numbers: Vec<usize>,
    /// For each call and each processor, the number of that processor's calls that are before the call,
    /// including itself.
    follows: Vec<u32>,
}

impl<'a> Calls<'a> {
    /// Orders the calls of a run; `origins` has the origin of each message.
    pub(super) fn new(trace: &'a Trace, origins: &HashMap<MessageId, Origin>) -> Calls<'a> {
        let (P, all) = (trace.params.P, &trace.calls);
        let mut numbers = Vec::with_capacity(all.len());
        let mut left: Vec<Range<usize>> = vec![0..0; P];
        for (place, call) in all.iter().enumerate() {
            let before = previous_call(trace, place);
            numbers.push(before.map_or(0, |before| numbers[before] + 1));
            left[call.id] = before.map_or(place, |_| left[call.id].start)..place + 1;
        }
        let mut calls = Calls { trace, numbers, follows: vec![0; all.len() * P] };
        let mut done = vec![false; all.len()];
        let is_barrier = |place: usize| all[place].kind == CallKind::Barrier;
        let next = |range: &Range<usize>| range.clone().next();
        loop {
            let mut progressed = false;
            for range in &mut left {
                while let Some(place) = next(range).filter(|place| !is_barrier(*place)) {
                    let sends = awaited(&all[place]).filter_map(|id| origins.get(&id)?.after);
                    let predecessors: Vec<usize> =
                        sends.filter(|at| *at != place).chain(previous_call(trace, place)).collect();
                    if !predecessors.iter().all(|at| done[*at]) {
                        break;
                    }
                    calls.add_predecessors(place, &predecessors);
                    (done[place], progressed) = (true, true);
                    range.start += 1;
                }
            }
            // All processors that have not ended are in a barrier, or the run has failed and some wait for
            // messages that never came.
            let waiting: Vec<usize> = left.iter().filter_map(next).collect();
            if !waiting.is_empty() && waiting.iter().all(|place| is_barrier(*place)) {
                waiting.iter().for_each(|place| {
                    calls.add_predecessors(*place, previous_call(trace, *place).as_slice())
                });
                waiting.iter().for_each(|place| calls.add_predecessors(*place, &waiting));
                waiting.iter().for_each(|place| done[*place] = true);
                left.iter_mut().for_each(|range| range.start = range.end.min(range.start + 1));
            } else if !progressed {
                return calls;
            }
        }
    }

    /// Puts a call after others, and after all calls that these are after.
    fn add_predecessors(&mut self, place: usize, others: &[usize]) {
        let P = self.trace.params.P;
        for at in others {
            for id in 0..P {
                self.follows[place * P + id] = self.follows[place * P + id].max(self.follows[at * P + id]);
            }
        }
        self.follows[place * P + self.trace.calls[place].id] = self.numbers[place] as u32 + 1;
    }

    /// Returns whether a call is after another, or is that call.
    pub(super) fn is_after(&self, call: usize, other: usize) -> bool {
        self.counts_before(call)[self.trace.calls[other].id] as usize > self.numbers[other]
    }

    /// Returns, for each processor, how many of its calls are before a call, including itself.
    pub(super) fn counts_before(&self, call: usize) -> &[u32] {
        let P = self.trace.params.P;
        &self.follows[call * P..][..P]
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
