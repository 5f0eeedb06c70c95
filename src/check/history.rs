//! What a traced run took: which message each receive and look got, which others it could have got, and what came of that.
//! What does not follow a reception stays as it is, whatever the reception takes.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::Location;
use std::rc::Rc;

use super::calls::{Calls, Origin, before, first_of};
use crate::message::{Key, MessageId, RawTag, Want};
use crate::params::params_of;
use crate::time::Time;
use crate::trace::{ActivityKind, Call, CallKind, CallTag, Message, Trace, Transfer, Until};

/// What a traced run took.
pub(super) struct History<'a> {
    /// The run.
    pub trace: &'a Trace,
    /// Where in the program calls are that may take one of several messages.
    places: &'a [(usize, &'static Location<'static>)],
    /// What its receives and looks took, by processor and by when they were called for.
    pub takes: Vec<Take>,
    /// The take that took each message out of its inbox.
    takers: HashMap<usize, usize>,
    /// For each processor the messages to it that a receive can take, as they were sent.
    pub to: Vec<Vec<Sent>>,
    /// Where each message comes from.
    pub origins: HashMap<MessageId, Origin>,
    /// Its calls.
    pub calls: Calls<'a>,
    /// The places of messages.
    messages: HashMap<MessageId, usize>,
    /// What takes need, of those for which that was looked up.
    needs: RefCell<HashMap<usize, Rc<HashSet<usize>>>>,
    /// How long sends and receptions cost.
    overheads: HashMap<(bool, MessageId), Time>,
    /// When the last processor came to each of the machine's own barriers.
    pub last_came: Vec<Time>,
    /// How long a message is under way at most where L is no bound: for longer than all else takes, one after the
    /// other, but not for ever, since there are programs that look again and again until it comes.
    pub boundless: Time,
}

/// A message that a receive can take: LogGPS's request, if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Its place among the trace's messages.
    pub message: usize,
    /// What it is about.
    tag: RawTag,
}

/// Tells a receive or a look from others of the run, and from its likes in other runs: the processor, the number of the call for
/// it, and whether it leaves what it finds.
pub(super) type TakeId = (usize, usize, bool);

/// What a receive or a look took.
#[derive(Clone, Debug)]
pub(super) struct Take {
    /// The processor.
    pub id: usize,
    /// The call whose result shows what was taken.
    pub call: usize,
    /// The call for it: for a request's receive an earlier one.
    pub posted: usize,
    /// What it wants: several receives' wants, if it waits for the first of them.
    wants: Vec<Want>,
    /// When it gives up.
    pub until: Option<Time>,
    /// It takes nothing if all comes later than this.
    pub in_vain: Option<Time>,
    /// Whether it leaves what it finds.
    pub leaves: bool,
    /// The message that it took, by its place among the trace's messages.
    pub got: Option<usize>,
}

