//! Whether what the programs called is what the processors did.
//!
//! The calls of a processor lie one behind the other, without a hole. A call names its messages; so each is looked up, and
//! held against what was asked. What a receive can take are the messages that sends have said to be for it: it takes the
//! first to arrive of those that it wants, and a look in vain must have found none.

use std::collections::{BTreeSet, HashMap};

use super::{Auditor, Rule};
use crate::message::{MessageId, RawTag};
use crate::params::Params;
use crate::time::Time;
use crate::trace::{Activity, ActivityKind, Call, CallKind, CallTag, Message, Trace, Transfer, Until};

/// The length in words of a message that counts for so many bytes (LogP: no message is shorter than a word).
fn length(params: &Params, bytes: usize) -> usize {
    let word = params.word.get();
    let least = if params.gps().is_some() { 0 } else { 1 };
    (bytes / word + usize::from(!bytes.is_multiple_of(word))).max(least)
}

/// What was sent to be received, as far as calls say it.
#[derive(Default)]
struct Letters<'a> {
    /// The tag of each message, and how its receiver agreed to it.
    sent: HashMap<MessageId, (u64, &'a Transfer)>,
    /// What nobody has received: by receiver, tag, arrival of the first message, and that message.
    by_tag: BTreeSet<(usize, u64, Time, MessageId)>,
    /// The same: by receiver, tag, sender, arrival and number.
    by_source: BTreeSet<(usize, u64, usize, Time, usize)>,
}

impl Letters<'_> {
    /// The first message that a receive wants.
    fn first(&self, to: usize, tag: u64, from: Option<usize>) -> Option<(Time, MessageId)> {
        let least = MessageId { from: 0, number: 0 };
        let Some(from) = from else {
            let &(y, about, arrival, id) =
                self.by_tag.range((to, tag, Time::from_ps(i64::MIN), least)..).next()?;
            return ((y, about) == (to, tag)).then_some((arrival, id));
        };
        let &(y, about, x, arrival, number) =
            self.by_source.range((to, tag, from, Time::from_ps(i64::MIN), 0)..).next()?;
        ((y, about, x) == (to, tag, from)).then_some((arrival, MessageId { from, number }))
    }

    fn put(&mut self, to: usize, tag: u64, arrival: Time, id: MessageId) {
        self.by_tag.insert((to, tag, arrival, id));
        self.by_source.insert((to, tag, id.from, arrival, id.number));
    }

    /// Whether a receive by a tag is one for a message, and its sender says of its request the same.
    fn meant(&self, tag: &CallTag, got: &Transfer) -> bool {
        let wild = RawTag::numbered(tag.number).is_wild();
        let right = |(about, sent): &(u64, &Transfer)| {
            (wild || *about == tag.number) && sent.rendezvous == got.rendezvous
        };
        self.sent.get(&got.message).is_some_and(right)
    }

    fn take(&mut self, to: usize, got: &Transfer, arrival: Time) {
        let Some(&(tag, _)) = self.sent.get(&got.message) else { return };
        let id = first(got);
        self.by_tag.remove(&(to, tag, arrival, id));
        self.by_source.remove(&(to, tag, id.from, arrival, id.number));
    }
}

/// What one processor did, as its calls are held against it.
struct Deeds<'a> {
    /// Its work, in order.
    work: Vec<&'a Activity>,
    /// Its barriers, in order.
    barriers: Vec<&'a Activity>,
    /// Its calls for requests and its waits for them, in order.
    requests: Vec<&'a Activity>,
    /// When each of its receptions began and ended.
    receptions: HashMap<MessageId, (Time, Time)>,
    /// The messages that it sent, and in no call yet.
    sent: BTreeSet<MessageId>,
    /// When its last reception began.
    received_at: Option<Time>,
    /// What its requests were called for with, until they are waited for.
    posted: HashMap<u32, &'a CallKind>,
    /// Whether it receives without requests, which take messages before they are waited for.
    orderly: bool,
}

