//! Reads from a trace what each take got, the messages that it races with, and the takes that it requires.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::Location;
use std::rc::Rc;

use loggp_model::message::{MatchKey, MessageId, RawTag, RecvFilter};
use loggp_model::time::Time;
use loggp_trace::path::{Event, all_events};
use loggp_trace::{ActivityKind, Call, CallKind, CallTag, Message, ObservedRun, Trace, Until};

use super::calls::{Calls, Origin, previous_call};

/// The takes of a traced run.
pub(super) struct History<'a> {
    pub trace: &'a Trace,
    /// The calls that may take one of several messages, and their locations in the program.
    choice_locations: &'a [(usize, &'static Location<'static>)],
    /// True if the program asked for the time.
    pub asks_time: bool,
    /// The takes, sorted by processor and by the call for them.
    pub takes: Vec<Take>,
    takers: Takers,
    /// For each processor the messages to it that a receive can take, in the order of their sends.
    pub receivable: Vec<Vec<ReceivableMessage>>,
    pub origins: HashMap<MessageId, Origin>,
    pub calls: Calls<'a>,
    /// The index of each message in the trace.
    indices: HashMap<MessageId, usize>,
    /// The requirements of the takes for which they were asked before.
    requirements: RefCell<HashMap<usize, Rc<HashSet<usize>>>>,
    /// The length of each message's send (`true`) and reception (`false`).
    overheads: HashMap<(bool, MessageId), Time>,
    /// For each of the machine's barriers, the time at which the last processor came to it.
    pub barrier_arrivals: Vec<Time>,
    /// The longest latency where L is no bound: longer than a run, but not infinite, since some programs look
    /// again and again until a message comes.
    pub unbounded_latency: Time,
}

/// A message that a receive can take: the announcement, if the transfer is a rendezvous of LogGPS.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceivableMessage {
    /// Its index among the trace's messages.
    pub message: usize,
    tag: RawTag,
}

/// Identifies a take across runs: its processor, the number of the call that posted it, and whether it leaves
/// the message in the inbox.
pub(super) type TakeId = (usize, usize, bool);

/// A take and the message that it gets (`None` if it gives up), both by index.
pub(super) type Pair = (usize, Option<usize>);

/// For messages that leave their inboxes, the takes that remove them; all by index.
pub(super) type Takers = HashMap<usize, usize>;

/// A call that can see one of several messages: a receive, a look, a test, or a wait for the first of several
/// requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Take {
    pub id: usize,
    /// The call whose result shows the message.
    pub call: usize,
    /// The call that posted the take: for a request's receive an earlier one than `call`.
    pub posted: usize,
    /// The messages that the take wants. A wait for the first of several requests has the filters of all of them.
    filters: Vec<RecvFilter>,
    pub deadline: Option<Time>,
    /// The take gives up if all messages that it wants arrive later than this; `None` if it waits for one.
    pub empty_after: Option<Time>,
    /// `true` if the message stays in the inbox.
    pub leaves_message: bool,
    /// Index of the message among the trace's messages.
    pub got: Option<usize>,
    /// The send that the take lets go on, if the message announces a rendezvous.
    pub granted: Option<usize>,
}

