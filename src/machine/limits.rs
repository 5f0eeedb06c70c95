//! The number of processors that this computer allows, checked before the first one is made.
//!
//! A host that runs out of memory or mappings while threads are made ends the process: a new thread that gets
//! no stack for its signals can only abort, and so can a panic that finds no memory. So the demand of a run
//! is compared with what the host reports of both. Other processes may use up the rest in the meantime;
//! threads and stacks that cannot be made after all are still errors. A limit on the number of threads needs
//! no check, because the host refuses the thread, and the carrier says so.

use loggp_model::error::Cause;
use loggp_schedule::memory::{self, SLACK, free_memory};

use crate::clock::ClockKind;
use crate::clock::stacks::{SPARE_MAPPINGS, guards_any_number, mappings, unmap_kept};
use crate::clock::wall::carrier::Carrier;
use crate::clock::wall::cores::available_cores;

/// The stack of a processor, in bytes, unless another is set.
pub(crate) const USUAL_STACK: usize = 256 << 10;

/// A run's demand for threads and memory.
#[derive(Clone, Copy, Debug)]
struct Demand {
    clock: ClockKind,
    carrier: Carrier,
    processors: u64,
    /// The size of each processor's stack, in bytes.
    stack: u64,
    /// Whether stacks of coroutines take mappings for their guards.
    maps_guards: bool,
}

/// One of the host's limits on a resource.
#[derive(Clone, Debug)]
struct Limit {
    /// The common name of the limit.
    name: &'static str,
    /// The command that raises the limit, with `{}` for the number, or empty if it cannot be raised.
    remedy: &'static str,
    /// The amount that the host allows.
    most: u64,
    /// The amount that is in use already.
    used: u64,
    /// The amount that a run takes independently of its processors.
    reserved: u64,
    /// The amount that each processor takes.
    each: u64,
    /// Whether the amounts are bytes.
    is_bytes: bool,
}

/// The bytes that a process has addresses for. Some hosts have fewer.
const ADDRESSES: u64 = if usize::BITS < 64 { 1 << 31 } else { 1 << 47 };

/// The bytes that the machine keeps for each processor, beside its stack.
const BOOKKEEPING: u64 = 8 << 10;

/// The bytes of memory that each processor touches: a page or two of its stack, and the machine's own data.
const TOUCHED_MEMORY: u64 = 8 << 10;

/// The bytes that two cores need to exchange messages.
const LANE: u64 = 8 << 10;

/// Up to this number of mappings, the limit is not checked.
const FEW_MAPPINGS: u64 = 1024;

/// Up to this number of processors, free memory is not checked.
const FEW_PROCESSORS: u64 = 4096;

/// The bytes of addresses that an allocator may reserve for a thread, though it uses few of them: those of an
/// arena of the GNU C library.
const ARENA: u64 = 128 << 20;

/// The largest number of arenas of an allocator, per core.
const ARENAS_PER_CORE: u64 = 8;

/// More processors than any limit allows.
const MOST_PROCESSORS: u64 = 1 << 40;

/// Refuses a run that this computer has no room for. `carrier` is that of the wall clock.
pub(crate) fn check(
    clock: ClockKind,
    carrier: Carrier,
    P: usize,
    stack: usize,
    may_be_unguarded: bool,
) -> Result<(), Cause> {
    let carrier = if clock == ClockKind::Virtual { Carrier::Coroutine } else { carrier };
    let maps_guards = !may_be_unguarded && P as u64 > FEW_MAPPINGS && !guards_any_number();
    let demand = Demand { clock, carrier, processors: P as u64, stack: stack as u64, maps_guards };
    match demand.exceeded_limit(&demand.limits()) {
        Some(limit) => Err(Cause::Host(demand.refusal(limit))),
        None => Ok(()),
    }
}

/// The most processors that this computer allows, and the limit that allows no more.
#[derive(Clone, Copy, Debug)]
pub struct ProcessorLimit {
    /// The largest number of processors.
    pub processors: u64,
    /// The common name of the limit.
    pub limit: &'static str,
    /// The command that raises the limit, with `{}` for the number, or empty if it cannot be raised.
    pub remedy: &'static str,
}

/// Returns the most processors with `stack` bytes of stack.
pub(crate) fn processor_limit(clock: ClockKind, carrier: Carrier, stack: usize) -> ProcessorLimit {
    let maps_guards = !guards_any_number();
    let demand = Demand { clock, carrier, processors: MOST_PROCESSORS, stack: stack as u64, maps_guards };
    let limits = demand.limits();
    let least = limits.iter().min_by_key(|limit| limit.most_processors());
    let least = least.expect("there is always a limit on addresses");
    ProcessorLimit { processors: least.most_processors(), limit: least.name, remedy: least.remedy }
}

