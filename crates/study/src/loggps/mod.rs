//! Calibration of LogGPS: L, o', O_s, O_r, G_s, G_l, s and S from nothing but the times of round trips (LogGPS, sections 4.2
//! and 4.3).
//!
//! A round trip of two messages of k words, with and without a time w that the first processor computes between its send and
//! its receive, makes two curves over k. Where they begin and how steep they are gives the parameters (`equations`); the
//! paper takes s and S from the libraries' documents, and here they are where a curve bends and where it jumps. Round trips
//! come from a machine (`search`), from a table of times that were measured elsewhere (`table`), and what Netgauge and OSU's
//! tests have made of their own is read too (`netgauge`, `osu`).
//!
//! The gap is disregarded (section 4.2). Nothing that is found reads what was configured.

mod equations;
mod line;
mod netgauge;
mod osu;
mod round_trips;
mod search;
mod table;

use loggp::{ClockKind, Dilation, Parameter, Params, ParamsBuilder, Ports, Time};

pub use equations::{Equations, Solution, Value};
pub use round_trips::{RoundTrips, Sample};

use super::Failed;
use super::calibration::lab::Lab;
use super::calibration::{Amount, Bound, Finding};
use equations::{Derived, derive};
use loggp_programs::Emulation;
use loggp_programs::Refusal;

/// A machine that was derived from times.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// Its parameters.
    pub params: Params,
    /// How each of them was found.
    pub findings: Vec<Finding<'static>>,
    /// The round trips that show them, where there are any.
    pub trips: Option<RoundTrips>,
    /// Its ports, where they show.
    pub ports: Option<Ports>,
}

/// What was found out about a machine.
#[derive(Clone, Debug)]
pub struct LogGpsCalibration {
    /// What was configured. Nothing that is found comes from here.
    pub params: Params,
    /// What was found.
    pub recovered: Recovered,
    /// The clock.
    pub clock: ClockKind,
    /// How much slower than it should the machine ran, at most.
    pub dilation: f64,
    /// On how many of the host's cores.
    pub cores: usize,
}

impl LogGpsCalibration {
    /// Calibrates a machine with these parameters and ports.
    pub fn study(params: Params, ports: Ports, emulation: &Emulation) -> Result<LogGpsCalibration, Failed> {
        if params.is_loggp() {
            let why = "--find loggps finds the parameters of LogGPS, and this is a machine of LogP or LogGP; give --find loggp";
            return Err(Failed::Refused(why.into()));
        }
        if params.P < 2 {
            return Err(Failed::Refused("a processor alone has nobody to send to; give at least 2".into()));
        }
        if params.g > 2 * params.o {
            let why = format!(
                "LogGPS disregards the gap, and one of {} would show in its round trips; give g of at most 2o = {}",
                params.g,
                2 * params.o
            );
            return Err(Failed::Refused(why.into()));
        }
        let machine = emulation.machine(params).ports(ports);
        let first = LogGpsCalibration::of(params, Lab::new(&machine, emulation.clock))?;
        let stretched = emulation.clock == ClockKind::Wall && emulation.dilation == Dilation::Auto;
        if first.held() || !stretched || machine.at_once() < params.P {
            return Ok(first);
        }
        let second = Lab::new(&machine.dilation(Dilation::Fixed(1.0)), emulation.clock);
        let second = LogGpsCalibration::of(params, second)?;
        Ok(if second.held() { second } else { first })
    }

    /// Calibrates the machine of a laboratory.
    fn of(params: Params, mut lab: Lab) -> Result<LogGpsCalibration, Failed> {
        let trips = search::measure(&mut lab)?;
        let builder = Params::builder(lab.P).word(lab.word).cycle(params.cycle);
        let mut recovered = Recovered::from_round_trips(trips, builder)?;
        for finding in &mut recovered.findings {
            finding.configured = configured(&params, finding.parameter);
            finding.held = recovered.trips.as_ref().is_some_and(RoundTrips::held);
        }
        let Lab { clock, dilation, cores, .. } = lab;
        Ok(LogGpsCalibration { params, recovered, clock, dilation, cores })
    }

    /// Whether the host was on time often enough.
    pub fn held(&self) -> bool {
        self.recovered.findings.iter().all(|finding| finding.held)
    }
}

/// What a machine has of a parameter.
fn configured(params: &Params, name: &str) -> Option<Amount> {
    let parameter = Parameter::named(name)?;
    let number = parameter.number(params)?;
    match parameter.is_time() {
        true => Some(Amount::Time(Time::from_ps(number))),
        // Lengths without a limit are as long as a message can be.
        false => Some(Amount::Words(number)).filter(|_| number < Params::NO_LIMIT as i64),
    }
}

impl Recovered {
    /// A machine from the times in a file: a table of round trips, or what Netgauge or OSU's tests print. The builder has what
    /// they do not say, and a bare number in a table counts its cycles.
    pub fn read(text: &[u8], builder: ParamsBuilder, cycle: Time) -> Result<Recovered, Refusal> {
        match (netgauge::read(text), osu::read(text)) {
            (Some(lines), _) => lines?.machine(builder),
            (_, Some(columns)) => columns?.machine(builder),
            _ => Recovered::from_round_trips(table::read(text, cycle)?, builder),
        }
    }

    /// A machine from round trips, and for the rest what a builder has.
    pub fn from_round_trips(trips: RoundTrips, builder: ParamsBuilder) -> Result<Recovered, Refusal> {
        let derived = derive(&trips)?;
        let params = derived.params(builder);
        let params = params.map_err(|why| format!("what these round trips show is no machine: {why}"))?;
        Ok(Recovered { params, findings: findings(&derived, &params), trips: Some(trips), ports: None })
    }
}

/// How each parameter was found.
fn findings(derived: &Derived, params: &Params) -> Vec<Finding<'static>> {
    let Derived { L, o, overlaps, O_s, O_r, is_split, G_s, G_l, s, around_s, S, longest } = *derived;
    let bends = s.is_some();
    let shown = |bound: bool| if bound { Bound::Exact } else { Bound::Any };
    let half = "half of O_s + O_r, which alone shows: no two lengths above S were measured";
    let straight = "the round trip grows by the same from word to word, so no word costs more than another";
    let times: [(&str, Value, Bound, String); 6] = [
        ("L", L, Bound::Exact, "an empty round trip takes 4o' + 2L".into()),
        (
            "o",
            o,
            Bound::Exact,
            match overlaps {
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
                held: true,
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
            held: true,
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
