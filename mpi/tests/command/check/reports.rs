//! What a check writes, for people and for other tools: how a program ended, SARIF, JUnit, what was left out, and several programs.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Mpi, SOURCE, mpis};
use crate::requests::{answer_of, loggp, stdout_of};

/// Returns a folder of a test's own, with nothing in it.
fn own_folder(mpi: &Mpi, name: &str) -> std::path::PathBuf {
    let folder = mpi.folder.join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the number of the line with a mark in a function of the gallery.
fn line_of(file: &str, function: &str, mark: &str) -> u64 {
    let text = fs::read_to_string(Path::new(SOURCE).with_file_name(file)).unwrap();
    let mut lines = text.lines().zip(1..).skip_while(|(line, _)| !line.contains(&format!(" {function}(")));
    lines.find(|(line, _)| line.contains(mark)).unwrap().1
}

#[test]
fn what_a_program_wrote_last_is_shown() {
    for mpi in mpis() {
        let folder = own_folder(mpi, "stderr");
        let options = format!("--trace {}/failed.json", folder.display());
        let (status, stdout, stderr) = answer_of(mpi.check(&options, 2, "faults aborts"));
        assert_eq!((status, &*stderr), (Some(1), "error: run 0 of the check failed\n"), "{stdout}");
        let steps: String = (11..20).map(|step| format!("  step {step}\n")).collect();
        let last = format!("\nthe last lines of its stderr:\n{steps}  no input\n");
        assert!(stdout.contains(&last), "{stdout}");
    }
}

/// Each run has the file from its begin, with forks and with a launcher.
#[test]
fn standard_input_is_a_file() {
    for mpi in mpis() {
        let folder = own_folder(mpi, "stdin");
        let input = folder.join("numbers");
        fs::write(&input, "12\n30\n").unwrap();
        for options in ["", "--launcher"] {
            let mut command = mpi.check(options, 2, "faults reads");
            command.stdin(File::open(&input).unwrap());
            let (status, stdout, stderr) = answer_of(command);
            assert_eq!((status, &*stderr), (Some(0), ""), "{stdout}");
        }
        let options = format!("--format json --trace {}/failed.json", folder.display());
        let (status, stdout, _) = answer_of(mpi.check(&options, 2, "faults reads"));
        let row: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((status, row["fault"]["kind"].as_str()), (Some(1), Some("crash")), "{stdout}");
        assert!(row["fault"]["stderr"].as_str().unwrap().contains("Assertion"), "{stdout}");
    }
}

#[test]
fn a_pipe_as_standard_input_is_refused() {
    let Some(mpi) = mpis().last() else { return };
    let mut echo = Command::new("echo").arg("12").stdout(Stdio::piped()).spawn().unwrap();
    echo.wait().unwrap();
    let mut command = mpi.check("", 2, "faults reads");
    command.stdin(echo.stdout.take().unwrap());
    let (status, stdout, stderr) = answer_of(command);
    assert_eq!((status, &*stdout), (Some(2), ""), "{stderr}");
    assert!(stderr.starts_with("error: what a pipe brings can be read once"), "{stderr}");
}

/// SARIF 2.1.0 wants these, and so do services that show it in a review.
fn assert_sarif(text: &str) -> Value {
    let log: Value = serde_json::from_str(text).unwrap();
    assert_eq!(log["version"], "2.1.0", "{text}");
    let runs = log["runs"].as_array().unwrap();
    for run in runs {
        let driver = &run["tool"]["driver"];
        assert!(driver["name"].is_string(), "{text}");
        let rules = driver["rules"].as_array().unwrap();
        for result in run["results"].as_array().unwrap() {
            let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
            assert!(rule["id"] == result["ruleId"] && rule["shortDescription"]["text"].is_string(), "{text}");
            assert!(!result["message"]["text"].as_str().unwrap().is_empty(), "{text}");
            let locations = result["locations"].as_array().unwrap();
            assert_eq!(locations.len(), 1, "{text}");
            for location in locations.iter().chain(result["relatedLocations"].as_array().unwrap()) {
                let place = &location["physicalLocation"];
                assert!(!place["artifactLocation"]["uri"].as_str().unwrap().contains(' '), "{text}");
                assert!(
                    place["region"].is_null() || place["region"]["startLine"].as_u64() > Some(0),
                    "{text}"
                );
            }
        }
    }
    log
}

/// Returns the elements of XML with their attributes. Fails if it is not well formed.
fn elements(text: &str) -> Vec<&str> {
    let (mut open, mut elements) = (Vec::new(), Vec::new());
    let rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").unwrap();
    for part in rest.split('<').skip(1) {
        let (tag, after) = part.split_once('>').unwrap();
        assert!(!after.contains('>') && tag.matches('"').count() % 2 == 0, "{part}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{text}"),
            None => {
                elements.push(tag);
                open.push(tag.split(' ').next().unwrap());
            }
        }
    }
    assert!(open.is_empty(), "{text}");
    elements
}

