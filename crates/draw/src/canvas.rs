//! The canvas of every picture: shapes, measured texts and tooltips. Only this file writes SVG and escapes
//! text.

use std::fmt::{Display, Write};

use super::palette::{GREY, Ink, PAPER, PointMark, TEXT, style};

/// The usual width of a picture. A picture is still readable at half of this width.
pub const WIDTH: f64 = 720.0;
/// The margin of a picture.
pub const MARGIN: f64 = 16.0;
/// The sizes of titles, of text, and of small text.
pub const TITLE: f64 = 18.0;
pub const NORMAL: f64 = 13.0;
pub const SMALL: f64 = 11.0;
/// Distance of lines of text, as a multiple of their size.
const LEADING: f64 = 1.32;

/// The widths of the characters from the space to `~`, in hundredths of the size: the wider of DejaVu Sans
/// and Liberation Sans, rounded up. Browsers may choose another font, and hardly any is wider.
const WIDTHS: [u8; 95] = [
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    34, 34, 84, 84, 84, 56, 102, 69, 69, 73, 78, 67, 62, 78, 76, 30, 50, 67, 56, 87, 75, 79, 67, 79, 73, 67,
    62, 74, 69, 99, 69, 67, 69, 40, 34, 40, 84, 56, 50, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98,
    64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
];

/// A position: its distances to the right and down.
pub type Position = (f64, f64);

/// The part of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// The style of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeStyle {
    /// A line that shows data.
    Line,
    /// A thin line, for axes and grids.
    Thin,
    /// A line of a width between these two.
    Ring,
    /// Filled.
    Area,
    /// Filled and translucent.
    Band,
    /// Filled, with a dark rim.
    Box,
}

/// A picture that is being drawn.
pub struct Canvas {
    pub(crate) width: f64,
    body: String,
}

impl Canvas {
    /// Creates an empty canvas of this width. Its height is given at the end.
    pub fn new(width: f64) -> Canvas {
        Canvas { width, body: String::new() }
    }

