//! Recorded MPI programs and schedules in `loggp analyze` and `loggp timeline`: as the traces of their plays.

use crate::requests::{assert_refused, folder, refusal, row, rows, stdout_of};

const RING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mpi/ring.mpi");
const MACHINE: &str = "--params L=5us,o=1us,g=2us,G=1ns";

/// A recording's analysis says what the analysis of its replay's trace says, and beside it which calls the
/// messages are of.
#[test]
fn a_recorded_program_is_analyzed_by_its_calls() {
    let trace = folder("schedule-runs").join("ring.loggp").display().to_string();
    stdout_of(&format!("replay {RING} {MACHINE} --trace {trace}"));
    let (direct, by_trace) = (row(&format!("analyze {RING} {MACHINE}")), row(&format!("analyze {trace}")));
    for key in ["time_ns", "messages", "total_ns", "path_ns", "formula", "processors"] {
        assert_eq!(direct[key], by_trace[key], "{key}");
    }
    let names = |row: &serde_json::Value| -> Vec<String> {
        row["top"].as_array().unwrap().iter().map(|group| group.to_string()).collect()
    };
    for part in [
        "send MPI_Isend at relax (./ring.c:13)",
        "receive MPI_Irecv at relax (./ring.c:12)",
        "work before MPI_Allreduce at main (./ring.c:31)",
    ] {
        assert!(names(&direct).iter().any(|group| group.contains(part)), "{part}: {direct}");
        assert!(!names(&by_trace).iter().any(|group| group.contains(part)), "{part}: {by_trace}");
    }
    let text = stdout_of(&format!("analyze {RING} {MACHINE}"));
    assert!(text.contains("MPI_Allreduce at main (./ring.c:31)"), "{text}");
    // All that the ranks did was for some call, and so is all of the critical path.
    let calls = row(&format!("analyze {RING} {MACHINE} --top 100"))["calls"].clone();
    let sum =
        |key: &str| calls.as_array().unwrap().iter().map(|call| call[key].as_i64().unwrap()).sum::<i64>();
    let total = |account: &str| direct["total_ns"][account].as_i64().unwrap();
    let all: i64 = direct["total_ns"].as_object().unwrap().values().filter_map(|time| time.as_i64()).sum();
    assert_eq!(sum("time_ns"), all - total("end"), "{calls}");
    assert_eq!(sum("computation_ns"), total("computation"), "{calls}");
    assert_eq!(Some(sum("path_ns")), direct["time_ns"].as_i64(), "{calls}");
    assert!(by_trace["calls"].is_null(), "{by_trace}");
}

/// A change plays the schedule again, and so does each step of a sweep.
#[test]
fn schedules_are_played_again_under_changes() {
    let time = |line: &str| row(line)["time_ns"].clone();
    let slow = time(&format!("replay {RING} --params L=50us,o=1us,g=2us,G=1ns"));
    let changed = rows(&format!("analyze {RING} {MACHINE} --what-if L=50us --no-sensitivities"));
    assert_eq!(changed.len(), 2);
    assert_eq!(changed[1]["time_ns"], slow);
    assert!(
        changed[0]["top"].to_string().contains("ring.c") && changed[1]["top"].to_string().contains("ring.c")
    );
    let over = row(&format!("analyze ring -P 8 {MACHINE} --over L=5us,50us"));
    let [first, last] =
        [5, 50].map(|L| time(&format!("replay ring -P 8 --params L={L}us,o=1us,g=2us,G=1ns")));
    assert_eq!(over["over"]["points"][0]["time_ns"], first);
    assert_eq!(over["over"]["points"][1]["time_ns"], last);
    // L is on the path of a ring of eight seven times, and 1% of it is 50 ns.
    let L = over["one_percent_more"].as_array().unwrap().iter().find(|one| one["parameter"] == "L").unwrap();
    assert_eq!([&L["path_ns"], &L["replay_ns"]].map(|ns| ns.as_f64()), [Some(350.0); 2], "{L}");
}

