//! All ranks of a program, from their begin to their end.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use loggp::params::Work;
use loggp::{Cause, ClockKind, Machine, Proc, Run, RunError, Time};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::CpuSet;

use crate::board::Board;
use crate::failure::{LastCalls, describe};
use crate::fault::{Fault, FaultKind, Notes};
use crate::parcel::Sent;
use crate::rank::EmulatedRank;
use crate::segment::{Flags, Segment};
use crate::shared::{Settings, Shared};
use crate::threads::Threads;
use crate::watch::{Watch, is_running, threads_of};

/// An emulated program: its ranks, which come by the shared file.
pub struct Session {
    segment: Segment,
    settings: Settings,
    watch: Watch,
    has_choices: AtomicBool,
    left: OnceLock<String>,
    refused: OnceLock<String>,
    notes: OnceLock<Notes>,
    faults: Mutex<Vec<Fault>>,
    /// The files of the ranks' MPI in the host's shared memory, which it does not remove if its ranks are killed.
    files: OnceLock<BTreeSet<PathBuf>>,
}

/// The most ranks of a program.
pub const MOST_RANKS: usize = 4096;

impl Session {
    /// Prepares for a program, on a machine with this clock.
    pub fn new(settings: Settings, clock: ClockKind, cores: usize) -> io::Result<Session> {
        let work_is_free = settings.speed == 0.0;
        // What is posted late keeps other ranks waiting, unless they would all the same.
        let may_defer = clock == ClockKind::Virtual && (cores == 1 || work_is_free);
        let is_checked = settings.checks.is_some();
        let flags = Flags { has_clocks: settings.has_clocks, work_is_free, may_defer, is_checked };
        let segment = Segment::create(MOST_RANKS, flags)?;
        let watch = Watch { limit: settings.limit, ..Watch::default() };
        Ok(Session {
            segment,
            settings,
            watch,
            has_choices: AtomicBool::new(false),
            left: OnceLock::new(),
            refused: OnceLock::new(),
            notes: OnceLock::new(),
            faults: Mutex::default(),
            files: OnceLock::new(),
        })
    }

