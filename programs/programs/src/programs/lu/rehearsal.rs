//! What a flop costs on this computer: a processor's part of the elimination, without the others.

use std::ops::Range;
use std::sync::Arc;

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
const PIVOT: &str = "pivot";
/// Rows change places.
const SWAP: &str = "swap";
/// Numbers are copied into messages, and out of them.
const COPY: &str = "broadcast";
/// What is left is updated.
const UPDATE: &str = "update";

/// What a processor has of a rehearsal.
struct State<'a> {
    part: Part<'a>,
    /// Its own panel's pivots.
    pivots: Vec<usize>,
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
        pivots: Vec::new(),
        message: Vec::new(),
        multipliers: None,
    };
    let steps: Vec<Step<State>> =
        layout.panels().flat_map(|panel| steps(layout, Arc::new(panel), threads)).collect();
    all_at_once(threads, prepare, &steps)
}

/// What a flop costs, from what all that the first processor computes has cost; nothing without a rehearsal.
pub fn flops(plan: &Lu, costs: &Costs) -> Option<Flops> {
    let Layout { rows, cols, .. } = plan.layout;
    let (mut pivot, mut swap, mut copy, mut update) = (0, 0, 0, 0);
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
        copy += (left * w) as u64;
        update += solve_flops(w, columns) + update_flops(rows.from(0, panel.end), w, columns);
    }
    let each = |kind, flops: u64| {
        let cost = costs.of(kind).unwrap_or_default(); // a processor may have no panel
        if flops == 0 { 0.0 } else { cost.as_ps() as f64 / flops as f64 }
    };
    costs.of(UPDATE)?;
    Some(Flops {
        pivot: each(PIVOT, pivot),
        swap: each(SWAP, swap),
        copy: each(COPY, copy),
        update: each(UPDATE, update),
    })
}

/// What is done for a panel.
fn steps<'a>(layout: &'a Layout, panel: Arc<Range<usize>>, threads: usize) -> Vec<Step<'a, State<'a>>> {
    let (rows, w) = (layout.rows.from(0, panel.start), panel.len());
    if rows == 0 || rows < w {
        return Vec::new();
    }
    let mine = layout.cols.owner(panel.start) == 0;
    let [pivot, send, read, swap, update] = [0; 5].map(|_| Arc::clone(&panel));
    let eliminate = move |state: &mut State| state.pivots = state.part.eliminate_panel(&pivot, &mut Alone);
    let leave = move |state: &mut State| {
        let message = state.part.message(&send, std::mem::take(&mut state.pivots));
        drop(std::hint::black_box(message.clone())); // the one that goes
        state.multipliers = Some(Multipliers { message, w });
    };
    // Another's panel is as long, and comes from another core.
    let come = move |state: &mut State| {
        state.message = vec![0.5; w + rows * w];
        let pivots = state.message[..w].iter_mut().zip(Range::clone(&read));
        pivots.for_each(|(to, row)| *to = row as f64);
    };
    let unpack = move |state: &mut State| {
        let message = state.message.clone();
        state.multipliers = Some(Multipliers { message, w });
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
        let Some(multipliers) = state.multipliers.take() else { return };
        let l = multipliers.l();
        let columns = state.part.columns_from(update.end);
        state.part.solve(&update, &l);
        let u = state.part.rows(&update);
        let u = ndarray::Array2::from_shape_vec(ndarray::ShapeBuilder::f((w, columns.len())), u);
        state.part.apply(&update, &l, &u.expect("whole columns"), columns);
    };
    let mut steps = match mine {
        true => vec![Step::timed(PIVOT, eliminate), Step::timed(COPY, leave)],
        false => {
            let [out, back] = Step::exchange(threads, |state: &mut State| &mut state.message);
            vec![Step::between(come), out, back, Step::timed(COPY, unpack)]
        }
    };
    steps.extend([Step::timed(SWAP, exchange), Step::timed(UPDATE, apply)]);
    steps
}
