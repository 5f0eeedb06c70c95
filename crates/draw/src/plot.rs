//! Plots: lines and marks, in panels with the same axes, over one legend.
//!
//! Everything has a colour, a dash and a mark of its own, so that it is found again on paper without colours.

use std::ops::Range;

use super::axis::tick_texts;
pub use super::axis::{Axis, Scale};
use super::canvas::{Anchor, Canvas, MARGIN, NORMAL, Place, Shape, WIDTH, high, wide, widest, wrap};
use super::digits::figures;
use super::legend::{Entry, legend};
use super::palette::{GREY, PALE, Series, TEXT};

/// A plot.
pub struct Plot {
    /// The text above the plot.
    title: String,
    /// What stands below that, smaller: a line or several.
    subtitle: String,
    /// What goes to the right, with its unit.
    x: String,
    /// How far apart things are from left to right.
    x_scale: Scale,
    /// What goes up, with its unit.
    y: String,
    /// How far apart things are from bottom to top.
    y_scale: Scale,
    /// The panels, from left to right. All have the same axes.
    panels: Vec<Panel>,
}

/// A part of a plot.
struct Panel {
    /// The text above the panel.
    caption: String,
    /// The lines in it.
    lines: Vec<Line>,
    /// Heights to compare with.
    levels: Vec<Level>,
}

/// A line of a panel.
#[derive(Clone)]
pub struct Line {
    /// What it shows.
    pub label: String,
    /// Its colour, its dash and its mark. Lines of the same number look alike in every panel.
    pub number: usize,
    /// What is drawn.
    pub look: Look,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// From where to where the values at an x go, for any of them.
    pub spread: Vec<(f64, f64, f64)>,
    /// From where to where the middle half of them go, for any of them: a box.
    pub middle: Vec<(f64, f64, f64)>,
}

/// What is drawn of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A line without dashes, and marks.
    Both,
    /// The line, with its dash: a formula.
    Line,
    /// The marks alone: a model.
    Marks,
    /// Circles around marks: what was measured.
    Rings,
}

/// A height to which lines are compared.
struct Level {
    /// What lies there.
    label: String,
    /// Where it is, as the times are counted.
    y: f64,
}

/// So many panels are beside each other, at most.
const COLUMNS: usize = 3;
/// The width of a panel, at least.
const PANEL: f64 = 236.0;
/// The width of a plot for a narrow screen.
const NARROW: f64 = 380.0;
/// The height of a panel, if it is alone and if others are beside it.
const HEIGHTS: [f64; 2] = [320.0, 250.0];
/// From an axis to the numbers beside it.
const BESIDE: f64 = 7.0;
/// The room between panels.
const BETWEEN: f64 = 18.0;
/// The room for what levels are called, at most.
const LEVEL: f64 = 150.0;
/// The radius of a ring, and of what says its values where nothing is seen.
const RING: f64 = 7.0;
/// Half the width of a box.
const BOX: f64 = 6.0;
/// A line with more points than this is a curve, and its points say nothing.
const CURVE: usize = 64;

/// An axis of all panels.
struct Direction {
    /// What it shows.
    axis: Axis,
    /// From where to where it goes.
    range: Range<f64>,
    /// Where it has ticks.
    ticks: Vec<f64>,
    /// What stands at these.
    texts: Vec<String>,
}

/// The axes of all panels.
struct Axes {
    /// What goes right.
    across: Direction,
    /// What goes up.
    up: Direction,
}

/// Where a panel is.
struct Frame {
    /// From left to right.
    x: Range<f64>,
    /// From top to bottom.
    y: Range<f64>,
}

impl Plot {
    /// A plot without panels.
    pub fn new(title: impl Into<String>, subtitle: impl Into<String>) -> Plot {
        let (x, y, linear) = (String::new(), String::new(), Scale::Linear);
        let (title, subtitle) = (title.into(), subtitle.into());
        Plot { title, subtitle, x, x_scale: linear, y, y_scale: linear, panels: Vec::new() }
    }

    /// Says what goes to the right, and how far apart things are there.
    #[must_use]
    pub fn x(self, title: impl Into<String>, scale: Scale) -> Plot {
        Plot { x: title.into(), x_scale: scale, ..self }
    }

    /// Says what goes up, and how far apart things are there.
    #[must_use]
    pub fn y(self, title: impl Into<String>, scale: Scale) -> Plot {
        Plot { y: title.into(), y_scale: scale, ..self }
    }

    /// One more panel.
    #[must_use]
    pub fn panel(mut self, caption: impl Into<String>, lines: impl IntoIterator<Item = Line>) -> Plot {
        let lines = lines.into_iter().collect();
        self.panels.push(Panel { caption: caption.into(), lines, levels: Vec::new() });
        self
    }

