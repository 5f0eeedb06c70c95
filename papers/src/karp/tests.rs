//! Checks of the searches and the sequence against programs that know nothing of them.

use loggp_programs::broadcast::BROADCAST;
use loggp_programs::summation::{SUMMATION, TIME};
use loggp_programs::{Case, Emulation, TimeSpan};

use super::f;
use super::search::{BestTrees, ScheduleSearch, SummationSearch};
use crate::prelude::cycle_machine;

/// Returns the time of a case by formula and on the virtual clock, in cycles, and its operands if it has
/// some.
fn run(case: &Case) -> (i64, i64, Option<i64>) {
    let plan = case.plan().unwrap();
    let outcome = plan.run(&Emulation::default()).unwrap();
    assert_eq!(outcome.verified, Ok(()));
    let operands = outcome.metric("operands");
    (
        super::cycles(plan.formula().unwrap()),
        super::cycles(outcome.run.time),
        operands.map(|operands| operands as i64),
    )
}

#[test]
fn optimal_broadcast_is_the_fastest_tree() {
    let mut rng = fastrand::Rng::with_seed(2);
    for _ in 0..40 {
        let times @ [L, o, g] = [rng.i64(0..12), rng.i64(0..4), rng.i64(0..9)];
        let trees = BestTrees::up_to(24, L + 2 * o, g.max(o));
        for P in 1..=24 {
            let (formula, model, _) = run(&Case::new(&BROADCAST, "optimal", cycle_machine(P, times)));
            assert_eq!((formula, model), (trees.time[P - 1], trees.time[P - 1]), "P = {P}, {times:?}");
        }
    }
}

#[test]
fn optimal_summation_sums_the_most() {
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..300 {
        let times = [rng.i64(0..4), rng.i64(0..3), rng.i64(0..5)];
        let mut search = SummationSearch::new(times);
        let P = rng.usize(1..6);
        for T in 0..14 - P as i64 {
            let case = Case::new(&SUMMATION, "optimal", cycle_machine(P, times))
                .with(&TIME, Some(TimeSpan::from_cycles(T as u32)));
            let (_, model, operands) = run(&case);
            assert_eq!(
                (operands, model),
                (Some(search.most_operands(T, P - 1)), T),
                "P = {P}, {times:?}, T = {T}"
            );
        }
    }
}

#[test]
fn search_of_all_schedules_finds_what_the_others_do() {
    for times @ [L, o, g] in [[1, 0, 1], [2, 0, 1], [1, 1, 2], [0, 1, 4], [3, 1, 1]] {
        let (all, trees) = (ScheduleSearch::new(times), BestTrees::up_to(4, L + 2 * o, g.max(o)));
        for P in 2..=4 {
            let found = (all.broadcast_time(P), all.broadcast_sum(P));
            assert_eq!(found, (trees.time[P - 1], trees.sum[P - 1]), "P = {P}, {times:?}");
        }
        let mut once = SummationSearch::new(times);
        for T in 0..=5 {
            assert_eq!(all.most_operands(T, 2), once.most_operands(T, 1), "{times:?}, T = {T}");
        }
    }
}

#[test]
fn sequence_f_has_the_papers_values() {
    assert_eq!(f(1, 6), [1, 2, 4, 8, 16, 32, 64]);
    assert_eq!(f(2, 7), [1, 1, 2, 3, 5, 8, 13, 21]);
    assert_eq!(f(3, 8), [1, 1, 1, 2, 3, 4, 6, 9, 13]);
}
