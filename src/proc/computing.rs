//! Computing, and its cost.

use std::borrow::Cow;

use super::processor::Proc;
use crate::time::Time;

/// Runs code on the stack of the thread that carries a processor, for code that needs more than the processor's
/// own stack, or that must know the stack on which it runs, as interpreters do. On the virtual clock with one core
/// that is the thread that runs the machine. A panic goes through to the caller. The code cannot call the
/// processor.
pub fn on_thread_stack<R: Send>(p: &Proc, run: impl FnOnce() -> R + Send) -> R {
    let (mut run, mut result) = (Some(run), None);
    p.clock.run_on_thread_stack(&mut || result = run.take().map(|run| run()));
    result.expect("it has run")
}

impl Proc<'_> {
    /// Computes. This costs `units` times the machine's rate for this kind of work, or the time that this
    /// computer takes for it if the machine measures work: see [`Work`](crate::Work).
    pub fn work<R>(&mut self, kind: &'static str, units: u64, compute: impl FnOnce() -> R) -> R {
        self.enter_call();
        let Some(stopwatch) = &mut self.stopwatch else {
            let cost = self.setup.rates.cost(kind, units, self.params().cycle);
            self.engine.work(kind, cost);
            if !self.engine.has_requests {
                self.clock.promise_no_act_before(self.engine.pace.now);
            }
            return compute();
        };
        self.clock.start_computing_at(self.engine.pace.now);
        let (result, cost) = stopwatch.time(units, || {
            let result = compute();
            self.clock.stop_computing();
            result
        });
        let cost = self.unseen_time().unwrap_or(cost);
        self.engine.work(kind, cost);
        self.leave_call();
        result
    }

    /// Spends the time that a recorded run spent computing here.
    pub(crate) fn compute_for(&mut self, kind: Cow<'static, str>, time: Time) {
        self.engine.work(kind, time);
        self.clock.promise_no_act_before(self.engine.pace.now);
    }

    /// Runs code that is no part of the program, such as getting memory: it takes no time, even if work is
    /// measured. It belongs before the first call. Later it makes the host late on the wall clock, where no
    /// other processor can use the core meanwhile.
    ///
    /// ```
    /// use loggp::{MS, Machine, Params, Work};
    ///
    /// let machine = Machine::new(Params::builder(2).build()?).work(Work::Measured);
    /// let run = machine.run(|p| {
    ///     let before = p.now();
    ///     p.prepare(|| std::thread::sleep(std::time::Duration::from_millis(5)));
    ///     p.now() - before
    /// })?;
    /// assert!(run.results.iter().all(|time| *time < MS));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prepare<R>(&mut self, prepare: impl FnOnce() -> R) -> R {
        self.enter_call();
        let prepared = prepare();
        if let Some(passed) = self.unseen_time() {
            self.clock.prepare(passed);
        }
        self.leave_call();
        prepared
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::on_thread_stack;
    use crate::error::Cause;
    use crate::machine::Machine;
    use crate::message::Tag;
    use crate::params::Params;

    /// Uses more stack than a processor has.
    fn use_stack() -> u64 {
        let numbers = black_box([1_u64; 64 << 10]);
        numbers.iter().sum()
    }

    fn machine() -> Machine {
        Machine::new(Params::builder(3).build().unwrap()).stack(Machine::LEAST_STACK)
    }

    #[test]
    fn code_runs_on_the_stack_of_the_thread() {
        const SUM: Tag<u64> = Tag::new(0);
        let run = machine().run(|p| {
            let sum = on_thread_stack(p, use_stack);
            p.send((p.id() + 1) % p.P(), SUM, sum);
            // A run within a run has stacks of its own.
            let inner =
                on_thread_stack(p, || machine().run(|p| on_thread_stack(p, use_stack)).unwrap().results);
            p.recv(SUM).1 + inner.iter().sum::<u64>()
        });
        assert_eq!(run.unwrap().results, [4 << 16; 3]);
    }

    #[test]
    fn panic_on_the_stack_of_the_thread_ends_the_processor() {
        let error = machine().run(|p| {
            let is_second = p.id() == 1;
            on_thread_stack(p, || {
                if is_second {
                    std::panic::resume_unwind(Box::new("no"))
                }
            });
        });
        assert_eq!(error.unwrap_err().cause, Cause::Panic { id: 1, message: "no".into() });
    }
}
