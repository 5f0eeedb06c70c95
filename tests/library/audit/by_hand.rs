//! Traces made without the machine: requests served one after the other, by counting moment by moment. The
//! auditor accepts them, and notices a message that waits a picosecond too long or is served out of turn.

use loggp::audit::{AuditRule, audit};
use loggp::params::{LogGps, Precedence};
use loggp::trace::{Activity, ActivityKind, Message, Trace};
use loggp::{Capacity, Latency, MessageId, Params, Ports, Protocol, Ties, Time};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::cases::cases;

/// A planned send: the work before it, the receiver, the words, and the draw of its latency.
type PlannedSend = (i64, Index, usize, Index);

/// The sends of each processor, and the machine. Times are small numbers of picoseconds.
#[derive(Clone, Debug)]
struct Plan {
    params: Params,
    ports: Ports,
    latency: Latency,
    sends: Vec<Vec<PlannedSend>>,
}

/// The order in which messages are served.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ServiceOrder {
    /// By the time of asking, and then the lower number first.
    Right,
    /// By the time of the call.
    Called,
    /// By the time of asking, and then the higher number first.
    Backwards,
}

/// A fault in serving a message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It enters later than it could, and the rest is recorded as a stall.
    LongStall,
    /// Its stall ends a picosecond early, and the rest is recorded as a wait for the port.
    ShortStall,
    /// It enters later than it could, and the rest is recorded as a wait for the port.
    LongWait,
    /// It comes out later than it could.
    LateFirst,
}

/// A message that asks for entry.
struct PlannedRequest {
    from: usize,
    to: usize,
    words: usize,
    overhead: i64,
    spread: i64,
    latency: i64,
    /// Time at which its send begins.
    called: i64,
    ready: i64,
    ask: i64,
}

/// The times of a message's passage through the network.
struct PassageTimes {
    admitted: i64,
    enter: i64,
    first: i64,
}

/// A message that was served.
struct Served {
    from: usize,
    to: usize,
    enter: i64,
    first: i64,
    arrival: i64,
    spread: i64,
}

impl Plan {
    /// Returns the next message of processor `from`, if it is free at `now` and its gap is over at
    /// `out_free`.
    fn request(&self, from: usize, number: usize, now: i64, out_free: i64) -> Option<PlannedRequest> {
        let &(work, to, words, drawn) = self.sends[from].get(number)?;
        let Params { L, o, .. } = self.params;
        let words = words.min(self.params.longest_message().unwrap_or(usize::MAX));
        let k = words as i64;
        let (overhead, spread) = match self.params.gps() {
            None => (o.as_ps(), (k - 1) * self.params.G().unwrap().as_ps()),
            Some(gps) => {
                let short = k.min(gps.s as i64);
                let spread = short * gps.G_s.as_ps() + (k - short) * gps.G_l.as_ps();
                (o.as_ps() + k * gps.O_s.as_ps(), spread)
            }
        };
        let least = (-overhead - spread).max(0);
        let latency = match self.latency {
            Latency::Exact => L.as_ps(),
            _ => least + drawn.index((L.as_ps() - least) as usize + 1) as i64,
        };
        let called = now + work;
        let ready = out_free.max(called + overhead);
        let ask = ready.min(ready + latency + spread);
        let to = to.index(self.params.P);
        Some(PlannedRequest { from, to, words, overhead, spread, latency, called, ready, ask })
    }

    /// Returns the earliest passage left by the messages served before, or a later one with a fault.
    fn passage_times(
        &self,
        served: &[Served],
        request: &PlannedRequest,
        fault: Option<Fault>,
    ) -> PassageTimes {
        let &PlannedRequest { from, to, spread, latency, ready, .. } = request;
        let dual = self.ports == Ports::Dual;
        let capacity = self.params.capacity().unwrap_or(usize::MAX);
        let apart = |(a, b): (i64, i64), (c, d): (i64, i64)| b <= c || d <= a;
        let free = |port: (usize, bool), during: (i64, i64)| {
            served.iter().filter(|other| other.spread > 0).all(|other| {
                let out =
                    (other.from, false) != port || apart((other.enter, other.enter + other.spread), during);
                out && ((other.to, dual) != port || apart((other.first, other.arrival), during))
            })
        };
        let leaves = |enter: i64| spread <= 0 || free((from, false), (enter, enter + spread));
        let comes_out = |enter: i64, first: i64| {
            let during = (first, first + spread);
            let itself = (from, false) == (to, dual) && !apart((enter, enter + spread), during);
            spread <= 0 || (free((to, dual), during) && !itself)
        };
        // Under LogGPS no message overtakes another on the same way.
        let ahead =
            served.iter().filter(|other| self.params.gps().is_some() && (other.from, other.to) == (from, to));
        let ahead = ahead.map(|other| other.arrival - spread).max().unwrap_or(0);
        let first =
            |enter: i64| (ahead.max(enter + latency)..).find(|first| comes_out(enter, *first)).unwrap();
        let room = |enter: i64| {
            (enter..first(enter) + spread).all(|moment| {
                let under_way = |other: &&Served| (other.enter..other.arrival).contains(&moment);
                let mine = served.iter().filter(under_way).filter(|other| other.from == from).count();
                let its = served.iter().filter(under_way).filter(|other| other.to == to).count();
                mine.max(its) < capacity
            })
        };
        let mut admitted = (ready..).find(|enter| room(*enter)).unwrap();
        let mut enter = (ready..).find(|enter| leaves(*enter) && room(*enter)).unwrap();
        if let Some(Fault::LongStall | Fault::LongWait) = fault {
            enter = (enter + 1..).find(|enter| leaves(*enter) && room(*enter)).unwrap();
        }
        match fault {
            Some(Fault::LongStall) => admitted = enter,
            Some(Fault::ShortStall) => admitted = ready.max(admitted - 1),
            _ => {}
        }
        let mut first = first(enter);
        if fault == Some(Fault::LateFirst) {
            first = (first + 1..).find(|first| comes_out(enter, *first)).unwrap();
        }
        PassageTimes { admitted, enter, first }
    }

