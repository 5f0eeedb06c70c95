//! Two processors send a row to each other, and one of them receives first if it knows that the other sends: messages of more
//! than S words wait for their receivers, and if it does not know, both wait.

use loggp::{Proc, Tag};

const ROW: Tag<Vec<f64>> = Tag::named(0, "row");
const NOTE: Tag<()> = Tag::named(1, "note");
const GO: Tag<()> = Tag::named(2, "go");

pub fn program(p: &mut Proc) -> Vec<f64> {
    let row = vec![1.0; 200];
    match p.id() {
        0 => {
            p.send(1, NOTE, ());
            p.send(1, ROW, row);
            p.recv_from(1, ROW)
        }
        1 => {
            p.recv_from(2, GO); // by then the note has come, mostly
            if p.try_recv_from(0, NOTE).is_some() {
                let received = p.recv_from(0, ROW);
                p.send(0, ROW, row);
                return received;
            }
            p.send(0, ROW, row);
            p.recv_from(0, NOTE);
            p.recv_from(0, ROW)
        }
        2 => {
            p.send(1, GO, ());
            Vec::new()
        }
        _ => Vec::new(),
    }
}
