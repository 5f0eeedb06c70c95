//! How a run in a kept order comes about right beside a value of a parameter, and how far it comes about so.
//!
//! The times of such a run are maxima of sums of the parameters, as long as its messages are served in the
//! same order and each comparison of [`Judge`] comes out the same: then they are convex along a parameter. A
//! run is made right beside a value by an increase of the parameter that is too small to count: all times of
//! the machine are taken many times as long, and the parameter by one more. So each time of the run holds its
//! value and, in what is left over, its slope; and ties are broken as at the next larger value.
//!
//! Between two values at which all comes out the same, a time lies below the chord between its values there,
//! and above its tangents. If the chord of the earlier time of each comparison stays below a tangent of the
//! later one, all comes out the same in between too.

use loggp_model::error::RunError;
use loggp_model::params::{LevelParameter, LeveledParams, LogGps, LongMessages, Params};
use loggp_model::time::Time;
use loggp_model::transport::judge::Judge;

use super::order::KeptOrder;
use super::run::KeptJudge;

/// The side of a value of a parameter.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Right below.
    Below,
    /// Right above.
    Above,
}

/// How a run in a kept order comes about right beside a value of a parameter.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct KeptChoices {
    /// Value of the parameter.
    pub value: i64,
    /// Time of the run, right beside the value.
    pub time: Time,
    /// By how much the time grows there when the parameter grows.
    pub slope: i64,
    side: Side,
    /// The binary logarithm of what times are multiplied with.
    shift: u32,
    /// What came out, all together.
    outcomes: u64,
    /// The times of each comparison, the earlier one first.
    pairs: Vec<(Time, Time)>,
    last_turn: Time,
}

/// A time as a line along the parameter, through its value. Neither its slope times the width of a range nor
/// the sum with the time overflows, because [`KeptOrder::choices`] leaves room for them.
#[derive(Clone, Copy)]
struct Line {
    ps: i64,
    slope: i64,
}

/// Limit of the comparisons that are kept, which are 64 MB.
const MOST_PAIRS: usize = 1 << 22;

impl KeptOrder {
    /// Returns whether on this machine a message of the greatest length may delay another one by a port, or
    /// any may by the capacity.
    #[doc(hidden)]
    pub fn has_contention(&self, machine: &LeveledParams) -> bool {
        let longest = self.messages.iter().map(|message| message.words as usize).max().unwrap_or(0);
        let delays = |params: &Params| {
            // The longest message, and the one that takes longest if G_l is negative.
            let lengths = [longest, params.gps().map_or(longest, |gps| longest.min(gps.s))];
            params.capacity().is_some() || lengths.iter().any(|words| params.stream(*words) > Time::ZERO)
        };
        machine.all().any(delays)
    }

    /// Returns the number of acts of all ranks.
    #[doc(hidden)]
    pub fn acts(&self) -> usize {
        self.acts.len()
    }

    /// Plays it right beside the machine's value of a parameter. `longest` is no less than the range of the
    /// parameter, nor much less than the time of the run. Returns `None` if that cannot be: the times or the
    /// comparisons are too many, or G_l is negative, so that messages are not served when they are ready.
    #[doc(hidden)]
    pub fn choices(
        &self,
        machine: &LeveledParams,
        parameter: LevelParameter,
        side: Side,
        longest: Time,
    ) -> Result<Option<KeptChoices>, RunError> {
        /// The binary logarithm of the longest time, with room for sums.
        const MOST_BITS: u32 = 60;
        if machine.all().any(Params::has_negative_G_l) {
            return Ok(None);
        }
        // No slope is greater: of a message's costs each has the parameter at most once or for each word.
        let is_by_word = match parameter.parameter.name {
            "L" | "R" => false,
            "o" | "g" => machine.at(parameter.level).long == LongMessages::LogP,
            _ => true,
        };
        let words = self.messages.iter().map(|message| message.words as usize).filter(|_| is_by_word);
        let steepest = 8 * (self.acts.len() + words.sum::<usize>() + 1) as u64;
        let bits = |number: u64| u64::BITS - number.leading_zeros();
        let Some(shift) = MOST_BITS.checked_sub(bits(longest.as_ps().unsigned_abs())) else {
            return Ok(None);
        };
        if shift < 2 + bits(steepest) || self.acts.len() > MOST_PAIRS / 16 {
            return Ok(None);
        }
        let more = if side == Side::Above { 1 } else { -1 };
        let mut choices = KeptChoices {
            value: parameter.number(machine).unwrap_or(0),
            time: Time::ZERO,
            slope: 0,
            side,
            shift,
            outcomes: 0,
            pairs: Vec::new(),
            last_turn: Time::from_ps(i64::MIN),
        };
        let scaled = scaled(machine, 1 << shift, parameter, Time::from_ps(more));
        let capacity = |params: &Params| params.capacity().map_or(0, |capacity| capacity as u64);
        scaled.all().map(capacity).for_each(|capacity| choices.note(capacity));
        let end = self.play(scaled, &mut choices)?.time;
        let Line { ps, slope } = choices.line(end);
        (choices.time, choices.slope) = (Time::from_ps(ps), slope);
        Ok(Some(choices).filter(|choices| choices.pairs.len() <= MOST_PAIRS))
    }
}

