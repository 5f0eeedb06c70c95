//! The one way to draw formula, model and measurement of something: a line for the formula, marks for the model, and rings
//! for what was measured, from the least to the most. Where each run drew anew, a box says where the middle half of the times is.

use loggp::Time;

use loggp_draw::plot::{Line, Look};
use loggp_programs::Trend;
use loggp_study::{Prediction, Times};

/// A curve of so many times, with heights made of x and the time. Points stand from left to right.
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
    // Of what was drawn anew the middle half is a box.
    let ends = |of: fn(&Prediction) -> Option<Times>, which: fn(Times) -> (Time, Time)| {
        let at = |(x, times): &(f64, Prediction)| {
            let (low, high) = of(times).filter(|times| times.min < times.max).map(which)?;
            Some((*x, y(*x, low), y(*x, high)))
        };
        points.iter().filter_map(at).collect::<Vec<_>>()
    };
    let (all, half) = (|times: Times| (times.min, times.max), |times: Times| (times.lower, times.upper));
    let drawn = |times: &Prediction| times.models.and(times.measured);
    let model = curve("model", Look::Marks, |times| times.model);
    let measured = curve("measured", Look::Rings, |times| times.measured.map(|times| times.median));
    let curves = [
        curve("formula", Look::Line, |times| times.formula),
        Line { spread: ends(|times| times.models, all), middle: ends(|times| times.models, half), ..model },
        Line { spread: ends(|times| times.measured, all), middle: ends(drawn, half), ..measured },
    ];
    curves.into_iter().filter(|line| !line.points.is_empty())
}

/// What was to change while something ran, as a line, and what did, as marks: of many, the first of each `apart`, from `first` on.
pub fn trend(
    name: &str,
    number: usize,
    predicted: Option<&Trend>,
    observed: Option<&Trend>,
    (first, apart): (usize, usize),
) -> impl Iterator<Item = Line> {
    let line = |answer: &str, look, points: Vec<(f64, f64)>| {
        Line::new(format!("{name}, {answer}"), number, look, points)
    };
    let points =
        |trend: &Trend, first, apart| trend.points.iter().skip(first).step_by(apart).copied().collect();
    let predicted = predicted.map(|trend| line("predicted", Look::Line, points(trend, 0, 1)));
    let observed = observed.map(|trend| line("observed", Look::Marks, points(trend, first, apart)));
    predicted.into_iter().chain(observed)
}
