//! All ranks of a program, from their begin to their end.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use loggp::params::Work;
use loggp::{Cause, ClockKind, Machine, Proc, Run, RunError, Time};
use loggp_goal::patterns::CollectiveTable;
use loggp_mpi_trace::schedule::TagTable;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::board::{Board, CollectiveId};
use crate::communicators::{Duplication, Making};
use crate::failure::{Calls, FaultKind, LastCall, describe};
use crate::messages::Sent;
use crate::rank::Rank;
use crate::segment::{Flags, Segment, Slot};
use crate::threads::Threads;
use crate::windows::Locks;

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

/// The ranks as processes.
#[derive(Default)]
pub(crate) struct Watch {
    processes: OnceLock<Vec<(i32, AtomicI32)>>,
    /// The number of threads of each when it came.
    threads: OnceLock<Vec<usize>>,
    limit: Option<Duration>,
    /// True if the program's launcher has ended, or is to end.
    is_over: AtomicBool,
}

impl Watch {
    /// Returns why no post of a rank can come any more, or `None` if one still may; the rank has computed for a time.
    fn look_at(&self, rank: usize, computed: Duration) -> Option<String> {
        let process = self.processes.get().and_then(|all| Pid::from_raw(all.get(rank)?.0));
        if process.is_some_and(|process| !is_running(process)) {
            return Some(format!("rank {rank} has ended before it called MPI_Finalize"));
        }
        if self.is_over.load(Ordering::Relaxed) {
            return Some(format!("the program was ended while rank {rank} computed"));
        }
        self.limit.filter(|limit| computed > *limit).map(|limit| {
            format!(
                "rank {rank} has computed for {limit:?} without a call of MPI; --limit gives it more time"
            )
        })
    }

    /// Waits for a post of a rank that computes. An error says why none can come.
    pub(crate) fn wait(&self, slot: Slot, rank: usize) -> Result<(), String> {
        /// The time between two looks at the rank.
        const LOOK: Duration = Duration::from_millis(100);
        let begin = Instant::now();
        while !slot.wait(LOOK) {
            // What a rank posts last, it posts before it ends.
            if let Some(why) = self.look_at(rank, begin.elapsed())
                && !slot.has_post()
            {
                return Err(why);
            }
        }
        Ok(())
    }

    /// Waits until a rank, which waits in a call or comes to one, has made a duplicate. An error says why it cannot.
    pub(crate) fn wait_for_errand(&self, slot: Slot, rank: usize) -> Result<(), String> {
        /// The time after which the rank is woken again: it may have begun to wait just when it was told.
        const AGAIN: Duration = Duration::from_millis(2);
        let begin = Instant::now();
        while !slot.wait_for_errand(AGAIN) {
            if let Some(why) = self.look_at(rank, begin.elapsed()) {
                return Err(why);
            }
        }
        Ok(())
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
    fn bind_to(&self, rank: usize, cores: &CpuSet) {
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

/// Returns the threads of a process.
fn threads_of(process: i32) -> impl Iterator<Item = i32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok())
}

/// Returns whether a process runs: one that its parent has not missed yet does not.
fn is_running(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    let state = |stat: String| stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    match stat {
        Ok(stat) => state(stat) != Some('Z'),
        Err(_) => test_kill_process(process).is_ok(),
    }
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
    /// What ranks have not freed at their end.
    pub leaks: Mutex<Vec<(usize, String)>>,
    /// True once a call has depended on the order of messages.
    pub looks: &'a AtomicBool,
    /// The last calls of the ranks of a run that fails.
    pub calls: Vec<Mutex<Option<LastCall>>>,
    /// The communicators that are being made.
    pub making: Mutex<FxHashMap<(Vec<u32>, u64), Making>>,
    /// Immediate duplicates of communicators that are under way.
    pub duplicates: Mutex<FxHashMap<CollectiveId, Duplication>>,
    /// The locks of windows.
    pub locks: Mutex<Locks>,
    /// A sentence on a call that cannot be emulated, once a rank has made one.
    pub refused: Mutex<Option<String>>,
}

/// An emulated program: its ranks, which come by the shared file.
pub struct Session {
    segment: Segment,
    settings: Settings,
    watch: Watch,
    has_choices: AtomicBool,
    left: OnceLock<String>,
    refused: OnceLock<String>,
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

