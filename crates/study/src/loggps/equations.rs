//! LogGPS's parameters from two curves of round-trip times: two values at 0 and four gradients make six equations (LogGPS,
//! section 4.3).
//!
//! With all else hidden by a long imbalance a round trip takes 2o' + k(O_s + O_r) more than that, and each word more than
//! S adds 2O_s + O_r + G_l. Without one it takes 4o' + 2L + 2k(O_s + O_r + G_s), and each word more than s adds
//! 2(O_s + O_r + G_l). Above S it takes 8o' + 4L more, for the requests and replies of both messages: twice what an empty
//! message takes. So the bend at s is found even where it lies at S.

use loggp::{LogGps, Params, ParamsBuilder, ParamsError, Time};

use super::line::{Bend, Jump, Line, Point, bend, jump};
use super::round_trips::RoundTrips;
use loggp_programs::Refusal;

/// A value in picoseconds or words, and how far from it the truth may be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Value {
    /// The value.
    pub value: f64,
    /// How far from it the truth may be.
    pub doubt: f64,
}

/// The parameters, as far as the curves show them.
#[derive(Clone, Copy, Debug)]
pub struct Derived {
    /// The latency.
    pub L: Value,
    /// o'.
    pub o: Value,
    /// Whether the overheads overlap, and o' is a quarter of an empty round trip.
    pub overlaps: bool,
    /// The overheads per word; of which only the sum shows if no two messages above S were measured.
    pub O_s: Value,
    /// And of the receiver.
    pub O_r: Value,
    /// Whether each of the overheads shows, and not only their sum.
    pub is_split: bool,
    /// The gap per word up to s.
    pub G_s: Value,
    /// And above.
    pub G_l: Value,
    /// Where the curve bends; nothing if it does not.
    pub s: Option<Value>,
    /// Around the bend, the nearest lengths that were measured.
    pub around_s: Option<(usize, usize)>,
    /// The longest length before the jump, and the shortest after it; nothing if the curve does not jump.
    pub S: Option<(usize, usize)>,
    /// The longest length that was measured.
    pub longest: usize,
}

/// What two curves of round trips show: the six equations of section 4.3, by what each is the sum of.
#[derive(Clone, Copy, Debug)]
pub struct Equations {
    /// An empty round trip: 4o' + 2L.
    pub empty: Value,
    /// The same behind a long imbalance, less that: 2o'.
    pub loaded: Value,
    /// What a word adds there: O_s + O_r.
    pub overheads: Value,
    /// What a word up to s adds without an imbalance: 2(O_s + O_r + G_s).
    pub single: Value,
    /// And a word above s: 2(O_s + O_r + G_l).
    pub several: Value,
    /// What a word above S adds behind a long imbalance: 2O_s + O_r + G_l; nothing if that is not known.
    pub synchronous: Option<Value>,
}

/// The parameters that solve the equations.
#[derive(Clone, Copy, Debug)]
pub struct Solution {
    /// The latency.
    pub L: Value,
    /// o'.
    pub o: Value,
    /// The sender's overhead per word; half of O_s + O_r where only the sum shows.
    pub O_s: Value,
    /// And the receiver's.
    pub O_r: Value,
    /// The gap per word up to s.
    pub G_s: Value,
    /// And above.
    pub G_l: Value,
}

impl Equations {
    /// Whether an empty round trip is shorter than its four overheads.
    fn overlaps(&self) -> bool {
        self.empty.value < 2.0 * self.loaded.value
    }

    /// Solves them.
    pub fn solve(&self) -> Solution {
        // Overheads of both sides can overlap. A round trip has four of them all the same, and L is not below 0.
        let o = if self.overlaps() { self.empty.times(0.25) } else { self.loaded.times(0.5) };
        let G_s = self.single.times(0.5).less(self.overheads);
        let G_l = self.several.times(0.5).less(self.overheads);
        let O_s = match self.synchronous {
            Some(synchronous) => synchronous.less(self.overheads).less(G_l),
            None => self.overheads.times(0.5),
        };
        let O_s = O_s.at_least_0();
        Solution {
            L: self.empty.times(0.5).less(o.times(2.0)).at_least_0(),
            o: o.at_least_0(),
            O_s,
            O_r: self.overheads.less(O_s).at_least_0(),
            G_s,
            G_l,
        }
    }
}

/// The lengths around a place, nearest to it; nothing if there is no such place.
pub type Bracket = Option<(usize, usize)>;

