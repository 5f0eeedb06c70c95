//! Remap: every processor has a block of data for every other, and each must get its own.
//!
//! It is what the FFT does between its cyclic and its blocked layout (Culler et al., "LogP", section 4.1), and
//! LogGP's all-to-all (Alexandrov et al., section 3, figure 4). The papers differ in what a message is, a word
//! or a block, and look at two orders. In the *naive* order everybody sends to processor 0 first, then to 1
//! and so on (LogP 4.1.2). In the *staggered* one processor i begins with its successor, and wraps around.
//! Everyone receives while it waits for the gap: so a message passes each g both ways, and not each 2g.
//!
//! **Staggered**, all do the same at the same time, and every processor is sent to by one. So nothing stalls,
//! and one processor's time is everybody's: `lockstep` has it, for messages that stay (k-1)G + L under way
//! and are (k-1)G + g apart. It is LogP's n/P max(2o, g) + L (section 4.1.4) with all terms kept; o to send the
//! first and o to receive the last are 2o more. Two things are not in the paper. A reception that begins shortly
//! before the gap is over delays the next send: none does if 2o + L mod g <= g. And if 2o > g, sends
//! are g apart until the first message comes, and only then 2o.
//!
//! - `short-staggered` is exact on every LogP and LogGP machine.
//! - `short-synchronized` is too: the same for every block, and P - 1 barriers.
//! - `long-staggered` is exact with dual ports, except that it is a lower bound if g <= o < (k-1)G + g < 2o.
//!   With a single port it is a lower bound, and exact if no message comes while another goes ([`pass_by`]). A
//!   processor needs its time to send, (P-1)((k-1)G + g), or its port's to send and to receive, 2(P-1)(k-1)G,
//!   which is LogGP's 2kG, or its own, 2(P-1)o, whatever is longest. LogGP measured up to 20% more.
//!
//! **Naive**, "all but L/g processors will stall on the first send and then one will send to processor 0 every
//! g cycles" (LogP 4.1.2). So its m messages come one each g. Meanwhile processor 0, whom
//! nobody hinders, has sent all of its own; so P - 2 senders are left for processor 1, P - 3 for processor 2: all
//! together P/2 times as many gaps as in the staggered order. This is an estimate and no bound: the model may
//! exceed it a little, for a processor that sends is not always ready to receive. It falls short of it where a
//! block is of fewer words than there are processors, since the first to be done with a receiver go on to the
//! next while others stall; and where L is no multiple of g, since C messages each L are then more than one each
//! g, and it is the receiver who lags behind.

use loggp::collectives::Shift;
use loggp::{Pack, Params, Payload, Ports, Proc, RunError, Tag, Time, Unpack, Work};

use crate::{Algorithm, Case, Emulation, Metric, Outcome, Plan, Planned, Program, Size};

/// All-to-all personalized communication.
pub static REMAP: Program = Program {
    name: "remap",
    about: "every processor has a block for every other (LogP, section 4.1; LogGP, section 3)",
    algorithms: &[
        Algorithm {
            name: "long-staggered",
            about: "a message for each block; processor i begins with i+1, and wraps around",
            formula: "k words: 2o + (P-2) max((k-1)G + g, 2o) + (k-1)G + L, with less while nothing has come yet, and \
                      what receptions delay; with a single port at least that with o for 2o, 2o + 2(P-1)(k-1)G and \
                      2(P-1)o (LogGP, section 3)",
            plan: |case| Remap::plan(case, Length::Long, Order::Staggered),
        },
        Algorithm {
            name: "long-naive",
            about: "a message for each block; everyone begins with processor 0",
            formula: "none: the paper sends long messages in the staggered order only (LogGP, section 3)",
            plan: |case| Remap::plan(case, Length::Long, Order::Naive),
        },
        Algorithm {
            name: "short-staggered",
            about: "a message for each word; processor i begins with i+1, and wraps around",
            formula: "m = (P-1) ceil(size/word): 2o + (m-1) max(g, 2o) + L (LogP, section 4.1.4), with less while \
                      nothing has come yet, and what receptions delay",
            plan: |case| Remap::plan(case, Length::Short, Order::Staggered),
        },
        Algorithm {
            name: "short-synchronized",
            about: "as short-staggered, with a barrier after each block",
            formula: "(P-1) times short-staggered for one block, and P-1 barriers (LogP, section 4.1.4)",
            plan: |case| Remap::plan(case, Length::Short, Order::Synchronized),
        },
        Algorithm {
            name: "short-naive",
            about: "a message for each word; everyone begins with processor 0, and most stall",
            formula: "2o + (P/2 m - 1) max(g, 2o) + L, an estimate (LogP, section 4.1.2)",
            plan: |case| Remap::plan(case, Length::Short, Order::Naive),
        },
    ],
    size: Size { meaning: "bytes from each processor to each other", default: 64 },
    options: &[],
    work: Work::Charged,
};

