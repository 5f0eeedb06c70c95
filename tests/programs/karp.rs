//! The programs of Karp et al.: summation, all-to-all broadcast, and broadcast with combining.

use crate::case::{check, formula, outcome};
use loggp::params::LogGps;
use loggp::trace::ActivityKind;
use loggp::{Latency, Machine, NS, Params, Time, US, Work};
use loggp_programs::all_to_all_broadcast::ALL_TO_ALL_BROADCAST;
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::combining;
use loggp_programs::combining::COMBINING;
use loggp_programs::summation;
use loggp_programs::summation::{SUMMATION, SummationVariant, TIME};
use loggp_programs::{Algorithm, Case, Emulation, Outcome, Program, TimeSpan, Word};
use proptest::prelude::*;

use crate::cases::cases;

/// The programs of this file.
const KARP: [&Program; 3] = [&SUMMATION, &ALL_TO_ALL_BROADCAST, &COMBINING];

/// Returns a case of a program, by its algorithm's name.
fn case(program: &'static Program, algorithm: &str, params: Params, size: usize) -> Case {
    Case { size, ..Case::new(program, algorithm, params) }
}

/// Returns the time of a case on the virtual clock.
fn model(case: &Case) -> Time {
    outcome(case, &Emulation::default()).run.time
}

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

/// LogP's figure 4: the messages and their times, and the number of operands of each processor.
#[test]
fn summation_is_figure_4_of_logp() {
    let params = params(8, [5, 2, 4], US, US);
    let case = Case::new(&SUMMATION, "optimal", params).with(&TIME, Some(TimeSpan::from_cycles(28)));
    let outcome = outcome(&case, &Emulation::with_trace());
    assert_eq!(operands(&outcome), 79);
    assert_eq!(outcome.run.time, 28 * US);
    assert_eq!(formula(&case), Some(28 * US));

    let trace = outcome.run.trace.unwrap();
    let sent_at = |id: usize| {
        let mut sends =
            trace.activities.iter().filter(|a| a.id == id && matches!(a.kind, ActivityKind::Send(_)));
        sends.next().map_or(28, |send| send.start.as_ps() / US.as_ps())
    };
    let mut arrows: Vec<(i64, i64)> =
        trace.messages.iter().map(|message| (sent_at(message.id.from), sent_at(message.to))).collect();
    arrows.sort();
    assert_eq!(arrows, [(4, 14), (4, 18), (6, 28), (8, 18), (10, 28), (14, 28), (18, 28)]);

    let parts = summation::schedule(&case, SummationVariant::Optimal, 79);
    let mut shares: Vec<_> = parts
        .iter()
        .enumerate()
        .map(|(id, part)| (sent_at(id), part.operands(), part.children.len()))
        .collect();
    shares.sort();
    // S - (o+1)k + 1 for k children (Karp et al., lemma 4.2).
    let metric =
        [(4, 5, 0), (4, 5, 0), (6, 7, 0), (8, 9, 0), (10, 11, 0), (14, 12, 1), (18, 13, 2), (28, 17, 4)];
    assert_eq!(shares, metric);
    for id in 0..8 {
        let idle = outcome.run.processors[id].idle + outcome.run.processors[id].gap;
        assert_eq!(idle, Time::ZERO, "processor {id} idles before it sends");
    }
}

