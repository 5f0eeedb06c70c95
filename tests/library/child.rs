//! Runs a test again in a child process, for cases that would end, limit or hang this one.

#![allow(dead_code)] // each set of tests uses a part of this file

use std::process::{Child, Command, Stdio};

use loggp::{Carrier, ClockKind, Machine};

/// The clocks and carriers of processors.
pub(crate) const CLOCKS: [&str; 3] = ["virtual", "wall", "coroutine"];

/// The environment variable with a child's task.
const TASK: &str = "LOGGP_TEST_TASK";

/// Returns the task of this process if it is a child.
pub(crate) fn task() -> Option<String> {
    std::env::var(TASK).ok()
}

/// Starts a test, named with its module, in a child process with this task. The shell runs the commands
/// `before` first.
pub(crate) fn start(test: &str, task: &str, before: &str) -> Child {
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{before} exec \"$0\" \"$@\"")).arg(this);
    command.args([test, "--exact", "--nocapture"]).env(TASK, task);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns the machine with the clock and carrier that a task names.
pub(crate) fn on_clock(name: &str, machine: Machine) -> Machine {
    match name {
        "virtual" => machine.clock(ClockKind::Virtual),
        "wall" => machine.clock(ClockKind::Wall),
        "coroutine" => machine.clock(ClockKind::Wall).carrier(Carrier::Coroutine),
        other => panic!("there is no clock {other}"),
    }
}
