//! Tests of the auditor: it accepts runs of the machine with any parameters, and notices exactly the rule
//! that a trace breaks.

mod by_hand;

use std::collections::BTreeSet;

use loggp::audit::{AuditRule, audit};
use loggp::trace::{Activity, ActivityKind, Message, Trace};
use loggp::{
    Capacity, Latency, Machine, MessageId, PS, Params, Ports, Proc, Protocol, Run, Tag, Ties, Time, US, Work,
};
use loggp_model::message::RawTag;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::cases::{cases, seeds};
use crate::drawn::draw;

const WORDS: Tag<Vec<u64>> = Tag::new(0);
const BYTES: Tag<Vec<u8>> = Tag::new(0);
const WORD: Tag<u64> = Tag::new(0);
const SIGNAL: Tag<()> = Tag::new(0);
const ARRAY_3: Tag<[u64; 3]> = Tag::new(0);
const ARRAY_6: Tag<[u64; 6]> = Tag::new(0);
const ARRAY_11: Tag<[u64; 11]> = Tag::new(0);

fn run(machine: &Machine, program: impl Fn(&mut Proc) + Sync) -> Run<()> {
    machine.clone().trace(true).work(Work::Charged).run(program).unwrap()
}

#[test]
fn accepts_a_hot_spot() {
    let run = run(&machine_of(16, "L=6,o=2,g=4"), |p| match p.id() {
        0 => (0..150).for_each(|_| p.recv(SIGNAL)),
        _ => (0..10).for_each(|_| p.send(0, SIGNAL, ())),
    });
    let audit = audit(run.trace.as_ref().unwrap());
    assert!(audit.is_clean(), "{:?}", audit.violations);
    assert_eq!((audit.messages, audit.capacity), (150, Some(2)));
    assert_eq!((audit.most_in_transit_from, audit.most_in_transit_to), (1, 2));
    assert!(audit.stalls > 100 && audit.shortest_stall > Some(Time::ZERO));
}

/// As in MPI, a short message does not overtake a long one that waits for its receiver's port.
#[test]
fn accepts_a_program_that_keeps_the_order_of_messages() {
    let program = |p: &mut Proc, long: Tag<[u64; 4]>, short: Tag<()>| match p.id() {
        0 => {
            (0..2).for_each(|_| p.recv(short));
            (0..2).for_each(|_| _ = p.recv(long));
        }
        _ => {
            p.send(0, long, [0; 4]);
            p.send(0, short, ());
        }
    };
    let machine = machine_of(3, "L=6,o=1,g=1,G=1");
    let arrivals =
        |trace: &Trace| -> Vec<Time> { trace.messages.iter().map(|message| message.arrival).collect() };
    let free = run(&machine, |p| program(p, Tag::new(0), Tag::new(1))).trace.unwrap();
    assert_eq!(arrivals(&free), [10, 11, 13, 11].map(|cycles| cycles * US));
    assert_eq!(audit(&free).violations, []);
    let scoped = |tag| RawTag::scoped(0, Some(tag));
    let mut kept = run(&machine, |p| {
        p.keep_order();
        program(p, Tag::from_raw(scoped(0), None), Tag::from_raw(scoped(1), None));
    })
    .trace
    .unwrap();
    assert_eq!(arrivals(&kept), [10, 11, 13, 13].map(|cycles| cycles * US));
    assert_eq!(audit(&kept).violations, []);
    let overtaker = kept.messages.last_mut().unwrap();
    (overtaker.first, overtaker.arrival) = (11 * US, 11 * US);
    let violations = audit(&kept).violations;
    assert!(violations.iter().any(|violation| violation.rule == AuditRule::Order), "{violations:?}");
}

