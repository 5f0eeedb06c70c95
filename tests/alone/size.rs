//! Machines with very many processors, and with more than this computer has memory for.
//!
//! The stacks of such a machine use up most of a process's mappings, so no other test may run.

use loggp::{Cause, Machine, Params, Tag, US, Work};

use crate::alone;

const WORD: Tag<u64> = Tag::new(0);

/// Returns the number of mappings of the process; 0 except on Linux.
fn mappings() -> usize {
    if cfg!(target_os = "linux") {
        std::fs::read_to_string("/proc/self/maps").unwrap().lines().count()
    } else {
        0
    }
}

/// A broadcast along a binomial tree reaches 16384 processors in 14 steps.
#[test]
fn sixteen_thousand_processors_run() {
    let _guard = alone();
    let (P, before) = (16_384_usize, mappings());
    let params = Params::builder(P).L(6 * US).o(2 * US).build().unwrap();
    let run = Machine::new(params).work(Work::Charged).stack(64 << 10).run(|p| {
        let id = p.id();
        let (value, below) = match id {
            0 => (42_u64, P),
            _ => (p.recv(WORD), 1 << id.trailing_zeros()),
        };
        let mut child = below / 2;
        while child > 0 {
            p.send(id + child, WORD, value);
            child /= 2;
        }
        value
    });
    let run = run.unwrap();
    assert!(run.results.iter().all(|value| *value == 42));
    // Without a gap the longest path is one child after the other: each step costs L + 2o.
    assert_eq!(run.time, 14 * (10 * US));
    assert!(mappings() < before + 100);
}

/// The error names the number of processors, and leaves nothing behind.
#[test]
fn too_many_processors_are_refused() {
    let _guard = alone();
    let before = mappings();
    let params = Params::builder(200_000).build().unwrap();
    let machine = Machine::new(params).stack(1 << 30);
    let error = machine.run(|_| panic!("no processor should live")).unwrap_err();
    let Cause::Host(why) = &error.cause else { panic!("{error}") };
    assert!(why.contains("200000 processors"), "{why}");
    assert!(error.processors.is_empty());
    assert!(mappings() < before + 100, "{before} mappings before, {} after", mappings());
    assert!(Machine::new(Params::builder(8).build().unwrap()).run(|p| p.id()).is_ok());
}

#[test]
#[ignore = "closeness: .ci/nightly"]
fn large_machines_run_or_are_refused_soon() {
    for test in [sixteen_thousand_processors_run, too_many_processors_are_refused] {
        let start = std::time::Instant::now();
        test();
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
