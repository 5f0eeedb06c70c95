//! LU decomposition: right for any layout, as long as predicted, and with the words and the idle processors
//! that LogP counts.

use crate::case::{check, formula, outcome};
use loggp::audit::audit;
use loggp::params::LogGps;
use loggp::{ClockKind, Dilation, Latency, NS, Params, Ports, Stats, Time, US, Work, preset};
use loggp_programs::lu::{BLOCK, FLOP, GRID, LU};
use loggp_programs::math::dense::entries::{ENTRIES, Entries};
use loggp_programs::{Case, Emulation, Trend};
use loggp_study::Study;
use proptest::prelude::*;

use crate::cases::cases;

const KINDS: [Entries; 5] =
    [Entries::Random, Entries::Hilbert, Entries::Graded, Entries::Triangular, Entries::Orthogonal];

fn case(algorithm: &str, params: Params, n: usize) -> Case {
    Case { size: n, ..Case::new(&LU, algorithm, params) }
}

fn cm5(P: usize) -> Params {
    preset("cm5").unwrap().builder().P(P).build().unwrap()
}

/// Returns machines of LogP, LogGP and LogGPS. On that of LogGPS long messages wait for their receivers.
fn machines(P: usize) -> [Params; 3] {
    let machine = || Params::builder(P).L(6 * US).o(2 * US).g(4 * US);
    let gps = LogGps { s: 4, S: 8, O_s: 3 * NS, O_r: 2 * NS, G_s: 100 * NS, G_l: 50 * NS };
    [machine().build(), machine().G(100 * NS).build(), machine().gps(gps).build()].map(Result::unwrap)
}

/// Returns cases of any layout, grid, panel, matrix, machine and order of messages.
fn any_case(most: usize) -> impl Strategy<Value = Case> {
    let parts = (0..LU.algorithms.len(), 1..=most, 1..13_usize, 1..24_usize, 0..5_usize, 0..3_usize);
    (parts, any::<u64>(), any::<prop::sample::Index>(), any::<bool>()).prop_map(
        |((algorithm, n, P, block, entries, machine), seed, grid, single)| {
            let divisors: Vec<usize> = (1..=P).filter(|rows| P.is_multiple_of(*rows)).collect();
            let rows = divisors[grid.index(divisors.len())];
            let case = Case {
                latency: Latency::Random { seed },
                seed,
                ports: if single { Ports::Single } else { Ports::Dual },
                ..case(LU.algorithms[algorithm].name, machines(P)[machine], n)
            };
            case.with(&BLOCK, block)
                .with(&ENTRIES, KINDS[entries].clone())
                .with(&GRID, Some((rows, P / rows)))
        },
    )
}

proptest! {
    #![proptest_config(cases(1500))]
    #[test]
    fn every_case_is_right(case in any_case(60)) {
        outcome(&case, &Emulation::default());
    }
}

proptest! {
    #![proptest_config(cases(100))]
    #[test]
    fn every_case_is_right_on_the_wall_clock(case in any_case(24)) {
        let emulation = Emulation { dilation: Dilation::Fixed(1.0), ..Emulation::with_clock(ClockKind::Wall) };
        let model = outcome(&case, &Emulation::default());
        let wall = outcome(&case, &emulation);
        // Work is charged, so every processor acts as on the virtual clock, at the same times.
        let finish = |stats: &[Stats]| -> Vec<Time> { stats.iter().map(|stats| stats.finish).collect() };
        prop_assert_eq!(finish(&wall.run.processors), finish(&model.run.processors));
        prop_assert!(wall.run.time >= model.run.time);
    }
}

#[test]
fn every_trace_keeps_the_rules() {
    for algorithm in LU.algorithms {
        for params in machines(6) {
            for (block, clock) in [(1, ClockKind::Virtual), (5, ClockKind::Virtual), (5, ClockKind::Wall)] {
                let case = case(algorithm.name, params, 23).with(&BLOCK, block);
                let emulation =
                    Emulation { trace: true, dilation: Dilation::Fixed(1.0), ..Emulation::with_clock(clock) };
                let outcome = outcome(&case, &emulation);
                let audit = audit(outcome.run.trace.as_ref().unwrap());
                assert!(audit.is_clean(), "{case:?}: {:?}", audit.violations);
            }
        }
    }
}

