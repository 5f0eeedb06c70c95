//! The comparisons on which the times of messages depend.
//!
//! The order of messages at a port, and the lack of room for one, depend on these comparisons alone: as long
//! as all come out the same, each time is a maximum of sums of the parameters. A proof watches them; everybody else
//! needs no more than [`PlainJudge`], which the receiving sides of a run [have](super::Ingresses) by themselves.

use crate::time::Time;

/// Compares times where the rules choose by them.
pub trait Judge {
    /// Returns whether a time is before another.
    fn is_before(&mut self, one: Time, other: Time) -> bool;

    /// Returns whether two times are the same.
    #[inline(always)]
    fn is_same(&mut self, one: Time, other: Time) -> bool {
        one == other
    }

    /// Returns how many of the first items of a sorted list have a time that is not after `until`.
    #[inline(always)]
    fn count_until<T>(&mut self, items: &[T], until: Time, time: impl Fn(&T) -> Time) -> usize {
        items.partition_point(|item| time(item) <= until)
    }

    /// Returns how many of the first items of a sorted list have a time before `until`.
    #[inline(always)]
    fn count_before<T>(&mut self, items: &[T], until: Time, time: impl Fn(&T) -> Time) -> usize {
        items.partition_point(|item| time(item) < until)
    }

    /// Returns the time before which reservations are forgotten when a departure of this time is served.
    #[inline(always)]
    fn forgets_before(&self, asked_at: Time) -> Time {
        asked_at
    }
}

/// Compares times, and does no more.
pub struct PlainJudge;

impl Judge for PlainJudge {
    #[inline(always)]
    fn is_before(&mut self, one: Time, other: Time) -> bool {
        one < other
    }
}

/// Lets another one compare.
impl<J: Judge> Judge for &mut J {
    #[inline(always)]
    fn is_before(&mut self, one: Time, other: Time) -> bool {
        (**self).is_before(one, other)
    }

    #[inline(always)]
    fn is_same(&mut self, one: Time, other: Time) -> bool {
        (**self).is_same(one, other)
    }

    #[inline(always)]
    fn count_until<T>(&mut self, items: &[T], until: Time, time: impl Fn(&T) -> Time) -> usize {
        (**self).count_until(items, until, time)
    }

    #[inline(always)]
    fn count_before<T>(&mut self, items: &[T], until: Time, time: impl Fn(&T) -> Time) -> usize {
        (**self).count_before(items, until, time)
    }

    #[inline(always)]
    fn forgets_before(&self, asked_at: Time) -> Time {
        (**self).forgets_before(asked_at)
    }
}
