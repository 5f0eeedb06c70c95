//! Runs studies, one after the other or several at once, and writes a row for each.
//!
//! A report says in three places that this computer did not keep up with a run: by a mark in the table, a line below it
//! that says what the mark means, and a warning. In JSON and CSV it is `held`, which is false then. The exit status does
//! not change: the result is right, and what was measured says of itself that it is not.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::thread;

use loggp::{ClockKind, Work};
use loggp_study::at_once::in_order;
use loggp_study::{Answers, Failed, Study};

use super::failure::{Failure, together};
use super::progress::Progress;
use super::report::Report;
use super::row::{Row, Task};

/// What the mark in a table means.
pub const LATE: &str = "late: this computer did not keep up with the run, so do not trust its time";

/// Runs them all, also where some fail. Returns which did, or had a wrong result, in a sentence each.
pub fn run_all(studies: Vec<Task>, report: &mut Report<Row>) -> Result<Vec<Failure>, Failure> {
    let mut failed = Vec::new();
    let progress = Progress::of(studies.iter().map(|task| task.study.runs()).sum());
    each(studies, &progress, |task, ran| {
        match ran {
            Ok(answers) => {
                let wrong = answers.wrong.as_ref();
                failed.extend(
                    wrong.map(|why| Failure::Run(format!("the result of {} is wrong: {why}", task.name))),
                );
                progress.aside(|| report.add(Row { task, answers }))?;
            }
            Err(Failed::Refused(why)) => failed.push(Failure::Request(format!("{}: {why}", task.name))),
            Err(why) => failed.push(Failure::Run(format!("{} failed: {why}", task.name))),
        }
        Ok(())
    })?;
    Ok(failed)
}

/// What became of a study.
type Ran = Result<Answers, Failed>;

/// Runs each of them, several at once where they can be, and tells in their order what became of each.
fn each(
    mut studies: Vec<Task>,
    progress: &Progress,
    ran: impl FnMut(Task, Ran) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let run = |task: &Task| {
        progress.next(task.study.case.algorithm.name);
        task.study.run_with(|| progress.step())
    };
    let mut all: Vec<&mut Study> = studies.iter_mut().map(|task| &mut task.study).collect();
    let workers = share(&mut all);
    in_order(studies.into_iter(), workers, run, ran)
}

/// Shares the cores among studies, then among the runs of each, and then within each run. Returns how many studies run at once.
pub fn share(studies: &mut [&mut Study]) -> usize {
    let all = at_once(studies);
    let workers = all.min(studies.len());
    for study in studies {
        study.at_once = (all / workers).min(study.repeat);
        let cores = &mut study.emulation.cores;
        *cores = cores.map(|cores| (cores / workers / study.at_once).max(1));
    }
    workers
}

/// How many runs are made at once. Where work is charged, a run on the virtual clock takes nothing that another could miss;
/// all others need the host for themselves.
fn at_once(studies: &[&mut Study]) -> usize {
    /// So many words all processors have together, at most, or the host may lack room.
    const MOST: usize = 1 << 26;
    let is_free = |Study { case, emulation, .. }: &&mut Study| {
        emulation.clock == ClockKind::Virtual && emulation.over.is_none() && case.work == Work::Charged
    };
    let words = |study: &&mut Study| study.case.params.P.saturating_mul(study.case.size).max(1);
    match studies.iter().map(words).max() {
        Some(words) if studies.iter().all(is_free) => {
            let cores = studies[0].emulation.cores;
            let cores = cores.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
            cores.min(MOST / words).max(1)
        }
        _ => 1,
    }
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
    match together(failed.into_iter().filter_map(Failure::sentence)).join("\n") {
        said if said.is_empty() => Ok(()),
        said if is_wrong => Err(Failure::Request(said)),
        said => Err(Failure::Run(said)),
    }
}
