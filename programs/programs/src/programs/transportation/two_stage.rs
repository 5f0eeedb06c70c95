//! The two-stage algorithm: every message goes in p parts by p intermediate processors (section 7).

use loggp::Proc;
use loggp::collectives::{all_reduce_vector, exclusive_scan, scan_vector};

use super::arrival::{Arrival, Source};
use super::linear::receive_vector;
use super::packet::{Packet, Padding, Piece, Slice};
use super::schedule::Schedule;
use super::split::{Scheme, Split, one_after_another, shuffled};

/// Its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoStage {
    /// Where round robins begin.
    pub scheme: Scheme,
    /// Whether the first stage's messages are shuffled (appendix).
    pub shuffled: bool,
    /// Whether only what is not empty is counted and sent (section 7.3).
    pub sparse: bool,
    /// How messages are sent in the first stage.
    pub stage1: Schedule,
}

/// A part at its intermediate, or at its destination: whose it is, the how manieth of its message, and its elements.
type Known = (usize, usize, Slice);

impl TwoStage {
    /// Section 7.
    pub const PLAIN: TwoStage =
        TwoStage { scheme: Scheme::Local, shuffled: false, sparse: false, stage1: Schedule::Linear };

    /// How messages are padded: in the first stage where none has more than so many elements, in the second one with so many.
    pub fn padding(&self, P: usize, elements: usize) -> Padding {
        if self.sparse { Padding::least(P, elements) } else { Padding::all(P) }
    }

    /// The array that undoes the shuffling: it has an entry for each part that is not empty.
    pub fn order(&self, P: usize, elements: usize) -> Option<Padding> {
        self.shuffled.then_some(Padding::least(P, elements))
    }

    /// The longest message that a source sends in the first stage, if the most that one sends is r.
    pub fn longest1(&self, P: usize, r: usize) -> usize {
        match self.scheme {
            Scheme::Local | Scheme::Scan => r.div_ceil(P),
            // Each destination may have its round robin begin at the same intermediate.
            Scheme::Alternate | Scheme::Combine => r,
        }
    }

    /// Whether processors are out of step after their local work, and wait for each other before a stage begins.
    pub fn waits(&self) -> bool {
        self.scheme != Scheme::Local || self.sparse
    }

    /// Where the round robin of each destination begins in this processor.
    fn begins(&self, p: &mut Proc, sendl: &[usize]) -> Vec<usize> {
        let P = p.p() as u32;
        let remainders = || sendl.iter().map(|elements| *elements as u32 % P).collect::<Vec<u32>>();
        let add = |a: u32, b: u32| (a + b) % P;
        match self.scheme {
            Scheme::Local => one_after_another(sendl, 0),
            Scheme::Scan => {
                let traffic = sendl.iter().map(|elements| elements % P as usize).sum::<usize>() as u32 % P;
                let first = exclusive_scan(p, traffic, add).unwrap_or(0);
                one_after_another(sendl, first as usize)
            }
            Scheme::Alternate => begins_after(&remainders(), &scan_vector(p, remainders(), add)),
            Scheme::Combine => {
                let incoming = all_reduce_vector(p, remainders(), add);
                let incoming: Vec<usize> = incoming.into_iter().map(|elements| elements as usize).collect();
                let begins = begins_after(&remainders(), &scan_vector(p, remainders(), add));
                let first = one_after_another(&incoming, 0);
                begins.iter().zip(first).map(|(one, other)| (one + other) % P as usize).collect()
            }
        }
    }
}

/// Where round robins begin after all processors before this one: what the inclusive scan says, less its own elements.
/// (Figure 12 takes the scan as it is; then the elements of two sources would overlap.)
fn begins_after(own: &[u32], scanned: &[u32]) -> Vec<usize> {
    let P = own.len();
    own.iter().zip(scanned).map(|(own, sum)| (*sum as usize + P - *own as usize) % P).collect()
}

