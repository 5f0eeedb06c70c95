//! Limits of threads, of memory and of cores.

use std::process::Command;

use super::{
    LINES, Tally, as_nobody, clear, folder, is_internal_error, loggp_after, repeats, run_with_timeout,
    status_and_stderr, torn_files,
};

/// Returns whether the command succeeded, or failed with an error of its own.
fn is_done_or_refused(status: i32, stderr: &str) -> bool {
    match status {
        0 => !is_internal_error(stderr),
        1 | 2 => stderr.contains("error: ") && !is_internal_error(stderr),
        _ => false,
    }
}

/// Lines that need many threads, much memory or several cores.
const GREEDY: [&str; 8] = [
    "run scatter -P 64 --clock wall --dilation 100",
    "run scatter -P 64 --clock wall --carrier coroutine --dilation 100",
    "compare lu -P 16 --size 64 --clock virtual --cores 4",
    "check broadcast -P 64 --runs 64 --cores 4",
    "stress -P 16 --dilation 10",
    "schedule ring -P 1000000 -o x.goal",
    "replay all-to-all -P 1000",
    "matrix uniform -P 512 -o x.csv",
];

#[test]
fn too_few_threads() {
    let (folder, mut tally) = (folder(), Tally::new("a limit on threads"));
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    for line in LINES.into_iter().chain(GREEDY) {
        // Without any further thread, and with a few.
        for limit in [1, 5] {
            clear(folder.path());
            let mut command = loggp_after(
                &format!("{{ ulimit -u {limit} 2>&- || ulimit -p {limit}; }}"),
                line,
                folder.path(),
            );
            let Some(()) = as_nobody(&mut command, folder.path()) else { return };
            let Some(output) = run_with_timeout(&mut command) else {
                tally.add(line, false, || "it hangs".into());
                continue;
            };
            let ((status, stderr), torn) = (status_and_stderr(&output), torn_files(folder.path()));
            let right = is_done_or_refused(status, &stderr) && torn.is_empty();
            tally.add(line, right, || format!("at {limit}: {status}, {stderr}, {torn:?}"));
        }
    }
    tally.end();
}

#[test]
fn too_little_memory() {
    let (folder, mut tally) = (folder(), Tally::new("a limit on memory"));
    // The least memory in which the command starts at all.
    let has_enough = |kib: &usize| {
        let output =
            run_with_timeout(&mut loggp_after(&format!("ulimit -v {kib}"), "programs", folder.path()));
        output.is_some_and(|output| output.status.success())
    };
    let least = (8..).map(|step| step * 2048).find(has_enough).unwrap();
    for line in LINES.into_iter().chain(GREEDY) {
        // From hardly enough to start, to enough for some lines.
        let steps = repeats(20).div_ceil(10);
        for kib in (0..steps).map(|step| least + 3 * least * step / steps) {
            clear(folder.path());
            let Some(output) =
                run_with_timeout(&mut loggp_after(&format!("ulimit -v {kib}"), line, folder.path()))
            else {
                tally.add(line, false, || format!("at {kib} KiB: it hangs"));
                continue;
            };
            let ((status, stderr), torn) = (status_and_stderr(&output), torn_files(folder.path()));
            let right = is_done_or_refused(status, &stderr) && torn.is_empty();
            tally.add(line, right, || format!("at {kib} KiB: {status}, {stderr}, {torn:?}"));
        }
    }
    tally.end();
}

/// The limit on stacks is that of the main thread's, and no command needs more of that than a little.
#[test]
fn a_small_stack_of_the_main_thread() {
    let (folder, mut tally) = (folder(), Tally::new("a limit on stacks"));
    for (kib, line) in [64, 256, 1024].into_iter().flat_map(|kib| {
        ["--version", "--help", "run broadcast", "no-such", "compare lu -P 4 --size 16 --clock virtual"]
            .map(|line| (kib, line))
    }) {
        let output = run_with_timeout(&mut loggp_after(&format!("ulimit -s {kib}"), line, folder.path()));
        let output = output.map(|output| status_and_stderr(&output));
        let expected = if line == "no-such" { 2 } else { 0 };
        tally.add(line, output.as_ref().is_some_and(|(status, _)| *status == expected), || {
            format!("{kib}: {output:?}")
        });
    }
    tally.end();
}

/// Every command runs on one core. More cores than there are are refused or shared.
#[test]
fn too_few_cores() {
    if !Command::new("taskset").args(["-c", "0", "true"]).status().is_ok_and(|status| status.success()) {
        return;
    }
    let (folder, mut tally) = (folder(), Tally::new("a single core"));
    for line in [
        "run broadcast -P 8 --clock wall --dilation 100",
        "run broadcast -P 8 --clock wall --dilation 100 --cores 4",
        "run broadcast -P 8 --clock wall --dilation 100 --carrier coroutine --cores 4",
        "run broadcast -P 8 --cores 4",
        "compare fft -P 4 --size 4k --clock virtual --cores 4",
        "check broadcast -P 8 --runs 64 --cores 4",
        "calibrate --clock virtual",
    ] {
        let output = run_with_timeout(&mut loggp_after("taskset -cp 0 $$ >/dev/null", line, folder.path()));
        let Some(output) = output else {
            tally.add(line, false, || "it hangs".into());
            continue;
        };
        let (status, stderr) = status_and_stderr(&output);
        tally.add(line, is_done_or_refused(status, &stderr), || format!("{status}, {stderr}"));
    }
    tally.end();
}
