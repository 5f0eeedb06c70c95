//! Reads from a trace which message each receive and look got, which others it could have got, and which
//! calls came after that. Calls that are not after a reception stay the same, whatever the reception takes.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::Location;
use std::rc::Rc;

use super::calls::{Calls, Origin, previous_call};
use loggp_model::message::{MatchKey, MessageId, RawTag, RecvFilter};
use loggp_model::time::Time;
use loggp_trace::path::{Event, all_events};
use loggp_trace::{ActivityKind, Call, CallKind, CallTag, Message, Trace, Transfer, Until};

/// The takes of a traced run.
pub(super) struct History<'a> {
    pub trace: &'a Trace,
    /// The calls that may take one of several messages, and their locations in the program.
    choice_locations: &'a [(usize, &'static Location<'static>)],
    /// The takes, sorted by processor and by the call for them.
    pub takes: Vec<Take>,
    /// For each message, the take that removed it from its inbox.
    takers: HashMap<usize, usize>,
    /// For each processor the messages to it that a receive can take, in the order of their sends.
    pub receivable: Vec<Vec<ReceivableMessage>>,
    pub origins: HashMap<MessageId, Origin>,
    pub calls: Calls<'a>,
    /// The index of each message in the trace.
    indices: HashMap<MessageId, usize>,
    /// The takes that each take needs, as far as they were looked up.
    requirements: RefCell<HashMap<usize, Rc<HashSet<usize>>>>,
    /// The length of each message's send (`true`) and reception (`false`).
    overheads: HashMap<(bool, MessageId), Time>,
    /// For each of the machine's barriers, the time at which the last processor came to it.
    pub barrier_arrivals: Vec<Time>,
    /// The longest latency where L is no bound: longer than all else takes, one after the other, but not for
    /// ever, since some programs look again and again until a message comes.
    pub unbounded_latency: Time,
}

/// A message that a receive can take: the announcement, if the transfer is a rendezvous of LogGPS.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceivableMessage {
    /// Its index among the trace's messages.
    pub message: usize,
    tag: RawTag,
}

/// Identifies a take across runs: its processor, the number of the call for it, and whether it leaves the
/// message there.
pub(super) type TakeId = (usize, usize, bool);

/// The message that a receive, a look or a wait took. A *take* is any of these.
#[derive(Clone, Debug)]
pub(super) struct Take {
    pub id: usize,
    /// The call whose result shows the message.
    pub call: usize,
    /// The call for the take, which is an earlier one for a request's receive.
    pub posted: usize,
    /// The messages that it wants. A wait for the first of several requests has the filters of all of them.
    filters: Vec<RecvFilter>,
    pub deadline: Option<Time>,
    /// The take finds nothing if all messages that it wants arrive later than this; `None` if it waits for
    /// one.
    pub empty_after: Option<Time>,
    /// `true` if the message stays in the inbox.
    pub leaves_message: bool,
    /// Index of the message among the trace's messages.
    pub got: Option<usize>,
    /// The send that goes on only after the take, if the message is the announcement of a rendezvous.
    pub granted: Option<usize>,
}

