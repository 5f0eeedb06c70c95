//! Radix sort: right for every input, stable, and as fast as exact predictions.

use loggp::{Latency, Machine, Params, Ports, Time, US, Work};
use loggp_programs::radix_sort::{
    BUCKET_SCAN, INPUT, KEY_HISTOGRAM, KEY_SORT, KeyDistribution, RADIX, RADIX_SORT, SortMemory, SortMethod,
    sort,
};
use loggp_programs::{Case, Emulation, Outcome, PhaseName, TimeSpan};
use proptest::prelude::*;

use crate::case::{formula, outcome};
use crate::cases::cases;

const INPUTS: [KeyDistribution; 4] =
    [KeyDistribution::Uniform, KeyDistribution::Skewed, KeyDistribution::Sorted, KeyDistribution::Equal];

fn case(algorithm: &str, params: Params, size: usize) -> Case {
    Case { size, ..Case::new(&RADIX_SORT, algorithm, params) }
}

/// Returns the phases and their times by the paper's formulas.
fn phases(case: &Case) -> Vec<(PhaseName, Option<Time>)> {
    case.plan().unwrap().phases()
}

fn run(case: &Case) -> Outcome {
    outcome(case, &Emulation::default())
}

/// Returns the time of a phase and its predicted time.
fn phase(case: &Case, outcome: &Outcome, name: &str) -> (Time, Option<Time>) {
    let predicted = phases(case);
    let (_, model) = outcome.phases.iter().find(|(other, _)| *other == name).unwrap();
    let (_, formula) = predicted.iter().find(|(other, _)| *other == name).unwrap();
    (*model, *formula)
}

fn params(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    Params::builder(P).L(L * US).o(o * US).g(g * US).G(G * US).build().unwrap()
}

/// Returns parameters of all kinds with g <= L + 2o.
fn any_params(P: impl Strategy<Value = usize>) -> impl Strategy<Value = Params> {
    let time = |most: i64| prop_oneof![1 => Just(0), 4 => 0..=most];
    let all = (P, time(60), time(20), time(40), time(3));
    all.prop_map(|(P, L, o, g, G)| params(P, L, o, g.min(L + 2 * o), G))
}

