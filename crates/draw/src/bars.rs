//! Stacked bars, which may be grouped: LogGPS's figure 6.

use super::axis::{Axis, Scale};
use super::canvas::{
    Anchor, Canvas, MARGIN, NORMAL, ShapeStyle, WIDTH, lines_height, text_width, widest, wrap,
};
use super::digits::figures;
use super::legend::{LegendEntry, draw_legend};
use super::palette::{ActivityStyle, GREY, PALE, TEXT};

/// A chart of stacked bars.
pub struct Bars {
    /// Title above the bars.
    pub title: String,
    /// One or more smaller lines below the title.
    pub subtitle: String,
    /// Name of the horizontal axis.
    pub x: String,
    /// Name of the vertical axis, with its unit.
    pub y: String,
    /// Layers of every bar, from the bottom up.
    pub layers: Vec<ActivityStyle>,
    /// Bars from left to right.
    pub bars: Vec<Bar>,
}

/// A stacked bar.
pub struct Bar {
    /// Label below the bar.
    pub label: String,
    /// Label of the group, below the labels of adjacent bars with the same group; empty for no group.
    pub group: String,
    /// Height of each layer.
    pub heights: Vec<f64>,
}

/// Limit of the number of bars; more would be a blur.
pub const MOST: usize = 520;
/// Height of the area for the bars.
const HEIGHT: f64 = 320.0;
/// Least and greatest space for a bar.
const SLOT: (f64, f64) = (3.0, 110.0);
/// Space between groups, in bars.
const APART: f64 = 0.7;
/// Labels are turned upright when the picture would be wider than usual by more than this factor.
const WIDER: f64 = 1.2;
/// Greatest length of an upright label.
const UPRIGHT: f64 = 190.0;

