//! The auditor: holds the trace of a run against the rules of the machine.
//!
//! It looks at a run from outside. It shares no code with `rules/network.rs`, works out every cost
//! from the bare parameters, and knows no queue, no slot and no reservation: only what happened when. So a
//! mistake in the machine must be made a second time, in another way, to get past it. It compares each
//! processor's local times and no order of events, and so takes the traces of either clock.
//!
//! What the processors did, and their requests beside them, is for `processors.rs` to judge, how the messages travelled for
//! `messages.rs`, what detours took of the processors for `noise.rs`, whether they waited with reason for `waits.rs`, and whether
//! the programs' calls say the same for `calls.rs`.
//!
//! Every check sorts and sweeps: an audit of n events takes O(n log n).

use std::collections::HashMap;
use std::fmt;

use super::flight::{Flight, Place};
use crate::message::MessageId;
use crate::params::{LongMessages, Params, Ports};
use crate::time::Time;
use crate::trace::{Message, Trace};

/// What an audit found: which rules were broken, and how close the run came to the limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "an audit says what it found, and fails nothing"]
pub struct Audit {
    /// Whatever broke a rule.
    pub violations: Vec<Violation>,
    /// How many messages were sent.
    pub messages: usize,
    /// How many may be in transit from a processor, and as many to it; `None` if any number may.
    pub capacity: Option<usize>,
    /// The most that were in transit at once from any one processor.
    pub most_in_transit_from: usize,
    /// The most that were in transit at once to any one processor.
    pub most_in_transit_to: usize,
    /// How often a processor stalled.
    pub stalls: usize,
    /// How long the processors stalled, all together.
    pub stalled: Time,
    /// The longest stall, if there was one.
    pub longest_stall: Option<Time>,
    /// The shortest stall, if there was one.
    pub shortest_stall: Option<Time>,
    /// When the last processor finished.
    pub finish: Time,
    /// How many acts the host let happen out of their order. If there are any, nobody can tell who should
    /// have gone first, and [`Rule::Stall`], [`Rule::Wait`] and [`Rule::Latency`] are held only as far as they
    /// do not depend on that.
    pub out_of_order: u64,
}

impl Audit {
    /// Whether the run kept to the rules.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

/// A rule that was broken, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Which rule was broken.
    pub rule: Rule,
    /// Who broke it, with which message and when.
    pub sentence: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, but {}", self.rule, self.sentence)
    }
}

