//! Blocks of four rows that four processors share, a row each. They eliminate the rows one after the other.
//! Each pivot is sent to all, and the row to the other three in a short message. Then all four have the
//! block, and each sends it to the same processor of every other four, in one message.

use std::ops::Range;
use std::sync::Arc;

use loggp::{Proc, Tag};

use super::rows::{EliminatedBlock, Pivot, Rows, pivot_flops};
use super::solver::{BLOCK, PIVOT, Solver};
use crate::math::dense::SingularStep;

/// Tag of a row of U, or of its pieces in turn, by its number.
const ROW: Tag<Arc<[f32]>> = Tag::named(3, "row");
/// Tag of a block of U, message after message.
const SHARED: Tag<Arc<[f32]>> = Tag::named(4, "block");

impl Solver {
    /// Returns the processors that share a block.
    pub(super) fn sharers(&self, number: usize) -> Range<usize> {
        let first = number * BLOCK % self.P;
        first..first + BLOCK
    }

    /// Eliminates a block together with the three others that share it, and sends it on.
    pub(super) fn eliminate_together(
        &mut self,
        p: &mut Proc,
        number: usize,
    ) -> Result<EliminatedBlock, SingularStep> {
        let (Range { start: k, end }, sharers) = (self.block(number), self.sharers(number));
        let own = self.place(number).next();
        let mut rows = Rows::zeros(end - k, self.n);
        if let Some(own) = own {
            rows.copy_row(self.id - sharers.start, &self.rows, own);
        }
        let mut pivots = Vec::with_capacity(BLOCK);
        for r in 0..end - k {
            let owner = sharers.start + r;
            let pivot = match owner == self.id {
                true => self.eliminate_own_row(p, &mut rows, (k, r), sharers.clone()),
                false => self.receive_row(p, &mut rows, (k, r), owner),
            };
            pivots.push(pivot.ok_or(SingularStep(k + r))?);
        }
        if let Some(own) = own {
            self.rows.copy_row(own, &rows, self.id - sharers.start);
        }
        let u = rows.values_right_of(0..end - k, k);
        self.pass_on(p, &u);
        Ok(EliminatedBlock { k, pivots, u })
    }

    /// Eliminates its row r of a block that begins at row k, and sends its pivot to all, and the row to the
    /// others that share the block. The owner of the next row comes first.
    fn eliminate_own_row(
        &mut self,
        p: &mut Proc,
        rows: &mut Rows,
        (k, r): (usize, usize),
        sharers: Range<usize>,
    ) -> Option<Pivot> {
        let flops = pivot_flops(r, self.n - k - r);
        let block = 0..rows.len();
        let pivot = p.work("flop", flops, || rows.eliminate_row(block, k, r)).map(|(pivot, _)| pivot);
        let right = if pivot.is_some() { rows.round_row(r, k + r) } else { Vec::new() };
        let pieces = self.cut(&right);
        for other in self.others() {
            self.send(p, other, PIVOT.step(k + r), pivot.clone());
        }
        for other in (1..BLOCK).map(|distance| sharers.start + (r + distance) % BLOCK) {
            for piece in &pieces {
                self.send(p, other, ROW.step(k + r), Arc::clone(piece));
            }
        }
        pivot
    }

    /// Receives row r of a block that begins at row k.
    fn receive_row(
        &mut self,
        p: &mut Proc,
        rows: &mut Rows,
        (k, r): (usize, usize),
        owner: usize,
    ) -> Option<Pivot> {
        let pivot = p.recv(PIVOT.step(k + r).from(owner))?;
        rows.exchange_columns(0..rows.len(), k + r, pivot.column);
        let mut right: Vec<f32> = Vec::with_capacity(self.n - k - r - 1);
        for _ in self.shared_pieces(self.n - k - r - 1) {
            right.extend_from_slice(&p.recv(ROW.step(k + r).from(owner)));
        }
        rows.set_row(r, k + r, &right, pivot.y);
        Some(pivot)
    }

    /// Sends a block to the same processor of every other four. The next four, who have the next block, come
    /// first.
    fn pass_on(&mut self, p: &mut Proc, u: &[f64]) {
        let values: Vec<f32> = u.iter().map(|value| *value as f32).collect();
        let pieces = self.cut(&values);
        let (id, P) = (self.id, self.P);
        for other in (BLOCK..P).step_by(BLOCK).map(|distance| (id + distance) % P) {
            for (part, piece) in pieces.iter().enumerate() {
                self.send(p, other, SHARED.step(self.messages + part), Arc::clone(piece));
            }
        }
        self.messages += pieces.len();
    }

    /// Receives a block from the processor that has the same place among the processors that share the block.
    pub(super) fn receive_shared(
        &mut self,
        p: &mut Proc,
        number: usize,
    ) -> Result<EliminatedBlock, SingularStep> {
        let Range { start: k, end } = self.block(number);
        let sharers = self.sharers(number);
        let mut pivots = Vec::with_capacity(BLOCK);
        for (row, owner) in (k..end).zip(sharers.clone()) {
            pivots.push(p.recv(PIVOT.step(row).from(owner)).ok_or(SingularStep(row))?);
        }
        let numbers = (end - k) * (self.n - end);
        let mut u = Vec::with_capacity(numbers);
        for _ in self.shared_pieces(numbers) {
            let piece = p.recv(SHARED.step(self.messages).from(sharers.start + self.id % BLOCK));
            u.extend(piece.iter().map(|value| f64::from(*value)));
            self.messages += 1;
        }
        Ok(EliminatedBlock { k, pivots, u })
    }

    /// Returns the numbers of each message with some numbers.
    fn cut(&self, values: &[f32]) -> Vec<Arc<[f32]>> {
        self.shared_pieces(values.len()).map(|piece| values[piece].into()).collect()
    }

    /// Returns the range of each message's numbers among so many.
    fn shared_pieces(&self, numbers: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let piece = self.piece / size_of::<f32>();
        (0..numbers).step_by(piece).map(move |from| from..numbers.min(from.saturating_add(piece)))
    }
}
