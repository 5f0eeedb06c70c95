//! How formula, model and measurement of one thing are drawn in a plot.

use loggp::Time;

use loggp_draw::plot::{Line, Look};
use loggp_study::{Prediction, Times};

/// A line for the formula, marks for the model and rings for what was measured, from the least to the most, with heights
/// made of x and the time.
pub fn curves(
    name: &str,
    number: usize,
    points: &[(f64, Prediction)],
    y: impl Fn(f64, Time) -> f64,
) -> impl Iterator<Item = Line> {
    let curve = |answer: &str, look, time: fn(&Prediction) -> Option<Time>| {
        let at = |(x, times): &(f64, Prediction)| Some((*x, y(*x, time(times)?)));
        Line::new(format!("{name}, {answer}"), number, look, points.iter().filter_map(at).collect())
    };
    let spread = points.iter().filter_map(|(x, times)| {
        let Times { min, max, .. } = times.measured?;
        Some((*x, y(*x, min), y(*x, max)))
    });
    let measured = curve("measured", Look::Rings, |times| times.measured.map(|times| times.median));
    let curves = [
        curve("formula", Look::Line, |times| times.formula),
        curve("model", Look::Marks, |times| times.model),
        Line { spread: spread.collect(), ..measured },
    ];
    curves.into_iter().filter(|line| !line.points.is_empty())
}