#[test]
fn other_tools_read_what_was_found() {
    for mpi in mpis() {
        let folder = own_folder(mpi, "tools");
        let file = |name: &str| folder.join(name).display().to_string();
        let (sarif, junit) = (file("a.sarif"), file("a.xml"));
        let files = format!("--format json --sarif {sarif} --junit {junit} --trace {}", file("failed.json"));
        let (status, stdout, stderr) = answer_of(mpi.check(&files, 2, "faults segfault"));
        assert_eq!(status, Some(1), "{stderr}");
        let row: Value = serde_json::from_str(&stdout).unwrap();
        let fault = &row["faults"][0];
        assert_eq!((&fault["kind"], &fault["rank"]), (&"crash".into(), &0.into()), "{stdout}");
        let (line, barrier) =
            (line_of("ends.h", "write_nowhere", "HERE"), line_of("ends.h", "segfault", "THERE"));
        let place = &fault["places"][0];
        assert_eq!((&place["function"], &place["line"]), (&"write_nowhere".into(), &line.into()), "{stdout}");
        assert!(place["file"].as_str().unwrap().ends_with("/faults/ends.h"), "{stdout}");
        assert_eq!(fault["places"][1]["line"], barrier, "{stdout}");

        let log = assert_sarif(&fs::read_to_string(&sarif).unwrap());
        let results = log["runs"][0]["results"].as_array().unwrap();
        let [result] = &results[..] else { panic!("{log}") };
        assert_eq!((&result["ruleId"], &result["level"]), (&"crash".into(), &"error".into()));
        let at = &result["locations"][0]["physicalLocation"];
        assert!(at["artifactLocation"]["uri"].as_str().unwrap().ends_with("/faults/ends.h"), "{log}");
        assert_eq!(at["region"]["startLine"], line);

        let text = fs::read_to_string(&junit).unwrap();
        let elements = elements(&text);
        let begins = |begin: &str| elements.iter().filter(|tag| tag.starts_with(begin)).count();
        assert_eq!(
            begins("testsuites name=\"loggp check\" tests=\"1\" failures=\"1\" errors=\"0\""),
            1,
            "{text}"
        );
        assert_eq!(begins("testcase classname=\"loggp.check\" name=\""), 1, "{text}");
        assert_eq!(
            begins("failure type=\"crash\" message=\"crash: rank 0 was ended by SIGSEGV"),
            1,
            "{text}"
        );

        // A program that is right has no fault, and is a test that passed.
        let (status, ..) = answer_of(mpi.check(&files, 2, "faults lock_given_back"));
        assert_eq!(status, Some(0));
        let log = assert_sarif(&fs::read_to_string(&sarif).unwrap());
        assert_eq!(log["runs"][0]["results"], Value::Array(Vec::new()));
        let text = fs::read_to_string(&junit).unwrap();
        assert!(
            text.contains("tests=\"1\" failures=\"0\" errors=\"0\"") && !text.contains("<failure"),
            "{text}"
        );

        // One that cannot be checked is an error of the test.
        let (status, ..) = answer_of(mpi.check(&files, 2, "faults multiple"));
        assert_eq!(status, Some(2));
        let text = fs::read_to_string(&junit).unwrap();
        assert!(
            text.contains("<error type=\"not checked\" message=\"the program cannot be checked: "),
            "{text}"
        );
    }
}

