//! A heat map of a communication matrix: a square for each message, whose colour shows its length.

use super::canvas::{
    Anchor, Canvas, MARGIN, NORMAL, SMALL, ShapeStyle, WIDTH, lines_height, text_width, widest,
};
use super::digits::thousands;
use super::palette::{GREY, HEAT, Ink, TEXT};

/// Limit of the number of processors; more would be a blur.
const MOST_PROCESSORS: usize = 512;
/// Least height of a row with its traffic at the side.
const ROW: f64 = 13.0;
/// Width and height of the scale.
const SCALE: (f64, f64) = (360.0, 14.0);
/// Space between names and squares.
const BESIDE: f64 = 6.0;

/// Headings of the sums of the rows, and of those of the columns.
const SENT: &str = "sent";
const RECEIVED: &str = "received";

/// Returns a matrix of P rows, given row by row, as SVG, or an error if there are too many processors.
pub fn heat_map(P: usize, entries: &[usize], title: &str) -> Result<String, String> {
    if P > MOST_PROCESSORS {
        return Err(format!("a heat map shows at most {MOST_PROCESSORS} processors, and there are {P}"));
    }
    let at = |i: usize, j: usize| entries[i * P + j];
    let outgoing = |i: usize| -> usize { (0..P).map(|j| at(i, j)).sum() };
    let incoming = |j: usize| -> usize { (0..P).map(|i| at(i, j)).sum() };
    let longest = entries.iter().copied().max().unwrap_or(0);
    let names: Vec<String> = (0..P).map(|n| format!("P{n}")).collect();
    let outgoing: Vec<String> = (0..P).map(|i| thousands(outgoing(i))).collect();
    let incoming: Vec<String> = (0..P).map(|j| thousands(incoming(j))).collect();

    let mut canvas = Canvas::new(WIDTH);
    let left = MARGIN + text_width("from", NORMAL) + BESIDE + widest(&names, NORMAL) + BESIDE;
    let sums = widest(outgoing.iter().map(String::as_str).chain([SENT]), SMALL) + BESIDE;
    let room = WIDTH - left - sums - MARGIN;
    // A whole number of pixels, since squares with edges between pixels would have seams.
    let cell = (room / P.max(1) as f64).floor().clamp(1.0, 90.0);
    let side = cell * P as f64;
    let has_sums = cell >= ROW;

    let mut top = canvas.draw_head(title, "");
    canvas.draw_text_below(GREY, (left + side / 2.0, top), Anchor::Middle, NORMAL, "to");
    top += 2.0 * lines_height(1, NORMAL) + BESIDE;
    canvas.draw_text(GREY, (MARGIN, top + side / 2.0), Anchor::Start, NORMAL, "from");
    let middle = |n: usize| cell * (n as f64 + 0.5);
    // If squares are small, only some rows and columns have names.
    let step =
        |needed: f64| (0..).map(|power| 1 << power).find(|step| *step as f64 * cell >= needed).unwrap_or(1);
    let column = step(widest(&names, NORMAL) + 6.0);
    for n in (0..P).step_by(step(lines_height(1, NORMAL) - 2.0)) {
        canvas.draw_text(TEXT, (left - BESIDE, top + middle(n)), Anchor::End, NORMAL, &names[n]);
    }
    for n in (0..P).step_by(column) {
        let place = (left + middle(n), top - BESIDE - lines_height(1, NORMAL) / 2.0);
        canvas.draw_text(TEXT, place, Anchor::Middle, NORMAL, &names[n]);
    }
    let mut bottom = top + side + BESIDE;
    if has_sums {
        let right = left + side + BESIDE;
        let above = top - BESIDE - lines_height(1, NORMAL) / 2.0;
        // Right of the last name above a column.
        let last = (P.max(1) - 1) / column * column;
        let name = names.get(last).map_or(0.0, |name| text_width(name, NORMAL));
        let beside = left + cell * (last as f64 + 0.5) + name / 2.0 + 4.0;
        canvas.draw_text(GREY, (right.max(beside), above), Anchor::Start, SMALL, SENT);
        canvas.draw_text_below(GREY, (left - BESIDE, bottom), Anchor::End, SMALL, RECEIVED);
        let is_turned = widest(&incoming, SMALL) + 4.0 > cell;
        for n in 0..P {
            canvas.draw_text(TEXT, (right, top + middle(n)), Anchor::Start, SMALL, &outgoing[n]);
            let x = left + middle(n);
            if is_turned {
                canvas.draw_turned_text(TEXT, (x, bottom), Anchor::End, SMALL, &incoming[n]);
            } else {
                canvas.draw_text_below(TEXT, (x, bottom), Anchor::Middle, SMALL, &incoming[n]);
            }
        }
        bottom += if is_turned { widest(&incoming, SMALL) } else { lines_height(1, SMALL) }
            .max(lines_height(1, SMALL));
    }
    let numbers = entries.iter().filter(|elements| **elements > 0).map(|elements| thousands(*elements));
    let has_numbers = cell >= ROW && widest(numbers, SMALL) + 4.0 <= cell;
    for i in 0..P {
        for j in (0..P).filter(|j| at(i, *j) > 0) {
            let elements = at(i, j);
            let step = scale_step(elements, longest);
            let (x, y) = (left + cell * j as f64, top + cell * i as f64);
            canvas.with_tooltip(format_args!("P{i} to P{j}: {elements}"), |canvas| {
                canvas.draw_rectangle(HEAT[step], ShapeStyle::Area, (x, y), (cell, cell));
                if has_numbers {
                    let place = (x + cell / 2.0, y + cell / 2.0);
                    canvas.draw_text(Ink::on_heat(step), place, Anchor::Middle, SMALL, &thousands(elements));
                }
            });
        }
    }
    let corners =
        [(left, top), (left + side, top), (left + side, top + side), (left, top + side), (left, top)];
    canvas.draw_thin_line(GREY, &corners);
    let end = draw_scale(&mut canvas, (left, bottom + 16.0), longest);
    Ok(canvas.finish(end + MARGIN, title))
}

