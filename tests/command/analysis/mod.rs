//! Analyses of recorded runs: compared with values by hand for small programs, and to the picosecond for any.

mod drawn_formula;
mod formula;
mod one_sided_tolerance;
mod tolerance;

use std::fs;
use std::path::{Path, PathBuf};

use formula::params;
use loggp::check::Check;
use loggp::params::Model;
use loggp::path::{HopKind, HopTerm};
use loggp::replay::Replay;
use loggp::trace::Trace;
use loggp::{Latency, Machine, Params, Ports, Proc, Run, Stats, Tag, Ties, Time, US, collectives};
use loggp_study::analysis::accounts::{Account, Accounts};
use loggp_study::analysis::{Analysis, GroupActivity, WhatIf, add_replays};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::cases::cases;
use crate::requests::{answer, refusal, rows, stdout_of};

const WORDS: Tag<Vec<u64>> = Tag::named(3, "row");
const BACK: Tag<Vec<u64>> = Tag::new(4);

/// Returns a machine of two processors, on which messages of more than 4 words wait for their receiver.
fn rendezvous_params() -> Params {
    params("P=2,L=10us,o=2us,O_s=1us,G_s=1us,G_l=1us,s=2,S=4")
}

fn record_trace(params: Params, program: impl Fn(&mut Proc) + Sync) -> Trace {
    Machine::new(params).trace(true).run(program).unwrap().trace.unwrap()
}

/// Returns the time on each account in us, without empty accounts.
fn accounts(accounts: &Accounts) -> Vec<(&'static str, i64)> {
    let microseconds = |account: &Account| (account.name(), accounts[*account].as_ps() / 1_000_000);
    Account::all().iter().map(microseconds).filter(|(_, us)| *us != 0).collect()
}

/// Returns the length of each kind of hop on the path in us, without absent kinds.
fn path_parts(analysis: &Analysis) -> Vec<(&'static str, i64)> {
    let microseconds = |part: &HopKind| {
        let steps = analysis.path.iter().filter(|step| step.hop.kind == *part);
        (part.name(), steps.map(|step| step.hop.length()).sum::<Time>().as_ps() / 1_000_000)
    };
    HopKind::ALL.iter().map(microseconds).filter(|(_, us)| *us != 0).collect()
}

/// The receiver computes for 50 us before it takes a message of 10 words.
fn late_receiver(p: &mut Proc) {
    match p.id() {
        0 => p.send(1, WORDS, vec![0; 10]),
        _ => {
            p.work("think", 50, || ());
            p.recv(WORDS);
        }
    }
}

/// The request arrives at 12, and the receiver calls at 50. The sender's wait in between is its
/// synchronization cost. The times of the request, and of the reply from 50 to 64, are the handshake's.
#[test]
fn a_late_receiver_costs_sender_synchronization() {
    let analysis = Analysis::from_trace(&record_trace(rendezvous_params(), late_receiver)).unwrap();
    assert_eq!((analysis.time, analysis.messages, analysis.synchronous), (100 * US, 3, 1));
    assert_eq!(
        accounts(&analysis.processors[0].1),
        [("send overhead", 14), ("receive overhead", 2), ("sender sync", 38), ("handshake", 24), ("end", 22)]
    );
    assert_eq!(
        accounts(&analysis.processors[1].1),
        [("computation", 50), ("send overhead", 2), ("receive overhead", 4), ("handshake", 44)]
    );
    // The path goes from the receiver's work through the reply and the message, without waits.
    assert_eq!(
        path_parts(&analysis),
        [("work", 50), ("o at senders", 14), ("o at receivers", 6), ("L", 20), ("G", 10)]
    );
}

#[test]
fn a_late_sender_costs_receiver_synchronization() {
    let trace = record_trace(rendezvous_params(), |p| match p.id() {
        0 => {
            p.work("think", 50, || ());
            p.send(1, WORDS, vec![0; 10]);
        }
        _ => _ = p.recv(WORDS),
    });
    let analysis = Analysis::from_trace(&trace).unwrap();
    assert_eq!(analysis.time, 112 * US);
    assert_eq!(
        accounts(&analysis.processors[0].1),
        [("computation", 50), ("send overhead", 14), ("receive overhead", 2), ("handshake", 24), ("end", 22)]
    );
    assert_eq!(
        accounts(&analysis.processors[1].1),
        [("send overhead", 2), ("receive overhead", 4), ("receiver sync", 62), ("handshake", 44)]
    );
    assert_eq!(
        path_parts(&analysis),
        [("work", 50), ("o at senders", 16), ("o at receivers", 6), ("L", 30), ("G", 10)]
    );
}

