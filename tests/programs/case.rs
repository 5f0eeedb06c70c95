//! What the tests of the programs ask of a case.

use loggp::Time;
use loggp_programs::{Case, Emulation, Outcome};

/// Whether a case can be, or why not.
pub fn check(case: &Case) -> Result<(), String> {
    case.plan().map(drop).map_err(|refusal| refusal.to_string())
}

/// What the paper says.
pub fn formula(case: &Case) -> Option<Time> {
    case.plan().unwrap().formula()
}

/// Runs a case, which must end with the right result.
pub fn outcome(case: &Case, emulation: &Emulation) -> Outcome {
    let outcome = case.plan().unwrap().run(emulation).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    assert_eq!(outcome.verified, Ok(()), "{case:?}");
    outcome
}
