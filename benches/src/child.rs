//! Measurements in a process of their own, whose memory is then theirs alone.

use std::process::Command;
use std::time::Instant;

/// What a child measured.
#[derive(Clone, Copy)]
pub struct Measured {
    /// How long it took.
    pub seconds: f64,
    /// The most memory that was resident, beyond what was when it began; nothing where the host does not say.
    pub bytes: Option<u64>,
    /// What else there is to say of it.
    pub said: [u64; 3],
}

/// The argument that makes this program a child; its own arguments follow.
const CHILD: &str = "--child";

/// What this process was started to measure, if it is a child.
pub fn task() -> Option<Vec<String>> {
    let mut arguments = std::env::args().skip_while(|argument| argument != CHILD);
    arguments.next().map(|_| arguments.collect())
}

/// Starts this program as a child with these arguments, and waits for what it measures.
///
/// # Panics
///
/// If the child fails: then a benchmark is wrong.
pub fn measure(task: &[&str]) -> Measured {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program).arg(CHILD).args(task).output().expect("this program can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{task:?}: {}", String::from_utf8_lossy(&output.stderr));
    let words: Vec<&str> = said.split_whitespace().collect();
    let number = |i: usize| words[i].parse().expect("a child says numbers");
    Measured {
        seconds: words[0].parse().expect("a child says numbers"),
        bytes: words[1].parse().ok(),
        said: [number(2), number(3), number(4)],
    }
}

/// In a child: prepares, then measures, and says what was measured.
pub fn report<T>(prepare: impl FnOnce() -> T, run: impl FnOnce(T) -> [u64; 3]) {
    let before = memory("VmRSS:");
    let prepared = prepare();
    let started = Instant::now();
    let said = run(prepared);
    let seconds = started.elapsed().as_secs_f64();
    let bytes = memory("VmHWM:").zip(before).map(|(most, before)| most.saturating_sub(before));
    let bytes = bytes.map_or("unknown".into(), |bytes| bytes.to_string());
    println!("{seconds} {bytes} {} {} {}", said[0], said[1], said[2]);
}

/// So many bytes of this process are, or were at most, resident.
fn memory(what: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(what))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}
