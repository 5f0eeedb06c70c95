//! The transportation primitive: its worked examples and bounds, its predictions, and that everything arrives.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod cases;

use std::process::Command;
use std::sync::Arc;

use cases::{check, formula, outcome};
use loggp::{
    ClockKind, Dilation, Latency, LogGps, Machine, Params, Ports, Ties, Time, US, Work, audit, preset,
};
use loggp_programs::transportation::{
    Arrival, Kind, Matrix, Method, Schedule, Scheme, Source, TRANSPORTATION, TwoStage, expected_longest, longest,
    matrix, source, transport,
};
use loggp_programs::{Algorithm, Case, Emulation, Outcome, Study};

fn params(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    Params::new(P).L(L * US).o(o * US).g(g * US).G(G * US).word(4).build().unwrap()
}

/// The paper's machine, with the CM-5's barrier in its control network.
fn cm5(algorithm: &str, P: usize, traffic: usize) -> Case {
    let params = preset("cm5").unwrap().builder().P(P).build().unwrap();
    let case = Case { barrier: Some(5 * US), ..Case::new(&TRANSPORTATION, algorithm, params) };
    case.with("traffic", traffic)
}

fn model(case: &Case) -> Time {
    outcome(case, &Emulation::default()).run.time
}

fn figure(outcome: &Outcome, name: &str) -> f64 {
    let figure = outcome.figures.iter().find(|figure| figure.name == name);
    figure.unwrap_or_else(|| panic!("no {name} in {:?}", outcome.figures)).value
}

/// All algorithms that have formulas.
const DETERMINISTIC: [&str; 7] = [
    "two-stage",
    "two-stage-scan",
    "two-stage-alternate",
    "two-stage-alternate-combine",
    "two-stage-shuffled",
    "two-stage-sparse",
    "linear",
];

fn form(scheme: Scheme) -> TwoStage {
    TwoStage { scheme, shuffled: false, sparse: false, stage1: Schedule::Linear }
}

/// Runs a form of the two-stage algorithm on a matrix, with elements that are all different.
fn transported(matrix: &Matrix, form: TwoStage) -> Vec<Arrival> {
    let P = matrix.P();
    let source = |i: usize| Source {
        sendl: matrix.row(i).to_vec(),
        elements: Arc::new((0..matrix.r_i(i) as u32).map(|n| n + 1000 * i as u32).collect()),
        r: matrix.r(),
        seed: 1,
    };
    let sources: Vec<Source> = (0..P).map(source).collect();
    let machine = Machine::new(params(P, 6, 2, 4, 1));
    machine.run(|p| transport(p, Method::TwoStage(form), &sources[p.id()])).unwrap().results
}

fn named(name: &str, P: usize) -> Matrix {
    matrix(&Case::new(&TRANSPORTATION, "linear", params(P, 6, 2, 4, 1)).with("matrix", name)).unwrap()
}

