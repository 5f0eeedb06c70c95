//! The two things that the model leaves open: the latency of each message, and the order of processors that
//! act at the same time. A [`Choice`] decides both. Its answers are in the trace, so that a run can be
//! repeated.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use fastrand::Rng;

use crate::message::MessageId;
use crate::params::{Latency, Params, Precedence, Ties};
use crate::time::Time;

/// Decides what the model leaves open, by [`Latency`] and [`Ties`].
#[derive(Clone, Debug)]
pub struct Choice {
    latency: Latency,
    ties: Ties,
    P: u32,
    /// Time for which the first place stays with a processor, if it rotates.
    rotation_period: Time,
    /// For some times, the processors that go first at that time, before the tie rule. Invariant: ids < P, no
    /// duplicates.
    precedence: BTreeMap<Time, Vec<u32>>,
    /// Sets latencies; those that it leaves open are drawn.
    rule: Option<LatencyRule>,
}

impl Choice {
    pub fn new(params: &Params, latency: Latency, ties: Ties) -> Choice {
        let rotation_period = if params.g > Time::ZERO { params.g } else { params.cycle };
        let precedence = BTreeMap::new();
        Choice { latency, ties, P: params.P as u32, rotation_period, precedence, rule: None }
    }

    /// Lets a rule set latencies.
    pub fn with_rule(self, rule: Option<LatencyRule>) -> Choice {
        Choice { rule, ..self }
    }

    /// Lets these processors go first at their moments.
    pub fn with_precedence(self, precedence: &Precedence) -> Choice {
        let existing = |ids: &Vec<usize>| {
            let mut first = Vec::new();
            for id in ids.iter().filter_map(|id| u32::try_from(*id).ok().filter(|id| *id < self.P)) {
                if !first.contains(&id) {
                    first.push(id);
                }
            }
            first
        };
        Choice { precedence: precedence.iter().map(|(time, ids)| (*time, existing(ids))).collect(), ..self }
    }

    /// Returns the place that is drawn for a processor at `time`.
    fn drawn_place(&self, time: Time, id: u32) -> u32 {
        match self.ties {
            Ties::Number => id,
            Ties::Rotation => (id + self.P - self.rotating_first(time)) % self.P,
            Ties::Random { seed } => Shuffle::new(self.P, seed, time).permute(id),
        }
    }

    /// Returns the processor for which a place is drawn at `time`.
    fn drawn_processor(&self, time: Time, place: u32) -> u32 {
        match self.ties {
            Ties::Number => place,
            Ties::Rotation => (place + self.rotating_first(time)) % self.P,
            Ties::Random { seed } => Shuffle::new(self.P, seed, time).invert(place),
        }
    }

    /// Returns the processor that has the first place at `time`, if the first place rotates.
    fn rotating_first(&self, time: Time) -> u32 {
        (time.as_ps() / self.rotation_period.as_ps() % i64::from(self.P)) as u32
    }

    /// Returns the latency of a message to a processor, within `least_and_most`; the message is `ready` to
    /// enter. The random numbers are those of its sender.
    pub(crate) fn latency(
        &self,
        message: MessageId,
        to: usize,
        rng: &mut Rng,
        ready: Time,
        (least, most): (Time, Time),
    ) -> Time {
        let ruled = self.rule.as_ref().and_then(|rule| (rule.0)(message, to, ready, most));
        if let Some(latency) = ruled {
            return latency.clamp(least, most);
        }
        match self.latency {
            Latency::Exact => most,
            Latency::Random { .. } => Time::from_ps(rng.i64(least.as_ps()..=most.as_ps())),
            Latency::Exponential { .. } => {
                let quarters = i128::from(most.as_ps()) * i128::from(minus_ln(rng.u64(1..)));
                Time::from_ps((quarters >> 34) as i64).clamp(least, most)
            }
        }
    }

    /// Returns whether every latency is exactly L.
    pub(crate) fn is_exact(&self) -> bool {
        self.latency == Latency::Exact
    }

