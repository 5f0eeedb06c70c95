//! A watchdog that notices a processor whose program makes no call to the machine for long.
//!
//! A program may do anything between the machine's calls. If it waits there for something that only another
//! processor can do (a lock, a channel, a flag), that processor may never get the core, and the clock cannot
//! notice. So each clock has a heartbeat for each of its cores, and one thread looks at the heartbeats of all
//! runs of the process at intervals. The thread ends when there are no runs.

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use loggp_model::panics::contain;
use loggp_model::time::Time;
use parking_lot::Mutex;

use super::sync::IS_MODEL_CHECKED;

/// The interval at which the watchdog looks at all runs.
const EVERY: Duration = Duration::from_millis(250);

/// A processor whose program has made no call to the machine for long: see
/// [`Machine::on_unresponsive`](crate::Machine::on_unresponsive).
///
/// `Display` prints a sentence with the likely reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unresponsive {
    /// The processor's number.
    pub id: usize,
    /// The processor's local time at which its program last went on.
    pub at: Time,
    /// The time without a call since then, in the host's time.
    pub duration: Duration,
}

impl fmt::Display for Unresponsive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unresponsive { id, at, duration } = self;
        write!(
            f,
            "processor {id} has not come back to the machine for {:.1} s, at its time {at}: its program computes for long, \
             or waits for something that no other processor can do meanwhile, such as to give back a lock, to send on a \
             channel or to set a flag (see \"What a processor must not do\" in docs/reference/processors.md)",
            duration.as_secs_f64()
        )
    }
}

/// The longest time without a call that is accepted of a processor, and the function that reports a longer
/// one.
#[derive(Clone)]
pub(crate) struct Patience {
    pub limit: Duration,
    /// Called once for each time that a processor is unresponsive.
    pub report: Arc<dyn Fn(&Unresponsive) + Send + Sync>,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { limit: Duration::from_secs(10), report: Arc::new(|processor| eprintln!("{processor}")) }
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.limit.fmt(f)
    }
}

/// A run that the watchdog looks at.
struct WatchedRun {
    /// One heartbeat for each core.
    beats: Box<[CachePadded<Heartbeat>]>,
    /// The state of each heartbeat at the watchdog's last look.
    last_beats: Mutex<Vec<LastBeat>>,
    patience: Patience,
}

/// The sign of life of one core, which the clock updates and the watchdog reads.
#[derive(Default)]
pub(super) struct Heartbeat {
    /// One more than the number of the processor whose program runs; 0 while the clock runs.
    running: AtomicU64,
    /// The number of calls that programs have made to the clock.
    calls: AtomicU64,
    /// The processor's local time at which its program last went on, in ps.
    at: AtomicI64,
}

/// A heartbeat as the watchdog last saw it.
struct LastBeat {
    /// The heartbeat's `running` and `calls`.
    beat: (u64, u64),
    /// The moment since which these have not changed.
    since: Instant,
    is_reported: bool,
}

/// A guard that keeps a run under the watchdog's eyes until it is dropped.
pub(super) struct WatchGuard(Arc<WatchedRun>);

/// All runs of the process, and whether the watchdog's thread is running.
static RUNS: Mutex<(Vec<Weak<WatchedRun>>, bool)> = Mutex::new((Vec::new(), false));

impl Heartbeat {
    /// Notes that processor `id` goes on with its program at its local time `at`.
    #[inline]
    pub(super) fn enter_program(&self, id: u32, at: Time) {
        self.at.store(at.as_ps(), Ordering::Relaxed);
        self.running.store(u64::from(id) + 1, Ordering::Relaxed);
    }

    /// Counts a call of the running program to the clock.
    #[inline]
    pub(super) fn count_call(&self) {
        self.calls.store(self.calls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Notes that the clock runs, and no program.
    #[inline]
    pub(super) fn leave_program(&self) {
        self.running.store(0, Ordering::Relaxed);
    }
}

impl WatchGuard {
    /// Starts to watch a run on this number of cores.
    pub(super) fn new(cores: usize, patience: Patience) -> WatchGuard {
        let beats = (0..cores).map(|_| CachePadded::default()).collect();
        let last_beats = (0..cores)
            .map(|_| LastBeat { beat: (0, 0), since: Instant::now(), is_reported: false })
            .collect();
        let watched = Arc::new(WatchedRun { beats, last_beats: Mutex::new(last_beats), patience });
        let mut runs = RUNS.lock();
        runs.0.push(Arc::downgrade(&watched));
        if !runs.1 && !IS_MODEL_CHECKED {
            let thread = std::thread::Builder::new().name("loggp watchdog".into());
            runs.1 = thread.spawn(watch).is_ok();
        }
        WatchGuard(watched)
    }

    /// Returns the heartbeat of a core.
    #[inline]
    pub(super) fn beat(&self, core: usize) -> &Heartbeat {
        &self.0.beats[core]
    }
}

impl Drop for WatchGuard {
    fn drop(&mut self) {
        RUNS.lock().0.retain(|run| run.as_ptr() != Arc::as_ptr(&self.0));
    }
}

/// Looks at all runs at intervals, until there are none.
fn watch() {
    loop {
        std::thread::sleep(EVERY);
        let mut runs = RUNS.lock();
        if runs.0.is_empty() {
            runs.1 = false;
            return;
        }
        let all: Vec<Arc<WatchedRun>> = runs.0.iter().filter_map(Weak::upgrade).collect();
        drop(runs); // the reporting function may begin or end a run
        all.iter().for_each(|run| run.look());
    }
}

impl WatchedRun {
    /// Reports each processor that has made no call for longer than it may.
    fn look(&self) {
        for (beat, seen) in self.beats.iter().zip(self.last_beats.lock().iter_mut()) {
            let now = (beat.running.load(Ordering::Relaxed), beat.calls.load(Ordering::Relaxed));
            if now != seen.beat {
                *seen = LastBeat { beat: now, since: Instant::now(), is_reported: false };
            }
            let duration = seen.since.elapsed();
            if now.0 > 0 && !seen.is_reported && duration >= self.patience.limit {
                seen.is_reported = true;
                let (id, at) = (now.0 as usize - 1, Time::from_ps(beat.at.load(Ordering::Relaxed)));
                let processor = Unresponsive { id, at, duration };
                // The reporting function may panic, but the other runs must still be watched.
                contain(|| (self.patience.report)(&processor));
            }
        }
    }
}
