//! What a check tries: its settings.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::faults::MostFaults;
use super::strategy::Strategy;
use crate::error::RunError;

/// How a program is checked: under which orders, and how many.
///
/// ```
/// use loggp::{Check, Machine, Params, Strategy, Tag, US};
///
/// const WORD: Tag<String> = Tag::new(0);
///
/// // Processor 0 takes the words as they come, and not as they should stand.
/// let machine = Machine::new(Params::builder(3).L(6 * US).o(US).g(US).build()?);
/// let program = |p: &mut loggp::Proc| match p.id() {
///     0 => [p.recv(WORD).1, p.recv(WORD).1].join(" "),
///     1 => { p.send(0, WORD, "every".into()); "".into() }
///     _ => { p.send(0, WORD, "order".into()); "".into() }
/// };
/// let checked = Check::new().strategy(Strategy::Systematic).results_may_differ(true).run(&machine, program)?;
/// let results: Vec<_> = checked.classes.iter().map(|class| &class.result[0]).collect();
/// assert_eq!(results, ["every order", "order every"]);
/// assert!(checked.coverage.unwrap().is_done());
///
/// let failure = machine.check(program)?.failure.unwrap();
/// assert_eq!(failure.late[0].to_string(), "message 0 of processor 1 to 0, 6 us");
/// assert_eq!(machine.ordered(&failure.order).run(program)?.results[0], "order every");
/// # Ok::<(), loggp::RunError>(())
/// ```
#[derive(Clone)]
#[must_use = "a setting gives back the check that has it"]
pub struct Check {
    pub(super) strategy: Strategy,
    pub(super) runs: usize,
    pub(super) time: Option<Duration>,
    pub(super) seed: u64,
    pub(super) cores: usize,
    pub(super) faults: MostFaults,
    pub(super) audits: usize,
    pub(super) may_differ: bool,
    pub(super) tell: Arc<dyn Fn(usize) + Send + Sync>,
}

/// What became of a run: its result, or what is wrong with that; or why it failed.
pub type Tried<R> = Result<Result<R, String>, RunError>;

impl Default for Check {
    fn default() -> Check {
        Check::new()
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Check { strategy, runs, time, seed, cores, faults, audits, may_differ, tell: _ } = self;
        let mut told = f.debug_struct("Check");
        told.field("strategy", strategy).field("runs", runs).field("time", time).field("seed", seed);
        told.field("cores", cores)
            .field("faults", faults)
            .field("audits", audits)
            .field("may_differ", may_differ)
            .finish()
    }
}

impl Check {
    /// A thousand runs under mixed orders on one core, of which one in fifty is audited.
    pub fn new() -> Check {
        Check {
            strategy: Strategy::default(),
            runs: 1000,
            time: None,
            seed: 1,
            cores: 1,
            faults: MostFaults::default(),
            audits: 50,
            may_differ: false,
            tell: Arc::new(|_| ()),
        }
    }

    /// Sets which orders are tried.
    pub fn strategy(self, strategy: Strategy) -> Check {
        Check { strategy, ..self }
    }

    /// Sets how many runs are made at most, at least one.
    pub fn runs(self, runs: usize) -> Check {
        Check { runs: runs.max(1), ..self }
    }

    /// Sets for how long runs are begun. Then what is found depends on how fast this computer is.
    pub fn time(self, time: Duration) -> Check {
        Check { time: Some(time), ..self }
    }

    /// Sets what draws the orders: the same seed draws the same, on however many cores.
    pub fn seed(self, seed: u64) -> Check {
        Check { seed, ..self }
    }

    /// Sets how many runs are made at once, at least one.
    pub fn cores(self, cores: usize) -> Check {
        Check { cores: cores.max(1), ..self }
    }

    /// Sets how many messages are lost in a run at most; none, unless told. Which are lost is drawn for each run, from none
    /// to so many: messages of the first run, which loses none, and those that are sent in answer to losses. The sender of a
    /// message that is lost sees no difference. A receive that waits for ever is a failure: who expects losses receives
    /// [until](crate::Proc::recv_until) a time. What is left when all have finished is no failure in a run with losses.
    ///
    /// ```
    /// use loggp::{Check, Machine, Params, Proc, Tag, US};
    ///
    /// const ASK: Tag<u64> = Tag::named(0, "ask");
    /// const REPLY: Tag<u64> = Tag::named(1, "reply");
    ///
    /// // Processor 0 asks again if no reply comes in time, and processor 1 replies as often as it is asked.
    /// fn asks(p: &mut Proc, times: u64) -> u64 {
    ///     for time in 0..times {
    ///         match p.id() {
    ///             0 => {
    ///                 p.send(1, ASK, time);
    ///                 if let Some((_, reply)) = p.recv_until(p.now() + 40 * US, REPLY) {
    ///                     return reply;
    ///                 }
    ///             }
    ///             _ => if p.recv_until(p.now() + 80 * US, ASK).is_some() { p.send(0, REPLY, 42) },
    ///         }
    ///     }
    ///     if p.id() == 0 { 0 } else { 42 }
    /// }
    /// let machine = Machine::new(Params::builder(2).L(6 * US).o(US).g(US).build()?);
    /// assert!(Check::new().losses(1).run(&machine, |p| asks(p, 2)).unwrap().is_right());
    ///
    /// let checked = Check::new().losses(1).run(&machine, |p| asks(p, 1)).unwrap();
    /// let failure = checked.failure.unwrap();
    /// assert_eq!(failure.trace.faults.lost.len(), 1);
    /// assert!(machine.ordered(&failure.order).run(|p| asks(p, 1)).unwrap().results != [42, 42]);
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn losses(self, most: usize) -> Check {
        Check { faults: MostFaults { losses: most, ..self.faults }, ..self }
    }

