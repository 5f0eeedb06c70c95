//! The two-stage algorithm: every message goes in p parts by p intermediate processors (section 7).

use loggp::Proc;
use loggp::collectives::{all_reduce_vector, exclusive_scan, scan_vector};

use super::arrival::{Arrival, Source};
use super::linear::receive_vector;
use super::packet::{Packet, Padding, Piece, Slice};
use super::random::Counts;
use super::schedule::Schedule;
use super::split::{Scheme, lengths, one_after_another, shuffled, split};

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

    /// A stage: sends everyone its parts, and returns those that came from everyone. Messages are padded as one of so many
    /// elements is that `padded_as` makes of their own number.
    #[allow(clippy::too_many_arguments)] // who, in which stage, how, by which chance, and what
    fn send(
        &self,
        p: &mut Proc,
        stage: u16,
        schedule: Schedule,
        seed: u64,
        mut going: Vec<Vec<Piece>>,
        arrival: &mut Arrival,
        padded_as: impl Fn(usize) -> usize,
    ) -> (Vec<Vec<Piece>>, Counts) {
        let P = p.p();
        let mut came = vec![Vec::new(); P];
        let lengths = lengths(&going);
        let recvl = receive_vector(p, &lengths);
        let message = |to: usize| {
            let elements = padded_as(lengths[to]);
            Packet::of(std::mem::take(&mut going[to]), self.padding(P, elements), self.order(P, elements))
        };
        let receives = |from: usize, packet: Packet| {
            came[from] = packet.open(|elements| self.padding(P, padded_as(elements)));
        };
        let counts = schedule.send(p, stage, seed, &lengths, &recvl, message, receives);
        arrival.lengths.push(lengths);
        arrival.ends.push(p.now());
        (came, counts)
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
    let parts_of = |messages: &[Vec<Piece>]| match form.sparse {
        true => messages.iter().map(Vec::len).sum::<usize>() as u64,
        false => (P * P) as u64,
    };

    // As source: which part goes by whom. `by[k]` is the intermediate of message k.
    let begins = form.begins(p, &sendl);
    let messages = split(&sendl, &begins, &elements);
    let messages = p.work("part", parts_of(&messages), || messages);
    let by = match form.shuffled {
        true => p.work("part", P as u64, || shuffled(&lengths(&messages), &mut rng)),
        false => (0..P).collect(),
    };
    let mut going = vec![Vec::new(); P];
    for (k, mut parts) in messages.into_iter().enumerate() {
        if form.shuffled {
            parts.iter_mut().for_each(|part| part.place = Some(k));
        }
        going[by[k]] = parts;
    }
    arrival.parts = going.iter().map(|parts| by_destination(parts, P)).collect();
    if form.waits() {
        p.barrier();
    }
    arrival.ends.push(p.now());

    let longest = form.longest1(P, r);
    let (came, counts) = form.send(p, 0, form.stage1, seed, going, &mut arrival, |_| longest);
    arrival.counts = counts;

    // As intermediate: which part goes to whom (figure 10).
    let parts = parts_of(&came);
    let going = p.work("part", parts, || {
        let mut going: Vec<Vec<Piece>> = vec![Vec::new(); P];
        for (from, parts) in came.into_iter().enumerate() {
            parts.into_iter().for_each(|part| going[part.whose].push(Piece { whose: from, ..part }));
        }
        going
    });
    if form.sparse {
        p.barrier();
    }
    arrival.ends.push(p.now());

    let (came, _) = form.send(p, 1, Schedule::Linear, seed, going, &mut arrival, |elements| elements);

    // As destination: the parts in their order, which is that of the intermediates unless they were shuffled.
    let known = |(from, parts): (usize, Vec<Piece>)| {
        parts.into_iter().map(move |part| (part.whose, part.place.unwrap_or(from), part.slice))
    };
    let mut came: Vec<(usize, usize, Slice)> = came.into_iter().enumerate().flat_map(known).collect();
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

/// The lengths of a message's parts, for each of P destinations.
fn by_destination(parts: &[Piece], P: usize) -> Vec<usize> {
    let mut lengths = vec![0; P];
    parts.iter().for_each(|part| lengths[part.whose] = part.slice.len());
    lengths
}
