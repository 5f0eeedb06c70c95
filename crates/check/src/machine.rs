//! The machine as a check needs it: a trait, so that the checker knows no threads and no stacks.

use loggp_model::error::RunError;
use loggp_trace::Order;

/// A machine that runs programs under any order of messages: `loggp::Machine`.
pub trait CheckedMachine: Clone + Sync {
    /// A processor as its program sees it.
    type Proc<'a>;

    /// Returns the order of messages of a run that nobody checks, or an error if no check of this machine is
    /// possible. A systematic check asks for more than others.
    fn usual_order(&self, is_systematic: bool) -> Result<Order, RunError>;

    /// Returns the number of processors.
    fn processors(&self) -> usize;

    /// Returns the machine with the virtual clock and this order.
    #[must_use]
    fn under(&self, order: &Order) -> Self;

    /// Runs a program, and returns the results of the processors.
    fn results<R: Send>(&self, program: impl Fn(&mut Self::Proc<'_>) -> R + Sync)
    -> Result<Vec<R>, RunError>;

    /// Runs a program where processors may crash, which then have no result.
    fn surviving_results<R: Send>(
        &self,
        program: impl Fn(&mut Self::Proc<'_>) -> R + Sync,
    ) -> Result<Vec<Option<R>>, RunError>;
}
