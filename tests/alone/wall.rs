//! The wall clock: properties that hold however busy the host is.
//!
//! Data is right, nothing is early, the rules hold in the trace, a run that cannot go on ends with the same
//! error as on the virtual clock, and every thread is joined. How close a measurement comes to the model
//! depends on the host: only one test checks it, and it runs until the host has been on time once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use loggp::audit::audit;
use loggp::params::LogGps;
use loggp::{
    Carrier, Cause, ClockKind, Dilation, Latency, MS, Machine, NS, Params, Ports, Proc, Tag, Ties, Time, US,
    Work,
};

use crate::alone;
use crate::cases::seeds;

const WORD: Tag<u64> = Tag::new(0);
const COUNT: Tag<u32> = Tag::new(0);
const WORDS: Tag<Vec<u64>> = Tag::new(0);
const BYTE: Tag<u8> = Tag::new(0);

/// Returns a machine on the wall clock at full speed, which does not dilate time when it is late.
fn machine(params: Params) -> Machine {
    Machine::new(params).clock(ClockKind::Wall).work(Work::Charged).dilation(Dilation::Fixed(1.0))
}

fn cm5(P: usize) -> Params {
    Params::builder(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap()
}

#[derive(Debug)]
struct RandomProgram {
    /// The messages and the habits of each processor in each round.
    rounds: Vec<Vec<(Vec<Send>, Habits)>>,
}

/// A message: its receiver and its length in words.
type Send = (usize, usize);

/// The behaviour of a processor in a round.
#[derive(Debug)]
struct Habits {
    /// Work before each message.
    work: u64,
    /// If true, the processor receives while its gap runs.
    receives_while_sending: bool,
    /// The number of polls before it waits for a message.
    looks: usize,
    /// The length of a receive with a deadline before that, in units of 100 ns.
    patience: i64,
    /// If true, it receives in the order of the senders' numbers.
    by_sender: bool,
    /// If true, the round ends with a barrier.
    barrier: bool,
}

impl RandomProgram {
    fn random(rng: &mut fastrand::Rng, P: usize, short: bool) -> RandomProgram {
        let most = if short { 2 } else { 9 };
        let round = |rng: &mut fastrand::Rng| {
            let barrier = rng.bool();
            let life = |rng: &mut fastrand::Rng| {
                let sends = (0..rng.usize(0..4)).map(|_| (rng.usize(0..P), rng.usize(0..most))).collect();
                let habits = Habits {
                    work: rng.u64(0..4),
                    receives_while_sending: rng.u8(..) < 64,
                    looks: rng.usize(0..4) * rng.usize(0..2),
                    patience: rng.i64(0..30) * rng.i64(0..2),
                    by_sender: rng.bool(),
                    barrier,
                };
                (sends, habits)
            };
            (0..P).map(|_| life(rng)).collect()
        };
        RandomProgram { rounds: (0..rng.usize(1..4)).map(|_| round(rng)).collect() }
    }

    /// Runs the program. Returns the sum of the received words, weighted by round and sender.
    fn run(&self, p: &mut Proc) -> u64 {
        let id = p.id();
        let mut sum = 0;
        for (number, round) in self.rounds.iter().enumerate() {
            let tag = WORDS.step(number);
            let (sends, habits) = &round[id];
            let mut expected: Vec<usize> = (0..p.P())
                .flat_map(|from| round[from].0.iter().filter(move |(to, _)| *to == id).map(move |_| from))
                .collect();
            let mut take = |expected: &mut Vec<usize>, from: usize, words: Vec<u64>| {
                assert!(words.iter().all(|word| *word == from as u64 + 1));
                sum += (number as u64 + 1) * words.iter().sum::<u64>();
                let place = expected.iter().position(|sender| *sender == from).expect("it was sent");
                expected.remove(place);
            };
            for (to, words) in sends {
                p.work("step", habits.work, || ());
                let words = vec![id as u64 + 1; *words];
                if habits.receives_while_sending {
                    let on = |_: &mut Proc, from, words| take(&mut expected, from, words);
                    p.send_receiving(*to, tag, words, tag, on);
                } else {
                    p.send(*to, tag, words);
                }
            }
            for _ in 0..habits.looks {
                if let Some((from, words)) = p.try_recv(tag) {
                    take(&mut expected, from, words);
                }
            }
            if let Some((from, words)) = p.recv_until(tag, p.now() + habits.patience * 100 * NS) {
                take(&mut expected, from, words);
            }
            while let Some(&from) = expected.first() {
                let (from, words) =
                    if habits.by_sender { (from, p.recv_from(from, tag)) } else { p.recv(tag) };
                take(&mut expected, from, words);
            }
            if habits.barrier {
                p.barrier();
            }
        }
        sum
    }
}

/// A busy loop on each core of the host until it is dropped.
pub struct BusyCores(Arc<AtomicBool>, Vec<JoinHandle<()>>);

impl BusyCores {
    pub fn start() -> BusyCores {
        let stop = Arc::new(AtomicBool::new(false));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = |stop: Arc<AtomicBool>| move || while !stop.load(Ordering::Relaxed) {};
        let threads = (0..cores).map(|_| std::thread::spawn(spin(stop.clone()))).collect();
        BusyCores(stop, threads)
    }
}

impl Drop for BusyCores {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// Returns a random machine and a random program for it.
fn random_case(seed: u64, most: usize) -> (Machine, RandomProgram) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let many = rng.u8(..) < 16;
    let P = 1 + rng.usize(0..if many { most } else { 12 });
    // Often 0, so that many processors act at the same time.
    fn time(rng: &mut fastrand::Rng, most: i64) -> Time {
        rng.i64(0..=most) * rng.i64(0..=1) * 100 * NS
    }
    let params = Params::builder(P).L(time(rng, 60)).o(time(rng, 20)).g(time(rng, 40)).G(time(rng, 3));
    let gps = LogGps {
        s: 3,
        S: 100,
        O_s: time(rng, 2),
        O_r: time(rng, 2),
        G_s: time(rng, 2),
        G_l: time(rng, 2) - 100 * NS,
    };
    let params = if rng.u8(..) < 40 { params.gps(gps) } else { params };
    let short = rng.bool();
    let Some(params) =
        params.build().ok().filter(|params| params.longest_message().is_none_or(|words| words > 8))
    else {
        return random_case(seed + 1_000_000, most); // there is no such machine, or it can't send what is sent here
    };
    let machine = machine(params)
        .ports(if rng.bool() { Ports::Single } else { Ports::Dual })
        .latency(match rng.u8(..) {
            0..40 => Latency::Random { seed },
            40..64 => Latency::Exponential { seed },
            _ => Latency::Exact,
        })
        .ties(match rng.u8(..) {
            0..64 => Ties::Random { seed },
            64..96 => Ties::Rotation,
            _ => Ties::Number,
        })
        .trace(true)
        .carrier(if seed.is_multiple_of(2) { Carrier::Thread } else { Carrier::Coroutine })
        .cores(1 + rng.usize(0..4))
        .oversubscribed(true);
    let machine = if rng.bool() { machine.barrier(time(rng, 10)) } else { machine };
    let traffic = RandomProgram::random(rng, P, short);
    (machine, traffic)
}

/// Compares a run on the wall clock with the run on the virtual clock: only the measured time may differ.
fn assert_same_run(seed: u64, machine: &Machine, traffic: &RandomProgram) {
    let program = |p: &mut Proc| traffic.run(p);
    let model = machine.clone().clock(ClockKind::Virtual).cores(1).run(program).unwrap();
    let measured = machine.run(program).unwrap();
    assert_eq!(measured.results, model.results, "seed {seed}");
    if measured.trace != model.trace {
        let (a, b) = (measured.trace.as_ref().unwrap(), model.trace.as_ref().unwrap());
        for (what, t) in [("measured", a), ("model", b)] {
            println!("{what}");
            t.activities.iter().for_each(|a| println!("  {} {} {} {:?}", a.id, a.start, a.end, a.kind));
            t.messages.iter().for_each(|m| println!("  {m:?}"));
        }
        println!("{traffic:?} {machine:?}");
    }
    for (id, (measured, model)) in measured.processors.iter().zip(&model.processors).enumerate() {
        assert_eq!(measured, model, "seed {seed}, processor {id}, {:?}", machine.params());
    }
    assert_eq!(measured.trace, model.trace, "seed {seed}");
    assert_eq!(measured.model, Some(model.time), "seed {seed}");
    assert!(measured.time >= model.time, "seed {seed}: {} is before {}", measured.time, model.time);
    assert_eq!(measured.host.unwrap().out_of_order, 0, "seed {seed}");
    let trace = model.trace.as_ref().unwrap();
    // The same run again, repeated from the trace, on several cores of the virtual clock.
    let again = machine.clone().clock(ClockKind::Virtual).order_of(trace).run(program).unwrap();
    assert_eq!(again.trace, model.trace, "seed {seed}, repeated");
    let audit = audit(trace);
    assert!(audit.is_clean(), "seed {seed}: {:?}", audit.violations);
    for stats in &model.processors {
        let sum = [stats.work, stats.send, stats.recv, stats.gap, stats.stall, stats.port, stats.idle];
        assert_eq!(sum.into_iter().sum::<Time>(), stats.finish, "seed {seed}");
    }
}

/// The order of all acts is that of the virtual clock, whatever the host does, so every local time is the
/// same.
#[test]
fn random_programs_run_as_on_the_virtual_clock() {
    let _guard = alone();
    let seeds = std::env::var("LOGGP_SEED").map_or(seeds(1000), |seed| {
        let seed = seed.parse().expect("LOGGP_SEED is a number");
        seed..seed + 1
    });
    for seed in seeds {
        let (machine, traffic) = random_case(seed, 200);
        assert_same_run(seed, &machine, &traffic);
    }
}

#[test]
fn random_programs_run_as_on_the_virtual_clock_on_a_busy_computer() {
    let _guard = alone();
    let _busy = BusyCores::start();
    for seed in seeds(120).map(|seed| 10_000 + seed) {
        let (machine, traffic) = random_case(seed, 64);
        // A core's thread that yields to another may have to wait long for the busy loop on the same core.
        assert_same_run(seed, &machine.oversubscribed(seed.is_multiple_of(16)), &traffic);
    }
}

/// On any number of cores a program runs the same. Without coroutines, so that ThreadSanitizer can follow.
#[test]
fn random_programs_run_the_same_on_threads_of_any_number_of_cores() {
    let _guard = alone();
    for seed in seeds(16).map(|seed| 20_000 + seed) {
        let (machine, traffic) = random_case(seed, 12);
        let run = |cores| {
            let machine = machine.clone().carrier(Carrier::Thread).dilation(Dilation::Fixed(1.0));
            machine.cores(cores).oversubscribed(true).trace(true).run(|p| traffic.run(p)).unwrap()
        };
        let one = run(1);
        assert!(audit(one.trace.as_ref().unwrap()).is_clean(), "seed {seed}");
        for cores in 2..=4 {
            let several = run(cores);
            assert_eq!(
                (several.results, several.trace),
                (one.results.clone(), one.trace.clone()),
                "seed {seed}"
            );
        }
    }
}

/// A processor that leaves a barrier of no cost may act at the same moment at which others leave it.
#[test]
fn a_barrier_that_takes_no_time_keeps_the_order_of_acts() {
    let _guard = alone();
    for seed in seeds(150) {
        let params = Params::builder(10).L(3 * US).G(300 * NS).build().unwrap();
        let machine = machine(params).ties(Ties::Random { seed }).barrier(Time::ZERO).trace(true);
        let machine = machine.carrier(Carrier::Coroutine).cores(2 + seed as usize % 3).oversubscribed(true);
        let program = |p: &mut Proc| {
            for round in 1..4 {
                p.barrier();
                p.send((p.id() + round) % 2, WORDS, vec![p.id() as u64; 4]);
            }
            p.barrier();
            p.wait_until(MS);
            std::iter::from_fn(|| p.try_recv(WORDS)).map(|(from, _)| from).collect::<Vec<_>>()
        };
        let model = machine.clone().clock(ClockKind::Virtual).cores(1).run(program).unwrap();
        let measured = machine.run(program).unwrap();
        assert_eq!(measured.results, model.results, "ties {seed}");
        assert_eq!(measured.trace, model.trace, "ties {seed}");
    }
}

#[test]
fn one_of_many_runs_is_close_to_the_model() {
    let _guard = alone();
    let program = |p: &mut Proc| {
        let other = 1 - p.id();
        for _ in 0..20 {
            p.send(other, WORD, p.id() as u64);
            p.recv(WORD);
        }
    };
    let params = Params::builder(2).L(50 * US).o(20 * US).g(40 * US).build().unwrap();
    let model = machine(params).clock(ClockKind::Virtual).run(program).unwrap().time;
    let is_close = |_| {
        let time = machine(params).run(program).unwrap().time;
        assert!(time >= model, "{time} for {model}");
        time < 2 * model
    };
    // A busy host is late often, but not always.
    assert!((0..2000).any(is_close), "no run came close to {model}");
}

/// A core in a long wait does not look at other cores, and must not believe that they are behind: then it
/// would wait in naps and end some 60 us late.
#[test]
fn long_waits_end_on_time() {
    let _guard = alone();
    let every = 2000 * US;
    for carrier in [Carrier::Thread, Carrier::Coroutine] {
        let machine = machine(cm5(2)).carrier(carrier).dilation(Dilation::Fixed(1.0));
        let late = || {
            let run = machine.run(|p| (1..=25).for_each(|i| p.wait_until(i * every))).unwrap();
            run.host.unwrap().lateness.p50
        };
        let least = (0..20).map(|_| late()).find(|late| *late < 20 * US);
        assert!(least.is_some(), "{carrier}: the middle wait ended over 20 us late in each of 20 runs");
    }
}

#[test]
fn auto_dilation_says_what_it_chose_and_why() {
    let _guard = alone();
    let run = machine(cm5(16)).dilation(Dilation::Auto).run(|p| {
        p.send((p.id() + 1) % p.P(), WORD, 1_u64);
        p.recv(WORD).1
    });
    let host = run.unwrap().host.unwrap();
    assert!(host.dilation > 100.0, "10 us are too short to be measured: {host:?}");
    assert!(host.why.contains("must last 20 ms") || host.why.contains("late"), "{}", host.why);
    assert!(host.cores >= 1 && host.cores <= 16);
    assert!(host.lateness.p50 <= host.lateness.p90 && host.lateness.p90 <= host.lateness.max);
}

#[test]
fn a_note_says_that_cores_are_fewer_than_asked_for() {
    let _guard = alone();
    let host = machine(cm5(2000)).cores(1500).run(|_| ()).unwrap().host.unwrap();
    assert!(host.notes.iter().any(|note| note.contains("of the 1500 cores")), "{host:?}");
    let host = machine(cm5(4)).cores(1).run(|_| ()).unwrap().host.unwrap();
    assert_eq!(host.cores, 1);
}

/// Several cores of the machine may share one of the host, so that many cores can be tested on a small host.
#[test]
fn cores_that_share_one_do_the_same() {
    let _guard = alone();
    for carrier in [Carrier::Thread, Carrier::Coroutine] {
        let machine = machine(cm5(8)).carrier(carrier).cores(8).oversubscribed(true);
        let run = machine.run(|p| loggp::collectives::all_reduce(p, p.id(), |a, b| a + b)).unwrap();
        assert!(run.results.iter().all(|sum| *sum == 28));
        let host = run.host.unwrap();
        assert_eq!(host.cores, 8);
        let offered = std::thread::available_parallelism().unwrap().get();
        assert!(offered >= 8 || host.notes.iter().any(|note| note.contains("some share one")), "{host:?}");
        // No processor is due on any core.
        let error = machine.run(|p| _ = p.recv(BYTE)).unwrap_err();
        assert_eq!(error.cause, Cause::Deadlock { waiting: 8, of: 8 });
    }
}

#[test]
fn one_core_serves_many_processors() {
    let _guard = alone();
    let run = machine(cm5(50)).cores(1).run(|p| {
        let (next, last) = ((p.id() + 1) % p.P(), (p.id() + p.P() - 1) % p.P());
        let mut token = p.id() as u64;
        for _ in 0..20 {
            p.send(next, WORD, token);
            token = p.recv_from(last, WORD);
        }
        token
    });
    let expected: Vec<u64> = (0..50).map(|id| (id + 50 - 20) % 50).collect();
    assert_eq!(run.unwrap().results, expected);
}

/// Thousands of processors as coroutines; as threads they would take seconds to start.
#[test]
fn coroutines_carry_many_processors() {
    let _guard = alone();
    let sum = |p: &mut Proc| loggp::collectives::all_reduce(p, p.id() as u64, |a, b| a + b);
    let coroutines = machine(cm5(8000)).carrier(Carrier::Coroutine);
    let (measured, model) =
        (coroutines.run(sum).unwrap(), coroutines.clock(ClockKind::Virtual).run(sum).unwrap());
    assert!(measured.results.iter().all(|sum| *sum == 8000 * 7999 / 2));
    assert_eq!(measured.processors, model.processors);
    assert!(measured.time >= model.time);
}

#[test]
fn a_receiver_that_computes_for_long_holds_up_nobody() {
    let _guard = alone();
    let run = machine(Params::builder(2).o(US).build().unwrap()).run(|p| {
        if p.id() == 0 {
            (0..100_u64).for_each(|i| p.send(1, WORD, i));
            p.now()
        } else {
            p.work("long", 1, || std::thread::sleep(std::time::Duration::from_millis(20)));
            (0..100).for_each(|i| assert_eq!(p.recv(WORD).1, i));
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
                p.send(1, COUNT, 5_u32);
                0
            }
            1 => {
                assert_eq!(p.recv_until(COUNT, 200 * US), None);
                assert_eq!(p.now(), 200 * US);
                (0..).take_while(|_| p.try_recv(COUNT).is_none()).count()
            }
            _ => 0,
        });
        run.unwrap().results[1]
    };
    // From 200 us to the arrival at 1008 us, a look every microsecond; more if the host is late with the
    // message.
    assert_eq!(polls(ClockKind::Virtual), 808);
    assert!(polls(ClockKind::Wall) >= 808);
}

