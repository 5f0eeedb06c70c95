//! The elimination in a bad layout: every processor needs the whole pivot row and all multipliers (LogP,
//! section 4.2).
//!
//! In the paper's footnote 6 both are distributed equally among the processors, and communicated by an
//! all-to-all broadcast. So here element (i, j) belongs to processor i + j modulo P, and with larger panels a
//! block does: each processor has elements of every row and of every column.

use std::ops::Range;

use loggp::{Group, Proc, collectives};
use ndarray::{Array2, ArrayView2, ShapeBuilder, s};

use super::kernels::{solve, solve_flops, update, update_flops};
use super::layout::{Cut, GridLayout, Panel};
use super::log::{EliminationLog, PanelAct};
use super::moves::{Move, moves};
use super::panel::{LuPanel, Team};
use super::transfer::shift;
use crate::math::dense::SingularStep;

/// A processor's part of the elimination.
pub(super) struct SkewedPart<'a> {
    /// Its columns are those of the first block row, as they are dealt to the processors. Each further block
    /// row is shifted by one.
    layout: &'a GridLayout,
    id: usize,
    /// Numbers of the processor, in the matrix's rows. It has other columns of each row.
    pub values: Array2<f64>,
    /// Log of the processor.
    pub log: EliminationLog,
    /// Group of all processors.
    all: Group,
}

/// An eliminated panel.
struct EliminatedPanel {
    top: Array2<f64>,
    /// Row numbers of the pivots.
    pivots: Vec<usize>,
    /// Rows of the processor from the panel's first on.
    rows: Vec<usize>,
    /// Numbers of these rows in the panel's columns.
    values: Array2<f64>,
}

