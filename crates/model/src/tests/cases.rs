//! The number of random cases in tests.
//!
//! By default a test draws enough cases to find each fault that it was tried with, within seconds. With
//! `LOGGP_CASES=20` in the environment every test draws twenty times as many; `.ci/nightly` sets the
//! variable.

#![allow(dead_code)] // each set of tests uses a part of this file

use std::num::NonZeroU32;
use std::ops::Range;

use proptest::prelude::ProptestConfig;

/// Returns the factor of `LOGGP_CASES`.
fn factor() -> u32 {
    std::env::var("LOGGP_CASES").map_or(1, |text| match text.parse::<NonZeroU32>() {
        Ok(factor) => factor.get(),
        Err(_) => panic!("LOGGP_CASES is {text}; give how often as many cases as usual, such as 20"),
    })
}

/// Returns the usual number of cases, times the factor of `LOGGP_CASES`. Miri needs a hundred times as long
/// for each case, and gets a twentieth of the cases.
pub(crate) fn times(usual: u32) -> u32 {
    let usual = if cfg!(miri) { usual.div_ceil(20) } else { usual };
    usual.saturating_mul(factor())
}

/// Returns a seed for each of [`times`] cases.
pub(crate) fn seeds(usual: u32) -> Range<u64> {
    0..u64::from(times(usual))
}

/// Returns a configuration for [`times`] cases of a property. The limits of rejected cases grow by the same
/// factor.
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
