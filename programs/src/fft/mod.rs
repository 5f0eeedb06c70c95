//! FFT: n complex points over P processors, transformed by the butterfly.
//!
//! The algorithms are those of LogP, section 4.1, and LogGP, section 3. The hybrid layout computes the first
//! columns of the butterfly in one layout and the last in another, with one remap between; `fft/layout.rs`
//! says how. All local work is done by rustfft on real data, and the result is compared with rustfft's transform
//! of the whole input and with the inverse, in natural order.
//!
//! A butterfly is the papers' unit of local work: two nodes of the graph, 10 floating point operations (LogP,
//! section 4.1.4). An FFT of N points has N/2 log N of them. Twiddle factors are part of them. A node by itself
//! is half a butterfly.

mod columns;
mod kernels;
mod layout;
mod lockstep;
mod overlap;
mod phase;
mod predict;
mod remap;
mod verify;

pub use self::layout::Layout;

use std::mem::swap;

use loggp::{Proc, RunError, Time, US, Work};

use self::columns::Column;
use self::kernels::{Kernels, Memory, Point};
use self::layout::Shape;
use self::overlap::{Charges, overlapped};
use self::phase::{Phase, Stopwatch};
use self::remap::Schedule;
use crate::emulation::digest;
use crate::option::{Microseconds, OneOf};
use crate::{
    Algorithm, Case, Emulation, Metric, Opt, Outcome, PhaseName, Plan, Planned, Program, Refusal, Size,
};

/// The fast Fourier transform.
pub static FFT: Program = Program {
    name: "fft",
    about: "the fast Fourier transform of complex points (LogP, section 4.1; LogGP, section 3)",
    algorithms: &[
        Algorithm {
            name: "long-staggered",
            about: "a message of n/P^2 points for each processor, and a local redistribution",
            formula: "compute + (P-2) max((k-1)G + g, 2o) + (k-1)G + L + 2o + (n/P) point, with all terms kept; with a \
                      single port about 2(P-1)(k-1)G + 2o for the remap, if that is more (LogGP, section 3)",
            plan: |case| Fft::plan(case, Way::Long),
        },
        Algorithm {
            name: "short-staggered",
            about: "a message per point; processor q begins with q + 1 and wraps around, so that none stalls",
            formula: "compute + (n/P - n/P^2) max(point + 2o, g) + (n/P^2) point + L, with all terms kept (LogP, \
                      sections 4.1.1 and 4.1.4)",
            plan: |case| Fft::plan(case, Way::Short(Schedule::Staggered)),
        },
        Algorithm {
            name: "short-synchronized",
            about: "as short-staggered, with a barrier after every n/P^2 messages",
            formula: "that of short-staggered, with L and a barrier for every n/P^2 messages (LogP, section 4.1.4)",
            plan: |case| Fft::plan(case, Way::Short(Schedule::Synchronized)),
        },
        Algorithm {
            name: "short-naive",
            about: "a message per point; all send first to processor 0, then to 1, and stall",
            formula: "none: LogP (section 4.1.2) does not say in which order those who stall go on",
            plan: |case| Fft::plan(case, Way::Short(Schedule::Naive)),
        },
        Algorithm {
            name: "overlapped",
            about: "as short-staggered, with the remap merged into the computation before and after it",
            formula: "compute + (n/P) point + (n/P - n/P^2) 2o, as nobody is idle; or what is computed before the first \
                      message and after the last + the remap of short-staggered, if that is more (LogP, section 4.1.5)",
            plan: |case| Fft::plan(case, Way::Overlapped),
        },
        Algorithm {
            name: "cyclic",
            about: "one layout: each node of the last log P columns needs a remote point",
            formula: "compute + log P ((n/P) max(point + 2o, g) + L), with all terms kept (LogP, section 4.1.1)",
            plan: |case| Fft::plan(case, Way::Alone(Layout::Cyclic)),
        },
        Algorithm {
            name: "blocked",
            about: "one layout: each node of the first log P columns needs a remote point",
            formula: "compute + log P ((n/P) max(point + 2o, g) + L), with all terms kept (LogP, section 4.1.1)",
            plan: |case| Fft::plan(case, Way::Alone(Layout::Blocked)),
        },
    ],
    size: Size { meaning: "points, a power of two and at least P^2", default: 1 << 16 },
    options: &[&LAYOUT, &BUTTERFLY, &POINT],
    work: Work::Charged, // the papers' costs of computing, unless told
};