/// Returns the bytes of addresses that this process may have, if that is limited, and those that it has.
fn limited_addresses() -> Option<(u64, u64)> {
    unmap_kept(); // where addresses are limited, a run may need those of the last run's stacks
    memory::limited_addresses()
}

impl Demand {
    /// Returns the limits that this computer reports.
    fn limits(&self) -> Vec<Limit> {
        self.memory().into_iter().chain(self.mappings()).collect()
    }

    /// Returns the bytes of a processor's stack, its guards and the data that belong to it.
    fn bytes(&self) -> u64 {
        let page = page_size();
        let stack = self.stack.div_ceil(page).max(1).saturating_mul(page).saturating_add(page + BOOKKEEPING);
        match self.carrier {
            Carrier::Coroutine => stack,
            // Rust gives each thread a stack for signals, with its own guard. Linux reports its least size.
            Carrier::Thread => stack.saturating_add(signal_stack().div_ceil(page) * page + page),
        }
    }

    /// Returns the limits on memory.
    fn memory(&self) -> Vec<Limit> {
        let each = self.bytes();
        let limit =
            |name, remedy, most| Limit { name, remedy, most, used: 0, reserved: SLACK, each, is_bytes: true };
        let addresses = limit("the room that a process has addresses for", "", ADDRESSES);
        let mut limits = vec![Limit { reserved: 0, ..addresses }];
        if let Some((most, used)) = limited_addresses() {
            let cores = available_cores() as u64;
            let lanes = if self.clock == ClockKind::Wall { cores * cores } else { 0 };
            // A host whose allocator reserves less has room for a few more processors. But the run fails if
            // an allocator finds no addresses meanwhile.
            let watchdog = 1;
            let threads = match (self.clock, self.carrier) {
                (ClockKind::Virtual, _) => watchdog,
                (ClockKind::Wall, Carrier::Coroutine) => cores + watchdog,
                (ClockKind::Wall, Carrier::Thread) => self.processors.saturating_add(watchdog),
            };
            let arenas = threads.min(ARENAS_PER_CORE * cores);
            let reserved = SLACK + lanes * LANE + arenas * ARENA;
            limits.push(Limit { used, reserved, ..limit("ulimit -v", "ulimit -v {}", most) });
        }
        if self.processors > FEW_PROCESSORS
            && let Some(most) = free_memory()
        {
            limits.push(Limit { each: TOUCHED_MEMORY, ..limit("the free memory", "", most) });
        }
        limits
    }

    /// Returns the limit on mappings. It is checked only for a run that makes many, because counting those in
    /// use takes longer than a short run.
    fn mappings(&self) -> Option<Limit> {
        let (each, spare) = match self.carrier {
            Carrier::Coroutine if !self.maps_guards => return None,
            Carrier::Coroutine => (2, 2 * SPARE_MAPPINGS), // the stack and its guard
            Carrier::Thread => (4, SPARE_MAPPINGS),        // and the same for signals
        };
        if self.processors <= FEW_MAPPINGS / each {
            return None;
        }
        if self.maps_guards {
            unmap_kept(); // the run may need those of the last run's stacks
        }
        let (used, most) = mappings()?;
        let reserved = spare + 2 * ARENAS_PER_CORE * available_cores() as u64;
        let (name, remedy) = ("vm.max_map_count", "sysctl -w vm.max_map_count={}");
        Some(Limit { name, remedy, most, used, reserved, each, is_bytes: false })
    }

    /// Returns the limit that allows the fewest processors, if the run has more.
    fn exceeded_limit<'a>(&self, limits: &'a [Limit]) -> Option<&'a Limit> {
        limits
            .iter()
            .min_by_key(|limit| limit.most_processors())
            .filter(|limit| limit.most_processors() < self.processors)
    }

    /// Returns the error message for a limit that the run exceeds.
    fn refusal(&self, limit: &Limit) -> String {
        let P = self.processors;
        let &Limit { name, most, used, reserved, each, is_bytes, .. } = limit;
        let on = if self.clock == ClockKind::Virtual { "virtual" } else { "wall" };
        let (it, with_stacks) = match self.carrier {
            Carrier::Coroutine if !is_bytes => ("guarded stack", ""),
            Carrier::Coroutine => ("stack", ""),
            Carrier::Thread => ("thread", " with stacks"),
        };
        let amount = |n: u64| if is_bytes { format!("{} KiB", n / 1024) } else { n.to_string() };
        let mut text = format!("{P} processors on the {on} clock need {P} {it}s");
        if is_bytes {
            text += &format!("{with_stacks} of {} KiB", self.stack.div_ceil(1024));
        }
        text +=
            &format!(", and this computer allows {}: {name} is {}", limit.most_processors(), amount(most));
        if used > 0 {
            text += &format!(", of which {} are in use", amount(used));
            if reserved > 0 {
                text += &format!(" and {} are kept for other things", amount(reserved));
            }
        }
        if each > 1 {
            text += &format!(", and a {it} takes {}", amount(each));
        }
        text += "; use fewer processors";
        if is_bytes && each > TOUCHED_MEMORY {
            text += ", or smaller stacks";
        }
        if !is_bytes {
            text += match self.carrier {
                Carrier::Thread => ", or let coroutines carry them",
                Carrier::Coroutine => {
                    ", or a host with Linux 6.13, or do without guards, by Machine::unguarded_stacks or \
                     --unguarded-stacks, if no stack overflows"
                }
            };
        }
        if !limit.remedy.is_empty() {
            let needed = if is_bytes { limit.value_for(P).div_ceil(1024) } else { limit.value_for(P) };
            text += ", or raise it: ";
            text += &limit.remedy.replacen("{}", &needed.to_string(), 1);
        }
        text
    }
}

