//! Plots, as SVG: lines and marks, in panels side by side, over one legend.
//!
//! Everything has a colour, a dash and a mark of its own, so that it is found again on paper without colours.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::digits::rough;

/// A plot.
pub struct Plot {
    /// The text above the plot.
    pub title: String,
    /// What stands below that, smaller: a line or several.
    pub subtitle: String,
    /// What goes to the right, with its unit.
    pub x: String,
    /// How far apart things are from left to right.
    pub x_scale: Scale,
    /// What goes up, with its unit.
    pub y: String,
    /// How far apart things are from bottom to top.
    pub y_scale: Scale,
    /// The panels, from left to right. All have the same axes.
    pub panels: Vec<Panel>,
}

/// How far apart things are on an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// By difference, from 0 if that is not far.
    Linear,
    /// By ratio, with ticks at round numbers.
    Log,
    /// By ratio, with a tick at each point: for few points, such as powers of two.
    Points,
}

/// A part of a plot.
pub struct Panel {
    /// The text above the panel.
    pub caption: String,
    /// The lines in it.
    pub lines: Vec<Line>,
    /// Heights to compare with.
    pub levels: Vec<Level>,
}

/// A line of a panel.
pub struct Line {
    /// What it shows.
    pub label: String,
    /// Its colour, its dash and its mark. Lines of the same number look alike in every panel.
    pub number: usize,
    /// What is drawn.
    pub look: Look,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// What is drawn of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// A line without dashes, and marks.
    Both,
    /// The line, with its dash.
    Line,
    /// The marks alone.
    Marks,
    /// Circles around marks.
    Rings,
}

/// A height to which lines are compared.
pub struct Level {
    /// What lies there.
    pub label: String,
    /// Where it is, as the times are counted.
    pub y: f64,
}

/// Colours that everyone can tell apart (Okabe and Ito, 2008), from dark to light.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 0, 0),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
];
/// The lengths of a dash and of the space after it; a line without a space has none.
const DASHES: [(u32, u32); 6] = [(1, 0), (10, 5), (2, 4), (18, 4), (6, 9), (2, 9)];
/// The colour of what is only there to compare with.
pub const GREY: RGBColor = RGBColor(110, 110, 110);
/// The colour of the grid.
pub const PALE: RGBColor = RGBColor(225, 225, 225);
/// The width of a plot with one panel, and of each further one.
const WIDTHS: (u32, u32) = (760, 400);
/// The height of the panels.
const HEIGHT: u32 = 430;
/// The height of title and subtitle, if that is one line, and of a further line.
const HEAD: u32 = 62;
const LINE: u32 = 20;
/// The width and the height of an entry of the legend; longer labels get so much more for every letter.
const ENTRY: (u32, u32) = (150, 26);
/// The width of a letter, at most.
const LETTER: u32 = 8;
/// The font of all text.
const FONT: &str = "sans-serif";

