//! Stress: programs that send too much to one place, or too much at once, and the effect of the capacity on
//! them.
//!
//! "No more than ceil(L/g) messages can be in transit from any processor or to any processor at any time. If
//! a processor attempts to transmit a message that would exceed this limit, it stalls until the message can
//! be sent" (LogP, section 3). These patterns exceed it on purpose. Every message is a word with its own
//! data, and every processor compares what it received with what was sent to it.

use std::iter;

use loggp::audit::audit;
use loggp::trace::{ActivityKind, Trace};
use loggp::{Params, Payload, Proc, RunError, Tag, Time, US, Work};

use crate::option::CustomKind;
use crate::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, Metric, Opt, Outcome, Plan, PlanResult, Predict,
    Program, Size,
};

/// The patterns. [`Outcome::audit`] has the audit of a run.
pub static STRESS: Program = Program {
    name: "stress",
    about: "everyone sends too much to one place, or too much at once (LogP, section 3)",
    algorithms: &[
        Algorithm {
            name: ALL_TO_ONE,
            about: "everyone sends to processor 0, which only receives",
            formula: ClosedForm::Ours("L + 2o + (n-1) max(g, o), with n = (P-1) times the size"),
            plan: |case| Stress::plan(case, all_to_one, hot_spot_time),
        },
        Algorithm {
            name: "bursts",
            about: "everyone sends four messages in a row to a random processor, pauses, and goes on with another",
            formula: ClosedForm::None("receivers are random"),
            plan: |case| Stress::plan(case, bursts, |_| None),
        },
        Algorithm {
            name: "fft-naive",
            about: "everyone sends its messages for 0, then those for 1 ..., as in the FFT's naive remap \
                    (LogP, section 4.1.2)",
            formula: ClosedForm::None("the order of who stalls has no closed form"),
            plan: |case| Stress::plan(case, fft_naive, |_| None),
        },
        Algorithm {
            name: "h-relation",
            about: "everyone sends h messages and receives h, to and from random processors",
            formula: ClosedForm::None("receivers are random"),
            plan: |case| Stress::plan(case, h_relation, |_| None),
        },
        Algorithm {
            name: STEADY,
            about: "everyone starts messages to random processors at a steady rate (LogP, section 5.3)",
            formula: ClosedForm::None("receivers are random"),
            plan: |case| Stress::plan(case, steady, |_| None),
        },
    ],
    size: Size { meaning: "messages that each processor sends", default: 8 },
    options: &[&RATE],
    work: Work::Charged, // it counts no computation
};

/// The option for the rate of messages.
pub static RATE: Opt<f64> = Opt::new(
    "rate",
    "RATE",
    "of steady: how many messages each processor starts per max(g, 2o), the most that it can send and receive",
    0.5,
    &CustomKind { read: parse_rate, write: f64::to_string },
)
.for_algorithms(&[STEADY]);

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.001..=1000.0).contains(rate));
    rate.ok_or_else(|| "it is no rate; give a number from 0.001 to 1000, such as 0.5".into())
}

/// A metric: the number of messages that the busiest receiver took per max(g, o), from its first reception to
/// its last. It is at most 1, by the rules. There is none for fewer than two messages, and where max(g, o) is
/// 0.
pub const THROUGHPUT: &str = "throughput";

/// A metric: the average time of a message from when its sender meant to start it, stalls included, until its
/// reception.
pub const LATENCY: &str = "latency";

/// A metric: the longest such time of a message.
pub const LONGEST_LATENCY: &str = "longest latency";

/// Name of the pattern that has a rate.
pub const STEADY: &str = "steady";

/// Name of the pattern in which one processor only receives.
const ALL_TO_ONE: &str = "all-to-one";

/// The receivers of every processor's messages, in bursts, with a pause after each burst but the last.
type Receivers = Vec<Vec<Vec<usize>>>;

type DrawReceivers = fn(&Case, &mut fastrand::Rng) -> Receivers;

/// Messages of a burst.
const BURST: usize = 4;
const WORD: Tag<StressMessage> = Tag::named(0, "letter");
/// Most messages of a run.
const MOST_MESSAGES: usize = 1 << 22;

