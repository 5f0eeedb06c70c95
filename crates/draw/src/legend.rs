//! The legend of a picture: what each look stands for, in columns.

use super::canvas::{Anchor, Canvas, MARGIN, NORMAL, Place, Shape, high, wide, wrap};
use super::palette::{Ink, TEXT};

/// The width of a sample, and the room between it and its text.
const SAMPLE: f64 = 32.0;
const SPACE: f64 = 8.0;
/// The room between columns, and between rows.
const BETWEEN: f64 = 20.0;
const ROW: f64 = 5.0;

/// Draws something between a left end and a right one.
type Sample<'a> = Box<dyn Fn(&mut Canvas, Place, Place) + 'a>;

/// An entry of a legend.
pub struct Entry<'a> {
    /// What the look stands for.
    pub label: String,
    /// Draws a sample between these two ends.
    pub sample: Sample<'a>,
}

impl Entry<'static> {
    /// What a colour stands for.
    pub fn of(label: &str, ink: Ink) -> Entry<'static> {
        let sample = move |canvas: &mut Canvas, _, (right, y): Place| {
            canvas.rectangle(ink, Shape::Box, (right - 18.0, y - 6.0), (18.0, 12.0));
        };
        Entry { label: label.into(), sample: Box::new(sample) }
    }
}

/// Draws a legend from here down; says where it ends.
pub fn legend(canvas: &mut Canvas, top: f64, entries: &[Entry]) -> f64 {
    let room = canvas.width() - 2.0 * MARGIN;
    // A text that is wider than the picture is broken.
    let text = |entry: &Entry| wide(&entry.label, NORMAL).min(room - SAMPLE - SPACE);
    // How far the columns reach, if there are so many.
    let ends = |columns: usize| -> Vec<f64> {
        let widest = |column| entries.iter().skip(column).step_by(columns).map(text).fold(0.0, f64::max);
        let widths = (0..columns).map(|column| SAMPLE + SPACE + widest(column) + BETWEEN);
        widths
            .scan(0.0, |end, width| {
                *end += width;
                Some(*end)
            })
            .collect()
    };
    let fits = |columns: &usize| ends(*columns).last().is_none_or(|end| end - BETWEEN <= room);
    let most = (1..=entries.len()).rev().find(fits).unwrap_or(1);
    // As many rows as are needed, and no more columns than fill them.
    let rows = entries.len().div_ceil(most).max(1);
    let columns = (entries.len().div_ceil(rows).max(1)..=most).find(fits).unwrap_or(1);
    let ends = ends(columns);
    let mut y = top;
    for row in entries.chunks(ends.len()) {
        let mut bottom = y;
        for (number, entry) in row.iter().enumerate() {
            let x = MARGIN + if number == 0 { 0.0 } else { ends[number - 1] };
            let middle = y + high(1, NORMAL) / 2.0;
            (entry.sample)(canvas, (x, middle), (x + SAMPLE, middle));
            let lines = wrap(&entry.label, NORMAL, text(entry));
            let place = (x + SAMPLE + SPACE, y);
            bottom = bottom.max(canvas.lines(TEXT, place, Anchor::Start, NORMAL, &lines));
        }
        y = bottom + ROW;
    }
    y
}
