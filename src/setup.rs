//! What all processors of a run share, apart from the clock.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Doing, RunError};
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
    /// What a unit of each kind of computing costs, where it is charged.
    pub rates: Rates,
    /// What the machine's own barrier costs, if it has one.
    pub barrier: Option<Time>,
    /// The groups in which they act.
    pub groups: Groups,
    /// Whether they note what they do.
    pub trace: bool,
    /// How long the message is, in words, for which each waits until its receiver agrees; for errors. There is none but
    /// on a machine of LogGPS.
    pub asks_for: Box<[AtomicUsize]>,
}

impl Setup {
    /// Notes that a processor is to wait until its receiver agrees to a message of so many words.
    pub fn asks(&self, id: usize, words: usize) {
        if let Some(asks_for) = self.asks_for.get(id) {
            asks_for.store(words, Ordering::Relaxed);
        }
    }

    /// An error that says of those who wait for a receiver why they do.
    pub fn explain(&self, mut error: RunError) -> RunError {
        let Some(gps) = self.network.params().gps() else { return error };
        for state in &mut error.processors {
            if let Doing::WaitingFor(wanted) = &state.doing
                && let Some(to) = wanted.agrees()
            {
                let words = self.asks_for[state.id].load(Ordering::Relaxed);
                state.doing = Doing::WaitingToSend { to, words, S: gps.S };
            }
        }
        error
    }
}
