//! A hot spot: all processors send to processor 0 at once, but only ceil(L/g) messages may be in transit to
//! it, so the other senders stall. A reduction computes the same sum without stalls.

use loggp::{Machine, Params, Run, RunError, Tag, Time, US, collectives};

const NUMBER: Tag<u64> = Tag::named(0, "number");

fn show<R>(what: &str, run: &Run<R>) {
    println!("{what} takes {}, with {} stalls", run.time, run.stalls());
    for (id, stats) in run.processors.iter().enumerate().filter(|(_, stats)| stats.stalls > 0) {
        println!("  processor {id} is stalled for {}", stats.stall);
    }
}

pub fn main() -> Result<(), RunError> {
    let params @ Params { L, P, .. } = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
    let machine = Machine::new(params);
    let hot = machine.run(|p| match p.id() {
        0 => Some((1..p.P()).map(|_| p.recv(NUMBER)).sum()),
        id => {
            p.send(0, NUMBER, id as u64);
            None
        }
    })?;
    // Combining two numbers takes a cycle, 1 us.
    let tree = machine.run(|p| collectives::reduce(p, 0, p.id() as u64, |a, b| a + b))?;

    println!("{} messages may be in transit to a processor", params.capacity().unwrap());
    show("the hot spot", &hot);
    show("the reduction", &tree);

    assert_eq!((hot.results[0], tree.results[0]), (Some(28), Some(28)));
    assert_eq!((hot.time, hot.stalls(), tree.time, tree.stalls()), (34 * US, 5, 26 * US, 0));
    // Two messages enter at o. Whenever two have arrived, L later, two more enter.
    let stall = |id: usize| (id as i64 - 1) / 2 * L;
    let stalls: Vec<Time> = hot.processors[1..].iter().map(|stats| stats.stall).collect();
    assert_eq!(stalls, (1..P).map(stall).collect::<Vec<_>>());
    Ok(())
}