/// The only tag.
const DATA: Tag<Piece> = Tag::named(0, "data");

/// Whether a message is a block or a word.
#[derive(Clone, Copy, PartialEq)]
enum Length {
    Long,
    Short,
}

/// To whom a processor sends first, and next.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// Processor i begins with i+1, and wraps around.
    Staggered,
    /// As staggered, with a barrier after each block.
    Synchronized,
    /// Everyone begins with processor 0.
    Naive,
}

/// A case that was read.
struct Remap<'a> {
    case: &'a Case,
    length: Length,
    order: Order,
    /// The bytes of a message: of a word, or of a block.
    piece: usize,
    /// The messages of a block.
    pieces: usize,
}

impl Remap<'_> {
    fn plan(case: &Case, length: Length, order: Order) -> Planned<'_> {
        const MOST_BYTES: u128 = 1 << 31;
        const MOST_MESSAGES: u128 = 1 << 26;
        if case.size == 0 {
            return Err("a size of 0 leaves nothing to send; give at least 1".into());
        }
        let piece = if length == Length::Short { case.params.word.get().min(case.size) } else { case.size };
        let pieces = case.size.div_ceil(piece);
        let P = case.params.P as u128;
        let bytes = P * P * case.size as u128;
        let messages = P * (P - 1) * pieces as u128;
        if bytes > MOST_BYTES {
            return Err(format!(
                "{P} processors with blocks of {} bytes hold {bytes} bytes, and there is room for {MOST_BYTES}; \
                 give a smaller size or fewer processors",
                case.size
            )
            .into());
        }
        if messages > MOST_MESSAGES {
            return Err(format!(
                "{messages} messages are too many, and {MOST_MESSAGES} are not; give a smaller size or fewer processors"
            )
            .into());
        }
        Ok(Box::new(Remap { case, length, order, piece, pieces }))
    }
}

impl Plan for Remap<'_> {
    fn formula(&self) -> Option<Time> {
        let Params { L, o, g, P, .. } = self.case.params;
        let G = self.case.params.G()?;
        if P == 1 {
            return Some(Time::ZERO);
        }
        let others = P as i64 - 1;
        let block = self.case.size.div_ceil(self.case.params.word.get()) as i64; // in words
        Some(match (self.length, self.order) {
            (Length::Short, Order::Staggered) => lockstep(others * block, o, g, g, L),
            (Length::Short, Order::Synchronized) => {
                // From the last send of a block to the first of the next there is a round trip, or the gap.
                let trip = L + 2 * o;
                let gap = (g - trip).max(Time::ZERO);
                let barriers = match self.case.barrier {
                    Some(cost) => cost + (others - 1) * cost.max(gap),
                    None => {
                        let rounds = others * i64::from(P.next_power_of_two().ilog2());
                        rounds * trip + (rounds + others - 1) * gap
                    }
                };
                others * lockstep(block, o, g, g, L) + barriers
            }
            (Length::Short, Order::Naive) if P == 2 => lockstep(block, o, g, g, L),
            (Length::Short, Order::Naive) => 2 * o + (P as i64 * others / 2 * block - 1) * g.max(2 * o) + L,
            (Length::Long, Order::Naive) => return None,
            (Length::Long, _) => {
                let stream = (block - 1) * G;
                match self.case.ports {
                    Ports::Single if stream > Time::ZERO => {
                        let sending = 2 * o + (others - 1) * o.max(stream + g) + stream + L;
                        sending.max(2 * o + 2 * others * stream).max(2 * others * o)
                    }
                    _ => lockstep(others, o, g, stream + g, stream + L),
                }
            }
        })
    }

    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let Case { params, size, seed, .. } = *self.case;
        let mut data = vec![0; params.P * params.P * size];
        fastrand::Rng::with_seed(seed).fill(&mut data);
        let run = self.case.machine(emulation).run_across(|p| remap(p, self, &data))?;
        let (run, results) = run.take_results();
        let verified = verify(&results, &data, size);
        let sent = ((params.P - 1) * size) as f64;
        let us = run.time.as_ns() / 1000.0;
        let mut outcome = Outcome::new(run, verified);
        if us > 0.0 {
            outcome.metrics.push(Metric { name: "rate per processor", unit: "MB/s", value: sent / us });
        }
        Ok(outcome)
    }
}

