//! Calibration of LogGPS: L, o', O_s, O_r, G_s, G_l, s and S from the times of round trips alone (LogGPS,
//! sections 4.2 and 4.3).
//!
//! Round trips of two messages of k words, with and without a time w that the first processor computes
//! between its send and its receive, make two curves over k. Their values at 0 and their gradients give the
//! parameters (`equations`). The paper takes s and S from the libraries' documents; here they are where a
//! curve bends and where it jumps. Round trips come from a machine (`search`) or from a table of times that
//! were measured elsewhere (`table`). The output of Netgauge and of OSU's tests is read too (`netgauge`,
//! `osu`).
//!
//! The gap is disregarded (section 4.2). No result depends on the configured parameters.

mod equations;
mod line;
mod netgauge;
mod osu;
mod round_trips;
mod search;
mod table;

use loggp::params::Parameter;
use loggp::{ClockKind, Params, ParamsBuilder, Ports, Time};

pub use equations::{Equations, Estimate, SolvedParameters};
pub use round_trips::{RoundTripSample, RoundTripSamples};

use super::StudyError;
use super::calibration::lab::CalibrationLab;
use super::calibration::{Amount, Bound, Finding, calibrate_on_time, late_count};
use equations::{DerivedParameters, derive};
use loggp_programs::{Emulation, Refusal, refuse};

/// A machine derived from times.
#[derive(Clone, Debug)]
pub struct RecoveredMachine {
    pub params: Params,
    /// The parameters, and the way in which each was found.
    pub findings: Vec<Finding<'static>>,
    /// Round trips from which they come, if any.
    pub trips: Option<RoundTripSamples>,
    /// Ports, if they were found.
    pub ports: Option<Ports>,
}

/// The calibration of a LogGPS machine.
#[derive(Clone, Debug)]
pub struct LogGpsCalibration {
    /// Configured parameters. No result comes from these parameters.
    pub params: Params,
    /// Results.
    pub recovered: RecoveredMachine,
    pub clock: ClockKind,
    /// Greatest dilation of a run.
    pub dilation: f64,
    /// Number of the host's cores that were used.
    pub cores: usize,
}

impl LogGpsCalibration {
    /// Calibrates a machine with these parameters and ports.
    pub fn study(params: Params, ports: Ports, emulation: &Emulation) -> Result<Self, StudyError> {
        if params.is_loggp() {
            refuse!(
                "--find loggps finds the parameters of LogGPS, and this is a machine of LogP or LogGP; give --find loggp"
            );
        }
        let measure = |lab| LogGpsCalibration::measure(params, lab);
        let late = |found: &LogGpsCalibration| late_count(&found.recovered.findings);
        calibrate_on_time(&emulation.machine(params).ports(ports), emulation, measure, late)
    }

    fn measure(params: Params, mut lab: CalibrationLab) -> Result<LogGpsCalibration, StudyError> {
        let (g, most) = (params.g, 2 * params.o);
        if g > most {
            refuse!(
                "LogGPS disregards the gap, and one of {g} would show in its round trips; give g of at most 2o = {most}"
            );
        }
        let trips = search::measure_round_trips(&mut lab)?;
        let builder = Params::builder(params.P).word(params.word.get()).cycle(params.cycle);
        let mut recovered = RecoveredMachine::from_round_trips(trips, builder)?;
        for finding in &mut recovered.findings {
            finding.configured = configured(&params, finding.parameter);
            finding.on_time = recovered.trips.as_ref().is_some_and(RoundTripSamples::is_reliable);
        }
        let CalibrationLab { clock, dilation, cores, .. } = lab;
        Ok(LogGpsCalibration { params, recovered, clock, dilation, cores })
    }

    /// Returns whether the host was on time often enough.
    pub fn is_on_time(&self) -> bool {
        late_count(&self.recovered.findings) == 0
    }
}

/// Returns the configured value of a parameter.
fn configured(params: &Params, name: &str) -> Option<Amount> {
    let parameter = Parameter::by_name(name)?;
    let number = parameter.number(params)?;
    match parameter.is_time() {
        true => Some(Amount::Time(Time::from_ps(number))),
        // Lengths without a limit have no amount.
        false => Some(Amount::Words(number)).filter(|_| number < Params::NO_LIMIT as i64),
    }
}