impl<'a> History<'a> {
    /// Reads a run.
    pub(super) fn new(run: &'a ObservedRun) -> History<'a> {
        let ObservedRun { trace, locations: choice_locations, asks_time } = run;
        let indices: HashMap<MessageId, usize> =
            trace.messages.iter().enumerate().map(|(place, message)| (message.id, place)).collect();
        let (receivable, origins) = receivable_messages(trace, &indices);
        let mut history = History {
            trace,
            choice_locations,
            asks_time: *asks_time,
            takes: Vec::new(),
            takers: Takers::new(),
            receivable,
            calls: Calls::new(trace, &origins),
            origins,
            indices,
            requirements: RefCell::default(),
            overheads: HashMap::new(),
            barrier_arrivals: Vec::new(),
            unbounded_latency: unbounded_latency(trace),
        };
        history.find_takes();
        history.find_lengths();
        history
    }

    /// Finds the takes of all calls.
    fn find_takes(&mut self) {
        // The requests that were not waited for yet.
        let mut open = Vec::new();
        for call in 0..self.trace.calls.len() {
            if previous_call(self.trace, call).is_none() {
                open.clear();
            }
            self.add_takes(call, &mut open);
        }
        self.takes.sort_by_key(|take| take.posted);
        for take in self.takes.iter_mut().filter(|take| !take.leaves_message) {
            let send = take.got.and_then(|got| self.origins.get(&self.trace.messages[got].id));
            let waits = |send: &usize| {
                self.trace.calls[*send].kind.sent().is_some_and(|sent| sent.rendezvous.is_some())
            };
            take.granted = send.map(|origin| origin.call).filter(waits);
        }
        self.takers = self.takers_among(self.takes.iter().map(|take| take.got).enumerate());
    }

    /// Adds the takes of a call. `open` has the processor's requests that were not waited for before.
    fn add_takes(&mut self, index: usize, open: &mut Vec<OpenReceive>) {
        let call = &self.trace.calls[index];
        let take = Take { id: call.id, call: index, posted: index, ..Take::default() };
        // A test sees a request done if its message arrived at least o before.
        let tested = Some(call.start - self.trace.params.recv_overhead(1));
        match &call.kind {
            CallKind::Receive { from, tag, until, received } => {
                let until = match until {
                    Until::Moment(time) => Some(call.start.max(*time)),
                    Until::GapOver => Some(call.end),
                    _ => None,
                };
                let got = received.as_ref().and_then(|got| self.index_of(&got.first()));
                let filters = vec![filter(*from, tag)];
                self.takes.push(Take { filters, deadline: until, empty_after: until, got, ..take });
            }
            CallKind::SendRecv(both) => {
                let got = self.index_of(&both.received.first());
                self.takes.push(Take { filters: vec![filter(Some(both.from), &both.tag)], got, ..take });
            }
            CallKind::Probe { from, tag, found } => {
                let (wanted, until) = (filter(*from, tag), Some(call.start));
                let seen = |from| self.message_seen(call.id, RecvFilter::new(Some(from), wanted.tag));
                let (filters, got) = (vec![wanted], found.and_then(seen));
                let (deadline, empty_after, leaves_message) = (until, until, true);
                self.takes.push(Take { filters, deadline, empty_after, leaves_message, got, ..take });
            }
            CallKind::Irecv { request, from, tag } => {
                open.push(OpenReceive { request: *request, posted: index, filter: filter(*from, tag) });
            }
            CallKind::Test { request } => {
                let of = open.iter().filter(|open| open.request == *request);
                let filters = of.map(|open| open.filter).take(1).collect();
                self.takes.push(Take { filters, deadline: tested, leaves_message: true, ..take });
            }
            CallKind::Wait { request, is_send: false, transfer } => {
                let Some(of) = open.iter().position(|open| open.request == *request) else { return };
                let got = self.index_of(&transfer.first());
                let all = open.iter().map(|open| open.filter).collect();
                let OpenReceive { posted, filter, .. } = open.remove(of);
                self.takes.push(Take { posted, filters: vec![filter], got, ..take.clone() });
                // Where the program may wait for one of several requests, this one was done first, or was
                // tested before. If it was not tested, no test of it can be in vain.
                self.takes.extend(self.location(&take).map(|_| Take {
                    filters: all,
                    empty_after: tested,
                    leaves_message: true,
                    got,
                    ..take
                }));
            }
            _ => (),
        }
    }

    /// Returns the message that a processor's look saw: the first to arrive of those that match the filter
    /// and were not removed before.
    fn message_seen(&self, id: usize, filter: RecvFilter) -> Option<usize> {
        let is_gone = |message: &usize| {
            let removes = |take: &Take| !take.leaves_message && take.got == Some(*message);
            self.takes.iter().any(|take| take.id == id && removes(take))
        };
        let filters = [filter];
        let there = self.wanted(id, &filters).filter(|message| !is_gone(message));
        there.min_by_key(|message| self.arrival_key(*message))
    }

    /// Finds the lengths of sends and receptions, and the times at which barriers were complete.
    fn find_lengths(&mut self) {
        let cost = |event: Event| match *event.kind {
            ActivityKind::Send(id) => Some(((true, id), event.length())),
            ActivityKind::Receive(id) => Some(((false, id), event.length())),
            _ => None,
        };
        self.overheads = all_events(self.trace).filter_map(cost).collect();
        let mut passed = vec![0; self.receivable.len()];
        for call in self.trace.calls.iter().filter(|call| call.kind == CallKind::Barrier) {
            match self.barrier_arrivals.get_mut(passed[call.id]) {
                Some(last) => *last = call.start.max(*last),
                None => self.barrier_arrivals.push(call.start),
            }
            passed[call.id] += 1;
        }
    }

    pub(super) fn message(&self, index: usize) -> &Message {
        &self.trace.messages[index]
    }

    /// Returns the index of a message in the trace.
    pub(super) fn index_of(&self, message: &MessageId) -> Option<usize> {
        self.indices.get(message).copied()
    }

    /// Returns the length of a message's send, or of its reception, if the trace has it.
    pub(super) fn overhead(&self, sends: bool, message: MessageId) -> Option<Time> {
        self.overheads.get(&(sends, message)).copied()
    }

    /// Returns whether a call that sends and receives did the latter first.
    pub(super) fn is_receive_first(&self, call: usize) -> bool {
        let CallKind::SendRecv(both) = &self.trace.calls[call].kind else { return false };
        let [sent, got] = [&both.sent, &both.received].map(|transfer| self.index_of(&transfer.message));
        let enter = sent.map(|sent| self.message(sent).enter);
        let overhead = self.overhead(false, both.received.message).unwrap_or_default();
        // If the reception was last, the call ends with it.
        got.is_some()
            && enter.is_some_and(|enter| enter == self.trace.calls[call].end && overhead > Time::ZERO)
    }

    /// Returns the last call that happens before a message is sent.
    pub(super) fn last_call_before(&self, message: usize) -> Option<usize> {
        self.origins.get(&self.message(message).id)?.after
    }

    /// Returns the longest time for which a message can be under way.
    fn max_latency(&self, message: usize) -> Time {
        let Message { id, to, .. } = self.message(message);
        self.trace.params_between(id.from, *to).L
    }

    /// Returns the key by which a receive takes the first of several messages.
    fn arrival_key(&self, message: usize) -> MatchKey {
        let MessageId { from, number } = self.message(message).id;
        (self.message(message).arrival, from as u32, number as u32)
    }

    /// Returns the time at which a message would arrive if it were under way for no time.
    fn earliest_arrival(&self, message: usize) -> Time {
        self.message(message).arrival - self.message(message).latency
    }

    fn is_wanted(&self, wants: &[RecvFilter], sent: &ReceivableMessage) -> bool {
        let from = self.message(sent.message).id.from as u32;
        wants.iter().any(|want| {
            want.tag.can_take(sent.tag) && (want.from == RecvFilter::ANY_SENDER || want.from == from)
        })
    }

    /// Returns the messages to a processor that match one of the filters.
    fn wanted(&self, id: usize, filters: &[RecvFilter]) -> impl Iterator<Item = usize> {
        self.receivable[id].iter().filter(|sent| self.is_wanted(filters, sent)).map(|sent| sent.message)
    }

    /// Returns the messages that a take wants.
    pub(super) fn candidates(&self, take: &Take) -> impl Iterator<Item = usize> {
        self.wanted(take.id, &take.filters)
    }

    /// Returns the takes without which a take would not get a message, or nothing: those that happen before
    /// the take or the message's send, those that want the message and come first, and the requirements of
    /// these.
    pub(super) fn requirements(&self, (take, got): Pair) -> Rc<HashSet<usize>> {
        let is_own = self.takes[take].got == got;
        if let Some(known) = self.requirements.borrow().get(&take).filter(|_| is_own) {
            return Rc::clone(known);
        }
        let mut requirements = HashSet::new();
        let mut open = vec![(take, got)];
        while let Some(pair) = open.pop() {
            for other in self.direct_requirements(pair) {
                if requirements.insert(other) {
                    match self.requirements.borrow().get(&other) {
                        Some(known) => requirements.extend(known.iter()),
                        None => open.push(self.pair(other)),
                    }
                }
            }
        }
        let requirements = Rc::new(requirements);
        if is_own {
            self.requirements.borrow_mut().insert(take, Rc::clone(&requirements));
        }
        requirements
    }

    /// Returns the requirements without those that only other requirements need.
    fn direct_requirements(&self, (take, got): Pair) -> impl Iterator<Item = usize> {
        let take = &self.takes[take];
        let calls = [previous_call(self.trace, take.posted), got.and_then(|got| self.last_call_before(got))];
        let got = self.receivable[take.id].iter().find(|sent| Some(sent.message) == got);
        self.takes.iter().enumerate().filter_map(move |(index, other)| {
            let happens_before = calls.into_iter().flatten().any(|call| self.happens_before(other, call));
            let is_first = || !other.leaves_message && other.id == take.id && other.posted < take.posted;
            let wants = || got.is_some_and(|got| self.is_wanted(&other.filters, got));
            (happens_before || (is_first() && wants())).then_some(index)
        })
    }

    /// Returns whether a take happens before a call, or is a part of the call.
    pub(super) fn happens_before(&self, take: &Take, call: usize) -> bool {
        [Some(take.call), take.granted].into_iter().flatten().any(|own| self.calls.happens_before(own, call))
    }

    /// Returns what a take races with: the messages that it could have got instead, and nothing (`None`) if it
    /// got a message and may give up.
    pub(super) fn races(&self, take: &Take) -> Vec<Option<usize>> {
        let nothing = (take.empty_after.is_some() && take.got.is_some()).then_some(None);
        let follows =
            |message| self.last_call_before(message).is_some_and(|call| self.happens_before(take, call));
        let could = |message: &usize| {
            take.got != Some(*message) && !self.is_gone(*message, take, &self.takers) && !follows(*message)
        };
        nothing.into_iter().chain(self.candidates(take).filter(could).map(Some)).collect()
    }

    /// Returns the takers of the messages that these takes get.
    pub(super) fn takers_among(&self, pairs: impl Iterator<Item = Pair>) -> Takers {
        let removing = pairs.filter(|(take, _)| !self.takes[*take].leaves_message);
        removing.filter_map(|(take, got)| Some((got?, take))).collect()
    }

    /// Returns whether a message is no longer in the inbox when a take comes, if it has these takers.
    pub(super) fn is_gone(&self, message: usize, take: &Take, takers: &Takers) -> bool {
        takers.get(&message).is_some_and(|taker| self.takes[*taker].comes_before(take))
    }

    /// Returns the take that removed a message from its inbox, if one did.
    pub(super) fn taker(&self, message: usize) -> Option<&Take> {
        self.takers.get(&message).map(|taker| &self.takes[*taker])
    }

    /// Returns whether a take could have got another message under other latencies.
    pub(super) fn has_choice(&self, take: &Take) -> bool {
        let Some(got) = take.got else { return false };
        let latest = self.earliest_arrival(got) + self.max_latency(got);
        let latest = take.deadline.map_or(latest, |until| latest.min(until));
        self.races(take).into_iter().flatten().any(|other| self.earliest_arrival(other) <= latest)
    }

    /// Returns whether a take accepts any sender, any tag, or the first of several requests.
    pub(super) fn is_wild(&self, take: &Take) -> bool {
        take.filters.len() > 1 || take.filters.iter().any(RecvFilter::is_wild)
    }

    /// Returns a take with what it got.
    pub(super) fn pair(&self, take: usize) -> Pair {
        (take, self.takes[take].got)
    }

    /// Returns what identifies a take across runs.
    pub(super) fn id(&self, take: &Take) -> TakeId {
        (take.id, self.calls.number(take.posted), take.leaves_message)
    }

    /// Returns whether there is a look for a message that the open receive of a request would have got.
    pub(super) fn has_looks_beside_requests(&self) -> bool {
        let is_beside = |look: &Take, take: &Take| {
            let is_open = take.id == look.id && take.posted < look.posted && look.posted < take.call;
            is_open
                && !take.leaves_message
                && self.receivable[take.id]
                    .iter()
                    .any(|sent| self.is_wanted(&take.filters, sent) && self.is_wanted(&look.filters, sent))
        };
        let is_look = |take: &&Take| {
            let what = &self.trace.calls[take.call].kind;
            take.deadline.is_some() && !matches!(what, CallKind::Test { .. })
        };
        self.takes.iter().filter(is_look).any(|look| self.takes.iter().any(|take| is_beside(look, take)))
    }

    /// Returns why the program may do something else in another run of the same order, if time decides what it does.
    pub(super) fn why_time_decides(&self) -> Option<&'static str> {
        let is_fixed = |take: &Take| {
            let call = &self.trace.calls[take.call].kind;
            matches!(call, CallKind::Receive { until: Until::Moment(time), .. } if *time > Time::ZERO)
        };
        if self.asks_time {
            Some("the program asks for the time, and each order was run at some times only")
        } else if self.takes.iter().any(is_fixed) {
            Some("a receive gives up at a fixed time, and each order was run at some times only")
        } else {
            None
        }
    }