#[test]
fn late_receiver_and_late_sender_cost_both_synchronizations() {
    let trace = record_trace(rendezvous_params(), |p| {
        late_receiver(p);
        match p.id() {
            0 => _ = p.recv(BACK),
            _ => {
                p.work("think", 30, || ());
                p.send(0, BACK, vec![0; 10]);
            }
        }
    });
    let analysis = Analysis::from_trace(&trace).unwrap();
    assert_eq!(analysis.time, 192 * US);
    assert_eq!(
        accounts(&analysis.processors[0].1),
        [
            ("send overhead", 16),
            ("receive overhead", 6),
            ("sender sync", 38),
            ("receiver sync", 64),
            ("handshake", 68)
        ]
    );
    assert_eq!(
        accounts(&analysis.processors[1].1),
        [("computation", 80), ("send overhead", 16), ("receive overhead", 6), ("handshake", 68), ("end", 22)]
    );
    // The first message costs its sender 2 + 62 + 2 + 12, and its receiver 2 + 2 + 44 + 2.
    let group = |sends: bool, tag: &str| {
        let found = analysis.groups.iter().find(|group| match &group.activity {
            GroupActivity::Send(about, class) => {
                sends && class.is_synchronous && about.as_deref() == Some(tag)
            }
            GroupActivity::Receive(about, class) => {
                !sends && class.is_synchronous && about.as_deref() == Some(tag)
            }
            _ => false,
        });
        let group = found.unwrap();
        assert_eq!((group.words, group.count), (Some((10, 10)), 1));
        group.accounts.total()
    };
    assert_eq!((group(true, "tag 3 (row)"), group(false, "tag 3 (row)")), (78 * US, 50 * US));
    assert_eq!((group(true, "tag 4"), group(false, "tag 4")), (40 * US, 114 * US));
    let listed: Time = analysis.groups.iter().map(|group| group.accounts.total()).sum();
    assert_eq!(listed + analysis.total[Account::End], 2 * analysis.time);
}

/// A request advances while its processor computes. The processor's final wait counts as synchronization as
/// far as the request waits for its receiver.
#[test]
fn a_request_costs_only_the_wait_at_its_end() {
    let trace = record_trace(rendezvous_params(), |p| match p.id() {
        0 => {
            let request = p.isend(1, WORDS, vec![0; 10]);
            p.work("meanwhile", 20, || ());
            p.wait(request);
        }
        _ => late_receiver(p),
    });
    let analysis = Analysis::from_trace(&trace).unwrap();
    // The sender waits from 22 on. The receiver calls at 50, and the reply is received at 64.
    assert_eq!((analysis.time, analysis.synchronous), (100 * US, 1));
    assert_eq!(
        accounts(&analysis.processors[0].1),
        [
            ("computation", 20),
            ("send overhead", 14),
            ("receive overhead", 2),
            ("sender sync", 28),
            ("handshake", 14),
            ("end", 22)
        ]
    );
    assert_eq!(
        path_parts(&analysis),
        [("work", 50), ("o at senders", 14), ("o at receivers", 6), ("L", 20), ("G", 10)]
    );
}

/// A request follows the acts of its processor before the call, and not those during the request.
#[test]
fn the_path_goes_through_a_request() {
    let trace = record_trace(rendezvous_params(), |p| match p.id() {
        0 => {
            p.work("before", 10, || ());
            let request = p.isend(1, WORDS, vec![0; 4]);
            p.work("meanwhile", 7, || ());
            p.wait(request);
        }
        _ => _ = p.recv(WORDS),
    });
    let analysis = Analysis::from_trace(&trace).unwrap();
    // The message is sent at 16. The wait at 19 costs o.
    assert_eq!(analysis.time, 32 * US);
    assert_eq!(accounts(&analysis.processors[0].1), [("computation", 17), ("send overhead", 4), ("end", 11)]);
    assert_eq!(
        path_parts(&analysis),
        [("work", 10), ("o at senders", 6), ("o at receivers", 2), ("L", 10), ("G", 4)]
    );

    let trace = record_trace(rendezvous_params(), |p| match p.id() {
        0 => {
            let request = p.isend(1, WORDS, vec![0; 4]);
            p.work("meanwhile", 70, || ());
            p.wait(request);
        }
        _ => _ = p.recv(WORDS),
    });
    let analysis = Analysis::from_trace(&trace).unwrap();
    assert_eq!(path_parts(&analysis), [("work", 70), ("o at senders", 4)]);
}

/// A receiver of a short message waits until the message arrives, without a handshake.
#[test]
fn a_short_message_costs_only_its_receiver_synchronization() {
    let trace = record_trace(rendezvous_params(), |p| match p.id() {
        0 => p.send(1, WORDS, vec![0; 4]),
        _ => _ = p.recv(WORDS),
    });
    let analysis = Analysis::from_trace(&trace).unwrap();
    // 2 + 4 to send, 4 for the words, 10 for the latency, 2 to receive.
    assert_eq!((analysis.time, analysis.synchronous), (22 * US, 0));
    assert_eq!(accounts(&analysis.processors[0].1), [("send overhead", 6), ("end", 16)]);
    assert_eq!(accounts(&analysis.processors[1].1), [("receive overhead", 2), ("receiver sync", 20)]);
}

