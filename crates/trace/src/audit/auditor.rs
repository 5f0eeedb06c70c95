//! The auditor, which compares the trace of a run with the rules of the machine.
//!
//! It looks at a run from outside. It shares no code with `rules/network.rs`, computes every cost from the
//! bare parameters, and knows no queue, no slot and no reservation, only the times of what happened. So a
//! mistake in the machine passes the audit only if it is made a second time, in another way. The auditor
//! compares each processor's local times and no order of events, so it accepts the traces of both clocks.
//!
//! - `processors.rs` audits the activities of processors and of their requests.
//! - `messages.rs` audits the messages' ways through the network.
//! - `noise.rs` audits the time that detours take from processors.
//! - `waits.rs` audits the reasons of stalls and waits for ports.
//! - `rooms.rs` audits stalls where a message is in transit until it is received.
//! - `one_sided.rs` audits messages to a processor's memory and from there.
//! - `calls.rs` compares the programs' calls with the activities.
//!
//! Every part sorts and sweeps, so an audit of n events takes O(n log n).

use std::collections::HashMap;
use std::fmt;

use loggp_model::message::MessageId;
use loggp_model::params::{LongMessages, Params, Ports};
use loggp_model::time::Time;

use super::flight::{Flight, NetworkResource};
use crate::path::sorted_events;
use crate::{Message, Trace};

/// The result of an audit: the violations of rules, and how close the run came to the limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "an audit says what it found, and fails nothing"]
pub struct Audit {
    /// The violations of rules.
    pub violations: Vec<Violation>,
    /// Number of messages that were sent.
    pub messages: usize,
    /// The most messages that may be in transit from a processor, and to one; `None` if any number may.
    pub capacity: Option<usize>,
    /// The most messages that were in transit at once from any one processor.
    pub most_in_transit_from: usize,
    /// The most messages that were in transit at once to any one processor.
    pub most_in_transit_to: usize,
    /// Number of stalls.
    pub stalls: usize,
    /// Length of all stalls together.
    pub stalled: Time,
    /// The longest stall; `None` if there were none.
    pub longest_stall: Option<Time>,
    /// The shortest stall; `None` if there were none.
    pub shortest_stall: Option<Time>,
    /// Time at which the last processor finished.
    pub finish: Time,
    /// Number of acts that the host let happen out of order. If there are any, the order in which messages
    /// asked for its way is unknown, and [`AuditRule::Stall`], [`AuditRule::Wait`] and [`AuditRule::Latency`]
    /// are audited only as far as they do not depend on it.
    pub out_of_order: u64,
}

impl Audit {
    /// Returns whether the run broke no rule.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule that was broken.
    pub rule: AuditRule,
    /// A sentence with the processor, the message and the time.
    pub sentence: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, but {}", self.rule, self.sentence)
    }
}

/// A rule of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AuditRule {
    /// Processors exist, and messages are numbered in the order of their sends.
    Names,
    /// A processor does one thing at a time, from 0 to its end.
    OneThing,
    /// Sending and receiving take exactly o, under LogGPS kO_s or kO_r more, and the detours that fall into
    /// it.
    Overhead,
    /// A message enters the network when its overhead and the waits after it are over.
    Entry,
    /// Messages of one processor enter at least g apart, after a long one (k-1)G more, and receptions of one
    /// processor begin at least g apart.
    Gap,
    /// A wait for the gap or the port ends as soon as the gap or the port lets the message go; the messages
    /// that asked earlier go first.
    Wait,
    /// At most ceil(L/g) messages are in transit from a processor, and at most as many to it.
    Capacity,
    /// A stall ends as soon as there is room for the message at both ends; the messages that asked earlier go
    /// first.
    Stall,
    /// A port carries one long message at a time.
    Port,
    /// A message is under way for L, or at most for L if latency is random. It is under way for longer only
    /// while the receiver's port is taken by messages that asked earlier.
    Latency,
    /// The last word follows the first after (k-1)G, or what LogGPS says.
    Stream,
    /// No message arrives before its send begins.
    Causality,
    /// A message is received once, by the processor to which it was sent.
    Reception,
    /// A reception begins after the message's arrival.
    Arrival,
    /// Under LogGPS, and from a processor's first request to send on, no message overtakes another on the
    /// same way.
    Order,
    /// A request is called for and waited for once. It goes on from its call, and the wait ends when the
    /// request is done, after o at the earliest.
    Request,
    /// No work ends while the operating system has the processor.
    Noise,
    /// All processors take part in each of the machine's barriers, and go on when the last one has come and
    /// the barrier's cost is paid.
    Barrier,
    /// A processor's calls follow one another from 0 to its end, each of its activities is in a call, and
    /// each call lasts as long as its activities.
    Calls,
    /// A call gets what it asked for: a receive the first message that it wants, a send a message of its
    /// length to its receiver, by a rendezvous if it is longer than S.
    CallResult,
}

impl fmt::Display for AuditRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AuditRule::Names => "messages are numbered, and go from processor to processor",
            AuditRule::OneThing => "a processor does one thing at a time",
            AuditRule::Overhead => "a message costs its overhead",
            AuditRule::Entry => "a message enters when its overhead and its waits are over",
            AuditRule::Gap => "the gap lies between two messages",
            AuditRule::Wait => "nobody waits without a reason",
            AuditRule::Capacity => "the network has a capacity",
            AuditRule::Stall => "a stall ends when there is room",
            AuditRule::Port => "a port carries one message at a time",
            AuditRule::Latency => "a message is under way for the latency",
            AuditRule::Stream => "the last word follows the first",
            AuditRule::Causality => "a message arrives after its send began",
            AuditRule::Reception => "a message is received once, by its receiver",
            AuditRule::Arrival => "a message is received when it is there",
            AuditRule::Order => "no message overtakes another on the same way",
            AuditRule::Request => "a request goes on by itself until it is waited for",
            AuditRule::Noise => "nobody computes in a detour",
            AuditRule::Barrier => "all leave a barrier when the last one has come",
            AuditRule::Calls => "what a processor does, it does in its calls",
            AuditRule::CallResult => "what comes is what was asked for",
        })
    }
}

