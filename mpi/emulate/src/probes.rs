//! Messages that are at a rank before it receives them: those that a probe has seen, and its own.

use std::borrow::Cow;

use loggp::{Proc, Time, WithSender};
use loggp_mpi_trace::call::{Envelope, Receive, RequestId};

use crate::failure::LastCall;
use crate::parcel::{Got, UnderWay, is_meant};
use crate::pending::{Completion, Pending};
use crate::rank::EmulatedRank;
use crate::reply::Reply;

impl EmulatedRank<'_> {
    /// Takes a message that is at the rank already: one that a probe has seen, or its own.
    pub(crate) fn take_here(&mut self, p: &mut Proc, receive: &Receive) -> Option<Got> {
        let (got, is_kept) = self.find_here(p, receive)?;
        if !is_kept {
            self.note_taken(&got);
        }
        Some(got)
    }

    /// Finds such a message, and says whether the rank has kept it, so that no other one can have seen it under way.
    fn find_here(&mut self, p: &mut Proc, receive: &Receive) -> Option<(Got, bool)> {
        if self.probed.is_empty() && self.own.is_empty() {
            return None;
        }
        let scope = self.scope(receive.communicator);
        let seen = self.seen().find(|got| got.is_meant(receive, scope)).map(|got| got.from);
        let own = self.own.iter().position(|got| got.is_meant(receive, scope));
        if seen.is_none() && own.is_none() {
            return None;
        }
        if let Some(got) = self.find_another(p, receive) {
            return Some((got, false));
        }
        let Some(from) = seen else { return Some((self.own.remove(own?)?, true)) };
        // Messages of one sender keep their order, whichever of them a probe has seen.
        let tag = self.first_under_way(receive, from).map(|message| message.tag);
        let first = Receive { from: Some(from as u32), tag, ..*receive };
        let is_first = |(number, got): &(Option<u64>, Got)| number.is_none() && got.is_meant(&first, scope);
        let got = match self.probed.iter().position(is_first) {
            Some(at) => self.probed.remove(at).1,
            None => self.receive_there(p, &first),
        };
        Some((got, false))
    }

    /// Returns the messages that a probe has seen, and has not matched.
    fn seen(&self) -> impl Iterator<Item = &Got> {
        self.probed.iter().filter(|(number, _)| number.is_none()).map(|(_, got)| got)
    }

    /// Returns whether a receive may take another message than a probe has seen: if it is of any sender, and the program is
    /// checked.
    fn may_take_another(&self, receive: &Receive) -> bool {
        receive.from.is_none() && self.shared.settings.checks.is_some()
    }

    /// Receives another message than those that are here, if the receive may and one is there.
    fn find_another(&mut self, p: &mut Proc, receive: &Receive) -> Option<Got> {
        if !self.may_take_another(receive) {
            return None;
        }
        // Messages come a gap apart, so that none can be there right after the one that was seen.
        p.compute_for(Cow::Borrowed("computing"), p.params().g.max(p.params().cycle) + Time::from_ps(1));
        let (scope, from) = (self.scope(receive.communicator), self.look(p, receive)?);
        if self.seen().chain(&self.own).any(|got| got.from == from && got.is_meant(receive, scope)) {
            return None;
        }
        Some(self.receive_there(p, &Receive { from: Some(from as u32), ..*receive }))
    }

    /// Returns the first message under way from a rank that a receive takes.
    fn first_under_way(&mut self, receive: &Receive, from: usize) -> Option<Envelope> {
        let scope = self.scope(receive.communicator);
        let sent = self.shared.sent[self.id].lock();
        let is_meant = |message: &&UnderWay| is_meant(receive, scope, (from, message.scope, message.tag));
        let first = sent.get(&from)?.iter().find(is_meant)?;
        let (tag, bytes) = (first.tag as i32, first.bytes);
        Some(Envelope { peer: from as u32, tag, communicator: receive.communicator, bytes })
    }

    /// Looks for a message, or waits for one.
    pub(crate) fn probe(
        &mut self,
        p: &mut Proc,
        receive: &Receive,
        is_wait: bool,
        is_matched: bool,
    ) -> Reply {
        self.backgrounds.advance(p);
        let (got, is_kept) = match self.find_here(p, receive) {
            Some(here) => here,
            None if is_wait && receive.from == Some(self.id as u32) => self.fail_to_receive_own(p, receive),
            // The message is received here, and a later receive has it.
            None if is_wait => (self.receive_there(p, receive), false),
            None => match self.look(p, receive) {
                None => {
                    self.lengthen_look(p);
                    return Reply::Words(vec![0; if is_matched { 5 } else { 4 }]);
                }
                Some(from) if is_matched || self.may_take_another(receive) => {
                    (self.receive_there(p, &Receive { from: Some(from as u32), ..*receive }), false)
                }
                Some(from) => return self.describe(p, receive, from),
            },
        };
        let from = self.rank_in(receive.communicator, got.from);
        let mut words = vec![from, u64::from(got.parcel.tag), got.parcel.data.len() as u64];
        if is_matched || !is_wait {
            words.insert(0, 1);
        }
        if is_matched {
            self.next_message += 1;
            words.push(self.next_message);
        }
        match (is_matched, is_kept) {
            (false, true) => self.own.push_front(got),
            (false, false) => self.probed.push((None, got)),
            (true, _) => {
                if !is_kept {
                    self.note_taken(&got);
                }
                self.probed.push((Some(self.next_message), got));
            }
        }
        Reply::Words(words)
    }

    /// Looks for a message on the machine, and returns its sender.
    fn look(&mut self, p: &mut Proc, receive: &Receive) -> Option<usize> {
        let filter = self.filter(receive);
        match receive.from {
            Some(from) if from as usize == self.id => None,
            Some(from) => p.probe(filter.from(from as usize)),
            None => p.probe(filter),
        }
    }

    /// Returns what a look has found: the first message of a sender that the receive takes. If there is none that has not been
    /// withdrawn, it looks again.
    fn describe(&mut self, p: &mut Proc, receive: &Receive, from: usize) -> Reply {
        let rank = self.rank_in(receive.communicator, from);
        if let Some(message) = self.first_under_way(receive, from) {
            return Reply::Words(vec![1, rank, message.tag as u64, message.bytes]);
        }
        // A receive takes what was withdrawn, and goes on waiting.
        let taken = p.irecv(WithSender(self.filter(receive).from(from)));
        p.is_done(&taken);
        p.withdraw(&taken);
        self.probe(p, receive, false, false)
    }

    pub(crate) fn receive_matched(
        &mut self,
        p: &mut Proc,
        message: u64,
        request: Option<RequestId>,
    ) -> Reply {
        let Some(at) = self.probed.iter().position(|(number, _)| *number == Some(message)) else {
            p.fail_with(format!("rank {} receives a message that no probe has matched", self.id));
        };
        let got = self.probed.remove(at).1;
        let from = self.rank_in_scope(got.scope, got.from);
        match request {
            None => Reply::Message(from, got.parcel),
            Some(request) => {
                self.requests.insert(request, Pending::Ready(Completion::Receive(from, got.parcel)));
                Reply::NOTHING
            }
        }
    }

    /// Returns a sentence on a message that is at the rank and that it has not received, if there is one.
    pub(crate) fn describe_left(&self) -> Option<String> {
        let got = self.probed.iter().map(|(_, got)| got).chain(&self.own).next()?;
        let sent = self.shared.sent[self.id].lock();
        let is_that = |message: &&UnderWay| (message.scope, message.tag) == (got.scope, got.parcel.tag);
        let under_way = sent.get(&got.from).and_then(|queue| queue.iter().find(is_that));
        let address = under_way.map(|message| message.place.clone()).unwrap_or_default();
        let sender = LastCall { address, ..LastCall::default() }.text();
        let place = if sender.is_empty() { sender } else { format!(", sent{sender}") };
        let (from, id, tag) = (got.from, self.id, got.parcel.tag);
        Some(format!("a message was never received: one from rank {from} to rank {id} with tag {tag}{place}"))
    }
}
