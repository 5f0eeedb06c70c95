//! The elimination on a grid of processors (LogP, section 4.2): each has the elements of some rows and some columns.
//! A grid of one row is the column layout.
//!
//! The panel's grid column eliminates it, and passes the multipliers on along the rows of the grid. The pivot rows take
//! their places, and go down its columns. Then everyone updates what it has left. Rows of L stay where they were when
//! they were computed, as in Linpack: who needs L in the order of the pivots swaps them once, at the end.

use std::ops::Range;

use loggp::{Group, Proc, collectives};
use ndarray::{Array2, ArrayView2, ShapeBuilder, s};

use super::kernels::{solve, solve_flops, update, update_flops};
use super::layout::{Cut, Layout};
use super::moves::{Move, moves};
use super::panel::{Panel, Singular, Team};
use super::record::{Act, Record};
use super::transfer::shift;

/// A processor's part of the elimination.
pub struct OnGrid<'a> {
    layout: &'a Layout,
    /// The processor's row in the grid.
    r: usize,
    /// Its column in the grid.
    c: usize,
    /// Its rows and columns of the matrix.
    pub values: Array2<f64>,
    /// Which rows were pivots, panel by panel, as far as it was told.
    pub pivots: Vec<usize>,
    /// What it notes.
    pub record: Record,
    /// The groups of its row in the grid, by who comes first.
    along: Vec<Option<Line>>,
    /// The groups of its column in the grid, by who comes first.
    down: Vec<Option<Line>>,
}

/// Some of those in one row or one column of the grid.
#[derive(Clone)]
struct Line {
    /// Their places in the row or the column.
    places: Vec<usize>,
    /// The same as a group.
    group: Group,
}

/// A panel's multipliers, as a processor needs them: for its rows.
pub struct Multipliers {
    /// What was sent: the pivots, and then column after column.
    pub message: Vec<f64>,
    /// The columns of the panel.
    pub w: usize,
}

/// The kind of work that moves numbers: it has no flops.
pub const MOVE: &str = "move";
/// What is sent in place of a pivot's row where there is none.
const NO_PIVOT: f64 = -1.0;

impl Multipliers {
    /// Which rows are the panel's pivots, as far as there are pivots.
    fn pivots(&self) -> Vec<usize> {
        let found = self.message[..self.w].iter().take_while(|row| **row != NO_PIVOT);
        found.map(|row| *row as usize).collect()
    }

    /// The multipliers for all of the processor's rows from the panel's first on.
    pub fn l(&self) -> ArrayView2<'_, f64> {
        let l = &self.message[self.w..];
        ArrayView2::from_shape((l.len() / self.w, self.w).f(), l).expect("whole columns were sent")
    }
}