    /// Creates the random numbers of a processor.
    pub(crate) fn rng(&self, id: usize) -> Rng {
        let seed = match self.latency {
            Latency::Exact => 0,
            Latency::Random { seed } | Latency::Exponential { seed } => seed,
        };
        Rng::with_seed(seed ^ (id as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// Returns whether the processor with the lower number always goes first.
    pub(crate) fn is_by_number(&self) -> bool {
        self.ties == Ties::Number && self.precedence.is_empty()
    }

    /// Returns the place of a processor among those that act at `time`, from 0 to P - 1; no two have the
    /// same.
    pub fn place(&self, time: Time, id: u32) -> u32 {
        let drawn = self.drawn_place(time, id);
        let Some(first) = self.precedence.get(&time) else { return drawn };
        first.iter().position(|other| *other == id).map_or_else(
            || drawn + first.iter().filter(|other| self.drawn_place(time, **other) > drawn).count() as u32,
            |place| place as u32,
        )
    }

    /// Returns the processor that has a place at `time`.
    pub fn processor_at(&self, time: Time, place: u32) -> u32 {
        let Some(first) = self.precedence.get(&time) else { return self.drawn_processor(time, place) };
        first.get(place as usize).copied().unwrap_or_else(|| {
            let mut taken: Vec<u32> = first.iter().map(|id| self.drawn_place(time, *id)).collect();
            taken.sort_unstable();
            let drawn = taken
                .iter()
                .fold(place - first.len() as u32, |drawn, taken| drawn + u32::from(*taken <= drawn));
            self.drawn_processor(time, drawn)
        })
    }
}

/// Returns -ln(u / 2^64) in units of 2^-32. It computes in whole numbers, because floating point logarithms
/// differ between computers.
fn minus_ln(u: u64) -> u64 {
    /// ln 2 in units of 2^-32.
    const LN_2: u128 = 2_977_044_472;
    let zeros = u.leading_zeros();
    // `x` is a number between 1 and 2 in units of 2^-63. Squaring it doubles its logarithm to base 2, whose
    // bit before the point is the next bit of the result.
    let (mut x, mut log) = (u << zeros, 0_u64);
    for _ in 0..32 {
        let square = (u128::from(x) * u128::from(x)) >> 63;
        let bit = square >> 64;
        (x, log) = ((square >> bit) as u64, log << 1 | bit as u64);
    }
    let minus_log_2 = (u64::from(zeros + 1) << 32) - log;
    ((u128::from(minus_log_2) * LN_2) >> 32) as u64
}

/// Returns the latency of a message to a processor, from the time at which it is ready and the largest
/// latency; `None` if it is to be drawn.
type LatencyFn = dyn Fn(MessageId, usize, Time, Time) -> Option<Time> + Send + Sync;

/// A rule for the latencies of messages.
#[derive(Clone)]
pub struct LatencyRule(Arc<LatencyFn>);

impl LatencyRule {
    pub fn new(
        rule: impl Fn(MessageId, usize, Time, Time) -> Option<Time> + Send + Sync + 'static,
    ) -> LatencyRule {
        LatencyRule(Arc::new(rule))
    }

    /// Creates the rule that repeats a recorded run, from the latencies of each processor's messages by
    /// number.
    pub fn from_recording(latencies: HashMap<usize, BTreeMap<usize, Time>>) -> LatencyRule {
        LatencyRule::new(move |message, _, _, _| {
            let (number, latency) = latencies.get(&message.from)?.range(message.number..).next()?;
            // When the recorded run failed, a message may not have entered yet although a later one had.
            Some(if *number == message.number { *latency } else { Time::ZERO })
        })
    }
}

impl fmt::Debug for LatencyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rule")
    }
}

/// The places of processors that act at the same time, for the clocks. Without a choice they are the numbers
/// of the processors.
#[derive(Clone, Debug, Default)]
pub struct Places(Option<Arc<Choice>>);

impl Places {
    /// Creates the places of a choice. A choice that goes by number is not kept.
    pub(crate) fn new(choice: &Arc<Choice>) -> Places {
        Places((!choice.is_by_number()).then(|| Arc::clone(choice)))
    }

    /// Returns whether each processor's place is its number, at any time.
    #[inline]
    pub fn are_numbers(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the place of a processor among those that act at `time`.
    #[inline]
    pub fn place(&self, time: Time, id: u32) -> u32 {
        self.0.as_ref().map_or(id, |choice| choice.place(time, id))
    }

    /// Returns the processor that has a place at `time`.
    #[inline]
    pub fn processor_at(&self, time: Time, place: u32) -> u32 {
        self.0.as_ref().map_or(place, |choice| choice.processor_at(time, place))
    }
}

/// A random permutation of n numbers that takes no memory: a Feistel network on the least even number of bits
/// for them, repeated until the result is below n.
struct Shuffle {
    n: u32,
    /// Half of the number of bits.
    half: u32,
    /// The key of the network's rounds.
    key: u64,
}

impl Shuffle {
    fn new(n: u32, seed: u64, time: Time) -> Shuffle {
        let half = (32 - (n - 1).leading_zeros()).div_ceil(2).max(1);
        Shuffle { n, half, key: mix64(seed ^ mix64(time.as_ps() as u64)) }
    }

    fn permute(&self, x: u32) -> u32 {
        self.run_rounds(x, [0, 1, 2, 3], |left, right, round| (right, left ^ self.mix(right, round)))
    }

    fn invert(&self, x: u32) -> u32 {
        self.run_rounds(x, [3, 2, 1, 0], |left, right, round| (right ^ self.mix(left, round), left))
    }

    /// The function of a round.
    #[inline]
    fn mix(&self, half: u32, round: u64) -> u32 {
        mix64(self.key ^ (u64::from(half) << 2 | round)) as u32 & self.mask()
    }

    /// Returns the bits of a half.
    #[inline]
    fn mask(&self) -> u32 {
        (1 << self.half) - 1
    }