/// Counts the processors' stack frames that were left, by return or by unwinding.
struct FrameCounter<'a>(&'a AtomicUsize);

impl Drop for FrameCounter<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the number of threads of processors.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    let name = |task: std::io::Result<std::fs::DirEntry>| {
        // A thread may end between listing and reading.
        std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default()
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.map(name).filter(|name| name.starts_with("processor") || name.starts_with("core ")).count()
}

/// Returns whether all threads of processors are gone. The kernel lists a joined thread for a moment longer.
#[cfg(target_os = "linux")]
fn threads_are_gone() -> bool {
    (0..10_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        threads() == 0
    })
}

/// Runs a program that must fail on both clocks and both carriers, and checks that every frame is dropped and
/// every thread joined. Returns the causes.
fn failure_causes(P: usize, program: impl Fn(&mut Proc) + Sync) -> Vec<Cause> {
    let _guard = alone();
    let machine_on = |cores: usize| machine(cm5(P)).cores(cores).oversubscribed(true);
    let wall = [machine_on(2), machine_on(4)].into_iter().flat_map(|machine| {
        [Carrier::Thread, Carrier::Coroutine].map(|carrier| machine.clone().carrier(carrier))
    });
    [machine(cm5(P)).clock(ClockKind::Virtual)]
        .into_iter()
        .chain(wall)
        .map(|machine| {
            let (entered, left) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let error = machine.run(|p| {
                entered.fetch_add(1, Ordering::Relaxed);
                let _counted = FrameCounter(&left);
                program(p)
            });
            let error = error.unwrap_err();
            assert_eq!(entered.into_inner(), left.into_inner());
            #[cfg(target_os = "linux")]
            assert!(threads_are_gone(), "a thread is left");
            assert_eq!(error.processors.len(), P);
            error.cause
        })
        .collect()
}

