//! Collectives within a group.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::proc::Group;
use crate::proc::{Acting, Proc};

impl<'a> Proc<'a> {
    /// The processor as a member of a group: collectives that are called on it are those of the group. In these, roots
    /// and results are counted by rank, P is the number of members, and the times are those that the collectives say,
    /// with this P. Members call them in the same order; groups that share no processor do not wait for each other.
    ///
    /// All else is as without the group: `id` is the processor's own number, and so are those that it sends to. Its
    /// [`barrier`](Proc::barrier) is the one of messages, as the machine's own is for all.
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
    pub fn within<'p>(&'p mut self, group: &Group) -> Within<'p, 'a> {
        let before = self.act_in(group);
        Within { p: self, before }
    }
}

/// `Proc(3 of 8)`, and in which group it acts, if not with all.
impl fmt::Debug for Proc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proc({} of {})", self.id(), self.p())?;
        self.acting().map_or(Ok(()), |acting| write!(f, " in {}", acting.group))
    }
}

/// A processor that acts in a group, until this is dropped: see [`Proc::within`].
pub struct Within<'p, 'a> {
    /// The processor.
    p: &'p mut Proc<'a>,
    /// In which group it acted before, if not with all.
    before: Option<Acting>,
}

impl fmt::Debug for Within<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.p, f)
    }
}

impl<'a> Deref for Within<'_, 'a> {
    type Target = Proc<'a>;

    fn deref(&self) -> &Proc<'a> {
        self.p
    }
}

impl<'a> DerefMut for Within<'_, 'a> {
    fn deref_mut(&mut self) -> &mut Proc<'a> {
        self.p
    }
}

impl Drop for Within<'_, '_> {
    fn drop(&mut self) {
        self.p.act_as_before(self.before.take());
    }
}