/// A receiver reads from its sender's memory, which the audit does not take for a send, nor a send for a read.
#[test]
fn notices_a_wrong_pull() {
    let machine = machine_of(2, "L=6,o=2,g=0,O_s=0,O_r=0,G_s=1,G_l=1,s=4,S=4").rendezvous(Protocol::Pull);
    let program = |p: &mut Proc| match p.id() {
        0 => p.send(1, BYTES, vec![0; 80]),
        _ => _ = p.recv(BYTES),
    };
    let trace = run(&machine, program).trace.unwrap();
    assert_eq!(audit(&trace).violations, []);
    let rules = |trace: Trace| -> BTreeSet<AuditRule> {
        audit(&trace).violations.iter().map(|violation| violation.rule).collect()
    };
    let pushed = rules(Trace { rendezvous: Protocol::Push, ..trace.clone() });
    assert!(pushed.contains(&AuditRule::Overhead), "{pushed:?}");
    // The data enter before the request is there.
    let mut early = trace.clone();
    let Message { enter, first, arrival, .. } = &mut early.messages[1];
    [enter, first, arrival].into_iter().for_each(|time| *time -= US);
    assert_eq!(rules(early), BTreeSet::from([AuditRule::Entry]));
    let mut hasty = trace.clone();
    let read = hasty.activities.iter().position(|it| it.kind == ActivityKind::Send(trace.messages[1].id));
    hasty.activities[read.unwrap()].end -= US;
    assert!(rules(hasty).contains(&AuditRule::Overhead));
    // The receiver does not say that it has the data.
    let mut silent = trace;
    silent.calls[1].kind = silent.calls[0].kind.clone();
    assert!(!rules(silent).is_empty());
}

/// Some of the programs do not end then, because a look finds something else.
#[test]
fn accepts_measured_work() {
    let cases = seeds(60).map(draw).filter(|case| case.noise.is_none());
    let ended = cases.filter(|case| {
        let run = case.run_on(&case.machine().work(Work::Measured));
        let trace = run.ok().and_then(|run| run.trace);
        trace.inspect(|trace| assert_eq!(audit(trace).violations, [], "{case:?}")).is_some()
    });
    assert!(ended.count() > 10);
}

fn ports() -> impl Strategy<Value = Ports> {
    select(vec![Ports::Single, Ports::Dual])
}

fn latency() -> impl Strategy<Value = Latency> {
    prop_oneof![Just(Latency::Exact), any::<u64>().prop_map(|seed| Latency::Random { seed })]
}

/// Creates a machine from parameters in cycles.
fn machine_of(P: usize, parameters: &str) -> Machine {
    Machine::new(Params::builder(P).set(parameters).unwrap().build().unwrap())
}

/// Runs three processors far from every limit: 0 sends to 1 twice and computes in between, and 1 receives
/// late. Latency is random, and both messages took 3 of the 6 cycles that they may take.
fn calm() -> Trace {
    let machine = machine_of(3, "L=6,o=2,g=4").latency(Latency::Random { seed: 0 });
    let mut trace = run(&machine, |p| match p.id() {
        0 => {
            p.work("before", 3, || ());
            p.send(1, SIGNAL, ());
            p.work("between", 4, || ());
            p.send(1, SIGNAL, ());
            p.work("after", 3, || ());
        }
        1 => {
            p.work("before", 30, || ());
            p.recv(SIGNAL);
            p.work("between", 5, || ());
            p.recv(SIGNAL);
        }
        _ => {}
    })
    .trace
    .unwrap();
    for message in &mut trace.messages {
        message.latency = 3 * US;
        message.first = message.enter + message.latency;
        message.arrival = message.first;
    }
    trace.calls.clear(); // they would contradict the forgery
    trace
}

/// Returns the same trace with exact latency.
fn calm_and_exact() -> Trace {
    let mut trace = calm();
    trace.latency = Latency::Exact;
    for message in &mut trace.messages {
        message.latency = 6 * US;
        message.first = message.enter + message.latency;
        message.arrival = message.first;
    }
    trace
}

/// Runs three processors: 1 and 2 send to 0, which has room for one message, and 2 computes before.
fn crowd(before: u64) -> Trace {
    let trace = run(&machine_of(3, "L=4,o=2,g=4"), |p| match p.id() {
        0 => {
            p.work("before", 30, || ());
            p.recv(SIGNAL);
            p.work("between", 5, || ());
            p.recv(SIGNAL);
        }
        1 => p.send(0, SIGNAL, ()),
        _ => {
            p.work("before", before, || ());
            p.send(0, SIGNAL, ());
        }
    });
    Trace { latency: Latency::Random { seed: 0 }, ..trace.trace.unwrap() }
}

