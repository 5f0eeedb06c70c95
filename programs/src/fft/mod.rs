//! FFT: n complex points over P processors, transformed by the butterfly.
//!
//! The algorithms are those of LogP, section 4.1, and LogGP, section 3. The hybrid layout computes the first
//! columns of the butterfly in one layout and the last in another, with one remap between them
//! (`fft/layout.rs`). rustfft does all local work on real data. The result is compared with rustfft's
//! transform of the whole input and with the inverse.
//!
//! A butterfly is the papers' unit of local work: two nodes of the graph, 10 floating point operations (LogP,
//! section 4.1.4). An FFT of N points has N/2 log N of them, twiddle factors included. A node alone is half a
//! butterfly.

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
use loggp_predict::remap::SendOrder;

use self::columns::ButterflyColumn;
use self::kernels::{FftMemory, FftPoint, Kernels};
use self::layout::Shape;
use self::overlap::{Charges, transform_overlapped};
use self::phase::{FftPhase, PhaseStopwatch};
use crate::emulation::digest;
use crate::option::{Microseconds, OneOf};
use crate::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, Metric, Opt, Outcome, PhaseName, Plan, PlanResult,
    Predict, Program, Refusal, Size,
};

/// The fast Fourier transform.
pub static FFT: Program = Program {
    name: "fft",
    about: "the fast Fourier transform of complex points (LogP, section 4.1; LogGP, section 3)",
    algorithms: &[
        Algorithm {
            name: "long-staggered",
            about: "a message of n/P^2 points for each processor, and a local redistribution",
            formula: ClosedForm::Paper(
                "LogGP, section 3, with all terms kept",
                "compute + (P-2) max((k-1)G + g, 2o) + (k-1)G + L + 2o + (n/P) point; with a \
                 single port about 2(P-1)(k-1)G + 2o for the remap, if that is more",
            ),
            plan: |case| Fft::plan(case, FftVariant::Long),
        },
        Algorithm {
            name: "short-staggered",
            about: "a message per point; processor q begins with q + 1 and wraps around, so that none stalls",
            formula: ClosedForm::Paper(
                "LogP, sections 4.1.1 and 4.1.4, with all terms kept",
                "compute + (n/P - n/P^2) max(point + 2o, g) + (n/P^2) point + L",
            ),
            plan: |case| Fft::plan(case, FftVariant::Short(SendOrder::Staggered)),
        },
        Algorithm {
            name: "short-synchronized",
            about: "as short-staggered, with a barrier after every n/P^2 messages",
            formula: ClosedForm::Ours(
                "that of short-staggered, with L and a barrier for every n/P^2 messages",
            ),
            plan: |case| Fft::plan(case, FftVariant::Short(SendOrder::Synchronized)),
        },
        Algorithm {
            name: "short-naive",
            about: "a message per point; all send first to processor 0, then to 1, and stall",
            formula: ClosedForm::None(
                "LogP (section 4.1.2) does not say in which order those who stall go on",
            ),
            plan: |case| Fft::plan(case, FftVariant::Short(SendOrder::Naive)),
        },
        Algorithm {
            name: "overlapped",
            about: "as short-staggered, with the remap merged into the computation before and after it",
            formula: ClosedForm::Ours(
                "compute + (n/P) point + (n/P - n/P^2) 2o, as nobody is idle (LogP, section 4.1.5); or what is computed \
                 before the first message and after the last + the remap of short-staggered, if that is more",
            ),
            plan: |case| Fft::plan(case, FftVariant::Overlapped),
        },
        Algorithm {
            name: "cyclic",
            about: "one layout: each node of the last log P columns needs a remote point",
            formula: ClosedForm::Paper(
                "LogP, section 4.1.1, with all terms kept",
                "compute + log P ((n/P) max(point + 2o, g) + L)",
            ),
            plan: |case| Fft::plan(case, FftVariant::OneLayout(Layout::Cyclic)),
        },
        Algorithm {
            name: "blocked",
            about: "one layout: each node of the first log P columns needs a remote point",
            formula: ClosedForm::Paper(
                "LogP, section 4.1.1, with all terms kept",
                "compute + log P ((n/P) max(point + 2o, g) + L)",
            ),
            plan: |case| Fft::plan(case, FftVariant::OneLayout(Layout::Blocked)),
        },
    ],
    size: Size { meaning: "points, a power of two and at least P^2", default: 1 << 16 },
    options: &[&LAYOUT, &BUTTERFLY, &POINT],
    work: Work::Charged, // the papers' costs of computing, by default
};

/// The option for the hybrid layout's order.
pub static LAYOUT: Opt<Layout> = Opt::new(
    "layout",
    "LAYOUT",
    "the hybrid layout's first half: cyclic (LogP) or blocked (LogGP)",
    Layout::Cyclic,
    &OneOf(&[("cyclic", Layout::Cyclic), ("blocked", Layout::Blocked)]),
)
.for_algorithms(&["long-staggered", "short-staggered", "short-synchronized", "short-naive", "overlapped"])
.with_choices(|_, _| vec!["cyclic".into(), "blocked".into()]);

