//! How many processors this computer allows, worked out before the first is made.
//!
//! A host that runs out of memory or mappings in the middle of making threads ends the process: a new thread that gets
//! no stack for its signals can only abort, and so can a panic that finds no memory. So what a run takes is held
//! against every limit that the host tells of. Others may take what is left in the meantime, and there are limits that
//! it does not tell of; threads and stacks that cannot be made after all are still errors.

use std::fs::read_to_string;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, geteuid, getrlimit};

use crate::clock::ClockKind;
use crate::clock::stacks::{SPARE_MAPPINGS, first_number, mappings, unmap_kept};
use crate::clock::wall::carrier::Carrier;
use crate::clock::wall::cores::available_cores;
use crate::error::Cause;

/// What a run takes from the host.
#[derive(Clone, Copy, Debug)]
struct Demand {
    clock: ClockKind,
    /// What a processor is on that clock.
    carrier: Carrier,
    processors: u64,
    /// The bytes of each processor's stack.
    stack: u64,
}

/// One of the host's limits.
#[derive(Clone, Debug)]
struct Limit {
    /// What is limited, as people call it.
    name: &'static str,
    /// How to raise it, with `{}` for the number that it has to be; empty, if that cannot be done.
    remedy: String,
    /// How much of it the host allows.
    most: u64,
    /// How much of it is used already.
    used: u64,
    /// What a run takes however many processors there are.
    beside: u64,
    /// What each processor takes of it.
    each: u64,
    /// Whether it counts bytes.
    is_bytes: bool,
}

/// The bytes that a process has addresses for; some hosts have fewer.
const ADDRESSES: u64 = if usize::BITS < 64 { 1 << 31 } else { 1 << 47 };

/// What the machine keeps for each processor, beside its stack.
const BOOKS: u64 = 8 << 10;

/// What each processor takes of the memory itself: a page or two of its stack, and what the machine keeps for it.
const TOUCHED: u64 = 8 << 10;

/// What a run needs beside its processors.
const SLACK: u64 = 16 << 20;

/// What two cores need to exchange messages.
const LANE: u64 = 8 << 10;

/// As many mappings as this nobody needs to count.
const FEW_MAPPINGS: u64 = 1024;

/// The memory of as many processors nobody needs to count.
const FEW_PROCESSORS: u64 = 4096;

/// The threads that others may start in the meantime.
const SPARE_THREADS: u64 = 32;

/// The numbers that Linux gives to no thread once it has given all.
const RESERVED_NUMBERS: u64 = 300;

/// The addresses that an allocator may take for a thread, though it uses few of them: as many as the GNU C library's does.
const ARENA: u64 = 128 << 20;

/// For so many threads on each core an allocator takes them.
const ARENAS_PER_CORE: u64 = 8;

/// Refuses a run that this computer cannot hold, whose processors this carries on the wall clock.
pub(crate) fn check(clock: ClockKind, carrier: Carrier, P: usize, stack: usize) -> Result<(), Cause> {
    let carrier = if clock == ClockKind::Virtual { Carrier::Coroutine } else { carrier };
    let demand = Demand { clock, carrier, processors: P as u64, stack: stack as u64 };
    match demand.refused_by(&demand.limits()) {
        Some(limit) => Err(Cause::Host(demand.refusal(limit))),
        None => Ok(()),
    }
}

/// Refuses what takes more bytes than this process can get, which is said as `what`.
pub(crate) fn check_bytes(bytes: u64, what: impl FnOnce() -> String) -> Result<(), Cause> {
    let addresses = limited_addresses().map(|(most, used)| ("ulimit -v leaves", most.saturating_sub(used)));
    let free = free_memory().map(|bytes| ("there are", bytes));
    match addresses.into_iter().chain(free).min_by_key(|(_, left)| *left) {
        Some((says, left)) if bytes > left.saturating_sub(SLACK) => Err(Cause::Host(format!(
            "{} takes {} MiB at least, and {says} {} MiB",
            what(),
            bytes >> 20,
            left >> 20
        ))),
        _ => Ok(()),
    }
}

/// For how many bytes this process may have addresses, if that is limited, and for how many it has.
fn limited_addresses() -> Option<(u64, u64)> {
    let most = getrlimit(Resource::As).current?;
    unmap_kept(); // where addresses are few, a run may need those of the stacks of the last one
    Some((most, first_number("/proc/self/statm")? * page_size()))
}

