//! `loggp record`, as far as it goes without MPI. `.ci/mpi` records programs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::requests::kill;
use crate::requests::{answer, answer_of, folder, loggp, refusal, stdout_of};

const RING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mpi/ring.mpi");

#[test]
fn a_recording_is_listed() {
    let list = stdout_of(&format!("record --list {RING}"));
    let lines: Vec<&str> = list.lines().collect();
    assert!(lines[0].starts_with("# ") && lines[0].ends_with(", Open MPI v4.1.4, ranks=4"), "{}", lines[0]);
    assert_eq!(lines.len(), 1 + 4 * 22);
    let of = |rank: &str, what: &str| {
        let begin = format!("{rank} ");
        lines.iter().filter(|line| line.starts_with(&begin) && line.contains(what)).count()
    };
    for rank in ["0", "1", "2", "3"] {
        for (what, count) in [
            (" recv from=", 5),
            (" send mode=standard to=", 5),
            (" wait request=", 5),
            (" allreduce comm=0 sent=8 received=8 at=main file=./ring.c:31", 5),
            (" at=relax file=./ring.c:", 15),
            (" finalize", 1),
        ] {
            assert_eq!(of(rank, what), count, "{rank} {what}: {list}");
        }
    }
}

#[test]
fn a_wrong_request_to_record_is_refused() {
    let folder = folder("records");
    let file = |name: &str| folder.join(name).display().to_string();
    fs::write(folder.join("text"), "no recording\n").unwrap();
    let ring = fs::read(RING).unwrap();
    let at = ring.windows(8).position(|bytes| bytes == b"LOGGPREC").unwrap();
    fs::write(folder.join("rank.0"), &ring[at..]).unwrap();
    for (line, why) in [
        ("record".into(), "where is it to be written? give -o FILE"),
        (format!("record -o {}", file("a.mpi")), "what is to be recorded? give a command"),
        (format!("record --merge -o {}", file("a.mpi")), "which files? give those of all ranks"),
        (format!("record -o {} -- {}", file("a.mpi"), file("none")), "there is no program"),
        (format!("record --merge -o {} {}", file("a.mpi"), file("text")), "this is not the file of a rank"),
        (
            format!("record --merge -o {} {}", file("a.mpi"), file("rank.0")),
            "the file of rank 1 of 4 is missing",
        ),
        (format!("record --list {}", file("text")), "this is not a program that loggp recorded"),
        (format!("record --list {}", file("none")), "it cannot be read"),
        (format!("record --list {}", file("rank.0")), "`loggp record --merge -o run.mpi FILES` makes one"),
        (format!("record --build --mpicc {}", file("none")), "cannot be started"),
    ] {
        let said = refusal(&line);
        assert!(said.contains(why), "{line}: {said}");
    }
    assert!(!folder.join("a.mpi").exists());
}

/// Writes into a folder an `mpirun` whose ranks write what those of the ring wrote, before it does what a script
/// says (`$folder` is the folder), and returns the command that records it.
fn fake_mpirun(folder: &Path, script: &str) -> Command {
    let ring = fs::read(RING).unwrap();
    let begins = (0..ring.len()).filter(|at| ring[*at..].starts_with(b"LOGGPREC")).chain([ring.len()]);
    let begins: Vec<usize> = begins.collect();
    for (rank, ends) in begins.windows(2).enumerate() {
        fs::write(folder.join(format!("ring.{rank}")), &ring[ends[0]..ends[1]]).unwrap();
    }
    let text = format!(
        "folder={}\n[ \"$1\" = --version ] && {{ echo 'Open MPI'; exit; }}\n\
         for word; do case $word in LOGGP_RECORD=*) prefix=${{word#*=}} ;; esac; done\n\
         for rank in 0 1 2 3; do cp \"$folder/ring.$rank\" \"$prefix.$rank\"; done\n{script}\n",
        folder.display()
    );
    fs::write(folder.join("script"), text).unwrap();
    fs::write(folder.join("mpirun"), "#!/bin/sh\n. \"${0%/*}/script\"\n").unwrap();
    let mut chmod = Command::new("chmod");
    assert!(chmod.arg("+x").arg(folder.join("mpirun")).status().unwrap().success());
    let (run, mpirun) = (folder.join("run.mpi"), folder.join("mpirun"));
    let mut command = loggp(&format!("record -o {} -- {} app", run.display(), mpirun.display()));
    command.env("LOGGP_MPI_RECORDER", RING); // nobody loads it
    command
}

/// Returns the file that a script writes, as soon as it is there.
fn wait_for(path: PathBuf) -> String {
    let started = Instant::now();
    loop {
        match fs::read_to_string(&path) {
            Ok(text) if text.ends_with('\n') => return text.trim().into(),
            _ => assert!(started.elapsed() < Duration::from_secs(30), "{}", path.display()),
        }
        sleep(Duration::from_millis(5));
    }
}

