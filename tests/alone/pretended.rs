//! A host that claims more cores than it runs, as some containers do.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use loggp::{Carrier, ClockKind, Dilation, Machine, Params, Proc, Tag, US, Work};

use crate::alone;
use crate::wall::BusyCores;

/// The environment variable with the number of pretended cores.
const CORES: &str = "LOGGP_PRETENDED_CORES";

/// A preloaded library that pretends more cores.
const MORE_CORES: &str = r"
#define _GNU_SOURCE
#include <sched.h>
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    CPU_ZERO_S(size, set);
    for (int core = 0; core < PRETENDED; core++) CPU_SET_S(core, size, set);
    return 0;
}";

/// Runs in a process of its own, perhaps with pretended cores.
#[test]
#[ignore = "what a_core_that_the_host_does_not_run_costs_little runs in another process"]
fn everyone_sends_to_all_in_the_same_order() {
    let params = Params::builder(32).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let machine = Machine::new(params).clock(ClockKind::Wall).work(Work::Charged);
    let run = machine.run(send_to_all);
    let host = run.unwrap().host.unwrap();
    assert!(pretended_cores().is_none_or(|cores| host.cores == cores), "{host:?}");
}

/// Returns the number of pretended cores, or `None`.
fn pretended_cores() -> Option<usize> {
    std::env::var(CORES).ok().map(|cores| cores.parse().unwrap())
}

fn send_to_all(p: &mut Proc) {
    const WORD: Tag<u64> = Tag::new(0);
    for distance in 1..p.P() {
        let other = (p.id() + distance) % p.P();
        p.send(other, WORD, other as u64);
    }
    for _ in 1..p.P() {
        assert_eq!(p.recv(WORD).1, p.id() as u64);
    }
}

/// Runs in a process of its own with pretended cores.
#[test]
#[ignore = "what three_and_four_fronts_of_a_busy_host_keep_the_order_of_acts runs in another process"]
fn everyone_sends_to_all_on_both_carriers() {
    let cores = pretended_cores().expect("more cores are pretended");
    let params = Params::builder(7).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let machine = Machine::new(params).work(Work::Charged).dilation(Dilation::Fixed(1.0)).trace(true);
    let model = machine.clone().run(send_to_all).unwrap();
    for carrier in [Carrier::Thread, Carrier::Coroutine] {
        let measured =
            machine.clone().clock(ClockKind::Wall).cores(cores).carrier(carrier).run(send_to_all).unwrap();
        assert_eq!(measured.trace, model.trace);
        let host = measured.host.unwrap();
        assert_eq!((host.cores, host.out_of_order), (cores, 0), "{host:?}");
    }
}

#[test]
fn three_and_four_fronts_of_a_busy_host_keep_the_order_of_acts() {
    let _guard = alone();
    let _busy = BusyCores::start();
    for cores in [3, 4] {
        assert_passes("everyone_sends_to_all_on_both_carriers", Some((cores, &more_cores(cores))));
    }
}

/// Compiles the library that pretends this many cores.
fn more_cores(cores: usize) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [source, library] = ["c", "so"].map(|ending| folder.join(format!("{cores}_cores.{ending}")));
    std::fs::write(&source, MORE_CORES).unwrap();
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", &format!("-DPRETENDED={cores}"), "-o"]).args([&library, &source]);
    assert!(compile.status().unwrap().success());
    library
}

/// Runs a test of this file in another process, with pretended cores if given, and checks that it passes.
fn assert_passes(test: &str, pretended: Option<(usize, &Path)>) {
    let mut run = Command::new(std::env::current_exe().unwrap());
    run.args(["--ignored", "--exact", &format!("pretended::{test}")]);
    if let Some((cores, library)) = pretended {
        run.env("LD_PRELOAD", library).env(CORES, cores.to_string());
    }
    let output = run.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
}

#[test]
fn a_core_that_the_host_does_not_run_costs_little() {
    let _guard = alone();
    let cores = 2 * std::thread::available_parallelism().unwrap().get();
    let library = more_cores(cores);
    let time = |pretends: bool| -> Duration {
        let once = || {
            let start = Instant::now();
            let pretended = pretends.then_some((cores, library.as_path()));
            assert_passes("everyone_sends_to_all_in_the_same_order", pretended);
            start.elapsed()
        };
        std::iter::repeat_with(once).take(3).min().unwrap()
    };
    let [there, pretended] = [false, true].map(time);
    // Usually some 3 times; over 100 times if a thread that waits for a core keeps the host from running that
    // core's thread.
    assert!(pretended < 40 * there.max(Duration::from_millis(100)), "{pretended:?} instead of {there:?}");
}
