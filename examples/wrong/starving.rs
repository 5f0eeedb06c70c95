//! Looks for messages of one sender first and serves four: the other sender is served only if the first
//! pauses.

use loggp::{Proc, Tag};

const ASK: Tag<()> = Tag::named(0, "ask");

pub(crate) fn program(p: &mut Proc) -> Vec<f64> {
    match p.id() {
        0 => {
            let mut served = Vec::new();
            while served.len() < 5 {
                let from = [1, 2].into_iter().find(|from| p.try_recv(ASK.from(*from)).is_some());
                served.extend(from);
            }
            served.truncate(4); // the fifth message comes too late
            vec![served.iter().filter(|from| **from == 2).count() as f64]
        }
        1 => {
            (0..4).for_each(|_| p.send(0, ASK, ()));
            Vec::new()
        }
        2 => {
            p.send(0, ASK, ());
            Vec::new()
        }
        _ => Vec::new(),
    }
}