/// The rules of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// Processors are there, and messages are numbered as they are sent.
    Names,
    /// A processor does one thing at a time, from 0 to its end.
    OneThing,
    /// Sending and receiving take exactly o, and kO_s or kO_r more under LogGPS, and the detours that fall into it.
    Overhead,
    /// A message enters the network when its overhead and the waits right after that are over.
    Entry,
    /// Messages of one processor enter at least g apart, after a long one its (k-1)G more; and it begins
    /// receptions at least g apart.
    Gap,
    /// A wait for the gap or the port ends as soon as the gap or the port lets the message go; those who asked
    /// earlier go first.
    Wait,
    /// At most ceil(L/g) messages are in transit from a processor, and as many to it.
    Capacity,
    /// A stall ends as soon as there is room for the message at both ends; those who asked earlier go first.
    Stall,
    /// A port carries one long message at a time.
    Port,
    /// A message is under way for L (if latency is random, at most), and longer only while the receiver's
    /// port is taken by those who asked earlier.
    Latency,
    /// The last word follows the first after (k-1)G, or what LogGPS says.
    Stream,
    /// No message arrives before its sender turned to it.
    Causality,
    /// A message is received once, by the processor to which it was sent.
    Reception,
    /// A reception begins when the message is there.
    Arrival,
    /// On a machine of LogGPS, and from a processor's first request to send on, no message overtakes another on the same
    /// way.
    Order,
    /// A request is called for and waited for once. It goes on from its call, and the wait ends when it is done, and after
    /// o at the earliest.
    Request,
    /// Nobody is done computing while the operating system has the processor.
    Noise,
    /// All take part in each of the machine's barriers, and go on when the last one has come and the barrier's
    /// cost is paid.
    Barrier,
    /// A processor's calls follow one another from 0 to its end, all that it does is in one, and each takes what it takes.
    Calls,
    /// What comes is what was asked for: a receive gets the first message that it wants, a send's message has its length
    /// and its receiver, and one above S is asked for.
    Asked,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::Names => "messages are numbered, and go from processor to processor",
            Rule::OneThing => "a processor does one thing at a time",
            Rule::Overhead => "a message costs its overhead",
            Rule::Entry => "a message enters when its overhead and its waits are over",
            Rule::Gap => "the gap lies between two messages",
            Rule::Wait => "nobody waits without a reason",
            Rule::Capacity => "the network has a capacity",
            Rule::Stall => "a stall ends when there is room",
            Rule::Port => "a port carries one message at a time",
            Rule::Latency => "a message is under way for the latency",
            Rule::Stream => "the last word follows the first",
            Rule::Causality => "a message arrives after its send began",
            Rule::Reception => "a message is received once, by its receiver",
            Rule::Arrival => "a message is received when it is there",
            Rule::Order => "no message overtakes another on the same way",
            Rule::Request => "a request goes on by itself until it is waited for",
            Rule::Noise => "nobody computes in a detour",
            Rule::Barrier => "all leave a barrier when the last one has come",
            Rule::Calls => "what a processor does, it does in its calls",
            Rule::Asked => "what comes is what was asked for",
        })
    }
}

/// Holds a trace against every rule.
pub fn audit(trace: &Trace) -> Audit {
    let deeds = super::deed::deeds(trace);
    let mut auditor = Auditor::new(trace);
    auditor.name_messages();
    for did in deeds.chunk_by(|a, b| (a.id, a.request) == (b.id, b.request)) {
        auditor.follow_sends(did);
    }
    auditor.order_messages();
    for did in deeds.chunk_by(|a, b| a.id == b.id) {
        auditor.follow_processor(did);
    }
    auditor.watch_barriers(&deeds);
    auditor.follow_messages();
    let [most_in_transit_from, most_in_transit_to] = auditor.count_messages();
    auditor.judge_waits();
    auditor.follow_calls(&deeds);
    let waits =
        auditor.flights.iter().filter_map(|flight| flight.sent).map(|sent| sent.admitted - sent.ready);
    let stalls: Vec<Time> = waits.filter(|wait| *wait > Time::ZERO).collect();
    Audit {
        messages: trace.messages.len(),
        capacity: auditor.capacities[0],
        most_in_transit_from,
        most_in_transit_to,
        stalls: stalls.len(),
        stalled: stalls.iter().sum(),
        longest_stall: stalls.iter().max().copied(),
        shortest_stall: stalls.iter().min().copied(),
        finish: trace.activities.iter().map(|activity| activity.end).max().unwrap_or_default(),
        out_of_order: trace.out_of_order,
        violations: auditor.violations,
    }
}

/// Reports each rule that is broken: who did it, and `when => the rule, how`.
macro_rules! broken {
    ($auditor:expr, $who:literal, $($when:expr => $rule:expr, $how:literal $(, $value:expr)*;)+) => {
        $(if $when {
            $auditor.report($rule, format!("{} {}", format_args!($who), format_args!($how $(, $value)*)));
        })+
    };
}
pub(super) use broken;

/// An audit under way.
pub(super) struct Auditor<'a> {
    /// What is audited.
    pub(super) trace: &'a Trace,
    /// How many messages may be in transit from a processor, or to it, at each level, if not any number.
    pub(super) capacities: Vec<Option<usize>>,
    /// The messages, by name.
    pub(super) flights: Vec<Flight<'a>>,
    /// The place of each.
    pub(super) places: HashMap<MessageId, usize>,
    /// Their places, in the order in which they are served.
    pub(super) order: Vec<usize>,
    /// What was found until now.
    pub(super) violations: Vec<Violation>,
}

