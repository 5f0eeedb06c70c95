//! What each row came out as when somebody looked at it last: `pins.txt`, at the usual sizes. A row that comes out otherwise is not as
//! expected, even where it still agrees. The ignored test `the_pins_are_written` writes them anew.

use super::lab::Lab;
use super::row::Row;

/// A line for each row: the exhibit's id, what the row is about, and what is ours.
static PINS: &str = include_str!("pins.txt");

/// The line of a row.
pub fn line(id: &str, row: &Row) -> String {
    format!("{id} | {} | {}", row.what, row.ours)
}

/// Looks whether an exhibit's rows came out as they are pinned. One that has no pins yet is not looked at, nor are other sizes and
/// other data.
pub fn check(id: &str, rows: &mut [Row], lab: &Lab) {
    let pins: Vec<&str> = PINS.lines().filter(|pin| pin.split(" | ").next() == Some(id)).collect();
    if pins.is_empty() || lab.full || lab.seed != 1 {
        return;
    }
    let (count, pinned) = (rows.len(), pins.len());
    for (number, row) in rows.iter_mut().enumerate() {
        let pin = pins.get(number).copied().unwrap_or_default();
        let is_cut_short = number + 1 == count && pinned > count;
        if pin != line(id, row) || is_cut_short {
            row.as_expected = false;
            let was = pin.rsplit(" | ").next().unwrap_or_default();
            row.reason = Some(format!("not as pinned, which is {was}{}", also(&row.reason)));
        }
    }
}

/// What stood there before.
fn also(reason: &Option<String>) -> String {
    reason.as_ref().map_or(String::new(), |reason| format!("; {reason}"))
}
