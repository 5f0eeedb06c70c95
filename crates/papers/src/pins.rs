//! Pinned results: what each row came out as when it was last reviewed, in `pins.txt`, at the usual sizes. A
//! row with another result is not as expected, even where it still agrees with the paper. The ignored test
//! `write_pins` writes the file anew.

use super::lab::Lab;
use super::row::ExhibitRow;

/// One line per row: the exhibit's id, the row's subject, and our result.
static PINS: &str = include_str!("pins.txt");

/// Returns the line of a row.
pub fn pin_line(id: &str, row: &ExhibitRow) -> String {
    format!("{id} | {} | {}", row.what, row.ours)
}

/// Compares an exhibit's rows with their pins, and marks those that differ as unexpected. Does nothing for an
/// exhibit without pins, at other sizes or with another seed.
pub fn check_pins(id: &str, rows: &mut [ExhibitRow], lab: &Lab) {
    let pins: Vec<&str> = PINS.lines().filter(|pin| pin.split(" | ").next() == Some(id)).collect();
    if pins.is_empty() || lab.full || lab.seed != 1 {
        return;
    }
    let (count, pinned) = (rows.len(), pins.len());
    for (number, row) in rows.iter_mut().enumerate() {
        let pin = pins.get(number).copied().unwrap_or_default();
        let is_cut_short = number + 1 == count && pinned > count;
        if pin != pin_line(id, row) || is_cut_short {
            row.as_expected = false;
            let was = pin.rsplit(" | ").next().unwrap_or_default();
            row.reason = Some(format!("not as pinned, which is {was}{}", appended(&row.reason)));
        }
    }
}

/// Returns the earlier reason, to be appended.
fn appended(reason: &Option<String>) -> String {
    reason.as_ref().map_or(String::new(), |reason| format!("; {reason}"))
}
