//! Runs studies, one after the other or several at once, and writes a row for each.
//!
//! If this computer did not keep up with a run, the report has a mark in the table, a line below it that
//! explains the mark, and a warning; in JSON and CSV `held` is false. The exit status does not change: the
//! result is right, and only the measured time is not to be trusted.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::thread;

use loggp::{ClockKind, Work};
use loggp_study::parallel::run_in_order;
use loggp_study::{Answers, Study, StudyError};

use super::error::{CliError, merge_sentences};
use super::progress::ProgressDisplay;
use super::report::Report;
use super::row::{StudyRow, Task};

/// The explanation of the mark in a table.
pub const LATE_NOTE: &str = "late: this computer did not keep up with the run, so do not trust its time";

/// Runs all studies, even if some fail. Returns an error for each that failed or had a wrong result.
pub fn run_all(studies: Vec<Task>, report: &mut Report<StudyRow>) -> Result<Vec<CliError>, CliError> {
    let mut failed = Vec::new();
    let progress = ProgressDisplay::for_runs(studies.iter().map(|task| task.study.runs()).sum());
    run_each(studies, &progress, |task, result| {
        match result {
            Ok(answers) => {
                let wrong = answers.wrong.as_ref();
                failed.extend(
                    wrong.map(|why| CliError::Run(format!("the result of {} is wrong: {why}", task.name))),
                );
                progress.suspend(|| report.add(StudyRow { task, answers }))?;
            }
            Err(StudyError::Refused(why)) => failed.push(CliError::Request(format!("{}: {why}", task.name))),
            Err(why) => failed.push(CliError::Run(format!("{} failed: {why}", task.name))),
        }
        Ok(())
    })?;
    Ok(failed)
}

type StudyResult = Result<Answers, StudyError>;

/// Runs the studies, several at once if possible, and passes their results to `on_result` in order.
fn run_each(
    mut studies: Vec<Task>,
    progress: &ProgressDisplay,
    on_result: impl FnMut(Task, StudyResult) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let run = |task: &Task| {
        progress.set_current(task.study.case.algorithm.name);
        task.study.run_with_progress(|| progress.finish_one())
    };
    let mut all: Vec<&mut Study> = studies.iter_mut().map(|task| &mut task.study).collect();
    let workers = share_cores(&mut all);
    run_in_order(studies.into_iter(), workers, run, on_result)
}

/// Shares the cores among studies, then among the runs of each, then within each run. Returns the number of
/// studies that run at once.
pub fn share_cores(studies: &mut [&mut Study]) -> usize {
    let all = concurrent_runs(studies);
    let workers = all.min(studies.len());
    for study in studies {
        study.parallel_runs = (all / workers).min(study.repeat);
        let cores = &mut study.emulation.cores;
        *cores = cores.map(|cores| (cores / workers / study.parallel_runs).max(1));
    }
    workers
}

/// Returns the number of runs that are made at once. Runs on the virtual clock with charged work don't
/// disturb each other; all others need the host for themselves.
fn concurrent_runs(studies: &[&mut Study]) -> usize {
    /// Limit of the words of all concurrent runs together, so that memory suffices.
    const MOST: usize = 1 << 26;
    let is_free = |Study { case, emulation, .. }: &&mut Study| {
        emulation.clock == ClockKind::Virtual && emulation.link.is_none() && case.work == Work::Charged
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

/// Prints warnings on stderr about resources that the host did not give, and about late runs.
pub fn warn_of_host(rows: &[StudyRow]) {
    let mut warnings: Vec<&str> = Vec::new();
    for note in rows.iter().filter_map(StudyRow::host).flat_map(|host| &host.notes) {
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

/// Combines the errors of studies into one. If all of them are wrong requests, so is the whole.
pub fn combine_errors(failed: Vec<CliError>) -> Result<(), CliError> {
    let is_wrong = failed.iter().all(|failure| matches!(failure, CliError::Request(_)));
    match merge_sentences(failed.into_iter().filter_map(CliError::into_sentence)).join("\n") {
        said if said.is_empty() => Ok(()),
        said if is_wrong => Err(CliError::Request(said)),
        said => Err(CliError::Run(said)),
    }
}
