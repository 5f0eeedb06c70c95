//! Pinned results: what each row came out as when it was last reviewed, in a paper's `pins.txt` at the usual
//! sizes and in its `pins-full.txt` at the paper's own. A row with another result is not as expected, even
//! where it still agrees with the paper. The ignored test `write_pins` writes the files anew.

use super::PAPERS;
use super::lab::Lab;
use super::row::ExhibitRow;

/// Returns the line of a row.
pub(crate) fn pin_line(id: &str, row: &ExhibitRow) -> String {
    format!("{id} | {} | {}", row.what, row.ours)
}

/// Compares an exhibit's rows with their pins, and marks those that differ as unexpected. Does nothing for an
/// exhibit without pins, or with another seed.
pub(crate) fn check_pins(id: &str, rows: &mut [ExhibitRow], lab: &Lab) {
    let all = PAPERS.iter().flat_map(|paper| paper.pins[usize::from(lab.full)].lines());
    let pins: Vec<&str> = all.filter(|pin| pin.split(" | ").next() == Some(id)).collect();
    if pins.is_empty() || lab.seed != 1 {
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
