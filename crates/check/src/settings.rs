//! The settings of a check.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loggp_model::error::RunError;

use super::faults::FaultLimits;
use super::strategy::Strategy;

/// A check of a program: which orders of messages it tries, and how many.
///
/// ```
/// use loggp::{Machine, Params, Tag, US};
/// use loggp::check::{Check, Strategy};
///
/// const WORD: Tag<String> = Tag::new(0);
///
/// // Processor 0 takes the words in the order of their arrival, which may be the wrong one.
/// let machine = Machine::new(Params::builder(3).L(6 * US).o(US).g(US).build()?);
/// let program = |p: &mut loggp::Proc| match p.id() {
///     0 => [p.recv(WORD), p.recv(WORD)].join(" "),
///     1 => { p.send(0, WORD, "every".into()); "".into() }
///     _ => { p.send(0, WORD, "order".into()); "".into() }
/// };
/// let checked = Check::new().strategy(Strategy::Systematic).results_may_differ(true).run(&machine, program)?;
/// let results: Vec<_> = checked.results.iter().map(|distinct| &distinct.result[0]).collect();
/// assert_eq!(results, ["every order", "order every"]);
/// assert!(checked.coverage.unwrap().is_complete());
///
/// let failure = Check::new().run(&machine, program)?.failure.unwrap();
/// assert_eq!(failure.delayed[0].to_string(), "message 0 of processor 1 to 0, 6 us");
/// assert_eq!(machine.order(&failure.order).run(program)?.results[0], "order every");
/// # Ok::<(), loggp::RunError>(())
/// ```
#[derive(Clone)]
#[must_use = "a setting gives back the check that has it"]
pub struct Check {
    pub(super) strategy: Strategy,
    pub(super) runs: usize,
    pub(super) time: Option<Duration>,
    pub(super) stop: Option<&'static AtomicBool>,
    pub(super) seed: u64,
    pub(super) cores: usize,
    pub(super) faults: FaultLimits,
    pub(super) audits: usize,
    pub(super) may_differ: bool,
    pub(super) on_run: Arc<dyn Fn(usize) + Send + Sync>,
}

/// The outcome of a run: its result, or the reason why the result is wrong, or the error that ended the run.
pub type TrialResult<R> = Result<Result<R, String>, RunError>;

impl Default for Check {
    fn default() -> Check {
        Check::new()
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Check { strategy, runs, time, seed, cores, faults, audits, may_differ, stop: _, on_run: _ } =
            self;
        let mut debug = f.debug_struct("Check");
        debug.field("strategy", strategy).field("runs", runs).field("time", time).field("seed", seed);
        debug
            .field("cores", cores)
            .field("faults", faults)
            .field("audits", audits)
            .field("may_differ", may_differ)
            .finish()
    }
}

impl Check {
    /// Creates a check of a thousand runs under mixed orders on one core, of which one in fifty is audited.
    pub fn new() -> Check {
        Check {
            strategy: Strategy::default(),
            runs: 1000,
            time: None,
            stop: None,
            seed: 1,
            cores: 1,
            faults: FaultLimits::default(),
            audits: 50,
            may_differ: false,
            on_run: Arc::new(|_| ()),
        }
    }

    /// Sets the strategy that chooses the orders.
    pub fn strategy(self, strategy: Strategy) -> Check {
        Check { strategy, ..self }
    }

    /// Sets the maximum number of runs, at least one.
    pub fn runs(self, runs: usize) -> Check {
        Check { runs: runs.max(1), ..self }
    }

    /// Sets a time after which no run is begun, and after which neither the systematic strategy nor the
    /// reduction of a failure goes on. What the check finds then depends on how fast this computer is.
    pub fn time(self, time: Duration) -> Check {
        Check { time: Some(time), ..self }
    }

    /// Sets a flag that ends the check as its time does, at any moment: the report has the runs so far.
    pub fn stop_on(self, stop: &'static AtomicBool) -> Check {
        Check { stop: Some(stop), ..self }
    }

