//! Round-trip times that were measured, here or elsewhere, and the two curves that they make: without an imbalance, and
//! with one that is long enough to hide all that is under way.

use std::collections::BTreeMap;

use loggp::{Params, Time};

use super::line::{Line, Noise, Point, middle};
use crate::calibration::reading::Reading;
use loggp_programs::rtt::RoundTrip;

/// A round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How long its messages are, in words.
    pub k: usize,
    /// How long the first processor computed meanwhile.
    pub w: Time,
    /// How long it took: the median, if it was measured more than once.
    pub time: Time,
    /// How far from that the truth may be; nothing if that is not known.
    pub doubt: Option<Time>,
}

/// All round trips that were measured on a machine.
#[derive(Clone, Debug)]
pub struct RoundTrips {
    /// Each length and imbalance once, by length and then by imbalance.
    samples: BTreeMap<(usize, Time), Sample>,
    /// How far they may be from what they should be.
    pub noise: Noise,
}

impl RoundTrips {
    /// None yet.
    pub fn new(noise: Noise) -> RoundTrips {
        RoundTrips { samples: BTreeMap::new(), noise }
    }

    /// One more.
    pub fn add(&mut self, sample: Sample) {
        self.samples.insert((sample.k, sample.w), sample);
    }

    /// All of them.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.samples.values()
    }

    /// The time without an imbalance.
    pub fn free(&self, k: usize) -> Option<Time> {
        self.samples.get(&(k, Time::ZERO)).map(|sample| sample.time)
    }

    /// The lengths that were tried, from the shortest.
    pub fn lengths(&self) -> Vec<usize> {
        let mut lengths: Vec<usize> = self.samples.keys().map(|(k, _)| *k).collect();
        lengths.dedup();
        lengths
    }

    /// By length, what a round trip takes longer than its imbalance, where that is long: all that is left is overhead. An
    /// imbalance is long if the round trip takes longer than without.
    pub fn loaded(&self) -> Vec<Point> {
        let longest = |k: usize| self.samples.range((k, Time::ZERO)..=(k, Time::MAX)).next_back();
        let loaded = |k: usize| {
            let (_, sample) = longest(k).filter(|((_, w), _)| *w > Time::ZERO)?;
            let shortest = self.free(k).map_or(Time::ZERO, |free| free);
            let slack = self.noise.relative * shortest.as_ps() as f64;
            let is_long = (sample.time - shortest).as_ps() as f64 > slack;
            is_long.then(|| (k as f64, (sample.time - sample.w).as_ps() as f64))
        };
        self.lengths().into_iter().filter_map(loaded).collect()
    }

    /// By length, what a round trip takes without an imbalance, where more than overhead is left. Of overhead alone speaks
    /// the line that is asked.
    pub fn unloaded(&self, overhead: impl Fn(usize) -> Line) -> Vec<Point> {
        let shows = |sample: &&Sample| {
            let time = sample.time.as_ps() as f64;
            time - overhead(sample.k).at(sample.k as f64) > self.noise.relative * time
        };
        let unloaded = self.samples.values().filter(|sample| sample.w == Time::ZERO).filter(shows);
        unloaded.map(|sample| (sample.k as f64, sample.time.as_ps() as f64)).collect()
    }

    /// How far the times may be from the truth: half of them no further than that.
    pub fn doubt(&self) -> f64 {
        middle(self.samples().filter_map(|sample| sample.doubt).map(|doubt| doubt.as_ps() as f64))
    }

    /// Whether nearly all of them were measured.
    pub fn held(&self) -> bool {
        let noise = Time::from_ps(self.noise.absolute as i64);
        let is_held = |&&Sample { time, doubt, .. }: &&Sample| Reading { time, doubt, noise }.is_held();
        10 * self.samples().filter(is_held).count() >= 9 * self.samples.len()
    }

    /// How far the round trips of a machine are from these, each as a part of it: that of the middle, and the farthest with
    /// its sample.
    pub fn misses(&self, params: &Params) -> Option<(f64, f64, Sample)> {
        let miss = |sample: &Sample| {
            let model = RoundTrip::of(params, sample.k).time(sample.w).as_ps() as f64;
            let time = sample.time.as_ps() as f64;
            (model - time).abs() / time.max(1.0)
        };
        let worst =
            self.samples().map(|sample| (miss(sample), *sample)).max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((middle(self.samples().map(miss)), worst.0, worst.1))
    }
}

#[cfg(test)]
mod tests {
    use loggp::{NS, US};

    use super::*;

    #[test]
    fn round_trips_are_held_if_nearly_all_are_known_to_a_hundredth() {
        let held = |doubts: &[Option<Time>]| {
            let mut trips = RoundTrips::new(Noise { absolute: 50e3, relative: 0.02 });
            for (k, doubt) in doubts.iter().copied().enumerate() {
                trips.add(Sample { k, w: Time::ZERO, time: 28 * US, doubt });
            }
            trips.held()
        };
        let (good, far, unknown) = (Some(280 * NS), Some(281 * NS), None);
        assert!(held(&[good; 10]) && !held(&[far; 10]) && !held(&[unknown; 10]));
        for bad in [far, unknown] {
            let mut doubts = [good; 10];
            doubts[3] = bad;
            assert!(held(&doubts));
            doubts[7] = bad;
            assert!(!held(&doubts));
        }
    }
}
