//! The sharing of this computer's cores among the runs of an experiment.

use loggp::{ClockKind, Work};
use loggp_study::Study;
use loggp_study::rows::program_run::Task;

use crate::ask::options::all_cores;

/// Shares the cores among tasks, then among the runs of each, then within each run. Returns the number of
/// tasks that run at once.
pub(crate) fn share_cores(tasks: &mut [Task]) -> usize {
    let all = concurrent_runs(tasks);
    let workers = all.min(tasks.len());
    for Task { study, .. } in tasks {
        study.parallel_runs = (all / workers).min(study.repeat);
        let cores = &mut study.emulation.cores;
        *cores = cores.map(|cores| (cores / workers / study.parallel_runs).max(1));
    }
    workers
}

/// Returns the number of runs that are made at once. Runs that are alone in their time don't disturb each
/// other; all others need the host for themselves.
pub(crate) fn concurrent_runs(tasks: &[Task]) -> usize {
    /// Limit of the words of all concurrent runs together, so that memory suffices.
    const MOST: usize = 1 << 26;
    let words = |task: &Task| task.study.case.params.P.saturating_mul(task.study.case.size).max(1);
    match tasks.iter().map(words).max() {
        Some(words) if tasks.iter().all(is_exact) => {
            let cores = tasks[0].study.emulation.cores.unwrap_or_else(all_cores);
            cores.min(MOST / words).max(1)
        }
        _ => 1,
    }
}

/// Returns whether a task takes the same time whenever it runs: on the virtual clock with charged work.
pub(crate) fn is_exact(Task { study: Study { case, emulation, .. }, .. }: &Task) -> bool {
    emulation.clock == ClockKind::Virtual && emulation.link.is_none() && case.work == Work::Charged
}
