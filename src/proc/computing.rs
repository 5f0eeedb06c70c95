//! Computing, and its cost.

use super::processor::Proc;
use super::work::WorkBegin;

impl Proc<'_> {
    /// Computes. This costs `units` times the machine's rate for this kind of work, or the time that this
    /// computer takes for it if the machine measures work: see [`Work`](crate::Work).
    pub fn work<R>(&mut self, kind: &'static str, units: u64, compute: impl FnOnce() -> R) -> R {
        let began = self.stopwatch.is_some().then(|| self.start_measured_work(units));
        if began.is_none() {
            self.charge_work(kind, units);
        }
        let result = compute();
        match began {
            Some(began) => self.end_measured_work(kind, began),
            // A program that only computes would never end.
            None if self.local_time() >= self.setup.end.at => self.end_with_run(),
            None => (),
        }
        result
    }

    /// Charges the cost of work.
    #[inline]
    fn charge_work(&mut self, kind: &'static str, units: u64) {
        let cost = self.setup.rates.cost(kind, units, self.params().cycle);
        self.engine.work(kind, cost);
        if !self.engine.has_requests {
            self.promise_no_act_before_now();
        }
    }

    /// Waits where the run ends before the program.
    #[cold]
    fn end_with_run(&mut self) {
        if !self.is_unwinding() {
            self.wait_for_local_time();
        }
    }

    #[cold]
    fn start_measured_work(&mut self, units: u64) -> WorkBegin {
        self.enter_call();
        if let Some(cores) = self.clock.cores() {
            cores.start_computing_at(self.engine.rank.now);
        }
        self.stopwatch.as_mut().expect("work is measured").begin_work(units)
    }

    #[cold]
    fn end_measured_work(&mut self, kind: &'static str, began: WorkBegin) {
        if let Some(cores) = self.clock.cores() {
            cores.stop_computing();
        }
        let cost = self.stopwatch.as_mut().expect("work is measured").end_work(began);
        let cost = self.unseen_time().unwrap_or(cost);
        self.engine.work(kind, cost);
        self.leave_call();
    }

    /// Lets other cores know that the processor does nothing that they can see before its local time.
    pub(super) fn promise_no_act_before_now(&mut self) {
        if let Some(cores) = self.clock.cores() {
            cores.promise_no_act_before(self.engine.rank.now);
        }
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
        if let Some(passed) = self.unseen_time()
            && let Some(real) = self.clock.real()
        {
            real.prepare(passed);
        }
        self.leave_call();
        prepared
    }
}
