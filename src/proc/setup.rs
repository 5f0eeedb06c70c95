//! What all processors of a run share, apart from the clock.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::error::{Doing, RunError};
use crate::proc::Groups;
use crate::proc::work::{Rates, Work};
use crate::rules::network::Network;
use crate::time::Time;

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
    /// What each processor waits for that has requests, and so takes whatever comes; for errors.
    pub waits: Mutex<BTreeMap<usize, Doing>>,
}

impl Setup {
    /// Notes that a processor is to wait until its receiver agrees to a message of so many words.
    pub fn asks(&self, id: usize, words: usize) {
        if let Some(asks_for) = self.asks_for.get(id) {
            asks_for.store(words, Ordering::Relaxed);
        }
    }

    /// Notes what a processor is to wait for that has requests.
    pub fn waits_among(&self, id: usize, doing: Doing) {
        self.waits.lock().insert(id, doing);
    }

    /// A processor has no requests any more.
    pub fn has_no_requests(&self, id: usize) {
        self.waits.lock().remove(&id);
    }

    /// An error that says of those who wait for a receiver, or for a request, why they do.
    pub fn explain(&self, mut error: RunError) -> RunError {
        for (id, doing) in std::mem::take(&mut *self.waits.lock()) {
            if let Some(state) = error.processors.get_mut(id)
                && matches!(state.doing, Doing::WaitingFor(_))
            {
                state.doing = doing;
            }
        }
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
