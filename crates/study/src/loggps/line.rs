//! Lines through points that noise has moved, and where a line jumps or bends. Both are robust: a few points that something
//! disturbed are outvoted.
//!
//! A line has the median of the slopes of all pairs of points (Theil and Sen). Points further apart count for more, since
//! noise turns their slope by less; and how high it lies, the smallest values say, which noise moves least.

/// A place on a line: how long the messages are, and a time in picoseconds.
pub type Point = (f64, f64);

/// A line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The value at 0.
    pub at_zero: f64,
    /// What each word more adds.
    pub slope: f64,
    /// How far from the line the points are: half of them no further than that.
    pub scatter: f64,
    /// How far from its slope those of pairs of points are: most of them no further than that.
    pub turns: f64,
    /// From the first point to the last.
    pub span: f64,
}

/// How far points may lie from where they belong.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// At least so far.
    pub absolute: f64,
    /// And so much of their value.
    pub relative: f64,
}

impl Noise {
    /// Points that are where they belong.
    pub const NONE: Noise = Noise { absolute: 0.0, relative: 0.0 };

    /// Whether there is none.
    pub fn is_none(self) -> bool {
        self.absolute == 0.0 && self.relative == 0.0
    }

    /// How far a value must be from where it was expected, to have another reason than noise.
    fn at(self, value: f64) -> f64 {
        4.0 * self.absolute + self.relative * value.abs()
    }
}

/// More points than that say nothing new of a line's slope, and all pairs of them are compared.
const MOST: usize = 64;

impl Line {
    /// The line through these points, from left to right; level if there is but one.
    pub fn through(points: &[Point]) -> Line {
        let step = points.len().div_ceil(MOST).max(1);
        let some: Vec<Point> = points.iter().copied().step_by(step).chain(points.last().copied()).collect();
        let mut slopes = Vec::new();
        for (i, a) in some.iter().enumerate() {
            slopes.extend(
                some[i + 1..].iter().filter(|b| b.0 > a.0).map(|b| ((b.1 - a.1) / (b.0 - a.0), b.0 - a.0)),
            );
        }
        let slope = weighted_median(&mut slopes).unwrap_or(0.0);
        let mut turns: Vec<_> =
            slopes.iter().map(|(other, weight)| ((other - slope).abs(), *weight)).collect();
        let turns = weighted_quantile(&mut turns, 0.9).unwrap_or(0.0);
        let usual = middle(points.iter().map(|point| point.1.abs()));
        let weight = |y: f64| 1.0 / (y.abs() + usual / 1e3 + f64::MIN_POSITIVE);
        let mut heights: Vec<_> = points.iter().map(|(x, y)| (y - slope * x, weight(*y))).collect();
        let at_zero = weighted_median(&mut heights).unwrap_or(0.0);
        let line = Line { at_zero, slope, scatter: 0.0, turns, span: 0.0 };
        let scatter = middle(points.iter().map(|point| line.misses(point)));
        let span = points.last().zip(points.first()).map_or(0.0, |(last, first)| last.0 - first.0);
        Line { scatter, span, ..line }
    }

    /// Its value at a place.
    pub fn at(&self, x: f64) -> f64 {
        self.at_zero + self.slope * x
    }

    /// How far from it a point is.
    fn misses(&self, (x, y): &Point) -> f64 {
        (y - self.at(*x)).abs()
    }

    /// How far from it points are, all together, each as a part of its value.
    fn cost(&self, points: &[Point]) -> f64 {
        let usual = middle(points.iter().map(|point| point.1.abs()));
        points
            .iter()
            .map(|point| self.misses(point) / (point.1.abs() + usual / 1e3 + f64::MIN_POSITIVE))
            .sum()
    }
}

/// A line that goes on elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Jump {
    /// How many points lie before it.
    pub index: usize,
    /// The line before.
    pub before: Line,
    /// And after; nothing if a single point lies there.
    pub after: Option<Line>,
}

/// Where points from left to right jump up, and both lines; nothing if one line has them all.
pub fn jump(points: &[Point], noise: Noise) -> Option<Jump> {
    // Noise needs more points: two always lie on a line.
    let fewest = if noise.is_none() { 1 } else { 2 };
    let split = |index: usize| {
        let (left, right) = points.split_at(index);
        let (before, after) = (Line::through(left), Line::through(right));
        (before.cost(left) + after.cost(right), index, before, after)
    };
    let splits = (fewest..=points.len().checked_sub(fewest)?).map(split);
    let (cost, index, before, after) = splits.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let whole = Line::through(points).cost(points);
    let first = points.get(index)?;
    let height = first.1 - before.at(first.0);
    let jumps = 2.0 * cost < whole && height > noise.at(first.1);
    let after = (points.len() - index > 1).then_some(after);
    jumps.then_some(Jump { index, before, after })
}

