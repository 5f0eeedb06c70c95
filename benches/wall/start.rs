//! The cost of starting and ending a run.

use std::time::Instant;

use loggp::{ClockKind, Machine};
use loggp_benches::table;

use crate::threads::pin;
use crate::{CARRIERS, free_machine, median_in_turns};

/// Numbers of processors on the wall clock, next to as many threads.
const SIZES: [usize; 3] = [2, 64, 1024];
/// Numbers of processors on the virtual clock alone: more than the host may have threads.
const MORE: [usize; 2] = [16_384, 131_072];
/// The number of repeats, of which the median is shown.
const REPEATS: usize = 5;
/// Size of a bare thread's stack in bytes: that of a processor.
const STACK: usize = 256 << 10;

/// Prints a line for each number of processors.
pub(crate) fn table() {
    let mut columns = vec!["P"];
    columns.extend(CARRIERS.map(|(name, _)| name));
    columns.extend(["bare threads", "threads / bare", "virtual clock"]);
    table::begin("A run without messages in ms, start and end; medians of 5, taken in turns", &columns);
    for processors in SIZES {
        let mut contenders: Vec<Box<dyn FnMut() -> f64>> = Vec::new();
        for (_, carrier) in CARRIERS {
            let machine = free_machine(processors, carrier);
            contenders.push(Box::new(move || run(&machine)));
        }
        contenders.push(Box::new(move || parked_threads(processors)));
        let machine = virtual_machine(processors);
        contenders.push(Box::new(move || run(&machine)));
        let medians = median_in_turns(REPEATS, &mut contenders);
        let (virtual_clock, wall) = medians.split_last().expect("there are contenders");
        let mut cells = vec![table::whole(processors as u64)];
        cells.extend(wall.iter().map(|median| table::rough(*median)));
        cells.push(format!("{:.2}", wall[0] / wall[CARRIERS.len()]));
        cells.push(table::rough(*virtual_clock));
        table::row(&cells);
    }
    for processors in MORE {
        let machine = virtual_machine(processors);
        let median = median_in_turns(REPEATS, &mut [Box::new(|| run(&machine))])[0];
        let mut cells = vec![table::whole(processors as u64)];
        cells.resize(CARRIERS.len() + 3, String::new());
        cells.push(table::rough(median));
        table::row(&cells);
    }
    table::end();
}

fn virtual_machine(processors: usize) -> Machine {
    free_machine(processors, CARRIERS[0].1).clock(ClockKind::Virtual)
}

/// Returns the time of an empty run, in ms.
fn run(machine: &Machine) -> f64 {
    let started = Instant::now();
    machine.run(|_| ()).unwrap();
    started.elapsed().as_secs_f64() * 1e3
}

/// Returns the time to start this many pinned threads that park, to wake them, and to join them, in ms.
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
