//! Curves of formula, model and measurement: a line for the formula, marks for the model, and rings for
//! measurements, with a bar from the least to the most. Where each run draws random numbers anew, a box shows
//! the middle half of the times.

use crate::{Prediction, TimeSummary};
use loggp::Time;
use loggp_draw::plot::{Look, PlotLine};
use loggp_programs::Trend;

/// Returns the curves of times, with heights computed by `y` of x and the time. Points are in order of x.
pub fn curves(
    name: &str,
    number: usize,
    points: &[(f64, Prediction)],
    y: impl Fn(f64, Time) -> f64,
) -> impl Iterator<Item = PlotLine> {
    let curve = |answer: &str, look, time: fn(&Prediction) -> Option<Time>| {
        let at = |(x, times): &(f64, Prediction)| Some((*x, y(*x, time(times)?)));
        PlotLine::new(format!("{name}, {answer}"), number, look, points.iter().filter_map(at).collect())
    };
    // The middle half of runs that draw anew is a box.
    let ends = |times_of: fn(&Prediction) -> Option<TimeSummary>, which: fn(TimeSummary) -> (Time, Time)| {
        let at = |(x, times): &(f64, Prediction)| {
            let (low, high) = times_of(times).filter(|times| times.min < times.max).map(which)?;
            Some((*x, y(*x, low), y(*x, high)))
        };
        points.iter().filter_map(at).collect::<Vec<_>>()
    };
    let (all, half) =
        (|times: TimeSummary| (times.min, times.max), |times: TimeSummary| (times.lower, times.upper));
    let measured_anew = |times: &Prediction| times.models.and(times.measured);
    let model = curve("model", Look::Marks, |times| times.model);
    let measured = curve("measured", Look::Rings, |times| times.measured.map(|times| times.median));
    let curves = [
        curve("formula", Look::Line, |times| times.formula),
        PlotLine {
            spread: ends(|times| times.models, all),
            middle: ends(|times| times.models, half),
            ..model
        },
        PlotLine { spread: ends(|times| times.measured, all), middle: ends(measured_anew, half), ..measured },
    ];
    curves.into_iter().filter(|line| !line.points.is_empty())
}

/// Returns a predicted trend as a line, and the observed one as marks: of many, every `apart`-th point from
/// `first` on.
pub fn trend_lines(
    name: &str,
    number: usize,
    predicted: Option<&Trend>,
    observed: Option<&Trend>,
    (first, apart): (usize, usize),
) -> impl Iterator<Item = PlotLine> {
    let line = |answer: &str, look, points: Vec<(f64, f64)>| {
        PlotLine::new(format!("{name}, {answer}"), number, look, points)
    };
    let points =
        |trend: &Trend, first, apart| trend.points.iter().skip(first).step_by(apart).copied().collect();
    let predicted = predicted.map(|trend| line("predicted", Look::Line, points(trend, 0, 1)));
    let observed = observed.map(|trend| line("observed", Look::Marks, points(trend, first, apart)));
    predicted.into_iter().chain(observed)
}
