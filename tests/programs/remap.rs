//! Remap: its predictions under random parameters, and the results of LogP and LogGP.

use crate::case::{check, outcome};
use loggp::params::LogGps;
use loggp::{Latency, NS, Params, Ports, Time, US, preset};
use loggp_programs::remap::{REMAP, is_exact_with_single_ports};
use loggp_programs::{Algorithm, Case, Emulation, Outcome};

fn run(case: &Case) -> Outcome {
    outcome(case, &Emulation { stack: Some(64 << 10), ..Emulation::default() })
}

/// Returns the time of a case on the virtual clock.
fn model(case: &Case) -> Time {
    run(case).run.time
}

/// Returns the time by the paper's formula.
fn formula(case: &Case) -> Time {
    crate::case::formula(case).unwrap()
}

/// A source of random cases of all kinds, also with g < o, 2o > g, o = 0, g = 0, L = 0 and G = 0.
struct CaseSource(fastrand::Rng);

impl CaseSource {
    fn time(&mut self, most: i64) -> Time {
        if self.0.u8(..6) == 0 { Time::ZERO } else { Time::from_ps(self.0.i64(0..=most)) }
    }

    fn case(&mut self, algorithm: &str) -> Case {
        // A coarse unit, for which times coincide, or a fine one, for which they do not.
        let unit = [US, Time::from_ps(1)][self.0.usize(..2)];
        let fine = if unit == US { 1 } else { 1_000_000 };
        let [L, o, g, G] = [40, 12, 20, 3].map(|most| self.time(most * fine).as_ps() * unit);
        let params = Params::builder(self.0.usize(1..7)).L(L).o(o).g(g).G(G).word(self.0.usize(1..6));
        let params = params.build().unwrap();
        let size = self.0.usize(1..=12 * params.word.get());
        Case { size, ..Case::new(&REMAP, algorithm, params) }
    }
}

fn random_cases(algorithm: &str, number: usize) -> impl Iterator<Item = Case> {
    let mut draw = CaseSource(fastrand::Rng::with_seed(5));
    (0..number).map(move |_| draw.case(algorithm))
}

#[test]
fn short_messages_take_as_long_as_predicted() {
    let mut text = 0;
    for case in random_cases("short-staggered", 10_000) {
        let time = formula(&case);
        assert_eq!(model(&case), time, "{case:?}");
        // If nothing delays a send, the formula is exactly the paper's.
        let Params { L, o, g, P, word, .. } = case.params;
        if P > 1 && g > Time::ZERO && 2 * o + Time::from_ps(L.as_ps() % g.as_ps()) <= g {
            let m = (P - 1) * case.size.div_ceil(word.get());
            assert_eq!(time, 2 * o + (m as i64 - 1) * g + L);
            text += 1;
        }
    }
    assert!(text > 1000, "{text}");
}

#[test]
fn short_messages_with_barriers_take_as_long_as_predicted() {
    for (i, mut case) in random_cases("short-synchronized", 10_000).enumerate() {
        case.barrier = [None, Some(i as i64 % 50 * 500 * NS)][i % 2];
        assert_eq!(model(&case), formula(&case), "{case:?}");
    }
}

#[test]
fn long_messages_take_as_long_as_predicted_with_dual_ports() {
    let mut exact = 0;
    for case in random_cases("long-staggered", 12_000) {
        let case = Case { ports: Ports::Dual, ..case };
        let Params { o, g, word, .. } = case.params;
        let G = case.params.G().unwrap();
        let h = (case.size.div_ceil(word.get()) as i64 - 1) * G + g;
        let (time, formula) = (model(&case), formula(&case));
        if g <= o && o < h && h < 2 * o {
            assert!(formula <= time && time.as_ps() <= 2 * formula.as_ps(), "{case:?} {time} {formula}");
        } else {
            assert_eq!(time, formula, "{case:?}");
            exact += 1;
        }
    }
    assert!(exact >= 10_000, "{exact}");
}