/// The plan of a case.
struct Stress<'a> {
    case: &'a Case,
    /// Draws the receivers.
    receivers: DrawReceivers,
    /// Returns the time of the run, or `None` where there is no formula.
    formula: fn(&Case) -> Option<Time>,
    /// Time between the beginnings of two bursts, if they begin at a steady rate.
    interval: Option<Time>,
}

impl Stress<'_> {
    fn plan(case: &Case, receivers: DrawReceivers, formula: fn(&Case) -> Option<Time>) -> PlanResult<'_> {
        let (P, size) = (case.params.P, case.size);
        let rate = case.get(&RATE);
        if case.algorithm.name != ALL_TO_ONE {
            case.setting().check_eager()?;
        }
        let interval = (case.algorithm.name == STEADY).then(|| interval_at(rate, &case.params));
        match P.checked_mul(size) {
            _ if P < 2 => refuse!("a processor alone stresses nobody; give at least 2"),
            Some(0) => refuse!("a load of 0 sends nothing; give at least 1"),
            Some(messages) if messages <= MOST_MESSAGES => {
                Ok(Box::new(Stress { case, receivers, formula, interval }))
            }
            _ => refuse!(
                "{P} processors with {size} messages each are too much; give at most {MOST_MESSAGES} messages"
            ),
        }
    }
}

impl Predict for Stress<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        Some((FormKind::Exact, (self.formula)(self.case)?))
    }
}

impl Plan for Stress<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let receivers = (self.receivers)(self.case, &mut fastrand::Rng::with_seed(self.case.seed));
        let sent = expected_mail(self.case, &receivers);
        let machine = self.case.machine(&Emulation { trace: true, ..emulation.clone() });
        let run = machine.measure(|p| stress(p, self.case, self.interval, &receivers, &sent))?;
        let (mut run, received) = run.take_results();
        let trace = run.trace.take().expect("the run was traced");
        let audit = audit(&trace);
        let violation = audit.violations.first().map_or(Ok(()), |violation| Err(violation.to_string()));
        let verified = verify(&sent, &received).and(violation);
        let throughput = throughput(&trace).map(|value| Metric { name: THROUGHPUT, unit: "", value });
        run.trace = emulation.trace.then_some(trace);
        let metrics = throughput.into_iter().chain(latencies(&received)).collect();
        Ok(Outcome { metrics, audit: Some(audit), ..Outcome::new(run, verified) })
    }
}

/// The messages that a processor received: their number, a checksum of their texts, and their times since
/// their senders meant to send.
#[derive(Clone, Copy, Debug, Default)]
struct ReceivedMail {
    count: usize,
    checksum: u64,
    /// Sum of their times.
    latency: Time,
    longest_latency: Time,
}

impl ReceivedMail {
    /// Adds a message that is received now. The checksum includes the sender, so that the right text from the
    /// wrong processor is noticed.
    fn add(&mut self, now: Time, from: usize, message: StressMessage) {
        self.count += 1;
        self.checksum = self.checksum.wrapping_add(message.text.rotate_left(from as u32 % 64));
        let latency = now - message.due;
        self.latency += latency;
        self.longest_latency = self.longest_latency.max(latency);
    }
}

/// Returns the metrics [`LATENCY`] and [`LONGEST_LATENCY`].
fn latencies(received: &[ReceivedMail]) -> impl Iterator<Item = Metric> + use<> {
    let count: usize = received.iter().map(|mail| mail.count).sum();
    let sum: Time = received.iter().map(|mail| mail.latency).sum();
    let longest = received.iter().map(|mail| mail.longest_latency).max().unwrap_or_default();
    let us = |name, value| Metric { name, unit: "us", value };
    let mean = us(LATENCY, sum.in_units(US) / count.max(1) as f64);
    [mean, us(LONGEST_LATENCY, longest.in_units(US))].into_iter().filter(move |_| count > 0)
}

