//! What a traced run took: which message each receive and look got, which others it could have got, and what came of that.
//!
//! A call *follows* another if that is before it in the same program, or has sent a message without which it would not be
//! as it is. What does not follow a reception stays as it is, whatever the reception takes.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;

use crate::message::{Key, MessageId, RawTag, Want};
use crate::params::params_of;
use crate::time::{PS, Time};
use crate::trace::{CallKind, CallTag, Message, Trace, Transfer, Until};

/// What a traced run took.
pub(super) struct History<'a> {
    /// The run.
    pub trace: &'a Trace,
    /// What its receives and looks took, by processor and by when they were called for.
    pub takes: Vec<Take>,
    /// The take that took each message out of its inbox.
    takers: HashMap<usize, usize>,
    /// For each processor the messages to it that a receive can take, as they were sent.
    to: Vec<Vec<Sent>>,
    /// The number of each call among its processor's.
    numbers: Vec<usize>,
    /// For each call and each processor, how many calls of the processor it follows, with itself.
    follows: Vec<u32>,
}

/// A message that a receive can take: LogGPS's request, if there is one.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Its place among the trace's messages.
    message: usize,
    /// The call that sent it.
    call: usize,
    /// What it is about.
    tag: RawTag,
}

/// What a receive or a look took.
#[derive(Clone, Debug)]
pub(super) struct Take {
    /// The processor.
    pub id: usize,
    /// The call whose result shows what was taken.
    pub call: usize,
    /// The call for it: for a request's receive an earlier one.
    posted: usize,
    /// What it wants: several receives' wants, if it waits for the first of them.
    wants: Vec<Want>,
    /// When it gives up.
    until: Option<Time>,
    /// It takes nothing if all comes later than this.
    in_vain: Option<Time>,
    /// Whether it leaves what it finds.
    leaves: bool,
    /// The message that it took, by its place among the trace's messages.
    pub got: Option<usize>,
}

/// How long messages are under way; those that are not here arrive at once.
pub(super) type Delays = HashMap<MessageId, Time>;

/// What a run takes up to a point, and what it takes there.
pub(super) struct Turn {
    /// How long messages must be under way for it.
    pub delays: Delays,
    /// The takes that it settles.
    pub settled: HashSet<u64>,
    /// Tells it from others.
    pub key: u64,
    /// Whether it is not known that there is such a run, even if nothing is late.
    pub is_a_guess: bool,
}

