//! Remap: its predictions under random parameters.

use loggp::{NS, Params, Ports, Time, US};
use loggp_programs::remap::REMAP;
use loggp_programs::{Case, FormKind};

use crate::case::{check_form, model};

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

/// Returns whether the formula is exact. If not, the model takes at most twice as long.
fn is_exact(case: &Case) -> bool {
    let (kind, late) = check_form(case).unwrap();
    assert!(late <= formula(case), "{case:?} {late}");
    kind == FormKind::Exact
}

#[test]
fn long_messages_take_as_long_as_predicted_with_dual_ports() {
    let mut exact = 0;
    for case in random_cases("long-staggered", 12_000) {
        exact += usize::from(is_exact(&Case { ports: Ports::Dual, ..case }));
    }
    assert!(exact >= 10_000, "{exact}");
}

#[test]
fn long_messages_take_no_less_than_predicted_with_single_ports() {
    let mut exact = 0;
    for case in random_cases("long-staggered", 10_000) {
        exact += usize::from(is_exact(&case));
    }
    assert!(exact > 1000, "{exact}");
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
