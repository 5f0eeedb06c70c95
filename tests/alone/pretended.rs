//! A host that claims more cores than it runs, as some containers do.
//!
//! Each test runs itself again in a process of its own, perhaps with pretended cores.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use loggp::{Carrier, ClockKind, Dilation, Machine, Params, Proc, Tag, US, Work};

use crate::busy::BusyCores;
use crate::{alone, child};

/// A preloaded library that pretends more cores.
const MORE_CORES: &str = r"
#define _GNU_SOURCE
#include <sched.h>
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    CPU_ZERO_S(size, set);
    for (int core = 0; core < PRETENDED; core++) CPU_SET_S(core, size, set);
    return 0;
}";

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

/// Runs a test of this file in another process, with so many cores, pretended if given a library, and checks
/// that it passes.
fn assert_passes(test: &str, cores: usize, library: Option<&Path>) {
    let preload = library.map_or(String::new(), |library| format!("LD_PRELOAD={}", library.display()));
    let child = child::start(&format!("pretended::{test}"), &cores.to_string(), &preload);
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
}

fn machine(P: usize) -> Machine {
    Machine::new(Params::builder(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap()).work(Work::Charged)
}

fn send_to_all(p: &mut Proc) {
    const WORD: Tag<u64> = Tag::new(0);
    for distance in 1..p.P() {
        let other = (p.id() + distance) % p.P();
        p.send(other, WORD, other as u64);
    }
    for _ in 1..p.P() {
        assert_eq!(p.recv(WORD), p.id() as u64);
    }
}

#[test]
fn three_and_four_fronts_of_a_busy_host_keep_the_order_of_acts() {
    if let Some(cores) = child::task().map(|cores| cores.parse::<usize>().unwrap()) {
        let machine = machine(7).dilation(Dilation::Fixed(1.0)).trace(true);
        let model = machine.clone().run(send_to_all).unwrap();
        for carrier in [Carrier::Thread, Carrier::Coroutine] {
            let wall = machine.clone().clock(ClockKind::Wall).cores(cores).carrier(carrier);
            let measured = wall.run(send_to_all).unwrap();
            assert_eq!(measured.trace, model.trace);
            let host = measured.host.unwrap();
            assert_eq!((host.cores, host.out_of_order), (cores, 0), "{host:?}");
        }
        return;
    }
    let _guard = alone();
    let _busy = BusyCores::start();
    for cores in [3, 4] {
        let test = "three_and_four_fronts_of_a_busy_host_keep_the_order_of_acts";
        assert_passes(test, cores, Some(&more_cores(cores)));
    }
}

#[test]
fn a_run_uses_all_cores_that_the_host_claims() {
    if let Some(cores) = child::task().map(|cores| cores.parse::<usize>().unwrap()) {
        let host = machine(32).clock(ClockKind::Wall).measure(send_to_all).unwrap().host.unwrap();
        return assert_eq!(host.cores, cores.min(32), "{host:?}");
    }
    let _guard = alone();
    run_with_all_cores(true);
}

/// Runs everyone to all on the cores of this host, or on twice as many, and returns the time.
fn run_with_all_cores(pretends: bool) -> Duration {
    let cores = std::thread::available_parallelism().unwrap().get();
    let (cores, library) = if pretends { (2 * cores, Some(more_cores(2 * cores))) } else { (cores, None) };
    let start = Instant::now();
    assert_passes("a_run_uses_all_cores_that_the_host_claims", cores, library.as_deref());
    start.elapsed()
}

#[test]
#[ignore = "closeness: .ci/nightly"]
fn a_core_that_the_host_does_not_run_costs_little() {
    let _guard = alone();
    let least = |pretends| (0..3).map(|_| run_with_all_cores(pretends)).min().unwrap();
    let (there, pretended) = (least(false), least(true));
    // Usually some 3 times; over 100 times if a thread that waits for a core keeps the host from running that
    // core's thread.
    assert!(pretended < 40 * there.max(Duration::from_millis(100)), "{pretended:?} instead of {there:?}");
}
