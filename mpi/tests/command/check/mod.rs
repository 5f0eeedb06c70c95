//! `loggp check` of MPI programs: the faults of `mpi/recordings/programs/faults` are found, each of its kind and at
//! its place. Where there is no MPI, nothing is checked.

mod cases;
mod reports;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::requests::{answer_of, loggp, stdout_of};
use crate::requests::{is_ignored, kill};

use cases::{CASES, Case};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../mpi/recordings/programs/faults/faults.c");

/// Programs that run on three ranks: two of them send to one.
const MATTERS_WHO: [&str; 9] = [
    "wildcards",
    "probed_any",
    "looked_any",
    "probed_sender",
    "probed_either",
    "leaks_and_race",
    "usually_fails",
    "counted_first",
    "locked_first",
];

/// An MPI that is here, and a folder with the program and the library for it.
pub(crate) struct Mpi {
    pub(crate) mpirun: String,
    pub(crate) folder: PathBuf,
}

/// Returns the MPIs that are here, or those that `LOGGP_CHECK_MPI` names.
pub(crate) fn mpis() -> &'static [Mpi] {
    static ALL: OnceLock<Vec<Mpi>> = OnceLock::new();
    ALL.get_or_init(|| {
        let chosen = env::var("LOGGP_CHECK_MPI").unwrap_or("openmpi mpich".into());
        let is_here = |word: &str| Command::new(word).arg("--version").output().is_ok();
        let is_whole = |end: &String| is_here(&format!("mpicc{end}")) && is_here(&format!("mpirun{end}"));
        let named = chosen.split(' ').map(|name| format!(".{name}")).filter(is_whole);
        let mut ends: Vec<String> = named.collect();
        if ends.is_empty() {
            ends.extend(Some(String::new()).filter(is_whole));
        }
        if ends.is_empty() {
            eprintln!("no MPI program is checked: there are no mpicc and mpirun here");
        }
        ends.iter().map(|end| Mpi::build(end)).collect()
    })
}

impl Mpi {
    /// Builds the program, and the library unless it is there since its source was changed last.
    fn build(end: &str) -> Mpi {
        let (mpicc, mpirun) = (format!("mpicc{end}"), format!("mpirun{end}"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("check-mpi{end}"));
        fs::create_dir_all(&folder).unwrap();
        let changed = |path: PathBuf| fs::metadata(path).unwrap().modified().unwrap();
        let files = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let source = files(&Path::new(SOURCE).with_file_name("../../recorder")).map(changed).max();
        let is_library = |path: &PathBuf| path.extension().is_some_and(|end| end == "so");
        if files(&folder).filter(is_library).map(changed).max() < source {
            stdout_of(&format!("record --build --mpicc {mpicc} -o {}", folder.display()));
        }
        let mut compiler = Command::new(mpicc);
        compiler.args(["-g", "-O0", "-w", SOURCE, "-lpthread", "-o"]).arg(folder.join("faults"));
        assert!(compiler.status().unwrap().success());
        Mpi { mpirun, folder }
    }

    /// Returns the command that checks a program on so many ranks.
    fn check(&self, options: &str, ranks: usize, program: &str) -> Command {
        let start = format!("check {options} -- {} -n {ranks}", self.mpirun);
        let mut command = self.command(&start, program);
        command.stdin(Stdio::null());
        command
    }

    /// Returns a command of which a program of the folder is the end.
    pub(crate) fn command(&self, begin: &str, program: &str) -> Command {
        self.prepared(loggp(&format!("{begin} {}/{program}", self.folder.display())))
    }

    /// Returns a command with what lets it start programs here.
    pub(crate) fn prepared(&self, mut command: Command) -> Command {
        command.envs(["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1")));
        command.envs(["PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1")));
        command.env("LOGGP_MPI_RECORDER", &self.folder);
        command
    }

    /// Returns the launcher with what lets it start more ranks than there are cores.
    pub(crate) fn launcher(&self) -> String {
        let said = Command::new(&self.mpirun).arg("--version").output().unwrap();
        let is_open_mpi = String::from_utf8_lossy(&said.stdout).contains("Open");
        format!("{}{}", self.mpirun, if is_open_mpi { " --oversubscribe" } else { "" })
    }

    /// Builds another program beside the one that is checked, unless it is there.
    pub(crate) fn build_program(&self, name: &str) {
        static BUILDING: Mutex<()> = Mutex::new(());
        let _alone = BUILDING.lock().unwrap();
        let source = Path::new(SOURCE).with_file_name(format!("../{name}.c"));
        let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
        let program = self.folder.join(name);
        if changed(&program) < changed(&source) {
            let mut compiler = Command::new(self.mpirun.replacen("mpirun", "mpicc", 1));
            compiler.args(["-g", "-O1", "-w"]).arg(source).args(["-lpthread", "-o"]).arg(program);
            assert!(compiler.status().unwrap().success());
        }
    }
}

