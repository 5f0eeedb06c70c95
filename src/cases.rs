//! How many cases the tests draw at random.
//!
//! Unless told they draw as many as find each fault that was tried on them, within seconds. `LOGGP_CASES=20` before a
//! command that tests makes that twenty times as many in all of them; `.ci/nightly` says so.

#![allow(dead_code)] // who has tests takes what they need

use std::num::NonZeroU32;
use std::ops::Range;

use proptest::prelude::ProptestConfig;

/// How often as many as usual there are to be.
fn factor() -> u32 {
    std::env::var("LOGGP_CASES").map_or(1, |text| match text.parse::<NonZeroU32>() {
        Ok(factor) => factor.get(),
        Err(_) => panic!("LOGGP_CASES is {text}; give how often as many cases as usual, such as 20"),
    })
}

/// So many, or more if that was asked for.
pub(crate) fn times(usual: u32) -> u32 {
    usual.saturating_mul(factor())
}

/// The seeds of so many cases, or of more.
pub(crate) fn seeds(usual: u32) -> Range<u64> {
    0..u64::from(times(usual))
}

/// So many cases of a property, or more. What is drawn in vain may be as many times more.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig {
        cases: times(usual),
        max_local_rejects: times(config.max_local_rejects),
        max_global_rejects: times(config.max_global_rejects),
        failure_persistence: None,
        ..config
    }
}