/// A machine with levels is the same for a schedule, for its trace, and for what is made of it.
#[test]
fn schedules_have_levels() {
    let folder = folder("schedule-levels");
    let file = folder.join("nodes.json");
    let levels = r#""levels": [{"params": {"L": "1us", "o": "200ns", "g": "500ns", "G": "1ns", "P": 2}, "one_port": true}]"#;
    let own = r#"{"L": "5us", "o": "1us", "g": "2us", "G": "1ns", "word": 1}"#;
    std::fs::write(&file, format!(r#"{{"params": {own}, "ports": "dual", {levels}}}"#)).unwrap();
    let machine = format!("--machine {}", file.display());
    let trace = folder.join("ring.loggp").display().to_string();
    let played = row(&format!("replay {RING} {machine} --trace {trace}"));
    assert_eq!((&played["ports"], &played["levels"][0]["one_port"]), (&"dual".into(), &true.into()));
    assert!(stdout_of(&format!("audit {trace}")).contains("every rule holds"));
    let (direct, by_trace) = (row(&format!("analyze {RING} {machine}")), row(&format!("analyze {trace}")));
    for key in ["time_ns", "messages", "total_ns", "path_ns", "formula", "processors", "levels"] {
        assert_eq!(direct[key], by_trace[key], "{key}");
    }
    assert_eq!(direct["time_ns"], played["time_ns"]);
    assert!(direct["formula"]["counts"]["L_1"].as_i64() > Some(0), "{}", direct["formula"]);
    // One of them 1% larger, a sweep over it, and a change of it are runs with that level.
    let changed = |L: &str| {
        let levels = "--ports dual --levels 2x2 --level";
        let own = format!("L={L},o=200ns,g=500ns,G=1ns");
        row(&format!("replay ring -P 4 --params L=5us,o=1us,g=2us,G=1ns {levels} {own}"))["time_ns"].clone()
    };
    let base = format!("analyze ring -P 4 {machine} --over L_1=1us,9us --what-if L_1=9us");
    let rows = rows(&base);
    let points = &rows[0]["over"]["points"];
    assert_eq!([&points[0]["time_ns"], &points[1]["time_ns"]], [&changed("1us"), &changed("9us")]);
    assert_eq!(rows[1]["time_ns"], changed("9us"));
    let more = rows[0]["one_percent_more"].as_array().unwrap();
    assert!(more.iter().any(|one| one["parameter"] == "L_1"), "{more:?}");
    let page = folder.join("ring.html").display().to_string();
    let said = stdout_of(&format!("timeline ring -P 4 {machine} --what-if L_1=9us -o {page}"));
    assert!(said.contains("L_1=9us"), "{said}");
}

#[test]
fn a_recorded_program_has_a_timeline() {
    let folder = folder("schedule-timelines");
    let page = folder.join("ring.html").display().to_string();
    let said = stdout_of(&format!("timeline {RING} {MACHINE} --what-if L=50us -o {page}"));
    for L in ["5us", "50us"] {
        let time =
            row(&format!("replay {RING} --params L={L},o=1us,g=2us,G=1ns"))["time_ns"].as_f64().unwrap();
        assert!(said.contains(&format!("{:.3} us", time / 1000.0)), "{time}: {said}");
    }
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("<html"));
    // A message is pointed at, and so is what was computed.
    let message = "MPI_Isend at relax (./ring.c:13), received by MPI_Irecv at relax (./ring.c:12)";
    for name in [message, "before MPI_Allreduce at main (./ring.c:31)"] {
        assert!(text.contains(name), "{name}");
    }
    let picture = folder.join("ring.svg").display().to_string();
    stdout_of(&format!("timeline {RING} {MACHINE} -o {picture}"));
    assert!(std::fs::read_to_string(&picture).unwrap().starts_with("<svg"));
}

/// To combine 8 bytes at 1 ms each takes 8 ms in each of the two rounds of an all-reduce among four ranks, of which
/// there are five; what the ranks waited for before is hidden in it.
#[test]
fn reductions_compute_if_they_shall() {
    let time = |more: &str| {
        row(&format!("replay {RING} --params L=5us,o=1us,g=2us --collectives openmpi {more}"))["time_ns"]
            .as_f64()
            .unwrap()
    };
    let (free, slow) = (time(""), time("--combine 1ms"));
    let (all, hidden) = (5.0 * 2.0 * 8.0 * 1e6, free);
    assert!((all - hidden..=all).contains(&(slow - free)), "{free} {slow}");
}

#[test]
fn wrong_requests_for_schedules_are_refused() {
    let trace = folder("schedule-refusals").join("ring.loggp").display().to_string();
    stdout_of(&format!("replay {RING} {MACHINE} --trace {trace}"));
    for (line, why) in [
        (format!("analyze {trace} -P 4"), "-P is for a schedule, and "),
        (format!("analyze {trace} --machine myrinet"), "--machine is for a schedule"),
        (format!("analyze {trace} --params L=1us"), "or change its machine with --what-if"),
        (format!("timeline {trace} --collectives mpich"), "--collectives is for a recorded MPI program"),
        (format!("analyze {RING} -P 4"), "-P is for a pattern"),
        (format!("analyze {trace} --levels 2x2"), "--levels is for a schedule"),
        (
            format!("analyze {RING} {MACHINE} --what-if L_1=4us"),
            "L_1 is of a level, and the machine has no levels",
        ),
        (format!("analyze {RING} {MACHINE} --over L_1=1us,4us"), "this machine has no L_1"),
        (
            format!("replay {RING} {MACHINE} --levels 3x2 --level L=1us,o=1us,g=1us"),
            "--levels makes 6 processors",
        ),
        (
            format!("replay ring -P 4 {MACHINE} --levels 2x2 --level L=1us,o=1us,g=1us --rules loggopsim"),
            "its machine has levels, which LogGOPSim has not",
        ),
        (
            format!("analyze {RING} {MACHINE} --what-if fragments=4"),
            "fragments is for the trace of a program's run",
        ),
        (format!("analyze {RING} {MACHINE} --what-if Q=4"), "--what-if Q=4"),
        ("analyze ring --combine 1ns".into(), "--combine is for a recorded MPI program, and ring is none"),
        (format!("replay {RING} --combine 0ns"), "it lasts longer than 0"),
    ] {
        let said = refusal(&line);
        assert!(said.contains(why), "{line}: {said}");
    }
}

/// A replay says for which machine it predicts, if nobody named one; and what was recorded names the buffer of a receive, which may be
/// longer than its message.
#[test]
fn a_replay_says_its_default_machine() {
    let note = "\npredicted for cs2-elan, the default, because no machine was given; give --machine";
    assert!(stdout_of(&format!("replay {RING}")).contains(note));
    assert!(!stdout_of(&format!("replay {RING} --machine cs2-elan")).contains(note));
    assert_refused(&[("record -o - ./app", "give -o FILE, such as -o run.mpi")]);
}
