//! LogGPS's parameters from two curves of round-trip times: two values at 0 and four gradients make six
//! equations (LogGPS, section 4.3).
//!
//! Behind a long imbalance a round trip takes 2o' + k(O_s + O_r) more than the imbalance, and each word above
//! S adds 2O_s + O_r + G_l. Without an imbalance it takes 4o' + 2L + 2k(O_s + O_r + G_s), and each word above
//! s adds 2(O_s + O_r + G_l). Above S it takes 8o' + 4L more, for the requests and replies of both messages:
//! twice the time of an empty round trip. So the bend at s is found even where it lies at S.

use loggp::params::LogGps;
use loggp::{Params, ParamsBuilder, ParamsError, Time};
use loggp_programs::Refusal;

use super::line::{Bend, CurvePoint, FittedLine, Jump, find_bend, find_jump};
use super::round_trips::RoundTripSamples;

/// A value in picoseconds or words, with its uncertainty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Possible deviation from the truth.
    pub doubt: f64,
}

/// The parameters that the curves show, times in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct DerivedParameters {
    pub solved: SolvedParameters,
    /// True if the overheads overlap, so that o' is a quarter of an empty round trip.
    pub has_overlap: bool,
    /// True if O_s and O_r were found one by one; false if no two messages above S were measured.
    pub is_split: bool,
    /// Length at which the curve bends; `None` if it does not.
    pub s: Option<Estimate>,
    /// Nearest measured lengths around the bend.
    pub around_s: Option<(usize, usize)>,
    /// Longest measured length before the jump, and shortest after the jump; `None` if the curve does not
    /// jump.
    pub S: Option<(usize, usize)>,
    /// Longest measured length.
    pub longest: usize,
}

/// The six equations of section 4.3: values from two curves of round trips, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Equations {
    /// Empty round trip: 4o' + 2L.
    pub empty: Estimate,
    /// Empty round trip behind a long imbalance, less the imbalance: 2o'.
    pub loaded: Estimate,
    /// Growth per word behind a long imbalance: O_s + O_r.
    pub overheads: Estimate,
    /// Growth per word up to s without an imbalance: 2(O_s + O_r + G_s).
    pub single: Estimate,
    /// Growth per word above s without an imbalance: 2(O_s + O_r + G_l).
    pub several: Estimate,
    /// Growth per word above S behind a long imbalance: 2O_s + O_r + G_l; `None` if it is not known.
    pub synchronous: Option<Estimate>,
}

/// The parameters that solve the equations.
#[derive(Clone, Copy, Debug)]
pub struct SolvedParameters {
    pub L: Estimate,
    pub o: Estimate,
    /// Sender's overhead per word; half of O_s + O_r where only the sum is known.
    pub O_s: Estimate,
    /// Receiver's overhead per word.
    pub O_r: Estimate,
    /// Gap per word up to s.
    pub G_s: Estimate,
    /// Gap per word above s.
    pub G_l: Estimate,
}

impl Equations {
    /// Returns whether an empty round trip is shorter than its four overheads.
    fn has_overlap(&self) -> bool {
        self.empty.value < 2.0 * self.loaded.value
    }

    /// Solves the equations.
    pub fn solve(&self) -> SolvedParameters {
        // Overheads of both sides can overlap. A round trip has four of them all the same, and L is not
        // negative.
        let o = if self.has_overlap() { self.empty.times(0.25) } else { self.loaded.times(0.5) };
        let G_s = self.single.times(0.5).minus(self.overheads);
        let G_l = self.several.times(0.5).minus(self.overheads);
        let O_s = match self.synchronous {
            Some(synchronous) => synchronous.minus(self.overheads).minus(G_l),
            None => self.overheads.times(0.5),
        };
        let O_s = O_s.at_least_0();
        SolvedParameters {
            L: self.empty.times(0.5).minus(o.times(2.0)).at_least_0(),
            o: o.at_least_0(),
            O_s,
            O_r: self.overheads.minus(O_s).at_least_0(),
            G_s,
            G_l,
        }
    }
}

/// The nearest measured lengths around a place; `None` if there is no such place.
pub(super) type Bracket = Option<(usize, usize)>;

/// The shapes of the two curves.
struct RoundTripCurves {
    /// Round trips behind a long imbalance, less that: two lines and their jump, or one line.
    loaded: Result<Jump, FittedLine>,
    /// Lengths before and after the jump.
    S: Option<(usize, usize)>,
    /// Round trips without an imbalance: two lines and their bend, or the one line up to S.
    free: Result<Bend, FittedLine>,
    /// Lengths around the bend.
    around_s: Option<(usize, usize)>,
}