/// Tags distinguish equal keys, which must keep their order.
#[test]
fn equal_keys_stay_in_order() {
    let mut rng = fastrand::Rng::with_seed(1);
    for seed in 0..60 {
        let (P, n, values) = (rng.usize(1..12), rng.usize(1..80), rng.u32(1..40));
        let method = SortMethod { radix: rng.u32(1..12), bulk: seed % 2 == 0 };
        let items: Vec<(u32, u32)> =
            (0..(P * n) as u32).map(|tag| (rng.u32(..values) * 0x0100_0801, tag)).collect();
        let machine = Machine::new(params(P, 30, 1, 4, 1)).latency(Latency::Random { seed });
        let run = machine.work(Work::Charged).run(|p| {
            let mut room = SortMemory::new(method, n, p.P());
            sort(p, method, &items[p.id() * n..][..n], &mut room);
            room.items
        });
        let mut expected = items.clone();
        expected.sort_by_key(|(key, _)| *key);
        assert_eq!(run.unwrap().results.concat(), expected, "P = {P}, n = {n}, {method:?}");
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn any_keys_are_sorted_and_the_phases_are_the_run(
        params in any_params(1..20_usize), n in 1..100_usize, radix in 1..12_u32, seed: u64,
    ) {
        for name in ["long", "short"] {
            for input in INPUTS {
                let case = Case { seed, ..case(name, params, n) }.with(&RADIX, radix).with(&INPUT, input);
                let outcome = run(&case);
                let method = SortMethod { radix, bulk: name == "long" };
                let phases = if params.P == 1 { 1 } else { method.phases().len() };
                let sums = &outcome.phases[..phases];
                prop_assert_eq!(sums.iter().map(|(_, time)| *time).sum::<Time>(), outcome.run.time);
            }
        }
    }

    /// One processor does not wait for others.
    #[test]
    fn one_processor_takes_as_long_as_predicted(
        radix in 1..12_u32, n in 1..300_usize, cost in 0..5_u32,
    ) {
        for name in ["long", "short"] {
            for input in INPUTS {
                let case = case(name, params(1, 6, 2, 4, 1), n).with(&RADIX, radix).with(&INPUT, input);
                let case = case.with(&KEY_SORT, TimeSpan::from_cycles(cost));
                let outcome = run(&case);
                prop_assert_eq!(formula(&case), Some(outcome.run.time), "{:?}", case);
                let model: Vec<_> = outcome.phases.into_iter().map(|(name, time)| (name, Some(time))).collect();
                prop_assert_eq!(phases(&case), model);
            }
        }
    }

    /// Local phases take as long as predicted, in every pass.
    #[test]
    fn histograms_and_local_sorts_take_as_long_as_predicted(
        params in any_params(1..20_usize), n in 100..200_usize, radix in 2..9_u32, seed: u64,
    ) {
        for input in INPUTS {
            let case = Case { seed, ..case("long", params, n) }.with(&RADIX, radix).with(&INPUT, input);
            let case = case.with(&KEY_HISTOGRAM, TimeSpan::from_cycles(3)).with(&KEY_SORT, TimeSpan::from_cycles(5));
            let outcome = run(&case);
            for (name, _) in &outcome.phases {
                if name.ends_with("histogram") || name.ends_with("local sort") {
                    let (model, formula) = phase(&case, &outcome, name);
                    prop_assert_eq!(Some(model), formula, "{}", name);
                }
            }
        }
    }

    /// The pipeline of the first pass, without keys of other phases in it.
    #[test]
    fn short_ranks_take_as_long_as_predicted(
        params in any_params(2..30_usize), radix in 1..9_u32, c in 0..9_u32,
    ) {
        let case = case("short", params, 5).with(&INPUT, KeyDistribution::Equal).with(&RADIX, radix).with(&BUCKET_SCAN, TimeSpan::from_cycles(c));
        let (model, formula) = phase(&case, &run(&case), "pass 1: ranks");
        prop_assert_eq!(Some(model), formula, "{:?}", case);
    }

    /// Doubling in the first pass, exact for a power of two of processors. With other numbers some start
    /// late, and messages use the ports in other orders.
    #[test]
    fn long_ranks_take_as_long_as_predicted(
        params in any_params(2..70_usize), radix in 1..9_u32, c in 0..9_u32, dual: bool,
    ) {
        let mut case = case("long", params, 5).with(&INPUT, KeyDistribution::Equal).with(&RADIX, radix).with(&BUCKET_SCAN, TimeSpan::from_cycles(c));
        case.ports = if dual { Ports::Dual } else { Ports::Single };
        let (model, formula) = phase(&case, &run(&case), "pass 1: ranks");
        let formula = formula.unwrap();
        if params.P.is_power_of_two() {
            prop_assert_eq!(model, formula, "{:?}", case);
        } else {
            let bounded = formula <= 2 * model && model <= 2 * formula;
            prop_assert!(bounded, "{} {}: {:?}", model, formula, case);
        }
    }

    /// Passes overlap in the pipeline: each hides at most the time of the totals through it.
    #[test]
    fn a_short_sort_of_equal_keys_is_bounded(params in any_params(2..30_usize), radix in 1..9_u32, n in 1..200_usize) {
        let case = case("short", params, n).with(&INPUT, KeyDistribution::Equal).with(&RADIX, radix);
        let (model, formula) = (run(&case).run.time, formula(&case).unwrap());
        let hidden = i64::from(32_u32.div_ceil(radix) - 1) * params.P as i64 * (params.L + 2 * params.o + US);
        prop_assert!(model <= formula && formula - model <= hidden, "{} {} {:?}", model, formula, case);
    }

    /// The formula counts neither uneven keys nor messages that contend.
    #[test]
    fn a_long_sort_is_bounded(case in any_sort("long")) {
        check_bounds(&case, 1.5)?;
    }

    #[test]
    fn a_short_sort_is_bounded(case in any_sort("short")) {
        check_bounds(&case, 2.0)?;
    }
}

/// Returns sorts of keys of all kinds but equal ones.
fn any_sort(name: &'static str) -> impl Strategy<Value = Case> {
    (any_params(2..30_usize), 200..600_usize, 5..9_u32, 0..3_usize, any::<u64>()).prop_map(
        move |(params, n, radix, input, seed)| {
            Case { seed, ..case(name, params, n) }.with(&RADIX, radix).with(&INPUT, INPUTS[input])
        },
    )
}

/// Checks that a sort takes at most `most` times the prediction, and no less than the prediction without the
/// time that may be hidden.
fn check_bounds(case: &Case, most: f64) -> Result<(), TestCaseError> {
    let (model, formula) = (run(case).run.time, formula(case).unwrap());
    let ratio = model.in_units(formula);
    prop_assert!((0.75..most).contains(&ratio), "{}: {:?}", ratio, case);
    if case.algorithm.name == "long" {
        prop_assert!(formula - model <= hidden_time(case), "{} {}: {:?}", formula, model, case);
    }
    Ok(())
}

/// Returns the predicted time that the passes of `long` may hide: the second turn of each swap, if the early
/// processor has already sent; the steps of the pairs, for which no others wait; a message, which may be to
/// its own sender; and the latency of the last one, for which late processors do not wait.
fn hidden_time(case: &Case) -> Time {
    let Params { L, o, g, P, .. } = case.params;
    let stream = |bytes: usize| case.params.stream(case.params.words(bytes));
    let radix = case.get(&RADIX);
    let (passes, buckets) = (i64::from(32_u32.div_ceil(radix)), 1 << radix);
    let turns =
        if stream(4 * buckets) > L { i64::from(P.ilog2()) * (L + stream(4 * buckets)) } else { Time::ZERO };
    let pairs = match P.is_power_of_two() {
        true => Time::ZERO,
        false => 4 * o + 2 * L + stream(4 * buckets) + stream(8 * buckets) + 2 * buckets as i64 * US,
    };
    let slices = P.min(if case.get(&INPUT) == KeyDistribution::Skewed { 4 } else { buckets });
    let S = stream(4 * (case.size / slices).max(1));
    passes * (turns + pairs + (2 * S).max(S + g).max(2 * o) + L.max(S))
}

/// An earlier prediction let every swap take two turns, also those with a late processor that takes part for
/// a pair. By that one both runs took only 0.747 and 0.756 of the predicted time.
#[test]
fn the_prediction_is_near_where_pairs_are_late() {
    for (params, n, seed, most) in [
        (params(9, 0, 0, 0, 3), 228, 6_196_825_915_335_833_275, 0.93),
        (params(17, 50, 6, 0, 2), 293, 14_970_472_361_674_520_498, 0.93),
    ] {
        let case =
            Case { seed, ..case("long", params, n) }.with(&RADIX, 8).with(&INPUT, KeyDistribution::Skewed);
        check_bounds(&case, most).unwrap();
        let ratio = run(&case).run.time.in_units(formula(&case).unwrap());
        assert!(ratio > 0.85, "{ratio}");
    }
}