impl<'a> Auditor<'a> {
    /// Holds what the programs called against what the processors did. A trace from before traces held calls has none.
    pub(super) fn follow_calls(&mut self, trace: &'a Trace) {
        if trace.calls.is_empty() {
            return;
        }
        let mut calls: Vec<&Call> = trace.calls.iter().collect();
        calls.sort_by_key(|call| call.id);
        let mut activities: Vec<&Activity> = trace.activities.iter().collect();
        activities.sort_by_key(|activity| (activity.id, activity.start, activity.end));
        let mut letters = self.letters(trace);
        for of_one in calls.chunk_by(|a, b| a.id == b.id) {
            let id = of_one[0].id;
            let from = activities.partition_point(|activity| activity.id < id);
            let until = activities.partition_point(|activity| activity.id <= id);
            self.follow_calls_of(id, of_one, &activities[from..until], &mut letters);
        }
        let idle = activities.chunk_by(|a, b| a.id == b.id).map(|did| did[0].id);
        let silent = idle.filter(|id| calls.binary_search_by_key(id, |call| call.id).is_err());
        for id in silent.collect::<Vec<_>>() {
            self.report(Rule::Calls, format!("processor {id} does something, and calls nothing"));
        }
    }

    /// What the sending calls say that there is to receive.
    fn letters(&mut self, trace: &'a Trace) -> Letters<'a> {
        let mut letters = Letters::default();
        let mut posted = HashMap::new();
        for call in &trace.calls {
            let (tag, sent) = match &call.what {
                CallKind::Send { tag, sent, .. } => (tag, sent),
                CallKind::SendRecv(both) => (&both.tag, &both.sent),
                CallKind::Isend { request, tag, .. } => {
                    posted.insert((call.id, *request), tag);
                    continue;
                }
                CallKind::Wait { request, sends: true, transfer } => match posted.get(&(call.id, *request)) {
                    Some(tag) => (*tag, transfer),
                    None => continue,
                },
                _ => continue,
            };
            if letters.sent.insert(sent.message, (tag.number, sent)).is_some() {
                self.report(Rule::Calls, format!("two calls send {}", sent.message));
            }
            let first = first(sent);
            if let Some(Message { to, arrival, .. }) = self.message(first) {
                letters.put(*to, tag.number, *arrival, first);
            }
        }
        letters
    }

    fn message(&self, id: MessageId) -> Option<&'a Message> {
        self.find(id).map(|place| self.flights[place].message)
    }

    fn follow_calls_of(
        &mut self,
        id: usize,
        calls: &[&'a Call],
        did: &[&'a Activity],
        letters: &mut Letters,
    ) {
        let of_kind = |is: fn(&ActivityKind) -> bool| {
            did.iter().copied().filter(move |activity| is(&activity.what)).collect::<Vec<_>>()
        };
        let reception = |activity: &&&'a Activity| match activity.what {
            ActivityKind::Receive(message) => Some((message, (activity.start, activity.end))),
            _ => None,
        };
        let sent = |activity: &&'a Activity| match activity.what {
            ActivityKind::Send(message) => Some(message),
            _ => None,
        };
        let mut deeds = Deeds {
            work: of_kind(|what| matches!(what, ActivityKind::Work(_))),
            barriers: of_kind(|what| *what == ActivityKind::Barrier),
            requests: of_kind(|what| matches!(what, ActivityKind::Post(_) | ActivityKind::Wait(_))),
            receptions: did.iter().filter_map(|activity| reception(&activity)).collect(),
            sent: did.iter().filter_map(sent).collect(),
            received_at: None,
            posted: HashMap::new(),
            orderly: !calls.iter().any(|call| matches!(call.what, CallKind::Irecv { .. })),
        };
        deeds.work.reverse();
        deeds.barriers.reverse();
        deeds.requests.reverse();
        let mut now = Time::ZERO;
        for call in calls {
            let name = call.what.name();
            if call.start != now || call.end < call.start {
                let sentence = format!("processor {id}'s {name} lasts from {} to {}", call.start, call.end);
                self.report(Rule::Calls, format!("{sentence}, and the call before it until {now}"));
            }
            now = call.end;
            self.follow_call(call, &mut deeds, letters);
        }
        let end = did.iter().map(|activity| activity.end).max().unwrap_or(Time::ZERO);
        if end != now {
            self.report(Rule::Calls, format!("processor {id} calls until {now}, and is active until {end}"));
        }
        let left = [
            deeds.work.last().map(|work| format!("computes at {} in no call", work.start)),
            deeds
                .barriers
                .last()
                .map(|barrier| format!("waits in a barrier at {} in no call", barrier.start)),
            deeds
                .requests
                .last()
                .map(|post| format!("has to do with a request at {} in no call", post.start)),
            deeds.sent.first().map(|message| format!("sends {message} in no call")),
            deeds.receptions.keys().min().map(|message| format!("receives {message} in no call")),
        ];
        for sentence in left.into_iter().flatten() {
            self.report(Rule::Calls, format!("processor {id} {sentence}"));
        }
    }

