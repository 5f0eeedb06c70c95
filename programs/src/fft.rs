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
mod rehearsal;
mod remap;
mod verify;

use std::mem::swap;

use loggp::{Machine, Proc, RunError, Time, Work, parse_time};

use self::columns::Column;
use self::kernels::{Kernels, Memory, Point};
use self::layout::{Layout, Shape};
use self::overlap::{Charges, overlapped};
use self::phase::{Phase, Stopwatch};
use self::remap::Schedule;
use crate::{Algorithm, Case, Costs, Figure, Outcome, Program, ProgramOption, Size};

/// The fast Fourier transform.
pub struct Fft;

static ALGORITHMS: [Algorithm; 7] = [
    Algorithm {
        name: "long-staggered",
        about: "a message of n/P^2 points for each processor, and a local redistribution",
        formula: "compute + (P-2) max((k-1)G + g, 2o) + (k-1)G + L + 2o + (n/P) point, with all terms kept; with a \
                  single port about 2(P-1)(k-1)G + 2o for the remap, if that is more (LogGP, section 3)",
    },
    Algorithm {
        name: "short-staggered",
        about: "a message per point; processor q begins with q + 1 and wraps around, so that none stalls",
        formula: "compute + (n/P - n/P^2) max(point + 2o, g) + (n/P^2) point + L, with all terms kept (LogP, \
                  sections 4.1.1 and 4.1.4)",
    },
    Algorithm {
        name: "short-synchronized",
        about: "as short-staggered, with a barrier after every n/P^2 messages",
        formula: "that of short-staggered, with L and a barrier for every n/P^2 messages (LogP, section 4.1.4)",
    },
    Algorithm {
        name: "short-naive",
        about: "a message per point; all send first to processor 0, then to 1, and stall",
        formula: "none: LogP (section 4.1.2) does not say in which order those who stall go on",
    },
    Algorithm {
        name: "overlapped",
        about: "as short-staggered, with the remap merged into the computation before and after it",
        formula: "compute + (n/P) point + (n/P - n/P^2) 2o, as nobody is idle; or what is computed before the first \
                  message and after the last + the remap of short-staggered, if that is more (LogP, section 4.1.5)",
    },
    Algorithm {
        name: "cyclic",
        about: "one layout: each node of the last log P columns needs a remote point",
        formula: "compute + log P ((n/P) max(point + 2o, g) + L), with all terms kept (LogP, section 4.1.1)",
    },
    Algorithm {
        name: "blocked",
        about: "one layout: each node of the first log P columns needs a remote point",
        formula: "compute + log P ((n/P) max(point + 2o, g) + L), with all terms kept (LogP, section 4.1.1)",
    },
];

static OPTIONS: [ProgramOption; 3] = [
    ProgramOption {
        name: "layout",
        value: "LAYOUT",
        about: "the hybrid layout's first half: cyclic (LogP) or blocked (LogGP)",
        default: "cyclic",
        check: |text| Layout::named(text).map(|_| ()).ok_or_else(|| "give cyclic or blocked".into()),
    },
    ProgramOption {
        name: "butterfly",
        value: "TIME",
        about: "what a butterfly costs where work is charged (4.5 us on the CM-5: LogP, section 4.1.4)",
        default: "4.5us",
        check: |text| cost(text).map(|_| ()),
    },
    ProgramOption {
        name: "point",
        value: "TIME",
        about: "what it costs to load and store a point where work is charged (1 us on the CM-5: LogP, section 4.1.4)",
        default: "1us",
        check: |text| cost(text).map(|_| ()),
    },
];

/// What something costs. A number without a unit is microseconds, whatever the machine's cycle.
fn cost(text: &str) -> Result<Time, String> {
    let time = parse_time(text, loggp::US)?;
    if time < Time::ZERO { Err("it is negative; give 0us or more".into()) } else { Ok(time) }
}

