//! A master counts messages where it should count workers: two messages of one are not the workers.

use loggp::{Proc, Tag};

const READY: Tag<()> = Tag::named(0, "ready");

pub fn program(p: &mut Proc) -> Vec<f64> {
    match p.id() {
        0 => {
            let mut ready = vec![0.0; p.p()];
            for _ in 0..2 {
                ready[p.recv(READY).0] = 1.0; // both workers are ready, it believes
            }
            p.recv(READY);
            ready
        }
        1 => {
            p.send(0, READY, ());
            p.send(0, READY, ()); // still is
            Vec::new()
        }
        2 => {
            p.send(0, READY, ());
            Vec::new()
        }
        _ => Vec::new(),
    }
}
