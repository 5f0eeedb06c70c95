//! Maps over two quantities: each cell has the colour of what is best there, stronger the more it wins by and hatched where
//! others are as good, and lines show where that changes.

use super::axis::{Axis, BESIDE, Scale, draw_numbers_below, draw_numbers_beside};
use super::canvas::{
    Anchor, Canvas, MARGIN, NORMAL, Position, ShapeStyle, WIDTH, lines_height, text_width, widest, wrap,
};
use super::legend::{LegendEntry, draw_legend};
use super::palette::{GREY, Ink, PAPER, STRONG, SeriesStyle, TEXT};

/// A map.
pub struct RegionMap {
    pub title: String,
    /// One or more smaller lines below the title.
    pub subtitle: String,
    pub x: MapAxis,
    pub y: MapAxis,
    /// Labels of the series that can be best, each with its letter.
    pub series: Vec<(char, String)>,
    /// Cells in rows from the least y up, each with as many as x has values.
    pub cells: Vec<Vec<RegionCell>>,
    pub borders: Vec<Border>,
}

/// A quantity of a map.
pub struct MapAxis {
    /// Name with the unit.
    pub name: String,
    pub scale: Scale,
    /// Values of the columns or rows, in ascending order.
    pub values: Vec<f64>,
}

/// A cell of a map.
pub struct RegionCell {
    /// Numbers of the series that are best there; the first gives the colour, the others that of the hatching.
    pub best: Vec<usize>,
    /// By which part the next one is worse; `None` if there is no other.
    pub lead: Option<f64>,
    pub tooltip: String,
}

/// A value of x in a row, from which on other series are best.
pub struct Border {
    pub row: usize,
    pub x: f64,
    /// Numbers of the series that are best before.
    pub from: Vec<usize>,
    /// Numbers of those that are best behind.
    pub to: Vec<usize>,
    pub tooltip: String,
}

/// Height of the map.
const HEIGHT: f64 = 380.0;
/// The opacity of a region whose series leads by at most this part; the last is for more.
const SHADES: [(f64, f64); 3] = [(0.05, 0.16), (0.25, 0.38), (f64::INFINITY, 0.66)];
/// The distance of the lines of a hatching, along an axis.
const HATCH: f64 = 9.0;

/// An axis that is divided into a part for each of its values.
struct DividedAxis {
    axis: Axis,
    /// Ends of the parts: one more than there are values.
    ends: Vec<f64>,
    /// Positions on the canvas of the first and the last end.
    places: Position,
    ticks: Vec<f64>,
    texts: Vec<String>,
}

impl DividedAxis {
    fn new(MapAxis { scale, values, .. }: &MapAxis) -> DividedAxis {
        let axis = Axis::new(*scale, values.iter().copied());
        let at: Vec<f64> = values.iter().map(|value| axis.position(*value)).collect();
        // A part ends halfway to the next value; the outer ones are as wide as on their inner side.
        let half = |place: usize| at.get(place + 1).map_or(0.5, |next| (next - at[place]) / 2.0);
        let last = at.len() - 1;
        let inner = at.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        let ends: Vec<f64> = [at[0] - half(0)]
            .into_iter()
            .chain(inner)
            .chain([at[last] + half(last.saturating_sub(1))])
            .collect();
        let (ticks, texts) = axis.labelled_ticks(&(ends[0]..ends[last + 1]));
        DividedAxis { axis, ends, places: (0.0, 1.0), ticks, texts }
    }

    /// Returns the place of a position of the axis on the canvas.
    fn place(&self, position: f64) -> f64 {
        let (first, last) = (self.ends[0], self.ends[self.ends.len() - 1]);
        let (start, end) = self.places;
        start + (position - first) / (last - first) * (end - start)
    }

    /// Returns the place of a value on the canvas.
    fn place_of(&self, value: f64) -> f64 {
        self.place(self.axis.position(value))
    }

    /// Returns the places of the ends of a part.
    fn part(&self, number: usize) -> (f64, f64) {
        (self.place(self.ends[number]), self.place(self.ends[number + 1]))
    }