/// How many bytes of memory nobody uses.
fn free_memory() -> Option<u64> {
    labelled("/proc/meminfo", "MemAvailable:").map(|kib| kib << 10)
}

impl Demand {
    /// The limits that this computer tells of.
    fn limits(&self) -> Vec<Limit> {
        let mut limits = self.memory();
        if self.carrier == Carrier::Thread {
            limits.extend(self.mappings());
            limits.extend(self.threads());
        }
        limits
    }

    /// The bytes of a stack and all that comes with it.
    fn bytes(&self) -> u64 {
        let page = page_size();
        let stack = self.stack.div_ceil(page).max(1).saturating_mul(page).saturating_add(page + BOOKS);
        match self.carrier {
            Carrier::Coroutine => stack,
            // Rust gives each thread a stack for signals, with its own guard. Linux says how much at least.
            Carrier::Thread => stack.saturating_add(signal_stack().div_ceil(page) * page + page),
        }
    }

    /// The limits on memory.
    fn memory(&self) -> Vec<Limit> {
        let each = self.bytes();
        let limit = |name, remedy: &str, most| {
            let remedy = remedy.into();
            Limit { name, remedy, most, used: 0, beside: SLACK, each, is_bytes: true }
        };
        let addresses = limit("the room that a process has addresses for", "", ADDRESSES);
        let mut limits = vec![Limit { beside: 0, ..addresses }];
        if let Some((most, used)) = limited_addresses() {
            let cores = available_cores() as u64;
            let lanes = if self.clock == ClockKind::Wall { cores * cores } else { 0 };
            // Whose allocator takes less might hold some more processors; but one that takes them meanwhile fails the run.
            let arenas = self.threads_made(cores).min(ARENAS_PER_CORE * cores);
            let beside = SLACK + lanes * LANE + arenas * ARENA;
            limits.push(Limit { used, beside, ..limit("ulimit -v", "ulimit -v {}", most) });
        }
        if self.processors > FEW_PROCESSORS
            && let Some(most) = free_memory()
        {
            limits.push(Limit { each: TOUCHED, ..limit("the free memory", "", most) });
        }
        limits
    }

    /// How many threads the run makes.
    fn threads_made(&self, cores: u64) -> u64 {
        let watchdog = 1;
        match (self.clock, self.carrier) {
            (ClockKind::Virtual, _) => watchdog,
            (ClockKind::Wall, Carrier::Coroutine) => cores + watchdog,
            (ClockKind::Wall, Carrier::Thread) => self.processors.saturating_add(watchdog),
        }
    }

    /// The limit on mappings. Only a run that takes many is held against it: to count those of now takes longer than a
    /// short run.
    fn mappings(&self) -> Option<Limit> {
        let each = 4; // the stack and its guard, and the same for signals
        if self.processors <= FEW_MAPPINGS / each {
            return None;
        }
        let (used, most) = mappings()?;
        let beside = SPARE_MAPPINGS + 2 * ARENAS_PER_CORE * available_cores() as u64;
        Some(Limit { used, beside, each, ..Limit::sysctl("vm.max_map_count", most) })
    }

    /// The limits on threads.
    fn threads(&self) -> Vec<Limit> {
        let mut limits = Vec::new();
        // "0.20 0.18 0.12 1/80 11206": of 80 threads of this computer one runs.
        let all = read_to_string("/proc/loadavg").ok();
        if let Some(used) = all.and_then(|text| text.split(['/', ' ']).nth(4)?.parse().ok()) {
            if let Some(most) = first_number("/proc/sys/kernel/threads-max") {
                let threads = Limit::sysctl("kernel.threads-max", most);
                limits.push(Limit { used, beside: SPARE_THREADS, ..threads });
            }
            if let Some(most) = first_number("/proc/sys/kernel/pid_max") {
                let numbers = Limit::sysctl("kernel.pid_max", most);
                limits.push(Limit { used, beside: SPARE_THREADS + RESERVED_NUMBERS, ..numbers });
            }
            // The user has at most all of them; only where that is too many they are counted.
            if let Some(most) = getrlimit(Resource::Nproc).current
                && !geteuid().is_root()
                && self.processors.saturating_add(used) > most
            {
                limits.push(Limit {
                    used: user_threads(),
                    ..Limit::on_threads("ulimit -u", "ulimit -u {}", most)
                });
            }
        }
        let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
        for group in groups.lines().flat_map(group_folders) {
            // No limit is the word "max".
            let file = group.join("pids.max");
            if let Some(used) = first_number(group.join("pids.current"))
                && let Some(most) = first_number(&file)
            {
                let remedy = format!("write {{}} to {}", file.display());
                limits
                    .push(Limit { used, ..Limit::on_threads("the control group's pids.max", remedy, most) });
            }
        }
        limits
    }

