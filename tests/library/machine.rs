//! The machine through its public API: the costs and results of calls, and the ends of runs.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use loggp::audit::audit;
use loggp::collectives::Shift;
use loggp::params::LogGps;
use loggp::{
    Cause, ClockKind, Dilation, Latency, MS, Machine, PS, Params, Payload, Proc, ProcStatus, Run, RunError,
    Tag, Time, US, Work, preset,
};

use crate::drawn::{Case, draw};

// Tags of one number with different types, which no program should have, and of other numbers.
const SIGNAL: Tag<()> = Tag::new(0);
const BYTE: Tag<u8> = Tag::new(0);
const SHORT: Tag<u16> = Tag::new(0);
const COUNT: Tag<u32> = Tag::new(0);
const NUMBER: Tag<usize> = Tag::new(0);
const BYTES: Tag<Vec<u8>> = Tag::new(0);
const WORDS: Tag<Vec<u64>> = Tag::new(0);
const PAIR: Tag<(u32, Time)> = Tag::new(2);
const OTHER_BYTE: Tag<u8> = Tag::new(1);
const OTHER_SHORT: Tag<u16> = Tag::new(7);

/// Creates a machine with charged work, from parameters in cycles of 1 us.
fn machine(P: usize, parameters: &str) -> Machine {
    Machine::new(Params::builder(P).set(parameters).unwrap().build().unwrap()).work(Work::Charged)
}

/// Runs a program on both clocks, checks that the runs agree, and returns that on the virtual clock.
fn same_on_both_clocks<R: Send + PartialEq + Debug>(
    machine: &Machine,
    program: impl Fn(&mut Proc) -> R + Sync,
) -> Run<R> {
    let model = machine.run(&program).unwrap();
    let wall = machine.clone().clock(ClockKind::Wall).dilation(Dilation::Fixed(1.0));
    let measured = wall.cores(4).oversubscribed(true).run(&program).unwrap();
    assert_eq!(measured.results, model.results);
    assert_eq!(measured.processors, model.processors);
    assert_eq!(measured.trace, model.trace);
    model
}

/// Returns a time in whole microseconds.
fn us(time: Time) -> i64 {
    assert_eq!(time.as_ps() % US.as_ps(), 0, "{time}");
    time.as_ps() / US.as_ps()
}

// Sending and receiving.

#[test]
fn values_of_every_kind_arrive_unchanged() {
    type Everything = (Vec<f64>, String, Option<[u16; 3]>, (char, bool), Box<[u8]>);
    let run = machine(2, "L=6, o=2, g=4").run(|p| {
        let everything: Everything =
            (vec![1.5; 100], "text".into(), Some([1, 2, 3]), ('c', true), vec![7; 9].into());
        match p.id() {
            0 => {
                p.send(1, BYTE, 7_u8);
                p.send(1, SIGNAL, ());
                p.send(1, Tag::new(0), [3_u64; 50]);
                p.send(1, Tag::new(0), everything);
                true
            }
            _ => {
                p.recv(BYTE.from(0)) == 7
                    && p.recv_with_sender(SIGNAL) == (0, ())
                    && p.recv(Tag::<[u64; 50]>::new(0).from(0)) == [3; 50]
                    && p.recv_with_sender(Tag::<Everything>::new(0)) == (0, everything)
            }
        }
    });
    assert_eq!(run.unwrap().results, [true, true]);
}

#[test]
fn receive_takes_only_its_tag() {
    let run = machine(2, "L=6, o=2, g=4, word=16").run(|p| match p.id() {
        0 => {
            for tag in [3, u32::MAX, 0, 3] {
                p.send(1, PAIR.step(tag as usize), (tag, p.now()));
            }
            vec![]
        }
        _ => [0, 3, 3, u32::MAX].map(|tag| p.recv(PAIR.step(tag as usize).from(0))).to_vec(),
    });
    let expected = [(0, 6), (3, 0), (3, 10), (u32::MAX, 2)].map(|(tag, at)| (tag, at * US));
    assert_eq!(run.unwrap().results[1], expected);
}

#[test]
fn the_smallest_arrival_comes_first_and_then_the_lowest_source() {
    let run = machine(5, "L=6, o=2, G=1").run(|p| match p.id() {
        0 => {
            p.wait_until(100 * US);
            (0..5).map(|_| p.recv_with_sender(WORDS).0).collect()
        }
        4 => {
            p.send(0, WORDS, vec![0_u64; 9]); // arrives at 2 + 6 + 8
            p.wait_until(9 * US);
            p.send(0, WORDS, vec![0_u64]); // arrives at 9 + 2 + 6, later than the first
            vec![]
        }
        id => {
            p.wait_until(if id == 2 { 5 * US } else { 6 * US });
            p.send(0, WORDS, vec![0_u64]); // arrive at 13 and 14
            vec![]
        }
    });
    assert_eq!(run.unwrap().results[0], [2, 1, 3, 4, 4]);
}

