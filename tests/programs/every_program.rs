//! Every program with every algorithm: the result is right, and the time on the virtual clock is the paper's.

use crate::case::{check, formula, outcome};
use loggp::audit::audit;
use loggp::params::LogGps;
use loggp::trace::ActivityKind;
use loggp::{ClockKind, Dilation, Latency, NS, Params, Ports, Time, US, Work};
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::fft::FFT;
use loggp_programs::lu::LU;
use loggp_programs::radix_sort::RADIX_SORT;
use loggp_programs::scatter::{ALPHA, SCATTER};
use loggp_programs::{Algorithm, Case, Emulation, Program};
use loggp_study::Study;
use proptest::prelude::*;

use crate::cases::cases;

/// Returns a case of a program, by its algorithm's name.
fn case(program: &'static Program, algorithm: &str, params: Params, size: usize) -> Case {
    Case { size, ..Case::new(program, algorithm, params) }
}

/// Returns the time of a case on the virtual clock.
fn model(case: &Case) -> Time {
    outcome(case, &Emulation::default()).run.time
}

fn params(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    Params::builder(P).L(L * US).o(o * US).g(g * US).G(G * US).build().unwrap()
}

/// Returns parameters of all kinds, also with g < o, o = 0, g = 0, G = 0 and L + 2o < g.
fn any_params(P: impl Strategy<Value = usize>) -> impl Strategy<Value = Params> {
    let time = |most: i64| prop_oneof![1 => Just(0), 4 => 0..=most];
    (P, time(60), time(20), time(40), time(3)).prop_map(|(P, L, o, g, G)| params(P, L, o, g, G))
}

/// LogP's figure 3: the time at which each processor has received the datum, and the starts of its sends.
#[test]
fn broadcast_is_figure_3_of_logp() {
    let params = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let case = case(&BROADCAST, "optimal", params, 1);
    let run = outcome(&case, &Emulation::with_trace()).run;
    let mut times = vec![(0, vec![]); 8];
    for activity in run.trace.unwrap().activities {
        match activity.kind {
            ActivityKind::Receive(_) => times[activity.id].0 = activity.end.as_ps() / US.as_ps(),
            ActivityKind::Send(_) => times[activity.id].1.push(activity.start.as_ps() / US.as_ps()),
            _ => (),
        }
    }
    times.sort();
    let leaf = |t| (t, vec![]);
    let metric = [(0, vec![0, 4, 8, 12]), (10, vec![10, 14]), (14, vec![14]), leaf(18), leaf(20), leaf(22)];
    assert_eq!(times[..6], metric);
    assert_eq!(times[6..], [leaf(24), leaf(24)]);
    assert_eq!(run.time, 24 * US);
    assert_eq!(formula(&case), Some(24 * US));
}

/// LogGP's table 3.
#[test]
fn scatter_is_table_3_of_loggp() {
    let columns = [(1, 10, 30), (1, 100, 300), (10, 10, 30), (10, 100, 300), (100, 10, 30), (100, 100, 300)];
    let table = [
        ("short", [10_250, 102_500, 102_320, 1_023_200, 1_023_020, 10_230_200]),
        ("long", [10_250, 102_500, 19_457, 111_707, 111_527, 203_777]),
        ("binomial", [1_313, 4_013, 10_520, 13_220, 102_590, 105_290]),
        ("optimal", [1_171, 2_860, 10_358, 11_819, 102_419, 103_688]),
    ];
    for (algorithm, row) in table {
        for ((k, g, L), cell) in columns.into_iter().zip(row) {
            let case = case(&SCATTER, algorithm, params(1024, L, 0, g, 1), k);
            assert_eq!(formula(&case), Some(cell * US), "{case:?}");
            assert_eq!(model(&case), cell * US, "{case:?}");
        }
    }
}

/// LogGP's figures 9 and 10.
#[test]
fn splitting_an_item_set_is_figure_10_of_loggp() {
    let params = params(6, 4, 1, 4, 1);
    assert_eq!(model(&case(&SCATTER, "optimal", params, 10)), 63 * US);
    assert_eq!(model(&case(&SCATTER, "split", params, 10)), 61 * US);
}

