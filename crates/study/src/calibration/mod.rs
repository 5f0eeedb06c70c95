//! Calibration: what a machine's o, g, L, G and capacity are, found out from inside.
//!
//! A program that knows nothing of the parameters can find them by sending, receiving, waiting and looking
//! at the clock, as Culler, Liu, Martin and Yoshikawa did with real machines ("Assessing Fast Network
//! Interfaces", the LogP signature). A burst of M messages with work Delta after each takes its sender
//!
//! > t(M, Delta) = o + (M-1) max(o + Delta, g) + Delta
//!
//! - **o**: with a long Delta each further message takes o + Delta;
//! - **g**: without Delta it takes max(o, g). Where o is the longer, g does not show there, but it does
//!   after messages of k words, which take (k-1)G + g each;
//! - **L**: a round trip takes 2L + 4o;
//! - **G**: a round trip with k words on its way there takes (k-1)G more;
//! - **C**, the capacity, shows when a send stalls; `capacity` says how one makes it stall.
//!
//! On the wall clock a processor's local time is no evidence: it is the time that *should* be, by the very
//! parameters that are sought. So there a program reads the host's clock, at moments to which it has really
//! waited, and the difference of two readings, divided by the dilation, is what the machine did between. The
//! length of a whole run would be as real, but holds one burst among starts and ends, while a run can hold
//! many repetitions of a burst, of which the median lets one forget what else the host did.
//!
//! A host that is late shows times of its own and not of the machine. So a time counts only if the machine says
//! that the host held the run, and if rests before and after it took as long as they should; and what was found
//! counts only if enough such times agree. What is judged is the host, and never how near a value is to what was
//! configured: no experiment reads that.

mod capacity;
mod found;
pub(super) mod lab;
pub(super) mod reading;

use std::borrow::Cow;

use loggp::{ClockKind, Dilation, PS, Params, Ports, RunError, Time, US};

use super::Failed;
use capacity::Seen;
use lab::Lab;
use loggp_programs::Emulation;
use reading::{Reading, share};

pub use found::{Bound, Found};

/// What was found out about a machine.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// What was configured. Nothing that is found comes from here.
    pub params: Params,
    /// The overhead.
    pub o: Found<Time>,
    /// The gap.
    pub g: Found<Time>,
    /// The latency.
    pub L: Found<Time>,
    /// The gap per word.
    pub G: Found<Time>,
    /// The capacity.
    pub C: Found<usize>,
    /// What bursts took.
    pub signature: Vec<Series>,
    /// The clock.
    pub clock: ClockKind,
    /// How much slower than it should the machine ran, at most.
    pub dilation: f64,
    /// On how many of the host's cores.
    pub cores: usize,
}

/// A parameter, as it was configured and as it was found.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// Its name.
    pub parameter: &'static str,
    /// What was configured; nothing where any number of messages may be in transit.
    pub configured: Option<Amount>,
    /// What was found.
    pub found: Amount,
    /// What that says of the parameter.
    pub bound: Bound,
    /// How far from the truth the value may be, where that is told.
    pub doubt: Option<Amount>,
    /// How it was found.
    pub how: Cow<'a, str>,
    /// Whether the host was on time often enough to find it.
    pub held: bool,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A time.
    Time(Time),
    /// A number of messages.
    Count(i64),
    /// A length, in words.
    Words(i64),
}

/// The bursts with the same pause between messages: a line of the LogP signature.
#[derive(Clone, Debug)]
pub struct Series {
    /// The pause, Delta.
    pub pause: Time,
    /// How long a burst of so many messages took: t(M, Delta).
    pub bursts: Vec<(usize, Time)>,
}

/// The longest burst of the signature.
const LONGEST_BURST: usize = 64;
/// The longest message that is tried to find G.
const MOST_WORDS: usize = 1 << 20;
/// A difference that is measured on the wall clock should be at least this long.
const WELL_MEASURED: Time = Time::from_ps(200 * US.as_ps());