    fn labels(&self) -> impl Iterator<Item = (f64, &str)> {
        self.ticks.iter().map(|tick| self.place_of(*tick)).zip(self.texts.iter().map(String::as_str))
    }
}

impl RegionMap {
    /// Returns the map as SVG.
    pub fn svg(&self) -> String {
        let (mut across, mut up) = (DividedAxis::new(&self.x), DividedAxis::new(&self.y));
        let name = wrap(&self.y.name, NORMAL + 1.0, HEIGHT);
        let left = MARGIN + lines_height(name.len(), NORMAL + 1.0) + 4.0 + widest(&up.texts, NORMAL) + BESIDE;
        let right = WIDTH - MARGIN.max(widest(&across.texts, NORMAL) / 2.0 + 4.0);
        let mut canvas = Canvas::new(WIDTH);
        let top = canvas.draw_head(&self.title, &self.subtitle);
        let bottom = top + HEIGHT;
        (across.places, up.places) = ((left, right), (bottom, top));

        for (row, cells) in self.cells.iter().enumerate() {
            self.draw_row(&mut canvas, row, cells, &across, &up);
        }
        for (row, cells) in self.cells.iter().enumerate() {
            self.draw_texts(&mut canvas, row, cells, &across, &up);
        }
        self.draw_borders(&mut canvas, &across, &up);
        canvas.draw_thin_line(GREY, &[(left, top), (left, bottom), (right, bottom)]);
        draw_numbers_below(&mut canvas, bottom + BESIDE, across.labels());
        draw_numbers_beside(&mut canvas, left - BESIDE, up.labels());
        canvas.draw_axis_name((top + bottom) / 2.0, &name);
        let below = wrap(&self.x.name, NORMAL + 1.0, right - left);
        let place = ((left + right) / 2.0, bottom + BESIDE + lines_height(1, NORMAL));
        let y = canvas.draw_lines(TEXT, place, Anchor::Middle, NORMAL + 1.0, &below);
        let end = draw_legend(&mut canvas, y + 8.0, &self.entries());
        canvas.finish(end + MARGIN / 2.0, &self.title)
    }

    /// Draws the regions of a row, which end at its borders.
    fn draw_row(
        &self,
        canvas: &mut Canvas,
        row: usize,
        cells: &[RegionCell],
        across: &DividedAxis,
        up: &DividedAxis,
    ) {
        let heights = self.heights(row, up);
        let mut draw = |best: &[usize], shade: f64, tooltip: &str, from: [f64; 3], until: [f64; 3]| {
            let Some((first, others)) = best.split_first() else { return };
            let sides = |places: [f64; 3]| places.into_iter().zip(heights).collect::<Vec<Position>>();
            let corners: Vec<Position> =
                sides(from).into_iter().chain(sides(until).into_iter().rev()).collect();
            canvas.with_tooltip(tooltip, |canvas| {
                canvas.with_opacity(shade, |canvas| {
                    canvas.draw_polygon(ink(*first), ShapeStyle::Area, &corners);
                });
                draw_hatching(canvas, others, &corners);
            });
        };
        let mut from = [across.part(0).0; 3];
        for (column, cell) in cells.iter().enumerate() {
            let between = |border: &&Border| match self.x.values.get(column + 1) {
                Some(next) => border.row == row && border.x > self.x.values[column] && border.x <= *next,
                None => false,
            };
            let (mut best, mut shade, mut is_divided) = (cell.best.clone(), cell.shade(), false);
            for border in self.borders.iter().filter(between) {
                let until = self.border_places(border, across);
                draw(&best, shade, &cell.tooltip, from, until);
                // Beside a border the lead is small.
                (from, best, shade, is_divided) = (until, border.to.clone(), SHADES[0].1, true);
            }
            if !is_divided {
                let until = [across.part(column).1; 3];
                draw(&best, shade, &cell.tooltip, from, until);
                from = until;
            }
        }
    }