/// S(T) operands take T, and one more takes another cycle.
#[test]
fn summation_takes_the_least_time() {
    let params = params(8, [5, 2, 4], US, US);
    for (n, cycles) in [(1, 0), (2, 1), (78, 28), (79, 28), (80, 29)] {
        let case = case(&SUMMATION, "optimal", params, n);
        assert_eq!((formula(&case), model(&case)), (Some(cycles * US), cycles * US));
    }
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

/// The delay is less than 2o, and largest if a send starts just before a reception would end.
#[test]
fn an_all_to_all_broadcast_is_late_where_a_reception_waits_for_a_send() {
    for (L, late_by) in [(2, 0), (6, 0), (7, 3), (8, 2), (9, 1), (10, 0)] {
        let params = params(5, [L, 2, 10], US, US);
        let case = case(&ALL_TO_ALL_BROADCAST, "optimal", params, 8);
        let paper = (L + 2 * 2 + 10 * (8 * 4 - 1)) * US;
        assert_eq!(formula(&case), Some(paper));
        assert_eq!((lateness(&params, 8), model(&case)), (late_by * US, paper + late_by * US));
    }
}

/// On the CM-5 L + 2o has 2 1/2 steps, so the last receptions would start when a send does, and wait for o.
#[test]
fn combining_is_late_where_receptions_wait_for_sends() {
    for (L, late) in [(4, 0), (5, 3), (6, 2), (7, 1), (8, 0)] {
        let params = params(128, [L, 2, 4], US, US);
        let case = case(&COMBINING, "optimal", params, 1);
        let (formula, model) = (formula(&case).unwrap(), model(&case));
        assert_eq!(model - formula, late * US, "L = {L}");
    }
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
            let parts = summation::schedule(&case, way, case.size);
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

/// Each processor's value is combined exactly once, for any number of processors.
#[test]
fn combining_combines_every_value_once() {
    for P in 1..=70 {
        for times in [[0, 0, 1], [2, 1, 4], [5, 2, 4], [3, 2, 1], [40, 0, 3], [7, 0, 0]] {
            let params = params(P, times, US, US);
            let hops = combining::CombiningSchedule::new(&params);
            let machine =
                Machine::new(params).work(Work::Charged).latency(Latency::Random { seed: P as u64 });
            let union = |mut a: Vec<usize>, b: &Vec<usize>| {
                a.extend(b);
                a
            };
            let run = machine.run(|p| combining::combine(p, &hops, vec![p.id()], union)).unwrap();
            for mut result in run.results {
                result.sort();
                assert!(result.into_iter().eq(0..P), "{params:?}");
            }
        }
    }
}

/// The paper's claim: a reduction followed by a broadcast would take twice as long.
#[test]
fn combining_of_thirteen_takes_as_long_as_a_reduction() {
    // L + 2o = 3g: f is 1 1 1 2 3 4 6 9 13, so 13 processors take 8 steps.
    let params = params(13, [8, 2, 4], US, US);
    let case = case(&COMBINING, "optimal", params, 1);
    assert_eq!((formula(&case), model(&case)), (Some(32 * US), 32 * US));
}

#[test]
fn results_are_right_in_whatever_order_messages_arrive() {
    for times in [[40, 1, 4], [5, 2, 4], [9, 3, 2], [30, 0, 0]] {
        let params = params(9, times, US, US);
        for program in KARP {
            for Algorithm { name, .. } in program.algorithms {
                for seed in 0..100 {
                    let case = Case { seed, ..case(program, name, params, 1 + seed as usize % 70) };
                    let random = Case { latency: Latency::Random { seed }, ..case.clone() };
                    assert!(model(&random) <= model(&case), "{case:?}");
                }
            }
        }
    }
}

#[test]
fn results_are_right_on_a_loggps_machine_too() {
    for (s, S) in [(4, 16), (0, 1), (1, 1)] {
        let gps = LogGps { s, S, O_s: US, O_r: 3 * US, G_s: 2 * US, G_l: US };
        for P in [1, 2, 5, 11, 16] {
            let params = Params::builder(P).L(20 * US).o(2 * US).g(4 * US).gps(gps).build().unwrap();
            for program in KARP {
                for Algorithm { name, .. } in program.algorithms {
                    for k in [1, 3, 5, 100] {
                        let case = case(program, name, params, k);
                        assert_eq!(formula(&case), None);
                        model(&case);
                    }
                }
            }
            let case = Case::new(&SUMMATION, "optimal", params).with(&TIME, Some((99 * US).into()));
            assert!(model(&case) <= 99 * US);
        }
    }
}

/// If even a word waits for its receiver, a tree still works, but an exchange of all at once does not.
#[test]
fn simultaneous_sends_are_refused_where_every_message_waits() {
    let gps = LogGps { s: 0, S: 0, O_s: US, O_r: US, G_s: US, G_l: US };
    let params = Params::builder(5).L(20 * US).o(2 * US).g(4 * US).gps(gps).build().unwrap();
    model(&case(&SUMMATION, "optimal", params, 100));
    model(&case(&SUMMATION, "binomial", params, 100));
    for program in [&ALL_TO_ALL_BROADCAST, &COMBINING] {
        let refusal = check(&case(program, "optimal", params, 1)).unwrap_err();
        assert!(refusal.contains("give S of at least 1"), "{refusal}");
    }
}

#[test]
fn one_processor_takes_only_its_computation() {
    let params = params(1, [5, 2, 4], US, US);
    for (program, cycles) in KARP.into_iter().zip([99, 0, 0]) {
        for Algorithm { name, .. } in program.algorithms {
            let case = case(program, name, params, 100);
            assert_eq!((formula(&case), model(&case)), (Some(cycles * US), cycles * US));
        }
    }
}

#[test]
fn impossible_cases_are_refused() {
    let params = params(4, [1, 1, 1], US, US);
    for program in KARP {
        for Algorithm { name, .. } in program.algorithms {
            for size in [0, 1 << 40, usize::MAX] {
                let refusal = check(&case(program, name, params, size)).unwrap_err();
                assert!(refusal.contains("give"), "{refusal}");
            }
        }
    }
    for Algorithm { name, .. } in SUMMATION.algorithms {
        for (time, sentence) in [
            ("-1", "give 0 or more"),
            ("1000s", "give a shorter time"),
            ("9000000s", "give a shorter time"),
            ("soon", "there is no unit soon"),
            ("3 parsecs", "there is no unit parsecs"),
        ] {
            let case = Case::new(&SUMMATION, name, params).with_text("time", time);
            let refusal = case.map_or_else(|why| why.to_string(), |case| check(&case).unwrap_err());
            assert!(refusal.contains(sentence), "{refusal}");
        }
        let both = case(&SUMMATION, name, params, 5).with(&TIME, Some(TimeSpan::from_cycles(28)));
        assert!(check(&both).unwrap_err().contains("leave --size out"));
    }
    let slow = Params { cycle: 3_000_000 * US, ..params };
    let refusal = check(&case(&SUMMATION, "optimal", slow, 1 << 28)).unwrap_err();
    assert!(refusal.contains("longer than time lasts; give fewer"), "{refusal}");
}
