//! Calibration: measures a machine's o, g, L, G and capacity by a program on the machine.
//!
//! A program that knows nothing of the parameters can measure them by sending, receiving, waiting and reading
//! the clock, as Culler, Liu, Martin and Yoshikawa did with real machines ("Assessing Fast Network
//! Interfaces", the LogP signature). A burst of M messages with work Delta after each takes its sender
//!
//! > t(M, Delta) = o + (M-1) max(o + Delta, g) + Delta
//!
//! - **o**: with a long Delta each further message takes o + Delta;
//! - **g**: without Delta it takes max(o, g). If o is the longer, g shows only after messages of k words,
//!   which take (k-1)G + g each;
//! - **L**: a round trip takes 2L + 4o;
//! - **G**: a round trip with k words on one way takes (k-1)G more;
//! - **C**, the capacity, shows when a send stalls: see `capacity`.
//!
//! On the wall clock a processor's local time is no evidence: it is computed from the very parameters that
//! are sought. So the program reads the host's clock, at moments to which it has really waited; the
//! difference of two readings, divided by the dilation, is the machine's time. The length of a whole run
//! would be as real, but contains one burst among starts and ends, while a run can hold many repetitions of a
//! burst, whose median is not affected by what else the host did.
//!
//! A host that is late shows its own times and not the machine's. So a time counts only if the host was on
//! time in the run, and if the rests before and after it took as long as they should; and a result counts
//! only if enough such times agree. Only the host is judged, never how near a value is to the configured one:
//! no experiment reads that.

mod capacity;
pub(super) mod lab;
mod parameter;
pub(super) mod reading;

use std::borrow::Cow;

use loggp::{ClockKind, Dilation, Machine, PS, Params, Ports, RunError, Time, US};
use loggp_programs::{Emulation, refuse};

use super::StudyError;
use capacity::BasicReadings;
use lab::CalibrationLab;
use reading::{Reading, share};

pub use parameter::{Bound, FoundParameter};

/// The calibration of a LogP or LogGP machine.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// Configured parameters, from which no result comes.
    pub params: Params,
    pub o: FoundParameter<Time>,
    pub g: FoundParameter<Time>,
    pub L: FoundParameter<Time>,
    /// Gap per word.
    pub G: FoundParameter<Time>,
    /// Capacity.
    pub C: FoundParameter<usize>,
    /// Times of bursts.
    pub signature: Vec<BurstSeries>,
    pub clock: ClockKind,
    /// Greatest dilation of a run.
    pub dilation: f64,
    /// Number of the host's cores that were used.
    pub cores: usize,
}

/// A parameter, as it was configured and as it was found.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    pub parameter: &'static str,
    /// Configured value; `None` where any number of messages may be in transit.
    pub configured: Option<Amount>,
    /// Value that was found.
    pub found: Amount,
    /// Relation of the value to the parameter.
    pub bound: Bound,
    /// Uncertainty of the value, if it is known.
    pub doubt: Option<Amount>,
    /// Text on how it was found.
    pub how: Cow<'a, str>,
    /// True if the host was on time often enough.
    pub on_time: bool,
}

/// The value of a parameter, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    Time(Time),
    /// Number of messages.
    Count(i64),
    /// Length in words.
    Words(i64),
}

/// The bursts with the same pause between messages: a line of the LogP signature.
#[derive(Clone, Debug)]
pub struct BurstSeries {
    /// Pause, Delta.
    pub pause: Time,
    /// Number of messages and time of each burst: t(M, Delta).
    pub bursts: Vec<(usize, Time)>,
}

/// Messages of the longest burst of the signature.
const LONGEST_BURST: usize = 64;
/// Words of the longest message that is tried to measure G.
const MOST_WORDS: usize = 1 << 20;
/// A difference of times on the wall clock should be at least this long.
const WELL_MEASURED: Time = Time::from_ps(200 * US.as_ps());

impl Calibration {
    /// Calibrates a machine with these parameters and ports.
    pub fn study(params: Params, ports: Ports, emulation: &Emulation) -> Result<Calibration, StudyError> {
        if !params.is_loggp() {
            refuse!(
                "calibrate finds the o, g, L and G of LogP and LogGP, and this is a LogGPS machine; give --find loggps"
            );
        }
        let late = |found: &Calibration| late_count(&found.findings());
        calibrate_on_time(&emulation.machine(params).ports(ports), emulation, calibrate, late)
    }

    /// Returns whether the host was on time often enough for all parameters.
    pub fn is_on_time(&self) -> bool {
        late_count(&self.findings()) == 0
    }