    /// Serves one request after the other; `wrong` is the number of one and its fault.
    fn trace(&self, order: ServiceOrder, wrong: Option<(usize, Fault)>) -> Trace {
        let (P, g) = (self.params.P, self.params.g.as_ps());
        let mut did: Vec<Vec<(i64, i64, ActivityKind)>> = vec![Vec::new(); P];
        let mut sent: Vec<Vec<Message>> = vec![Vec::new(); P];
        let mut out_free = vec![0; P];
        let mut served: Vec<Served> = Vec::new();
        loop {
            let now = |id: usize| did[id].last().map_or(0, |(_, end, _)| *end);
            let next = (0..P).filter_map(|id| self.request(id, sent[id].len(), now(id), out_free[id]));
            let next = next.min_by_key(|request| match order {
                ServiceOrder::Right => (request.ask, request.from as i64),
                ServiceOrder::Called => (request.called, request.from as i64),
                ServiceOrder::Backwards => (request.ask, -(request.from as i64)),
            });
            let Some(request) = next else { break };
            let fault = wrong.filter(|(n, _)| *n == served.len()).map(|(_, fault)| fault);
            let PassageTimes { admitted, enter, first } = self.passage_times(&served, &request, fault);
            let PlannedRequest { from, to, words, overhead, spread, latency, called, ready, .. } = request;
            let id = MessageId { from, number: sent[from].len() };
            let mut now = now(from);
            for (end, what) in [
                (called, ActivityKind::Work("think".into())),
                (ready - overhead, ActivityKind::Gap),
                (ready, ActivityKind::Send(id)),
                (admitted, ActivityKind::Stall),
                (enter, ActivityKind::Port),
            ] {
                if now < end || what == ActivityKind::Send(id) {
                    did[from].push((now, end, what));
                }
                now = end;
            }
            let arrival = first + spread;
            let [enter_at, first_at, arrival_at] = [enter, first, arrival].map(Time::from_ps);
            let latency = Time::from_ps(latency);
            sent[from].push(Message {
                id,
                to,
                words,
                latency,
                place: from,
                enter: enter_at,
                first: first_at,
                arrival: arrival_at,
            });
            served.push(Served { from, to, enter, first, arrival, spread });
            out_free[from] = enter + spread.max(0) + g;
        }
        let messages: Vec<Message> = sent.concat();
        for (id, did) in did.iter_mut().enumerate() {
            self.receive_all(did, messages.iter().filter(|message| message.to == id));
        }
        let activity = |id: usize, (start, end, kind): (i64, i64, ActivityKind)| {
            let [start, end] = [start, end].map(Time::from_ps);
            Activity { id, start, end, kind }
        };
        let did = did.into_iter().enumerate();
        let activities =
            did.flat_map(|(id, did)| did.into_iter().map(move |deed| activity(id, deed))).collect();
        let Plan { params, ports, latency, .. } = *self;
        let ties = Ties::Number;
        Trace {
            params,
            levels: Vec::new(),
            ports,
            rendezvous: Protocol::Push,
            capacity: Capacity::Arrived,
            latency,
            ties,
            precedence: Precedence::new(),
            noise: None,
            faults: Default::default(),
            barrier: None,
            out_of_order: 0,
            reaches_memories: false,
            caption: None,
            activities,
            progress: Vec::new(),
            messages,
            calls: vec![],
        }
    }

