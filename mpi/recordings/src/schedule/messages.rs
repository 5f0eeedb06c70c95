//! The operations of sends, receives and probes.

use loggp_goal::patterns::add_after;
use loggp_schedule::Operation;

use super::knowledge::{Channel, Fate};
use super::rank::{Posted, RankWriter};
use super::tags::Use;
use crate::call::{Completed, Envelope, MpiCallKind, Receive, RequestId, SendMode};
use crate::error::ProgramError;

impl RankWriter<'_> {
    /// Returns whether a call has to do with no other rank. What a rank sends to itself is copied in its memory, so the
    /// call's time is computing.
    pub(super) fn is_own(&self, kind: &MpiCallKind) -> bool {
        match kind {
            MpiCallKind::Send { message, .. } | MpiCallKind::Probe { message, .. } => {
                self.is_own_message(message)
            }
            MpiCallKind::Recv { receive, request } => self.is_own_receive(receive, *request),
            MpiCallKind::SendRecv { message: None, receive: None, .. } => false,
            MpiCallKind::SendRecv { message, receive, request } => {
                message.as_ref().is_none_or(|message| self.is_own_message(message))
                    && receive.as_ref().is_none_or(|receive| self.is_own_receive(receive, *request))
            }
            MpiCallKind::Start(kinds) => kinds.iter().all(|kind| self.is_own(kind)),
            // Requests that exchange nothing with others are not kept.
            MpiCallKind::Complete { requests, .. } => {
                let is_over =
                    |one: &Completed| !one.is_cancelled && !self.requests.contains_key(&one.request);
                !requests.is_empty() && requests.iter().all(is_over)
            }
            _ => false,
        }
    }

    pub(super) fn is_own_message(&self, message: &Envelope) -> bool {
        message.peer as usize == self.rank
    }

    fn is_own_receive(&self, receive: &Receive, request: Option<RequestId>) -> bool {
        let from = self.taken_by(receive, request).map(|taken| taken.peer).or(receive.from);
        from.is_some_and(|from| from as usize == self.rank)
    }

    /// Returns what came of a request that a later call says, if it is known from an earlier reading.
    fn fate(&self, request: Option<RequestId>) -> Option<Fate> {
        let fates = &self.shared.knowledge.fates;
        request
            .filter(|_| !fates.is_empty())
            .and_then(|request| fates.get(&(self.rank as u32, request)).copied())
    }

    /// Returns the message that a receive took, if it is known.
    fn taken_by(&self, receive: &Receive, request: Option<RequestId>) -> Option<Envelope> {
        let later = || match self.fate(request) {
            Some(Fate::Took(message)) => Some(message),
            _ => None,
        };
        receive.taken.or_else(later)
    }

    /// Notes what came of a request, to be known at the next reading.
    fn note_fate(&mut self, request: RequestId, fate: Fate) {
        self.shared.flows.fates.insert((self.rank as u32, request), fate);
    }

    /// Returns how a message with this tag to a rank, on a communicator of this number, is told apart from others.
    fn told_apart(&self, to: u32, number: u32, tag: Option<i32>) -> (Use, Option<i32>) {
        match self.shared.knowledge.has_one_tag(to, number) {
            true => (Use::AnyMessage, Some(0)),
            false => (Use::Message, tag),
        }
    }

    /// Adds the operations of a call that sends or receives.
    pub(super) fn add_messages(&mut self, thread: usize, kind: &MpiCallKind) -> Result<(), ProgramError> {
        let (mode, message, receive, request) = match kind {
            MpiCallKind::Send { mode, message, request } => (*mode, Some(message), None, *request),
            MpiCallKind::Recv { receive, request } => (SendMode::Standard, None, Some(receive), *request),
            MpiCallKind::SendRecv { message, receive, request } => {
                (SendMode::Standard, message.as_ref(), receive.as_ref(), *request)
            }
            _ => return Err(self.error("a persistent request is neither a send nor a receive")),
        };
        if self.fate(request) == Some(Fate::Nothing) {
            return Ok(());
        }
        let message = message.filter(|message| !self.is_own_message(message));
        let receive = receive.filter(|receive| !self.is_own_receive(receive, request));
        let sent = message.map(|message| self.send(thread, mode, message)).transpose()?.flatten();
        let posted = receive.map(|receive| self.receive(thread, receive, request)).transpose()?.flatten();
        let begun = mode == SendMode::Buffered || request.is_some();
        if let Some(request) = request {
            let other = match (sent, &posted) {
                (Some((send, _)), Some(_)) => Some(send),
                (Some((_, answer)), None) => answer,
                (None, _) => None,
            };
            let send = sent.map(|(operation, _)| Posted::new(operation));
            if let Some(posted) = posted.or(send) {
                self.requests.insert(request, Posted { other, ..posted });
            }
            // A send goes on when it begins, and a receive at once.
            if let Some((send, _)) = sent {
                self.go_on_after(thread, [(send, begun)]);
            }
            return Ok(());
        }
        let answer = sent.and_then(|(_, answer)| answer);
        let all = [sent.map(|(send, _)| (send, begun)), answer.map(|answer| (answer, false))];
        let received = posted.map(|posted| {
            if let Some(channel) = posted.channel {
                self.shared.flows.take(channel, posted.bytes);
            }
            (posted.operation, false)
        });
        let before = &mut self.threads[thread].before;
        if all[0].is_some() || received.is_some() {
            before.clear();
            before.extend(all.into_iter().chain([received]).flatten());
        }
        Ok(())
    }

    /// Adds a send. Returns its operation, and that of the answer for which it waits, or `None` if it is left out.
    fn send(
        &mut self,
        thread: usize,
        mode: SendMode,
        message: &Envelope,
    ) -> Result<Option<(u32, Option<u32>)>, ProgramError> {
        let Envelope { peer, tag, communicator, bytes } = *message;
        let number = self.communicators.get(communicator, self.rank)?.number;
        let (what, told_by) = self.told_apart(peer, number, Some(tag));
        let tag = told_by.unwrap_or(tag);
        let in_schedule = self.shared.tags.tag(what, number, tag);
        let channel = (self.rank as u32, peer, in_schedule);
        let sent = self.shared.flows.send(channel, bytes);
        if self.shared.knowledge.is_beyond(channel, sent) {
            return Ok(None);
        }
        let send = self.add(thread, Operation::Send { to: peer, bytes, tag: in_schedule })?;
        if mode != SendMode::Synchronous {
            return Ok(Some((send, None)));
        }
        self.shared.flows.note_synchronous(channel, sent);
        if !self.shared.knowledge.is_synchronous(channel, sent) {
            return Ok(Some((send, None)));
        }
        let tag = self.shared.tags.tag(Use::Answer, number, tag);
        let answer = self.add(thread, Operation::Recv { from: Some(peer), bytes: 0, tag: Some(tag) })?;
        Ok(Some((send, Some(answer))))
    }

    /// Adds a receive, or finds the one that a probe added. Returns `None` if it is left out.
    fn receive(
        &mut self,
        thread: usize,
        receive: &Receive,
        request: Option<RequestId>,
    ) -> Result<Option<Posted>, ProgramError> {
        let number = self.communicators.get(receive.communicator, self.rank)?.number;
        let taken = self.taken_by(receive, request);
        let from = taken.map(|taken| taken.peer).or(receive.from);
        let tag = taken.map(|taken| taken.tag).or(receive.tag);
        if !self.shared.knows_taken {
            self.shared.flows.tags.note(self.rank as u32, number, tag);
        }
        let (what, tag) = self.told_apart(self.rank as u32, number, tag);
        let in_schedule = tag.map(|tag| self.shared.tags.tag(what, number, tag));
        let bytes = taken.map(|taken| taken.bytes);
        let length = bytes.unwrap_or(receive.bytes);
        let posted = |operation, channel| Posted { channel, bytes, ..Posted::new(operation) };
        let (Some(peer), Some(tag), Some(in_schedule)) = (from, tag, in_schedule) else {
            if request.is_none() {
                self.shared.flows.note_open(self.rank as u32);
            }
            let operation = self.add(thread, Operation::Recv { from, bytes: length, tag: in_schedule })?;
            return Ok(Some(Posted { is_open: true, ..Posted::new(operation) }));
        };
        if !self.probed.is_empty()
            && let Some(operation) = self.probed.remove(&(peer, in_schedule))
        {
            return Ok(Some(posted(operation, None)));
        }
        let channel = (peer, self.rank as u32, in_schedule);
        let operation = self.post(thread, channel, (number, tag), length)?;
        Ok(operation.map(|operation| posted(operation, Some(channel))))
    }

    /// Adds the operation of a receive, and the answer to a synchronous send.
    fn post(
        &mut self,
        thread: usize,
        channel: Channel,
        (communicator, tag): (u32, i32),
        bytes: u64,
    ) -> Result<Option<u32>, ProgramError> {
        let (peer, _, in_schedule) = channel;
        let posted = self.shared.flows.post(channel);
        if self.shared.knowledge.is_beyond(channel, posted) {
            return Ok(None);
        }
        let receive = Operation::Recv { from: Some(peer), bytes, tag: Some(in_schedule) };
        let operation = self.add(thread, receive)?;
        if self.shared.knowledge.is_synchronous(channel, posted) {
            let tag = self.shared.tags.tag(Use::Answer, communicator, tag);
            let answer = Operation::Send { to: peer, bytes: 0, tag };
            add_after(self.builder, answer, &[(operation, false)]).map_err(|why| self.error(why))?;
        }
        Ok(Some(operation))
    }

    /// Adds a probe that found a message. The message is received here, and a later receive has it already.
    pub(super) fn probe(&mut self, thread: usize, message: &Envelope) -> Result<(), ProgramError> {
        let Envelope { peer, tag, communicator, bytes } = *message;
        let number = self.communicators.get(communicator, self.rank)?.number;
        if !self.shared.knows_taken {
            self.shared.flows.tags.note(self.rank as u32, number, Some(tag));
        }
        let in_schedule = self.shared.tags.tag(Use::Message, number, tag);
        if self.probed.contains_key(&(peer, in_schedule)) {
            return Ok(());
        }
        let channel = (peer, self.rank as u32, in_schedule);
        if let Some(operation) = self.post(thread, channel, (number, tag), bytes)? {
            self.shared.flows.take(channel, (bytes > 0).then_some(bytes));
            self.probed.insert((peer, in_schedule), operation);
            self.go_on_after(thread, [(operation, false)]);
        }
        Ok(())
    }

    /// Makes what follows wait for a request.
    pub(super) fn complete(&mut self, thread: usize, completed: &Completed) {
        let Completed { request, taken, is_cancelled } = *completed;
        let Some(posted) = self.requests.remove(&request) else { return };
        match taken {
            _ if is_cancelled => return self.note_fate(request, Fate::Nothing),
            Some(message) if posted.is_open => self.note_fate(request, Fate::Took(message)),
            None if posted.is_open => self.shared.flows.note_open(self.rank as u32),
            _ => (),
        }
        let operations = [Some(posted.operation), posted.other];
        self.threads[thread].before.extend(operations.into_iter().flatten().map(|one| (one, false)));
        if let Some(channel) = posted.channel {
            self.shared.flows.take(channel, posted.bytes.or(taken.map(|taken| taken.bytes)));
        }
    }

    /// Gives up a request that never completes. A receive that any message would do is left out, since nobody
    /// knows whether it took one; any other receive is left out if no message is left for the receive.
    pub(super) fn give_up(&mut self, request: RequestId) {
        match self.requests.remove(&request) {
            Some(Posted { is_open: true, .. }) => self.note_fate(request, Fate::Nothing),
            Some(Posted { channel: Some(channel), .. }) => self.shared.flows.give_up(channel, request),
            _ => (),
        }
    }
}
