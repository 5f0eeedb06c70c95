//! The means that this computer has for runs, for those who ask why it keeps up or does not.

use loggp_schedule::memory::first_number;
use rustix::process::{Resource, getrlimit};

use super::limits::{ProcessorLimit, USUAL_STACK, processor_limit};
use crate::clock::ClockKind;
use crate::clock::wall::carrier::Carrier;
use crate::clock::wall::cores::{HostCores, available_cores, can_pin, cores_for};
use crate::clock::wall::ticks::measure_clock;

/// The means that this computer has for runs.
#[derive(Clone, Debug)]
pub struct Computer {
    /// The number of cores on which this process may run.
    pub allowed_cores: usize,
    /// The number of those that it has time for: a control group may have a quota.
    pub available_cores: usize,
    /// The number of cores that a run uses by default.
    pub default_cores: usize,
    /// The reason why a run does not use the others, if there are any.
    pub why: Option<&'static str>,
    /// True if threads can be pinned to cores.
    pub can_pin: bool,
    /// The length of a tick of the clock that waits read, in ns.
    pub tick_ns: f64,
    /// The time that a look at this clock takes, in ns.
    pub look_ns: f64,
    /// The size of a processor's stack by default, in bytes.
    pub stack: usize,
    /// The most processors on the virtual clock.
    pub most_virtual: ProcessorLimit,
    /// The most processors on the wall clock that are threads.
    pub most_threads: ProcessorLimit,
    /// The limits on threads that the host has, each with its common name.
    pub thread_limits: Vec<(&'static str, u64)>,
}

impl Computer {
    /// Finds out what this computer offers, within a fraction of a second.
    pub fn detect() -> Computer {
        let cores = HostCores::detect();
        let (tick_ns, look_ns) = measure_clock();
        let stack = USUAL_STACK;
        let limits = [
            ("ulimit -u", getrlimit(Resource::Nproc).current),
            ("kernel.threads-max", first_number("/proc/sys/kernel/threads-max")),
            ("pids.max", first_number("/sys/fs/cgroup/pids.max")),
        ];
        Computer {
            allowed_cores: cores.count(),
            available_cores: available_cores(),
            default_cores: cores_for(usize::MAX, usize::MAX),
            why: cores.why,
            can_pin: can_pin(),
            tick_ns,
            look_ns,
            stack,
            most_virtual: processor_limit(ClockKind::Virtual, Carrier::Coroutine, stack),
            most_threads: processor_limit(ClockKind::Wall, Carrier::Thread, stack),
            thread_limits: limits.into_iter().filter_map(|(name, most)| Some((name, most?))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::check;
    use super::*;

    #[test]
    fn what_is_offered_can_be_used() {
        let computer = Computer::detect();
        let Computer { allowed_cores, available_cores, default_cores, .. } = computer;
        assert!((1..=available_cores).contains(&default_cores), "{computer:?}");
        assert!(available_cores <= allowed_cores.max(1), "{computer:?}");
        assert!(computer.tick_ns > 0.0 && computer.look_ns > 0.0, "{computer:?}");
        // A run of so many would be refused if there were one more.
        for (most, clock, carrier) in [
            (computer.most_virtual, ClockKind::Virtual, Carrier::Coroutine),
            (computer.most_threads, ClockKind::Wall, Carrier::Thread),
        ] {
            assert!(most.processors > 0 && !most.limit.is_empty(), "{computer:?}");
            let many = 2 * most.processors as usize;
            let refused = check(clock, carrier, many, computer.stack, false).unwrap_err();
            assert!(refused.to_string().contains(most.limit), "{refused}");
        }
    }
}
