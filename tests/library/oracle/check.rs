//! The properties of every program: the machine agrees with the oracle on each clock, and the trace is
//! complete.

use std::collections::HashMap;
use std::fmt::Debug;

use loggp::audit::audit;
use loggp::replay::Replay;
use loggp::trace::{Call, CallKind, Trace, Transfer};
use loggp::{
    Capacity, Carrier, ClockKind, Dilation, Latency, Machine, MessageId, Params, Run, RunError, Stats, Ties,
    Time,
};

use super::interpreter::{DrawnValues, Oracle};
use super::network::has_negative_G_l;
use super::outcome::Outcome;
use crate::drawn::program::TAGS;
use crate::drawn::{Case, Note};

/// A property that does not hold, with details.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub what: &'static str,
    pub text: String,
}

fn fault(what: &'static str, text: impl Into<String>) -> Fault {
    Fault { what, text: text.into() }
}

/// Returns a fault if two values differ.
fn check_equal<T: PartialEq + Debug>(what: &'static str, is: &T, expected: &T) -> Option<Fault> {
    (is != expected).then(|| fault(what, format!("  expected: {expected:?}\n  and is:   {is:?}\n")))
}

type MachineRun = Result<Run<Vec<Note>>, RunError>;

/// Returns the outcome by the oracle.
pub(crate) fn oracle_outcome(case: &Case) -> Outcome {
    Oracle::new(case, DrawnValues::default()).run()
}

/// Returns the outcome on the machine.
pub(crate) fn machine_outcome(case: &Case) -> Outcome {
    Outcome::of(&case.run_on(&case.machine()))
}

/// Lists the messages of a run that ends, line by line.
pub(crate) fn messages(case: &Case) -> String {
    let ran = case.run_on(&case.machine()).ok();
    let messages = ran.into_iter().flat_map(|run| run.trace.unwrap().messages);
    let line = |m: loggp::trace::Message| {
        let [latency, enter, arrival] = [m.latency, m.enter, m.arrival].map(|time| time.as_ps());
        let MessageId { from, number } = m.id;
        let (to, words, place) = (m.to, m.words, m.place);
        format!(
            "  message {from}.{number} to {to}, {words} words, latency {latency}: {enter} to {arrival}, place {place}\n"
        )
    };
    messages.map(line).collect()
}

/// Returns the outcome of a program, and its faults. Also runs it on the wall clock if `wall` is true.
pub(crate) fn check(case: &Case, wall: bool) -> (Outcome, Vec<Fault>) {
    let machine = case.machine();
    let ran = case.run_on(&machine);
    let (outcome, mut faults) = (Outcome::of(&ran), vec![]);
    faults.extend(check_against_oracle(case, &ran, &outcome));
    if let Ok(run) = &ran {
        let trace = run.trace.as_ref().expect("it was told to trace");
        faults.extend(check_accounts(run));
        faults.extend(check_audit(run, trace, case.has_requests()));
        faults.extend(check_replay(case, &machine, run, trace));
        faults.extend(check_order(trace));
        faults.extend(check_formats(trace));
    }
    if let Outcome::Failed(error) = &outcome {
        faults.push(fault("failed", error.clone()));
    }
    if wall {
        for carrier in [Carrier::Thread, Carrier::Coroutine] {
            let cores = 1 + (case.program.iter().map(Vec::len).sum::<usize>() + carrier as usize) % 4;
            let measured = machine.clone().clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
            let measured = case.run_on(&measured.carrier(carrier).cores(cores).oversubscribed(true));
            let what = if carrier == Carrier::Thread { "wall, threads" } else { "wall, coroutines" };
            faults.extend(check_same_run(&measured, &ran, what));
            let spread = case.run_on(&machine.clone().cores(cores + 1).oversubscribed(true));
            faults.extend(check_same_run(&spread, &ran, "virtual, several cores"));
        }
    }
    (outcome, faults)
}

