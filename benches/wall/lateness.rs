//! Lateness of waits, over the number of processors and the load of each core.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use loggp::{Carrier, Time, US};
use loggp_benches::table;
use spin_sleep::SpinSleeper;

use crate::threads::{cores, pin};
use crate::{CARRIERS, free_machine};

/// The times between two acts on a core, in us.
const LOADS: [i64; 3] = [5, 20, 100];
/// Numbers of processors, which share the cores.
const SIZES: [usize; 6] = [2, 4, 16, 64, 256, 1024];
/// Length of a measurement.
const LENGTH: Duration = Duration::from_millis(500);
/// The number of repeats, of which the middle one is shown.
const REPEATS: usize = 3;

/// Lateness of waits in ns: p50, p90 and p99.
type Quantiles = [u64; 3];

/// A number of processors, and the work of each core.
#[derive(Clone, Copy)]
struct Load {
    processors: usize,
    /// The time from one wait's end to the next on a core.
    every: Time,
}

/// A way in which a bare thread waits for a moment.
type PeerWait = fn(Instant);

/// Prints a line for each load and number of processors.
pub(crate) fn table() {
    let peers: [(&str, PeerWait); 3] =
        [("sched_yield", yield_until), ("spin_sleep", spin_until), ("thread::sleep", sleep_until)];
    let loads =
        || LOADS.into_iter().flat_map(|us| SIZES.map(|processors| Load { processors, every: us * US }));
    // The peers keep the host busy for a while after their end, so they run last.
    let results: Vec<_> =
        loads().map(|load| CARRIERS.map(|(_, carrier)| median_run(|| machine(load, carrier)))).collect();
    let mut columns = vec!["each core has something to do every", "P"];
    columns.extend(CARRIERS.map(|(name, _)| name));
    columns.extend(peers.map(|(name, _)| name));
    table::begin(
        "Lateness of a wait in ns, p50 / p90 / p99; the middle of three runs of half a second each",
        &columns,
    );
    for (load, results) in loads().zip(results) {
        let peer_results = peers.map(|(_, wait)| median_run(|| peer(load, wait)));
        let mut cells = vec![format!("{} us", load.every.in_units(US)), table::whole(load.processors as u64)];
        let show = |quantiles: Quantiles| quantiles.map(table::whole).join(" / ");
        cells.extend(results.into_iter().chain(peer_results).map(show));
        table::row(&cells);
    }
    table::end();
}

/// Returns the middle one of some measurements, by p90. Each begins after a pause in which the host comes to
/// rest.
fn median_run(mut measure: impl FnMut() -> Quantiles) -> Quantiles {
    let mut measured: Vec<Quantiles> = (0..REPEATS)
        .map(|_| {
            std::thread::sleep(Duration::from_millis(100));
            measure()
        })
        .collect();
    measured.sort_by_key(|quantiles| quantiles[1]);
    measured[REPEATS / 2]
}

impl Load {
    /// Returns the time at which processor `id` acts for the `i`th time: the processors of a core take turns.
    fn due_time(self, id: usize, i: usize) -> Time {
        let cores = cores(self.processors);
        let turn = i * (self.processors / cores) + id / cores;
        100 * US + turn as i64 * self.every
    }

    /// Returns the number of acts of each processor.
    fn turns(self) -> usize {
        let all = (LENGTH.as_nanos() / (self.every.as_ps() / 1000) as u128) as usize;
        (all / (self.processors / cores(self.processors))).max(3)
    }
}

/// Measures a load on the machine.
fn machine(load: Load, carrier: Carrier) -> Quantiles {
    let wait = |p: &mut loggp::Proc| (0..load.turns()).for_each(|i| p.wait_until(load.due_time(p.id(), i)));
    let lateness = free_machine(load.processors, carrier).run(wait).unwrap().host.unwrap().lateness;
    [lateness.p50, lateness.p90, lateness.p99].map(|time| (time.as_ps() / 1000) as u64)
}

/// Measures the same load on bare threads that wait with `wait`.
fn peer(load: Load, wait: PeerWait) -> Quantiles {
    let start = Instant::now() + Duration::from_millis(50 + load.processors as u64 / 2);
    let mut all = Histogram::<u64>::new(2).unwrap();
    std::thread::scope(|scope| {
        let spawn = |id: usize| {
            scope.spawn(move || {
                pin(id, load.processors);
                let mut late = Vec::with_capacity(load.turns());
                for i in 0..load.turns() {
                    let until = start + Duration::from_nanos((load.due_time(id, i).as_ps() / 1000) as u64);
                    wait(until);
                    late.push(Instant::now().saturating_duration_since(until).as_nanos() as u64);
                }
                late
            })
        };
        let threads: Vec<_> = (0..load.processors).map(spawn).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).for_each(|late| all += late);
    });
    [0.5, 0.9, 0.99].map(|quantile| all.value_at_quantile(quantile))
}

/// Yields the core until the moment.
fn yield_until(until: Instant) {
    while Instant::now() < until {
        std::thread::yield_now();
    }
}

/// Sleeps most of the time, and spins for the rest.
fn spin_until(until: Instant) {
    SpinSleeper::default().sleep(until.saturating_duration_since(Instant::now()));
}

fn sleep_until(until: Instant) {
    std::thread::sleep(until.saturating_duration_since(Instant::now()));
}