    /// One more panel, which needs no caption: it is the only one.
    #[must_use]
    pub fn lines(self, lines: impl IntoIterator<Item = Line>) -> Plot {
        self.panel("", lines)
    }

    /// More panels, each with its caption.
    #[must_use]
    pub fn panels<L: IntoIterator<Item = Line>>(self, panels: impl IntoIterator<Item = (String, L)>) -> Plot {
        panels.into_iter().fold(self, |plot, (caption, lines)| plot.panel(caption, lines))
    }

    /// One more height to compare with, in the last panel.
    #[must_use]
    pub fn level(mut self, label: impl Into<String>, y: f64) -> Plot {
        let panel = self.panels.last_mut().expect("a level lies in a panel");
        panel.levels.push(Level { label: label.into(), y });
        self
    }

    /// The plot as SVG.
    pub fn svg(&self) -> String {
        self.drawn(WIDTH)
    }

    /// The plot as SVG for a narrow screen, with its panels below each other.
    pub fn narrow_svg(&self) -> String {
        self.drawn(NARROW)
    }

    /// The plot of this width at least.
    fn drawn(&self, width: f64) -> String {
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

        let below = high(1, NORMAL) + BESIDE;
        let captions: Vec<&str> = self.panels.iter().map(|panel| panel.caption.as_str()).collect();
        let name = wrap(&self.y, NORMAL + 1.0, height * rows as f64);
        let names = high(name.len(), NORMAL + 1.0) + 4.0;
        let left = MARGIN + names + numbers;
        let right = MARGIN.max(edge + 4.0);
        // The numbers below a panel's end and below the start of the next keep clear of each other.
        let between = BETWEEN.max(edge + widest(axes.across.texts.first(), NORMAL) / 2.0 + 4.0);
        let part = between + beside;
        let needed = left + right + columns as f64 * (PANEL + part) - between;
        let mut canvas = Canvas::new(if width == NARROW { NARROW } else { needed.max(width) });
        let panel = (canvas.width() - left - right + between) / columns as f64 - part;

        let caption = |row: usize| {
            let row = captions.iter().skip(row * columns).take(columns);
            row.map(|caption| wrap(caption, NORMAL + 1.0, panel).len()).max().unwrap_or(0)
        };
        let top = canvas.head(&self.title, &self.subtitle);
        let mut y = top;
        for (row, panels) in self.panels.chunks(columns).enumerate() {
            y += high(caption(row), NORMAL + 1.0) + 4.0;
            for (column, shown) in panels.iter().enumerate() {
                let x = left + column as f64 * (panel + part);
                let frame = Frame { x: x..x + panel, y: y..y + height };
                let lines = wrap(&shown.caption, NORMAL + 1.0, panel);
                let above = y - 4.0 - high(lines.len(), NORMAL + 1.0);
                canvas.lines(TEXT, (x + panel / 2.0, above), Anchor::Middle, NORMAL + 1.0, &lines);
                axes.draw(&mut canvas, &frame, column == 0);
                shown.draw(&mut canvas, &axes, &frame);
            }
            y += height + below;
            if row + 1 < rows {
                y += 8.0;
            }
        }
        if self.panels.is_empty() {
            y += height + below;
        }
        let bottom = y - below;
        let middle = (left + canvas.width() - right - beside) / 2.0;
        let room = canvas.width() - left - right;
        y = canvas.lines(TEXT, (middle, y), Anchor::Middle, NORMAL + 1.0, &wrap(&self.x, NORMAL + 1.0, room));
        for (number, line) in name.iter().enumerate() {
            let place = (MARGIN + high(1, NORMAL + 1.0) * (number as f64 + 0.5), (top + bottom) / 2.0);
            canvas.turned_text(TEXT, place, Anchor::Middle, NORMAL + 1.0, line);
        }
        let end = legend(&mut canvas, y + 8.0, &self.entries());
        canvas.finish(end + MARGIN / 2.0, &self.title)
    }

    /// The axes of all panels.
    fn axes(&self) -> Axes {
        let lines = || self.panels.iter().flat_map(|panel| &panel.lines);
        let points = || lines().flat_map(|line| &line.points);
        let spreads = || lines().flat_map(|line| &line.spread);
        let levels = self.panels.iter().flat_map(|panel| &panel.levels).map(|level| level.y);
        let ends = spreads().flat_map(|(_, low, high)| [*low, *high]);
        let across = Axis::new(self.x_scale, points().map(|(x, _)| *x).chain(spreads().map(|(x, ..)| *x)));
        let up = Axis::new(self.y_scale, points().map(|(_, y)| *y).chain(levels).chain(ends));
        // A little room at both ends keeps the marks off the frame; times begin at 0, unless by ratio.
        let wide = across.room(0.04);
        let high = up.room(0.08);
        let high = match self.y_scale {
            Scale::Linear if high.end <= 0.0 => high.start..0.0,
            Scale::Linear if points().any(|(_, y)| *y < 0.0) => high,
            Scale::Linear => 0.0..high.end,
            _ => up.room(0.05),
        };
        Axes { across: Direction::new(across, wide), up: Direction::new(up, high) }
    }

