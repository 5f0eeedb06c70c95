//! Grants a lock to the processor that asks first. Processor 2 waits for a note of processor 1: if it gets
//! the lock first, all wait.

use loggp::{Proc, Tag};

const ASK: Tag<()> = Tag::named(0, "ask");
const GRANT: Tag<()> = Tag::named(1, "grant");
const DONE: Tag<()> = Tag::named(2, "done");
const NOTE: Tag<f64> = Tag::named(3, "note");

pub(crate) fn program(p: &mut Proc) -> Vec<f64> {
    match p.id() {
        0 => {
            for _ in 0..2 {
                let (holder, ()) = p.recv_with_sender(ASK);
                p.send(holder, GRANT, ());
                p.recv(DONE.from(holder));
            }
            Vec::new()
        }
        id @ (1 | 2) => {
            p.send(0, ASK, ());
            p.recv(GRANT.from(0));
            let mut note = Vec::new();
            match id {
                1 => p.send(2, NOTE, 7.0),
                _ => note.push(p.recv(NOTE.from(1))),
            }
            p.send(0, DONE, ());
            note
        }
        _ => Vec::new(),
    }
}