/// How a drawing can fail; into a string it does not.
pub type Drawing<T> = Result<T, Box<dyn std::error::Error>>;
/// A part of the sheet.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Plot {
    /// The plot as SVG.
    pub fn svg(&self) -> Drawing<String> {
        let columns = self.panels.len().max(1);
        let width = if columns == 1 { WIDTHS.0 } else { columns as u32 * WIDTHS.1 };
        let entries = self.entries();
        let head = HEAD + LINE * (self.subtitle.lines().count().max(1) as u32 - 1);
        let longest = entries.iter().map(|line| line.label.chars().count()).max().unwrap_or(0) as u32;
        let entry = ENTRY.0.max(50 + LETTER * longest);
        let per_row = (width / entry).max(1) as usize;
        let rows = entries.len().div_ceil(per_row) as u32;
        let mut svg = String::new();
        {
            let size = (width, head + HEIGHT + rows * ENTRY.1 + 10);
            let sheet = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            sheet.fill(&WHITE)?;
            let middle = width as i32 / 2;
            let centred = Pos::new(HPos::Center, VPos::Center);
            sheet.draw(&Text::new(self.title.as_str(), (middle, 22), style(20, BLACK, centred)))?;
            for (line, y) in self.subtitle.lines().zip((46..).step_by(LINE as usize)) {
                // Long lines are smaller: a letter is not much wider than half its height.
                let fits = width * 9 / 5 / line.chars().count().max(1) as u32;
                sheet.draw(&Text::new(line, (middle, y), style(fits.clamp(8, 14), GREY, centred)))?;
            }
            let (panels, _) = sheet.margin(head, 0, 0, 0).split_vertically(HEIGHT);
            for (area, panel) in panels.split_evenly((1, columns)).iter().zip(&self.panels) {
                self.draw_panel(&sheet, area, panel)?;
            }
            let left = middle - (entries.len().min(per_row) as i32 * entry as i32) / 2;
            for (number, line) in entries.into_iter().enumerate() {
                let (row, column) = ((number / per_row) as i32, (number % per_row) as i32);
                let at = (left + column * entry as i32, (head + HEIGHT) as i32 + row * ENTRY.1 as i32 + 10);
                draw_entry(&sheet, line, at)?;
            }
            sheet.present()?;
        }
        Ok(svg)
    }

    /// The lines of the panel that has most.
    fn entries(&self) -> Vec<&Line> {
        let longest = self.panels.iter().max_by_key(|panel| panel.lines.len());
        longest.map_or(Vec::new(), |panel| panel.lines.iter().collect())
    }

    /// Draws a panel, with the axes that all have.
    fn draw_panel(&self, sheet: &Area, area: &Area, panel: &Panel) -> Drawing<()> {
        let points = || self.panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
        let levels = self.panels.iter().flat_map(|panel| &panel.levels).map(|level| level.y);
        let across = Axis::new(self.x_scale, points().map(|(x, _)| *x));
        let up = Axis::new(self.y_scale, points().map(|(_, y)| *y).chain(levels));
        // A little room at both ends keeps the marks off the frame; times begin at 0, unless by ratio.
        let wide = across.room(0.04);
        let high = match self.y_scale {
            Scale::Linear => 0.0..up.room(0.08).end.max(f64::MIN_POSITIVE),
            _ => up.room(0.05),
        };

        let mut chart = ChartBuilder::on(area);
        chart
            .margin(8)
            .margin_right(if panel.levels.is_empty() { 20 } else { 100 })
            .x_label_area_size(48)
            .y_label_area_size(78);
        if !panel.caption.is_empty() {
            chart.caption(&panel.caption, (FONT, 16));
        }
        let mut chart = chart.build_cartesian_2d(wide.clone(), high.clone())?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_desc(&self.x)
            .y_desc(&self.y)
            .axis_desc_style((FONT, 15))
            .x_labels(0)
            .y_labels(0)
            .draw()?;
        for tick in across.ticks(&wide) {
            let at = across.place(tick);
            chart.draw_series(LineSeries::new([(at, high.start), (at, high.end)], PALE.stroke_width(1)))?;
            let (x, y) = chart.plotting_area().map_coordinate(&(at, high.start));
            let style = style(13, BLACK, Pos::new(HPos::Center, VPos::Top));
            sheet.draw(&Text::new(rough(tick), (x, y + 8), style))?;
        }
        for tick in up.ticks(&high) {
            let at = up.place(tick);
            chart.draw_series(LineSeries::new([(wide.start, at), (wide.end, at)], PALE.stroke_width(1)))?;
            let (x, y) = chart.plotting_area().map_coordinate(&(wide.start, at));
            let style = style(13, BLACK, Pos::new(HPos::Right, VPos::Center));
            sheet.draw(&Text::new(rough(tick), (x - 8, y), style))?;
        }
        for level in &panel.levels {
            let y = up.place(level.y);
            let ends = [(wide.start, y), (wide.end, y)];
            chart.draw_series(DashedLineSeries::new(ends, 6, 5, GREY.stroke_width(1)))?;
            let style = style(13, GREY, Pos::new(HPos::Left, VPos::Center));
            let (x, y) = chart.plotting_area().map_coordinate(&(wide.end, y));
            sheet.draw(&Text::new(level.label.as_str(), (x + 6, y), style))?;
        }
        for line in &panel.lines {
            let places = line.points.iter().map(|(x, y)| (across.place(*x), up.place(*y)));
            let places: Vec<_> = places.map(|place| chart.plotting_area().map_coordinate(&place)).collect();
            line.draw(sheet, &places, &places)?;
        }
        Ok(())
    }
}

/// What an axis shows.
pub struct Axis {
    /// How far apart things are.
    scale: Scale,
    /// The values on it, each once, from the least.
    values: Vec<f64>,
}