    /// Sets how many messages come twice in a run at most; none, unless told. Which do, and how much later, up to L, is drawn for
    /// each run. The second costs its receiver what the first does, and nobody else anything; it is no failure if nobody receives
    /// it. What a message holds is [packed](crate::Payload::pack) for that.
    ///
    /// ```
    /// use loggp::{Check, Machine, Params, Proc, Tag, US};
    ///
    /// const ADD: Tag<(usize, u64)> = Tag::named(0, "add");
    ///
    /// // Processor 0 adds what comes until nothing more does, and knows by its number what has come before.
    /// fn adds(p: &mut Proc, knows: bool) -> u64 {
    ///     if p.id() > 0 {
    ///         p.send(0, ADD, (p.id(), 10));
    ///         return 0;
    ///     }
    ///     let (mut sum, mut before) = (0, vec![]);
    ///     while let Some((_, (number, amount))) = p.recv_until(p.now() + 100 * US, ADD) {
    ///         if !(knows && before.contains(&number)) {
    ///             sum += amount;
    ///             before.push(number);
    ///         }
    ///     }
    ///     sum
    /// }
    /// let machine = Machine::new(Params::builder(3).L(6 * US).o(US).g(US).build()?);
    /// assert!(Check::new().duplicates(2).run(&machine, |p| adds(p, true)).unwrap().is_right());
    ///
    /// let failure = Check::new().duplicates(2).run(&machine, |p| adds(p, false)).unwrap().failure.unwrap();
    /// assert_eq!(failure.trace.faults.twice.len(), 1);
    /// assert_eq!(machine.ordered(&failure.order).run(|p| adds(p, false)).unwrap().results[0], 30);
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn duplicates(self, most: usize) -> Check {
        Check { faults: MostFaults { duplicates: most, ..self.faults }, ..self }
    }

    /// Sets how many processors crash in a run at most; none, unless told. Which crash, and before which of their messages, is
    /// drawn for each run: others can see a crash only by what is no longer sent. There its program unwinds, and it neither sends
    /// nor receives any more. Who waits for it for ever is in a deadlock, which is a failure; what is left when all have
    /// finished is none in a run with crashes. [`run_surviving`](Check::run_surviving) verifies the results of the others;
    /// where all results are asked for a crash is a failure.
    ///
    /// ```
    /// use loggp::{Check, Machine, Params, Proc, Tag, US};
    ///
    /// const DATUM: Tag<u64> = Tag::named(0, "datum");
    ///
    /// // Processor 0 tells all others; so does 1, since 0 may crash meanwhile.
    /// fn tells(p: &mut Proc, also_1: bool) -> Option<u64> {
    ///     let got = if p.id() == 0 { Some(42) } else { p.recv_until(p.now() + 100 * US, DATUM).map(|(_, got)| got) };
    ///     if let Some(datum) = got && (p.id() == 0 || (p.id() == 1 && also_1)) {
    ///         (1..p.p()).for_each(|other| p.send(other, DATUM, datum));
    ///     }
    ///     while p.recv_until(p.now() + 100 * US, DATUM).is_some() {} // once more
    ///     got
    /// }
    /// let all_or_none = |got: &[Option<Option<u64>>]| {
    ///     let told = got[1..].iter().flatten().filter(|got| got.is_some()).count();
    ///     let alive = got[1..].iter().flatten().count();
    ///     if told == 0 || told == alive { Ok(()) } else { Err(format!("{told} of {alive} know it")) }
    /// };
    /// let machine = Machine::new(Params::builder(4).L(6 * US).o(US).g(US).build()?);
    /// let check = Check::new().crashes(1);
    /// assert!(check.run_surviving(&machine, |p| tells(p, true), all_or_none).unwrap().is_right());
    ///
    /// let failure = check.run_surviving(&machine, |p| tells(p, false), all_or_none).unwrap().failure.unwrap();
    /// assert!(failure.trace.faults.crashed.contains_key(&0));
    /// let again = machine.ordered(&failure.order).run_surviving(|p| tells(p, false)).unwrap();
    /// assert_eq!(again.results[0], None);
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn crashes(self, most: usize) -> Check {
        Check { faults: MostFaults { crashes: most, ..self.faults }, ..self }
    }

    /// Sets that one run of so many is held against the rules of the machine; with 0 none is.
    pub fn audits(self, one_of: usize) -> Check {
        Check { audits: one_of, ..self }
    }

    /// Sets whether results may differ from that of the first run. Then all different ones are told; else the first
    /// that differs is a failure.
    pub fn results_may_differ(self, may_differ: bool) -> Check {
        Check { may_differ, ..self }
    }

    /// Sets who is told, after each run, how many have been made.
    pub fn on_run(self, tell: impl Fn(usize) + Send + Sync + 'static) -> Check {
        Check { tell: Arc::new(tell), ..self }
    }
}