/// Figures 9 and 11: how many elements of each message go by each intermediate, counted by hand.
/// A block for each source, with a row for each intermediate and a column for each destination.
#[test]
fn messages_are_split_as_in_figures_9_and_11() {
    type Parts = [[[usize; 4]; 4]; 4];
    let local: Parts = [
        [[3, 0, 1, 1], [3, 0, 1, 0], [3, 0, 1, 0], [2, 1, 1, 0]],
        [[1, 0, 1, 3], [1, 0, 0, 3], [0, 0, 1, 3], [0, 0, 1, 3]],
        [[1, 3, 0, 1], [1, 2, 1, 0], [1, 2, 1, 0], [0, 3, 1, 0]],
        [[1, 1, 2, 1], [0, 2, 2, 0], [0, 2, 1, 1], [0, 1, 2, 1]],
    ];
    // Every source has 17 elements, one more than a multiple of 4: so the next begins one intermediate further on.
    let scan: Parts = [
        [[3, 0, 1, 1], [3, 0, 1, 0], [3, 0, 1, 0], [2, 1, 1, 0]],
        [[0, 0, 1, 3], [1, 0, 1, 3], [1, 0, 0, 3], [0, 0, 1, 3]],
        [[1, 2, 1, 0], [0, 3, 1, 0], [1, 3, 0, 1], [1, 2, 1, 0]],
        [[0, 2, 2, 0], [0, 2, 1, 1], [0, 1, 2, 1], [1, 1, 2, 1]],
    ];
    let alternate: Parts = [
        [[3, 1, 1, 1], [3, 0, 1, 0], [3, 0, 1, 0], [2, 0, 1, 0]],
        [[1, 0, 1, 3], [0, 0, 1, 3], [0, 0, 1, 3], [1, 0, 0, 3]],
        [[0, 2, 1, 0], [1, 3, 1, 1], [1, 3, 0, 0], [1, 2, 1, 0]],
        [[1, 2, 2, 1], [0, 1, 1, 0], [0, 1, 2, 1], [0, 2, 2, 1]],
    ];
    // Every destination has 17 too, so each one's round robin begins one further on than that of the one before.
    let mut combine = alternate;
    for (i, k, j) in (0..64).map(|n| (n / 16, n / 4 % 4, n % 4)) {
        combine[i][(k + j) % 4][j] = alternate[i][k][j];
    }
    let figure_9 = named("figure-9", 4);
    assert_eq!(named("figure-11", 4), figure_9);
    for (scheme, right) in [
        (Scheme::Local, local),
        (Scheme::Scan, scan),
        (Scheme::Alternate, alternate),
        (Scheme::Combine, combine),
    ] {
        for (i, arrival) in transported(&figure_9, form(scheme)).iter().enumerate() {
            assert_eq!(arrival.parts, right[i], "{scheme:?}, source {i}");
        }
    }
}

#[test]
fn the_figures_are_the_papers() {
    let [one, two, three, nine] =
        [("figure-1", 8), ("figure-2", 8), ("figure-3", 4), ("figure-9", 4)].map(|(name, P)| named(name, P));
    let traffic = |matrix: &Matrix| {
        let P = matrix.P();
        let (r, c) = ((0..P).map(|i| matrix.r_i(i)), (0..P).map(|j| matrix.c_j(j)));
        (r.collect::<Vec<_>>(), c.collect::<Vec<_>>())
    };
    assert_eq!(traffic(&one), (vec![10; 8], vec![10; 8]));
    assert_eq!(traffic(&two), (vec![6, 7, 7, 5, 6, 7, 0, 7], vec![7, 6, 5, 10, 0, 10, 3, 4]));
    assert_eq!(traffic(&three), (vec![9; 4], vec![9; 4]));
    assert_eq!(traffic(&nine), (vec![17; 4], vec![17; 4]));
    assert_eq!([one.kind(), two.kind()], [Kind::AllToMany, Kind::ManyToMany]);
    assert!(one.is_equal() && !two.is_equal() && !one.is_uniform());
    assert_eq!((two.r(), two.c(), two.t()), (7, 10, 10));
    assert_eq!((two.f(), two.g(), two.h()), (5, 6, 6));
    assert_eq!(Matrix::new(2, vec![1; 4]).kind(), Kind::AllToAll);
    assert_eq!(Matrix::new(3, vec![1, 1, 1, 0, 0, 0, 2, 2, 2]).kind(), Kind::ManyToAll);
    assert_eq!(Matrix::new(3, vec![1, 1, 0, 0, 0, 0, 2, 2, 2]).kind(), Kind::ManyToMany);
    assert_eq!(Matrix::empty(3).kind(), Kind::ManyToMany);
}