#[test]
fn splitting_for_a_thousand_processors_ends_soon_and_is_no_slower() {
    let params = params(1024, 30, 0, 10, 1);
    let split = model(&case(&SCATTER, "split", params, 100));
    assert!(split <= 102_419 * US, "{split}");
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn optimal_broadcast_takes_as_long_as_predicted(params in any_params(Just(1)), k in 1..8_usize) {
        for P in 1..=200 {
            let case = case(&BROADCAST, "optimal", Params { P, ..params }, k);
            prop_assert_eq!(formula(&case), Some(model(&case)), "{:?}", case);
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn broadcast_takes_as_long_as_predicted(params in any_params(1..100_usize), k in 1..8_usize) {
        for Algorithm { name, .. } in BROADCAST.algorithms {
            let case = case(&BROADCAST, name, params, k);
            prop_assert_eq!(formula(&case), Some(model(&case)), "{:?}", case);
        }
    }

    #[test]
    fn scatter_takes_as_long_as_predicted(params in any_params(1..60_usize), k in 1..20_usize, alpha in 0.01..0.99) {
        for name in ["short", "long", "optimal", "fixed"] {
            let case = case(&SCATTER, name, params, k).with(&ALPHA, alpha);
            prop_assert_eq!(formula(&case), Some(model(&case)), "{:?}", case);
        }
    }

    /// Lemma 2 claims equality for every P. That holds for powers of two, and for L + 2o <= g. Otherwise the
    /// new source has floor(P/2) sets and the old one, which starts earlier, one more, and the lemma counts
    /// the later start and the larger number.
    #[test]
    fn halving_takes_what_lemma_2_says_or_less(params in any_params(1..130_usize), k in 1..20_usize) {
        let case = case(&SCATTER, "binomial", params, k);
        let (lemma, model) = (formula(&case).unwrap(), model(&case));
        let slack = params.L + 2 * params.o - params.g;
        if params.P.is_power_of_two() || slack <= Time::ZERO {
            prop_assert_eq!(lemma, model);
        } else {
            let levels = i64::from(params.P.next_power_of_two().ilog2());
            prop_assert!(model <= lemma && lemma - model <= (levels - 1) * slack, "{lemma} {model}");
        }
    }

    #[test]
    fn optimal_is_no_slower_than_the_others_and_split_no_slower_than_optimal(
        params in any_params(1..40_usize), k in 1..40_usize, alpha in 0.01..0.99,
    ) {
        let time = |name| model(&case(&SCATTER, name, params, k).with(&ALPHA, alpha));
        let optimal = time("optimal");
        for other in ["long", "binomial", "fixed"] {
            prop_assert!(optimal <= time(other), "{}", other);
        }
        let split = time("split");
        prop_assert!(split <= optimal);
        prop_assert_eq!(split, time("split"));
    }
}

#[test]
fn results_are_right_in_whatever_order_messages_arrive() {
    let params = params(9, 40, 1, 4, 1);
    for program in [&BROADCAST, &SCATTER] {
        for Algorithm { name, .. } in program.algorithms {
            for seed in crate::cases::seeds(300) {
                let latency = Latency::Random { seed };
                model(&Case { seed, latency, ..case(program, name, params, 1 + seed as usize % 5) });
            }
        }
    }
}

/// With short messages, messages in several packets, and messages that wait for their receiver.
#[test]
fn results_are_right_on_a_loggps_machine_too() {
    let gps = LogGps { s: 4, S: 16, O_s: US, O_r: US, G_s: 2 * US, G_l: US };
    let params = Params::builder(11).L(20 * US).o(2 * US).g(4 * US).gps(gps).build().unwrap();
    for program in [&BROADCAST, &SCATTER] {
        for Algorithm { name, .. } in program.algorithms {
            for k in [1, 3, 5, 30] {
                let case = case(program, name, params, k);
                assert_eq!(formula(&case), None);
                model(&case);
            }
        }
    }
}

#[test]
fn impossible_cases_are_refused() {
    let params = params(4, 1, 1, 1, 1);
    for program in [&BROADCAST, &SCATTER] {
        for size in [0, usize::MAX] {
            let refusal = check(&case(program, "optimal", params, size)).unwrap_err();
            assert!(refusal.contains("give"), "{refusal}");
        }
    }
    for alpha in [0.0, 1.0, -0.5, f64::NAN] {
        let refusal = check(&case(&SCATTER, "fixed", params, 1).with(&ALPHA, alpha)).unwrap_err();
        assert!(refusal.contains("give a ratio between 0 and 1"), "{refusal}");
    }
}

/// Every listed program runs by the rules on both clocks, and its result is right.
#[test]
fn every_algorithm_of_every_program_keeps_the_rules() {
    for program in loggp_programs::PROGRAMS {
        for algorithm in program.algorithms {
            let mut runs = 0;
            for (number, params) in [
                "L=6,o=2,g=4,P=8",
                "L=5,o=3,g=2,G=1,P=13",
                "L=4,o=1,g=4,G=1,P=6",
                "L=0,o=0,g=0,P=3",
                "L=9,g=1,G=2,P=16",
                "L=2,o=1,O_s=1,O_r=1,s=3,S=9,G_s=1,P=5",
            ]
            .into_iter()
            .enumerate()
            {
                let params = Params::builder(1).set(params).unwrap().build().unwrap();
                // The first size that the program supports here.
                let case_of = |size| Case { size, seed: 7, ..Case::new(program, algorithm.name, params) };
                let sizes = [5, 64, 256, 1024];
                let Some(case) = sizes.map(case_of).into_iter().find(|case| check(case).is_ok()) else {
                    continue;
                };
                let case = Case { work: Work::Charged, ..case };
                let latency = Latency::Random { seed: number as u64 };
                let wall = Emulation {
                    clock: ClockKind::Wall,
                    dilation: Dilation::Fixed(1.0),
                    ..Emulation::with_trace()
                };
                for (case, emulation) in [
                    (case.clone(), Emulation::with_trace()),
                    (Case { latency, ..case.clone() }, Emulation::with_trace()),
                    (Case { ports: Ports::Dual, ..case.clone() }, Emulation::with_trace()),
                    (case, wall),
                ] {
                    let outcome = outcome(&case, &emulation);
                    let audit = audit(outcome.run.trace.as_ref().unwrap());
                    assert!(audit.is_clean(), "{case:?} {emulation:?}: {:?}", audit.violations);
                    runs += 1;
                }
            }
            assert!(runs > 0, "{} {} can do nothing of this", program.name, algorithm.name);
        }
    }
}

/// A prediction of measured work uses the cost of the computation in a run with free messages. At least one
/// pair of runs is close, however busy the host is.
#[test]
fn measured_work_is_predicted_from_the_same_work_without_messages() {
    for (program, size) in [(&FFT, 1 << 12), (&RADIX_SORT, 1 << 12), (&LU, 128)] {
        for (Algorithm { name, .. }, P) in
            program.algorithms.iter().flat_map(|algorithm| [(algorithm, 1), (algorithm, 4)])
        {
            let network = Params::builder(P).L(2 * US).o(500 * NS).g(500 * NS).G(NS).build().unwrap();
            let case = Case { work: Work::Measured, ..case(program, name, network, size) };
            let plan = case.plan().unwrap();
            assert_eq!((plan.formula(), plan.phases()), (None, vec![]));
            let close = |_| {
                let answers = Study::new(case.clone()).run().unwrap();
                assert_eq!(answers.wrong, None);
                let Some(formula) = answers.prediction.formula else {
                    assert_eq!((*name, P), ("short-naive", 4)); // the paper has no formula for it
                    return true;
                };
                (0.5..2.0).contains(&answers.prediction.model.unwrap().in_units(formula))
            };
            assert!((0..100).any(close), "{} {name} P = {P}", program.name);
        }
    }
}

/// Formula and runs of a study have the same machine, and all answers are numbers.
#[test]
fn answers_of_a_study_are_numbers() {
    let case = case(&SCATTER, "binomial", params(64, 30, 0, 10, 1), 10);
    let answers = Study::new(case.clone()).run().unwrap();
    assert_eq!((answers.prediction.formula, answers.wrong), (answers.prediction.model, None));
    assert_eq!((answers.outcome.run.messages(), answers.phases.len()), (63, 0));
    assert!(answers.prediction.measured.is_none() && answers.outcome.run.host.is_none());

    let mut runs = 0;
    let study = Study { repeat: 3, ..Study::new(case).measured() };
    let answers = study.run_with_progress(|| runs += 1).unwrap();
    let times = answers.prediction.measured.unwrap();
    assert_eq!((runs, study.runs()), (6, 6));
    assert!(times.min <= times.median && times.median <= times.max);
    assert!(times.min >= answers.prediction.model.unwrap() && answers.outcome.run.host.is_some());

    let case = self::case(&SCATTER, "fixed", params(4, 1, 1, 1, 1), 1);
    let refused = Study::new(case.clone().with(&ALPHA, 7.0)).run();
    assert_eq!(refused.unwrap_err().to_string(), "alpha = 7: give a ratio between 0 and 1");
    let refused = case.with_text("alpha", "seven").unwrap_err();
    assert_eq!(refused.to_string(), "alpha = seven: give a ratio between 0 and 1");
}

/// Every option is read by its own type, which refuses other values. The text of a value is read back.
#[test]
fn options_are_read_by_their_types() {
    for program in loggp_programs::PROGRAMS {
        for option in program.options {
            let case = Case::new(program, program.algorithms[0].name, params(4, 6, 2, 4, 1));
            let name = option.name();
            for text in ["nonsense", "-1"] {
                let why = case.clone().with_text(name, text).unwrap_err().to_string();
                assert!(why.starts_with(&format!("{name} = {text}: ")), "{why}");
            }
            let is_known = |name: &&str| program.algorithm(name).is_some();
            assert!(option.info().algorithms.iter().all(is_known), "{} {name}", program.name);
            let usual = option.default().text();
            let again = case.clone().with_text(name, &usual).unwrap();
            assert_eq!(format!("{again:?}"), format!("{case:?}"), "{} {name}", program.name);
            for algorithm in program.algorithms {
                assert_eq!(check(&Case { algorithm, ..case.clone() }), Ok(()), "{} {name}", program.name);
            }
        }
        let case = Case::new(program, program.algorithms[0].name, params(4, 6, 2, 4, 1));
        let why = case.with_text("there-is-none", "1").unwrap_err().to_string();
        assert_eq!(why, format!("{} has no option there-is-none", program.name));
    }
}
