//! Requests of the command, and its answers.

#![allow(dead_code)] // each of the crates that include this file uses a part of it

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output};

use serde_json::Value;

/// Returns the command with the arguments of a line.
pub(crate) fn loggp(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loggp"));
    // Wide enough that tests find whole lines of tables.
    command.args(line.split_whitespace()).env("COLUMNS", "120");
    command
}

/// Runs a command, and returns its exit status, stdout and stderr.
pub(crate) fn answer_of(mut command: Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
    (status.code(), stdout, stderr)
}

/// Runs the command with the arguments of a line, and returns its exit status, stdout and stderr.
pub(crate) fn answer(line: &str) -> (Option<i32>, String, String) {
    answer_of(loggp(line))
}

/// Runs the command, which must succeed without warnings, and returns its stdout.
pub(crate) fn stdout_of(line: &str) -> String {
    let (status, stdout, stderr) = answer(line);
    assert_eq!((status, &*stderr), (Some(0), ""), "{line}");
    stdout
}

/// Returns the rows that the command prints as JSON.
pub(crate) fn rows(line: &str) -> Vec<Value> {
    let rows = stdout_of(&format!("{line} --format json"));
    rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

/// Returns the row that the command prints as JSON.
pub(crate) fn row(line: &str) -> Value {
    let mut rows = rows(line);
    assert_eq!(rows.len(), 1, "{line}");
    rows.remove(0)
}

/// Runs a command, which must refuse the request in one line and print nothing else. Returns that sentence.
pub(crate) fn refusal_of(command: Command) -> String {
    let request = format!("{command:?}");
    let (status, stdout, stderr) = answer_of(command);
    assert_eq!((status, &*stdout), (Some(2), ""), "{request}: {stderr}");
    let sentence = stderr.strip_prefix("error: ").unwrap().strip_suffix('\n').unwrap();
    // The usage and where the help is are behind what is wrong with a command line.
    let sentence = match sentence.split_once("\n\n") {
        Some((sentence, tail)) => {
            assert!(tail.ends_with("For more information, try '--help'."), "{request}: {tail}");
            sentence
        }
        None => sentence,
    };
    assert!(!sentence.contains('\n'), "{request}: {sentence}");
    sentence.into()
}

pub(crate) fn refusal(line: &str) -> String {
    refusal_of(loggp(line))
}

/// Asserts that the command refuses lines, each in a sentence with this part.
pub(crate) fn assert_refused<L: AsRef<str>>(lines: &[(L, &str)]) {
    for (line, part) in lines {
        let sentence = refusal(line.as_ref());
        assert!(sentence.contains(part), "{}: {sentence}", line.as_ref());
    }
}

/// Returns an empty folder of this name.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

/// Sends a signal to a process.
#[cfg(unix)]
pub(crate) fn kill(child: &Child, signal: &str) {
    let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

/// Returns whether this process, and so every command that it starts, ignores a signal, as under `nohup`.
#[cfg(unix)]
pub(crate) fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .is_some_and(|bits| bits & 1 << (signal - 1) != 0)
}