/// A message: a word with a text.
#[derive(Clone, Copy)]
struct StressMessage {
    text: u64,
    /// Time at which the sender meant to send the message. This is not sent, but noted.
    due: Time,
    /// Bytes in a word of the machine.
    word: usize,
}

impl StressMessage {
    /// Creates a message with this text, or as much of it as fits into a word.
    fn new(text: u64, word: usize) -> StressMessage {
        let bits = 8 * word.min(8) as u32;
        StressMessage { text: text >> (u64::BITS - bits), due: Time::ZERO, word }
    }

    /// Returns the messages of processor `from`, in order.
    fn sequence(from: usize, case: &Case) -> impl Iterator<Item = StressMessage> {
        let mut rng =
            fastrand::Rng::with_seed(case.seed ^ (from as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let word = case.params.word.get();
        iter::repeat_with(move || StressMessage::new(rng.u64(..), word))
    }
}

impl Payload for StressMessage {
    fn bytes(&self) -> usize {
        self.word
    }
}

/// Returns the messages that each processor must receive.
fn expected_mail(case: &Case, receivers: &Receivers) -> Vec<ReceivedMail> {
    let mut mail = vec![ReceivedMail::default(); case.params.P];
    for (from, bursts) in receivers.iter().enumerate() {
        for (&to, message) in bursts.iter().flatten().zip(StressMessage::sequence(from, case)) {
            mail[to].add(message.due, from, message);
        }
    }
    mail
}

/// Runs the pattern on one processor: it sends its bursts, receives meanwhile what arrives, and then receives
/// the rest.
fn stress(
    p: &mut Proc,
    case: &Case,
    interval: Option<Time>,
    receivers: &Receivers,
    sent: &[ReceivedMail],
) -> ReceivedMail {
    let (bursts, expected) = (&receivers[p.id()], sent[p.id()].count);
    let mut messages = StressMessage::sequence(p.id(), case);
    let mut mail = ReceivedMail::default();
    for (i, burst) in bursts.iter().enumerate() {
        // At a steady rate processors begin one after the other; else there is a pause after a burst.
        let due = match interval {
            Some(interval) => Some(i as i64 * interval + part_of(interval, p.id(), p.P())),
            None if i > 0 => Some(p.now() + BURST as i64 * shortest_gap(p.params())),
            None => None,
        };
        while let Some((from, message)) = due.and_then(|due| receive_before(p, due)) {
            mail.add(p.now(), from, message);
        }
        for (&to, message) in burst.iter().zip(&mut messages) {
            let due = if interval.is_some() { due.unwrap_or_default() } else { p.now() };
            let message = StressMessage { due, ..message };
            p.send_receiving(to, WORD, message, WORD.with_sender(), |p, (from, message)| {
                mail.add(p.now(), from, message)
            });
        }
    }
    while mail.count < expected {
        let (from, message) = p.recv_with_sender(WORD);
        mail.add(p.now(), from, message);
    }
    mail
}

/// Receives a message if one arrives before this time.
fn receive_before(p: &mut Proc, time: Time) -> Option<(usize, StressMessage)> {
    while p.now() < time {
        if let Some(received) = p.recv_deadline(WORD.with_sender(), time) {
            return Some(received);
        }
    }
    None
}

/// Returns where the id-th of P equal parts of a time begins.
fn part_of(time: Time, id: usize, P: usize) -> Time {
    Time::from_ps((i128::from(time.as_ps()) * id as i128 / P as i128) as i64)
}

/// Checks that every processor received its messages.
fn verify(sent: &[ReceivedMail], received: &[ReceivedMail]) -> Result<(), String> {
    let content = |mail: &ReceivedMail| (mail.count, mail.checksum);
    let mut pairs = sent.iter().zip(received);
    let wrong = pairs.position(|(sent, received)| content(sent) != content(received));
    let Some(id) = wrong else { return Ok(()) };
    let (count, expected) = (received[id].count, sent[id].count);
    Err(match count == expected {
        true => format!("the {count} messages that processor {id} got say something else than was sent"),
        false => format!("processor {id} got {count} messages, and {expected} were sent to it"),
    })
}

/// Returns the shortest time between two short messages of a processor.
fn shortest_gap(params: &Params) -> Time {
    params.g.max(params.o)
}

/// Returns the time between a processor's messages at a rate. At rate 1 it is the time to send one and
/// receive one.
fn interval_at(rate: f64, params: &Params) -> Time {
    let most = params.g.max(2 * params.o);
    Time::from_ps((most.as_ps() as f64 / rate) as i64)
}

/// Returns the metric [`THROUGHPUT`].
fn throughput(trace: &Trace) -> Option<f64> {
    let mut receptions = vec![Vec::new(); trace.params.P];
    for activity in &trace.activities {
        if let ActivityKind::Receive(_) = activity.kind {
            receptions[activity.id].push(activity.start);
        }
    }
    let busiest = receptions.iter().max_by_key(|starts| starts.len())?;
    let (first, last) = (busiest.first()?, busiest.last()?);
    let most = (busiest.len() as i64 - 1) * shortest_gap(&trace.params);
    (most > Time::ZERO).then(|| most.in_units(*last - *first))
}

/// Returns the time of n short messages to a receiver that does nothing else: L + 2o + (n-1) max(g, o).
///
/// The i-th message enters at o + i max(g, o) at the latest, so the receiver always has one: a sender is
/// ready max(g, o) after its last message entered, and of C = ceil(L/g) slots the one for message i is free L
/// after message i - C entered, when at most (i - C) max(g, o) + L <= i max(g, o) have passed.
fn hot_spot_time(case: &Case) -> Option<Time> {
    let Params { L, o, P, .. } = case.params;
    let n = ((P - 1) * case.size) as i64;
    Some(L + 2 * o + (n - 1) * shortest_gap(&case.params))
}

/// Returns the receivers if all messages go to processor 0.
fn all_to_one(case: &Case, _: &mut fastrand::Rng) -> Receivers {
    let receivers = |id| if id == 0 { Vec::new() } else { vec![0; case.size] };
    (0..case.params.P).map(|id| vec![receivers(id)]).collect()
}

/// Returns the receivers if every processor sends to 0 first, then to 1 and so on, as evenly as possible.
fn fft_naive(case: &Case, _: &mut fastrand::Rng) -> Receivers {
    let (P, size) = (case.params.P, case.size);
    let receivers = |id| (0..size).map(move |i| i * P / size).filter(move |to| *to != id);
    (0..P).map(|id| vec![receivers(id).collect()]).collect()
}

/// Returns the receivers of bursts of four messages, with a random other processor for each burst.
fn bursts(case: &Case, rng: &mut fastrand::Rng) -> Receivers {
    let P = case.params.P;
    let mut other = |id: usize| (id + rng.usize(1..P)) % P;
    let lengths = |first: usize| BURST.min(case.size - first);
    let bursts =
        |id: usize| (0..case.size).step_by(BURST).map(|first| vec![other(id); lengths(first)]).collect();
    (0..P).map(bursts).collect()
}

/// Returns the receivers of h messages of each processor: its neighbours in h rings of random order. Each
/// sends in its own random order, or else the rings would keep in step.
fn h_relation(case: &Case, rng: &mut fastrand::Rng) -> Receivers {
    let P = case.params.P;
    let mut receivers = vec![Vec::with_capacity(case.size); P];
    let mut ring: Vec<usize> = (0..P).collect();
    for _ in 0..case.size {
        rng.shuffle(&mut ring);
        for (i, &id) in ring.iter().enumerate() {
            receivers[id].push(ring[(i + 1) % P]);
        }
    }
    receivers.iter_mut().for_each(|receivers| rng.shuffle(receivers));
    receivers.into_iter().map(|receivers| vec![receivers]).collect()
}

/// Returns the receivers of single messages, with a random other processor for each.
fn steady(case: &Case, rng: &mut fastrand::Rng) -> Receivers {
    let P = case.params.P;
    let mut another = |id: usize| vec![(id + rng.usize(1..P)) % P];
    (0..P).map(|id| (0..case.size).map(|_| another(id)).collect()).collect()
}