#[test]
fn faults_are_left_out_by_kind_and_place() {
    let Some(mpi) = mpis().last() else { return };
    let folder = own_folder(mpi, "left-out");
    let list = folder.join("known");
    let sarif = folder.join("a.sarif");
    let options = format!(
        "--suppress {} --sarif {} --trace {}/a.json",
        list.display(),
        sarif.display(),
        folder.display()
    );
    for (line, is_left_out) in [
        (format!("resource leak: faults.c:{}", line_of("faults.c", "type_not_freed", "HERE")), true),
        ("resource leak: type_not_freed".into(), true),
        ("*: faults.c".into(), true),
        ("crash: faults.c".into(), false),
        ("resource leak: fault.c".into(), false),
    ] {
        fs::write(&list, format!("# what is known\n{line}\n")).unwrap();
        let (status, stdout, _) = answer_of(mpi.check(&options, 2, "faults type_not_freed"));
        assert_eq!(status, Some(i32::from(!is_left_out)), "{line}: {stdout}");
        let says =
            format!("left out, as {}:2 says: resource leak: rank 0 makes a datatype by", list.display());
        assert_eq!(stdout.contains(&says), is_left_out, "{line}: {stdout}");
        let log = assert_sarif(&fs::read_to_string(&sarif).unwrap());
        let suppressions = log["runs"][0]["results"][0]["suppressions"].as_array().unwrap();
        assert_eq!(suppressions.len(), usize::from(is_left_out), "{line}");
    }
    fs::write(&list, "leak: faults.c\n").unwrap();
    let (status, _, stderr) = answer_of(mpi.check(&options, 2, "faults type_not_freed"));
    assert!(status == Some(2) && stderr.contains("line 1: there is no kind leak; there are "), "{stderr}");
}

#[test]
fn several_programs_are_checked_in_one_call() {
    let Some(mpi) = mpis().last() else { return };
    let folder = own_folder(mpi, "several");
    let (list, junit) = (folder.join("list"), folder.join("a.xml"));
    let program = mpi.folder.join("faults").display().to_string();
    let lines = [
        "-n 2 {} same_order",
        "-- {mpirun} -n 3 {} race",
        "-n 2 {} multiple",
        "-n 2 {} segfault",
        "-n 3 {} wildcards",
    ];
    let lines = lines.map(|line| line.replace("{}", &program).replace("{mpirun}", &mpi.mpirun));
    fs::write(&list, format!("# a line each\n{}\n", lines.join("\n"))).unwrap();
    let command = |options: &str| {
        let line = format!("check {options} --programs {} --junit {}", list.display(), junit.display());
        let mut command = mpi.prepared(loggp(&line));
        command.current_dir(&folder).stdin(Stdio::null());
        command
    };
    let (status, stdout, stderr) = answer_of(command("--format json"));
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.ends_with("error: 2 of 5 programs failed, and 1 could not be checked\n"), "{stderr}");
    let rows: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<_> =
        rows.iter().map(|row| (row["start"].as_str().unwrap(), row["passed"].as_bool())).collect();
    let expected = [Some(true), Some(false), None, Some(false), Some(true)];
    assert_eq!(seen, lines.iter().map(|line| &**line).zip(expected).collect::<Vec<_>>());
    assert_eq!(rows[1]["fault"]["kind"], "message race");
    assert_eq!(rows[3]["fault"]["kind"], "crash");
    assert!(rows[2]["not_checked"].as_str().unwrap().contains("MPI_THREAD_SERIALIZED"), "{stdout}");
    let text = fs::read_to_string(&junit).unwrap();
    assert!(text.contains("tests=\"5\" failures=\"2\" errors=\"1\""), "{text}");
    assert_eq!(elements(&text).iter().filter(|tag| tag.starts_with("testcase ")).count(), 5, "{text}");
    let traces: Vec<&str> = rows.iter().filter_map(|row| row["fault"]["trace"].as_str()).collect();
    assert_eq!(traces, ["mpi-failed.json", "mpi-failed-2.json"]);

    let (status, stdout, _) = answer_of(command(""));
    assert_eq!(status, Some(1), "{stdout}");
    assert!(stdout.contains(&format!("\n\n{}: not checked: ", lines[2])), "{stdout}");

    fs::write(&list, "-n 2\n").unwrap();
    let (status, _, stderr) = answer_of(command(""));
    assert!(status == Some(2) && stderr.contains("list: line 1: "), "{stderr}");
}