/// What each processor does. Of `data`, the blocks of all for all, it looks at its own only.
fn remap(p: &mut Proc, plan: &Remap, data: &[u8]) -> Vec<u8> {
    let (id, P, size) = (p.id(), p.p(), plan.case.size);
    let mine = &data[id * P * size..][..P * size];
    let block = |to: usize| Piece::all(&mine[to * size..][..size], plan.piece);
    let mut got = Blocks { size, piece: plan.piece, bytes: vec![0; P * size] };
    block(id).for_each(|piece| got.keep(id, piece));

    let longest = p.params().words(plan.piece);
    if plan.order == Order::Naive && p.params().is_synchronous(longest) {
        return take_turns(p, plan, block, got);
    }
    // In the naive order nobody says from whom a message comes in a step, and only where it waits need one know.
    let steps = (1..P).map(|step| match plan.order {
        Order::Naive => (step - usize::from(step <= id), id),
        _ => ((id + step) % P, (id + P - step) % P),
    });
    let shifts = |(to, from)| block(to).map(move |value| Shift { to, value, from });
    if plan.order == Order::Synchronized {
        for step in steps {
            p.exchange(DATA, longest, shifts(step), |from, piece| got.keep(from, piece));
            p.barrier();
        }
    } else {
        p.exchange(DATA, longest, steps.flat_map(shifts), |from, piece| got.keep(from, piece));
    }
    got.bytes
}

/// The naive order where a message waits for its receiver (LogGPS, section 3.1): a step belongs to one receiver, for if
/// all sent first nobody would receive.
fn take_turns<B: Iterator<Item = Piece>>(
    p: &mut Proc,
    plan: &Remap,
    block: impl Fn(usize) -> B,
    mut got: Blocks,
) -> Vec<u8> {
    for to in 0..p.p() {
        match to == p.id() {
            true => {
                for _ in 0..(p.p() - 1) * plan.pieces {
                    let (from, piece) = p.recv(DATA);
                    got.keep(from, piece);
                }
            }
            false => block(to).for_each(|piece| p.send(to, DATA, piece)),
        }
    }
    got.bytes
}

/// What a processor has got: everyone's block for it, as far as it has come.
struct Blocks {
    /// The bytes of a block.
    size: usize,
    /// The bytes of a message.
    piece: usize,
    /// The blocks, in order of those who had them.
    bytes: Vec<u8>,
}

impl Blocks {
    /// Puts a message where it belongs.
    fn keep(&mut self, from: usize, piece: Piece) {
        let (index, bytes) = piece.open();
        self.bytes[from * self.size + index * self.piece..][..bytes.len()].copy_from_slice(bytes);
    }
}

/// A message: a piece of a block, and which. The number counts for nothing, as in the papers the receiver knows
/// from the address where a word belongs. A few bytes lie in the message itself.
enum Piece {
    /// The first `length` of these bytes.
    Few { index: u32, length: u8, bytes: [u8; Piece::FEW] },
    /// A longer piece, whose bytes do not fit in the message.
    Many { index: u32, bytes: Box<[u8]> },
}

impl Piece {
    /// The longest piece that needs no allocation.
    const FEW: usize = 16;

    /// The pieces of a block, with at most so many bytes each.
    fn all(block: &[u8], most: usize) -> impl Iterator<Item = Piece> {
        (0..).zip(block.chunks(most)).map(|(index, chunk)| {
            if chunk.len() > Piece::FEW {
                return Piece::Many { index, bytes: chunk.into() };
            }
            let mut bytes = [0; Piece::FEW];
            bytes[..chunk.len()].copy_from_slice(chunk);
            Piece::Few { index, length: chunk.len() as u8, bytes }
        })
    }

    /// Its number, and what it carries.
    fn open(&self) -> (usize, &[u8]) {
        match self {
            Piece::Few { index, length, bytes } => (*index as usize, &bytes[..*length as usize]),
            Piece::Many { index, bytes } => (*index as usize, bytes),
        }
    }
}

impl Payload for Piece {
    fn bytes(&self) -> usize {
        self.open().1.len()
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        let (Piece::Few { index, .. } | Piece::Many { index, .. }) = self;
        index.pack(to);
        match self {
            Piece::Few { length, bytes, .. } => {
                length.pack(to);
                bytes.pack(to);
            }
            Piece::Many { bytes, .. } => {
                to.add(&[u8::MAX]); // no length of a few bytes
                bytes.pack(to);
            }
        }
    }

    fn unpack(from: &mut Unpack) -> Option<Piece> {
        Some(match (u32::unpack(from)?, u8::unpack(from)?) {
            (index, u8::MAX) => Piece::Many { index, bytes: Payload::unpack(from)? },
            (index, length) => Piece::Few { index, length, bytes: Payload::unpack(from)? },
        })
    }
}

