//! How long the phases should take, from the machine's parameters and what computing costs.
//!
//! Local computation is so many butterflies; a remap is the points that go, times what each keeps its
//! processor busy or waiting, and the way of the last (LogP, section 4.1.4; LogGP, section 3). Where work is
//! measured, computing costs what the kernels took on this host in a run of their own.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use loggp::{Machine, NS, Params, Ports, Time, Work};
use parking_lot::Mutex;

use super::columns::Column;
use super::kernels::{Kernels, Point};
use super::layout::{Layout, Shape};
use super::phase::Phase;
use super::remap::{self, Schedule};
use super::{charges, random, shape};
use crate::Case;

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
pub fn phases(case: &Case) -> Vec<(&'static str, Option<Time>)> {
    let Some(costs) = costs(case) else { return Vec::new() };
    let remap = match case.algorithm.name {
        "overlapped" => None,
        _ => remap_time(case, &costs),
    };
    let long = case.algorithm.name == "long-staggered";
    let merged = case.algorithm.name == "overlapped";
    let computed = |time| if merged { None } else { Some(time) };
    super::order(long, shape(case).layout)
        .map(|phase| {
            let time = match phase {
                Phase::First => computed(costs.first),
                Phase::Remap => remap,
                Phase::Redistribution => Some(costs.redistribution),
                Phase::Third => computed(costs.third),
            };
            (phase.name(), time)
        })
        .collect()
}

/// The time of all phases.
pub fn total(case: &Case) -> Option<Time> {
    if case.algorithm.name == "overlapped" {
        return costs(case).map(|costs| overlapped(case, &costs));
    }
    let phases = phases(case);
    if phases.is_empty() { None } else { phases.into_iter().map(|(_, time)| time).sum() }
}

/// How long the remap takes; `None` where there is no form for it.
fn remap_time(case: &Case, costs: &Costs) -> Option<Time> {
    let Params { L, o, g, P, .. } = case.params;
    let shape = shape(case);
    let (m, c) = (shape.m() as i64, shape.c() as i64);
    if P == 1 {
        return Some(Time::ZERO);
    }
    let p = P as i64;
    let levels = i64::from(P.ilog2());
    // A point's words, and how long after the first the last one follows.
    let stream = case.params.stream(case.params.words(size_of::<Point>()));
    let interval = interval(case, stream, 2 * o + costs.point);
    let staggered = (m - c) * interval + c * costs.point + L + stream;
    Some(match case.algorithm.name {
        "short-staggered" => staggered,
        "short-synchronized" => staggered + (p - 2) * barrier(case),
        "short-naive" => return None,
        "long-staggered" => {
            let stream = case.params.stream(case.params.words(shape.c() * size_of::<Point>()));
            let _ = g;
            (p - 2) * self::interval(case, stream, 2 * o) + stream + L + 2 * o
        }
        "cyclic" | "blocked" => levels * (m * interval + L + stream),
        name => unreachable!("fft has no remap {name}"),
    })
}

/// How far apart the messages of a processor are that sends and receives all the time: it is busy for so long
/// with each; its gap runs from the last word; and a single port passes the words of two messages.
fn interval(case: &Case, stream: Time, busy: Time) -> Time {
    let port = if case.ports == Ports::Single { 2 * stream } else { stream };
    busy.max(case.params.g + stream).max(port)
}

/// The barrier: the machine's own, or the one made of messages.
fn barrier(case: &Case) -> Time {
    let Params { L, o, g, P, .. } = case.params;
    let rounds = i64::from(P.ilog2());
    case.barrier.unwrap_or((rounds - 1) * g.max(L + 2 * o) + L + 2 * o)
}

/// Nobody is idle (LogP, section 4.1.5), unless the gap is so large that it takes longer to send.
fn overlapped(case: &Case, costs: &Costs) -> Time {
    let Params { L, o, g, P, .. } = case.params;
    let shape = shape(case);
    let (m, c) = (shape.m() as i64, shape.c() as i64);
    let busy = costs.first + costs.third + m * costs.point + (m - c) * (2 * o);
    let _ = (L, g, P);
    busy
}

