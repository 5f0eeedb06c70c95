//! Plots, as SVG: lines over powers of two, in panels side by side, under one legend.
//!
//! Every line has a colour and a mark of its own, so that it is found again on paper without colours.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::failure::Failure;
use super::number::rough;

/// A plot.
pub struct Plot {
    /// What stands above it.
    pub title: String,
    /// What stands below that, smaller.
    pub subtitle: String,
    /// What goes to the right, in powers of two.
    pub x: &'static str,
    /// What goes up, with its unit.
    pub y: String,
    /// The panels, from left to right. All have the same axes.
    pub panels: Vec<Panel>,
}

/// A part of a plot.
pub struct Panel {
    /// What stands above it.
    pub caption: String,
    /// Its lines. Lines of the same number look alike in every panel.
    pub lines: Vec<Line>,
    /// Heights to compare with.
    pub levels: Vec<Level>,
}

/// A line.
pub struct Line {
    /// What it shows.
    pub label: String,
    /// Its points, from left to right.
    pub points: Vec<(usize, f64)>,
}

/// A height.
pub struct Level {
    /// What lies there.
    pub label: String,
    /// Where.
    pub y: f64,
}

/// A file for a plot.
pub struct PlotFile(PathBuf);

/// Colours that everyone can tell apart (Okabe and Ito, 2008), from dark to light.
const COLOURS: [RGBColor; 5] = [
    RGBColor(0, 0, 0),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
];
/// The colour of what is only there to compare with.
const GREY: RGBColor = RGBColor(110, 110, 110);
/// The colour of the grid.
const PALE: RGBColor = RGBColor(225, 225, 225);
/// The width of a plot with one panel, and of each further one.
const WIDTHS: (u32, u32) = (760, 400);
/// The height of the panels.
const HEIGHT: u32 = 430;
/// The height of title and subtitle.
const HEAD: u32 = 62;
/// The width and the height of an entry of the legend.
const ENTRY: (u32, u32) = (150, 26);
/// The font.
const FONT: &str = "sans-serif";

/// How a drawing can fail; into a string it does not.
type Drawing<T> = Result<T, Box<dyn std::error::Error>>;
/// A part of the sheet.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl PlotFile {
    /// Refuses a path to which no plot can be written: better before the runs than after.
    pub fn at(path: &Path) -> Result<PlotFile, Failure> {
        let refuse =
            |why: &str| Failure::Request(format!("no plot can be written to {}: {why}", path.display()));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("svg")) {
            return Err(refuse("plots are SVG; give a name that ends in .svg"));
        }
        if path.exists() && !path.is_file() {
            return Err(refuse("it is not a file; give the name of one, new or old"));
        }
        if !folder.is_dir() {
            return Err(refuse("its folder is not there; give one that is"));
        }
        Ok(PlotFile(path.into()))
    }

    /// Draws a plot into the file.
    pub fn write(self, plot: &Plot) -> Result<(), Failure> {
        let path = self.0;
        let svg = plot.svg().map_err(|error| Failure::Run(format!("the plot cannot be drawn: {error}")))?;
        fs::write(&path, svg).map_err(|error| {
            Failure::Run(format!("the plot cannot be written to {}: {error}", path.display()))
        })
    }
}

impl Plot {
    /// The plot as SVG.
    fn svg(&self) -> Drawing<String> {
        let columns = self.panels.len().max(1);
        let width = if columns == 1 { WIDTHS.0 } else { columns as u32 * WIDTHS.1 };
        let entries = self.entries();
        let per_row = (width / ENTRY.0) as usize;
        let rows = entries.len().div_ceil(per_row) as u32;
        let mut svg = String::new();
        {
            let size = (width, HEAD + HEIGHT + rows * ENTRY.1 + 10);
            let sheet = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            sheet.fill(&WHITE)?;
            let middle = width as i32 / 2;
            let centred = Pos::new(HPos::Center, VPos::Center);
            sheet.draw(&Text::new(self.title.as_str(), (middle, 22), style(20, BLACK, centred)))?;
            sheet.draw(&Text::new(self.subtitle.as_str(), (middle, 46), style(14, GREY, centred)))?;
            let (panels, _) = sheet.margin(HEAD, 0, 0, 0).split_vertically(HEIGHT);
            for (area, panel) in panels.split_evenly((1, columns)).iter().zip(&self.panels) {
                self.draw_panel(&sheet, area, panel)?;
            }
            let left = middle - (entries.len().min(per_row) as i32 * ENTRY.0 as i32) / 2;
            for (number, label) in entries.into_iter().enumerate() {
                let (row, column) = ((number / per_row) as i32, (number % per_row) as i32);
                let at = (left + column * ENTRY.0 as i32, (HEAD + HEIGHT) as i32 + row * ENTRY.1 as i32 + 10);
                draw_entry(&sheet, number, label, at)?;
            }
            sheet.present()?;
        }
        Ok(svg)
    }