#[test]
fn the_model_takes_as_long_as_predicted() {
    let loggp = |P| Params::builder(P).L(10 * US).o(2 * US).g(4 * US).G(50 * NS).build().unwrap();
    for algorithm in LU.algorithms {
        for P in [1, 2, 6, 7, 16] {
            for (params, block) in [(cm5(P), 1), (cm5(P), 8), (loggp(P), 1), (loggp(P), 8)] {
                let case = case(algorithm.name, params, 128).with(&BLOCK, block);
                let prediction = Study::new(case).run().unwrap().prediction;
                let off = prediction.error_formula().unwrap();
                // The formula takes the pivots' places as random, and does not count stalls.
                let most = if algorithm.name == "replicated" { 0.08 } else { 0.05 };
                assert!(off.abs() < most, "{} P = {P} block {block}: {off}", algorithm.name);
            }
        }
    }
}

/// With columns the places of the pivots do not matter, and no processor waits for the network.
#[test]
fn the_column_layouts_take_exactly_as_long_as_predicted() {
    for (algorithm, P, n) in [("column-cyclic", 16, 100), ("column-blocked", 8, 96), ("column-cyclic", 2, 33)]
    {
        let case = case(algorithm, cm5(P), n);
        assert_eq!(Some(outcome(&case, &Emulation::default()).run.time), formula(&case), "{case:?}");
    }
}

/// LogP, section 4.2: the scattered grid is the best layout, by the paper's ratios.
#[test]
fn the_layouts_rank_as_in_the_paper() {
    let times = |algorithm: &str| {
        let outcome = outcome(&case(algorithm, cm5(16), 192), &Emulation::default());
        let broadcast = outcome.phases.iter().find(|(name, _)| name == "broadcast").unwrap().1;
        (outcome.run.time, broadcast.in_units(US))
    };
    let [replicated, column, scattered, blocked, ahead] =
        ["replicated", "column-cyclic", "grid-cyclic", "grid-blocked", "grid-cyclic-lookahead"].map(times);
    assert!(scattered.0 < blocked.0 && scattered.0 < column.0 && column.0 < replicated.0);
    assert!(ahead.0 < scattered.0);
    // 2(n-k) against n-k against 2(n-k)/sqrt(P) numbers.
    let (by_column, by_grid) = (replicated.1 / column.1, replicated.1 / scattered.1);
    assert!((1.4..2.2).contains(&by_column), "{by_column}");
    assert!((3.0..4.4).contains(&by_grid), "{by_grid}");
}

/// In blocks, 2 sqrt(P) - 1 processors are idle after n/sqrt(P) steps, and only one is active in the last
/// n/sqrt(P). Scattered, all are active until the last sqrt(P) steps (LogP, section 4.2).
#[test]
fn processors_are_idle_as_the_paper_says() {
    let (n, P, root) = (64, 16, 4);
    let active = |algorithm: &str| -> Vec<f64> {
        let case = case(algorithm, cm5(P), n);
        let Trend { points, .. } = outcome(&case, &Emulation::default()).trend.unwrap();
        let predicted = case.plan().unwrap().trend().unwrap();
        assert_eq!(points, predicted.points, "{algorithm}");
        points.into_iter().map(|(_, active)| active).collect()
    };
    let (blocked, scattered) = (active("grid-blocked"), active("grid-cyclic"));
    // Entry k counts the processors with an element to update in step k.
    assert_eq!((blocked[n / root - 2], blocked[n / root - 1]), (16.0, (P - (2 * root - 1)) as f64));
    assert!(blocked[n - n / root - 1..n - 1].iter().all(|active| *active == 1.0));
    assert!(scattered[..n - root].iter().all(|active| *active == P as f64));
    assert!(scattered[n - root] < P as f64);
    let columns = active("column-blocked");
    assert_eq!((columns[n / P - 1], columns[n - n / P - 1]), (15.0, 1.0));
    assert!(active("column-cyclic")[..n - P].iter().all(|active| *active == P as f64));
}

