//! The canvas of every picture: shapes, texts that are measured, tooltips. The one place that writes SVG and escapes text.

use std::fmt::{Display, Write};

use super::palette::{GREY, Ink, Mark, PAPER, TEXT, style};

/// The width of a picture, unless what it shows needs more: half of it is still readable.
pub const WIDTH: f64 = 720.0;
/// The room at the edges.
pub const MARGIN: f64 = 16.0;
/// The size of a title, of text, and of text that there is little room for.
pub const TITLE: f64 = 18.0;
pub const NORMAL: f64 = 13.0;
pub const SMALL: f64 = 11.0;
/// From a line of text to the next, for each unit of its size.
const LEADING: f64 = 1.32;

/// How wide the characters from the space to `~` are, in hundredths of the size: the wider of DejaVu Sans and Liberation
/// Sans, rounded up. Browsers may choose another font, and hardly any is wider.
const WIDTHS: [u8; 95] = [
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    34, 34, 84, 84, 84, 56, 102, 69, 69, 73, 78, 67, 62, 78, 76, 30, 50, 67, 56, 87, 75, 79, 67, 79, 73, 67,
    62, 74, 69, 99, 69, 67, 69, 40, 34, 40, 84, 56, 50, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98,
    64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
];

/// A place: how far to the right, and how far down.
pub type Place = (f64, f64);

/// What of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// How a shape takes its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A line that shows something.
    Line,
    /// A line of the scaffold.
    Thin,
    /// A line between these two.
    Ring,
    /// Filled.
    Area,
    /// Filled, so that what is below is seen.
    Band,
    /// Filled, with a dark rim.
    Box,
}

/// What is drawn so far.
pub struct Canvas {
    /// How wide the picture is.
    width: f64,
    /// The shapes.
    body: String,
}

impl Canvas {
    /// An empty canvas of this width; how high it is shows in the end.
    pub fn new(width: f64) -> Canvas {
        Canvas { width, body: String::new() }
    }

    /// The width.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The picture, with what it is in words for those who do not see it. That comes first: a browser looks for the title of a
    /// document, and would look through all tooltips again whenever one is added.
    pub fn finish(self, height: f64, title: &str) -> String {
        let (width, height, title) = (Number(self.width.ceil()), Number(height.ceil()), Escaped(title));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lg-picture\" role=\"img\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<title>{title}</title>\n<style>{}</style>\n\
             <rect class=\"{}\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            style(),
            classes(PAPER, Shape::Area),
            self.body
        )
    }

    /// Draws a title and what stands below it from the top; says where they end.
    pub fn head(&mut self, title: &str, subtitle: &str) -> f64 {
        let room = self.width - 2.0 * MARGIN;
        let mut y = MARGIN;
        for (text, size, ink) in [(title, TITLE, TEXT), (subtitle, NORMAL, GREY)] {
            if !text.is_empty() {
                y = self.lines(ink, (MARGIN, y), Anchor::Start, size, &wrap(text, size, room)) + 4.0;
            }
        }
        y + 6.0
    }

    /// Shows of what is drawn only what lies in a rectangle.
    pub fn clipped(&mut self, (x, y): Place, (width, height): (f64, f64), draw: impl FnOnce(&mut Canvas)) {
        let [x, y, width, height] = [x, y, width, height].map(Number);
        self.put(format_args!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">"
        ));
        draw(self);
        self.put(format_args!("</svg>"));
    }

    /// Writes lines of text below each other, the first of them below this place; says where they end.
    pub fn lines(&mut self, ink: Ink, (x, top): Place, anchor: Anchor, size: f64, lines: &[String]) -> f64 {
        for (number, line) in lines.iter().enumerate() {
            self.text(ink, (x, top + size * LEADING * (number as f64 + 0.5)), anchor, size, line);
        }
        top + high(lines.len(), size)
    }

    /// Writes a line of text. Its place is in the middle of its height.
    pub fn text(&mut self, ink: Ink, place: Place, anchor: Anchor, size: f64, text: &str) {
        self.write_text(ink, place, anchor, size, text, false);
    }

    /// Writes a line of text from the bottom up. Its place is in the middle of its height, which goes to the right here.
    pub fn turned_text(&mut self, ink: Ink, place: Place, anchor: Anchor, size: f64, text: &str) {
        self.write_text(ink, place, anchor, size, text, true);
    }

    fn write_text(
        &mut self,
        ink: Ink,
        (x, y): Place,
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
        // Letters without those that hang below the line seem to be in the middle.
        let down = 0.36 * size;
        let (x, y) = if is_turned { (x + down, y) } else { (x, y + down) };
        let (x, y) = (Number(x), Number(y));
        let turn = if is_turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        self.put(format_args!(
            "<text class=\"{} lg-text\" x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{turn}>{}</text>",
            ink.class(),
            Number(size),
            Escaped(text)
        ));
    }

    /// Draws a rectangle from its upper left corner.
    pub fn rectangle(&mut self, ink: Ink, shape: Shape, (x, y): Place, (width, height): (f64, f64)) {
        self.put(format_args!(
            "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            classes(ink, shape),
            Number(x),
            Number(y),
            Number(width),
            Number(height)
        ));
    }

    /// Draws a rectangle with round corners and a rim.
    pub fn round(&mut self, ink: Ink, rim: Ink, (x, y): Place, (width, height): (f64, f64)) {
        for (ink, shape) in [(ink, Shape::Area), (rim, Shape::Thin)] {
            self.put(format_args!(
                "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"9\"/>",
                classes(ink, shape),
                Number(x),
                Number(y),
                Number(width),
                Number(height)
            ));
        }
    }

    /// Draws a line through these places, with this dash.
    pub fn line(&mut self, ink: Ink, shape: Shape, dash: &str, places: &[Place]) {
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        self.put(format_args!(
            "<polyline class=\"{}\"{dash} points=\"{}\"/>",
            classes(ink, shape),
            Places(places)
        ));
    }

    /// Draws a polygon with these corners.
    pub fn polygon(&mut self, ink: Ink, shape: Shape, corners: &[Place]) {
        self.put(format_args!("<polygon class=\"{}\" points=\"{}\"/>", classes(ink, shape), Places(corners)));
    }

    /// Draws a circle.
    pub fn circle(&mut self, ink: Ink, shape: Shape, (x, y): Place, radius: f64) {
        self.put(format_args!(
            "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            classes(ink, shape),
            Number(x),
            Number(y),
            Number(radius)
        ));
    }

    /// Draws a circle around what is there.
    pub fn ring(&mut self, ink: Ink, place: Place, radius: f64) {
        self.circle(ink, Shape::Ring, place, radius);
    }

    /// A place at which a tooltip shows though nothing is seen there.
    pub fn spot(&mut self, (x, y): Place, radius: f64) {
        self.put(format_args!(
            "<circle class=\"lg-hit\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            Number(x),
            Number(y),
            Number(radius)
        ));
    }

    /// Draws a mark, about 9 wide.
    pub fn mark(&mut self, ink: Ink, mark: Mark, (x, y): Place) {
        let at = |places: &[Place]| -> Vec<Place> { places.iter().map(|(a, b)| (x + a, y + b)).collect() };
        match mark {
            Mark::Dot => self.circle(ink, Shape::Area, (x, y), 4.0),
            Mark::Square => self.rectangle(ink, Shape::Area, (x - 3.8, y - 3.8), (7.6, 7.6)),
            Mark::Up => self.polygon(ink, Shape::Area, &at(&[(0.0, -5.4), (5.0, 3.6), (-5.0, 3.6)])),
            Mark::Down => self.polygon(ink, Shape::Area, &at(&[(0.0, 5.4), (5.0, -3.6), (-5.0, -3.6)])),
            Mark::Diamond => {
                self.polygon(ink, Shape::Area, &at(&[(0.0, -5.6), (5.6, 0.0), (0.0, 5.6), (-5.6, 0.0)]));
            }
            Mark::Cross => {
                self.line(ink, Shape::Line, "", &at(&[(-4.2, -4.2), (4.2, 4.2)]));
                self.line(ink, Shape::Line, "", &at(&[(-4.2, 4.2), (4.2, -4.2)]));
            }
            Mark::Plus => {
                self.line(ink, Shape::Line, "", &at(&[(-5.2, 0.0), (5.2, 0.0)]));
                self.line(ink, Shape::Line, "", &at(&[(0.0, -5.2), (0.0, 5.2)]));
            }
        }
    }

    /// What is drawn here belongs together, and says this to who points at it.
    pub fn told(&mut self, tooltip: impl Display, draw: impl FnOnce(&mut Canvas)) {
        self.put(format_args!("<g><title>{}</title>", Escaped(&tooltip.to_string())));
        draw(self);
        self.put(format_args!("</g>"));
    }

    /// All of this is paler.
    pub fn faint(&mut self, opacity: f64, draw: impl FnOnce(&mut Canvas)) {
        self.put(format_args!("<g opacity=\"{}\">", Number(opacity)));
        draw(self);
        self.put(format_args!("</g>"));
    }

    fn put(&mut self, element: std::fmt::Arguments) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }
}

