//! The transportation primitive: worked examples, bounds and predictions.

use std::sync::Arc;

use loggp::params::LogGps;
use loggp::{Latency, Machine, Params, Ports, Time, US, preset};
use loggp_programs::transportation::{
    Delivery, FAN_OUT, FanOut, INCOMING, MATRIX, Matrix, MatrixKind, OUTGOING, PART, RandomSchedule, SKEW,
    STAGE1, Scheme, SendSchedule, Skew, Source, TRAFFIC, TRANSPORTATION, TransportMethod, TwoStageForm,
    generators, longest_messages, matrix, transport,
};
use loggp_programs::{Case, Emulation, FormKind, TimeSpan};

use crate::case::{check_form, formula, model, outcome};

const LINEAR: SendSchedule = SendSchedule::Linear;
const RANDOM: SendSchedule = SendSchedule::Random(RandomSchedule::PLAIN);
const IMPROVED: SendSchedule = SendSchedule::Random(RandomSchedule::IMPROVED);

fn params(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    Params::builder(P).L(L * US).o(o * US).g(g * US).G(G * US).word(4).build().unwrap()
}

/// The algorithms with formulas.
const DETERMINISTIC: [&str; 7] = [
    "two-stage",
    "two-stage-scan",
    "two-stage-alternate",
    "two-stage-alternate-combine",
    "two-stage-shuffled",
    "two-stage-sparse",
    "linear",
];

/// Runs a form of the two-stage algorithm on a matrix with different elements.
fn run_two_stage(matrix: &Matrix, form: TwoStageForm) -> Vec<Delivery> {
    let P = matrix.P();
    let source = |i: usize| Source {
        sendl: matrix.row(i).to_vec(),
        elements: Arc::new((0..matrix.r_i(i) as u32).map(|n| n + 1000 * i as u32).collect()),
        r: matrix.r(),
        seed: 1,
    };
    let sources: Vec<Source> = (0..P).map(source).collect();
    let machine = Machine::new(params(P, 6, 2, 4, 1));
    machine.run(|p| transport(p, TransportMethod::TwoStage(form), &sources[p.id()])).unwrap().results
}

fn named_matrix(name: &str, P: usize) -> Matrix {
    matrix(
        &Case::new(&TRANSPORTATION, "linear", params(P, 6, 2, 4, 1)).with(&MATRIX, name.to_string().into()),
    )
    .unwrap()
}

/// Figures 9 and 11: the number of elements of each message that pass each intermediate, counted by hand.
/// There is a block for each source, with a row for each intermediate and a column for each destination.
#[test]
fn messages_are_split_as_in_figures_9_and_11() {
    type Parts = [[[usize; 4]; 4]; 4];
    let local: Parts = [
        [[3, 0, 1, 1], [3, 0, 1, 0], [3, 0, 1, 0], [2, 1, 1, 0]],
        [[1, 0, 1, 3], [1, 0, 0, 3], [0, 0, 1, 3], [0, 0, 1, 3]],
        [[1, 3, 0, 1], [1, 2, 1, 0], [1, 2, 1, 0], [0, 3, 1, 0]],
        [[1, 1, 2, 1], [0, 2, 2, 0], [0, 2, 1, 1], [0, 1, 2, 1]],
    ];
    // Every source has 17 elements, one more than a multiple of 4, so the next starts one intermediate later.
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
    // Every destination has 17 too, so the round robin of each starts one later than that of the one before.
    let mut combine = alternate;
    for (i, k, j) in (0..64).map(|n| (n / 16, n / 4 % 4, n % 4)) {
        combine[i][(k + j) % 4][j] = alternate[i][k][j];
    }
    let figure_9 = named_matrix("figure-9", 4);
    assert_eq!(named_matrix("figure-11", 4), figure_9);
    for (scheme, right) in [
        (Scheme::Local, local),
        (Scheme::Scan, scan),
        (Scheme::Alternate, alternate),
        (Scheme::Combine, combine),
    ] {
        for (i, arrival) in run_two_stage(&figure_9, TwoStageForm::new(scheme)).iter().enumerate() {
            assert_eq!(arrival.parts, right[i], "{scheme:?}, source {i}");
        }
    }
}

