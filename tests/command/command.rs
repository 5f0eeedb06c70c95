//! The command as a user meets it: its output, its files and its exit status.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{FromRawFd, OwnedFd};
#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::ptr::{null, null_mut};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::requests::{
    answer, answer_of, assert_refused, folder, is_ignored, kill, loggp, refusal, refusal_of, row, rows,
    stdout_of,
};

/// Runs the command on the wall clock, and returns its stdout. It may warn that this computer was late.
fn measured_stdout(line: &str) -> String {
    let (status, stdout, stderr) = answer(line);
    assert_eq!(status, Some(0), "{line}: {stderr}");
    assert!(stderr.lines().all(|warning| warning.starts_with("warning: ")), "{line}: {stderr}");
    stdout
}

/// Returns the JSON rows of runs on the wall clock, and checks what holds for all of them.
fn measured_rows(line: &str) -> Vec<Value> {
    let rows = measured_stdout(&format!("{line} --format json"));
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    for row in &rows {
        let number =
            |path: &str| row.pointer(path).unwrap().as_f64().unwrap_or_else(|| panic!("{path}: {row}"));
        assert_eq!((&row["clock"], &row["verified"]), (&json!("wall"), &json!(true)));
        assert!(number("/measured_min_ns") <= number("/measured_ns"));
        assert!(number("/measured_ns") <= number("/measured_max_ns"));
        assert!(number("/dilation") > 0.0 && number("/cores") >= 1.0);
        assert!(row["held"].is_boolean() && !row["dilation_why"].as_str().unwrap().is_empty());
        let lateness = ["p50", "p90", "p99", "max"].map(|name| number(&format!("/lateness_ns/{name}")));
        assert!(lateness.is_sorted() && lateness[0] >= 0.0 && number("/lateness_ns/finish") >= 0.0, "{row}");
        assert!((number("/measured_ns") / number("/model_ns") - 1.0 - number("/error_model")).abs() < 1e-9);
    }
    rows
}

/// Returns whether a run ended no earlier than the model says, but for a tick of this computer's clock.
fn is_not_early(row: &Value) -> bool {
    row["error_model"].as_f64().unwrap() > -1e-6
}

/// Returns a path in an empty folder of this name.
fn fresh_path(name: &str) -> PathBuf {
    folder(name).join("trace.json")
}

/// Records the trace of a run in a folder of this name.
fn record_trace(name: &str, line: &str) -> PathBuf {
    let path = fresh_path(name);
    stdout_of(&format!("{line} --trace {}", path.display()));
    path
}

#[test]
fn a_row_has_every_field() {
    let line = "run scatter -P 1024 --params L=30,o=0,g=10,G=1 --size 1 --clock virtual";
    assert_eq!(
        row(line),
        json!({
            "program": "scatter",
            "algorithm": "optimal",
            "machine": null,
            "params": {"L": 30_000_000, "o": 0, "g": 10_000_000, "G": 1_000_000, "P": 1024, "word": 8},
            "units": {"params": "ps", "times": "ns"},
            "size": 1, "options": "alpha=0.5",
            "cycle_ns": 1000,
            "latency": "exact",
            "ties": "number",
            "ports": "single",
            "capacity": "arrived",
            "noise": null,
            "barrier_ns": null,
            "work": "charged",
            "seed": 1,
            "repeat": 1,
            "dilation_asked": null,
            "clock": "virtual",
            "carrier": null,
            "formula_kind": "exact",
            "formula_source": "LogGP, section 4.7",
            "formula_ns": 1_171_000,
            "model_ns": 1_171_000,
            "measured_ns": null,
            "measured_min_ns": null,
            "measured_max_ns": null,
            "error_model": null,
            "error_formula": 0.0,
            "verified": true,
            "messages": 1023,
            "stalls": {"count": 0, "ns": 0, "max_in_transit": 3, "capacity": 3},
            "dilation": 1.0,
            "dilation_why": null,
            "cores": 1,
            "held": null,
            "lateness_ns": null,
        })
    );
}

/// The experiment of LogGP's figures 11 and 12, without any option.
#[test]
fn compare_measures_the_experiment_of_loggp() {
    let table = measured_stdout("compare scatter");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[1].ends_with(", wall clock, times in us"), "{table}");
    let titles: Vec<&str> = lines[3].split_whitespace().collect();
    assert_eq!(titles[..6], ["algorithm", "formula", "model", "vs", "formula", "measured"]);
    let cells: Vec<Vec<&str>> = lines[4..10].iter().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(cells[0][..4], ["optimal", "841.644", "841.644", "+0.00%"]);
    let number = |cell: &str| cell.replace(',', "").parse::<f64>().unwrap();
    assert!(
        cells.iter().all(|cells| number(cells[4]) >= number(cells[2]) && cells[5].ends_with('%')),
        "{table}"
    );
    assert!(cells.iter().all(|cells| cells.ends_with(&["yes"])), "{table}");
    // The table of lateness stands below.
    let titles: Vec<&str> = lines[11].split_whitespace().collect();
    assert_eq!(titles, ["dilation", "cores", "late", "p50", "p90", "p99", "max", "at", "the", "end"]);
    assert!(lines[12].starts_with("optimal ") && lines[17].starts_with("split "), "{table}");
    assert!(lines[24].starts_with("dilation"), "{table}");
}

#[test]
fn compare_shows_the_model_of_the_experiment_of_loggp() {
    let table = stdout_of("compare scatter --clock virtual");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[0],
        "scatter on cs2-elan (the default): L = 10 us, o = 3.8 us, g = 13.8 us, G = 0.092 us, P = 64, word = 4 bytes"
    );
    assert_eq!(lines[1], "size 128 (items per processor, a word each), virtual clock, times in us");
    assert!(lines[3].starts_with("algorithm ") && lines[3].ends_with(" verified"), "{}", lines[3]);
    let cells: Vec<Vec<&str>> = lines[4..].iter().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(cells[0], ["optimal", "841.644", "841.644", "+0.00%", "63", "0", "1", "of", "1", "yes"]);
    assert_eq!(cells[3][..5], ["short", "111,287.000", "111,287.000", "+0.00%", "8,064"]);
    assert_eq!(cells[5][..4], ["split", "-", "841.644", "-"]);
    let notes = [
        "",
        "formula of optimal: exact (LogGP, section 4.7)",
        "formula of binomial: exact (LogGP, lemma 2)",
        "formula of long, short: exact (LogGP, table 2)",
        "formula of fixed: exact (LogGP, section 4.6)",
        "no formula for split: the paper shows an example (LogGP, figure 10)",
    ];
    assert!(lines.ends_with(&notes), "{table}");
    // Numbers are aligned at their ends.
    let ends = |title: &str| lines[3].find(title).unwrap() + title.len();
    assert!(lines[4..10].iter().all(|line| line[..ends("model")].ends_with(|c: char| c.is_ascii_digit())));
    assert!(lines[4..10].iter().all(|line| line[ends("model")..].starts_with("  ")));
}

/// Several runs at once give the same rows in the same order.
#[test]
fn rows_are_the_same_on_any_number_of_cores() {
    for line in [
        "sweep broadcast --over P=2..40:14 --seed 3 --latency random:4",
        "compare fft -P 8 --clock virtual --work charged --size 64k",
        "sweep remap long-naive --over size=1..9:9 --machine cm5 --ties random:5",
        "run lu grid-cyclic -P 16 --size 64 --machine cm5 --ports dual",
    ] {
        let run_on = |cores: usize| loggp(&format!("{line} --format csv --cores {cores}")).output().unwrap();
        let [one, three] = [1, 3].map(run_on);
        assert!(one.status.success() && one.stdout.len() > 100, "{line}: {one:?}");
        assert_eq!((one.stdout, one.stderr), (three.stdout, three.stderr), "{line}");
    }
}

#[test]
fn compare_has_a_row_for_each_algorithm() {
    let algorithms = |line: &str| -> Vec<Value> {
        rows(&format!("compare broadcast {line} --clock virtual"))
            .iter()
            .map(|row| row["algorithm"].clone())
            .collect()
    };
    assert_eq!(algorithms(""), ["optimal", "binomial", "binary", "flat", "levels"]);
    assert_eq!(algorithms("flat binary"), ["flat", "binary"]);
}

#[test]
fn a_table_has_the_unit_of_the_parameters() {
    for (options, unit, time) in [
        ("--params L=6,o=2,g=4", "cycles", "24"),
        ("--params P=8,o=2000ns,L=6us,g=4us", "ns", "24,000"),
        ("--params L=.006ms,o=2,g=4", "ms", "0.024"),
        ("--params L=6,o=2,g=4 --cycle 25ns", "cycles", "24"),
        ("--machine cm5 -P 8", "us", "24"),
        ("--machine ncube2 -P 8 --params g=1us", "us", "418"),
        ("--machine ncube2 -P 8 --params g=40", "cycles", "16,720"),
        ("--machine myrinet -P 2", "ns", "14,284.91"),
    ] {
        let table = stdout_of(&format!("run broadcast {options}"));
        assert!(table.lines().nth(1).unwrap().ends_with(&format!("times in {unit}")), "{table}");
        let line = table.lines().find(|line| line.starts_with("optimal")).unwrap();
        assert_eq!(line.split_whitespace().nth(2), Some(time), "{table}");
    }
    assert!(stdout_of("run broadcast --params L=6,g=4 --cycle 25ns").contains("(a cycle is 25 ns)"));
}

