//! Radix sort: right for every input, stable, and as fast as predicted where the prediction claims to be exact.

#![allow(non_snake_case)] // L, G and P are the papers' names

use loggp::{LogGps, Machine, Params, Ports, Time, US, Work, preset};
use loggp_programs::radix_sort::{Item, Plan, RadixSort, sort};
use loggp_programs::{Case, Outcome, Program};
use proptest::prelude::*;

const INPUTS: [&str; 4] = ["uniform", "skewed", "sorted", "equal"];

fn case(algorithm: &str, params: Params, size: usize) -> Case {
    Case { size, ..Case::new(&RadixSort, algorithm, params) }
}

/// Runs a case, which must end with the right result.
fn run(case: &Case) -> Outcome {
    RadixSort.check(case).unwrap();
    let machine = Machine::new(case.params).work(case.work).ports(case.ports);
    let outcome = RadixSort.run(case, &machine).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    assert_eq!(outcome.verified, Ok(()), "{case:?}");
    outcome
}


fn params(P: usize, L: i64, o: i64, g: i64, G: i64) -> Params {
    Params::new(P).L(L * US).o(o * US).g(g * US).G(G * US).build().unwrap()
}

#[test]
fn look() {
    let mut rng = fastrand::Rng::with_seed(5);
    for i in 0..200 {
        let P = rng.usize(2..40);
        let (L, o, g, G) = (rng.i64(0..60), rng.i64(0..20), rng.i64(0..40), rng.i64(0..3));
        if g > L + 2 * o && i % 3 > 0 { continue }
        let n = rng.usize(64..1000);
        let input = ["uniform", "skewed", "sorted", "equal"][rng.usize(0..4)];
        let radix = rng.usize(1..9);
        for a in ["long", "short"] {
            let case = case(a, params(P, L, o, g, G), n).with("input", input).with("radix", radix).with("key-move", rng.u32(0..9)).with("bucket-scan", rng.u32(0..9));
            let outcome = run(&case);
            let ph = RadixSort.phases(&case);
            let get = |name: &str| {
                let m = outcome.phases.iter().find(|x| x.0 == name).unwrap().1;
                let f = ph.iter().find(|x| x.0 == name).unwrap().1;
                f.map_or(f64::NAN, |f| m.in_units(US) / f.in_units(US))
            };
            println!("{a:5} {input:8} P={P:2} pow {} L={L} o={o} g={g} G={G} n={n} r={radix}: ranks1 {:.4} ranks2 {:.3} ranks {:.3} dist {:.3} total {:.3}", P.is_power_of_two(), get("pass 1: ranks"), get("pass 2: ranks"), get("ranks"), get("distribution"),
              RadixSort.formula(&case).map_or(f64::NAN, |f| outcome.run.time.in_units(US) / f.in_units(US)));
        }
    }
}