    /// Writes the letters of a row's cells that have room, and crosses out those in which nothing is best.
    fn draw_texts(
        &self,
        canvas: &mut Canvas,
        row: usize,
        cells: &[RegionCell],
        across: &DividedAxis,
        up: &DividedAxis,
    ) {
        let (bottom, top) = up.part(row);
        for (column, cell) in cells.iter().enumerate() {
            let (left, right) = across.part(column);
            let letters: Vec<String> =
                cell.best.iter().map(|best| self.series[*best].0.to_string()).collect();
            let text = letters.join("=");
            let fits = text_width(&text, NORMAL) + 4.0 <= right - left;
            if cell.best.is_empty() {
                canvas.with_tooltip(&cell.tooltip, |canvas| {
                    canvas.draw_thin_line(GREY, &[(left, bottom), (right, top)]);
                    canvas.draw_thin_line(GREY, &[(left, top), (right, bottom)]);
                });
            } else if fits && lines_height(1, NORMAL) <= bottom - top {
                let place = ((left + right) / 2.0, (bottom + top) / 2.0);
                if cell.best.len() > 1 {
                    let (width, high) = (text_width(&text, NORMAL) + 4.0, lines_height(1, NORMAL));
                    let corner = (place.0 - width / 2.0, place.1 - high / 2.0);
                    canvas.draw_rectangle(PAPER, ShapeStyle::Area, corner, (width, high));
                }
                canvas.draw_text(TEXT, place, Anchor::Middle, NORMAL, &text);
            }
        }
    }

    /// Draws the borders.
    fn draw_borders(&self, canvas: &mut Canvas, across: &DividedAxis, up: &DividedAxis) {
        for border in &self.borders {
            let (places, heights) = (self.border_places(border, across), self.heights(border.row, up));
            let line: Vec<Position> = places.into_iter().zip(heights).collect();
            canvas.draw_line(STRONG, ShapeStyle::Line, "", &line);
            canvas.with_tooltip(&border.tooltip, |canvas| canvas.draw_spot(line[1], BESIDE));
        }
    }

    /// Returns where a border is at the lower end of its row, at the row's value, and at the upper end. It leads to
    /// the border between the same series in a neighbouring row.
    fn border_places(&self, border: &Border, across: &DividedAxis) -> [f64; 3] {
        let here = across.place_of(border.x);
        let halfway_to = |row: Option<usize>| {
            let is_like = |other: &&Border| {
                Some(other.row) == row && (&other.from, &other.to) == (&border.from, &border.to)
            };
            let other = self.borders.iter().find(is_like);
            other.map_or(here, |other| (here + across.place_of(other.x)) / 2.0)
        };
        [halfway_to(border.row.checked_sub(1)), here, halfway_to(Some(border.row + 1))]
    }

    /// Returns the places of the lower end of a row, of its value, and of its upper end.
    fn heights(&self, row: usize, up: &DividedAxis) -> [f64; 3] {
        let (bottom, top) = up.part(row);
        [bottom, up.place_of(self.y.values[row]), top]
    }

    /// Returns an entry of the legend for each series that is best somewhere, for each shade, and for the hatching.
    fn entries(&self) -> Vec<LegendEntry<'_>> {
        let cells = || self.cells.iter().flatten();
        let is_best = |number: &usize| {
            cells().any(|cell| cell.best.contains(number))
                || self.borders.iter().any(|border| border.to.contains(number))
        };
        let entry = |number: usize| {
            let (letter, label) = &self.series[number];
            sample(&format!("{letter}: {label}"), ink(number), SHADES[1].1, &[])
        };
        let series = (0..self.series.len()).filter(is_best).map(entry);
        let shades = SHADES.iter().enumerate().filter_map(|(place, (most, shade))| {
            let occurs = cells().any(|cell| cell.best.len() == 1 && cell.shade() == *shade);
            let label = match place {
                0 => format!("pale: the next one takes at most {:.0}% longer", 100.0 * most),
                1 => format!("at most {:.0}% longer", 100.0 * most),
                _ => format!("strong: more than {:.0}% longer", 100.0 * SHADES[place - 1].0),
            };
            occurs.then(|| sample(&label, GREY, *shade, &[]))
        });
        let ties = cells().filter(|cell| cell.best.len() > 1).count();
        let ties = (ties > 0).then(|| {
            let label = format!("hatched: equally fast, {ties} of {} cells", cells().count());
            sample(&label, GREY, SHADES[0].1, &[0])
        });
        series.chain(shades).chain(ties).collect()
    }
}

