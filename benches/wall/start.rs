//! What it takes to start a run and to end it.

use std::time::Instant;

use loggp::{ClockKind, Machine};
use loggp_benches::table;

use crate::threads::pin;
use crate::{CARRIERS, free, in_turns};

/// So many processors are started on the wall clock, next to as many threads.
const SIZES: [usize; 3] = [2, 64, 1024];
/// So many on the virtual clock alone: more threads than the host may make.
const MORE: [usize; 2] = [16_384, 131_072];
/// How often each run is repeated; the median is shown.
const REPEATS: usize = 5;
/// The bytes of a bare thread's stack: as many as a processor has.
const STACK: usize = 256 << 10;

/// Prints a line for each number of processors.
pub fn table() {
    let mut columns = vec!["P"];
    columns.extend(CARRIERS.map(|(name, _)| name));
    columns.extend(["bare threads", "threads / bare", "virtual clock"]);
    table::begin("A run without messages in ms, start and end; medians of 5, taken in turns", &columns);
    for processors in SIZES {
        let mut contenders: Vec<Box<dyn FnMut() -> f64>> = Vec::new();
        for (_, carrier) in CARRIERS {
            let machine = free(processors, carrier);
            contenders.push(Box::new(move || run(&machine)));
        }
        contenders.push(Box::new(move || parked_threads(processors)));
        let machine = jumping(processors);
        contenders.push(Box::new(move || run(&machine)));
        let medians = in_turns(REPEATS, &mut contenders);
        let (virtual_clock, wall) = medians.split_last().expect("there are contenders");
        let mut cells = vec![table::whole(processors as u64)];
        cells.extend(wall.iter().map(|median| table::rough(*median)));
        cells.push(format!("{:.2}", wall[0] / wall[CARRIERS.len()]));
        cells.push(table::rough(*virtual_clock));
        table::row(&cells);
    }
    for processors in MORE {
        let machine = jumping(processors);
        let median = in_turns(REPEATS, &mut [Box::new(|| run(&machine))])[0];
        let mut cells = vec![table::whole(processors as u64)];
        cells.resize(CARRIERS.len() + 3, String::new());
        cells.push(table::rough(median));
        table::row(&cells);
    }
    table::end();
}

/// A machine on the virtual clock.
fn jumping(processors: usize) -> Machine {
    free(processors, CARRIERS[0].1).clock(ClockKind::Virtual)
}

/// The milliseconds of a run in which nothing happens.
fn run(machine: &Machine) -> f64 {
    let started = Instant::now();
    machine.run(|_| ()).unwrap();
    started.elapsed().as_secs_f64() * 1e3
}

/// The milliseconds that it takes to start so many pinned threads that park, to wake them, and to see them end.
fn parked_threads(processors: usize) -> f64 {
    let started = Instant::now();
    std::thread::scope(|scope| {
        let spawn = |id: usize| {
            let park = move || {
                pin(id, processors);
                std::thread::park();
            };
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, park).unwrap()
        };
        let threads: Vec<_> = (0..processors).map(spawn).collect();
        threads.iter().for_each(|thread| thread.thread().unpark());
    });
    started.elapsed().as_secs_f64() * 1e3
}