/// LogP, figure 3: the path of 24 cycles is two messages, and a gap between two sends of the second sender.
#[test]
fn the_critical_path_of_the_optimal_broadcast() {
    let children: [&[usize]; 8] = [&[1, 2, 3, 5], &[4, 6], &[7], &[], &[], &[], &[], &[]];
    let trace = record_trace(params("P=8,L=6us,o=2us,g=4us"), |p| {
        if p.id() > 0 {
            p.recv(WORDS);
        }
        for &child in children[p.id()] {
            p.send(child, WORDS, vec![1]);
        }
    });
    let mut analysis = Analysis::from_trace(&trace).unwrap();
    assert_eq!(analysis.time, 24 * US);
    assert_eq!(path_parts(&analysis), [("o at senders", 4), ("o at receivers", 4), ("L", 12), ("g", 4)]);
    // 0 to 1, whose second message, a gap after its first, goes to 6.
    let hops: Vec<_> = analysis
        .path
        .iter()
        .map(|step| (step.hop.kind.name(), step.hop.id, step.hop.end / 1_000_000))
        .collect();
    let expected = [
        ("o at senders", 0, 2),
        ("L", 0, 8),
        ("o at receivers", 1, 10),
        ("o at senders", 1, 12),
        ("g", 1, 16),
        ("L", 1, 22),
        ("o at receivers", 6, 24),
    ];
    assert_eq!(hops, expected.map(|(name, id, at)| (name, id, Time::from_ps(at))));
    // So 1% of L is worth 0.12 us, of o 0.08, and of g 0.04. The replay agrees, since the other path of 24
    // cycles has the same terms.
    add_replays(&trace, &mut analysis.sensitivities).unwrap();
    let worth: Vec<_> = analysis
        .sensitivities
        .iter()
        .map(|one| (one.parameter.name(), one.path.unwrap().round(), one.replay.unwrap().round()))
        .collect();
    assert_eq!(worth, [("L", 120_000.0, 120_000.0), ("o", 80_000.0, 80_000.0), ("g", 40_000.0, 40_000.0)]);
}

/// Two processors send to one, which has room for one message. The second message enters when the first has
/// arrived, so the first is on the path in place of the second one's stall.
#[test]
fn the_path_goes_through_the_message_that_caused_a_stall() {
    let trace = record_trace(params("P=3,L=6us,o=1us,g=6us"), |p| match p.id() {
        2 => (0..2).for_each(|_| _ = p.recv(WORDS)),
        _ => p.send(2, WORDS, vec![1]),
    });
    let analysis = Analysis::from_trace(&trace).unwrap();
    // o, L for the first, L for the second, o.
    assert_eq!(analysis.time, 14 * US);
    assert_eq!(accounts(&analysis.processors[1].1), [("send overhead", 1), ("stall", 6), ("end", 7)]);
    assert_eq!(path_parts(&analysis), [("o at senders", 1), ("o at receivers", 1), ("L", 6), ("stall", 6)]);
    let of_stall = analysis.path.iter().find(|step| step.hop.kind == HopKind::Stall).unwrap();
    assert_eq!((of_stall.hop.term, of_stall.message), (HopTerm::Latency, Some((0, 2, 1))));
}

/// A port that is still sending or receiving delays the next long message.
#[test]
fn the_path_goes_through_the_port() {
    let trace = record_trace(params("P=3,L=2us,o=1us,g=1us,G=1us"), |p| match p.id() {
        0 => (1..3).for_each(|to| p.send(to, WORDS, vec![0; 11])),
        _ => _ = p.recv(WORDS),
    });
    let analysis = Analysis::from_trace(&trace).unwrap();
    // o, 10 G and g of the first, then L, 10 G and o.
    assert_eq!(analysis.time, (1 + 10 + 1 + 2 + 10 + 1) * US);
    assert_eq!(
        path_parts(&analysis),
        [("o at senders", 1), ("o at receivers", 1), ("L", 2), ("G", 20), ("g", 1)]
    );

    let trace = record_trace(params("P=3,L=2us,o=1us,G=1us"), |p| match p.id() {
        2 => (0..2).for_each(|_| _ = p.recv(WORDS)),
        _ => p.send(2, WORDS, vec![0; 11]),
    });
    let analysis = Analysis::from_trace(&trace).unwrap();
    // The second is streamed after the first: o, L and 10 G of the first, 10 G of the second, o.
    assert_eq!(analysis.time, (1 + 2 + 10 + 10 + 1) * US);
    assert_eq!(path_parts(&analysis), [("o at senders", 1), ("o at receivers", 1), ("G", 10), ("port", 12)]);
}

