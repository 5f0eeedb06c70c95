//! The part of a machine that all processors of a run share, apart from the clock.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loggp_model::log::{Faults, Log};
use loggp_model::message::TagNames;
use loggp_model::params::{Level, Params, Work};
use loggp_model::rules::network::Network;
use loggp_model::time::Time;
use parking_lot::Mutex;

use super::group::Groups;
use super::work::Rates;
use crate::clock::RunEnd;

/// A machine as its processors see it.
pub(crate) struct Setup {
    /// The parameters by which programs plan.
    pub params: Params,
    pub levels: Arc<[Level]>,
    /// The network between the processors. On a real machine it costs nothing.
    pub network: Network,
    pub work: Work,
    /// The cost of a unit of each kind of work, where work is charged.
    pub rates: Rates,
    /// The cost of the machine's own barrier, if it has one.
    pub barrier: Option<Time>,
    pub groups: Groups,
    /// The names of tags.
    pub names: Arc<TagNames>,
    /// The end of the run, if it is not that of all programs.
    pub end: RunEnd,
    /// The faults of the machine.
    pub faults: Arc<Faults>,
    /// The faults that have happened.
    pub observed_faults: Mutex<Faults>,
    /// True if the run is traced.
    pub is_traced: bool,
    /// True if the logs have the source locations of calls that may take one of several messages.
    pub keeps_locations: bool,
    /// The logs of processors that have finished, if the run is traced.
    pub logs: Mutex<Vec<(usize, Box<Log>)>>,
    /// Set once a program has asked for the time, if the run is traced.
    pub time_asked: AtomicBool,
    /// The number of the run, unique in this process.
    pub run: u64,
}

impl Setup {
    /// Returns the log of a processor that starts, if the run is traced.
    pub(super) fn new_log(&self) -> Option<Box<Log>> {
        self.is_traced.then(|| Box::new(Log::new(self.keeps_locations)))
    }
}