    /// Returns the variables that the ranks need.
    pub fn variables(&self) -> [(&'static str, OsString); 1] {
        [("LOGGP_EMULATE", self.segment.path().into_os_string())]
    }

    /// Notes that the program's launcher has ended, or is to end.
    pub fn end(&self) {
        self.watch.is_over.store(true, Ordering::Relaxed);
    }

    /// Returns whether the program's launcher has ended, or is to end.
    pub fn has_ended(&self) -> bool {
        self.watch.is_over.load(Ordering::Relaxed)
    }

    /// Waits until all ranks have come through `MPI_Init`. Returns their number, or `None` if the program ends, as `is_over`
    /// says, before one of them has come.
    pub fn wait_for_ranks(&self, is_over: impl FnMut() -> bool) -> Result<Option<usize>, String> {
        let ranks = self.wait_for(self.segment.slots(), is_over)?;
        if ranks.is_some() {
            let processes = self.watch.processes.get().into_iter().flatten();
            let files = processes.flat_map(|(process, _)| shared_files(*process)).collect();
            let _: Result<(), _> = self.files.set(files);
        }
        Ok(ranks)
    }

    /// Waits until so many ranks have come, as [`wait_for_ranks`](Session::wait_for_ranks) does until all that a launcher starts have.
    pub fn wait_for(&self, most: usize, mut is_over: impl FnMut() -> bool) -> Result<Option<usize>, String> {
        let mut is_over = || self.has_ended() || is_over();
        let mut found: Vec<Option<i32>> = Vec::new();
        let mut pause = Duration::from_micros(100);
        let mut wait = || {
            std::thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(5));
        };
        let ranks = loop {
            let attached = (0..most).find_map(|rank| self.segment.slot(rank).attached());
            if let Some((_, ranks)) = attached {
                break ranks;
            }
            if let Some(why) = self.segment.refusal() {
                self.segment.give_up();
                return Err(why);
            }
            if is_over() {
                return Ok(None);
            }
            wait();
        };
        if ranks > MOST_RANKS {
            return Err(format!("the program has {ranks} ranks, and at most {MOST_RANKS} can be emulated"));
        }
        found.resize(ranks, None);
        while let Some(missing) = found.iter().position(Option::is_none) {
            for (rank, found) in found.iter_mut().enumerate() {
                *found = found.or_else(|| Some(self.segment.slot(rank).attached()?.0));
            }
            if let Some(why) = self.segment.refusal() {
                let come = found.iter().flatten().map(|process| (*process, AtomicI32::new(-1)));
                let _: Result<(), _> = self.watch.processes.set(come.collect());
                self.give_up();
                return Err(why);
            }
            if is_over() {
                return Err(format!("the program has ended before rank {missing} came through MPI_Init"));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        let threads = found.iter().flatten().map(|process| threads_of(*process).count()).collect();
        let _: Result<(), _> = self.watch.threads.set(threads);
        let processes = found.into_iter().flatten().map(|process| (process, AtomicI32::new(-1)));
        let _: Result<(), _> = self.watch.processes.set(processes.collect());
        Ok(Some(ranks))
    }

    /// Runs the program on a machine with as many processors as it has ranks. Afterwards the ranks are at
    /// `MPI_Finalize`, and [`release`](Session::release) lets them go on.
    ///
    /// # Errors
    ///
    /// If the program cannot end, or cannot be emulated: then its ranks are ended. The error says in which calls they were.
    pub fn run(&self, machine: &Machine) -> Result<Run<()>, RunError> {
        let ranks = machine.params().P;
        let shared = Shared {
            segment: &self.segment,
            watch: &self.watch,
            settings: self.settings,
            ranks,
            tags: Mutex::default(),
            board: Board::default(),
            sent: (0..ranks).map(|_| Mutex::default()).collect(),
            notes: Mutex::default(),
            found: Mutex::default(),
            looks: &self.has_choices,
            calls: (0..ranks).map(|_| Mutex::default()).collect(),
            making: Mutex::default(),
            locks: Mutex::default(),
            has_windows: AtomicBool::new(false),
            accesses: Mutex::default(),
            refused: Mutex::default(),
        };
        // How long a rank computes is asked of its process.
        let machine = machine.clone().work(Work::Charged).patience(Duration::MAX);
        // A library may leave messages behind, which MPI does not notice.
        let machine = machine.ending(None, self.settings.checks.is_none());
        let mut run = std::thread::scope(|scope| {
            let (_running, is_over) = channel();
            let rouse = move || self.watch.rouse_waits(&self.segment, &is_over);
            std::thread::Builder::new().spawn_scoped(scope, rouse).map_err(|why| {
                Cause::Host(format!("the host refuses a thread that looks after the ranks: {why}"))
            })?;
            machine.run(|p: &mut Proc| EmulatedRank::new(&shared, p).run(p))
        });
        if let Ok(run) = &mut run {
            match left_messages(&shared.sent) {
                Some(left) => _ = self.left.set(left),
                None => run.trace.iter_mut().for_each(|trace| trace.faults.ended_early = false),
            }
        }
        let mut notes = std::mem::take(&mut *shared.notes.lock());
        let idle_wait = notes.iter().find(|((kind, _), _)| *kind == FaultKind::RequestLifecycle);
        let idle_wait = idle_wait
            .map(|((_, what), ranks)| format!("rank {} {what}", ranks.first().copied().unwrap_or_default()));
        // A program that fails frees little.
        notes.retain(|(kind, _), _| run.is_ok() || *kind != FaultKind::ResourceLeak);
        let _: Result<_, _> = self.notes.set(notes);
        run.map_err(|error| {
            let is_checked = self.settings.checks.is_some();
            let threads = self.find_threads(&error);
            self.give_up();
            match threads {
                Some((rank, Threads::Several)) => return self.refuse(&Threads::Several.text(rank)),
                Some((rank, threads)) if is_checked => {
                    return self.note(Ok(Fault::new(FaultKind::ThreadLevel, &threads.text(rank))));
                }
                _ => (),
            }
            let refused = shared.refused.lock().take();
            if let Some(why) = refused.filter(|why| error.cause == Cause::OtherProcess(why.clone())) {
                return self.refuse(&why);
            }
            let calls: Vec<_> = shared.calls.iter().map(|call| call.lock().take()).collect();
            let sent = shared.sent.into_iter().map(Mutex::into_inner).collect();
            let calls = LastCalls { of_ranks: calls, sent, unfinished: shared.board.unfinished(), idle_wait };
            match error.cause {
                Cause::Params(_) | Cause::Host(_) => error,
                _ => self.note(describe(&error, &calls, shared.found.lock().take())),
            }
        })
    }

    /// Notes what has ended the run, a fault of the program or another sentence, and returns the error.
    fn note(&self, described: Result<Fault, String>) -> RunError {
        let text = match described {
            Ok(fault) => {
                let is_checked = self.settings.checks.is_some();
                let text = if is_checked { fault.to_string() } else { fault.sentence.clone() };
                self.faults.lock().push(fault);
                text
            }
            Err(why) => why,
        };
        Cause::OtherProcess(text).into()
    }

    /// Returns the faults of the program that the run has found.
    pub fn faults(&self) -> Vec<Fault> {
        self.faults.lock().clone()
    }

    /// Returns the fault of a rank that has ended badly after `MPI_Finalize`, as it says itself. All have ended.
    pub fn late_fault(&self) -> Option<Fault> {
        let fault = |rank| self.segment.slot(rank).end().late_fault(rank);
        (0..self.watch.ranks()).find_map(fault).map(|(kind, why)| Fault::new(kind, &why))
    }

    /// Returns a rank that says something of its threads. Where ranks wait for ever, threads of theirs that are new have a
    /// while to call.
    fn find_threads(&self, error: &RunError) -> Option<(usize, Threads)> {
        const PATIENCE: Duration = Duration::from_secs(1);
        let is_deadlock = matches!(error.cause, Cause::Deadlock { .. } | Cause::PollingDeadlock { .. });
        let patience = if is_deadlock && self.watch.has_new_threads() { PATIENCE } else { Duration::ZERO };
        let begin = Instant::now();
        loop {
            let says = |rank| Some((rank, self.segment.slot(rank).threads()?));
            let found = (0..self.watch.ranks()).find_map(says);
            if found.is_some() || begin.elapsed() >= patience {
                return found;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the error of a program that calls what cannot be emulated: of one that is checked it says nothing about the
    /// program.
    fn refuse(&self, why: &str) -> RunError {
        if self.settings.checks.is_none() {
            return Cause::OtherProcess(why.into()).into();
        }
        let sentence = format!("the program cannot be checked: {why}");
        Cause::Host(self.refused.get_or_init(|| sentence).clone()).into()
    }

    /// Returns why the program cannot be checked, if it calls what cannot be emulated.
    pub fn refused(&self) -> Option<&str> {
        self.refused.get().map(String::as_str)
    }

    /// Returns whether a call so far has depended on the order of messages: else all orders are one.
    pub fn has_choices(&self) -> bool {
        self.has_choices.load(Ordering::Relaxed)
    }

    /// Returns a sentence on messages that nobody has received, in a run that is not checked.
    pub fn left(&self) -> Option<&str> {
        self.left.get().map(String::as_str)
    }

    /// Returns the faults of a checked program that have not ended its run.
    pub fn notes(&self) -> &Notes {
        self.notes.get_or_init(Notes::new)
    }

    /// Lets the ranks, which are at `MPI_Finalize`, go on to their end.
    pub fn release(&self, time: Time) {
        // Ranks that wait for each other in their MPI have all cores again.
        let mut all = CpuSet::new();
        (0..CpuSet::MAX_CPU).for_each(|core| all.set(core));
        for rank in 0..self.watch.ranks() {
            self.watch.bind_to(rank, &all);
            self.segment.slot(rank).answer(time.as_ps(), &[], &[], 0);
        }
    }

    /// Ends all ranks.
    pub fn give_up(&self) {
        const PATIENCE: Duration = Duration::from_millis(300);
        let processes = || self.watch.processes.get().into_iter().flatten();
        self.segment.give_up();
        let until = Instant::now() + PATIENCE;
        let running =
            || processes().filter_map(|(process, _)| Pid::from_raw(*process)).filter(|p| is_running(*p));
        while running().next().is_some() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        // A rank that computes does not look.
        running().for_each(|process| _ = kill_process(process, Signal::KILL));
        for file in self.files.get().into_iter().flatten() {
            let _: io::Result<()> = std::fs::remove_file(file);
        }
    }
}

/// Returns a sentence on the messages that nobody has received, if there are any.
fn left_messages(sent: &[Mutex<FxHashMap<usize, Sent>>]) -> Option<String> {
    let mut left = Vec::new();
    for (to, sent) in sent.iter().enumerate() {
        let sent = sent.lock();
        left.extend(sent.iter().flat_map(|(from, queue)| queue.iter().map(|one| (*from, to, one.tag))));
    }
    let (from, to, tag) = left.iter().min()?;
    let count = left.len();
    Some(format!(
        "not received: {count} of the program's messages, such as one from rank {from} to rank {to} with tag {tag}; \
         `loggp check` says where they are sent"
    ))
}

/// Returns the files in the host's shared memory that a process has mapped.
fn shared_files(process: i32) -> Vec<PathBuf> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let path = |line: &str| line.find("/dev/shm/").map(|at| line[at..].to_owned());
    maps.lines().filter_map(path).filter(|path| !path.ends_with(" (deleted)")).map(PathBuf::from).collect()
}
