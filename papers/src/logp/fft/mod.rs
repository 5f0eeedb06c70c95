//! The exhibits of the FFT, and what they share: its cases, and the times of its phases.

pub(super) mod butterfly;
pub(super) mod computation_rates;
pub(super) mod layouts;
pub(super) mod naive_schedule;
pub(super) mod overlap;
pub(super) mod remap_rates;
pub(super) mod remap_times;

use loggp_programs::fft::{FFT, POINT};

use crate::prelude::*;

/// Processors of the CM-5 in the figures.
pub(super) const P: usize = 128;
/// The series' quantity.
pub(super) const POINTS: &str = "points";

/// Returns the FFT of n points by this algorithm.
pub(super) fn case(algorithm: &str, params: Params, n: usize) -> Case {
    Case { size: n, ..Case::new(&FFT, algorithm, params) }
}

/// Returns the FFT on section 4.1.1's machine: a CM-5 on which o is 1 us and a point costs nothing to load,
/// so that g is what limits the remap.
pub(super) fn gap_limited_case(algorithm: &str, processors: usize, n: usize) -> Case {
    case(algorithm, Params { o: US, ..cm5(processors) }, n).with(&POINT, Time::ZERO)
}

/// Returns the model's time of the remap, in us.
pub(super) fn remap_time(result: &CaseResult) -> Ran<f64> {
    result.phase_time("remap", US)
}

/// Returns the formula's time of the remap, in us.
pub(super) fn predicted_remap_time(result: &CaseResult) -> f64 {
    in_us(result.phase("remap").formula.expect("the remap has a formula"))
}

/// Returns the model's time of both phases of computing, in us.
pub(super) fn computing_time(result: &CaseResult) -> Ran<f64> {
    result.phase_time("compute I", US) + result.phase_time("compute III", US)
}

/// Returns for how long each processor was idle or in a gap, in us.
pub(super) fn idle_times(result: &CaseResult) -> Vec<Ran<f64>> {
    let processors = &result.answers().outcome.run.processors;
    processors.iter().map(|one| result.ran(|_| in_us(one.idle + one.gap))).collect()
}
