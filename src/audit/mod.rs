//! The auditor: holds the trace of a run against the rules of the machine.
//!
//! It looks at a run from outside. It shares no code with [`network`](crate::rules::network), works out every cost
//! from the bare parameters, and knows no queue, no slot and no reservation: only what happened when. So a
//! mistake in the machine must be made a second time, in another way, to get past it. It compares each
//! processor's local times and no order of events, and so takes the traces of either clock.
//!
//! Whether a message waited with reason is for [`requests`] to say, whether what a program left to go on by itself did so,
//! for [`beside`], and whether the programs' calls say the same as what was done, for [`calls`].
//!
//! Every check sorts and sweeps: an audit of n events takes O(n log n).

mod beside;
mod calls;
mod requests;
mod room;

use std::collections::HashMap;
use std::fmt;

use crate::message::MessageId;
use crate::params::Latency;
use crate::params::Ports;
use crate::params::{LongMessages, Params};
use crate::time::Time;
use crate::trace::{Activity, ActivityKind, Message, Trace};

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
    /// Sending and receiving take exactly o, and kO_s or kO_r more under LogGPS.
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
            Rule::Barrier => "all leave a barrier when the last one has come",
            Rule::Calls => "what a processor does, it does in its calls",
            Rule::Asked => "what comes is what was asked for",
        })
    }
}

/// Holds a trace against every rule.
pub fn audit(trace: &Trace) -> Audit {
    let beside = beside::activities(trace);
    let mut auditor = Auditor::new(trace);
    auditor.name_messages();
    auditor.follow_processors(&trace.activities, &beside);
    auditor.follow_messages();
    auditor.count_transits();
    auditor.watch_ports();
    auditor.watch_barriers(trace);
    auditor.count_stalls();
    auditor.judge_requests(trace);
    auditor.follow_calls(trace);
    auditor.audit
}

/// How long a processor is busy sending k words (LogP: o; LogGPS, table 3: o' + kO_s).
fn send_cost(params: &Params, k: usize) -> Time {
    params.gps().map_or(params.o, |gps| params.o + words(k) * gps.O_s)
}

/// How long a processor is busy receiving k words (LogP: o; LogGPS, table 3: o' + kO_r).
fn receive_cost(params: &Params, k: usize) -> Time {
    params.gps().map_or(params.o, |gps| params.o + words(k) * gps.O_r)
}

/// How long the last of k words comes after the first (LogP: a word every max(g, o); LogGP: (k-1)G; LogGPS, table 3: kG_s, or
/// sG_s + (k-s)G_l above s).
fn spread(params: &Params, k: usize) -> Time {
    match params.long {
        LongMessages::LogP => (words(k) - 1) * params.o.max(params.g),
        LongMessages::LogGP { G } => (words(k) - 1) * G,
        LongMessages::LogGPS(gps) if k <= gps.s => words(k) * gps.G_s,
        LongMessages::LogGPS(gps) => words(gps.s) * gps.G_s + words(k - gps.s) * gps.G_l,
    }
}

/// How many messages may be in transit from a processor, or to it (LogP, section 3: ceil(L/g)).
fn limit(params: &Params) -> Option<usize> {
    let (L, g) = (params.L.as_ps(), params.g.as_ps());
    match (g, L) {
        (..=0, _) => None,
        (_, ..=0) => Some(1),
        _ => Some(((L - 1) / g + 1) as usize),
    }
}

/// A count of words, to multiply a time with.
fn words(k: usize) -> i64 {
    k.try_into().unwrap_or(i64::MAX)
}

/// A message, and what the processors did about it.
struct Flight<'a> {
    message: &'a Message,
    /// How long its last word comes after the first.
    spread: Time,
    /// The sender's overhead for it.
    send: Option<&'a Activity>,
    /// The sender's stall with it, if it stalled.
    stall: Option<&'a Activity>,
    /// The sender's wait for the port with it, if it waited.
    port: Option<&'a Activity>,
    /// Whether its receiver took it.
    received: bool,
}