impl Bars {
    /// Returns the bars as SVG.
    pub fn svg(&self) -> String {
        let sums = self.bars.iter().map(|bar| bar.heights.iter().sum::<f64>());
        let axis = Axis::new(Scale::Linear, sums.chain([0.0]));
        let range = 0.0..axis.range(0.04).end;
        let (ticks, texts) = axis.labelled_ticks(&range);
        let names = wrap(&self.y, NORMAL + 1.0, HEIGHT);
        let left = MARGIN + lines_height(names.len(), NORMAL + 1.0) + 4.0 + widest(&texts, NORMAL) + 7.0;
        let room = WIDTH - left - MARGIN;

        // Bars with names are as far apart as these need, or the names are upright; some numbers may be left
        // out.
        let n = self.bars.len() as f64 + APART * (self.groups().len() as f64 - 1.0).max(0.0);
        let label = widest(self.bars.iter().map(|bar| &bar.label), NORMAL) + 8.0;
        let is_number = |bar: &Bar| bar.label.bytes().all(|byte| byte.is_ascii_digit());
        let is_numbered = self.bars.iter().all(is_number);
        let is_upright = !is_numbered && label * n > WIDER * room;
        let least = match (is_numbered, is_upright) {
            (true, _) => SLOT.0,
            (false, false) => label,
            (false, true) => {
                let lines = self.bars.iter().map(|bar| wrap(&bar.label, NORMAL, UPRIGHT).len()).max();
                lines_height(lines.unwrap_or(1), NORMAL) + 4.0
            }
        };
        let across = (least * n).max(room);
        let slot = (across / n.max(1.0)).min(SLOT.1.max(least));
        let mut canvas = Canvas::new(left + across + MARGIN);

        let top = canvas.draw_head(&self.title, &self.subtitle) + 4.0;
        let bottom = top + HEIGHT;
        let up = |value: f64| bottom - HEIGHT * value / range.end;
        for (tick, text) in ticks.iter().zip(&texts) {
            canvas.draw_thin_line(PALE, &[(left, up(*tick)), (left + across, up(*tick))]);
            canvas.draw_text(TEXT, (left - 7.0, up(*tick)), Anchor::End, NORMAL, text);
        }
        let start = left + (across - slot * n) / 2.0;
        let step = if is_numbered { (label / slot).ceil().max(1.0) as usize } else { 1 };
        let mut low = bottom;
        let mut places = Vec::new();
        for (group, bars) in self.groups().into_iter().enumerate() {
            for number in bars {
                let bar = &self.bars[number];
                let from = start + slot * (number as f64 + APART * group as f64);
                places.push((from, from + slot));
                self.draw_bar(&mut canvas, bar, (from + 0.1 * slot, 0.8 * slot), up);
                let middle = from + slot / 2.0;
                if is_upright {
                    let lines = wrap(&bar.label, NORMAL, UPRIGHT);
                    let first = middle - lines_height(lines.len() - 1, NORMAL) / 2.0;
                    for (number, line) in lines.iter().enumerate() {
                        let place = (first + lines_height(number, NORMAL), bottom + 6.0);
                        canvas.draw_turned_text(TEXT, place, Anchor::End, NORMAL, line);
                        low = low.max(bottom + 6.0 + text_width(line, NORMAL));
                    }
                } else if number % step == 0 {
                    let place = (middle, bottom + 6.0);
                    low = low.max(canvas.draw_text_below(TEXT, place, Anchor::Middle, NORMAL, &bar.label));
                }
            }
        }
        canvas.draw_thin_line(GREY, &[(left, top), (left, bottom), (left + across, bottom)]);
        let mut y = low;
        for bars in self.groups() {
            let name = &self.bars[bars.start].group;
            if !name.is_empty() {
                let (from, to) = (places[bars.start].0, places[bars.end - 1].1);
                canvas.draw_thin_line(GREY, &[(from + 2.0, low + 5.0), (to - 2.0, low + 5.0)]);
                let lines = wrap(name, NORMAL, (to - from + APART * slot - 4.0).max(NORMAL));
                let place = ((from + to) / 2.0, low + 8.0);
                y = y.max(canvas.draw_lines(TEXT, place, Anchor::Middle, NORMAL, &lines));
            }
        }
        let middle = left + across / 2.0;
        if !self.x.is_empty() {
            let lines = wrap(&self.x, NORMAL + 1.0, across);
            y = canvas.draw_lines(TEXT, (middle, y + 4.0), Anchor::Middle, NORMAL + 1.0, &lines);
        }
        canvas.draw_axis_name((top + bottom) / 2.0, &names);
        let occurs =
            |layer: &usize| self.bars.iter().any(|bar| bar.heights.get(*layer).is_some_and(|h| *h > 0.0));
        let shown = (0..self.layers.len()).filter(occurs).map(|layer| &self.layers[layer]);
        let entries: Vec<_> = shown.map(|layer| LegendEntry::for_ink(layer.name, layer.ink)).collect();
        let end = draw_legend(&mut canvas, y + 12.0, &entries);
        canvas.finish(end + MARGIN / 2.0, &self.title)
    }

    /// Returns the bars of each group.
    fn groups(&self) -> Vec<std::ops::Range<usize>> {
        let mut start = 0;
        let groups = self.bars.chunk_by(|one, other| one.group == other.group).map(|group| {
            start += group.len();
            start - group.len()..start
        });
        groups.collect()
    }

    /// Draws a bar of this width to the right of `x`.
    fn draw_bar(&self, canvas: &mut Canvas, bar: &Bar, (x, width): (f64, f64), up: impl Fn(f64) -> f64) {
        let mut below = 0.0;
        for (ActivityStyle { name, ink }, height) in self.layers.iter().zip(&bar.heights) {
            if *height > 0.0 {
                let (low, top) = (up(below), up(below + height));
                // Narrow bars have no rim, which would cover the bar.
                let shape = if width >= 6.0 { ShapeStyle::Box } else { ShapeStyle::Area };
                let tooltip = format!("{}, {name}: {}", bar.label, figures(*height, 6));
                canvas.with_tooltip(&tooltip, |canvas| {
                    canvas.draw_rectangle(*ink, shape, (x, top), (width, low - top));
                });
                below += height;
            }
        }
    }
}