/// The option for the cost of a butterfly.
pub static BUTTERFLY: Opt<Time> = Opt::new(
    "butterfly",
    "TIME",
    "what a butterfly costs where work is charged (4.5 us on the CM-5: LogP, section 4.1.4)",
    Time::from_ps(4_500_000),
    &Microseconds,
);

/// The option for the cost of a point in a remap.
pub static POINT: Opt<Time> = Opt::new(
    "point",
    "TIME",
    "what it costs to load and store a point where work is charged (1 us on the CM-5: LogP, section 4.1.4)",
    US,
    &Microseconds,
);

/// The algorithms.
#[derive(Clone, Copy, PartialEq)]
enum FftVariant {
    /// A hybrid layout, and a remap with a message for each processor.
    Long,
    /// A hybrid layout, and a remap with a message for each point.
    Short(SendOrder),
    /// As staggered, but merged into the computation.
    Overlapped,
    /// One layout for all of it, without a remap.
    OneLayout(Layout),
}

/// The plan of a case.
struct Fft<'a> {
    case: &'a Case,
    variant: FftVariant,
    /// Sizes of the transform, and its layout.
    shape: Shape,
    /// Costs of computing, if work is charged.
    charges: Charges,
}

impl Fft<'_> {
    fn plan(case: &Case, variant: FftVariant) -> PlanResult<'_> {
        let (layout, charges) = (case.get(&LAYOUT), (case.get(&BUTTERFLY), case.get(&POINT)));
        check(case, variant)?;
        let layout = if let FftVariant::OneLayout(layout) = variant { layout } else { layout };
        Ok(Box::new(Fft {
            case,
            variant,
            shape: Shape::new(case.size, case.params.P, layout),
            charges: (case.work == Work::Charged).then_some(charges),
        }))
    }

    /// Returns whether messages are long.
    fn is_long(&self) -> bool {
        self.variant == FftVariant::Long
    }

    /// Returns whether the remap is part of the computation.
    fn is_merged(&self) -> bool {
        self.variant == FftVariant::Overlapped && self.shape.P > 1
    }

    /// Returns the phases of the algorithm, in order.
    fn order(&self) -> impl Iterator<Item = FftPhase> {
        use FftPhase::{First, Redistribution, Remap, Third};
        let order = match self.shape.layout {
            Layout::Cyclic => [First, Remap, Redistribution, Third],
            Layout::Blocked => [First, Redistribution, Remap, Third],
        };
        let long = self.is_long();
        order.into_iter().filter(move |phase| long || *phase != Redistribution)
    }
}

impl Predict for Fft<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        Some((predict::kind(self), predict::total_time(self)?))
    }

    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        predict::phases(self)
    }
}

impl Plan for Fft<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let (shape, alone) = (self.shape, matches!(self.variant, FftVariant::OneLayout(_)));
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
            let memory = p.prepare(|| FftMemory::new(&kernels, self.is_long(), part));
            let mut part = FftPart { kernels: &kernels, memory, watch: PhaseStopwatch::start(p) };
            part.transform(p, self);
            part // all of it, as freeing memory takes time
        };
        let run = machine.measure_across_map(transformed, |part| (part.memory.points, part.watch.spent));
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

/// A processor's part of the transform.
struct FftPart<'a> {
    kernels: &'a Kernels,
    memory: FftMemory,
    watch: PhaseStopwatch,
}

