//! Lines through noisy points, and where a line jumps or bends. Both are robust: a few disturbed points are
//! outvoted.
//!
//! The slope is the median of the slopes of all pairs of points (Theil and Sen). Points further apart weigh
//! more, since noise changes their slope less. The height is taken from the smallest values, which noise
//! moves least.

/// A point of a curve: the length of the messages in words, and a time in picoseconds.
pub(super) type CurvePoint = (f64, f64);

/// A line fitted to points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedLine {
    /// Value at 0.
    pub at_zero: f64,
    /// Growth per word.
    pub slope: f64,
    /// Median distance of the points from the line.
    pub scatter: f64,
    /// Deviation of the slopes of pairs of points: nine tenths of them deviate less.
    pub slope_doubt: f64,
    /// Distance from the first point to the last, in words.
    pub span: f64,
}

/// A bound on the deviation of points from their true places.
#[derive(Clone, Copy, Debug)]
pub struct NoiseBound {
    /// Absolute deviation.
    pub absolute: f64,
    /// Relative deviation, added to the absolute one.
    pub relative: f64,
}

impl NoiseBound {
    /// No noise.
    pub const NONE: NoiseBound = NoiseBound { absolute: 0.0, relative: 0.0 };

    /// Returns whether there is no noise.
    pub fn is_none(self) -> bool {
        self.absolute == 0.0 && self.relative == 0.0
    }

    /// Returns the least deviation of a value that noise does not explain.
    fn threshold(self, value: f64) -> f64 {
        4.0 * self.absolute + self.relative * value.abs()
    }
}

/// Most points of which all pairs are compared.
const MOST: usize = 64;

impl FittedLine {
    /// Fits a line to points in order of length; it is level if there is only one.
    pub fn through(points: &[CurvePoint]) -> FittedLine {
        let step = points.len().div_ceil(MOST).max(1);
        let some: Vec<CurvePoint> =
            points.iter().copied().step_by(step).chain(points.last().copied()).collect();
        let mut slopes = Vec::new();
        for (i, a) in some.iter().enumerate() {
            slopes.extend(
                some[i + 1..].iter().filter(|b| b.0 > a.0).map(|b| ((b.1 - a.1) / (b.0 - a.0), b.0 - a.0)),
            );
        }
        let slope = weighted_median(&mut slopes).unwrap_or(0.0);
        let mut deviations: Vec<_> =
            slopes.iter().map(|(other, weight)| ((other - slope).abs(), *weight)).collect();
        let slope_doubt = weighted_quantile(&mut deviations, 0.9).unwrap_or(0.0);
        let usual = median_or_zero(points.iter().map(|point| point.1.abs()));
        let weight = |y: f64| 1.0 / (y.abs() + usual / 1e3 + f64::MIN_POSITIVE);
        let mut heights: Vec<_> = points.iter().map(|(x, y)| (y - slope * x, weight(*y))).collect();
        let at_zero = weighted_median(&mut heights).unwrap_or(0.0);
        let line = FittedLine { at_zero, slope, scatter: 0.0, slope_doubt, span: 0.0 };
        let scatter = median_or_zero(points.iter().map(|point| line.distance_to(point)));
        let span = points.last().zip(points.first()).map_or(0.0, |(last, first)| last.0 - first.0);
        FittedLine { scatter, span, ..line }
    }

    /// Returns the line's value at x.
    pub fn at(&self, x: f64) -> f64 {
        self.at_zero + self.slope * x
    }

    /// Returns the distance of a point from the line.
    fn distance_to(&self, (x, y): &CurvePoint) -> f64 {
        (y - self.at(*x)).abs()
    }

    /// Returns the sum of the points' relative distances from the line.
    fn cost(&self, points: &[CurvePoint]) -> f64 {
        let usual = median_or_zero(points.iter().map(|point| point.1.abs()));
        points
            .iter()
            .map(|point| self.distance_to(point) / (point.1.abs() + usual / 1e3 + f64::MIN_POSITIVE))
            .sum()
    }
}

/// A jump of a curve from one line to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    /// Number of points before the jump.
    pub index: usize,
    /// Line before the jump.
    pub before: FittedLine,
    /// Line after the jump; `None` if there is only one point.
    pub after: Option<FittedLine>,
}

/// Finds where points jump up, and both lines; `None` if one line explains all points.
pub(super) fn find_jump(points: &[CurvePoint], noise: NoiseBound) -> Option<Jump> {
    // With noise more points are needed: two always lie on a line.
    let fewest = if noise.is_none() { 1 } else { 2 };
    let split = |index: usize| {
        let (left, right) = points.split_at(index);
        let (before, after) = (FittedLine::through(left), FittedLine::through(right));
        (before.cost(left) + after.cost(right), index, before, after)
    };
    let splits = (fewest..=points.len().checked_sub(fewest)?).map(split);
    let (cost, index, before, after) = splits.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let whole = FittedLine::through(points).cost(points);
    let first = points.get(index)?;
    let height = first.1 - before.at(first.0);
    let jumps = 2.0 * cost < whole && height > noise.threshold(first.1);
    let after = (points.len() - index > 1).then_some(after);
    jumps.then_some(Jump { index, before, after })
}

