//! A clock that jumps, as if the host had slept: the process is stopped for two seconds in a run.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::signals::send_signal;
use super::{Tally, folder, loggp, repeats, status_and_stderr, wait_with_timeout};

/// Returns the number of threads of a process, or 0 if it has ended.
fn threads(child: &Child) -> usize {
    std::fs::read_dir(format!("/proc/{}/task", child.id())).map_or(0, Iterator::count)
}

#[test]
fn a_stopped_process_ends_as_usual() {
    let tally = Tally::new("a process that is stopped for two seconds");
    stop_for_two_seconds(tally, |held, is_reported, _| held != is_reported);
}

#[test]
#[ignore = "closeness: .ci/nightly"]
fn a_process_that_is_stopped_during_its_run_is_marked_as_late() {
    let tally = Tally::new("a process that is stopped for two seconds, and how its run is marked");
    stop_for_two_seconds(tally, |held, is_reported, is_wall| held != is_wall && is_reported == is_wall);
}

/// Stops a process during each of three runs. `is_marked` judges whether the run held, whether the command
/// reported that it was late, and whether it was on the wall clock.
fn stop_for_two_seconds(mut tally: Tally, is_marked: fn(bool, bool, bool) -> bool) {
    let folder = folder();
    // The runs on the wall clock take a second and a half.
    let wall = "run broadcast -P 4 --params L=6,o=2,g=4 --clock wall --dilation 80000 --format json";
    for (line, is_wall) in [
        (wall.to_string(), true),
        (format!("{wall} --carrier coroutine"), true),
        ("run lu -P 16 --size 256 --work charged --repeat 5 --format json".into(), false),
    ] {
        let row = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
        let undisturbed = row(&loggp(&line.replace("80000", "100"), folder.path()).output().unwrap().stdout);
        for _ in 0..repeats(1).div_ceil(20) {
            let mut command = loggp(&line, folder.path());
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            // The threads for the watchdog and for signals start before those of processors.
            let (started, many) = (Instant::now(), if is_wall { 4 } else { 2 });
            while threads(&child) < many && started.elapsed() < Duration::from_secs(30) {
                sleep(Duration::from_millis(1));
            }
            sleep(Duration::from_millis(if is_wall { 200 } else { 20 }));
            send_signal(&child, "STOP");
            sleep(Duration::from_secs(2));
            send_signal(&child, "CONT");
            let Some(output) = wait_with_timeout(child) else {
                tally.add(&line, false, || "it hangs".into());
                continue;
            };
            let ((status, stderr), row) = (status_and_stderr(&output), row(&output.stdout));
            let is_reported = stderr.contains("warning: this computer was late: ");
            let marked =
                is_marked(row["held"] != false, is_reported, is_wall) && (is_reported || stderr.is_empty());
            let is_same =
                row["model_ns"] == undisturbed["model_ns"] && row["messages"] == undisturbed["messages"];
            let right = status == 0 && row["verified"] == true && is_same && marked;
            tally.add(&line, right, || format!("{status}, {stderr}, {row}"));
        }
    }
    tally.end();
}