    /// Sets the seed from which the orders are drawn. The same seed draws the same orders on any number of
    /// cores.
    pub fn seed(self, seed: u64) -> Check {
        Check { seed, ..self }
    }

    /// Sets the number of runs that are made at once, at least one.
    pub fn cores(self, cores: usize) -> Check {
        Check { cores: cores.max(1), ..self }
    }

    /// Sets the maximum number of lost messages in a run; the default is none. Each run draws a number from
    /// none to the maximum, but to no more than 64 or the number of the first run's messages, and so many
    /// messages among those of the first run, which loses none, and those that are sent in answer to losses.
    /// The sender of a lost message sees no difference. A receive that waits for ever is a failure, so a
    /// program that expects losses receives with a deadline. Messages left when all
    /// have finished are no failure in a run with losses.
    ///
    /// ```
    /// use loggp::{Machine, Params, Proc, Tag, US};
    /// use loggp::check::Check;
    ///
    /// const ASK: Tag<u64> = Tag::named(0, "ask");
    /// const REPLY: Tag<u64> = Tag::named(1, "reply");
    ///
    /// // Processor 0 asks again if no reply comes in time, and processor 1 replies as often as it is asked.
    /// fn ask(p: &mut Proc, times: u64) -> u64 {
    ///     for time in 0..times {
    ///         match p.id() {
    ///             0 => {
    ///                 p.send(1, ASK, time);
    ///                 if let Some(reply) = p.recv_deadline(REPLY, p.now() + 40 * US) {
    ///                     return reply;
    ///                 }
    ///             }
    ///             _ => if p.recv_deadline(ASK, p.now() + 80 * US).is_some() { p.send(0, REPLY, 42) },
    ///         }
    ///     }
    ///     if p.id() == 0 { 0 } else { 42 }
    /// }
    /// let machine = Machine::new(Params::builder(2).L(6 * US).o(US).g(US).build()?);
    /// assert!(Check::new().losses(1).run(&machine, |p| ask(p, 2)).unwrap().has_passed());
    ///
    /// let checked = Check::new().losses(1).run(&machine, |p| ask(p, 1)).unwrap();
    /// let failure = checked.failure.unwrap();
    /// assert_eq!(failure.trace.faults.lost.len(), 1);
    /// assert!(machine.order(&failure.order).run(|p| ask(p, 1)).unwrap().results != [42, 42]);
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn losses(self, most: usize) -> Check {
        Check { faults: FaultLimits { losses: most, ..self.faults }, ..self }
    }

    /// Sets the maximum number of messages that come twice in a run, with the same bound as that of
    /// [`losses`](Check::losses); the default is none. Each run draws these messages, and how much later, up
    /// to L, each comes again. The second copy costs its receiver what the first does and costs nobody else
    /// anything; it is no failure if nobody receives the copy. The content of a message is
    /// [packed](loggp_model::message::Payload::pack) for the copy.
    ///
    /// ```
    /// use loggp::{Machine, Params, Proc, Tag, US};
    /// use loggp::check::Check;
    ///
    /// const ADD: Tag<(usize, u64)> = Tag::named(0, "add");
    ///
    /// // Processor 0 adds amounts until no more come, and may ignore copies, by the sender's number.
    /// fn add(p: &mut Proc, ignores_copies: bool) -> u64 {
    ///     if p.id() > 0 {
    ///         p.send(0, ADD, (p.id(), 10));
    ///         return 0;
    ///     }
    ///     let (mut sum, mut before) = (0, vec![]);
    ///     while let Some((number, amount)) = p.recv_deadline(ADD, p.now() + 100 * US) {
    ///         if !(ignores_copies && before.contains(&number)) {
    ///             sum += amount;
    ///             before.push(number);
    ///         }
    ///     }
    ///     sum
    /// }
    /// let machine = Machine::new(Params::builder(3).L(6 * US).o(US).g(US).build()?);
    /// assert!(Check::new().duplicates(2).run(&machine, |p| add(p, true)).unwrap().has_passed());
    ///
    /// let failure = Check::new().duplicates(2).run(&machine, |p| add(p, false)).unwrap().failure.unwrap();
    /// assert_eq!(failure.trace.faults.twice.len(), 1);
    /// assert_eq!(machine.order(&failure.order).run(|p| add(p, false)).unwrap().results[0], 30);
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn duplicates(self, most: usize) -> Check {
        Check { faults: FaultLimits { duplicates: most, ..self.faults }, ..self }
    }