impl<'a> OnGrid<'a> {
    /// The part of a processor, with numbers from the matrix.
    pub fn new(layout: &'a Layout, id: usize, matrix: &ArrayView2<f64>) -> OnGrid<'a> {
        let Layout { rows, cols, n, .. } = layout;
        let (r, c) = (id / cols.parts, id % cols.parts);
        let mut values = Array2::zeros((rows.len(r), cols.len(c)).f());
        for (mut to, column) in values.columns_mut().into_iter().zip(cols.of(c)) {
            to.iter_mut().zip(rows.of(r)).for_each(|(to, row)| *to = matrix[(row, column)]);
        }
        OnGrid {
            layout,
            r,
            c,
            values,
            pivots: Vec::with_capacity(*n),
            record: Record::with_capacity(*n),
            along: vec![None; cols.parts],
            down: vec![None; rows.parts],
        }
    }

    /// Its numbers, with their rows and columns.
    pub fn elements(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let Layout { rows, cols, .. } = self.layout;
        let column =
            |(place, j)| rows.of(self.r).zip(self.values.column(place)).map(move |(i, value)| (i, j, *value));
        cols.of(self.c).enumerate().flat_map(column)
    }

    /// Eliminates the whole matrix.
    pub fn eliminate(&mut self, p: &mut Proc, lookahead: bool) -> Result<(), Singular> {
        let panels: Vec<Range<usize>> = self.layout.panels().collect();
        let mut ahead = None;
        for (number, panel) in panels.iter().enumerate() {
            if !self.takes_part(panel) {
                break;
            }
            let multipliers = match ahead.take() {
                Some(multipliers) => multipliers,
                None => self.multipliers(p, number, panel),
            };
            let (pivots, l) = (multipliers.pivots(), multipliers.l());
            self.pivots.extend(&pivots);
            if pivots.len() < panel.len() {
                return Err(Singular(panel.start + pivots.len()));
            }
            let mine = self.columns_from(panel.end);
            if mine.is_empty() {
                continue;
            }
            self.swap(p, number, panel, &pivots);
            let u = self.pivot_rows(p, number, panel, &l);
            let next = panels.get(number + 1).filter(|next| lookahead && self.takes_part(next));
            let mut rest = mine.clone();
            if let Some(next) = next.filter(|next| self.layout.cols.owner(next.start) == self.c) {
                let urgent = mine.start..mine.start + next.len();
                self.update(p, number, panel, &l, &u, urgent.clone());
                ahead = Some(self.multipliers(p, number + 1, next));
                rest.start = urgent.end;
            }
            self.update(p, number, panel, &l, &u, rest);
            self.record.did(p, number, Act::Update);
            if let (Some(next), None) = (next, &ahead) {
                ahead = Some(self.multipliers(p, number + 1, next));
            }
        }
        Ok(())
    }

    /// Whether the processor has anything to do with a panel; if not, it has with none after it.
    fn takes_part(&self, panel: &Range<usize>) -> bool {
        let Layout { rows, cols, .. } = self.layout;
        let has_columns = cols.owner(panel.start) == self.c || cols.from(self.c, panel.end) > 0;
        rows.from(self.r, panel.start) > 0 && has_columns
    }

    /// The panel's multipliers: those whose it is eliminate it, and the others get it along the row.
    fn multipliers(&mut self, p: &mut Proc, number: usize, panel: &Range<usize>) -> Multipliers {
        let owner = self.layout.cols.owner(panel.start);
        let own = (owner == self.c).then(|| {
            let down = self.down(self.layout.rows.owner(panel.start), panel.start);
            let rank = |r: usize| down.places.iter().position(|place| *place == r);
            let rows = self.layout.rows;
            let owner = |row: usize| rank(rows.owner(row)).expect("who has rows left is in the team");
            let rank = rank(self.r).expect("this one has rows left");
            let pivots =
                self.eliminate_panel(panel, &mut Team { p, group: &down.group, owner: &owner, rank });
            self.record.did(p, number, Act::Pivot);
            p.work(MOVE, 0, || self.message(panel, pivots))
        });
        let (rows, w) = (self.rows_from(panel.start), panel.len());
        let along = self.along(owner, panel.end);
        let message = collectives::broadcast_chain(&mut p.within(&along.group), 0, w + rows.len() * w, own);
        p.work(MOVE, 0, || ()); // what the broadcast has copied is over
        if owner != self.c {
            // The paper counts the multipliers: the pivots and their block come beside.
            self.record.received(number, self.rows_from(panel.end).len() * w);
        }
        self.record.did(p, number, Act::Multipliers);
        Multipliers { message, w }
    }

    /// Eliminates the panel with others who have rows of it. Returns its pivots.
    pub fn eliminate_panel(&mut self, panel: &Range<usize>, team: &mut Team) -> Vec<usize> {
        let (rows, columns) = (self.rows_from(panel.start), self.columns_from(panel.start));
        let columns = columns.start..columns.start + panel.len();
        let mine = self.layout.rows.of(self.r).skip(rows.start).collect();
        let mut eliminated = Panel::new(panel.start, mine, self.values.slice_mut(s![rows, columns]));
        let found = eliminated.eliminate(team);
        debug_assert_eq!(found.is_ok(), eliminated.pivots.len() == panel.len());
        eliminated.pivots
    }

    /// The pivots of an eliminated panel, and then the multipliers for the processor's rows, as they are sent.
    pub fn message(&self, panel: &Range<usize>, pivots: Vec<usize>) -> Vec<f64> {
        let (rows, w) = (self.rows_from(panel.start), panel.len());
        let first = self.columns_from(panel.start).start;
        let mut message: Vec<f64> = Vec::with_capacity(w + rows.len() * w);
        message.extend(pivots.into_iter().map(|row| row as f64));
        message.resize(w, NO_PIVOT);
        extend(&mut message, self.values.slice(s![rows, first..first + w]));
        message
    }

    /// The pivot rows come to where they belong, and the rows that stood there go where those were.
    fn swap(&mut self, p: &mut Proc, number: usize, panel: &Range<usize>, pivots: &[usize]) {
        let rows = self.layout.rows;
        let (top, columns) = (rows.owner(panel.start), self.columns_from(panel.end));
        let moves = moves(panel.start, pivots);
        // A row that leaves the panel's rows makes room for one that comes from where it goes.
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
                let row = rows.before(self.r, *from);
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
            // What comes from others meanwhile has other tags.
            let step = panel.start * rows.parts + if top == self.r { other } else { self.r };
            let came = shift(p, step, id, values, id, expected);
            for (Move { to, .. }, values) in between(other, self.r).zip(came.chunks(columns.len())) {
                let row = rows.before(self.r, *to);
                let mut to = self.values.slice_mut(s![row, columns.clone()]);
                to.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
            }
        }
        p.work(MOVE, 0, || ()); // what was written is over
        self.record.did(p, number, Act::Swap);
    }

    /// Rows of the processor take other places of the processor, in these columns.
    pub fn swap_within(&mut self, moves: &[Move], columns: Range<usize>) {
        let place = |row| self.layout.rows.before(self.r, row);
        let moves: Vec<(usize, usize)> =
            moves.iter().map(|Move { from, to }| (place(*from), place(*to))).collect();
        let mut values = vec![0.0; moves.len()];
        for mut column in self.values.slice_mut(s![.., columns]).columns_mut() {
            values.iter_mut().zip(&moves).for_each(|(value, (from, _))| *value = column[*from]);
            values.iter().zip(&moves).for_each(|(value, (_, to))| column[*to] = *value);
        }
    }