/// Makes sure that finding no thread means something.
#[cfg(target_os = "linux")]
#[test]
fn threads_of_processors_are_found_while_they_live() {
    let _guard = alone();
    let found = |p: &mut Proc| {
        p.wait_until(US); // by then every thread has begun
        threads()
    };
    for (carrier, least) in [(Carrier::Thread, 3), (Carrier::Coroutine, 1)] {
        let run = machine(cm5(3)).carrier(carrier).run(found).unwrap();
        assert!(run.results.iter().all(|found| *found >= least), "{:?}", run.results);
    }
}

#[test]
fn a_deadlock_is_the_same_error() {
    for P in [1, 2, 3, 40] {
        let causes = failure_causes(P, |p| {
            p.send((p.id() + 1) % p.P(), Tag::new(1), p.id());
            p.recv(Tag::<usize>::new(1));
            p.recv(Tag::<usize>::new(2));
        });
        assert!(causes.iter().all(|cause| *cause == Cause::Deadlock { waiting: P, of: P }), "{causes:?}");
    }
}

#[test]
fn a_deadlock_beside_finished_processors_is_found() {
    let causes = failure_causes(7, |p| {
        if p.id() == 3 {
            p.recv_from(5, BYTE);
        }
    });
    assert!(causes.iter().all(|cause| *cause == Cause::Deadlock { waiting: 1, of: 7 }), "{causes:?}");
}

