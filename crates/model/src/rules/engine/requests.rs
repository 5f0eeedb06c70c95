//! Requests: sends and receives that run beside their processor.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::panic::Location;

use super::events::{Turn, first};
use super::{Clock, Engine};
use crate::error::ProcStatus;
use crate::log::{Activity, ActivityKind, CallKind, Progress, Transfer};
use crate::message::MessageId;
use crate::message::matching::PostedReceive;
use crate::rules::message_wait::PostedReceives;
use crate::rules::operation::{ActiveOperation, OperationStage, OperationStep, RequestState};
use crate::rules::rank::Acknowledged;
use crate::rules::stats::Stats;
use crate::time::Time;

/// The requests of a processor.
#[derive(Debug, Default)]
pub(super) struct RequestTable {
    pub next_number: u32,
    /// All events of requests before this time are handled.
    pub caught_up_to: Time,
    /// The requests that were not waited for, by number.
    pub operations: BTreeMap<u32, Box<ActiveOperation>>,
    /// The turns of the requests' messages.
    pub turns: BinaryHeap<Reverse<Turn>>,
    /// The turns at which messages leave the network, where they are in transit until they are received.
    pub receptions: BinaryHeap<Reverse<Turn>>,
    /// True if a message waits for room: then the processor sends no other.
    pub is_stalled: bool,
    /// The number of messages so far that were stalled while the processor received.
    pub stalled: u32,
    /// The requests' receives that wait for messages; `None` while the processor's clock has them.
    pub receives: Option<Box<PostedReceives>>,
    /// When the processor knows that all that it has put into another's memory is there.
    pub acknowledged: Acknowledged,
    /// The sends whose first message has not been served yet, by receiver, in the order of their calls.
    pub send_queues: HashMap<u32, VecDeque<u32>>,
}