#[test]
fn a_look_at_an_empty_inbox_costs_a_cycle() {
    let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).cycle(500_000 * PS).build().unwrap();
    let run = Machine::new(params).work(Work::Charged).run(|p| match p.id() {
        0 => {
            p.send(1, BYTE, 1_u8);
            p.send(1, BYTE, 2_u8);
            vec![]
        }
        _ => {
            let mut looks = vec![0, 0];
            for (i, look) in looks.iter_mut().enumerate() {
                while p.try_recv(BYTE).is_none() {
                    *look += 1;
                }
                assert_eq!(us(p.now()), [10, 14][i]);
            }
            assert_eq!(p.try_recv(BYTE), None);
            assert_eq!(p.try_recv(OTHER_BYTE), None);
            looks
        }
    });
    let run = run.unwrap();
    // Two looks a microsecond: from 0 to 8, and from 10 to 12.
    assert_eq!(run.results[1], [16, 4]);
    assert_eq!(us(run.time), 15);
}

#[test]
fn receive_gives_up_at_its_deadline() {
    for (deadline, got, end) in [(7, false, 7), (8, true, 10), (9, true, 10), (100, true, 10)] {
        let run = machine(2, "L=6, o=2, g=4").run(|p| match p.id() {
            0 => {
                p.send(1, BYTE, 5_u8);
                None
            }
            _ => {
                let got = p.recv_deadline(BYTE, deadline * US);
                let at = us(p.now());
                if got.is_none() {
                    p.recv(BYTE);
                }
                Some((got.is_some(), at))
            }
        });
        assert_eq!(run.unwrap().results[1], Some((got, end)), "until {deadline}");
    }
    // A deadline that has passed is now.
    let run = machine(1, "").run(|p| {
        p.wait_until(5 * US);
        assert_eq!(p.recv_deadline(BYTE, 3 * US), None);
        us(p.now())
    });
    assert_eq!(run.unwrap().results, [6]);
}

// Sending and receiving at the same time.

/// A look costs a cycle, with or without success. It sees messages that have arrived, also while the gap
/// since the last reception runs, and does not take them.
#[test]
fn a_look_costs_a_cycle_and_takes_nothing() {
    let run = same_on_both_clocks(&machine(3, "L=6, o=2, g=4").trace(true), |p| {
        let mut looks = vec![];
        if p.id() > 0 {
            p.wait_until((p.id() - 1) as i64 * US);
            p.send(0, BYTE, p.id() as u8); // arrive at 8 and 9
            return looks;
        }
        let look = |p: &mut Proc, looks: &mut Vec<_>| looks.push((p.probe(BYTE), us(p.now())));
        look(p, &mut looks);
        p.wait_until(7 * US);
        look(p, &mut looks); // at 7
        look(p, &mut looks); // at 8
        look(p, &mut looks); // at 9: both have arrived, and it sees the one that a receive would take
        assert!(
            p.probe(BYTE.from(2)).is_some()
                && p.probe(BYTE.from(1)).is_some()
                && p.probe(BYTE.from(0)).is_none()
        );
        assert_eq!((us(p.now()), p.probe(OTHER_BYTE), us(p.now())), (13, None, 14));
        assert_eq!((p.recv_with_sender(BYTE), us(p.now())), ((1, 1), 16));
        look(p, &mut looks); // at 16
        assert_eq!((p.try_recv(BYTE), us(p.now())), (None, 18)); // the gap runs until 18
        assert_eq!((p.try_recv(BYTE.with_sender()), us(p.now())), (Some((2, 2)), 20));
        look(p, &mut looks);
        looks
    });
    let looks = [(None, 1), (None, 8), (Some(1), 9), (Some(1), 10), (Some(2), 17), (None, 21)];
    assert_eq!(run.results[0], looks);
    let audit = audit(run.trace.as_ref().unwrap());
    assert!(audit.is_clean(), "{:?}", audit.violations);
}

/// A look sees an announced message, which a receive then takes. Looking for a message that is never sent is
/// an error.
#[test]
fn look_sees_announced_messages_and_ends() {
    let gps = "word=1,L=6,o=2,O_s=1us,O_r=1us,G_s=1us,G_l=1us,s=2,S=2";
    let run = same_on_both_clocks(&machine(2, gps), |p| match p.id() {
        0 => p.send(1, BYTES, vec![7; 5]),
        _ => {
            while p.probe(BYTES).is_none() {}
            assert_eq!(us(p.now()), 9); // the request arrives at 8
            assert_eq!(p.recv(BYTES.from(0)), [7; 5]);
        }
    });
    assert!(run.time > 9 * US);
    let error =
        failure(machine(2, "L=6, o=2, g=4"), |p| while p.id() == 0 && p.probe(OTHER_SHORT).is_none() {});
    assert_eq!(error.cause, Cause::PollingDeadlock { id: 0 });
}

