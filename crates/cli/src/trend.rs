//! The plot of `run` and `compare`: what changed while the programs ran, predicted and observed; or, where each run drew anew, how
//! the times are spread.

use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_papers::pictures::curves::trend;
use loggp_programs::Program;
use loggp_study::Study;

use super::failure::Failure;
use super::output::Outputs;
use super::row::Row;

/// A line has about so many marks.
const MARKS: usize = 24;

/// Refuses a picture of a program that shows nothing.
pub fn check(outputs: &Outputs, Study { case, seeds, .. }: &Study) -> Result<(), Failure> {
    if outputs.has_picture() && !seeds && case.plan().is_ok_and(|plan| plan.trend().is_none()) {
        let name = case.program.name;
        return Err(Failure::Request(format!(
            "-o FILE.svg: {name} shows nothing that changes while it runs; leave it out, or draw its times over a parameter \
             with `loggp sweep {name} --over .. -o FILE.svg`"
        )));
    }
    Ok(())
}

/// For every algorithm a line of what was predicted, and marks for what was observed; or how many runs took how long.
pub fn plot(heading: &str, program: &Program, rows: &[Row]) -> Plot {
    let (title, subtitle) = heading.split_once(": ").unwrap_or((heading, ""));
    if rows.iter().any(|row| row.task.study.seeds) {
        let line = |(number, row): (usize, &Row)| {
            let times = &row.answers.times;
            let share = |runs: usize| runs as f64 / times.len() as f64;
            let median = row.answers.outcome.run.time.as_ps() as f64;
            // Up at each time: a step.
            let steps = times.iter().enumerate().flat_map(|(before, time)| {
                [before, before + 1].map(|runs| (time.as_ps() as f64 / median, share(runs)))
            });
            Line::new(row.case().algorithm.name, number, Look::Line, steps.collect())
        };
        return Plot::new(title, subtitle)
            .x("time / median time", Scale::Linear)
            .y("share of the runs that take no longer", Scale::Linear)
            .lines(rows.iter().enumerate().map(line));
    }
    let lines = rows.iter().enumerate().flat_map(|(number, row)| {
        let (predicted, observed) = (row.answers.trend.as_ref(), row.answers.outcome.trend.as_ref());
        let apart = observed.map_or(1, |trend| trend.points.len().div_ceil(MARKS).max(1));
        // Marks of the next line stand between those of this one.
        let marks = (number * apart / rows.len(), apart);
        trend(row.case().algorithm.name, number, predicted, observed, marks)
    });
    let (along, of) = rows
        .iter()
        .find_map(|row| row.answers.trend.as_ref())
        .map_or(("", ""), |trend| (trend.along, trend.of));
    Plot::new(title, subtitle)
        .x(format!("{along} of {}", program.name), Scale::Linear)
        .y(of, Scale::Linear)
        .lines(lines)
}