/// Returns the machine with all times so many times as long, and with one of them longer by `more`.
fn scaled(machine: &LeveledParams, by: i64, parameter: LevelParameter, more: Time) -> LeveledParams {
    let mut scaled = machine.clone();
    let LeveledParams { params, levels } = &mut scaled;
    let all = [params].into_iter().chain(levels.iter_mut().map(|level| &mut level.params));
    for (level, params) in all.enumerate() {
        let long = match params.long {
            LongMessages::LogP => LongMessages::LogP,
            LongMessages::LogGP { G } => LongMessages::LogGP { G: by * G },
            LongMessages::LogGPS(gps) => LongMessages::LogGPS(LogGps {
                O_s: by * gps.O_s,
                O_r: by * gps.O_r,
                G_s: by * gps.G_s,
                G_l: by * gps.G_l,
                ..gps
            }),
        };
        let Params { L, o, g, R, cycle, .. } = *params;
        *params = Params { L: by * L, o: by * o, g: by * g, R: by * R, cycle: by * cycle, long, ..*params };
        if level == parameter.level {
            parameter.parameter.lengthen(params, more);
        }
    }
    scaled
}

impl KeptChoices {
    /// Returns the first value above at which a comparison comes out otherwise, if all times grow as they do
    /// here; or the last one before it, if that lies between two.
    fn next_change(&self) -> Option<i64> {
        let change = |&(earlier, later): &(Time, Time)| {
            let [earlier, later] = [earlier, later].map(|time| self.line(time));
            let by = earlier.slope - later.slope;
            (by > 0).then(|| (later.ps - earlier.ps) / by)
        };
        self.pairs.iter().filter_map(change).min()
    }

    /// Returns whether at each value from here, above a value, up to right below a greater one the run comes
    /// about in the same way, so that its time is convex. If it is not known, returns a value in between at
    /// which it may come about otherwise.
    #[doc(hidden)]
    pub fn hold_until(&self, below: &KeptChoices) -> Result<(), Option<i64>> {
        let width = below.value - self.value;
        let is_like = self.outcomes == below.outcomes && self.pairs.len() == below.pairs.len();
        let mut pairs = self.pairs.iter().zip(&below.pairs);
        let lines = |here: Time, there: Time| (self.line(here), below.line(there));
        let is_open = |(here, there): &(&(Time, Time), &(Time, Time))| {
            let [(earlier, earlier_there), (later, later_there)] =
                [lines(here.0, there.0), lines(here.1, there.1)];
            let is_below = earlier_there.ps <= later.ps + later.slope * width
                || earlier.ps <= later_there.ps - later_there.slope * width;
            !is_below || here.0 > here.1 || there.0 > there.1
        };
        let open = pairs.find(is_open);
        if is_like && open.is_none() {
            return Ok(());
        }
        // Where one of the two times bends, if it does so once.
        let bends = open.into_iter().flat_map(|(here, there)| [(here.0, there.0), (here.1, there.1)]);
        let bends = bends.filter_map(|(here, there)| {
            let (here, there) = lines(here, there);
            (there.ps - here.ps - there.slope * width).checked_div(here.slope - there.slope)
        });
        let change = self.next_change().filter(|_| !is_like);
        let by = change.into_iter().chain(bends).find(|by| (0..width).contains(by));
        Err(by.map(|by| self.value + by))
    }

    fn line(&self, time: Time) -> Line {
        let (all, half) = (time.as_ps(), 1 << (self.shift - 1));
        let ps = (all + half) >> self.shift;
        let left = all - (ps << self.shift);
        Line { ps, slope: if self.side == Side::Above { left } else { -left } }
    }

    fn note(&mut self, outcome: u64) {
        self.outcomes = (self.outcomes.rotate_left(23) ^ outcome).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn note_pair(&mut self, earlier: Time, later: Time) {
        if self.pairs.len() <= MOST_PAIRS {
            self.pairs.push((earlier, later));
        }
    }

    /// Notes between which items of a sorted list a time lies.
    fn note_index<T>(&mut self, items: &[T], index: usize, time: Time, of: impl Fn(&T) -> Time) {
        self.note(index as u64);
        if let Some(before) = index.checked_sub(1) {
            self.note_pair(of(&items[before]), time);
        }
        if let Some(item) = items.get(index) {
            self.note_pair(time, of(item));
        }
    }
}

impl Judge for KeptChoices {
    fn is_before(&mut self, one: Time, other: Time) -> bool {
        let is_before = one < other;
        self.note(1 + u64::from(is_before));
        self.note_pair(one.min(other), one.max(other));
        is_before
    }

    fn is_same(&mut self, one: Time, other: Time) -> bool {
        self.note((4 + one.cmp(&other) as i64) as u64);
        self.note_pair(one.min(other), one.max(other));
        if one == other {
            self.note_pair(other, one);
        }
        one == other
    }

    fn count_until<T>(&mut self, items: &[T], until: Time, time: impl Fn(&T) -> Time) -> usize {
        let count = items.partition_point(|item| time(item) <= until);
        self.note_index(items, count, until, time);
        count
    }

    fn count_before<T>(&mut self, items: &[T], until: Time, time: impl Fn(&T) -> Time) -> usize {
        let count = items.partition_point(|item| time(item) < until);
        self.note_index(items, count, until, time);
        count
    }

    /// Nothing is forgotten: what is depends on further times.
    fn forgets_before(&self, _: Time) -> Time {
        Time::from_ps(i64::MIN)
    }
}

impl KeptJudge for KeptChoices {
    fn calc(&self, time: Time) -> Time {
        (1 << self.shift) * time
    }

    fn note_turn(&mut self, rank: u32, turn: Time) {
        self.note(u64::from(rank));
        if self.last_turn > Time::from_ps(i64::MIN) {
            self.note_pair(self.last_turn, turn);
        }
        self.last_turn = turn;
    }
}
