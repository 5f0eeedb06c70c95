//! What all processors of a run share, apart from the clock.

use crate::group::Groups;
use crate::network::Network;
use crate::time::Time;
use crate::work::{Rates, Work};

/// A machine as its processors see it.
pub(crate) struct Setup {
    /// The network between them.
    pub network: Network,
    /// What computing costs.
    pub work: Work,
    /// And how much of it, where it is charged.
    pub rates: Rates,
    /// What the machine's own barrier costs, if it has one.
    pub barrier: Option<Time>,
    /// The groups in which they act.
    pub groups: Groups,
    /// Whether they note what they do.
    pub trace: bool,
}