impl Engine<'_> {
    pub(super) fn requests(&mut self) -> &mut RequestTable {
        self.requests.get_or_insert_default()
    }

    /// Posts a request, which takes o (LogGPS, equations 6 and 10). Returns the request's number.
    pub fn post(
        &mut self,
        clock: &mut dyn Clock,
        mut operation: ActiveOperation,
        at: &'static Location<'static>,
    ) -> u32 {
        self.catch_up(clock);
        let (now, is_send) = (self.rank.now, matches!(operation.next_step(), OperationStep::Send(..)));
        let end = self.network.busy_until(self.id(), now, self.network.params().o);
        let requests = self.requests.get_or_insert_default();
        let number = requests.next_number;
        requests.next_number += 1;
        requests.caught_up_to = now;
        self.has_requests = true;
        self.rank.now = end;
        *if is_send { &mut self.stats.send } else { &mut self.stats.recv } += end - now;
        if self.is_traced {
            self.log_activity(ActivityKind::Post(number));
        }
        operation.request = Some(RequestState::new(number, now, is_send, at));
        if is_send {
            operation.allow_withdrawal();
            self.rank.egress.keep_order();
        }
        if !(is_send && self.queue_send(&operation)) {
            self.advance(clock, &mut operation);
        }
        self.requests().operations.insert(number, Box::new(operation));
        number
    }

    /// Returns when a request is done, or `None` if that is not known yet.
    pub fn completion_time(&self, request: u32) -> Option<Time> {
        let operation = self.requests.as_ref()?.operations.get(&request)?;
        operation.request.as_ref().filter(|_| operation.is_done()).map(|state| state.now)
    }

    /// Returns when the first of these requests is done, of those of which that is known, and its index among them.
    pub fn first_known(&self, requests: &[u32]) -> Option<(Time, usize)> {
        let done = requests.iter().map(|request| self.completion_time(*request));
        done.zip(0..).filter_map(|(done, index)| Some((done?, index))).min()
    }

    /// Withdraws the request of a receive that has taken no message, which then is none, or of a send whose receiver has
    /// not agreed, which is done. Returns false if it cannot be withdrawn.
    pub fn withdraw(&mut self, request: u32) -> bool {
        let requests = self.requests();
        let Some(operation) = requests.operations.get_mut(&request) else { return false };
        if let Some(awaited) = operation.withdraw_send() {
            if let (Some(receives), Some(filter)) = (&mut requests.receives, awaited) {
                receives.queue.remove(PostedReceive { order: (Time::ZERO, request), filter });
            }
            return true;
        }
        let (OperationStage::AwaitMessage(filter), None) = (operation.stage, &operation.received) else {
            return false;
        };
        if operation.request.as_ref().is_none_or(|state| state.is_send) {
            return false;
        }
        requests.operations.remove(&request);
        if let Some(receives) = &mut requests.receives {
            receives.queue.remove(PostedReceive { order: (Time::ZERO, request), filter });
        }
        self.has_requests = !self.requests().operations.is_empty();
        true
    }

    /// Returns whether something happens without a message: the receive gap ends, or a request advances.
    pub(super) fn has_pending_event(&self) -> bool {
        let is_active = |request: &ActiveOperation| match (&request.stage, &request.request) {
            (OperationStage::Done, Some(state)) => state.now > self.rank.now,
            (OperationStage::AwaitMessage(_) | OperationStage::AwaitRoom(..), _) => false,
            _ => true,
        };
        let requests = self.requests.iter().flat_map(|requests| requests.operations.values());
        self.rank.is_in_receive_gap() || requests.into_iter().any(|request| is_active(request))
    }

    /// Sets the processor's status for errors: it waits for a request, or for any of several.
    pub fn set_awaited(&mut self, numbers: &[u32]) {
        let requests = self.requests();
        let status = match numbers {
            [request] => requests.operations.get(request).map_or_else(String::new, |it| format!("its {it}")),
            _ => format!("any of its {} requests", numbers.len()),
        };
        requests.receives.get_or_insert_default().status = Some(ProcStatus::WaitingForRequest(status));
    }

    /// Returns the number of requests that were not waited for, and describes the first one. Returns `None`
    /// if there are none.
    pub fn unawaited_requests(&self) -> Option<(usize, String)> {
        let operations = &self.requests.as_ref()?.operations;
        operations.first_key_value().map(|(_, first)| (operations.len(), first.to_string()))
    }

    /// Waits until a request is done, and at least for o (LogGPS, equation 11). The time of the wait goes on
    /// the accounts of the request's activities in that time. Returns the request, or `None` if it was waited
    /// for before.
    pub fn join(&mut self, clock: &mut dyn Clock, number: u32) -> Option<ActiveOperation> {
        self.catch_up(clock);
        if self.completion_time(number).is_none() {
            self.set_awaited(&[number]);
        }
        while self.completion_time(number).is_none() {
            self.handle_event(clock, &mut ActiveOperation::done(), Time::MAX);
        }
        self.leave_until(clock, number);
        self.vain_looks = 0;
        let requests = self.requests();
        let mut request = requests.operations.remove(&number)?;
        if let Some(receives) = &mut requests.receives {
            receives.status = None;
        }
        self.has_requests = !requests.operations.is_empty();
        let RequestState { now: done, activities, is_send, .. } = *request.request.take()?;
        let called = self.rank.now;
        let least = self.network.busy_until(self.id(), called, self.network.params().o);
        for activity in &activities {
            let waited = activity.end - activity.start.max(called);
            if waited > Time::ZERO {
                *account(&mut self.stats, &activity.kind) += waited;
            }
        }
        let overhead = (least - called.max(done)).max(Time::ZERO);
        *if is_send { &mut self.stats.send } else { &mut self.stats.recv } += overhead;
        self.rank.now = least.max(done);
        if self.is_traced {
            self.log_activity(ActivityKind::Wait(number));
            let transfer = transfer(&activities, is_send);
            self.write_call(|_| {
                transfer.map(|transfer| CallKind::Wait { request: number, is_send, transfer })
            });
        }
        if let Some(log) = &mut self.log {
            let progress =
                |Activity { id, start, end, kind }| Progress { id, request: number, start, end, kind };
            log.progress.extend(activities.into_iter().map(progress));
        }
        Some(*request)
    }

    /// Lets the messages that requests receive leave the network, until a request is done: a request that
    /// is waited for is forgotten.
    fn leave_until(&mut self, clock: &mut dyn Clock, number: u32) {
        let done = self.completion_time(number);
        while let Some(turn) = first(&self.requests().receptions)
            && done.is_some_and(|done| turn.time <= done)
        {
            self.handle_event(clock, &mut ActiveOperation::done(), turn.time);
        }
    }
}

/// Returns the account of [`Stats`] for an activity.
pub(super) fn account<'a>(stats: &'a mut Stats, kind: &ActivityKind) -> &'a mut Time {
    match kind {
        ActivityKind::Send(_) => &mut stats.send,
        ActivityKind::Receive(_) => &mut stats.recv,
        ActivityKind::Gap => &mut stats.gap,
        ActivityKind::Stall => &mut stats.stall,
        ActivityKind::Port => &mut stats.port,
        ActivityKind::Work(_) => &mut stats.work,
        _ => &mut stats.idle,
    }
}

/// Returns the message of a request that is done: the last one that it sent or received, with the
/// announcement and the grant before it, if there were any.
fn transfer(activities: &[Activity], is_send: bool) -> Option<Transfer> {
    let ids = |is_send: bool| {
        activities.iter().filter_map(move |activity| match activity.kind {
            ActivityKind::Send(id) if is_send => Some(id),
            ActivityKind::Receive(id) if !is_send => Some(id),
            _ => None,
        })
    };
    let (first, mut last, reply) =
        (ids(is_send).next()?, ids(is_send).next_back()?, ids(!is_send).next_back());
    let next = MessageId { number: last.number + 1, ..last };
    if first == last && reply.is_some_and(|reply| reply != next) {
        last = next; // the receiver has read the data; what a memory answers is the reply itself
    }
    Some(Transfer::new(last, Some(first).zip(reply)))
}
