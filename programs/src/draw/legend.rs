//! The legend of a picture: what each look stands for, in columns.

use super::canvas::{Anchor, Canvas, MARGIN, NORMAL, Place, Shape, high, widest, wrap};
use super::palette::{Ink, TEXT};

/// The width of a sample, and the room between it and its text.
const SAMPLE: f64 = 32.0;
const SPACE: f64 = 8.0;
/// The room between columns, and between rows.
const BETWEEN: f64 = 20.0;
const ROW: f64 = 5.0;

/// An entry of a legend.
pub struct Entry<'a> {
    /// What the look stands for.
    pub label: String,
    /// Draws a sample between these two ends.
    pub sample: Box<dyn Fn(&mut Canvas, Place, Place) + 'a>,
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
    let widest = widest(entries.iter().map(|entry| entry.label.as_str()), NORMAL);
    let text = widest.min(room - SAMPLE - SPACE);
    let column = SAMPLE + SPACE + text;
    let most = (((room + BETWEEN) / (column + BETWEEN)) as usize).max(1);
    // As many rows as are needed, and no more columns than fill them.
    let rows = entries.len().div_ceil(most).max(1);
    let columns = entries.len().div_ceil(rows).max(1);
    let mut y = top;
    for row in entries.chunks(columns) {
        let mut bottom = y;
        for (number, entry) in row.iter().enumerate() {
            let x = MARGIN + number as f64 * (column + BETWEEN);
            let middle = y + high(1, NORMAL) / 2.0;
            (entry.sample)(canvas, (x, middle), (x + SAMPLE, middle));
            let lines = wrap(&entry.label, NORMAL, text);
            let place = (x + SAMPLE + SPACE, y);
            bottom = bottom.max(canvas.lines(TEXT, place, Anchor::Start, NORMAL, &lines));
        }
        y = bottom + ROW;
    }
    y
}
