//! Looks in vain of a checked program: they take long enough that a program which waits has soon waited, and so little at first
//! that one which looks a number of times gives up before.

use loggp::{Proc, Time};
use loggp_mpi_trace::call::WaitForm;

use crate::failure::Called;
use crate::rank::Rank;
use crate::reply::Reply;

/// The looks in vain at a place.
#[derive(Clone, Copy, Default)]
pub(crate) struct VainLooks {
    /// What the next one takes beyond a cycle.
    next: Time,
    /// True once the program has waited there as long as it takes: it looks until it finds.
    is_patient: bool,
}

impl Rank<'_> {
    /// Lets time pass at a look in vain.
    pub(crate) fn lengthen_look(&mut self, p: &mut Proc) {
        let longest = self.shared.settings.checks.map_or(Time::ZERO, |checks| checks.longest_look);
        if longest == Time::ZERO {
            return;
        }
        let looks = self.vain_looks.entry(self.call.place).or_default();
        let cycle = p.params().cycle;
        let takes = if looks.is_patient { longest } else { looks.next };
        looks.is_patient |= 10 * takes >= longest;
        looks.next = takes + (takes / 100).max(cycle / 100);
        if takes > Time::ZERO {
            p.wait_until(p.now() + takes);
        }
    }

    /// Notes what a look of the present call has found, and whether the program goes on after one in vain: that depends on the order.
    pub(crate) fn end_looks(&mut self, reply: &Reply) {
        use WaitForm::{Test, Testall, Testany, Testsome};
        let looks_in_vain = match (self.call.what, reply) {
            (Called::Named("MPI_Wtime"), _) => return,
            (Called::Probe(_, false), Reply::Words(words)) => words.first() == Some(&0),
            (Called::Wait(Test | Testall | Testany | Testsome), Reply::Found(found)) => found.is_none(),
            _ => false,
        };
        let before = std::mem::replace(&mut self.looked_in_vain, looks_in_vain.then_some(self.call.place));
        self.has_chosen |= before.is_some_and(|place| place != self.call.place);
        if !looks_in_vain && let Some(looks) = self.vain_looks.get_mut(&self.call.place) {
            looks.next = Time::ZERO;
        }
    }
}