/// Every processor must have everyone's block for it.
fn verify(results: &[Vec<u8>], data: &[u8], size: usize) -> Result<(), String> {
    let P = results.len();
    for (to, result) in results.iter().enumerate() {
        if result.len() != P * size {
            return Err(format!("processor {to} has {} bytes, and {} are for it", result.len(), P * size));
        }
        let sent = |from: usize| &data[(from * P + to) * size..][..size];
        if let Some(from) = (0..P).find(|from| result[from * size..][..size] != *sent(*from)) {
            return Err(format!("processor {to} has another block than processor {from} had for it"));
        }
    }
    Ok(())
}

/// How long m messages take if all processors do the same at the same time: a processor sends one `h` after
/// the other, each is there `transit` after it entered, and receptions are g apart.
///
/// Let e(i) be when message i enters. What was sent then comes after q = floor(transit / h) more sends, `phase`
/// after the last of them. The next send waits for the gap, or until that message is received:
/// e(i+1) = max(e(i) + h, e(i) + 2o if one waited, e(i-q) + transit + 2o). So e(i) is the longest way from the
/// first message to i, with steps of one message that last max(h, 2o), and steps of q + 1 messages that last
/// transit + 2o. If `phase` comes too late to receive before the next send, all wait for that send.
pub(crate) fn lockstep(m: i64, o: Time, g: Time, h: Time, transit: Time) -> Time {
    let last = m - 1;
    if h <= o {
        return bursts(m, o, transit);
    }
    let (q, phase) = (transit.as_ps() / h.as_ps(), Time::from_ps(transit.as_ps() % h.as_ps()));
    if last <= q {
        return 2 * o + last * h + transit; // all are sent before the first comes
    }
    let step = h.max(2 * o);
    if phase > h - o {
        let sent = o + (q + 1) * h + (last - q - 1) * step;
        return sent + transit.max((q + 1) * g.max(o)) + o;
    }
    let way = |trips: i64| trips * (transit + 2 * o) + (last - trips * (q + 1)) * step;
    let mut sent = way(1).max(way(last / (q + 1)));
    if step == h {
        sent = sent.max(way(0));
    }
    o + sent + transit + o
}

/// The same where the gap is no longer than o. A processor sends without a pause until the first message is
/// there, then receives without a pause all that it was sent, and so on: it is always busy, except after the
/// last burst if that is shorter than the others.
fn bursts(m: i64, o: Time, transit: Time) -> Time {
    if o == Time::ZERO {
        return transit;
    }
    let burst = 1 + (transit.as_ps() as u64).div_ceil(o.as_ps() as u64) as i64;
    let rest = m % burst;
    let tail = if rest > 0 { o + transit + rest * o } else { Time::ZERO };
    2 * (m - rest) * o + tail
}

/// Whether on a machine with single ports no message of `long-staggered` comes while another goes, so that its
/// formula is exact: nothing delays a send, and a message's (k-1)G fit between two sends.
pub fn pass_by(params: &Params, size: usize) -> bool {
    let Params { L, o, g, P, .. } = *params;
    let stream = params.stream(params.words(size));
    let h = stream + g;
    if stream == Time::ZERO || P == 1 {
        return true;
    }
    let phase = Time::from_ps(L.as_ps() % h.as_ps());
    let received = Time::from_ps((L + stream).as_ps() % h.as_ps());
    2 * o <= h && received + 2 * o <= h && stream <= phase && phase <= g
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_block_is_noticed() {
        // Blocks of a byte: processor 0 has 1 and 2, processor 1 has 3 and 4.
        let data = [1, 2, 3, 4];
        assert_eq!(verify(&[vec![1, 3], vec![2, 4]], &data, 1), Ok(()));
        for wrong in [vec![4, 2], vec![2, 3], vec![2], vec![2, 4, 4]] {
            assert!(verify(&[vec![1, 3], wrong], &data, 1).unwrap_err().starts_with("processor 1 has "));
        }
    }

    #[test]
    fn a_message_counts_for_its_bytes_and_fits_three_words() {
        let block: Vec<u8> = (0..50).collect();
        for (most, lengths) in [(16, vec![16, 16, 16, 2]), (20, vec![20, 20, 10])] {
            let pieces: Vec<Piece> = Piece::all(&block, most).collect();
            assert_eq!(pieces.iter().map(Payload::bytes).collect::<Vec<_>>(), lengths);
            let joined: Vec<u8> = pieces.iter().flat_map(|piece| piece.open().1.to_vec()).collect();
            assert_eq!(joined, block);
            assert!(pieces.iter().map(|piece| piece.open().0).eq(0..lengths.len()));
        }
        assert_eq!(std::mem::size_of::<Piece>(), 24);
    }
}
