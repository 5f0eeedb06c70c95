//! Sends a count and numbers with the same tag, so a number that overtakes the count is taken for it.

use loggp::{Proc, Tag};

const NUMBER: Tag<f64> = Tag::named(0, "number");

pub(crate) fn program(p: &mut Proc) -> Vec<f64> {
    match p.id() {
        0 => {
            let count = p.recv(NUMBER.from(1)) as usize;
            (0..count).map(|_| p.recv(NUMBER.from(1))).collect()
        }
        1 => {
            [2.0, 1.0, 1.0].into_iter().for_each(|number| p.send(0, NUMBER, number));
            Vec::new()
        }
        _ => Vec::new(),
    }
}
