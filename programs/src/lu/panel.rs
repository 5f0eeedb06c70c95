//! A panel: columns that are eliminated together, by the processors that have parts of these columns.
//!
//! Each of these has some rows. For each column they look for the pivot in their own rows, and a reduction
//! finds the largest and sends its row to all of them; so every processor has the panel's pivot rows. Updates
//! of columns far to the right are deferred, and done at once as a product of matrices.

use loggp::collectives::{self, Maximum};
use loggp::{Group, Payload, Proc, Tag};
use ndarray::{Array2, ArrayViewMut2, ShapeBuilder, s};

use super::kernels::{LEAF, solve, solve_flops, update, update_flops};
use crate::math::dense::SingularStep;

/// Tag of a row that gives its place to a pivot row, by elimination step.
const ROW: Tag<Vec<f64>> = Tag::named(0, "row");

/// A processor's rows of a panel.
pub(super) struct LuPanel<'v> {
    /// First column and first row of the panel in the matrix.
    pub k: usize,
    /// Rows of the processor, numbered as in the matrix, in order; none lies above the panel's first row.
    pub rows: Vec<usize>,
    /// Numbers of these rows in the panel's columns.
    pub values: ArrayViewMut2<'v, f64>,
    /// Pivot rows so far.
    pub top: Array2<f64>,
    /// Row numbers of the pivots so far.
    pub pivots: Vec<usize>,
}

/// A candidate for the pivot: the number, its row in the matrix, and the rest of the row.
pub(super) type PivotCandidate = Maximum<Magnitude, Vec<f64>>;

/// The processors that eliminate a panel together, as one of the processors sees the group.
pub(super) struct Team<'p, 'a, 't> {
    /// This processor.
    pub p: &'p mut Proc<'a>,
    /// The group of all.
    pub group: &'t Group,
    /// Returns the processor that has a row of the matrix.
    pub owner: &'t dyn Fn(usize) -> usize,
}

impl Team<'_, '_, '_> {
    /// Passes `row`, which stands where the pivot belongs, to the processor that had the pivot row. Its owner
    /// gives it in `values`; its new owner gets it as the result.
    fn pass_row(&mut self, row: usize, pivot: usize, values: Option<Vec<f64>>) -> Option<Vec<f64>> {
        let [from, to] = [row, pivot].map(self.owner);
        match values {
            Some(values) if from != to => {
                self.p.send(to, ROW.step(row), values);
                None
            }
            None if to == self.p.id() => Some(self.p.recv(ROW.step(row).from(from))),
            here => here,
        }
    }
}

/// A number that is compared by its absolute value.
#[derive(Clone, Copy, PartialEq, Payload)]
pub(super) struct Magnitude(pub f64);

impl PartialOrd for Magnitude {
    fn partial_cmp(&self, other: &Magnitude) -> Option<std::cmp::Ordering> {
        self.0.abs().partial_cmp(&other.0.abs())
    }
}

impl<'v> LuPanel<'v> {
    /// Creates a panel that begins at column and row `k`, before its elimination.
    pub(super) fn new(k: usize, rows: Vec<usize>, values: ArrayViewMut2<'v, f64>) -> LuPanel<'v> {
        let w = values.ncols();
        LuPanel { k, rows, values, top: Array2::zeros((w, w).f()), pivots: Vec::with_capacity(w) }
    }

    /// Eliminates the panel. The pivot rows end as its first rows.
    pub(super) fn eliminate(&mut self, team: &mut Team) -> Result<(), SingularStep> {
        let eliminated = self.eliminate_columns(team, 0, self.values.ncols());
        for j in 0..self.pivots.len() {
            if let Some(place) = self.place(self.k + j) {
                self.values.row_mut(place).assign(&self.top.row(j));
            }
        }
        eliminated
    }

    /// Eliminates columns `first` to `end` of the panel, to which all updates from columns before have been
    /// applied.
    fn eliminate_columns(&mut self, team: &mut Team, first: usize, end: usize) -> Result<(), SingularStep> {
        if end - first <= LEAF {
            return (first..end).try_for_each(|j| self.eliminate_column(team, j, end));
        }
        let half = first.midpoint(end);
        self.eliminate_columns(team, first, half)?;
        let below = self.rows_above(half);
        let rows = self.rows.len() - below;
        let flops = solve_flops(half - first, end - half) + update_flops(rows, half - first, end - half);
        team.p.work("flop", flops, || {
            let (l, mut u) =
                self.top.multi_slice_mut((s![first..half, first..half], s![first..half, half..end]));
            solve(l.view(), u.view_mut());
            let (l, a) = self.values.multi_slice_mut((s![below.., first..half], s![below.., half..end]));
            update(a, l.view(), u.view());
        });
        self.eliminate_columns(team, half, end)
    }

    /// Eliminates column `j`, and updates those up to `end`.
    fn eliminate_column(&mut self, team: &mut Team, j: usize, end: usize) -> Result<(), SingularStep> {
        let from = self.rows_above(j);
        let Maximum { value, place, with } =
            team.p.work("flop", (self.rows.len() - from) as u64, || self.largest(j, from));
        let Maximum { value: Magnitude(pivot), place, with: mut row } =
            collectives::all_max(&mut team.p.within(team.group), value, place, with);
        if pivot == 0.0 {
            return Err(SingularStep(self.k + j));
        }
        self.pivots.push(place);
        self.swap_rows(team, j, place);
        row.insert(j, pivot);
        self.top.row_mut(j).iter_mut().zip(row).for_each(|(top, value)| *top = value);

        let from = self.rows_above(j + 1);
        let rows = self.rows.len() - from;
        team.p.work("flop", rows as u64 + update_flops(rows, 1, end - j - 1), || {
            let (mut l, a) = self.values.multi_slice_mut((s![from.., j..j + 1], s![from.., j + 1..end]));
            l.iter_mut().for_each(|value| *value /= pivot);
            update(a, l.view(), self.top.slice(s![j..j + 1, j + 1..end]));
        });
        Ok(())
    }

    /// Returns the largest number of column `j` in the processor's rows from place `from` on, its row in the
    /// matrix, and the rest of that row.
    fn largest(&self, j: usize, from: usize) -> PivotCandidate {
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

    /// Moves the row that stands where pivot row `j` belongs to the pivot row's place. All processors have
    /// the pivot row itself.
    fn swap_rows(&mut self, team: &mut Team, j: usize, pivot: usize) {
        let row = self.k + j;
        if row == pivot {
            return;
        }
        let values = self.place(row).map(|place| self.values.row(place).to_vec());
        if let Some(values) = team.pass_row(row, pivot, values) {
            let place = self.place(pivot).expect("the owner of a row has it");
            self.values.row_mut(place).iter_mut().zip(values).for_each(|(to, from)| *to = from);
        }
    }

    /// Returns the processor's place of a row of the matrix, or `None` if it does not have the row.
    fn place(&self, row: usize) -> Option<usize> {
        self.rows.binary_search(&row).ok()
    }

    /// Returns the number of the processor's rows above row `j` of the panel.
    fn rows_above(&self, j: usize) -> usize {
        self.rows.partition_point(|row| *row < self.k + j)
    }
}

/// Returns the flops of a processor in the elimination of a panel of w columns. It has `rows` rows from the
/// panel's first on, of which `own` are the panel's first rows.
pub(super) fn panel_flops(rows: usize, w: usize, own: usize) -> u64 {
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