/// All processors send to all others and receive from them: each sends and receives a message every g.
#[test]
fn an_exchange_in_steps_takes_a_gap_per_message() {
    for P in 2..10_usize {
        let run = same_on_both_clocks(&machine(P, "L=8, o=2, g=4"), |p| {
            let (id, P) = (p.id(), p.P());
            let steps = (1..P).map(|i| Shift { to: (id + i) % P, value: id, from: (id + P - i) % P });
            let mut came = vec![];
            p.exchange(NUMBER, 1, steps, |from, value| {
                assert_eq!(value, from);
                came.push(from);
            });
            came.sort();
            (came, us(p.now()))
        });
        for (id, (came, _)) in run.results.iter().enumerate() {
            assert!(came.iter().copied().eq((0..P).filter(|other| *other != id)));
        }
        assert_eq!(run.time, (P as i64 - 2) * (4 * US) + 12 * US);
    }
}

/// Messages have all lengths, and in each step others of them wait for their receivers (LogGPS). There is no
/// deadlock, and all messages are received, whatever the latencies are.
#[test]
fn exchange_in_steps_does_not_deadlock() {
    for seed in 0..100 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let P = rng.usize(1..8);
        let gps = format!("O_s=1us,O_r=1us,G_s=1us,G_l=1us,s=2,S={}", rng.usize(2..6));
        let machine = machine(P, &format!("word=1,L={},o=2,g={},{gps}", rng.u8(0..9), rng.u8(0..30)));
        let length = |from: usize, step: usize| (seed as usize + 7 * from + 3 * step) % 9;
        for latency in [Latency::Exact, Latency::Random { seed }] {
            let run = machine.clone().latency(latency).run(|p| {
                let (id, P) = (p.id(), p.P());
                let steps = (0..2 * P).map(|i| {
                    let value = vec![id as u8; length(id, i)];
                    Shift { to: (id + i) % P, value, from: (id + 2 * P - i) % P }
                });
                let mut came = vec![0; P];
                p.exchange(BYTES, 8, steps, |from, value| {
                    assert!(value.iter().all(|byte| usize::from(*byte) == from));
                    came[from] += value.len();
                });
                came
            });
            for (to, came) in run.unwrap().results.into_iter().enumerate() {
                for (from, came) in came.into_iter().enumerate() {
                    let step = (to + P - from) % P;
                    assert_eq!(came, length(from, step) + length(from, step + P), "{seed}: {from} to {to}");
                }
            }
        }
    }
}

/// Runs an all-to-all of n short messages each.
fn all_to_all(p: &mut Proc, n: usize, receiving: bool) {
    let (id, P) = (p.id(), p.P());
    let mut received = 0;
    for i in 0..n {
        let to = (id + 1 + i % (P - 1)) % P;
        if receiving {
            p.send_receiving(to, NUMBER, i, NUMBER, |_, _| received += 1);
        } else {
            p.send(to, NUMBER, i);
        }
    }
    for _ in received..n {
        p.recv(NUMBER);
    }
}

/// LogP, section 4.1.4: a message every max(2o, g), not every 2g.
#[test]
fn all_to_all_sends_and_receives_every_g() {
    let (P, n) = (6, 50);
    let (L, o, g) = (6, 2, 10);
    let time = |parameters: &str, receiving: bool| {
        us(machine(P, parameters).run(|p| all_to_all(p, n as usize, receiving)).unwrap().time)
    };
    // The last message enters at o + (n-1)g; earlier arrivals have been received by then.
    assert_eq!(time("L=6, o=2, g=10", true), o + (n - 1) * g + L + o);
    // Otherwise the receptions start when the last message has entered, and take a g each.
    assert_eq!(time("L=6, o=2, g=10", false), o + (n - 1) * g + (n - 1) * g + o);
    // With a large overhead no processor is ever idle: 2o for each message.
    assert_eq!(time("L=5, o=5, g=4", true), n * 2 * 5);
}

#[test]
fn messages_within_the_gap_go_to_the_closure() {
    let run = machine(3, "L=6, o=2, g=20").run(|p| {
        let mut came = vec![];
        if p.id() == 0 {
            p.send(1, BYTE, 0_u8); // the gap runs until 20
            p.send_receiving(1, BYTE, 0_u8, OTHER_SHORT.with_sender(), |p, (from, value)| {
                came.push((us(p.now()), from, value))
            });
            assert_eq!(us(p.now()), 22);
            came.push((0, p.recv_with_sender(OTHER_SHORT).0, 0));
        } else if p.id() == 1 {
            p.recv(BYTE);
            p.recv(BYTE);
            p.send(0, OTHER_SHORT, 1_u16); // too late for the gap
        } else {
            p.send(0, OTHER_SHORT, 42_u16); // arrives at 8
        }
        came
    });
    assert_eq!(run.unwrap().results[0], [(10, 2, 42), (0, 1, 0)]);
}

