//! A host that says it has twice as many cores as it runs, as some containers do.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use loggp::{ClockKind, Machine, Params, Tag, US, Work};

use crate::alone;

/// Where the process that is told of more cores finds how many.
const CORES: &str = "LOGGP_PRETENDED_CORES";

/// What the library that is loaded first says of the cores on which the process may run.
const MORE_CORES: &str = r"
#define _GNU_SOURCE
#include <sched.h>
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    CPU_ZERO_S(size, set);
    for (int core = 0; core < PRETENDED; core++) CPU_SET_S(core, size, set);
    return 0;
}";

/// Runs in a process of its own, which may have been told of more cores.
#[test]
#[ignore = "what a_core_that_the_host_does_not_run_costs_little runs in another process"]
fn everyone_sends_to_all_in_the_same_order() {
    const WORD: Tag<u64> = Tag::new(0);
    let params = Params::builder(32).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let machine = Machine::new(params).clock(ClockKind::Wall).work(Work::Charged);
    let run = machine.run(|p| {
        for distance in 1..p.p() {
            let other = (p.id() + distance) % p.p();
            p.send(other, WORD, other as u64);
        }
        for _ in 1..p.p() {
            assert_eq!(p.recv(WORD).1, p.id() as u64);
        }
    });
    let cores: Option<usize> = std::env::var(CORES).ok().map(|cores| cores.parse().unwrap());
    let host = run.unwrap().host.unwrap();
    assert!(cores.is_none_or(|cores| host.cores == cores), "{host:?}");
}

#[test]
fn a_core_that_the_host_does_not_run_costs_little() {
    let _guard = alone();
    let cores = 2 * std::thread::available_parallelism().unwrap().get();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [source, library] = ["more_cores.c", "more_cores.so"].map(|name| folder.join(name));
    std::fs::write(&source, MORE_CORES).unwrap();
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", &format!("-DPRETENDED={cores}"), "-o"]).args([&library, &source]);
    assert!(compile.status().unwrap().success());

    let time = |pretends: bool| -> Duration {
        let mut run = Command::new(std::env::current_exe().unwrap());
        run.args(["--ignored", "--exact", "pretended::everyone_sends_to_all_in_the_same_order"]);
        if pretends {
            run.env("LD_PRELOAD", &library).env(CORES, cores.to_string());
        }
        let once = || {
            let start = Instant::now();
            let output = run.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
            start.elapsed()
        };
        std::iter::repeat_with(once).take(3).min().unwrap()
    };
    let [there, pretended] = [false, true].map(time);
    // Some 3 times; over 100 times if who waits for a core keeps the host from running it.
    assert!(pretended < 40 * there.max(Duration::from_millis(100)), "{pretended:?} instead of {there:?}");
}