#[test]
fn the_path_goes_through_the_last_processor_at_a_barrier() {
    let machine = Machine::new(params("P=4,L=6us,o=2us,g=4us")).barrier(3 * US).trace(true);
    let run = machine.run(|p| {
        p.work("think", 10 * (p.id() as u64 % 3), || ());
        p.barrier();
        p.work("think", 5, || ());
    });
    let analysis = Analysis::from_trace(&run.unwrap().trace.unwrap()).unwrap();
    assert_eq!(analysis.time, 28 * US);
    assert_eq!(path_parts(&analysis), [("work", 25), ("barrier", 3)]);
    assert_eq!(analysis.path[0].hop.id, 2);
    assert_eq!(accounts(&analysis.processors[0].1), [("computation", 5), ("barrier", 23)]);
}

#[test]
fn an_empty_run_has_an_analysis() {
    let analysis = Analysis::from_trace(&record_trace(params("P=3,L=1us"), |_| ())).unwrap();
    assert_eq!((analysis.time, analysis.path.len(), analysis.processors.len()), (Time::ZERO, 0, 0));
    assert_eq!(analysis.total, Accounts::default());
}

// What-if analyses.

/// Returns the what-if analysis of the run with the late receiver.
fn what_if(text: &str) -> Analysis {
    let trace = record_trace(rendezvous_params(), late_receiver);
    Analysis::from_run(&WhatIf::read(text, trace.params).unwrap().replay(&trace).unwrap())
}

#[test]
fn a_longer_S_removes_the_sender_synchronization() {
    let analysis = what_if("S=10");
    // The message arrives at 2 + 10 + 10 + 10, long before it is received: 50 + 2.
    assert_eq!((analysis.time, analysis.synchronous, analysis.messages), (52 * US, 0, 1));
    assert_eq!(
        accounts(&analysis.total),
        [("computation", 50), ("send overhead", 12), ("receive overhead", 2), ("end", 40)]
    );
}

#[test]
fn fragments_are_sent_one_after_the_other() {
    let analysis = what_if("fragments=4");
    // Pieces of 4, 4 and 2 words: 6 + 6 + 4 to send, and 3 times 2 to receive.
    assert_eq!((analysis.time, analysis.synchronous, analysis.messages), (56 * US, 0, 3));
    assert_eq!(
        accounts(&analysis.total),
        [("computation", 50), ("send overhead", 16), ("receive overhead", 6), ("end", 40)]
    );
    let sends =
        analysis.groups.iter().find(|group| matches!(group.activity, GroupActivity::Send(..))).unwrap();
    assert_eq!(sends.count, 2, "pieces of 3 to 4 words, and above 1 up to 2: {:?}", analysis.groups);
}

#[test]
fn a_model_and_a_parameter_change_together() {
    // The shortest synchronization costs the sender 4 o' + 2 L more, 12 + 28, without a wait.
    let analysis = what_if("model=loggp-1, L=0");
    assert_eq!(
        accounts(&analysis.total),
        [("computation", 50), ("send overhead", 20), ("receive overhead", 2), ("end", 32)]
    );
    assert_eq!(what_if("L=20us").total[Account::SenderSync], 28 * US);
}

#[test]
fn a_wrong_what_if_is_refused_in_a_sentence() {
    let params = rendezvous_params();
    for (text, part) in [
        ("Q=1", "Q is not a parameter"),
        ("fragments=0", "fragments = 0 is not a length"),
        ("fragments=4,fragments=5", "fragments is given twice"),
        ("model=loggp-3", "there is no loggp-3; give loggps, loggp-1 or loggp-2"),
        ("L", "L is not a parameter; write it as L=6us"),
    ] {
        let refusal = WhatIf::read(text, params).unwrap_err().to_string();
        assert!(refusal.contains(part) && !refusal.contains('\n'), "{text}: {refusal}");
    }
}

// Any run.