/// The hybrid layout.
pub static LAYOUT: Opt<Layout> = Opt::new(
    "layout",
    "LAYOUT",
    "the hybrid layout's first half: cyclic (LogP) or blocked (LogGP)",
    Layout::Cyclic,
    &OneOf(&[("cyclic", Layout::Cyclic), ("blocked", Layout::Blocked)]),
)
.for_algorithms(&["long-staggered", "short-staggered", "short-synchronized", "short-naive", "overlapped"]);

/// What a butterfly costs.
pub static BUTTERFLY: Opt<Time> = Opt::new(
    "butterfly",
    "TIME",
    "what a butterfly costs where work is charged (4.5 us on the CM-5: LogP, section 4.1.4)",
    Time::from_ps(4_500_000),
    &Microseconds,
);

/// What a point in a remap costs.
pub static POINT: Opt<Time> = Opt::new(
    "point",
    "TIME",
    "what it costs to load and store a point where work is charged (1 us on the CM-5: LogP, section 4.1.4)",
    US,
    &Microseconds,
);

/// The algorithms.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// A hybrid layout, and a remap with a message for each processor.
    Long,
    /// A hybrid layout, and a remap with a message for each point.
    Short(Schedule),
    /// As staggered, but merged into the computation.
    Overlapped,
    /// One layout for all of it, without a remap.
    Alone(Layout),
}

/// A case that was read.
struct Fft<'a> {
    case: &'a Case,
    way: Way,
    /// The sizes of the transform, and its layout.
    shape: Shape,
    /// What computing costs, if that is charged.
    charges: Charges,
}

impl Fft<'_> {
    fn plan(case: &Case, way: Way) -> Planned<'_> {
        let (layout, charges) = (case.get(&LAYOUT), (case.get(&BUTTERFLY), case.get(&POINT)));
        check(case, way)?;
        let layout = if let Way::Alone(layout) = way { layout } else { layout };
        Ok(Box::new(Fft {
            case,
            way,
            shape: Shape::new(case.size, case.params.P, layout),
            charges: (case.work == Work::Charged).then_some(charges),
        }))
    }

    /// Whether messages are long.
    fn is_long(&self) -> bool {
        self.way == Way::Long
    }

    /// Whether the remap is part of the computation.
    fn is_merged(&self) -> bool {
        self.way == Way::Overlapped && self.shape.P > 1
    }

    /// The phases that the algorithm has, in order.
    fn order(&self) -> impl Iterator<Item = Phase> {
        use Phase::{First, Redistribution, Remap, Third};
        let order = match self.shape.layout {
            Layout::Cyclic => [First, Remap, Redistribution, Third],
            Layout::Blocked => [First, Redistribution, Remap, Third],
        };
        let long = self.is_long();
        order.into_iter().filter(move |phase| long || *phase != Redistribution)
    }
}