impl Flight<'_> {
    /// When it was ready, or at least entered.
    fn ready(&self) -> Time {
        self.send.map_or(self.message.enter, |send| send.end)
    }

    /// When it asks for its way: when it is ready, or when it would be there, if a negative G_l makes that earlier.
    fn ask(&self) -> Time {
        self.ready().min(self.ready() + self.message.latency + self.spread)
    }
}

/// A port: a processor's, and whether it is the one for receiving, where there are two.
type PortName = (usize, bool);

/// While a port carries a message.
struct Carriage {
    port: PortName,
    start: Time,
    end: Time,
    id: MessageId,
}

/// An audit under way.
struct Auditor<'a> {
    /// The machine's parameters.
    params: &'a Params,
    /// The machine's ports.
    ports: Ports,
    /// How the machine draws latencies.
    latency: Latency,
    /// The messages, by name.
    flights: Vec<Flight<'a>>,
    /// The place of every sender's first one.
    firsts: HashMap<usize, usize>,
    /// The place of the message that the same sender let enter before, for each.
    before: Vec<Option<usize>>,
    /// From which of its messages on a sender keeps their order.
    in_order: HashMap<usize, usize>,
    /// What was found until now.
    audit: Audit,
}

impl<'a> Auditor<'a> {
    fn new(trace: &'a Trace) -> Auditor<'a> {
        let flight = |message: &'a Message| Flight {
            message,
            spread: spread(&trace.params, message.words),
            send: None,
            stall: None,
            port: None,
            received: false,
        };
        let mut flights: Vec<Flight> = trace.messages.iter().map(flight).collect();
        flights.sort_by_key(|flight| flight.message.id);
        let audit = Audit {
            violations: Vec::new(),
            messages: trace.messages.len(),
            capacity: limit(&trace.params),
            most_in_transit_from: 0,
            most_in_transit_to: 0,
            stalls: 0,
            stalled: Time::ZERO,
            longest_stall: None,
            shortest_stall: None,
            finish: trace.activities.iter().map(|activity| activity.end).max().unwrap_or(Time::ZERO),
            out_of_order: trace.out_of_order,
        };
        let &Trace { ref params, ports, latency, .. } = trace;
        let in_order = beside::in_order(trace);
        Auditor {
            params,
            ports,
            latency,
            flights,
            firsts: HashMap::new(),
            before: Vec::new(),
            in_order,
            audit,
        }
    }

    fn report(&mut self, rule: Rule, sentence: String) {
        self.audit.violations.push(Violation { rule, sentence });
    }

    /// The place of a message: as far behind its sender's first one as its number says, unless some are missing.
    fn find(&self, id: MessageId) -> Option<usize> {
        let place = self.firsts.get(&id.from)?.checked_add(id.number)?;
        if self.flights.get(place).is_some_and(|flight| flight.message.id == id) {
            return Some(place);
        }
        self.flights.binary_search_by_key(&id, |flight| flight.message.id).ok()
    }