#[test]
fn the_figures_have_the_papers_numbers() {
    let [one, two, three, nine] = [("figure-1", 8), ("figure-2", 8), ("figure-3", 4), ("figure-9", 4)]
        .map(|(name, P)| named_matrix(name, P));
    let traffic = |matrix: &Matrix| {
        let P = matrix.P();
        let (r, c) = ((0..P).map(|i| matrix.r_i(i)), (0..P).map(|j| matrix.c_j(j)));
        (r.collect::<Vec<_>>(), c.collect::<Vec<_>>())
    };
    assert_eq!(traffic(&one), (vec![10; 8], vec![10; 8]));
    assert_eq!(traffic(&two), (vec![6, 7, 7, 5, 6, 7, 0, 7], vec![7, 6, 5, 10, 0, 10, 3, 4]));
    assert_eq!(traffic(&three), (vec![9; 4], vec![9; 4]));
    assert_eq!(traffic(&nine), (vec![17; 4], vec![17; 4]));
    assert_eq!([one.kind(), two.kind()], [MatrixKind::AllToMany, MatrixKind::ManyToMany]);
    assert!(one.is_equal() && !two.is_equal() && !one.is_uniform());
    assert_eq!((two.r(), two.c(), two.t()), (7, 10, 10));
    assert_eq!((two.f(), two.g(), two.h()), (5, 6, 6));
    assert_eq!(Matrix::new(2, vec![1; 4]).kind(), MatrixKind::AllToAll);
    assert_eq!(Matrix::new(3, vec![1, 1, 1, 0, 0, 0, 2, 2, 2]).kind(), MatrixKind::ManyToAll);
    assert_eq!(Matrix::new(3, vec![1, 1, 0, 0, 0, 0, 2, 2, 2]).kind(), MatrixKind::ManyToMany);
    assert_eq!(Matrix::empty(3).kind(), MatrixKind::ManyToMany);
}

/// Returns a random case with a matrix of any kind on a machine of any model.
fn any_case(rng: &mut fastrand::Rng, most_P: usize) -> Case {
    // Small machines are more frequent.
    let P = rng.usize(1..=most_P).min(rng.usize(1..=most_P));
    let P = if rng.bool() { P } else { P.min(8) };
    let name = rng.choice(matrix_names(P)).unwrap();
    let algorithm = rng.choice(TRANSPORTATION.algorithms).unwrap().name;
    random_case(rng, P, name, algorithm)
}

/// Returns the names of the matrices that exist for `P` processors.
fn matrix_names(P: usize) -> Vec<&'static str> {
    let fit = generators::NAMED.iter().filter(|named| named.P.is_none_or(|only| only == P));
    fit.map(|named| named.name).collect()
}

/// Returns a random case with this matrix and this algorithm.
fn random_case(rng: &mut fastrand::Rng, P: usize, name: &str, algorithm: &str) -> Case {
    let time = |rng: &mut fastrand::Rng, most: i64| {
        if rng.u8(..5) == 0 { Time::ZERO } else { rng.i64(0..=most) * US }
    };
    let [L, o, g, G] = [40, 10, 20, 2].map(|most| time(rng, most));
    let mut machine = Params::builder(P).L(L).o(o).g(g).word(*rng.choice(&[1, 4, 16]).unwrap());
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
        _ => rng.usize(..40 * P).min(rng.usize(..40 * P)),
    };
    let case = Case {
        seed: rng.u64(..),
        latency: Latency::Random { seed: rng.u64(..) },
        barrier: [None, Some(time(rng, 10))][usize::from(P > 12 || rng.bool())],
        ports: [Ports::Single, Ports::Dual][rng.usize(..2)],
        ..Case::new(&TRANSPORTATION, algorithm, machine.build().unwrap())
    };
    let mut case = case.with(&MATRIX, name.to_string().into());
    if is_figure(name) {
        return case;
    }
    case = case.with(&TRAFFIC, Some(traffic));
    if name == "random" && rng.bool() {
        let (r, c) = (rng.usize(..50), rng.usize(..50));
        let (r, c) = (r.min(P * c), c.min(P * r));
        case = case.with(&OUTGOING, Some(r)).with(&INCOMING, Some(c));
    }
    if name == "skewed" && P > 8 {
        case = case.with(&FAN_OUT, Some(FanOut::Fixed(rng.usize(2..=8))));
    }
    if algorithm.starts_with("two-stage") {
        case = case.with(&STAGE1, rng.choice([LINEAR, LINEAR, RANDOM, IMPROVED]).unwrap());
    }
    case
}

fn is_figure(name: &str) -> bool {
    name.starts_with("figure")
}

/// Returns a random case with a formula: a machine of LogP or LogGP whose word holds a number, exact latency,
/// and a matrix of any kind.
fn predicted_case(rng: &mut fastrand::Rng, algorithm: &str) -> Case {
    loop {
        let case = any_case(rng, 20);
        if case.params.is_loggp() && case.params.word.get() >= 4 {
            let algorithm = TRANSPORTATION.algorithm(algorithm).unwrap();
            return Case { algorithm, latency: Latency::Exact, ..case }.with(&STAGE1, LINEAR);
        }
    }
}

