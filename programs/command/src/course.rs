//! The plot of `run` and `compare`: what changed while the programs ran, predicted and observed.

use loggp_draw::plot::{Line, Look, Panel, Plot, Scale};
use loggp_programs::{Case, Course, Program};

use super::failure::Failure;
use super::output::Outputs;
use super::row::Row;

/// A line has about so many marks.
const MARKS: usize = 24;

/// Refuses a picture of a program that shows nothing.
pub fn check(outputs: &Outputs, case: &Case) -> Result<(), Failure> {
    if outputs.has_picture() && case.plan().is_ok_and(|plan| plan.course().is_none()) {
        let name = case.program.name;
        return Err(Failure::Request(format!(
            "-o FILE.svg: {name} shows nothing that changes while it runs; leave it out, or draw its times over a parameter \
             with `loggp sweep {name} --over .. -o FILE.svg`"
        )));
    }
    Ok(())
}

/// For every algorithm a line of what was predicted, and marks for what was observed.
pub fn plot(heading: &str, program: &Program, rows: &[Row]) -> Plot {
    let (title, subtitle) = heading.split_once(": ").unwrap_or((heading, ""));
    let mut lines = Vec::new();
    let (mut along, mut of) = ("", "");
    for (number, row) in rows.iter().enumerate() {
        let (name, outcome) = (row.case().algorithm.name, &row.answers.outcome);
        if let Some(Course { along: x, of: y, points }) = &row.answers.course {
            (along, of) = (x, y);
            let points = points.clone();
            lines.push(Line::new(format!("{name}, predicted"), number, Look::Line, points));
        }
        if let Some(Course { points, .. }) = &outcome.course {
            // Those of the next line stand between those of this one.
            let apart = points.len().div_ceil(MARKS).max(1);
            let first = number * apart / rows.len();
            let points = points.iter().skip(first).step_by(apart).copied().collect();
            lines.push(Line::new(format!("{name}, observed"), number, Look::Marks, points));
        }
    }
    Plot {
        title: title.into(),
        subtitle: subtitle.into(),
        x: format!("{along} of {}", program.name),
        x_scale: Scale::Linear,
        y: of.into(),
        y_scale: Scale::Linear,
        panels: vec![Panel { caption: String::new(), lines, levels: Vec::new() }],
    }
}