/// A bend of a curve from one line to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    /// Length at which the lines meet.
    pub at: f64,
    /// Number of points before the bend.
    pub index: usize,
    /// Line before the bend.
    pub before: FittedLine,
    /// Line after the bend.
    pub after: FittedLine,
}

/// Finds where points bend, and both lines; else returns the one line. From the point `raised` on, each point
/// stands higher by twice the height at 0 of the line before the bend.
pub(super) fn find_bend(points: &[CurvePoint], raised: usize, noise: NoiseBound) -> Result<Bend, FittedLine> {
    let from = |index: usize, before: &FittedLine| -> Vec<CurvePoint> {
        let lowered =
            |(i, (x, y)): (usize, &CurvePoint)| (*x, if i < raised { *y } else { y - 2.0 * before.at_zero });
        points.iter().enumerate().skip(index).map(lowered).collect()
    };
    let split = |index: usize| {
        let before = FittedLine::through(&points[..index]);
        let right = from(index, &before);
        let after = FittedLine::through(&right);
        (before.cost(&points[..index]) + after.cost(&right), index, before, after)
    };
    let line = FittedLine::through(&points[..raised]);
    let straight = line.cost(&from(0, &line));
    let splits = (2..=raised.min(points.len().saturating_sub(2))).map(split);
    let Some((cost, index, before, after)) = splits.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Err(line);
    };
    let at = (before.at_zero - after.at_zero) / (after.slope - before.slope);
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    // The bend must show at the far end of the shorter part.
    let turn = (after.slope - before.slope).abs() * (last - at).min(at - first);
    let shows = turn > noise.threshold(before.at(at));
    if 2.0 * cost < straight && at.is_finite() && shows {
        Ok(Bend { at, index, before, after })
    } else {
        Err(line)
    }
}

/// Returns the median, or 0 if there are no values.
pub(super) fn median_or_zero(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<(f64, f64)> = values.map(|value| (value, 1.0)).collect();
    weighted_median(&mut values).unwrap_or(0.0)
}

fn weighted_median(values: &mut [(f64, f64)]) -> Option<f64> {
    weighted_quantile(values, 0.5)
}

/// Returns the value up to which `part` of the weight lies.
fn weighted_quantile(values: &mut [(f64, f64)], part: f64) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let most = values.iter().map(|(_, weight)| weight).sum::<f64>() * part;
    let mut below = 0.0;
    let median = values.iter().find(|(_, weight)| {
        below += weight;
        below >= most
    });
    median.or(values.last()).map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(n: usize, f: impl Fn(f64) -> f64) -> Vec<CurvePoint> {
        (0..n).map(|x| (x as f64 * 10.0, f(x as f64 * 10.0))).collect()
    }

    #[test]
    fn line_outvotes_a_few_wild_points() {
        let mut points = points(20, |x| 7.0 + 3.0 * x);
        // Disturbances make a computer late, never early.
        (points[4].1, points[11].1, points[19].1) = (9e9, 1e3, 1e12);
        let line = FittedLine::through(&points);
        assert_eq!((line.at_zero, line.slope, line.scatter), (7.0, 3.0, 0.0));
    }

    #[test]
    fn slope_doubt_covers_the_error() {
        // Half of the points are late by a part of their value.
        for late in [0.01, 0.1] {
            let points = points(20, |x| (7.0 + 3.0 * x) * if x < 100.0 { 1.0 } else { 1.0 + late });
            let line = FittedLine::through(&points);
            let wrong = line.slope - 3.0;
            assert!(wrong.abs() > 0.01 && line.slope_doubt >= wrong.abs(), "{wrong} {line:?}");
        }
    }

    #[test]
    fn find_jump_finds_no_bend_and_no_wild_point() {
        let noise = NoiseBound { absolute: 0.0, relative: 0.05 };
        let jumps = points(12, |x| if x <= 60.0 { 100.0 + x } else { 400.0 + 2.0 * x });
        let found = find_jump(&jumps, noise).unwrap();
        assert_eq!((found.index, found.before.slope, found.after.unwrap().slope), (7, 1.0, 2.0));
        let mut straight = points(12, |x| 100.0 + x);
        assert!(find_jump(&straight, noise).is_none() && find_jump(&straight, NoiseBound::NONE).is_none());
        straight[5].1 = 1e6;
        assert!(find_jump(&straight, noise).is_none());
    }

    #[test]
    fn find_bend_works_between_points_and_below_a_jump() {
        let hinge = |x: f64| 50.0 + 4.0 * x.min(33.0) + (x - 33.0).max(0.0);
        let plain = points(9, hinge);
        let found = find_bend(&plain, 9, NoiseBound::NONE).unwrap();
        assert_eq!((found.at, found.index, found.before.slope, found.after.slope), (33.0, 4, 4.0, 1.0));
        let raised = points(9, |x| hinge(x) + if x > 30.0 { 100.0 } else { 0.0 });
        assert_eq!(find_bend(&raised, 4, NoiseBound::NONE).unwrap().at, 33.0);
        assert_eq!(find_bend(&points(9, |x| 5.0 + x), 9, NoiseBound::NONE).unwrap_err().slope, 1.0);
    }
}