    /// Returns whether there are requests on a machine where they wait for each other's gaps; how long
    /// depends on which comes first.
    pub(super) fn has_requests_with_gaps(&self) -> bool {
        let levels = self.trace.levels.iter().map(|level| &level.params);
        let has_gaps = levels.chain([&self.trace.params]).any(|params| params.g > Time::ZERO);
        let is_request = |call: &Call| matches!(call.kind, CallKind::Isend { .. } | CallKind::Irecv { .. });
        has_gaps && self.trace.calls.iter().any(is_request)
    }

    /// Returns whether a message may arrive at the very moment at which its sender begins to send it.
    pub(super) fn has_instant_messages(&self) -> bool {
        let levels = self.trace.levels.iter().map(|level| &level.params);
        levels.chain([&self.trace.params]).any(|params| params.o == Time::ZERO || params.has_negative_G_l())
    }

    /// Returns the location of the call for a take, if it may take one of several messages.
    pub(super) fn location(&self, take: &Take) -> Option<&'static Location<'static>> {
        let found = self.choice_locations.binary_search_by_key(&take.posted, |(call, _)| *call).ok()?;
        Some(self.choice_locations[found].1)
    }

    /// Returns the id of the message at an index.
    pub(super) fn message_id(&self, got: Option<usize>) -> Option<MessageId> {
        got.map(|got| self.message(got).id)
    }

