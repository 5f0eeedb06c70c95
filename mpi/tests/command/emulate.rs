//! `loggp emulate`: ranks that are forks of one process, and ranks that a launcher starts. Where there is no MPI, nothing is run.

use std::fs::{self, File};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::check::{Mpi, mpis, runs};
use crate::requests::answer_of;

/// Returns the command that emulates a program on three ranks; its standard input is a line.
fn emulate(mpi: &Mpi, options: &str, program: &str) -> Command {
    let mut command = mpi.command(&format!("emulate --work none {options}"), program);
    let input = mpi.folder.join("input");
    fs::write(&input, "input\n").unwrap();
    command.stdin(File::open(input).unwrap());
    command
}

/// Returns a report without the program's name and what it took here.
fn row(report: &str) -> Value {
    let mut row: Value = serde_json::from_str(report).unwrap_or_else(|why| panic!("{why}: {report}"));
    row.as_object_mut().unwrap().retain(|name, _| !["program", "start", "took_ns"].contains(&&**name));
    row
}

#[test]
fn forks_take_the_times_that_launched_ranks_take() {
    for mpi in mpis() {
        mpi.build_program("ring");
        let run = |options: &str| {
            let (status, stdout, stderr) =
                answer_of(emulate(mpi, &format!("--format json {options}"), "ring"));
            assert_eq!(status, Some(0), "{stderr}");
            row(&stdout)
        };
        let launched = run(&format!("--launcher -- {} -n 3", mpi.launcher()));
        assert_eq!(run("-n 3"), launched);
        assert_eq!(run(&format!("-- {} -n 3", mpi.mpirun)), launched, "a plain line is the same");
    }
}

/// Each rank has its own variables, standard input and status, and what came before `MPI_Init` is printed once.
#[test]
fn forks_have_what_is_theirs() {
    for mpi in mpis() {
        mpi.build_program("forked");
        let (status, stdout, stderr) = answer_of(emulate(mpi, "-q -n 3", "forked"));
        assert_eq!((status, stdout.matches("before").count(), &*stderr), (Some(0), 1, ""), "{stdout}");
        let (status, _, stderr) = answer_of(emulate(mpi, "-n 3", "forked status"));
        assert!(status == Some(1) && stderr.ends_with("forked ended with exit status 1\n"), "{stderr}");
    }
}

#[test]
fn a_program_with_threads_is_started_by_the_launcher() {
    for mpi in mpis() {
        mpi.build_program("forked");
        let (status, stdout, stderr) = answer_of(emulate(mpi, "-q -n 2", "forked threads"));
        let note =
            "the program cannot be forked: it has 2 threads when it calls MPI_Init, and a fork has one\n";
        assert!(status == Some(0) && stderr.contains(note), "{status:?}: {stderr}");
        assert!(stdout.contains("before"), "{stdout}");
    }
}

/// A rank that was stopped does not stay.
#[test]
fn a_stopped_fork_is_ended() {
    for mpi in mpis() {
        mpi.build_program("forked");
        let (status, _, stderr) = answer_of(emulate(mpi, "--limit 1s -n 3", "forked stopped"));
        let why = "error: rank 1 has computed for 1s without a call of MPI";
        assert!(status == Some(1) && stderr.contains(why), "{status:?}: {stderr}");
        let begin = Instant::now();
        while runs(&mpi.folder.join("forked")) {
            assert!(begin.elapsed() < Duration::from_secs(10), "a rank is left");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_wrong_start_is_refused() {
    for mpi in mpis() {
        let (status, _, stderr) = answer_of(emulate(mpi, &format!("-n 2 -- {} -n 2", mpi.mpirun), "ring"));
        assert!(status == Some(2) && stderr.contains("-n is for a program without its launcher"), "{stderr}");
        let (status, _, stderr) = answer_of(emulate(mpi, "-n 4097", "ring"));
        assert!(
            status == Some(2) && stderr.contains("4097 ranks, and at most 4096 can be emulated"),
            "{stderr}"
        );
    }
}

/// Options behind the program are its own, and parameters before it are the machine's.
#[test]
fn what_stands_behind_a_program_is_its_own() {
    for mpi in mpis() {
        mpi.build_program("ring");
        let run = |start: &str, program: &str| {
            let (status, stdout, stderr) = answer_of(emulate(mpi, start, program));
            assert_eq!(status, Some(0), "{stderr}");
            row(&stdout)
        };
        let alone = run("--format json --params L=9us,o=1us,g=2us -n 2", "ring");
        assert_eq!(run("--format json L=9us o=1us g=2us -n 2", "ring -s 5 L=1us --json -h"), alone);
    }
}

/// A check by forks finds what one by the launcher finds, in the same runs.
#[test]
fn a_check_of_forks_is_the_check_of_launched_ranks() {
    let Some(mpi) = mpis().last() else { return };
    let trace = mpi.folder.join("forked.json");
    let check = |start: &str| {
        let options = format!("check --format json --trace {} {start}", trace.display());
        let (status, stdout, stderr) = answer_of(mpi.command(&options, "faults race"));
        assert_eq!(status, Some(1), "{stderr}");
        row(&stdout)
    };
    assert_eq!(check("-n 3"), check(&format!("--launcher -- {} -n 3", mpi.launcher())));
}
