//! A test that runs again in a process of its own, for what would end, limit or hang this one.

use std::process::{Child, Command, Stdio};

use loggp::{Carrier, ClockKind, Machine};

/// The clocks, and what carries processors there.
pub const PLACES: [&str; 3] = ["virtual", "wall", "coroutine"];

/// Tells a child what to do.
const TASK: &str = "LOGGP_TEST_TASK";

/// What this process is to do, if it is a child.
pub fn task() -> Option<String> {
    std::env::var(TASK).ok()
}

/// Starts a test, by its name with its module's, in a child that does this task of it; `before` is what the shell does
/// before it.
pub fn start(test: &str, task: &str, before: &str) -> Child {
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{before} exec \"$0\" \"$@\"")).arg(this);
    command.args([test, "--exact", "--nocapture"]).env(TASK, task);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The machine on the clock, and with the carrier, that a task names.
pub fn on(name: &str, machine: Machine) -> Machine {
    match name {
        "virtual" => machine.clock(ClockKind::Virtual),
        "wall" => machine.clock(ClockKind::Wall),
        "coroutine" => machine.clock(ClockKind::Wall).carrier(Carrier::Coroutine),
        other => panic!("there is no clock {other}"),
    }
}
