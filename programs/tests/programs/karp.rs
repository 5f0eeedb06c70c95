//! The programs of Karp et al.: summation, all-to-all broadcast, and broadcast with combining.

use loggp::{Latency, Machine, NS, Params, Time, US, Work};
use loggp_programs::all_to_all_broadcast::ALL_TO_ALL_BROADCAST;
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::combining::COMBINING;
use loggp_programs::summation;
use loggp_programs::summation::{SUMMATION, SummationVariant, TIME};
use loggp_programs::{Algorithm, Case, Emulation, Outcome, Word};
use proptest::prelude::*;

use crate::case::{case, formula, model, outcome};
use crate::cases::cases;

/// Returns the number of operands that a run reports.
fn operands(outcome: &Outcome) -> usize {
    outcome.metric("operands").unwrap() as usize
}

/// Returns a machine whose times are these multiples of a unit.
fn params(P: usize, [L, o, g]: [i64; 3], unit: Time, cycle: Time) -> Params {
    Params::builder(P).L(L * unit).o(o * unit).g(g * unit).cycle(cycle).build().unwrap()
}

/// Returns L, o and g of all kinds, also with g < o, o = 0, g = 0, L = 0 and L + 2o < g.
fn any_times(most: i64) -> impl Strategy<Value = [i64; 3]> {
    let time = |most: i64| prop_oneof![1 => Just(0), 4 => 0..=most];
    [time(most), time(most / 3), time(most)]
}

/// Returns machines whose times are whole cycles, as in the paper (section 2).
fn whole_cycle_params(P: impl Strategy<Value = usize>) -> impl Strategy<Value = Params> {
    (P, any_times(24), 1..100_000_i64)
        .prop_map(|(P, times, ps)| params(P, times, Time::from_ps(ps), Time::from_ps(ps)))
}

/// Returns machines with any times.
fn any_params(P: impl Strategy<Value = usize>) -> impl Strategy<Value = Params> {
    (P, any_times(30_000), 1..12_000_i64).prop_map(|(P, times, cycle)| params(P, times, NS, cycle * NS))
}

/// Returns machines on which a gap has room for a send and a reception.
fn roomy_params(P: impl Strategy<Value = usize>) -> impl Strategy<Value = Params> {
    any_params(P).prop_map(|params| Params { g: params.g + 2 * params.o, ..params })
}

