//! The plot of `compare`: the trend of the runs, predicted and observed; or with `--seeds`, as of `run` too, the
//! distribution of the times.

use loggp_draw::plot::{Look, Plot, PlotLine, Scale};
use loggp_study::Study;
use loggp_study::pictures::curves::trend_lines;
use loggp_study::rows::program_run::StudyRow;

use crate::error::CliError;

/// Approximate number of marks on a line.
const MARKS: usize = 24;

/// Refuses a picture of a program without a trend.
pub(crate) fn check(Study { case, distinct_seeds: seeds, .. }: &Study) -> Result<(), CliError> {
    if !seeds && case.plan().is_ok_and(|plan| plan.trend().is_none()) {
        let name = case.program.name;
        return Err(CliError::Request(format!(
            "compare draws nothing of {name}, in which nothing changes while it runs; leave the picture out, or draw a run with \
             `loggp run {name} -o run.svg`, or the times over a parameter with `loggp sweep {name} --over .. -o sweep.svg`"
        )));
    }
    Ok(())
}

/// Plots for each algorithm a line of the predicted trend, and marks of the observed one; with `--seeds` the
/// cumulative distribution of its times.
pub(crate) fn plot(heading: &str, rows: &[StudyRow]) -> Plot {
    let (title, subtitle) = heading.split_once(": ").unwrap_or((heading, ""));
    if rows.iter().any(|row| row.task.study.distinct_seeds) {
        let line = |(number, row): (usize, &StudyRow)| {
            let times = &row.answers.times;
            let share = |runs: usize| runs as f64 / times.len() as f64;
            let median = row.answers.outcome.run.time.as_ps() as f64;
            // Each time is a step upwards.
            let steps = times.iter().enumerate().flat_map(|(before, time)| {
                [before, before + 1].map(|runs| (time.as_ps() as f64 / median, share(runs)))
            });
            PlotLine::new(&row.task.name, number, Look::Line, steps.collect())
        };
        return Plot::new(title, subtitle)
            .x("time / median time", Scale::Linear)
            .y("share of the runs that take no longer", Scale::Linear)
            .lines(rows.iter().enumerate().map(line));
    }
    let lines = rows.iter().enumerate().flat_map(|(number, row)| {
        let (predicted, observed) = (row.answers.trend.as_ref(), row.answers.outcome.trend.as_ref());
        let apart = observed.map_or(1, |trend| trend.points.len().div_ceil(MARKS).max(1));
        // The marks of different lines are shifted against each other.
        let marks = (number * apart / rows.len(), apart);
        trend_lines(&row.task.name, number, predicted, observed, marks)
    });
    let (along, of) = rows
        .iter()
        .find_map(|row| row.answers.trend.as_ref())
        .map_or(("", ""), |trend| (trend.along, trend.quantity));
    Plot::new(title, subtitle)
        .x(format!("{along} of {}", rows[0].case().program.name), Scale::Linear)
        .y(of, Scale::Linear)
        .lines(lines)
}