    /// Returns every parameter, in the order in which they are measured.
    pub fn findings(&self) -> [Finding<'_>; 5] {
        let Params { o, g, L, .. } = self.params;
        [
            self.o.finding("o", Some(o), Amount::Time),
            self.g.finding("g", Some(g), Amount::Time),
            self.L.finding("L", Some(L), Amount::Time),
            self.G.finding("G", self.params.G(), Amount::Time),
            self.C.finding("C", self.params.capacity(), |C| Amount::Count(C as i64)),
        ]
    }
}

/// Calibrates a machine by `measure`; `late` returns for how many parameters the host was late.
///
/// If it was, the machine is calibrated once more at full speed, provided that it chooses its dilation and
/// there is a core for every processor. A machine that chooses its dilation stretches short runs. That makes
/// them more exact on an idle host, but on a busy one its other work then affects all of them.
pub(super) fn calibrate_on_time<C>(
    machine: &Machine,
    emulation: &Emulation,
    measure: impl Fn(CalibrationLab) -> Result<C, StudyError>,
    late: impl Fn(&C) -> usize,
) -> Result<C, StudyError> {
    let P = machine.params().P;
    if P < 2 {
        refuse!("a processor alone has nobody to send to; give at least 2");
    }
    let first = measure(CalibrationLab::new(machine, emulation.clock))?;
    let stretched = emulation.clock == ClockKind::Wall && emulation.dilation == Dilation::Auto;
    if late(&first) == 0 || !stretched || machine.parallelism() < P {
        return Ok(first);
    }
    let machine = machine.clone().dilation(Dilation::Fixed(1.0));
    let second = measure(CalibrationLab::new(&machine, emulation.clock))?;
    Ok(if late(&second) < late(&first) { second } else { first })
}

/// Returns the number of parameters for which the host was late.
pub(super) fn late_count(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| !finding.on_time).count()
}

impl<T: Copy> FoundParameter<T> {
    /// Returns the finding of this parameter.
    fn finding(
        &self,
        parameter: &'static str,
        configured: Option<T>,
        amount: fn(T) -> Amount,
    ) -> Finding<'_> {
        let finding = Finding::new(parameter, amount(self.value), self.bound, &self.how);
        Finding { configured: configured.map(amount), on_time: self.on_time, ..finding }
    }
}

impl<'a> Finding<'a> {
    /// Creates the finding of a parameter that is not configured, by a host that was on time.
    pub(super) fn new(
        parameter: &'static str,
        found: Amount,
        bound: Bound,
        how: impl Into<Cow<'a, str>>,
    ) -> Finding<'a> {
        Finding { parameter, configured: None, found, bound, doubt: None, how: how.into(), on_time: true }
    }

    /// Returns found - configured, or `None` where the value is no more than a bound.
    pub fn difference(&self) -> Option<Amount> {
        match (self.configured?, self.found) {
            _ if self.bound != Bound::Exact => None,
            (Amount::Time(set), Amount::Time(found)) => Some(Amount::Time(found - set)),
            (Amount::Count(set), Amount::Count(found)) => Some(Amount::Count(found - set)),
            (Amount::Words(set), Amount::Words(found)) => Some(Amount::Words(found - set)),
            _ => None,
        }
    }

    /// Returns found / configured - 1, or `None` where the value is a bound or the configured one is zero.
    pub fn error(&self) -> Option<f64> {
        let number = |amount: Amount| match amount {
            Amount::Time(time) => time.as_ps() as f64,
            Amount::Count(count) | Amount::Words(count) => count as f64,
        };
        let set = self.configured.map(number).filter(|set| *set != 0.0 && self.bound == Bound::Exact)?;
        Some(number(self.found) / set - 1.0)
    }
}

