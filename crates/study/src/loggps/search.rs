//! Measures round trips at the lengths that say most: ever longer ones, then closer and closer ones around
//! the jump at S and the bend at s, and some in between for the lines.

use std::time::{Duration, Instant};

use loggp::{Cause, ClockKind, MS, RunError, Time};

use super::equations::{Bracket, brackets};
use super::line::NoiseBound;
use super::round_trips::{RoundTripSample, RoundTripSamples};
use crate::calibration::lab::CalibrationLab;

/// Longest message that is tried, in words.
const MOST_WORDS: usize = 1 << 24;
/// Longest message that is tried on the wall clock, in words.
const MOST_WORDS_MEASURED: usize = 1 << 18;
/// On the wall clock no longer messages are tried after a round trip of this time.
const LONG_ENOUGH: Time = Time::from_ps(8 * MS.as_ps());
/// Time for which late runs are repeated.
const PATIENCE: Duration = Duration::from_secs(15);
/// Relative deviation up to which two values on the wall clock count as equal.
const NOISE: f64 = 0.02;
/// Least difference of lengths in words that is resolved on the wall clock.
const SHORT: usize = 64;

/// Measures round trips on an unknown machine.
pub(super) fn measure_round_trips(lab: &mut CalibrationLab) -> Result<RoundTripSamples, RunError> {
    let noise = match lab.clock {
        ClockKind::Virtual => NoiseBound::NONE,
        _ => NoiseBound { absolute: lab.noise.as_ps() as f64, relative: NOISE },
    };
    lab.patience = Instant::now() + PATIENCE;
    // A first round trip says how long a processor should rest.
    let empty = lab.round_trip([0, 0], Time::ZERO)?.time;
    lab.set_rest(empty / 4);
    let mut search = RoundTripSearch { lab, trips: RoundTripSamples::new(noise) };
    search.grow()?;
    search.narrow(|(S, _)| S, 1)?;
    search.narrow(|(_, s)| s, search.resolution())?;
    search.fill()?;
    Ok(search.trips)
}

/// The state of a search.
struct RoundTripSearch<'l> {
    lab: &'l mut CalibrationLab,
    /// Round trips so far.
    trips: RoundTripSamples,
}

impl RoundTripSearch<'_> {
    /// Measures round trips of one length, without an imbalance and with a long one. Returns whether the
    /// machine has messages of that length.
    fn measure_length(&mut self, k: usize) -> Result<bool, RunError> {
        if self.trips.unloaded_time(k).is_some() {
            return Ok(true);
        }
        let mut w = Time::ZERO;
        for _ in 0..2 {
            let reading = match self.lab.round_trip([k, k], w) {
                Err(error) if matches!(error.cause, Cause::TooLong { .. } | Cause::EndOfTime { .. }) => {
                    return Ok(false);
                }
                reading => reading?,
            };
            self.trips.add(RoundTripSample { k, w, time: reading.time, doubt: reading.doubt });
            w = reading.time + reading.time / 8 + self.lab.noise + loggp::PS;
        }
        Ok(true)
    }

    /// Tries ever longer messages, until they are refused or long enough.
    fn grow(&mut self) -> Result<(), RunError> {
        let is_wall = self.lab.clock == ClockKind::Wall;
        let most = if is_wall { MOST_WORDS_MEASURED } else { MOST_WORDS };
        let (mut k, mut refused) = (0, None);
        while k <= most {
            if !self.measure_length(k)? {
                refused = Some(k);
                break;
            }
            if is_wall && self.trips.unloaded_time(k).is_some_and(|time| time > LONG_ENOUGH) {
                break;
            }
            k = match k {
                8.. => 2 * k,
                1.. if is_wall => 8 * k,
                _ => k + 1,
            };
        }
        // Narrow the gap between the longest accepted and the shortest refused length.
        while let Some(too_long) = refused {
            let last = self.trips.lengths().last().copied().unwrap_or(0);
            let middle = last + (too_long - last) / 2;
            if middle == last || is_wall && 8 * (too_long - last) < last {
                break;
            }
            refused = if self.measure_length(middle)? { refused } else { Some(middle) };
        }
        Ok(())
    }

    /// Measures between two neighbouring lengths until they are at most `resolution` apart.
    fn narrow(
        &mut self,
        which: impl Fn((Bracket, Bracket)) -> Bracket,
        resolution: usize,
    ) -> Result<(), RunError> {
        const MOST_STEPS: usize = 64;
        for _ in 0..MOST_STEPS {
            let Some((before, after)) = which(brackets(&self.trips)) else { break };
            if after - before <= resolution.max(before / 64 * usize::from(resolution > 1)) {
                break;
            }
            self.measure_length(before + (after - before) / 2)?;
        }
        Ok(())
    }

    /// Returns the resolution at the bend in words: where both lines are well known, they meet there.
    fn resolution(&self) -> usize {
        if self.lab.clock == ClockKind::Virtual { 1 } else { SHORT }
    }

    /// Measures some lengths in each part of the curves.
    fn fill(&mut self) -> Result<(), RunError> {
        const PARTS: usize = 5;
        let (S, s) = brackets(&self.trips);
        let lengths = self.trips.lengths();
        let longest = lengths.last().copied().unwrap_or(0);
        let mut ends = vec![0];
        ends.extend([s, S].into_iter().flatten().flat_map(|(before, after)| [before, after]));
        ends.push(S.map_or(longest, |(_, after)| longest.min(4 * after)));
        ends.sort_unstable();
        for pair in ends.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            for part in 1..PARTS {
                let k = from + (to - from) * part / PARTS;
                if to - from > SHORT {
                    self.measure_length(k)?;
                }
            }
        }
        Ok(())
    }
}
