//! The network alone, against a run.

use loggp::trace::Message;
use loggp::{Latency, Machine, PS, Params, Ports, Tag, Time, Traffic};

const BYTES: Tag<Vec<u8>> = Tag::new(0);

/// Messages have the same times as in a run, even if all sends are added in advance.
#[test]
fn messages_have_the_times_of_a_run() {
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..200 {
        let P = rng.usize(1..6);
        let mut any = |most| rng.i64(0..=most) * PS;
        let params =
            Params::builder(P).L(any(20)).o(any(5) + PS).g(any(9)).G(any(3)).word(1).build().unwrap();
        let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
        let latency = if rng.bool() { Latency::Exact } else { Latency::Random { seed: rng.u64(..) } };
        let sends: Vec<Vec<(usize, usize, Time)>> = (0..P)
            .map(|_| {
                let mut at = Time::ZERO;
                let mut send = || {
                    at += rng.i64(0..9) * PS;
                    (rng.usize(0..P), rng.usize(1..5), at)
                };
                (0..4).map(|_| send()).collect()
            })
            .collect();

        let mut traffic = Traffic::new(params, ports, latency).unwrap();
        for (from, sends) in sends.iter().enumerate() {
            sends.iter().for_each(|(to, words, at)| traffic.send(from, *to, *words, *at));
        }
        let mut messages: Vec<Message> = traffic.collect();
        messages.sort_by_key(|message| message.id);

        let machine = Machine::new(params).ports(ports).latency(latency).trace(true);
        let run = machine.run(|p| {
            for (to, words, at) in &sends[p.id()] {
                p.wait_until(*at);
                p.send(*to, BYTES, vec![0; *words]);
            }
            let coming = sends.iter().flatten().filter(|(to, ..)| *to == p.id()).count();
            (0..coming).for_each(|_| drop(p.recv(BYTES)));
        });
        assert_eq!(messages, run.unwrap().trace.unwrap().messages, "{params:?}");
    }
}