impl Calibration {
    /// Calibrates a machine with these parameters and ports.
    ///
    /// If the host was late, it is done once more at full speed, where the machine chooses its dilation and there is a
    /// core for every processor. A machine that chooses its dilation stretches short runs, which makes them more exact
    /// on an idle host, and on a busy one whatever else it does then comes into all of them.
    pub fn study(params: Params, ports: Ports, emulation: &Emulation) -> Result<Calibration, Failed> {
        if !params.is_loggp() {
            let why = "calibrate finds the o, g, L and G of LogP and LogGP, and this is a LogGPS machine; give --find loggps";
            return Err(Failed::Refused(why.into()));
        }
        if params.P < 2 {
            let why = "a processor alone has nobody to send to; give at least 2";
            return Err(Failed::Refused(why.into()));
        }
        let machine = emulation.machine(params).ports(ports);
        let first = calibrate(Lab::new(&machine, emulation.clock))?;
        let stretched = emulation.clock == ClockKind::Wall && emulation.dilation == Dilation::Auto;
        if first.held() || !stretched || machine.at_once() < params.P {
            return Ok(first);
        }
        let second = calibrate(Lab::new(&machine.dilation(Dilation::Fixed(1.0)), emulation.clock))?;
        Ok(if second.held_count() > first.held_count() { second } else { first })
    }

    /// Whether the host was on time often enough to find all of it.
    pub fn held(&self) -> bool {
        self.findings().iter().all(|finding| finding.held)
    }

    /// How many of the parameters it was on time to find.
    fn held_count(&self) -> usize {
        self.findings().iter().filter(|finding| finding.held).count()
    }

    /// Every parameter, in the order in which they are found.
    pub fn findings(&self) -> [Finding<'_>; 5] {
        let Params { o, g, L, .. } = self.params;
        let capacity = self.params.capacity().map(|C| Amount::Count(C as i64));
        let C = Finding::new("C", capacity, &self.C, |C| Amount::Count(C as i64));
        let time =
            |name, set: Option<Time>, found| Finding::new(name, set.map(Amount::Time), found, Amount::Time);
        let [o, g, L] =
            [time("o", Some(o), &self.o), time("g", Some(g), &self.g), time("L", Some(L), &self.L)];
        [o, g, L, time("G", self.params.G(), &self.G), C]
    }
}

impl<'a> Finding<'a> {
    fn new<T: Copy>(
        parameter: &'static str,
        configured: Option<Amount>,
        found: &'a Found<T>,
        amount: fn(T) -> Amount,
    ) -> Finding<'a> {
        let &Found { value, bound, ref how, held } = found;
        let (found, how) = (amount(value), Cow::Borrowed(how.as_str()));
        Finding { parameter, configured, found, bound, doubt: None, how, held }
    }

    /// found - configured; nothing where either says no more than a bound.
    pub fn difference(&self) -> Option<Amount> {
        match (self.configured?, self.found) {
            _ if self.bound != Bound::Exact => None,
            (Amount::Time(set), Amount::Time(found)) => Some(Amount::Time(found - set)),
            (Amount::Count(set), Amount::Count(found)) => Some(Amount::Count(found - set)),
            (Amount::Words(set), Amount::Words(found)) => Some(Amount::Words(found - set)),
            _ => None,
        }
    }

    /// found / configured - 1; nothing where that would be nothing or infinite.
    pub fn error(&self) -> Option<f64> {
        let number = |amount: Amount| match amount {
            Amount::Time(time) => time.as_ps() as f64,
            Amount::Count(count) | Amount::Words(count) => count as f64,
        };
        let set = self.configured.map(number).filter(|set| *set != 0.0 && self.bound == Bound::Exact)?;
        Some(number(self.found) / set - 1.0)
    }
}

