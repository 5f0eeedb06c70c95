//! Whether what the programs called is what the processors did.
//!
//! The calls of a processor lie one behind the other, without a hole. Each means that its processor does certain things,
//! which must lie in it, and the processor does nothing else. A call names its messages; so each is looked up, and held
//! against what was asked. What a receive can take are the messages that sends have said to be for it: it takes the first
//! to arrive of those that it wants, and a look in vain must have found none.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::iter::Peekable;

use super::auditor::{Auditor, Rule, broken};
use super::deed::Deed;
use crate::message::{MessageId, RawTag};
use crate::text::outside;
use crate::time::Time;
use crate::trace::{ActivityKind, Call, CallKind, CallTag, Message, Transfer, Until};

/// The messages that the calls have sent, and those of them that no call has received so far.
#[derive(Default)]
struct Letters<'a> {
    /// For each message its tag and its transfer, as the sending call says them.
    sent: HashMap<MessageId, (u64, &'a Transfer)>,
    /// The messages that no call has received so far, each twice: receiver, tag, sender (once `None`, for receives from any
    /// sender), arrival of the transfer's first message, and that message.
    left: BTreeSet<(usize, u64, Option<usize>, Time, MessageId)>,
}

impl Letters<'_> {
    /// The earliest message left that a receive with this tag and source can take.
    fn first(&self, to: usize, tag: u64, from: Option<usize>) -> Option<(Time, MessageId)> {
        let least = (to, tag, from, Time::from_ps(i64::MIN), MessageId { from: 0, number: 0 });
        let &(y, about, x, arrival, id) = self.left.range(least..).next()?;
        ((y, about, x) == (to, tag, from)).then_some((arrival, id))
    }

    /// Whether a receive by this tag can take what it got, and names the same rendezvous as the sender.
    fn meant(&self, tag: &CallTag, got: &Transfer) -> bool {
        let wild = RawTag::numbered(tag.number).is_wild();
        let right = |(about, sent): &(u64, &Transfer)| {
            (wild || *about == tag.number) && sent.rendezvous == got.rendezvous
        };
        self.sent.get(&got.message).is_some_and(right)
    }

    /// When the message left arrives that a receive has got: of one that comes twice, the first time if that is left.
    fn arrival(&self, to: usize, got: &Transfer) -> Option<Time> {
        let (tag, _) = self.sent.get(&got.message)?;
        let from = Some(first(got).from);
        let least = (to, *tag, from, Time::from_ps(i64::MIN), MessageId { from: 0, number: 0 });
        let like =
            self.left.range(least..).take_while(|(y, about, x, ..)| (*y, *about, *x) == (to, *tag, from));
        like.filter(|(.., id)| *id == first(got)).map(|(.., arrival, _)| *arrival).next()
    }

    fn put(&mut self, to: usize, tag: u64, arrival: Time, id: MessageId) {
        self.left.extend([None, Some(id.from)].map(|from| (to, tag, from, arrival, id)));
    }

    fn take(&mut self, to: usize, got: &Transfer, arrival: Time) {
        let (Some((tag, _)), id) = (self.sent.get(&got.message), first(got)) else { return };
        for from in [None, Some(id.from)] {
            self.left.remove(&(to, *tag, from, arrival, id));
        }
    }
}

/// A processor whose calls are held against its deeds.
struct Caller<'c, 'a, D: Iterator<Item = &'c Deed<'a>>> {
    /// The audit under way.
    auditor: &'c mut Auditor<'a>,
    /// The messages that the calls have sent.
    letters: &'c mut Letters<'a>,
    /// The processor's deeds that no call has accounted for so far, without its waits.
    deeds: Peekable<D>,
    /// When the gap after the last reception of its calls is over.
    receives_from: Option<Time>,
    /// What its requests did.
    of_requests: &'c [Deed<'a>],
    /// The calls for requests that the processor has not waited for so far, by the requests' numbers.
    posted: HashMap<u32, &'a CallKind>,
    /// Whether the calls tell which message a receive must take. They do not if the processor calls for requests to receive,
    /// which take messages before they are waited for, or if the host let acts happen out of their order.
    orderly: bool,
}

