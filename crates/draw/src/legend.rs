//! The legend of a picture, in columns.

use super::canvas::{Anchor, Canvas, MARGIN, NORMAL, Position, ShapeStyle, lines_height, text_width, wrap};
use super::palette::{Ink, TEXT};

/// Width of a sample, and the space between it and its text.
const SAMPLE: f64 = 32.0;
const SPACE: f64 = 8.0;
/// Spaces between columns, and between rows.
const BETWEEN: f64 = 20.0;
const ROW: f64 = 5.0;

/// A function that draws a sample between a left end and a right one.
type DrawSample<'a> = Box<dyn Fn(&mut Canvas, Position, Position) + 'a>;

/// An entry of a legend.
pub(crate) struct LegendEntry<'a> {
    pub label: String,
    pub sample: DrawSample<'a>,
}

impl<'a> LegendEntry<'a> {
    /// Creates an entry with this sample.
    pub(crate) fn new(label: &str, sample: impl Fn(&mut Canvas, Position, Position) + 'a) -> LegendEntry<'a> {
        LegendEntry { label: label.into(), sample: Box::new(sample) }
    }

    /// Creates an entry for a colour.
    pub(crate) fn for_ink(label: &str, ink: Ink) -> LegendEntry<'a> {
        LegendEntry::new(label, move |canvas, _, (right, y)| {
            canvas.draw_rectangle(ink, ShapeStyle::Box, (right - 18.0, y - 6.0), (18.0, 12.0));
        })
    }
}

/// Draws a legend below `top`. Returns where it ends.
pub(crate) fn draw_legend(canvas: &mut Canvas, top: f64, entries: &[LegendEntry]) -> f64 {
    let room = canvas.width - 2.0 * MARGIN;
    // A text that is wider than the picture is wrapped.
    let text = |entry: &LegendEntry| text_width(&entry.label, NORMAL).min(room - SAMPLE - SPACE);
    // Right ends of the columns, if there are so many.
    let ends = |columns: usize| -> Vec<f64> {
        let widest = |column| entries.iter().skip(column).step_by(columns).map(text).fold(0.0, f64::max);
        let mut end = 0.0;
        let add_column = |column| {
            end += SAMPLE + SPACE + widest(column) + BETWEEN;
            end
        };
        (0..columns).map(add_column).collect()
    };
    let fits = |columns: &usize| ends(*columns).last().is_none_or(|end| end - BETWEEN <= room);
    let most = (1..=entries.len()).rev().find(fits).unwrap_or(1);
    // The least number of rows, and no more columns than fill them.
    let rows = entries.len().div_ceil(most).max(1);
    let columns = (entries.len().div_ceil(rows).max(1)..=most).find(fits).unwrap_or(1);
    let ends = ends(columns);
    let mut y = top;
    for row in entries.chunks(ends.len()) {
        let mut bottom = y;
        for (number, entry) in row.iter().enumerate() {
            let x = MARGIN + if number == 0 { 0.0 } else { ends[number - 1] };
            let middle = y + lines_height(1, NORMAL) / 2.0;
            (entry.sample)(canvas, (x, middle), (x + SAMPLE, middle));
            let lines = wrap(&entry.label, NORMAL, text(entry));
            let place = (x + SAMPLE + SPACE, y);
            bottom = bottom.max(canvas.draw_lines(TEXT, place, Anchor::Start, NORMAL, &lines));
        }
        y = bottom + ROW;
    }
    y
}