impl Limit {
    /// Returns the number of processors that the limit allows.
    fn most_processors(&self) -> u64 {
        self.most.saturating_sub(self.used.saturating_add(self.reserved)) / self.each
    }

    /// Returns the value of the limit that would allow `P` processors.
    fn value_for(&self, P: u64) -> u64 {
        self.each.saturating_mul(P).saturating_add(self.used).saturating_add(self.reserved)
    }
}

/// Returns the size of a page, and so of a guard, in bytes.
fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// Returns the bytes of the stack for signals that Rust gives to each thread.
fn signal_stack() -> u64 {
    let least = libc::SIGSTKSZ as u64;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the call only reads values that the host passed to the process at its start.
    let least = least.max(unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as u64);
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(processors: u64) -> Demand {
        Demand {
            clock: ClockKind::Wall,
            carrier: Carrier::Thread,
            processors,
            stack: 256 << 10,
            maps_guards: false,
        }
    }

    fn mappings() -> Limit {
        let (name, remedy) = ("vm.max_map_count", "sysctl -w vm.max_map_count={}");
        Limit { name, remedy, most: 65_530, used: 130, reserved: 200, each: 4, is_bytes: false }
    }

    #[test]
    fn tightest_limit_is_reported() {
        let free = Limit { name: "the free memory", most: 1 << 20, ..mappings() };
        let limits = [free, mappings()];
        assert!(wall(16_300).exceeded_limit(&limits).is_none());
        let refused = wall(16_301).exceeded_limit(&limits).unwrap();
        assert_eq!(refused.name, "vm.max_map_count");
        assert_eq!(
            wall(16_301).refusal(refused),
            "16301 processors on the wall clock need 16301 threads, and this computer allows 16300: \
             vm.max_map_count is 65530, of which 130 are in use and 200 are kept for other things, and a thread \
             takes 4; use fewer processors, or let coroutines carry them, or raise it: sysctl -w vm.max_map_count=65534"
        );
        let raised = Limit { most: 65_534, ..mappings() };
        assert_eq!(raised.most_processors(), 16_301);
    }

    #[test]
    fn memory_limits_are_printed_in_kib() {
        let demand = Demand {
            clock: ClockKind::Virtual,
            carrier: Carrier::Coroutine,
            processors: 3000,
            stack: 1 << 20,
            maps_guards: false,
        };
        let (name, remedy, most, used) = ("ulimit -v", "ulimit -v {}", 500 << 20, 4 << 20);
        let limit = Limit { name, remedy, most, used, reserved: 0, each: 1 << 20, is_bytes: true };
        assert_eq!(limit.most_processors(), 496);
        assert_eq!(
            demand.refusal(demand.exceeded_limit(std::slice::from_ref(&limit)).unwrap()),
            "3000 processors on the virtual clock need 3000 stacks of 1024 KiB, and this computer allows 496: \
             ulimit -v is 512000 KiB, of which 4096 KiB are in use, and a stack takes 1024 KiB; use \
             fewer processors, or smaller stacks, or raise it: ulimit -v 3076096"
        );
    }

    #[test]
    fn huge_sizes_do_not_overflow() {
        for (clock, carrier) in [(ClockKind::Virtual, Carrier::Coroutine), (ClockKind::Wall, Carrier::Thread)]
        {
            for stack in [u64::MAX, u64::MAX - 4096, 1 << 63, 1 << 47] {
                let demand = Demand { clock, carrier, processors: u64::MAX, stack, maps_guards: true };
                let limits = demand.memory();
                let refused = demand.exceeded_limit(&limits).unwrap();
                assert_eq!((refused.each, refused.most_processors()), (demand.bytes(), 0));
                assert!(demand.refusal(refused).contains("smaller stacks"));
            }
        }
        let full = Limit { used: 70_000, ..mappings() };
        assert_eq!(full.most_processors(), 0);
    }
}