    fn follow_call(&mut self, call: &'a Call, deeds: &mut Deeds<'a>, letters: &mut Letters) {
        let &Call { id, start, end, .. } = call;
        let mut over = end;
        match &call.what {
            CallKind::Work(kind) => {
                let work = deeds.work.pop();
                let same = |work: &Activity| {
                    (work.start, work.end) == (start, end) && work.what == ActivityKind::Work(kind.clone())
                };
                if !work.is_some_and(same) {
                    let sentence = format!("processor {id} is to do the work {kind:?} from {start} to {end}");
                    self.report(Rule::Calls, format!("{sentence}, and does not"));
                }
            }
            CallKind::WaitUntil(time) => over = start.max(*time),
            CallKind::Barrier => match deeds.barriers.pop() {
                Some(barrier) if barrier.start >= start => over = barrier.end,
                _ => {
                    self.report(Rule::Calls, format!("processor {id} is to wait in a barrier at {start}"));
                }
            },
            CallKind::Send { to, tag, bytes, sent } => {
                over = self.follow_send(call, *to, tag, *bytes, sent, deeds);
            }
            CallKind::Receive { from, tag, until, got: Some(got) } => {
                over = self.follow_receive(call, *from, tag, *until, got, deeds, letters);
            }
            CallKind::Receive { until: Until::GapOver, got: None, .. } => over = start,
            CallKind::Receive { from, tag, until, got: None } => {
                let Until::Moment(moment) = *until else {
                    return self
                        .report(Rule::Asked, format!("processor {id}'s receive at {start} gets nothing"));
                };
                over = if moment > start { moment } else { start + self.params.cycle };
                let deadline = moment.max(start);
                let ready = deeds.received_at.map_or(start, |at| start.max(at + self.params.g));
                if ready <= deadline && deeds.orderly {
                    self.found_nothing(call, *from, tag, deadline, letters);
                }
            }
            CallKind::SendRecv(both) => {
                let sent = self.follow_send(call, both.to, &both.tag, both.bytes, &both.sent, deeds);
                let from = Some(both.from);
                let got = self.follow_receive(call, from, &both.tag, Until::Come, &both.got, deeds, letters);
                over = sent.max(got);
            }
            CallKind::Isend { request, .. } | CallKind::Irecv { request, .. } => {
                deeds.posted.insert(*request, &call.what);
                over = self.is_posted(call, *request, ActivityKind::Post, deeds);
            }
            CallKind::Wait { request, transfer, .. } => {
                over = self.is_posted(call, *request, ActivityKind::Wait, deeds);
                self.follow_request(call, deeds.posted.remove(request), transfer, letters);
            }
            CallKind::Test { .. } => over = start + self.params.cycle,
            CallKind::Probe { from, tag, saw } => {
                over = start + self.params.cycle;
                match (saw, letters.first(id, tag.number, *from)) {
                    (None, _) if deeds.orderly => self.found_nothing(call, *from, tag, start, letters),
                    (None, _) => {}
                    (Some(saw), Some((arrival, first))) if first.from == *saw && arrival <= start => {}
                    // Which of two that arrive at once is seen may depend on who comes first in that instant.
                    (Some(saw), _)
                        if letters.first(id, tag.number, Some(*saw)).is_some_and(|(at, _)| at <= start) => {}
                    (Some(saw), _) => {
                        let sentence = format!("processor {id} sees a message {tag} from {saw} at {start}");
                        self.report(Rule::Asked, format!("{sentence}, and there is none"));
                    }
                }
            }
        }
        if over != end {
            let name = call.what.name();
            let sentence = format!("processor {id}'s {name} at {start} ends at {end}, and is over at {over}");
            self.report(Rule::Calls, sentence);
        }
    }

