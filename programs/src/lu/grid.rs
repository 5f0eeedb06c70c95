//! The elimination on a grid of processors (LogP, section 4.2): each has the elements of some rows and some
//! columns. A grid of one row is the column layout.
//!
//! The grid column that has the panel eliminates it, and passes the multipliers on along the rows of the
//! grid. The pivot rows take their places, and are sent down the grid's columns. Then every processor updates
//! the rest of its matrix. Rows of L stay where they were computed, as in Linpack: a user who needs L in the
//! order of the pivots swaps them once, at the end.

use std::ops::Range;

use loggp::{Group, Proc, collectives};
use ndarray::{Array2, ArrayView2, ShapeBuilder, s};

use super::kernels::{solve, solve_flops, update, update_flops};
use super::layout::{GridLayout, Panel};
use super::log::{EliminationLog, PanelAct};
use super::moves::{Move, moves};
use super::panel::{LuPanel, Team};
use super::transfer::shift;
use crate::math::dense::SingularStep;

/// A processor's part of the elimination.
pub(super) struct GridPart<'a> {
    layout: &'a GridLayout,
    /// Row in the grid.
    r: usize,
    /// Column in the grid.
    c: usize,
    /// Numbers of its rows and columns of the matrix.
    pub values: Array2<f64>,
    /// Log of the processor.
    pub log: EliminationLog,
    /// Last group of its row in the grid, by the first member.
    row_groups: Vec<Option<Group>>,
    /// Last group of its column in the grid, by the first member.
    column_groups: Vec<Option<Group>>,
}

/// A panel's multipliers for a processor's rows.
pub(super) struct Multipliers {
    /// The message: the pivots, and then column after column.
    pub message: Vec<f64>,
    /// Columns of the panel.
    pub w: usize,
}

/// The kind of work that moves numbers, which has no flops.
pub(super) const MOVE: &str = "move";
/// Sent in place of a pivot's row where there is no pivot.
const NO_PIVOT: f64 = -1.0;

impl Multipliers {
    /// Returns the row numbers of the panel's pivots, up to the first that is missing.
    fn pivots(&self) -> Vec<usize> {
        let found = self.message[..self.w].iter().take_while(|row| **row != NO_PIVOT);
        found.map(|row| *row as usize).collect()
    }

    /// Returns the multipliers for all of the processor's rows from the panel's first on.
    pub(super) fn l(&self) -> ArrayView2<'_, f64> {
        let l = &self.message[self.w..];
        ArrayView2::from_shape((l.len() / self.w, self.w).f(), l).expect("whole columns were sent")
    }
}