/// What each processor does. Its phases are preprocessing and communication of the first stage, and of the second.
pub fn two_stage(p: &mut Proc, form: &TwoStage, source: Source) -> Arrival {
    let (i, P) = (p.id(), p.p());
    let Source { sendl, elements, r, seed } = source;
    let mut arrival = Arrival::default();
    let mut rng = fastrand::Rng::with_seed(seed ^ (i as u64).rotate_left(40));

    // As source: which part goes by whom. `by[k]` is the intermediate of message k, and `of[q]` the message of q.
    let begins = form.begins(p, &sendl);
    let splitting = || Split::new(&sendl, &begins);
    let split = match form.sparse {
        true => {
            let split = splitting();
            p.work("part", split.count() as u64, || split)
        }
        false => p.work("part", (P * P) as u64, splitting),
    };
    let lengths = split.lengths();
    let by = match form.shuffled {
        true => p.work("part", P as u64, || shuffled(&lengths, &mut rng)),
        false => (0..P).collect(),
    };
    let mut of = vec![0; P];
    by.iter().enumerate().for_each(|(k, q)| of[*q] = k);
    let lengths: Vec<usize> = of.iter().map(|k| lengths[*k]).collect();
    arrival.parts = of.iter().map(|k| parts(&split, *k)).collect();
    if form.waits() {
        p.barrier();
    }
    arrival.ends.push(p.now());

    // Stage 1.
    let longest = form.longest1(P, r);
    let (padding, order) = (form.padding(P, longest), form.order(P, longest));
    let mut came: Vec<Vec<Piece>> = vec![Vec::new(); P];
    let recvl = receive_vector(p, &lengths);
    let message =
        |q: usize| Packet::of(split.message(of[q], order.map(|_| of[q]), &elements), padding, order);
    let receives = |from: usize, packet: Packet| came[from] = packet.open(|_| padding);
    arrival.counts = form.stage1.send(p, 0, seed, &lengths, &recvl, message, receives);
    arrival.lengths.push(lengths);
    arrival.ends.push(p.now());

    // As intermediate: which part goes to whom (figure 10).
    let parts = if form.sparse { came.iter().map(Vec::len).sum() } else { P * P };
    let mut going: Vec<Vec<Piece>> = p.work("part", parts as u64, || {
        let mut going: Vec<Vec<Piece>> = vec![Vec::new(); P];
        for (from, parts) in came.into_iter().enumerate() {
            parts.into_iter().for_each(|part| going[part.whose].push(Piece { whose: from, ..part }));
        }
        going
    });
    let count = |parts: &Vec<Piece>| parts.iter().map(|part| part.slice.len()).sum();
    let lengths: Vec<usize> = going.iter().map(count).collect();
    if form.sparse {
        p.barrier();
    }
    arrival.ends.push(p.now());

    // Stage 2.
    let mut came: Vec<Known> = Vec::new();
    let recvl = receive_vector(p, &lengths);
    let message = |j: usize| {
        let elements = lengths[j];
        Packet::of(std::mem::take(&mut going[j]), form.padding(P, elements), form.order(P, elements))
    };
    let receives = |from: usize, packet: Packet| {
        let parts = packet.open(|elements| form.padding(P, elements));
        came.extend(parts.into_iter().map(|part| (part.whose, part.place.unwrap_or(from), part.slice)));
    };
    Schedule::Linear.send(p, 1, seed, &lengths, &recvl, message, receives);
    arrival.lengths.push(lengths);
    arrival.ends.push(p.now());

    // As destination: the parts in their order, which is that of the intermediates unless they were shuffled.
    came.sort_unstable_by_key(|(source, place, _)| (*source, *place));
    arrival.messages = vec![Vec::new(); P];
    for sources in came.chunk_by(|one, other| one.0 == other.0) {
        let elements: usize = sources.iter().map(|(.., slice)| slice.len()).sum();
        let message = &mut arrival.messages[sources[0].0];
        message.reserve_exact(elements);
        sources.iter().for_each(|(.., slice)| message.extend_from_slice(slice.elements()));
    }
    arrival
}

/// The lengths of the parts in message k, for every destination.
fn parts(split: &Split, k: usize) -> Vec<usize> {
    let mut lengths = vec![0; split.parts.len()];
    split.parts[k].iter().for_each(|cut| lengths[cut.j] = cut.len);
    lengths
}