    /// Holds what a request was called for with against its message.
    fn follow_request(
        &mut self,
        call: &Call,
        posted: Option<&CallKind>,
        transfer: &Transfer,
        letters: &mut Letters,
    ) {
        let &Call { id, start, .. } = call;
        let message = self.message(transfer.message);
        let right = match posted {
            Some(CallKind::Isend { to, bytes, .. }) => {
                let words = length(self.params, *bytes);
                message.is_some_and(|sent| (sent.id.from, sent.to, sent.words) == (id, *to, words))
            }
            Some(CallKind::Irecv { from, tag, .. }) => {
                let arrival = self.message(first(transfer)).map(|first| first.arrival);
                letters.take(id, transfer, arrival.unwrap_or(start));
                let asked = from.is_none_or(|from| from == transfer.message.from);
                asked && letters.meant(tag, transfer) && message.is_some_and(|got| got.to == id)
            }
            _ => false,
        };
        if !right {
            let sentence = format!("processor {id} waits for a request at {start}, and that is not what");
            self.report(Rule::Asked, format!("{sentence} {} is", transfer.message));
        }
    }

    /// A call for a request, or a wait for one, is what the processor did. Returns when that is over.
    fn is_posted(
        &mut self,
        call: &Call,
        request: u32,
        what: fn(u32) -> ActivityKind,
        deeds: &mut Deeds,
    ) -> Time {
        match deeds.requests.pop() {
            Some(activity) if activity.what == what(request) && activity.start == call.start => activity.end,
            _ => {
                let (id, start, name) = (call.id, call.start, call.what.name());
                self.report(Rule::Calls, format!("processor {id} is to {name} at {start}, and does not"));
                call.end
            }
        }
    }

    /// Holds a look in vain until a deadline against what there was.
    fn found_nothing(
        &mut self,
        call: &Call,
        from: Option<usize>,
        tag: &CallTag,
        deadline: Time,
        letters: &Letters,
    ) {
        if let Some((arrival, first)) = letters.first(call.id, tag.number, from)
            && arrival < deadline
            && self.audit.out_of_order == 0
        {
            let sentence = format!("processor {} finds nothing {tag} at {}", call.id, call.start);
            self.report(Rule::Asked, format!("{sentence}, and {first} is there at {arrival}"));
        }
    }

    /// Holds a send against its message. Returns when it is over.
    fn follow_send(
        &mut self,
        call: &Call,
        to: usize,
        tag: &CallTag,
        bytes: usize,
        sent: &Transfer,
        deeds: &mut Deeds,
    ) -> Time {
        let &Call { id, start, .. } = call;
        let words = length(self.params, bytes);
        let Some(&Message { to: receiver, words: carried, enter, .. }) = self.message(sent.message) else {
            let sentence =
                format!("processor {id} is to send {} at {start}, and there is none", sent.message);
            self.report(Rule::Calls, sentence);
            return call.end;
        };
        if (to, words) != (receiver, carried) {
            let sentence = format!("processor {id} sends {words} words {tag} to {to} at {start}");
            let what = format!("{}, of {carried} words, goes to {receiver}", sent.message);
            self.report(Rule::Asked, format!("{sentence}, and {what}"));
        }
        let must_ask = self.params.gps().is_some_and(|gps| words > gps.S);
        if must_ask != sent.rendezvous.is_some() {
            let asks = if must_ask { "does not ask for it" } else { "asks for it" };
            let sentence = format!("{} is of {words} words, and its sender {asks}", sent.message);
            self.report(Rule::Asked, sentence);
        }
        let mut parts = vec![sent.message];
        if let Some(rendezvous) = &sent.rendezvous {
            parts.insert(0, rendezvous.request);
            self.follow_rendezvous(sent, id, to);
            self.took(call, rendezvous.reply, deeds);
        }
        for part in parts {
            let within = self.message(part).is_some_and(|part| part.enter >= start && part.enter <= call.end);
            if !deeds.sent.remove(&part) || !within {
                let sentence =
                    format!("processor {id}'s {} at {start} does not send {part}", call.what.name());
                self.report(Rule::Calls, sentence);
            }
        }
        enter
    }

