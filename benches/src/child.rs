//! Measurements in a child process, so that its memory can be measured.

use std::process::Command;
use std::time::Instant;

/// The measurement of a child process.
#[derive(Clone, Copy)]
pub struct Measurement {
    /// Time in seconds.
    pub seconds: f64,
    /// The most resident memory in bytes, less that at the start; `None` if the host does not say.
    pub bytes: Option<u64>,
    /// Further numbers, which depend on the benchmark.
    pub extra: [u64; 3],
}

/// The argument that makes this program a child; its own arguments follow.
const CHILD: &str = "--child";

/// Returns the arguments of the measurement if this process is a child, or `None`.
pub fn task() -> Option<Vec<String>> {
    let mut arguments = std::env::args().skip_while(|argument| argument != CHILD);
    arguments.next().map(|_| arguments.collect())
}

/// Starts this program as a child with these arguments, and returns its measurement.
///
/// # Panics
///
/// If the child fails.
pub fn measure(task: &[&str]) -> Measurement {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program).arg(CHILD).args(task).output().expect("this program can be started");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{task:?}: {}", String::from_utf8_lossy(&output.stderr));
    let words: Vec<&str> = printed.split_whitespace().collect();
    let number = |i: usize| words[i].parse().expect("a child says numbers");
    Measurement {
        seconds: words[0].parse().expect("a child says numbers"),
        bytes: words[1].parse().ok(),
        extra: [number(2), number(3), number(4)],
    }
}

/// In a child: prepares, measures, and prints the measurement.
pub fn report<T>(prepare: impl FnOnce() -> T, run: impl FnOnce(T) -> [u64; 3]) {
    let before = resident_bytes("VmRSS:");
    let prepared = prepare();
    let started = Instant::now();
    let extra = run(prepared);
    let seconds = started.elapsed().as_secs_f64();
    let bytes = resident_bytes("VmHWM:").zip(before).map(|(most, before)| most.saturating_sub(before));
    let bytes = bytes.map_or("unknown".into(), |bytes| bytes.to_string());
    println!("{seconds} {bytes} {} {} {}", extra[0], extra[1], extra[2]);
}

/// Returns a number of bytes from `/proc/self/status`, or `None` if the host has none.
fn resident_bytes(what: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(what))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}