    /// The labels of the lines.
    fn entries(&self) -> Vec<&str> {
        let longest = self.panels.iter().max_by_key(|panel| panel.lines.len());
        longest.map_or(Vec::new(), |panel| panel.lines.iter().map(|line| line.label.as_str()).collect())
    }

    /// Draws a panel, with the axes that all have.
    fn draw_panel(&self, sheet: &Area, area: &Area, panel: &Panel) -> Drawing<()> {
        let points = || self.panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
        let ticks: BTreeSet<usize> = points().map(|(x, _)| *x).collect();
        let (first, last) = (ticks.first().copied().unwrap_or(1), ticks.last().copied().unwrap_or(1));
        // A little room at both ends keeps the marks off the frame.
        let across = log(first) - 0.25..log(last) + 0.25;
        let levels = self.panels.iter().flat_map(|panel| &panel.levels).map(|level| level.y);
        let top = points().map(|(_, y)| *y).chain(levels).fold(0.0, f64::max);
        let ceiling = if top > 0.0 { 1.08 * top } else { 1.0 };

        let mut chart = ChartBuilder::on(area);
        chart
            .margin(8)
            .margin_right(if panel.levels.is_empty() { 20 } else { 100 })
            .x_label_area_size(48)
            .y_label_area_size(70);
        if !panel.caption.is_empty() {
            chart.caption(&panel.caption, (FONT, 16));
        }
        let mut chart = chart.build_cartesian_2d(across, 0.0..ceiling)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(PALE)
            .x_desc(self.x)
            .y_desc(&self.y)
            .axis_desc_style((FONT, 15))
            .label_style((FONT, 13))
            .x_labels(0)
            .y_labels(8)
            .y_label_formatter(&|y| rough(*y))
            .draw()?;
        for tick in ticks {
            let (bottom, style) = ((log(tick), 0.0), style(13, BLACK, Pos::new(HPos::Center, VPos::Top)));
            chart.draw_series(LineSeries::new([bottom, (log(tick), ceiling)], PALE.stroke_width(1)))?;
            let (x, y) = chart.plotting_area().map_coordinate(&bottom);
            sheet.draw(&Text::new(tick.to_string(), (x, y + 8), style))?;
        }
        let right = log(last) + 0.25;
        for level in &panel.levels {
            let ends = [(log(first) - 0.25, level.y), (right, level.y)];
            chart.draw_series(DashedLineSeries::new(ends, 6, 5, GREY.stroke_width(1)))?;
            let style = style(13, GREY, Pos::new(HPos::Left, VPos::Center));
            let (x, y) = chart.plotting_area().map_coordinate(&(right, level.y));
            sheet.draw(&Text::new(level.label.as_str(), (x + 6, y), style))?;
        }
        for (number, line) in panel.lines.iter().enumerate() {
            let points = || line.points.iter().map(|(x, y)| (log(*x), *y));
            chart.draw_series(LineSeries::new(points(), colour(number).stroke_width(2)))?;
            for point in points() {
                draw_mark(sheet, number, chart.plotting_area().map_coordinate(&point))?;
            }
        }
        Ok(())
    }
}

/// The colour of a line.
fn colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

/// Where a number of things lies on the way to the right.
fn log(x: usize) -> f64 {
    (x.max(1) as f64).log2()
}

/// How text looks.
fn style(size: u32, colour: RGBColor, position: Pos) -> TextStyle<'static> {
    TextStyle { color: colour.to_backend_color(), pos: position, ..TextStyle::from((FONT, size).into_font()) }
}

/// Draws a piece of a line with its mark, and what it stands for.
fn draw_entry(sheet: &Area, number: usize, label: &str, (x, y): (i32, i32)) -> Drawing<()> {
    let (from, to) = ((x, y), (x + 32, y));
    sheet.draw(&PathElement::new(vec![from, to], colour(number).stroke_width(2)))?;
    draw_mark(sheet, number, (x + 16, y))?;
    let style = style(14, BLACK, Pos::new(HPos::Left, VPos::Center));
    Ok(sheet.draw(&Text::new(label, (x + 40, y), style))?)
}

/// Draws the mark of a line.
fn draw_mark(sheet: &Area, number: usize, (x, y): (i32, i32)) -> Drawing<()> {
    let (filled, stroke) = (colour(number).filled(), colour(number).stroke_width(2));
    match number % COLOURS.len() {
        0 => sheet.draw(&Circle::new((x, y), 4, filled))?,
        1 => sheet.draw(&TriangleMarker::new((x, y), 6, filled))?,
        2 => sheet.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], filled))?,
        3 => sheet.draw(&Cross::new((x, y), 5, stroke))?,
        _ => sheet.draw(&Circle::new((x, y), 5, stroke))?,
    }
    Ok(())
}
