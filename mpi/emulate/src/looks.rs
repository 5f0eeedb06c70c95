//! Looks in vain of a checked program: they take long enough that a program which waits has soon waited, and so little at first
//! that one which looks a number of times gives up before.

use loggp::Time;
use loggp_mpi_trace::call::WaitForm::{Test, Testall, Testany, Testsome};

use crate::failure::Called;
use crate::reply::Reply;

/// The times of looks in vain at one place of the program.
#[derive(Clone, Copy, Default)]
pub(crate) struct LookTimes {
    /// The time that the next one takes beyond a cycle.
    next: Time,
    /// True once the program has waited there as long as it takes: it looks until it finds.
    is_patient: bool,
}

impl LookTimes {
    /// Notes a look in vain, where the longest takes so long. Returns the time that this one takes beyond a cycle.
    pub(crate) fn lengthen(&mut self, longest: Time, cycle: Time) -> Time {
        let takes = if self.is_patient { longest } else { self.next };
        self.is_patient |= 10 * takes >= longest;
        self.next = takes + (takes / 100).max(cycle / 100);
        takes
    }

    /// Notes that the program has found something: the next look in vain is short again.
    pub(crate) fn end(&mut self) {
        self.next = Time::ZERO;
    }
}

/// Returns whether a call has looked in vain, by what its rank hears.
pub(crate) fn is_in_vain(called: Called, reply: &Reply) -> bool {
    match (called, reply) {
        (Called::Probe(_, false), Reply::Words(words)) => words.first() == Some(&0),
        (Called::Wait(Test | Testall | Testany | Testsome), Reply::Found(found)) => found.is_none(),
        _ => false,
    }
}
