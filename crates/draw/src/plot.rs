//! Plots of lines and marks, in panels with the same axes, above one legend.
//!
//! Every line has its own colour, dash and mark, so that lines can be told apart on paper without colours.

use std::ops::Range;

use super::axis::BESIDE;
pub use super::axis::{Axis, Scale};
use super::canvas::{
    Anchor, Canvas, MARGIN, NORMAL, Position, ShapeStyle, WIDTH, lines_height, text_width, widest, wrap,
};
use super::digits::figures;
use super::legend::{LegendEntry, draw_legend};
use super::palette::{GREY, PALE, SeriesStyle, TEXT};

/// A plot.
pub struct Plot {
    title: String,
    /// One or more smaller lines below the title.
    subtitle: String,
    /// Name of the horizontal axis, with its unit.
    x: String,
    x_scale: Scale,
    /// Name of the vertical axis, with its unit.
    y: String,
    y_scale: Scale,
    /// Panels from left to right. All have the same axes.
    panels: Vec<PlotPanel>,
}

/// A panel of a plot.
struct PlotPanel {
    caption: String,
    lines: Vec<PlotLine>,
    levels: Vec<PlotLevel>,
}

/// A line of a panel.
#[derive(Clone)]
pub struct PlotLine {
    /// Label in the legend.
    pub label: String,
    /// Number of the line's colour, dash and mark. Lines of the same number look alike in every panel.
    pub number: usize,
    /// The parts that are drawn.
    pub look: Look,
    /// Points from left to right.
    pub points: Vec<(f64, f64)>,
    /// The range of the values at some x: x, low and high.
    pub spread: Vec<(f64, f64, f64)>,
    /// The range of the middle half of the values at some x, drawn as a box: x, low and high.
    pub middle: Vec<(f64, f64, f64)>,
}

/// The parts of a line that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A solid line with marks.
    Both,
    /// A dashed line without marks, for a formula.
    Line,
    /// Marks alone, for a model.
    Marks,
    /// Circles around marks, for measurements.
    Rings,
}

/// A horizontal line to compare with.
struct PlotLevel {
    label: String,
    y: f64,
}

/// Limit of the panels beside each other.
const COLUMNS: usize = 3;
/// Least width of a panel.
const PANEL: f64 = 236.0;
/// Width of a plot for a narrow screen.
const NARROW: f64 = 380.0;
/// Heights of a panel that is alone in its row, and of one beside others.
const HEIGHTS: [f64; 2] = [320.0, 250.0];
/// Space between panels.
const BETWEEN: f64 = 18.0;
/// Greatest width of the label of a level.
const LEVEL: f64 = 150.0;
/// Radius of a ring, and of an invisible spot with a tooltip.
const RING: f64 = 7.0;
/// Half the width of a box.
const BOX: f64 = 6.0;
/// Lines with more points than this are curves, whose points have no tooltips.
const CURVE: usize = 64;

/// An axis that all panels share.
struct PlotAxis {
    axis: Axis,
    range: Range<f64>,
    /// Values of the ticks.
    ticks: Vec<f64>,
    /// Text at each tick.
    texts: Vec<String>,
}

/// The axes of all panels.
struct Axes {
    /// The horizontal axis.
    across: PlotAxis,
    /// The vertical axis.
    up: PlotAxis,
}

/// The place of a panel.
struct Frame {
    x: Range<f64>,
    y: Range<f64>,
}

impl Plot {
    /// Creates a plot without panels.
    pub fn new(title: impl Into<String>, subtitle: impl Into<String>) -> Plot {
        let (x, y, linear) = (String::new(), String::new(), Scale::Linear);
        let (title, subtitle) = (title.into(), subtitle.into());
        Plot { title, subtitle, x, x_scale: linear, y, y_scale: linear, panels: Vec::new() }
    }

    /// Sets the name and the scale of the horizontal axis.
    #[must_use]
    pub fn x(self, title: impl Into<String>, scale: Scale) -> Plot {
        Plot { x: title.into(), x_scale: scale, ..self }
    }