/// Runs a random program: rounds of shifts, hot spots, collectives, polls and waits.
fn run_rounds(p: &mut Proc, rounds: usize, longest: usize, seed: u64) {
    let draw = |n: usize, a: usize, b: usize| {
        let mixed = (seed ^ (a as u64) << 32 ^ b as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) as usize % n
    };
    let (id, P) = (p.id(), p.P());
    for round in 0..rounds {
        let value = vec![0; draw(longest + 1, id, round)];
        p.work("think", draw(30, id + 100, round) as u64, || ());
        match draw(7, 999, round) {
            0 => {
                let by = 1 + draw(P, 998, round);
                p.send_recv((id + by) % P, (id + P - by % P) % P, WORDS.step(round), value);
            }
            1 => {
                let hot = draw(P, 998, round);
                if id == hot {
                    (0..P - 1).for_each(|_| _ = p.recv(WORDS.step(round)));
                } else {
                    p.send(hot, WORDS.step(round), value);
                }
            }
            2 => p.barrier(),
            3 => {
                let all: Vec<Vec<u64>> =
                    (0..P).map(|to| vec![0; draw(longest + 1, id * P + to, round)]).collect();
                collectives::all_to_all(p, all);
            }
            4 => {
                // Short messages do not wait for receivers. They are polled for and received at the end.
                for to in (0..P).filter(|to| *to != id) {
                    p.send_receiving(to, BACK.step(round), Vec::new(), WORDS, |_, _| ());
                }
                let until = p.now() + 3 * US;
                let mut left =
                    P - 1 - usize::from(P > 1 && p.recv_deadline(BACK.step(round), until).is_some());
                while left > 0 {
                    left -= usize::from(p.try_recv(BACK.step(round)).is_some());
                }
            }
            5 => {
                let by = 1 + draw(P, 998, round);
                let (to, from) = ((id + by) % P, (id + P - by % P) % P);
                let short = p.isend(to, BACK.step(round), vec![0; draw(3, id, 995)]);
                let sends = p.isend(to, WORDS.step(round), value);
                let comes = p.irecv(WORDS.step(round).from(from));
                let short_comes = p.irecv(BACK.step(round));
                p.work("meanwhile", draw(40, id + 200, round) as u64, || ());
                if draw(2, id, 996) == 0 {
                    p.wait(sends);
                    p.wait(comes);
                } else {
                    p.wait(comes);
                    p.wait(sends);
                }
                p.wait(short_comes);
                p.wait(short);
            }
            _ => p.wait_until(p.now() + draw(20, id, 997) as i64 * US),
        }
    }
}

/// Returns the machine's own statistics, with one sum for its waits.
fn counted_times(stats: &Stats) -> [Time; 7] {
    let Stats { work, send, recv, gap, stall, port, idle, .. } = *stats;
    [work, send, recv, gap, stall, port, idle]
}

/// Returns the same times by the analysis.
fn analyzed_times(accounts: &Accounts) -> [Time; 7] {
    use Account::*;
    let waits = [SenderSync, ReceiverSync, Handshake, Barrier, Idle].map(|account| accounts[account]);
    let idle = waits.into_iter().sum();
    let one = [Computation, Send, Receive, Gap, Stall, Port].map(|account| accounts[account]);
    [one[0], one[1], one[2], one[3], one[4], one[5], idle]
}

fn any_machine() -> impl Strategy<Value = Machine> {
    let texts = select(vec![
        "L=6us,o=2us,g=4us",
        "L=6us,o=0,g=4us",
        "L=9us,o=3us,g=2us,G=1us",
        "L=0,o=1us,g=0",
        "L=5us,o=0,g=0,G=0",
        "L=20us,o=1us,g=7us,G=3us",
        "L=6us,o=2us,O_s=100ns,O_r=300ns,G_s=1us,G_l=500ns,s=3,S=7",
        "L=6us,o=2us,g=4us,O_s=100ns,O_r=300ns,G_s=1us,G_l=500ns,s=3,S=7",
        "L=3us,o=4us,O_s=700ns,O_r=300ns,G_s=20ns,G_l=-600ns,s=2,S=5",
        "L=0,o=0,G_s=0,G_l=0,s=1,S=2",
    ]);
    let latency =
        prop_oneof![3 => Just(Latency::Exact), 1 => any::<u64>().prop_map(|seed| Latency::Random { seed })];
    let ties = prop_oneof![
        Just(Ties::Number),
        Just(Ties::Rotation),
        any::<u64>().prop_map(|seed| Ties::Random { seed })
    ];
    let ports = select(vec![Ports::Single, Ports::Dual]);
    let barrier = select(vec![None, Some(Time::ZERO), Some(3 * US)]);
    (texts, 1..6_usize, latency, ties, ports, barrier).prop_map(|(text, P, latency, ties, ports, barrier)| {
        let machine = Machine::new(params(&format!("{text},P={P}")));
        let machine = machine.latency(latency).ties(ties).ports(ports).trace(true);
        barrier.map_or(machine.clone(), |cost| machine.barrier(cost))
    })
}