/// Messages that the closure sends enter before the message of the call.
#[test]
fn the_closure_may_send() {
    let run = machine(2, "L=6, o=2, g=4").run(|p| match p.id() {
        0 => {
            p.send(1, BYTE, 1_u8);
            p.wait_until(20 * US);
            p.send_receiving(1, BYTE, 3_u8, BYTE.with_sender(), |p, (from, value)| {
                p.send(from, BYTE, value + 1)
            });
            vec![]
        }
        _ => {
            let first = p.recv(BYTE);
            p.send(0, BYTE, first);
            vec![first, p.recv(BYTE), p.recv(BYTE)]
        }
    });
    assert_eq!(run.unwrap().results[1], [1, 2, 3]);
}

#[test]
fn next_send_is_when_the_gap_is_over() {
    let run = machine(2, "L=6, o=2, g=10, G=1").run(|p| {
        if p.id() == 1 {
            return (0..3).for_each(|_| drop(p.recv(WORDS)));
        }
        assert!(p.next_send() <= p.now());
        p.send(1, WORDS, vec![0_u64]);
        assert_eq!((us(p.now()), us(p.next_send())), (2, 10));
        p.wait_until(p.next_send());
        p.send(1, WORDS, vec![0_u64; 5]); // the overhead overlaps the rest of the gap: it enters at 12
        assert_eq!((us(p.now()), us(p.next_send())), (12, 12 + 4 + 10 - 2));
        p.wait_until(p.next_send());
        p.send(1, WORDS, vec![0_u64]);
        assert_eq!(us(p.now()), 26);
    });
    assert_eq!(run.unwrap().processors[0].gap, Time::ZERO);
}

// Work.

#[test]
fn work_costs_units_times_the_rate() {
    let machine = machine(2, "").rate("butterfly", 4_500_000 * PS).rate("free", Time::ZERO);
    let run = machine.run(|p| {
        let sum: u64 = p.work("butterfly", 10, || (0..10).sum());
        let after_butterflies = us(p.now());
        p.work("compare", 3, || ());
        p.work("free", 1_000, || ());
        p.work("butterfly", 0, || ());
        (sum, after_butterflies, us(p.now()))
    });
    let run = run.unwrap();
    assert_eq!(run.results, [(45, 45, 48); 2]);
    assert_eq!(us(run.processors[0].work), 48);
}

/// A machine with default settings is exact.
#[test]
fn work_is_charged_by_default() {
    assert_eq!(Work::default(), Work::Charged);
    let machine = Machine::new(Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build().unwrap());
    for _ in 0..10 {
        let run = machine.run(|p| {
            p.work("add", 3, || ());
            std::hint::black_box((0..10_000).map(std::hint::black_box).sum::<u64>());
            p.send((p.id() + 1) % 4, NUMBER, p.id());
            p.recv_with_sender(NUMBER).0
        });
        let run = run.unwrap();
        assert_eq!((us(run.time), run.results), (3 + 2 + 6 + 2, vec![3, 0, 1, 2]));
    }
}

#[test]
fn measured_work_and_code_between_calls_cost_their_time() {
    let params = Params::builder(1).build().unwrap();
    let spin = || {
        let start = std::time::Instant::now();
        while start.elapsed() < std::time::Duration::from_millis(3) {}
    };
    let run = Machine::new(params).work(Work::Measured).run(|p| {
        p.work("spin", 1, spin);
        let at = p.now();
        spin();
        p.send(0, SIGNAL, ());
        p.recv(SIGNAL);
        at
    });
    let run = run.unwrap();
    // The program and the machine use two clocks of the host, which may differ a little.
    let least = 3 * MS - 30 * US;
    assert!(run.results[0] >= least && run.time >= 2 * least, "{} and {}", run.results[0], run.time);
    assert_eq!(run.processors[0].work, run.time);
}

// Whole runs.

#[test]
fn a_run_is_the_same_every_time_and_in_every_thread() {
    let cases: Vec<_> = (0..50).map(draw).collect();
    let runs = || {
        let run = |case: &Case| case.run_on(&case.machine()).map_err(|error| error.to_string());
        Vec::from_iter(
            cases.iter().map(run).map(|ran| ran.map(|run| (run.results, run.processors, run.trace))),
        )
    };
    let first = runs();
    std::thread::scope(|scope| {
        (0..4).for_each(|_| _ = scope.spawn(|| assert!(runs() == first)));
    });
}

/// A drawn latency depends on its seed.
#[test]
fn other_seeds_draw_other_latencies() {
    let traces = [7, 8].map(|seed| {
        let machine = machine(9, "L=17, o=2, g=5, G=1").latency(Latency::Random { seed }).trace(true);
        machine.run(|p| all_to_all(p, 8, true)).unwrap().trace
    });
    assert_ne!(traces[0], traces[1]);
}

