//! FFT: the phases take the predicted times.

use loggp::{Params, Ports, Time, US};
use loggp_programs::fft::{BUTTERFLY, FFT, LAYOUT, Layout, POINT};
use loggp_programs::{Case, Emulation, Outcome, PhaseName};
use proptest::prelude::*;

use crate::case::{formula, outcome};
use crate::cases::cases;

fn case(algorithm: &str, params: Params, size: usize) -> Case {
    Case { size, ..Case::new(&FFT, algorithm, params) }
}

/// Returns the phases and their times by the paper's formulas.
fn phases(case: &Case) -> Vec<(PhaseName, Option<Time>)> {
    case.plan().unwrap().phases()
}

fn run(case: &Case) -> Outcome {
    outcome(case, &Emulation::default())
}

fn phase(outcome: &Outcome, name: &str) -> Time {
    outcome.phases.iter().find(|(other, _)| *other == name).unwrap().1
}

/// Returns a machine whose word holds a point, so that messages of all layouts have one word.
fn any_params() -> impl Strategy<Value = Params> {
    let time = |most: i64| prop_oneof![1 => Just(0), 4 => 0..=most];
    (0..5_u32, 1..60_i64, time(20), time(40), time(3)).prop_map(|(log_P, L, o, g, G)| {
        Params::builder(1 << log_P).L(L * US).o(o * US).g(g * US).G(G * US).word(16).build().unwrap()
    })
}

/// Returns cases with both layouts, several sizes and several costs of computation.
fn any_case(algorithm: &'static str) -> impl Strategy<Value = Case> {
    let parts = (any_params(), 0..4, any::<bool>(), 0..10_i64, 0..10_i64, any::<u64>());
    parts.prop_map(move |(params, log_c, blocked, butterfly, point, seed)| {
        let case = Case { seed, ..case(algorithm, params, params.P.pow(2) * (1_usize << log_c)) };
        case.with(&LAYOUT, if blocked { Layout::Blocked } else { Layout::Cyclic })
            .with(&BUTTERFLY, butterfly * US)
            .with(&POINT, point * US)
    })
}

/// Checks that every phase takes as long as predicted, and that there are no pauses between them.
fn check_prediction(case: &Case) -> Result<(), TestCaseError> {
    let outcome = run(case);
    let predicted: Vec<_> = outcome.phases.iter().map(|(name, time)| (name.clone(), Some(*time))).collect();
    prop_assert_eq!(phases(case), predicted, "{:?}", case);
    prop_assert_eq!(formula(case), Some(outcome.run.time), "{:?}", case);
    prop_assert_eq!(outcome.phases.iter().map(|(_, time)| *time).sum::<Time>(), outcome.run.time);
    prop_assert_eq!(outcome.run.stalls(), 0);
    Ok(())
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn short_messages_take_as_long_as_predicted(case in any_case("short-staggered")) {
        check_prediction(&case)?;
    }

    #[test]
    fn barriers_take_as_long_as_predicted(case in any_case("short-synchronized"), cost in -10..50_i64) {
        let barrier = (cost >= 0).then_some(cost * US);
        check_prediction(&Case { barrier, ..case })?;
    }

    #[test]
    fn one_layout_takes_as_long_as_predicted(case in any_case("cyclic"), blocked in any::<bool>()) {
        let algorithm = if blocked { "blocked" } else { "cyclic" };
        let algorithm = FFT.algorithm(algorithm).unwrap();
        check_prediction(&Case { algorithm, ..case })?;
    }

    #[test]
    fn long_messages_take_as_long_as_predicted_with_dual_ports(case in any_case("long-staggered")) {
        check_prediction(&Case { ports: Ports::Dual, ..case })?;
    }

    /// With points of several words.
    #[test]
    fn points_of_many_words_take_as_long_as_predicted_with_dual_ports(
        case in any_case("short-staggered"), word in 1..16_usize,
    ) {
        check_prediction(&Case { params: Params { word: word.try_into().unwrap(), ..case.params }, ports: Ports::Dual, ..case })?;
    }

    /// Computation costs what the butterflies cost, also around a remap that stalls.
    #[test]
    fn computing_takes_as_long_as_predicted(case in any_case("short-naive")) {
        let outcome = run(&case);
        for (name, time) in phases(&case).into_iter().filter(|(name, _)| *name != "remap") {
            prop_assert_eq!(time, Some(phase(&outcome, &name)));
        }
    }

    /// No processor ends before its own work and overheads are done, and the prediction is near.
    #[test]
    fn overlapping_takes_about_as_long_as_predicted(case in any_case("overlapped")) {
        let time = run(&case).run.time;
        let Params { L, o, g, P, .. } = case.params;
        let (m, c) = ((case.size / P) as i64, (case.size / P / P) as i64);
        let (butterfly, point) = (case.get(&BUTTERFLY), case.get(&POINT));
        let butterflies = m * i64::from(case.size.ilog2()) / 2;
        let points = if P > 1 { m } else { 0 };
        prop_assert!(time >= butterflies * butterfly + points * point + (m - c) * (2 * o), "{:?}", case);
        let formula = formula(&case).unwrap();
        let row = P as i64 / 2 * i64::from(P.ilog2()) * butterfly;
        let most = formula + Time::from_ps(formula.as_ps() / 8) + L + 2 * o + 2 * g + 2 * row;
        prop_assert!(time <= most && formula <= time + L + 2 * o + 2 * g, "{time} {formula} {case:?}");
    }
}