/// --params overrides the machine, and -P both.
#[test]
fn options_override_the_machine() {
    let params = |options: &str| row(&format!("run broadcast {options}"))["params"].clone();
    let cm5 = json!({"L": 6_000_000, "o": 2_000_000, "g": 4_000_000, "G": 4_000_000, "P": 128, "word": 16});
    assert_eq!(params("--machine cm5"), cm5);
    let other = params("--machine cm5 --params L=1,G=0.5us -P 3");
    assert_eq!(
        other,
        json!({"L": 1_000_000, "o": 2_000_000, "g": 4_000_000, "G": 500_000, "P": 3, "word": 16})
    );
    assert_eq!(params("--machine cm5 --params P=5")["P"], 5);
    // Bare numbers count cycles: those of --cycle, or the machine's own.
    assert_eq!(params("--params L=6 --cycle 25ns")["L"], 150_000);
    assert_eq!(params("--machine ncube2 -P 2 --params g=4")["g"], 100_000);
    assert_eq!(params("--machine ncube2 -P 2 --params g=4 --cycle 2us")["g"], 8_000_000);
    assert_eq!(params("--machine ncube2 -P 2 --params g=4 --cycle 2us")["L"], 9_000_000);
}

#[test]
fn a_loggps_machine_has_its_own_parameters() {
    let row = row("run scatter long --machine cenju4 --size 100");
    assert_eq!((&row["machine"], &row["formula_ns"]), (&json!("cenju4"), &Value::Null));
    let params = json!({
        "L": 640_000, "o": 7_820_000, "g": 0, "O_s": 7630, "O_r": 12_770, "G_s": 570, "G_l": -12_740,
        "P": 16, "word": 1, "s": 1028, "S": 1028,
    });
    assert_eq!(row["params"], params);
    assert_eq!(row["stalls"]["capacity"], Value::Null);
    let table = stdout_of("compare broadcast --machine cenju4 --clock virtual");
    assert_eq!(table.matches("no formulas").count(), 1, "{table}");
}

#[test]
fn settings_change_the_run() {
    let time =
        |options: &str| row(&format!("run broadcast --machine cm5 {options}"))["model_ns"].as_f64().unwrap();
    let exact = time("");
    assert!(time("--latency random:1") < exact);
    assert_eq!(time("--latency random:1"), time("--latency random:1"));
    assert_ne!(time("--latency random:1"), time("--latency random:2"));
    assert_eq!(time("--ports dual --seed 7 --stack 65536 --work charged --repeat 3"), exact);
    assert_ne!(time("--work measured"), exact);
    let fixed = |alpha: &str| row(&format!("run scatter fixed --alpha {alpha}"))["model_ns"].clone();
    assert_ne!(fixed("0.1"), fixed("0.5"));
    assert!(stdout_of("run scatter fixed --alpha 0.1").contains(", alpha = 0.1\n"));

    let noisy = "--noise 100us:9us";
    assert!(time(noisy) > exact);
    assert_eq!(time(noisy), time(noisy));
    assert_ne!(time(noisy), time(&format!("{noisy} --seed 2")));
    assert_eq!(time(&format!("{noisy},seed:2")), time(&format!("{noisy} --seed 2")));
    let drawn = row(&format!("run broadcast --machine cm5 {noisy} --seeds 9"));
    assert!(drawn["model_min_ns"].as_f64() < drawn["model_max_ns"].as_f64(), "{drawn}");
    let table = stdout_of("run broadcast --noise 100us:9us,together --seed 3");
    assert!(table.lines().nth(1).unwrap().ends_with(", noise 100us:9us,together,seed:3"), "{table}");
    assert!(table.ends_with("\nformulas take the processors to be free of noise\n"), "{table}");

    let naive = "run remap short-naive --machine cm5 -P 8 --size 64";
    let until_received = format!("{naive} --capacity received");
    let (arrived, received) = (row(naive), row(&until_received));
    assert_eq!((&arrived["capacity"], &received["capacity"]), (&json!("arrived"), &json!("received")));
    assert_eq!((&arrived["model_ns"], &received["model_ns"]), (&json!(290_000), &json!(340_000)));
    let table = stdout_of(&until_received);
    assert!(table.lines().nth(1).unwrap().ends_with(", capacity until received"), "{table}");

    let table = stdout_of("run broadcast --latency random:4 --ports dual --work measured --repeat 2");
    let settings = ", work measured, random latency (seed 4), dual ports, median of 2 runs";
    assert!(table.lines().nth(1).unwrap().ends_with(settings), "{table}");
    let note = "formulas take every message to be under way for exactly L\n";
    assert!(table.ends_with(note), "{table}");
    assert!(stdout_of("run broadcast --latency exponential:4").ends_with(note));
}

/// A record of noise is read, and written into traces of runs and of schedules.
#[test]
fn noise_is_read_from_a_file_and_recorded_in_the_trace() {
    let record = fresh_path("noise.txt");
    fs::write(&record, "# a detour a line\n1000\t500\n9000 2000.5\n20000 1000\n").unwrap();
    let noise = format!("--noise {}", record.display());
    for line in ["run remap --machine cm5 -P 4 --size 8 --seed 5", "replay dissemination -P 16 --seed 5"] {
        let file = record_trace("noisy.json", &format!("{line} {noise}"));
        let audited = stdout_of(&format!("audit {}", file.display()));
        assert!(audited.ends_with("every rule holds\n"), "{audited}");
        assert_eq!(row(&format!("{line} {noise}"))["noise"], "a record of 3 detours in 21 us,seed:5");
        stdout_of(&format!("analyze {}", file.display()));
        assert_eq!(
            row(&format!("{line} {noise},seed:6,together"))["noise"],
            "a record of 3 detours in 21 us,together,seed:6"
        );
        if line.starts_with("run") {
            let time = |options: &str| row(&format!("{line} {options}"))["model_ns"].as_f64().unwrap();
            assert_eq!(time(&format!("--repeat-from {}", file.display())), time(&noise));
            assert!(time(&noise) > time(""));
        }
    }
    fs::write(&record, "1000 500\n900 20\n").unwrap();
    let refused = refusal(&format!("run broadcast {noise}"));
    assert!(
        refused.contains("line 2: its detour begins at 900 ns and takes 20 ns; give beginnings in order"),
        "{refused}"
    );
}

#[test]
fn csv_has_the_same_titles_for_every_machine() {
    let loggp = stdout_of("compare scatter --machine cm5 -P 8 --clock virtual --format csv");
    // A line with more or fewer cells than the first would be an error.
    let lines = csv::ReaderBuilder::new().has_headers(false).from_reader(loggp.as_bytes()).into_records();
    let lines: Vec<csv::StringRecord> = lines.collect::<Result<_, _>>().unwrap();
    assert_eq!(lines.len(), 1 + 6);
    let cell = |title: &str| &lines[1][lines[0].iter().position(|other| other == title).unwrap()];
    assert_eq!((cell("formula_kind"), cell("formula_source")), ("exact", "LogGP, section 4.7"));
    assert_eq!((cell("algorithm"), cell("machine"), cell("params.L")), ("optimal", "cm5", "6000000"));
    assert_eq!((cell("params.O_s"), cell("measured_ns"), cell("lateness_ns.p50")), ("", "", ""));
    assert_eq!((cell("verified"), cell("stalls.capacity")), ("true", "2"));
    let loggps = stdout_of("run broadcast --machine myrinet --format csv");
    assert_eq!(loggps.lines().next(), loggp.lines().next());
    assert_eq!(loggps.lines().count(), 2);
}

/// CSV has every value of JSON, with its path as the title.
#[test]
fn csv_has_every_value_of_json() {
    fn paths(value: &Value, path: String, all: &mut Vec<String>) {
        match value.as_object() {
            Some(object) => object.iter().for_each(|(name, value)| {
                paths(value, if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, all)
            }),
            None => all.push(path),
        }
    }
    let csv = stdout_of("run broadcast --format csv");
    let titles: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let mut all = Vec::new();
    paths(&row("run broadcast --machine cm5"), String::new(), &mut all);
    paths(&row("run broadcast --machine cenju4"), String::new(), &mut all);
    paths(&measured_rows("run broadcast -P 2 --clock wall")[0], String::new(), &mut all);
    for path in all {
        assert!(titles.contains(&&*path) || titles.contains(&&*format!("{path}.p50")), "{path}");
    }
}

#[test]
fn programs_lists_every_algorithm_with_its_formula() {
    let list = stdout_of("programs");
    for part in
        ["broadcast: ", "scatter: ", "items per processor, a word each; 128 by default", "(LogGP, lemma 2)"]
    {
        assert!(list.contains(part), "{part}");
    }
    assert!(list.matches("formula: ").count() >= 10, "{list}");
}

