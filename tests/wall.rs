//! The wall clock: what must hold however busy the host is.
//!
//! Data is right, nothing is early, the rules hold in the trace, a run that cannot go on ends with the same
//! error as on the virtual clock, and every thread is joined. How close a measurement comes to the model is
//! the host's business: only one test looks at it, and takes the best of many runs.

#![allow(non_snake_case)] // P is the papers' name

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use loggp::{
    Cause, ClockKind, Dilation, Latency, MS, Machine, NS, Params, Ports, Proc, Time, US, Work, audit,
};

/// Runs on the wall clock are run one at a time: together they would only wait for each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> impl Drop {
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A machine on the wall clock, at full speed: when it is late, it is late.
fn machine(params: Params) -> Machine {
    Machine::new(params).clock(ClockKind::Wall).work(Work::Charged).dilation(Dilation::Fixed(1.0))
}

fn cm5(P: usize) -> Params {
    Params::new(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap()
}

/// A program drawn at random: who sends how much to whom, in which rounds.
#[derive(Debug)]
struct Traffic {
    /// For each round and each processor, the receivers and the lengths of its messages.
    rounds: Vec<Vec<Vec<(usize, usize)>>>,
}

impl Traffic {
    fn random(rng: &mut fastrand::Rng, P: usize) -> Traffic {
        let messages = |rng: &mut fastrand::Rng| {
            (0..rng.usize(0..4)).map(|_| (rng.usize(0..P), rng.usize(0..9))).collect()
        };
        let round = |rng: &mut fastrand::Rng| (0..P).map(|_| messages(rng)).collect();
        Traffic { rounds: (0..rng.usize(1..4)).map(|_| round(rng)).collect() }
    }

    /// Moves the data, and adds up what came in, each word weighted by its round, sender and place.
    fn run(&self, p: &mut Proc) -> u64 {
        let id = p.id();
        let mut sum = 0;
        for (number, round) in self.rounds.iter().enumerate() {
            for (to, words) in &round[id] {
                p.send(*to, number as u32, vec![id as u64 + 1; *words]);
                p.work("step", 1, || ());
            }
            let expected = round.iter().flatten().filter(|(to, _)| *to == id).count();
            for _ in 0..expected {
                let (from, words): (usize, Vec<u64>) = p.recv(number as u32);
                assert!(words.iter().all(|word| *word == from as u64 + 1));
                sum += (number as u64 + 1) * words.iter().sum::<u64>();
            }
        }
        sum
    }
}

#[test]
fn random_programs_give_what_they_give_on_the_virtual_clock() {
    let _guard = alone();
    for seed in 0..2000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        // Mostly few processors, sometimes hundreds.
        let P = 1 + rng.usize(0..if seed % 50 == 0 { 300 } else { 12 });
        let mut time = |most: i64| rng.i64(0..=most) * 100 * NS;
        let params = Params::new(P).L(time(60)).o(time(20)).g(time(40)).G(time(3)).build().unwrap();
        let ports = if rng.bool() { Ports::Single } else { Ports::Dual };
        let latency = if rng.bool() { Latency::Exact } else { Latency::Random { seed } };
        let traffic = Traffic::random(&mut rng, P);
        let wall = machine(params).ports(ports).latency(latency).trace(true).cores(1 + rng.usize(0..4));
        let program = |p: &mut Proc| traffic.run(p);
        let measured = wall.run(program).unwrap();
        let model = wall.clone().clock(ClockKind::Virtual).run(program).unwrap();
        assert_eq!(measured.results, model.results, "seed {seed}");

        // The machine's own times may differ, since a late host mixes the order of sends. But no processor
        // was early by its own account, and all accounts together keep the rules.
        let own = measured.processors.iter().map(|stats| stats.finish).max().unwrap();
        assert!(measured.time >= own - NS, "seed {seed}: {} is before {own}", measured.time);
        let audit = audit(measured.trace.as_ref().unwrap());
        assert!(audit.is_clean(), "seed {seed}: {:?}", audit.violations);
        if let Some(capacity) = params.capacity() {
            assert!(measured.most_in_transit() <= capacity, "seed {seed}");
        }
        for stats in &measured.processors {
            let sum = [stats.work, stats.send, stats.recv, stats.gap, stats.stall, stats.port, stats.idle];
            assert_eq!(sum.into_iter().sum::<Time>(), stats.finish, "seed {seed}");
        }
    }
}

