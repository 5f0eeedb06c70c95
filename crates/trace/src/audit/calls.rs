//! Compares the programs' calls with the activities of the processors.
//!
//! The calls of a processor follow each other without a hole. Each call implies certain activities of its
//! processor, which must lie in the call, and the processor does nothing else. A call names its messages, so
//! each is looked up and compared with what the call asked for. A receive takes the first to arrive of the
//! messages that it wants, of those that sends have addressed to it; a look that found nothing must have had
//! nothing to find.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::iter::Peekable;

use loggp_model::message::{MessageId, RawTag};
use loggp_model::text::escaped;
use loggp_model::time::Time;

use super::auditor::{AuditRule, Auditor, broken};
use crate::path::Event;
use crate::{ActivityKind, Call, CallKind, CallTag, Message, Rendezvous, Transfer, Until};

/// The messages that calls have sent, and those that no call has received yet.
#[derive(Default)]
struct SentMessages<'a> {
    /// The tag and the transfer of each message, by its sending call.
    sent: HashMap<MessageId, (u64, &'a Transfer)>,
    /// The messages that no call has received yet, each for receives from its sender and from any.
    left: BTreeSet<LeftKey>,
    /// True if a call receives or looks for messages with any tag.
    has_any_tag: bool,
}

/// Receiver, tag, sender (`None` for receives from any sender), arrival of the transfer's first message, and
/// that message.
type LeftKey = (usize, u64, Option<usize>, Time, MessageId);

impl SentMessages<'_> {
    /// Returns the earliest message left that a receive with this tag and source can take, and its arrival.
    fn first_left(&self, to: usize, tag: u64, from: Option<usize>) -> Option<(Time, MessageId)> {
        let least = (to, tag, from, Time::from_ps(i64::MIN), MessageId { from: 0, number: 0 });
        let &(y, about, x, arrival, id) = self.left.range(least..).next()?;
        ((y, about, x) == (to, tag, from)).then_some((arrival, id))
    }

    /// Returns whether a receive by this tag can take what it got, and has the same rendezvous as the
    /// sender's call.
    fn is_match(&self, tag: &CallTag, got: &Transfer) -> bool {
        let wild = RawTag::from_number(tag.number).is_wild();
        let right = |(about, sent): &(u64, &Transfer)| {
            (wild || *about == tag.number) && sent.rendezvous == got.rendezvous
        };
        self.sent.get(&got.message).is_some_and(right)
    }

    /// Returns the arrival of a message left that a receive has got: of one that comes twice, the earlier one
    /// that is left.
    fn arrival(&self, to: usize, got: &Transfer) -> Option<Time> {
        let (tag, _) = self.sent.get(&got.message)?;
        let from = Some(got.first().from);
        let least = (to, *tag, from, Time::from_ps(i64::MIN), MessageId { from: 0, number: 0 });
        let like =
            self.left.range(least..).take_while(|(y, about, x, ..)| (*y, *about, *x) == (to, *tag, from));
        like.filter(|(.., id)| *id == got.first()).map(|(.., arrival, _)| *arrival).next()
    }

    fn add(&mut self, to: usize, tag: u64, arrival: Time, id: MessageId) {
        self.left.extend(self.keys(to, tag, arrival, id));
    }

    fn remove(&mut self, to: usize, got: &Transfer, arrival: Time) {
        let Some((tag, _)) = self.sent.get(&got.message) else { return };
        for key in self.keys(to, *tag, arrival, got.first()) {
            self.left.remove(&key);
        }
    }

    /// Returns the keys of a message in `left`: for receives with its tag, and for those with any tag, or any of
    /// its scope, if the run has such.
    fn keys(
        &self,
        to: usize,
        tag: u64,
        arrival: Time,
        id: MessageId,
    ) -> impl Iterator<Item = LeftKey> + use<> {
        let raw = RawTag::from_number(tag);
        let wild = raw.filters().into_iter().filter(move |filter| filter.is_wild() && filter.can_take(raw));
        let mut wild: Vec<u64> =
            wild.take(if self.has_any_tag { 2 } else { 0 }).map(RawTag::number).collect();
        wild.dedup();
        let tags = std::iter::once(tag).chain(wild);
        tags.flat_map(move |tag| [None, Some(id.from)].map(|from| (to, tag, from, arrival, id)))
    }
}

