//! The barriers: the machine's own, and the one made of messages.

use loggp_model::message::Collective;
use loggp_schedule::rounds::dissemination;

use super::call::BegunCollective;
use super::levels::level_steps;
use crate::proc::Proc;

impl Proc<'_> {
    /// Waits until every processor has called this.
    ///
    /// If the machine has a barrier of its own ([`Machine::barrier`](crate::Machine::barrier)), every
    /// processor continues when the last one has called, plus the barrier's cost. Otherwise this is the
    /// barrier made of messages, [`collectives::barrier`](barrier()). Every processor must call it, in the
    /// same order with other collectives.
    ///
    /// ```
    /// use loggp::{Machine, Params, US};
    ///
    /// let params = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
    /// let machine = Machine::new(params).barrier(5 * US);
    /// let run = machine.run(|p| {
    ///     p.work("unequal", p.id() as u64, || ());
    ///     p.barrier();
    ///     p.now()
    /// })?;
    /// assert_eq!(run.results, [12 * US; 8]); // the last one calls at 7
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn barrier(&mut self) {
        if !self.is_unwinding() && (self.membership.is_some() || !self.try_hardware_barrier()) {
            barrier(self);
        }
    }
}

/// Waits until every processor has called this.
///
/// Dissemination: in round i processor x signals processor x + 2^i and waits for the signal of x - 2^i,
/// modulo P. After ceil(log2 P) rounds every processor has heard, directly or not, of every other. A signal
/// is an empty message of one word.
///
/// **Time**, with R = ceil(log2 P) rounds: (R-1) max(L + 2o, g) + L + 2o. Exact if all call at once and no
/// earlier gap is running. If they call at different times, it counts from the last call, and is a bound as
/// long as nothing stalls.
///
/// A machine can have a faster one: [`Proc::barrier`].
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     p.work("unequal", p.id() as u64, || ());
///     collectives::barrier(p);
///     p.now()
/// })?;
/// assert!(run.results.iter().all(|at| *at >= 7 * US)); // the last one calls at 7
/// assert_eq!(run.time, (7 + 3 * 10) * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn barrier(p: &mut Proc) {
    let steps = level_steps(p);
    if !steps.is_empty() {
        return steps.iter().rev().for_each(|step| barrier(&mut p.within(&step.group)));
    }
    let call = BegunCollective::begin(p, Collective::Barrier);
    for (number, round) in dissemination(call.P, call.id).enumerate() {
        call.send(p, round.to, number, ());
        call.recv::<()>(p, round.from, number);
    }
}
