//! Faults of the host: output that cannot be written, limits, a clock that jumps, and signals at any moment.
//! The command names the fault in one sentence, exits with the status that its help documents, and leaves
//! neither a partial file nor a draft.
//!
//! `docs/results/make/faults` injects more of them, and makes a table of the rows that are printed here.
#![cfg(target_os = "linux")]

mod clocks;
mod limits;
mod outputs;
mod signals;

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Command lines for each subcommand and each kind of file that it writes. `t.json` and `t.loggp` are a
/// trace, `1.csv` and `2.csv` shards, `0.txt` and `1.txt` the calls of two ranks, and `ring.mpi` a recorded program.
const LINES: [&str; 29] = [
    "run scatter -P 4 --trace x.json -o x.svg -o x.csv",
    "run fft -P 4 --size 4k --trace x.loggp",
    "run broadcast -P 4 --clock wall --dilation 100 -o x.json",
    "compare scatter -P 8 --clock virtual --repeat 9 -o x.csv -o x.txt",
    "compare broadcast -P 4 --dilation 100 -o x.json",
    "sweep remap -P 8 --over size=4..256:log:7 -o x.svg -o x.json",
    "sweep scatter -P 8 --over L=1us..50us:4 --over size=1..64:log:3 -o x.svg -o x.json",
    "tune radix-sort -P 4 --size 64 -o x.csv",
    "check broadcast -P 8 --runs 300",
    "calibrate --clock virtual -o x.csv",
    "calibrate --find loggps --machine cenju4 --clock virtual -o x.svg",
    "stress --clock virtual -o x.svg",
    "reproduce logp-fig3 --clock virtual -o page -o x.html -o x.md",
    "matrix -o x.svg -o x.csv",
    "schedule all-to-all -P 100 -o x.goal",
    "schedule all-to-all -P 100 -o x.bin",
    "schedule ring",
    "replay all-to-all -P 200 -o x.json",
    "merge 1.csv 2.csv -o x.csv",
    "analyze t.json -o x.csv",
    "audit t.loggp",
    "trace2goal t.json -o x.goal",
    "mpi2goal 0.txt 1.txt -o x.goal",
    "record --list ring.mpi",
    "replay ring.mpi -o x.json",
    "completions bash",
    "man -o .",
    "programs",
    "machines --format json",
];

/// The files that the lines read.
const INPUTS: [&str; 7] = ["t.json", "t.loggp", "1.csv", "2.csv", "0.txt", "1.txt", "ring.mpi"];

/// Returns `usual`, or the number of repeats that `docs/results/make/faults` sets.
fn repeats(usual: usize) -> usize {
    std::env::var("LOGGP_FAULTS").map_or(usual, |times| times.parse().expect("LOGGP_FAULTS is a number"))
}

/// Returns a folder with the files that the lines read.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for line in [
        "run broadcast -P 4 --trace t.json",
        "run broadcast -P 4 --trace t.loggp",
        "sweep scatter --over P=2,3 --shard 1/2 -o 1.csv",
        "sweep scatter --over P=2,3 --shard 2/2 -o 2.csv",
    ] {
        let output = loggp(line, folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    }
    for rank in [0, 1] {
        let calls = format!("MPI_Init:0:0:0:1\nMPI_Barrier:5:1,{rank},2:9\nMPI_Finalize:9:-\n");
        fs::write(folder.path().join(format!("{rank}.txt")), calls).unwrap();
    }
    let ring = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mpi/ring.mpi");
    fs::copy(ring, folder.path().join("ring.mpi")).unwrap();
    folder
}

/// Removes all files from the folder but those that the lines read.
fn clear(folder: &Path) {
    for entry in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        match entry.file_name().and_then(|name| name.to_str()) {
            Some(name) if INPUTS.contains(&name) => (),
            _ if entry.is_dir() => fs::remove_dir_all(entry).unwrap(),
            _ => fs::remove_file(entry).unwrap(),
        }
    }
}

/// Returns the command with the arguments of a line, to be run in a folder.
fn loggp(line: &str, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loggp"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command
}

/// Returns a shell that runs `before` and then replaces itself with the command.
fn loggp_after(before: &str, line: &str, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{before} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_loggp")]);
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs a command. Returns its output, or `None` if it hung and was killed.
fn run_with_timeout(command: &mut Command) -> Option<Output> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_with_timeout(child)
}