/// With equal lengths, a power of two of processors, a hardware barrier and dual ports, the predictions equal
/// the model to the picosecond.
#[test]
fn predictions_are_exact_where_lengths_are_equal() {
    let mut rng = fastrand::Rng::with_seed(3);
    for n in 0..600 {
        let P = 1 << rng.usize(..5);
        // All messages have the same length, so that the sparse form leaves none out.
        let traffic = P * P * rng.usize(1..20);
        let [L, o, g, G] = [40, 10, 20, 2].map(|most| rng.i64(0..=most) * US);
        let machine = Params::builder(P).L(L).o(o).g(g).word(*rng.choice(&[4, 16]).unwrap());
        let machine = if rng.bool() { machine.G(G) } else { machine };
        let algorithm = DETERMINISTIC[n % DETERMINISTIC.len()];
        let case = Case {
            barrier: Some(rng.i64(0..10) * US),
            ports: Ports::Dual,
            ..Case::new(&TRANSPORTATION, algorithm, machine.build().unwrap())
        };
        let case = case
            .with(&MATRIX, "uniform".into())
            .with(&TRAFFIC, Some(traffic))
            .with(&PART, TimeSpan::from_cycles(rng.u32(..3)));
        assert_eq!(Some(model(&case)), formula(&case), "{case:?}");
    }
}

/// With a hardware barrier and dual ports, the time of the linear permutation is as predicted for every
/// matrix: the longest message of each step delays all processors.
#[test]
fn the_linear_permutation_takes_what_its_longest_messages_say() {
    let mut rng = fastrand::Rng::with_seed(4);
    let mut cases = 0;
    for _ in 0..1000 {
        let case = Case { ports: Ports::Dual, ..predicted_case(&mut rng, "linear") };
        let (kind, _) = check_form(&case).unwrap();
        assert!(case.barrier.is_none() || kind != FormKind::Estimate, "{case:?}");
        cases += usize::from(kind == FormKind::Exact);
    }
    assert!(cases > 200, "{cases}");
}

/// With a hardware barrier a step starts when all processors have ended the one before, and nothing stalls.
/// If the barrier consists of messages, those of early processors may stall or delay others a little.
#[test]
fn predictions_are_bounds_where_lengths_differ() {
    let mut rng = fastrand::Rng::with_seed(5);
    for n in 0..5000 {
        let case = predicted_case(&mut rng, DETERMINISTIC[n % DETERMINISTIC.len()]);
        let (time, formula) = (model(&case), formula(&case).unwrap());
        match case.barrier {
            Some(barrier) => {
                // If the gap is longer than a step, processors that did not send in a scan are ahead of the
                // others, and their messages may delay those of the others.
                let Params { L, o, g, .. } = case.params;
                let late = if g > L + 2 * o + barrier { g + 2 * o } else { Time::ZERO };
                assert!(time <= formula + late, "{case:?}\n{time} {formula}");
            }
            None => assert!(100 * time.as_ps() <= 150 * formula.as_ps(), "{case:?}\n{time} {formula}"),
        }
    }
}

/// Sections 7 and 8: bounds for the lengths of messages, and for the traffic into and out of an intermediate.
#[test]
fn messages_keep_to_the_papers_bounds() {
    let mut rng = fastrand::Rng::with_seed(6);
    for _ in 0..400 {
        let matrix = matrix(&any_case(&mut rng, 20)).unwrap();
        let (P, r, c, t) = (matrix.P(), matrix.r(), matrix.c(), matrix.t());
        let forms = [Scheme::Local, Scheme::Scan, Scheme::Alternate, Scheme::Combine].map(TwoStageForm::new);
        let forms = forms.into_iter().chain([
            TwoStageForm { shuffled: true, ..TwoStageForm::new(Scheme::Local) },
            TwoStageForm { sparse: true, ..TwoStageForm::new(Scheme::Local) },
        ]);
        for form in forms {
            let arrivals = run_two_stage(&matrix, form);
            let stage = |stage: usize| arrivals.iter().map(move |arrival| &arrival.lengths[stage]);
            let ends = |stage: usize| {
                let all = arrivals.iter().flat_map(|arrival| arrival.lengths[stage].iter().copied());
                let (least, most) = (all.clone().min().unwrap(), all.max().unwrap());
                (least, most)
            };
            let ((least1, most1), (least2, most2)) = (ends(0), ends(1));
            let busiest_comes =
                (0..P).map(|k| stage(0).map(|lengths| lengths[k]).sum::<usize>()).max().unwrap();
            let busiest_goes = stage(1).map(|lengths| lengths.iter().sum::<usize>()).max().unwrap();
            let (longest1, longest2) = longest_messages(&matrix, &form);
            assert!(most1 <= longest1 && most2 <= longest2, "{form:?} {matrix:?}");
            if let Scheme::Local | Scheme::Scan = form.scheme {
                assert!(most1 <= r.div_ceil(P) && most1 <= t.div_ceil(P), "{form:?} {matrix:?}");
                assert!(busiest_comes <= P * t.div_ceil(P));
                assert!(most2 as f64 <= c as f64 / P as f64 + P as f64);
                if matrix.is_equal() {
                    assert!(least1 == t / P && most1 - least1 <= 1, "{form:?} {matrix:?}");
                    assert!(least2 as f64 >= t as f64 / P as f64 - P as f64);
                }
            } else {
                assert!(most2 <= c.div_ceil(P), "{form:?} {matrix:?}");
                assert!(most1 as f64 <= r as f64 / P as f64 + P as f64);
            }
            match form.scheme {
                Scheme::Scan => assert!(busiest_comes <= matrix.total().div_ceil(P), "{matrix:?}"),
                Scheme::Combine => assert!(busiest_goes <= matrix.total().div_ceil(P), "{matrix:?}"),
                _ => (),
            }
        }
    }
}

