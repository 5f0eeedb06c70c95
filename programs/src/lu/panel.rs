//! A panel: columns that are eliminated together, by the processors that have parts of them.
//!
//! Each of them has some rows. For each column they look for the pivot in their own rows, and a reduction finds the
//! largest and brings its row to all of them; so every processor has the panel's pivot rows. What columns far to the
//! right still owe to those on the left is done later at once, as a product of matrices.

use loggp::collectives::{self, Maximum};
use loggp::{Group, Payload, Proc, Tag};
use ndarray::{Array2, ArrayViewMut2, ShapeBuilder, s};

use super::kernels::{LEAF, solve, solve_flops, update, update_flops};

/// A row that gives its place to a pivot row, by elimination step.
const ROW: Tag<Vec<f64>> = Tag::named(0, "row");

/// A processor's rows of a panel.
pub struct Panel<'v> {
    /// The first column and the first row of the panel in the matrix.
    pub k: usize,
    /// The processor's rows, as the matrix counts them, in order: none lies above the panel's first row.
    pub rows: Vec<usize>,
    /// The rows' numbers in the panel's columns.
    pub values: ArrayViewMut2<'v, f64>,
    /// The pivot rows so far.
    pub top: Array2<f64>,
    /// Which rows were pivots so far.
    pub pivots: Vec<usize>,
}

/// What could be a pivot: the number, its row in the matrix, and the rest of the row.
pub type Candidate = Maximum<Magnitude, Vec<f64>>;

/// Processors that eliminate a panel together.
pub struct Team<'p, 'a, 't> {
    /// This one.
    pub p: &'p mut Proc<'a>,
    /// Who they are.
    pub group: &'t Group,
    /// Which of them, by rank, has a row of the matrix.
    pub owner: &'t dyn Fn(usize) -> usize,
    /// The rank of this one.
    pub rank: usize,
}

impl Team<'_, '_, '_> {
    /// The largest number of all, its row, and the rest of that row.
    fn largest(&mut self, own: Candidate) -> Candidate {
        let Maximum { value, place, with } = own;
        collectives::all_max(&mut self.p.within(self.group), value, place, with)
    }

    /// Puts the row that stands where a pivot belongs where the pivot row was: who has it gives it, in `values`, to who
    /// gets it. Returns it to who gets it.
    fn pass(&mut self, row: usize, pivot: usize, values: Option<Vec<f64>>) -> Option<Vec<f64>> {
        let [from, to] = [row, pivot].map(self.owner);
        let processor = |rank: usize| self.group.members()[rank];
        match values {
            Some(values) if from != to => {
                self.p.send(processor(to), ROW.step(row), values);
                None
            }
            None if to == self.rank => Some(self.p.recv_from(processor(from), ROW.step(row))),
            here => here,
        }
    }

    /// Computes, for so many flops.
    pub fn flops<R>(&mut self, flops: u64, compute: impl FnOnce() -> R) -> R {
        self.p.work("flop", flops, compute)
    }
}

/// A number to be compared by its absolute value.
#[derive(Clone, Copy, PartialEq, Payload)]
pub struct Magnitude(pub f64);

impl PartialOrd for Magnitude {
    fn partial_cmp(&self, other: &Magnitude) -> Option<std::cmp::Ordering> {
        self.0.abs().partial_cmp(&other.0.abs())
    }
}

/// There is no pivot in this column: all that is left of it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Payload)]
pub struct Singular(pub usize);

