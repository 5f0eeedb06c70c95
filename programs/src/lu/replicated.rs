//! The elimination in a bad layout: every processor needs the whole pivot row and all multipliers (LogP, section 4.2).
//!
//! The paper's footnote 6 has both distributed equally among the processors, and communicated by an all-to-all broadcast.
//! So here element (i, j) belongs to processor i + j modulo P, and with larger panels a block: each processor has
//! elements of every row and of every column.

use std::ops::Range;

use loggp::{Group, Proc, collectives};
use ndarray::{Array2, ArrayView2, ShapeBuilder, s};

use super::kernels::{solve, solve_flops, update, update_flops};
use super::layout::Cut;
use super::moves::{Move, moves};
use super::panel::{Panel, Singular, Team};
use super::record::{Act, Record};
use super::transfer::shift;

/// A processor's part of the elimination.
pub struct Skewed {
    /// The columns of one block row, as they are dealt to the processors; those of the next are one further.
    cut: Cut,
    n: usize,
    id: usize,
    /// The processor's numbers, in the matrix's rows: of each it has other columns.
    pub values: Array2<f64>,
    /// Which rows were pivots.
    pub pivots: Vec<usize>,
    /// What it notes.
    pub record: Record,
    /// Everyone.
    all: Group,
}

/// An eliminated panel.
struct Eliminated {
    /// Its pivot rows.
    top: Array2<f64>,
    /// Which rows were pivots.
    pivots: Vec<usize>,
    /// The processor's rows from the panel's first on.
    rows: Vec<usize>,
    /// Their numbers in the panel's columns.
    values: Array2<f64>,
}

impl Skewed {
    /// The part of a processor, with numbers from the matrix.
    pub fn new(cut: Cut, id: usize, matrix: &ArrayView2<f64>) -> Skewed {
        let (n, most) = (matrix.nrows(), cut.most_from(0));
        let mut part = Skewed {
            cut,
            n,
            id,
            values: Array2::zeros((n, most)),
            pivots: Vec::with_capacity(n),
            record: Record::with_capacity(n),
            all: Group::new(0..cut.parts),
        };
        for i in 0..n {
            for (place, j) in cut.of(part.share(i)).enumerate() {
                part.values[(i, place)] = matrix[(i, j)];
            }
        }
        part
    }

    /// Its numbers, with their rows and columns.
    pub fn elements(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let of_row = |i| self.cut.of(self.share(i)).enumerate().map(move |(place, j)| (i, j, place));
        (0..self.n).flat_map(of_row).map(|(i, j, place)| (i, j, self.values[(i, place)]))
    }

    /// Which of the cut's parts the processor's columns of a row are.
    fn share(&self, row: usize) -> usize {
        self.share_of(self.id, row)
    }

    /// Which of the cut's parts a processor's columns of a row are; and its rows of a column.
    fn share_of(&self, id: usize, row: usize) -> usize {
        let Cut { parts, piece, .. } = self.cut;
        (id + parts - row / piece % parts) % parts
    }

    /// Which of its columns of a row come from this column on.
    fn columns(&self, row: usize, column: usize) -> Range<usize> {
        let share = self.share(row);
        self.cut.before(share, column)..self.cut.len(share)
    }

    /// Eliminates the whole matrix.
    pub fn eliminate(&mut self, p: &mut Proc) -> Result<(), Singular> {
        let piece = self.cut.piece;
        for (number, k) in (0..self.n).step_by(piece).enumerate() {
            let panel = k..(k + piece).min(self.n);
            let eliminated = self.eliminate_panel(p, number, &panel)?;
            let l = self.multipliers(p, number, &panel, &eliminated);
            self.swap(p, number, &panel, &eliminated.pivots);
            let u = self.pivot_rows(p, number, &panel, eliminated.top.view());
            self.update(p, number, &panel, &l, &u);
        }
        Ok(())
    }

    /// Eliminates a panel, of which everyone has some rows.
    fn eliminate_panel(
        &mut self,
        p: &mut Proc,
        number: usize,
        panel: &Range<usize>,
    ) -> Result<Eliminated, Singular> {
        let (k, cut, id) = (panel.start, self.cut, self.id);
        let mine: Vec<usize> = cut.of(self.share(k)).filter(|row| *row >= k).collect();
        let place = |part: &Skewed, row: usize, j: usize| part.columns(row, k + j).start;
        let mut values = Array2::from_shape_fn((mine.len(), panel.len()).f(), |(i, j)| {
            self.values[(mine[i], place(self, mine[i], j))]
        });
        let owner = |row: usize| (row / cut.piece + k / cut.piece) % cut.parts;
        let mut eliminated = Panel::new(k, mine, values.view_mut());
        let done = eliminated.eliminate(&mut Team { p, group: &self.all, owner: &owner, rank: id });
        self.pivots.extend(&eliminated.pivots);
        for (i, row) in eliminated.rows.iter().enumerate() {
            for j in 0..panel.len() {
                let place = place(self, *row, j);
                self.values[(*row, place)] = eliminated.values[(i, j)];
            }
        }
        self.record.did(p, number, Act::Pivot);
        let Panel { top, pivots, rows, .. } = eliminated;
        done.map(|()| Eliminated { top, pivots, rows, values })
    }

