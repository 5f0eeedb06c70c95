//! Replays of recorded runs: with the same times under the same parameters, and like the program itself under
//! others, from each format of the trace. Also the size of traces, and their audit.

use loggp::audit::{AuditRule, audit};
use loggp::collectives;
use loggp::params::Model;
use loggp::replay::Replay;
use loggp::trace::{CallKind, Trace, Until};
use loggp::{Cause, Machine, PS, Params, Proc, Run, Tag, Time, US};

use crate::cases::{seeds, times};
use crate::drawn::draw;
use crate::drawn::machines::{draw_params, longest};

const BYTES: Tag<Vec<u8>> = Tag::named(0, "bytes");
const OTHER: Tag<Vec<u8>> = Tag::named(1, "other");
const SIGNAL: Tag<()> = Tag::new(2);

fn compact(trace: &Trace) -> Vec<u8> {
    let mut bytes = Vec::new();
    trace.write_compact(&mut bytes).unwrap();
    bytes
}

/// Makes calls that do not depend on times: all sources are named.
fn fixed_calls(p: &mut Proc, seed: u64, most: usize, pieces: Option<usize>) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let P = p.P();
    let send = |p: &mut Proc, to: usize, tag: Tag<Vec<u8>>, mut bytes: usize| {
        let longest = pieces.unwrap_or(usize::MAX);
        loop {
            let piece = bytes.min(longest);
            p.send(to, tag, vec![0; piece]);
            bytes -= piece;
            if bytes == 0 {
                return;
            }
        }
    };
    let receive = |p: &mut Proc, from: usize, tag: Tag<Vec<u8>>, bytes: usize| {
        let count = pieces.map_or(1, |longest| bytes.div_ceil(longest).max(1));
        (0..count).for_each(|_| drop(p.recv(tag.from(from))));
    };
    for step in 0..rng.usize(1..=20) {
        let (from, to, bytes) = (rng.usize(0..P), rng.usize(0..P), rng.usize(0..=most));
        let (early, late) = (rng.u64(0..20), rng.u64(0..20));
        if from == to {
            continue;
        }
        if p.id() == from {
            p.work("early", early, || ());
            send(p, to, BYTES.step(step), bytes);
        }
        if p.id() == to {
            p.work("late", late, || ());
            receive(p, from, BYTES.step(step), bytes);
        }
    }
}

/// A replay under other parameters agrees with the program under them, and a replay in pieces with a program
/// that sends the pieces.
#[test]
fn a_replay_under_other_parameters_is_the_run_under_them() {
    let (mut compared, least) = (0, times(166));
    for seed in seeds(200) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let P = rng.usize(2..=6);
        let (was, is) = (draw_params(&mut rng, P), draw_params(&mut rng, P));
        let is = Params { cycle: was.cycle, ..is };
        let most = longest(&was, 20).min(longest(&is, 20));
        let machine = |params: Params| Machine::new(params).trace(true);
        let trace = machine(was).run(|p| fixed_calls(p, seed, most, None)).unwrap().trace.unwrap();
        let of = |run: Run<()>| run.processors.iter().map(|stats| stats.finish).collect::<Vec<_>>();
        let predicted = of(Replay::new(&trace).params(is).run().unwrap());
        assert_eq!(
            predicted,
            of(machine(is).run(|p| fixed_calls(p, seed, most, None)).unwrap()),
            "seed {seed}"
        );
        let longest = rng.usize(1..=8);
        let predicted = of(Replay::new(&trace).params(is).fragments(longest).run().unwrap());
        let really = machine(is).run(|p| fixed_calls(p, seed, most, Some(longest))).unwrap();
        assert_eq!(predicted, of(really), "seed {seed}, pieces of {longest}");
        compared += u32::from(was != is);
    }
    assert!(compared > least);
}

/// Returns the trace of one message from 0 to 1, which calls its receive at a given time.
fn one_message(params: Params, bytes: usize, late: u64) -> Trace {
    let run = Machine::new(params).trace(true).run(|p| match p.id() {
        0 => p.send(1, BYTES, vec![0; bytes]),
        _ => {
            p.work("late", late, || ());
            p.recv(BYTES.from(0));
        }
    });
    run.unwrap().trace.unwrap()
}

