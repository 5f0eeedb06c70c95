//! Output that cannot be written.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use super::{
    INPUTS, LINES, Tally, as_nobody, clear, folder, is_sentence, loggp, loggp_after, run_with_timeout,
    status_and_stderr, torn_files,
};

/// Returns the files that a line's options name.
fn files(line: &str) -> Vec<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let options = words.windows(2).filter(|pair| ["-o", "--trace"].contains(&pair[0]));
    options.map(|pair| pair[1]).collect()
}

/// Returns the lines that write files.
fn lines_with_files() -> impl Iterator<Item = &'static str> {
    LINES.into_iter().filter(|line| !files(line).is_empty())
}

const HELP: [&str; 3] = ["--help", "run lu --help", "--version"];

#[test]
fn stdout_on_a_full_disk() {
    let (folder, mut tally) = (folder(), Tally::new("stdout on a full disk"));
    for line in LINES.into_iter().chain(HELP) {
        clear(folder.path());
        let mut command = loggp(line, folder.path());
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        let (status, stderr) = status_and_stderr(&output);
        // Lines without any output succeed.
        let is_silent = ["schedule all-to-all", "merge", "trace2goal", "mpi2goal", "man"]
            .iter()
            .any(|of| line.starts_with(of));
        let right = match is_silent {
            true => (status, &*stderr) == (0, ""),
            false => {
                status == 1
                    && is_sentence(&stderr)
                    && stderr.contains("the output cannot be written: No space left")
            }
        };
        let torn = torn_files(folder.path());
        tally.add(line, right && torn.is_empty(), || format!("{status}, {stderr}, {torn:?}"));
    }
    tally.end();
}

/// Files are written even if nobody reads stdout.
#[test]
fn stdout_that_nobody_reads() {
    for (fault, before) in [("stdout that nobody reads", None), ("closed stdout", Some("exec >&-"))] {
        let (folder, mut tally) = (folder(), Tally::new(fault));
        for line in LINES.into_iter().chain(HELP) {
            clear(folder.path());
            let output = match before {
                Some(before) => run_with_timeout(&mut loggp_after(before, line, folder.path())).unwrap(),
                None => {
                    let mut command = loggp(line, folder.path());
                    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
                    drop(child.stdout.take());
                    child.wait_with_output().unwrap()
                }
            };
            let (status, stderr) = status_and_stderr(&output);
            // Runs on the wall clock may warn that they were late.
            let quiet = stderr.lines().all(|line| line.starts_with("warning: "));
            let missing: Vec<&str> =
                files(line).into_iter().filter(|file| !folder.path().join(file).exists()).collect();
            let torn = torn_files(folder.path());
            let right = status == 0 && quiet && missing.is_empty() && torn.is_empty();
            tally.add(line, right, || format!("{status}, {stderr}, missing {missing:?}, torn {torn:?}"));
        }
        tally.end();
    }
}

/// Files that run out of room while they are written: by a limit of the user, and on a full file system.
#[test]
fn files_without_room() {
    let folder = folder();
    let mut faults = vec![("a limit on the length of files", "ulimit -f 0", "File too large", false)];
    // Only root may mount, but not everywhere.
    let mount = "mount -t tmpfs -o size=4k,nr_inodes=400 none full";
    fs::create_dir(folder.path().join("full")).unwrap();
    let mounts = Command::new("unshare").args(["-m", "sh", "-c", mount]).current_dir(folder.path()).output();
    if mounts.is_ok_and(|output| output.status.success()) {
        let fill = "mount -t tmpfs -o size=4k,nr_inodes=400 none full; head -c 4096 /dev/zero >full/.lock; cp [t12].* .. 2>&-; cd full";
        faults.push(("a full file system", fill, "No space left", true));
    }
    for (fault, before, reason, mounted) in faults {
        let mut tally = Tally::new(fault);
        for line in lines_with_files() {
            clear(folder.path());
            fs::create_dir(folder.path().join("full")).unwrap();
            let line = INPUTS.iter().fold(line.to_string(), |line, file| {
                line.replace(&format!(" {file}"), &format!(" {}/{file}", folder.path().display()))
            });
            let mut command = loggp_after(before, &line, folder.path());
            if mounted {
                let args: Vec<_> = command.get_args().map(|arg| arg.to_owned()).collect();
                command = Command::new("unshare");
                command.args(["-m", "sh"]).args(args).current_dir(folder.path());
            }
            let output = run_with_timeout(&mut command).unwrap();
            let (status, stderr) = status_and_stderr(&output);
            let torn = torn_files(folder.path());
            let right =
                status == 1 && is_sentence(&stderr) && stderr.contains(reason) && stderr.contains(" to /");
            tally.add(&line, right && torn.is_empty(), || format!("{status}, {stderr}, {torn:?}"));
        }
        tally.end();
    }
}

/// Paths that cannot be written are refused before anything is run.
#[test]
fn files_that_may_not_be_written() {
    let folder = folder();
    let mut tally = Tally::new("a folder that is not there");
    for line in lines_with_files() {
        for file in files(line) {
            clear(folder.path());
            let nowhere = match file {
                "page" => "t.json/page",
                "." => "nowhere",
                _ => "nowhere/x",
            };
            let there = format!("{nowhere}{}", file.strip_prefix('x').unwrap_or_default());
            let line = line.replacen(&format!(" {file}"), &format!(" {there}"), 1);
            let output = run_with_timeout(&mut loggp(&line, folder.path())).unwrap();
            let (status, stderr) = status_and_stderr(&output);
            let (right, torn) = (is_sentence(&stderr) && stderr.contains(nowhere), torn_files(folder.path()));
            tally.add(&line, status == 2 && right && torn.is_empty(), || {
                format!("{status}, {stderr}, {torn:?}")
            });
        }
    }
    tally.end();

    let mut tally = Tally::new("a file that may not be written");
    for line in lines_with_files() {
        for file in files(line).into_iter().filter(|file| file.starts_with('x')) {
            clear(folder.path());
            let path = folder.path().join(file);
            fs::write(&path, "old\n").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
            let output = run_with_timeout(&mut loggp(line, folder.path())).unwrap();
            let (status, stderr) = status_and_stderr(&output);
            let right = status == 2
                && is_sentence(&stderr)
                && stderr.contains(file)
                && stderr.contains("may not be written");
            let is_old = fs::read(&path).unwrap() == b"old\n";
            tally.add(line, right && is_old, || format!("{status}, {stderr}"));
        }
    }
    tally.end();

    // Root becomes nobody in a folder of root; others use a folder of their own without write permission.
    let mut tally = Tally::new("a folder that may not be written");
    for line in lines_with_files() {
        clear(folder.path());
        let mut command = loggp(line, folder.path());
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let Some(()) = as_nobody(&mut command, folder.path()) else { return };
        fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
        let output = run_with_timeout(&mut command).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let (status, stderr) = status_and_stderr(&output);
        let right = is_sentence(&stderr) && stderr.contains("Permission denied") && stderr.contains(" to ");
        let torn = torn_files(folder.path());
        tally.add(line, status == 2 && right && torn.is_empty(), || format!("{status}, {stderr}, {torn:?}"));
    }
    tally.end();
}
