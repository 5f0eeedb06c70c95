//! How a program is emulated, and what its ranks share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loggp::{Proc, Time};
use loggp_goal::patterns::CollectiveTable;
use loggp_mpi_trace::schedule::TagTable;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::accesses::Accesses;
use crate::board::Board;
use crate::failure::LastCall;
use crate::fault::{FaultKind, Notes};
use crate::locks::Locks;
use crate::parcel::Sent;
use crate::reply::GivenParts;
use crate::segment::Segment;
use crate::watch::Watch;

/// How a program is emulated.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long a rank computes on the machine, for each second of its processor time here; 0 for no time.
    pub speed: f64,
    /// True if the clocks of the host show the machine's time to the program.
    pub has_clocks: bool,
    /// Which algorithms collectives take; `None` if the usual patterns.
    pub table: Option<&'static CollectiveTable>,
    /// The time that a rank computes for each byte that a reduction combines.
    pub combine: Time,
    /// The longest that a rank may compute between two calls.
    pub limit: Option<Duration>,
    /// What is looked for beyond, if the program is checked.
    pub checks: Option<Checks>,
}

/// How a program is checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checks {
    /// True if a standard send waits for its receiver, as it may.
    pub is_unbuffered: bool,
    /// True if each rank waits in a blocking collective until all have called it, as it may.
    pub synchronizes: bool,
    /// How long a look in vain takes where a program has looked for long. The first ones take a cycle, and each a hundredth more
    /// than the one before, so that a program which looks some hundred times gives up before a late message comes. 0 if each
    /// takes a cycle.
    pub longest_look: Time,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            speed: 1.0,
            has_clocks: false,
            table: None,
            combine: Time::ZERO,
            limit: None,
            checks: None,
        }
    }
}

/// A call that ranks make together, such as one that makes a communicator.
#[derive(Default)]
pub(crate) struct Making {
    /// What the ranks that have called have given.
    pub given: Vec<(u32, Box<[u8]>)>,
    /// The same once all have.
    pub parts: Option<Arc<GivenParts>>,
    /// How many ranks have gone on.
    pub left: usize,
}

/// What the processors share.
pub(crate) struct Shared<'a> {
    pub segment: &'a Segment,
    pub watch: &'a Watch,
    pub settings: Settings,
    pub ranks: usize,
    /// The numbers of communicators.
    pub tags: Mutex<TagTable>,
    pub board: Board,
    /// The messages under way to each rank, by their senders, in the order of their sends.
    pub sent: Vec<Mutex<FxHashMap<usize, Sent>>>,
    /// The faults that do not end the run.
    pub notes: Mutex<Notes>,
    /// The fault that ends the run, a sentence with marks.
    pub found: Mutex<Option<(FaultKind, String)>>,
    /// True once a call has depended on the order of messages.
    pub looks: &'a AtomicBool,
    /// The last calls of the ranks of a run that fails.
    pub calls: Vec<Mutex<Option<LastCall>>>,
    /// The calls that ranks are making together.
    pub making: Mutex<FxHashMap<(Vec<u32>, u64), Making>>,
    /// The locks of windows.
    pub locks: Mutex<Locks>,
    /// True once a rank of a checked program has reached for a window.
    pub has_windows: AtomicBool,
    /// The accesses to windows, if the program is checked.
    pub accesses: Mutex<Accesses>,
    /// A sentence on a call that cannot be emulated, once a rank has made one.
    pub refused: Mutex<Option<String>>,
}

impl Shared<'_> {
    /// Ends the run, since a fault has been found.
    pub(crate) fn fail(&self, p: &mut Proc, (kind, why): (FaultKind, String)) -> ! {
        *self.found.lock() = Some((kind, why.clone()));
        p.fail_with(why);
    }
}
