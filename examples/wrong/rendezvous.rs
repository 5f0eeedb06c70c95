//! Two processors send a row to each other, and one of them receives first if it knows that the other sends.
//! Messages of more than S words wait for their receivers, so if it does not know, both wait.

use loggp::{Proc, Tag};

const ROW: Tag<Vec<f64>> = Tag::named(0, "row");
const NOTE: Tag<()> = Tag::named(1, "note");
const GO: Tag<()> = Tag::named(2, "go");

pub(crate) fn program(p: &mut Proc) -> Vec<f64> {
    let row = vec![1.0; 200];
    match p.id() {
        0 => {
            p.send(1, NOTE, ());
            p.send(1, ROW, row);
            p.recv(ROW.from(1))
        }
        1 => {
            p.recv(GO.from(2)); // mostly the note has arrived by then
            if p.try_recv(NOTE.from(0)).is_some() {
                let received = p.recv(ROW.from(0));
                p.send(0, ROW, row);
                return received;
            }
            p.send(0, ROW, row);
            p.recv(NOTE.from(0));
            p.recv(ROW.from(0))
        }
        2 => {
            p.send(1, GO, ());
            Vec::new()
        }
        _ => Vec::new(),
    }
}
