//! The solution of Ax = b on each processor. Rows are dealt out in turn, and an eliminated block of four is
//! sent to all others before those go on who eliminated it. `shared.rs` has the blocks of four processors.

use std::ops::Range;
use std::sync::Arc;

use loggp::{Payload, Proc, Tag};
use ndarray::{Array1, ArrayView2};

use super::rows::{EliminatedBlock, Pivot, Rows, pivot_flops, solve_flops, substitute_flops, subtract_flops};
use crate::math::dense::SingularStep;

/// Rows that are eliminated together.
pub(super) const BLOCK: usize = 4;

/// The owners of a block, and the messages in which it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deal {
    /// Whole blocks are dealt out. The owner of one sends it to all others, in messages of two rows of 8-byte
    /// numbers.
    Blocks,
    /// Rows are dealt out one by one, so that four processors share a block. Each sends it to the same
    /// processor of every other four, in one message of 4-byte numbers.
    Rows,
}

impl Deal {
    /// Returns how many rows in a row one processor has.
    fn rows(self) -> usize {
        match self {
            Deal::Blocks => BLOCK,
            Deal::Rows => 1,
        }
    }
}
/// Rows in a message: a matrix of n columns then has messages of up to 16(n-4) bytes, as in the paper.
pub(super) const ROWS_PER_MESSAGE: usize = 2;

/// Tag of a pivot, or of its absence, by its row.
pub(super) const PIVOT: Tag<Option<Pivot>> = Tag::named(0, "pivot");
/// Tag of rows of U, message after message.
const ROWS: Tag<Arc<[f64]>> = Tag::named(1, "rows");
/// Tag of the unknowns of a block, or of a row that was dealt out alone, by its number.
const UNKNOWNS: Tag<Vec<f64>> = Tag::named(2, "unknowns");

/// Bytes of the longest message about a pivot.
pub(super) const PIVOT_BYTES: usize = 8 * (2 + BLOCK - 1);

/// A processor's part of the work.
pub(super) struct Solver {
    deal: Deal,
    /// Number of processors.
    pub(super) P: usize,
    /// This processor's number.
    pub(super) id: usize,
    /// Number of rows and columns of the matrix.
    pub(super) n: usize,
    /// Most bytes of a message with rows.
    pub(super) piece: usize,
    /// Its own rows.
    pub(super) rows: Rows,
    /// Unknown of each column.
    unknowns: Vec<usize>,
    /// Number of messages with rows that it sent or received; one to all counts once.
    pub(super) messages: usize,
    /// Bytes of the longest message that it sent.
    pub longest: usize,
}

impl Solver {
    /// Creates the part of a processor, with numbers from the matrix.
    pub(super) fn new(
        deal: Deal,
        (P, id): (usize, usize),
        piece: usize,
        matrix: &ArrayView2<f64>,
        b: &Array1<f64>,
    ) -> Solver {
        let n = b.len();
        let own: Vec<usize> = (0..n).filter(|row| row / deal.rows() % P == id).collect();
        let rows = Rows::select(matrix, b, &own);
        Solver { deal, P, id, n, piece, rows, unknowns: (0..n).collect(), messages: 0, longest: 0 }
    }

    /// Solves the equations, together with all others.
    pub(super) fn solve(&mut self, p: &mut Proc) -> Result<Vec<f64>, SingularStep> {
        let blocks = self.n.div_ceil(BLOCK);
        let mut ahead = None;
        for number in 0..blocks {
            let block = match ahead.take() {
                Some(block) => block,
                None if self.has_part(number) => self.eliminate(p, number)?,
                None => self.receive(p, number)?,
            };
            self.reorder(number, &block);
            let mut left = self.first_row_from(self.block(number).end)..self.rows.len();
            if number + 1 < blocks && self.has_part(number + 1) {
                // This processor has the next block. It goes first, so that all have it when they are ready
                // for it.
                let next = self.place(number + 1);
                left.start = next.end;
                self.subtract(p, next, &block);
                ahead = Some(self.eliminate(p, number + 1)?);
            }
            self.subtract(p, left, &block);
        }
        Ok(self.substitute(p))
    }

    /// Returns whether this processor has a part in the elimination of a block.
    fn has_part(&self, number: usize) -> bool {
        match self.deal {
            Deal::Blocks => self.owner(number) == self.id,
            Deal::Rows => self.sharers(number).contains(&self.id),
        }
    }

    /// Returns the owner of a block.
    fn owner(&self, number: usize) -> usize {
        number % self.P
    }