    /// The panel's pivot rows in the processor's columns: those who have them solve for them, and the others get them
    /// down the column.
    fn pivot_rows(
        &mut self,
        p: &mut Proc,
        number: usize,
        panel: &Range<usize>,
        l: &ArrayView2<f64>,
    ) -> Array2<f64> {
        let (w, columns) = (panel.len(), self.columns_from(panel.end));
        let top = self.layout.rows.owner(panel.start);
        let own = (top == self.r).then(|| {
            p.work("flop", solve_flops(w, columns.len()), || self.solve(panel, l));
            self.record.did(p, number, Act::Solve);
            p.work(MOVE, 0, || self.rows(panel))
        });
        let values = w * columns.len();
        let down = self.down(top, panel.end);
        let u = collectives::broadcast_vector(&mut p.within(&down.group), 0, values, own);
        p.work(MOVE, 0, || ()); // what the broadcast has copied is over
        if top != self.r {
            self.record.received(number, values);
        }
        self.record.did(p, number, Act::PivotRows);
        Array2::from_shape_vec((w, columns.len()).f(), u).expect("as many as were sent")
    }

    /// Solves for the panel's pivot rows, which the processor has.
    pub fn solve(&mut self, panel: &Range<usize>, l: &ArrayView2<f64>) {
        let (first, w) = (self.rows_from(panel.start).start, panel.len());
        let columns = self.columns_from(panel.end);
        solve(l.slice(s![..w, ..]), self.values.slice_mut(s![first..first + w, columns]));
    }

    /// The panel's pivot rows, which the processor has, right of the panel, column after column.
    pub fn rows(&self, panel: &Range<usize>) -> Vec<f64> {
        let (first, columns) = (self.rows_from(panel.start).start, self.columns_from(panel.end));
        let mut rows = Vec::with_capacity(panel.len() * columns.len());
        extend(&mut rows, self.values.slice(s![first..first + panel.len(), columns]));
        rows
    }

    /// Updates some of the columns that come after the panel.
    fn update(
        &mut self,
        p: &mut Proc,
        number: usize,
        panel: &Range<usize>,
        l: &ArrayView2<f64>,
        u: &Array2<f64>,
        columns: Range<usize>,
    ) {
        let flops = update_flops(self.rows_from(panel.end).len(), panel.len(), columns.len());
        self.record.active(number, flops);
        p.work("flop", flops, || self.apply(panel, l, u, columns));
    }

    /// Takes the panel out of some of the columns that come after it.
    pub fn apply(
        &mut self,
        panel: &Range<usize>,
        l: &ArrayView2<f64>,
        u: &Array2<f64>,
        columns: Range<usize>,
    ) {
        let (first, rows) = (self.columns_from(panel.end).start, self.rows_from(panel.end));
        let below = l.nrows() - rows.len();
        let u = u.slice(s![.., columns.start - first..columns.end - first]);
        update(self.values.slice_mut(s![rows, columns]), l.slice(s![below.., ..]), u);
    }

    /// The processor's rows from a row of the matrix on.
    pub fn rows_from(&self, row: usize) -> Range<usize> {
        let rows = self.layout.rows;
        rows.before(self.r, row)..rows.len(self.r)
    }

    /// The processor's columns from a column of the matrix on.
    pub fn columns_from(&self, column: usize) -> Range<usize> {
        let cols = self.layout.cols;
        cols.before(self.c, column)..cols.len(self.c)
    }

    /// Those in the processor's row who have columns from this one on, after the one who comes first.
    fn along(&mut self, first: usize, column: usize) -> Line {
        let (r, cols) = (self.r, self.layout.cols);
        line(&mut self.along[first], cols, first, column, |c| r * cols.parts + c)
    }

    /// Those in the processor's column who have rows from this one on, after the one who comes first.
    fn down(&mut self, first: usize, row: usize) -> Line {
        let (c, columns) = (self.c, self.layout.cols.parts);
        line(&mut self.down[first], self.layout.rows, first, row, |r| r * columns + c)
    }
}

/// Appends a part's numbers, column after column.
fn extend(numbers: &mut Vec<f64>, part: ArrayView2<f64>) {
    for column in part.columns() {
        numbers.extend_from_slice(column.as_slice().expect("a column lies together"));
    }
}

/// Those who have something from an index on, after the one who comes first. They are the same as last time until
/// somebody has nothing left.
fn line(last: &mut Option<Line>, cut: Cut, first: usize, index: usize, id: impl Fn(usize) -> usize) -> Line {
    let places = (first..cut.parts).chain(0..first);
    let places: Vec<usize> = places.filter(|place| *place == first || cut.from(*place, index) > 0).collect();
    if last.as_ref().is_none_or(|line| line.places != places) {
        let group = Group::new(places.iter().map(|place| id(*place)));
        *last = Some(Line { places, group });
    }
    last.clone().expect("it was just made")
}
