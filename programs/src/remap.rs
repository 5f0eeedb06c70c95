//! Remap: every processor has a block of data for every other, and each gets the blocks for it. The orders and their
//! times are in [`loggp_predict::remap`].

use loggp::{Pack, Payload, RunError, Tag, Unpack, Work};
use loggp_predict::remap::{
    ABOUT, LONG_NAIVE, LONG_STAGGERED, MessageLength, Remap, SHORT_NAIVE, SHORT_STAGGERED,
    SHORT_SYNCHRONIZED, SIZE, SendOrder,
};

use crate::program::PredictedCase;
use crate::steps::{StepData, perform};
use crate::{Algorithm, Case, Emulation, Metric, Outcome, Plan, PlanResult, Program};

/// All-to-all personalized communication.
pub static REMAP: Program = Program {
    name: "remap",
    about: ABOUT,
    algorithms: &[
        Algorithm::described(LONG_STAGGERED, |case| plan(case, MessageLength::Long, SendOrder::Staggered)),
        Algorithm::described(LONG_NAIVE, |case| plan(case, MessageLength::Long, SendOrder::Naive)),
        Algorithm::described(SHORT_STAGGERED, |case| plan(case, MessageLength::Short, SendOrder::Staggered)),
        Algorithm::described(SHORT_SYNCHRONIZED, |case| {
            plan(case, MessageLength::Short, SendOrder::Synchronized)
        }),
        Algorithm::described(SHORT_NAIVE, |case| plan(case, MessageLength::Short, SendOrder::Naive)),
    ],
    size: SIZE,
    options: &[],
    work: Work::Charged,
};

fn plan(case: &Case, length: MessageLength, order: SendOrder) -> PlanResult<'_> {
    PredictedCase::plan(case, Remap::new(case.setting(), length, order))
}

impl Plan for PredictedCase<'_, Remap<'_>> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let Case { params, size, seed, .. } = *self.case;
        let mut data = vec![0; params.P * params.P * size];
        fastrand::Rng::with_seed(seed).fill(&mut data);
        let run = self.case.machine(emulation).measure_across(|p| {
            let (id, P) = (p.id(), p.P());
            perform(
                p,
                self.predicted.steps(id),
                Blocks::new(&self.predicted, size, &data[id * P * size..][..P * size], id),
            )
            .received
        })?;
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

/// The blocks of a processor.
struct Blocks<'a> {
    /// Bytes of a block.
    size: usize,
    /// Bytes of a message.
    piece: usize,
    /// The blocks for all processors.
    mine: &'a [u8],
    /// The receiver of the last message, and the number of messages that it has got.
    sent: (usize, usize),
    /// The blocks that the processor has received so far, ordered by sender.
    received: Vec<u8>,
}

impl<'a> Blocks<'a> {
    fn new(plan: &Remap, size: usize, mine: &'a [u8], id: usize) -> Blocks<'a> {
        let mut received = vec![0; mine.len()];
        received[id * size..][..size].copy_from_slice(&mine[id * size..][..size]);
        Blocks { size, piece: plan.piece, mine, sent: (id, 0), received }
    }
}

impl StepData for Blocks<'_> {
    type Value = BlockPiece;
    const TAG: Tag<BlockPiece> = Tag::named(0, "data");

    fn give(&mut self, to: usize, bytes: usize, _: Option<usize>) -> BlockPiece {
        let index = if self.sent.0 == to { self.sent.1 } else { 0 };
        self.sent = (to, index + 1);
        BlockPiece::new(index as u32, &self.mine[to * self.size + index * self.piece..][..bytes])
    }

    fn take(&mut self, from: usize, piece: BlockPiece) {
        let (index, bytes) = piece.open();
        self.received[from * self.size + index * self.piece..][..bytes.len()].copy_from_slice(bytes);
    }
}

/// A message: a numbered piece of a block. The number counts for no bytes, as in the papers the receiver
/// knows from the address where a word belongs. A few bytes lie in the message itself.
enum BlockPiece {
    /// A piece of the first `length` of these bytes.
    Few { index: u32, length: u8, bytes: [u8; BlockPiece::FEW] },
    /// A longer piece.
    Many { index: u32, bytes: Box<[u8]> },
}

impl BlockPiece {
    /// Bytes of the longest piece that needs no allocation.
    const FEW: usize = 16;

    /// Makes the piece with this number.
    fn new(index: u32, piece: &[u8]) -> BlockPiece {
        if piece.len() > BlockPiece::FEW {
            return BlockPiece::Many { index, bytes: piece.into() };
        }
        let mut bytes = [0; BlockPiece::FEW];
        bytes[..piece.len()].copy_from_slice(piece);
        BlockPiece::Few { index, length: piece.len() as u8, bytes }
    }

    /// Returns its number and its bytes.
    fn open(&self) -> (usize, &[u8]) {
        match self {
            BlockPiece::Few { index, length, bytes } => (*index as usize, &bytes[..*length as usize]),
            BlockPiece::Many { index, bytes } => (*index as usize, bytes),
        }
    }
}

impl Payload for BlockPiece {
    fn bytes(&self) -> usize {
        self.open().1.len()
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        let (BlockPiece::Few { index, .. } | BlockPiece::Many { index, .. }) = self;
        index.pack(to);
        match self {
            BlockPiece::Few { length, bytes, .. } => {
                length.pack(to);
                bytes.pack(to);
            }
            BlockPiece::Many { bytes, .. } => {
                to.add(&[u8::MAX]); // no length of a few bytes
                bytes.pack(to);
            }
        }
    }

    fn unpack(from: &mut Unpack) -> Option<BlockPiece> {
        Some(match (u32::unpack(from)?, u8::unpack(from)?) {
            (index, u8::MAX) => BlockPiece::Many { index, bytes: Payload::unpack(from)? },
            (index, length) => BlockPiece::Few { index, length, bytes: Payload::unpack(from)? },
        })
    }
}

/// Checks that every processor has its blocks.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_notices_a_wrong_block() {
        // Blocks of a byte: processor 0 has 1 and 2, processor 1 has 3 and 4.
        let data = [1, 2, 3, 4];
        assert_eq!(verify(&[vec![1, 3], vec![2, 4]], &data, 1), Ok(()));
        for wrong in [vec![4, 2], vec![2, 3], vec![2], vec![2, 4, 4]] {
            assert!(verify(&[vec![1, 3], wrong], &data, 1).unwrap_err().starts_with("processor 1 has "));
        }
    }

    #[test]
    fn pieces_count_for_their_bytes_and_fit_three_words() {
        let block: Vec<u8> = (0..50).collect();
        for (most, lengths) in [(16, vec![16, 16, 16, 2]), (20, vec![20, 20, 10])] {
            let pieces: Vec<BlockPiece> =
                block.chunks(most).zip(0..).map(|(piece, index)| BlockPiece::new(index, piece)).collect();
            assert_eq!(pieces.iter().map(Payload::bytes).collect::<Vec<_>>(), lengths);
            let joined: Vec<u8> = pieces.iter().flat_map(|piece| piece.open().1.to_vec()).collect();
            assert_eq!(joined, block);
            assert!(pieces.iter().map(|piece| piece.open().0).eq(0..lengths.len()));
        }
        assert_eq!(std::mem::size_of::<BlockPiece>(), 24);
    }
}
