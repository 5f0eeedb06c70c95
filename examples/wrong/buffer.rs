//! Uses a buffer when its request should be done, and does not wait until it is.

use loggp::{Proc, Tag};

const ROW: Tag<f64> = Tag::named(0, "row");
const GO: Tag<()> = Tag::named(1, "go");

pub(crate) fn program(p: &mut Proc) -> Vec<f64> {
    match p.id() {
        0 => {
            let request = p.irecv(ROW.from(1));
            p.recv(GO.from(2)); // mostly the row has arrived by then
            p.work("step", 2, || ());
            match p.test(request) {
                Ok(row) => vec![row],
                Err(request) => {
                    let stale = vec![0.0];
                    p.wait(request);
                    stale
                }
            }
        }
        1 => {
            p.send(0, ROW, 5.0);
            Vec::new()
        }
        2 => {
            p.send(0, GO, ());
            Vec::new()
        }
        _ => Vec::new(),
    }
}
