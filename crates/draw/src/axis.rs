//! Axes: their ranges, and ticks at round values.

use std::ops::Range;

use super::canvas::{Anchor, Canvas, NORMAL, lines_height, text_width};
use super::digits::figures;
use super::palette::TEXT;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    Linear,
    /// Logarithmic, with ticks at round numbers.
    Log,
    /// Logarithmic, with a tick at each point: for few points, such as powers of two.
    Points,
}

/// Space between an axis and its numbers.
pub(crate) const BESIDE: f64 = 7.0;

/// An axis.
pub struct Axis {
    scale: Scale,
    /// Values on the axis, sorted and each once.
    values: Vec<f64>,
}

impl Axis {
    /// Creates an axis for these values. A logarithmic one leaves out those that are not above 0.
    pub fn new(scale: Scale, values: impl Iterator<Item = f64>) -> Axis {
        let has_place = |value: &f64| value.is_finite() && (scale == Scale::Linear || *value > 0.0);
        let mut values: Vec<f64> = values.filter(has_place).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        Axis { scale, values }
    }

    /// Returns the position of a value on the axis.
    pub fn position(&self, value: f64) -> f64 {
        if self.scale == Scale::Linear { value } else { value.max(f64::MIN_POSITIVE).log10() }
    }

    /// Returns whether ticks are spaced evenly, more or less.
    pub fn is_even(&self) -> bool {
        self.scale != Scale::Points
    }

    /// Returns the range of the axis, extended by `part` of it at both ends.
    pub fn range(&self, part: f64) -> Range<f64> {
        let end = |value: Option<&f64>| self.position(value.copied().unwrap_or(1.0));
        let (first, last) = (end(self.values.first()), end(self.values.last()));
        let room = if last > first {
            part * (last - first)
        } else if self.scale == Scale::Linear && first != 0.0 {
            0.5 * first.abs()
        } else {
            0.5
        };
        first - room..last + room
    }

    /// Returns the ticks in a range: their values, and the texts of these.
    pub fn labelled_ticks(&self, range: &Range<f64>) -> (Vec<f64>, Vec<String>) {
        let ticks = self.ticks(range);
        let texts = tick_texts(&ticks);
        (ticks, texts)
    }

    fn ticks(&self, range: &Range<f64>) -> Vec<f64> {
        let width = range.end - range.start;
        let candidates: Vec<f64> = match self.scale {
            Scale::Points => self.values.clone(),
            Scale::Linear => {
                let least = width / 8.0;
                let power = 10_f64.powf(least.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= least);
                let step = step.unwrap_or(10.0 * power);
                let first = (range.start / step).ceil();
                (0..=10).map(|i| (first + f64::from(i)) * step).collect()
            }
            Scale::Log => {
                let digits: &[f64] = match width {
                    width if width < 0.7 => &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
                    width if width < 3.0 => &[1.0, 2.0, 5.0],
                    _ => &[1.0],
                };
                let powers = range.start.floor() as i32..=range.end.ceil() as i32;
                powers.flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power))).collect()
            }
        };
        candidates.into_iter().filter(|tick| range.contains(&self.position(*tick))).collect()
    }
}

/// Writes numbers at their places below `top`, without those that would touch another.
pub(crate) fn draw_numbers_below<'a>(
    canvas: &mut Canvas,
    top: f64,
    labels: impl Iterator<Item = (f64, &'a str)>,
) {
    let mut free = f64::NEG_INFINITY;
    for (x, text) in labels {
        let half = text_width(text, NORMAL) / 2.0;
        if x - half >= free {
            canvas.draw_text_below(TEXT, (x, top), Anchor::Middle, NORMAL, text);
            free = x + half + 6.0;
        }
    }
}

/// Writes numbers at their heights beside `right`, from the bottom up, without those that would touch
/// another.
pub(crate) fn draw_numbers_beside<'a>(
    canvas: &mut Canvas,
    right: f64,
    labels: impl Iterator<Item = (f64, &'a str)>,
) {
    let (mut free, half) = (f64::INFINITY, lines_height(1, NORMAL) / 2.0);
    for (y, text) in labels {
        if y + half <= free {
            canvas.draw_text(TEXT, (right, y), Anchor::End, NORMAL, text);
            free = y - half;
        }
    }
}

/// Returns the numbers of the ticks as text, with no more digits than tell them apart. Very small and very
/// large ones have an exponent.
fn tick_texts(ticks: &[f64]) -> Vec<String> {
    let text = |tick: f64, digits: i32| match tick.abs() {
        size if size > 0.0 && !(1e-6..1e10).contains(&size) => {
            let text = format!("{tick:.*e}", digits as usize - 1);
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => figures(tick, digits),
    };
    let texts = |digits| ticks.iter().map(|tick| text(*tick, digits)).collect::<Vec<_>>();
    let is_enough = |texts: &Vec<String>| texts.windows(2).all(|pair| pair[0] != pair[1]);
    (3..9).map(texts).find(is_enough).unwrap_or_else(|| texts(9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let ticks = |scale, values: &[f64]| {
            let axis = Axis::new(scale, values.iter().copied());
            tick_texts(&axis.ticks(&axis.range(1e-9))).join(" ")
        };
        assert_eq!(ticks(Scale::Linear, &[0.0, 0.69]), "0 0.1 0.2 0.3 0.4 0.5 0.6");
        assert_eq!(ticks(Scale::Points, &[4.0, 1.0, 64.0, 4.0]), "1 4 64");
        assert_eq!(ticks(Scale::Log, &[0.0, 0.01, 99.0]), "0.01 0.1 1 10");
        assert_eq!(ticks(Scale::Linear, &[-1280.0, 0.0]), "-1,200 -1,000 -800 -600 -400 -200 0");
        assert_eq!(tick_texts(&[1.0, 1.0005, 1.001]), ["1", "1.0005", "1.001"]);
        assert_eq!(tick_texts(&[1e-12, 2.5e12]), ["1e-12", "2.5e12"]);
    }

    #[test]
    fn one_value_has_room_around_it() {
        for (scale, value) in
            [(Scale::Linear, 1e-9), (Scale::Linear, 0.0), (Scale::Log, 7.0), (Scale::Points, 1e9)]
        {
            let axis = Axis::new(scale, [value].into_iter());
            let range = axis.range(0.04);
            assert!(range.start < axis.position(value) && axis.position(value) < range.end);
        }
    }
}