#[test]
fn the_best_of_many_runs_is_close_to_the_model() {
    let _guard = alone();
    let program = |p: &mut Proc| {
        let other = 1 - p.id();
        for _ in 0..20 {
            p.send(other, 0, p.id() as u64);
            p.recv::<u64>(0);
        }
    };
    let params = Params::new(2).L(50 * US).o(20 * US).g(40 * US).build().unwrap();
    let model = machine(params).clock(ClockKind::Virtual).run(program).unwrap().time;
    let best = (0..50).map(|_| machine(params).run(program).unwrap().time).min().unwrap();
    assert!(best >= model - NS);
    assert!(best.as_ps() < 2 * model.as_ps(), "{best} for {model}");
}

#[test]
fn auto_dilation_says_what_it_chose_and_why() {
    let _guard = alone();
    let run = machine(cm5(16)).dilation(Dilation::Auto).run(|p| {
        p.send((p.id() + 1) % p.p(), 0, 1_u64);
        p.recv::<u64>(0).1
    });
    let host = run.unwrap().host.unwrap();
    assert!(host.dilation > 100.0, "10 us are too short to be measured: {host:?}");
    assert!(!host.why.is_empty());
    assert!(host.cores >= 1 && host.cores <= 16);
    assert!(host.lateness.p50 <= host.lateness.p90 && host.lateness.p90 <= host.lateness.max);
}

/// Sixteen processors act every microsecond on one core, and then have time to make up for it: they end in time.
#[test]
fn a_run_that_was_late_in_the_middle_is_not_held() {
    let _guard = alone();
    let run = machine(cm5(16)).cores(1).run(|p| {
        (1..1_000).for_each(|i| p.wait_until(i * US));
        p.wait_until(200 * MS);
    });
    let host = run.unwrap().host.unwrap();
    assert!(host.lateness.p50 > 2 * MS, "16,000 hand-overs take more than 10 ms: {host:?}");
    assert!(!host.held, "{host:?}");
}

#[test]
fn fewer_cores_than_asked_for_is_said() {
    let _guard = alone();
    let host = machine(cm5(2000)).cores(1500).run(|_| ()).unwrap().host.unwrap();
    assert!(host.notes.iter().any(|note| note.contains("of the 1500 cores")), "{host:?}");
    let host = machine(cm5(4)).cores(1).run(|_| ()).unwrap().host.unwrap();
    assert_eq!(host.cores, 1);
}

#[test]
fn one_core_serves_many_processors() {
    let _guard = alone();
    let run = machine(cm5(50)).cores(1).run(|p| {
        let (next, last) = ((p.id() + 1) % p.p(), (p.id() + p.p() - 1) % p.p());
        let mut token = p.id() as u64;
        for _ in 0..20 {
            p.send(next, 0, token);
            token = p.recv_from(last, 0);
        }
        token
    });
    let expected: Vec<u64> = (0..50).map(|id| (id + 50 - 20) % 50).collect();
    assert_eq!(run.unwrap().results, expected);
}

#[test]
fn a_receiver_that_computes_for_long_holds_up_nobody() {
    let _guard = alone();
    let run = machine(Params::new(2).o(US).build().unwrap()).run(|p| {
        if p.id() == 0 {
            (0..100_u64).for_each(|i| p.send(1, 0, i));
            p.now()
        } else {
            p.work("long", 1, || std::thread::sleep(std::time::Duration::from_millis(20)));
            (0..100).for_each(|i| assert_eq!(p.recv::<u64>(0).1, i));
            p.now()
        }
    });
    assert_eq!(run.unwrap().results[0], 100 * US);
}

#[test]
fn polling_and_deadlines_move_time_forward() {
    let _guard = alone();
    let polls = |clock| {
        let run = machine(cm5(3)).clock(clock).run(|p| match p.id() {
            0 => {
                p.wait_until(MS);
                p.send(1, 7, 5_u32);
                0
            }
            1 => {
                assert_eq!(p.recv_until::<u32>(200 * US, 7), None);
                assert_eq!(p.now(), 200 * US);
                (0..).take_while(|_| p.try_recv::<u32>(7).is_none()).count()
            }
            _ => 0,
        });
        run.unwrap().results[1]
    };
    // From 200 us to the arrival at 1008 us, a look every microsecond; more if the host is late with the message.
    assert_eq!(polls(ClockKind::Virtual), 808);
    assert!(polls(ClockKind::Wall) >= 808);
}