    /// Lets a processor that has sent everything receive everything.
    fn receive_all<'a>(
        &self,
        did: &mut Vec<(i64, i64, ActivityKind)>,
        messages: impl Iterator<Item = &'a Message>,
    ) {
        let mut messages: Vec<&Message> = messages.collect();
        messages.sort_by_key(|message| (message.arrival, message.id));
        let mut gap_over = 0;
        for message in messages {
            let now = did.last().map_or(0, |(_, end, _)| *end);
            let there = now.max(message.arrival.as_ps());
            let start = there.max(gap_over);
            let per_word = self.params.gps().map_or(0, |gps| gps.O_r.as_ps());
            let end = start + self.params.o.as_ps() + message.words as i64 * per_word;
            let waits = [(now, there, ActivityKind::Idle), (there, start, ActivityKind::Gap)];
            did.extend(waits.into_iter().filter(|(start, end, _)| start < end));
            did.push((start, end, ActivityKind::Receive(message.id)));
            gap_over = start + self.params.g.as_ps();
        }
    }
}

/// Draws short times, so that much happens at once.
fn short(times: std::ops::Range<i64>) -> impl Strategy<Value = Time> {
    times.prop_map(Time::from_ps)
}

fn sends() -> impl Strategy<Value = Vec<Vec<PlannedSend>>> {
    let words = prop_oneof![Just(1_usize), 0..6_usize];
    vec(vec((0..6_i64, any::<Index>(), words, any::<Index>()), 0..6), 2..5)
}

/// LogP and LogGP.
fn loggp(L: std::ops::Range<i64>, latency: impl Strategy<Value = Latency>) -> impl Strategy<Value = Plan> {
    let times = (short(L), short(0..4), short(0..5), short(0..4));
    (times, super::ports(), latency, sends()).prop_map(|((L, o, g, G), ports, latency, mut sends)| {
        // No message is shorter than a word.
        sends.iter_mut().flatten().for_each(|(_, _, words, _)| *words = (*words).max(1));
        let params = Params::builder(sends.len()).L(L).o(o).g(g).G(G).build().unwrap();
        Plan { params, ports, latency, sends }
    })
}

/// LogGPS, with a G_l of either sign.
fn loggps() -> impl Strategy<Value = Plan> {
    let times = (short(0..9), short(0..4), short(0..5));
    let per_word = (short(0..3), short(0..3), short(0..3), short(-3..4), 0..4_usize);
    (times, per_word, super::ports(), super::latency(), sends()).prop_filter_map(
        "cannot be",
        |((L, o, g), (O_s, O_r, G_s, G_l, s), ports, latency, sends)| {
            let gps = LogGps { s, S: 100, O_s, O_r, G_s, G_l };
            let params = Params::builder(sends.len()).L(L).o(o).g(g).gps(gps).build().ok()?;
            Some(Plan { params, ports, latency, sends })
        },
    )
}

fn exact() -> impl Strategy<Value = Plan> {
    loggp(1..9, Just(Latency::Exact))
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn accepts_waits_with_reason(plan in prop_oneof![loggp(0..9, super::latency()), loggps()]) {
        let trace = plan.trace(ServiceOrder::Right, None);
        prop_assert_eq!(audit(&trace).violations, [], "{:#?}", trace);
    }

    /// One message waits too long, or for something else than is recorded; all others cope with that.
    #[test]
    fn notices_waits_that_are_too_long(
        plan in exact(),
        nth in any::<Index>(),
        fault in select(vec![Fault::LongStall, Fault::ShortStall, Fault::LongWait, Fault::LateFirst]),
    ) {
        let sends = plan.sends.iter().flatten().count();
        prop_assume!(sends > 0);
        let genuine = plan.trace(ServiceOrder::Right, None);
        let trace = plan.trace(ServiceOrder::Right, Some((nth.index(sends), fault)));
        prop_assume!(trace != genuine);
        // Without calls in the trace the sends could be those of requests, which would wait for the one
        // before.
        let in_order = trace.messages.iter().zip(&genuine.messages).any(|(late, other)| {
            let with = |one: &&Message| (one.id.from, one.to, one.arrival) == (late.id.from, late.to, late.arrival);
            late != other && trace.messages.iter().filter(with).count() > 1
        });
        prop_assume!(fault != Fault::LateFirst || !in_order);
        let mut rules: Vec<AuditRule> = audit(&trace).violations.iter().map(|violation| violation.rule).collect();
        let rule = match fault {
            Fault::LongStall | Fault::ShortStall => AuditRule::Stall,
            Fault::LongWait => AuditRule::Wait,
            Fault::LateFirst => AuditRule::Latency,
        };
        // A message that comes out late may be in transit too long as well.
        rules.retain(|found| fault != Fault::LateFirst || *found != AuditRule::Capacity);
        prop_assert_eq!(rules, [rule], "{:#?}", trace);
    }

    #[test]
    fn notices_service_out_of_turn(
        plan in exact(),
        order in select(vec![ServiceOrder::Called, ServiceOrder::Backwards]),
    ) {
        let trace = plan.trace(order, None);
        let same = trace == plan.trace(ServiceOrder::Right, None);
        prop_assert_eq!(audit(&trace).is_clean(), same, "{:#?}", trace);
        // If the turns are unknown, this order is possible.
        prop_assert_eq!(audit(&Trace { out_of_order: 1, ..trace }).violations, []);
    }
}