impl Program for Fft {
    fn name(&self) -> &'static str {
        "fft"
    }

    fn about(&self) -> &'static str {
        "the fast Fourier transform of complex points (LogP, section 4.1; LogGP, section 3)"
    }

    fn algorithms(&self) -> &'static [Algorithm] {
        &ALGORITHMS
    }

    fn size(&self) -> Size {
        Size { meaning: "points, a power of two and at least P^2", default: 1 << 16 }
    }

    fn options(&self) -> &'static [ProgramOption] {
        &OPTIONS
    }

    /// The papers' costs of computing, unless told.
    fn work(&self) -> Work {
        Work::Charged
    }

    fn check(&self, case: &Case) -> Result<(), String> {
        check(case)
    }

    fn rehearse(&self, case: &Case) -> Costs {
        rehearsal::rehearse(case)
    }

    fn formula(&self, case: &Case) -> Option<Time> {
        predict::total(case)
    }

    fn phases(&self, case: &Case) -> Vec<(&'static str, Option<Time>)> {
        predict::phases(case)
    }

    fn run(&self, case: &Case, machine: &Machine) -> Result<Outcome, RunError> {
        let (shape, alone) = (shape(case), is_alone(case));
        let input_of = if alone { columns::input } else { Shape::input };
        let output_of = if alone { columns::output } else { Shape::output };
        let input = random(shape.n, case.seed);
        let kernels = Kernels::new(shape);
        let part = |id| (0..shape.m()).map(move |j| input_of(&shape, id, j)).map(|j| input[j]);
        let mut machine = machine.clone();
        if let Some((butterfly, point)) = charges(case) {
            machine = machine.rate("butterfly", butterfly).rate("point", point);
        }
        let run = machine.run(|p| {
            let part = part(p.id());
            let mut memory = p.prepare(|| Memory::new(&kernels, is_long(case), part));
            let times = transform(p, case, &kernels, &mut memory);
            (memory, times) // all of it: to give memory back takes time too
        });
        let (run, results) = run?.take_results();

        let mut transform = vec![kernels::ZERO; shape.n];
        let mut spent = [Time::ZERO; 4];
        for (id, (memory, times)) in results.into_iter().enumerate() {
            memory
                .points
                .iter()
                .enumerate()
                .for_each(|(j, point)| transform[output_of(&shape, id, j)] = *point);
            spent.iter_mut().zip(times).for_each(|(most, time)| *most = time.max(*most));
        }
        let mut outcome = Outcome::new(run, verify::verify(input, transform));
        outcome.phases = order(case).map(|phase| (phase.name(), spent[phase as usize])).collect();
        outcome.figures = figures(case, &spent);
        Ok(outcome)
    }
}

/// What each processor does; returns how long it spent in each phase.
fn transform(p: &mut Proc, case: &Case, kernels: &Kernels, memory: &mut Memory) -> [Time; 4] {
    let mut watch = Stopwatch::start(p);
    match case.algorithm.name {
        _ if p.p() == 1 => first(p, &mut watch, kernels, memory),
        "overlapped" => {
            overlapped(p, &mut watch, kernels, memory, charges(case));
            watch.lap(p, Phase::Third);
        }
        "cyclic" => {
            first(p, &mut watch, kernels, memory);
            remote_columns(p, &mut watch, Phase::Third, kernels, memory);
        }
        "blocked" => {
            remote_columns(p, &mut watch, Phase::First, kernels, memory);
            third(p, &mut watch, kernels, memory);
        }
        name => {
            first(p, &mut watch, kernels, memory);
            let mut short = |schedule| {
                remap::short(p, &kernels.shape, schedule, &memory.points, &mut memory.other);
                watch.lap(p, Phase::Remap);
            };
            match name {
                "short-staggered" => short(Schedule::Staggered),
                "short-synchronized" => short(Schedule::Synchronized),
                "short-naive" => short(Schedule::Naive),
                "long-staggered" => long(p, &mut watch, &kernels.shape, memory),
                name => unreachable!("fft has no algorithm {name}"),
            }
            swap(&mut memory.points, &mut memory.other);
            third(p, &mut watch, kernels, memory);
        }
    }
    watch.times()
}

/// Phase I.
fn first(p: &mut Proc, watch: &mut Stopwatch, kernels: &Kernels, memory: &mut Memory) {
    let (id, shape) = (p.id(), &kernels.shape);
    let butterflies = shape.butterflies(shape.sizes()[0]);
    p.work("butterfly", butterflies, || kernels.first(id, &mut memory.points, &mut memory.scratch));
    watch.lap(p, Phase::First);
}

/// Phase III.
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

