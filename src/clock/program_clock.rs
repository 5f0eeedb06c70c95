//! What a program's processor asks of its clock, beside what its engine asks.

use loggp_model::rules::engine::StepClock;
use loggp_model::time::Time;

use super::stacks::ThreadStack;

/// A clock on which programs run. What only some clocks can do is a part that the others do not have.
pub(crate) trait ProgramClock: StepClock {
    /// Returns the part of a clock whose processors are coroutines of one thread.
    fn coroutine<'s>(&self) -> Option<&(dyn CoroutineClock + 's)>
    where
        Self: 's,
    {
        None
    }

    /// Returns the part of a clock whose processors run on several cores.
    fn cores(&mut self) -> Option<&mut dyn CoreClock> {
        None
    }

    /// Returns the part of a clock on which time passes by itself, as on a real machine.
    fn real(&mut self) -> Option<&mut dyn RealClock> {
        None
    }
}

/// A clock whose processors are coroutines of one thread.
pub(crate) trait CoroutineClock {
    /// Sets the address of the memory that each of the processor's calls touches first, which the clock prefetches
    /// before it resumes the processor.
    fn set_prefetch_address(&self, address: usize);

    /// Returns the stack of the thread.
    fn thread_stack<'s>(&self) -> Box<dyn ThreadStack + 's>
    where
        Self: 's;

    /// Returns whether the run has ended before its programs: those that are left are unwound.
    fn is_cut(&self) -> bool;
}

/// A clock of several cores, which show each other what their processors may do next.
pub(crate) trait CoreClock {
    /// Promises that the processor does not act before `t`, whatever its program does until its next call.
    fn promise_no_act_before(&mut self, t: Time);

    /// Tells the clock that the program computes from the local time `t` on, and that its work is measured.
    fn start_computing_at(&mut self, t: Time);

    /// Tells the clock that the program has reached its next call.
    fn stop_computing(&mut self);
}

/// A clock on which time passes by itself.
pub(crate) trait RealClock {
    /// Returns the time that has passed.
    fn time(&mut self) -> Time;

    /// Excludes `time`, which was spent on preparation, from the time that has passed.
    fn prepare(&mut self, time: Time);
}