    /// Returns the picture, with a title for readers who do not see the picture. The title comes first: a
    /// browser looks for the title of a document, and would search all tooltips whenever one is added.
    pub fn finish(self, height: f64, title: &str) -> String {
        let (width, height, title) =
            (svg_number(self.width.ceil()), svg_number(height.ceil()), xml_text(title));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lg-picture\" role=\"img\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<title>{title}</title>\n<style>{}</style>\n\
             <rect class=\"{}\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            style(),
            classes(PAPER, ShapeStyle::Area),
            self.body
        )
    }

    /// Draws a title and a subtitle at the top. Returns where they end.
    pub fn draw_head(&mut self, title: &str, subtitle: &str) -> f64 {
        self.draw_head_below(MARGIN, title, subtitle)
    }

    /// Draws a title and a subtitle below this height. Returns where they end.
    pub fn draw_head_below(&mut self, mut y: f64, title: &str, subtitle: &str) -> f64 {
        let room = self.width - 2.0 * MARGIN;
        for (text, size, ink) in [(title, TITLE, TEXT), (subtitle, NORMAL, GREY)] {
            if !text.is_empty() {
                y = self.draw_lines(ink, (MARGIN, y), Anchor::Start, size, &wrap(text, size, room)) + 4.0;
            }
        }
        y + 6.0
    }

    /// Clips what `draw` draws to a rectangle.
    pub fn with_clip(&mut self, place: Position, size: (f64, f64), draw: impl FnOnce(&mut Canvas)) {
        let [x, y, width, height] = [place.0, place.1, size.0, size.1].map(svg_number);
        self.write_element(format_args!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">"
        ));
        draw(self);
        self.write_element(format_args!("</svg>"));
    }

    /// Writes lines of text below a position. Returns where they end.
    pub fn draw_lines(
        &mut self,
        ink: Ink,
        (x, top): Position,
        anchor: Anchor,
        size: f64,
        lines: &[String],
    ) -> f64 {
        for (number, line) in lines.iter().enumerate() {
            self.draw_text(ink, (x, top + size * LEADING * (number as f64 + 0.5)), anchor, size, line);
        }
        top + lines_height(lines.len(), size)
    }

    /// Writes a line of text below a position. Returns where it ends.
    pub fn draw_text_below(
        &mut self,
        ink: Ink,
        (x, top): Position,
        anchor: Anchor,
        size: f64,
        text: &str,
    ) -> f64 {
        self.draw_text(ink, (x, top + lines_height(1, size) / 2.0), anchor, size, text);
        top + lines_height(1, size)
    }

    /// Writes the lines of a vertical axis's name beside the axis, from the bottom up around `middle`.
    pub fn draw_axis_name(&mut self, middle: f64, lines: &[String]) {
        for (number, line) in lines.iter().enumerate() {
            let x = MARGIN + lines_height(1, NORMAL + 1.0) * (number as f64 + 0.5);
            self.draw_turned_text(TEXT, (x, middle), Anchor::Middle, NORMAL + 1.0, line);
        }
    }

    /// Writes a line of text. Its position is in the middle of its height.
    pub fn draw_text(&mut self, ink: Ink, place: Position, anchor: Anchor, size: f64, text: &str) {
        self.place_text(ink, place, anchor, size, text, false);
    }

    /// Writes a line of text from the bottom up. Its position is in the middle of its height.
    pub fn draw_turned_text(&mut self, ink: Ink, place: Position, anchor: Anchor, size: f64, text: &str) {
        self.place_text(ink, place, anchor, size, text, true);
    }

    fn place_text(
        &mut self,
        ink: Ink,
        (x, y): Position,
        anchor: Anchor,
        size: f64,
        text: &str,
        is_turned: bool,
    ) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        // Text looks centred if its letters are, without descenders.
        let down = 0.36 * size;
        let (x, y) = if is_turned { (x + down, y) } else { (x, y + down) };
        let (x, y) = (svg_number(x), svg_number(y));
        let turn = if is_turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        self.write_element(format_args!(
            "<text class=\"{} lg-text\" x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{turn}>{}</text>",
            ink.class(),
            svg_number(size),
            xml_text(text)
        ));
    }

    /// Draws a rectangle from its upper left corner.
    pub fn draw_rectangle(&mut self, ink: Ink, shape: ShapeStyle, place: Position, size: (f64, f64)) {
        self.write_rectangle(ink, shape, place, size, "");
    }

    /// Draws a rectangle with round corners and a rim.
    pub fn draw_rounded_rectangle(&mut self, ink: Ink, rim: Ink, place: Position, size: (f64, f64)) {
        self.write_rectangle(ink, ShapeStyle::Area, place, size, " rx=\"9\"");
        self.write_rectangle(rim, ShapeStyle::Thin, place, size, " rx=\"9\"");
    }

    fn write_rectangle(
        &mut self,
        ink: Ink,
        shape: ShapeStyle,
        place: Position,
        size: (f64, f64),
        corners: &str,
    ) {
        let [x, y, width, height] = [place.0, place.1, size.0, size.1].map(svg_number);
        self.write_element(format_args!(
            "<rect class=\"{}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{corners}/>",
            classes(ink, shape)
        ));
    }

    /// Draws a thin line through these positions, for axes, grids and rims.
    pub fn draw_thin_line(&mut self, ink: Ink, places: &[Position]) {
        self.draw_line(ink, ShapeStyle::Thin, "", places);
    }

    /// Draws a line through these positions, with this dash.
    pub fn draw_line(&mut self, ink: Ink, shape: ShapeStyle, dash: &str, places: &[Position]) {
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        self.write_element(format_args!(
            "<polyline class=\"{}\"{dash} points=\"{}\"/>",
            classes(ink, shape),
            svg_positions(places)
        ));
    }

    /// Draws a polygon with these corners.
    pub fn draw_polygon(&mut self, ink: Ink, shape: ShapeStyle, corners: &[Position]) {
        self.write_element(format_args!(
            "<polygon class=\"{}\" points=\"{}\"/>",
            classes(ink, shape),
            svg_positions(corners)
        ));
    }

    /// Draws a circle.
    pub fn draw_circle(&mut self, ink: Ink, shape: ShapeStyle, place: Position, radius: f64) {
        self.write_circle(&classes(ink, shape), place, radius);
    }

    /// Draws an invisible circle, which can have a tooltip.
    pub fn draw_spot(&mut self, place: Position, radius: f64) {
        self.write_circle("lg-hit", place, radius);
    }

    fn write_circle(&mut self, class: &str, (x, y): Position, radius: f64) {
        let [x, y, r] = [x, y, radius].map(svg_number);
        self.write_element(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>"));
    }

    /// Draws a mark, about 9 wide.
    pub fn draw_mark(&mut self, ink: Ink, mark: PointMark, (x, y): Position) {
        let at = |(right, down)| (x + right, y + down);
        let mut polygon = |corners: &[Position]| {
            let corners: Vec<Position> = corners.iter().copied().map(at).collect();
            self.draw_polygon(ink, ShapeStyle::Area, &corners);
        };
        match mark {
            PointMark::Dot => self.draw_circle(ink, ShapeStyle::Area, (x, y), 4.0),
            PointMark::Square => self.draw_rectangle(ink, ShapeStyle::Area, (x - 3.8, y - 3.8), (7.6, 7.6)),
            PointMark::Up => polygon(&[(0.0, -5.4), (5.0, 3.6), (-5.0, 3.6)]),
            PointMark::Down => polygon(&[(0.0, 5.4), (5.0, -3.6), (-5.0, -3.6)]),
            PointMark::Diamond => polygon(&[(0.0, -5.6), (5.6, 0.0), (0.0, 5.6), (-5.6, 0.0)]),
            PointMark::Cross => {
                for ends in [[(-4.2, -4.2), (4.2, 4.2)], [(-4.2, 4.2), (4.2, -4.2)]] {
                    self.draw_line(ink, ShapeStyle::Line, "", &ends.map(at));
                }
            }
            PointMark::Plus => {
                for ends in [[(-5.2, 0.0), (5.2, 0.0)], [(0.0, -5.2), (0.0, 5.2)]] {
                    self.draw_line(ink, ShapeStyle::Line, "", &ends.map(at));
                }
            }
        }
    }

    /// Groups what `draw` draws, and gives it a tooltip.
    pub fn with_tooltip(&mut self, tooltip: impl Display, draw: impl FnOnce(&mut Canvas)) {
        self.write_element(format_args!("<g><title>{}</title>", xml_text(&tooltip.to_string())));
        draw(self);
        self.write_element(format_args!("</g>"));
    }

    /// Makes what `draw` draws translucent.
    pub fn with_opacity(&mut self, opacity: f64, draw: impl FnOnce(&mut Canvas)) {
        self.write_element(format_args!("<g opacity=\"{}\">", svg_number(opacity)));
        draw(self);
        self.write_element(format_args!("</g>"));
    }

    fn write_element(&mut self, element: std::fmt::Arguments) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }
}