/// A zero column and dependent rows are reported at the same step on every layout.
#[test]
fn a_singular_matrix_is_reported_at_the_same_step_everywhere() {
    let folder = std::env::temp_dir().join(format!("loggp-lu-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("singular.csv");
    std::fs::write(&file, "1, 2, 3, 4\n2, 4, 6, 8\n1, 0, 2, 5\n3, 1, 1, 0\n").unwrap();
    let step = |case: &Case| {
        let outcome = outcome(case, &Emulation::default());
        let metrics = outcome.metrics.iter();
        metrics.filter(|metric| metric.name == "no pivot at step").map(|metric| metric.value).next()
    };
    for algorithm in LU.algorithms {
        for P in [1, 4, 6] {
            for block in [1, 2, 5] {
                let case = |n| case(algorithm.name, machines(P)[1], n).with(&BLOCK, block);
                let zeros = Case { seed: 17, ..case(30).with(&ENTRIES, Entries::Singular) };
                assert_eq!(step(&zeros), Some(18.0), "{zeros:?}");
                assert_eq!(formula(&zeros), None);
                let same = case(4).with(&ENTRIES, Entries::File(file.clone()));
                assert_eq!(step(&same), Some(4.0), "{same:?}");
                assert_eq!(step(&case(30)), None);
            }
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// By rounding the last column may be 0 or 1e-20; either is right.
#[test]
fn a_nearly_singular_matrix_is_accepted() {
    for n in 10..40 {
        for algorithm in LU.algorithms {
            let case = case(algorithm.name, machines(2)[1], n)
                .with(&ENTRIES, Entries::Hilbert)
                .with(&GRID, Some((2, 1)));
            outcome(&case.with(&BLOCK, n - 1), &Emulation::default());
        }
    }
}

#[test]
fn impossible_cases_are_refused_in_a_sentence() {
    let case = |n, P| case("grid-cyclic", machines(P)[0], n);
    let refused = |case: Case, part: &str| {
        let why = check(&case).unwrap_err();
        assert!(why.contains(part), "{why}");
    };
    refused(case(0, 4), "leaves nothing to decompose; give at least 1");
    refused(case(10_000, 4), "give at most 8192");
    refused(case(9, 6).with(&GRID, Some((2, 2))), "a grid of 2x2 has 4 processors, and P = 6; give 2x3");
    refused(case(9, 6).with(&BLOCK, 0), "block = 0: give a whole number of at least 1");
    refused(case(9, 6).with(&FLOP, -US), "flop = -1us: it is negative");
    refused(case(9, 6).with(&ENTRIES, Entries::File("none.csv".into())), "none.csv cannot be read");
    for (name, text, part) in [
        ("grid", "6", "grid = 6: a grid is RxC"),
        ("block", "0", "block = 0: give a whole number of at least 1"),
        ("flop", "-1us", "flop = -1us: it is negative"),
        ("entries", "magic", "there is no such matrix; give random, hilbert"),
    ] {
        let why = case(9, 6).with_text(name, text).unwrap_err().to_string();
        assert!(why.contains(part), "{why}");
    }
    let folder = std::env::temp_dir().join(format!("loggp-lu-bad-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("matrix.csv");
    for (text, part) in [
        ("1,2\n3,NaN\n", "line 2 of"),
        ("1,2\n3,inf\n", "\"inf\" is not a finite number; give one"),
        ("1,2\n3\n", "has 1 numbers, and the size is 2"),
        ("1,2\n", "has 1 lines, and the size is 2"),
        ("1,2\n3,4\n5,6\n", "line 3 of"),
    ] {
        std::fs::write(&file, text).unwrap();
        refused(case(2, 1).with(&ENTRIES, Entries::File(file.clone())), part);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// With measured work the phases take no longer than the run, and every phase has a prediction.
#[test]
fn measured_work_has_a_prediction() {
    for (algorithm, block) in [("column-cyclic", 1), ("grid-cyclic-lookahead", 16), ("replicated", 8)] {
        let params = Params::builder(2).L(2 * US).o(500 * NS).g(500 * NS).G(NS).build().unwrap();
        let case = Case { work: Work::Measured, ..case(algorithm, params, 200) }.with(&BLOCK, block);
        let answers = Study::new(case).run().unwrap();
        assert_eq!(answers.wrong, None);
        assert!(answers.prediction.formula.is_some_and(|time| time > Time::ZERO));
        assert!(answers.phases.iter().all(|phase| phase.prediction.formula.is_some()), "{algorithm}");
        let sum: Time = answers.phases.iter().filter_map(|phase| phase.prediction.model).sum();
        assert!(sum <= answers.outcome.run.time, "{algorithm}");
    }
}