    /// The request and the reply before a message are words of nothing, there and back.
    fn follow_rendezvous(&mut self, transfer: &Transfer, from: usize, to: usize) {
        let Some(rendezvous) = &transfer.rendezvous else { return };
        for (part, from, to) in [(rendezvous.request, from, to), (rendezvous.reply, to, from)] {
            let right = |message: &Message| message.id.from == from && message.to == to && message.words == 0;
            if !self.message(part).is_some_and(right) {
                let sentence =
                    format!("{} needs {part}, which is no word from {from} to {to}", transfer.message);
                self.report(Rule::Asked, sentence);
            }
        }
    }

    /// Holds a receive against the message that it got. Returns when it is over.
    #[allow(clippy::too_many_arguments)] // what a receive is
    fn follow_receive(
        &mut self,
        call: &Call,
        from: Option<usize>,
        tag: &CallTag,
        until: Until,
        got: &Transfer,
        deeds: &mut Deeds,
        letters: &mut Letters,
    ) -> Time {
        let &Call { id, start, .. } = call;
        let first = first(got);
        let asked = from.is_none_or(|from| from == got.message.from);
        let meant = letters.meant(tag, got);
        if !asked || !meant {
            let sentence = format!("processor {id} asks for a message {tag} at {start}");
            self.report(Rule::Asked, format!("{sentence}, and gets {}", got.message));
        }
        let arrival = self.message(first).map_or(start, |first| first.arrival);
        if let Some((before, other)) = letters.first(id, tag.number, from)
            && before < arrival
            && deeds.orderly
            && self.audit.out_of_order == 0
        {
            let sentence = format!("processor {id} receives {first}, there at {arrival}");
            self.report(Rule::Asked, format!("{sentence}, and {other} was there at {before}"));
        }
        letters.take(id, got, arrival);
        if let Some(rendezvous) = &got.rendezvous {
            self.follow_rendezvous(got, got.message.from, id);
            self.took(call, rendezvous.request, deeds);
            let deadline = deeds.received_at;
            self.in_time(call, until, deadline);
            if !deeds.sent.remove(&rendezvous.reply) {
                let sentence =
                    format!("processor {id}'s receive at {start} does not send {}", rendezvous.reply);
                self.report(Rule::Calls, sentence);
            }
        }
        let over = self.took(call, got.message, deeds);
        if got.rendezvous.is_none() {
            self.in_time(call, until, deeds.received_at);
        }
        over
    }

    /// A reception begins by the deadline.
    fn in_time(&mut self, call: &Call, until: Until, begun: Option<Time>) {
        if let (Until::Moment(moment), Some(begun)) = (until, begun)
            && begun > moment.max(call.start)
        {
            let sentence = format!("processor {}'s receive at {} gives up", call.id, call.start);
            self.report(Rule::Asked, format!("{sentence} at {moment}, and receives at {begun}"));
        }
    }

    /// A message that a call took: its reception lies in the call. Returns when that is over.
    fn took(&mut self, call: &Call, message: MessageId, deeds: &mut Deeds) -> Time {
        let &Call { id, start, end, .. } = call;
        match deeds.receptions.remove(&message) {
            Some((from, over)) if from >= start && over <= end => {
                deeds.received_at = deeds.received_at.max(Some(from));
                over
            }
            _ => {
                let sentence =
                    format!("processor {id}'s {} at {start} does not take {message}", call.what.name());
                self.report(Rule::Calls, sentence);
                end
            }
        }
    }
}

/// The message with which a transfer begins.
fn first(transfer: &Transfer) -> MessageId {
    transfer.rendezvous.as_ref().map_or(transfer.message, |rendezvous| rendezvous.request)
}