    /// Returns the ids of a take and of the message that it gets, which are the same in every run.
    pub(super) fn ids(&self, (take, got): Pair) -> (TakeId, Option<MessageId>) {
        (self.id(&self.takes[take]), self.message_id(got))
    }
}

impl Take {
    /// Returns whether the take is a wait for the first of several requests. That is not always the request
    /// whose message arrives first, since a request that was called for later is done later.
    pub(super) fn is_wait_for_first(&self) -> bool {
        self.leaves_message && self.deadline.is_none()
    }

    /// Returns whether the take removed its message before another take of the same processor could see the
    /// message: the take was posted earlier, and the other take is not the wait for the same request.
    fn comes_before(&self, other: &Take) -> bool {
        self.posted < other.posted && !(other.leaves_message && self.call >= other.call)
    }
}

/// The receive of a request that was not waited for yet.
struct OpenReceive {
    request: u32,
    /// The call that posted the receive.
    posted: usize,
    filter: RecvFilter,
}

/// Returns the filter of a receive.
fn filter(from: Option<usize>, tag: &CallTag) -> RecvFilter {
    RecvFilter::new(from, RawTag::from_number(tag.number))
}

/// Returns a latency that is longer than a run in which all events and latencies come one after the other:
/// eight times their sum, since other runs of the program may do more.
fn unbounded_latency(trace: &Trace) -> Time {
    let is_done = |what: &ActivityKind| {
        matches!(
            what,
            ActivityKind::Work(_) | ActivityKind::Send(_) | ActivityKind::Receive(_) | ActivityKind::Gap
        )
    };
    let done = all_events(trace).filter(|event| is_done(event.kind));
    let lengths: Time = done.map(|event| event.length()).sum();
    8 * (lengths + (trace.messages.len() as i64 + 1) * (trace.params.L + trace.params.cycle))
}

