//! A master counts messages where it should count workers: two messages may be from one worker.

use loggp::{Proc, Tag};

const READY: Tag<()> = Tag::named(0, "ready");

pub(crate) fn program(p: &mut Proc) -> Vec<f64> {
    match p.id() {
        0 => {
            let mut ready = vec![0.0; p.P()];
            for _ in 0..2 {
                ready[p.recv_with_sender(READY).0] = 1.0; // assumes that both workers are ready
            }
            p.recv(READY);
            ready
        }
        1 => {
            p.send(0, READY, ());
            p.send(0, READY, ()); // is still ready
            Vec::new()
        }
        2 => {
            p.send(0, READY, ());
            Vec::new()
        }
        _ => Vec::new(),
    }
}