#[test]
fn programs_are_json_objects_too() {
    let objects: Vec<Value> =
        stdout_of("programs --format json").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scatter = objects.iter().find(|program| program["program"] == "scatter").unwrap();
    assert_eq!((&scatter["size"]["default"], &scatter["options"][0]["name"]), (&json!(128), &json!("alpha")));
    let split = &scatter["algorithms"][5];
    assert_eq!((&split["name"], &split["formula"]), (&json!("split"), &Value::Null));
    assert!(split["no_formula"].as_str().unwrap().contains("figure 10"));
    let short = &scatter["algorithms"][3];
    assert_eq!(
        (&short["formula_source"], &split["formula_source"]),
        (&json!("LogGP, table 2"), &Value::Null)
    );
}

#[test]
fn machines_lists_every_value_with_its_source() {
    let list = stdout_of("machines");
    let lines: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    let has = |words: &[&str]| lines.iter().any(|line| line.starts_with(words));
    assert!(has(&["cs2-elan:", "Meiko"]));
    assert!(has(&["L", "8.6", "us", "LogGP,", "table", "1"]));
    assert!(has(&["g", "open", "LogP,", "section", "5.2:"]));
    assert!(has(&["longest", "4333", "words"]));
    assert!(has(&["word", "1", "byte"]));
}

/// LogP, section 5.1: the averages of its table, and those that are counted in networks that can be built.
#[test]
fn machines_lists_networks() {
    let list = stdout_of("machines --topology");
    let lines: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    let row = |name: &str| lines.iter().find(|line| line.join(" ").starts_with(name)).unwrap().join(" ");
    assert_eq!(row("hypercube"), "hypercube 1,024 log2 P / 2 5 1,024 2^10 5 5 5 10");
    assert_eq!(row("3d torus"), "3d torus 1,024 3/4 P^(1/3) 7.56 1,000 10 x 10 x 10 7.5 7.5 7.51 15");
    let rows = rows("machines --topology -P 64,20000");
    assert_eq!(rows.len(), 14);
    assert_eq!((&rows[3]["average"]["counted"], &rows[3]["built"]["nodes"]), (&json!(3.0), &json!(64)));
    assert_eq!((&rows[7]["average"]["counted"], &rows[7]["built"]["P"]), (&json!(null), &json!(16384)));
    assert_eq!(stdout_of("machines --topology --format csv").lines().count(), 8);
}

#[test]
fn a_recorded_run_is_written_as_a_schedule() {
    let path = record_trace("goal", "run broadcast -P 3 --params L=6,o=2,g=4");
    let goal = stdout_of(&format!("trace2goal {}", path.display()));
    let send = |label: &str, to: usize| format!("{label}: send 8b to {to} tag 0");
    for part in [
        "// tag 0: ",
        "\nnum_ranks 3\n\nrank 0 {\nl1: ",
        &send("l1", 1),
        &send("l2", 2),
        "l2 requires l1\n}\n\nrank 1 {\nl1: recv 8b from 0 tag 0\n}\n",
    ] {
        assert!(goal.contains(part), "{part:?}: {goal}");
    }
    let schedule = path.with_extension("goal");
    fs::write(&schedule, goal).unwrap();
    let sentence = refusal(&format!("audit {}", schedule.display()));
    assert!(sentence.contains("this is a schedule, and no trace of a run; `loggp replay "), "{sentence}");
    let requests = record_trace("requests", "run message nonblocking -P 2 --meanwhile 5us");
    for (path, says) in [(&requests, true), (&path, false)] {
        let (_, _, stderr) = answer(&format!("trace2goal {}", path.display()));
        assert_eq!(stderr.starts_with("left out: what the calls for requests"), says, "{stderr}");
    }
    assert!(refusal(&format!("trace2goal {} --unit 0ns", path.display())).contains("it lasts longer than 0"));
    let old = fs::read_to_string(&path).unwrap().replace(r#""cat":"call""#, r#""cat":"work""#);
    let old = old.replace(r#""pid":16777217"#, r#""pid":1"#);
    fs::write(&path, old).unwrap();
    let sentence = refusal(&format!("trace2goal {}", path.display()));
    let why = "the trace holds no calls: it is of a schedule that was played, or was recorded long ago; record a run of a program";
    assert!(sentence.ends_with(why), "{sentence}");
}

#[test]
fn the_wall_clock_measures_what_the_model_says() {
    for line in [
        "compare broadcast --params L=6,o=2,g=4",
        "run scatter -P 16 --clock wall",
        "run scatter short -P 4 --size 16 --clock wall --params L=40us,g=2us,o=1us,G=1us --ports dual",
        "run broadcast --machine cm5 -P 2 --clock wall --latency random:3 --cores 1",
        "run broadcast --machine myrinet -P 3 --clock wall",
    ] {
        let rows = measured_rows(line);
        assert!(!rows.is_empty() && rows.iter().all(is_not_early), "{line}: {rows:?}");
    }
    // The model's work is measured separately, so either run may be the shorter one.
    measured_rows("run scatter -P 4 --clock wall --work measured");
}

#[test]
fn a_dilation_and_the_cores_can_be_chosen() {
    let row = &measured_rows("run scatter -P 4 --clock wall --dilation 40 --cores 1")[0];
    assert_eq!(
        (&row["dilation"], &row["dilation_why"], &row["cores"]),
        (&json!(40.0), &json!("as asked"), &json!(1))
    );
    assert!(is_not_early(row));
    let row = &measured_rows("run scatter -P 4 --clock wall --dilation auto")[0];
    assert!(row["dilation"].as_f64().unwrap() > 1.0, "this is a short run: {row}");
}

#[test]
fn a_carrier_can_be_chosen() {
    for (carrier, part) in [("thread", "wall clock, times"), ("coroutine", "wall clock on coroutines, times")]
    {
        let row = &measured_rows(&format!("compare remap short-naive -P 12 --carrier {carrier}"))[0];
        assert_eq!(row["carrier"], carrier);
        assert!(is_not_early(row), "{row}");
        let table = measured_stdout(&format!("run scatter optimal -P 4 --clock wall --carrier {carrier}"));
        assert!(table.lines().nth(1).unwrap().contains(part), "{table}");
    }
}

#[test]
fn several_runs_have_a_shortest_and_a_longest() {
    let rows = measured_rows("compare scatter optimal long -P 4 --repeat 3");
    assert!(rows.len() == 2 && rows.iter().all(is_not_early));
    let table = measured_stdout("run scatter -P 4 --clock wall --repeat 2");
    assert!(table.lines().nth(1).unwrap().ends_with(", median of 2 runs"), "{table}");
    let titles: Vec<&str> = table.lines().nth(3).unwrap().split_whitespace().collect();
    assert!(titles.windows(3).any(|titles| titles == ["measured", "min", "max"]), "{table}");
}

/// A run that is late on every computer has a right result and a marked time, and stderr says what helps.
#[test]
fn a_late_run_is_marked() {
    let (status, table, warning) = answer("run scatter -P 4 --clock wall --dilation 0.001");
    assert_eq!(status, Some(0));
    let line = table.lines().nth(4).unwrap();
    assert!(line.contains("%  late ") && line.ends_with("  yes"), "{table}");
    assert!(
        table.contains("\nlate: this computer did not keep up, so do not compare this time; "),
        "{table}"
    );
    let last = warning.lines().last().unwrap();
    assert!(last.starts_with("warning: this computer was late: optimal; a larger --dilation or --cycle, "));

    let rows = measured_rows("compare scatter long -P 4 --dilation 0.001");
    assert_eq!(rows[0]["held"], false);
}

/// Starts a command that would take more than a minute, and waits until it has started to write a file into
/// an empty folder.
#[cfg(unix)]
fn start_writing(mut command: Command, folder: &Path) -> Child {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while file_count(folder) == 0 {
        assert!(started.elapsed() < Duration::from_secs(30), "the draft");
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(100));
    child
}

fn file_count(folder: &Path) -> usize {
    folder.read_dir().unwrap().count()
}

/// Ctrl-C, and the other signals that end a command.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_command_at_once_and_leaves_nothing() {
    let signals =
        [("INT", 2, 130, "interrupted"), ("TERM", 15, 143, "terminated"), ("HUP", 1, 129, "hung up")];
    for (signal, _, status, says) in signals.into_iter().filter(|(_, number, ..)| !is_ignored(*number)) {
        for line in [
            "run scatter -P 4 --clock wall --dilation 1e6 --trace",
            "run scatter -P 4 --clock wall --dilation 1e6 -o",
            "sweep scatter --over P=4,5 --clock wall --dilation 1e6 -o",
            "calibrate --dilation 1e6 -o",
            "stress --dilation 1e6 -o",
        ] {
            let ending = if line.ends_with("--trace") { "json" } else { "svg" };
            let path = fresh_path(&format!("signal-{signal}")).with_extension(ending);
            let folder = path.parent().unwrap();
            let started = Instant::now();
            let child = start_writing(loggp(&format!("{line} {}", path.display())), folder);
            kill(&child, signal);
            let output = child.wait_with_output().unwrap();
            assert!(started.elapsed() < Duration::from_secs(60), "it ended by itself");
            assert_eq!((output.status.code(), output.stdout.len()), (Some(status), 0), "{line}");
            assert_eq!(output.stderr, format!("{says}; nothing was written\n").as_bytes());
            assert_eq!(file_count(folder), 0, "{line}");
        }
    }
}

/// The rows that a command has when it is ended are in the files of `-o`.
#[cfg(unix)]
#[test]
fn a_signal_keeps_the_rows_in_their_files() {
    if is_ignored(2) {
        return;
    }
    let folder = folder("signal-kept");
    let [csv, txt, svg] = ["rows.csv", "rows.txt", "rows.svg"].map(|name| folder.join(name));
    let line = "sweep broadcast flat --over P=2..60:50 --clock wall --dilation 20000 --format json";
    let mut command =
        loggp(&format!("{line} -o {} -o {} -o {}", csv.display(), txt.display(), svg.display()));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // What is there of the first row is there when the second comes.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(lines.next().unwrap().is_ok());
    kill(&child, "INT");
    let rest = lines.count();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{first}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("interrupted after ") && said.contains(", kept in rows.csv"), "{said}");
    let rows = fs::read_to_string(&csv).unwrap().lines().count() - 1;
    assert!((1..=rest + 2).contains(&rows), "{rows}, {rest}");
    assert!(fs::read_to_string(&txt).unwrap().contains("\n2  flat "));
    assert!(fs::read_to_string(&svg).unwrap().ends_with("</svg>\n"));
    assert_eq!(file_count(&folder), 3);
}