#[test]
fn long_messages_take_no_less_than_predicted_with_single_ports() {
    let mut exact = 0;
    for case in random_cases("long-staggered", 10_000) {
        let (time, formula) = (model(&case), formula(&case));
        if is_exact_with_single_ports(&case.params, case.size) {
            assert_eq!(time, formula, "{case:?}");
            exact += 1;
        }
        assert!(formula <= time && time.as_ps() <= 2 * formula.as_ps(), "{case:?} {time} {formula}");
    }
    assert!(exact > 1000, "{exact}");
}

/// LogP, section 4.1.2: "all but L/g processors will stall on the first send, and then one will send to
/// processor 0 every g cycles". As that goes on, the naive order takes about P/2 times as long.
#[test]
fn the_naive_order_stalls() {
    let (P, C) = (8, 2);
    let params = Params::builder(P).L(8 * US).o(US).g(4 * US).G(US).word(4).build().unwrap();
    let case = |algorithm, k: usize| Case { size: 4 * k, ..Case::new(&REMAP, algorithm, params) };

    // P - 1 processors send to processor 0 first, and C of them do not stall.
    let run = outcome(&case("short-naive", 16), &Emulation::with_trace()).run;
    let messages = &run.trace.as_ref().unwrap().messages;
    let first = |id: usize| messages.iter().find(|m| m.id.from == id && m.id.number == 0).unwrap();
    let at_once = (1..P).filter(|id| first(*id).enter == params.o).count();
    assert!((1..P).all(|id| first(id).to == 0) && at_once == C);
    // Then a message to processor 0 enters every g until all have.
    let last = messages.iter().filter(|m| m.to == 0).map(|m| m.enter).max().unwrap();
    let slowest = params.o + (7 * 16) * params.g;
    assert!(last <= slowest && 10 * last.as_ps() > 9 * slowest.as_ps(), "{last} {slowest}");

    for k in [16, 64, 256] {
        let (naive, staggered) = (case("short-naive", k), case("short-staggered", k));
        let outcome = self::run(&naive).run;
        assert!(outcome.stalls() > (P * k) as u64 && outcome.most_in_transit() == C);
        assert_eq!(self::run(&staggered).run.stalls(), 0);
        let times = (outcome.time.as_ps(), model(&staggered).as_ps());
        assert!(10 * times.0 > 8 * (P as i64 / 2) * times.1, "{times:?}");
    }
}

/// Blocks have at least as many words as there are processors, and the paper's assumptions hold: C messages
/// per L are one per g, and 2o <= g.
#[test]
fn the_estimate_of_the_naive_order_is_near() {
    let (mut lowest, mut highest) = (f64::MAX, 0.0_f64);
    let mut rng = fastrand::Rng::with_seed(2);
    for _ in 0..2000 {
        let (P, g) = (rng.usize(3..8), rng.i64(2..20));
        let (o, C) = (rng.i64(0..=g / 2), rng.i64(1..6));
        let params = Params::builder(P).L(C * g * US).o(o * US).g(g * US).word(4).build().unwrap();
        let case = Case { size: 4 * rng.usize(P..4 * P), ..Case::new(&REMAP, "short-naive", params) };
        let (time, estimate) = (model(&case), formula(&case));
        let ratio = time.as_ps() as f64 / estimate.as_ps() as f64;
        (lowest, highest) = (lowest.min(ratio), highest.max(ratio));
        // No order is faster than one in which nothing contends.
        let staggered = formula(&Case { size: case.size, ..Case::new(&REMAP, "short-staggered", params) });
        assert!(time >= staggered.min(estimate), "{case:?}");
    }
    println!("model / estimate: {lowest:.3} to {highest:.3}");
    assert!(0.75 < lowest && highest < 1.2, "{lowest} {highest}");
}

/// Returns a case on the machine of LogGP's figure 4.
fn figure_4(algorithm: &str, kilobytes: usize) -> Case {
    let params = preset("cs2-splitc").unwrap().builder().P(16).build().unwrap();
    Case { size: kilobytes << 10, ..Case::new(&REMAP, algorithm, params) }
}

