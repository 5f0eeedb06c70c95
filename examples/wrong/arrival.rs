//! Assumes that messages arrive in the order in which they were sent.

use loggp::{Proc, Tag};

const PART: Tag<f64> = Tag::named(0, "part");

pub(crate) fn program(p: &mut Proc) -> Vec<f64> {
    match p.id() {
        0 => (1..p.P()).map(|_| p.recv(PART)).collect(), // the first is not always that of processor 1
        id => {
            p.send(0, PART, id as f64);
            Vec::new()
        }
    }
}