/// Calibrates the machine of a laboratory.
fn calibrate(mut lab: Lab) -> Result<Calibration, RunError> {
    let lab = &mut lab;
    // A first burst says how long a rest lets the gap run out, and a second one, after rests, says it again.
    for _ in 0..2 {
        let burst = lab.burst(LONGEST_BURST, Time::ZERO, 1)?.time;
        lab.rest_for(share(burst, 8));
    }
    let (first, interval) = series(lab, Time::ZERO)?;
    let mut signature = vec![first];
    let (mut pause, mut slope) = (Time::ZERO, interval);
    for longer in [share(interval.time, 2), interval.time, 2 * interval.time] {
        let line;
        (line, slope) = series(lab, longer)?;
        signature.push(line);
        pause = longer;
    }
    let o = slope.less(Reading::of(pause));

    let round_trip = lab.round_trip(1)?;
    let (G, k) = gap_per_word(lab, round_trip)?;
    let L = round_trip.less(o.times(4)).share(2);
    let seen = Seen { interval, o, L, G, round_trip };
    let g = gap(lab, &seen)?;
    let C = capacity::capacity(lab, &seen)?;
    Ok(Calibration {
        params: *lab.machine.params(),
        o: Found::exact(o, "bursts with long pauses: o + Delta per message".into()),
        g,
        L: Found::exact(L, "a round trip takes 2L + 4o".into()),
        G: Found::exact(G, format!("a round trip with {k} words there takes {}G more", k - 1)),
        C,
        signature,
        clock: lab.clock,
        dilation: lab.dilation,
        cores: lab.cores,
    })
}

/// The bursts of a line of the signature; and what a further message takes, from the shortest to the longest.
fn series(lab: &mut Lab, pause: Time) -> Result<(Series, Reading), RunError> {
    let lengths = (0..=LONGEST_BURST.ilog2()).map(|exponent| 1 << exponent);
    let bursts: Vec<(usize, Reading)> =
        lengths.map(|M| Ok((M, lab.burst(M, pause, 1)?))).collect::<Result<_, RunError>>()?;
    let ((few, least), (many, most)) = (bursts[0], bursts[bursts.len() - 1]);
    let slope = most.less(least).share((many - few) as i64);
    let bursts = bursts.into_iter().map(|(M, reading)| (M, reading.time)).collect();
    Ok((Series { pause, bursts }, slope))
}

/// G, and the length of the message that showed it: long enough that its words take most of the time.
fn gap_per_word(lab: &mut Lab, round_trip: Reading) -> Result<(Reading, usize), RunError> {
    let enough = match lab.clock {
        ClockKind::Virtual => PS,
        _ => WELL_MEASURED.max(10 * round_trip.time),
    };
    let mut k = 2;
    loop {
        let longer = lab.round_trip(k)?.less(round_trip);
        // If the host was late with this one, it would be so with a longer one.
        if longer.time >= enough || k >= MOST_WORDS || longer.doubt.is_none() {
            let shows = longer.time > 20 * lab.noise;
            let longer = if shows { longer } else { Reading { time: Time::ZERO, ..longer } };
            return Ok((longer.share(k as i64 - 1), k));
        }
        k *= 4;
    }
}

/// g: the time between short messages, unless o is longer; then, what comes on top of a long message's
/// (k-1)G. Twice the time for k words less the time for 2k-1 words is g, whatever G.
fn gap(lab: &mut Lab, seen: &Seen) -> Result<Found<Time>, RunError> {
    let &Seen { interval, o, G, .. } = seen;
    if interval.time > o.time + lab.noise {
        return Ok(Found::exact(interval, "bursts without pauses: max(o, g) per message".into()));
    }
    // Here g is found as max(o, g), or where o says that it hides g.
    let held = interval.is_held() && o.is_held();
    if !(held && G.is_held()) {
        let how = "bursts without pauses: max(o, g) per message, and without o and G it cannot be told which"
            .into();
        return Ok(Found { value: interval.time, bound: Bound::AtMost, how, held: false });
    }
    if G.time == Time::ZERO || 2 * o.time.as_ps() / G.time.as_ps() >= MOST_WORDS as i64 {
        let how = "bursts without pauses: max(o, g) per message, and o hides a shorter g".into();
        return Ok(Found { value: interval.time, bound: Bound::AtMost, how, held });
    }
    let k = 2 + (2 * o.time.as_ps() / G.time.as_ps()) as usize;
    let mut interval = |k| {
        let few = lab.burst(2, Time::ZERO, k)?;
        Ok::<_, RunError>(lab.burst(10, Time::ZERO, k)?.less(few).share(8))
    };
    let (short, long) = (interval(k)?, interval(2 * k - 1)?);
    let how = format!("bursts of {k} and {} words: (k-1)G + g per message, since o hides g", 2 * k - 1);
    let found = Found::exact(short.times(2).less(long), how);
    Ok(Found { held: found.held && held, ..found })
}