impl<'a> Auditor<'a> {
    pub(super) fn new(trace: &'a Trace) -> Auditor<'a> {
        let flight = |message: &'a Message| {
            let (level, params) = level(trace, message.id.from, message.to);
            Flight {
                message,
                params,
                level,
                ports: ports(trace, level, message),
                spread: spread(params, message.words),
                sent: None,
                received: 0,
                gap_over: None,
                not_before: None,
            }
        };
        let mut flights: Vec<Flight> = trace.messages.iter().map(flight).collect();
        flights.sort_by_key(|flight| flight.message.id);
        let levels = trace.levels.iter().map(|level| &level.params);
        let capacities = [&trace.params].into_iter().chain(levels).map(limit).collect();
        let (places, order, violations) = (HashMap::new(), Vec::new(), Vec::new());
        Auditor { trace, capacities, flights, places, order, violations }
    }

    pub(super) fn report(&mut self, rule: Rule, sentence: String) {
        self.violations.push(Violation { rule, sentence });
    }

    /// The parameters between two processors.
    pub(super) fn params(&self, x: usize, y: usize) -> &'a Params {
        level(self.trace, x, y).1
    }

    /// The place of a message.
    pub(super) fn find(&self, id: MessageId) -> Option<usize> {
        self.places.get(&id).copied()
    }
}

/// The number of the level at which a message goes between two processors, and its parameters: each level within the machine
/// that has both in one group is one further in.
fn level(trace: &Trace, x: usize, y: usize) -> (usize, &Params) {
    let with_both = trace.levels.iter().take_while(|level| x / level.params.P == y / level.params.P);
    let number = with_both.count();
    (number, number.checked_sub(1).map_or(&trace.params, |inner| &trace.levels[inner].params))
}

/// The sender's port at this level, and the receiver's. Where the groups within have one port each, it is named by the group's
/// first processor.
fn ports(trace: &Trace, level: usize, message: &Message) -> [Place; 2] {
    let within = trace.levels.get(level).filter(|within| within.one_port);
    let ports = level.checked_sub(1).map_or(trace.ports, |inner| trace.levels[inner].ports);
    let of = |id: usize| within.map_or(id, |within| id - id % within.params.P);
    [Place::Port(level, of(message.id.from), false), Place::Port(level, of(message.to), ports == Ports::Dual)]
}

/// How long the last of k words comes after the first (LogP: a word every max(g, o); LogGP: (k-1)G; LogGPS, table 3: kG_s, or
/// sG_s + (k-s)G_l above s).
pub(super) fn spread(params: &Params, k: usize) -> Time {
    match params.long {
        LongMessages::LogP => (words(k) - 1) * params.o.max(params.g),
        LongMessages::LogGP { G } => (words(k) - 1) * G,
        LongMessages::LogGPS(gps) if k <= gps.s => words(k) * gps.G_s,
        LongMessages::LogGPS(gps) => words(gps.s) * gps.G_s + words(k - gps.s) * gps.G_l,
    }
}

/// How many messages may be in transit from a processor, or to it (LogP, section 3: ceil(L/g)), unless the machine
/// was told its capacity.
pub(super) fn limit(params: &Params) -> Option<usize> {
    if let Some(C) = params.C {
        return (C.get() != Params::NO_LIMIT).then_some(C.get());
    }
    let (L, g) = (params.L.as_ps(), params.g.as_ps());
    match (g, L) {
        (..=0, _) => None,
        (_, ..=0) => Some(1),
        _ => Some(((L - 1) / g + 1) as usize),
    }
}

/// A count of words, to multiply a time with.
pub(super) fn words(k: usize) -> i64 {
    k.try_into().unwrap_or(i64::MAX)
}
