//! The two-stage algorithm: every message is sent in p parts by p intermediate processors (section 7).

use loggp::Proc;
use loggp::collectives::{all_reduce_vector, exclusive_scan, scan_vector};

use super::endpoints::{Delivery, Source};
use super::linear::{Stage, receive_vector};
use super::packet::{ElementSlice, Packet, PacketPart, Padding};
use super::random::RequestCounts;
use super::schedule::SendSchedule;
use super::split::{Scheme, consecutive_starts, lengths, shuffle, split};

/// A form of the two-stage algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoStageForm {
    /// Start of round robins.
    pub scheme: Scheme,
    /// True if the first stage's messages are shuffled (appendix).
    pub shuffled: bool,
    /// True if only parts that are not empty are counted and sent (section 7.3).
    pub sparse: bool,
    /// Schedule of messages in the first stage.
    pub stage1: SendSchedule,
}

impl TwoStageForm {
    /// Creates the form that differs from section 7's algorithm in the scheme alone.
    pub const fn new(scheme: Scheme) -> TwoStageForm {
        TwoStageForm { scheme, shuffled: false, sparse: false, stage1: SendSchedule::Linear }
    }

    /// Returns the padding of messages: in the first stage of those with at most `elements` elements, in the
    /// second of those with exactly so many.
    pub fn padding(&self, P: usize, elements: usize) -> Padding {
        if self.sparse { Padding::sparse(P, elements) } else { Padding::full(P) }
    }

    /// Returns the array that undoes the shuffling, with an entry for each part that is not empty; `None`
    /// without shuffling.
    pub fn order(&self, P: usize, elements: usize) -> Option<Padding> {
        self.shuffled.then_some(Padding::sparse(P, elements))
    }

    /// Returns the longest message that a source sends in the first stage, if r bounds its traffic.
    pub fn longest1(&self, P: usize, r: usize) -> usize {
        match self.scheme {
            Scheme::Local | Scheme::Scan => r.div_ceil(P),
            // All destinations may have their round robin begin at the same intermediate.
            Scheme::Alternate | Scheme::Combine => r,
        }
    }

    /// Returns whether processors are out of step after their local work, and need a barrier before a stage.
    pub fn needs_barrier(&self) -> bool {
        self.scheme != Scheme::Local || self.sparse
    }

    /// Returns the start of each destination's round robin in this processor.
    fn round_robin_starts(&self, p: &mut Proc, sendl: &[usize]) -> Vec<usize> {
        let P = p.P() as u32;
        let remainders = || sendl.iter().map(|elements| *elements as u32 % P).collect::<Vec<u32>>();
        let add = |a: u32, b: u32| (a + b) % P;
        match self.scheme {
            Scheme::Local => consecutive_starts(sendl, 0),
            Scheme::Scan => {
                let traffic = sendl.iter().map(|elements| elements % P as usize).sum::<usize>() as u32 % P;
                let first = exclusive_scan(p, traffic, add).unwrap_or(0);
                consecutive_starts(sendl, first as usize)
            }
            Scheme::Alternate => starts_after(&remainders(), &scan_vector(p, remainders(), add)),
            Scheme::Combine => {
                let incoming = all_reduce_vector(p, remainders(), add);
                let incoming: Vec<usize> = incoming.into_iter().map(|elements| elements as usize).collect();
                let starts = starts_after(&remainders(), &scan_vector(p, remainders(), add));
                let first = consecutive_starts(&incoming, 0);
                starts.iter().zip(first).map(|(one, other)| (one + other) % P as usize).collect()
            }
        }
    }

    /// Runs a stage: sends every processor its parts, and returns the received ones by sender. The padding of
    /// a message is that for `padded_as` of its number of elements.
    fn send_stage(
        &self,
        p: &mut Proc,
        (number, schedule, seed): (u16, SendSchedule, u64),
        mut outgoing: Vec<Vec<PacketPart>>,
        delivery: &mut Delivery,
        padded_as: impl Fn(usize) -> usize,
    ) -> (Vec<Vec<PacketPart>>, RequestCounts) {
        let P = p.P();
        let mut received = vec![Vec::new(); P];
        let lengths = lengths(&outgoing);
        let recvl = receive_vector(p, &lengths);
        let message = |to: usize| {
            let elements = padded_as(lengths[to]);
            Packet::new(std::mem::take(&mut outgoing[to]), self.padding(P, elements), self.order(P, elements))
        };
        let receive = |from: usize, packet: Packet| {
            received[from] = packet.open(|elements| self.padding(P, padded_as(elements)));
        };
        let stage = Stage { number, seed, sendl: &lengths, recvl: &recvl };
        let counts = schedule.send(p, &stage, message, receive);
        delivery.lengths.push(lengths);
        delivery.ends.push(p.local_time());
        (received, counts)
    }
}

