//! What was found out about a parameter, and what that says of it.

use loggp::Time;

use super::reading::Reading;

/// What was found out about one parameter, and how.
#[derive(Clone, Debug)]
pub struct Found<T> {
    /// The value.
    pub value: T,
    /// What the value says of the parameter.
    pub bound: Bound,
    /// How it was found, in a few words.
    pub how: String,
    /// Whether the host was on time often enough to find it; time that does not pass is never late. If not, the value
    /// may be anything.
    pub held: bool,
}

/// What a value says of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// This is it.
    Exact,
    /// It is no more: below this it does not show.
    AtMost,
    /// It is no less: above this it does not show.
    AtLeast,
    /// It does not show, and this is as good as any.
    Any,
}

impl Found<Time> {
    /// A value that is what it is.
    pub(super) fn exact(found: Reading, how: String) -> Found<Time> {
        Found { value: found.time, bound: Bound::Exact, how, held: found.is_held() }
    }
}
