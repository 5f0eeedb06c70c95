//! The command prints the same numbers as before: formulas, models, phases, messages and stalls of all
//! programs and algorithms, on the virtual clock with charged work.
//!
//! `numbers.txt` has the commands, each after a `$`, and below each the numbers of its JSON, a line for each
//! row. After a number was changed on purpose, or a program or an algorithm was added,
//! `LOGGP_NUMBERS=new cargo test -p loggp-command --test programs numbers` writes the file.

use std::process::Command;

use loggp_programs::PROGRAMS;
use serde_json::Value;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/numbers.txt");

/// The fields that name a row.
const NAMES: [&str; 4] = ["algorithm", "parameter", "pattern", "load"];
/// Fields that repeat the request, follow from others, or depend on the wall clock or on this computer's
/// rounding.
const LEFT_OUT: [&str; 11] = [
    "params",
    "cycle_ns",
    "barrier_ns",
    "seed",
    "repeat",
    "error",
    "error_formula",
    "error_model",
    "dilation",
    "cores",
    "scaled residual",
];

/// Appends the numbers of a row to a line, with their names.
fn push_numbers(name: &str, value: &Value, line: &mut String) {
    match value {
        Value::Number(number) => *line += &format!(" {name}={number}"),
        Value::Object(fields) => fields
            .iter()
            .filter(|(field, _)| !LEFT_OUT.contains(&field.as_str()) && !NAMES.contains(&field.as_str()))
            .for_each(|(field, value)| push_numbers(field, value, line)),
        Value::Array(items) => {
            for item in items {
                *line += &format!(" {}:", item["phase"].as_str().unwrap_or_default());
                push_numbers("", item, line);
            }
        }
        Value::Bool(false) if name == "verified" => *line += " WRONG",
        _ => (),
    }
}

/// Runs a command, and returns a line for each row that it prints.
fn run_lines(command: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_loggp")).args(command.split(' ')).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    let line = |text: &str| {
        let row: Value = serde_json::from_str(text).unwrap();
        let names: Vec<String> = NAMES
            .iter()
            .map(|name| &row[name])
            .filter(|name| !name.is_null())
            .map(Value::to_string)
            .collect();
        let mut line = names.join(" ").replace('"', "");
        push_numbers("", &row, &mut line);
        line
    };
    String::from_utf8(output.stdout).unwrap().lines().map(line).collect()
}

/// Returns commands for the algorithms that the file lacks, on a machine of LogGP and on one of LogGPS.
fn missing_commands(text: &str) -> Vec<String> {
    let shows = |program: &str, algorithm: &str| {
        text.split("$ ").skip(1).any(|command| {
            let (command, rows) = command.split_once('\n').unwrap();
            command.split(' ').nth(1) == Some(program)
                && rows.lines().any(|row| row.split(' ').next() == Some(algorithm))
        })
    };
    let mut missing = Vec::new();
    for program in PROGRAMS {
        for algorithm in program.algorithms.iter().filter(|algorithm| !shows(program.name, algorithm.name)) {
            for machine in ["cs2-elan", "myrinet"] {
                missing.push(format!(
                    "run {} {} --machine {machine} -P 4 --format json --work charged --clock virtual",
                    program.name, algorithm.name
                ));
            }
        }
    }
    missing
}

#[test]
fn every_number_is_unchanged() {
    let mut text = std::fs::read_to_string(FILE).unwrap();
    let is_new = std::env::var("LOGGP_NUMBERS").is_ok_and(|value| value == "new");
    let missing = missing_commands(&text);
    match is_new {
        true => missing.iter().for_each(|command| text += &format!("$ {command}\n")),
        false => assert!(missing.is_empty(), "no numbers are kept of {missing:?}"),
    }
    let commands = text.split("$ ").skip(1);
    let (mut new, mut changed, mut count) = (String::new(), Vec::new(), 0);
    for command in commands {
        let mut expected = command.lines();
        let command = expected.next().unwrap();
        let (expected, printed): (Vec<&str>, _) = (expected.collect(), run_lines(command));
        if expected != printed {
            let differs = printed.iter().zip(&expected).find(|(printed, expected)| printed != *expected);
            changed.push(format!("{command}: {} rows of {}\n  {differs:?}", printed.len(), expected.len()));
        }
        new += &format!("$ {command}\n{}\n", printed.join("\n"));
        count += printed.len();
    }
    if is_new {
        return std::fs::write(FILE, new).unwrap();
    }
    assert!(changed.is_empty(), "{} commands print other numbers:\n{}", changed.len(), changed.join("\n"));
    assert!(count > 500, "{count}");
}