impl<'a> Auditor<'a> {
    /// Holds the programs' calls against the processors' deeds. A trace from before traces held calls is not judged.
    pub(super) fn follow_calls(&mut self, deeds: &[Deed<'a>]) {
        let trace = self.trace;
        if trace.calls.is_empty() {
            return;
        }
        /// A processor's calls, what it did itself, and what its requests did.
        type Followed<'a, 'd> = (Vec<&'a Call>, (&'d [Deed<'a>], &'d [Deed<'a>]));
        let mut processors: BTreeMap<usize, Followed> = BTreeMap::new();
        for did in deeds.chunk_by(|a, b| a.id == b.id) {
            let own = did.partition_point(|deed| deed.request.is_none());
            processors.entry(did[0].id).or_default().1 = did.split_at(own);
        }
        for call in &trace.calls {
            processors.entry(call.id).or_default().0.push(call);
        }
        let is_wait = |deed: &Deed| {
            use ActivityKind::{Gap, Idle, Port, Stall};
            matches!(deed.what, Gap | Stall | Port | Idle)
        };
        let mut letters = self.letters();
        for (id, (calls, (did, of_requests))) in processors {
            let mut caller = Caller {
                orderly: trace.out_of_order == 0
                    && !calls.iter().any(|call| matches!(call.what, CallKind::Irecv { .. })),
                auditor: self,
                letters: &mut letters,
                deeds: did.iter().filter(|deed| !is_wait(deed)).peekable(),
                receives_from: None,
                of_requests,
                posted: HashMap::new(),
            };
            let mut now = Time::ZERO;
            for call in calls {
                let (who, end) = (Named(call), call.end);
                broken!(caller.auditor, "{who}",
                    call.start != now || end < now => Rule::Calls, "ends at {end}, and begins at {now}";
                );
                now = end;
                caller.follow(call);
            }
            let crashed = trace.faults.crashed.contains_key(&id);
            // What a processor did in the call in which it crashed is in none that has ended.
            caller.in_no_call(if crashed { now } else { Time::MAX });
            let end = did.iter().map(|deed| deed.end).max().unwrap_or_default();
            broken!(self, "processor {id}",
                end != now && !(crashed && end > now) => Rule::Calls,
                    "calls until {now}, and is active until {end}";
            );
        }
    }

    /// Collects the messages that the calls have sent.
    fn letters(&mut self) -> Letters<'a> {
        let (mut letters, mut posted) = (Letters::default(), HashMap::new());
        for Call { id, what, .. } in &self.trace.calls {
            if let CallKind::Isend { request, tag, .. } = what {
                posted.insert((*id, *request), tag);
            }
            let tag = match what {
                CallKind::Wait { request, .. } => posted.get(&(*id, *request)).copied(),
                _ => what.tag(),
            };
            let Some((sent, tag)) = what.sent().zip(tag) else { continue };
            if letters.sent.insert(sent.message, (tag.number, sent)).is_some() {
                self.report(Rule::Calls, format!("two calls send {}", sent.message));
            }
            let comes = |message: &&Message| !self.trace.faults.lost.contains(&message.id);
            if let Some(Message { id, to, arrival, .. }) = self.message(first(sent)).filter(comes) {
                let again = self.trace.faults.twice.get(id).map(|later| *arrival + *later);
                for arrival in [Some(*arrival), again].into_iter().flatten() {
                    letters.put(*to, tag.number, arrival, *id);
                }
            }
        }
        letters
    }

    fn message(&self, id: MessageId) -> Option<&'a Message> {
        self.find(id).map(|place| self.flights[place].message)
    }

    /// Whether there is a message of this name, sender, receiver and length.
    fn knows(&self, id: MessageId, from: usize, to: usize, words: usize) -> bool {
        self.message(id).is_some_and(|message| (id.from, message.to, message.words) == (from, to, words))
    }

    /// The length in words of a message that counts for so many bytes (LogP: no message is shorter than a word).
    fn length(&self, bytes: usize) -> usize {
        let (word, least) = (self.trace.params.word.get(), usize::from(self.trace.params.gps().is_none()));
        (bytes / word + usize::from(!bytes.is_multiple_of(word))).max(least)
    }
}

impl<'c, 'a, D: Iterator<Item = &'c Deed<'a>>> Caller<'c, 'a, D> {
    /// Holds a call against the processor's deeds, and its result against what it asked for.
    fn follow(&mut self, call: &'a Call) {
        let (&Call { id, start, end, .. }, who) = (call, Named(call));
        let (begun, done) = self.does(call);
        let mut over = done.unwrap_or(start);
        match &call.what {
            CallKind::Work(_) | CallKind::Barrier => {}
            CallKind::WaitUntil(time) => over = start.max(*time),
            CallKind::Send { to, bytes, sent, .. } => self.has_sent(call, *to, *bytes, sent),
            CallKind::SendRecv(both) => {
                self.has_sent(call, both.to, both.bytes, &both.sent);
                self.has_got(call, Some(both.from), &both.tag, &both.got);
            }
            CallKind::Receive { from, tag, until, got: Some(got) } => {
                self.has_got(call, *from, tag, got);
                if let (Until::Moment(moment), Some(begun)) = (until, begun) {
                    broken!(self.auditor, "{who}",
                        begun > start.max(*moment) => Rule::Asked,
                            "gives up at {moment}, and receives at {begun}";
                    );
                }
            }
            CallKind::Receive { until: Until::GapOver, got: None, .. } => {}
            CallKind::Receive { until: Until::Come, got: None, .. } => {
                over = end;
                self.auditor.report(Rule::Asked, format!("{who} gets nothing"));
            }
            CallKind::Receive { from, tag, until: Until::Moment(moment), got: None } => {
                let cycle = self.auditor.trace.params.cycle;
                over = if *moment > start { *moment } else { start + cycle };
                let deadline = start.max(*moment);
                if self.can_receive(deadline) {
                    self.finds_nothing(call, *from, tag, deadline);
                }
            }
            CallKind::Isend { request, .. } | CallKind::Irecv { request, .. } => {
                self.posted.insert(*request, &call.what);
            }
            CallKind::Wait { request, sends, transfer } => match (sends, self.posted.remove(request)) {
                (true, Some(CallKind::Isend { to, bytes, .. })) => self.has_sent(call, *to, *bytes, transfer),
                (false, Some(CallKind::Irecv { from, tag, .. })) => self.has_got(call, *from, tag, transfer),
                _ => self.auditor.report(Rule::Asked, format!("{who} is for what was never called for")),
            },
            CallKind::Test { .. } => over = start + self.auditor.trace.params.cycle,
            CallKind::Probe { from, tag, saw } => {
                over = start + self.auditor.trace.params.cycle;
                // Of two messages that arrive at the same time a look may see either, so any message there will do.
                let there =
                    |saw| self.letters.first(id, tag.number, Some(saw)).is_some_and(|(at, _)| at <= start);
                match *saw {
                    None => self.finds_nothing(call, *from, tag, start),
                    Some(saw) if from.is_none_or(|from| from == saw) && there(saw) => {}
                    Some(saw) => {
                        let sentence = format!("{who} sees a message {tag} from {saw}, and there is none");
                        self.auditor.report(Rule::Asked, sentence);
                    }
                }
            }
        }
        broken!(self.auditor, "{who}", over != end => Rule::Calls, "ends at {end}, and is over at {over}";);
    }

    /// Holds the processor's deeds in a call against those that the call means. Returns when the call's first reception
    /// began, and when its last deed was over.
    fn does(&mut self, call: &Call) -> (Option<Time>, Option<Time>) {
        self.in_no_call(call.start);
        let (means, who) = (means(&call.what), Named(call));
        let next = |_: &ActivityKind| self.deeds.next_if(|deed| deed.end <= call.end);
        let did: Vec<&Deed> = means.iter().map_while(next).collect();
        let (mut begun, mut over) = (None, None);
        for what in means {
            let is_message = matches!(what, ActivityKind::Send(_) | ActivityKind::Receive(_));
            let right = |deed: &&&Deed| *deed.what == what && (is_message || deed.start == call.start);
            let Some(deed) = did.iter().find(right) else {
                let sentence = format!("{who} means that it {}, and it does not", told(&what));
                self.auditor.report(Rule::Calls, sentence);
                continue;
            };
            if let ActivityKind::Receive(_) = what {
                begun = begun.or(Some(deed.start));
                self.receives_from = self.receives_from.max(Some(self.auditor.gap_after(deed)));
            }
            let enters = match what {
                ActivityKind::Send(id) => self.auditor.message(id).map(|message| message.enter),
                _ => None,
            };
            over = over.max(Some(enters.unwrap_or(deed.end)));
        }
        (begun, over)
    }

    /// Whether a reception could begin at a moment: no gap is under way, nor does one begin at that moment behind a request's reply.
    fn can_receive(&self, at: Time) -> bool {
        let began = self.of_requests.iter().filter(|deed| deed.start <= at);
        let gaps = began.map(|deed| self.auditor.gap_after(deed)).chain(self.receives_from);
        gaps.max().is_none_or(|over| over <= at)
    }

    /// Reports the processor's remaining deeds that began before a moment: they were in no call.
    fn in_no_call(&mut self, until: Time) {
        while let Some(deed) = self.deeds.next_if(|deed| deed.start < until) {
            let (id, start) = (deed.id, deed.start);
            let sentence = format!("processor {id} {} at {start} in no call", told(deed.what));
            self.auditor.report(Rule::Calls, sentence);
        }
    }

    /// Reports a call that found nothing although a message for it arrived before the deadline.
    fn finds_nothing(&mut self, call: &Call, from: Option<usize>, tag: &CallTag, deadline: Time) {
        let there = self.letters.first(call.id, tag.number, from);
        if let Some((arrival, first)) = there.filter(|(arrival, _)| *arrival < deadline && self.orderly) {
            let sentence = format!("{} finds nothing {tag}, and {first} is there at {arrival}", Named(call));
            self.auditor.report(Rule::Asked, sentence);
        }
    }

    /// Holds the message that a call sent against what the call asked for.
    fn has_sent(&mut self, call: &Call, to: usize, bytes: usize, sent: &Transfer) {
        let (who, words, message) = (Named(call), self.auditor.length(bytes), sent.message);
        let must_ask = self.auditor.params(call.id, to).gps().is_some_and(|gps| words > gps.S);
        broken!(self.auditor, "{who}",
            !self.auditor.knows(message, call.id, to, words) => Rule::Asked,
                "sends {words} words to {to}, and {message} does not";
            must_ask != sent.rendezvous.is_some() => Rule::Asked,
                "sends {words} words, and is wrong to ask or not to ask for {message}";
        );
        self.agrees(call, sent, call.id, to);
    }

    /// Holds the message that a call received against what the call asked for.
    fn has_got(&mut self, call: &Call, from: Option<usize>, tag: &CallTag, got: &Transfer) {
        let (who, first, message) = (Named(call), first(got), got.message);
        let there = || self.auditor.message(first).map_or(call.start, |first| first.arrival);
        let comes_twice = self.auditor.trace.faults.twice.contains_key(&first);
        let left = if comes_twice { self.letters.arrival(call.id, got) } else { None };
        let arrival = left.unwrap_or_else(there);
        let (before, other) = self.letters.first(call.id, tag.number, from).unwrap_or((arrival, first));
        // The call that sent it may not have ended, since its sender crashed.
        let is_unsaid = self.auditor.trace.faults.crashed.contains_key(&message.from)
            && !self.letters.sent.contains_key(&message);
        let meant = is_unsaid || self.letters.meant(tag, got);
        let asked = from.is_none_or(|from| from == message.from) && meant;
        let comes = self.auditor.message(message).is_some_and(|message| message.to == call.id);
        broken!(self.auditor, "{who}",
            !asked || !comes => Rule::Asked, "asks for a message {tag}, and gets {message}";
            before < arrival && self.orderly => Rule::Asked,
                "receives {first}, there at {arrival}, and {other} was there at {before}";
        );
        self.letters.take(call.id, got, arrival);
        self.agrees(call, got, message.from, call.id);
    }

    /// Reports a rendezvous whose request did not go to the receiver, or whose reply did not come back, each with no words.
    fn agrees(&mut self, call: &Call, transfer: &Transfer, from: usize, to: usize) {
        let (Some(rendezvous), who) = (&transfer.rendezvous, Named(call)) else { return };
        for (part, from, to) in [(rendezvous.request, from, to), (rendezvous.reply, to, from)] {
            broken!(self.auditor, "{who}",
                !self.auditor.knows(part, from, to, 0) => Rule::Asked,
                    "needs {part}, which is no word from {from} to {to}";
            );
        }
    }
}

/// A call, as the report's sentences name it.
struct Named<'a>(&'a Call);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Named(call) = self;
        write!(f, "processor {}'s {} at {}", call.id, call.what.name(), call.start)
    }
}