impl<'a> History<'a> {
    /// Reads a trace. `choice_locations` has the calls that may take one of several messages.
    pub(super) fn new(
        trace: &'a Trace,
        choice_locations: &'a [(usize, &'static Location<'static>)],
    ) -> History<'a> {
        let indices: HashMap<MessageId, usize> =
            trace.messages.iter().enumerate().map(|(place, message)| (message.id, place)).collect();
        let (receivable, origins) = receivable_messages(trace, &indices);
        let mut history = History {
            trace,
            choice_locations,
            takes: Vec::new(),
            takers: HashMap::new(),
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
        let filter =
            |from: &Option<usize>, tag: &CallTag| RecvFilter::new(*from, RawTag::from_number(tag.number));
        let got = |got: &Transfer| self.indices.get(&got.first()).copied();
        // The receives of requests that were not waited for yet: request, call and filter.
        let mut open: Vec<(u32, usize, RecvFilter)> = Vec::new();
        // A test sees a request done if its message arrived at least this long before.
        let o = self.trace.params.recv_overhead(1);
        let mut last = None;
        for (place, call) in self.trace.calls.iter().enumerate() {
            if last.replace(call.id) != Some(call.id) {
                open.clear();
            }
            let (id, start) = (call.id, call.start);
            let take = Take {
                id,
                call: place,
                posted: place,
                filters: Vec::new(),
                deadline: None,
                empty_after: None,
                leaves_message: false,
                got: None,
                granted: None,
            };
            match &call.kind {
                CallKind::Receive { from, tag, until, received: taken } => {
                    let until = match until {
                        Until::Moment(time) => Some(start.max(*time)),
                        Until::GapOver => Some(call.end),
                        _ => None,
                    };
                    let (filters, got) = (vec![filter(from, tag)], taken.as_ref().and_then(got));
                    self.takes.push(Take { filters, deadline: until, empty_after: until, got, ..take });
                }
                CallKind::SendRecv(both) => {
                    let (filters, got) = (vec![filter(&Some(both.from), &both.tag)], got(&both.received));
                    self.takes.push(Take { filters, got, ..take });
                }
                CallKind::Probe { from, tag, found: saw } => {
                    let (filter, until) = (filter(from, tag), Some(start));
                    let mut take = Take {
                        filters: vec![filter],
                        deadline: until,
                        empty_after: until,
                        leaves_message: true,
                        ..take
                    };
                    take.got =
                        saw.and_then(|saw| self.message_seen(&take, RecvFilter::new(Some(saw), filter.tag)));
                    self.takes.push(take);
                }
                CallKind::Irecv { request, from, tag } => open.push((*request, place, filter(from, tag))),
                CallKind::Test { request } => {
                    let filter = open.iter().find(|(other, ..)| other == request).map(|(.., filter)| *filter);
                    let filters = filter.into_iter().collect();
                    self.takes.push(Take {
                        filters,
                        deadline: Some(start - o),
                        leaves_message: true,
                        ..take
                    });
                }
                CallKind::Wait { request, is_send: false, transfer } => {
                    let Some(of) = open.iter().position(|(other, ..)| other == request) else { continue };
                    let (all, got) = (open.iter().map(|(.., filter)| *filter).collect(), got(transfer));
                    let (_, posted, filter) = open.remove(of);
                    self.takes.push(Take { posted, filters: vec![filter], got, ..take.clone() });
                    // The request was the first one done, or one that was tested. If it was not tested, it
                    // cannot be tested in vain.
                    self.takes.extend(self.location(&take).map(|_| Take {
                        filters: all,
                        empty_after: Some(start - o),
                        leaves_message: true,
                        got,
                        ..take
                    }));
                }
                _ => (),
            }
        }
        self.takes.sort_by_key(|take| take.posted);
        for take in self.takes.iter_mut().filter(|take| !take.leaves_message) {
            let send = take.got.and_then(|got| self.origins.get(&self.trace.messages[got].id));
            let waits = |send: &usize| {
                self.trace.calls[*send].kind.sent().is_some_and(|sent| sent.rendezvous.is_some())
            };
            take.granted = send.map(|origin| origin.call).filter(waits);
        }
        let taken = self.takes.iter().zip(0..).filter(|(take, _)| !take.leaves_message);
        self.takers = taken.filter_map(|(take, place)| Some((take.got?, place))).collect();
    }