proptest! {
    #![proptest_config(cases(1000))]

    /// Every processor's accounts add up to the run's time and agree with the machine's statistics, and so
    /// does the total.
    #[test]
    fn accounts_add_up(machine in any_machine(), n in 0..8_usize, longest in 0..12_usize, seed: u64) {
        let Run { processors, trace, time, .. } = machine.run(|p| run_rounds(p, n, longest, seed)).unwrap();
        let analysis = Analysis::from_trace(&trace.unwrap()).unwrap();
        prop_assert_eq!(analysis.time, time);
        let mut sum = Accounts::default();
        for (id, accounts) in &analysis.processors {
            prop_assert_eq!(accounts.total(), time);
            prop_assert_eq!(analyzed_times(accounts), counted_times(&processors[*id]));
            prop_assert_eq!(accounts[Account::End], time - processors[*id].finish);
            sum += *accounts;
        }
        let silent = processors.len() - analysis.processors.len();
        sum[Account::End] += silent as i64 * time;
        prop_assert_eq!(sum, analysis.total);
        prop_assert_eq!(sum.total(), processors.len() as i64 * time);
        let listed: Time = analysis.groups.iter().map(|group| group.accounts.total()).sum();
        prop_assert_eq!(listed + sum[Account::End], sum.total());
        let sent: usize = analysis.groups.iter().filter(|group| matches!(group.activity, GroupActivity::Send(..))).map(|group| group.count).sum();
        prop_assert_eq!(sent, analysis.messages - 2 * analysis.synchronous);
    }

    /// The path goes from 0 to the end without a hole, the length of each hop is that of the rules, and every
    /// wait on it has a reason.
    #[test]
    fn the_path_adds_up(machine in any_machine(), n in 0..8_usize, longest in 0..12_usize, seed: u64) {
        let Run { trace, time, .. } = machine.run(|p| run_rounds(p, n, longest, seed)).unwrap();
        let trace = trace.unwrap();
        let analysis = Analysis::from_trace(&trace).unwrap();
        let mut at = Time::ZERO;
        for step in &analysis.path {
            let hop = step.hop;
            prop_assert_eq!(hop.start, at);
            at = hop.end;
            let params = &trace.params;
            let length = match hop.term {
                HopTerm::Send(k) => params.send_overhead(k),
                HopTerm::OneSided(k) => params.one_sided_overhead(k),
                HopTerm::Receive(k) => params.recv_overhead(k),
                HopTerm::Stream(k) => params.stream(k),
                HopTerm::Gap => params.g,
                HopTerm::Latency if trace.latency == Latency::Exact => params.L,
                HopTerm::Latency => hop.length().clamp(Time::ZERO, params.L),
                HopTerm::Fixed => {
                    // A request that another one delays looks like a gap.
                    let put_off = hop.kind == HopKind::Gap && !trace.progress.is_empty();
                    let has_reason = !matches!(hop.kind, HopKind::Gap | HopKind::Stall | HopKind::Port) || put_off;
                    prop_assert!(has_reason, "{:?}", hop);
                    continue;
                }
            };
            prop_assert_eq!(hop.length(), length, "{:?}", hop);
        }
        prop_assert_eq!(at, time);
        let worth = |name| analysis.sensitivities.iter().find(|one| one.parameter.name() == name);
        // 1% more of every parameter is 1% more of all hops that are not fixed.
        let fixed: Time = analysis.path.iter().filter(|step| step.hop.term == HopTerm::Fixed).map(|step| step.hop.length()).sum();
        let all: f64 = analysis.sensitivities.iter().filter_map(|one| one.path).sum();
        let rest = (time - fixed).as_ps() as f64 / 100.0;
        prop_assert!((all - rest).abs() < 1.0 + 1e-6 * rest.abs(), "{} {}", all, rest);
        prop_assert!(trace.params.L == Time::ZERO || worth("L").is_some());
    }

    /// The analysis of a replay is that of the recorded run.
    #[test]
    fn a_replay_has_the_analysis_of_the_run(machine in any_machine(), n in 0..6_usize, longest in 0..12_usize, seed: u64) {
        let trace = machine.run(|p| run_rounds(p, n, longest, seed)).unwrap().trace.unwrap();
        let again = WhatIf::read("", trace.params).unwrap().replay(&trace).unwrap();
        let (one, other) = (Analysis::from_trace(&trace).unwrap(), Analysis::from_trace(&again).unwrap());
        prop_assert_eq!((one.time, one.total, one.path), (other.time, other.total, other.path));
    }
}

/// The analysis counts the rendezvous that the recorded calls contain.
#[test]
fn rendezvous_are_those_of_the_calls() {
    for seed in 0..50 {
        let params = params("P=4,L=6us,o=2us,g=1us,O_s=100ns,G_s=1us,G_l=500ns,s=3,S=5");
        let trace = record_trace(params, |p| run_rounds(p, 6, 12, seed));
        let recorded = trace.calls.iter().filter_map(|call| call.kind.sent()?.rendezvous.as_ref()).count();
        let analysis = Analysis::from_trace(&trace).unwrap();
        assert_eq!(analysis.synchronous, recorded, "{seed}");
        // Without recorded calls only the tags are unknown.
        let analysis_without = Analysis::from_trace(&Trace { calls: Vec::new(), ..trace }).unwrap();
        assert_eq!(analysis_without.total, analysis.total);
    }
}

