//! Predicted times of the phases, from the machine's parameters and the cost of computing.
//!
//! Local computation is a number of butterflies. A remap is a number of points, times the time for which each
//! keeps its processor busy or waiting, and the transit of the last one (LogP, section 4.1.4; LogGP, section
//! 3). Where work is measured, computing costs what it took on a machine whose messages cost nothing.

use loggp::{Ports, Time};
use loggp_predict::remap::SendOrder;

use super::kernels::FftPoint;
use super::layout::Layout;
use super::lockstep::Lockstep;
use super::phase::FftPhase;
use super::{Fft, FftVariant};
use crate::{Case, FormKind, PhaseName};

/// Costs of a processor's computing.
#[derive(Clone, Copy)]
struct FftCosts {
    /// Columns of phase I.
    first: Time,
    /// Columns of phase III.
    third: Time,
    /// Redistribution of all points.
    redistribution: Time,
    /// Load and store of a point.
    point: Time,
}

/// Returns the phases of an algorithm in order, each with its name and its time.
pub(super) fn phases(plan: &Fft) -> Vec<(PhaseName, Option<Time>)> {
    let Some(costs) = costs(plan) else { return Vec::new() };
    let time = |phase| match phase {
        _ if plan.is_merged() => None,
        FftPhase::First => Some(costs.first),
        FftPhase::Remap => remap_time(plan, &costs),
        FftPhase::Redistribution => Some(costs.redistribution),
        FftPhase::Third => Some(costs.third),
    };
    plan.order().map(|phase| (phase.name().into(), time(phase))).collect()
}

/// Returns the time of all phases.
pub(super) fn total_time(plan: &Fft) -> Option<Time> {
    let costs = costs(plan)?;
    if plan.is_merged() {
        return overlapped_time(plan, &costs);
    }
    phases(plan).into_iter().map(|(_, time)| time).sum()
}

/// Returns how the time of all phases stands to the model's. Single ports make messages of several words wait
/// for each other.
pub(super) fn kind(plan: &Fft) -> FormKind {
    let Fft { case, variant, shape, .. } = plan;
    let points = if *variant == FftVariant::Long { shape.c() } else { 1 };
    let is_alone = case.ports == Ports::Dual || stream_time(case, points) == Time::ZERO;
    match is_alone && !plan.is_merged() || shape.P == 1 {
        true => FormKind::Exact,
        false => FormKind::Estimate,
    }
}

/// Returns the time of the remap. With one port for long messages it is an estimate: LogGP's 2kG (section 3),
/// if the port takes longest.
fn remap_time(plan: &Fft, costs: &FftCosts) -> Option<Time> {
    let Fft { case, variant, shape, .. } = *plan;
    let (P, o) = (case.params.P, case.params.o);
    if P == 1 {
        return Some(Time::ZERO);
    }
    let mut lockstep = Lockstep::new(case.params);
    let stream = stream_time(case, 1);
    match variant {
        FftVariant::Short(SendOrder::Naive) => return None,
        FftVariant::Long => {
            let stream = self::stream_time(case, shape.c());
            (1..P).for_each(|_| lockstep.send_receiving(stream));
            lockstep.receive_all();
            return Some(lockstep.t.max(2 * o + ports_time(case, P - 1, stream)));
        }
        FftVariant::OneLayout(layout) => {
            let columns = if layout == Layout::Cyclic { costs.third } else { costs.first };
            let levels = i64::from(P.ilog2());
            let column = Time::from_ps(columns.as_ps() / levels);
            for level in 0..levels {
                lockstep.compute(if level == 0 { Time::ZERO } else { column });
                send_points(&mut lockstep, shape.m(), costs.point, stream);
                lockstep.receive_all();
            }
            let ports = ports_time(case, levels as usize * shape.m(), stream);
            return Some((lockstep.t - (levels - 1) * column).max(ports));
        }
        FftVariant::Short(_) | FftVariant::Overlapped => (),
    }
    lockstep.compute(shape.c() as i64 * costs.point);
    for _ in 1..P {
        send_points(&mut lockstep, shape.c(), costs.point, stream);
        if variant == FftVariant::Short(SendOrder::Synchronized) {
            lockstep.receive_all();
            match case.barrier {
                Some(cost) => lockstep.compute(cost),
                None => lockstep.barrier(),
            }
        }
    }
    lockstep.receive_all();
    Some(lockstep.t.max(ports_time(case, shape.m() - shape.c(), stream)))
}

/// Loads and sends a number of points.
fn send_points(lockstep: &mut Lockstep, points: usize, point: Time, stream: Time) {
    for _ in 0..points {
        lockstep.compute(point);
        lockstep.send_receiving(stream);
    }
}

/// Returns the time from the first word of a message of `points` points to its last.
fn stream_time(case: &Case, points: usize) -> Time {
    case.params.stream(case.params.words(points * size_of::<FftPoint>()))
}

/// Returns the time of a single port for the words of all messages in both directions: LogGP's 2kG (section
/// 3).
fn ports_time(case: &Case, messages: usize, stream: Time) -> Time {
    if case.ports == Ports::Single { 2 * messages as i64 * stream } else { Time::ZERO }
}

/// Returns the time of the overlapped algorithm. No processor is idle (LogP, section 4.1.5), unless the gap
/// is so large that the remap takes longer. It begins when the first row is done, and one row is left when it
/// ends; a processor stores its own points in its gaps.
fn overlapped_time(plan: &Fft, costs: &FftCosts) -> Option<Time> {
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

/// Returns the costs of computing, or `None` where work is measured and there is no measurement yet.
fn costs(plan: &Fft) -> Option<FftCosts> {
    let Fft { case, variant, shape, charges } = *plan;
    let Some((butterfly, point)) = charges else {
        let computing = case.compute_times.as_ref()?;
        let cost = |phase: FftPhase| computing.phase(phase.name());
        // Points cost where each has its own message; whole blocks cost nothing.
        let points = match variant {
            FftVariant::Long => 0,
            FftVariant::OneLayout(_) => shape.P.ilog2() as usize * shape.m(),
            FftVariant::Short(_) | FftVariant::Overlapped => shape.m() - shape.c(),
        };
        return Some(FftCosts {
            first: cost(FftPhase::First),
            third: cost(FftPhase::Third),
            redistribution: cost(FftPhase::Redistribution),
            point: if points > 0 { cost(FftPhase::Remap) / points as i64 } else { Time::ZERO },
        });
    };
    let [first, third] = shape.sizes().map(|size| shape.butterflies(size) as i64 * butterfly);
    let point = if shape.P > 1 { point } else { Time::ZERO }; // one processor sends nothing
    let redistribution = shape.m() as i64 * point;
    Some(FftCosts { first, third, redistribution, point })
}