    /// Waits until all ranks have come through `MPI_Init`. Returns their number, or `None` if the program ends, as `is_over`
    /// says, before one of them has come.
    pub fn wait_for_ranks(&self, mut is_over: impl FnMut() -> bool) -> Result<Option<usize>, String> {
        let mut is_over = || self.watch.is_over.load(Ordering::Relaxed) || is_over();
        let mut found: Vec<Option<i32>> = Vec::new();
        let ranks = loop {
            let attached = (0..self.segment.slots()).find_map(|rank| self.segment.slot(rank).attached());
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
            std::thread::sleep(Duration::from_millis(5));
        };
        if ranks > MOST_RANKS {
            return Err(format!("the program has {ranks} ranks, and at most {MOST_RANKS} can be emulated"));
        }
        found.resize(ranks, None);
        while let Some(missing) = found.iter().position(Option::is_none) {
            for (rank, found) in found.iter_mut().enumerate() {
                *found = found.or_else(|| Some(self.segment.slot(rank).attached()?.0));
            }
            if is_over() {
                return Err(format!("the program has ended before rank {missing} came through MPI_Init"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let files = found.iter().flatten().flat_map(|process| shared_files(*process)).collect();
        let _: Result<(), _> = self.files.set(files);
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
            leaks: Mutex::default(),
            looks: &self.has_choices,
            calls: (0..ranks).map(|_| Mutex::default()).collect(),
            making: Mutex::default(),
            duplicates: Mutex::default(),
            locks: Mutex::default(),
            refused: Mutex::default(),
        };
        // How long a rank computes is asked of its process.
        let machine = machine.clone().work(Work::Charged).patience(Duration::MAX);
        // A library may leave messages behind, which MPI does not notice.
        let machine = machine.ending(None, self.settings.checks.is_none());
        let mut run = machine.run(|p: &mut Proc| Rank::new(&shared, p).run(p));
        if let Ok(run) = &mut run {
            match left_messages(&shared.sent) {
                Some(left) => _ = self.left.set(left),
                None => run.trace.iter_mut().for_each(|trace| trace.faults.ended_early = false),
            }
        }
        let leak = shared.leaks.lock().iter().min().map(|(_, leak)| leak.clone());
        if let (Ok(_), Some(leak)) = (&run, leak) {
            self.give_up();
            return Err(Cause::OtherProcess(leak).into());
        }
        run.map_err(|error| {
            let is_checked = self.settings.checks.is_some();
            let threads = self.find_threads(&error);
            self.give_up();
            match threads {
                Some((rank, Threads::Several)) => return self.refuse(&Threads::Several.text(rank)),
                Some((rank, threads)) if is_checked => {
                    let why = format!("{}: {}", FaultKind::ThreadLevel, threads.text(rank));
                    return Cause::OtherProcess(why).into();
                }
                _ => (),
            }
            let refused = shared.refused.lock().take();
            if let Some(why) = refused.filter(|why| error.cause == Cause::OtherProcess(why.clone())) {
                return self.refuse(&why);
            }
            let calls: Vec<_> = shared.calls.iter().map(|call| call.lock().take()).collect();
            let sent = shared.sent.into_iter().map(Mutex::into_inner).collect();
            let calls = Calls { of_ranks: calls, sent, unfinished: shared.board.unfinished() };
            match error.cause {
                Cause::Params(_) | Cause::Host(_) => error,
                _ => Cause::OtherProcess(describe(&error, &calls, is_checked)).into(),
            }
        })
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
        (0..processes().count()).for_each(|rank| self.segment.slot(rank).rouse());
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
