//! Fits the parameters that explain the measured times best.
//!
//! LogGPS has closed forms for a message, a flood and an exchange (`predicted_times`). A search over the
//! parameters makes the sum of its relative errors small. The forms are those of the machine's rules where
//! nothing stalls; the tests compare them with runs on the virtual clock.

use loggp::params::LogGps;
use loggp::{ParamsBuilder, Time};

use super::experiment::{CALL, FLOOD, WAY};

/// Times measured with messages of k words, in ns, by kind; those that were not measured are NaN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasuredPoint {
    pub k: usize,
    /// Number of messages of a flood.
    pub messages: usize,
    pub times: [f64; 4],
}

/// A guess of the parameters, times in ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess {
    pub times: [f64; 8],
    /// Lengths in words.
    pub s: usize,
    pub S: usize,
    /// True if a processor has a port for each direction.
    pub dual: bool,
}

/// Names of the times in a guess.
pub(super) const NAMES: [&str; 8] = ["L", "o", "g", "R", "O_s", "O_r", "G_s", "G_l"];

impl Guess {
    /// Returns the times in ns for messages of k words: the call of a send, half a round trip, and a step of
    /// a flood and of an exchange.
    pub(crate) fn predicted_times(&self, k: usize, messages: usize) -> [f64; 4] {
        let [L, o, g, R, O_s, O_r, G_s, G_l] = self.times;
        let words = k as f64;
        let in_first = k.min(self.s) as f64;
        let stream = in_first * G_s + (words - in_first) * G_l;
        let (T2, T3) = (stream + L, o + words * O_r);
        let short = 2.0 * o + L; // the word that ends a flood
        let both = if self.dual { 0.0 } else { stream };
        let n = messages as f64;
        let flood = |step: f64, way: f64| ((n - 1.0) * step + way + short) / n;
        if k <= self.S {
            let T1 = o + words * O_s;
            let way = T1 + T2 + T3;
            let step = T1.max(stream + g).max(T3).max(g);
            // Messages in both directions take turns at the port, if there is time for both. The last one of
            // the other side goes first.
            let exchange = (way + (n - 1.0) * way.max(step).max(stream + both)) / n;
            return [T1, way, flood(step, way), exchange];
        }
        // A request, a reply, and then the data, which meet at the port each time. The next request goes
        // while data are under way.
        let T1 = o + words * O_s + R;
        let agreed = 4.0 * o + 2.0 * L;
        let way = agreed + T1 + T2 + T3;
        let step = T1 + (T2 + T3).max(o + L) + 3.0 * o + L;
        [agreed + T1, way, flood(step, way), way + both * (n - 1.0) / n]
    }

    /// Returns the weighted sum of the relative errors. A call counts for less: the part of its work that it
    /// defers is no overhead of LogGPS.
    fn cost(&self, points: &[MeasuredPoint]) -> f64 {
        const WEIGHTS: [f64; 4] = [0.2, 1.0, 1.0, 1.0];
        let wrong = |point: &MeasuredPoint| {
            let predicted = self.predicted_times(point.k, point.messages);
            let each = WEIGHTS.iter().zip(predicted.iter().zip(point.times));
            let known = each.filter(|(_, (_, time))| time.is_finite());
            known
                .map(|(weight, (predicted, time))| weight * (predicted.max(1e-3) / time).ln().abs())
                .sum::<f64>()
        };
        points.iter().map(wrong).sum()
    }

    /// Sets these parameters in a builder.
    pub(crate) fn set(&self, builder: ParamsBuilder) -> ParamsBuilder {
        let [L, o, g, R, O_s, O_r, G_s, G_l] = self.times.map(ns);
        let gps = LogGps { s: self.s, S: self.S, O_s, O_r, G_s, G_l };
        builder.L(L).o(o).g(g).R(R).gps(gps)
    }

    /// Fits again, from this guess, to points of another measurement.
    pub(crate) fn refit(self, points: &[MeasuredPoint]) -> Guess {
        self.refine(points).1
    }

    /// Improves the guess by steps up and down, and from one parameter to another. Returns its cost and the
    /// guess.
    fn refine(mut self, points: &[MeasuredPoint]) -> (f64, Guess) {
        let (short, long) = (points[0].times[WAY], points[points.len() - 1]);
        let word = long.times[WAY] / long.k as f64;
        let scale = [short, short, short, 10.0 * short, word, word, word, word];
        let mut best = self.cost(points);
        let mut step = 0.5;
        while step > 1e-3 {
            let before = best;
            for (up, down) in (0..8).flat_map(|i| (0..9).map(move |j| (i, j))) {
                for by in [step, -step] {
                    let mut other = self;
                    other.times[up] = (other.times[up] + by * scale[up]).max(0.0);
                    if down < 8 && down != up {
                        other.times[down] = (other.times[down] - by * scale[down]).max(0.0);
                    }
                    let cost = other.cost(points);
                    if cost < best {
                        (best, self) = (cost, other);
                    }
                }
            }
            if best > 0.99 * before {
                step /= 2.0;
            }
        }
        (best, self)
    }
}

pub(super) fn ns(ns: f64) -> Time {
    Time::from_ps((ns * 1e3).round() as i64)
}

/// Returns the best guess for points in order of length, on a machine whose messages above S words wait.
pub(crate) fn fit(points: &[MeasuredPoint], S: usize) -> Guess {
    let short = points[0].times;
    // The search goes only downhill, so it begins with a word's time at the sender, at the receiver, and
    // under way.
    let long = points[points.len() - 1];
    let word = long.times[WAY] / long.k as f64;
    let starts = [[word, 0.0, 0.0], [0.0, word, 0.0], [0.0, 0.0, word]]
        .map(|[O_s, O_r, G]| [0.0, short[CALL].min(short[WAY] / 2.0), short[FLOOD], 0.0, O_s, O_r, G, G]);
    let [one, two] = [false, true].map(|dual| {
        let ends = points.iter().map(|point| point.k).chain([S]);
        let tries = ends.flat_map(|s| starts.map(|times| Guess { times, s, S, dual }));
        let found = tries.map(|guess| guess.refine(points));
        found.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there is a length")
    });
    // Where no bytes are under way alone, both say the same.
    if one.0 < 0.9 * two.0 { one.1 } else { two.1 }
}