/// Reads a child's output until it ends. Returns the output, or `None` if it hung and was killed.
fn wait_with_timeout(mut child: Child) -> Option<Output> {
    fn all(from: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            _ = from.map(|mut from| from.read_to_end(&mut bytes));
            bytes
        })
    }
    let (stdout, stderr) = (all(child.stdout.take()), all(child.stderr.take()));
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        sleep(Duration::from_millis(2));
    }
    let status = child.wait().unwrap();
    Some(Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() })
}

/// Returns whether this process runs as root, for whom no file is forbidden.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Makes root run a command as the user `nobody`. Returns `None` if that user cannot run it.
fn as_nobody(command: &mut Command, folder: &Path) -> Option<()> {
    const NOBODY: u32 = 65534;
    if !is_root() {
        return Some(());
    }
    let output =
        Command::new(env!("CARGO_BIN_EXE_loggp")).arg("--version").current_dir(folder).uid(NOBODY).output();
    output.ok().filter(|output| output.status.success())?;
    command.uid(NOBODY);
    Some(())
}

/// Returns the drafts and the incomplete files below a folder.
fn torn_files(folder: &Path) -> Vec<PathBuf> {
    let mut torn = Vec::new();
    for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            torn.extend(self::torn_files(&path));
        } else if !is_whole(&path) {
            torn.push(path);
        }
    }
    torn
}

fn is_whole(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let bytes = fs::read(path).unwrap();
    let ends = |with: &str| bytes.ends_with(with.as_bytes());
    match path.extension().and_then(|ending| ending.to_str()) {
        _ if name == ".lock" => true, // the folder's lock
        _ if name.starts_with('.') => false,
        Some("svg") => ends("</svg>\n"),
        Some("html") => ends("</html>\n"),
        Some("goal") => ends("}\n"),
        Some("bin") => loggp_goal::read(&*bytes, loggp::NS).is_ok(),
        Some("mpi") => loggp_mpi::loggp_mpi_trace::recording::MpiRecording::open(path).is_ok(),
        Some("loggp") => loggp::trace::Trace::read(&*bytes).is_ok(),
        Some("csv") => csv::Reader::from_reader(&*bytes).records().all(|row| row.is_ok()) && ends("\n"),
        Some("json") => {
            serde_json::Deserializer::from_slice(&bytes)
                .into_iter::<serde_json::Value>()
                .all(|row| row.is_ok())
                && !bytes.is_empty()
        }
        _ => ends("\n"),
    }
}

/// Returns the exit status, or the negative number of the signal that ended the process, and its stderr.
fn status_and_stderr(output: &Output) -> (i32, String) {
    let status = output.status.code().unwrap_or_else(|| -output.status.signal().unwrap_or(0));
    (status, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Returns whether stderr is an error of one sentence.
fn is_sentence(stderr: &str) -> bool {
    stderr.starts_with("error: ")
        && stderr.ends_with('\n')
        && stderr.lines().count() == 1
        && !is_internal_error(stderr)
}

/// Returns whether stderr reports a mistake in loggp instead of the fault.
fn is_internal_error(stderr: &str) -> bool {
    ["panicked", "mistake in loggp", "memory allocation of"].iter().any(|part| stderr.contains(part))
}

/// The number of faults of a kind, and the wrong reactions to them.
struct Tally {
    fault: &'static str,
    subcommands: Vec<String>,
    times: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn new(fault: &'static str) -> Tally {
        Tally { fault, subcommands: Vec::new(), times: 0, wrong: Vec::new() }
    }

    /// Counts a fault that was injected into a line. If the reaction was not right, notes what was `found`.
    fn add(&mut self, line: &str, right: bool, found: impl FnOnce() -> String) {
        let name = line.split_whitespace().next().unwrap();
        if !self.subcommands.iter().any(|other| other == name) {
            self.subcommands.push(name.into());
        }
        self.times += 1;
        if !right {
            self.wrong.push(format!("{}, {line}: {}", self.fault, found()));
        }
    }

    /// Prints the row of the table, and panics if any reaction was wrong.
    fn end(self) {
        let Tally { fault, subcommands, times, wrong } = self;
        println!("\n| {fault} | {} | {times} | {} |", subcommands.len(), wrong.len());
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(times > 0, "{fault} was not injected");
    }
}