/// The paper's generator: of k receivers (1-l)k share the fraction l, and all send and receive exactly t.
#[test]
fn the_generator_meets_its_bounds() {
    let mut rng = fastrand::Rng::with_seed(8);
    let case = |P: usize| Case::new(&TRANSPORTATION, "linear", params(P, 6, 2, 4, 1));
    for seed in 0..500 {
        let P = rng.usize(1..=40);
        let k = rng.usize(1..=P);
        let many = rng.usize(1..k.max(2));
        let t = rng.usize(2 * k * k..40 * k * k + 10);
        let mut case =
            Case { seed, ..case(P) }.with(&FAN_OUT, Some(FanOut::Fixed(k))).with(&TRAFFIC, Some(t));
        if k > 1 {
            case = case.with(&SKEW, Some(Skew::fraction(many, k)));
        }
        let matrix = matrix(&case).unwrap();
        assert!(matrix.is_equal() && matrix.t() == t, "{case:?}");
        for i in 0..P {
            let mut row: Vec<usize> =
                matrix.row(i).iter().copied().filter(|elements| *elements > 0).collect();
            assert_eq!((row.len(), matrix.g_j(i)), (k, k), "{case:?}");
            if k > 1 {
                // The receivers that share 1-l of the traffic have the most, if they are at most half of all.
                row.sort_unstable_by(|one, other| other.cmp(one));
                let shared: usize = row[..many].iter().sum();
                let share = (t * (k - many)) as f64 / k as f64;
                assert!(2 * many >= k || (shared as f64 - share).abs() <= 1.0, "{case:?} {row:?}");
            }
        }
        assert!(k == P || (0..P).all(|i| matrix.at(i, i) == 0));
    }
    // Bounds that differ, and that are reached.
    for seed in 0..300 {
        let (P, r, c) = (rng.usize(1..20), rng.usize(..200), rng.usize(..200));
        let (r, c) = (r.min(P * c), c.min(P * r));
        let case = Case { seed, ..case(P) }
            .with(&MATRIX, "random".into())
            .with(&OUTGOING, Some(r))
            .with(&INCOMING, Some(c));
        let matrix = matrix(&case).unwrap();
        assert_eq!((matrix.r(), matrix.c()), (r, c), "{case:?}");
    }
    for (name, residue) in [("multiples", 0), ("remainders", 6)] {
        let matrix = matrix(&case(7).with(&MATRIX, name.into()).with(&TRAFFIC, Some(1000))).unwrap();
        assert!(matrix.entries().iter().all(|elements| elements % 7 == residue) && matrix.is_equal());
        assert!(matrix.t() > 990);
    }
}

/// In the random algorithms each message takes a request, and each rejection another one.
#[test]
fn requests_are_messages_and_rejections() {
    let cm5 = preset("cm5").unwrap().builder().P(16).build().unwrap();
    for algorithm in ["random", "random-improved"] {
        for traffic in [256, 4096, 40_000] {
            let case = Case { barrier: Some(5 * US), ..Case::new(&TRANSPORTATION, algorithm, cm5) };
            let case = case.with(&TRAFFIC, Some(traffic)).with(&FAN_OUT, Some(FanOut::Fixed(8)));
            let outcome = outcome(&case, &Emulation::default());
            let [requests, rejected, sleeps] =
                ["requests", "rejected", "sleeps"].map(|name| outcome.metric(name).unwrap());
            assert_eq!(requests - rejected, 16.0 * 8.0);
            assert!(algorithm == "random" || sleeps > 0.0);
        }
    }
}
