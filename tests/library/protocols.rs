//! Checks of protocols whose mistakes show only when several messages are late together.

use loggp::{Check, Checked, Machine, Params, Proc, Strategy, Tag, US};

/// What a processor returns.
type Returned = Vec<usize>;

/// A timestamp, with which its value is known; or nothing, for a question.
const ASK: Tag<Option<usize>> = Tag::named(0, "ask");
const ANSWER: Tag<usize> = Tag::named(1, "answer");
const NEXT: Tag<usize> = Tag::named(2, "next");

/// Writes and reads of each replica's register before the second reader has read it, without those of the first reader.
const WRITES: usize = 2;

/// Asks all replicas, and returns the latest of what a majority answers.
fn ask(p: &mut Proc, what: Option<usize>, late: &mut usize) -> usize {
    let replicas = 3..p.p();
    let majority = replicas.len() / 2 + 1;
    replicas.clone().for_each(|replica| p.send(replica, ASK, what));
    // An answer to an earlier question is none to this one: each replica answers in turn, so it is not counted.
    let mut answers = vec![0_usize; p.p()];
    let mut latest = 0;
    *late += replicas.len();
    while answers.iter().filter(|n| **n > 0).count() < majority {
        let (from, timestamp) = p.recv(ANSWER);
        *late -= 1;
        answers[from] += 1;
        latest = latest.max(timestamp);
    }
    latest
}
