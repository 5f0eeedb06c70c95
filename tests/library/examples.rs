//! The examples and their output. They are modules of this test, so that no built files are needed; each runs
//! in its own process.

#![allow(unreachable_pub)] // an example's main is public for this test

#[path = "../../examples/capacity_stall.rs"]
mod capacity_stall;
#[path = "../../examples/idle_wave.rs"]
mod idle_wave;
#[path = "../../examples/lost_key.rs"]
mod lost_key;
#[path = "../../examples/messages.rs"]
mod messages;
#[path = "../../examples/ring.rs"]
mod ring;
#[path = "../../examples/sample_sort.rs"]
mod sample_sort;
#[path = "../../examples/stencil.rs"]
mod stencil;
#[path = "../../examples/task_farm.rs"]
mod task_farm;

use std::fs;

use loggp::RunError;

use crate::child;

type Main = fn() -> Result<(), RunError>;

const EXAMPLES: [(&str, Main); 8] = [
    ("capacity_stall", capacity_stall::main),
    ("idle_wave", idle_wave::main),
    ("lost_key", lost_key::main),
    ("messages", messages::main),
    ("ring", ring::main),
    ("sample_sort", sample_sort::main),
    ("stencil", stencil::main),
    ("task_farm", task_farm::main),
];

/// Returns the output of an example, which must succeed.
fn output_of(name: &str) -> String {
    let test = "examples::every_example_prints_its_expected_output";
    let child = child::start(test, name, "").wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(child.stdout).unwrap(), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success(), "{name}: {out}{err}");
    out
}

#[test]
fn every_example_prints_its_expected_output() {
    if let Some(name) = child::task() {
        let (_, main) = EXAMPLES.iter().find(|(other, _)| *other == name).unwrap();
        return main().unwrap();
    }
    for (name, line) in [
        ("capacity_stall", "the hot spot takes 34 us, with 5 stalls"),
        ("capacity_stall", "  processor 7 is stalled for 18 us"),
        ("capacity_stall", "the reduction takes 26 us, with 0 stalls"),
        ("idle_wave", "processor 110 is late, and 120 others wait, 3660 times"),
        ("messages", "6400 messages take 1 ms"),
        ("ring", "8 hops of L + 2o = 10 us take 80 us"),
        ("sample_sort", "8000 keys are sorted in 1.1762 ms, with 80 messages"),
        ("stencil", "100 steps of 512 cells on 8 processors take 2.04 ms, 20.4 us each"),
        ("task_farm", "200 tasks take 3.252 ms"),
    ] {
        let printed = output_of(name);
        assert!(printed.lines().any(|other| other == line), "{name}: {printed}");
    }
}

/// Every example runs here, and none is too long to be read at once.
#[test]
fn all_examples_are_tested_and_short() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut names = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            continue; // the wrong programs are checked elsewhere
        }
        assert!(fs::read_to_string(&path).unwrap().lines().count() < 60, "{}", path.display());
        names.push(path.file_stem().unwrap().to_str().unwrap().to_string());
    }
    names.sort();
    assert_eq!(names, EXAMPLES.map(|(name, _)| name));
}

/// The page on protocols has the lost key as a whole and what its checks find; the README has the first of them.
#[test]
fn documents_show_the_lost_key_as_it_is() {
    let (page, readme) = (include_str!("../../docs/start/protocols.md"), include_str!("../../README.md"));
    let code = include_str!("../../examples/lost_key.rs").lines().filter(|line| !line.starts_with("//!"));
    for line in code.filter(|line| !line.trim().is_empty()) {
        assert!(page.lines().any(|other| other == line), "the page on protocols lacks {line}");
    }
    let printed = output_of("lost_key");
    let failures: Vec<&str> = printed.split("run ").filter(|part| part.contains(" fails: ")).collect();
    assert_eq!(failures.len(), 3, "{printed}");
    for failure in &failures {
        let until = failure.find(" (found in").expect("a failure is reduced");
        assert!(page.contains(&failure[..until]), "the page on protocols lacks {failure}");
    }
    assert!(readme.contains(failures[0].split(" (found in").next().unwrap()), "{}", failures[0]);
}