/// 1. The oracle agrees. It needs the drawn values, which are not known of a failed run. Of drawn places it
///    knows only those of sends, which is enough where no message arrives at its turn.
fn check_against_oracle(case: &Case, ran: &MachineRun, outcome: &Outcome) -> Option<Fault> {
    let drawn = match ran {
        Ok(run) => run.trace.as_ref().map(DrawnValues::of).unwrap_or_default(),
        Err(_) => DrawnValues::default(),
    };
    let is_exact = case.latency == Latency::Exact;
    let knows_latencies = is_exact || ran.is_ok();
    let all = || case.levels.iter().map(|level| &level.params).chain([&case.params]);
    let least = |of: fn(&Params) -> Time| all().map(of).min().is_some_and(|least| least.as_ps() > 0);
    let takes_time = least(|params| params.o) || (is_exact && least(|params| params.L));
    let is_early = all().any(has_negative_G_l);
    let shows_places = takes_time && !is_early && case.capacity == Capacity::Arrived && ran.is_ok();
    let knows_places = !matches!(case.ties, Ties::Random { .. }) || shows_places;
    if !case.is_plain() || !knows_latencies || !knows_places {
        return None;
    }
    let expected = Oracle::new(case, drawn).run();
    (*outcome != expected).then(|| fault("oracle", outcome.difference_from(&expected)))
}

/// 2. The run is the same on the wall clock, and on the virtual clock with several cores, whatever the host
///    does.
fn check_same_run(measured: &MachineRun, model: &MachineRun, what: &'static str) -> Vec<Fault> {
    let (measured, model) = match (measured, model) {
        (Ok(measured), Ok(model)) => (measured, model),
        (measured, model) => {
            let said = |ran: &MachineRun| ran.as_ref().err().map(RunError::to_string);
            return check_equal(what, &said(measured), &said(model)).into_iter().collect();
        }
    };
    if measured.results != model.results || measured.processors != model.processors {
        let [is, expected] = [measured, model].map(Outcome::of_finished);
        return vec![fault(what, is.difference_from(&expected))];
    }
    let out_of_order = measured.host.as_ref().map_or(0, |host| host.out_of_order);
    let (is, expected) = (measured.trace.as_ref().unwrap(), model.trace.as_ref().unwrap());
    let trace = (is != expected).then(|| fault("wall, trace", first_difference(is, expected)));
    let times = check_equal("wall, model", &measured.model, &Some(model.time));
    let early = (measured.time < model.time).then(|| fault("wall, early", format!("  {}\n", measured.time)));
    let order = check_equal("wall, order", &out_of_order, &0);
    [trace, times, early, order].into_iter().flatten().collect()
}

/// 3. Every processor's time is accounted for.
fn check_accounts(run: &Run<Vec<Note>>) -> Option<Fault> {
    let sum = |stats: &Stats| {
        stats.work + stats.send + stats.recv + stats.gap + stats.stall + stats.port + stats.idle
    };
    let wrong = run.processors.iter().find(|stats| sum(stats) != stats.finish)?;
    Some(fault("sum", format!("  {wrong:?}\n")))
}

/// 4. The auditor finds no violation, and counts as the machine does.
fn check_audit(run: &Run<Vec<Note>>, trace: &Trace, has_requests: bool) -> Vec<Fault> {
    let audit = audit(trace);
    let text =
        audit.violations.iter().take(3).map(|violation| format!("  {violation}\n")).collect::<String>();
    let violation = (!text.is_empty()).then(|| fault("audit", text));
    let longest_stall = run.processors.iter().map(|stats| stats.longest_stall).max().unwrap_or_default();
    let most = audit.capacity.map_or(0, |_| audit.most_in_transit_from.max(audit.most_in_transit_to));
    // A processor computes while its request stalls, and both are not on its account; nor are a stall and a
    // reception meanwhile.
    let waits = if has_requests || trace.capacity == Capacity::Received {
        Time::ZERO
    } else {
        audit.stalled - run.stalled()
    };
    let counts = check_equal(
        "audit, counts",
        &(
            audit.messages as u64 - answers(trace),
            audit.stalls as u64,
            audit.longest_stall.unwrap_or_default(),
            audit.finish,
            waits,
        ),
        &(run.messages(), run.stalls(), longest_stall, run.time, Time::ZERO),
    );
    // Audits count what is in transit at one level.
    let is_one_level = trace.levels.is_empty();
    let most = check_equal("audit, in transit", &most, &run.most_in_transit()).filter(|_| is_one_level);
    violation.into_iter().chain(counts).chain(most).collect()
}