/// A line that goes on in another direction.
#[derive(Clone, Copy, Debug)]
pub struct Bend {
    /// Where they meet.
    pub at: f64,
    /// How many points lie before it.
    pub index: usize,
    /// The line before.
    pub before: Line,
    /// And after.
    pub after: Line,
}

/// Where points from left to right bend, and both lines; else the one line that has them all. From the point `raised` on
/// each stands higher by twice what the line before the bend is at 0.
pub fn bend(points: &[Point], raised: usize, noise: Noise) -> Result<Bend, Line> {
    let from = |index: usize, before: &Line| -> Vec<Point> {
        let lowered =
            |(i, (x, y)): (usize, &Point)| (*x, if i < raised { *y } else { y - 2.0 * before.at_zero });
        points.iter().enumerate().skip(index).map(lowered).collect()
    };
    let split = |index: usize| {
        let before = Line::through(&points[..index]);
        let right = from(index, &before);
        let after = Line::through(&right);
        (before.cost(&points[..index]) + after.cost(&right), index, before, after)
    };
    let line = Line::through(&points[..raised]);
    let straight = line.cost(&from(0, &line));
    let splits = (2..=raised.min(points.len().saturating_sub(2))).map(split);
    let Some((cost, index, before, after)) = splits.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Err(line);
    };
    let at = (before.at_zero - after.at_zero) / (after.slope - before.slope);
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    // The bend must show at the far end of the shorter part.
    let turn = (after.slope - before.slope).abs() * (last - at).min(at - first);
    let shows = turn > noise.at(before.at(at));
    if 2.0 * cost < straight && at.is_finite() && shows {
        Ok(Bend { at, index, before, after })
    } else {
        Err(line)
    }
}

/// The value in the middle; 0 if there is none.
pub fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<(f64, f64)> = values.map(|value| (value, 1.0)).collect();
    weighted_median(&mut values).unwrap_or(0.0)
}

/// The value up to which half of the weight lies.
fn weighted_median(values: &mut [(f64, f64)]) -> Option<f64> {
    weighted_quantile(values, 0.5)
}

/// The value up to which such a part of the weight lies.
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

    fn points(n: usize, f: impl Fn(f64) -> f64) -> Vec<Point> {
        (0..n).map(|x| (x as f64 * 10.0, f(x as f64 * 10.0))).collect()
    }

    #[test]
    fn a_few_wild_points_are_outvoted() {
        let mut points = points(20, |x| 7.0 + 3.0 * x);
        // What disturbs a computer makes it late.
        (points[4].1, points[11].1, points[19].1) = (9e9, 1e3, 1e12);
        let line = Line::through(&points);
        assert_eq!((line.at_zero, line.slope, line.scatter), (7.0, 3.0, 0.0));
    }

    #[test]
    fn a_slope_is_doubted_by_as_much_as_it_is_wrong() {
        // Half of the points are late by a part of what they are.
        for late in [0.01, 0.1] {
            let points = points(20, |x| (7.0 + 3.0 * x) * if x < 100.0 { 1.0 } else { 1.0 + late });
            let line = Line::through(&points);
            let wrong = line.slope - 3.0;
            assert!(wrong.abs() > 0.01 && line.turns >= wrong.abs(), "{wrong} {line:?}");
        }
    }

    #[test]
    fn finds_a_jump_and_takes_no_bend_and_no_wild_point_for_one() {
        let noise = Noise { absolute: 0.0, relative: 0.05 };
        let jumps = points(12, |x| if x <= 60.0 { 100.0 + x } else { 400.0 + 2.0 * x });
        let found = jump(&jumps, noise).unwrap();
        assert_eq!((found.index, found.before.slope, found.after.unwrap().slope), (7, 1.0, 2.0));
        let mut straight = points(12, |x| 100.0 + x);
        assert!(jump(&straight, noise).is_none() && jump(&straight, Noise::NONE).is_none());
        straight[5].1 = 1e6;
        assert!(jump(&straight, noise).is_none());
    }

    #[test]
    fn finds_a_bend_between_points_and_below_a_jump() {
        let hinge = |x: f64| 50.0 + 4.0 * x.min(33.0) + (x - 33.0).max(0.0);
        let plain = points(9, hinge);
        let found = bend(&plain, 9, Noise::NONE).unwrap();
        assert_eq!((found.at, found.index, found.before.slope, found.after.slope), (33.0, 4, 4.0, 1.0));
        let raised = points(9, |x| hinge(x) + if x > 30.0 { 100.0 } else { 0.0 });
        assert_eq!(bend(&raised, 4, Noise::NONE).unwrap().at, 33.0);
        assert_eq!(bend(&points(9, |x| 5.0 + x), 9, Noise::NONE).unwrap_err().slope, 1.0);
    }
}