/// What the curves look like.
struct Curves {
    /// What is left with a long imbalance, and where it jumps; or the line that it is.
    loaded: Result<Jump, Line>,
    /// The length before the jump, and the one after it.
    S: Option<(usize, usize)>,
    /// What a round trip takes without an imbalance, and where it bends; or the line that it is up to S.
    free: Result<Bend, Line>,
    /// The lengths around the bend.
    around_s: Option<(usize, usize)>,
}

impl Curves {
    /// Looks at them; or says what is missing.
    fn of(trips: &RoundTrips) -> Result<Curves, Refusal> {
        let points = trips.loaded();
        let loaded = jump(&points, trips.noise).ok_or_else(|| Line::through(&points));
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
            Ok(Jump { .. }) => Line::through(&[]), // a single point above S is taken as it is
            Err(line) => *line,
        };
        let up_to_S = |free: &[Point]| {
            S.map_or(free.len(), |(last, _)| free.partition_point(|(k, _)| *k <= last as f64))
        };
        let mut free = trips.unloaded(overhead);
        // Where messages are nothing but their calls, a round trip is no longer without a w: then all of them say so.
        if up_to_S(&free) < 2 {
            free = trips.unloaded(|_| Line::through(&[]));
        }
        let raised = up_to_S(&free);
        if raised < 2 {
            return Err(
                "there are fewer than two lengths up to S without an imbalance; measure with w = 0 too"
                    .into(),
            );
        }
        let bends = bend(&free, raised, trips.noise);
        let around = |bend: &Bend| (free[bend.index - 1].0 as usize, free[bend.index].0 as usize);
        Ok(Curves { around_s: bends.as_ref().ok().map(around), free: bends, loaded, S })
    }
}

/// Where the curves jump and bend: between which lengths that were measured.
pub fn brackets(trips: &RoundTrips) -> (Bracket, Bracket) {
    Curves::of(trips).map_or((None, None), |curves| (curves.S, curves.around_s))
}

/// Solves the equations.
pub fn derive(trips: &RoundTrips) -> Result<Derived, Refusal> {
    let curves = Curves::of(trips)?;
    let doubt = trips.doubt();
    let at_zero = |line: &Line| Value { value: line.at_zero, doubt: line.scatter.max(doubt) };
    let slope = |line: &Line| Value {
        value: line.slope,
        doubt: line.turns.max(2.0 * line.scatter.max(doubt) / line.span.max(1.0)),
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
    let Solution { L, o, O_s, O_r, G_s, G_l } = equations.solve();
    let s = curves.free.as_ref().ok().map(|bend| {
        let turn = (bend.after.slope - bend.before.slope).abs();
        let at = at_zero(&bend.before).doubt + at_zero(&bend.after).doubt;
        Value { value: bend.at.round().max(0.0), doubt: at / turn }
    });
    Ok(Derived {
        L,
        o,
        overlaps: equations.overlaps(),
        O_s,
        O_r,
        is_split: above.is_some(),
        G_s,
        G_l,
        s,
        around_s: curves.around_s,
        S: curves.S,
        longest: trips.lengths().last().copied().unwrap_or(0),
    })
}

impl Derived {
    /// The machine that has these parameters, and for the rest those of a builder. Without a bend all words cost what the
    /// first do, so s may be anything; it is S, unless the gap per word is negative.
    pub fn params(&self, builder: ParamsBuilder) -> Result<Params, ParamsError> {
        let time = |value: Value| Time::from_ps(value.value.round() as i64);
        let unlimited = u32::MAX as usize;
        let S = self.S.map_or(unlimited, |(last, _)| last);
        let s = match self.s {
            Some(s) => (s.value as usize).min(S),
            None if self.G_s.value < 0.0 => 0,
            None => S,
        };
        let (O_s, O_r, G_s, G_l) =
            (time(self.O_s), time(self.O_r), time(self.G_s.at_least_0()), time(self.G_l));
        builder.L(time(self.L)).o(time(self.o)).gps(LogGps { s, S, O_s, O_r, G_s, G_l }).build()
    }
}

impl Value {
    /// So many of it.
    fn times(self, n: f64) -> Value {
        Value { value: n * self.value, doubt: n * self.doubt }
    }

    /// The difference. Doubts add up.
    fn less(self, other: Value) -> Value {
        Value { value: self.value - other.value, doubt: self.doubt + other.doubt }
    }

    /// No less than 0, which noise may have made of nothing.
    fn at_least_0(self) -> Value {
        Value { value: self.value.max(0.0), ..self }
    }
}