/// A random case of the program's: a matrix of any kind, on a machine of any model.
fn any_case(rng: &mut fastrand::Rng, most_P: usize) -> Case {
    // Few processors more often than many; all numbers of them.
    let P = rng.usize(1..=most_P).min(rng.usize(1..=most_P));
    let matrices = source::NAMED.iter().filter(|named| named.P.is_none_or(|only| only == P));
    let name = rng.choice(matrices.map(|named| named.name).collect::<Vec<_>>()).unwrap();
    let algorithm = rng.choice(TRANSPORTATION.algorithms).unwrap().name;
    let time = |rng: &mut fastrand::Rng, most: i64| if rng.u8(..5) == 0 { Time::ZERO } else { rng.i64(0..=most) * US };
    let [L, o, g, G] = [40, 10, 20, 2].map(|most| time(rng, most));
    let mut machine = Params::new(P).L(L).o(o).g(g).word(*rng.choice(&[1, 4, 16]).unwrap());
    match rng.u8(..4) {
        0 => (),
        1 | 2 => machine = machine.G(G),
        _ => {
            let s = rng.usize(1..20);
            machine = machine.gps(LogGps { s, S: s + rng.usize(..100), O_s: US, O_r: o, G_s: G, G_l: G });
        }
    }
    let traffic = match name {
        "remainders" => P * (P - 1) + rng.usize(..4 * P),
        "skewed" => rng.usize(P.min(8) * P..60 * P),
        _ => rng.usize(..80 * P).min(rng.usize(..80 * P)),
    };
    let case = Case {
        seed: rng.u64(..),
        latency: Latency::Random { seed: rng.u64(..) },
        barrier: [None, Some(time(rng, 10))][usize::from(P > 12 || rng.bool())],
        ports: [Ports::Single, Ports::Dual][rng.usize(..2)],
        ..Case::new(&TRANSPORTATION, algorithm, machine.build().unwrap())
    };
    let mut case = case.with("matrix", name);
    if named_by_figure(name) {
        return case;
    }
    case = case.with("traffic", traffic);
    if name == "random" && rng.bool() {
        let (r, c) = (rng.usize(..50), rng.usize(..50));
        let (r, c) = (r.min(P * c), c.min(P * r));
        case = case.with("outgoing", r).with("incoming", c);
    }
    if name == "skewed" && P > 8 {
        case = case.with("fan-out", rng.usize(2..=8));
    }
    if algorithm.starts_with("two-stage") {
        case = case.with("stage1", rng.choice(["linear", "linear", "random", "random-improved"]).unwrap());
    }
    case
}

fn named_by_figure(name: &str) -> bool {
    name.starts_with("figure")
}

/// Ten thousand cases on the virtual clock, every number of processors among them, and every pair of algorithm and matrix.
#[test]
fn everything_arrives_in_whatever_order_messages_come() {
    let mut rng = fastrand::Rng::with_seed(14);
    let mut seen = std::collections::BTreeSet::new();
    let mut processors = [0; 41];
    let emulation = Emulation { stack: Some(64 << 10), ..Emulation::default() };
    for _ in 0..10_000 {
        let case = any_case(&mut rng, 40);
        processors[case.params.P] += 1;
        seen.insert((case.algorithm.name, case.option("matrix").to_string()));
        outcome(&case, &emulation);
    }
    assert!(processors[1..].iter().all(|cases| *cases > 0), "{processors:?}");
    assert_eq!(seen.len(), TRANSPORTATION.algorithms.len() * source::NAMED.len(), "{seen:?}");
}

/// The same on the wall clock, so much faster than it should be that it is always late.
#[test]
fn everything_arrives_on_the_wall_clock_too() {
    let mut rng = fastrand::Rng::with_seed(15);
    let emulation = Emulation {
        clock: ClockKind::Wall,
        dilation: Dilation::Fixed(1e-3),
        stack: Some(64 << 10),
        ..Emulation::default()
    };
    for _ in 0..300 {
        let mut case = any_case(&mut rng, 40);
        if case.params.P > 16 {
            case.params.P = 1 + case.params.P % 16; // threads cost more than coroutines
        }
        if check(&case).is_ok() {
            outcome(&case, &emulation);
        }
    }
}