#[test]
fn a_panic_ends_the_run() {
    let causes = failure_causes(20, |p| {
        if p.id() == 11 {
            std::panic::resume_unwind(Box::new("no more"));
        }
        p.recv(BYTE);
    });
    let expected = Cause::Panic { id: 11, message: "no more".into() };
    assert!(causes.iter().all(|cause| *cause == expected), "{causes:?}");
}

#[test]
fn a_message_that_nobody_receives_ends_the_run() {
    let causes = failure_causes(4, |p| {
        if p.id() == 0 {
            p.send(3, Tag::new(0), String::from("lost"));
        }
    });
    let expected =
        Cause::NotReceived { count: 1, from: 0, to: 3, about: "with tag 0".into(), arrival: 8 * US };
    assert!(causes.iter().all(|cause| *cause == expected), "{causes:?}");
}

#[test]
fn a_wrong_type_and_a_wrong_number_end_the_run() {
    let causes = failure_causes(3, |p| match p.id() {
        0 => p.send(1, COUNT, 1_u32),
        1 => _ = p.recv(WORD),
        _ => _ = p.recv(WORD),
    });
    assert!(causes.iter().all(|c| matches!(c, Cause::WrongType { id: 1, from: 0, .. })), "{causes:?}");
    let causes = failure_causes(3, |p| match p.id() {
        2 => p.send(3, COUNT, 1_u32),
        _ => _ = p.recv(WORD),
    });
    let expected = |c: &Cause| matches!(c, Cause::NoSuchProcessor { id: 2, other: 3, last: 2, .. });
    assert!(causes.iter().all(expected), "{causes:?}");
}

#[test]
fn a_dilation_that_cannot_be_is_refused() {
    for dilation in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = machine(cm5(2)).dilation(Dilation::Fixed(dilation)).run(|_| ()).unwrap_err();
        assert!(refused.to_string().contains("dilation"), "{refused}");
    }
}
