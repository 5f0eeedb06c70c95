//! `loggp doctor`, and the browser that it finds.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::requests::{answer_of, folder, loggp, refusal, refusal_of, rows, stdout_of};

/// Returns the command without a screen, a browser or an MPI.
fn bare(line: &str, folder: &Path) -> Command {
    let mut command = loggp(line);
    command.current_dir(folder).env("PATH", folder);
    for name in ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "LOGGP_MPI_RECORDER"] {
        command.env_remove(name);
    }
    command
}

/// Writes a program into a folder.
fn write_program(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Returns what the command finds of a subject.
fn found(command: Command, subject: &str) -> String {
    let (status, stdout, stderr) = answer_of(command);
    assert_eq!((status, &*stderr), (Some(0), ""));
    let mut rows = stdout.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let row = rows.find(|row| row["subject"] == subject).unwrap();
    row["found"].as_str().unwrap().into()
}

#[test]
fn each_subject_has_a_sentence_on_what_to_do() {
    let rows = rows("doctor");
    let subjects: Vec<&str> = rows.iter().map(|row| row["subject"].as_str().unwrap()).collect();
    let expected = "loggp system cores clock pinning timer waits stacks threads";
    let of_mpi: &[&str] = if cfg!(feature = "mpi") { &["MPI", "recorder", "emulate"] } else { &[] };
    let expected = expected.split(' ').chain(of_mpi.iter().copied()).chain(["browser"]);
    assert_eq!(subjects, expected.collect::<Vec<_>>());
    for row in &rows {
        let [found, advice] = ["found", "advice"].map(|name| row[name].as_str().unwrap());
        assert!(!found.is_empty() && !advice.is_empty(), "{row}");
        assert!(!found.contains('\n') && !advice.contains('\n') && advice.len() < 120, "{row}");
        assert!(row["good"].is_null() || row["good"].is_boolean(), "{row}");
    }
    let loggp = rows[0]["found"].as_str().unwrap();
    assert!(
        loggp.starts_with(env!("CARGO_PKG_VERSION")) && loggp.contains(", python no, commit "),
        "{loggp}"
    );
    let table = stdout_of("doctor");
    for subject in subjects {
        let shown = table.lines().filter(|line| line.starts_with(&format!("{subject} "))).count();
        let advised = table.lines().filter(|line| line.starts_with(&format!("{subject}: "))).count();
        assert_eq!((shown, advised), (1, 1), "{subject}: {table}");
    }
    assert!(refusal("doctor -o computer.svg").contains("there is no picture of a computer"));
}

#[cfg(all(unix, feature = "mpi"))]
#[test]
fn mpi_and_recorder_are_those_that_record_uses() {
    let folder = folder("doctor-mpi");
    let line = "doctor --format json";
    assert!(found(bare(line, &folder), "MPI").starts_with("no mpirun, mpiexec or srun"));
    write_program(&folder, "mpirun", "#!/bin/sh\necho 'HYDRA build details'\n");
    let mpirun = folder.join("mpirun").display().to_string();
    assert!(found(bare(line, &folder), "MPI").starts_with(&format!("{mpirun} of mpich")));
    assert!(found(bare(line, &folder), "recorder").starts_with("there is no libloggp-mpi-mpich.so in "));
    let library = folder.join("libloggp-mpi-mpich.so");
    fs::write(&library, "").unwrap();
    let mut command = bare(line, &folder);
    command.env("LOGGP_MPI_RECORDER", &folder);
    assert_eq!(found(command, "recorder"), library.canonicalize().unwrap().display().to_string());
    if cfg!(target_os = "linux") {
        assert_eq!(found(bare(line, &folder), "emulate"), "the library is missing, as the line above says");
        let mut command = bare(line, &folder);
        command.env("LOGGP_MPI_RECORDER", &folder);
        let room = found(command, "emulate");
        assert!(room.starts_with("room for ") && room.ends_with(" in /dev/shm"), "{room}");
    }
}

#[cfg(unix)]
#[test]
fn a_timeline_is_opened_in_the_browser_that_is_found() {
    let folder = folder("doctor-browser");
    let line = "timeline broadcast --params L=6,o=2,g=4 -o page.html --open";
    let why = refusal_of(bare(line, &folder));
    assert_eq!(
        why,
        "--open: there is no screen here; leave --open out and open the page on another computer, or name a browser in \
         BROWSER"
    );
    assert!(!folder.join("page.html").exists());
    assert_eq!(found(bare("doctor --format json", &folder), "browser"), "there is no screen here");

    let browser = write_program(
        &folder,
        "browser",
        "#!/bin/sh\necho \"$1\" >opened.part\n/bin/mv opened.part opened\n",
    );
    let with_browser = |line: &str| {
        let mut command = bare(line, &folder);
        command.env("BROWSER", "none-such:browser");
        command
    };
    assert_eq!(found(with_browser("doctor --format json"), "browser"), browser.display().to_string());
    let (status, _, stderr) = answer_of(with_browser(line));
    assert_eq!((status, &*stderr), (Some(0), ""));
    assert!(folder.join("page.html").exists());
    let begin = Instant::now();
    while !folder.join("opened").exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the browser is not started");
        sleep(Duration::from_millis(5));
    }
    assert_eq!(fs::read_to_string(folder.join("opened")).unwrap(), "page.html\n");
}