/// Returns the places in the source, as a report names them: for each function what stands for its marked lines.
fn places() -> BTreeMap<String, Vec<(&'static str, String)>> {
    let (mut places, mut function) = (BTreeMap::<_, Vec<_>>::new(), String::new());
    for file in ["faults.c", "orders.h", "threads.h", "types.h", "ends.h", "windows.h", "files.h"] {
        let text = fs::read_to_string(Path::new(SOURCE).with_file_name(file)).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            if let Some((begin, _)) = line.strip_prefix("static ").and_then(|begin| begin.split_once('(')) {
                function = begin.rsplit([' ', '*']).next().unwrap().into();
            }
            for mark in ["THERE", "HERE"].into_iter().filter(|mark| line.ends_with(&format!("/* {mark} */")))
            {
                let place = format!("at {function} ({file}:{number})");
                places.entry(function.clone()).or_default().push((mark, place));
            }
        }
    }
    places.values_mut().for_each(|marks| marks.sort_by_key(|(mark, _)| *mark == "HERE")); // it is a part of the other one
    places
}

/// Checks a program and asserts that what is found is what the case says.
fn assert_found(
    mpi: &Mpi,
    number: usize,
    (name, options, kind, parts): &Case,
    places: &BTreeMap<String, Vec<(&str, String)>>,
) {
    // Several cases have the same program, and run at once.
    let trace = mpi.folder.join(format!("{number}.json"));
    let _ = fs::remove_file(&trace);
    let options = format!("{options} --format json --trace {}", trace.display());
    let ranks = if MATTERS_WHO.contains(name) { 3 } else { 2 };
    let (status, stdout, stderr) = answer_of(mpi.check(&options, ranks, &format!("faults {name}")));
    let said = format!("{name} with {}: {stdout}{stderr}", mpi.mpirun);
    let row: Value = serde_json::from_str(&stdout).unwrap_or_else(|why| panic!("{why}: {said}"));
    assert_eq!(
        (status, row["passed"].as_bool()),
        (Some(i32::from(!kind.is_empty())), Some(kind.is_empty())),
        "{said}"
    );
    if kind.is_empty() {
        assert!(row["fault"]["kind"].is_null() && !trace.exists(), "{said}");
        return;
    }
    assert_eq!(row["fault"]["kind"].as_str().unwrap_or("null"), *kind, "{said}");
    assert!(!row["fault"]["why"].to_string().contains(".rs:"), "{said}"); // a place of the emulation's own
    for part in *parts {
        let marks = places.get(*name).into_iter().flatten();
        let part = marks.fold((*part).to_owned(), |part, (mark, place)| part.replace(mark, place));
        let others =
            places.iter().map(|(function, marks)| (format!("{{{function}}}"), &marks.last().unwrap().1));
        let part = others.fold(part, |part, (function, place)| part.replace(&function, place));
        assert!(
            !part.contains(['{', '}'])
                && !part.contains("HERE")
                && row["fault"]["why"].as_str().unwrap().contains(&part),
            "no {part}: {said}"
        );
    }
    let ends_a_run = *kind != "resource leak" && !options.contains("--strict");
    assert_eq!(trace.exists(), ends_a_run, "{said}");
}

/// If there are several MPIs, the slower one, which is the first, has every fourth case.
#[test]
fn a_fault_of_each_kind_is_found() {
    let (mpis, places) = (mpis(), places());
    let Some(last) = mpis.last() else { return };
    let cases = Mutex::new(CASES.iter().enumerate());
    let check = || {
        let next = || cases.lock().unwrap().next();
        while let Some((number, case)) = next() {
            assert_found(if number % 4 == 0 { &mpis[0] } else { last }, number, case, &places);
        }
    };
    scope(|scope| (0..3).for_each(|_| _ = scope.spawn(check)));
}

/// A leak is said once, for all ranks and all runs, beside what else is wrong.
#[test]
fn leaks_are_said_beside_other_faults() {
    let Some(mpi) = mpis().last() else { return };
    let (place, options) = (&places()["leaks_and_race"], "--trace");
    let file = mpi.folder.join("leaks.json");
    let options = format!("{options} {}", file.display());
    let (status, stdout, stderr) = answer_of(mpi.check(&options, 3, "faults leaks_and_race"));
    let begin = "resource leak: rank 0 makes a ";
    for what in [
        format!("{begin}communicator by MPI_Comm_dup {} and never frees it;", place[0].1),
        format!("{begin}datatype by MPI_Type_contiguous {} and never frees it;", place[1].1),
    ] {
        assert_eq!(stdout.matches(&what).count(), 1, "{stdout}");
    }
    assert_eq!(stdout.matches("resource leak").count(), 2, "{stdout}");
    assert!(stdout.contains("fails: message race: ") && stdout.contains("(2 ranks more too)"), "{stdout}");
    assert!(status == Some(1) && stderr.starts_with("error: run "), "{stdout}");
}