impl<'a> History<'a> {
    /// `places` are those of the calls that may take one of several messages.
    pub(super) fn of(trace: &'a Trace, places: &'a [(usize, &'static Location<'static>)]) -> History<'a> {
        let messages: HashMap<MessageId, usize> =
            trace.messages.iter().enumerate().map(|(place, message)| (message.id, place)).collect();
        let (to, origins) = sent(trace, &messages);
        let mut history = History {
            trace,
            places,
            takes: Vec::new(),
            takers: HashMap::new(),
            to,
            calls: Calls::of(trace, &origins),
            origins,
            messages,
            needs: RefCell::default(),
            overheads: HashMap::new(),
            last_came: Vec::new(),
            boundless: boundless(trace),
        };
        history.finds_takes();
        history.finds_lengths();
        history
    }

    /// Finds what was taken. Some calls took the first of several, or looked.
    fn finds_takes(&mut self) {
        let wants = |from: &Option<usize>, tag: &CallTag| Want::of(*from, RawTag::numbered(tag.number));
        let got = |got: &Transfer| self.messages.get(&first_of(got)).copied();
        // The receives of requests that were not waited for, and the numbers of their requests.
        let mut open: Vec<(u32, usize, Want)> = Vec::new();
        // What was not over by then was not seen to be done.
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
                wants: Vec::new(),
                until: None,
                in_vain: None,
                leaves: false,
                got: None,
            };
            match &call.what {
                CallKind::Receive { from, tag, until, got: taken } => {
                    let until = match until {
                        Until::Moment(time) => Some(start.max(*time)),
                        Until::GapOver => Some(call.end),
                        _ => None,
                    };
                    let (wants, got) = (vec![wants(from, tag)], taken.as_ref().and_then(got));
                    self.takes.push(Take { wants, until, in_vain: until, got, ..take });
                }
                CallKind::SendRecv(both) => {
                    let (wants, got) = (vec![wants(&Some(both.from), &both.tag)], got(&both.got));
                    self.takes.push(Take { wants, got, ..take });
                }
                CallKind::Probe { from, tag, saw } => {
                    let (want, until) = (wants(from, tag), Some(start));
                    let mut take = Take { wants: vec![want], until, in_vain: until, leaves: true, ..take };
                    take.got = saw.and_then(|saw| self.seen(&take, Want::of(Some(saw), want.tag)));
                    self.takes.push(take);
                }
                CallKind::Irecv { request, from, tag } => open.push((*request, place, wants(from, tag))),
                CallKind::Test { request } => {
                    let want = open.iter().find(|(other, ..)| other == request).map(|(.., want)| *want);
                    let wants = want.into_iter().collect();
                    self.takes.push(Take { wants, until: Some(start - o), leaves: true, ..take });
                }
                CallKind::Wait { request, sends: false, transfer } => {
                    let Some(of) = open.iter().position(|(other, ..)| other == request) else { continue };
                    let (all, got) = (open.iter().map(|(.., want)| *want).collect(), got(transfer));
                    let (_, posted, want) = open.remove(of);
                    self.takes.push(Take { posted, wants: vec![want], got, ..take.clone() });
                    // It was the first that was done, or one that was looked at. If it was not looked at, it cannot be
                    // looked at in vain.
                    self.takes.extend(self.at(&take).map(|_| Take {
                        wants: all,
                        in_vain: Some(start - o),
                        leaves: true,
                        got,
                        ..take
                    }));
                }
                _ => (),
            }
        }
        self.takes.sort_by_key(|take| take.posted);
        let taken = self.takes.iter().zip(0..).filter(|(take, _)| !take.leaves);
        self.takers = taken.filter_map(|(take, place)| Some((take.got?, place))).collect();
    }

    /// The message that a look saw: the first one there that it wants and that nobody has taken.
    fn seen(&self, look: &Take, want: Want) -> Option<usize> {
        let taken = |message| self.takes.iter().any(|take| take.id == look.id && take.takes(message));
        let there = self.to[look.id].iter().filter(|sent| self.is_wanted(&[want], sent));
        there
            .map(|sent| sent.message)
            .filter(|message| !taken(*message))
            .min_by_key(|message| self.key(*message))
    }

    /// Finds how long things last.
    fn finds_lengths(&mut self) {
        let alone = self
            .trace
            .activities
            .iter()
            .map(|activity| (activity.what.clone(), activity.start, activity.end));
        let beside =
            self.trace.progress.iter().map(|progress| (progress.what.clone(), progress.start, progress.end));
        let cost = |(what, start, end): (ActivityKind, Time, Time)| match what {
            ActivityKind::Send(id) => Some(((true, id), end - start)),
            ActivityKind::Receive(id) => Some(((false, id), end - start)),
            _ => None,
        };
        self.overheads = alone.chain(beside).filter_map(cost).collect();
        let mut passed = vec![0; self.to.len()];
        for call in self.trace.calls.iter().filter(|call| call.what == CallKind::Barrier) {
            match self.last_came.get_mut(passed[call.id]) {
                Some(last) => *last = call.start.max(*last),
                None => self.last_came.push(call.start),
            }
            passed[call.id] += 1;
        }
    }

    pub(super) fn message(&self, place: usize) -> &Message {
        &self.trace.messages[place]
    }

    /// The place of a message.
    pub(super) fn place(&self, message: &MessageId) -> Option<usize> {
        self.messages.get(message).copied()
    }

    /// How long it cost to send a message, or to receive it, if that is known.
    pub(super) fn overhead(&self, sends: bool, message: MessageId) -> Option<Time> {
        self.overheads.get(&(sends, message)).copied()
    }

    /// Whether a call that sends and receives did the latter first.
    pub(super) fn receives_before_it_sends(&self, call: usize) -> bool {
        let CallKind::SendRecv(both) = &self.trace.calls[call].what else { return false };
        let [sent, got] = [&both.sent, &both.got].map(|transfer| self.place(&transfer.message));
        let enter = sent.map(|sent| self.message(sent).enter);
        let overhead = self.overhead(false, both.got.message).unwrap_or_default();
        // What is received last, the call ends with.
        got.is_some()
            && enter.is_some_and(|enter| enter == self.trace.calls[call].end && overhead > Time::ZERO)
    }

    /// The last call that a message follows.
    pub(super) fn before(&self, message: usize) -> Option<usize> {
        self.origins.get(&self.message(message).id)?.follows
    }

    /// For how long a message can be under way.
    pub(super) fn longest(&self, place: usize) -> Time {
        let Message { id, to, .. } = self.message(place);
        params_of(&self.trace.params, &self.trace.levels, id.from.min(*to), id.from.max(*to)).L
    }

    /// The place of a message among those that its receiver could take.
    fn key(&self, place: usize) -> Key {
        let MessageId { from, number } = self.message(place).id;
        (self.message(place).arrival, from as u32, number as u32)
    }

    /// When a message would arrive if it were under way for no time.
    pub(super) fn soonest(&self, place: usize) -> Time {
        self.message(place).arrival - self.message(place).latency
    }

    fn is_wanted(&self, wants: &[Want], sent: &Sent) -> bool {
        let from = self.message(sent.message).id.from as u32;
        wants.iter().any(|want| want.tag.takes(sent.tag) && (want.from == Want::ANYONE || want.from == from))
    }

    /// The messages that a take wants.
    pub(super) fn wanted(&self, take: &Take) -> impl Iterator<Item = usize> {
        self.to[take.id].iter().filter(|sent| self.is_wanted(&take.wants, sent)).map(|sent| sent.message)
    }

    /// The takes without which a take would not get a message, or nothing: those before it, those before the message, those that
    /// want the message and come first, and those without which these would not be as they are.
    pub(super) fn needs(&self, place: usize, got: Option<usize>) -> Rc<HashSet<usize>> {
        let is_own = self.takes[place].got == got;
        if let Some(known) = self.needs.borrow().get(&place).filter(|_| is_own) {
            return Rc::clone(known);
        }
        let mut needs = HashSet::new();
        let mut open = vec![(place, got)];
        while let Some((place, got)) = open.pop() {
            for other in self.needs_itself(place, got) {
                if needs.insert(other) {
                    match self.needs.borrow().get(&other) {
                        Some(known) => needs.extend(known.iter()),
                        None => open.push((other, self.takes[other].got)),
                    }
                }
            }
        }
        let needs = Rc::new(needs);
        if is_own {
            self.needs.borrow_mut().insert(place, Rc::clone(&needs));
        }
        needs
    }

    /// The same, without those that only others of them need.
    fn needs_itself(&self, place: usize, got: Option<usize>) -> impl Iterator<Item = usize> {
        let take = &self.takes[place];
        let calls = [before(self.trace, take.posted), got.and_then(|got| self.before(got))];
        let got = self.to[take.id].iter().find(|sent| Some(sent.message) == got);
        self.takes.iter().enumerate().filter_map(move |(place, other)| {
            let follows = calls.into_iter().flatten().any(|call| self.calls.follows(call, other.call));
            let is_first = || !other.leaves && other.id == take.id && other.posted < take.posted;
            let wants = || got.is_some_and(|got| self.is_wanted(&other.wants, got));
            (follows || (is_first() && wants())).then_some(place)
        })
    }

    /// What else a receive or a look could have taken: messages, and nothing if it is a look.
    pub(super) fn others(&self, take: &Take) -> Vec<Option<usize>> {
        let nothing = (take.in_vain.is_some() && take.got.is_some()).then_some(None);
        let is_gone =
            |message| self.takers.get(&message).is_some_and(|taker| self.takes[*taker].is_before(take));
        let follows = |message| self.before(message).is_some_and(|call| self.calls.follows(call, take.call));
        let could = |message: &usize| take.got != Some(*message) && !is_gone(*message) && !follows(*message);
        nothing.into_iter().chain(self.wanted(take).filter(could).map(Some)).collect()
    }

    /// The take that took a message out of its inbox.
    pub(super) fn taker(&self, message: usize) -> Option<&Take> {
        self.takers.get(&message).map(|taker| &self.takes[*taker])
    }

    /// Whether a take could have got another message under other latencies.
    pub(super) fn had_a_choice(&self, take: &Take) -> bool {
        let Some(got) = take.got else { return false };
        let latest = self.soonest(got) + self.longest(got);
        let latest = take.until.map_or(latest, |until| latest.min(until));
        self.others(take).into_iter().flatten().any(|other| self.soonest(other) <= latest)
    }

    /// Whether a call takes from anyone, messages about anything, or what comes first of several.
    pub(super) fn is_wild(&self, take: &Take) -> bool {
        take.wants.len() > 1 || take.wants.iter().any(Want::is_wild)
    }

    /// Tells a take from others.
    pub(super) fn id(&self, take: &Take) -> TakeId {
        (take.id, self.calls.number(take.posted), take.leaves)
    }

    /// Whether there is a look for what the receive of a request would have got, had it come.
    pub(super) fn looks_beside_requests(&self) -> bool {
        let is_beside = |look: &Take, take: &Take| {
            let is_open = take.id == look.id && take.posted < look.posted && look.posted < take.call;
            is_open
                && !take.leaves
                && self.wanted(take).any(|one| self.wanted(look).any(|other| one == other))
        };
        let is_look = |take: &&Take| {
            let what = &self.trace.calls[take.call].what;
            take.until.is_some() && !matches!(what, CallKind::Test { .. })
        };
        self.takes.iter().filter(is_look).any(|look| self.takes.iter().any(|take| is_beside(look, take)))
    }

    /// Whether there are requests on a machine where they wait for each other's gaps: how long, depends on what comes first.
    pub(super) fn has_requests_with_gaps(&self) -> bool {
        let levels = self.trace.levels.iter().map(|level| &level.params);
        let has_gaps = levels.chain([&self.trace.params]).any(|params| params.g > Time::ZERO);
        let is_request = |call: &Call| matches!(call.what, CallKind::Isend { .. } | CallKind::Irecv { .. });
        has_gaps && self.trace.calls.iter().any(is_request)
    }

    /// Whether a message may be there at the moment at which its sender turns to it.
    pub(super) fn has_instants(&self) -> bool {
        let levels = self.trace.levels.iter().map(|level| &level.params);
        levels.chain([&self.trace.params]).any(|params| params.o == Time::ZERO || params.shrinks())
    }

    /// Where in the program a take was called for, if that could take one of several messages.
    pub(super) fn at(&self, take: &Take) -> Option<&'static Location<'static>> {
        let place = self.places.binary_search_by_key(&take.posted, |(call, _)| *call).ok()?;
        Some(self.places[place].1)
    }

    /// The name of what a take got.
    pub(super) fn name(&self, got: Option<usize>) -> Option<MessageId> {
        got.map(|got| self.message(got).id)
    }

    /// The names of a take and of what it gets: they are the same in every run.
    pub(super) fn named(&self, (place, got): (usize, Option<usize>)) -> (TakeId, Option<MessageId>) {
        (self.id(&self.takes[place]), self.name(got))
    }
}