impl Plan for Fft<'_> {
    fn formula(&self) -> Option<Time> {
        predict::total(self)
    }

    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        predict::phases(self)
    }

    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let (shape, alone) = (self.shape, matches!(self.way, Way::Alone(_)));
        let input_of = if alone { columns::input } else { Shape::input };
        let output_of = if alone { columns::output } else { Shape::output };
        let input = random(shape.n, self.case.seed);
        let kernels = Kernels::new(shape);
        let part = |id| (0..shape.m()).map(move |j| input_of(&shape, id, j)).map(|j| input[j]);
        let mut machine = self.case.machine(emulation);
        if let Some((butterfly, point)) = self.charges {
            machine = machine.rate("butterfly", butterfly).rate("point", point);
        }
        let transformed = |p: &mut Proc| {
            let part = part(p.id());
            let mut memory = p.prepare(|| Memory::new(&kernels, self.is_long(), part));
            let times = transform(p, self, &kernels, &mut memory);
            (memory, times) // all of it: to give memory back takes time too
        };
        let run = machine.run_home(transformed, |(memory, times)| (memory.points, times));
        let (run, results) = run?.take_results();

        let mut transform = vec![kernels::ZERO; shape.n];
        let mut spent = [Time::ZERO; 4];
        for (id, (points, times)) in results.into_iter().enumerate() {
            let points = points.iter().enumerate();
            points.for_each(|(j, point)| transform[output_of(&shape, id, j)] = *point);
            spent.iter_mut().zip(times).for_each(|(most, time)| *most = time.max(*most));
        }
        let digest = digest(transform.iter().flat_map(|x| [x.re.to_bits(), x.im.to_bits()]));
        let mut outcome = Outcome::new(run, verify::verify(input, transform));
        outcome.digest = digest;
        outcome.phases = self.order().map(|phase| (phase.name().into(), spent[phase as usize])).collect();
        outcome.metrics = metrics(self, &spent);
        Ok(outcome)
    }
}

/// What each processor does; returns how long it spent in each phase.
fn transform(p: &mut Proc, plan: &Fft, kernels: &Kernels, memory: &mut Memory) -> [Time; 4] {
    let mut watch = Stopwatch::start(p);
    match plan.way {
        _ if p.p() == 1 => first(p, &mut watch, kernels, memory),
        Way::Overlapped => {
            overlapped(p, &mut watch, kernels, memory, plan.charges);
            watch.lap(p, Phase::Third);
        }
        Way::Alone(Layout::Cyclic) => {
            first(p, &mut watch, kernels, memory);
            remote_columns(p, &mut watch, Phase::Third, kernels, memory);
        }
        Way::Alone(Layout::Blocked) => {
            remote_columns(p, &mut watch, Phase::First, kernels, memory);
            third(p, &mut watch, kernels, memory);
        }
        Way::Long => {
            first(p, &mut watch, kernels, memory);
            long(p, &mut watch, &kernels.shape, memory);
            swap(&mut memory.points, &mut memory.other);
            third(p, &mut watch, kernels, memory);
        }
        Way::Short(schedule) => {
            first(p, &mut watch, kernels, memory);
            remap::short(p, &kernels.shape, schedule, &memory.points, &mut memory.other);
            watch.lap(p, Phase::Remap);
            swap(&mut memory.points, &mut memory.other);
            third(p, &mut watch, kernels, memory);
        }
    }
    watch.times()
}

/// Computes phase I, before the remap.
fn first(p: &mut Proc, watch: &mut Stopwatch, kernels: &Kernels, memory: &mut Memory) {
    let (id, shape) = (p.id(), &kernels.shape);
    let butterflies = shape.butterflies(shape.sizes()[0]);
    p.work("butterfly", butterflies, || kernels.first(id, &mut memory.points, &mut memory.scratch));
    watch.lap(p, Phase::First);
}

/// Computes phase III, after the remap.
fn third(p: &mut Proc, watch: &mut Stopwatch, kernels: &Kernels, memory: &mut Memory) {
    let butterflies = kernels.shape.butterflies(kernels.shape.sizes()[1]);
    p.work("butterfly", butterflies, || kernels.third(&mut memory.points, &mut memory.scratch));
    watch.lap(p, Phase::Third);
}