/// What computing costs; `None` on a machine of which the papers know nothing.
fn costs(case: &Case) -> Option<Costs> {
    if !case.params.is_loggp() {
        return None;
    }
    let shape = shape(case);
    let alone = super::is_alone(case);
    let Some((butterfly, point)) = charges(case) else {
        return Some(calibrated(shape, alone));
    };
    let [first, third] = super::sizes(case).map(|size| shape.butterflies(size) as i64 * butterfly);
    let point = if shape.P > 1 { point } else { Time::ZERO }; // alone, nothing has to go anywhere
    let redistribution = shape.m() as i64 * point;
    Some(Costs { first, third, redistribution, point })
}

/// What the kernels take on this host. They run alone, on points of their own, once for each size.
fn calibrated(shape: Shape, alone: bool) -> Costs {
    static KNOWN: Mutex<Option<HashMap<(Shape, bool), Costs>>> = Mutex::new(None);
    let mut known = KNOWN.lock();
    *known.get_or_insert_default().entry((shape, alone)).or_insert_with(|| calibrate(shape, alone))
}

fn calibrate(shape: Shape, alone: bool) -> Costs {
    let (kernels, id) = (Kernels::new(shape), shape.P - 1);
    let points = random(shape.m(), 1);
    let redistribution = match shape.layout {
        Layout::Cyclic => {
            let blocks = remap::gather(&shape, &points);
            time(|| (), |()| remap::spread(&shape, &blocks))
        }
        Layout::Blocked => time(|| (), |()| remap::gather(&shape, &points)),
    };
    let first = || time(|| (), |()| kernels.first(id, &points));
    let columns = || {
        let others = random(shape.m(), 2);
        let compute = |mut points: Vec<Point>| {
            Column::all(shape.P).for_each(|column| column.compute(&kernels, id, &mut points, &others));
            points
        };
        time(|| points.clone(), compute)
    };
    let whole = |mut points: Vec<Point>| {
        kernels.whole(&mut points);
        points
    };
    let third = |mut points: Vec<Point>| {
        kernels.third(&mut points);
        points
    };
    let (first, third) = match (alone, shape.layout) {
        (false, _) => (first(), time(|| points.clone(), third)),
        (true, Layout::Cyclic) => (first(), columns()),
        (true, Layout::Blocked) => (columns(), time(|| points.clone(), whole)),
    };
    Costs { first, third, redistribution, point: point() }
}

/// The median time of something that is done to what is made anew each time.
fn time<T, R>(make: impl Fn() -> T, act: impl Fn(T) -> R) -> Time {
    let mut times: Vec<Time> = (0..7)
        .map(|_| {
            let made = black_box(make());
            let start = Instant::now();
            let result = black_box(act(made));
            let time = start.elapsed().as_nanos() as i64 * NS;
            drop(result);
            time
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// What a point costs its processor in the remap: all that happens between the calls of a machine on which
/// messages cost nothing.
fn point() -> Time {
    let shape = Shape::new(1 << 13, 2, Layout::Cyclic);
    let points = random(shape.m(), 1);
    let params = Params { P: 2, L: Time::ZERO, o: Time::ZERO, g: Time::ZERO, ..free() };
    let machine = Machine::new(params).work(Work::Measured);
    let run = || machine.run(|p| drop(remap::short(p, &shape, Schedule::Staggered, &points)));
    let mut times: Vec<Time> = (0..5).filter_map(|_| run().ok()).map(|run| run.time).collect();
    times.sort();
    let time = times.get(times.len() / 2).copied().unwrap_or(Time::ZERO);
    Time::from_ps(time.as_ps() / (shape.m() - shape.c()) as i64)
}

/// A machine on which communication costs nothing.
fn free() -> Params {
    Params::new(2).build().expect("a machine may be free")
}
