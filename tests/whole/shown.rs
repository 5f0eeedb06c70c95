//! Commands in the documents are run, and must print what the documents show below them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{available_parallelism, scope};

use crate::documents::{DocumentStep, ProjectDocument, ShownCommand, documents};

/// Parts of commands that are not run, and the reasons. Other tests check that these commands are accepted.
const NOT_RUN: [(&str, &str); 12] = [
    ("loggp reproduce", "takes minutes, and has tests of its own"),
    ("--size 4096", "takes half a minute"),
    ("analyze g4.loggp", "reads the trace of that run"),
    ("--dilation 1", "measures real work"),
    ("--carrier", "measures on another carrier"),
    ("~/", "writes into the reader's home"),
    ("rtt.csv", "reads what a program prints on a cluster"),
    ("run.mpi", "needs an MPI program, or its recording"),
    (" -n ", "starts an MPI program: .ci/mpi runs it"),
    ("--programs", "starts MPI programs: the tests of loggp-mpi run it"),
    ("--mpicc", "builds with an MPI's compiler"),
    ("osu.txt", "reads what another tool prints on a cluster"),
];

/// Returns options for a command that would measure, since this computer may be busy; else nothing.
fn added_clock(line: &str) -> &'static str {
    let measures =
        ["loggp compare ", "loggp calibrate ", "loggp stress"].iter().any(|name| line.starts_with(name));
    if measures && !["--clock", "--from"].iter().any(|option| line.contains(option)) {
        "--clock virtual"
    } else {
        ""
    }
}

/// Runs a command in the folder of the document's files, and compares its output with the document.
fn run(document: &str, shown: &ShownCommand, folder: &Path) {
    let line = &shown.line;
    let words = line.split_whitespace().chain(added_clock(line).split_whitespace()).skip(1);
    let mut command = Command::new(env!("CARGO_BIN_EXE_loggp"));
    // Tables in documents are as wide as on a terminal of 80 columns.
    let output = command.args(words).current_dir(folder).env("COLUMNS", "80").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{document}: {line}: {stderr}");
    if let Some(file) = &shown.file {
        fs::write(folder.join(file), &output.stdout).unwrap();
    }
    if let Some(shows) = &shown.printed {
        assert_eq!(
            added_clock(line),
            "",
            "{document}: {line} measures, so no document can say what it prints"
        );
        let printed = String::from_utf8(output.stdout).unwrap();
        // Three dots stand for the rest of the output.
        match shows.trim_end().strip_suffix("\n...") {
            Some(beginning) => {
                assert!(printed.starts_with(beginning), "{document}: {line} prints\n{printed}")
            }
            None => assert_eq!(printed.trim_end(), shows.trim_end(), "{document}: {line}"),
        }
    }
}

/// Returns the reason why a command is not run, or `None` if it is run.
fn reason_not_to_run(shown: &ShownCommand) -> Option<&'static str> {
    let is_in = |text: &str| NOT_RUN.iter().find(|(part, _)| text.contains(part));
    is_in(&shown.line).or_else(|| is_in(shown.file.as_deref()?)).map(|(_, why)| *why)
}

/// Follows a document as a reader would, in an empty folder.
fn follow(document: &ProjectDocument) {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("shown").join(document.name.replace('/', "-"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for step in &document.steps {
        match step {
            DocumentStep::File { name, text } => fs::write(folder.join(name), text).unwrap(),
            DocumentStep::Command(shown) if reason_not_to_run(shown).is_some() => (),
            DocumentStep::Command(shown) => run(&document.name, shown, &folder),
        }
    }
}

#[test]
fn commands_of_documents_print_what_the_documents_show() {
    let documents = documents();
    let next = AtomicUsize::new(0);
    scope(|threads| {
        for _ in 0..available_parallelism().unwrap().get() {
            threads.spawn(|| {
                while let Some(document) = documents.get(next.fetch_add(1, Relaxed)) {
                    follow(document);
                }
            });
        }
    });
}

/// An entry that no document needs could hide a command that is written later.
#[test]
fn each_reason_not_to_run_a_command_is_needed() {
    let documents = documents();
    let commands = || documents.iter().flat_map(ProjectDocument::commands);
    for (_, why) in NOT_RUN {
        assert!(
            commands().any(|shown| reason_not_to_run(shown) == Some(why)),
            "no command is left that {why}"
        );
    }
    assert!(commands().filter(|shown| reason_not_to_run(shown).is_none()).count() > 60);
}