/// The remap with long messages. The points that go to one processor lie together in the cyclic order, and
/// those that come from one in the blocked order: there they "can directly be sent" (LogGP, section 2), and what
/// is charged is the redistribution at the other end.
fn long(p: &mut Proc, watch: &mut Stopwatch, shape: &Shape, memory: &mut Memory) {
    let m = shape.m() as u64;
    let (leaving, coming) = if shape.layout == Layout::Cyclic { (0, m) } else { (m, 0) };
    p.work("point", leaving, || remap::gather(shape, &memory.points, &mut memory.blocks));
    watch.lap(p, Phase::Redistribution);
    remap::long(p, &mut memory.blocks);
    watch.lap(p, Phase::Remap);
    p.work("point", coming, || remap::spread(shape, &memory.blocks, &mut memory.other));
    watch.lap(p, Phase::Redistribution);
}

/// The columns that need the partner's points, computed in this phase.
fn remote_columns(p: &mut Proc, watch: &mut Stopwatch, phase: Phase, kernels: &Kernels, memory: &mut Memory) {
    let (id, nodes) = (p.id(), kernels.shape.m() as u64);
    for column in Column::all(p.p()) {
        column.exchange(p, &memory.points, &mut memory.other);
        watch.lap(p, Phase::Remap);
        p.work("butterfly", nodes / 2, || column.compute(kernels, id, &mut memory.points, &memory.other));
        watch.lap(p, phase);
    }
}

/// Rates per processor: 10 floating point operations per butterfly (LogP, section 4.1.4), and 16 bytes for
/// each of its n/P points, as in LogP's 3.2 MB/s.
fn metrics(plan: &Fft, spent: &[Time; 4]) -> Vec<Metric> {
    let shape = plan.shape;
    let [first, third] = shape.sizes().map(|size| 10 * shape.butterflies(size));
    let bytes = (shape.m() * size_of::<Point>()) as u64;
    let rate = |name, unit, count: u64, phase: Phase| {
        let time = spent[phase as usize];
        let value = count as f64 / time.in_units(loggp::US);
        (time > Time::ZERO && count > 0).then_some(Metric { name, unit, value })
    };
    let computed =
        |name, count, phase| if plan.is_merged() { None } else { rate(name, "Mflops", count, phase) };
    let metrics = [
        computed("compute I per processor", first, Phase::First),
        rate("remap per processor", "MB/s", bytes, Phase::Remap),
        computed("compute III per processor", third, Phase::Third),
    ];
    metrics.into_iter().flatten().collect()
}

/// Points for the seed, in the square around 0.
fn random(n: usize, seed: u64) -> Vec<Point> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut coordinate = || 2.0 * rng.f64() - 1.0;
    (0..n).map(|_| Point::new(coordinate(), coordinate())).collect()
}

/// Refuses what cannot be, and names the nearest that can.
fn check(case: &Case, way: Way) -> Result<(), Refusal> {
    /// About 100 bytes for each point: what goes in, what is on its way, what comes out, and its comparison.
    const MOST: usize = 1 << 26;
    let (n, P) = (case.size, case.params.P);
    if !P.is_power_of_two() {
        let above = P.next_power_of_two();
        return Err(format!("P = {P} is no power of two; give {} or {above}", above / 2).into());
    }
    let least = P.saturating_mul(P);
    if least > MOST {
        return Err(format!(
            "a transform on P = {P} processors has at least P^2 points, which is too much; give at most P = {}",
            1 << (MOST.ilog2() / 2)
        ).into());
    }
    if n < least {
        return Err(format!("a size of {n} is below P^2; give at least {least}").into());
    }
    if n > MOST {
        return Err(format!("a size of {n} is too much for a host; give at most {MOST}").into());
    }
    if !n.is_power_of_two() {
        let above = n.next_power_of_two();
        return Err(format!("a size of {n} is no power of two; give {} or {above}", above / 2).into());
    }
    let words = case.params.words(size_of::<Point>());
    if case.params.is_synchronous(words) && way != Way::Long && P > 1 {
        return Err(format!(
            "a point is {words} words, and above S words messages wait for their receivers, who would all be \
             sending; give S = {words} or more"
        )
        .into());
    }
    Ok(())
}