fn finish_times(replay: Replay) -> Vec<Time> {
    replay.run().unwrap().processors.iter().map(|stats| stats.finish).collect()
}

/// L = 10, o = 2, S = 4, and ten words. The request arrives at 12 and is received at 14; the reply enters at
/// 16 and arrives at 26; the message enters at 30, arrives at 40 and is received at 42. Pieces of 4, 4 and 2
/// words enter at 2, 4 and 6.
#[test]
fn methods_m1_and_m2_agree_with_hand_computed_times() {
    let params = Params::builder(2).word(1).set("L=10,o=2,s=4,S=4,G_s=0").unwrap().build().unwrap();
    let larger_S = Params::builder(2).word(1).set("L=10,o=2,s=4,S=10,G_s=0").unwrap().build().unwrap();
    let us = |times: [i64; 2]| times.map(|time| time * US).to_vec();
    for (late, was, m1, m2) in [(0, [30, 42], [2, 14], [6, 18]), (100, [118, 130], [2, 102], [6, 106])] {
        let trace = one_message(params, 10, late);
        assert_eq!(finish_times(Replay::new(&trace)), us(was));
        assert_eq!(finish_times(Replay::new(&trace).params(larger_S)), us(m1));
        assert_eq!(finish_times(Replay::new(&trace).fragments(4)), us(m2));
        // A piece longer than S waits for its receiver, as the whole message does.
        assert_eq!(finish_times(Replay::new(&trace).fragments(10)), us(was));
    }
}

/// LogGP-1: the sender is busy for o' + 4o' + 2L, and the receiver for o' after the message has arrived.
#[test]
fn loggp_1_includes_the_shortest_synchronization_and_no_other() {
    let params = Params::builder(2).word(1).set("L=10,o=2,s=4,S=4,G_s=0").unwrap().build().unwrap();
    let us = |times: [i64; 2]| times.map(|time| time * US).to_vec();
    for (bytes, late, ends_at) in
        [(10, 0, [30, 42]), (10, 100, [30, 102]), (4, 0, [2, 14]), (4, 100, [2, 102])]
    {
        let trace = one_message(params, bytes, late);
        assert_eq!(finish_times(Replay::new(&trace).model(Model::LogGP1)), us(ends_at), "{bytes} bytes");
    }
}

/// LogGP-2: table 9's numbers, by hand. Below 8,191 bytes 3.83 + 24.98 k + 7 + 3.83, above 72.88 + 8.85 k +
/// 7 + 72.88; and above S a request and a reply of 3.83 + 7 + 3.83 each before that.
#[test]
fn loggp_2_has_the_numbers_of_table_9() {
    let myrinet = loggp::preset("myrinet").unwrap().builder().build().unwrap();
    let params = Params { P: 2, ..myrinet };
    for (bytes, sent, received) in [
        (0, 3_830_000, 14_660_000),
        (8191, 3_830_000, 219_271_180),
        (8192, 72_880_000, 225_259_200),
        (16_383, 72_880_000, 297_749_550),
        (16_384, 102_200_000, 327_078_400),
    ] {
        let trace = one_message(params, bytes, 0);
        let ends = finish_times(Replay::new(&trace).model(Model::LogGP2));
        assert_eq!(ends, [sent, received].map(Time::from_ps), "{bytes} bytes");
    }
}

#[test]
fn models_are_written_as_they_are_read() {
    for name in ["loggps", "loggp-1", "loggp-2"] {
        assert_eq!(name.parse::<Model>().unwrap().to_string(), name);
    }
    let refusal = "loggp-3".parse::<Model>().unwrap_err().to_string();
    assert_eq!(refusal, "there is no loggp-3; give loggps, loggp-1 or loggp-2");
}

