//! How long the phases should take, from the machine's parameters and what computing costs.
//!
//! Local computation is so many butterflies; a remap is the points that go, times what each keeps its
//! processor busy or waiting, and the way of the last (LogP, section 4.1.4; LogGP, section 3). Where work is
//! measured, computing costs what it took on a machine whose messages cost nothing.

use loggp::{Ports, Time};

use super::kernels::Point;
use super::layout::Layout;
use super::lockstep::Lockstep;
use super::phase::Phase;
use super::remap::Schedule;
use super::{Fft, Way};
use crate::{Case, PhaseName};

/// What a processor's computing costs.
#[derive(Clone, Copy)]
struct Costs {
    /// The columns of phase I.
    first: Time,
    /// The columns of phase III.
    third: Time,
    /// The redistribution of all points.
    redistribution: Time,
    /// To load a point, and to store it where it goes.
    point: Time,
}

/// The times of the phases that an algorithm has, in order, each by name.
pub fn phases(plan: &Fft) -> Vec<(PhaseName, Option<Time>)> {
    let Some(costs) = costs(plan) else { return Vec::new() };
    let time = |phase| match phase {
        _ if plan.is_merged() => None,
        Phase::First => Some(costs.first),
        Phase::Remap => remap_time(plan, &costs),
        Phase::Redistribution => Some(costs.redistribution),
        Phase::Third => Some(costs.third),
    };
    plan.order().map(|phase| (phase.name().into(), time(phase))).collect()
}

/// The time of all phases.
pub fn total(plan: &Fft) -> Option<Time> {
    let costs = costs(plan)?;
    if plan.is_merged() {
        return overlapped(plan, &costs);
    }
    phases(plan).into_iter().map(|(_, time)| time).sum()
}

/// How long the remap takes. With one port for long messages it is an estimate: LogGP's 2kG (section 3), if the
/// port is what takes longest.
fn remap_time(plan: &Fft, costs: &Costs) -> Option<Time> {
    let Fft { case, way, shape, .. } = *plan;
    let (P, o) = (case.params.P, case.params.o);
    if P == 1 {
        return Some(Time::ZERO);
    }
    let mut all = Lockstep::new(case.params);
    let stream = stream(case, 1);
    match way {
        Way::Short(Schedule::Naive) => return None,
        Way::Long => {
            let stream = self::stream(case, shape.c());
            (1..P).for_each(|_| all.send_receiving(stream));
            all.receive_all();
            return Some(all.t.max(2 * o + ports(case, P - 1, stream)));
        }
        Way::Alone(layout) => {
            let columns = if layout == Layout::Cyclic { costs.third } else { costs.first };
            let levels = i64::from(P.ilog2());
            let column = Time::from_ps(columns.as_ps() / levels);
            for level in 0..levels {
                all.compute(if level == 0 { Time::ZERO } else { column });
                send_points(&mut all, shape.m(), costs.point, stream);
                all.receive_all();
            }
            let ports = ports(case, levels as usize * shape.m(), stream);
            return Some((all.t - (levels - 1) * column).max(ports));
        }
        Way::Short(_) | Way::Overlapped => (),
    }
    all.compute(shape.c() as i64 * costs.point);
    for _ in 1..P {
        send_points(&mut all, shape.c(), costs.point, stream);
        if way == Way::Short(Schedule::Synchronized) {
            all.receive_all();
            match case.barrier {
                Some(cost) => all.compute(cost),
                None => all.barrier(),
            }
        }
    }
    all.receive_all();
    Some(all.t.max(ports(case, shape.m() - shape.c(), stream)))
}

/// Points, each loaded and sent.
fn send_points(all: &mut Lockstep, points: usize, point: Time, stream: Time) {
    for _ in 0..points {
        all.compute(point);
        all.send_receiving(stream);
    }
}

/// How long after its first word the last of so many points follows.
fn stream(case: &Case, points: usize) -> Time {
    case.params.stream(case.params.words(points * size_of::<Point>()))
}

/// A single port passes the words of all messages, those that go and those that come: LogGP's 2kG (section 3).
fn ports(case: &Case, messages: usize, stream: Time) -> Time {
    if case.ports == Ports::Single { 2 * messages as i64 * stream } else { Time::ZERO }
}

/// Nobody is idle (LogP, section 4.1.5); unless the gap is so large that the remap takes longer. It begins when
/// the first row is done, and a row is left when it ends; a processor's own points are stored in its gaps.
fn overlapped(plan: &Fft, costs: &Costs) -> Option<Time> {
    let Fft { case, shape, .. } = *plan;
    let (m, c) = (shape.m() as i64, shape.c() as i64);
    let computing = costs.first + costs.third;
    let busy = computing + m * costs.point + (m - c) * (2 * case.params.o);
    // Of all butterflies, the columns that cannot be merged and two rows of the 2c.
    let (columns, rows) = (shape.butterflies(shape.c()), 2 * shape.butterflies(shape.P));
    let apart = i128::from(columns + rows / c as u64) * i128::from(computing.as_ps());
    let apart = Time::from_ps((apart / i128::from(columns + rows)) as i64);
    Some(busy.max(apart + remap_time(plan, costs)? - c * costs.point))
}

/// What computing costs; `None` on a machine of which the papers know nothing, or where work is measured and
/// was not yet.
fn costs(plan: &Fft) -> Option<Costs> {
    let Fft { case, way, shape, charges } = *plan;
    if !case.params.is_loggp() {
        return None;
    }
    let Some((butterfly, point)) = charges else {
        let computing = case.computing.as_ref()?;
        let cost = |phase: Phase| computing.phase(phase.name());
        // What the points of the remap cost, each in its own message; whole blocks cost nothing.
        let points = match way {
            Way::Long => 0,
            Way::Alone(_) => shape.P.ilog2() as usize * shape.m(),
            Way::Short(_) | Way::Overlapped => shape.m() - shape.c(),
        };
        return Some(Costs {
            first: cost(Phase::First),
            third: cost(Phase::Third),
            redistribution: cost(Phase::Redistribution),
            point: if points > 0 { cost(Phase::Remap) / points as i64 } else { Time::ZERO },
        });
    };
    let [first, third] = shape.sizes().map(|size| shape.butterflies(size) as i64 * butterfly);
    let point = if shape.P > 1 { point } else { Time::ZERO }; // alone, nothing has to go anywhere
    let redistribution = shape.m() as i64 * point;
    Some(Costs { first, third, redistribution, point })
}