    /// The message of the same processor that entered before.
    fn before(&self, flight: usize) -> Option<&Flight<'a>> {
        self.before[flight].map(|before| &self.flights[before])
    }

    /// Whether a message may not be overtaken by the next on the same way, nor overtake the last.
    fn keeps_order(&self, id: MessageId) -> bool {
        self.params.gps().is_some() || self.in_order.get(&id.from).is_some_and(|first| *first <= id.number)
    }

    /// From when on the gap after a message lets its sender's next one enter.
    fn next_entry(&self, flight: &Flight) -> Time {
        flight.message.enter + flight.spread.max(Time::ZERO) + self.params.g
    }

    /// Messages have the names that they should have, each one its own.
    fn name_messages(&mut self) {
        let mut broken = Vec::new();
        self.flights.dedup_by(|second, first| {
            let same = second.message.id == first.message.id;
            if same {
                broken.push(format!("{} was sent twice", second.message.id));
            }
            same
        });
        let mut place = 0;
        for sent in self.flights.chunk_by(|a, b| a.message.id.from == b.message.id.from) {
            self.firsts.insert(sent[0].message.id.from, place);
            place += sent.len();
            let odd = |(number, flight): &(usize, &Flight)| flight.message.id.number != *number;
            if let Some((number, flight)) = sent.iter().enumerate().find(odd) {
                broken.push(format!("{} follows when number {number} is next", flight.message.id));
            }
        }
        for Message { id, to, .. } in self.flights.iter().map(|flight| flight.message) {
            if id.from.max(*to) >= self.params.P {
                broken.push(format!("{id} goes to {to}, and there are {} processors", self.params.P));
            }
        }
        for sentence in broken {
            self.report(Rule::Names, sentence);
        }
    }

    /// The messages of one processor enter in the order of their turns: a request's may enter after one that its processor
    /// turned to later, and of two that enter at the same moment the one that asked first did so first.
    fn order_messages(&mut self) {
        let mut entered: Vec<usize> = (0..self.flights.len()).collect();
        entered.sort_by_key(|place| {
            let flight = &self.flights[*place];
            (flight.message.id.from, flight.message.enter, flight.ask(), flight.message.id.number)
        });
        self.before = vec![None; self.flights.len()];
        for pair in entered.windows(2) {
            let [one, next] = [0, 1].map(|i| self.flights[pair[i]].message.id.from);
            self.before[pair[1]] = (one == next).then_some(pair[0]);
        }
    }

    /// What every processor does, from 0 to its end, and its requests beside it.
    fn follow_processors(&mut self, activities: &'a [Activity], beside: &'a [(u32, Activity)]) {
        let mut requests: HashMap<usize, Vec<&(u32, Activity)>> = HashMap::new();
        for request in beside {
            requests.entry(request.1.id).or_default().push(request);
        }
        let mut activities: Vec<&Activity> = activities.iter().collect();
        // What lasts no time comes before what begins with it.
        activities.sort_by_key(|activity| (activity.id, activity.start, activity.end));
        for did in activities.chunk_by(|a, b| a.id == b.id) {
            self.follow_sends(did);
        }
        for pieces in beside.chunk_by(|a, b| (a.0, a.1.id) == (b.0, b.1.id)) {
            self.follow_sends(&pieces.iter().map(|(_, activity)| activity).collect::<Vec<_>>());
        }
        self.order_messages();
        for did in activities.chunk_by(|a, b| a.id == b.id) {
            let id = did[0].id;
            if id >= self.params.P {
                self.report(Rule::Names, format!("there is no processor {id} to do anything"));
            }
            let beside = requests.remove(&id).unwrap_or_default();
            let beside: Vec<(u32, Vec<&Activity>)> = beside
                .chunk_by(|a, b| a.0 == b.0)
                .map(|pieces| (pieces[0].0, pieces.iter().map(|(_, activity)| activity).collect()))
                .collect();
            self.follow_time(id, did);
            let all = did.iter().chain(beside.iter().flat_map(|(_, pieces)| pieces)).copied();
            let mut received: Vec<&Activity> =
                all.filter(|activity| matches!(activity.what, ActivityKind::Receive(_))).collect();
            received.sort_by_key(|activity| (activity.start, activity.end));
            self.follow_receptions(id, &received);
            self.follow_gaps(id, did, &received);
            for (_, pieces) in &beside {
                self.follow_gaps(id, pieces, &received);
            }
            self.follow_requests(id, did, &beside);
        }
        if let Some((id, _)) = requests.iter().next() {
            self.report(Rule::Request, format!("processor {id} does nothing, and has requests"));
        }
    }

    /// One thing follows the other.
    fn follow_time(&mut self, id: usize, did: &[&Activity]) {
        let mut now = Time::ZERO;
        for activity in did {
            let Activity { start, end, .. } = **activity;
            if start > now {
                self.report(Rule::OneThing, format!("processor {id} does nothing from {now} to {start}"));
            }
            if start < now {
                self.report(Rule::OneThing, format!("processor {id} does two things from {start} to {now}"));
            }
            if end < start {
                self.report(Rule::OneThing, format!("processor {id} goes back from {start} to {end}"));
            }
            now = now.max(end);
        }
    }

    /// A send is an overhead, perhaps a stall, and perhaps a wait for the port.
    fn follow_sends(&mut self, did: &[&'a Activity]) {
        let mut rest = did.iter().copied().peekable();
        while rest.peek().is_some() {
            let send = rest.next_if(|activity| matches!(activity.what, ActivityKind::Send(_)));
            let stall = rest.next_if(|activity| activity.what == ActivityKind::Stall);
            let port = rest.next_if(|activity| activity.what == ActivityKind::Port);
            let parts = [send, stall, port].into_iter().flatten();
            let Some(last) = parts.last() else {
                rest.next();
                continue;
            };
            if let Some(flight) = self.sent(send, last) {
                let flight = &mut self.flights[flight];
                (flight.send, flight.stall, flight.port) = (send, stall, port);
            }
        }
    }

    /// The message with which a processor was busy, until it entered at the end of `last`.
    fn sent(&mut self, send: Option<&Activity>, last: &Activity) -> Option<usize> {
        let (x, enter) = (last.id, last.end);
        let Some(&Activity { what: ActivityKind::Send(id), start, end, .. }) = send else {
            self.report(Rule::Entry, format!("processor {x} waits to send until {enter}, and does not"));
            return None;
        };
        let Some(flight) = self.find(id).filter(|_| id.from == x) else {
            self.report(Rule::Overhead, format!("processor {x} sends {id} at {start}, which it never sent"));
            return None;
        };
        let Flight { message, send, .. } = self.flights[flight];
        if let Some(begun) = send.map(|send| send.start) {
            self.report(Rule::Overhead, format!("processor {x} sends {id} at {begun} and again at {start}"));
            return None;
        }
        let cost = send_cost(self.params, message.words);
        if end - start != cost {
            let took = end - start;
            self.report(Rule::Overhead, format!("{id} takes {took} to send from {start}, and costs {cost}"));
        }
        if message.enter != enter {
            let at = message.enter;
            self.report(Rule::Entry, format!("{id} enters at {at}, and its sender goes on at {enter}"));
        }
        Some(flight)
    }

    /// A reception has its message, its time and its gap.
    fn follow_receptions(&mut self, y: usize, did: &[&Activity]) {
        let g = self.params.g;
        let mut last: Option<Time> = None;
        for activity in did {
            let Activity { start, end, what: ActivityKind::Receive(id), .. } = **activity else { continue };
            if let Some(last) = last.filter(|last| start < *last + g) {
                let sentence = format!("processor {y} begins receptions at {last} and {start}, and g = {g}");
                self.report(Rule::Gap, sentence);
            }
            last = Some(start);
            let Some(flight) = self.find(id) else {
                self.report(Rule::Reception, format!("processor {y} receives {id} at {start}, never sent"));
                continue;
            };
            let Message { to, words, arrival, .. } = *self.flights[flight].message;
            if to != y {
                let sentence = format!("processor {y} receives {id} at {start}, which was sent to {to}");
                self.report(Rule::Reception, sentence);
                continue;
            }
            if std::mem::replace(&mut self.flights[flight].received, true) {
                self.report(Rule::Reception, format!("processor {y} receives {id} again at {start}"));
            }
            if start < arrival {
                let sentence = format!("processor {y} receives {id} at {start}, there at {arrival}");
                self.report(Rule::Arrival, sentence);
            }
            let (cost, took) = (receive_cost(self.params, words), end - start);
            if took != cost {
                let sentence = format!("{id} takes {took} to receive from {start}, and costs {cost}");
                self.report(Rule::Overhead, sentence);
            }
        }
    }

    /// A processor that waits for the gap sends or receives as soon as that is over.
    fn follow_gaps(&mut self, x: usize, did: &[&Activity], received: &[&Activity]) {
        let g = self.params.g;
        let before = |start: Time| {
            let before = received.partition_point(|reception| reception.start < start);
            before.checked_sub(1).map(|place| received[place].start)
        };
        // Where G_l takes time back, a message may ask before it is ready; one that goes after another may wait for that.
        let waits_to_ask = self.params.gps().is_some_and(|gps| gps.G_l < Time::ZERO);
        for (place, activity) in did.iter().enumerate() {
            if activity.what != ActivityKind::Gap {
                continue;
            }
            let until = activity.end;
            let next = did.get(place + 1);
            let (over, goes_on) = match next.map(|next| (&next.what, next)) {
                Some((ActivityKind::Send(id), next)) => {
                    let before = self.find(*id).and_then(|flight| self.before(flight));
                    (before.map(|before| self.next_entry(before)), next.end)
                }
                Some((ActivityKind::Receive(_), next)) => (before(next.start).map(|at| at + g), next.start),
                _ => (None, until),
            };
            match over {
                Some(over) if over == goes_on => {}
                _ if waits_to_ask => {}
                Some(over) => {
                    let sentence = format!("processor {x} could go on at {over}, and does so at {goes_on}");
                    self.report(Rule::Wait, sentence);
                }
                None => self.report(Rule::Wait, format!("processor {x} waits until {until} for no gap")),
            }
        }
    }

    /// Every message's own way, and the distance to the one before.
    fn follow_messages(&mut self) {
        let L = self.params.L;
        for place in 0..self.flights.len() {
            let Flight { message, spread, send, received, .. } = self.flights[place];
            let &Message { id, to, latency, enter, first, arrival, .. } = message;
            // The gap comes before the overhead's end, and not after it as the stall does.
            let ready = self.flights[place].ready();
            if let Some(over) = self.before(place).map(|before| self.next_entry(before))
                && ready < over
            {
                let sentence = format!("{id} is ready at {ready}, and the gap before it ends at {over}");
                self.report(Rule::Gap, sentence);
            }
            let shortest = if self.latency == Latency::Exact { L } else { Time::ZERO };
            // A long message may have to wait for the port; then `judge_requests` looks why.
            let soonest = enter + latency;
            if latency < shortest
                || latency > L
                || first < soonest
                || (first > soonest && spread <= Time::ZERO && !self.keeps_order(id))
            {
                let drawn = if latency == L { String::new() } else { format!(" after {latency}") };
                let sentence = format!("{id} enters at {enter} and comes out at {first}{drawn}, and L = {L}");
                self.report(Rule::Latency, sentence);
            }
            if arrival != first + spread {
                let sentence = format!("{id} comes out from {first} to {arrival}, and that takes {spread}");
                self.report(Rule::Stream, sentence);
            }
            match send.map(|send| send.start) {
                Some(begun) if arrival < begun => {
                    let sentence = format!("{id} arrives at {arrival}, and its send began at {begun}");
                    self.report(Rule::Causality, sentence);
                }
                None => {
                    self.report(Rule::Overhead, format!("{id} enters at {enter}, and nobody sent it"));
                }
                _ => {}
            }
            if !received {
                let sentence = format!("{id} to {to}, there at {arrival}, is never received");
                self.report(Rule::Reception, sentence);
            }
        }
    }

    /// How many messages are in transit from one processor, and to one.
    fn count_transits(&mut self) {
        self.audit.most_in_transit_from = self.count_transits_at("from", |message| message.id.from);
        self.audit.most_in_transit_to = self.count_transits_at("to", |message| message.to);
    }

    /// A message is in transit during [enter, arrival), and one of its ends is `at` a processor.
    fn count_transits_at(&mut self, side: &str, at: impl Fn(&Message) -> usize) -> usize {
        let mut changes = Vec::new();
        for Flight { message, .. } in self.flights.iter().filter(|f| f.message.enter < f.message.arrival) {
            changes.push((at(message), message.enter, true, message.id));
            changes.push((at(message), message.arrival, false, message.id));
        }
        changes.sort_unstable(); // at the same time a message leaves before another comes
        let capacity = self.audit.capacity.unwrap_or(usize::MAX);
        let mut most = 0;
        for of_one in changes.chunk_by(|a, b| a.0 == b.0) {
            let mut now = 0;
            for &(end, time, enters, id) in of_one {
                if !enters {
                    now -= 1;
                    continue;
                }
                now += 1;
                most = most.max(now);
                if now == capacity.saturating_add(1) {
                    let sentence = format!("{id} is in transit {side} processor {end} from {time}");
                    self.report(Rule::Capacity, format!("{sentence}, one above {capacity}"));
                }
            }
        }
        most
    }

    /// A long message occupies a port at both ends.
    fn watch_ports(&mut self) {
        let dual = self.ports == Ports::Dual;
        let mut carriages = Vec::new();
        for &Flight { message, spread, .. } in &self.flights {
            let &Message { id, to, enter, first, arrival, .. } = message;
            if spread > Time::ZERO {
                carriages.push(Carriage { port: (id.from, false), start: enter, end: enter + spread, id });
                carriages.push(Carriage { port: (to, dual), start: first, end: arrival, id });
            }
        }
        carriages.sort_by_key(|carriage| (carriage.port, carriage.start));
        for of_one in carriages.chunk_by(|a, b| a.port == b.port) {
            let mut last = &of_one[0];
            for next in &of_one[1..] {
                if next.start < last.end {
                    let one = format!("{} until {}", last.id, last.end);
                    let other = format!("{} from {}", next.id, next.start);
                    self.report(Rule::Port, format!("processor {}'s carries {one} and {other}", next.port.0));
                }
                if next.end > last.end {
                    last = next;
                }
            }
        }
    }

    /// The n-th barrier of every processor is the same one: it ends for all when the last one has come, and
    /// its cost later.
    fn watch_barriers(&mut self, trace: &Trace) {
        let barrier =
            |activity: &&Activity| activity.what == ActivityKind::Barrier && activity.id < self.params.P;
        let mut taken: Vec<&Activity> = trace.activities.iter().filter(barrier).collect();
        taken.sort_by_key(|activity| (activity.id, activity.start, activity.end));
        let Some(cost) = trace.barrier else {
            for Activity { id, start, .. } in taken {
                let sentence = format!("processor {id} waits in one at {start}, and the machine has none");
                self.report(Rule::Barrier, sentence);
            }
            return;
        };
        let of_all: Vec<&[&Activity]> = taken.chunk_by(|a, b| a.id == b.id).collect();
        let most = of_all.iter().map(|of_one| of_one.len()).max().unwrap_or(0);
        let mut missing = (0..self.params.P).filter(|id| {
            let place = of_all.binary_search_by_key(id, |of_one| of_one[0].id);
            place.map_or(0, |place| of_all[place].len()) < most
        });
        if let Some(id) = missing.next() {
            let others = missing.count();
            let sentence =
                format!("processor {id} takes part in fewer than {most}, and so do {others} others");
            self.report(Rule::Barrier, sentence);
            return; // nobody knows which one it missed
        }
        for number in 0..most {
            let last = of_all.iter().map(|of_one| of_one[number]).max_by_key(|activity| activity.start);
            let Some(&Activity { id: last, start: came, .. }) = last else { continue };
            let over = came + cost;
            for Activity { id, end, .. } in of_all.iter().map(|of_one| of_one[number]) {
                if *end != over {
                    let sentence = format!("processor {id} leaves number {number} at {end}, not at {over}");
                    let why = format!("processor {last} comes at {came}, and it costs {cost}");
                    self.report(Rule::Barrier, format!("{sentence}: {why}"));
                }
            }
        }
    }

    /// How often the processors stalled, and for how long.
    fn count_stalls(&mut self) {
        for &Activity { start, end, .. } in self.flights.iter().filter_map(|flight| flight.stall) {
            let length = end - start;
            self.audit.stalls += 1;
            self.audit.stalled += length;
            self.audit.longest_stall = self.audit.longest_stall.max(Some(length));
            let shortest = self.audit.shortest_stall.map_or(length, |shortest| shortest.min(length));
            self.audit.shortest_stall = Some(shortest);
        }
    }
}