    /// Returns the other processors. The next one, which has the next block, comes first.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (id, P) = (self.id, self.P);
        (1..P).map(move |distance| (id + distance) % P)
    }

    /// Returns a block's rows in the matrix.
    pub(super) fn block(&self, number: usize) -> Range<usize> {
        number * BLOCK..((number + 1) * BLOCK).min(self.n)
    }

    /// Returns the first of its own rows that is this row of the matrix or a later one.
    fn first_row_from(&self, row: usize) -> usize {
        let together = self.deal.rows();
        let (rounds, rest) = (row / (together * self.P), row % (together * self.P));
        let before = rounds * together + rest.saturating_sub(self.id * together).min(together);
        before.min(self.rows.len())
    }

    /// Returns its own rows of a block, among its rows.
    pub(super) fn place(&self, number: usize) -> Range<usize> {
        let block = self.block(number);
        self.first_row_from(block.start)..self.first_row_from(block.end)
    }

    /// Eliminates its part of a block, and sends it to the others.
    fn eliminate(&mut self, p: &mut Proc, number: usize) -> Result<EliminatedBlock, SingularStep> {
        match self.deal {
            Deal::Blocks => self.eliminate_alone(p, number),
            Deal::Rows => self.eliminate_together(p, number),
        }
    }

    /// Receives a block in whose elimination it has no part.
    fn receive(&mut self, p: &mut Proc, number: usize) -> Result<EliminatedBlock, SingularStep> {
        match self.deal {
            Deal::Blocks => self.receive_from_owner(p, number),
            Deal::Rows => self.receive_shared(p, number),
        }
    }

    /// Eliminates one of its own blocks. Each pivot is sent to all as soon as it is found. The rows follow
    /// when the order of their columns is known, and the sender waits where a message is so long that it
    /// waits for its receiver.
    fn eliminate_alone(&mut self, p: &mut Proc, number: usize) -> Result<EliminatedBlock, SingularStep> {
        let (Range { start: k, end }, place) = (self.block(number), self.place(number));
        let mut block = EliminatedBlock { k, pivots: Vec::with_capacity(BLOCK), u: Vec::new() };
        for row in k..end {
            let flops = pivot_flops(row - k, self.n - row);
            let pivot = p.work("flop", flops, || self.rows.eliminate_row(place.clone(), k, row - k));
            let pivot = pivot.map(|(pivot, _)| pivot);
            for other in self.others() {
                self.send(p, other, PIVOT.step(row), pivot.clone());
            }
            block.pivots.push(pivot.ok_or(SingularStep(row))?);
        }
        block.u = self.rows.values_right_of(place, k);
        let pieces: Vec<Arc<[f64]>> = self.pieces(end).map(|piece| block.u[piece].into()).collect();
        for other in self.others() {
            for (number, piece) in pieces.iter().enumerate() {
                self.send(p, other, ROWS.step(self.messages + number), Arc::clone(piece));
            }
        }
        self.messages += pieces.len();
        Ok(block)
    }

    /// Receives a block of another processor.
    fn receive_from_owner(&mut self, p: &mut Proc, number: usize) -> Result<EliminatedBlock, SingularStep> {
        let (Range { start: k, end }, owner) = (self.block(number), self.owner(number));
        let mut block = EliminatedBlock { k, pivots: Vec::with_capacity(BLOCK), u: Vec::new() };
        for row in k..end {
            block.pivots.push(p.recv(PIVOT.step(row).from(owner)).ok_or(SingularStep(row))?);
        }
        block.u.reserve_exact(block.width() * (self.n - end));
        for _ in self.pieces(end) {
            block.u.extend_from_slice(&p.recv(ROWS.step(self.messages).from(owner)));
            self.messages += 1;
        }
        Ok(block)
    }

    /// Returns the range of a block's numbers in each message, after the elimination of `done` rows and
    /// columns.
    fn pieces(&self, done: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (columns, piece) = (self.n - done, self.piece / size_of::<f64>());
        let together = ROWS_PER_MESSAGE * columns; // an incomplete block is the last, and has no columns left
        (0..BLOCK / ROWS_PER_MESSAGE).flat_map(move |first| {
            let end = (first + 1) * together;
            (first * together..end).step_by(piece).map(move |from| from..end.min(from.saturating_add(piece)))
        })
    }

    pub(super) fn send<T: Payload>(&mut self, p: &mut Proc, to: usize, tag: Tag<T>, value: T) {
        self.longest = self.longest.max(value.bytes());
        p.send(to, tag, value);
    }

    /// Brings the columns into the order of a block's pivots. Its own rows are in that order already.
    fn reorder(&mut self, number: usize, block: &EliminatedBlock) {
        let own = self.place(number);
        for (r, pivot) in block.pivots.iter().enumerate() {
            self.unknowns.swap(block.k + r, pivot.column);
            self.rows.exchange_columns(0..own.start, block.k + r, pivot.column);
            self.rows.exchange_columns(own.end..self.rows.len(), block.k + r, pivot.column);
        }
    }

    /// Subtracts a block from some of its rows.
    fn subtract(&mut self, p: &mut Proc, rows: Range<usize>, block: &EliminatedBlock) {
        let (w, columns) = (block.width(), self.n - block.k - block.width());
        p.work("flop", subtract_flops(rows.len(), w, columns), || self.rows.subtract(rows, block));
    }

    /// Finds the unknowns, the last ones first. The unknowns of rows that were dealt out together are sent
    /// around from their owner to the processor before, which has the rows before.
    fn substitute(&mut self, p: &mut Proc) -> Vec<f64> {
        let mut x = vec![0.0; self.n];
        let (before, after) = ((self.id + self.P - 1) % self.P, (self.id + 1) % self.P);
        let together = self.deal.rows();
        for number in (0..self.n.div_ceil(together)).rev() {
            let (block, owner) =
                (number * together..((number + 1) * together).min(self.n), self.owner(number));
            let first = self.first_row_from(block.start);
            let known = match owner == self.id {
                true => {
                    let place = first..first + block.len();
                    p.work("flop", solve_flops(block.len()), || self.rows.solve(place, block.start))
                }
                false => p.recv(UNKNOWNS.step(number).from(after)),
            };
            if before != owner {
                self.send(p, before, UNKNOWNS.step(number), known.clone());
            }
            p.work("flop", substitute_flops(first, block.len()), || {
                self.rows.substitute(0..first, block.start, &known);
            });
            for (column, value) in block.zip(known) {
                x[self.unknowns[column]] = value;
            }
        }
        x
    }
}