#[test]
fn a_program_borrows_from_its_caller_and_results_come_in_order() {
    let numbers: Vec<u64> = (0..100).collect();
    let calls = Mutex::new(vec![]);
    let run = machine(4, "L=6, o=2, g=4").run(|p| {
        calls.lock().unwrap().push(p.id());
        let mine = &numbers[25 * p.id()..25 * (p.id() + 1)];
        (p.id(), mine)
    });
    let results = run.unwrap().results;
    calls.lock().unwrap().sort();
    assert_eq!(*calls.lock().unwrap(), [0, 1, 2, 3]);
    assert_eq!(results.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(results.iter().flat_map(|(_, part)| part.iter().copied()).collect::<Vec<_>>(), numbers);
}

/// `run` calls the program once for each processor, whatever the clock and the dilation; `measure` may call
/// it more often to find the dilation.
#[test]
fn run_runs_once_and_measure_as_often_as_needed() {
    let machine = machine(3, "L=6, o=2, g=4");
    let wall = machine.clone().clock(ClockKind::Wall);
    let fixed = wall.clone().dilation(Dilation::Fixed(3.0));
    for (machine, dilation) in [(machine, None), (wall, Some(1.0)), (fixed, Some(3.0))] {
        let calls = [0; 3].map(AtomicUsize::new);
        let ring = |p: &mut Proc| {
            calls[p.id()].fetch_add(1, Ordering::Relaxed);
            p.send((p.id() + 1) % 3, NUMBER, p.id());
            p.recv_with_sender(NUMBER).0
        };
        let run = machine.run(ring).unwrap();
        assert_eq!(calls.each_ref().map(|calls| calls.swap(0, Ordering::Relaxed)), [1; 3], "{machine:?}");
        assert_eq!((run.results, run.model), (vec![2, 0, 1], Some(10 * US)));
        assert_eq!(run.host.map(|host| host.dilation), dilation);

        assert_eq!(machine.measure(ring).unwrap().results, [2, 0, 1]);
        let calls = calls.each_ref().map(|calls| calls.swap(0, Ordering::Relaxed));
        let expected = if dilation == Some(1.0) { 2..=5 } else { 1..=1 };
        assert!(calls.iter().all(|calls| expected.contains(calls)), "{calls:?} {machine:?}");
    }
}

#[test]
fn every_processor_gets_its_own_input() {
    /// A type that can be moved but not cloned.
    struct Part(Vec<u32>);
    for clock in [ClockKind::Virtual, ClockKind::Wall] {
        let machine = machine(3, "L=6, o=2, g=4").clock(clock);
        let parts = (0..3).map(|id| Part(vec![id; 2])).collect();
        let run = machine.run_with(parts, |p, Part(part)| (p.id(), part)).unwrap();
        assert_eq!(run.results, [(0, vec![0, 0]), (1, vec![1, 1]), (2, vec![2, 2])]);
        for n in [0, 2, 4] {
            let error = machine.run_with(vec![(); n], |_, ()| panic!("nobody runs")).unwrap_err();
            assert!(matches!(error.cause, Cause::Params(_)), "{error}");
            assert_eq!(error.to_string(), format!("{n} inputs are not one for each of 3 processors; give 3"));
        }
        // Inputs that no processor took are dropped, whatever ended the run.
        let counted = Arc::new(());
        let error = machine.run_with(vec![counted.clone(); 3], |_, _input| panic!("it fails")).unwrap_err();
        assert!(matches!(error.cause, Cause::Panic { .. }), "{error}");
        drop(error);
        assert_eq!(Arc::strong_count(&counted), 1);
    }
}

#[test]
fn processor_can_send_to_itself() {
    let run = machine(1, "L=6, o=2, g=4, G=1").run(|p| {
        assert_eq!((p.id(), p.P()), (0, 1));
        p.send(0, WORDS, vec![1_u64, 2, 3]);
        p.recv(WORDS.from(0))
    });
    let run = run.unwrap();
    assert_eq!(run.results, [[1, 2, 3]]);
    assert_eq!(us(run.time), 2 + 2 + 6 + 2);
}

#[test]
fn program_may_return_at_any_time() {
    // Messages still arrive at a finished processor, and are an error if they are not received.
    let run = machine(2, "L=6, o=2, g=4").run(|p| {
        if p.id() == 0 {
            p.wait_until(50 * US);
            p.send(1, BYTE, 0_u8);
        }
    });
    assert!(matches!(run.unwrap_err().cause, Cause::NotReceived { .. }));
}

// How runs fail.

/// A payload that counts its instances.
struct Counted {
    /// Only counts owners.
    _counted: Arc<()>,
}

impl Payload for Counted {
    fn bytes(&self) -> usize {
        8
    }
}

/// Runs a program that must fail, and checks that the values on its stacks and in its messages are dropped.
fn failure(machine: Machine, program: impl Fn(&mut Proc) + Sync) -> RunError {
    let counted = Arc::new(());
    let (born, P) = (AtomicUsize::new(0), machine.params().P);
    let error = machine
        .run(|p| {
            let _on_the_stack =
                (Counted { _counted: counted.clone() }, vec![Counted { _counted: counted.clone() }]);
            born.fetch_add(1, Ordering::Relaxed);
            // One message that will not be received, and one that waits at a finished processor.
            p.send((p.id() + 1) % P, Tag::new(1_000), Counted { _counted: counted.clone() });
            p.send(p.id(), Tag::new(1_000), Counted { _counted: counted.clone() });
            program(p);
        })
        .unwrap_err();
    assert!(born.into_inner() > 0);
    assert_eq!(Arc::strong_count(&counted), 1, "{error}");
    assert_eq!(error.processors.len(), P);
    for (id, state) in error.processors.iter().enumerate() {
        assert_eq!(state.id, id);
    }
    error
}

#[test]
fn deadlock_names_processors_messages_and_times() {
    let error = failure(machine(3, "L=6, o=2, g=4"), |p| match p.id() {
        0 => p.recv(Tag::<()>::new(5).from(1)),
        1 => {
            p.work("work", 3, || ());
            p.recv(Tag::<()>::new(7))
        }
        _ => (),
    });
    assert_eq!(error.cause, Cause::Deadlock { waiting: 2, of: 3 });
    let text = error.to_string();
    for line in [
        "deadlock: 2 of 3 processors wait for messages that nobody sends",
        "processor 0 at 6 us waited for a message from 1 with tag 5",
        "processor 1 at 9 us waited for a message with tag 7",
        "processor 2 at 6 us had finished",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!(error.processors[2].status, ProcStatus::Finished);
}

/// `unwrap` prints the error's text, which stays short.
#[test]
fn an_error_of_many_processors_is_short() {
    for (P, lines) in [(8, 1 + 8), (9, 1 + 8 + 1), (2048, 1 + 8 + 1)] {
        let error = machine(P, "L=6, o=2, g=4").run(|p| p.recv(BYTE)).unwrap_err();
        assert_eq!(error.processors.len(), P);
        let text = error.to_string();
        assert_eq!(text, format!("{error:?}"));
        assert_eq!(text.lines().count(), lines, "{text}");
        if P > 8 {
            assert!(text.ends_with(&format!("... and {} more", P - 8)), "{text}");
        }
    }
}

/// The error names for each sender its receiver and the length of its message, and S.
#[test]
fn a_cycle_of_senders_that_wait_for_their_receivers_is_a_deadlock() {
    let gps = LogGps { s: 10, S: 20, O_s: PS, O_r: PS, G_s: PS, G_l: PS };
    let params = Params::builder(2).word(1).o(US).gps(gps).build().unwrap();
    for clock in [ClockKind::Virtual, ClockKind::Wall] {
        let run = Machine::new(params).clock(clock).dilation(Dilation::Fixed(1.0)).run(|p| {
            p.send(1 - p.id(), BYTES, vec![0; 50 + p.id()]);
            p.recv(BYTES);
        });
        let error = run.unwrap_err();
        assert_eq!(error.cause, Cause::Deadlock { waiting: 2, of: 2 });
        let doing: Vec<ProcStatus> = error.processors.iter().map(|state| state.status.clone()).collect();
        assert_eq!(
            doing,
            [(1, 50), (0, 51)].map(|(to, words)| ProcStatus::WaitingToSend { to, words, S: 20 })
        );
        let told =
            "processor 1 at 1 us waited to send 51 words, more than S = 20, until processor 0 receives them";
        assert!(error.to_string().contains(told), "{error}");
    }
}

/// The error has the name of the tag, if there is one.
#[test]
fn error_names_the_awaited_tag() {
    const ROW: Tag<Vec<u8>> = Tag::named(3, "row");
    let said =
        |params: &str, program: fn(&mut Proc)| machine(3, params).run(program).unwrap_err().to_string();
    let gps = "word=1,L=6,o=2,g=4,O_s=1us,O_r=1us,G_s=1us,G_l=1us,s=2,S=2";
    let error = said(gps, |p| drop(p.recv(ROW.step(7))));
    assert!(error.contains(" waited for a message with tag 3 (row), step 7"), "{error}");
    let error = said(gps, |p| _ = p.recv(ROW.from((p.id() + 1) % 3)));
    assert!(error.contains("processor 1 at 0 us waited for a message from 2 with tag 3 (row)"), "{error}");
}

#[test]
fn unreceived_message_is_named() {
    let run = machine(3, "L=6, o=2, g=4").run(|p| match p.id() {
        1 => p.send(2, BYTE, 0_u8),
        2 => p.send(0, SHORT, 0_u16),
        _ => {
            p.wait_until(4 * US);
            p.send(1, SHORT, 0_u16);
            p.recv(SHORT);
        }
    });
    let error = run.unwrap_err();
    let about = "with tag 0".into();
    assert_eq!(error.cause, Cause::NotReceived { count: 2, from: 1, to: 2, about, arrival: 8 * US });
    // The message has the name of its sender's tag, or all names of tags that share a number.
    const ROW: Tag<u8> = Tag::named(7, "row");
    const COLUMN: Tag<u16> = Tag::named(7, "column");
    let lost = |others: usize| {
        let run = machine(3, "L=6, o=2, g=4").run(|p| match p.id() {
            0 => {
                p.send(1, ROW.step(4), 0);
                (0..others).for_each(|_| p.send(2, COLUMN, 0));
            }
            1 => (),
            _ => (0..others).for_each(|_| _ = p.recv(COLUMN)),
        });
        run.unwrap_err().to_string()
    };
    assert!(lost(0).contains("with tag 7 (row), step 4, there"), "{}", lost(0));
    assert!(lost(1).contains("with tag 7 (column or row), step 4, there"), "{}", lost(1));
    let error = failure(machine(4, "L=6, o=2, g=4"), |_| ());
    assert!(matches!(error.cause, Cause::NotReceived { count: 8, .. }), "{error}");
}

#[test]
fn type_mismatch_names_both_types() {
    let error = failure(machine(2, "L=6, o=2, g=4"), |p| match p.id() {
        0 => p.send(1, Tag::named(4, "counts"), vec![1_u32]),
        _ => drop(p.recv(Tag::<Vec<f64>>::named(4, "means"))),
    });
    let sentence = "for a Vec<f64> with tag 4 (means), and it sent a Vec<u32> (at ";
    assert!(error.to_string().contains(sentence), "{error}");
    let Cause::WrongType { id: 1, from: 0, asked, sent, at, .. } = error.cause else { panic!("{error}") };
    assert_eq!(at.file(), file!());
    assert!(error.to_string().contains(&format!(" (at {}:{}:", file!(), at.line())), "{error}");
    assert_eq!((asked, sent), (std::any::type_name::<Vec<f64>>(), std::any::type_name::<Vec<u32>>()));
}

#[test]
fn nonexistent_processor_is_refused() {
    let line = line!();
    let programs: [fn(&mut Proc); 2] = [|p| p.send(3, BYTE, 0_u8), |p| p.recv(SIGNAL.from(3))];
    for program in programs {
        let error = failure(machine(3, "L=6, o=2, g=4"), |p| {
            if p.id() == 2 {
                program(p)
            }
        });
        let Cause::NoSuchProcessor { id: 2, other: 3, last: 2, at, .. } = error.cause else {
            panic!("{error}")
        };
        assert!(at.file() == file!() && at.line() > line, "{error}");
    }
    let error = failure(machine(3, ""), |p| p.send(usize::MAX, BYTE, 0_u8));
    assert!(matches!(error.cause, Cause::NoSuchProcessor { other: usize::MAX, .. }), "{error}");
}

#[test]
fn panic_keeps_its_message() {
    let error = failure(machine(4, "L=6, o=2, g=4"), |p| {
        p.work("work", 10 - p.id() as u64, || ());
        match p.id() {
            2 => panic!("lost {} of {}", 1, 4),
            3 => (),
            _ => p.recv(SIGNAL),
        }
    });
    assert_eq!(error.cause, Cause::Panic { id: 2, message: "lost 1 of 4".into() });
    let error = failure(machine(1, ""), |_| panic!("a plain text"));
    assert_eq!(error.cause, Cause::Panic { id: 0, message: "a plain text".into() });
    let error = failure(machine(1, ""), |_| std::panic::panic_any(7_u8));
    assert!(matches!(error.cause, Cause::Panic { id: 0, .. }));
}

#[test]
fn endless_work_is_an_error() {
    // Endless work, and then some call or none.
    let calls: [fn(&mut Proc); 4] =
        [|p| p.send(0, BYTE, 0_u8), |p| p.wait_until(Time::MAX), |_| (), |_| panic!("it goes on")];
    for units in [i64::MAX as u64, u64::MAX] {
        for then in calls {
            let error = failure(machine(2, "L=6, o=2, g=4"), |p| {
                if p.id() == 1 {
                    p.work("work", units, || ());
                    then(p);
                }
            });
            assert_eq!(error.cause, Cause::EndOfTime { id: 1 }, "{units}");
        }
    }
    let error = failure(machine(2, ""), |p| p.wait_until(Time::MAX));
    assert!(matches!(error.cause, Cause::EndOfTime { .. }), "{error}");
}

/// Nothing happens from the end on, and what is left of the programs is no failure.
#[test]
fn a_run_may_end_before_its_programs() {
    let machine = machine(3, "L=6, o=2, g=4").ending(Some(100 * US), false);
    let (run, _) = machine
        .run_recorded(|p| match p.id() {
            0 => loop {
                p.recv(BYTE);
            },
            1 => (0..9).for_each(|_| p.work("work", 100, || ())),
            _ => (0..9).for_each(|i| p.send(0, BYTE, i)),
        })
        .unwrap();
    assert_eq!(
        (run.time, run.results, run.processors[0].received),
        (100 * US, vec![None, None, Some(())], 9)
    );
    let left = |may_leave| machine.clone().ending(None, may_leave).run_recorded(|p| p.send(0, BYTE, 1_u8));
    assert!(
        matches!(left(false).unwrap_err().cause, Cause::NotReceived { count: 3, .. }) && left(true).is_ok()
    );
}

/// A receive until the end of time is a receive without a deadline.
#[test]
fn a_receive_until_the_end_of_time_is_a_receive() {
    let error = failure(machine(2, ""), |p| {
        p.recv_deadline(BYTE, Time::MAX);
    });
    assert_eq!(error.cause, Cause::Deadlock { waiting: 2, of: 2 });
}

#[test]
fn a_message_that_is_too_long_is_refused() {
    let cenju4 = preset("cenju4").unwrap().builder().build().unwrap();
    let error = failure(Machine::new(cenju4).work(Work::Charged), |p| match p.id() {
        0 => p.send(1, BYTES, vec![0_u8; 4334]),
        _ => drop(p.recv(BYTES)),
    });
    assert_eq!(error.cause, Cause::TooLong { id: 0, words: 4334, longest: 4333 });
}

#[test]
fn invalid_machine_does_not_run() {
    let params = Params { P: 0, ..Params::builder(1).build().unwrap() };
    let error = Machine::new(params).run(|_| ()).unwrap_err();
    assert!(matches!(error.cause, Cause::Params(_)), "{error}");
    assert!(error.processors.is_empty());
}

/// Each setting is refused in one sentence, on either clock, and before the program runs.
#[test]
fn invalid_settings_are_refused() {
    let fine = machine(2, "L=6, o=2, g=4");
    let with = |params: Params| Machine::new(params);
    let params = *fine.params();
    for (machine, sentence) in [
        (
            fine.clone().rate("b", -US).rate("a", -2 * US).rate("c", US),
            "a unit of the work \"a\" cannot cost -2 us; give 0 or more",
        ),
        (fine.clone().dilation(Dilation::Fixed(0.0)), "a dilation of 0 cannot be; give a number above 0"),
        (fine.clone().dilation(Dilation::Fixed(-1.0)), "a dilation of -1 cannot be"),
        (fine.clone().dilation(Dilation::Fixed(f64::NAN)), "a dilation of NaN cannot be"),
        (fine.clone().dilation(Dilation::Fixed(f64::INFINITY)), "a dilation of inf cannot be"),
        (fine.clone().cores(0), "0 cores cannot run anything; give at least 1"),
        (fine.clone().stack(0), "a stack of 0 bytes is too small; give at least 32768 (32 KiB)"),
        (fine.clone().stack(256), "a stack of 256 bytes is too small; give at least 32768 (32 KiB)"),
        (with(Params { g: -US, ..params }), "g = -1 us is negative; only G_l may be"),
        (with(Params { cycle: Time::ZERO, ..params }), "cycle = 0 would let a processor poll for ever"),
    ] {
        for clock in [ClockKind::Virtual, ClockKind::Wall] {
            let error = machine.clone().clock(clock).run(|_| panic!("nobody runs")).unwrap_err();
            assert!(matches!(error.cause, Cause::Params(_)), "{error}");
            assert!(error.to_string().starts_with(sentence), "{error}");
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
    // These are the limits.
    fine.clone().rate("a", Time::ZERO).cores(1).stack(32 << 10).run(|_| ()).unwrap();
}

#[test]
fn polling_finds_a_message_where_work_is_measured() {
    let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let run = Machine::new(params).work(Work::Measured).run(|p| {
        if p.id() == 0 {
            p.send(1, COUNT, 7_u32);
            return (0, p.now());
        }
        let mut looks = 1;
        while p.try_recv(COUNT).is_none() {
            looks += 1;
        }
        (looks, p.now())
    });
    // The time of the send depends on the host, because its code is measured too. The message arrives L
    // later; each earlier look costs at least a cycle, and the one that finds it o.
    let [(_, sent), (looks, received)] = run.unwrap().results[..] else { panic!() };
    assert!((looks - 2) * params.cycle <= sent + params.L, "{looks} looks until {sent}");
    assert!(received >= sent + params.L + params.o);
}
