//! FFT: the result is right, the phases take the predicted times, and the algorithms rank as in the papers.

use crate::case::{check, formula, outcome};
use loggp::audit::audit;
use loggp::params::LogGps;
use loggp::{ClockKind, Dilation, Latency, NS, Params, Ports, Time, US, Work, preset};
use loggp_programs::fft::{BUTTERFLY, FFT, LAYOUT, Layout, POINT};
use loggp_programs::{Algorithm, Case, Emulation, Outcome, PhaseName};
use proptest::prelude::*;

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

fn cm5(P: usize) -> Params {
    preset("cm5").unwrap().builder().P(P).build().unwrap()
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

/// LogP, section 4.1.4: n/P max(1us + 2o, g) + L, less the messages of a processor to itself.
#[test]
fn the_staggered_remap_is_that_of_logp() {
    for (n, P) in [(1 << 12, 16), (1 << 14, 128), (1 << 16, 32)] {
        let params = cm5(P);
        let (m, c) = ((n / P) as i64, (n / P / P) as i64);
        let each = params.g.max(US + 2 * params.o);
        let remap = phase(&run(&case("short-staggered", params, n)), "remap");
        assert_eq!(remap, m * each + params.L - c * (each - US), "n = {n}, P = {P}");
    }
}

/// The same at the paper's size.
#[test]
fn the_staggered_remap_of_a_million_points_is_that_of_logp() {
    let outcome = run(&case("short-staggered", cm5(128), 1 << 20));
    assert_eq!(phase(&outcome, "remap"), 8192 * (5 * US) + 6 * US - 64 * (4 * US));
    let rate = outcome.metrics.iter().find(|metric| metric.unit == "MB/s").unwrap().value;
    assert!((3.2..3.23).contains(&rate), "{rate}"); // "an asymptotic rate of 3.2MB/s"
    assert!(outcome.metrics.iter().all(|f| f.unit != "Mflops" || (f.value - 2.2).abs() < 0.1));
}

/// LogP, figure 6, and LogGP, section 3.
#[test]
fn the_algorithms_rank_as_in_the_papers() {
    let params = preset("cs2-splitc").unwrap().builder().P(16).build().unwrap();
    for params in [cm5(16), params] {
        for layout in [Layout::Cyclic, Layout::Blocked] {
            let run_algorithm = |name| run(&case(name, params, 1 << 12).with(&LAYOUT, layout));
            let remap = |name| phase(&run_algorithm(name), "remap");
            let staggered = remap("short-staggered");
            assert!(remap("short-naive") > 2 * staggered);
            assert!(run_algorithm("short-naive").run.stalls() > 0);
            assert_eq!(run_algorithm("short-staggered").run.stalls(), 0);
            assert!(remap("short-synchronized") > staggered);
            // One layout: a factor of log P.
            for alone in ["cyclic", "blocked"] {
                assert!(remap(alone) >= 4 * staggered && 5 * staggered >= remap(alone), "{alone}");
            }
        }
    }
    // "The bulk transfer does save time overall", including the redistribution.
    let total = |name| run(&case(name, params, 1 << 12)).run.time;
    let long = run(&case("long-staggered", params, 1 << 12));
    assert!(long.run.time < total("short-staggered"));
    assert!(5 * phase(&long, "remap") < phase(&run(&case("short-staggered", params, 1 << 12)), "remap"));
}

/// LogP, section 4.1.5: "if o is small compared to g, each processor idles for g - 2o cycles between
/// successive transmissions". With overlap it does not.
#[test]
fn overlapping_eliminates_idling() {
    let params = Params::builder(8).L(20 * US).o(US).g(12 * US).word(16).build().unwrap();
    for layout in [Layout::Cyclic, Layout::Blocked] {
        let run_algorithm = |name| run(&case(name, params, 1 << 12).with(&LAYOUT, layout));
        let idle = |outcome: &Outcome| {
            outcome.run.processors.iter().map(|stats| stats.gap + stats.idle).max().unwrap()
        };
        let (apart, merged) = (run_algorithm("short-staggered"), run_algorithm("overlapped"));
        assert!(idle(&apart) > 448 * (8 * US));
        assert!(idle(&merged) < 100 * US, "{}", idle(&merged));
        assert!(merged.run.time + 448 * (8 * US) < apart.run.time);
    }
}

/// LogGP's 2kG: on the CS-2 the port is the bottleneck.
#[test]
fn long_messages_through_a_single_port_take_about_2kG() {
    for machine in ["cs2-splitc", "cs2-elan"] {
        let params = preset(machine).unwrap().builder().P(16).build().unwrap();
        for n in [1 << 14, 1 << 16, 1 << 18] {
            let case = case("long-staggered", params, n);
            let (remap, predicted) = (phase(&run(&case), "remap"), phases(&case)[1].1.unwrap());
            let ratio = remap.as_ns() / predicted.as_ns();
            assert!((0.99..1.5).contains(&ratio), "{machine}, n = {n}: {ratio}");
        }
    }
}

#[test]
fn one_processor_sends_nothing() {
    let params = cm5(1);
    for Algorithm { name, .. } in FFT.algorithms {
        for n in [1, 2, 64] {
            let case = case(name, params, n);
            let outcome = run(&case);
            let time = n as i64 * i64::from(n.ilog2()) * (2250 * NS);
            assert_eq!((outcome.run.time, outcome.run.messages()), (time, 0), "{name} {n}");
            assert!(formula(&case).is_none_or(|formula| formula == time), "{name} {n}");
        }
    }
}

#[test]
fn results_are_right_in_whatever_order_messages_arrive() {
    let params = Params::builder(8).L(40 * US).o(US).g(4 * US).G(US).build().unwrap();
    for Algorithm { name, .. } in FFT.algorithms {
        for seed in 0..60 {
            let layout = [Layout::Cyclic, Layout::Blocked][seed as usize % 2];
            let latency = Latency::Random { seed };
            let case = Case { seed, latency, ..case(name, params, 64 << (seed % 3)) };
            run(&case.with(&LAYOUT, layout));
        }
    }
}

/// With messages in several packets, and blocks that wait for their receivers.
#[test]
fn results_are_right_on_a_loggps_machine_too() {
    let gps = LogGps { s: 2, S: 4, O_s: US, O_r: US, G_s: 2 * US, G_l: US };
    for P in [2, 4, 8, 16] {
        let params = Params::builder(P).L(20 * US).o(2 * US).g(4 * US).gps(gps).build().unwrap();
        for Algorithm { name, .. } in FFT.algorithms {
            for layout in [Layout::Cyclic, Layout::Blocked] {
                let case = case(name, params, 4 * P * P).with(&LAYOUT, layout);
                assert_eq!((formula(&case), phases(&case)), (None, vec![]));
                run(&case);
            }
        }
    }
}

#[test]
fn the_wall_clock_has_the_same_result_and_keeps_the_rules() {
    for Algorithm { name, .. } in FFT.algorithms {
        for work in [Work::Charged, Work::Measured] {
            let case = Case { work, ..case(name, cm5(4), 64) };
            let dilation = Dilation::Fixed(1.0);
            let emulation = Emulation { clock: ClockKind::Wall, dilation, ..Emulation::with_trace() };
            let outcome = outcome(&case, &emulation);
            let audit = audit(outcome.run.trace.as_ref().unwrap());
            assert!(audit.is_clean(), "{name}: {:?}", audit.violations);
        }
    }
}

#[test]
fn a_wrong_size_is_refused_with_a_right_one() {
    for (P, n, part) in [
        (8, 1000, "give 512 or 1024"),
        (8, 32, "give at least 64"),
        (8, 0, "give at least 64"),
        (6, 1024, "P = 6 is no power of two; give 4 or 8"),
        (1 << 14, 1 << 28, "give at most P = 8192"),
        (2, usize::MAX, "give at most 67108864"),
    ] {
        let refusal = check(&case("short-staggered", cm5(P), n)).unwrap_err();
        assert!(refusal.contains(part), "{refusal}");
    }
    let refusal_of = |name: &str, text: &str| {
        case("short-staggered", cm5(2), 64).with_text(name, text).unwrap_err().to_string()
    };
    assert!(refusal_of("layout", "hybrid").contains("give cyclic or blocked"));
    assert!(refusal_of("butterfly", "-1us").contains("it is negative"));
    assert!(refusal_of("point", "fast").contains("no unit fast"));
    let gps = LogGps { s: 1, S: 1, O_s: US, O_r: US, G_s: US, G_l: US };
    let params = Params::builder(2).L(20 * US).o(US).g(US).gps(gps).build().unwrap();
    assert!(check(&case("cyclic", params, 64)).unwrap_err().contains("give S = 2 or more"));
    assert!(check(&case("long-staggered", params, 64)).is_ok());
}