/// A trace that cannot be replayed is refused in one sentence.
#[test]
fn refusals_are_one_sentence() {
    let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let trace = one_message(params, 8, 3);
    let changed = |change: fn(&mut Trace)| {
        let mut trace = trace.clone();
        change(&mut trace);
        trace
    };
    let send_tag = |trace: &mut Trace, number: u64| {
        if let CallKind::Send { tag, .. } = &mut trace.calls[0].kind {
            tag.number = number;
        }
    };
    let mut wrong_tag = trace.clone();
    send_tag(&mut wrong_tag, 1 << 63);
    type Case = (Trace, fn(Replay) -> Replay, &'static str);
    let replays: [Case; 8] = [
        (changed(|trace| trace.calls.clear()), |replay| replay, "the trace holds no calls"),
        (changed(|_| ()), |replay| replay.fragments(0), "pieces of 0 words"),
        (
            changed(|_| ()),
            |replay| replay.params(Params::builder(3).build().unwrap()),
            "the trace is of 2 processors and not of 3; give P = 2",
        ),
        (
            changed(|_| ()),
            |replay| replay.model(Model::LogGP1),
            "the model loggp-1 follows from LogGPS's parameters",
        ),
        (changed(|trace| trace.calls.reverse()), |replay| replay, ""),
        (
            changed(|trace| trace.calls.rotate_left(2)),
            |replay| replay,
            "not in the order of 2 processors: here is one of processor 1",
        ),
        (
            changed(|trace| trace.calls[0].kind = CallKind::Barrier),
            |replay| replay,
            "processor 0's barrier at 0 us cannot be made again: the machine has no barrier of its own",
        ),
        (wrong_tag, |replay| replay, "cannot be made again: no program can send a message"),
    ];
    for (trace, change, part) in replays {
        match change(Replay::new(&trace)).run() {
            Ok(_) => assert_eq!(part, "", "made again"),
            Err(error) => {
                let said = error.to_string();
                assert!(matches!(error.cause, Cause::Params(_)) && said.contains(part), "{said}");
                assert!(!part.is_empty() && !said.contains('\n'), "{said}");
            }
        }
    }
}

/// A few bytes can claim a billion processors, whose stacks exceed any address space.
#[cfg(target_os = "linux")]
#[test]
fn machine_too_large_for_any_host_is_refused_early() {
    let params = Params::builder(2).L(6 * US).build().unwrap();
    let mut trace = one_message(params, 8, 0);
    trace.params.P = 1 << 30;
    let error = Replay::new(&trace).run().unwrap_err();
    assert!(matches!(error.cause, Cause::Host(_)), "{error}");
}

/// Any trace is replayed or refused with an error, and never hangs or panics.
#[test]
fn tampered_traces_do_not_panic() {
    for seed in seeds(500) {
        let case = draw(seed % 100);
        let Ok(run) = case.run_on(&case.machine()) else { continue };
        let mut trace = run.trace.unwrap();
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..rng.usize(1..4) {
            let n = trace.calls.len().max(1);
            let (one, other) = (rng.usize(0..n), rng.usize(0..n));
            match rng.usize(0..4) {
                _ if trace.calls.is_empty() => {}
                0 => drop(trace.calls.remove(one)),
                1 => trace.calls[one].kind = trace.calls[other].kind.clone(),
                2 => trace.calls.swap(one, other),
                _ => trace.calls[one].end = Time::from_ps(rng.i64(..)),
            }
        }
        let _ = audit(&trace);
        let mut replay = Replay::new(&trace);
        if rng.bool() {
            replay = replay.fragments(rng.usize(1..4));
        }
        if let Err(error) = replay.run() {
            assert!(!matches!(error.cause, Cause::Panic { .. }), "seed {seed}: {error}");
        }
    }
}

/// Requests make the gap longer while a processor looks, so that a look finds a message for which the gap was
/// too short at first, while a request has taken another one. (One of 14,000 random programs did this.)
#[test]
fn replay_looks_in_the_gap_as_the_run_did() {
    const CALLED: Tag<u64> = Tag::new(0);
    const UNASKED: Tag<u64> = Tag::new(1);
    const REQUESTED: Tag<u64> = Tag::new(2);
    let params = Params::builder(3).set("L=5ps,o=1ps,g=20ps,C=none").unwrap().build().unwrap();
    let run = Machine::new(params).trace(true).run(|p| match p.id() {
        0 => {
            p.send(0, CALLED, 0);
            p.recv(CALLED);
            let sends: Vec<_> = (0..2).map(|i| p.isend(0, CALLED, i)).collect();
            let receive = p.irecv(REQUESTED);
            p.send_receiving(0, CALLED, 2, UNASKED, |_, _| ());
            p.wait_all(sends);
            p.wait(receive);
            (0..3).for_each(|_| _ = p.recv(CALLED));
        }
        1 => p.send(0, UNASKED, 1),
        _ => {
            p.wait_until(10 * PS);
            p.send(0, REQUESTED, 2);
        }
    });
    let trace = run.unwrap().trace.unwrap();
    let again = Replay::new(&trace).trace(true).run().unwrap().trace.unwrap();
    assert_eq!(again.activities, trace.activities);
}

#[test]
fn smaller_S_can_deadlock() {
    let params = Params::builder(2).word(1).set("L=10,o=2,s=4,S=100,G_s=0").unwrap().build().unwrap();
    let run = Machine::new(params).trace(true).run(|p| {
        p.send(1 - p.id(), BYTES, vec![0; 50]);
        p.recv(BYTES.from(1 - p.id()));
    });
    let smaller = Params::builder(2).word(1).set("L=10,o=2,s=4,S=10,G_s=0").unwrap().build().unwrap();
    let error = Replay::new(&run.unwrap().trace.unwrap()).params(smaller).run().unwrap_err();
    assert!(matches!(error.cause, Cause::Deadlock { waiting: 2, of: 2 }), "{error}");
    assert!(error.to_string().contains("waited to send 50 words, more than S = 10"), "{error}");
}

/// Each call is recorded with its filter, its message and its times.
#[test]
fn calls_record_filters_and_messages() {
    let params = Params::builder(3).word(1).set("L=10,o=2,s=4,S=4,G_s=0").unwrap().build().unwrap();
    let run = Machine::new(params).trace(true).run(|p| match p.id() {
        0 => p.send(1, BYTES, vec![0; 10]),
        1 => {
            assert!(p.try_recv(SIGNAL).is_none());
            assert!(p.recv_deadline(OTHER, 5 * US).is_none());
            p.recv(BYTES);
            p.wait_until(50 * US);
        }
        _ => {}
    });
    let trace = run.unwrap().trace.unwrap();
    let name = |call: &loggp::trace::Call| (call.id, call.kind.name(), call.start.as_ps(), call.end.as_ps());
    let us = |time: i64| time * US.as_ps();
    assert_eq!(
        trace.calls.iter().map(name).collect::<Vec<_>>(),
        [
            (0, "send", 0, us(30)),
            (1, "recv_deadline", 0, us(1)),
            (1, "recv_deadline", us(1), us(5)),
            (1, "recv", us(5), us(42)),
            (1, "wait_until", us(42), us(50)),
        ]
    );
    let CallKind::Send { to: 1, tag, bytes: 10, sent } = &trace.calls[0].kind else { panic!() };
    assert_eq!(tag.to_string(), "with tag 0 (bytes)");
    let rendezvous = sent.rendezvous.as_ref().unwrap();
    let number = |id: loggp::MessageId| (id.from, id.number);
    assert_eq!(number(rendezvous.request), (0, 0));
    assert_eq!(number(rendezvous.reply), (1, 0));
    assert_eq!(number(sent.message), (0, 1));
    let CallKind::Receive { from: None, until: Until::Arrival, received: Some(got), .. } =
        &trace.calls[3].kind
    else {
        panic!()
    };
    assert_eq!(got, sent);
}

/// Bounds the bytes for a message and its activities.
#[test]
fn a_compact_trace_takes_few_bytes_for_a_message() {
    let params = Params::builder(64).set("L=6,o=2,g=4").unwrap().build().unwrap();
    let run = Machine::new(params).trace(true).run(|p| {
        for _ in 0..8 {
            collectives::all_to_all(p, vec![0_u64; p.P()]);
            p.work("think", p.id() as u64, || ());
        }
    });
    let trace = run.unwrap().trace.unwrap();
    let (bytes, messages) = (compact(&trace).len(), trace.messages.len());
    println!("{bytes} bytes for {messages} messages: {:.1} each", bytes as f64 / messages as f64);
    assert!(bytes < 48 * messages, "{bytes} bytes for {messages} messages");
}

/// A change of a call that the auditor must notice: a description, the rule that it breaks, and the change.
type Forgery = (&'static str, AuditRule, fn(&mut Trace));

const FORGERIES: [Forgery; 13] = [
    ("a hole between calls", AuditRule::Calls, |t| t.calls[1].start += PS),
    ("a call that is missing", AuditRule::Calls, |t| drop(t.calls.remove(0))),
    ("a call that was not", AuditRule::Calls, |t| {
        let mut call = t.calls[0].clone();
        (call.start, call.end) = (t.calls[2].end, t.calls[2].end);
        t.calls.insert(3, call);
    }),
    ("other work", AuditRule::Calls, |t| t.calls[0].kind = CallKind::Work("other".into())),
    ("another length", AuditRule::CallResult, |t| {
        let CallKind::Send { bytes, .. } = &mut t.calls[1].kind else { panic!() };
        *bytes += 1;
    }),
    ("another receiver", AuditRule::CallResult, |t| {
        let CallKind::Send { to, .. } = &mut t.calls[1].kind else { panic!() };
        *to = 0;
    }),
    ("another tag", AuditRule::CallResult, |t| {
        let CallKind::Receive { tag, .. } = &mut t.calls[5].kind else { panic!() };
        tag.number += 1;
    }),
    ("another source", AuditRule::CallResult, |t| {
        let CallKind::Receive { from, .. } = &mut t.calls[5].kind else { panic!() };
        *from = Some(1);
    }),
    ("what came second", AuditRule::CallResult, |t| {
        let (first, second) = (t.calls[5].clone(), t.calls[6].clone());
        let [one, other] = [first, second].map(|call| match call.kind {
            CallKind::Receive { received: got, .. } => got,
            _ => panic!(),
        });
        let mut put = |place: usize, message| match &mut t.calls[place].kind {
            CallKind::Receive { received: got, .. } => *got = message,
            _ => panic!(),
        };
        put(5, other);
        put(6, one);
    }),
    ("nothing, where there was something", AuditRule::CallResult, |t| {
        let CallKind::Receive { from, .. } = &mut t.calls[4].kind else { panic!() };
        *from = None;
        let CallKind::Receive { tag, .. } = &t.calls[5].kind else { panic!() };
        let there = tag.clone();
        let CallKind::Receive { tag, .. } = &mut t.calls[4].kind else { panic!() };
        *tag = there;
    }),
    ("a look that was longer", AuditRule::Calls, |t| {
        let CallKind::Receive { until, .. } = &mut t.calls[4].kind else { panic!() };
        *until = Until::Moment(100 * US);
    }),
    ("a reception after its deadline", AuditRule::CallResult, |t| {
        let CallKind::Receive { until, .. } = &mut t.calls[6].kind else { panic!() };
        *until = Until::Moment(Time::ZERO);
    }),
    ("a wait that ended early", AuditRule::Calls, |t| t.calls[7].kind = CallKind::WaitUntil(100 * US)),
];

/// Returns the trace of a run in which 0 works and sends two messages to 1, which looks for another one,
/// receives them, and waits.
fn two_messages() -> Trace {
    let params = Params::builder(2).set("L=6,o=2,g=10").unwrap().build().unwrap();
    let run = Machine::new(params).trace(true).run(|p| match p.id() {
        0 => {
            p.work("think", 1, || ());
            p.send(1, BYTES, vec![0; 8]);
            p.send(1, BYTES, vec![0; 8]);
        }
        _ => {
            p.wait_until(30 * US);
            assert!(p.try_recv(OTHER).is_none());
            p.recv(BYTES);
            p.recv(BYTES);
            p.wait_until(60 * US);
        }
    });
    // Processor 0 makes calls 0 to 2; processor 1 the wait (3), the look (4), the receives (5 and 6) and the
    // wait (7).
    run.unwrap().trace.unwrap()
}

#[test]
fn auditor_detects_forged_calls() {
    assert_eq!(audit(&two_messages()).violations, []);
    for (what, rule, forge) in FORGERIES {
        let mut trace = two_messages();
        forge(&mut trace);
        let shown = audit(&trace).violations;
        assert!(shown.iter().any(|found| found.rule == rule), "{what}: {shown:?}");
        assert!(
            shown.iter().all(|found| matches!(found.rule, AuditRule::Calls | AuditRule::CallResult)),
            "{what}: {shown:?}"
        );
    }
}