/// Audits a trace by all rules.
pub fn audit(trace: &Trace) -> Audit {
    let activities = sorted_events(trace);
    let mut auditor = Auditor::new(trace);
    auditor.index_messages();
    auditor.mark_one_sided();
    for track in activities.chunk_by(|a, b| (a.id, a.request) == (b.id, b.request)) {
        auditor.audit_sends(track);
    }
    auditor.send_answers();
    auditor.order_messages();
    for track in activities.chunk_by(|a, b| a.id == b.id) {
        auditor.audit_processor(track);
    }
    auditor.audit_barriers(&activities);
    auditor.audit_messages();
    let [most_in_transit_from, most_in_transit_to] = auditor.audit_capacity();
    auditor.audit_waits();
    if trace.capacity.lasts_until_received() {
        auditor.audit_rooms();
    }
    auditor.audit_calls(&activities);
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

/// Reports the rules that are broken, each as a condition, the rule and the rest of a sentence about `$who`.
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
    pub(super) trace: &'a Trace,
    /// For each level, the most messages in transit from a processor, or to one; `None` if any number may be.
    pub(super) capacities: Vec<Option<usize>>,
    /// The messages, sorted by id.
    pub(super) flights: Vec<Flight<'a>>,
    /// The index of each message among these.
    pub(super) indices: HashMap<MessageId, usize>,
    /// Their indices, in the order in which the messages are served.
    pub(super) order: Vec<usize>,
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
                is_read: is_read(trace, params, message.words),
                stream: stream(params, message.words),
                sent: None,
                received: 0,
                taken: None,
                capacity: capacity(params).map(|_| trace.capacity),
                gap_over: None,
                memory: None,
                asked: None,
                is_one_sided: false,
                not_before: None,
            }
        };
        let mut flights: Vec<Flight> = trace.messages.iter().map(flight).collect();
        flights.sort_by_key(|flight| flight.message.id);
        let levels = trace.levels.iter().map(|level| &level.params);
        let capacities = [&trace.params].into_iter().chain(levels).map(capacity).collect();
        let (indices, order, violations) = (HashMap::new(), Vec::new(), Vec::new());
        Auditor { trace, capacities, flights, indices, order, violations }
    }

    pub(super) fn report(&mut self, rule: AuditRule, sentence: String) {
        self.violations.push(Violation { rule, sentence });
    }

    /// Returns the parameters between two processors.
    pub(super) fn params(&self, x: usize, y: usize) -> &'a Params {
        level(self.trace, x, y).1
    }

    /// Returns the index of a message.
    pub(super) fn index_of(&self, id: MessageId) -> Option<usize> {
        self.indices.get(&id).copied()
    }
}

/// Returns the number and the parameters of the level at which a message goes between two processors. A level
/// of a higher number is further in; the innermost whose groups have both processors in one is theirs.
pub(super) fn level(trace: &Trace, x: usize, y: usize) -> (usize, &Params) {
    let with_both = trace.levels.iter().take_while(|level| x / level.params.P == y / level.params.P);
    let number = with_both.count();
    (number, number.checked_sub(1).map_or(&trace.params, |inner| &trace.levels[inner].params))
}

/// Returns the sender's port and the receiver's at a level. If the groups within the level have one port
/// each, a port is named by its group's first processor.
pub(super) fn ports(trace: &Trace, level: usize, message: &Message) -> [NetworkResource; 2] {
    let within = trace.levels.get(level).filter(|within| within.one_port);
    let ports = level.checked_sub(1).map_or(trace.ports, |inner| trace.levels[inner].ports);
    let of = |id: usize| within.map_or(id, |within| id - id % within.params.P);
    [
        NetworkResource::Port(level, of(message.id.from), false),
        NetworkResource::Port(level, of(message.to), ports == Ports::Dual),
    ]
}

/// Returns whether the receiver of k words reads them from their sender's memory.
fn is_read(trace: &Trace, params: &Params, k: usize) -> bool {
    trace.rendezvous.is_read() && params.gps().is_some_and(|gps| k > gps.S)
}

/// Returns the time from the first to the last of k words (LogP: a word every max(g, o); LogGP: (k-1)G;
/// LogGPS, table 3: kG_s, or sG_s + (k-s)G_l above s).
pub(super) fn stream(params: &Params, k: usize) -> Time {
    match params.long {
        LongMessages::LogP => words(k.saturating_sub(1)) * params.o.max(params.g),
        LongMessages::LogGP { G } => words(k.saturating_sub(1)) * G,
        LongMessages::LogGPS(gps) if k <= gps.s => words(k) * gps.G_s,
        LongMessages::LogGPS(gps) => words(gps.s) * gps.G_s + words(k - gps.s) * gps.G_l,
    }
}

/// Returns the most messages in transit from a processor, or to one: the capacity that was given, or
/// ceil(L/g) (LogP, section 3). Returns `None` if any number may be.
pub(super) fn capacity(params: &Params) -> Option<usize> {
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

/// Converts a number of words to a factor of a time.
pub(super) fn words(k: usize) -> i64 {
    k.try_into().unwrap_or(i64::MAX)
}
