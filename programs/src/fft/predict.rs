//! How long the phases should take, from the machine's parameters and what computing costs.
//!
//! Local computation is so many butterflies; a remap is the points that go, times what each keeps its
//! processor busy or waiting, and the way of the last (LogP, section 4.1.4; LogGP, section 3). Where work is
//! measured, computing costs what the kernels took on this host in a run of their own.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

use loggp::{Machine, Params, Ports, Time, Work};

use super::columns::Column;
use super::kernels::{Kernels, Memory, Point};
use super::layout::{Layout, Shape};
use super::lockstep::Lockstep;
use super::phase::Phase;
use super::remap::{self, Schedule};
use super::{charges, is_alone, random, shape};
use crate::Case;
use crate::host_time::at_once;

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
    /// To copy all points into messages, or out of them. Where work is charged it is a part of the
    /// redistribution.
    copies: Time,
}

/// The times of the phases that an algorithm has, in order, each by name.
pub fn phases(case: &Case) -> Vec<(&'static str, Option<Time>)> {
    let Some(costs) = costs(case) else { return Vec::new() };
    let merged = case.algorithm.name == "overlapped" && case.params.P > 1;
    let time = |phase| match phase {
        _ if merged => None,
        Phase::First => Some(costs.first),
        Phase::Remap => remap_time(case, &costs),
        Phase::Redistribution => Some(costs.redistribution),
        Phase::Third => Some(costs.third),
    };
    super::order(case).map(|phase| (phase.name(), time(phase))).collect()
}

/// The time of all phases.
pub fn total(case: &Case) -> Option<Time> {
    let costs = costs(case)?;
    if case.algorithm.name == "overlapped" && case.params.P > 1 {
        return overlapped(case, &costs);
    }
    phases(case).into_iter().map(|(_, time)| time).sum()
}

/// How long the remap takes. With one port for long messages it is an estimate: LogGP's 2kG (section 3), if the
/// port is what takes longest.
fn remap_time(case: &Case, costs: &Costs) -> Option<Time> {
    let (P, o) = (case.params.P, case.params.o);
    let shape = shape(case);
    if P == 1 {
        return Some(Time::ZERO);
    }
    let mut all = Lockstep::new(case.params);
    let stream = stream(case, 1);
    match case.algorithm.name {
        "short-naive" => return None,
        "long-staggered" => {
            let stream = self::stream(case, shape.c());
            (1..P).for_each(|_| all.send_receiving(stream));
            all.receive_all();
            return Some(all.t.max(2 * o + ports(case, P - 1, stream)) + costs.copies);
        }
        "cyclic" | "blocked" => {
            let columns = if case.algorithm.name == "cyclic" { costs.third } else { costs.first };
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
        _ => (),
    }
    all.compute(shape.c() as i64 * costs.point);
    for _ in 1..P {
        send_points(&mut all, shape.c(), costs.point, stream);
        if case.algorithm.name == "short-synchronized" {
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
fn overlapped(case: &Case, costs: &Costs) -> Option<Time> {
    let shape = shape(case);
    let (m, c) = (shape.m() as i64, shape.c() as i64);
    let computing = costs.first + costs.third;
    let busy = computing + m * costs.point + (m - c) * (2 * case.params.o);
    // Of all butterflies, the columns that cannot be merged and two rows of the 2c.
    let (columns, rows) = (shape.butterflies(shape.c()), 2 * shape.butterflies(shape.P));
    let apart = i128::from(columns + rows / c as u64) * i128::from(computing.as_ps());
    let apart = Time::from_ps((apart / i128::from(columns + rows)) as i64);
    Some(busy.max(apart + remap_time(case, costs)? - c * costs.point))
}

/// What computing costs; `None` on a machine of which the papers know nothing.
fn costs(case: &Case) -> Option<Costs> {
    if !case.params.is_loggp() {
        return None;
    }
    let shape = shape(case);
    let alone = is_alone(case);
    let Some((butterfly, point)) = charges(case) else {
        return Some(calibrated(shape, alone, case.cores));
    };
    let [first, third] = shape.sizes().map(|size| shape.butterflies(size) as i64 * butterfly);
    let point = if shape.P > 1 { point } else { Time::ZERO }; // alone, nothing has to go anywhere
    let redistribution = shape.m() as i64 * point;
    Some(Costs { first, third, redistribution, point, copies: Time::ZERO })
}

/// What decides the costs of the kernels: the shape, whether there is one layout for the whole butterfly, and how
/// many processors compute at once.
type Kernel = (Shape, bool, usize);

/// What the kernels take on this host, each on points of its own, once for each size.
fn calibrated(shape: Shape, alone: bool, cores: usize) -> Costs {
    static KNOWN: Mutex<Vec<(Kernel, Costs)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (shape, alone, cores);
    if let Some((_, costs)) = known.iter().find(|(other, _)| *other == key) {
        return *costs;
    }
    let costs = calibrate(shape, alone, cores);
    known.push((key, costs));
    costs
}

fn calibrate(shape: Shape, alone: bool, cores: usize) -> Costs {
    let (kernels, id) = (Kernels::new(shape), shape.P - 1);
    let points = random(shape.m(), 1);
    let time = |act: &(dyn Fn(&mut Memory) + Sync)| {
        let prepare = || Memory::new(&kernels, points.iter().copied());
        at_once(cores, prepare, |memory| memory.points.copy_from_slice(&points), act)
    };
    let first = || time(&|memory| kernels.first(id, &mut memory.points, &mut memory.scratch));
    let third = || time(&|memory| kernels.third(&mut memory.points, &mut memory.scratch));
    let columns = || {
        time(&|memory| {
            let compute = |column: Column| column.compute(&kernels, id, &mut memory.points, &memory.other);
            Column::all(shape.P).for_each(compute);
        })
    };
    if shape.P == 1 {
        let nothing = Time::ZERO; // alone, all is phase I
        return Costs {
            first: first(),
            third: nothing,
            redistribution: nothing,
            point: nothing,
            copies: nothing,
        };
    }
    let (first, third) = match (alone, shape.layout) {
        (true, Layout::Cyclic) => (first(), columns()),
        (true, Layout::Blocked) => (columns(), third()),
        (false, _) => (first(), third()),
    };
    let redistribution = match shape.layout {
        Layout::Cyclic => {
            let blocks = remap::gather(&shape, &points);
            time(&|memory| remap::spread(&shape, &blocks, &mut memory.other))
        }
        Layout::Blocked => time(&|memory| drop(black_box(remap::gather(&shape, &memory.points)))),
    };
    let copy = |memory: &mut Memory| {
        let block = |block: &[Point]| block.to_vec();
        drop(black_box(memory.points.chunks(shape.c()).map(block).collect::<Vec<_>>()));
    };
    Costs { first, third, redistribution, point: point(), copies: time(&copy) }
}

/// What a point costs its processor in the remap: all that happens between the calls of a machine on which
/// messages cost nothing.
fn point() -> Time {
    let shape = Shape::new(1 << 13, 2, Layout::Cyclic);
    let points = random(shape.m(), 1);
    let free = Params::new(2).build().expect("a machine may be free");
    let machine = Machine::new(free).work(Work::Measured);
    let run = || machine.run(|p| remap::short(p, &shape, Schedule::Staggered, &points, &mut points.clone()));
    let mut times: Vec<Time> = (0..5).filter_map(|_| run().ok()).map(|run| run.time).collect();
    times.sort();
    let time = times.get(times.len() / 2).copied().unwrap_or(Time::ZERO);
    Time::from_ps(time.as_ps() / (shape.m() - shape.c()) as i64)
}