/// Runs two processors that exchange messages of eleven words on dual ports, and receive them late.
fn exchange() -> Trace {
    let trace = run(&machine_of(2, "L=2,o=1,g=1,G=1").ports(Ports::Dual), |p| {
        p.send(1 - p.id(), ARRAY_11, [0; 11]);
        p.work("between", 30, || ());
        p.recv(ARRAY_11);
    });
    trace.trace.unwrap()
}

/// Runs two processors: 0 sends to 1, which waits for the message.
fn prompt() -> Trace {
    let trace = run(&machine_of(2, "L=6,o=2,g=4"), |p| match p.id() {
        0 => p.send(1, SIGNAL, ()),
        _ => p.recv(SIGNAL),
    });
    trace.trace.unwrap()
}

/// Runs two processors: 0 sends a message whose words take back so much time that it arrives when its send
/// begins, at 10.
fn early() -> Trace {
    let trace = run(&machine_of(2, "L=4,o=2,g=4,s=0,G_l=-1"), |p| match p.id() {
        0 => {
            p.work("before", 10, || ());
            p.send(1, ARRAY_6, [0; 6]);
        }
        _ => {
            p.work("before", 30, || ());
            p.recv(ARRAY_6);
        }
    });
    Trace { latency: Latency::Random { seed: 0 }, ..trace.trace.unwrap() }
}

/// Runs three processors through two barriers, after work of different lengths.
fn barriers() -> Trace {
    let machine = machine_of(3, "L=4,o=2,g=4").barrier(5 * US);
    let trace = run(&machine, |p| {
        for round in 0..2 {
            p.work("before", 1 + (p.id() as u64 + round) % 3, || ());
            p.barrier();
        }
    });
    trace.trace.unwrap()
}

/// Returns the `n`-th activity of processor `id`.
fn activity(trace: &mut Trace, id: usize, n: usize) -> &mut Activity {
    trace.activities.iter_mut().filter(|activity| activity.id == id).nth(n).unwrap()
}

/// Sets start and end, in cycles, of the `n`-th activity of processor `id`.
fn set_times(trace: &mut Trace, id: usize, n: usize, start: i64, end: i64) {
    let activity = activity(trace, id, n);
    (activity.start, activity.end) = (start * US, end * US);
}

/// Sets entry and arrival, in cycles, of a message of one word.
fn set_flight(message: &mut Message, enter: i64, arrival: i64) {
    (message.enter, message.first, message.arrival) = (enter * US, arrival * US, arrival * US);
    message.latency = message.first - message.enter;
}

/// Lets a message of one word enter later and be under way for less.
fn enter_later(message: &mut Message, time: Time) {
    message.enter += time;
    message.latency -= time;
}

/// Lets processor 1 of [`calm`] receive once more at the end.
fn receive_again(trace: &mut Trace, number: usize) {
    let kind = ActivityKind::Receive(MessageId { from: 0, number });
    trace.activities.push(Activity { id: 1, start: 39 * US, end: 50 * US, kind: ActivityKind::Idle });
    trace.activities.push(Activity { id: 1, start: 50 * US, end: 52 * US, kind });
}