impl RegionCell {
    /// Returns the opacity of its colour.
    fn shade(&self) -> f64 {
        if self.best.len() > 1 {
            return SHADES[0].1;
        }
        let lead = self.lead.unwrap_or(f64::INFINITY);
        SHADES.iter().find(|(most, _)| lead <= *most).map_or(SHADES[2].1, |(_, shade)| *shade)
    }
}

/// Returns an entry of the legend with a region as its sample.
fn sample<'a>(label: &str, ink: Ink, shade: f64, others: &'static [usize]) -> LegendEntry<'a> {
    LegendEntry::new(label, move |canvas: &mut Canvas, _, (right, y)| {
        let (place, size) = ((right - 18.0, y - 6.0), (18.0, 12.0));
        canvas.with_opacity(shade, |canvas| canvas.draw_rectangle(ink, ShapeStyle::Area, place, size));
        let corners = [(0.0, 0.0), (18.0, 0.0), (18.0, 12.0), (0.0, 12.0)];
        draw_hatching(canvas, others, &corners.map(|(x, y)| (place.0 + x, place.1 + y)));
        canvas.draw_rectangle(ink, ShapeStyle::Thin, place, size);
    })
}

/// Hatches a polygon with the colours of these series in turn.
fn draw_hatching(canvas: &mut Canvas, series: &[usize], corners: &[Position]) {
    if series.is_empty() {
        return;
    }
    let sums = || corners.iter().map(|(x, y)| x + y);
    let (least, most) = (sums().fold(f64::INFINITY, f64::min), sums().fold(f64::NEG_INFINITY, f64::max));
    // On a line x + y is the same. All lines of a map are at multiples of the distance, so that they meet at the cells' edges.
    for number in (least / HATCH).ceil() as usize..=(most / HATCH) as usize {
        let sum = number as f64 * HATCH;
        let edges = corners.iter().zip(corners.iter().cycle().skip(1));
        let mut crossings: Vec<Position> = edges
            .filter_map(|(one, other)| {
                let (start, end) = (one.0 + one.1 - sum, other.0 + other.1 - sum);
                let part = start / (start - end);
                let is_crossed = (start < 0.0) != (end < 0.0);
                is_crossed.then_some((one.0 + part * (other.0 - one.0), one.1 + part * (other.1 - one.1)))
            })
            .collect();
        crossings.sort_by(|one, other| one.0.total_cmp(&other.0));
        let ink = ink(series[number % series.len()]);
        crossings.chunks_exact(2).for_each(|ends| canvas.draw_line(ink, ShapeStyle::Ring, "", ends));
    }
}

