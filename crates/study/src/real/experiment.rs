//! What is measured: the same program on a real machine and, to see what parameters say of it, on the virtual clock.

use std::collections::VecDeque;
use std::sync::Arc;

use loggp::collectives::Shift;
use loggp::{Proc, Tag, Time};

/// Messages of one length, in one state of the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// The length, in bytes.
    pub bytes: usize,
    /// Whether no buffer is in the caches. If not, each was written just before, as a program's data are.
    pub cold: bool,
}

/// What was measured: each list has a time for each repetition.
pub type Times = [Vec<Time>; 4];
/// How long the call of a send takes.
pub const CALL: usize = 0;
/// Half of a round trip.
pub const WAY: usize = 1;
/// From one message of a flood to the next, in which one sends and the other receives.
pub const FLOOD: usize = 2;
/// From one exchange to the next, in which both send at once, and both receive.
pub const EXCHANGE: usize = 3;

/// From so many bytes on a message is a long one: it is sent from where it lies, and a few repetitions say enough.
pub const LONG: usize = 4 << 10;
/// So much is written just before it is sent. It stays in the caches of one core.
const WRITTEN: usize = 256 << 10;
/// The caches of a core have room for less than this.
const CACHES: usize = 64 << 20;

/// Messages, and what comes back.
const DATA: Tag<Arc<Vec<u8>>> = Tag::named(0, "data");
/// All messages of a flood were received.
const DONE: Tag<()> = Tag::named(1, "done");

/// The memory from which a process sends, and into which it has received.
struct Buffers {
    sent: Vec<Arc<Vec<u8>>>,
    /// What was received last: none of it is received into again until all else was.
    kept: VecDeque<Arc<Vec<u8>>>,
    next: usize,
}

impl Buffers {
    fn of(experiment: Experiment) -> Buffers {
        let Experiment { bytes, cold } = experiment;
        let some = |n: usize| (0..n).map(move |_| Arc::new(vec![1; bytes]));
        let n = if cold { CACHES / bytes } else { experiment.messages() };
        Buffers { sent: some(n).collect(), kept: some(if cold { n } else { 0 }).collect(), next: 0 }
    }

    /// Writes all that will be sent, unless it shall be cold.
    fn write(&mut self) {
        if self.kept.is_empty() {
            let free = self.sent.iter_mut().filter_map(Arc::get_mut);
            free.for_each(|data| data.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1)));
        }
    }

    fn next(&mut self) -> Arc<Vec<u8>> {
        self.next = (self.next + 1) % self.sent.len();
        self.sent[self.next].clone()
    }

    fn keep(&mut self, data: Arc<Vec<u8>>) {
        if !self.kept.is_empty() {
            self.kept.push_back(data);
            self.kept.pop_front();
        }
    }
}

impl Experiment {
    /// How many messages a flood has, and how many exchanges follow one another.
    pub fn messages(self) -> usize {
        (WRITTEN / self.bytes).clamp(2, 64)
    }

    /// What processor 0 and another measure of these, in so many repetitions, after some that do not count.
    pub fn run(self, p: &mut Proc, other: usize, which: &[usize], skipped: usize, repeats: usize) -> Times {
        let messages = self.messages();
        let mut times = Times::default();
        let mut buffers = Buffers::of(self);
        let words = p.params().words(self.bytes);
        let me = p.id();
        for &experiment in which {
            for repeat in 0..skipped + repeats {
                buffers.write();
                p.barrier();
                let start = p.now();
                let mut call = Time::ZERO;
                match (me, experiment) {
                    (0, WAY) => {
                        p.send(other, DATA, buffers.next());
                        call = p.now() - start;
                        buffers.keep(p.recv_from(other, DATA));
                    }
                    (_, WAY) if me == other => {
                        buffers.keep(p.recv_from(0, DATA));
                        p.send(0, DATA, buffers.next());
                    }
                    (0, FLOOD) => {
                        (0..messages).for_each(|_| p.send(other, DATA, buffers.next()));
                        p.recv_from(other, DONE);
                    }
                    (_, FLOOD) if me == other => {
                        (0..messages).for_each(|_| buffers.keep(p.recv_from(0, DATA)));
                        p.send(0, DONE, ());
                    }
                    (_, EXCHANGE) if me == 0 || me == other => {
                        let other = other - me;
                        for _ in 0..messages {
                            let shift = Shift { to: other, value: buffers.next(), from: other };
                            p.exchange(DATA, words, [shift], |_, data| buffers.keep(data));
                        }
                    }
                    _ => (),
                }
                if repeat >= skipped {
                    let steps = if experiment == WAY { 2 } else { messages };
                    times[experiment].push((p.now() - start) / steps as i64);
                    if experiment == WAY {
                        times[CALL].push(call);
                    }
                }
            }
        }
        times
    }
}