/// Returns an upper bound of the width of a text.
pub fn text_width(text: &str, size: f64) -> f64 {
    let width = |character: char| match character {
        ' '..='~' => WIDTHS[character as usize - ' ' as usize].into(),
        '\u{2fff}'.. => 140.0,
        _ => 100.0,
    };
    text.chars().map(width).sum::<f64>() * size / 100.0
}

/// Returns the width of the widest of these texts.
pub fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, size: f64) -> f64 {
    texts.into_iter().map(|text| text_width(text.as_ref(), size)).fold(0.0, f64::max)
}

/// Returns the height of a number of lines of text.
pub fn lines_height(lines: usize, size: f64) -> f64 {
    lines as f64 * size * LEADING
}

/// Breaks a text into lines no wider than `room`, at spaces and within words that are too long.
pub fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let space = if line.is_empty() { "" } else { " " };
            if text_width(&format!("{line}{space}{word}"), size) <= room {
                line = format!("{line}{space}{word}");
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            for character in word.chars() {
                if !line.is_empty() && text_width(&format!("{line}{character}"), size) > room {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(character);
            }
        }
        lines.push(line);
    }
    lines
}

/// Returns the classes of a shape.
fn classes(ink: Ink, shape: ShapeStyle) -> String {
    let shape = match shape {
        ShapeStyle::Line => "line",
        ShapeStyle::Thin => "thin",
        ShapeStyle::Ring => "ring",
        ShapeStyle::Area => "area",
        ShapeStyle::Band => "band",
        ShapeStyle::Box => "box",
    };
    format!("{} lg-{shape}", ink.class())
}

/// Writes a number with up to two decimals.
fn svg_number(number: f64) -> String {
    let digits = format!("{number:.2}");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    if digits == "-0" { "0" } else { digits }.into()
}

/// Writes positions in the form of SVG.
fn svg_positions(places: &[Position]) -> String {
    let places = places.iter().map(|(x, y)| format!("{},{}", svg_number(*x), svg_number(*y)));
    places.collect::<Vec<_>>().join(" ")
}

/// Escapes a text for XML. Most control characters cannot be in XML at all, and are replaced.
fn xml_text(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            '\u{0}'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