    /// The multipliers below the panel, to all: by the processor that had them, rows one below the other.
    fn multipliers(
        &mut self,
        p: &mut Proc,
        number: usize,
        panel: &Range<usize>,
        eliminated: &Eliminated,
    ) -> Vec<Vec<f64>> {
        let below = eliminated.rows.partition_point(|row| *row < panel.end);
        let mine: Vec<f64> = eliminated.values.slice(s![below.., ..]).iter().copied().collect();
        let all = self.gather(p, number, panel, mine);
        self.record.did(p, number, Act::Multipliers);
        all
    }

    /// Everyone's numbers, to all: below the panel in its columns, or right of it in its rows, of which each has as many.
    fn gather(&mut self, p: &mut Proc, number: usize, panel: &Range<usize>, mine: Vec<f64>) -> Vec<Vec<f64>> {
        let of = |id| self.cut.from(self.share_of(id, panel.start), panel.end) * panel.len();
        let counts: Vec<usize> = (0..self.cut.parts).map(of).collect();
        self.record.received(number, counts.iter().sum::<usize>() - mine.len());
        collectives::all_gather_vector(p, &counts, mine)
    }

    /// The panel's pivot rows, solved for, to all: by the processor that had them, column after column.
    fn pivot_rows(
        &mut self,
        p: &mut Proc,
        number: usize,
        panel: &Range<usize>,
        top: ArrayView2<f64>,
    ) -> Vec<Vec<f64>> {
        let (w, columns) = (panel.len(), self.columns(panel.start, panel.end));
        let flops = solve_flops(w, columns.len());
        let mut u = self.values.slice_mut(s![panel.clone(), columns]);
        p.work("flop", flops, || solve(top, u.view_mut()));
        let mine: Vec<f64> = u.t().iter().copied().collect();
        self.record.did(p, number, Act::Solve);
        let all = self.gather(p, number, panel, mine);
        self.record.did(p, number, Act::PivotRows);
        all
    }

    /// The panel's pivot rows come to where they belong. Who has an element of the one row has not that of the other: all
    /// that goes from one row to another goes as many processors further as the rows are apart.
    fn swap(&mut self, p: &mut Proc, number: usize, panel: &Range<usize>, pivots: &[usize]) {
        let Cut { parts, piece, .. } = self.cut;
        let moves = moves(panel.start, pivots);
        let further = |Move { from, to }: &Move| (to / piece + parts - from / piece % parts) % parts;
        let by_way: Vec<Vec<Move>> = (0..parts)
            .map(|way| moves.iter().filter(|step| further(step) == way).copied().collect())
            .collect();
        let read =
            |part: &Skewed, row: usize| part.values.slice(s![row, part.columns(row, panel.end)]).to_vec();
        let out: Vec<Vec<f64>> = by_way
            .iter()
            .map(|moves| moves.iter().flat_map(|Move { from, .. }| read(self, *from)).collect())
            .collect();
        for (way, (moves, values)) in by_way.iter().zip(out).enumerate() {
            if moves.is_empty() {
                continue;
            }
            let expected = moves.iter().map(|Move { to, .. }| self.columns(*to, panel.end).len()).sum();
            let (to, from) = ((self.id + way) % parts, (self.id + parts - way) % parts);
            let came = match way {
                0 => values,
                _ => shift(p, panel.start * parts + way, to, values, from, expected),
            };
            let mut came = came.into_iter();
            for Move { to, .. } in moves {
                let columns = self.columns(*to, panel.end);
                self.values.slice_mut(s![*to, columns]).iter_mut().zip(came.by_ref()).for_each(
                    |(to, from)| {
                        *to = from;
                    },
                );
            }
        }
        self.record.did(p, number, Act::Swap);
    }

    /// Updates what is left, block row by block row: of each the processor has other columns.
    fn update(&mut self, p: &mut Proc, number: usize, panel: &Range<usize>, l: &[Vec<f64>], u: &[Vec<f64>]) {
        let (Cut { parts, piece, .. }, w, n) = (self.cut, panel.len(), self.n);
        let blocks = || (panel.end..n).step_by(piece).map(|row| row..(row + piece).min(n));
        let flops =
            blocks().map(|rows| update_flops(rows.len(), w, self.columns(rows.start, panel.end).len()));
        let flops = flops.sum();
        self.record.active(number, flops);
        // Whose the panel's rows of a block are, and whose its columns, has the multipliers, and the pivot rows.
        let mut taken = vec![0; parts];
        p.work("flop", flops, || {
            for rows in blocks() {
                let columns = self.columns(rows.start, panel.end);
                let from = (rows.start / piece + panel.start / piece) % parts;
                let l = &l[from][taken[from]..][..rows.len() * w];
                taken[from] += rows.len() * w;
                let l = ArrayView2::from_shape((rows.len(), w), l).expect("as many as were sent");
                let whose = (self.share(rows.start) + panel.start / piece) % parts;
                let u = ArrayView2::from_shape((columns.len(), w), &u[whose]).expect("as many as were sent");
                update(self.values.slice_mut(s![rows, columns]), l, u.reversed_axes());
            }
        });
        self.record.did(p, number, Act::Update);
    }
}
