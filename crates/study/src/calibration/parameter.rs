//! Measured parameters.

use loggp::Time;

use super::reading::Reading;

/// A measured parameter, and how it was measured.
#[derive(Clone, Debug)]
pub struct FoundParameter<T> {
    pub value: T,
    /// Relation of the value to the parameter.
    pub bound: Bound,
    /// Short text on how it was found.
    pub how: String,
    /// True if the host was on time often enough; virtual time is never late. If false, the value may be
    /// anything.
    pub on_time: bool,
}

/// The relation of a value to the parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The parameter's value.
    Exact,
    /// An upper bound: a smaller parameter would show no difference.
    AtMost,
    /// A lower bound: a larger parameter would show no difference.
    AtLeast,
    /// The parameter has no effect, and this is as good as any value.
    Any,
}

impl FoundParameter<Time> {
    /// Makes an exact value of a reading.
    pub(super) fn from_reading(found: Reading, how: String) -> FoundParameter<Time> {
        FoundParameter { value: found.time, bound: Bound::Exact, how, on_time: found.is_reliable() }
    }
}
