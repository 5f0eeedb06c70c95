//! What the wall clock can hold: how late waits end, how fast messages pass, and what a run costs.
//!
//! Prints a table for each question, each next to a peer measured in the same run. Run it with nothing else
//! on the computer: `cargo bench --bench wall`, or `cargo bench --bench wall -- messages start` for some of it.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use loggp::{ClockKind, Dilation, Machine, Params, Tag, Time, US, Work};

/// A message of the peers' comparison.
const WORD: Tag<u64> = Tag::new(0);

/// Each core has something to do this often.
const EVERY: Time = Time::from_ps(20_000_000);
/// How long each load is kept up.
const LENGTH: Duration = Duration::from_secs(1);
/// How often each measurement is repeated; the median is shown.
const REPEATS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` asks only whether it runs.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let all = arguments.iter().all(|argument| argument.starts_with("--"));
    for (name, bench) in [("lateness", lateness as fn()), ("messages", messages), ("start", start_and_stop)] {
        if all || arguments.iter().any(|argument| argument == name) {
            bench();
        }
    }
}

fn machine(params: Params) -> Machine {
    Machine::new(params).clock(ClockKind::Wall).work(Work::Charged).dilation(Dilation::Fixed(1.0))
}

fn free(processors: usize) -> Machine {
    machine(Params::new(processors).build().unwrap())
}

/// How many cores there are for so many processors. The host is asked once: that opens files, which takes
/// longer than all else that a processor of this benchmark does between two waits.
fn cores(processors: usize) -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    CORES.min(processors)
}

/// When processor `id` acts for the `i`th time: the processors of a core take turns.
fn due(id: usize, i: usize, processors: usize) -> Time {
    let cores = cores(processors);
    let turn = i * (processors / cores) + id / cores;
    100 * US + turn as i64 * EVERY
}

/// How often each processor acts.
fn turns(processors: usize) -> usize {
    let all = LENGTH.as_nanos() as usize / (EVERY.as_ps() / 1000) as usize;
    (all / (processors / cores(processors))).max(3)
}

fn lateness() {
    const SIZES: [usize; 6] = [2, 4, 16, 64, 256, 1024];
    // The peers keep the host busy for a while after they have ended, so they come last.
    let own = SIZES.map(|processors| {
        middle(|| {
            let run = free(processors)
                .run(|p| (0..turns(processors)).for_each(|i| p.wait_until(due(p.id(), i, processors))));
            let lateness = run.unwrap().host.unwrap().lateness;
            [lateness.p50, lateness.p90, lateness.p99].map(|time| (time.as_ps() / 1000) as u64)
        })
    });
    println!("## Lateness of a wait, one per core every 20 us (ns; the middle of three)\n");
    println!("| P | loggp p50 | p90 | p99 | sched_yield p50 | p90 | p99 | spin_sleep p50 | p90 | p99 |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (processors, own) in SIZES.into_iter().zip(own) {
        let yielding = middle(|| {
            threads(processors, |until| {
                while Instant::now() < until {
                    std::thread::yield_now();
                }
            })
        });
        let sleeper = spin_sleep::SpinSleeper::default();
        let sleeping = middle(|| {
            threads(processors, |until| sleeper.sleep(until.saturating_duration_since(Instant::now())))
        });
        let numbers: Vec<String> = [own, yielding, sleeping].concat().iter().map(u64::to_string).collect();
        println!("| {processors} | {} |", numbers.join(" | "));
    }
    println!();
}

/// The middle one of three measurements, by the second quantile. Each begins when the host has come to rest.
fn middle(mut measure: impl FnMut() -> [u64; 3]) -> [u64; 3] {
    let mut measured = [(); 3].map(|()| {
        std::thread::sleep(Duration::from_millis(300));
        measure()
    });
    measured.sort_by_key(|quantiles| quantiles[1]);
    measured[1]
}

/// The lateness of the same load on plain threads, pinned alike, that wait by `wait`.
fn threads(processors: usize, wait: impl Fn(Instant) + Sync) -> [u64; 3] {
    let ids = core_affinity::get_core_ids().unwrap_or_default();
    let start = Instant::now() + Duration::from_millis(50 + processors as u64 / 2);
    let mut all = Histogram::<u64>::new(2).unwrap();
    std::thread::scope(|scope| {
        let (ids, wait) = (&ids, &wait);
        let spawn = |id: usize| {
            scope.spawn(move || {
                if let Some(core) = ids.get(id % cores(processors)) {
                    core_affinity::set_for_current(*core);
                }
                let mut late = Vec::with_capacity(turns(processors));
                for i in 0..turns(processors) {
                    let until = start + Duration::from_nanos((due(id, i, processors).as_ps() / 1000) as u64);
                    wait(until);
                    late.push(Instant::now().saturating_duration_since(until).as_nanos() as u64);
                }
                late
            })
        };
        let threads: Vec<_> = (0..processors).map(spawn).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).for_each(|late| all += late);
    });
    [0.5, 0.9, 0.99].map(|quantile| all.value_at_quantile(quantile))
}

fn median(mut measure: impl FnMut() -> f64) -> f64 {
    let mut values: Vec<f64> = (0..REPEATS).map(|_| measure()).collect();
    values.sort_by(f64::total_cmp);
    values[REPEATS / 2]
}

fn messages() {
    const TRIPS: u64 = 300_000;
    println!("## Messages between two cores, L = o = g = G = 0\n");
    println!("| | loggp | crossbeam channel | ratio |");
    println!("|---|---|---|---|");
    let own = median(|| {
        let run = free(2).run(|p| {
            let started = Instant::now();
            for i in 0..TRIPS {
                if p.id() == 0 {
                    p.send(1, WORD, i);
                    p.recv(WORD);
                } else {
                    p.recv(WORD);
                    p.send(0, WORD, i);
                }
            }
            started.elapsed().as_nanos() as f64 / TRIPS as f64
        });
        run.unwrap().results[0]
    });
    let peer = median(|| channels(TRIPS, true));
    println!("| round trip (ns) | {own:.0} | {peer:.0} | {:.2} |", own / peer);
    // Nobody holds the sender back, so it is the memory of what lies between that makes more messages slower.
    for trips in [10_000, 100_000, 1_000_000] {
        let own = median(|| {
            let run = free(2).run(|p| {
                let started = Instant::now();
                for i in 0..trips {
                    if p.id() == 0 {
                        p.send(1, WORD, i);
                    } else {
                        p.recv(WORD);
                    }
                }
                started.elapsed().as_nanos() as f64 / trips as f64
            });
            run.unwrap().results[1]
        });
        let peer = median(|| channels(trips, false));
        let (own, peer) = (1e3 / own, 1e3 / peer);
        println!("| {trips} one way (million a second) | {own:.1} | {peer:.1} | {:.2} |", own / peer);
    }
    println!();
}

/// Nanoseconds per trip of a message as large as the machine's between two pinned threads that spin.
fn channels(trips: u64, back: bool) -> f64 {
    let ids = core_affinity::get_core_ids().unwrap_or_default();
    let (to, there) = crossbeam_channel::unbounded::<[u64; 8]>();
    let (fro, here) = crossbeam_channel::unbounded::<[u64; 8]>();
    let receive = |from: &crossbeam_channel::Receiver<_>| while from.try_recv().is_err() {};
    let pin = |core: usize| ids.get(core).map(|id| core_affinity::set_for_current(*id));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pin(0);
            for i in 0..trips {
                to.send([i; 8]).unwrap();
                if back {
                    receive(&here);
                }
            }
        });
        let receiver = scope.spawn(|| {
            pin(1);
            let started = Instant::now();
            for i in 0..trips {
                receive(&there);
                if back {
                    fro.send([i; 8]).unwrap();
                }
            }
            started.elapsed().as_nanos() as f64 / trips as f64
        });
        receiver.join().unwrap()
    })
}

fn start_and_stop() {
    println!("## A run without messages (ms)\n");
    println!("| P | wall clock | threads alone | ratio | virtual clock |");
    println!("|---|---|---|---|---|");
    for processors in [2, 64, 1024] {
        let time = |machine: Machine| {
            median(|| {
                let started = Instant::now();
                machine.run(|_| ()).unwrap();
                started.elapsed().as_secs_f64() * 1e3
            })
        };
        let (wall, jumping) = (time(free(processors)), time(free(processors).clock(ClockKind::Virtual)));
        let threads = median(|| parked_threads(processors));
        println!("| {processors} | {wall:.1} | {threads:.1} | {:.2} | {jumping:.1} |", wall / threads);
    }
}

/// The milliseconds that it takes to start so many pinned threads that park, to wake them, and to see them end.
fn parked_threads(processors: usize) -> f64 {
    let ids = core_affinity::get_core_ids().unwrap_or_default();
    let started = Instant::now();
    std::thread::scope(|scope| {
        let ids = &ids;
        let spawn = |id: usize| {
            let thread = std::thread::Builder::new().stack_size(256 << 10);
            let park = move || {
                if let Some(core) = ids.get(id % cores(processors)) {
                    core_affinity::set_for_current(*core);
                }
                std::thread::park();
            };
            thread.spawn_scoped(scope, park).unwrap()
        };
        let threads: Vec<_> = (0..processors).map(spawn).collect();
        threads.iter().for_each(|thread| thread.thread().unpark());
    });
    started.elapsed().as_secs_f64() * 1e3
}
