//! Measures round trips where they say most: lengths ever longer, then closer and closer around the jump at S and the bend at
//! s, and some in between for the lines.

use std::time::{Duration, Instant};

use loggp::{Cause, ClockKind, MS, RunError, Time};

use super::equations::{Bracket, brackets};
use super::line::Noise;
use super::round_trips::{RoundTrips, Sample};
use crate::calibration::lab::Lab;

/// The longest message that is tried, in words.
const MOST_WORDS: usize = 1 << 24;
/// And on the wall clock.
const MOST_WORDS_MEASURED: usize = 1 << 18;
/// On the wall clock nothing longer is tried than what takes so long.
const LONG_ENOUGH: Time = Time::from_ps(8 * MS.as_ps());
/// So long the runs that were late are run again.
const PATIENCE: Duration = Duration::from_secs(15);
/// On the wall clock two values this near to each other are the same.
const NOISE: f64 = 0.02;
/// Shorter messages are too alike to be tried on the wall clock.
const SHORT: usize = 64;

/// Round trips on a machine that nothing is known of.
pub fn measure(lab: &mut Lab) -> Result<RoundTrips, RunError> {
    let noise = match lab.clock {
        ClockKind::Virtual => Noise::NONE,
        _ => Noise { absolute: lab.noise.as_ps() as f64, relative: NOISE },
    };
    lab.patience = Instant::now() + PATIENCE;
    // A first round trip says how long a processor should rest.
    let empty = lab.imbalanced(0, Time::ZERO)?.time;
    lab.rest_for(empty / 4);
    let mut search = Search { lab, trips: RoundTrips::new(noise) };
    search.grow()?;
    search.narrow(|(S, _)| S, 1)?;
    search.narrow(|(_, s)| s, search.resolution())?;
    search.fill()?;
    Ok(search.trips)
}

/// A search that is under way.
struct Search<'l> {
    /// Where round trips are measured.
    lab: &'l mut Lab,
    /// Those that were.
    trips: RoundTrips,
}

impl Search<'_> {
    /// Measures round trips of one length, without an imbalance and with a long one. Returns whether the machine has
    /// messages of that length.
    fn measure(&mut self, k: usize) -> Result<bool, RunError> {
        if self.trips.free(k).is_some() {
            return Ok(true);
        }
        let mut w = Time::ZERO;
        for _ in 0..2 {
            let reading = match self.lab.imbalanced(k, w) {
                Err(error) if matches!(error.cause, Cause::TooLong { .. } | Cause::EndOfTime { .. }) => {
                    return Ok(false);
                }
                reading => reading?,
            };
            self.trips.add(Sample { k, w, time: reading.time, doubt: reading.doubt });
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
            if !self.measure(k)? {
                refused = Some(k);
                break;
            }
            if is_wall && self.trips.free(k).is_some_and(|time| time > LONG_ENOUGH) {
                break;
            }
            k = match k {
                8.. => 2 * k,
                1.. if is_wall => 8 * k,
                _ => k + 1,
            };
        }
        // What is refused is not far above what is not.
        while let Some(too_long) = refused {
            let last = self.trips.lengths().last().copied().unwrap_or(0);
            let middle = last + (too_long - last) / 2;
            if middle == last || is_wall && 8 * (too_long - last) < last {
                break;
            }
            refused = if self.measure(middle)? { refused } else { Some(middle) };
        }
        Ok(())
    }

    /// Measures between two neighbours until they are that near to each other.
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
            self.measure(before + (after - before) / 2)?;
        }
        Ok(())
    }

    /// How near to the bend it is worth to look: where both lines are well known, they meet there.
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
                    self.measure(k)?;
                }
            }
        }
        Ok(())
    }
}