    /// An entry for each look that occurs.
    fn entries(&self) -> Vec<Entry<'_>> {
        let mut lines: Vec<&Line> = Vec::new();
        for line in self.panels.iter().flat_map(|panel| &panel.lines) {
            let is_same = |other: &&Line| {
                (&other.label, other.number, other.look) == (&line.label, line.number, line.look)
            };
            if !lines.iter().any(is_same) {
                lines.push(line);
            }
        }
        let entry = |line: &'_ Line| {
            let (number, look) = (line.number, line.look);
            let sample = move |canvas: &mut Canvas, left: Place, right: Place| {
                draw_stroke(canvas, number, look, &[left, right]);
                draw_point(canvas, number, look, ((left.0 + right.0) / 2.0, left.1));
            };
            Entry { label: line.label.clone(), sample: Box::new(sample) }
        };
        lines.into_iter().map(entry).collect()
    }
}

impl Direction {
    fn new(axis: Axis, range: Range<f64>) -> Direction {
        let ticks = axis.ticks(&range);
        let texts = tick_texts(&ticks);
        Direction { axis, range, ticks, texts }
    }

    /// Of so many ticks one is drawn, so that the numbers below an axis of this width are not too wide.
    fn step(&self, width: f64) -> usize {
        if !self.axis.is_even() {
            return 1;
        }
        let fits = |step: &usize| {
            let shown: Vec<(f64, f64)> = (self.ticks.iter().zip(&self.texts).step_by(*step))
                .map(|(tick, text)| (self.part(*tick) * width, wide(text, NORMAL) / 2.0))
                .collect();
            shown.windows(2).all(|pair| pair[0].0 + pair[0].1 + 6.0 <= pair[1].0 - pair[1].1)
        };
        (1..self.ticks.len()).find(fits).unwrap_or(1)
    }

    /// How far from its start to its end a value lies.
    fn part(&self, value: f64) -> f64 {
        let Range { start, end } = self.range;
        ((self.axis.place(value) - start) / (end - start)).clamp(0.0, 1.0)
    }
}

impl Axes {
    /// Where a point is in a panel. By ratio, what is not above 0 lies at the edge.
    fn place(&self, frame: &Frame, (x, y): (f64, f64)) -> Place {
        let right = self.across.part(x) * (frame.x.end - frame.x.start);
        let up = self.up.part(y) * (frame.y.end - frame.y.start);
        (frame.x.start + right, frame.y.end - up)
    }

    /// Draws the grid, and the numbers below and, if these are wanted, to the left.
    fn draw(&self, canvas: &mut Canvas, frame: &Frame, has_numbers: bool) {
        let mut free = f64::NEG_INFINITY;
        let step = self.across.step(frame.x.end - frame.x.start);
        for (tick, text) in self.across.ticks.iter().zip(&self.across.texts).step_by(step) {
            let (x, _) = self.place(frame, (*tick, 1.0));
            // Where numbers would still run into each other, some ticks are left out.
            let half = wide(text, NORMAL) / 2.0;
            if x - half >= free {
                canvas.line(PALE, Shape::Thin, "", &[(x, frame.y.start), (x, frame.y.end)]);
                let place = (x, frame.y.end + BESIDE + high(1, NORMAL) / 2.0);
                canvas.text(TEXT, place, Anchor::Middle, NORMAL, text);
                free = x + half + 6.0;
            }
        }
        let mut free = f64::INFINITY;
        for (tick, text) in self.up.ticks.iter().zip(&self.up.texts) {
            let (_, y) = self.place(frame, (1.0, *tick));
            if y + high(1, NORMAL) / 2.0 <= free {
                canvas.line(PALE, Shape::Thin, "", &[(frame.x.start, y), (frame.x.end, y)]);
                if has_numbers {
                    canvas.text(TEXT, (frame.x.start - BESIDE, y), Anchor::End, NORMAL, text);
                }
                free = y - high(1, NORMAL) / 2.0;
            }
        }
        let corners =
            [(frame.x.start, frame.y.start), (frame.x.start, frame.y.end), (frame.x.end, frame.y.end)];
        canvas.line(GREY, Shape::Thin, "", &corners);
    }
}