/// Returns the number of messages that memories sent, which no processor counts.
fn answers(trace: &Trace) -> u64 {
    let answered = |call: &&Call| matches!(call.kind, CallKind::OneSided { back: Some(_), .. });
    trace.calls.iter().filter(answered).count() as u64
}

/// 5. The run can be repeated from its trace, with its program and without.
fn check_replay(case: &Case, machine: &Machine, ran: &Run<Vec<Note>>, trace: &Trace) -> Vec<Fault> {
    let mut faults = vec![];
    let cannot_be_replayed = |error: &RunError| {
        trace.capacity == Capacity::Received && error.to_string().contains("while their messages stalled")
    };
    match Replay::new(trace).trace(true).run() {
        Ok(replayed) => {
            let ends = |stats: &[Stats]| stats.iter().map(|stats| stats.finish).collect::<Vec<Time>>();
            faults.extend(check_equal("replay", &ends(&replayed.processors), &ends(&ran.processors)));
            // Calls of collectives are replayed as sends and receives.
            let again = Trace { calls: trace.calls.clone(), ..replayed.trace.unwrap() };
            faults.extend((again != *trace).then(|| fault("replay, trace", first_difference(&again, trace))));
        }
        Err(error) if cannot_be_replayed(&error) => {}
        Err(error) => faults.push(fault("replay", error.to_string())),
    }
    match case.run_on(&machine.clone().order(trace)) {
        Ok(repeated) => {
            let again = repeated.trace.as_ref().unwrap();
            faults.extend((again != trace).then(|| fault("repeat", first_difference(again, trace))));
        }
        Err(error) => faults.push(fault("repeat", error.to_string())),
    }
    faults
}

/// Describes the first difference between two traces.
fn first_difference(is: &Trace, expected: &Trace) -> String {
    fn first<T: PartialEq + Debug>(what: &str, is: &[T], expected: &[T]) -> String {
        let places = 0..is.len().max(expected.len());
        let differs =
            places.map(|place| (is.get(place), expected.get(place))).find(|(is, expected)| is != expected);
        differs.map_or(String::new(), |(is, expected)| {
            format!("  {what}, expected: {expected:?}\n  {what}, and is:   {is:?}\n")
        })
    }
    let text = first("activity", &is.activities, &expected.activities)
        + &first("progress", &is.progress, &expected.progress)
        + &first("message", &is.messages, &expected.messages)
        + &first("call", &is.calls, &expected.calls);
    if text.is_empty() { "  they differ in what the machine was\n".into() } else { text }
}

/// A message of a program, as its sender or its receiver called it.
struct CalledMessage {
    tag: u64,
    message: MessageId,
    /// The first message on the network: the message itself, or its request.
    first: MessageId,
}