/// Returns the darkness of a square from 0 to 1, on a logarithmic scale, so that short messages are visible.
fn darkness(elements: usize, longest: usize) -> f64 {
    if longest <= 1 { 0.5 } else { (elements as f64).ln() / (longest as f64).ln() }
}

/// Returns the step of the scale for a number of elements.
fn scale_step(elements: usize, longest: usize) -> usize {
    ((darkness(elements, longest) * HEAT.len() as f64) as usize).min(HEAT.len() - 1)
}

/// Draws the scale of the colours. Returns where it ends.
fn draw_scale(canvas: &mut Canvas, (left, top): (f64, f64), longest: usize) -> f64 {
    let (width, height) = SCALE;
    if longest == 0 {
        canvas.draw_text(TEXT, (left, top + height / 2.0), Anchor::Start, NORMAL, "nobody sends");
        return top + lines_height(1, NORMAL);
    }
    let steps = if longest == 1 { scale_step(1, 1)..scale_step(1, 1) + 1 } else { 0..HEAT.len() };
    let part = width / steps.len() as f64;
    for (number, step) in steps.enumerate() {
        let place = (left + part * number as f64, top);
        canvas.draw_rectangle(HEAT[step], ShapeStyle::Box, place, (part, height));
    }
    let mut marks: Vec<usize> = (0..=longest.ilog10()).map(|power| 10_usize.pow(power)).collect();
    if !marks.contains(&longest) {
        marks.insert(0, longest);
    }
    // The longest is first, so that it always has its number.
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for mark in marks {
        let (x, half) = (left + width * darkness(mark, longest), text_width(&thousands(mark), NORMAL) / 2.0);
        if taken.iter().all(|(from, to)| x + half + 6.0 < *from || *to + 6.0 < x - half) {
            canvas.draw_text_below(TEXT, (x, top + height + 4.0), Anchor::Middle, NORMAL, &thousands(mark));
            taken.push((x - half, x + half));
        }
    }
    let below = top + height + 4.0 + lines_height(1, NORMAL);
    let note = "elements of a message; where nothing is sent, no colour";
    canvas.draw_text_below(GREY, (left, below), Anchor::Start, NORMAL, note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_map_shows_every_message_and_all_traffic() {
        let svg = heat_map(2, &[0, 17, 4, 1], "a < b & c").unwrap();
        assert_eq!(svg.matches("<title>").count(), 4); // with that of the picture
        assert!(svg.contains("P0 to P1: 17") && svg.contains("a &lt; b &amp; c"));
        assert!([">17<", ">5<", ">4<", ">18<"].iter().all(|number| svg.contains(number)));
        // The shortest is in the first step of the scale, and the longest in the last.
        let square = |step: usize| format!("<rect class=\"{} lg-area\"", HEAT[step].class());
        assert_eq!(svg.matches(&square(0)).count(), 1);
        assert_eq!(svg.matches(&square(HEAT.len() - 1)).count(), 1);
    }

    #[test]
    fn heat_map_refuses_too_many_processors() {
        assert!(heat_map(513, &[], "").unwrap_err().contains("at most 512 processors"));
        assert!(heat_map(512, &vec![0; 512 * 512], "").unwrap().contains("nobody sends"));
    }
}