/// The last line of the report of a race shows it above a run that is right.
#[test]
fn a_race_is_shown_above_a_run_that_is_right() {
    let Some(mpi) = mpis().last() else { return };
    let folder = own_folder(mpi, "shown");
    let file = |name: &str| folder.join(name).display().to_string();
    let options = format!("--trace {}", file("race.json"));
    for program in ["race", "usually_fails"] {
        let (status, stdout, _) = answer_of(mpi.check(&options, 3, &format!("faults {program}")));
        assert_eq!(status, Some(1), "{stdout}");
        let (failed, right, page) = (file("race.json"), file("race-right.json"), file("race.html"));
        let shows = format!("  loggp timeline {failed} {right} -o {page} --open\n");
        assert!(stdout.ends_with(&shows), "{stdout}");
        stdout_of(&format!("timeline {failed} {right} -o {page}"));
        let html = fs::read_to_string(&page).unwrap();
        assert!(
            html.contains("message race: ") && html.contains("right: the same in another order"),
            "{program}"
        );
    }
}

/// Follows docs/start/ci.md, and compares what is printed with what the page shows, where three dots stand for any lines.
#[test]
fn the_page_on_commits_can_be_followed() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/start/ci.md");
    let text = fs::read_to_string(page).unwrap();
    let blocks: Vec<(&str, &str)> =
        text.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap()).collect();
    let block = |kind: &str| blocks.iter().find(|(head, _)| *head == kind).unwrap().1;
    for mpi in mpis() {
        let folder = own_folder(mpi, "page");
        for (head, lines) in &blocks {
            if let Some((_, name)) = head.split_once(' ') {
                fs::write(folder.join(name), lines).unwrap();
            }
        }
        // The commands of the page are those of this MPI, whose library is there already.
        let mut which = Command::new("sh");
        which.args(["-c", &format!("command -v {}", mpi.mpirun.replacen("mpirun", "mpicc", 1))]);
        let (_, mpicc, _) = answer_of(which);
        let tools = folder.join("tools");
        fs::create_dir(&tools).unwrap();
        std::os::unix::fs::symlink(mpicc.trim(), tools.join("mpicc")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_loggp"), tools.join("loggp")).unwrap();
        let lines = block("sh").lines().filter(|line| !line.starts_with("loggp record"));
        let script = lines.collect::<Vec<_>>().join("\n");
        let mut shell = mpi.prepared(Command::new("sh"));
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        shell.args(["-c", &script]).env("PATH", path).current_dir(&folder).stdin(Stdio::null());
        let (status, stdout, stderr) = answer_of(shell);
        assert_eq!(status, Some(1), "{stderr}");
        let printed = format!("{stdout}{stderr}");
        let mut rest = &*printed;
        for part in block("text").split("...\n") {
            let at = rest.find(part).unwrap_or_else(|| panic!("no\n{part}in\n{printed}"));
            rest = &rest[at + part.len()..];
        }
        assert!(rest.is_empty(), "{rest}");
        assert_sarif(&fs::read_to_string(folder.join("check.sarif")).unwrap());
        elements(&fs::read_to_string(folder.join("check.xml")).unwrap());
        // The workflow has the same line.
        let check = script.lines().last().unwrap();
        assert!(block("yaml").contains(&format!("      - run: {check}\n")), "{check}");
    }
}