impl<'v> Panel<'v> {
    /// A panel that begins at column and row `k`, before its elimination.
    pub fn new(k: usize, rows: Vec<usize>, values: ArrayViewMut2<'v, f64>) -> Panel<'v> {
        let w = values.ncols();
        Panel { k, rows, values, top: Array2::zeros((w, w).f()), pivots: Vec::with_capacity(w) }
    }

    /// Eliminates it. The pivot rows end as the panel's first rows.
    pub fn eliminate(&mut self, team: &mut Team) -> Result<(), Singular> {
        let eliminated = self.columns(team, 0, self.values.ncols());
        for j in 0..self.pivots.len() {
            if let Some(place) = self.place(self.k + j) {
                self.values.row_mut(place).assign(&self.top.row(j));
            }
        }
        eliminated
    }

    /// Eliminates columns `first` to `end` of the panel, which owe nothing to those before.
    fn columns(&mut self, team: &mut Team, first: usize, end: usize) -> Result<(), Singular> {
        if end - first <= LEAF {
            return (first..end).try_for_each(|j| self.column(team, j, end));
        }
        let half = first.midpoint(end);
        self.columns(team, first, half)?;
        let below = self.below(half);
        let rows = self.rows.len() - below;
        let flops = solve_flops(half - first, end - half) + update_flops(rows, half - first, end - half);
        team.flops(flops, || {
            let (l, mut u) =
                self.top.multi_slice_mut((s![first..half, first..half], s![first..half, half..end]));
            solve(l.view(), u.view_mut());
            let (l, a) = self.values.multi_slice_mut((s![below.., first..half], s![below.., half..end]));
            update(a, l.view(), u.view());
        });
        self.columns(team, half, end)
    }

    /// Eliminates column `j`, and takes it out of those up to `end`.
    fn column(&mut self, team: &mut Team, j: usize, end: usize) -> Result<(), Singular> {
        let from = self.below(j);
        let own = team.flops((self.rows.len() - from) as u64, || self.largest(j, from));
        let Maximum { value: Magnitude(pivot), place, with: mut row } = team.largest(own);
        if pivot == 0.0 {
            return Err(Singular(self.k + j));
        }
        self.pivots.push(place);
        self.swap(team, j, place);
        row.insert(j, pivot);
        self.top.row_mut(j).iter_mut().zip(row).for_each(|(top, value)| *top = value);

        let from = self.below(j + 1);
        let rows = self.rows.len() - from;
        team.flops(rows as u64 + update_flops(rows, 1, end - j - 1), || {
            let (mut l, a) = self.values.multi_slice_mut((s![from.., j..j + 1], s![from.., j + 1..end]));
            l.iter_mut().for_each(|value| *value /= pivot);
            update(a, l.view(), self.top.slice(s![j..j + 1, j + 1..end]));
        });
        Ok(())
    }

    /// The largest number of column `j` in the processor's rows from that place on, its row in the matrix, and the rest
    /// of that row.
    fn largest(&self, j: usize, from: usize) -> Candidate {
        let mut largest: Option<(f64, usize)> = None;
        for (place, value) in self.values.column(j).iter().enumerate().skip(from) {
            if largest.is_none_or(|(most, _)| value.abs() > most.abs()) {
                largest = Some((*value, place));
            }
        }
        let Some((value, place)) = largest else {
            let with = vec![0.0; self.values.ncols() - 1];
            return Maximum { value: Magnitude(0.0), place: usize::MAX, with };
        };
        let row = self.values.row(place);
        let rest = row.iter().enumerate().filter(|(column, _)| *column != j).map(|(_, value)| *value);
        Maximum { value: Magnitude(value), place: self.rows[place], with: rest.collect() }
    }

    /// The row that stands where pivot row `j` belongs goes where the pivot row was. The pivot row itself everyone has.
    fn swap(&mut self, team: &mut Team, j: usize, pivot: usize) {
        let row = self.k + j;
        if row == pivot {
            return;
        }
        let values = self.place(row).map(|place| self.values.row(place).to_vec());
        if let Some(values) = team.pass(row, pivot, values) {
            self.put(pivot, &values);
        }
    }

    /// Puts numbers into a row of the matrix.
    fn put(&mut self, row: usize, values: &[f64]) {
        let place = self.place(row).expect("the owner of a row has it");
        self.values.row_mut(place).iter_mut().zip(values).for_each(|(to, from)| *to = *from);
    }

    /// Where the processor has a row of the matrix, if it has.
    fn place(&self, row: usize) -> Option<usize> {
        self.rows.binary_search(&row).ok()
    }

    /// How many of the processor's rows lie above row `j` of the panel.
    fn below(&self, j: usize) -> usize {
        self.rows.partition_point(|row| *row < self.k + j)
    }
}

/// The flops of a processor in the elimination of a panel of w columns, if it has so many rows from the panel's first on,
/// of which so many are the panel's first rows.
pub fn flops(rows: usize, w: usize, own: usize) -> u64 {
    fn of(rows: &dyn Fn(usize) -> usize, first: usize, end: usize) -> u64 {
        if end - first <= LEAF {
            let column = |j| (rows(j) + rows(j + 1)) as u64 + update_flops(rows(j + 1), 1, end - j - 1);
            return (first..end).map(column).sum();
        }
        let half = first.midpoint(end);
        let (l, u) = (half - first, end - half);
        of(rows, first, half) + solve_flops(l, u) + update_flops(rows(half), l, u) + of(rows, half, end)
    }
    of(&|j| rows - j.min(own), 0, w)
}