impl Panel {
    /// Draws the lines first and the marks above them all, so that no line hides a mark.
    fn draw(&self, canvas: &mut Canvas, axes: &Axes, frame: &Frame) {
        self.draw_levels(canvas, axes, frame);
        for line in &self.lines {
            let places: Vec<Place> = line.finite().map(|point| axes.place(frame, *point)).collect();
            draw_stroke(canvas, line.number, line.look, &places);
            let ink = Series::of(line.number).ink;
            let is_finite = |spread: &&(f64, f64, f64)| (spread.0 + spread.1 + spread.2).is_finite();
            let ends =
                |&(x, low, high): &(f64, f64, f64)| [(x, low), (x, high)].map(|end| axes.place(frame, end));
            for [low, high] in line.middle.iter().filter(is_finite).map(ends) {
                let corners = [
                    (low.0 - BOX, low.1),
                    (low.0 + BOX, low.1),
                    (high.0 + BOX, high.1),
                    (high.0 - BOX, high.1),
                ];
                canvas.line(
                    ink,
                    Shape::Thin,
                    "",
                    &[corners[0], corners[1], corners[2], corners[3], corners[0]],
                );
            }
            for [low, high] in line.spread.iter().filter(is_finite).map(ends) {
                canvas.line(ink, Shape::Thin, "", &[low, high]);
                for (x, y) in [low, high] {
                    canvas.line(ink, Shape::Thin, "", &[(x - 3.0, y), (x + 3.0, y)]);
                }
            }
        }
        for line in &self.lines {
            for point in line.finite() {
                let place = axes.place(frame, *point);
                if line.look != Look::Line {
                    canvas.told(line.told(*point), |canvas| {
                        draw_point(canvas, line.number, line.look, place);
                    });
                } else if line.points.len() <= CURVE {
                    canvas.told(line.told(*point), |canvas| canvas.spot(place, RING));
                }
            }
        }
    }

    /// Draws the heights to compare with. Their names keep clear of each other.
    fn draw_levels(&self, canvas: &mut Canvas, axes: &Axes, frame: &Frame) {
        let mut levels: Vec<(f64, Vec<String>)> = Vec::new();
        for level in &self.levels {
            let (_, y) = axes.place(frame, (1.0, level.y));
            canvas.line(GREY, Shape::Thin, "6 5", &[(frame.x.start, y), (frame.x.end, y)]);
            levels.push((y, wrap(&level.label, NORMAL, LEVEL)));
        }
        levels.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut free = frame.y.start - high(1, NORMAL) / 2.0;
        let mut below: f64 = levels.iter().map(|(_, lines)| high(lines.len(), NORMAL)).sum();
        for (y, lines) in levels {
            let height = high(lines.len(), NORMAL);
            // Not above what is above, and not so low that no room is left for those below.
            let latest = frame.y.end + high(1, NORMAL) / 2.0 - below;
            let top = (y - height / 2.0).min(latest).max(free);
            canvas.lines(GREY, (frame.x.end + BESIDE, top), Anchor::Start, NORMAL, &lines);
            free = top + height;
            below -= height;
        }
    }
}

impl Line {
    /// A line without a spread.
    pub fn new(label: impl Into<String>, number: usize, look: Look, points: Vec<(f64, f64)>) -> Line {
        Line { label: label.into(), number, look, points, spread: Vec::new(), middle: Vec::new() }
    }

    /// The points that have a place.
    fn finite(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite())
    }

    /// What a point is, in words.
    fn told(&self, (x, y): (f64, f64)) -> String {
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

/// Draws a line of this number and look, if it is one.
fn draw_stroke(canvas: &mut Canvas, number: usize, look: Look, places: &[Place]) {
    let Series { ink, dash, .. } = Series::of(number);
    match look {
        Look::Line if places.len() == 1 => {
            let (x, y) = places[0];
            canvas.line(ink, Shape::Line, "", &[(x - RING, y), (x + RING, y)]);
        }
        _ if places.len() < 2 => (),
        Look::Both => canvas.line(ink, Shape::Line, "", places),
        Look::Line => canvas.line(ink, Shape::Line, dash, places),
        Look::Marks | Look::Rings => (),
    }
}

/// Draws a point of a line of this number and look.
fn draw_point(canvas: &mut Canvas, number: usize, look: Look, place: Place) {
    let Series { ink, mark, .. } = Series::of(number);
    match look {
        Look::Both | Look::Marks => canvas.mark(ink, mark, place),
        Look::Rings => canvas.ring(ink, place, RING),
        Look::Line => (),
    }
}
