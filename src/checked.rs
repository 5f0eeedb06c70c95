//! The machine as a check sees it.

use loggp_check::CheckedMachine;
use loggp_model::error::RunError;
use loggp_model::params::ParamsError;
use loggp_trace::Order;

use crate::clock::ClockKind;
use crate::machine::Machine;
use crate::proc::Proc;

impl CheckedMachine for Machine {
    type Proc<'a> = Proc<'a>;

    fn usual_order(&self, is_systematic: bool) -> Result<Order, RunError> {
        if self.has_noise() {
            let why = "a check tries orders of messages, and noise is none; leave it out";
            return Err(ParamsError::new(why).into());
        }
        if is_systematic && self.transport.capacity.unfollowed().is_some() {
            let why = "the systematic strategy knows when a message leaves the network only where it does so on arrival; let it be in transit until it arrives, or give another strategy";
            return Err(ParamsError::new(why).into());
        }
        Ok(self.message_order())
    }

    fn processors(&self) -> usize {
        self.params().P
    }

    fn under(&self, order: &Order) -> Machine {
        self.clone().clock(ClockKind::Virtual).cores(1).order(order)
    }

    fn results<R: Send>(&self, program: impl Fn(&mut Proc<'_>) -> R + Sync) -> Result<Vec<R>, RunError> {
        Ok(self.run(program)?.results)
    }

    fn surviving_results<R: Send>(
        &self,
        program: impl Fn(&mut Proc<'_>) -> R + Sync,
    ) -> Result<Vec<Option<R>>, RunError> {
        Ok(self.run_surviving(program)?.results)
    }
}