impl Take {
    /// Whether it took this message out of the inbox.
    fn takes(&self, message: usize) -> bool {
        !self.leaves && self.got == Some(message)
    }

    /// Whether it waits for the first of several requests. That is not always the one whose message comes first: one that
    /// was called for later is done later.
    pub(super) fn waits(&self) -> bool {
        self.leaves && self.until.is_none()
    }

    /// Whether what it took was no longer there for another take: that was called for later, and is not the wait for it.
    pub(super) fn is_before(&self, other: &Take) -> bool {
        self.posted < other.posted && !(other.leaves && self.call >= other.call)
    }
}

/// How long all that a run does takes, one after the other, and that some times over, for what others of its kind do more.
fn boundless(trace: &Trace) -> Time {
    let is_done = |what: &ActivityKind| {
        matches!(
            what,
            ActivityKind::Work(_) | ActivityKind::Send(_) | ActivityKind::Receive(_) | ActivityKind::Gap
        )
    };
    let done = trace.activities.iter().filter(|activity| is_done(&activity.what));
    let beside = trace.progress.iter().filter(|progress| is_done(&progress.what));
    let alone: Time = done.map(|activity| activity.end - activity.start).sum();
    let lengths = alone + beside.map(|progress| progress.end - progress.start).sum::<Time>();
    8 * (lengths + (trace.messages.len() as i64 + 1) * (trace.params.L + trace.params.cycle))
}