/// The phases that an algorithm has, in order.
fn order(case: &Case) -> impl Iterator<Item = Phase> {
    use Phase::{First, Redistribution, Remap, Third};
    let order = match shape(case).layout {
        Layout::Cyclic => [First, Remap, Redistribution, Third],
        Layout::Blocked => [First, Redistribution, Remap, Third],
    };
    order.into_iter().filter(move |phase| is_long(case) || *phase != Redistribution)
}

/// Rates per processor: 10 floating point operations per butterfly (LogP, section 4.1.4), and 16 bytes for
/// each of its n/P points, as in LogP's 3.2 MB/s.
fn figures(case: &Case, spent: &[Time; 4]) -> Vec<Figure> {
    let shape = shape(case);
    let [first, third] = shape.sizes().map(|size| 10 * shape.butterflies(size));
    let bytes = (shape.m() * size_of::<Point>()) as u64;
    let merged = case.algorithm.name == "overlapped" && shape.P > 1;
    let rate = |name, unit, count: u64, phase: Phase| {
        let time = spent[phase as usize];
        let value = count as f64 / time.in_units(loggp::US);
        (time > Time::ZERO && count > 0).then_some(Figure { name, unit, value })
    };
    let computed = |name, count, phase| if merged { None } else { rate(name, "Mflops", count, phase) };
    let figures = [
        computed("compute I per processor", first, Phase::First),
        rate("remap per processor", "MB/s", bytes, Phase::Remap),
        computed("compute III per processor", third, Phase::Third),
    ];
    figures.into_iter().flatten().collect()
}

/// Whether messages are long.
fn is_long(case: &Case) -> bool {
    case.algorithm.name == "long-staggered"
}

/// Whether an algorithm has one layout for the whole butterfly.
fn is_alone(case: &Case) -> bool {
    matches!(case.algorithm.name, "cyclic" | "blocked")
}

/// The sizes of a case's transform, and its layout.
fn shape(case: &Case) -> Shape {
    let name = if is_alone(case) { case.algorithm.name } else { case.option("layout") };
    Shape::new(case.size, case.params.P, Layout::named(name).unwrap_or(Layout::Cyclic))
}

/// What computing costs, if that is charged.
fn charges(case: &Case) -> Charges {
    let charged = |name| cost(case.option(name)).unwrap_or(Time::ZERO);
    (case.work == Work::Charged).then(|| (charged("butterfly"), charged("point")))
}

/// Points for the seed, in the square around 0.
fn random(n: usize, seed: u64) -> Vec<Point> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut coordinate = || 2.0 * rng.f64() - 1.0;
    (0..n).map(|_| Point::new(coordinate(), coordinate())).collect()
}

/// Refuses what cannot be, and names the nearest that can.
fn check(case: &Case) -> Result<(), String> {
    /// About 100 bytes for each point: what goes in, what is on its way, what comes out, and its comparison.
    const MOST: usize = 1 << 26;
    let (n, P) = (case.size, case.params.P);
    for option in &OPTIONS {
        let value = case.option(option.name);
        (option.check)(value).map_err(|why| format!("{} = {value}: {why}", option.name))?;
    }
    if !P.is_power_of_two() {
        let above = P.next_power_of_two();
        return Err(format!("P = {P} is no power of two; give {} or {above}", above / 2));
    }
    let least = P.saturating_mul(P);
    if least > MOST {
        return Err(format!(
            "a transform on P = {P} processors has at least P^2 points, which is too much; give at most P = {}",
            1 << (MOST.ilog2() / 2)
        ));
    }
    if n < least {
        return Err(format!("a size of {n} is below P^2; give at least {least}"));
    }
    if n > MOST {
        return Err(format!("a size of {n} is too much for a host; give at most {MOST}"));
    }
    if !n.is_power_of_two() {
        let above = n.next_power_of_two();
        return Err(format!("a size of {n} is no power of two; give {} or {above}", above / 2));
    }
    let words = case.params.words(size_of::<Point>());
    if case.params.is_synchronous(words) && case.algorithm.name != "long-staggered" && P > 1 {
        return Err(format!(
            "a point is {words} words, and above S words messages wait for their receivers, who would all be \
             sending; give S = {words} or more"
        ));
    }
    Ok(())
}