/// Returns the start of round robins after those of all processors before this one: the inclusive scan, less
/// the processor's own elements. (Figure 12 takes the scan as it is; then the elements of two sources would
/// overlap.)
fn starts_after(own: &[u32], scanned: &[u32]) -> Vec<usize> {
    let P = own.len();
    own.iter().zip(scanned).map(|(own, sum)| (*sum as usize + P - *own as usize) % P).collect()
}

/// Runs the two-stage algorithm on one processor. Its phases are preprocessing and communication of the first
/// stage, and of the second.
pub(super) fn transport_two_stage(p: &mut Proc, form: &TwoStageForm, source: &Source) -> Delivery {
    let (i, P) = (p.id(), p.P());
    let &Source { ref sendl, ref elements, r, seed } = source;
    let mut delivery = Delivery::default();
    let mut rng = fastrand::Rng::with_seed(seed ^ (i as u64).rotate_left(40));
    let parts_of = |messages: &[Vec<PacketPart>]| match form.sparse {
        true => messages.iter().map(Vec::len).sum::<usize>() as u64,
        false => (P * P) as u64,
    };

    // As source: split the messages. `by[k]` is the intermediate of message k.
    let starts = form.round_robin_starts(p, sendl);
    let messages = split(sendl, &starts, elements);
    let messages = p.work("part", parts_of(&messages), || messages);
    let by = match form.shuffled {
        true => p.work("part", P as u64, || shuffle(&lengths(&messages), &mut rng)),
        false => (0..P).collect(),
    };
    let mut outgoing = vec![Vec::new(); P];
    for (k, mut parts) in messages.into_iter().enumerate() {
        if form.shuffled {
            parts.iter_mut().for_each(|part| part.place = Some(k));
        }
        outgoing[by[k]] = parts;
    }
    delivery.parts = outgoing.iter().map(|parts| by_destination(parts, P)).collect();
    if form.needs_barrier() {
        p.barrier();
    }
    delivery.ends.push(p.local_time());

    let longest = form.longest1(P, r);
    let (received, counts) = form.send_stage(p, (0, form.stage1, seed), outgoing, &mut delivery, |_| longest);
    delivery.counts = counts;

    // As intermediate: sort the parts by destination (figure 10).
    let parts = parts_of(&received);
    let outgoing = p.work("part", parts, || {
        let mut outgoing: Vec<Vec<PacketPart>> = vec![Vec::new(); P];
        for (from, parts) in received.into_iter().enumerate() {
            parts.into_iter().for_each(|part| outgoing[part.peer].push(PacketPart { peer: from, ..part }));
        }
        outgoing
    });
    if form.sparse {
        p.barrier();
    }
    delivery.ends.push(p.local_time());

    let (received, _) =
        form.send_stage(p, (1, SendSchedule::Linear, seed), outgoing, &mut delivery, |elements| elements);

    // As destination: put the parts in order, which is that of the intermediates unless they were shuffled.
    let keyed = |(from, parts): (usize, Vec<PacketPart>)| {
        parts.into_iter().map(move |part| (part.peer, part.place.unwrap_or(from), part.slice))
    };
    let mut received: Vec<(usize, usize, ElementSlice)> =
        received.into_iter().enumerate().flat_map(keyed).collect();
    received.sort_unstable_by_key(|(source, place, _)| (*source, *place));
    delivery.messages = vec![Vec::new(); P];
    for sources in received.chunk_by(|one, other| one.0 == other.0) {
        let elements: usize = sources.iter().map(|(.., slice)| slice.len()).sum();
        let message = &mut delivery.messages[sources[0].0];
        message.reserve_exact(elements);
        sources.iter().for_each(|(.., slice)| message.extend_from_slice(slice.elements()));
    }
    delivery
}

/// Returns the lengths of a message's parts, for each of P destinations.
fn by_destination(parts: &[PacketPart], P: usize) -> Vec<usize> {
    let mut lengths = vec![0; P];
    parts.iter().for_each(|part| lengths[part.peer] = part.slice.len());
    lengths
}