/// The audit of one processor's calls.
struct CallAudit<'c, 'a, D: Iterator<Item = &'c Event<'a>>> {
    auditor: &'c mut Auditor<'a>,
    sent: &'c mut SentMessages<'a>,
    /// The processor's activities without its waits, from the first that no call has accounted for.
    activities: Peekable<D>,
    /// The send of a message that stalls while the processor receives, in calls before that of the send.
    stalled_send: Option<&'c Event<'a>>,
    /// End of the gap after the last reception of its calls.
    receive_gap_end: Option<Time>,
    /// When it knows that all that it has put into another's memory is there.
    acknowledged: BTreeMap<usize, Time>,
    /// The gaps after the receptions of its requests, as [`request_gaps`](Auditor::request_gaps) has them.
    request_gaps: Vec<(Time, Time)>,
    /// The calls for requests that the processor has not waited for yet, by number.
    posted: HashMap<u32, &'a CallKind>,
    /// `true` if the calls determine which message a receive must take. They do not if the processor has
    /// requests to receive, which take messages before they are waited for, or if the host let acts happen
    /// out of order.
    is_order_known: bool,
}

impl<'a> Auditor<'a> {
    /// Audits the calls of all processors, unless the trace is from before traces had calls.
    pub(super) fn audit_calls(&mut self, activities: &[Event<'a>]) {
        let trace = self.trace;
        if trace.calls.is_empty() {
            return;
        }
        /// The calls of a processor, its activities, and those of its requests.
        type Followed<'a, 'd> = (Vec<&'a Call>, (&'d [Event<'a>], &'d [Event<'a>]));
        let mut processors: BTreeMap<usize, Followed> = BTreeMap::new();
        for own_activities in activities.chunk_by(|a, b| a.id == b.id) {
            let own = own_activities.partition_point(|activity| activity.request.is_none());
            processors.entry(own_activities[0].id).or_default().1 = own_activities.split_at(own);
        }
        for call in &trace.calls {
            processors.entry(call.id).or_default().0.push(call);
        }
        let is_wait = |activity: &Event| {
            use ActivityKind::{Gap, Idle, Port, Stall};
            matches!(activity.kind, Gap | Stall | Port | Idle)
        };
        let mut sent_messages = self.sent_messages();
        for (id, (calls, (own_activities, of_requests))) in processors {
            let request_gaps = self.request_gaps(of_requests);
            let mut call_audit = CallAudit {
                is_order_known: trace.out_of_order == 0
                    && !calls.iter().any(|call| matches!(call.kind, CallKind::Irecv { .. })),
                auditor: self,
                sent: &mut sent_messages,
                activities: own_activities.iter().filter(|activity| !is_wait(activity)).peekable(),
                stalled_send: None,
                receive_gap_end: None,
                acknowledged: BTreeMap::new(),
                request_gaps,
                posted: HashMap::new(),
            };
            let mut now = Time::ZERO;
            for call in calls {
                let (who, end) = (CallName(call), call.end);
                broken!(call_audit.auditor, "{who}",
                    call.start != now || end < now => AuditRule::Calls, "ends at {end}, and begins at {now}";
                );
                now = end;
                call_audit.audit(call);
            }
            let crashed = trace.may_have_stopped(id);
            // The activities of the call in which a processor crashed are in no call, since it has not ended.
            call_audit.report_outside_calls(if crashed { now } else { Time::MAX });
            let end = own_activities.iter().map(|activity| activity.end).max().unwrap_or_default();
            broken!(self, "processor {id}",
                end != now && !(crashed && end > now) => AuditRule::Calls,
                    "calls until {now}, and is active until {end}";
            );
        }
    }

    /// Collects the messages that the calls have sent.
    fn sent_messages(&mut self) -> SentMessages<'a> {
        let is_any_tag =
            |call: &Call| call.kind.tag().is_some_and(|tag| RawTag::from_number(tag.number).is_wild());
        let has_any_tag = self.trace.calls.iter().any(is_any_tag);
        let mut sent_messages = SentMessages { has_any_tag, ..SentMessages::default() };
        for (sent, tag, _) in self.trace.sends() {
            if sent_messages.sent.insert(sent.message, (tag.number, sent)).is_some() {
                self.report(AuditRule::Calls, format!("two calls send {}", sent.message));
            }
            let comes = |message: &&Message| !self.trace.faults.lost.contains(&message.id);
            if let Some(Message { id, to, arrival, .. }) = self.message(sent.first()).filter(comes) {
                let again = self.trace.faults.twice.get(id).map(|later| *arrival + *later);
                for arrival in [Some(*arrival), again].into_iter().flatten() {
                    sent_messages.add(*to, tag.number, arrival, *id);
                }
            }
        }
        sent_messages
    }

    /// Returns when requests take messages, from which on no other reception goes before theirs, and when the last gap
    /// after one that was taken until then is over. An answer that is there before its request's send is over (G_l may be
    /// negative) is taken on its arrival.
    fn request_gaps(&self, of_requests: &[Event]) -> Vec<(Time, Time)> {
        let (mut gaps, mut sent) = (Vec::new(), None);
        for activity in of_requests {
            let Event { request, start, kind, .. } = *activity;
            let taken = match kind {
                ActivityKind::Send(_) => {
                    sent = Some((request, start));
                    start
                }
                ActivityKind::Receive(id) => {
                    let sent = sent.filter(|(of, _)| *of == request).map(|(_, start)| start);
                    let arrival = self.message(*id).map(|message| message.arrival);
                    sent.zip(arrival).map_or(start, |(sent, arrival)| arrival.max(sent).min(start))
                }
                _ => start,
            };
            gaps.push((taken, self.gap_after(activity)));
        }
        gaps.sort_unstable();
        let mut last = Time::ZERO;
        for (_, over) in &mut gaps {
            last = last.max(*over);
            *over = last;
        }
        gaps
    }

    fn message(&self, id: MessageId) -> Option<&'a Message> {
        self.index_of(id).map(|index| self.flights[index].message)
    }

    /// Returns whether there is a message of this id, sender, receiver and length.
    fn has_message(&self, id: MessageId, from: usize, to: usize, words: usize) -> bool {
        self.message(id).is_some_and(|message| (id.from, message.to, message.words) == (from, to, words))
    }

    /// Returns the length in words of a message of `bytes` bytes (LogP: no message is shorter than a word).
    fn word_count(&self, bytes: usize) -> usize {
        let (word, least) = (self.trace.params.word.get(), usize::from(self.trace.params.gps().is_none()));
        (bytes / word + usize::from(!bytes.is_multiple_of(word))).max(least)
    }
}

impl<'c, 'a, D: Iterator<Item = &'c Event<'a>>> CallAudit<'c, 'a, D> {
    /// Compares a call with the processor's activities, and its result with what it asked for.
    fn audit(&mut self, call: &'a Call) {
        let (&Call { start, end, .. }, who) = (call, CallName(call));
        let (begun, done) = self.audit_activities(call);
        let mut over = done.unwrap_or(start);
        match &call.kind {
            CallKind::Work(_)
            | CallKind::Barrier
            | CallKind::Receive { until: Until::GapOver, received: None, .. } => {}
            CallKind::WaitUntil(time) => over = start.max(*time),
            CallKind::Send { to, bytes, sent, .. } => self.audit_sent(call, *to, *bytes, sent),
            CallKind::SendRecv(both) => {
                self.audit_sent(call, both.to, both.bytes, &both.sent);
                self.audit_received(call, Some(both.from), &both.tag, &both.received);
            }
            CallKind::Receive { from, tag, until, received: Some(got) } => {
                self.audit_received(call, *from, tag, got);
                if let (Until::Moment(moment), Some(begun)) = (until, begun) {
                    broken!(self.auditor, "{who}",
                        begun > start.max(*moment) => AuditRule::CallResult,
                            "gives up at {moment}, and receives at {begun}";
                    );
                }
            }
            CallKind::Receive { until: Until::Arrival, received: None, .. } => {
                over = end;
                self.auditor.report(AuditRule::CallResult, format!("{who} gets nothing"));
            }
            CallKind::Receive { from, tag, until: Until::Moment(moment), received: None } => {
                let cycle = self.auditor.trace.params.cycle;
                over = if *moment > start { *moment } else { start + cycle };
                if self.can_receive(start.max(*moment)) {
                    self.audit_empty_result(call, *from, tag, start.max(*moment));
                }
            }
            CallKind::Isend { request, .. } | CallKind::Irecv { request, .. } => {
                self.posted.insert(*request, &call.kind);
            }
            CallKind::Wait { request, is_send: sends, transfer } => {
                match (sends, self.posted.remove(request)) {
                    (true, Some(CallKind::Isend { to, bytes, .. })) => {
                        self.audit_sent(call, *to, *bytes, transfer)
                    }
                    (true, Some(CallKind::OneSided { to, bytes, back, .. })) => {
                        self.audit_one_sided(call, *to, [Some(*bytes), *back], transfer);
                    }
                    (false, Some(CallKind::Irecv { from, tag, .. })) => {
                        self.audit_received(call, *from, tag, transfer)
                    }
                    _ => self
                        .auditor
                        .report(AuditRule::CallResult, format!("{who} is for what was never called for")),
                }
            }
            CallKind::OneSided { request: Some(request), .. } => {
                self.posted.insert(*request, &call.kind);
            }
            CallKind::OneSided { to, bytes, back, sent, .. } => match sent {
                Some(sent) => self.audit_one_sided(call, *to, [Some(*bytes), *back], sent),
                None => self.auditor.report(AuditRule::CallResult, format!("{who} sends nothing")),
            },
            CallKind::Flush { to } => {
                let last = self.auditor.trace.params.P - 1;
                broken!(self.auditor, "{who}",
                    to.is_some_and(|to| to > last) => AuditRule::CallResult,
                        "waits for the memory of a processor, and there are processors 0 to {last}";
                );
                let of = |(other, _): &(&usize, &Time)| to.is_none_or(|to| to == **other);
                let last = self.acknowledged.iter().filter(of).map(|(_, known)| *known).max();
                over = start.max(last.unwrap_or(start));
            }
            CallKind::Test { .. } => over = start + self.auditor.trace.params.cycle,
            CallKind::Probe { from, tag, found } => {
                over = start + self.auditor.trace.params.cycle;
                match *found {
                    None => self.audit_empty_result(call, *from, tag, start),
                    Some(found) => self.audit_seen(call, *from, tag, found),
                }
            }
        }
        broken!(self.auditor, "{who}", over != end => AuditRule::Calls, "ends at {end}, and is over at {over}";);
    }

    /// Audits what a look saw. Of two messages that arrive at the same time a look may see either, so any
    /// message that is there will do.
    fn audit_seen(&mut self, call: &Call, from: Option<usize>, tag: &CallTag, found: usize) {
        let first = self.sent.first_left(call.id, tag.number, Some(found));
        let is_there = first.is_some_and(|(at, _)| at <= call.start);
        if from.is_some_and(|from| from != found) || !is_there {
            let who = CallName(call);
            let sentence = format!("{who} sees a message {tag} from {found}, and there is none");
            self.auditor.report(AuditRule::CallResult, sentence);
        }
    }

    /// Compares the processor's activities in a call with those that the call implies. Returns the start of
    /// the call's first reception and the end of its last activity, each `None` if there is none.
    fn audit_activities(&mut self, call: &Call) -> (Option<Time>, Option<Time>) {
        self.report_outside_calls(call.start);
        let (means, who) = (self.expected_activities(&call.kind), CallName(call));
        self.note_stalled_send(call);
        let stalled = self.stalled_send.take_if(|send| means.contains(send.kind));
        let next = |_: &ActivityKind| self.activities.next_if(|activity| activity.end <= call.end);
        let own_activities: Vec<&Event> = match stalled {
            Some(send) => vec![send],
            None => means.iter().map_while(next).collect(),
        };
        let (mut begun, mut over) = (None, stalled.map(|_| call.start));
        for what in means {
            let is_message = matches!(what, ActivityKind::Send(_) | ActivityKind::Receive(_));
            let right =
                |activity: &&&Event| *activity.kind == what && (is_message || activity.start == call.start);
            let Some(activity) = own_activities.iter().find(right) else {
                let sentence = format!("{who} means that it {}, and it does not", describe(&what));
                self.auditor.report(AuditRule::Calls, sentence);
                continue;
            };
            if let ActivityKind::Receive(_) = what {
                begun = begun.or(Some(activity.start));
                self.receive_gap_end = self.receive_gap_end.max(Some(self.auditor.gap_after(activity)));
            }
            let enters = match what {
                ActivityKind::Send(id) => self.auditor.message(id).map(|message| message.enter),
                _ => None,
            };
            over = over.max(Some(enters.unwrap_or(activity.end)));
        }
        (begun, over)
    }

    /// Returns the activities that a call implies, without waits, in order.
    fn expected_activities(&self, call: &CallKind) -> Vec<ActivityKind> {
        use ActivityKind::{Barrier, Post, Receive, Send, Wait, Work};
        let is_pull = self.auditor.trace.rendezvous.is_read();
        let sends = |sent: &Transfer| match sent.rendezvous.as_deref() {
            None => vec![Send(sent.message)],
            Some(asks) if is_pull => vec![Send(asks.request), Receive(asks.reply)],
            Some(asks) => vec![Send(asks.request), Receive(asks.reply), Send(sent.message)],
        };
        let receives = |got: &Transfer| match got.rendezvous.as_deref() {
            None => vec![Receive(got.message)],
            Some(asks) if is_pull => {
                vec![Receive(asks.request), Send(got.message), Receive(got.message), Send(asks.reply)]
            }
            Some(asks) => vec![Receive(asks.request), Send(asks.reply), Receive(got.message)],
        };
        match call {
            CallKind::Work(kind) => vec![Work(kind.clone())],
            CallKind::Barrier => vec![Barrier],
            CallKind::Isend { request, .. } | CallKind::Irecv { request, .. } => vec![Post(*request)],
            CallKind::OneSided { request: Some(request), .. } => vec![Post(*request)],
            CallKind::OneSided { sent: Some(sent), .. } => {
                let answer = sent.rendezvous.as_ref().map(|both| Receive(both.reply));
                [Send(sent.message)].into_iter().chain(answer).collect()
            }
            CallKind::Wait { request, .. } => vec![Wait(*request)],
            _ => [call.sent().map_or(vec![], sends), call.received().map_or(vec![], receives)].concat(),
        }
    }

    /// Notes the send of a message that stalls if the call is a receive meanwhile.
    fn note_stalled_send(&mut self, call: &Call) {
        let is_in_gap =
            matches!(call.kind, CallKind::Receive { until: Until::GapOver, received: Some(_), .. });
        let until_received = self.auditor.trace.capacity.lasts_until_received();
        let is_send = |next: &&Event| matches!(next.kind, ActivityKind::Send(_)) && next.end <= call.end;
        if is_in_gap && until_received {
            self.stalled_send = self.activities.next_if(is_send).or(self.stalled_send);
        }
    }

    /// Returns whether a reception could begin at a moment: no gap is running, nor does one begin at that
    /// moment after a request's reply.
    fn can_receive(&self, at: Time) -> bool {
        let taken = self.request_gaps.partition_point(|(taken, _)| *taken <= at);
        let of_requests = taken.checked_sub(1).map(|last| self.request_gaps[last].1);
        of_requests.max(self.receive_gap_end).is_none_or(|over| over <= at)
    }

    /// Reports the remaining activities that began before a moment, since they are in no call.
    fn report_outside_calls(&mut self, until: Time) {
        while let Some(activity) = self.activities.next_if(|activity| activity.start < until) {
            let (id, start) = (activity.id, activity.start);
            let sentence = format!("processor {id} {} at {start} in no call", describe(activity.kind));
            self.auditor.report(AuditRule::Calls, sentence);
        }
    }

    /// Reports a call that found nothing if a message for it had arrived before the deadline.
    fn audit_empty_result(&mut self, call: &Call, from: Option<usize>, tag: &CallTag, deadline: Time) {
        let there = self.sent.first_left(call.id, tag.number, from);
        if let Some((arrival, first)) =
            there.filter(|(arrival, _)| *arrival < deadline && self.is_order_known)
        {
            let sentence =
                format!("{} finds nothing {tag}, and {first} is there at {arrival}", CallName(call));
            self.auditor.report(AuditRule::CallResult, sentence);
        }
    }

    /// Compares the message that a call sent with what the call asked for.
    fn audit_sent(&mut self, call: &Call, to: usize, bytes: usize, sent: &Transfer) {
        let (who, words, message) = (CallName(call), self.auditor.word_count(bytes), sent.message);
        let must_ask = self.auditor.params(call.id, to).gps().is_some_and(|gps| words > gps.S);
        // A synchronous send of an MPI program asks, whatever its length.
        let sent_tag = self.sent.sent.get(&message).map(|(tag, _)| RawTag::from_number(*tag));
        let may_ask = must_ask || sent_tag.is_some_and(RawTag::is_scoped);
        broken!(self.auditor, "{who}",
            !self.auditor.has_message(message, call.id, to, words) => AuditRule::CallResult,
                "sends {words} words to {to}, and {message} does not";
            if sent.rendezvous.is_some() { !may_ask } else { must_ask } => AuditRule::CallResult,
                "sends {words} words, and is wrong to ask or not to ask for {message}";
        );
        self.audit_rendezvous(call, sent, call.id, to);
    }

    /// Compares the message that a call sent to a memory, and the answer, with the bytes that it asked for. Notes when
    /// the processor knows that what it has put there is there: L after that, since a word comes back for nothing.
    fn audit_one_sided(
        &mut self,
        call: &Call,
        to: usize,
        [bytes, back]: [Option<usize>; 2],
        sent: &Transfer,
    ) {
        let (who, id, message) = (CallName(call), call.id, sent.message);
        let least = usize::from(back.is_some());
        let [go, come] = [bytes, back].map(|bytes| bytes.map_or(0, |bytes| self.auditor.word_count(bytes)));
        let answer = MessageId { from: id, number: message.number.saturating_add(1) };
        let is_answered = |both: &Rendezvous| {
            (both.request, both.reply) == (message, answer) && self.auditor.has_message(answer, id, id, come)
        };
        let is_right = match &sent.rendezvous {
            Some(both) => back.is_some() && is_answered(both),
            None => back.is_none(),
        };
        broken!(self.auditor, "{who}",
            !self.auditor.has_message(message, id, to, go.max(least)) => AuditRule::CallResult,
                "sends {go} words to the memory of {to}, and {message} does not";
            !is_right => AuditRule::CallResult, "is not answered with {come} words by the message after {message}";
        );
        if let (None, Some(put)) = (back, self.auditor.message(message)) {
            let known = put.arrival + self.auditor.params(id, to).L;
            let last = self.acknowledged.entry(to).or_insert(known);
            *last = known.max(*last);
        }
    }

    /// Compares the message that a call received with what the call asked for.
    fn audit_received(&mut self, call: &Call, from: Option<usize>, tag: &CallTag, got: &Transfer) {
        let (who, first, message) = (CallName(call), got.first(), got.message);
        let there = || self.auditor.message(first).map_or(call.start, |first| first.arrival);
        let comes_twice = self.auditor.trace.faults.twice.contains_key(&first);
        let left = if comes_twice { self.sent.arrival(call.id, got) } else { None };
        let arrival = left.unwrap_or_else(there);
        let (before, other) = self.sent.first_left(call.id, tag.number, from).unwrap_or((arrival, first));
        // If the sender crashed, its call may not have ended, and the trace does not have it.
        let is_unsaid =
            self.auditor.trace.may_have_stopped(message.from) && !self.sent.sent.contains_key(&message);
        let meant = is_unsaid || self.sent.is_match(tag, got);
        let asked = from.is_none_or(|from| from == message.from) && meant;
        let comes = self.auditor.message(message).is_some_and(|message| message.to == call.id);
        broken!(self.auditor, "{who}",
            !asked || !comes => AuditRule::CallResult, "asks for a message {tag}, and gets {message}";
            before < arrival && self.is_order_known => AuditRule::CallResult,
                "receives {first}, there at {arrival}, and {other} was there at {before}";
        );
        self.sent.remove(call.id, got, arrival);
        self.audit_rendezvous(call, got, message.from, call.id);
    }

    /// Reports a rendezvous whose request did not go to the receiver, or whose reply did not come back, or
    /// that have any words.
    fn audit_rendezvous(&mut self, call: &Call, transfer: &Transfer, from: usize, to: usize) {
        let (Some(rendezvous), who) = (&transfer.rendezvous, CallName(call)) else { return };
        for (part, from, to) in [(rendezvous.request, from, to), (rendezvous.reply, to, from)] {
            broken!(self.auditor, "{who}",
                !self.auditor.has_message(part, from, to, 0) => AuditRule::CallResult,
                    "needs {part}, which is no word from {from} to {to}";
            );
        }
    }
}

/// A call, whose `Display` names it for the report's sentences.
struct CallName<'a>(&'a Call);

impl fmt::Display for CallName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CallName(call) = self;
        write!(f, "processor {}'s {} at {}", call.id, call.kind.name(), call.start)
    }
}

/// Describes an activity for the report's sentences.
fn describe(what: &ActivityKind) -> String {
    match what {
        ActivityKind::Work(kind) => format!("computes {:?}", escaped(kind)),
        ActivityKind::Send(id) => format!("sends {id}"),
        ActivityKind::Receive(id) => format!("receives {id}"),
        ActivityKind::Barrier => "waits in the barrier".into(),
        ActivityKind::Post(number) => format!("calls for request {number}"),
        ActivityKind::Wait(number) => format!("waits for request {number}"),
        _ => "waits".into(),
    }
}