/// A right program's report says what its runs have assumed of the MPI.
#[test]
fn a_report_says_what_was_assumed() {
    let Some(mpi) = mpis().last() else { return };
    let said = |options: &str| {
        let (status, stdout, _) = answer_of(mpi.check(options, 2, "faults halo_of_requests"));
        assert_eq!(status, Some(0), "{stdout}");
        stdout
    };
    let all = "in one run collectives wait for all, and in one run sends wait for their receivers\n";
    assert!(said("").contains(all));
    let eager = "in all runs collectives wait for all, and sends of short messages are taken not to wait for their receivers\n";
    assert!(said("--synchronize --buffering eager").contains(eager));
}

/// What a check cannot see is no fault.
#[test]
fn what_cannot_be_checked_is_said() {
    for mpi in mpis() {
        for (program, why) in [
            ("multiple", "calls MPI in one thread while another one waits"),
            ("opens_port", "calls MPI_Open_port, which"),
        ] {
            let trace = mpi.folder.join(format!("{program}.json"));
            let options = format!("--format json --trace {}", trace.display());
            let (status, stdout, stderr) = answer_of(mpi.check(&options, 2, &format!("faults {program}")));
            let begin = "error: the program cannot be checked: rank ";
            assert_eq!((status, &*stdout, trace.exists()), (Some(2), "", false), "{stderr}");
            assert!(stderr.starts_with(begin) && stderr.contains(why), "{stderr}");
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
        }
    }
}

/// A status that is NULL is a fault where MPI_STATUS_IGNORE is not NULL.
#[test]
fn a_null_status_is_found_where_it_is_none() {
    for mpi in mpis() {
        let options = format!("--format json --trace {}", mpi.folder.join("null-status.json").display());
        let (status, stdout, _) = answer_of(mpi.check(&options, 2, "faults null_status"));
        let is_mpich = mpi.mpirun.contains("mpich");
        assert_eq!(stdout.contains("gives NULL as a status"), is_mpich, "{stdout}");
        assert!(status == Some(0) || is_mpich, "{stdout}");
    }
}

/// The failure has its order, which makes it again.
#[test]
fn a_race_is_found_and_repeated() {
    let Some(mpi) = mpis().last() else { return };
    let file = mpi.folder.join("race.json");
    let (status, stdout, stderr) =
        answer_of(mpi.check(&format!("--trace {}", file.display()), 3, "faults race"));
    assert_eq!((status, &*stderr), (Some(1), "error: run 2 of the check failed\n"), "{stdout}");
    let place = &places()["race"][0].1;
    let why = format!(
        "message race: deadlock: 1 of 3 ranks waits for what no other one does\n  rank 0 at 5 us in MPI_Recv from 2 with tag 0 {place}\n"
    );
    assert!(stdout.contains(&format!("run 2 fails: {why}")), "{stdout}");
    assert!(stdout.contains(
        "one message late is enough: message 0 of processor 1 to 0, 1 s; all others arrive at once"
    ));
    let repeat = format!("--repeat-from {}", file.display());
    assert!(stdout.contains(&format!("  loggp check {repeat} -- {} -n 3 ", mpi.mpirun)), "{stdout}");
    for _ in 0..2 {
        let (status, _, stderr) = answer_of(mpi.check(&repeat, 3, "faults race"));
        assert!(status == Some(1) && stderr.ends_with(&format!("error: {why}")), "{stderr}");
    }
    let (status, stdout, _) = answer_of(mpi.check("--strategy systematic", 3, "faults wildcards"));
    assert!(
        status == Some(0) && stdout.contains("2 orders of messages are possible, and all were tried"),
        "{stdout}"
    );
}

/// Returns whether a process runs whose command names a file.
pub(crate) fn runs(file: &Path) -> bool {
    let name = file.to_str().unwrap().as_bytes();
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    processes
        .filter_map(|path| fs::read(path).ok())
        .any(|words| words.windows(name.len()).any(|part| part == name))
}

/// A signal ends a check, before its ranks have come and later, and a second signal ends it at once.
#[test]
fn a_signal_leaves_no_process_of_a_check() {
    for mpi in mpis() {
        fs::copy(mpi.folder.join("faults"), mpi.folder.join("signalled")).unwrap();
        for (program, moment, signals) in [("wildcards", 30, 1), ("wildcards", 500, 1), ("endless", 400, 2)] {
            let mut command = mpi.check("--runs 100000", 3, &format!("signalled {program}"));
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            for _ in 0..signals {
                sleep(Duration::from_millis(moment));
                kill(&child, if is_ignored(2) { "TERM" } else { "INT" });
            }
            let ended = child.wait().unwrap();
            let (status, signal) = (ended.code(), ended.signal());
            // The signal may come before the command is ready for it.
            assert!(
                matches!((status, signal), (Some(130 | 143), _) | (_, Some(2 | 15))),
                "{program}: {ended}"
            );
            let (since, program_file) = (Instant::now(), mpi.folder.join("signalled"));
            while runs(&program_file) {
                assert!(since.elapsed() < Duration::from_secs(20), "{program} of {} runs on", mpi.mpirun);
                sleep(Duration::from_millis(20));
            }
        }
    }
}