/// Returns whether a process runs, by its number.
fn runs(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

/// Starts a command. What it says goes to a file, since a rank that it leaves would keep a pipe open.
fn start(mut command: Command, folder: &Path) -> Child {
    let said = File::create(folder.join("said")).unwrap();
    command.stdout(Stdio::null()).stderr(said).spawn().unwrap()
}

/// Returns the exit status of a command that was started, and what it said.
fn end(mut child: Child, folder: &Path) -> (Option<i32>, String) {
    let status = child.wait().unwrap();
    (status.code(), fs::read_to_string(folder.join("said")).unwrap())
}

/// Asserts that a folder has a whole recording of the ring, but for its places, and nothing of its ranks.
fn assert_recorded(folder: &Path) {
    let list = |path: &Path| -> Vec<String> {
        let list = stdout_of(&format!("record --list {}", path.display()));
        list.lines().map(|line| line.split(" at=").next().unwrap_or_default().into()).collect()
    };
    assert!(list(&folder.join("run.mpi")) == list(Path::new(RING)));
    assert_eq!(kept_folders(folder), [""; 0]);
}

/// Returns the folders that a folder has.
fn kept_folders(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_dir());
    entries.map(|entry| entry.path().display().to_string()).collect()
}

/// A launcher that ends at once may leave ranks in sessions of their own, which end too. So do those of one
/// that was killed.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_is_passed_on_and_leaves_no_rank() {
    let killed = ("KILL", 137, "ended with exit status 137");
    for (signal, status, says) in [("TERM", 143, "terminated; "), ("INT", 130, "interrupted; "), killed] {
        let folder = folder(&format!("record-{signal}"));
        // What a shell starts in the background ignores SIGINT.
        let rank = "setsid perl -e '$SIG{INT} = \"DEFAULT\"; sleep 600' & echo $! >$folder/rank";
        let script = format!("trap 'exit 3' TERM INT; {rank}\necho $$ >$folder/ready\nwait");
        let child = start(fake_mpirun(&folder, &script), &folder);
        wait_for(folder.join("ready"));
        let rank = wait_for(folder.join("rank"));
        assert!(runs(&rank));
        match signal {
            "KILL" => assert!(
                Command::new("kill")
                    .args(["-9", &wait_for(folder.join("ready"))])
                    .status()
                    .unwrap()
                    .success()
            ),
            _ => kill(&child, signal),
        }
        let (ended, said) = end(child, &folder);
        assert!(!runs(&rank), "{said}");
        assert_eq!(ended, Some(status), "{said}");
        let (mpirun, run) = (folder.join("mpirun"), folder.join("run.mpi"));
        let (mpirun, run) = (mpirun.display(), run.display());
        let says = match says.ends_with("; ") {
            true => format!("{says}{mpirun} was ended too"),
            false => format!("{mpirun} {says}"),
        };
        assert_eq!(said, format!("{says}; what it called before is in {run}\n"));
        assert_recorded(&folder);
    }
}

/// A signal that comes before the ranks have begun.
#[test]
fn a_signal_within_mpi_init_leaves_nothing() {
    let folder = folder("record-early");
    let script = "rm \"$prefix\".*; echo >$folder/ready; exec sleep 600";
    let child = start(fake_mpirun(&folder, script), &folder);
    wait_for(folder.join("ready"));
    kill(&child, "TERM");
    let mpirun = folder.join("mpirun");
    let why = format!("terminated; {} was ended too; no rank had come through MPI_Init\n", mpirun.display());
    assert_eq!(end(child, &folder), (Some(143), why));
    assert!(!folder.join("run.mpi").exists());
    assert_eq!(kept_folders(&folder), [""; 0]);
}

/// A signal that comes while the ranks' files are merged; here one of them is a pipe that nobody writes.
#[test]
fn a_signal_while_ranks_are_merged_keeps_their_files() {
    let folder = folder("record-merging");
    let script = "rm \"$prefix.3\"; mkfifo \"$prefix.3\"; echo >$folder/ready";
    let mut child = start(fake_mpirun(&folder, script), &folder);
    wait_for(folder.join("ready"));
    while child.try_wait().unwrap().is_none() {
        kill(&child, "TERM"); // one that finds the launcher is passed on, the next one comes later
        sleep(Duration::from_millis(100));
    }
    let (status, said) = end(child, &folder);
    let [kept] = &kept_folders(&folder)[..] else { panic!("{said}") };
    assert_eq!(status, Some(143), "{said}");
    assert!(said.starts_with(&format!("terminated; what the ranks wrote is in {kept}: ")), "{said}");
    assert!(!folder.join("run.mpi").exists());
}

