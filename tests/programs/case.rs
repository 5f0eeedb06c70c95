//! Shorthands for cases of programs.

use loggp::Time;
use loggp_programs::{Case, Emulation, Outcome};

/// Returns why a case is refused, as an error.
pub fn check(case: &Case) -> Result<(), String> {
    case.plan().map(drop).map_err(|refusal| refusal.to_string())
}

/// Returns the time by the paper's formula, or `None` if there is none.
pub fn formula(case: &Case) -> Option<Time> {
    case.plan().unwrap().formula()
}

/// Runs a case, and checks that its result is right.
pub fn outcome(case: &Case, emulation: &Emulation) -> Outcome {
    let outcome = case.plan().unwrap().run(emulation).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    assert_eq!(outcome.verified, Ok(()), "{case:?}");
    outcome
}
