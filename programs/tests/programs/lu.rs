//! LU decomposition: as long as predicted, and right for matrices that are nearly singular or singular.

use loggp::{NS, Params, US, preset};
use loggp_programs::lu::{BLOCK, GRID, LU};
use loggp_programs::math::dense::entries::{ENTRIES, Entries};
use loggp_programs::{Case, Emulation};
use loggp_study::Study;

use crate::case::{formula, model, outcome, params};

fn case(algorithm: &str, params: Params, n: usize) -> Case {
    Case { size: n, ..Case::new(&LU, algorithm, params) }
}

fn cm5(P: usize) -> Params {
    preset("cm5").unwrap().builder().P(P).build().unwrap()
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
        assert_eq!(Some(model(&case)), formula(&case), "{case:?}");
    }
}

/// A zero column and dependent rows are reported at the same step on every layout.
#[test]
fn a_singular_matrix_is_reported_at_the_same_step_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("singular.csv");
    std::fs::write(&file, "1, 2, 3, 4\n2, 4, 6, 8\n1, 0, 2, 5\n3, 1, 1, 0\n").unwrap();
    let step = |case: &Case| outcome(case, &Emulation::default()).metric("no pivot at step");
    for algorithm in LU.algorithms {
        for P in [1, 4, 6] {
            for block in [1, 2, 5] {
                let case = |n| {
                    case(algorithm.name, params(&format!("L=6,o=2,g=4,G=100ns,P={P}")), n).with(&BLOCK, block)
                };
                let zeros = Case { seed: 17, ..case(30).with(&ENTRIES, Entries::Singular) };
                assert_eq!(step(&zeros), Some(18.0), "{zeros:?}");
                assert_eq!(formula(&zeros), None);
                let same = case(4).with(&ENTRIES, Entries::File(file.clone()));
                assert_eq!(step(&same), Some(4.0), "{same:?}");
                assert_eq!(step(&case(30)), None);
            }
        }
    }
}

/// By rounding the last column may be 0 or 1e-20; either is right.
#[test]
fn a_nearly_singular_matrix_is_accepted() {
    for n in 10..40 {
        for algorithm in LU.algorithms {
            let case = case(algorithm.name, params("L=6,o=2,g=4,G=100ns,P=2"), n)
                .with(&ENTRIES, Entries::Hilbert)
                .with(&GRID, Some((2, 1)));
            outcome(&case.with(&BLOCK, n - 1), &Emulation::default());
        }
    }
}
