//! Runs studies one after the other, and writes a row for each.
//!
//! A report says in three places that this computer did not keep up with a run: by a mark in the table, a line below it
//! that says what the mark means, and a warning. In JSON and CSV it is `held`, which is false then. The exit status does
//! not change: the result is right, and what was measured says of itself that it is not.

use std::io::{self, Write};

use loggp_study::Failed;

use super::failure::Failure;
use super::progress::Progress;
use super::report::Report;
use super::row::{Row, Task};

/// What the mark in a table means.
pub const LATE: &str = "late: this computer did not keep up with the run, so do not trust its time";

/// Runs them all, also where some fail. Returns which did, or had a wrong result, in a sentence each.
pub fn run_all(studies: Vec<Task>, report: &mut Report<Row>) -> Result<Vec<Failure>, Failure> {
    let mut failed = Vec::new();
    let progress = Progress::of(studies.iter().map(|task| task.study.runs()).sum());
    let mut runs = 0;
    for task in studies {
        progress.begin(runs, task.study.case.algorithm.name);
        runs += task.study.runs();
        match task.study.run_with(|| progress.step()) {
            Ok(answers) => {
                let wrong = answers.wrong.as_ref();
                failed.extend(
                    wrong.map(|why| Failure::Run(format!("the result of {} is wrong: {why}", task.name))),
                );
                progress.aside(|| report.add(Row { task, answers }))?;
            }
            Err(Failed::Refused(why)) => failed.push(Failure::Request(format!("{}: {why}", task.name))),
            Err(Failed::Run(error)) => failed.push(Failure::Run(format!("{} failed: {error}", task.name))),
        }
    }
    Ok(failed)
}

/// Says on stderr what the host did not give, and what helps.
pub fn warn(rows: &[Row]) {
    let mut warnings: Vec<&str> = Vec::new();
    for note in rows.iter().filter_map(Row::host).flat_map(|host| &host.notes) {
        if !warnings.contains(&note.as_str()) {
            warnings.push(note);
        }
    }
    for warning in warnings {
        drop(writeln!(io::stderr(), "warning: {warning}"));
    }
    let late: Vec<&str> = rows.iter().filter(|row| row.is_late()).map(|row| row.task.name.as_str()).collect();
    if !late.is_empty() {
        drop(writeln!(
            io::stderr(),
            "warning: this computer was late: {}; a larger --dilation or --cycle, fewer processors or an otherwise \
             idle computer would help",
            late.join(", ")
        ));
    }
}

/// The end of a request of which these studies failed. If none of them could be, the request was wrong.
pub fn end(failed: Vec<Failure>) -> Result<(), Failure> {
    let is_wrong = failed.iter().all(|failure| matches!(failure, Failure::Request(_)));
    let said: Vec<String> = failed.into_iter().filter_map(Failure::sentence).collect();
    match said.join("\n") {
        said if said.is_empty() => Ok(()),
        said if is_wrong => Err(Failure::Request(said)),
        said => Err(Failure::Run(said)),
    }
}
