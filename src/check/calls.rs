//! The calls of a run, and which of them follow which others.
//!
//! A call *follows* another if that is before it in the same program, or has sent a message without which it would not be
//! as it is; or if a barrier of the machine is between them.

use std::collections::HashMap;
use std::ops::Range;

use crate::message::MessageId;
use crate::trace::{Call, CallKind, Trace, Transfer};

/// Where a message comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The call that sent it.
    pub call: usize,
    /// The last call that it follows; nothing if it is the first that its processor does.
    pub follows: Option<usize>,
}

/// The calls of a run.
pub(super) struct Calls<'a> {
    trace: &'a Trace,
    /// The number of each call among its processor's.
    numbers: Vec<usize>,
    /// For each call and each processor, how many calls of the processor it follows, with itself.
    follows: Vec<u32>,
}

impl<'a> Calls<'a> {
    /// `origins` says where each message comes from.
    pub(super) fn of(trace: &'a Trace, origins: &HashMap<MessageId, Origin>) -> Calls<'a> {
        let (P, all) = (trace.params.P, &trace.calls);
        let mut numbers = Vec::with_capacity(all.len());
        let mut left: Vec<Range<usize>> = vec![0..0; P];
        for (place, call) in all.iter().enumerate() {
            let before = before(trace, place);
            numbers.push(before.map_or(0, |before| numbers[before] + 1));
            left[call.id] = before.map_or(place, |_| left[call.id].start)..place + 1;
        }
        let mut calls = Calls { trace, numbers, follows: vec![0; all.len() * P] };
        let mut done = vec![false; all.len()];
        let is_barrier = |place: usize| all[place].what == CallKind::Barrier;
        let next = |range: &Range<usize>| range.clone().next();
        loop {
            let mut goes_on = false;
            for range in &mut left {
                while let Some(place) = next(range).filter(|place| !is_barrier(*place)) {
                    let sends = answered(&all[place]).filter_map(|id| origins.get(&id)?.follows);
                    let those: Vec<usize> =
                        sends.filter(|at| *at != place).chain(before(trace, place)).collect();
                    if !those.iter().all(|at| done[*at]) {
                        break;
                    }
                    calls.comes_after(place, &those);
                    (done[place], goes_on) = (true, true);
                    range.start += 1;
                }
            }
            // All who are not at their end are in a barrier, or the run has failed and some wait for what never came.
            let here: Vec<usize> = left.iter().filter_map(next).collect();
            if !here.is_empty() && here.iter().all(|place| is_barrier(*place)) {
                here.iter().for_each(|place| calls.comes_after(*place, before(trace, *place).as_slice()));
                here.iter().for_each(|place| calls.comes_after(*place, &here));
                here.iter().for_each(|place| done[*place] = true);
                left.iter_mut().for_each(|range| range.start = range.end.min(range.start + 1));
            } else if !goes_on {
                return calls;
            }
        }
    }

    /// Notes that a call follows others, and all that these follow.
    fn comes_after(&mut self, place: usize, others: &[usize]) {
        let P = self.trace.params.P;
        for at in others {
            for id in 0..P {
                self.follows[place * P + id] = self.follows[place * P + id].max(self.follows[at * P + id]);
            }
        }
        self.follows[place * P + self.trace.calls[place].id] = self.numbers[place] as u32 + 1;
    }

    /// Whether a call follows another, or is it.
    pub(super) fn follows(&self, call: usize, other: usize) -> bool {
        self.followed(call)[self.trace.calls[other].id] as usize > self.numbers[other]
    }

    /// How many calls of each processor a call follows, with itself.
    pub(super) fn followed(&self, call: usize) -> &[u32] {
        let P = self.trace.params.P;
        &self.follows[call * P..][..P]
    }

    /// The number of a call among its processor's.
    pub(super) fn number(&self, call: usize) -> usize {
        self.numbers[call]
    }
}

/// The call before another one in the same program.
pub(super) fn before(trace: &Trace, call: usize) -> Option<usize> {
    call.checked_sub(1).filter(|before| trace.calls[*before].id == trace.calls[call].id)
}

/// The messages that a call waited for.
fn answered(call: &Call) -> impl Iterator<Item = MessageId> {
    let got = call.what.got().map(|got| [got.message, first_of(got)]);
    let granted = call.what.sent().and_then(|sent| sent.rendezvous.as_ref());
    got.into_iter().flatten().chain(granted.map(|granted| granted.reply))
}

/// The message that a receive takes first: the request, if there is one.
pub(super) fn first_of(transfer: &Transfer) -> MessageId {
    transfer.rendezvous.as_ref().map_or(transfer.message, |rendezvous| rendezvous.request)
}