impl RecoveredMachine {
    /// Reads a machine from the times in a file: a table of round trips, or the output of Netgauge or of
    /// OSU's tests. The builder has what they do not contain, and `cycle` is the unit of a bare number in a
    /// table.
    pub fn read(text: &[u8], builder: ParamsBuilder, cycle: Time) -> Result<RecoveredMachine, Refusal> {
        let printed = netgauge::read(text, builder.clone()).or_else(|| osu::read(text, builder.clone()));
        printed.unwrap_or_else(|| RecoveredMachine::from_round_trips(table::read(text, cycle)?, builder))
    }

    /// Derives a machine from round trips; the builder has the rest.
    pub fn from_round_trips(trips: RoundTripSamples, builder: ParamsBuilder) -> Result<Self, Refusal> {
        let derived = derive(&trips)?;
        let params = derived.params(builder);
        let params = params.map_err(|why| format!("what these round trips show is no machine: {why}"))?;
        let findings = findings(&derived, &params);
        Ok(RecoveredMachine { params, findings, trips: Some(trips), ports: None })
    }
}

/// Returns how each parameter was found.
fn findings(derived: &DerivedParameters, params: &Params) -> Vec<Finding<'static>> {
    let DerivedParameters { solved, has_overlap, is_split, s, around_s, S, longest } = *derived;
    let SolvedParameters { L, o, O_s, O_r, G_s, G_l } = solved;
    let time = |parameter, value: Estimate, shows: bool, how: &str| {
        let found = params.times().find(|(name, _)| *name == parameter).map_or(Time::ZERO, |(_, time)| time);
        let bound = if shows { Bound::Exact } else { Bound::Any };
        let doubt = Some(Amount::Time(Time::from_ps(value.doubt.round() as i64)));
        Finding { doubt, ..Finding::new(parameter, Amount::Time(found), bound, how.to_string()) }
    };
    let length = |parameter, found: usize, bound, doubt: f64, how: String| {
        let doubt = Some(Amount::Words(doubt.round() as i64));
        Finding { doubt, ..Finding::new(parameter, Amount::Words(found as i64), bound, how) }
    };
    let overlapping = "o': an empty round trip takes 4o', no longer than behind a long w: overheads overlap";
    let half = "half of O_s + O_r, which alone shows: no two lengths above S were measured";
    let straight = "the round trip grows by the same from word to word, so no word costs more than another";
    let hidden = format!("{straight}, and the first s = 0 do not show");
    let gps = params.gps().map_or((0, 0), |gps| (gps.s, gps.S));
    vec![
        time("L", L, true, "an empty round trip takes 4o' + 2L"),
        match has_overlap {
            true => time("o", o, true, overlapping),
            false => time("o", o, true, "o': behind a long w an empty round trip takes 2o'"),
        },
        match is_split {
            true => time("O_s", O_s, true, "behind a long w, above S, a word adds 2O_s + O_r + G_l"),
            false => time("O_s", O_s, false, half),
        },
        match is_split {
            true => time("O_r", O_r, true, "behind a long w a word adds O_s + O_r"),
            false => time("O_r", O_r, false, half),
        },
        match s.is_some() || G_s.value >= 0.0 {
            true => time("G_s", G_s, true, "a word adds 2(O_s + O_r + G_s)"),
            false => time("G_s", G_s, false, &hidden),
        },
        match s.is_some() {
            true => time("G_l", G_l, true, "a word above s adds 2(O_s + O_r + G_l)"),
            false => time("G_l", G_l, G_s.value < 0.0, straight),
        },
        match (s, around_s) {
            (Some(s), Some((before, after))) => {
                let how = format!("the curve bends between {before} and {after} words");
                length("s", gps.0, Bound::Exact, s.doubt.max(0.0), how)
            }
            _ => length("s", gps.0, Bound::Any, 0.0, straight.into()),
        },
        match S {
            Some((last, first)) => {
                let how = format!("the curve jumps between {last} and {first} words");
                length("S", gps.1, Bound::Exact, (first - last - 1) as f64, how)
            }
            None => {
                let how =
                    format!("the curve does not jump up to {longest} words, the longest that were measured");
                length("S", longest, Bound::AtLeast, 0.0, how)
            }
        },
    ]
}