    /// Sets the name and the scale of the vertical axis.
    #[must_use]
    pub fn y(self, title: impl Into<String>, scale: Scale) -> Plot {
        Plot { y: title.into(), y_scale: scale, ..self }
    }

    /// Adds a panel.
    #[must_use]
    pub fn panel(mut self, caption: impl Into<String>, lines: impl IntoIterator<Item = PlotLine>) -> Plot {
        let lines = lines.into_iter().collect();
        self.panels.push(PlotPanel { caption: caption.into(), lines, levels: Vec::new() });
        self
    }

    /// Adds a panel without a caption, which should be the only one.
    #[must_use]
    pub fn lines(self, lines: impl IntoIterator<Item = PlotLine>) -> Plot {
        self.panel("", lines)
    }

    /// Adds panels with captions.
    #[must_use]
    pub fn panels<L: IntoIterator<Item = PlotLine>>(
        self,
        panels: impl IntoIterator<Item = (String, L)>,
    ) -> Plot {
        panels.into_iter().fold(self, |plot, (caption, lines)| plot.panel(caption, lines))
    }

    /// Adds a horizontal line to compare with, in the last panel.
    #[must_use]
    pub fn level(mut self, label: impl Into<String>, y: f64) -> Plot {
        let panel = self.panels.last_mut().expect("a level lies in a panel");
        panel.levels.push(PlotLevel { label: label.into(), y });
        self
    }

    /// Returns the plot as SVG.
    pub fn svg(&self) -> String {
        self.draw(WIDTH)
    }

    /// Returns the plot as SVG for a narrow screen, with its panels below each other.
    pub fn narrow_svg(&self) -> String {
        self.draw(NARROW)
    }

    /// Draws the plot with at least this width.
    fn draw(&self, width: f64) -> String {
        let axes = self.axes();
        let columns = match self.panels.len() {
            _ if width == NARROW => 1,
            4 => 2,
            n => n.clamp(1, COLUMNS),
        };
        let numbers = widest(&axes.up.texts, NORMAL) + BESIDE;
        let edge = widest(&axes.across.texts, NORMAL) / 2.0;
        let levels = self.panels.iter().flat_map(|panel| &panel.levels);
        let levels: Vec<String> = levels.flat_map(|level| wrap(&level.label, NORMAL, LEVEL)).collect();
        let beside = if levels.is_empty() { 0.0 } else { widest(&levels, NORMAL) + BESIDE };
        let height = HEIGHTS[usize::from(columns > 1 || width == NARROW)];
        let rows = self.panels.len().div_ceil(columns).max(1);

        let below = lines_height(1, NORMAL) + BESIDE;
        let captions: Vec<&str> = self.panels.iter().map(|panel| panel.caption.as_str()).collect();
        let name = wrap(&self.y, NORMAL + 1.0, height * rows as f64);
        let names = lines_height(name.len(), NORMAL + 1.0) + 4.0;
        let left = MARGIN + names + numbers;
        let right = MARGIN.max(edge + 4.0);
        // The number below a panel's end must not touch the one below the start of the next.
        let between = BETWEEN.max(edge + widest(axes.across.texts.first(), NORMAL) / 2.0 + 4.0);
        let part = between + beside;
        let needed = left + right + columns as f64 * (PANEL + part) - between;
        let mut canvas = Canvas::new(if width == NARROW { NARROW } else { needed.max(width) });
        let panel = (canvas.width - left - right + between) / columns as f64 - part;

        let caption = |row: usize| {
            let row = captions.iter().skip(row * columns).take(columns);
            row.map(|caption| wrap(caption, NORMAL + 1.0, panel).len()).max().unwrap_or(0)
        };
        let top = canvas.draw_head(&self.title, &self.subtitle);
        let mut y = top;
        for (row, panels) in self.panels.chunks(columns).enumerate() {
            y += lines_height(caption(row), NORMAL + 1.0) + 4.0;
            for (column, shown) in panels.iter().enumerate() {
                let x = left + column as f64 * (panel + part);
                let frame = Frame { x: x..x + panel, y: y..y + height };
                let lines = wrap(&shown.caption, NORMAL + 1.0, panel);
                let above = y - 4.0 - lines_height(lines.len(), NORMAL + 1.0);
                canvas.draw_lines(TEXT, (x + panel / 2.0, above), Anchor::Middle, NORMAL + 1.0, &lines);
                axes.draw(&mut canvas, &frame, column == 0);
                shown.draw(&mut canvas, &axes, &frame);
            }
            y += height + below + if row + 1 < rows { 8.0 } else { 0.0 };
        }
        if self.panels.is_empty() {
            y += height + below;
        }
        let bottom = y - below;
        let middle = (left + canvas.width - right - beside) / 2.0;
        let room = canvas.width - left - right;
        let below_axis = wrap(&self.x, NORMAL + 1.0, room);
        y = canvas.draw_lines(TEXT, (middle, y), Anchor::Middle, NORMAL + 1.0, &below_axis);
        canvas.draw_axis_name((top + bottom) / 2.0, &name);
        let end = draw_legend(&mut canvas, y + 8.0, &self.entries());
        canvas.finish(end + MARGIN / 2.0, &self.title)
    }