/// LogGP, figure 4: k bytes from each take kg/4 in short messages, and 2kG and up to 20% more in long ones.
#[test]
fn remap_is_figure_4_of_loggp() {
    for kilobytes in [2, 16, 512] {
        let k = (15 * kilobytes) << 10;
        let long = figure_4("long-staggered", kilobytes);
        let outcome = run(&long);
        assert!(outcome.run.most_in_transit() <= 1);
        let (model, paper) = (outcome.run.time.as_ps(), (2 * k as i64 * 30 * NS).as_ps());
        assert!(model >= paper * 99 / 100, "{kilobytes} KB: {model} {paper}");
        if kilobytes >= 16 {
            assert!(model < paper * 12 / 10, "{kilobytes} KB: {model} {paper}");
        }
    }
    let short = figure_4("short-staggered", 2);
    let time = model(&short);
    assert_eq!(time, formula(&short));
    assert_eq!(time, (15 * 512 - 1) * (14_200 * NS) + 8_600 * NS + 2 * (1_700 * NS));
}

/// "The long message version has almost two orders of magnitude improvement."
#[test]
#[ignore = "31 million messages; for a build with --release"]
fn half_a_megabyte_is_sixty_times_faster_in_long_messages() {
    let short = figure_4("short-staggered", 512);
    let outcome = run(&short);
    assert_eq!(outcome.run.time, formula(&short));
    assert!(outcome.run.most_in_transit() <= 1 && outcome.run.stalls() == 0);
    let ratio = outcome.run.time.as_ps() / model(&figure_4("long-staggered", 512)).as_ps();
    assert!((50..=60).contains(&ratio), "{ratio}");
}

#[test]
fn the_rate_is_bytes_sent_per_time() {
    let case = figure_4("short-staggered", 2);
    let outcome = run(&case);
    let [rate] = outcome.metrics[..] else { panic!("{:?}", outcome.metrics) };
    assert_eq!((rate.name, rate.unit), ("rate per processor", "MB/s"));
    let us = outcome.run.time.as_ns() / 1e3;
    assert!((rate.value * us - 15.0 * 2048.0).abs() < 1e-6);
    // A word per g: 4 bytes in 14.2 us.
    assert!((rate.value - 4.0 / 14.2).abs() < 0.001);
}

#[test]
fn results_are_right_in_whatever_order_messages_arrive() {
    let params = Params::builder(5).L(40 * US).o(US).g(4 * US).G(US).word(4).build().unwrap();
    for Algorithm { name, .. } in REMAP.algorithms {
        for seed in 0..300 {
            let latency = Latency::Random { seed };
            run(&Case { seed, latency, size: 1 + seed as usize % 70, ..Case::new(&REMAP, name, params) });
        }
    }
}

/// With short messages, messages in several packets, and messages that wait for their receiver.
#[test]
fn results_are_right_on_a_loggps_machine_too() {
    for (P, S) in [(1, 1), (2, 1), (6, 1), (7, 2), (8, 100)] {
        let gps = LogGps { s: 1, S, O_s: US, O_r: US, G_s: 2 * US, G_l: US };
        let params = Params::builder(P).L(20 * US).o(2 * US).g(4 * US).word(1).gps(gps).build().unwrap();
        for Algorithm { name, .. } in REMAP.algorithms {
            for size in [1, 3, 30, 130] {
                let case = Case { size, ..Case::new(&REMAP, name, params) };
                assert_eq!(crate::case::formula(&case), None);
                run(&case);
            }
        }
    }
}

#[test]
fn impossible_cases_are_refused_in_a_sentence() {
    let params = Params::builder(16).L(US).o(US).g(US).word(4).build().unwrap();
    for Algorithm { name, .. } in REMAP.algorithms {
        for size in [0, 1 << 30, usize::MAX] {
            let refusal = check(&Case { size, ..Case::new(&REMAP, name, params) }).unwrap_err();
            assert!(refusal.contains("give") && !refusal.contains('\n'), "{refusal}");
        }
    }
    let many = Case { size: 8 << 20, ..Case::new(&REMAP, "short-naive", params) };
    assert!(check(&many).unwrap_err().contains("messages are too many"));
    assert!(check(&figure_4("short-naive", 512)).is_ok());
}