/// Rounds L, o and g of a machine to whole cycles, down or up.
fn round_to_cycles(params: Params, up: bool) -> Params {
    let cycle = params.cycle.as_ps();
    let whole = |time: Time| Time::from_ps((time.as_ps() + if up { cycle - 1 } else { 0 }) / cycle * cycle);
    Params { L: whole(params.L), o: whole(params.o), g: whole(params.g), ..params }
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn optimal_summation_takes_as_long_as_predicted(params in whole_cycle_params(1..14_usize), n in 1..150_usize) {
        let case = case(&SUMMATION, "optimal", params, n);
        prop_assert_eq!(formula(&case), Some(model(&case)), "{:?}", case);
    }

    #[test]
    fn binomial_summation_takes_as_long_as_predicted(params in any_params(1..14_usize), n in 1..60_usize) {
        let case = case(&SUMMATION, "binomial", params, n);
        prop_assert_eq!(formula(&case), Some(model(&case)), "{:?}", case);
    }

    /// The schedule supports any times, but is known to be optimal only for whole cycles.
    #[test]
    fn summation_is_between_whole_cycles(params in any_params(1..14_usize), n in 1..150_usize) {
        let case_on = |params| case(&SUMMATION, "optimal", params, n);
        let model = model(&case_on(params));
        let [least, most] = [false, true].map(|up| formula(&case_on(round_to_cycles(params, up))).unwrap());
        prop_assert!(least <= model && model <= most, "{} {} {} {:?}", least, model, most, params);
    }

    #[test]
    fn optimal_summation_is_no_slower_than_binomial(params in whole_cycle_params(1..14_usize), n in 1..150_usize) {
        let time = |name| formula(&case(&SUMMATION, name, params, n)).unwrap();
        prop_assert!(time("optimal") <= time("binomial"));
    }

    #[test]
    fn all_to_all_broadcast_takes_as_long_as_predicted(params in roomy_params(1..7_usize), k in 1..5_usize) {
        let case = case(&ALL_TO_ALL_BROADCAST, "optimal", params, k);
        let (formula, model) = (formula(&case).unwrap(), model(&case));
        prop_assert_eq!(formula + lateness(&params, k), model, "{:?}", case);
    }

    /// If a gap has no room for a send and a reception, the processors are busy all the time, or sends and
    /// receptions alternate.
    #[test]
    fn all_to_all_broadcast_without_room_keeps_its_bounds(params in any_params(2..7_usize), k in 1..5_usize) {
        let Params { L, o, g, P, .. } = params;
        let case = case(&ALL_TO_ALL_BROADCAST, "optimal", params, k);
        let (model, messages) = (model(&case), (k * (P - 1)) as i64);
        prop_assert!(model >= (messages * 2 * o).max(L + 2 * o + (messages - 1) * g.max(o)));
        prop_assert!(model <= L + 2 * o + (messages - 1) * g.max(2 * o) + 2 * o);
        if g < 2 * o {
            prop_assert_eq!(formula(&case), None);
        }
        if g <= o {
            prop_assert!(model <= (messages * 2 * o).max(L + 2 * o + (messages - 1) * o));
        }
    }

    #[test]
    fn combining_takes_as_long_as_predicted(params in any_params(1..30_usize), k in 1..3_usize) {
        let Params { L, o, g, .. } = params;
        let case = case(&COMBINING, "optimal", params, k);
        let (formula, model) = (formula(&case).unwrap(), model(&case));
        // The time of a message's reception within a step: a whole step, or less.
        let (D, u) = (L + 2 * o, g.max(2 * o));
        let into = D - (D.as_ps() - 1).checked_div(u.as_ps()).unwrap_or(0).max(0) * u;
        let late = (2 * o - into).max(Time::ZERO);
        prop_assert!(formula <= model && model <= formula + late, "{} {} {} {:?}", formula, model, late, case);
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    /// The operands for a time take no longer, and one more does.
    #[test]
    fn a_summation_uses_up_its_time(params in any_params(1..10_usize), cycles in 0..40_i64) {
        for Algorithm { name, .. } in SUMMATION.algorithms {
            let T = cycles * params.cycle;
            let outcome = outcome(&Case::new(&SUMMATION, name, params).with(&TIME, Some(T.into())), &Emulation::default());
            prop_assert!(outcome.run.time <= T);
            let more = case(&SUMMATION, name, params, operands(&outcome) + 1);
            prop_assert!(model(&more) > T, "{} {:?}", name, more);
        }
    }

    /// If L + 2o is a whole number of gaps, and a gap has room for a send and a reception, combining takes as
    /// long as an optimal reduction, which is a broadcast run backwards.
    #[test]
    fn combining_takes_as_long_as_a_reduction(P in 1..60_usize, o in 0..9_i64, more in 0..9_i64, d in 1..9_i64) {
        let g = 2 * o + more;
        let params = params(P, [(d * g - 2 * o).max(0), o, g], NS, US);
        let case = case(&COMBINING, "optimal", params, 1);
        let reduction = formula(&Case::new(&BROADCAST, "optimal", params));
        prop_assert_eq!(formula(&case), reduction);
        prop_assert_eq!(Some(model(&case)), reduction);
    }
}

/// Returns the delay against the paper's all-to-all broadcast, in which a reception waits for a send's end.
fn lateness(params: &Params, k: usize) -> Time {
    let Params { L, o, g, P, .. } = *params;
    let sends = (k * (P - 1)) as i64;
    // The o of the i-th send starts at ig, and that of the first reception at o + L.
    let in_the_way = (0..sends).find(|i| *i * g < o + L + o && o + L < *i * g + o);
    in_the_way.map_or(Time::ZERO, |i| i * g + o - (o + L))
}

/// With an associative operator that is not commutative, the result has the operands in their order.
#[test]
fn strings_are_concatenated_in_their_order() {
    let machines = [[5, 2, 4], [0, 0, 0], [3, 2, 1], [1, 0, 9], [20, 1, 2]];
    for (seed, times) in machines.into_iter().cycle().take(500).enumerate() {
        let params = params(1 + seed % 11, times, US, US);
        for Algorithm { name, .. } in SUMMATION.algorithms {
            let case = case(&SUMMATION, name, params, 1 + seed % 90);
            let way = if *name == "optimal" { SummationVariant::Optimal } else { SummationVariant::Binomial };
            let parts = summation::schedule(&case.params, way, case.size);
            let words: Vec<Word<String>> = (0..case.size).map(|i| Word(format!("{i},"))).collect();
            let add = |a: Word<String>, b: &Word<String>| Word(a.0 + &b.0);
            let whole: String = words.iter().map(|word| word.0.as_str()).collect();
            for latency in [Latency::Exact, Latency::Random { seed: seed as u64 }] {
                let machine = Machine::new(params).work(Work::Charged).latency(latency);
                let run = machine.run(|p| summation::sum(p, &parts, &words, add)).unwrap();
                assert_eq!(run.results[0].as_ref().unwrap().0, whole, "{case:?}");
                assert!(run.time <= formula(&case).unwrap());
            }
        }
    }
}