fn calibrate(mut lab: CalibrationLab) -> Result<Calibration, StudyError> {
    let lab = &mut lab;
    // A first burst says how long a rest must be to let the gap run out, and a second one, after rests, says
    // it again.
    for _ in 0..2 {
        let burst = lab.burst(LONGEST_BURST, Time::ZERO, 1)?.time;
        lab.set_rest(share(burst, 8));
    }
    let (first, interval) = measure_series(lab, Time::ZERO)?;
    let mut signature = vec![first];
    let (mut pause, mut slope) = (Time::ZERO, interval);
    for longer in [share(interval.time, 2), interval.time, 2 * interval.time] {
        let line;
        (line, slope) = measure_series(lab, longer)?;
        signature.push(line);
        pause = longer;
    }
    let o = slope.minus(Reading::exact(pause));

    let round_trip = lab.round_trip([1, 1], Time::ZERO)?;
    let (G, k) = measure_gap_per_word(lab, round_trip)?;
    let L = round_trip.minus(o.times(4)).share(2);
    let readings = BasicReadings { interval, o, L, G, round_trip };
    let g = measure_gap(lab, &readings)?;
    let C = capacity::measure_capacity(lab, &readings)?;
    Ok(Calibration {
        params: *lab.machine.params(),
        o: FoundParameter::from_reading(o, "bursts with long pauses: o + Delta per message".into()),
        g,
        L: FoundParameter::from_reading(L, "a round trip takes 2L + 4o".into()),
        G: FoundParameter::from_reading(
            G,
            format!("a round trip with {k} words there takes {}G more", k - 1),
        ),
        C,
        signature,
        clock: lab.clock,
        dilation: lab.dilation,
        cores: lab.cores,
    })
}

/// Measures a line of the signature. Returns it and the time per further message, from the shortest burst to
/// the longest.
fn measure_series(lab: &mut CalibrationLab, pause: Time) -> Result<(BurstSeries, Reading), RunError> {
    let lengths = (0..=LONGEST_BURST.ilog2()).map(|exponent| 1 << exponent);
    let bursts: Vec<(usize, Reading)> =
        lengths.map(|M| Ok((M, lab.burst(M, pause, 1)?))).collect::<Result<_, RunError>>()?;
    let ((few, least), (many, most)) = (bursts[0], bursts[bursts.len() - 1]);
    let slope = most.minus(least).share((many - few) as i64);
    let bursts = bursts.into_iter().map(|(M, reading)| (M, reading.time)).collect();
    Ok((BurstSeries { pause, bursts }, slope))
}

/// Measures G. Returns it and the length of the message that showed it, whose words take most of the time.
fn measure_gap_per_word(lab: &mut CalibrationLab, round_trip: Reading) -> Result<(Reading, usize), RunError> {
    let enough = match lab.clock {
        ClockKind::Virtual => PS,
        _ => WELL_MEASURED.max(10 * round_trip.time),
    };
    let mut k = 2;
    loop {
        let longer = lab.round_trip([k, 1], Time::ZERO)?.minus(round_trip);
        // If the host was late with this one, it would be late with a longer one too.
        if longer.time >= enough || k >= MOST_WORDS || longer.doubt.is_none() {
            let shows = longer.time > 20 * lab.noise;
            let longer = if shows { longer } else { Reading { time: Time::ZERO, ..longer } };
            return Ok((longer.share(k as i64 - 1), k));
        }
        k *= 4;
    }
}

/// Measures g: the time between short messages, unless o is longer; then, the time of long messages beyond
/// their (k-1)G. Twice the time for k words less the time for 2k-1 words is g, whatever G.
fn measure_gap(lab: &mut CalibrationLab, readings: &BasicReadings) -> Result<FoundParameter<Time>, RunError> {
    let &BasicReadings { interval, o, G, .. } = readings;
    if interval.time > o.time + lab.noise {
        return Ok(FoundParameter::from_reading(
            interval,
            "bursts without pauses: max(o, g) per message".into(),
        ));
    }
    // Here the interval is max(o, g), and g may be hidden by o.
    let on_time = interval.is_reliable() && o.is_reliable();
    if !(on_time && G.is_reliable()) {
        let how = "bursts without pauses: max(o, g) per message, and without o and G it cannot be told which"
            .into();
        return Ok(FoundParameter { value: interval.time, bound: Bound::AtMost, how, on_time: false });
    }
    if G.time == Time::ZERO || 2 * o.time.as_ps() / G.time.as_ps() >= MOST_WORDS as i64 {
        let how = "bursts without pauses: max(o, g) per message, and o hides a shorter g".into();
        return Ok(FoundParameter { value: interval.time, bound: Bound::AtMost, how, on_time });
    }
    let k = 2 + (2 * o.time.as_ps() / G.time.as_ps()) as usize;
    let mut interval = |k| {
        let few = lab.burst(2, Time::ZERO, k)?;
        Ok::<_, RunError>(lab.burst(10, Time::ZERO, k)?.minus(few).share(8))
    };
    let (short, long) = (interval(k)?, interval(2 * k - 1)?);
    let how = format!("bursts of {k} and {} words: (k-1)G + g per message, since o hides g", 2 * k - 1);
    let found = FoundParameter::from_reading(short.times(2).minus(long), how);
    Ok(FoundParameter { on_time: found.on_time && on_time, ..found })
}