impl<'a> SkewedPart<'a> {
    /// Creates the part of a processor, with numbers from the matrix.
    pub(super) fn new(layout: &'a GridLayout, id: usize, matrix: &ArrayView2<f64>) -> SkewedPart<'a> {
        let (n, cut, most) = (layout.n, layout.cols, layout.cols.most_from(0));
        let mut part = SkewedPart {
            layout,
            id,
            values: Array2::zeros((n, most)),
            log: EliminationLog::with_capacity(n),
            all: Group::new(0..cut.parts),
        };
        for i in 0..n {
            for (place, j) in cut.indices(part.share(i)).enumerate() {
                part.values[(i, place)] = matrix[(i, j)];
            }
        }
        part
    }

    /// Returns its numbers, with their rows and columns.
    pub(super) fn elements(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let of_row =
            |i| self.layout.cols.indices(self.share(i)).enumerate().map(move |(place, j)| (i, j, place));
        (0..self.layout.n).flat_map(of_row).map(|(i, j, place)| (i, j, self.values[(i, place)]))
    }

    /// Returns the part of the cut that has the processor's columns of a row.
    fn share(&self, row: usize) -> usize {
        self.share_of(self.id, row)
    }

    /// Returns the part of the cut that has a processor's columns of a row, or its rows of a column.
    fn share_of(&self, id: usize, row: usize) -> usize {
        let Cut { parts, piece, .. } = self.layout.cols;
        (id + parts - row / piece % parts) % parts
    }

    /// Returns its columns of a row from this column on.
    fn columns(&self, row: usize, column: usize) -> Range<usize> {
        let share = self.share(row);
        self.layout.cols.count_before(share, column)..self.layout.cols.len(share)
    }

    /// Eliminates the whole matrix.
    pub(super) fn eliminate(&mut self, p: &mut Proc) -> Result<(), SingularStep> {
        for panel in self.layout.panels() {
            let eliminated = self.eliminate_panel(p, &panel)?;
            let l = self.share_multipliers(p, &panel, &eliminated);
            self.swap_rows(p, &panel, &eliminated.pivots);
            let u = self.share_pivot_rows(p, &panel, eliminated.top.view());
            self.update(p, &panel, &l, &u);
        }
        Ok(())
    }

    /// Eliminates a panel, of which every processor has some rows.
    fn eliminate_panel(&mut self, p: &mut Proc, panel: &Panel) -> Result<EliminatedPanel, SingularStep> {
        let (k, cut) = (panel.start, self.layout.cols);
        let mine: Vec<usize> = cut.indices(self.share(k)).filter(|row| *row >= k).collect();
        let place = |part: &SkewedPart, row: usize, j: usize| part.columns(row, k + j).start;
        let mut values = Array2::from_shape_fn((mine.len(), panel.len()).f(), |(i, j)| {
            self.values[(mine[i], place(self, mine[i], j))]
        });
        let owner = |row: usize| (row / cut.piece + k / cut.piece) % cut.parts;
        let mut eliminated = LuPanel::new(k, mine, values.view_mut());
        let done = eliminated.eliminate(&mut Team { p, group: &self.all, owner: &owner });
        self.log.pivots.extend(&eliminated.pivots);
        for (i, row) in eliminated.rows.iter().enumerate() {
            for j in 0..panel.len() {
                let place = place(self, *row, j);
                self.values[(*row, place)] = eliminated.values[(i, j)];
            }
        }
        self.log.finish(p, panel.number, PanelAct::Pivot);
        let LuPanel { top, pivots, rows, .. } = eliminated;
        done.map(|()| EliminatedPanel { top, pivots, rows, values })
    }

    /// Sends the multipliers below the panel to all. Returns those of each processor, row after row.
    fn share_multipliers(
        &mut self,
        p: &mut Proc,
        panel: &Panel,
        eliminated: &EliminatedPanel,
    ) -> Vec<Vec<f64>> {
        let below = eliminated.rows.partition_point(|row| *row < panel.end);
        let mine: Vec<f64> = eliminated.values.slice(s![below.., ..]).iter().copied().collect();
        let all = self.gather(p, panel, mine);
        self.log.finish(p, panel.number, PanelAct::Multipliers);
        all
    }

    /// Sends every processor's numbers to all: those below the panel in its columns, or right of it in its
    /// rows, which are as many.
    fn gather(&mut self, p: &mut Proc, panel: &Panel, mine: Vec<f64>) -> Vec<Vec<f64>> {
        let of = |id| self.layout.cols.count_from(self.share_of(id, panel.start), panel.end) * panel.len();
        let counts: Vec<usize> = (0..self.layout.cols.parts).map(of).collect();
        self.log.add_received(panel.number, counts.iter().sum::<usize>() - mine.len());
        collectives::all_gather_vector(p, &counts, mine)
    }

    /// Solves for the panel's pivot rows, and sends them to all. Returns those of each processor, column
    /// after column.
    fn share_pivot_rows(&mut self, p: &mut Proc, panel: &Panel, top: ArrayView2<f64>) -> Vec<Vec<f64>> {
        let (w, columns) = (panel.len(), self.columns(panel.start, panel.end));
        let flops = solve_flops(w, columns.len());
        let mut u = self.values.slice_mut(s![panel.start..panel.end, columns]);
        p.work("flop", flops, || solve(top, u.view_mut()));
        let mine: Vec<f64> = u.t().iter().copied().collect();
        self.log.finish(p, panel.number, PanelAct::Solve);
        let all = self.gather(p, panel, mine);
        self.log.finish(p, panel.number, PanelAct::PivotRows);
        all
    }

    /// Moves the panel's pivot rows to their places. The elements of two rows in one column have different
    /// processors: all that moves from one row to another moves as many processors further as the rows are
    /// apart.
    fn swap_rows(&mut self, p: &mut Proc, panel: &Panel, pivots: &[usize]) {
        let Cut { parts, piece, .. } = self.layout.cols;
        let moves = moves(panel.start, pivots);
        let distance_of = |Move { from, to }: &Move| (to / piece + parts - from / piece % parts) % parts;
        let by_distance: Vec<Vec<Move>> = (0..parts)
            .map(|distance| moves.iter().filter(|step| distance_of(step) == distance).copied().collect())
            .collect();
        let read =
            |part: &SkewedPart, row: usize| part.values.slice(s![row, part.columns(row, panel.end)]).to_vec();
        let out: Vec<Vec<f64>> = by_distance
            .iter()
            .map(|moves| moves.iter().flat_map(|Move { from, .. }| read(self, *from)).collect())
            .collect();
        for (distance, (moves, values)) in by_distance.iter().zip(out).enumerate() {
            if moves.is_empty() {
                continue;
            }
            let expected = moves.iter().map(|Move { to, .. }| self.columns(*to, panel.end).len()).sum();
            let (to, from) = ((self.id + distance) % parts, (self.id + parts - distance) % parts);
            let received = match distance {
                0 => values,
                _ => shift(p, panel.start * parts + distance, to, values, from, expected),
            };
            let mut received = received.into_iter();
            for Move { to, .. } in moves {
                let columns = self.columns(*to, panel.end);
                self.values.slice_mut(s![*to, columns]).iter_mut().zip(received.by_ref()).for_each(
                    |(to, from)| {
                        *to = from;
                    },
                );
            }
        }
        self.log.finish(p, panel.number, PanelAct::Swap);
    }

    /// Updates the rest of the matrix, block row by block row. The processor has other columns of each.
    fn update(&mut self, p: &mut Proc, panel: &Panel, l: &[Vec<f64>], u: &[Vec<f64>]) {
        let (Cut { parts, piece, .. }, w, n) = (self.layout.cols, panel.len(), self.layout.n);
        let blocks = || (panel.end..n).step_by(piece).map(|row| row..(row + piece).min(n));
        let flops =
            blocks().map(|rows| update_flops(rows.len(), w, self.columns(rows.start, panel.end).len()));
        let flops = flops.sum();
        self.log.mark_active(panel.number, flops);
        // The multipliers come from the processor that has the panel's rows of a block, the pivot rows from
        // that of its columns.
        let mut taken = vec![0; parts];
        p.work("flop", flops, || {
            for rows in blocks() {
                let columns = self.columns(rows.start, panel.end);
                let from = (rows.start / piece + panel.start / piece) % parts;
                let l = &l[from][taken[from]..][..rows.len() * w];
                taken[from] += rows.len() * w;
                let l = ArrayView2::from_shape((rows.len(), w), l).expect("as many as were sent");
                let owner = (self.share(rows.start) + panel.start / piece) % parts;
                let u = ArrayView2::from_shape((columns.len(), w), &u[owner]).expect("as many as were sent");
                update(self.values.slice_mut(s![rows, columns]), l, u.reversed_axes());
            }
        });
        self.log.finish(p, panel.number, PanelAct::Update);
    }
}
