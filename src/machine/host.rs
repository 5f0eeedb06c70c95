//! How the host held a run on the wall clock: what a measurement can be trusted for.

use crate::clock::wall::Findings;
use crate::clock::wall::dilation::Chosen;
use crate::time::{NS, Time};

/// How the host held a run on the wall clock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Host {
    /// How many cores the processors shared.
    pub cores: usize,
    /// How much slower than it should the machine ran.
    pub dilation: f64,
    /// Why it ran so much slower.
    pub why: String,
    /// How late the host was.
    pub lateness: Lateness,
    /// How many acts the host let happen out of their order: a request to the network after a later one had been
    /// served, or a message that came after its receiver had taken a later one. There are none where work is charged.
    /// Where it is measured nobody can know when a processor that computes will act, if the host stops it meanwhile.
    pub out_of_order: u64,
    /// Whether the last processor finished in time, to a hundredth of the run, and every act came in its order; also
    /// where the model says that the run takes no time.
    pub held: bool,
    /// Whether the last processor finished in time to a thousandth of the run.
    pub(crate) close: bool,
    /// What the run asked the host for and did not get, in sentences.
    pub notes: Vec<String>,
}

/// By how much waits ended late, in the host's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lateness {
    /// Half of the waits were later than this.
    pub p50: Time,
    /// A tenth of the waits were later than this.
    pub p90: Time,
    /// A hundredth of the waits were later than this.
    pub p99: Time,
    /// How late the latest wait was.
    pub max: Time,
    /// How late the last processor finished.
    pub finish: Time,
}

/// By which part of its time a run that was held may be late.
const HELD: f64 = 0.01;
/// By which part of its time a run may be late for `auto` to be content.
const CLOSE: f64 = 0.001;

impl Host {
    /// From what a run found out, and when it should have finished.
    pub(crate) fn new(
        findings: &Findings,
        due: Time,
        out_of_order: u64,
        cores: usize,
        choice: &Chosen,
        notes: &[String],
    ) -> Host {
        let late = (findings.finish - due).max(Time::ZERO);
        let mut notes = notes.to_vec();
        if !findings.pinned {
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
            held: late_by <= HELD && out_of_order == 0,
            close: late_by <= CLOSE,
            notes,
        }
    }
}
