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
use loggp::{ClockKind, Dilation, Params, ParamsBuilder, Ports, Time};

pub use equations::{Equations, Estimate, SolvedParameters};
pub use round_trips::{RoundTripSample, RoundTripSamples};

use super::StudyError;
use super::calibration::lab::CalibrationLab;
use super::calibration::{Amount, Bound, Finding};
use equations::{DerivedParameters, derive};
use loggp_programs::Emulation;
use loggp_programs::Refusal;

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
    /// Configured parameters. No result comes from them.
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
    /// Calibrates a machine with these parameters and ports. If the host was late although the machine chose
    /// its dilation, it is calibrated once more at full speed.
    pub fn study(
        params: Params,
        ports: Ports,
        emulation: &Emulation,
    ) -> Result<LogGpsCalibration, StudyError> {
        if params.is_loggp() {
            let why = "--find loggps finds the parameters of LogGPS, and this is a machine of LogP or LogGP; give --find loggp";
            return Err(StudyError::Refused(why.into()));
        }
        if params.P < 2 {
            return Err(StudyError::Refused(
                "a processor alone has nobody to send to; give at least 2".into(),
            ));
        }
        if params.g > 2 * params.o {
            let why = format!(
                "LogGPS disregards the gap, and one of {} would show in its round trips; give g of at most 2o = {}",
                params.g,
                2 * params.o
            );
            return Err(StudyError::Refused(why.into()));
        }
        let machine = emulation.machine(params).ports(ports);
        let first = LogGpsCalibration::measure(params, CalibrationLab::new(&machine, emulation.clock))?;
        let stretched = emulation.clock == ClockKind::Wall && emulation.dilation == Dilation::Auto;
        if first.is_on_time() || !stretched || machine.parallelism() < params.P {
            return Ok(first);
        }
        let second = CalibrationLab::new(&machine.dilation(Dilation::Fixed(1.0)), emulation.clock);
        let second = LogGpsCalibration::measure(params, second)?;
        Ok(if second.is_on_time() { second } else { first })
    }

    fn measure(params: Params, mut lab: CalibrationLab) -> Result<LogGpsCalibration, StudyError> {
        let trips = search::measure_round_trips(&mut lab)?;
        let builder = Params::builder(lab.P).word(lab.word).cycle(params.cycle);
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
        self.recovered.findings.iter().all(|finding| finding.on_time)
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
        match (netgauge::read(text), osu::read(text)) {
            (Some(lines), _) => lines?.machine(builder),
            (_, Some(columns)) => columns?.machine(builder),
            _ => RecoveredMachine::from_round_trips(table::read(text, cycle)?, builder),
        }
    }

    /// Derives a machine from round trips; the builder has the rest.
    pub fn from_round_trips(
        trips: RoundTripSamples,
        builder: ParamsBuilder,
    ) -> Result<RecoveredMachine, Refusal> {
        let derived = derive(&trips)?;
        let params = derived.params(builder);
        let params = params.map_err(|why| format!("what these round trips show is no machine: {why}"))?;
        Ok(RecoveredMachine {
            params,
            findings: findings(&derived, &params),
            trips: Some(trips),
            ports: None,
        })
    }
}

/// Returns how each parameter was found.
fn findings(derived: &DerivedParameters, params: &Params) -> Vec<Finding<'static>> {
    let DerivedParameters { L, o, has_overlap, O_s, O_r, is_split, G_s, G_l, s, around_s, S, longest } =
        *derived;
    let bends = s.is_some();
    let shown = |bound: bool| if bound { Bound::Exact } else { Bound::Any };
    let half = "half of O_s + O_r, which alone shows: no two lengths above S were measured";
    let straight = "the round trip grows by the same from word to word, so no word costs more than another";
    let times: [(&str, Estimate, Bound, String); 6] = [
        ("L", L, Bound::Exact, "an empty round trip takes 4o' + 2L".into()),
        (
            "o",
            o,
            Bound::Exact,
            match has_overlap {
                true => {
                    "o': an empty round trip takes 4o', no longer than behind a long w: overheads overlap"
                        .into()
                }
                false => "o': behind a long w an empty round trip takes 2o'".into(),
            },
        ),
        (
            "O_s",
            O_s,
            shown(is_split),
            match is_split {
                true => "behind a long w, above S, a word adds 2O_s + O_r + G_l".into(),
                false => half.into(),
            },
        ),
        (
            "O_r",
            O_r,
            shown(is_split),
            match is_split {
                true => "behind a long w a word adds O_s + O_r".into(),
                false => half.into(),
            },
        ),
        (
            "G_s",
            G_s,
            shown(bends || G_s.value >= 0.0),
            match bends || G_s.value >= 0.0 {
                true => "a word adds 2(O_s + O_r + G_s)".into(),
                false => format!("{straight}, and the first s = 0 do not show"),
            },
        ),
        (
            "G_l",
            G_l,
            shown(bends || G_s.value < 0.0),
            match bends {
                true => "a word above s adds 2(O_s + O_r + G_l)".into(),
                false => straight.into(),
            },
        ),
    ];
    let amounts = params.gps().map_or((0, 0), |gps| (gps.s as i64, gps.S as i64));
    let mut findings: Vec<Finding> = times
        .into_iter()
        .map(|(parameter, value, bound, how)| {
            let found =
                params.times().find(|(name, _)| *name == parameter).map_or(Time::ZERO, |(_, time)| time);
            let doubt = Some(Amount::Time(Time::from_ps(value.doubt.round() as i64)));
            Finding {
                parameter,
                configured: None,
                found: Amount::Time(found),
                bound,
                doubt,
                how: how.into(),
                on_time: true,
            }
        })
        .collect();
    let mut length = |parameter, found, bound, doubt: f64, how: String| {
        let (found, doubt) = (Amount::Words(found), Some(Amount::Words(doubt.round() as i64)));
        findings.push(Finding {
            parameter,
            configured: None,
            found,
            bound,
            doubt,
            how: how.into(),
            on_time: true,
        });
    };
    match (s, around_s) {
        (Some(s), Some((before, after))) => {
            let how = format!("the curve bends between {before} and {after} words");
            length("s", amounts.0, Bound::Exact, s.doubt.max(0.0), how);
        }
        _ => length("s", amounts.0, Bound::Any, 0.0, straight.into()),
    }
    match S {
        Some((last, first)) => {
            let how = format!("the curve jumps between {last} and {first} words");
            length("S", amounts.1, Bound::Exact, (first - last - 1) as f64, how);
        }
        None => {
            let how =
                format!("the curve does not jump up to {longest} words, the longest that were measured");
            length("S", longest as i64, Bound::AtLeast, 0.0, how);
        }
    }
    findings
}
