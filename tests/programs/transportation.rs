//! The transportation primitive: complete delivery, worked examples, bounds and predictions.

use std::process::Command;
use std::sync::Arc;

use crate::case::{check, formula, outcome};
use loggp::audit::audit;
use loggp::params::LogGps;
use loggp::{ClockKind, Dilation, Latency, Machine, Params, Ports, Time, US, preset};
use loggp_programs::transportation::{
    CHUNK, Delivery, FAN_OUT, FanOut, INCOMING, MATRIX, Matrix, MatrixKind, OUTGOING, PART, RandomSchedule,
    SKEW, STAGE1, Scheme, SendSchedule, Skew, Source, TRAFFIC, TRANSPORTATION, TransportMethod, TwoStageForm,
    expected_longest, generators, longest_messages, matrix, transport,
};
use loggp_programs::{Algorithm, Case, Emulation, Outcome, TimeSpan};

const LINEAR: SendSchedule = SendSchedule::Linear;
const RANDOM: SendSchedule = SendSchedule::Random(RandomSchedule::PLAIN);
const IMPROVED: SendSchedule = SendSchedule::Random(RandomSchedule::IMPROVED);
const HALF: Option<Skew> = Some(Skew::Fixed(1.0, 2.0));

fn params(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    Params::builder(P).L(L * US).o(o * US).g(g * US).G(G * US).word(4).build().unwrap()
}

/// Returns a case on the paper's machine, with the barrier of the CM-5's control network.
fn cm5(algorithm: &str, P: usize, traffic: usize) -> Case {
    let params = preset("cm5").unwrap().builder().P(P).build().unwrap();
    let case = Case { barrier: Some(5 * US), ..Case::new(&TRANSPORTATION, algorithm, params) };
    case.with(&TRAFFIC, Some(traffic))
}

fn model(case: &Case) -> Time {
    outcome(case, &Emulation::default()).run.time
}