proptest! {
    #![proptest_config(cases(500))]

    /// A damaged trace has an analysis or an error, even if it is not checked against the rules.
    #[test]
    fn analysis_survives_any_trace(
        machine in any_machine(),
        n in 1..6_usize,
        seed: u64,
        edits in proptest::collection::vec((0..9_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<i64>()), 1..5),
    ) {
        let mut trace = machine.run(|p| run_rounds(p, n, 9, seed)).unwrap().trace.unwrap();
        for (kind, one, other, ps) in edits {
            let Trace { activities, messages, progress, .. } = &mut trace;
            if activities.is_empty() || messages.is_empty() {
                continue;
            }
            let (a, b) = (one.index(activities.len()), other.index(activities.len()));
            let (m, k) = (one.index(messages.len()), other.index(messages.len()));
            match kind {
                0 => activities.swap(a, b),
                1 => activities[a].end = Time::from_ps(ps),
                2 => activities[a].kind = activities[b].kind.clone(),
                3 => drop(activities.remove(a)),
                4 => drop(messages.remove(m)),
                5 => messages[m].to = messages[k].id.from.wrapping_add(ps as usize),
                6 => messages[m].enter = Time::from_ps(ps),
                7 => messages[m].arrival = messages[k].enter,
                _ if progress.is_empty() => activities[a].id = ps as usize,
                _ => {
                    let at = one.index(progress.len());
                    progress[at].kind = activities[b].kind.clone();
                }
            }
        }
        let of_run = Analysis::from_run(&trace);
        if let Ok(analysis) = Analysis::from_trace(&trace) {
            prop_assert_eq!(analysis.total, of_run.total);
            prop_assert_eq!(analysis.total.total(), trace.params.P as i64 * analysis.time);
        }
    }
}

#[test]
fn a_trace_that_breaks_the_rules_is_refused() {
    let mut trace = record_trace(rendezvous_params(), late_receiver);
    trace.activities[0].end = 3 * US;
    let refusal = Analysis::from_trace(&trace).unwrap_err().to_string();
    assert!(refusal.starts_with("it breaks the rules of the machine: "), "{refusal}");
}

#[test]
fn a_what_if_replays_with_its_model() {
    let trace = record_trace(rendezvous_params(), late_receiver);
    let what_if =
        WhatIf { name: String::new(), machine: trace.machine(), fragments: None, model: Model::LogGP1 };
    let time = Replay::new(&trace).model(Model::LogGP1).run().unwrap().time;
    assert_eq!(Analysis::from_run(&what_if.replay(&trace).unwrap()).time, time);
}

// The command.

/// Returns a path without a file.
fn fresh_path(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("analysis");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    path
}

fn write_trace(name: &str, trace: &Trace) -> String {
    let path = fresh_path(name);
    trace.write(fs::File::create(&path).unwrap()).unwrap();
    path.display().to_string()
}

#[test]
fn analyze_shows_where_the_time_went() {
    let path = write_trace("late.json", &record_trace(rendezvous_params(), late_receiver));
    let text = stdout_of(&format!("analyze {path} --what-if S=10 --model loggp-1 --path"));
    for part in [
        "times in ns",
        "sender sync",
        "critical path",
        "1% more",
        "model=loggp-1",
        "send tag 3 (row), above S",
        "o at receivers",
        "critical path by processor",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let rows = rows(&format!("analyze {path} --what-if S=10 --path"));
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["time_ns"], &rows[1]["time_ns"]), (&100_000.into(), &52_000.into()));
    assert_eq!(rows[0]["total_ns"]["sender_sync"], 38_000);
    assert_eq!(rows[0]["path_ns"]["L"], 20_000);
    assert_eq!(rows[0]["processors"][1]["computation_ns"], 50_000);
    assert_eq!(rows[1]["change"], -0.48);
    assert_eq!(rows[1]["params"]["S"], 10);
    let shares = json!([
        {"processor": 1, "hops": 4, "work_ns": 50_000, "time_ns": 56_000},
        {"processor": 0, "hops": 2, "work_ns": 0, "time_ns": 14_000},
    ]);
    assert_eq!(rows[0]["path_processors"], shares);
    let hops = rows[0]["hops"].as_array().unwrap();
    let lengths: i64 = hops.iter().map(|hop| hop["length_ns"].as_i64().unwrap()).sum();
    assert_eq!(lengths, 100_000);
    let csv = stdout_of(&format!("analyze {path} {path} --format csv"));
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.starts_with("run,trace,params.L,"), "{csv}");
}

