//! The ranks as processes: whether they live, and on which core.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::fault::FaultKind;
use crate::segment::{Segment, Slot};

/// The ranks as processes.
#[derive(Default)]
pub(crate) struct Watch {
    pub processes: OnceLock<Vec<(i32, AtomicI32)>>,
    /// The number of threads of each when it came.
    pub threads: OnceLock<Vec<usize>>,
    pub limit: Option<Duration>,
    /// True if the program's launcher has ended, or is to end.
    pub is_over: AtomicBool,
}

impl Watch {
    /// Returns why no post of a rank can come any more, or `None` if one still may; the rank has computed for a time.
    pub(crate) fn look_at(&self, slot: Slot, rank: usize, computed: Duration) -> Option<(FaultKind, String)> {
        let process = self.processes.get().and_then(|all| Pid::from_raw(all.get(rank)?.0));
        if let Some(process) = process.filter(|process| !is_running(*process)) {
            return Some(slot.end().of_process(process.as_raw_nonzero().get()).fault(rank));
        }
        if self.is_over.load(Ordering::Relaxed) {
            let why = format!("the program was ended while rank {rank} computed");
            return Some((FaultKind::EarlyExit, why));
        }
        self.limit.filter(|limit| computed > *limit).map(|limit| {
            let place = process.map_or(String::new(), |process| ask_place(slot, process));
            let why = format!(
                "rank {rank} has computed for {limit:?} without a call of MPI{place}; --limit gives it more time"
            );
            (FaultKind::EndlessLoop, why)
        })
    }

    /// Waits for a post of a rank that computes. An error says why none can come.
    pub(crate) fn wait(&self, slot: Slot, rank: usize) -> Result<(), (FaultKind, String)> {
        let begin = Instant::now();
        while !slot.wait() {
            // What a rank posts last, it posts before it ends.
            if let Some(why) = self.look_at(slot, rank, begin.elapsed())
                && !slot.has_post()
            {
                return Err(why);
            }
        }
        Ok(())
    }

    /// Lets who waits for a post look at the rank, ten times a second, until the run is over: its other end is dropped then. One
    /// timer for all waits, as one for each would take half a microsecond of it.
    pub(crate) fn rouse_waits(&self, segment: &Segment, run: &Receiver<()>) {
        const LOOK: Duration = Duration::from_millis(100);
        while run.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let slots = (0..self.ranks()).map(|rank| segment.slot(rank));
            slots.filter(|slot| !slot.has_post()).for_each(|slot| slot.rouse());
        }
    }

    /// Binds a rank to a core, unless it is.
    pub(crate) fn bind(&self, rank: usize, core: usize) {
        let Some((_, bound)) = self.processes.get().and_then(|all| all.get(rank)) else { return };
        if bound.swap(core as i32, Ordering::Relaxed) == core as i32 {
            return;
        }
        let mut one = CpuSet::new();
        one.set(core);
        self.bind_to(rank, &one);
    }

    /// Binds a rank to some cores.
    pub(crate) fn bind_to(&self, rank: usize, cores: &CpuSet) {
        let Some((process, _)) = self.processes.get().and_then(|all| all.get(rank)) else { return };
        for thread in threads_of(*process) {
            // A rank that is elsewhere computes as well.
            let _: Result<_, _> = sched_setaffinity(Pid::from_raw(thread), cores);
        }
    }

    /// Returns the number of ranks.
    pub(crate) fn ranks(&self) -> usize {
        self.processes.get().map_or(0, Vec::len)
    }

    /// Returns whether a rank has more threads than when it came.
    pub(crate) fn has_new_threads(&self) -> bool {
        let now = self.processes.get().into_iter().flatten().map(|(process, _)| threads_of(*process).count());
        now.zip(self.threads.get().into_iter().flatten()).any(|(now, before)| now > *before)
    }
}

/// Asks a rank where it is. Returns its place as text with a mark, or nothing if it does not say.
fn ask_place(slot: Slot, process: Pid) -> String {
    const PATIENCE: Duration = Duration::from_millis(300);
    let begin = Instant::now();
    // The library has a handler for this signal, which nobody notices who has none.
    let _: Result<(), _> = kill_process(process, Signal::URG);
    loop {
        match slot.told_place() {
            Some(end) if end.place().is_empty() => return String::new(),
            Some(end) => return format!(", and is{}", end.place()),
            None if begin.elapsed() > PATIENCE => return String::new(),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Returns the threads of a process.
pub(crate) fn threads_of(process: i32) -> impl Iterator<Item = i32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok())
}

/// Returns whether a process runs: one that its parent has not missed yet does not.
pub(crate) fn is_running(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    let state = |stat: String| stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    match stat {
        Ok(stat) => state(stat) != Some('Z'),
        Err(_) => test_kill_process(process).is_ok(),
    }
}
