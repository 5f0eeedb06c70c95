//! Notices a processor that does not come back from its program.
//!
//! A program may do anything between the machine's calls. If it waits there for something that only another processor
//! can do (a lock, a channel, a flag), that processor may never get the core, and the clock cannot notice. So each
//! clock has a beat for each of its cores, and one thread looks at the beats of all runs of the process now and then.
//! The thread ends when there are no runs.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use super::sync::TRIED;
use crate::time::Time;

/// How often the watchdog looks.
const EVERY: Duration = Duration::from_millis(250);

/// A processor that has not come back to the machine for long: see [`Machine::on_silence`](crate::Machine::on_silence).
///
/// `Display` says so in a sentence, with the likely reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Silence {
    /// The processor.
    pub id: usize,
    /// Its local time when its program last went on.
    pub at: Time,
    /// For how long its program has made no call since then, in the host's time.
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

/// How long a processor may stay away from the machine, and who is told then.
#[derive(Clone)]
pub(crate) struct Patience {
    pub lasts: Duration,
    /// Called once for each silence.
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
    /// What the watchdog saw of each beat.
    seen: Mutex<Vec<Seen>>,
    patience: Patience,
}

/// The sign of life of one core.
#[derive(Default)]
pub(super) struct Beat {
    /// One more than the number of the processor whose program runs; 0 if the clock runs.
    runs: AtomicU64,
    /// How often programs have called the clock.
    calls: AtomicU64,
    /// The processor's local time when its program last went on.
    at: AtomicI64,
}

/// What the watchdog saw of a beat.
struct Seen {
    /// The beat's `runs` and `calls`.
    beat: (u64, u64),
    /// Since when these are the same.
    since: Instant,
    /// Whether the silence was reported.
    told: bool,
}

/// A run that is watched as long as this lives.
pub(super) struct Watched(Arc<Pulse>);

/// All runs of the process, and whether the watchdog's thread runs.
static RUNS: Mutex<(Vec<Weak<Pulse>>, bool)> = Mutex::new((Vec::new(), false));

impl Beat {
    /// Processor `id` goes on with its program.
    #[inline]
    pub(super) fn runs(&self, id: u32, at: Time) {
        self.at.store(at.as_ps(), Ordering::Relaxed);
        self.runs.store(u64::from(id) + 1, Ordering::Relaxed);
    }

    /// The program that runs has called the clock.
    #[inline]
    pub(super) fn called(&self) {
        self.calls.store(self.calls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// The clock runs, and no program.
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
        if !runs.1 && !TRIED {
            let thread = std::thread::Builder::new().name("loggp watchdog".into());
            runs.1 = thread.spawn(watch).is_ok();
        }
        Watched(pulse)
    }

    /// The beat of one core.
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
        drop(runs); // the function that is told of a silence may begin or end a run
        all.iter().for_each(|pulse| pulse.look());
    }
}

impl Pulse {
    /// Reports each processor that has not come back for longer than it may.
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
                // The function that is told may panic, but the other runs must still be watched.
                _ = catch_unwind(AssertUnwindSafe(|| (self.patience.tell)(&silence)));
            }
        }
    }
}