    /// Returns the message that a look saw: the first to arrive of those that it wants and that were not
    /// taken.
    fn message_seen(&self, look: &Take, filter: RecvFilter) -> Option<usize> {
        let taken = |message| self.takes.iter().any(|take| take.id == look.id && take.has_taken(message));
        let there = self.receivable[look.id].iter().filter(|sent| self.is_wanted(&[filter], sent));
        there
            .map(|sent| sent.message)
            .filter(|message| !taken(*message))
            .min_by_key(|message| self.arrival_key(*message))
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

    pub(super) fn message(&self, place: usize) -> &Message {
        &self.trace.messages[place]
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

    /// Returns the last call that a message comes after.
    pub(super) fn last_call_before(&self, message: usize) -> Option<usize> {
        self.origins.get(&self.message(message).id)?.after
    }

    /// Returns the longest time for which a message can be under way.
    pub(super) fn max_latency(&self, place: usize) -> Time {
        let Message { id, to, .. } = self.message(place);
        self.trace.params_between(id.from, *to).L
    }

    /// Returns the key by which a receive takes the first of several messages.
    fn arrival_key(&self, place: usize) -> MatchKey {
        let MessageId { from, number } = self.message(place).id;
        (self.message(place).arrival, from as u32, number as u32)
    }

    /// Returns the time at which a message would arrive if it were under way for no time.
    pub(super) fn earliest_arrival(&self, place: usize) -> Time {
        self.message(place).arrival - self.message(place).latency
    }

    fn is_wanted(&self, wants: &[RecvFilter], sent: &ReceivableMessage) -> bool {
        let from = self.message(sent.message).id.from as u32;
        wants.iter().any(|want| {
            want.tag.can_take(sent.tag) && (want.from == RecvFilter::ANY_SENDER || want.from == from)
        })
    }

    /// Returns the messages that a take wants.
    pub(super) fn candidates(&self, take: &Take) -> impl Iterator<Item = usize> {
        self.receivable[take.id]
            .iter()
            .filter(|sent| self.is_wanted(&take.filters, sent))
            .map(|sent| sent.message)
    }

    /// Returns the takes without which a take would not get a message, or nothing: those before the take,
    /// those before the message, those that want the message and come first, and those that these need
    /// themselves.
    pub(super) fn requirements(&self, place: usize, got: Option<usize>) -> Rc<HashSet<usize>> {
        let is_own = self.takes[place].got == got;
        if let Some(known) = self.requirements.borrow().get(&place).filter(|_| is_own) {
            return Rc::clone(known);
        }
        let mut requirements = HashSet::new();
        let mut open = vec![(place, got)];
        while let Some((place, got)) = open.pop() {
            for other in self.direct_requirements(place, got) {
                if requirements.insert(other) {
                    match self.requirements.borrow().get(&other) {
                        Some(known) => requirements.extend(known.iter()),
                        None => open.push((other, self.takes[other].got)),
                    }
                }
            }
        }
        let requirements = Rc::new(requirements);
        if is_own {
            self.requirements.borrow_mut().insert(place, Rc::clone(&requirements));
        }
        requirements
    }

    /// Returns the same takes without those that are needed only by others of them.
    fn direct_requirements(&self, place: usize, got: Option<usize>) -> impl Iterator<Item = usize> {
        let take = &self.takes[place];
        let calls = [previous_call(self.trace, take.posted), got.and_then(|got| self.last_call_before(got))];
        let got = self.receivable[take.id].iter().find(|sent| Some(sent.message) == got);
        self.takes.iter().enumerate().filter_map(move |(place, other)| {
            let follows = calls.into_iter().flatten().any(|call| self.is_after(call, other));
            let is_first = || !other.leaves_message && other.id == take.id && other.posted < take.posted;
            let wants = || got.is_some_and(|got| self.is_wanted(&other.filters, got));
            (follows || (is_first() && wants())).then_some(place)
        })
    }

    /// Returns whether a call is after a take, or shows what it got.
    pub(super) fn is_after(&self, call: usize, take: &Take) -> bool {
        [Some(take.call), take.granted].into_iter().flatten().any(|other| self.calls.is_after(call, other))
    }

    /// Returns what else a take could have got: other messages, and nothing if it may be in vain.
    pub(super) fn alternatives(&self, take: &Take) -> Vec<Option<usize>> {
        let nothing = (take.empty_after.is_some() && take.got.is_some()).then_some(None);
        let is_gone =
            |message| self.takers.get(&message).is_some_and(|taker| self.takes[*taker].is_before(take));
        let follows = |message| self.last_call_before(message).is_some_and(|call| self.is_after(call, take));
        let could = |message: &usize| take.got != Some(*message) && !is_gone(*message) && !follows(*message);
        nothing.into_iter().chain(self.candidates(take).filter(could).map(Some)).collect()
    }

    /// Returns, for each message that one of these takes removes from its inbox, that take.
    pub(super) fn removals(&self, settled: &[(usize, Option<usize>)]) -> HashMap<usize, &Take> {
        let takes = settled.iter().filter_map(|(place, got)| Some(((*got)?, &self.takes[*place])));
        takes.filter(|(_, take)| !take.leaves_message).collect()
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
        self.alternatives(take).into_iter().flatten().any(|other| self.earliest_arrival(other) <= latest)
    }

    /// Returns whether a take accepts any sender, any tag, or the first of several requests.
    pub(super) fn is_wild(&self, take: &Take) -> bool {
        take.filters.len() > 1 || take.filters.iter().any(RecvFilter::is_wild)
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
        let place = self.choice_locations.binary_search_by_key(&take.posted, |(call, _)| *call).ok()?;
        Some(self.choice_locations[place].1)
    }

    /// Returns the id of the message at an index.
    pub(super) fn message_id(&self, got: Option<usize>) -> Option<MessageId> {
        got.map(|got| self.message(got).id)
    }

    /// Returns the ids of a take and of the message that it gets, which are the same in every run.
    pub(super) fn ids(&self, (place, got): (usize, Option<usize>)) -> (TakeId, Option<MessageId>) {
        (self.id(&self.takes[place]), self.message_id(got))
    }
}

impl Take {
    /// Returns whether it removed this message from the inbox.
    fn has_taken(&self, message: usize) -> bool {
        !self.leaves_message && self.got == Some(message)
    }

    /// Returns whether it waits for the first of several requests. That is not always the one whose message
    /// arrives first, since a request that was called for later is done later.
    pub(super) fn is_wait_for_first(&self) -> bool {
        self.leaves_message && self.deadline.is_none()
    }

    /// Returns whether its message was no longer there for another take, which was called for later and is
    /// not the wait for it.
    pub(super) fn is_before(&self, other: &Take) -> bool {
        self.posted < other.posted && !(other.leaves_message && self.call >= other.call)
    }
}

/// Returns a latency that is longer than all acts and latencies of a run one after the other. It is eight
/// times their sum, since other runs of the program may do more.
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
            // The data message of a rendezvous comes after the call that waits for the grant.
            origins.insert(sent.message, Origin { call: at, after: Some(at) });
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