/// `nohup` ignores SIGHUP.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let path = fresh_path("nohup");
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' HUP; exec \"$0\" run scatter -P 4 --clock wall --dilation 1e6 --trace \"$1\""]);
    command.args([env!("CARGO_BIN_EXE_loggp"), path.to_str().unwrap()]);
    let mut child = start_writing(command, path.parent().unwrap());
    kill(&child, "HUP");
    sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None);
    kill(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

/// A command that fails or is ended leaves an old file as it was. One that succeeds replaces it.
#[cfg(unix)]
#[test]
fn an_old_file_stays_until_a_new_one_is_whole() {
    let path = fresh_path("old").with_extension("svg");
    let folder = path.parent().unwrap();
    let shown = path.display();
    fs::write(&path, "old").unwrap();
    let assert_old = |line: &str| {
        assert_eq!(fs::read_to_string(&path).unwrap(), "old", "{line}");
        assert_eq!(file_count(folder), 1, "{line}");
    };
    // Messages of this machine are not that long.
    for line in [
        "run scatter --machine cenju4 --size 9999 -o",
        "sweep scatter long --machine cenju4 --over size=9000,9999 -o",
        "sweep scatter long --machine cenju4 --over size=10,9999 -o",
    ] {
        assert_eq!(answer(&format!("{line} {shown}")).0, Some(1), "{line}");
        assert_old(line);
    }
    for line in [
        format!("sweep scatter --over size=0,0 -o {shown}"),
        format!("run scatter -P 600 -o {shown}"),
        format!("stress --load 99999999 -o {shown}"),
        format!("run scatter -o {shown} -o /nowhere/x.svg"),
    ] {
        refusal(&line);
        assert_old(&line);
    }
    let line = format!("run scatter -P 4 --clock wall --dilation 1e6 -o {shown}");
    let mut child = loggp(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while file_count(folder) == 1 {
        assert!(started.elapsed() < Duration::from_secs(30), "the draft");
        sleep(Duration::from_millis(5));
    }
    kill(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_old(&line);

    // The file keeps its permissions, and a link to it remains a link.
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.join("link.svg");
    symlink("old.svg", &link).unwrap();
    fs::rename(&path, folder.join("old.svg")).unwrap();
    let path = folder.join("old.svg");
    stdout_of(&format!("sweep broadcast flat --over P=2,3 -o {}", link.display()));
    assert!(fs::read_to_string(&path).unwrap().starts_with("<svg"));
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!((mode(&path), file_count(folder)), (0o640, 2));
    // A link to a missing file creates the file.
    fs::remove_file(&path).unwrap();
    stdout_of(&format!("run broadcast -o {}", link.display()));
    assert!(path.is_file() && link.symlink_metadata().unwrap().is_symlink());
    // Its permissions are those of any new file.
    fs::write(folder.join("new"), "").unwrap();
    assert_eq!(mode(&path), mode(&folder.join("new")));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
    assert!(refusal(&format!("run broadcast -o {}", path.display())).contains("may not be written"));
}

/// The second file would replace the first.
#[cfg(unix)]
#[test]
fn two_files_with_one_name_are_refused() {
    let path = fresh_path("twice").with_file_name("x.svg");
    let folder = path.parent().unwrap();
    symlink("x.svg", folder.join("link.svg")).unwrap();
    symlink("../twice/link.svg", folder.join("chain.svg")).unwrap();
    symlink("circle.svg", folder.join("circle.svg")).unwrap();
    let run = |one: &str, other: &str| {
        let mut command = loggp("run broadcast --clock wall --dilation 1e6");
        command.current_dir(folder).args(["-o", one, "-o", other]);
        command
    };
    for there in [false, true] {
        if there {
            fs::write(&path, "old").unwrap();
        }
        let before = file_count(folder);
        for (one, other) in [
            ("x.svg", "x.svg"),
            ("x.svg", "./x.svg"),
            ("x.svg", "../twice/x.svg"),
            ("link.svg", "x.svg"),
            ("chain.svg", "link.svg"),
        ] {
            let sentence = refusal_of(run(one, other));
            let right =
                format!("--output and --output name the same file, {other}; give each a file of its own");
            assert_eq!((sentence, file_count(folder)), (right, before));
        }
        let sentence = refusal_of(run("circle.svg", "x.svg"));
        assert!(sentence.contains("a link that leads to no file"), "{sentence}");
        assert_eq!(file_count(folder), before);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

#[test]
fn an_audit_finds_broken_rules() {
    let path = record_trace("audit-broken", "run broadcast --params L=6,o=2,g=4");
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, good.replace(r#""L":6000000"#, r#""L":5000000"#)).unwrap();
    let (status, stdout, stderr) = answer(&format!("audit {}", path.display()));
    assert_eq!(status, Some(1));
    assert!(stdout.contains("a message is under way for the latency, but "));
    assert!(stderr.starts_with("error: the trace breaks the rules of the machine: "));

    for (bad, why) in [
        (&good[..good.len() / 2], "it ends too early: "),
        ("{}", "it is JSON of another kind"),
        ("", "it is empty"),
    ] {
        fs::write(&path, bad).unwrap();
        let sentence = refusal(&format!("audit {}", path.display()));
        assert!(
            sentence.contains("this is not the trace of a run: ") && sentence.contains(why),
            "{sentence}"
        );
    }
    fs::write(&path, [0xff, 0xfe, 0]).unwrap();
    refusal(&format!("audit {}", path.display()));
    let folder = path.parent().unwrap();
    let sentence = refusal(&format!("audit {}", folder.display()));
    assert!(sentence.ends_with(": it cannot be read: Is a directory"), "{sentence}");
}

#[test]
fn a_run_that_fails_says_what_the_processors_did() {
    let (status, stdout, stderr) = answer("run scatter --machine cenju4 --size 9999");
    assert_eq!((status, &*stdout), (Some(1), ""));
    assert!(stderr.contains("a message on this machine has at most 4333, because a longer one would arrive before it is sent, by G_l\n  processor 0 at "));
    assert!(!stderr.contains("panicked"));

    // If some fail, the others are compared.
    let line = "compare scatter long short --machine cenju4 --size 5000 --clock virtual";
    let (status, stdout, stderr) = answer(line);
    assert!(status == Some(1) && stdout.contains("\nshort "), "{stdout}");
    assert!(stderr.starts_with("error: long failed: processor 0 sent 5000 words at once"), "{stderr}");
}

/// The time of a naive schedule depends on the order at one moment; that of a staggered one does not.
#[test]
fn ties_are_settled_as_asked() {
    let time = |line: &str| row(&format!("run remap {line} -P 16 --machine cm5"))["model_ns"].clone();
    let [number, rotation, random] = ["number", "rotation", "random:1"].map(|ties| {
        [time(&format!("long-naive --ties {ties}")), time(&format!("short-staggered --ties {ties}"))]
    });
    assert!(number[0] != rotation[0] && rotation[0] != random[0] && random[0] != number[0]);
    assert!(number[1] == rotation[1] && rotation[1] == random[1]);
    assert_eq!(time("long-naive"), number[0]);
    assert_eq!(row("run remap --ties random:7")["ties"], "random:7");
    assert!(stdout_of("run remap --ties random:7").contains(", random ties (seed 7)"));
    let stalled = |ties| {
        row(&format!("stress fft-naive -P 8 --load 32 --machine cm5 --clock virtual --ties {ties}"))["stalls"]
            ["ns"]
            .clone()
    };
    assert_ne!(stalled("number"), stalled("random:3"));
}

#[test]
fn help_and_version_go_to_stdout() {
    assert!(stdout_of("--help").contains("Usage: loggp [OPTIONS] <COMMAND>"));
    let lu = stdout_of("run lu --help");
    assert!(
        lu.contains("--params <NAME=VALUE,...>") && lu.contains("--grid <RxC>") && !lu.contains("--alpha")
    );
    let version = concat!("loggp ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(stdout_of("-V"), version);
    let lines = stdout_of("--version");
    let mut lines = lines.strip_prefix(version).unwrap().lines();
    let has = |is_built| if is_built { "yes" } else { "no" };
    let [papers, mpi, link, pictures] = [
        cfg!(feature = "papers"),
        cfg!(feature = "mpi"),
        cfg!(feature = "mpi-link"),
        cfg!(feature = "pictures"),
    ]
    .map(has);
    let features =
        format!("features: papers {papers}, mpi {mpi}, mpi-link {link}, pictures {pictures}, python no");
    assert_eq!(lines.next(), Some(&*features));
    // Only a build of what is released names the commit; `.ci/package` looks at that.
    let commit = lines.next().unwrap().strip_prefix("commit: ").unwrap();
    let is_commit = commit.len() >= 12 && commit.as_bytes()[..12].iter().all(u8::is_ascii_hexdigit);
    assert!(is_commit || commit.starts_with("unknown"), "{commit}");
    for (line, shown) in [("run", "Programs:"), ("", "Usage: loggp [OPTIONS] <COMMAND>")] {
        let (status, stdout, stderr) = answer(line);
        assert_eq!((status, &*stdout), (Some(2), ""));
        assert!(stderr.contains(shown), "{stderr}");
    }
}

/// The name of a picture says what it shows, unless an option does: LogP's figures 3 and 4.
#[test]
fn a_run_is_drawn_as_it_went_or_as_its_tree() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let draw = |line: &str, name: &str| {
        stdout_of(&format!("{line} -o {}", file(name).display()));
        fs::read_to_string(file(name)).unwrap()
    };
    let labels = |svg: &str| {
        let texts = svg.split("</text>").filter_map(|text| text.rsplit('>').next()?.parse::<u32>().ok());
        texts.collect::<Vec<u32>>()
    };
    let tree = draw("run broadcast P=8 L=6 o=2 g=4", "tree.svg");
    assert_eq!(labels(&tree), [0, 10, 14, 18, 20, 22, 24, 24]);
    assert!(tree.contains("in each node when it has the data [cycles], and its number above"));
    assert!(draw("run broadcast P=8 L=6 o=2 g=4", "run.svg").contains("P1 send overhead: 10 to 12 cycles"));
    let sum = draw("run summation P=8 L=5 o=2 g=4 --time 28 --draw tree", "sum.svg");
    assert_eq!(labels(&sum), [28, 6, 10, 14, 18, 4, 4, 8]);
    assert!(sum.contains("when its result is ready"));
    assert!(draw("replay ring P=4 L=6 o=2 g=4 G=0", "ring.svg").contains("P3 receive overhead"));
    // Two processors of a broadcast, and of a sum: the root is above.
    assert_eq!(labels(&draw("run broadcast P=2 L=6 o=2 g=4", "tree.svg")), [0, 10]);
    assert_eq!(labels(&draw("run summation P=2 L=5 o=2 g=4 --time 28", "tree.svg"))[0], 28);
    if cfg!(not(feature = "pictures")) {
        let refusal = refusal("run broadcast -o tree.png");
        assert_eq!(
            refusal,
            "tree.png: this loggp was built without PNG and PDF; install it with `cargo install loggp-cli --features \
             pictures`, or write tree.svg"
        );
    }
}

/// A wrong command line is answered with the usage of the whole subcommand, and with what does here what was meant.
#[test]
fn wrong_words_are_answered_with_what_was_meant() {
    for (line, part) in [
        (
            "run fft --sort",
            "tip: rows keep the order of what was asked; `loggp tune` begins with the fastest",
        ),
        ("compare --machine cm5", "no program is named; `loggp programs` lists all"),
        ("run fft -n 4", "tip: -P 8 is for the processors, and --size 64 for the size"),
        ("compare fft --runs 4", "tip: --repeat 5 makes five runs of each"),
        ("fft", "there is no subcommand fft; for the program there is `loggp run fft`;"),
        (
            "run all-reduce",
            "for the collective there is `loggp tune collective allreduce`; the program combining is like it",
        ),
        ("schedule all-reduce", "for the collective there is allreduce:"),
        (
            "tune fft --machine cm5 --machine cs2-elan",
            "--machine cm5,cs2-elan: run, compare and sweep take several machines",
        ),
    ] {
        assert_refused(&[(line, part)]);
    }
    for line in ["run fft --sort", "run fft --port dual", "run fft flat tree"] {
        let (_, _, stderr) = answer(line);
        assert!(stderr.contains("\n\nUsage: loggp run fft [OPTIONS] [ALGORITHM]\n\n"), "{line}: {stderr}");
    }
}

/// Machines can be named with commas, and each with its own option.
#[test]
fn machines_that_are_named_apart_are_compared() {
    let line = "compare broadcast optimal flat -P 4 --clock virtual";
    let both = stdout_of(&format!("{line} --machine cm5,cs2-elan"));
    assert_eq!(stdout_of(&format!("{line} --machine cm5 --machine cs2-elan")), both);
    assert!(both.contains("broadcast on cm5: ") && both.contains("broadcast on cs2-elan: "), "{both}");
}

/// Runs are drawn below each other over one axis, each with the name of its file.
#[test]
fn two_traces_are_drawn_over_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    for (order, ending) in [("naive", "json"), ("staggered", "loggp")] {
        let trace = file(&format!("{order}.{ending}"));
        stdout_of(&format!("run remap short-{order} --machine cm5 -P 4 --size 64 --trace {trace}"));
    }
    let picture = file("slide.svg");
    stdout_of(&format!("timeline {} {} -o {picture}", file("naive.json"), file("staggered.loggp")));
    let svg = fs::read_to_string(&picture).unwrap();
    for text in ["naive: remap on cm5, short-naive", "staggered: remap on cm5, short-staggered"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
    assert_eq!([svg.matches(">P3</text>").count(), svg.matches(">time [us]</text>").count()], [2, 1]);
    stdout_of(&format!("timeline {} --what-if L=9us -o {picture}", file("naive.json")));
    assert!(fs::read_to_string(&picture).unwrap().contains(">L=9us: remap on cm5, short-naive<"));
}

/// A page shows a program, a trace or a schedule, and holds one more run for each that is shown beside it.
#[test]
fn a_timeline_page_holds_every_run() {
    let trace = record_trace("looked-into.loggp", "run remap short-naive --machine cm5 -P 4 --size 64");
    let page = trace.with_extension("html");
    let (of_trace, to) = (trace.display(), page.display());
    let count_runs = |line: &str| {
        measured_stdout(line);
        let html = std::fs::read_to_string(&page).unwrap();
        assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
        std::fs::remove_file(&page).unwrap();
        html.matches("<script type=\"text/plain\" class=\"run\">").count()
    };
    assert_eq!(count_runs(&format!("timeline {of_trace} -o {to}")), 1);
    // A page from a trace says the same about the run as a page from the run itself.
    let run_data = |line: &str| {
        stdout_of(line);
        let html = std::fs::read_to_string(&page).unwrap();
        let (_, rest) = html.split_once("id=\"meta\">").unwrap();
        let meta: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
        let run = &meta["runs"][0];
        (meta["title"].clone(), run["about"].clone(), run["marks"].clone())
    };
    let recorded = run_data(&format!("timeline {of_trace} -o {to}"));
    let at_once = run_data(&format!("run remap short-naive --machine cm5 -P 4 --size 64 -o {to}"));
    assert_eq!(recorded, at_once);
    assert_eq!(recorded.0, "remap on cm5, short-naive");
    assert!(
        recorded.1.as_str().unwrap().contains("size 64") && recorded.2[0][0] == "formula",
        "{recorded:?}"
    );
    assert_eq!(
        count_runs(&format!(
            "timeline {of_trace} --beside {of_trace} --what-if L=9us --what-if o=1us -o {to}"
        )),
        4
    );
    assert_eq!(count_runs(&format!("timeline broadcast binomial -P 4 --beside {of_trace} -o {to}")), 2);
    assert_eq!(count_runs(&format!("timeline broadcast -P 2 --clock wall -o {to}")), 2);
    assert_eq!(count_runs(&format!("run broadcast -o {to}")), 1);
    assert_eq!(count_runs(&format!("replay ring -P 8 --params L=6,o=2,g=4,G=0 -o {to}")), 1);

    let picture = trace.with_extension("svg");
    stdout_of(&format!("timeline {of_trace} --from 20us --until 40us --only 2-3,0 -o {}", picture.display()));
    let svg = std::fs::read_to_string(&picture).unwrap();
    let names: Vec<&str> =
        ["P2", "P3", "P0", "P1"].into_iter().filter(|name| svg.contains(&format!(">{name}<"))).collect();
    assert_eq!(names, ["P2", "P3", "P0"]);
    assert!(svg.contains("stall: ") && !svg.contains("send overhead: 0 to"));

    assert_refused(&[
        (format!("timeline {of_trace} -o x.gif"), "give a name that ends in .html"),
        (format!("timeline {of_trace} --only 0 -o {to}"), "--only is for a picture"),
        (
            format!("timeline {of_trace} --only 3-9 -o {}", picture.display()),
            "there is no processor 4; there are 4",
        ),
        (
            format!("timeline {of_trace} --only 3-1 -o {}", picture.display()),
            "give processors, such as 0-7,12",
        ),
        (
            format!("timeline {of_trace} --from 9us --until 3us -o {to}"),
            "--from 9 us is not before --until 3 us",
        ),
    ]);
    assert!(!page.exists());
}

/// The ending of a file selects its form, and its content equals that of stdout in that form.
#[test]
fn a_file_has_the_form_that_its_ending_says() {
    let folder = tempfile::tempdir().unwrap();
    let name = |ending: &str| folder.path().join(format!("x.{ending}")).display().to_string();
    let line = "compare lu -P 4 --size 32 --clock virtual";
    let files = ["csv", "json", "txt", "svg"].map(|ending| format!(" -o {}", name(ending))).concat();
    let table = stdout_of(&format!("{line}{files}"));
    let written = |ending: &str| std::fs::read_to_string(name(ending)).unwrap();
    assert_eq!(written("txt"), table);
    assert_eq!(written("csv"), stdout_of(&format!("{line} --format csv")));
    assert_eq!(written("json"), stdout_of(&format!("{line} --format json")));
    assert!(written("svg").starts_with("<svg"));
}

/// The merged shards of a sweep equal the sweep.
#[test]
fn shards_are_merged_to_what_one_run_writes() {
    let folder = tempfile::tempdir().unwrap();
    let name = |name: &str| folder.path().join(name).display().to_string();
    let sweep = "sweep scatter optimal binomial --over P=2,3,5,8,9";
    for ending in ["csv", "json"] {
        let parts: Vec<String> = (1..=3).map(|part| name(&format!("{part}.{ending}"))).collect();
        for (part, file) in (1..).zip(&parts) {
            stdout_of(&format!("{sweep} --shard {part}/3 -o {file}"));
        }
        let whole = stdout_of(&format!("{sweep} --format {ending}"));
        assert_eq!(stdout_of(&format!("merge {}", parts.join(" "))), whole);
    }
    assert_refused(&[
        (format!("merge {} {}", name("3.csv"), name("1.csv")), "give all, in their order"),
        (format!("merge {} {}", name("1.csv"), name("2.json")), "give files of one kind"),
    ]);
}

/// A schedule that does not fit in memory is refused before it is played.
#[test]
#[cfg(target_os = "linux")]
fn a_schedule_that_is_too_large_is_refused() {
    for rules in ["papers", "loggopsim"] {
        let line = format!("replay all-to-all -P 2000 --rules {rules}");
        let command = format!("ulimit -v 100000; exec {} {line}", env!("CARGO_BIN_EXE_loggp"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]);
        let (status, _, stderr) = answer_of(shell);
        assert_eq!(status, Some(2), "{stderr}");
        assert!(stderr.contains("to play 7,996,000 operations of 2000 ranks takes "), "{stderr}");
    }
}

#[test]
fn no_table_of_a_matrix_is_too_wide() {
    for line in ["matrix", "matrix random", "matrix figure-1"] {
        let shown = stdout_of(line);
        assert!(shown.lines().all(|line| line.len() <= 120) && shown.contains("c_j"), "{shown}");
    }
    let shown = stdout_of("matrix");
    assert_eq!((shown.matches("\nc_j").count(), shown.matches("r_i").count()), (2, 1), "{shown}");
}

/// A table is as wide as the terminal; without a terminal as wide as `COLUMNS` says, or 100.
#[cfg(target_os = "linux")]
#[test]
fn tables_are_as_wide_as_the_terminal() {
    let line = "compare lu -P 4 --size 16 --clock virtual";
    let in_pipe = |columns: Option<&str>| {
        let mut command = loggp(line);
        match columns {
            Some(columns) => command.env("COLUMNS", columns),
            None => command.env_remove("COLUMNS"),
        };
        answer_of(command).1
    };
    let on_terminal = |columns: u16| {
        let (mut ours, mut theirs) = (0, 0);
        let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: two pointers are to integers, the last one is to a size, and the others are null.
        let opened = unsafe { libc::openpty(&mut ours, &mut theirs, null_mut(), null(), &size) };
        assert_eq!(opened, 0);
        // SAFETY: both descriptors have just been opened, and have no other owner.
        let (mut ours, theirs) = unsafe { (fs::File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
        // The terminal's width overrides `COLUMNS`.
        let mut command = loggp(line);
        let mut child = command.env("COLUMNS", "30").stdout(theirs).stderr(Stdio::null()).spawn().unwrap();
        drop(command);
        // Reading fails at the end of a terminal.
        let mut shown = Vec::new();
        _ = ours.read_to_end(&mut shown);
        assert!(child.wait().unwrap().success());
        String::from_utf8(shown).unwrap().replace("\r\n", "\n")
    };
    let widest = |shown: &str| shown.lines().map(|line| line.chars().count()).max().unwrap();
    // What all rows have may stand in a line below, with a colon or a comma behind it.
    let words = |shown: &str| -> BTreeSet<String> {
        shown.split_whitespace().map(|word| word.trim_end_matches([',', ':']).into()).collect()
    };
    let tables = |shown: &str| shown.lines().filter(|line| line.starts_with("algorithm ")).count();
    let wide = on_terminal(200);
    assert_eq!((tables(&wide), tables(&on_terminal(80))), (1, 1), "{wide}");
    assert!(tables(&on_terminal(40)) > 1);
    for columns in [60, 80, 100, 200] {
        let shown = on_terminal(columns);
        assert!(widest(&shown) <= columns.into(), "{columns}:\n{shown}");
        assert_eq!(words(&shown), words(&wide), "{columns}");
    }
    let table = |shown: &str| {
        widest(&shown.lines().skip(3).take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"))
    };
    assert_eq!(
        (in_pipe(None), in_pipe(Some("x")), in_pipe(Some("0"))),
        (in_pipe(Some("100")), in_pipe(Some("100")), in_pipe(Some("100")))
    );
    assert!(table(&in_pipe(Some("80"))) <= 80 && table(&in_pipe(Some("200"))) > 100);
}

/// The first line of each help names the default clock.
#[test]
fn a_help_begins_with_the_usual_clock() {
    for (line, clock) in [
        ("run", "virtual"),
        ("run lu", "virtual"),
        ("sweep", "virtual"),
        ("sweep rtt", "virtual"),
        ("compare", "wall"),
        ("compare lu", "wall"),
        ("stress", "wall"),
        ("calibrate", "wall"),
    ] {
        let help = stdout_of(&format!("{line} --help"));
        assert!(help.lines().next().unwrap().contains(&format!("{clock} clock")), "{line}: {help}");
    }
}

/// An argument `NAME=VALUE` is a parameter, and what comes last counts.
#[test]
fn parameters_are_arguments() {
    let figure_3 = "run broadcast optimal -P 8 --params L=6,o=2,g=4";
    let said = stdout_of(figure_3);
    assert!(said.contains("\noptimal         24     24"), "{said}");
    for line in [
        "run broadcast P=8 L=6 o=2 g=4 optimal",
        "run broadcast optimal L=6,o=2,g=4",
        "run -P 8 broadcast optimal --params L=6 o=2 g=4",
        "run broadcast optimal -P 4 L=9 L=6 --params o=2,g=3 g=4 P=8",
        "run broadcast optimal --params P=2 -P 8 -P 8 L=6 o=2 g=4",
    ] {
        assert_eq!(stdout_of(line), said, "{line}");
    }
    let mut blanks = loggp("run broadcast optimal");
    blanks.args(["--params", "L = 6 o=2, g = 4 us P=8"]);
    let (status, stdout, stderr) = answer_of(blanks);
    assert_eq!((status, stdout, &*stderr), (Some(0), said, ""));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("parameters.json");
    std::fs::write(&file, r#"{"params": {"L": "1us", "o": "1us", "g": "1us"}}"#).unwrap();
    let over =
        format!("sweep broadcast optimal --over L=6us,7us --machine {} L=9us o=2us P=8", file.display());
    let times: Vec<Value> =
        rows(&format!("{over} g=4us")).into_iter().map(|row| row["model_ns"].clone()).collect();
    assert_eq!(times[0], 24_000.0);
    assert_eq!(times.len(), 2);

    let ring = |line: &str| stdout_of(&format!("replay ring {line}"));
    assert_eq!(ring("P=4 L=6 o=2 g=4 G=1"), ring("-P 4 --params L=6,o=2,g=4,G=1"));
    assert_eq!(stdout_of("schedule ring P=4"), stdout_of("schedule ring -P 4"));
    let check = stdout_of("check broadcast P=3 L=6 o=2 g=4 --runs 5");
    assert!(check.contains("\noptimal: 5 runs of 2 messages"), "{check}");
    assert_eq!(stdout_of("run broadcast P=4 --json"), stdout_of("run broadcast -P 4 --format json"));
}

/// The heading says which parameters and which machine nobody gave.
#[test]
fn what_nobody_gave_is_said() {
    for (line, heading) in [
        (
            "run broadcast P=8 L=6 o=2",
            "broadcast: L = 6, o = 2, g = 0 (not given), G = 2, P = 8, word = 8 bytes",
        ),
        (
            "run broadcast",
            "broadcast on cs2-elan (the default): L = 10 us, o = 3.8 us, g = 13.8 us, G = 0.092 us, P = 64",
        ),
        ("run broadcast --machine cs2-elan", "broadcast on cs2-elan: L"),
        ("sweep broadcast L=6 o=2 --over g=1,2", "broadcast: L = 6, o = 2, g from 1 to 2, "),
    ] {
        let said = stdout_of(line);
        assert!(said.starts_with(heading), "{line}: {said}");
    }
    let replayed = stdout_of("replay ring");
    assert!(replayed.contains("\ncs2-elan (the default): L = 10 us"), "{replayed}");
}

/// An error of the command line ends with the usage and where the help is.
#[test]
fn errors_end_with_where_the_help_is() {
    let tail = "\n\nFor more information, try '--help'.\n";
    for (line, usage) in [
        ("run broadcast --machin cm5", "\n\nUsage: loggp run broadcast "),
        ("run broadcast l=6", "\n\nUsage: loggp run broadcast "),
        ("rnu", "\n\nUsage: loggp [OPTIONS] <COMMAND>"),
        ("run scater", "\n\nUsage: loggp "),
        ("run broadcast --size x", ""),
    ] {
        let (status, _, stderr) = answer(line);
        assert!(status == Some(2) && stderr.contains(usage) && stderr.ends_with(tail), "{line}: {stderr}");
    }
    assert_eq!(stdout_of("help lu"), stdout_of("run lu --help"));
    assert_eq!(stdout_of("version"), stdout_of("--version"));
}

/// Of an option that is given twice the last counts, and `-` is stdin and stdout.
#[test]
fn commands_read_and_write_as_others_do() {
    assert_eq!(
        stdout_of("run broadcast -P 4 --format json --format csv"),
        stdout_of("run broadcast -P 4 --format csv")
    );
    assert_eq!(
        stdout_of("run broadcast -P 4 --processors 8 P=2 --size 3 --size 5 -q --quiet"),
        stdout_of("-q run broadcast P=2 --size 5")
    );
    assert_eq!(stdout_of("schedule ring -o -"), stdout_of("schedule ring"));
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.json");
    std::fs::write(&empty, "{}\n").unwrap();
    assert_refused(&[(format!("merge {}", empty.display()), "line 1: it is no row of --format json")]);
}

/// A list of machines has a row for each, with the machine's name, and the heading has all.
#[test]
fn machines_are_compared() {
    let said = stdout_of("run broadcast --machine cm5,cs2-elan -P 8");
    assert!(said.starts_with("broadcast on cm5: L = 6 us, "), "{said}");
    assert!(said.contains("\nbroadcast on cs2-elan: L = 10 us, "), "{said}");
    assert!(said.contains("\noptimal    cm5   ") && said.contains("\noptimal    cs2-elan"), "{said}");
    let list = "--machine cm5,cs2-elan";
    let each = |line: &str, machine: &str| rows(&format!("{line} --machine {machine}"));
    for line in ["compare broadcast --clock virtual -P 8", "sweep broadcast flat optimal --over P=2,5"] {
        let all = [each(line, "cm5"), each(line, "cs2-elan")].concat();
        assert_eq!(rows(&format!("{line} {list}")), all, "{line}");
    }
    let shard = |n: usize| rows(&format!("compare broadcast --clock virtual {list} --shard {n}/2"));
    let all = rows(&format!("compare broadcast --clock virtual {list}"));
    assert_eq!(shard(2), all.into_iter().skip(1).step_by(2).collect::<Vec<_>>());
}

/// A machine that is written to a file is the same machine when it is read, and a draw without a seed can be repeated.
#[test]
fn what_is_written_and_said_can_be_given_again() {
    let folder = tempfile::tempdir().unwrap();
    for machine in ["cm5", "cs2-elan", "cenju4"] {
        let file = folder.path().join("my.json").display().to_string();
        stdout_of(&format!("machines {machine} -o {file}"));
        let row = |machine: &str| rows(&format!("run broadcast -P 8 --machine {machine}"));
        assert_eq!(row(&file), row(machine));
        assert_eq!(stdout_of(&format!("machines {machine} -o -")), std::fs::read_to_string(file).unwrap());
    }
    assert_eq!(stdout_of("machines cm5 --format json").lines().count(), 1);
    let drawn = stdout_of("run radix-sort -P 4 --size 64 --latency random --ties random");
    assert!(drawn.contains("random latency (seed 1), random ties (seed 1)"), "{drawn}");
    assert_eq!(stdout_of("run radix-sort -P 4 --size 64 --latency random:1 --ties random:1"), drawn);
}

/// `--quiet` prints the table alone, `--color` decides whether messages have colours, and `-h` has the common options.
#[test]
fn the_command_says_as_much_as_it_is_asked_to() {
    let said = stdout_of("-q run broadcast P=4");
    assert!(said.starts_with("algorithm  formula") && said.lines().count() == 2, "{said}");
    let stderr = |line: &str, no_color: &str| {
        let mut command = loggp(line);
        command.env("NO_COLOR", no_color);
        answer_of(command).2
    };
    for line in ["run broadcast --machine cm6", "run broadcast --machin cm5"] {
        let plain = stderr(line, "1");
        assert!(plain.starts_with("error: "), "{plain}");
        assert_eq!(stderr(&format!("{line} --color never"), ""), plain);
        let colored = stderr(&format!("{line} --color=always"), "1");
        assert_eq!(colored, plain.replacen("error:", "\u{1b}[1;31merror:\u{1b}[0m", 1));
    }
    let (short, long) = (stdout_of("run lu -h"), stdout_of("run lu --help"));
    assert!(2 * short.lines().count() < long.lines().count(), "{short}");
    assert!(short.contains("--machine") && !short.contains("--stack") && long.contains("--stack"), "{short}");
}

/// Every input is read from stdin as from its file, and every output is written to stdout as to a file, by itself.
#[test]
fn a_dash_is_stdin_and_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let name = |name: &str| folder.path().join(name).display().to_string();
    let (trace, goal, csv) = (name("b.json"), name("r.goal"), name("rows.csv"));
    let (machine, ring) =
        (name("m.json"), concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mpi/ring.mpi"));
    stdout_of(&format!("run broadcast -P 4 --trace {trace} -o {csv}"));
    stdout_of(&format!("schedule ring -P 4 -o {goal}"));
    std::fs::write(&machine, r#"{"machine": "m", "params": {"L": "6us", "o": "2us", "g": "4us"}}"#).unwrap();
    for (line, input) in [
        ("audit F", &*trace),
        ("analyze F --format csv", &trace),
        ("tolerance F --parameter L", &trace),
        ("trace2goal F", &trace),
        ("timeline F -o -", &trace),
        ("run broadcast -P 4 --repeat-from F", &trace),
        ("replay F", &goal),
        ("analyze F --format csv", &goal),
        ("tolerance F --parameter L", &goal),
        ("merge F", &csv),
        ("run broadcast --machine F", &machine),
        ("replay F", ring),
        ("analyze F --no-sensitivities --format csv", ring),
        ("record --list F", ring),
    ] {
        if input == ring && !cfg!(feature = "mpi") {
            continue;
        }
        let mut command = loggp(&line.replace('F', "-"));
        command.stdin(std::fs::File::open(input).unwrap());
        let (status, stdout, stderr) = answer_of(command);
        // The name of the input stands in headings and rows.
        let of_file = stdout_of(&line.replace('F', input)).replace(input, "-");
        assert_eq!((status, stdout), (Some(0), of_file), "{line}: {stderr}");
    }
    for (line, file) in [
        ("run broadcast -P 4 --trace F", "t.json"),
        ("run broadcast -P 4 -o F", "t.svg"),
        ("timeline broadcast -P 4 -o F", "p.html"),
        ("matrix figure-1 -o F", "m.svg"),
        ("sweep broadcast --over P=2,4 -o F", "s.svg"),
        ("schedule ring -o F", "s.goal"),
    ] {
        let path = name(file);
        stdout_of(&line.replace('F', &path));
        assert_eq!(stdout_of(&line.replace('F', "-")), std::fs::read_to_string(path).unwrap(), "{line}");
    }
    assert_refused(&[
        ("run broadcast --trace - -o -", "--trace and --output name the same file, -"),
        ("timeline broadcast -o - --open", "--open is for a file"),
    ]);
}

/// A page is called as its input is, and another input's page gets another name.
#[test]
fn a_page_has_the_name_of_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let written = |line: &str| {
        let mut command = loggp(line);
        command.current_dir(folder.path());
        answer_of(command).1.lines().last().unwrap_or_default().to_string()
    };
    written("run broadcast -P 4 --trace b.json");
    written("run broadcast -P 2 --trace b.loggp");
    let pages = ["b.json", "b.loggp", "b.json", "b.loggp"].map(|input| written(&format!("timeline {input}")));
    assert_eq!(pages, ["b.html", "b-2.html", "b.html", "b-2.html"]);
    assert_eq!(written("timeline bcast:linear"), "bcast-linear.html");
    written("timeline scatter -P 2");
    assert!(folder.path().join("scatter.html").exists());
}

#[test]
fn sizes_count_by_1024() {
    let row = |size: &str| stdout_of(&format!("run broadcast --size {size} --format json"));
    assert_eq!((row("4k"), row("4KiB")), (row("4096"), row("4096")));
    assert_eq!((row("4kB"), row("4e3")), (row("4000"), row("4000")));
    stdout_of("run broadcast --stack 64k");
    assert_eq!(
        stdout_of("sweep broadcast flat --over size=1k,2k --format csv"),
        stdout_of("sweep broadcast flat --over size=1024,2048 --format csv")
    );
}

/// The help of the command, of every subcommand, and of every program under `run`, `compare` and `sweep`,
/// ends with two examples that can be run as they are.
#[test]
fn the_examples_of_every_help_run() {
    let folder = tempfile::tempdir().unwrap();
    let traces = (0..4).map(|rank| format!("jacobi-{rank}.txt")).chain(["ring.mpi".into()]);
    for name in traces {
        let trace = format!("{}/../../examples/mpi/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(trace, folder.path().join(name)).unwrap();
    }
    let subcommands = |help: &str, heading: &str| -> Vec<String> {
        let lines =
            help.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.is_empty());
        lines
            .filter(|line| !line.starts_with("   "))
            .map(|line| line.split_whitespace().next().unwrap().into())
            .collect()
    };
    let mut requests = vec![(String::new(), stdout_of("--help"))];
    for name in subcommands(&stdout_of("--help"), "Commands:").iter().filter(|name| *name != "help") {
        let help = stdout_of(&format!("{name} --help"));
        let programs = subcommands(&help, "Programs:");
        requests.push((name.clone(), help));
        requests.extend(programs.iter().map(|program| {
            let line = format!("{name} {program}");
            let help = stdout_of(&format!("{line} --help"));
            (line, help)
        }));
    }
    assert!(requests.len() > 50, "{requests:?}");
    let mut tried = BTreeSet::new();
    for (name, help) in &requests {
        let examples: Vec<&str> = help.lines().skip_while(|line| *line != "Examples:").skip(1).collect();
        assert_eq!(examples.len(), 2, "{name}: {help}");
        // Examples that measure take too long; other tests measure programs. There need be no MPI.
        for example in examples
            .iter()
            .filter(|example| !example.contains("mpirun"))
            .filter(|example| !example.contains("loggp compare") || example.contains("virtual"))
            .filter(|example| tried.insert(example.to_string()))
        {
            let line = example.trim().strip_prefix("loggp ").unwrap();
            let output = loggp(line).current_dir(folder.path()).output().unwrap();
            assert!(output.status.success(), "{name}: {line}: {output:?}");
        }
    }
}

#[test]
fn faults_are_reduced_written_and_repeated() {
    let path = fresh_path("faults");
    for (faults, says, cause) in [
        ("--losses 2", " of processor 0 is lost", "deadlock: "),
        ("--crashes 1", "; processor 0 crashes before its message ", "deadlock: "),
        ("--duplicates 2", " comes again ", "a message was never received: "),
    ] {
        let program = if faults == "--duplicates 2" { "fft -P 4 --size 64" } else { "broadcast -P 3" };
        let (status, stdout, _) = answer(&format!("check {program} {faults} --trace {}", path.display()));
        assert_eq!(status, Some(1), "{stdout}");
        assert!(stdout.contains(says) && stdout.contains(cause), "{stdout}");
        // The last line repeats the run, which fails in the same way.
        let again = stdout.lines().last().unwrap().trim().strip_prefix("loggp ").unwrap();
        assert!(!again.contains(faults), "{again}");
        let (status, _, stderr) = answer(again);
        assert!(status == Some(1) && stderr.starts_with(&format!("error: {cause}")), "{again}: {stderr}");
    }
}

#[test]
fn a_recorded_order_is_repeated() {
    let run = "run radix-sort -P 4 --size 64 --work charged";
    let drawn = format!("{run} --latency random:7 --ties random:8");
    let path = record_trace("repeated", &drawn);
    let repeated = |run: &str| format!("{run} --repeat-from {}", path.display());
    assert_eq!(row(&repeated(run))["model_ns"], row(&drawn)["model_ns"]);
    let refused = refusal(&repeated("run radix-sort -P 8"));
    assert!(refused.contains("the run in it has 4 processors, and this one has 8"), "{refused}");
}

/// A command does not overwrite its inputs.
#[test]
fn an_input_file_is_not_overwritten() {
    let path = record_trace("read", "run broadcast -P 4");
    let before = std::fs::read(&path).unwrap();
    let path = path.display();
    let csv = std::env::temp_dir().join(format!("loggp-read-{}.csv", std::process::id()));
    stdout_of(&format!("compare broadcast --clock virtual -P 4 -o {}", csv.display()));
    let csv = csv.display();
    assert_refused(&[
        (format!("timeline {path} -o {path}"), "unknown file type; give a name that ends in .html"),
        (format!("analyze {path} -o {path}"), "it would be written as --output; give that another name"),
        (format!("run broadcast -P 4 --repeat-from {path} --trace {path}"), "give another name"),
        (format!("merge {csv} -o {csv}"), "it is what the command reads; give another name"),
        (format!("merge {csv} {csv}"), "a file is given twice; give each shard once, in their order"),
        (format!("merge {path}"), "line 1: it is no row of --format json; give what shards have written"),
        (format!("timeline {path} --from 1s -o x.svg"), "the run ends at "),
    ]);
    assert_eq!(std::fs::read(path.to_string()).unwrap(), before);
    std::fs::remove_file(csv.to_string()).unwrap();
}

#[test]
fn seeds_are_runs_with_one_seed_each() {
    let run = "run remap short-naive -P 8 --size 16";
    let time = |row: &Value, name: &str| row[name].as_f64().unwrap();
    let mut alone: Vec<f64> = (0..10)
        .map(|n| time(&row(&format!("{run} --latency random:{} --ties random:{}", 7 + n, 3 + n)), "model_ns"))
        .collect();
    alone.sort_by(f64::total_cmp);
    for cores in ["", " --cores 1"] {
        let all = row(&format!("{run} --latency random:7 --ties random:3 --seeds 10{cores}"));
        let names = ["model_min_ns", "model_lower_ns", "model_ns", "model_upper_ns", "model_max_ns"];
        let expected = [0, 2, 4, 7, 9].map(|place: usize| alone[place]);
        assert_eq!(names.map(|name| time(&all, name)), expected);
        assert_eq!(all["seeds"], 10);
    }
    let table = stdout_of(&format!("{run} --latency random:7 --seeds 3"));
    let seed = table.split_once("has --latency ").unwrap().1.trim_end();
    let median = time(&row(&format!("{run} --latency {seed}")), "model_ns");
    assert_eq!(median, time(&row(&format!("{run} --latency random:7 --seeds 3")), "model_ns"));
}

#[test]
fn the_trace_of_measured_work_on_the_wall_clock_is_clean() {
    let path = fresh_path("wall-work");
    // On a busy computer the dilation that is found would grow for minutes; the rules hold at any.
    let line = "run scatter short -P 4 --size 8 --work measured --repeat 2 --clock wall --dilation 4";
    measured_stdout(&format!("{line} --trace {}", path.display()));
    let found = stdout_of(&format!("audit {}", path.display()));
    assert!(found.ends_with("\nevery rule holds\n"), "{found}");
}

/// A few orders of each program; many more would take an hour.
#[test]
fn every_program_is_right_under_other_orders() {
    for program in
        ["broadcast", "combining", "fft -P 4 --size 64", "radix-sort -P 4 --size 32", "scatter -P 4"]
    {
        let stdout = stdout_of(&format!("check {program} --runs 50"));
        assert!(stdout.ends_with("all runs gave the same, correct result\n"), "{stdout}");
    }
}