impl FftPart<'_> {
    /// Runs the transform on one processor.
    fn transform(&mut self, p: &mut Proc, plan: &Fft) {
        match plan.variant {
            _ if p.P() == 1 => self.compute_first(p),
            FftVariant::Overlapped => {
                transform_overlapped(p, self, plan.charges);
                self.watch.lap(p, FftPhase::Third);
            }
            FftVariant::OneLayout(Layout::Cyclic) => {
                self.compute_first(p);
                self.compute_remote_columns(p, FftPhase::Third);
            }
            FftVariant::OneLayout(Layout::Blocked) => {
                self.compute_remote_columns(p, FftPhase::First);
                self.compute_third(p);
            }
            FftVariant::Long => {
                self.compute_first(p);
                self.remap_long(p);
                self.compute_third(p);
            }
            FftVariant::Short(order) => {
                self.compute_first(p);
                let FftMemory { points, other, .. } = &mut self.memory;
                remap::send_points(p, &self.kernels.shape, order, points, other);
                self.watch.lap(p, FftPhase::Remap);
                swap(points, other);
                self.compute_third(p);
            }
        }
    }

    /// Computes phase I, before the remap.
    fn compute_first(&mut self, p: &mut Proc) {
        let (id, shape, FftMemory { points, scratch, .. }) = (p.id(), self.kernels.shape, &mut self.memory);
        let butterflies = shape.butterflies(shape.sizes()[0]);
        p.work("butterfly", butterflies, || self.kernels.compute_first(id, points, scratch));
        self.watch.lap(p, FftPhase::First);
    }

    /// Computes phase III, after the remap.
    fn compute_third(&mut self, p: &mut Proc) {
        let (shape, FftMemory { points, scratch, .. }) = (self.kernels.shape, &mut self.memory);
        let butterflies = shape.butterflies(shape.sizes()[1]);
        p.work("butterfly", butterflies, || self.kernels.compute_third(points, scratch));
        self.watch.lap(p, FftPhase::Third);
    }

    /// Does the remap with long messages. In the cyclic order the points for one processor lie together, and
    /// in the blocked order those from one: there they "can directly be sent" (LogGP, section 2). The charge
    /// is for the redistribution at the other end.
    fn remap_long(&mut self, p: &mut Proc) {
        let (shape, FftMemory { points, other, blocks, .. }) = (&self.kernels.shape, &mut self.memory);
        let m = shape.m() as u64;
        let (leaving, coming) = if shape.layout == Layout::Cyclic { (0, m) } else { (m, 0) };
        p.work("point", leaving, || remap::gather(shape, points, blocks));
        self.watch.lap(p, FftPhase::Redistribution);
        remap::exchange_blocks(p, blocks);
        self.watch.lap(p, FftPhase::Remap);
        p.work("point", coming, || remap::spread(shape, blocks, other));
        self.watch.lap(p, FftPhase::Redistribution);
        swap(points, other);
    }

    /// Computes, in this phase, the columns that need the partner's points.
    fn compute_remote_columns(&mut self, p: &mut Proc, phase: FftPhase) {
        let (id, kernels, FftMemory { points, other, .. }) = (p.id(), self.kernels, &mut self.memory);
        for column in ButterflyColumn::all(p.P()) {
            column.exchange(p, points, other);
            self.watch.lap(p, FftPhase::Remap);
            let nodes = points.len() as u64;
            p.work("butterfly", nodes / 2, || column.compute(kernels, id, points, other));
            self.watch.lap(p, phase);
        }
    }
}

/// Returns the rates per processor, with 10 floating point operations per butterfly (LogP, section 4.1.4),
/// and 16 bytes for each of its n/P points, as in LogP's 3.2 MB/s.
fn metrics(plan: &Fft, spent: &[Time; 4]) -> Vec<Metric> {
    let shape = plan.shape;
    let [first, third] = shape.sizes().map(|size| 10 * shape.butterflies(size));
    let bytes = (shape.m() * size_of::<FftPoint>()) as u64;
    let rate = |name, unit, count: u64, phase: FftPhase| {
        let time = spent[phase as usize];
        let value = count as f64 / time.in_units(loggp::US);
        (time > Time::ZERO && count > 0).then_some(Metric { name, unit, value })
    };
    let computed =
        |name, count, phase| if plan.is_merged() { None } else { rate(name, "Mflops", count, phase) };
    let metrics = [
        computed("compute I per processor", first, FftPhase::First),
        rate("remap per processor", "MB/s", bytes, FftPhase::Remap),
        computed("compute III per processor", third, FftPhase::Third),
    ];
    metrics.into_iter().flatten().collect()
}

/// Returns random points in the square around 0.
fn random(n: usize, seed: u64) -> Vec<FftPoint> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut coordinate = || 2.0 * rng.f64() - 1.0;
    (0..n).map(|_| FftPoint::new(coordinate(), coordinate())).collect()
}

/// Refuses impossible sizes, and names the nearest possible ones.
fn check(case: &Case, variant: FftVariant) -> Result<(), Refusal> {
    /// A point takes about 100 bytes: the input, the messages, the output, and the comparison.
    const MOST: usize = 1 << 26;
    let (n, P) = (case.size, case.params.P);
    if !P.is_power_of_two() {
        let above = P.next_power_of_two();
        refuse!("P = {P} is no power of two; give {} or {above}", above / 2);
    }
    let least = P.saturating_mul(P);
    if least > MOST {
        refuse!(
            "a transform on P = {P} processors has at least P^2 points, which is too much; give at most P = {}",
            1 << (MOST.ilog2() / 2)
        );
    }
    if n < least {
        refuse!("a size of {n} is below P^2; give at least {least}");
    }
    if n > MOST {
        refuse!("a size of {n} is too much for a host; give at most {MOST}");
    }
    if !n.is_power_of_two() {
        let above = n.next_power_of_two();
        refuse!("a size of {n} is no power of two; give {} or {above}", above / 2);
    }
    let words = case.params.words(size_of::<FftPoint>());
    if case.params.is_synchronous(words) && variant != FftVariant::Long && P > 1 {
        refuse!(
            "a point is {words} words, and above S words messages wait for their receivers, who would all be \
             sending; give S = {words} or more"
        );
    }
    Ok(())
}
