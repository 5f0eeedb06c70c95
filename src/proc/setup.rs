//! What all processors of a run share, apart from the clock.

use std::sync::Arc;

use parking_lot::Mutex;

use super::group::Groups;
use super::work::{Rates, Work};
use crate::message::TagNames;
use crate::params::{Level, Params};
use crate::rules::network::Network;
use crate::time::Time;
use crate::trace::{Faults, Log};

/// A machine as its processors see it.
pub(crate) struct Setup {
    /// What programs plan by.
    pub params: Params,
    /// The levels within the machine.
    pub levels: Arc<[Level]>,
    /// The network between them. On a real machine it costs nothing.
    pub network: Network,
    /// What computing costs.
    pub work: Work,
    /// What a unit of each kind of computing costs, where it is charged.
    pub rates: Rates,
    /// What the machine's own barrier costs, if it has one.
    pub barrier: Option<Time>,
    /// The groups in which they act.
    pub groups: Groups,
    /// What their tags are called.
    pub names: Arc<TagNames>,
    /// What goes wrong.
    pub faults: Arc<Faults>,
    /// What of that has happened.
    pub observed_faults: Mutex<Faults>,
    /// Whether they note what they do.
    pub trace: bool,
    /// What those did that have come to their end, if they note that.
    pub logs: Mutex<Vec<(usize, Box<Log>)>>,
    /// The number of the run, which no other run of this process has.
    pub run: u64,
}
