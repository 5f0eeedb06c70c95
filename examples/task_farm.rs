//! A master hands out tasks of different lengths: a worker that finishes one gets the next. A task is a
//! number, and its result the number of steps of Collatz's rule from there to 1.

use loggp::{Machine, Params, RunError, Tag, Time, US};

/// A number, or `None` if there are no more.
const TASK: Tag<Option<u64>> = Tag::named(0, "task");
/// A number and its steps.
const RESULT: Tag<(u64, u64)> = Tag::named(1, "result");
const TASKS: u64 = 200;
const STEP: Time = Time::from_ps(2_000_000);

fn collatz(mut n: u64) -> u64 {
    let mut steps = 0;
    while n != 1 {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

pub fn main() -> Result<(), RunError> {
    let params = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
    let run = Machine::new(params).rate("step", STEP).run(|p| {
        let mut results = Vec::new();
        if p.id() == 0 {
            let mut tasks = 1..=TASKS;
            (1..p.P()).for_each(|worker| p.send(worker, TASK, tasks.next()));
            while results.len() < TASKS as usize {
                let (worker, result) = p.recv_with_sender(RESULT);
                results.push(result);
                p.send(worker, TASK, tasks.next());
            }
            return results;
        }
        while let Some(n) = p.recv(TASK.from(0)) {
            let steps = collatz(n); // the work is not known beforehand
            p.work("step", steps, || results.push((n, steps)));
            p.send(0, RESULT, (n, steps));
        }
        results
    })?;

    let share = |time: Time| 100 * time.as_ps() / run.time.as_ps();
    println!("{TASKS} tasks take {}", run.time);
    println!("the master is idle {}% of the time", share(run.processors[0].idle));
    for (id, (stats, results)) in run.processors.iter().zip(&run.results).enumerate().skip(1) {
        let (work, idle) = (share(stats.work), share(stats.idle));
        println!("processor {id}: {:2} tasks, works {work}% and is idle {idle}% of the time", results.len());
        let steps: i64 = results.iter().map(|(_, steps)| *steps as i64).sum();
        assert_eq!(stats.work, steps * STEP);
    }
    let mut results = run.results[0].clone();
    results.sort_unstable();
    assert!(results.into_iter().eq((1..=TASKS).map(|n| (n, collatz(n)))));
    assert_eq!(run.time, 3252 * US); // in every run
    Ok(())
}
