//! What the phases' computing costs on this computer: a processor's part of a transform, without the others.

use std::mem::swap;

use loggp::{Machine, Params, Time, Work};

use super::columns::Column;
use super::kernels::{Kernels, Memory};
use super::layout::{Layout, Shape};
use super::phase::Phase;
use super::remap::{self, Schedule};
use super::{Fft, Way, random};
use crate::Costs;
use crate::costs::{Step, rehearse as all_at_once};
use crate::math::median::median;

/// The kind of computing that loads a point and stores it where it goes.
pub const POINT: &str = "point";

/// The costs of each phase's computing, and of a point in the remap with short messages.
pub fn rehearse(plan: &Fft, threads: usize) -> Costs {
    let Fft { case, way, shape, .. } = *plan;
    let long = plan.is_long();
    let (kernels, id) = (Kernels::new(shape), shape.P - 1);
    let points = random(shape.m(), case.seed);

    let first = || {
        Step::timed(Phase::First.name(), |m: &mut Memory| kernels.first(id, &mut m.points, &mut m.scratch))
    };
    let third =
        || Step::timed(Phase::Third.name(), |m: &mut Memory| kernels.third(&mut m.points, &mut m.scratch));
    let columns = |phase: Phase| {
        let compute = |m: &mut Memory, column: Column| column.compute(&kernels, id, &mut m.points, &m.other);
        Step::timed(phase.name(), move |m| Column::all(shape.P).for_each(|column| compute(m, column)))
    };
    let redistribution =
        |act: fn(&Shape, &mut Memory)| Step::timed(Phase::Redistribution.name(), move |m| act(&shape, m));
    let remapped = || Step::between(|m: &mut Memory| swap(&mut m.points, &mut m.other));
    let [leave, come] = Step::exchange(threads, |m: &mut Memory| &mut m.blocks);
    let steps = match way {
        _ if shape.P == 1 => vec![first()],
        Way::Alone(Layout::Cyclic) => vec![first(), columns(Phase::Third)],
        Way::Alone(Layout::Blocked) => vec![columns(Phase::First), third()],
        Way::Long => vec![
            first(),
            redistribution(|shape, m| remap::gather(shape, &m.points, &mut m.blocks)),
            leave,
            come,
            redistribution(|shape, m| remap::spread(shape, &m.blocks, &mut m.other)).on_what_came(case.ports),
            remapped(),
            third(),
        ],
        Way::Short(_) | Way::Overlapped => vec![first(), remapped(), third()],
    };
    let mut costs = all_at_once(threads, || Memory::new(&kernels, long, points.iter().copied()), &steps);
    if !long && shape.P > 1 {
        costs.add(POINT, point());
    }
    costs
}

/// What a point costs its processor in the remap: all that happens between the calls of a machine on which
/// messages cost nothing.
fn point() -> Time {
    let shape = Shape::new(1 << 13, 2, Layout::Cyclic);
    let points = random(shape.m(), 1);
    let free = Params::builder(2).build().expect("a machine may be free");
    let machine = Machine::new(free).work(Work::Measured);
    let run = || machine.run(|p| remap::short(p, &shape, Schedule::Staggered, &points, &mut points.clone()));
    let times: Vec<Time> = (0..5).filter_map(|_| run().ok()).map(|run| run.time).collect();
    let time = if times.is_empty() { Time::ZERO } else { median(&times) };
    Time::from_ps(time.as_ps() / (shape.m() - shape.c()) as i64)
}
