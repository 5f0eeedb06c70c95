//! A run that `loggp analyze` analyzed.

use loggp::Time;
use loggp_study::analysis::Analysis;

use super::formula_sweep::FormulaSweep;

/// A recorded run, or a replay of one under other parameters.
pub struct AnalyzedRun {
    /// The file of a recorded run, or the change that was made for a replay.
    pub name: String,
    pub trace: String,
    /// Time of the recorded run, if this is a replay.
    pub recorded_time: Option<Time>,
    pub analysis: Analysis,
    /// The critical path along a parameter, if `--over` is given.
    pub sweep: Option<FormulaSweep>,
}

impl AnalyzedRun {
    /// Returns the name without its folders.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// Divides a time of all processors together by their number.
    pub fn mean(&self, time: Time) -> Time {
        time / self.analysis.params.P as i64
    }

    /// Returns a time as a percentage of the time of all processors.
    pub fn share(&self, time: Time) -> f64 {
        let all = self.analysis.total.total();
        if all == Time::ZERO { 0.0 } else { 100.0 * time.in_units(all) }
    }
}