/// Finds the messages that receives can take, by receiver and in the order of their sends, and each message's
/// origin.
fn receivable_messages(
    trace: &Trace,
    messages: &HashMap<MessageId, usize>,
) -> (Vec<Vec<ReceivableMessage>>, HashMap<MessageId, Origin>) {
    let (mut to, mut origins) = (vec![Vec::new(); trace.params.P], HashMap::new());
    for (call, at) in trace.posted_calls() {
        let before = previous_call(trace, at);
        let asked = trace.calls[at].kind.parts();
        if let Some((sent, tag)) = call.kind.sent().zip(asked.tag) {
            let first = sent.first();
            // Data that are pushed come after the call that waits for the grant.
            let pulled = trace.rendezvous.is_read() && sent.rendezvous.is_some();
            origins.insert(sent.message, Origin { call: at, after: if pulled { before } else { Some(at) } });
            origins.insert(first, Origin { call: at, after: before });
            let comes = !trace.faults.lost.contains(&first);
            if let Some(&message) = messages.get(&first).filter(|_| comes) {
                let tag = RawTag::from_number(tag.number);
                to[trace.messages[message].to].push(ReceivableMessage { message, tag });
            }
        }
        if let Some(rendezvous) = call.kind.received().and_then(|got| got.rendezvous.as_ref()) {
            origins.insert(rendezvous.reply, Origin { call: at, after: before });
        }
    }
    (to, origins)
}