/// A forgery: its description, the rule that it breaks, a trace, and the change to it.
type Forgery = (&'static str, AuditRule, fn() -> Trace, fn(&mut Trace));

const FORGERIES: [Forgery; 41] = [
    ("a message is there twice", AuditRule::Names, calm, |t| t.messages.push(t.messages[0].clone())),
    ("a number is left out", AuditRule::Names, prompt, |t| {
        let id = MessageId { from: 0, number: 1 };
        t.messages[0].id = id;
        activity(t, 0, 0).kind = ActivityKind::Send(id);
        activity(t, 1, 1).kind = ActivityKind::Receive(id);
    }),
    ("a processor is not there", AuditRule::Names, calm, |t| {
        t.activities.push(Activity { id: 7, start: Time::ZERO, end: US, kind: ActivityKind::Idle });
    }),
    ("a hole at the beginning", AuditRule::OneThing, calm, |t| drop(t.activities.remove(0))),
    ("a hole in the middle", AuditRule::OneThing, calm, |t| set_times(t, 1, 2, 32, 36)),
    ("two things at once", AuditRule::OneThing, calm, |t| set_times(t, 0, 4, 10, 14)),
    ("back in time", AuditRule::OneThing, calm, |t| set_times(t, 0, 4, 11, 9)),
    ("a long reception", AuditRule::Overhead, calm, |t| set_times(t, 1, 3, 37, 40)),
    ("a short reception", AuditRule::Overhead, calm, |t| set_times(t, 1, 3, 37, 38)),
    ("a long send", AuditRule::Overhead, calm, |t| {
        set_times(t, 0, 0, 0, 2);
        set_times(t, 0, 1, 2, 5);
    }),
    ("no send", AuditRule::Overhead, calm, |t| activity(t, 0, 1).kind = ActivityKind::Work("forged".into())),
    ("two sends", AuditRule::Overhead, calm, |t| {
        activity(t, 0, 4).kind = ActivityKind::Send(MessageId { from: 0, number: 0 });
    }),
    ("a send of nothing", AuditRule::Overhead, calm, |t| {
        activity(t, 0, 4).kind = ActivityKind::Send(MessageId { from: 0, number: 7 });
    }),
    ("an entry after its send", AuditRule::Entry, calm, |t| enter_later(&mut t.messages[1], US)),
    ("an entry before its send is over", AuditRule::Entry, calm, |t| enter_later(&mut t.messages[1], -US)),
    ("a stall before the send", AuditRule::Entry, calm, |t| activity(t, 0, 0).kind = ActivityKind::Stall),
    ("sends too close", AuditRule::Gap, calm, |t| {
        set_times(t, 0, 2, 5, 6);
        set_times(t, 0, 3, 6, 8);
        set_times(t, 0, 4, 8, 14);
        set_flight(&mut t.messages[1], 8, 11);
    }),
    ("receptions too close", AuditRule::Gap, calm, |t| {
        set_times(t, 1, 2, 32, 33);
        set_times(t, 1, 3, 33, 35);
    }),
    ("a send later than the gap asks", AuditRule::Wait, calm, |t| activity(t, 0, 2).kind = ActivityKind::Gap),
    ("a reception later than the gap asks", AuditRule::Wait, calm, |t| {
        activity(t, 1, 2).kind = ActivityKind::Gap
    }),
    ("a gap before nothing", AuditRule::Wait, calm, |t| activity(t, 0, 4).kind = ActivityKind::Gap),
    ("a wait for an idle port", AuditRule::Wait, calm, |t| {
        activity(t, 0, 4).kind = ActivityKind::Port;
        set_flight(&mut t.messages[1], 14, 15);
    }),
    (
        "one too many",
        AuditRule::Capacity,
        || crowd(4),
        |t| {
            set_times(t, 2, 0, 0, 3);
            set_times(t, 2, 1, 3, 5);
            set_flight(&mut t.messages[1], 5, 9);
        },
    ),
    ("a stall for nobody", AuditRule::Stall, || crowd(2), |t| set_flight(&mut t.messages[0], 2, 5)),
    (
        "a stall too long",
        AuditRule::Stall,
        || crowd(2),
        |t| {
            activity(t, 2, 2).end += PS;
            let message = &mut t.messages[1];
            for time in [&mut message.enter, &mut message.first, &mut message.arrival] {
                *time += PS;
            }
        },
    ),
    (
        "a stall too short",
        AuditRule::Stall,
        || crowd(2),
        |t| {
            activity(t, 2, 2).end -= PS;
            let (start, end) = (6 * US - PS, 6 * US);
            t.activities.push(Activity { id: 2, start, end, kind: ActivityKind::Port });
        },
    ),
    (
        "the higher number first",
        AuditRule::Stall,
        || crowd(0),
        |t| {
            activity(t, 2, 1).id = 1; // the stall
            set_flight(&mut t.messages[0], 6, 10);
            set_flight(&mut t.messages[1], 2, 6);
        },
    ),
    ("a stall without a capacity", AuditRule::Stall, || crowd(2), |t| t.params.g = Time::ZERO),
    ("two long messages at one port", AuditRule::Port, exchange, |t| t.ports = Ports::Single),
    ("faster than L", AuditRule::Latency, calm_and_exact, |t| set_flight(&mut t.messages[1], 11, 16)),
    ("slower than L", AuditRule::Latency, calm_and_exact, |t| set_flight(&mut t.messages[1], 11, 18)),
    ("slower than L, to an idle port", AuditRule::Latency, exchange, |t| {
        t.messages[0].first += US;
        t.messages[0].arrival += US;
    }),
    ("a slow last word", AuditRule::Stream, calm, |t| t.messages[1].arrival += US),
    ("there before it was sent", AuditRule::Causality, early, |t| {
        t.messages[0].latency -= US;
        t.messages[0].first -= US;
        t.messages[0].arrival -= US;
    }),
    ("to somebody else", AuditRule::Reception, calm, |t| t.messages[0].to = 2),
    ("received twice", AuditRule::Reception, calm, |t| receive_again(t, 0)),
    ("a barrier left early", AuditRule::Barrier, barriers, |t| {
        activity(t, 0, 1).end -= PS;
        activity(t, 0, 2).start -= PS;
    }),
    ("a barrier left late", AuditRule::Barrier, barriers, |t| {
        activity(t, 2, 1).end += PS;
        activity(t, 2, 2).start += PS;
    }),
    ("a barrier missed", AuditRule::Barrier, barriers, |t| activity(t, 1, 3).kind = ActivityKind::Idle),
    ("a barrier where there is none", AuditRule::Barrier, barriers, |t| t.barrier = None),
    ("received before it is there", AuditRule::Arrival, prompt, |t| {
        set_times(t, 1, 0, 0, 7);
        set_times(t, 1, 1, 7, 9);
    }),
];

/// Two more forgeries, which lose a message at either end.
const LOSSES: [Forgery; 2] = [
    ("never received", AuditRule::Reception, calm, |t| {
        activity(t, 1, 3).kind = ActivityKind::Work("forged".into())
    }),
    ("received and never sent", AuditRule::Reception, calm, |t| receive_again(t, 7)),
];

#[test]
fn notices_exactly_the_rule_that_is_broken() {
    let mut noticed = BTreeSet::new();
    for (what, rule, genuine, forge) in FORGERIES.into_iter().chain(LOSSES) {
        let mut trace = genuine();
        assert_eq!(audit(&trace).violations, [], "before: {what}");
        trace.calls.clear(); // `recorded.rs` tests the rules of calls
        forge(&mut trace);
        let violations = audit(&trace).violations;
        assert!(!violations.is_empty(), "{what}");
        for violation in violations {
            assert_eq!(violation.rule, rule, "{what}: {violation}");
            let sentence = &violation.sentence;
            assert!(sentence.contains("processor") && !sentence.contains('\n'), "{what}: {violation}");
        }
        noticed.insert(rule);
    }
    assert_eq!(noticed.len(), 15, "a rule is never broken"); // without those of calls
}

#[test]
fn says_what_was_broken() {
    let mut trace = crowd(2);
    set_flight(&mut trace.messages[0], 2, 5);
    let audit = audit(&trace);
    assert_eq!(
        audit.violations[0].to_string(),
        "a stall ends when there is room, \
         but message 0 of processor 2 to 0 stalls from 4 us to 6 us, and there was room at 5 us"
    );
    assert_eq!((audit.stalls, audit.longest_stall, audit.finish), (1, Some(2 * US), 39 * US));
}

/// The processor that comes last spends no time in a barrier that costs nothing, and yet takes part.
#[test]
fn counts_barriers_that_take_no_time() {
    let barriers = |id: usize| {
        let trace = run(&machine_of(3, "L=4,o=2,g=4").barrier(Time::ZERO), |p| {
            for round in 0..3 {
                p.work("before", (p.id() as u64 + round) % 3, || ());
                p.barrier();
                p.barrier();
            }
        });
        let mut trace = trace.trace.unwrap();
        let taken = trace.activities.iter().filter(|a| a.kind == ActivityKind::Barrier).count();
        assert_eq!((taken, audit(&trace).violations), (18, vec![]));
        let place =
            trace.activities.iter().rposition(|a| a.id == id && a.kind == ActivityKind::Barrier).unwrap();
        assert_eq!(trace.activities[place].start, trace.activities[place].end);
        trace.activities.remove(place);
        trace.calls.clear(); // the barrier is missing from them too
        audit(&trace).violations
    };
    for id in 0..3 {
        assert_eq!(
            barriers(id).iter().map(|violation| violation.to_string()).collect::<Vec<_>>(),
            [format!(
                "all leave a barrier when the last one has come, \
                 but processor {id} takes part in fewer than 6, and so do 0 others"
            )]
        );
    }
}

/// Processor 0 asks at time 0 only after a message of 3 that takes no time; by then 2 has asked as well.
#[test]
fn lets_a_chain_within_one_moment_come_late() {
    let machine = machine_of(4, "L=0,o=0,g=2,G=1");
    let run = run(&machine, |p| match p.id() {
        0 => {
            p.recv(SIGNAL.from(3));
            p.send(1, ARRAY_3, [0; 3]);
        }
        1 => (0..2).for_each(|_| _ = p.recv(ARRAY_3)),
        2 => p.send(1, ARRAY_3, [0; 3]),
        _ => p.send(0, SIGNAL, ()),
    });
    let mut trace = run.trace.unwrap();
    assert_eq!((trace.messages[0].enter, trace.messages[1].enter), (2 * US, Time::ZERO));
    assert_eq!(audit(&trace).violations, []);
    // If 3 told it earlier, processor 0 asks first.
    trace.messages[2].arrival -= PS;
    trace.messages[2].first -= PS;
    trace.messages[2].enter -= PS;
    activity(&mut trace, 3, 0).start -= PS;
    activity(&mut trace, 3, 0).end -= PS;
    let stalls = audit(&trace).violations.into_iter().filter(|violation| violation.rule == AuditRule::Stall);
    assert_eq!(stalls.count(), 1);
}

/// Processor 0 asks at time 0 only after 1, which has asked before, comes to a barrier that costs nothing.
#[test]
fn lets_a_barrier_within_one_moment_come_first() {
    let mut trace = run(&machine_of(3, "L=0,o=0,g=2,G=1").barrier(Time::ZERO), |p| {
        if p.id() == 1 {
            p.send(2, ARRAY_3, [0; 3]);
        }
        p.barrier();
        match p.id() {
            0 => p.send(2, ARRAY_3, [0; 3]),
            1 => {}
            _ => (0..2).for_each(|_| _ = p.recv(ARRAY_3)),
        }
    })
    .trace
    .unwrap();
    assert_eq!((trace.messages[0].enter, trace.messages[1].enter), (2 * US, Time::ZERO));
    assert_eq!(audit(&trace).violations, []);
    trace.barrier = None;
    trace.calls.clear();
    trace.activities.retain(|activity| activity.kind != ActivityKind::Barrier);
    assert_eq!(audit(&trace).violations.iter().map(|v| v.rule).collect::<Vec<_>>(), [AuditRule::Stall]);
}

/// If acts were out of order, the auditor reports that and still counts.
#[test]
fn keeps_to_what_needs_no_order() {
    let mut trace = crowd(2);
    trace.calls.clear();
    activity(&mut trace, 2, 2).end += PS;
    set_flight(&mut trace.messages[1], 6, 10);
    enter_later(&mut trace.messages[1], PS);
    assert_eq!(audit(&trace).violations.iter().map(|v| v.rule).collect::<Vec<_>>(), [AuditRule::Stall]);
    trace.out_of_order = 3;
    let found = audit(&trace);
    assert_eq!((found.violations, found.out_of_order), (vec![], 3));
    trace.params.g = Time::ZERO;
    assert_eq!(audit(&trace).violations.iter().map(|v| v.rule).collect::<Vec<_>>(), [AuditRule::Stall]);
}

/// G_l of -1 takes back more than a random latency leaves: the message is there 4 cycles before its send.
#[test]
fn random_latency_keeps_a_message_behind_its_send() {
    let machine = machine_of(2, "L=4,o=2,g=0,s=0,G_l=-1").latency(Latency::Random { seed: 1 });
    let run = run(&machine, |p| match p.id() {
        0 => (0..9).for_each(|_| p.send(1, ARRAY_6, [0; 6])),
        _ => (0..9).for_each(|_| _ = p.recv(ARRAY_6)),
    });
    assert_eq!(audit(&run.trace.unwrap()).violations, []);
}

/// 1 is in transit to 0 during [2, 6). 2 stalls until 6 and arrives at 4, as G_l has it; then its slot is
/// taken to be free from 4 on, and 3 enters at 5.
#[test]
fn a_message_that_is_there_at_once_gives_back_no_slot_early() {
    let run = run(&machine_of(4, "L=4,o=2,g=4,s=0,G_l=-1"), |p| match p.id() {
        0 => (0..3).for_each(|_| _ = p.recv(WORDS)),
        2 => p.send(0, WORDS, vec![0_u64; 6]),
        id => {
            p.work("before", if id == 1 { 0 } else { 3 }, || ());
            p.send(0, WORDS, Vec::new());
        }
    });
    assert_eq!(audit(&run.trace.unwrap()).violations, []);
}

/// 1 is in transit to 0 during [0, 4) and 4 during [1, 5). In between 2 reserves a slot for 11, and the
/// machine forgets 1 for it.
#[test]
fn the_machine_counts_what_is_in_transit() {
    let run = run(&machine_of(5, "L=4,o=0,g=1,G=1"), |p| match p.id() {
        0 => (0..3).for_each(|_| _ = p.recv(WORD)),
        1 => p.send(0, WORD, 0_u64),
        2 => {
            p.send(3, ARRAY_11, [0; 11]);
            p.send(0, WORD, 0_u64);
        }
        3 => _ = p.recv(ARRAY_11),
        _ => {
            p.wait_until(US);
            p.send(0, WORD, 0_u64);
        }
    });
    let of_0 = |trace: &Trace| {
        let messages = trace.messages.iter().filter(|message| message.to == 0).cloned().collect();
        audit(&Trace { messages, ..trace.clone() }).most_in_transit_to
    };
    assert_eq!((run.processors[0].most_to, of_0(run.trace.as_ref().unwrap())), (2, 2));
}

/// The messages of processor 0 both enter at 16, and the second asked before the first: it is there at 4, as
/// G_l has it. So the first one's words, which take 2, lie behind both.
#[test]
fn message_that_asks_first_enters_first_even_if_sent_second() {
    let machine = machine_of(3, "word=1,L=4,o=2,g=0,s=2,O_s=2,O_r=2,G_s=4,G_l=-6");
    let mut trace = run(&machine, |p| match p.id() {
        0 => {
            let first = p.isend(1, BYTES, vec![0; 3]);
            p.send(2, BYTES, vec![0; 6]);
            p.wait(first);
        }
        _ => _ = p.recv(BYTES),
    })
    .trace
    .unwrap();
    let ways = trace.messages.iter().map(|message| (message.enter, message.arrival)).collect::<Vec<_>>();
    assert_eq!(ways, [(16 * US, 22 * US), (16 * US, 4 * US)]);
    assert_eq!(audit(&trace).violations, []);
    // If the first was there before the second, which so asked after it, the second came within its words.
    trace.calls.clear();
    trace.messages[0].latency = -20 * US;
    let rules = audit(&trace).violations.iter().map(|found| found.rule).collect::<BTreeSet<_>>();
    assert_eq!(rules, BTreeSet::from([AuditRule::Gap, AuditRule::Latency]));
}

/// 0 sends to 1 twice by requests, and waits for both.
fn by_requests() -> Trace {
    let trace = run(&machine_of(2, "L=6,o=2,g=4,G=1"), |p| match p.id() {
        0 => {
            let requests = [p.isend(1, ARRAY_3, [0; 3]), p.isend(1, ARRAY_3, [0; 3])];
            p.work("beside", 3, || ());
            p.wait_all(requests);
        }
        _ => (0..2).for_each(|_| _ = p.recv(ARRAY_3)),
    });
    trace.trace.unwrap()
}

/// A forgery of the activities of requests, and the rule that it breaks.
type RequestForgery = (AuditRule, fn(&mut Trace));

const REQUEST_FORGERIES: [RequestForgery; 6] = [
    (AuditRule::Request, |t| t.activities.retain(|activity| activity.kind != ActivityKind::Wait(1))),
    (AuditRule::Request, |t| drop(t.progress.remove(0))),
    (AuditRule::Request, |t| t.progress[0].start += PS),
    (AuditRule::Request, |t| activity(t, 0, 0).end += PS),
    (AuditRule::Request, |t| t.activities.iter_mut().rfind(|activity| activity.id == 0).unwrap().end += PS),
    (AuditRule::Order, |t| {
        t.messages[1].first -= 7 * US;
        t.messages[1].arrival -= 7 * US;
    }),
];

#[test]
fn notices_requests_that_do_not_go_on_by_themselves() {
    assert_eq!(audit(&by_requests()).violations, []);
    for (n, (rule, forge)) in REQUEST_FORGERIES.into_iter().enumerate() {
        let mut trace = by_requests();
        trace.calls.clear();
        forge(&mut trace);
        let violations = audit(&trace).violations;
        assert!(violations.iter().any(|violation| violation.rule == rule), "{n}: {violations:?}");
    }
}

fn moment() -> impl Strategy<Value = Time> {
    prop_oneof![9 => 0..30_i64, 1 => any::<i64>()].prop_map(Time::from_ps)
}

fn number() -> impl Strategy<Value = usize> {
    prop_oneof![20 => 0..4_usize, 1 => any::<usize>()]
}

fn any_activity() -> impl Strategy<Value = Activity> {
    (number(), moment(), moment(), 0..8_u8, number(), number()).prop_map(
        |(id, start, end, kind, from, number)| {
            let message = MessageId { from, number };
            let what = match kind {
                0 => ActivityKind::Work("any".into()),
                1 => ActivityKind::Send(message),
                2 => ActivityKind::Receive(message),
                3 => ActivityKind::Gap,
                4 => ActivityKind::Stall,
                5 => ActivityKind::Port,
                6 => ActivityKind::Barrier,
                _ => ActivityKind::Idle,
            };
            Activity { id, start, end, kind: what }
        },
    )
}

fn any_message() -> impl Strategy<Value = Message> {
    ([number(), number(), number(), number()], moment(), moment(), moment(), moment()).prop_map(
        |([from, number, to, words], latency, enter, first, arrival)| {
            let id = MessageId { from, number };
            Message { id, to, words, latency, place: id.from, enter, first, arrival }
        },
    )
}

proptest! {
    #![proptest_config(cases(256))]

    /// A file may contain any trace.
    #[test]
    fn survives_any_trace(
        texts in select(vec!["L=6ps,o=2ps,g=4ps", "o=1ps,G=1ps", "L=9ps,g=1ps,s=1,G_s=2ps,G_l=-3ps"]),
        (ports, latency) in (ports(), latency()),
        capacity in select(vec![Capacity::Arrived, Capacity::Received]),
        rendezvous in select(vec![Protocol::Push, Protocol::Pull]),
        ties in select(vec![Ties::Number, Ties::Random { seed: 1 }]),
        noise in prop::option::of(select(vec!["10us:3us", "9ps:2ps,12ps:1ps"])),
        barrier in prop::option::of(Just(US)),
        out_of_order in select(vec![0, 1]),
        activities in vec(any_activity(), 0..40),
        messages in vec(any_message(), 0..20),
    ) {
        let params = Params::builder(3).set(texts).unwrap().build().unwrap();
        let noise = noise.map(|noise| noise.parse().unwrap());
        let found = audit(&Trace { params, levels: vec![], ports, rendezvous, capacity, latency, ties, precedence: Default::default(), reaches_memories: false, noise, faults: Default::default(), barrier, caption: None, out_of_order, activities, progress: vec![], messages, calls: vec![] });
        prop_assert!(found.violations.iter().all(|violation| !violation.sentence.is_empty()));
    }
}
