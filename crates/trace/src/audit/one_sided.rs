//! Audits messages to a processor's memory, for which its processor does nothing, and the memory's answers.
//!
//! An answer is a message of the processor that asked, by way of the memory: its number follows that of its request.
//! It enters at the memory's processor when the request is there, without an overhead and a gap, as a message of a
//! sender of its own, and it asks for its way when its request does.

use std::collections::HashSet;

use loggp_model::message::MessageId;
use loggp_model::time::Time;

use super::auditor::{Auditor, level, ports, stream};
use super::flight::SendTimes;
use crate::{ActivityKind, CallKind, Message, Rendezvous, Transfer};

impl Auditor<'_> {
    /// Finds the messages to memories and the answers, by the calls, or in a played trace by who has them.
    pub(super) fn mark_one_sided(&mut self) {
        if self.trace.reaches_memories {
            self.mark_unreceived();
        }
        let mut posted: HashSet<(usize, u32)> = HashSet::new();
        for call in &self.trace.calls {
            match &call.kind {
                CallKind::OneSided { request: Some(request), .. } => _ = posted.insert((call.id, *request)),
                CallKind::OneSided { sent: Some(sent), .. } => self.mark(sent),
                CallKind::Wait { request, transfer, .. } if posted.contains(&(call.id, *request)) => {
                    self.mark(transfer);
                }
                _ => {}
            }
        }
    }

    /// Marks the messages that no processor has received as those to memories. What has no send is the answer to the message
    /// before.
    fn mark_unreceived(&mut self) {
        let (mut sent, mut received) = (HashSet::new(), HashSet::new());
        for activity in &self.trace.activities {
            match activity.kind {
                ActivityKind::Send(id) => _ = sent.insert(id),
                ActivityKind::Receive(id) => _ = received.insert(id),
                _ => (),
            }
        }
        let own = |id: MessageId| sent.contains(&id) && !received.contains(&id);
        for message in self.trace.messages.iter().map(|message| message.id).filter(|id| own(*id)) {
            let reply = MessageId { number: message.number + 1, ..message };
            let is_answer = received.contains(&reply) && !sent.contains(&reply);
            let both = is_answer.then(|| Box::new(Rendezvous { request: message, reply }));
            self.mark(&Transfer { message, rendezvous: both });
        }
    }

    /// Marks a message to a memory, and its answer.
    fn mark(&mut self, sent: &Transfer) {
        let Some(request) = self.index_of(sent.message) else { return };
        (self.flights[request].is_one_sided, self.flights[request].is_read) = (true, false);
        let memory = self.flights[request].message.to;
        let Some(answer) = sent.rendezvous.as_ref().and_then(|both| self.index_of(both.reply)) else {
            return;
        };
        let trace = self.trace;
        let flight = &mut self.flights[answer];
        let way = Message { id: MessageId { from: memory, ..flight.message.id }, ..flight.message.clone() };
        let (number, params) = level(trace, memory, way.to);
        (flight.level, flight.params, flight.memory) = (number, params, Some(memory));
        flight.is_read = false;
        flight.stream = stream(params, way.words).max(Time::ZERO);
        flight.ports = ports(trace, number, &way);
    }

    /// Lets each answer begin when its request is there.
    pub(super) fn send_answers(&mut self) {
        for answer in 0..self.flights.len() {
            let Message { id, enter, .. } = *self.flights[answer].message;
            let before = id.number.checked_sub(1).map(|number| MessageId { number, ..id });
            let Some(request) = before.and_then(|id| self.index_of(id)) else { continue };
            if self.flights[answer].memory.is_some() {
                let ready = self.flights[request].message.arrival;
                let asked = self.flights[request].asked_at();
                let flight = &mut self.flights[answer];
                flight.asked = Some(asked);
                flight.sent = Some(SendTimes { begun: ready, ready, admitted: ready, entered: enter });
            }
        }
    }
}