impl<'a> GridPart<'a> {
    /// Creates the part of a processor, with numbers from the matrix.
    pub(super) fn new(layout: &'a GridLayout, id: usize, matrix: &ArrayView2<f64>) -> GridPart<'a> {
        let GridLayout { rows, cols, n, .. } = layout;
        let (r, c) = (id / cols.parts, id % cols.parts);
        let mut values = Array2::zeros((rows.len(r), cols.len(c)).f());
        for (mut to, column) in values.columns_mut().into_iter().zip(cols.indices(c)) {
            to.iter_mut().zip(rows.indices(r)).for_each(|(to, row)| *to = matrix[(row, column)]);
        }
        GridPart {
            layout,
            r,
            c,
            values,
            log: EliminationLog::with_capacity(*n),
            row_groups: vec![None; cols.parts],
            column_groups: vec![None; rows.parts],
        }
    }

    /// Returns its numbers, with their rows and columns.
    pub(super) fn elements(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let GridLayout { rows, cols, .. } = self.layout;
        let column = |(place, j)| {
            rows.indices(self.r).zip(self.values.column(place)).map(move |(i, value)| (i, j, *value))
        };
        cols.indices(self.c).enumerate().flat_map(column)
    }

    /// Eliminates the whole matrix.
    pub(super) fn eliminate(&mut self, p: &mut Proc, lookahead: bool) -> Result<(), SingularStep> {
        let panels: Vec<Panel> = self.layout.panels().collect();
        let mut ahead = None;
        for panel in &panels {
            if !self.has_part_in(panel) {
                break;
            }
            let multipliers = match ahead.take() {
                Some(multipliers) => multipliers,
                None => self.obtain_multipliers(p, panel),
            };
            let (pivots, l) = (multipliers.pivots(), multipliers.l());
            self.log.pivots.extend(&pivots);
            if pivots.len() < panel.len() {
                return Err(SingularStep(panel.start + pivots.len()));
            }
            let mine = self.columns_from(panel.end);
            if mine.is_empty() {
                continue;
            }
            self.swap_rows(p, panel, &pivots);
            let u = self.obtain_pivot_rows(p, panel, &l);
            let next = panels.get(panel.number + 1).filter(|next| lookahead && self.has_part_in(next));
            let mut rest = mine.clone();
            if let Some(next) = next.filter(|next| self.layout.cols.owner(next.start) == self.c) {
                let urgent = mine.start..mine.start + next.len();
                self.update(p, panel, &l, &u, urgent.clone());
                ahead = Some(self.obtain_multipliers(p, next));
                rest.start = urgent.end;
            }
            self.update(p, panel, &l, &u, rest);
            self.log.finish(p, panel.number, PanelAct::Update);
            if let (Some(next), None) = (next, &ahead) {
                ahead = Some(self.obtain_multipliers(p, next));
            }
        }
        Ok(())
    }

    /// Returns whether the processor has work for a panel; if not, it has none for any later one.
    fn has_part_in(&self, panel: &Panel) -> bool {
        let GridLayout { rows, cols, .. } = self.layout;
        let has_columns = cols.owner(panel.start) == self.c || cols.count_from(self.c, panel.end) > 0;
        rows.count_from(self.r, panel.start) > 0 && has_columns
    }

    /// Gets the panel's multipliers: the grid column that has the panel eliminates it, and the others receive
    /// them.
    fn obtain_multipliers(&mut self, p: &mut Proc, panel: &Panel) -> Multipliers {
        let owner = self.layout.cols.owner(panel.start);
        let own = (owner == self.c).then(|| {
            let GridLayout { rows, cols, .. } = *self.layout;
            let (c, group) = (self.c, self.column_group(rows.owner(panel.start), panel.start));
            let owner = |row: usize| rows.owner(row) * cols.parts + c;
            let pivots = self.eliminate_panel(panel, &mut Team { p, group: &group, owner: &owner });
            self.log.finish(p, panel.number, PanelAct::Pivot);
            p.work(MOVE, 0, || self.multiplier_message(panel, pivots))
        });
        let (rows, w) = (self.rows_from(panel.start), panel.len());
        let group = self.row_group(owner, panel.end);
        let message = collectives::broadcast_chain(&mut p.within(&group), 0, w + rows.len() * w, own);
        p.work(MOVE, 0, || ()); // the time of the broadcast's copies ends here
        if owner != self.c {
            // The paper counts the multipliers; the pivots and their block are extra.
            self.log.add_received(panel.number, self.rows_from(panel.end).len() * w);
        }
        self.log.finish(p, panel.number, PanelAct::Multipliers);
        Multipliers { message, w }
    }

    /// Eliminates the panel together with the others that have rows of it. Returns its pivots.
    pub(super) fn eliminate_panel(&mut self, panel: &Panel, team: &mut Team) -> Vec<usize> {
        let (rows, columns) = (self.rows_from(panel.start), self.columns_from(panel.start));
        let columns = columns.start..columns.start + panel.len();
        let mine = self.layout.rows.indices(self.r).skip(rows.start).collect();
        let mut eliminated = LuPanel::new(panel.start, mine, self.values.slice_mut(s![rows, columns]));
        let found = eliminated.eliminate(team);
        debug_assert_eq!(found.is_ok(), eliminated.pivots.len() == panel.len());
        eliminated.pivots
    }

    /// Returns the message of an eliminated panel: its pivots, and then the multipliers for the processor's
    /// rows.
    pub(super) fn multiplier_message(&self, panel: &Panel, pivots: Vec<usize>) -> Vec<f64> {
        let (rows, w) = (self.rows_from(panel.start), panel.len());
        let first = self.columns_from(panel.start).start;
        let mut message: Vec<f64> = Vec::with_capacity(w + rows.len() * w);
        message.extend(pivots.into_iter().map(|row| row as f64));
        message.resize(w, NO_PIVOT);
        append_columns(message, self.values.slice(s![rows, first..first + w]))
    }

    /// Moves the pivot rows to their places, and the rows that stood there to where those were.
    fn swap_rows(&mut self, p: &mut Proc, panel: &Panel, pivots: &[usize]) {
        let rows = self.layout.rows;
        let (top, columns) = (rows.owner(panel.start), self.columns_from(panel.end));
        let moves = moves(panel.start, pivots);
        // A row that leaves the panel's rows makes room for one from the row that it goes to.
        let others: Vec<usize> = match top == self.r {
            true => (0..rows.parts).filter(|other| *other != top).collect(),
            false => vec![top],
        };
        let between = |from: usize, to: usize| {
            moves.iter().filter(move |Move { from: row, to: place }| {
                (rows.owner(*row), rows.owner(*place)) == (from, to)
            })
        };
        // All is read before anything is written.
        let out: Vec<Vec<f64>> = p.work(MOVE, 0, || {
            let read = |Move { from, .. }: &Move| {
                let row = rows.count_before(self.r, *from);
                self.values.slice(s![row, columns.clone()]).to_vec()
            };
            let to = |other: &usize| between(self.r, *other).flat_map(read).collect();
            let out = others.iter().map(to).collect();
            let within: Vec<Move> = between(self.r, self.r).copied().collect();
            self.swap_within(&within, columns.clone());
            out
        });
        for (other, values) in others.into_iter().zip(out) {
            if values.is_empty() {
                continue;
            }
            let (id, expected) = (other * self.layout.cols.parts + self.c, values.len());
            // Each partner has its own tag, as numbers of another may arrive meanwhile.
            let step = panel.start * rows.parts + if top == self.r { other } else { self.r };
            let received = shift(p, step, id, values, id, expected);
            for (Move { to, .. }, values) in between(other, self.r).zip(received.chunks(columns.len())) {
                let row = rows.count_before(self.r, *to);
                let mut to = self.values.slice_mut(s![row, columns.clone()]);
                to.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
            }
        }
        p.work(MOVE, 0, || ()); // the time of these writes ends here
        self.log.finish(p, panel.number, PanelAct::Swap);
    }

    /// Moves rows within the processor, in these columns.
    pub(super) fn swap_within(&mut self, moves: &[Move], columns: Range<usize>) {
        let place = |row| self.layout.rows.count_before(self.r, row);
        let moves: Vec<(usize, usize)> =
            moves.iter().map(|Move { from, to }| (place(*from), place(*to))).collect();
        let mut values = vec![0.0; moves.len()];
        for mut column in self.values.slice_mut(s![.., columns]).columns_mut() {
            values.iter_mut().zip(&moves).for_each(|(value, (from, _))| *value = column[*from]);
            values.iter().zip(&moves).for_each(|(value, (_, to))| column[*to] = *value);
        }
    }

    /// Gets the panel's pivot rows in the processor's columns: the grid row that has them solves for them,
    /// and the others receive them down the column.
    fn obtain_pivot_rows(&mut self, p: &mut Proc, panel: &Panel, l: &ArrayView2<f64>) -> Array2<f64> {
        let (first, w, columns) =
            (self.rows_from(panel.start).start, panel.len(), self.columns_from(panel.end));
        let top = self.layout.rows.owner(panel.start);
        let own = (top == self.r).then(|| {
            let mut rows = self.values.slice_mut(s![first..first + w, columns.clone()]);
            p.work("flop", solve_flops(w, columns.len()), || solve(l.slice(s![..w, ..]), rows.view_mut()));
            self.log.finish(p, panel.number, PanelAct::Solve);
            p.work(MOVE, 0, || append_columns(Vec::with_capacity(rows.len()), rows.view()))
        });
        let values = w * columns.len();
        let group = self.column_group(top, panel.end);
        let u = collectives::broadcast_vector(&mut p.within(&group), 0, values, own);
        p.work(MOVE, 0, || ()); // the time of the broadcast's copies ends here
        if top != self.r {
            self.log.add_received(panel.number, values);
        }
        self.log.finish(p, panel.number, PanelAct::PivotRows);
        Array2::from_shape_vec((w, columns.len()).f(), u).expect("as many as were sent")
    }

    /// Updates some of the columns after the panel.
    fn update(
        &mut self,
        p: &mut Proc,
        panel: &Panel,
        l: &ArrayView2<f64>,
        u: &Array2<f64>,
        columns: Range<usize>,
    ) {
        let (first, rows) = (self.columns_from(panel.end).start, self.rows_from(panel.end));
        let flops = update_flops(rows.len(), panel.len(), columns.len());
        self.log.mark_active(panel.number, flops);
        let below = l.nrows() - rows.len();
        let u = u.slice(s![.., columns.start - first..columns.end - first]);
        let rest = self.values.slice_mut(s![rows, columns]);
        p.work("flop", flops, || update(rest, l.slice(s![below.., ..]), u));
    }

    /// Returns the processor's rows from a row of the matrix on.
    pub(super) fn rows_from(&self, row: usize) -> Range<usize> {
        let rows = self.layout.rows;
        rows.count_before(self.r, row)..rows.len(self.r)
    }

    /// Returns the processor's columns from a column of the matrix on.
    pub(super) fn columns_from(&self, column: usize) -> Range<usize> {
        let cols = self.layout.cols;
        cols.count_before(self.c, column)..cols.len(self.c)
    }

    /// Returns the processors in this one's grid row that have columns from this one on, after the first one.
    fn row_group(&mut self, first: usize, column: usize) -> Group {
        let (r, cols) = (self.r, self.layout.cols);
        let members = cols.parts_after(first, column).map(|c| r * cols.parts + c);
        cached_group(&mut self.row_groups[first], members.collect())
    }

    /// Returns the processors in this one's grid column that have rows from this one on, after the first one.
    fn column_group(&mut self, first: usize, row: usize) -> Group {
        let (c, columns) = (self.c, self.layout.cols.parts);
        let members = self.layout.rows.parts_after(first, row).map(|r| r * columns + c);
        cached_group(&mut self.column_groups[first], members.collect())
    }
}

/// Returns the numbers with those of a matrix after them, column after column.
fn append_columns(mut numbers: Vec<f64>, part: ArrayView2<f64>) -> Vec<f64> {
    for column in part.columns() {
        numbers.extend_from_slice(column.as_slice().expect("a column lies together"));
    }
    numbers
}

/// Returns the group of these members, which is the same as last time until some member has nothing left.
fn cached_group(last: &mut Option<Group>, members: Vec<usize>) -> Group {
    match last {
        Some(group) if group.members() == members => group.clone(),
        _ => last.insert(Group::new(members)).clone(),
    }
}