/// A number that tells things apart.
fn number_of(thing: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

impl<'a> History<'a> {
    /// `places` are those of the calls that may take one of several messages.
    pub(super) fn of(trace: &'a Trace, places: &[(usize, &'static Location<'static>)]) -> History<'a> {
        let P = trace.params.P;
        let messages: HashMap<MessageId, usize> =
            trace.messages.iter().enumerate().map(|(place, message)| (message.id, place)).collect();
        let (mut numbers, mut firsts) = (Vec::with_capacity(trace.calls.len()), vec![0; P]);
        for (place, call) in trace.calls.iter().enumerate() {
            if place == 0 || trace.calls[place - 1].id != call.id {
                firsts[call.id] = place;
            }
            numbers.push(place - firsts[call.id]);
        }
        let mut history = History {
            trace,
            takes: Vec::new(),
            takers: HashMap::new(),
            to: vec![Vec::new(); P],
            numbers,
            follows: Vec::new(),
        };
        let senders = history.finds_sends(&messages);
        history.finds_takes(&messages, |call| places.binary_search_by_key(&call, |(call, _)| *call).is_ok());
        history.finds_what_follows(&senders);
        history
    }

    /// Finds what can be taken. Returns the call that sent each message.
    fn finds_sends(&mut self, messages: &HashMap<MessageId, usize>) -> HashMap<MessageId, usize> {
        let mut senders = HashMap::new();
        let mut posted: HashMap<(usize, u32), (usize, &CallTag)> = HashMap::new();
        for (place, call) in self.trace.calls.iter().enumerate() {
            let (at, tag) = match &call.what {
                CallKind::Isend { request, tag, .. } => {
                    posted.insert((call.id, *request), (place, tag));
                    continue;
                }
                CallKind::Wait { request, sends: true, .. } => match posted.get(&(call.id, *request)) {
                    Some(posted) => *posted,
                    None => continue,
                },
                CallKind::Send { tag, .. } => (place, tag),
                CallKind::SendRecv(both) => (place, &both.tag),
                _ => (place, &CallTag { number: 0, name: None }),
            };
            if let Some(sent) = call.what.sent() {
                let first = first_of(sent);
                senders.extend([(first, at), (sent.message, at)]);
                if let Some(&message) = messages.get(&first) {
                    let tag = RawTag::numbered(tag.number);
                    self.to[self.trace.messages[message].to].push(Sent { message, call: at, tag });
                }
            }
            if let Some(rendezvous) = call.what.got().and_then(|got| got.rendezvous.as_ref()) {
                senders.insert(rendezvous.reply, place);
            }
        }
        senders
    }

    /// Finds what was taken. Some calls took the first of several, or looked.
    fn finds_takes(&mut self, messages: &HashMap<MessageId, usize>, chose: impl Fn(usize) -> bool) {
        let wants = |from: &Option<usize>, tag: &CallTag| Want::of(*from, RawTag::numbered(tag.number));
        let got = |got: &Transfer| messages.get(&first_of(got)).copied();
        // The receives of requests that were not waited for, and the numbers of their requests.
        let mut open: Vec<(u32, usize, Want)> = Vec::new();
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
                    self.takes.push(Take { wants, until: Some(start), leaves: true, ..take });
                }
                CallKind::Wait { request, sends: false, transfer } => {
                    let Some(of) = open.iter().position(|(other, ..)| other == request) else { continue };
                    let (all, got) = (open.iter().map(|(.., want)| *want).collect(), got(transfer));
                    let (_, posted, want) = open.remove(of);
                    self.takes.push(Take { posted, wants: vec![want], got, ..take.clone() });
                    // It was the first that was done, or one that was looked at. If it was not looked at, it cannot be
                    // looked at in vain.
                    self.takes.extend(chose(place).then_some(Take {
                        wants: all,
                        in_vain: Some(start),
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

    /// Finds what follows what: a call follows the one before it, and the one that sent what it got.
    fn finds_what_follows(&mut self, senders: &HashMap<MessageId, usize>) {
        let (P, calls) = (self.trace.params.P, &self.trace.calls);
        let mut follows = vec![0; calls.len() * P];
        let mut ready: Vec<std::ops::Range<usize>> = vec![0..0; P];
        for (place, call) in calls.iter().enumerate() {
            let first = place - self.numbers[place];
            ready[call.id] = first..place + 1;
        }
        let mut done = vec![false; calls.len()];
        loop {
            let mut barrier = true; // all who are not at their end wait in it
            let mut goes_on = false;
            for range in &mut ready {
                while let Some(place) = range.clone().next() {
                    let call = &calls[place];
                    if call.what == CallKind::Barrier {
                        break;
                    }
                    barrier = false;
                    let got = call.what.got().map(|got| [got.message, first_of(got)]);
                    let granted = call.what.sent().and_then(|sent| sent.rendezvous.as_ref());
                    let messages = got.into_iter().flatten().chain(granted.map(|granted| granted.reply));
                    let from: Vec<usize> = messages
                        .filter_map(|id| senders.get(&id).copied())
                        .filter(|at| *at != place)
                        .collect();
                    if !from.iter().all(|at| done[*at]) {
                        break;
                    }
                    for at in from.into_iter().chain((self.numbers[place] > 0).then(|| place - 1)) {
                        for other in 0..P {
                            follows[place * P + other] =
                                follows[place * P + other].max(follows[at * P + other]);
                        }
                    }
                    follows[place * P + call.id] = self.numbers[place] as u32 + 1;
                    (done[place], goes_on) = (true, true);
                    range.start += 1;
                }
            }
            if barrier && ready.iter().any(|range| !range.is_empty()) {
                let here: Vec<usize> = ready.iter().filter_map(|range| range.clone().next()).collect();
                for at in &here {
                    follows[at * P + calls[*at].id] = self.numbers[*at] as u32 + 1;
                    if self.numbers[*at] > 0 {
                        for other in 0..P {
                            let before = follows[(at - 1) * P + other];
                            follows[at * P + other] = follows[at * P + other].max(before);
                        }
                    }
                }
                let all = |other: usize| here.iter().map(|at| follows[at * P + other]).max().unwrap_or(0);
                let all: Vec<u32> = (0..P).map(all).collect();
                for at in here {
                    follows[at * P..][..P].copy_from_slice(&all);
                    done[at] = true;
                }
                ready.iter_mut().for_each(|range| range.start = range.end.min(range.start + 1));
                goes_on = true;
            }
            if !goes_on {
                break; // all is done; or the run has failed, and what is left waits for what never came
            }
        }
        self.follows = follows;
    }

    /// Whether a call follows another, or is it.
    fn follows(&self, call: usize, other: usize) -> bool {
        let P = self.trace.params.P;
        self.follows[call * P + self.trace.calls[other].id] as usize > self.numbers[other]
    }

    fn message(&self, place: usize) -> &Message {
        &self.trace.messages[place]
    }

    /// For how long a message between two processors can be under way.
    fn longest(&self, from: usize, to: usize) -> Time {
        params_of(&self.trace.params, &self.trace.levels, from.min(to), from.max(to)).L
    }

    /// The place of a message among those that its receiver could take.
    fn key(&self, place: usize) -> Key {
        self.key_at(place, self.message(place).arrival)
    }

    /// The same, if it arrived at another time.
    fn key_at(&self, place: usize, arrival: Time) -> Key {
        let MessageId { from, number } = self.message(place).id;
        (arrival, from as u32, number as u32)
    }

    /// When a message would arrive if it were under way for no time.
    fn soonest(&self, place: usize) -> Time {
        self.message(place).arrival - self.message(place).latency
    }

    fn is_wanted(&self, wants: &[Want], sent: &Sent) -> bool {
        let from = self.message(sent.message).id.from as u32;
        wants.iter().any(|want| want.tag.takes(sent.tag) && (want.from == Want::ANYONE || want.from == from))
    }

    /// The take that took a message.
    fn taker(&self, message: usize) -> Option<&Take> {
        self.takers.get(&message).map(|take| &self.takes[*take])
    }

    /// What else a receive or a look could have taken: messages, and nothing if it is a look. With each the first call
    /// that would be another then.
    pub(super) fn others(&self, take: &Take) -> Vec<(Option<usize>, usize)> {
        let mut others = Vec::new();
        if take.in_vain.is_some() && take.got.is_some() {
            others.push((None, take.call));
        }
        for sent in self.to[take.id].iter().filter(|sent| self.is_wanted(&take.wants, sent)) {
            let taker = self.taker(sent.message);
            let before = taker.is_some_and(|taker| taker.posted < take.posted && !take.leaves_to(taker));
            let cut = taker.map_or(take.call, |taker| taker.call.min(take.call));
            let is_late = take.until.is_some_and(|until| self.soonest(sent.message) > until);
            if take.got != Some(sent.message) && !before && !is_late && !self.follows(sent.call, cut) {
                others.push((Some(sent.message), cut));
            }
        }
        others
    }

    /// The call that called for what a take took.
    pub(super) fn called_for(&self, take: &Take) -> usize {
        take.posted
    }

    /// Whether a look would see a message if its processor came later, which it could.
    pub(super) fn came_too_early(&self, take: &Take) -> bool {
        let Some(until) = take.until else { return false };
        let waited = |other: &Take| other.id == take.id && other.call < take.call && other.got.is_some();
        let comes = |sent: &Sent| {
            let is_free = self.taker(sent.message).is_none_or(|taker| taker.posted >= take.posted);
            is_free && self.soonest(sent.message) > until && !self.follows(sent.call, take.call)
        };
        let mut wanted = self.to[take.id].iter().filter(|sent| self.is_wanted(&take.wants, sent));
        wanted.any(comes) && self.takes.iter().any(waited)
    }

    /// Whether a take could have got another message under other latencies.
    pub(super) fn had_a_choice(&self, take: &Take) -> bool {
        let Some(got) = take.got else { return false };
        let latest = self.soonest(got) + self.longest(self.message(got).id.from, take.id);
        let could = |other: &usize| self.soonest(*other) <= latest;
        self.others(take).into_iter().filter_map(|(other, _)| other).any(|other| could(&other))
    }

    /// Whether a call takes from anyone, messages about anything, or what comes first of several.
    pub(super) fn is_wild(&self, take: &Take) -> bool {
        take.wants.len() > 1 || take.wants.iter().any(Want::is_wild)
    }

    /// Tells a take from others of the run, and from its likes in other runs.
    fn number(&self, take: &Take) -> u64 {
        number_of((take.id, self.numbers[take.posted], self.numbers[take.call], take.leaves))
    }

    /// Tells what a take got.
    fn taken(&self, take: &Take, got: Option<usize>) -> u64 {
        number_of((self.number(take), got.map(|got| self.message(got).id)))
    }

    /// Tells what a run took of these takes.
    pub(super) fn taken_of(&self, settled: &HashSet<u64>) -> u64 {
        let takes = self.takes.iter().filter(|take| settled.contains(&self.number(take)));
        takes.fold(0, |sum: u64, take| sum.wrapping_add(self.taken(take, take.got)))
    }

    /// Tells what the run took from that of others.
    pub(super) fn key_of_all(&self) -> u64 {
        let takes = self.takes.iter();
        takes.fold(0, |sum: u64, take| sum.wrapping_add(self.taken(take, take.got)))
    }

    /// Whether a take is one of these.
    pub(super) fn is_settled(&self, take: &Take, settled: &HashSet<u64>) -> bool {
        settled.contains(&self.number(take))
    }

    /// A run in which a take gets another message, or nothing, and all stays as it is that does not follow `cut`. Only its
    /// key, if a message would have to be under way for longer than it can be.
    pub(super) fn turn(&self, take: &Take, other: Option<usize>, cut: usize) -> Result<Turn, u64> {
        let stays = |call: usize| !self.follows(call, cut);
        let kept: Vec<&Take> = self.takes.iter().filter(|take| stays(take.call)).collect();
        let settled: HashSet<u64> =
            kept.iter().map(|kept| self.number(kept)).chain([self.number(take)]).collect();
        let of_kept = kept.iter().fold(0_u64, |sum, kept| sum.wrapping_add(self.taken(kept, kept.got)));
        let key = of_kept.wrapping_add(self.taken(take, other));
        let mut arrivals: HashMap<usize, Time> = HashMap::new();
        for (to, sents) in self.to.iter().enumerate() {
            for sent in sents.iter().filter(|sent| stays(sent.call)) {
                let here = kept.iter().filter(|take| take.id == to);
                let arrival = match self.taker(sent.message).is_some_and(|taker| stays(taker.call)) {
                    true => self.message(sent.message).arrival,
                    false => here
                        .filter(|take| self.is_wanted(&take.wants, sent))
                        .fold(self.soonest(sent.message), |arrival, take| {
                            self.passed_by(take, sent.message, arrival)
                        }),
                };
                arrivals.insert(sent.message, arrival);
            }
        }
        let bound = match other {
            Some(other) if take.waits() => self.key_at(other, arrivals[&other].max(self.start(take))),
            Some(other) => self.key_at(other, arrivals[&other]),
            None => (take.in_vain.unwrap_or_default(), u32::MAX, u32::MAX),
        };
        let taken = |message| self.taker(message).is_some_and(|taker| stays(taker.call));
        for sent in self.to[take.id].iter().filter(|sent| stays(sent.call)) {
            let Some(arrival) = arrivals.get_mut(&sent.message).filter(|_| other != Some(sent.message))
            else {
                continue;
            };
            if self.is_wanted(&take.wants, sent) && !taken(sent.message) {
                *arrival = self.after(bound, sent.message, *arrival);
            }
        }
        let mut delays = Delays::new();
        for (place, arrival) in arrivals {
            let Message { id, to, .. } = self.message(place);
            let latency = arrival - self.soonest(place);
            if latency > self.longest(id.from, *to) {
                return Err(key);
            }
            if latency > Time::ZERO {
                delays.insert(*id, latency);
            }
        }
        Ok(Turn { delays, settled, key, is_a_guess: take.waits() && other.is_none() })
    }

    /// What the run itself took up to a take, and there.
    pub(super) fn key_up_to(&self, take: &Take) -> u64 {
        let kept = self.takes.iter().filter(|kept| !self.follows(kept.call, take.call));
        let of_kept = kept.fold(0_u64, |sum, kept| sum.wrapping_add(self.taken(kept, kept.got)));
        of_kept.wrapping_add(self.taken(take, take.got))
    }

    /// When a take was called.
    fn start(&self, take: &Take) -> Time {
        self.trace.calls[take.call].start
    }

    /// When a message arrives that a take did not get, and that would arrive now.
    fn passed_by(&self, take: &Take, message: usize, arrival: Time) -> Time {
        match (take.got, take.until) {
            (Some(got), _) if got == message => arrival, // a look saw it
            (Some(got), _) if take.waits() => {
                let late = self.after(self.key(got).max((self.start(take), 0, 0)), message, arrival);
                late.min(self.message(message).arrival).max(arrival)
            }
            (Some(got), _) => self.after(self.key(got), message, arrival),
            (None, Some(until)) => self.after((until, u32::MAX, u32::MAX), message, arrival),
            (None, None) => arrival,
        }
    }

    /// When a message arrives that comes after another, and would arrive now.
    fn after(&self, bound: Key, message: usize, arrival: Time) -> Time {
        let late = [arrival, bound.0].map(|arrival| self.key_at(message, arrival));
        let (arrival, ..) = late.into_iter().find(|key| *key > bound).unwrap_or((bound.0 + PS, 0, 0));
        arrival
    }
}

impl Take {
    /// Whether it took this message out of the inbox.
    fn takes(&self, message: usize) -> bool {
        !self.leaves && self.got == Some(message)
    }

    /// Whether it waits for the first of several requests. That is not always the one whose message comes first: one that
    /// was called for later is done later.
    fn waits(&self) -> bool {
        self.leaves && self.until.is_none()
    }

    /// Whether it looks at what this one took later, though it was called for before: the wait for the first of several.
    fn leaves_to(&self, taker: &Take) -> bool {
        self.leaves && taker.call >= self.call
    }
}

/// The message that a receive takes first: the request, if there is one.
fn first_of(transfer: &Transfer) -> MessageId {
    transfer.rendezvous.as_ref().map_or(transfer.message, |rendezvous| rendezvous.request)
}