    /// The limit that the run does not keep, if any: the one that allows the fewest processors.
    fn refused_by<'a>(&self, limits: &'a [Limit]) -> Option<&'a Limit> {
        limits.iter().min_by_key(|limit| limit.allows()).filter(|limit| limit.allows() < self.processors)
    }

    /// What the limit that refuses the run is, in words.
    fn refusal(&self, limit: &Limit) -> String {
        let P = self.processors;
        let &Limit { name, most, used, beside, each, is_bytes, .. } = limit;
        let on = if self.clock == ClockKind::Virtual { "virtual" } else { "wall" };
        let (it, with_stacks) = match self.carrier {
            Carrier::Coroutine => ("stack", ""),
            Carrier::Thread => ("thread", " with stacks"),
        };
        let amount = |n: u64| if is_bytes { format!("{} KiB", n / 1024) } else { n.to_string() };
        let mut text = format!("{P} processors on the {on} clock need {P} {it}s");
        if is_bytes {
            text += &format!("{with_stacks} of {} KiB", self.stack.div_ceil(1024));
        }
        text += &format!(", and this computer allows {}: {name} is {}", limit.allows(), amount(most));
        if used > 0 {
            text += &format!(", of which {} are in use", amount(used));
            if beside > 0 {
                text += &format!(" and {} are kept for other things", amount(beside));
            }
        }
        if each > 1 {
            text += &format!(", and a {it} takes {}", amount(each));
        }
        text += "; use fewer processors";
        if is_bytes && each > TOUCHED {
            text += ", or smaller stacks";
        }
        if self.clock == ClockKind::Wall && !is_bytes {
            text += ", or let coroutines carry them";
        }
        if !limit.remedy.is_empty() {
            let needed = if is_bytes { limit.needs(P).div_ceil(1024) } else { limit.needs(P) };
            text += ", or raise it: ";
            text += &limit.remedy.replacen("{}", &needed.to_string(), 1);
        }
        text
    }
}

impl Limit {
    /// A limit on threads, of which each processor is one.
    fn on_threads(name: &'static str, remedy: impl Into<String>, most: u64) -> Limit {
        Limit { name, remedy: remedy.into(), most, used: 0, beside: 0, each: 1, is_bytes: false }
    }

    /// One that is a number of the kernel's.
    fn sysctl(name: &'static str, most: u64) -> Limit {
        Limit::on_threads(name, format!("sysctl -w {name}={{}}"), most)
    }

    /// How many processors it allows.
    fn allows(&self) -> u64 {
        self.most.saturating_sub(self.used.saturating_add(self.beside)) / self.each
    }

    /// What it would have to be for so many.
    fn needs(&self, P: u64) -> u64 {
        self.each.saturating_mul(P).saturating_add(self.used).saturating_add(self.beside)
    }
}

/// The number that follows a label in a file, as in "Threads: 7".
fn labelled(path: impl AsRef<Path>, label: &str) -> Option<u64> {
    let text = read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The size of a page, and so of a guard.
fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// The bytes of the stack for signals that Rust gives to each thread.
fn signal_stack() -> u64 {
    let least = libc::SIGSTKSZ as u64;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: it reads what the host passed to the process when it started.
    let least = least.max(unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as u64);
    least
}

/// The folders of the control groups that limit threads, from a line of `/proc/self/cgroup`: the process's own and all
/// that this is in. Where the process sees only a part of the tree, those that are not there limit nothing.
fn group_folders(line: &str) -> Vec<PathBuf> {
    let mut parts = line.splitn(3, ':');
    let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
        return Vec::new();
    };
    let roots: &[&str] = if controllers.split(',').any(|controller| controller == "pids") {
        &["/sys/fs/cgroup/pids"]
    } else if number == "0" && controllers.is_empty() {
        &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
    } else {
        &[]
    };
    let path = Path::new(path.trim_start_matches('/'));
    roots.iter().flat_map(|root| path.ancestors().map(|part| Path::new(root).join(part))).collect()
}