/// How wide a text is, at most.
pub fn wide(text: &str, size: f64) -> f64 {
    let width = |character: char| match character {
        ' '..='~' => WIDTHS[character as usize - ' ' as usize].into(),
        '\u{2fff}'.. => 140.0,
        _ => 100.0,
    };
    text.chars().map(width).sum::<f64>() * size / 100.0
}

/// The width of the widest of these texts.
pub fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, size: f64) -> f64 {
    texts.into_iter().map(|text| wide(text.as_ref(), size)).fold(0.0, f64::max)
}

/// How high so many lines of text are.
pub fn high(lines: usize, size: f64) -> f64 {
    lines as f64 * size * LEADING
}

/// A text in lines that are no wider than this: broken at spaces, and within words that are too long.
pub fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let space = if line.is_empty() { "" } else { " " };
            if wide(&format!("{line}{space}{word}"), size) <= room {
                line = format!("{line}{space}{word}");
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            for character in word.chars() {
                if !line.is_empty() && wide(&format!("{line}{character}"), size) > room {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(character);
            }
        }
        lines.push(line);
    }
    lines
}

/// The classes of a shape.
fn classes(ink: Ink, shape: Shape) -> String {
    let shape = match shape {
        Shape::Line => "line",
        Shape::Thin => "thin",
        Shape::Ring => "ring",
        Shape::Area => "area",
        Shape::Band => "band",
        Shape::Box => "box",
    };
    format!("{} lg-{shape}", ink.class())
}

/// A number with two decimals, if it has so many. Nothing that is drawn is finer.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let digits = format!("{:.2}", self.0);
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if digits == "-0" { "0" } else { digits })
    }
}

/// Places as SVG has them.
struct Places<'a>(&'a [Place]);

impl Display for Places<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        for (number, (x, y)) in self.0.iter().enumerate() {
            let space = if number == 0 { "" } else { " " };
            write!(f, "{space}{},{}", Number(*x), Number(*y))?;
        }
        Ok(())
    }
}

/// A text as XML has it. XML has no place at all for most control characters.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\n' | '\t' => f.write_char(character)?,
                '\u{0}'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}
