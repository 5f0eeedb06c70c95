//! Collectives within a group.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::proc::Group;
use crate::proc::{GroupMembership, Proc};

impl<'a> Proc<'a> {
    /// Returns the processor as a member of a group: collectives that are called on it are those of the
    /// group. In these, roots and results are counted by rank, P is the number of members, and the documented
    /// times hold with this P. Members call them in the same order; groups that share no processor do not
    /// wait for each other.
    ///
    /// Everything else is as without the group: `id`, senders and receivers are processor numbers, not ranks.
    /// Its [`barrier`](Proc::barrier) is the one of messages, because the machine's own is for all
    /// processors.
    ///
    /// ```
    /// use loggp::{Group, Machine, Params, US, collectives};
    ///
    /// // Two halves broadcast at once, each from its last member.
    /// let machine = Machine::new(Params::builder(16).L(6 * US).o(2 * US).g(4 * US).build()?);
    /// let halves = [Group::new(0..8), Group::new(8..16)];
    /// let run = machine.run(|p| {
    ///     let half = &halves[p.id() / 8];
    ///     let datum = (half.rank(p.id()) == Some(7)).then_some(p.id());
    ///     collectives::broadcast(&mut p.within(half), 7, datum)
    /// })?;
    /// assert_eq!((run.results[3], run.results[12], run.time), (7, 15, 24 * US));
    /// # Ok::<(), loggp::RunError>(())
    /// ```
    #[track_caller]
    pub fn within<'p>(&'p mut self, group: &Group) -> GroupProc<'p, 'a> {
        let before = self.act_in(group);
        GroupProc { p: self, before }
    }
}

/// Writes `Proc(3 of 8)`, and the group in which it acts, if any.
impl fmt::Debug for Proc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proc({} of {})", self.id(), self.P())?;
        self.membership.as_ref().map_or(Ok(()), |acting| write!(f, " in {}", acting.group))
    }
}

/// A processor that acts in a group until this is dropped: see [`Proc::within`].
pub struct GroupProc<'p, 'a> {
    p: &'p mut Proc<'a>,
    /// The group in which the processor acted before, if any.
    before: Option<GroupMembership>,
}

impl fmt::Debug for GroupProc<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.p, f)
    }
}

impl<'a> Deref for GroupProc<'_, 'a> {
    type Target = Proc<'a>;

    fn deref(&self) -> &Proc<'a> {
        self.p
    }
}

impl<'a> DerefMut for GroupProc<'_, 'a> {
    fn deref_mut(&mut self) -> &mut Proc<'a> {
        self.p
    }
}

impl Drop for GroupProc<'_, '_> {
    fn drop(&mut self) {
        self.p.membership = self.before.take();
    }
}
