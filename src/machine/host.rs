//! The report on how well the host kept up with a run on the wall clock, and so on how far its times can be
//! trusted.

use loggp_model::time::{NS, Time};

use crate::clock::wall::HostReport;
use crate::clock::wall::dilation::DilationChoice;

/// The host's part in a run on the wall clock: whether it kept up, and so how far the run's times can be
/// trusted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Host {
    /// The number of cores that the processors shared.
    pub cores: usize,
    /// The factor by which the machine ran slower than its parameters say.
    pub dilation: f64,
    /// The reason for this dilation, in words.
    pub why: String,
    /// The lateness of the processors' waits.
    pub lateness: Lateness,
    /// The number of acts out of their order: a message that asked to enter the network after a later one had
    /// been served, or that was delivered after its receiver had taken a later one. It is 0 where work is
    /// charged. Where work is measured, the host may stop a processor that computes, and then it acts later
    /// than the others had to assume.
    pub out_of_order: u64,
    /// Whether the last processor finished on time, to a hundredth of the run, and all acts were in their
    /// order. A run that takes no time in the model is on time too.
    pub on_time: bool,
    /// Whether the last processor finished on time, to a thousandth of the run.
    pub(crate) is_close: bool,
    /// Sentences about what the host did not grant to the run.
    pub notes: Vec<String>,
}

/// The lateness of waits, in the host's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lateness {
    /// Half of the waits were later than this.
    pub p50: Time,
    /// A tenth of the waits were later than this.
    pub p90: Time,
    /// A hundredth of the waits were later than this.
    pub p99: Time,
    /// The lateness of the latest wait.
    pub max: Time,
    /// The lateness of the last processor's finish.
    pub finish: Time,
}

/// The fraction of its time by which a run that is on time may be late.
const MOST_LATE_ON_TIME: f64 = 0.01;
/// The fraction of its time by which a run may be late before [`Dilation::Auto`](crate::Dilation::Auto) tries
/// again.
const MOST_LATE_CLOSE: f64 = 0.001;

impl Host {
    /// Makes the report of a run from the clock's report. `due` is the time at which the run should have
    /// finished.
    pub(crate) fn new(
        findings: &HostReport,
        due: Time,
        out_of_order: u64,
        cores: usize,
        choice: &DilationChoice,
        notes: &[String],
    ) -> Host {
        let late = (findings.finish - due).max(Time::ZERO);
        let mut notes = notes.to_vec();
        if !findings.is_pinned {
            notes.push("the host refused to pin threads to cores, so they may move".into());
        }
        let quantile = |q: f64| findings.lateness.value_at_quantile(q) as i64 * NS;
        let lateness = Lateness {
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            max: quantile(1.0),
            finish: Time::from_ps((late.as_ps() as f64 * choice.dilation) as i64),
        };
        let late_by = if due == Time::ZERO { 0.0 } else { late.as_ps() as f64 / due.as_ps() as f64 };
        Host {
            cores,
            dilation: choice.dilation,
            why: choice.why.clone(),
            lateness,
            out_of_order,
            on_time: late_by <= MOST_LATE_ON_TIME && out_of_order == 0,
            is_close: late_by <= MOST_LATE_CLOSE,
            notes,
        }
    }
}