    /// Sets the maximum number of processors that crash in a run; the default is none. Each run draws these
    /// processors, and before which of its messages each crashes, since others can see a crash only by what
    /// is no longer sent. A processor that crashes unwinds its program, and neither sends nor receives any
    /// more. A processor that waits for a crashed one for ever is in a deadlock, which is a failure; messages
    /// left when all have finished are none in a run with crashes. [`run_surviving`](Check::run_surviving)
    /// verifies the results of the others; with [`run`](Check::run) and [`run_verified`](Check::run_verified)
    /// a crash is a failure.
    ///
    /// ```
    /// use loggp::{Machine, Params, Proc, Tag, US};
    /// use loggp::check::Check;
    ///
    /// const DATUM: Tag<u64> = Tag::named(0, "datum");
    ///
    /// // Processor 0 tells all others, and so may processor 1, since 0 may crash meanwhile.
    /// fn tell_others(p: &mut Proc, also_1: bool) -> Option<u64> {
    ///     let got = if p.id() == 0 { Some(42) } else { p.recv_deadline(DATUM, p.now() + 100 * US) };
    ///     if let Some(datum) = got && (p.id() == 0 || (p.id() == 1 && also_1)) {
    ///         (1..p.P()).for_each(|other| p.send(other, DATUM, datum));
    ///     }
    ///     while p.recv_deadline(DATUM, p.now() + 100 * US).is_some() {} // once more
    ///     got
    /// }
    /// let all_or_none = |got: &[Option<Option<u64>>]| {
    ///     let told = got[1..].iter().flatten().filter(|got| got.is_some()).count();
    ///     let alive = got[1..].iter().flatten().count();
    ///     if told == 0 || told == alive { Ok(()) } else { Err(format!("{told} of {alive} know it")) }
    /// };
    /// let machine = Machine::new(Params::builder(4).L(6 * US).o(US).g(US).build()?);
    /// let check = Check::new().crashes(1);
    /// assert!(check.run_surviving(&machine, |p| tell_others(p, true), all_or_none).unwrap().has_passed());
    ///
    /// let failure = check.run_surviving(&machine, |p| tell_others(p, false), all_or_none).unwrap().failure.unwrap();
    /// assert!(failure.trace.faults.crashed.contains_key(&0));
    /// let again = machine.order(&failure.order).run_surviving(|p| tell_others(p, false)).unwrap();
    /// assert_eq!(again.results[0], None);
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn crashes(self, most: usize) -> Check {
        Check { faults: FaultLimits { crashes: most, ..self.faults }, ..self }
    }

    /// Sets that one run of `one_of` is [audited](loggp_trace::audit::audit); with 0 none is.
    pub fn audits(self, one_of: usize) -> Check {
        Check { audits: one_of, ..self }
    }

    /// Sets whether results may differ from that of the first run. If they may, the report lists all distinct
    /// ones; otherwise the first that differs is a failure.
    pub fn results_may_differ(self, may_differ: bool) -> Check {
        Check { may_differ, ..self }
    }

    /// Sets a function that is called after each run with the number of runs made so far.
    pub fn on_run(self, tell: impl Fn(usize) + Send + Sync + 'static) -> Check {
        Check { on_run: Arc::new(tell), ..self }
    }
}
