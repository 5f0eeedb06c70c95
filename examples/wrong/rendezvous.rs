//! Two processors send to each other and then receive: messages of more than S words wait for their receivers.

use loggp::{Proc, Tag};

const ROW: Tag<Vec<f64>> = Tag::named(0, "row");

pub fn program(p: &mut Proc) -> Vec<f64> {
    match p.id() {
        id @ (0 | 1) => {
            p.send(1 - id, ROW, vec![1.0; 200]);
            p.recv_from(1 - id, ROW)
        }
        _ => Vec::new(),
    }
}
