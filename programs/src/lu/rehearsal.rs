//! What a flop costs on this computer: a processor's part of the elimination, without the others.

use std::ops::Range;
use std::sync::Arc;

use loggp::Time;
use ndarray::Array2;

use super::Lu;
use super::grid::{Multipliers, Part};
use super::kernels::{solve_flops, update_flops};
use super::layout::Layout;
use super::moves::moves;
use super::panel::{self, Alone};
use super::predict::Flops;
use crate::Costs;
use crate::costs::{Step, rehearse as all_at_once};

/// The kinds of computing that are told apart.
pub const PIVOT: &str = "pivot";
/// Rows change places.
pub const SWAP: &str = "swap";
/// What is left is updated.
pub const UPDATE: &str = "update";

/// What a processor has of a rehearsal.
struct State<'a> {
    part: Part<'a>,
    /// The multipliers that its own last panel gave, as they are sent.
    message: Vec<f64>,
    /// The panel's multipliers, as they come.
    multipliers: Option<Multipliers>,
}

/// The costs of all that the first processor computes.
pub fn rehearse(plan: &Lu, matrix: &Array2<f64>, threads: usize) -> Costs {
    let layout = &plan.layout;
    let prepare = || State {
        part: Part::new(layout, 0, &matrix.view()),
        message: Vec::new(),
        multipliers: None,
    };
    let steps: Vec<Step<State>> = layout.panels().flat_map(|panel| steps(layout, Arc::new(panel))).collect();
    all_at_once(threads, prepare, &steps)
}

/// What a flop costs, from what all that the first processor computes has cost; nothing without a rehearsal.
pub fn flops(plan: &Lu, costs: &Costs) -> Option<Flops> {
    let Layout { rows, cols, .. } = plan.layout;
    let (mut pivot, mut swap, mut update) = (0, 0, 0);
    for panel in plan.layout.panels() {
        let (left, w) = (rows.from(0, panel.start), panel.len());
        if left == 0 || left < w {
            continue;
        }
        let columns = cols.from(0, panel.end);
        if cols.owner(panel.start) == 0 {
            pivot += panel::flops(left, w, w);
        }
        swap += (2 * w * columns) as u64;
        update += solve_flops(w, columns) + update_flops(rows.from(0, panel.end), w, columns);
    }
    let each = |kind, flops: u64| {
        let cost: Time = costs.of(kind)?;
        Some(if flops == 0 { 0.0 } else { cost.as_ps() as f64 / flops as f64 })
    };
    Some(Flops { pivot: each(PIVOT, pivot)?, swap: each(SWAP, swap)?, update: each(UPDATE, update)? })
}

/// What is done for a panel.
fn steps<'a>(layout: &'a Layout, panel: Arc<Range<usize>>) -> Vec<Step<'a, State<'a>>> {
    let (rows, w) = (layout.rows.from(0, panel.start), panel.len());
    if rows == 0 || rows < w {
        return Vec::new();
    }
    let mine = layout.cols.owner(panel.start) == 0;
    let [pivot, read, swap, update] = [0; 4].map(|_| Arc::clone(&panel));
    let eliminate = move |state: &mut State| state.message = state.part.eliminate_panel(&pivot, &mut Alone);
    // Another's panel is as long, and comes from another core.
    let come = move |state: &mut State| {
        state.message = vec![0.5; w + rows * w];
        let pivots = state.message[..w].iter_mut().zip(Range::clone(&read));
        pivots.for_each(|(to, row)| *to = row as f64);
    };
    let unpack = move |state: &mut State| {
        state.multipliers = Some(Multipliers::read(std::mem::take(&mut state.message), w));
    };
    // Rows change places with rows from all over the processor's.
    let n = layout.n;
    let exchange = move |state: &mut State| {
        let own: Vec<usize> = layout.rows.of(0).filter(|row| *row >= swap.start).collect();
        let any = Range::clone(&swap).map(|row| own[(row * 7919 + n / 2) % own.len()].max(row));
        let moves: Vec<_> = moves(swap.start, &any.collect::<Vec<_>>())
            .into_iter()
            .filter(|step| layout.rows.owner(step.from) == 0 && layout.rows.owner(step.to) == 0)
            .collect();
        let columns = state.part.columns_from(swap.end);
        state.part.swap_within(&moves, columns);
    };
    let apply = move |state: &mut State| {
        let Some(Multipliers { l, .. }) = state.multipliers.take() else { return };
        let columns = state.part.columns_from(update.end);
        state.part.solve(&update, &l);
        let u = state.part.rows(&update);
        let u = ndarray::Array2::from_shape_vec(ndarray::ShapeBuilder::f((w, columns.len())), u);
        state.part.apply(&update, &l, &u.expect("whole columns"), columns);
    };
    let first = if mine { Step::timed(PIVOT, eliminate) } else { Step::between(come) };
    let take = if mine { Step::timed(PIVOT, unpack) } else { Step::timed(UPDATE, unpack) };
    vec![first, take, Step::timed(SWAP, exchange), Step::timed(UPDATE, apply)]
}