/// Returns the messages that a processor sends or receives, in the order of its calls, and the number of its
/// sends before its first `isend`.
fn called_messages(trace: &Trace, id: usize, sends: bool) -> (Vec<CalledMessage>, usize) {
    let calls: Vec<&CallKind> =
        trace.calls.iter().filter(|call| call.id == id).map(|call| &call.kind).collect();
    let waits = calls.iter().filter_map(|what| match what {
        CallKind::Wait { request, transfer, .. } => Some((*request, transfer)),
        _ => None,
    });
    let waits: HashMap<u32, &Transfer> = waits.collect();
    let (mut all, mut before) = (vec![], None);
    for what in calls {
        let (tag, transfer) = match what {
            CallKind::Send { tag, sent, .. } if sends => (tag, Some(sent)),
            CallKind::SendRecv(both) if sends => (&both.tag, Some(&both.sent)),
            CallKind::Isend { request, tag, .. } if sends => {
                before.get_or_insert(all.len());
                (tag, waits.get(request).copied())
            }
            CallKind::Receive { tag, received: got, .. } if !sends => (tag, got.as_ref()),
            CallKind::SendRecv(both) if !sends => (&both.tag, Some(&both.received)),
            CallKind::Irecv { request, tag, .. } if !sends => (tag, waits.get(request).copied()),
            _ => continue,
        };
        all.extend(transfer.map(|transfer| CalledMessage {
            tag: tag.number,
            message: transfer.message,
            first: transfer.rendezvous.as_ref().map_or(transfer.message, |rendezvous| rendezvous.request),
        }));
    }
    let before = before.unwrap_or(all.len());
    (all, before)
}

/// 6. No message overtakes another: where order is kept on the way, messages enter and arrive in the order of
///    their calls, and of two messages from one sender a receive takes the one that arrived first.
fn check_order(trace: &Trace) -> Option<Fault> {
    let messages: HashMap<MessageId, &loggp::trace::Message> =
        trace.messages.iter().map(|m| (m.id, m)).collect();
    let mut tags = HashMap::new();
    for id in 0..trace.params.P {
        let (sent, before) = called_messages(trace, id, true);
        tags.extend(sent.iter().map(|sent| (sent.message, sent.tag)));
        let before = if trace.params.gps().is_some() { 0 } else { before };
        let mut last: HashMap<usize, &loggp::trace::Message> = HashMap::new();
        for (place, sent) in sent.iter().enumerate() {
            let message = messages[&sent.first];
            let ahead = last.entry(message.to).or_insert(message);
            if place >= before && (message.enter < ahead.enter || message.arrival < ahead.arrival) {
                return Some(fault("overtakes", format!("  {message:?}\n  overtakes {ahead:?}\n")));
            }
            if message.arrival >= ahead.arrival {
                *ahead = message;
            }
        }
    }
    for id in 0..trace.params.P {
        let (received, _) = called_messages(trace, id, false);
        for (place, receive) in received.iter().enumerate() {
            let takes = |other: &CalledMessage| {
                let is_its = receive.tag == tags[&other.message];
                let is_any = receive.tag == ANY_TAG && tags[&other.message] < TAGS as u64;
                (is_its || is_any) && receive.first.from == other.first.from
            };
            let arrival = |called: &CalledMessage| messages[&called.first].arrival;
            let later = received[place + 1..].iter();
            if let Some(missed) =
                later.filter(|later| takes(later)).find(|later| arrival(later) < arrival(receive))
            {
                let (got, missed) = (messages[&receive.first], messages[&missed.first]);
                return Some(fault("taken late", format!("  {got:?}\n  was taken before {missed:?}\n")));
            }
        }
    }
    None
}

/// The number of "any tag" in traces.
const ANY_TAG: u64 = u64::MAX - 1;

/// 7. The trace is read as it was written, in both formats.
fn check_formats(trace: &Trace) -> Vec<Fault> {
    let (mut chrome, mut compact) = (vec![], vec![]);
    trace.write(&mut chrome).unwrap();
    trace.write_compact(&mut compact).unwrap();
    let read = |what, bytes: &[u8]| match Trace::read(bytes) {
        Ok(read) => (read != *trace).then(|| fault(what, first_difference(&read, trace))),
        Err(error) => Some(fault(what, error.to_string())),
    };
    [read("file, chrome", &chrome), read("file, compact", &compact)].into_iter().flatten().collect()
}
