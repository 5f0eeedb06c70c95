//! Notices which processor does not come back from its program.
//!
//! What a program does between the machine's calls is its own. If it waits there for something that only another
//! processor can do (a lock, a channel, a flag), that one may never get the core to do it, and nothing that the
//! machine does would ever notice. So each clock shows a pulse for each of its cores, and one thread for all runs of
//! the process looks at them now and then. It ends when there are none.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use crate::time::Time;

/// How often it looks.
const EVERY: Duration = Duration::from_millis(250);

/// A processor that has not come back to the machine for long: see [`Machine::on_silence`](crate::Machine::on_silence).
///
/// `Display` says it in a sentence, with what the reason may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Silence {
    /// The processor.
    pub id: usize,
    /// Its local time when it last came back to its program.
    pub at: Time,
    /// For how long its program has made no call since, in the host's time.
    pub lasts: Duration,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Silence { id, at, lasts } = self;
        write!(
            f,
            "processor {id} has not come back to the machine for {:.1} s, at its time {at}: its program computes for long, \
             or waits for something that no other processor can do meanwhile, such as to give back a lock, to send on a \
             channel or to set a flag (see \"What a processor must not do\" in docs/reference/processors.md)",
            lasts.as_secs_f64()
        )
    }
}

/// How long a processor may stay away, and what happens then.
#[derive(Clone)]
pub(crate) struct Patience {
    /// How long it may.
    pub lasts: Duration,
    /// Who is told, once for each silence.
    pub tell: Arc<dyn Fn(&Silence) + Send + Sync>,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { lasts: Duration::from_secs(10), tell: Arc::new(|silence| eprintln!("{silence}")) }
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lasts.fmt(f)
    }
}

/// The signs of life of a run.
struct Pulse {
    /// One for each core.
    beats: Box<[CachePadded<Beat>]>,
    /// What the watchdog saw of each when it looked last.
    seen: Mutex<Vec<Seen>>,
    /// How long a processor may stay away.
    patience: Patience,
}

/// What a core's holder does.
#[derive(Default)]
pub(super) struct Beat {
    /// The number of the processor whose program runs, and one; or 0, if it is the clock that runs.
    runs: AtomicU64,
    /// How often programs have called the clock.
    calls: AtomicU64,
    /// The processor's local time.
    at: AtomicI64,
}

/// A beat that was seen.
struct Seen {
    /// Who ran, and how often programs had called the clock.
    beat: (u64, u64),
    /// Since when it is the same.
    since: Instant,
    /// Whether somebody was told.
    told: bool,
}

/// A run that is watched as long as this lives.
pub(super) struct Watched(Arc<Pulse>);

/// All runs of the process; and whether somebody watches them.
static RUNS: Mutex<(Vec<Weak<Pulse>>, bool)> = Mutex::new((Vec::new(), false));

impl Beat {
    /// Processor `id` goes on with its program.
    #[inline]
    pub(super) fn runs(&self, id: u32, at: Time) {
        self.at.store(at.as_ps(), Ordering::Relaxed);
        self.runs.store(u64::from(id) + 1, Ordering::Relaxed);
    }

    /// A program has called. Only the one that runs does.
    #[inline]
    pub(super) fn called(&self) {
        self.calls.store(self.calls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// No program runs, but the clock.
    #[inline]
    pub(super) fn rests(&self) {
        self.runs.store(0, Ordering::Relaxed);
    }
}

impl Watched {
    /// Watches a run on so many cores.
    pub(super) fn new(cores: usize, patience: Patience) -> Watched {
        let beats = (0..cores).map(|_| CachePadded::default()).collect();
        let seen = (0..cores).map(|_| Seen { beat: (0, 0), since: Instant::now(), told: false }).collect();
        let pulse = Arc::new(Pulse { beats, seen: Mutex::new(seen), patience });
        let mut runs = RUNS.lock();
        runs.0.push(Arc::downgrade(&pulse));
        if !runs.1 && !cfg!(loom) {
            let thread = std::thread::Builder::new().name("loggp watchdog".into());
            runs.1 = thread.spawn(watch).is_ok();
        }
        Watched(pulse)
    }

    /// The pulse of one core.
    #[inline]
    pub(super) fn beat(&self, core: usize) -> &Beat {
        &self.0.beats[core]
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        RUNS.lock().0.retain(|run| run.as_ptr() != Arc::as_ptr(&self.0));
    }
}

/// Looks at all runs now and then, until there are none.
fn watch() {
    loop {
        std::thread::sleep(EVERY);
        let mut runs = RUNS.lock();
        if runs.0.is_empty() {
            runs.1 = false;
            return;
        }
        let all: Vec<Arc<Pulse>> = runs.0.iter().filter_map(Weak::upgrade).collect();
        drop(runs); // who is told of a silence may begin or end a run
        all.iter().for_each(|pulse| pulse.look());
    }
}

impl Pulse {
    /// Tells of each processor that has not come back since it was first seen, if that is long ago.
    fn look(&self) {
        for (beat, seen) in self.beats.iter().zip(self.seen.lock().iter_mut()) {
            let now = (beat.runs.load(Ordering::Relaxed), beat.calls.load(Ordering::Relaxed));
            if now != seen.beat {
                *seen = Seen { beat: now, since: Instant::now(), told: false };
            }
            let lasts = seen.since.elapsed();
            if now.0 > 0 && !seen.told && lasts >= self.patience.lasts {
                seen.told = true;
                let (id, at) = (now.0 as usize - 1, Time::from_ps(beat.at.load(Ordering::Relaxed)));
                let silence = Silence { id, at, lasts };
                // Who is told may panic, but the other runs are still watched.
                _ = catch_unwind(AssertUnwindSafe(|| (self.patience.tell)(&silence)));
            }
        }
    }
}