/// The deeds that a call means, without waits, in their order.
fn means(call: &CallKind) -> Vec<ActivityKind> {
    use ActivityKind::{Barrier, Post, Receive, Send, Wait, Work};
    let sends = |sent: &Transfer| match sent.rendezvous.as_deref() {
        None => vec![Send(sent.message)],
        Some(asks) => vec![Send(asks.request), Receive(asks.reply), Send(sent.message)],
    };
    let receives = |got: &Transfer| match got.rendezvous.as_deref() {
        None => vec![Receive(got.message)],
        Some(asks) => vec![Receive(asks.request), Send(asks.reply), Receive(got.message)],
    };
    match call {
        CallKind::Work(kind) => vec![Work(kind.clone())],
        CallKind::Barrier => vec![Barrier],
        CallKind::Isend { request, .. } | CallKind::Irecv { request, .. } => vec![Post(*request)],
        CallKind::Wait { request, .. } => vec![Wait(*request)],
        _ => [call.sent().map_or(vec![], sends), call.got().map_or(vec![], receives)].concat(),
    }
}

/// An activity, as the report's sentences say it.
fn told(what: &ActivityKind) -> String {
    match what {
        ActivityKind::Work(kind) => format!("computes {:?}", outside(kind)),
        ActivityKind::Send(id) => format!("sends {id}"),
        ActivityKind::Receive(id) => format!("receives {id}"),
        ActivityKind::Barrier => "waits in the barrier".into(),
        ActivityKind::Post(number) => format!("calls for request {number}"),
        ActivityKind::Wait(number) => format!("waits for request {number}"),
        _ => "waits".into(),
    }
}

/// The first message of a transfer: the rendezvous' request, or the message itself if it had no rendezvous.
fn first(transfer: &Transfer) -> MessageId {
    transfer.rendezvous.as_ref().map_or(transfer.message, |rendezvous| rendezvous.request)
}