fn metric(outcome: &Outcome, name: &str) -> f64 {
    outcome.metric(name).unwrap_or_else(|| panic!("no {name} in {:?}", outcome.metrics))
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

/// Every algorithm with every matrix on the virtual clock, on all numbers of processors up to 12 and some up
/// to 40, and cases of any kind up to 3,000 in all.
#[test]
fn everything_arrives_in_whatever_order_messages_come() {
    let mut rng = fastrand::Rng::with_seed(14);
    let emulation = Emulation { stack: Some(64 << 10), ..Emulation::default() };
    let mut cases = 0;
    for P in (1..=12).chain([16, 23, 32, 40]) {
        for name in matrix_names(P) {
            for algorithm in TRANSPORTATION.algorithms {
                outcome(&random_case(&mut rng, P, name, algorithm.name), &emulation);
                cases += 1;
            }
        }
    }
    assert!(cases > 1500, "{cases}");
    for _ in cases..crate::cases::times(3_000) {
        outcome(&any_case(&mut rng, 20), &emulation);
    }
}

/// The same on the wall clock, at a speed at which the host is always late.
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
        let Params { L, o, g, .. } = case.params;
        let (time, formula) = (model(&case), formula(&case).unwrap());
        match case.barrier {
            Some(barrier) if g <= L + 2 * o => {
                let Params { P, .. } = case.params;
                let all = matrix(&case).unwrap();
                // A step without messages costs only its barrier, as predicted.
                assert_eq!(time, formula, "{case:?} {barrier} {P} {}", all.total());
                cases += 1;
            }
            Some(_) => assert!(time <= formula, "{case:?} {time} {formula}"),
            None => (),
        }
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

/// The appendix: with random remainders the longest message of stage 2 is about as long as expected.
#[test]
fn shuffling_makes_the_longest_message_what_the_appendix_expects() {
    let P = 32;
    let mut sum = 0.0;
    for seed in 0..20 {
        let case = cm5("two-stage-shuffled", P, P * 200).with(&MATRIX, "random".into());
        let outcome = outcome(&Case { seed, ..case.clone() }, &Emulation::default());
        let expected = expected_longest(matrix(&Case { seed, ..case }).unwrap().t(), P).unwrap();
        assert_eq!(metric(&outcome, "expected most"), expected);
        sum += metric(&outcome, "2: most");
        assert!(metric(&outcome, "2: most") <= (200 + P) as f64);
    }
    // The longest message is to one of the destinations with the most traffic.
    let expected = expected_longest(P * 200, P).unwrap();
    assert!((sum / 20.0 - expected).abs() < 6.0, "{} {expected}", sum / 20.0);
}

/// Section 7.3: two stages take 2 t mu and lower-order terms, less the part that each processor keeps.
#[test]
fn two_stages_come_near_two_t_mu() {
    let P = 32;
    for ports in [Ports::Single, Ports::Dual] {
        let mut last = f64::MAX;
        for n in 10..20 {
            let case = Case { ports, ..cm5("two-stage", P, 1 << n) }
                .with(&FAN_OUT, Some(FanOut::Fixed(P)))
                .with(&SKEW, HALF);
            let outcome = outcome(&case, &Emulation::default());
            let ratio = metric(&outcome, "time / 2 t mu");
            assert!(ratio < last, "{ratio} after {last}");
            last = ratio;
            let (time, formula) = (outcome.run.time.as_ps() as f64, formula(&case).unwrap().as_ps() as f64);
            assert!(time <= formula, "{time} {formula}");
            if n >= 15 {
                assert!(time > 0.95 * formula, "{n}: {time} {formula}");
            }
        }
        assert!((0.95..1.05).contains(&last), "{last}");
    }
    // Section 8: with other bounds in and out, (r + c) mu.
    for (algorithm, r, c) in [("two-stage", 1 << 17, 1 << 19), ("two-stage-alternate", 1 << 19, 1 << 17)] {
        let mut last = f64::MAX;
        for part in [64, 16, 4, 1] {
            let case = Case { ports: Ports::Dual, ..cm5(algorithm, 16, 1) }.with(&MATRIX, "random".into());
            let case = case.with(&OUTGOING, Some(r / part)).with(&INCOMING, Some(c / part));
            let ratio = metric(&outcome(&case, &Emulation::default()), "time / (r + c) mu");
            assert!(ratio < last, "{algorithm}: {ratio} after {last}");
            last = ratio;
        }
        assert!(last < 1.05, "{algorithm}: {last}");
    }
}

/// Section 9, at P = 32 with the CM-5's parameters: the orders that figures 13 to 16 show.
#[test]
fn the_algorithms_compare_as_in_figures_13_to_16() {
    let skews = [(2, 2), (4, 4), (8, 2), (16, 16), (32, 2), (32, 32)];
    let traffic = 65536;
    {
        let times = |algorithm: &str| -> Vec<f64> {
            let time = |&(k, l): &(usize, usize)| {
                let seeds = 1..=3;
                let case = cm5(algorithm, 32, traffic)
                    .with(&FAN_OUT, Some(FanOut::Fixed(k)))
                    .with(&SKEW, Some(Skew::fraction(1, l)));
                let sum: f64 = seeds.map(|seed| model(&Case { seed, ..case.clone() }).as_ns()).sum();
                sum / 3.0
            };
            skews.iter().map(time).collect()
        };
        let [random, improved, two_stage] = ["random", "random-improved", "two-stage"].map(times);
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
        let spread = |times: &[f64]| {
            let (least, most) =
                (times.iter().copied().fold(f64::MAX, f64::min), times.iter().copied().fold(0.0, f64::max));
            (most - least) / mean(times)
        };
        // Figure 13: the improved algorithm is faster.
        assert!(mean(&improved) < mean(&random), "{improved:?} {random:?}");
        // Figure 14: a single stage is faster, by less than a factor of two, and its times vary far more.
        assert!(improved.iter().zip(&two_stage).all(|(single, two)| single < two && *two < 1.9 * single));
        assert!(spread(&two_stage) < 0.1 && spread(&improved) > 3.0 * spread(&two_stage));
        // Figures 15 and 16: relative to a single stage, two stages do best with the longest messages, and
        // worst with two equal ones.
        let ratio = |n: usize| two_stage[n] / improved[n];
        assert!(ratio(5) < ratio(0), "{improved:?} {two_stage:?}");
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

#[test]
fn impossible_cases_are_refused_in_a_sentence() {
    let case = |P: usize| Case::new(&TRANSPORTATION, "two-stage", params(P, 6, 2, 4, 1));
    for (case, why) in [
        (
            case(8).with(&FAN_OUT, Some(FanOut::Fixed(9))),
            "a fan-out of 9 is not to be had from 8 processors; give one from 1 to 8",
        ),
        (
            case(8).with(&FAN_OUT, Some(FanOut::Fixed(4))).with(&SKEW, Some(Skew::fraction(1, 3))),
            "a skew of 1/3 gives 1.333 of 4 receivers",
        ),
        (case(8).with(&FAN_OUT, Some(FanOut::Fixed(1))).with(&SKEW, HALF), "leave --skew out"),
        (case(8).with(&TRAFFIC, Some(5)), "give more traffic, or less fan-out"),
        (case(8).with(&MATRIX, "figure-9".into()), "it is for 4 processors, and there are 8; give -P 4"),
        (case(4).with(&MATRIX, "figure-9".into()).with(&TRAFFIC, Some(5)), "leave it out"),
        (
            case(8).with(&MATRIX, "diagonal".into()).with(&SKEW, HALF),
            "--skew is for the matrix skewed; leave it out",
        ),
        (case(8).with(&OUTGOING, Some(5)), "--outgoing is for the matrix random; leave it out"),
        (
            case(8).with(&MATRIX, "random".into()).with(&OUTGOING, Some(100)).with(&INCOMING, Some(12)),
            "one processor sends 100, and all 8 together receive at most 96; give at most that",
        ),
        (
            case(8).with(&MATRIX, "remainders".into()).with(&TRAFFIC, Some(55)),
            "give a traffic of at least 56",
        ),
        (case(8).with(&MATRIX, "there-is-none.csv".into()), "there-is-none.csv cannot be read"),
        (Case { size: 5000, ..case(8) }.with(&TRAFFIC, Some(5)), "leave one of them out"),
        (case(257), "give at most 256"),
        (
            case(256).with(&MATRIX, "uniform".into()).with(&TRAFFIC, Some(1 << 24)),
            "give less traffic or fewer processors",
        ),
    ] {
        let refusal = check(&case).unwrap_err();
        assert!(refusal.contains(why) && !refusal.contains('\n'), "{refusal}");
    }
    // The Cenju-4's longest message has 4,333 bytes.
    let cenju4 = preset("cenju4").unwrap().builder().P(8).build().unwrap();
    let refusal = check(&Case::new(&TRANSPORTATION, "linear", cenju4)).unwrap_err();
    assert!(
        refusal.contains("14336 words") && refusal.contains("at most 4333; give less traffic"),
        "{refusal}"
    );
    outcome(&Case::new(&TRANSPORTATION, "two-stage", cenju4), &Emulation::default());
    // If even a word waits for its receiver, requests and replies would wait for each other.
    let gps = LogGps { s: 0, S: 0, O_s: US, O_r: US, G_s: US, G_l: US };
    let params = Params::builder(4).L(US).o(US).g(US).gps(gps).build().unwrap();
    assert!(
        check(&Case::new(&TRANSPORTATION, "random", params)).unwrap_err().contains("give S of at least 1")
    );
    outcome(&Case::new(&TRANSPORTATION, "two-stage-alternate-combine", params), &Emulation::default());
}

#[test]
fn every_algorithm_keeps_to_the_rules_of_the_machine() {
    for Algorithm { name, .. } in TRANSPORTATION.algorithms {
        for stage1 in [LINEAR, IMPROVED] {
            let case = cm5(name, 8, 600).with(&STAGE1, stage1).with(&CHUNK, 40);
            let run = outcome(&case, &Emulation::with_trace()).run;
            let audit = audit(run.trace.as_ref().unwrap());
            assert!(audit.is_clean(), "{name}: {:?}", audit.violations);
        }
    }
}

/// In the random algorithms each message takes a request, and each rejection another one.
#[test]
fn requests_are_messages_and_rejections() {
    for algorithm in ["random", "random-improved"] {
        for traffic in [256, 4096, 40_000] {
            let case = cm5(algorithm, 16, traffic).with(&FAN_OUT, Some(FanOut::Fixed(8)));
            let outcome = outcome(&case, &Emulation::default());
            let [requests, rejected, sleeps] =
                ["requests", "rejected", "sleeps"].map(|name| metric(&outcome, name));
            assert_eq!(requests - rejected, 16.0 * 8.0);
            assert!(algorithm == "random" || sleeps > 0.0);
        }
    }
}

fn loggp(line: &str) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_loggp")).args(line.split_whitespace()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn matrix_shows_matrices() {
    let (status, table, errors) = loggp("matrix figure-9");
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let right = "\
figure-9: P = 4, r = 17, c = 17, t = 17, f = 4, g = 4, h = 4
all-to-many, not uniform, equal traffic

     P0  P1  P2  P3  r_i  f_i
 P0  11   1   4   1   17    4
 P1   2       3  12   17    3
 P2   3  10   3   1   17    4
 P3   1   6   7   3   17    4
c_j  17  17  17  17
g_j   4   3   4   4
";
    assert_eq!(table, right);

    // The CSV output can be read, drawn and run.
    let folder = tempfile::tempdir().unwrap();
    let (file, plot) = (folder.path().join("m.csv"), folder.path().join("m.svg"));
    let (file_name, plot_name) = (file.display(), plot.display());
    let (_, csv, _) = loggp("matrix random -P 5 --outgoing 50 --incoming 30 --format csv");
    std::fs::write(&file, &csv).unwrap();
    let (status, again, _) = loggp(&format!("matrix {file_name} --format csv -o {plot_name}"));
    assert_eq!((status, again), (Some(0), csv));
    let picture = std::fs::read_to_string(&plot).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("r = 50, c = 30, t = 50"));
    let (status, json, _) = loggp(&format!("matrix {file_name} --format json"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (status, &json["r"], &json["c"], json["rows"].as_array().unwrap().len()),
        (Some(0), &50.into(), &30.into(), 5)
    );
    let run = format!("run transportation two-stage-alternate --matrix {file_name} -P 5 --format json");
    let (status, json, _) = loggp(&run);
    assert_eq!(status, Some(0));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["verified"], true);

    for (line, why) in [
        ("matrix figure-8".to_string(), "there is no such matrix; there are skewed, random,"),
        ("matrix figure-9 -P 5".into(), "it is for 4 processors, and there are 5; give -P 4"),
        (format!("matrix {file_name} -P 6"), "it is for 5 processors, and there are 6; give -P 5"),
        (format!("matrix -o {file_name}.png"), "give a name that ends in .svg for a picture, or in .csv,"),
        (
            "matrix skewed -P 0".into(),
            "P = 0 is no number of processors for a matrix; give one from 1 to 2048",
        ),
        ("matrix nothing.csv".into(), "nothing.csv cannot be read"),
        (format!("run transportation --matrix {file_name} -P 4"), "give -P 5"),
    ] {
        let (status, out, errors) = loggp(&line);
        assert_eq!((status, out.as_str()), (Some(2), ""), "{line}");
        assert!(errors.contains(why) && errors.trim_end().lines().count() == 1, "{line}: {errors}");
    }
    for (text, why) in [
        ("1,2\n3\n", "row 1 of"),
        ("1,x\n3,4\n", "has \"x\" in row 0, column 1; give whole numbers up to"),
        ("1,-2\n3,4\n", "has \"-2\""),
        ("\n", "has no line; give a line of numbers for each processor"),
    ] {
        std::fs::write(&file, text).unwrap();
        let (status, _, errors) = loggp(&format!("matrix {file_name}"));
        assert!(status == Some(2) && errors.contains(why), "{errors}");
    }
}
