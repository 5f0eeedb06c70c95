//! The operations of a play, told as they begin.

use std::fmt;

use loggp_model::time::Time;

/// An operation that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Beginning {
    /// The rank.
    pub rank: usize,
    /// The number of the operation in its rank.
    pub operation: u32,
    /// When it begins. A receive begins when it is posted.
    pub at: Time,
    /// When it is done, if it is a computation or a wait. Of others that is not known yet.
    pub end: Option<Time>,
}

/// A function that is called with each operation that begins, if there is one.
#[derive(Default)]
pub(super) struct Watcher<'a>(pub Option<&'a mut dyn FnMut(Beginning)>);

impl fmt::Debug for Watcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("Watcher").field(&self.0.is_some()).finish()
    }
}
