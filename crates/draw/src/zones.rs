//! Plots of lines below each other over the same horizontal axis, which is divided into coloured zones.

use std::ops::Range;

use super::axis::{Axis, Scale, draw_numbers_below};
use super::canvas::{
    Anchor, Canvas, MARGIN, NORMAL, Position, SMALL, ShapeStyle, WIDTH, lines_height, text_width, widest,
    wrap,
};
use super::digits::figures;
use super::legend::{LegendEntry, draw_legend};
use super::palette::{GREY, Ink, PALE, STRONG, TEXT};

/// A plot.
pub struct ZonePlot {
    pub title: String,
    /// One or more smaller lines below the title.
    pub subtitle: String,
    /// Name of the horizontal axis, with its unit.
    pub x: String,
    /// Panels from the top down.
    pub panels: Vec<ZonePanel>,
    /// Zones from left to right.
    pub zones: Vec<Zone>,
    /// A value on the horizontal axis that is marked, and its label.
    pub mark: (f64, String),
}

/// A panel with one line.
pub struct ZonePanel {
    /// Name of the vertical axis, with its unit.
    pub y: String,
    pub height: f64,
    /// True if the axis begins at 0.
    pub has_zero: bool,
    /// Points from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A zone of the horizontal axis.
pub struct Zone {
    /// Label in the legend.
    pub label: String,
    pub ink: Ink,
    pub range: Range<f64>,
}

/// Space between an axis and its numbers.
const BESIDE: f64 = 7.0;
/// Space between panels.
const BETWEEN: f64 = 16.0;
/// Lines with more points than this have no tooltips.
const CURVE: usize = 64;
/// Radius of an invisible spot with a tooltip.
const SPOT: f64 = 7.0;

/// An axis with its ticks, and the place of its range on the canvas.
struct PlacedAxis {
    range: Range<f64>,
    ticks: Vec<f64>,
    texts: Vec<String>,
}

impl PlacedAxis {
    fn new(values: impl Iterator<Item = f64>, part: f64, has_zero: bool) -> PlacedAxis {
        let axis = Axis::new(Scale::Linear, values);
        let room = axis.range(part);
        let range = if has_zero && room.end > 0.0 { 0.0..room.end } else { room };
        let (ticks, texts) = axis.labelled_ticks(&range);
        PlacedAxis { range, ticks, texts }
    }

    /// Returns the position of a value between two ends.
    fn place(&self, value: f64, start: f64, end: f64) -> f64 {
        let part = (value - self.range.start) / (self.range.end - self.range.start);
        start + part.clamp(0.0, 1.0) * (end - start)
    }
}

impl ZonePlot {
    /// Returns the plot as SVG.
    pub fn svg(&self) -> String {
        let points = || self.panels.iter().flat_map(|panel| &panel.points);
        let ends = self.zones.iter().flat_map(|zone| [zone.range.start, zone.range.end]);
        let xs = points().map(|(x, _)| *x).chain([self.mark.0]).chain(ends).filter(|x| x.is_finite());
        let across = PlacedAxis::new(xs, 0.03, false);
        let ups: Vec<PlacedAxis> = self.panels.iter().map(ZonePanel::axis).collect();

        let numbers = ups.iter().map(|up| widest(&up.texts, NORMAL)).fold(0.0, f64::max) + BESIDE;
        let names: Vec<Vec<String>> =
            self.panels.iter().map(|panel| wrap(&panel.y, NORMAL + 1.0, panel.height)).collect();
        let name_lines = names.iter().map(Vec::len).max().unwrap_or(0);
        let left = MARGIN + lines_height(name_lines, NORMAL + 1.0) + 4.0 + numbers;
        let right = WIDTH - MARGIN.max(widest(&across.texts, NORMAL) / 2.0 + 4.0);

        let mut canvas = Canvas::new(WIDTH);
        let mut y = canvas.draw_head(&self.title, &self.subtitle) + lines_height(1, SMALL);
        let top = y;
        for ((panel, up), name) in self.panels.iter().zip(&ups).zip(&names) {
            let frame = (left..right, y..y + panel.height);
            self.draw_panel(&mut canvas, panel, &across, up, &frame);
            canvas.draw_axis_name(y + panel.height / 2.0, name);
            y += panel.height + BETWEEN;
        }
        let bottom = y - BETWEEN;
        let x = across.place(self.mark.0, left, right);
        canvas.draw_line(GREY, ShapeStyle::Ring, "6 5", &[(x, top), (x, bottom)]);
        let label = (x.max(left + text_width(&self.mark.1, SMALL) / 2.0), top - lines_height(1, SMALL));
        canvas.draw_text_below(GREY, label, Anchor::Middle, SMALL, &self.mark.1);

        let labels = across.ticks.iter().map(|tick| across.place(*tick, left, right));
        draw_numbers_below(&mut canvas, bottom + BESIDE, labels.zip(across.texts.iter().map(String::as_str)));
        y = bottom + BESIDE + lines_height(1, NORMAL);
        let below = wrap(&self.x, NORMAL + 1.0, right - left);
        y = canvas.draw_lines(TEXT, ((left + right) / 2.0, y), Anchor::Middle, NORMAL + 1.0, &below);
        let end = draw_legend(&mut canvas, y + 8.0, &self.entries());
        canvas.finish(end + MARGIN / 2.0, &self.title)
    }