/// What does not end is killed at the second signal.
#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_kills_the_launcher_and_its_ranks() {
    let folder = folder("record-twice");
    let rank = "setsid sh -c 'trap \"\" TERM; echo >$folder/ready; sleep 600; :'";
    let script = format!("export folder; trap '' TERM; {rank} & echo $! >$folder/rank; wait");
    let child = start(fake_mpirun(&folder, &script), &folder);
    wait_for(folder.join("ready"));
    let rank = wait_for(folder.join("rank"));
    kill(&child, "TERM");
    sleep(Duration::from_millis(600));
    assert!(runs(&rank));
    kill(&child, "TERM");
    let (ended, said) = end(child, &folder);
    assert!(!runs(&rank), "{said}");
    assert_eq!(ended, Some(143), "{said}");
    assert!(
        said.contains("terminated; ") && said.contains(" did not end, and was killed; what it called before"),
        "{said}"
    );
    assert_recorded(&folder);
}

/// A rank that could write no more, and said so.
#[test]
fn what_a_rank_could_not_write_is_said() {
    let folder = folder("record-stopped");
    fake_mpirun(&folder, "");
    let rank = folder.join("ring.2");
    let why = "the disk is full";
    let block = [&[why.len() as u8 + 2, 0, 0, 0][..], &[0; 32], &[8, why.len() as u8], why.as_bytes()];
    fs::write(&rank, [fs::read(&rank).unwrap(), block.concat()].concat()).unwrap();
    let run = folder.join("run.mpi").display().to_string();
    let ranks = [0, 1, 2, 3].map(|rank| folder.join(format!("ring.{rank}")).display().to_string()).join(" ");
    let (status, _, said) = answer(&format!("record --merge -o {run} {ranks}"));
    let missing = "what rank 2 called later is missing";
    assert_eq!(said, format!("error: {missing} in {run}, since it could not be written: {why}\n"));
    assert_eq!(status, Some(1));
    let list = stdout_of(&format!("record --list {run}"));
    assert_eq!(list.lines().filter(|line| line.ends_with(&format!("stopped why={why}"))).count(), 1);
    fs::write(&rank, "").unwrap();
    let said = refusal(&format!("record --merge -o {run} {ranks}"));
    assert!(said.ends_with("is empty: its rank ended within MPI_Init, or had no room to write"), "{said}");
}

/// A rank that was killed within a call: behind its last whole record lies a part of one, and then room.
#[test]
fn a_part_of_a_record_is_no_block() {
    let folder = folder("record-part");
    fake_mpirun(&folder, "");
    let whole = fs::read(folder.join("ring.2")).unwrap();
    let (run, ranks) = (folder.join("run.mpi").display().to_string(), [0, 1, 2, 3]);
    let ranks = ranks.map(|rank| folder.join(format!("ring.{rank}")).display().to_string()).join(" ");
    for part in [&[24][..], &[24, 5, 0, 0, 7, 9, 1], &[0x91; 60]] {
        let room = vec![0; 1 << 16];
        fs::write(folder.join("ring.2"), [&whole, part, &room].concat()).unwrap();
        let (status, _, said) = answer(&format!("record --merge -o {run} {ranks}"));
        assert_eq!((status, &*said), (Some(0), ""), "{part:?}");
        assert_recorded(&folder);
    }
}

/// A full disk while the ranks' files are merged; here a limit of files, which the ranks do not have.
#[test]
fn ranks_files_are_kept_if_they_cannot_be_merged() {
    let folder = folder("record-full");
    let command = fake_mpirun(&folder, "");
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -S -f 1; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    limited.env("LOGGP_MPI_RECORDER", RING);
    let (status, stdout, stderr) = answer_of(limited);
    assert_eq!((status, &*stdout), (Some(1), ""), "{stderr}");
    let [kept] = &kept_folders(&folder)[..] else { panic!("{stderr}") };
    let run = folder.join("run.mpi");
    let run = run.display();
    assert!(stderr.starts_with(&format!("error: the output cannot be written to {run}: ")), "{stderr}");
    let end = format!(
        "; what the ranks wrote is in {kept}: `loggp record --merge -o FILE {kept}/*` makes one file of it\n"
    );
    assert!(stderr.ends_with(&end), "{stderr}");
    assert!(!folder.join("run.mpi").exists());
    let ranks = [0, 1, 2, 3].map(|rank| format!("{kept}/rank.{rank}")).join(" ");
    assert_eq!(answer(&format!("record --merge -o {run} {ranks}")).0, Some(0));
    fs::remove_dir_all(kept).unwrap();
    assert_recorded(&folder);
}