    /// Returns the axes for all lines.
    fn axes(&self) -> Axes {
        let lines = || self.panels.iter().flat_map(|panel| &panel.lines);
        let points = || lines().flat_map(|line| &line.points);
        let spreads = || lines().flat_map(|line| &line.spread);
        let levels = self.panels.iter().flat_map(|panel| &panel.levels).map(|level| level.y);
        let ends = spreads().flat_map(|(_, low, high)| [*low, *high]);
        let across = Axis::new(self.x_scale, points().map(|(x, _)| *x).chain(spreads().map(|(x, ..)| *x)));
        let up = Axis::new(self.y_scale, points().map(|(_, y)| *y).chain(levels).chain(ends));
        // Some space at both ends keeps the marks off the frame. Times begin at 0, unless the scale is
        // logarithmic.
        let wide = across.range(0.04);
        let high = up.range(0.08);
        let high = match self.y_scale {
            Scale::Linear if high.end <= 0.0 => high.start..0.0,
            Scale::Linear if points().any(|(_, y)| *y < 0.0) => high,
            Scale::Linear => 0.0..high.end,
            _ => up.range(0.05),
        };
        Axes { across: PlotAxis::new(across, wide), up: PlotAxis::new(up, high) }
    }

    /// Returns an entry of the legend for each look that occurs.
    fn entries(&self) -> Vec<LegendEntry<'_>> {
        let mut lines: Vec<&PlotLine> = Vec::new();
        for line in self.panels.iter().flat_map(|panel| &panel.lines) {
            let is_same = |other: &&PlotLine| {
                (&other.label, other.number, other.look) == (&line.label, line.number, line.look)
            };
            if !lines.iter().any(is_same) {
                lines.push(line);
            }
        }
        let entry = |line: &'_ PlotLine| {
            let (number, look) = (line.number, line.look);
            let sample = move |canvas: &mut Canvas, left: Position, right: Position| {
                draw_stroke(canvas, number, look, &[left, right]);
                draw_point(canvas, number, look, ((left.0 + right.0) / 2.0, left.1));
            };
            LegendEntry::new(&line.label, sample)
        };
        lines.into_iter().map(entry).collect()
    }
}

impl PlotAxis {
    fn new(axis: Axis, range: Range<f64>) -> PlotAxis {
        let (ticks, texts) = axis.labelled_ticks(&range);
        PlotAxis { axis, range, ticks, texts }
    }

