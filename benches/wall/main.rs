//! What the wall clock can hold, on each carrier: how late waits end, how fast messages pass, and what a run costs.
//!
//! Prints a table for each question, each next to peers measured in the same run. Run it with nothing else on the
//! computer: `cargo bench -p loggp-benches --bench wall`; with `-- messages start`, some of it.

mod lateness;
mod messages;
mod start;
mod threads;

use loggp::{Carrier, ClockKind, Dilation, Machine, Params, Work};
use loggp_benches::measure;

/// What carries processors, and what the tables call it.
const CARRIERS: [(&str, Carrier); 2] = [("threads", Carrier::Thread), ("coroutines", Carrier::Coroutine)];

fn main() {
    let tables =
        [("lateness", lateness::table as fn()), ("messages", messages::table), ("start", start::table)];
    measure::asked(&tables).into_iter().for_each(|table| table());
}

/// A machine on the wall clock at full speed, whose network costs nothing.
fn free(processors: usize, carrier: Carrier) -> Machine {
    let params = Params::builder(processors).build().unwrap();
    let machine = Machine::new(params).clock(ClockKind::Wall).carrier(carrier);
    machine.work(Work::Charged).dilation(Dilation::Fixed(1.0))
}

/// The medians of what contenders measure that take turns, so that all see the host as it is then.
fn in_turns(rounds: usize, contenders: &mut [Box<dyn FnMut() -> f64 + '_>]) -> Vec<f64> {
    let mut measured = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for (measured, contender) in measured.iter_mut().zip(contenders.iter_mut()) {
            measured.push(contender());
        }
    }
    measured.into_iter().map(measure::median).collect()
}