#[test]
fn analyze_draws_bars() {
    let path = write_trace("bars.json", &record_trace(rendezvous_params(), late_receiver));
    let svg = fresh_path("bars.svg");
    stdout_of(&format!("analyze {path} -o {}", svg.display()));
    let by_processor = fs::read_to_string(&svg).unwrap();
    for part in ["computation", "sender sync", "handshake", "processor"] {
        assert!(by_processor.contains(part), "{part}");
    }
    assert!(!by_processor.contains("receiver sync"), "nobody waited for a sender");
    stdout_of(&format!("analyze {path} --what-if S=10 -o {}", svg.display()));
    let by_run = fs::read_to_string(&svg).unwrap();
    assert!(by_run.contains("bars.json") && by_run.contains("S=10") && by_run.contains("mean"));
    assert!(
        refusal(&format!("analyze {path} -o bars.gif"))
            .contains("give a name that ends in .svg, .png or .pdf for a picture")
    );
}

#[test]
fn analyze_refuses_in_a_sentence() {
    let trace = record_trace(rendezvous_params(), late_receiver);
    let path = write_trace("refused.json", &trace);
    for (line, part) in [
        (format!("{path} --what-if P=3"), "P=3: the trace is of 2 processors and not of 3; give P = 2"),
        (format!("{path} --model loggp-7"), "there is no loggp-7"),
    ] {
        let refusal = refusal(&format!("analyze {line}"));
        assert!(refusal.contains(part), "{refusal}");
    }
    let logp = write_trace("logp.json", &record_trace(params("P=2,L=6us,o=2us"), late_receiver));
    assert!(refusal(&format!("analyze {logp} --model loggp-1")).contains("follows from LogGPS's parameters"));

    let good = fs::read_to_string(&path).unwrap();
    let broken = fresh_path("broken.json");
    for (text, part) in [
        (String::new(), "it is empty"),
        ("\u{0}\u{1}nothing".into(), "this is not the trace of a run"),
        (good[..good.len() / 2].into(), "this is not the trace of a run"),
        (good.replacen("12000000", "12000001", 1), ""),
    ] {
        fs::write(&broken, text).unwrap();
        let refusal = refusal(&format!("analyze {}", broken.display()));
        assert!(refusal.contains(part), "{refusal}");
    }
    let mut moved = trace.clone();
    moved.activities[0].end = 3 * US;
    let moved = write_trace("moved.json", &moved);
    assert!(refusal(&format!("analyze {moved}")).contains("breaks the rules of the machine"));
    assert!(Path::new(&moved).exists());
}

/// A program that would deadlock if its messages waited for their receivers: the error names the deadlock.
#[test]
fn a_smaller_S_can_deadlock() {
    let trace = record_trace(params("P=2,L=1us,o=1us,G_s=1ns,s=2,S=100"), |p| {
        p.send(1 - p.id(), WORDS, vec![0; 50]);
        p.recv(WORDS);
    });
    let path = write_trace("deadlock.json", &trace);
    stdout_of(&format!("analyze {path}"));
    let (status, _, error) = answer(&format!("analyze {path} --what-if S=10"));
    assert_eq!(status, Some(1), "{error}");
    assert!(error.contains("S=10: deadlock: 2 of 2 processors wait"), "{error}");
}

/// A run with a lost message or a crash has a page like any other.
#[test]
fn a_run_with_faults_is_drawn() {
    let machine = Machine::new(params("P=2,L=6us,o=1us,g=2us"));
    let program = |p: &mut Proc| match p.id() {
        0 => p.send(1, WORDS, vec![1]),
        _ => _ = p.recv(WORDS),
    };
    for (number, check) in [Check::new().losses(1), Check::new().crashes(1)].into_iter().enumerate() {
        let failure = check.run_surviving(&machine, program, |_| Ok(())).unwrap().failure.unwrap();
        let trace = write_trace(&format!("fault-{number}.json"), &failure.trace);
        stdout_of(&format!("timeline {trace} -o {trace}.html"));
        assert!(fs::read_to_string(format!("{trace}.html")).unwrap().ends_with("</html>\n"));
    }
}

/// Who gave cycles reads cycles: whatever is made of a run has the unit of the run.
#[test]
fn a_run_in_cycles_is_read_in_cycles() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["json", "loggp"] {
        let trace = folder.path().join(format!("run.{ending}")).display().to_string();
        stdout_of(&format!("run broadcast L=6 o=2 g=4 --trace {trace}"));
        for command in ["audit", "analyze", "tolerance"] {
            let shown = stdout_of(&format!("{command} {trace}"));
            let heading = "L = 6, o = 2, g = 4, G = 4, P = 8, word = 8 bytes (a cycle is 1 us)\n";
            assert!(shown.contains(heading) && shown.contains("times in cycles"), "{shown}");
            assert!(!shown.contains(" us ") && !shown.contains(" us\n") && !shown.contains(" ns"), "{shown}");
        }
        let page = folder.path().join("run.html");
        stdout_of(&format!("timeline {trace} -o {}", page.display()));
        assert!(fs::read_to_string(page).unwrap().contains(r#""unit":["cycles",1000000]"#));
    }
}