/// How many threads the processes of this user have.
fn user_threads() -> u64 {
    let mine = geteuid().as_raw();
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let is_process = |name: &std::ffi::OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let processes = processes
        .flatten()
        .filter(|process| is_process(&process.file_name()))
        .filter(|process| process.metadata().is_ok_and(|data| data.uid() == mine));
    processes.filter_map(|process| labelled(process.path().join("status"), "Threads:")).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(processors: u64) -> Demand {
        Demand { clock: ClockKind::Wall, carrier: Carrier::Thread, processors, stack: 256 << 10 }
    }

    fn mappings() -> Limit {
        Limit { used: 130, beside: 200, each: 4, ..Limit::sysctl("vm.max_map_count", 65_530) }
    }

    #[test]
    fn the_tightest_limit_counts() {
        let users = Limit { used: 1_000, ..Limit::on_threads("ulimit -u", "ulimit -u {}", 20_000) };
        let limits = [users, mappings()];
        assert!(wall(16_300).refused_by(&limits).is_none());
        let refused = wall(16_301).refused_by(&limits).unwrap();
        assert_eq!(refused.name, "vm.max_map_count");
        assert_eq!(
            wall(16_301).refusal(refused),
            "16301 processors on the wall clock need 16301 threads, and this computer allows 16300: \
             vm.max_map_count is 65530, of which 130 are in use and 200 are kept for other things, and a thread \
             takes 4; use fewer processors, or let coroutines carry them, or raise it: sysctl -w vm.max_map_count=65534"
        );
        let raised = Limit { most: 65_534, ..mappings() };
        assert_eq!(raised.allows(), 16_301);
    }

    #[test]
    fn memory_is_told_in_kib() {
        let demand = Demand {
            clock: ClockKind::Virtual,
            carrier: Carrier::Coroutine,
            processors: 3000,
            stack: 1 << 20,
        };
        let memory = Limit::on_threads("ulimit -v", "ulimit -v {}", 500 << 20);
        let limit = Limit { used: 4 << 20, each: 1 << 20, is_bytes: true, ..memory };
        assert_eq!(limit.allows(), 496);
        assert_eq!(
            demand.refusal(demand.refused_by(std::slice::from_ref(&limit)).unwrap()),
            "3000 processors on the virtual clock need 3000 stacks of 1024 KiB, and this computer allows 496: \
             ulimit -v is 512000 KiB, of which 4096 KiB are in use, and a stack takes 1024 KiB; use \
             fewer processors, or smaller stacks, or raise it: ulimit -v 3076096"
        );
    }

    #[test]
    fn bytes_are_held_against_what_there_is() {
        assert!(check_bytes(1, || "a byte".into()).is_ok());
        let refused = check_bytes(u64::MAX, || "it".into()).unwrap_err().to_string();
        assert!(refused.starts_with("it takes 17592186044415 MiB at least, and "), "{refused}");
    }

    #[test]
    fn no_size_overflows() {
        for (clock, carrier) in [(ClockKind::Virtual, Carrier::Coroutine), (ClockKind::Wall, Carrier::Thread)]
        {
            for stack in [u64::MAX, u64::MAX - 4096, 1 << 63, 1 << 47] {
                let demand = Demand { clock, carrier, processors: u64::MAX, stack };
                let limits = demand.memory();
                let refused = demand.refused_by(&limits).unwrap();
                assert_eq!((refused.each, refused.allows()), (demand.bytes(), 0));
                assert!(demand.refusal(refused).contains("smaller stacks"));
            }
        }
        let full = Limit { used: 70_000, ..mappings() };
        assert_eq!(full.allows(), 0);
    }

    #[test]
    fn what_linux_tells_is_understood() {
        let folders = |line| -> Vec<String> {
            group_folders(line).iter().map(|folder| folder.display().to_string()).collect()
        };
        assert_eq!(
            folders("8:pids:/a/b"),
            ["/sys/fs/cgroup/pids/a/b", "/sys/fs/cgroup/pids/a", "/sys/fs/cgroup/pids/"]
        );
        assert_eq!(folders("0::/"), ["/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"]);
        assert!(folders("9:name=systemd:/a").is_empty());
        assert!(folders("nonsense").is_empty());
    }
}