    /// Draws the zones, the grid and the line of a panel.
    fn draw_panel(
        &self,
        canvas: &mut Canvas,
        panel: &ZonePanel,
        across: &PlacedAxis,
        up: &PlacedAxis,
        (x, y): &(Range<f64>, Range<f64>),
    ) {
        let place_x = |value: f64| across.place(value, x.start, x.end);
        let place_y = |value: f64| up.place(value, y.end, y.start);
        for Zone { ink, range, .. } in &self.zones {
            let (from, until) = (place_x(range.start), place_x(range.end));
            canvas.draw_rectangle(*ink, ShapeStyle::Band, (from, y.start), (until - from, y.end - y.start));
        }
        for tick in &across.ticks {
            canvas.draw_thin_line(PALE, &[(place_x(*tick), y.start), (place_x(*tick), y.end)]);
        }
        let mut free = f64::INFINITY;
        for (tick, text) in up.ticks.iter().zip(&up.texts) {
            let height = place_y(*tick);
            if height + lines_height(1, NORMAL) / 2.0 <= free {
                canvas.draw_thin_line(PALE, &[(x.start, height), (x.end, height)]);
                canvas.draw_text(TEXT, (x.start - BESIDE, height), Anchor::End, NORMAL, text);
                free = height - lines_height(1, NORMAL) / 2.0;
            }
        }
        canvas.draw_thin_line(GREY, &[(x.start, y.start), (x.start, y.end), (x.end, y.end)]);
        let places: Vec<Position> =
            panel.points.iter().map(|(right, high)| (place_x(*right), place_y(*high))).collect();
        canvas.draw_line(STRONG, ShapeStyle::Line, "", &places);
        if places.len() <= CURVE {
            for ((right, high), place) in panel.points.iter().zip(&places) {
                let tooltip = format!("{} at {}", figures(*high, 6), figures(*right, 6));
                canvas.with_tooltip(tooltip, |canvas| canvas.draw_spot(*place, SPOT));
            }
        }
    }

    /// Returns an entry of the legend for each zone.
    fn entries(&self) -> Vec<LegendEntry<'_>> {
        let entry = |zone: &'_ Zone| {
            let ink = zone.ink;
            LegendEntry::new(&zone.label, move |canvas: &mut Canvas, _, (right, y)| {
                canvas.draw_rectangle(ink, ShapeStyle::Band, (right - 18.0, y - 6.0), (18.0, 12.0));
                canvas.draw_rectangle(ink, ShapeStyle::Thin, (right - 18.0, y - 6.0), (18.0, 12.0));
            })
        };
        self.zones.iter().map(entry).collect()
    }
}

impl ZonePanel {
    fn axis(&self) -> PlacedAxis {
        PlacedAxis::new(self.points.iter().map(|(_, y)| *y).filter(|y| y.is_finite()), 0.08, self.has_zero)
    }
}
