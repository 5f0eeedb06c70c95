//! Adds the messages of each of two rounds, though a message of the second round can arrive in the first.

use loggp::{Proc, Tag};

const PART: Tag<f64> = Tag::named(0, "part");

pub(crate) fn program(p: &mut Proc) -> Vec<f64> {
    match p.id() {
        0 => {
            let round = |p: &mut Proc| (1..p.P()).map(|_| p.recv(PART)).sum();
            vec![round(p), round(p)]
        }
        id => {
            p.send(0, PART, id as f64);
            p.send(0, PART, 10.0 * id as f64);
            Vec::new()
        }
    }
}