/// Returns the colour of a series. The first of a plot is black, which would hide the texts of a map.
fn ink(number: usize) -> Ink {
    SeriesStyle::for_number(number + 1).ink
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, values: &[f64]) -> MapAxis {
        MapAxis { name: name.into(), scale: Scale::Linear, values: values.into() }
    }

    /// What wins by more has more colour, and what wins nothing is hatched; the legend says so.
    #[test]
    fn ties_are_hatched_and_wins_are_shaded() {
        let cell =
            |best: &[usize], lead| RegionCell { best: best.into(), lead: Some(lead), tooltip: String::new() };
        let map = RegionMap {
            title: "map".into(),
            subtitle: String::new(),
            x: axis("x", &[0.0, 10.0]),
            y: axis("y", &[1.0, 2.0]),
            series: vec![('a', "one".into()), ('b', "other".into())],
            cells: vec![vec![cell(&[0], 0.01), cell(&[0], 0.1)], vec![cell(&[0, 1], 0.0), cell(&[1], 2.0)]],
            borders: Vec::new(),
        };
        let svg = map.svg();
        let regions = |shade: f64| svg.matches(&format!("<g opacity=\"{shade}\">\n<polygon")).count();
        assert_eq!(SHADES.map(|(_, shade)| regions(shade)), [2, 1, 1]);
        // The other of the tie has the colour of the lines, and no line leaves its cell.
        let lines: Vec<&str> =
            svg.split("<polyline class=\"lg-vermillion lg-ring\" points=\"").skip(1).collect();
        assert!(lines.len() > 40, "{}", lines.len());
        let places = lines.iter().flat_map(|line| line.split('"').next().unwrap().split([' ', ',']));
        let places: Vec<f64> = places.map(|place| place.parse().unwrap()).collect();
        let [right, bottom] =
            [0, 1].map(|axis| places.iter().skip(axis).step_by(2).fold(0.0, |a: f64, b| a.max(*b)));
        assert!(right < WIDTH / 2.0 + MARGIN + 20.0 && bottom < HEIGHT / 2.0 + 60.0, "{right} {bottom}");
        for text in [
            "pale: the next one takes at most 5% longer",
            "at most 25% longer",
            "strong: more than 25% longer",
            "hatched: equally fast, 1 of 4 cells",
        ] {
            assert!(svg.contains(text), "{text}");
        }
    }

    /// A row changes its colour at its border, and a cell without a best series is crossed out.
    #[test]
    fn regions_end_at_their_borders() {
        let cell = |best: Option<usize>| RegionCell {
            best: best.into_iter().collect(),
            lead: Some(0.1),
            tooltip: format!("<{best:?}>"),
        };
        let border = |row, x| Border { row, x, from: vec![0], to: vec![1], tooltip: format!("border {x}") };
        let map = RegionMap {
            title: "map".into(),
            subtitle: String::new(),
            x: axis("x", &[0.0, 10.0]),
            y: axis("y", &[1.0, 2.0, 3.0]),
            series: vec![('a', "one".into()), ('b', "other".into())],
            cells: vec![
                vec![cell(Some(0)), cell(Some(1))],
                vec![cell(Some(0)), cell(Some(1))],
                vec![cell(None), cell(Some(1))],
            ],
            borders: vec![border(0, 2.0), border(1, 8.0)],
        };
        let svg = map.svg();
        // The corners of each region, from the lower left one around to the lower right one.
        let regions: Vec<Vec<f64>> = (svg.split("\n<polygon").skip(1))
            .map(|part| {
                let points = part.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
                points.split(' ').map(|point| point.split(',').next().unwrap().parse().unwrap()).collect()
            })
            .collect();
        // The map reaches from -5 to 15.
        let (left, right) = (regions[0][0], regions[1][5]);
        let x = |place: f64| ((place - left) / (right - left) * 20.0 - 5.0).round();
        let of = |region: usize| regions[region].iter().map(|place| x(*place)).collect::<Vec<_>>();
        // Two borders meet halfway, at the rows' common edge.
        let borders = [of(0)[3..].to_vec(), of(2)[3..].to_vec()];
        assert_eq!(borders, [[5.0, 2.0, 2.0], [8.0, 8.0, 5.0]]);
        assert_eq!(of(1), [2.0, 2.0, 5.0, 15.0, 15.0, 15.0]);
        assert_eq!((regions.len(), of(4)), (5, vec![5.0, 5.0, 5.0, 15.0, 15.0, 15.0]));
        assert_eq!(svg.matches("&lt;None&gt;").count(), 1);
        assert!([">a: one<", ">b: other<", "border 2", ">x</text>"].iter().all(|text| svg.contains(text)));
        assert_eq!(svg.matches("lg-strong lg-line").count(), 2);
    }
}