impl Axis {
    /// An axis for these values.
    pub fn new(scale: Scale, values: impl Iterator<Item = f64>) -> Axis {
        let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        Axis { scale, values }
    }

    /// Where on the axis a value lies.
    fn place(&self, value: f64) -> f64 {
        if self.scale == Scale::Linear { value } else { value.max(f64::MIN_POSITIVE).log10() }
    }

    /// From where to where the axis goes, with this part of it as room at both ends.
    pub fn room(&self, part: f64) -> Range<f64> {
        let end = |value: Option<&f64>| self.place(value.copied().unwrap_or(1.0));
        let (first, last) = (end(self.values.first()), end(self.values.last()));
        let room = if last > first { part * (last - first) } else { 0.5 };
        first - room..last + room
    }

    /// The values at which the axis has ticks.
    pub fn ticks(&self, range: &Range<f64>) -> Vec<f64> {
        let width = range.end - range.start;
        let candidates: Vec<f64> = match self.scale {
            Scale::Points => self.values.clone(),
            Scale::Linear => {
                let least = width / 8.0;
                let power = 10_f64.powf(least.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= least);
                let step = step.unwrap_or(10.0 * power);
                let first = (range.start / step).ceil() as i64;
                // Divided and not multiplied, so that 3 tenths are 0.3.
                (0..=10).map(|i| (first + i) as f64 * step).collect()
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
        candidates.into_iter().filter(|tick| range.contains(&self.place(*tick))).collect()
    }
}

impl Line {
    /// Draws it through these places, with its marks at those.
    fn draw(&self, sheet: &Area, places: &[(i32, i32)], marks: &[(i32, i32)]) -> Drawing<()> {
        let colour = colour(self.number);
        match self.look {
            Look::Both => sheet.draw(&PathElement::new(places, colour.stroke_width(2)))?,
            Look::Line => draw_dashes(sheet, self.number, places)?,
            Look::Marks | Look::Rings => (),
        }
        for mark in marks {
            match self.look {
                Look::Both | Look::Marks => draw_mark(sheet, self.number, *mark)?,
                Look::Rings => sheet.draw(&Circle::new(*mark, 9, colour.stroke_width(1)))?,
                Look::Line => (),
            }
        }
        Ok(())
    }
}

/// Draws a line with the dash of this number.
fn draw_dashes(sheet: &Area, number: usize, places: &[(i32, i32)]) -> Drawing<()> {
    let (dash, space) = DASHES[number % DASHES.len()];
    let stroke = colour(number).stroke_width(2);
    match space {
        0 => sheet.draw(&PathElement::new(places, stroke))?,
        _ => sheet.draw(&DashedPathElement::new(places.iter().copied(), dash, space, stroke))?,
    }
    Ok(())
}

/// The colour of a line.
fn colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

/// How text looks.
pub fn style(size: u32, colour: RGBColor, position: Pos) -> TextStyle<'static> {
    TextStyle { color: colour.to_backend_color(), pos: position, ..TextStyle::from((FONT, size).into_font()) }
}

/// Draws a piece of a line as it looks, and what it stands for.
fn draw_entry(sheet: &Area, line: &Line, (x, y): (i32, i32)) -> Drawing<()> {
    line.draw(sheet, &[(x, y), (x + 32, y)], &[(x + 16, y)])?;
    let style = style(14, BLACK, Pos::new(HPos::Left, VPos::Center));
    Ok(sheet.draw(&Text::new(line.label.as_str(), (x + 40, y), style))?)
}

/// Draws the mark of a line.
fn draw_mark(sheet: &Area, number: usize, (x, y): (i32, i32)) -> Drawing<()> {
    let (filled, stroke) = (colour(number).filled(), colour(number).stroke_width(2));
    match number % COLOURS.len() {
        0 => sheet.draw(&Circle::new((x, y), 4, filled))?,
        1 => sheet.draw(&TriangleMarker::new((x, y), 6, filled))?,
        2 => sheet.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], filled))?,
        3 => sheet.draw(&Cross::new((x, y), 5, stroke))?,
        4 => sheet.draw(&Circle::new((x, y), 5, stroke))?,
        _ => sheet.draw(&Polygon::new([(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)], filled))?,
    }
    Ok(())
}