impl RoundTripCurves {
    /// Fits the curves, or returns what is missing.
    fn from_trips(trips: &RoundTripSamples) -> Result<RoundTripCurves, Refusal> {
        let points = trips.loaded();
        let loaded = find_jump(&points, trips.noise).ok_or_else(|| FittedLine::through(&points));
        let index = loaded.as_ref().map_or(points.len(), |jump| jump.index);
        if index < 2 {
            return Err(match points.len() {
                0 => "there is no round trip with an imbalance that is longer than the round trip itself; measure with one \
                      for at least two lengths",
                1 => "there is only one length with an imbalance that is longer than the round trip; give at least two",
                _ => "all messages but the shortest wait for their receiver, and then overheads and gaps per word do not \
                      show one by one",
            }
            .into());
        }
        let S = loaded
            .as_ref()
            .ok()
            .map(|jump| (points[jump.index - 1].0 as usize, points[jump.index].0 as usize));
        let overhead = |k: usize| match &loaded {
            Ok(Jump { before, .. }) if S.is_some_and(|(last, _)| k <= last) => *before,
            Ok(Jump { after: Some(after), .. }) => *after,
            Ok(Jump { .. }) => FittedLine::through(&[]), // a single point above S is taken as it is
            Err(line) => *line,
        };
        let up_to_S = |free: &[CurvePoint]| {
            S.map_or(free.len(), |(last, _)| free.partition_point(|(k, _)| *k <= last as f64))
        };
        let mut free = trips.unloaded(overhead);
        // If messages cost nothing but their calls, a round trip without a w is no longer: then all points
        // count.
        if up_to_S(&free) < 2 {
            free = trips.unloaded(|_| FittedLine::through(&[]));
        }
        let raised = up_to_S(&free);
        if raised < 2 {
            return Err(
                "there are fewer than two lengths up to S without an imbalance; measure with w = 0 too"
                    .into(),
            );
        }
        let bends = find_bend(&free, raised, trips.noise);
        let around = |bend: &Bend| (free[bend.index - 1].0 as usize, free[bend.index].0 as usize);
        Ok(RoundTripCurves { around_s: bends.as_ref().ok().map(around), free: bends, loaded, S })
    }
}

/// Returns the measured lengths around the jump and around the bend.
pub(super) fn brackets(trips: &RoundTripSamples) -> (Bracket, Bracket) {
    RoundTripCurves::from_trips(trips).map_or((None, None), |curves| (curves.S, curves.around_s))
}

/// Derives the parameters from round trips.
pub(super) fn derive(trips: &RoundTripSamples) -> Result<DerivedParameters, Refusal> {
    let curves = RoundTripCurves::from_trips(trips)?;
    let doubt = trips.doubt();
    let at_zero = |line: &FittedLine| Estimate { value: line.at_zero, doubt: line.scatter.max(doubt) };
    let slope = |line: &FittedLine| Estimate {
        value: line.slope,
        doubt: line.slope_doubt.max(2.0 * line.scatter.max(doubt) / line.span.max(1.0)),
    };
    let (below, above) = match &curves.loaded {
        Ok(Jump { before, after, .. }) => (before, after.as_ref()),
        Err(line) => (line, None),
    };
    let (shorter, longer) = match &curves.free {
        Ok(Bend { before, after, .. }) => (before, after),
        Err(line) => (line, line),
    };
    let equations = Equations {
        empty: at_zero(shorter),
        loaded: at_zero(below),
        overheads: slope(below),
        single: slope(shorter),
        several: slope(longer),
        synchronous: above.map(slope),
    };
    let s = curves.free.as_ref().ok().map(|bend| {
        let turn = (bend.after.slope - bend.before.slope).abs();
        let at = at_zero(&bend.before).doubt + at_zero(&bend.after).doubt;
        Estimate { value: bend.at.round().max(0.0), doubt: at / turn }
    });
    Ok(DerivedParameters {
        solved: equations.solve(),
        has_overlap: equations.has_overlap(),
        is_split: above.is_some(),
        s,
        around_s: curves.around_s,
        S: curves.S,
        longest: trips.lengths().last().copied().unwrap_or(0),
    })
}

impl DerivedParameters {
    /// Builds a machine with these parameters; the builder has the rest. Without a bend all words cost the
    /// same, so s is arbitrary: it is S, or 0 if the gap per word is negative.
    pub(super) fn params(&self, builder: ParamsBuilder) -> Result<Params, ParamsError> {
        let SolvedParameters { L, o, O_s, O_r, G_s, G_l } = self.solved;
        let S = self.S.map_or(Params::NO_LIMIT, |(last, _)| last);
        let s = match self.s {
            Some(s) => (s.value as usize).min(S),
            None if G_s.value < 0.0 => 0,
            None => S,
        };
        let [L, o, O_s, O_r, G_s, G_l] =
            [L, o, O_s, O_r, G_s.at_least_0(), G_l].map(|time| Time::from_ps(time.value.round() as i64));
        builder.L(L).o(o).gps(LogGps { s, S, O_s, O_r, G_s, G_l }).build()
    }
}

impl Estimate {
    fn times(self, n: f64) -> Estimate {
        Estimate { value: n * self.value, doubt: n * self.doubt }
    }

    /// Subtracts; the doubts add up.
    fn minus(self, other: Estimate) -> Estimate {
        Estimate { value: self.value - other.value, doubt: self.doubt + other.doubt }
    }

    /// Raises a negative value, which noise may cause, to 0.
    fn at_least_0(self) -> Estimate {
        Estimate { value: self.value.max(0.0), ..self }
    }
}