    /// Returns the step from one drawn tick to the next, so that the numbers fit below an axis of this width.
    fn step(&self, width: f64) -> usize {
        if !self.axis.is_even() {
            return 1;
        }
        let fits = |step: &usize| {
            let labels: Vec<(f64, f64)> = (self.ticks.iter().zip(&self.texts).step_by(*step))
                .map(|(tick, text)| (self.part(*tick) * width, text_width(text, NORMAL) / 2.0))
                .collect();
            labels.windows(2).all(|pair| pair[0].0 + pair[0].1 + 6.0 <= pair[1].0 - pair[1].1)
        };
        (1..self.ticks.len()).find(fits).unwrap_or(1)
    }

    /// Returns the position of a value between the ends of the axis, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        let Range { start, end } = self.range;
        ((self.axis.position(value) - start) / (end - start)).clamp(0.0, 1.0)
    }
}

impl Axes {
    /// Returns the position of a point in a panel. On a logarithmic axis, values not above 0 are at the edge.
    fn place(&self, frame: &Frame, (x, y): (f64, f64)) -> Position {
        let right = self.across.part(x) * (frame.x.end - frame.x.start);
        let up = self.up.part(y) * (frame.y.end - frame.y.start);
        (frame.x.start + right, frame.y.end - up)
    }

    /// Draws the grid, the numbers below, and those to the left if `has_numbers`.
    fn draw(&self, canvas: &mut Canvas, frame: &Frame, has_numbers: bool) {
        let mut free = f64::NEG_INFINITY;
        let step = self.across.step(frame.x.end - frame.x.start);
        for (tick, text) in self.across.ticks.iter().zip(&self.across.texts).step_by(step) {
            let (x, _) = self.place(frame, (*tick, 1.0));
            // Ticks whose numbers would still touch are left out.
            let half = text_width(text, NORMAL) / 2.0;
            if x - half >= free {
                canvas.draw_thin_line(PALE, &[(x, frame.y.start), (x, frame.y.end)]);
                canvas.draw_text_below(TEXT, (x, frame.y.end + BESIDE), Anchor::Middle, NORMAL, text);
                free = x + half + 6.0;
            }
        }
        let mut free = f64::INFINITY;
        for (tick, text) in self.up.ticks.iter().zip(&self.up.texts) {
            let (_, y) = self.place(frame, (1.0, *tick));
            if y + lines_height(1, NORMAL) / 2.0 <= free {
                canvas.draw_thin_line(PALE, &[(frame.x.start, y), (frame.x.end, y)]);
                if has_numbers {
                    canvas.draw_text(TEXT, (frame.x.start - BESIDE, y), Anchor::End, NORMAL, text);
                }
                free = y - lines_height(1, NORMAL) / 2.0;
            }
        }
        let corners =
            [(frame.x.start, frame.y.start), (frame.x.start, frame.y.end), (frame.x.end, frame.y.end)];
        canvas.draw_thin_line(GREY, &corners);
    }
}

impl PlotPanel {
    /// Draws the lines, then the marks above them, so that no line hides a mark.
    fn draw(&self, canvas: &mut Canvas, axes: &Axes, frame: &Frame) {
        self.draw_levels(canvas, axes, frame);
        for line in &self.lines {
            let places: Vec<Position> = line.finite().map(|point| axes.place(frame, *point)).collect();
            draw_stroke(canvas, line.number, line.look, &places);
            let ink = SeriesStyle::for_number(line.number).ink;
            let is_finite = |spread: &&(f64, f64, f64)| (spread.0 + spread.1 + spread.2).is_finite();
            let ends =
                |&(x, low, high): &(f64, f64, f64)| [(x, low), (x, high)].map(|end| axes.place(frame, end));
            for [low, high] in line.middle.iter().filter(is_finite).map(ends) {
                let (left, right) = (low.0 - BOX, low.0 + BOX);
                let rim = [(left, low.1), (right, low.1), (right, high.1), (left, high.1), (left, low.1)];
                canvas.draw_thin_line(ink, &rim);
            }
            for [low, high] in line.spread.iter().filter(is_finite).map(ends) {
                canvas.draw_thin_line(ink, &[low, high]);
                for (x, y) in [low, high] {
                    canvas.draw_thin_line(ink, &[(x - 3.0, y), (x + 3.0, y)]);
                }
            }
        }
        for line in &self.lines {
            for point in line.finite() {
                let place = axes.place(frame, *point);
                if line.look != Look::Line {
                    canvas.with_tooltip(line.tooltip(*point), |canvas| {
                        draw_point(canvas, line.number, line.look, place);
                    });
                } else if line.points.len() <= CURVE {
                    canvas.with_tooltip(line.tooltip(*point), |canvas| canvas.draw_spot(place, RING));
                }
            }
        }
    }

