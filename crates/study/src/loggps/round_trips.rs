//! Round-trip times that were measured, here or elsewhere, and their two curves: without an imbalance, and
//! behind one that is long enough to hide the network.

use std::collections::BTreeMap;

use loggp::{Params, Time};
use loggp_programs::rtt::RoundTrip;

use super::line::{CurvePoint, FittedLine, NoiseBound, median_or_zero};
use crate::calibration::reading::Reading;

/// A measured round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTripSample {
    /// Length of its messages, in words.
    pub k: usize,
    /// Time that the first processor computed meanwhile.
    pub w: Time,
    /// Time that it took: the median, if it was measured more than once.
    pub time: Time,
    /// Uncertainty of the time; `None` if it is not known.
    pub doubt: Option<Time>,
}

/// All round trips that were measured on a machine.
#[derive(Clone, Debug)]
pub struct RoundTripSamples {
    /// Round trips by length and imbalance.
    samples: BTreeMap<(usize, Time), RoundTripSample>,
    /// Bound on the deviation of the times.
    pub noise: NoiseBound,
}

impl RoundTripSamples {
    pub fn new(noise: NoiseBound) -> RoundTripSamples {
        RoundTripSamples { samples: BTreeMap::new(), noise }
    }

    /// Adds a round trip, in place of one with the same length and imbalance.
    pub fn add(&mut self, sample: RoundTripSample) {
        self.samples.insert((sample.k, sample.w), sample);
    }

    /// Returns all round trips, by length and then by imbalance.
    pub fn samples(&self) -> impl Iterator<Item = &RoundTripSample> {
        self.samples.values()
    }

    /// Returns the time without an imbalance.
    pub fn unloaded_time(&self, k: usize) -> Option<Time> {
        self.samples.get(&(k, Time::ZERO)).map(|sample| sample.time)
    }

    /// Returns the measured lengths, from the shortest.
    pub fn lengths(&self) -> Vec<usize> {
        let mut lengths: Vec<usize> = self.samples.keys().map(|(k, _)| *k).collect();
        lengths.dedup();
        lengths
    }

    /// Returns by length the time of a round trip less its imbalance, where that is long, so that only
    /// overhead is left. An imbalance is long if the round trip takes longer than without.
    pub fn loaded(&self) -> Vec<CurvePoint> {
        let longest = |k: usize| self.samples.range((k, Time::ZERO)..=(k, Time::MAX)).next_back();
        let loaded = |k: usize| {
            let (_, sample) = longest(k).filter(|((_, w), _)| *w > Time::ZERO)?;
            let shortest = self.unloaded_time(k).map_or(Time::ZERO, |free| free);
            let slack = self.noise.relative * shortest.as_ps() as f64;
            let is_long = (sample.time - shortest).as_ps() as f64 > slack;
            is_long.then(|| (k as f64, (sample.time - sample.w).as_ps() as f64))
        };
        self.lengths().into_iter().filter_map(loaded).collect()
    }

    /// Returns by length the time without an imbalance, where more than overhead is left. `overhead` returns
    /// the line of the overhead at a length.
    pub fn unloaded(&self, overhead: impl Fn(usize) -> FittedLine) -> Vec<CurvePoint> {
        let shows = |sample: &&RoundTripSample| {
            let time = sample.time.as_ps() as f64;
            time - overhead(sample.k).at(sample.k as f64) > self.noise.relative * time
        };
        let unloaded = self.samples.values().filter(|sample| sample.w == Time::ZERO).filter(shows);
        unloaded.map(|sample| (sample.k as f64, sample.time.as_ps() as f64)).collect()
    }

    /// Returns the median uncertainty of the times, in picoseconds.
    pub fn doubt(&self) -> f64 {
        median_or_zero(self.samples().filter_map(|sample| sample.doubt).map(|doubt| doubt.as_ps() as f64))
    }

    /// Returns whether nearly all times are known well enough.
    pub fn is_reliable(&self) -> bool {
        let noise = Time::from_ps(self.noise.absolute as i64);
        let is_reliable = |&&RoundTripSample { time, doubt, .. }: &&RoundTripSample| {
            Reading { time, doubt, noise }.is_reliable()
        };
        10 * self.samples().filter(is_reliable).count() >= 9 * self.samples.len()
    }

    /// Returns the relative deviations of a machine's round trips from these: the median, and the greatest
    /// with its round trip.
    pub fn model_errors(&self, params: &Params) -> Option<(f64, f64, RoundTripSample)> {
        let miss = |sample: &RoundTripSample| {
            let model = RoundTrip::new(params, sample.k).time(sample.w).as_ps() as f64;
            let time = sample.time.as_ps() as f64;
            (model - time).abs() / time.max(1.0)
        };
        let worst =
            self.samples().map(|sample| (miss(sample), *sample)).max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((median_or_zero(self.samples().map(miss)), worst.0, worst.1))
    }
}

#[cfg(test)]
mod tests {
    use loggp::{NS, US};

    use super::*;

    #[test]
    fn round_trips_are_reliable_if_nearly_all_are_known_to_a_hundredth() {
        let reliable = |doubts: &[Option<Time>]| {
            let mut trips = RoundTripSamples::new(NoiseBound { absolute: 50e3, relative: 0.02 });
            for (k, doubt) in doubts.iter().copied().enumerate() {
                trips.add(RoundTripSample { k, w: Time::ZERO, time: 28 * US, doubt });
            }
            trips.is_reliable()
        };
        let (good, far, unknown) = (Some(280 * NS), Some(281 * NS), None);
        assert!(reliable(&[good; 10]) && !reliable(&[far; 10]) && !reliable(&[unknown; 10]));
        for bad in [far, unknown] {
            let mut doubts = [good; 10];
            doubts[3] = bad;
            assert!(reliable(&doubts));
            doubts[7] = bad;
            assert!(!reliable(&doubts));
        }
    }
}