/// Counts the processors' frames that were left, one way or another.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether all threads of processors are gone. The kernel shows a joined thread for a moment more.
fn threads_are_gone() -> bool {
    let is_processor = |task: std::io::Result<std::fs::DirEntry>| {
        let name = task.and_then(|task| std::fs::read_to_string(task.path().join("comm")));
        name.is_ok_and(|name| name.starts_with("processor"))
    };
    (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        !std::fs::read_dir("/proc/self/task").is_ok_and(|mut tasks| tasks.any(is_processor))
    })
}

/// Runs a program that must fail, on both clocks: the same cause, every frame dropped, every thread joined.
fn fails(P: usize, program: impl Fn(&mut Proc) + Sync) -> Vec<Cause> {
    let _guard = alone();
    [ClockKind::Virtual, ClockKind::Wall]
        .map(|clock| {
            let (entered, left) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let error = machine(cm5(P)).clock(clock).run(|p| {
                entered.fetch_add(1, Ordering::Relaxed);
                let _counted = Counted(&left);
                program(p)
            });
            let error = error.unwrap_err();
            assert_eq!(entered.into_inner(), left.into_inner());
            assert!(threads_are_gone(), "a thread is left");
            assert_eq!(error.processors.len(), P);
            error.cause
        })
        .to_vec()
}

#[test]
fn a_deadlock_is_the_same_error() {
    for P in [1, 2, 3, 40] {
        let causes = fails(P, |p| {
            p.send((p.id() + 1) % p.p(), 1, p.id());
            p.recv::<usize>(1);
            p.recv::<usize>(2);
        });
        assert!(causes.iter().all(|cause| *cause == Cause::Deadlock { waiting: P, of: P }), "{causes:?}");
    }
}

#[test]
fn a_deadlock_beside_finished_processors_is_found() {
    let causes = fails(7, |p| {
        if p.id() == 3 {
            p.recv_from::<u8>(5, 0);
        }
    });
    assert!(causes.iter().all(|cause| *cause == Cause::Deadlock { waiting: 1, of: 7 }), "{causes:?}");
}

#[test]
fn a_panic_ends_the_run() {
    let causes = fails(20, |p| {
        if p.id() == 11 {
            std::panic::resume_unwind(Box::new("no more"));
        }
        p.recv::<u8>(0);
    });
    let expected = Cause::Panic { id: 11, message: "no more".into() };
    assert!(causes.iter().all(|cause| *cause == expected), "{causes:?}");
}

#[test]
fn a_message_that_nobody_receives_ends_the_run() {
    let causes = fails(4, |p| {
        if p.id() == 0 {
            p.send(3, 0, String::from("lost"));
        }
    });
    let expected =
        Cause::NotReceived { count: 1, from: 0, to: 3, about: "with tag 0".into(), arrival: 8 * US };
    assert!(causes.iter().all(|cause| *cause == expected), "{causes:?}");
}

#[test]
fn a_wrong_type_and_a_wrong_number_end_the_run() {
    let causes = fails(3, |p| match p.id() {
        0 => p.send(1, 0, 1_u32),
        1 => _ = p.recv::<u64>(0),
        _ => _ = p.recv::<u64>(0),
    });
    assert!(causes.iter().all(|c| matches!(c, Cause::WrongType { id: 1, from: 0, .. })), "{causes:?}");
    let causes = fails(3, |p| match p.id() {
        2 => p.send(3, 0, 1_u32),
        _ => _ = p.recv::<u64>(0),
    });
    let expected = Cause::NoSuchProcessor { id: 2, other: 3, last: 2 };
    assert!(causes.iter().all(|cause| *cause == expected), "{causes:?}");
}

#[test]
fn a_dilation_that_cannot_be_is_refused() {
    for dilation in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = machine(cm5(2)).dilation(Dilation::Fixed(dilation)).run(|_| ()).unwrap_err();
        assert!(refused.to_string().contains("dilation"), "{refused}");
    }
}