/// For each processor the messages to it that a receive can take, as they were sent; and where each message comes from.
fn sent(trace: &Trace, messages: &HashMap<MessageId, usize>) -> (Vec<Vec<Sent>>, HashMap<MessageId, Origin>) {
    let (mut to, mut origins) = (vec![Vec::new(); trace.params.P], HashMap::new());
    let mut posted: HashMap<(usize, u32), (usize, &CallTag)> = HashMap::new();
    for (place, call) in trace.calls.iter().enumerate() {
        let of_none = CallTag { number: 0, name: None };
        let (at, tag) = match &call.what {
            CallKind::Isend { request, tag, .. } | CallKind::Irecv { request, tag, .. } => {
                posted.insert((call.id, *request), (place, tag));
                continue;
            }
            CallKind::Wait { request, .. } => match posted.get(&(call.id, *request)) {
                Some(posted) => *posted,
                None => continue,
            },
            CallKind::Send { tag, .. } => (place, tag),
            CallKind::SendRecv(both) => (place, &both.tag),
            _ => (place, &of_none),
        };
        let before = before(trace, at);
        if let Some(sent) = call.what.sent() {
            let first = first_of(sent);
            // What waits for a reply follows that.
            origins.insert(sent.message, Origin { call: at, follows: Some(at) });
            origins.insert(first, Origin { call: at, follows: before });
            let comes = !trace.faults.lost.contains(&first);
            if let Some(&message) = messages.get(&first).filter(|_| comes) {
                let tag = RawTag::numbered(tag.number);
                to[trace.messages[message].to].push(Sent { message, tag });
            }
        }
        if let Some(rendezvous) = call.what.got().and_then(|got| got.rendezvous.as_ref()) {
            origins.insert(rendezvous.reply, Origin { call: at, follows: before });
        }
    }
    (to, origins)
}
