//! Limits of the wall clock on each carrier: lateness of waits, time of messages, and cost of a run.
//!
//! Prints a table for each, next to peers that are measured in the same run. Run it on an otherwise idle
//! computer: `cargo bench -p loggp-benches --bench wall`; `-- messages start` selects tables.

mod lateness;
mod messages;
mod start;
mod threads;

use loggp::{Carrier, ClockKind, Dilation, Machine, Params, Work};
use loggp_benches::measure;

/// The carriers, with their names in the tables.
const CARRIERS: [(&str, Carrier); 2] = [("threads", Carrier::Thread), ("coroutines", Carrier::Coroutine)];

fn main() {
    let tables =
        [("lateness", lateness::table as fn()), ("messages", messages::table), ("start", start::table)];
    measure::selected_tables(&tables).into_iter().for_each(|table| table());
}

/// Returns a machine on the wall clock at full speed, whose network costs nothing.
fn free_machine(processors: usize, carrier: Carrier) -> Machine {
    let params = Params::builder(processors).build().unwrap();
    let machine = Machine::new(params).clock(ClockKind::Wall).carrier(carrier);
    machine.work(Work::Charged).dilation(Dilation::Fixed(1.0))
}

/// Returns the medians of the contenders, which are measured in turn so that load on the host affects all.
fn median_in_turns(rounds: usize, contenders: &mut [Box<dyn FnMut() -> f64 + '_>]) -> Vec<f64> {
    let mut measured = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for (measured, contender) in measured.iter_mut().zip(contenders.iter_mut()) {
            measured.push(contender());
        }
    }
    measured.into_iter().map(measure::median).collect()
}