    /// Draws the levels, with labels that don't touch.
    fn draw_levels(&self, canvas: &mut Canvas, axes: &Axes, frame: &Frame) {
        let mut levels: Vec<(f64, Vec<String>)> = Vec::new();
        for level in &self.levels {
            let (_, y) = axes.place(frame, (1.0, level.y));
            canvas.draw_line(GREY, ShapeStyle::Thin, "6 5", &[(frame.x.start, y), (frame.x.end, y)]);
            levels.push((y, wrap(&level.label, NORMAL, LEVEL)));
        }
        levels.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut free = frame.y.start - lines_height(1, NORMAL) / 2.0;
        let mut below: f64 = levels.iter().map(|(_, lines)| lines_height(lines.len(), NORMAL)).sum();
        for (y, lines) in levels {
            let height = lines_height(lines.len(), NORMAL);
            // Below the previous label, and high enough that the next ones have space.
            let latest = frame.y.end + lines_height(1, NORMAL) / 2.0 - below;
            let top = (y - height / 2.0).min(latest).max(free);
            canvas.draw_lines(GREY, (frame.x.end + BESIDE, top), Anchor::Start, NORMAL, &lines);
            free = top + height;
            below -= height;
        }
    }
}

impl PlotLine {
    /// Creates a line without ranges.
    pub fn new(label: impl Into<String>, number: usize, look: Look, points: Vec<(f64, f64)>) -> PlotLine {
        PlotLine { label: label.into(), number, look, points, spread: Vec::new(), middle: Vec::new() }
    }

    /// Returns the points that can be drawn.
    fn finite(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite())
    }

    /// Returns the tooltip of a point.
    fn tooltip(&self, (x, y): (f64, f64)) -> String {
        let digits = |value| figures(value, 6);
        let from = |spread: &[(f64, f64, f64)], what| {
            let at = spread.iter().find(|(at, ..)| *at == x);
            at.map_or(String::new(), |(_, low, high)| {
                format!(", {what} {} to {}", digits(*low), digits(*high))
            })
        };
        let (all, half) = (from(&self.spread, "from"), from(&self.middle, "half of them from"));
        format!("{}: {} at {}{all}{half}", self.label, digits(y), digits(x))
    }
}

/// Draws the stroke of a line, if its look has one.
fn draw_stroke(canvas: &mut Canvas, number: usize, look: Look, places: &[Position]) {
    let SeriesStyle { ink, dash, .. } = SeriesStyle::for_number(number);
    match look {
        Look::Line if places.len() == 1 => {
            let (x, y) = places[0];
            canvas.draw_line(ink, ShapeStyle::Line, "", &[(x - RING, y), (x + RING, y)]);
        }
        _ if places.len() < 2 => (),
        Look::Both => canvas.draw_line(ink, ShapeStyle::Line, "", places),
        Look::Line => canvas.draw_line(ink, ShapeStyle::Line, dash, places),
        Look::Marks | Look::Rings => (),
    }
}

/// Draws the mark of a point, if the line's look has marks.
fn draw_point(canvas: &mut Canvas, number: usize, look: Look, place: Position) {
    let SeriesStyle { ink, mark, .. } = SeriesStyle::for_number(number);
    match look {
        Look::Both | Look::Marks => canvas.draw_mark(ink, mark, place),
        Look::Rings => canvas.draw_circle(ink, ShapeStyle::Ring, place, RING),
        Look::Line => (),
    }
}
