//! The measured program. It runs on the real machine, and on the virtual clock for the predictions.

use std::collections::VecDeque;
use std::iter::{once, successors};
use std::sync::Arc;

use loggp::collectives::Shift;
use loggp::{Proc, Tag, Time};

/// Messages of one length, in one state of the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageExperiment {
    /// Length in bytes.
    pub bytes: usize,
    /// True if no buffer is in the caches. If false, each was written just before, as a program's data are.
    pub cold: bool,
    /// Limit of the messages of a flood.
    pub most: usize,
}

/// The measured times by kind: each list has a time for each repetition.
pub(super) type ExperimentTimes = [Vec<Time>; 4];
/// Time of the call of a send.
pub const CALL: usize = 0;
/// Half of a round trip.
pub const WAY: usize = 1;
/// Time per message of a flood, in which one processor sends and the other receives.
pub const FLOOD: usize = 2;
/// Time per exchange, in which both processors send at once, and both receive.
pub const EXCHANGE: usize = 3;

/// Bytes from which on a message is long: it is sent from where it lies, and a few repetitions are enough.
pub const LONG: usize = 4 << 10;
/// Bytes that are written just before they are sent. They stay in the caches of one core.
const WRITTEN: usize = 256 << 10;
/// Limit of the messages of a flood, unless there is too little time.
pub(super) const MESSAGES: usize = 64;
/// Bytes of the longest message.
const LONGEST: usize = 16 << 20;
/// Bytes that exceed the caches of a core.
const CACHES: usize = 64 << 20;

/// Messages and answers.
const DATA: Tag<Arc<Vec<u8>>> = Tag::named(0, "data");
/// Sent when all messages of a flood were received.
const DONE: Tag<()> = Tag::named(1, "done");

/// The memory from which a process sends, and into which it has received.
struct Buffers {
    sent: Vec<Arc<Vec<u8>>>,
    /// Data received last: a buffer is not received into again until all others were.
    received: VecDeque<Arc<Vec<u8>>>,
    next: usize,
}

impl Buffers {
    fn new(experiment: MessageExperiment) -> Buffers {
        let MessageExperiment { bytes, cold, .. } = experiment;
        let some = |n: usize| (0..n).map(move |_| Arc::new(vec![1; bytes]));
        let n = if cold { CACHES / bytes } else { experiment.messages() };
        Buffers { sent: some(n).collect(), received: some(if cold { n } else { 0 }).collect(), next: 0 }
    }

    /// Writes all data that will be sent, unless they shall be cold.
    fn write(&mut self) {
        if self.received.is_empty() {
            let free = self.sent.iter_mut().filter_map(Arc::get_mut);
            free.for_each(|data| data.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1)));
        }
    }

    fn next(&mut self) -> Arc<Vec<u8>> {
        self.next = (self.next + 1) % self.sent.len();
        self.sent[self.next].clone()
    }

    fn keep(&mut self, data: Arc<Vec<u8>>) {
        if !self.received.is_empty() {
            self.received.push_back(data);
            self.received.pop_front();
        }
    }
}

/// Returns all experiments. A short message is written when it is sent, and never cold.
pub(super) fn experiments() -> impl Iterator<Item = MessageExperiment> {
    let doubled = || successors(Some(1), |bytes| Some(2 * bytes)).take_while(|n| *n < LONGEST);
    let lengths = || once(1).chain(doubled().flat_map(|n| [2 * n, 3 * n])).filter(|n| *n <= LONGEST);
    let warm = lengths().map(MessageExperiment::written);
    warm.chain(lengths().filter(|bytes| *bytes >= LONG).map(MessageExperiment::cold))
}

impl MessageExperiment {
    /// Creates the experiment with messages that were written just before.
    pub fn written(bytes: usize) -> MessageExperiment {
        MessageExperiment { bytes, cold: false, most: MESSAGES }
    }

    /// Creates the experiment with messages that are in no cache.
    fn cold(bytes: usize) -> MessageExperiment {
        MessageExperiment { cold: true, ..MessageExperiment::written(bytes) }
    }

    /// Returns whether the parameters are fitted to the experiment; if not, the experiment tests the
    /// parameters.
    pub(super) fn is_fitted(self) -> bool {
        self.bytes.is_power_of_two() && !self.cold
    }

    /// Returns the number of messages of a flood, and of exchanges in a row.
    pub fn messages(self) -> usize {
        (WRITTEN / self.bytes).clamp(2, self.most)
    }

    /// Measures these kinds of times between processor 0 and another. The first `skipped` repetitions do not
    /// count.
    pub fn run(
        self,
        p: &mut Proc,
        other: usize,
        which: &[usize],
        skipped: usize,
        repeats: usize,
    ) -> ExperimentTimes {
        let messages = self.messages();
        let mut times = ExperimentTimes::default();
        let mut buffers = Buffers::new(self);
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
                        buffers.keep(p.recv(DATA.from(other)));
                    }
                    (_, WAY) if me == other => {
                        buffers.keep(p.recv(DATA.from(0)));
                        p.send(0, DATA, buffers.next());
                    }
                    (0, FLOOD) => {
                        (0..messages).for_each(|_| p.send(other, DATA, buffers.next()));
                        p.recv(DONE.from(other));
                    }
                    (_, FLOOD) if me == other => {
                        (0..messages).for_each(|_| buffers.keep(p.recv(DATA.from(0))));
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
