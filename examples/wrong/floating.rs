//! Adds floating point numbers as they arrive: rounding makes the sum depend on the order.

use loggp::{Proc, Tag};

const PART: Tag<f64> = Tag::named(0, "part");

pub(crate) fn program(p: &mut Proc) -> Vec<f64> {
    match p.id() {
        0 => vec![(1..p.P()).map(|_| p.recv(PART)).sum()],
        id => {
            p.send(0, PART, [1e16, 1.0, -1e16][id - 1]);
            Vec::new()
        }
    }
}