    /// Runs the rounds. In each, `step` computes the two halves anew.
    #[inline]
    fn run_rounds(&self, mut x: u32, rounds: [u64; 4], step: impl Fn(u32, u32, u64) -> (u32, u32)) -> u32 {
        loop {
            let (mut left, mut right) = (x >> self.half, x & self.mask());
            for round in rounds {
                (left, right) = step(left, right, round);
            }
            x = left << self.half | right;
            if x < self.n {
                return x;
            }
        }
    }
}

/// Mixes the bits of a number (the finalizer of splitmix64).
#[inline]
fn mix64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::US;

    fn drawn(P: u32, latency: Latency, ties: Ties, rotation_period: Time) -> Choice {
        Choice { latency, ties, P, rotation_period, precedence: BTreeMap::new(), rule: None }
    }

    #[test]
    fn places_are_a_permutation_of_processors() {
        // A processor that is there twice and one that does not exist are ignored.
        let precedence = Precedence::from([(4 * US, vec![2, 0, 2, 5000, 37]), (9 * US, vec![])]);
        for P in (1..40).chain([1000, 4096, 4097]) {
            for ties in [Ties::Number, Ties::Rotation, Ties::Random { seed: 7 }] {
                let drawn = drawn(P, Latency::Exact, ties, 4 * US).with_precedence(&precedence);
                let first = [2, 0, 37].into_iter().filter(|id| *id < P);
                assert!(first.enumerate().all(|(place, id)| drawn.place(4 * US, id) == place as u32));
                for time in [0, 4, 9, 1000].map(|us| us * US) {
                    let mut taken = vec![false; P as usize];
                    for id in 0..P {
                        let place = drawn.place(time, id);
                        assert_eq!(drawn.processor_at(time, place), id, "{ties:?}, P = {P}");
                        assert!(!std::mem::replace(&mut taken[place as usize], true));
                    }
                }
            }
        }
    }

    #[test]
    fn random_ties_draw_every_order_of_three_about_as_often() {
        let drawn = drawn(3, Latency::Exact, Ties::Random { seed: 1 }, US);
        let mut often = std::collections::BTreeMap::new();
        for time in 0..6000 {
            *often.entry([0, 1, 2].map(|id| drawn.place(time * US, id))).or_insert(0) += 1;
        }
        assert!(often.len() == 6 && often.values().all(|n| (800..1200).contains(n)), "{often:?}");
    }

    #[test]
    fn rotation_moves_the_first_place() {
        let drawn = drawn(3, Latency::Exact, Ties::Rotation, 4 * US);
        let first = |time: i64| drawn.processor_at(time * US, 0);
        assert_eq!([0, 3, 4, 5, 7, 8, 12].map(first), [0, 0, 1, 1, 1, 2, 0]);
    }

    #[test]
    fn latencies_that_a_rule_leaves_open_are_drawn_as_without_it() {
        let drawn = drawn(2, Latency::Random { seed: 5 }, Ties::Number, US);
        let rule = LatencyRule::new(|message, _, _, _| (message.number == 0).then_some(US));
        let ruled = drawn.clone().with_rule(Some(rule));
        let latencies = |choice: &Choice, from: usize| {
            let mut rng = choice.rng(from);
            [1, 2, 3].map(|number| {
                choice.latency(MessageId { from, number }, 0, &mut rng, Time::ZERO, (Time::ZERO, 9 * US))
            })
        };
        assert_eq!(latencies(&ruled, 1), latencies(&drawn, 1));
        assert_ne!(latencies(&ruled, 0), latencies(&ruled, 1));
    }

    #[test]
    fn logarithm_in_whole_numbers_is_exact() {
        let mut rng = Rng::with_seed(1);
        for u in [1, 2, 3, 1 << 63, u64::MAX].into_iter().chain((0..10_000).map(|_| rng.u64(1..))) {
            let (ours, theirs) = (minus_ln(u) as f64 / 2_f64.powi(32), -(u as f64 / 2_f64.powi(64)).ln());
            assert!((ours - theirs).abs() < 1e-8, "{u}: {ours}, {theirs}");
        }
    }

    #[test]
    fn exponential_latencies_have_the_right_mean_and_maximum() {
        let drawn = drawn(1, Latency::Exponential { seed: 1 }, Ties::Number, US);
        let (mut rng, most) = (Rng::with_seed(1), 100 * US);
        let message = MessageId { from: 0, number: 0 };
        let times: Vec<Time> = (0..20_000)
            .map(|_| drawn.latency(message, 0, &mut rng, Time::ZERO, (Time::ZERO, most)))
            .collect();
        assert!(times.iter().all(|time| (Time::ZERO..=most).contains(time)));
        // Cutting latencies off at four means leaves 1 - e^-4 of the mean.
        let mean = times.iter().copied().sum::<Time>().in_units(US) / 20_000.0;
        assert!((23.5..25.6).contains(&mean), "{mean}");
    }
}
