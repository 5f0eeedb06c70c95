//! The parameters that explain best what was measured.
//!
//! What LogGPS says of a message, a flood and an exchange is a closed form (`said`), and a search over the parameters makes its
//! relative errors small, all together. The forms are those of the machine's rules where nothing stalls; the
//! tests hold them against runs on the virtual clock.

use super::experiment::{CALL, FLOOD, WAY};
use loggp::{LogGps, ParamsBuilder, Time};

/// What was measured with messages of k words, in ns, by kind; what was not is not a number.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub k: usize,
    /// How many messages a flood has.
    pub messages: usize,
    pub times: [f64; 4],
}

/// Parameters that are looked for, in ns.
#[derive(Clone, Copy, Debug)]
pub struct Guess {
    pub times: [f64; 8],
    /// Lengths in words.
    pub s: usize,
    pub S: usize,
    /// Whether a processor has a port for each direction.
    pub dual: bool,
}

/// The parameters by their places in a guess.
pub const NAMES: [&str; 8] = ["L", "o", "g", "R", "O_s", "O_r", "G_s", "G_l"];

impl Guess {
    /// What it says of messages of k words: a call of a send, half a round trip, a step of a flood and an exchange.
    pub fn said(&self, k: usize, messages: usize) -> [f64; 4] {
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
            // Messages pass by each other at the port, if there is time for both. The last one of the other side goes first.
            let exchange = (way + (n - 1.0) * way.max(step).max(stream + both)) / n;
            return [T1, way, flood(step, way), exchange];
        }
        // A request, a reply, and then the data, which meet at the port each time. The next request goes while data are under way.
        let T1 = o + words * O_s + R;
        let agreed = 4.0 * o + 2.0 * L;
        let way = agreed + T1 + T2 + T3;
        let step = T1 + (T2 + T3).max(o + L) + 3.0 * o + L;
        [agreed + T1, way, flood(step, way), way + both * (n - 1.0) / n]
    }

    /// How wrong it is of all that was measured. A call counts for less: what it leaves to do later is no overhead that
    /// LogGPS knows.
    fn cost(&self, points: &[Point]) -> f64 {
        const WEIGHTS: [f64; 4] = [0.2, 1.0, 1.0, 1.0];
        let wrong = |point: &Point| {
            let said = self.said(point.k, point.messages);
            let each = WEIGHTS.iter().zip(said.iter().zip(point.times));
            let known = each.filter(|(_, (_, time))| time.is_finite());
            known.map(|(weight, (said, time))| weight * (said.max(1e-3) / time).ln().abs()).sum::<f64>()
        };
        points.iter().map(wrong).sum()
    }

    /// A machine with these parameters, and for the rest what a builder has.
    pub fn set(&self, builder: ParamsBuilder) -> ParamsBuilder {
        let [L, o, g, R, O_s, O_r, G_s, G_l] = self.times.map(|ns| Time::from_ps((ns * 1e3).round() as i64));
        let gps = LogGps { s: self.s, S: self.S, O_s, O_r, G_s, G_l };
        builder.L(L).o(o).g(g).R(R).gps(gps)
    }

    /// The same machine from points of another time.
    pub fn again(self, points: &[Point]) -> Guess {
        self.improved(points).1
    }

    /// The nearest that steps up and down, and from one parameter to another, lead to.
    fn improved(mut self, points: &[Point]) -> (f64, Guess) {
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

/// The best guess for points from the shortest message to the longest, of a machine whose messages above S words wait.
pub fn fit(points: &[Point], S: usize) -> Guess {
    let short = points[0].times;
    // The search goes downhill only, so it begins with a word's time at either end, and under way.
    let long = points[points.len() - 1];
    let word = long.times[WAY] / long.k as f64;
    let starts = [[word, 0.0, 0.0], [0.0, word, 0.0], [0.0, 0.0, word]]
        .map(|[O_s, O_r, G]| [0.0, short[CALL].min(short[WAY] / 2.0), short[FLOOD], 0.0, O_s, O_r, G, G]);
    let [one, two] = [false, true].map(|dual| {
        let ends = points.iter().map(|point| point.k).chain([S]);
        let tries = ends.flat_map(|s| starts.map(|times| Guess { times, s, S, dual }));
        let found = tries.map(|guess| guess.improved(points));
        found.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there is a length")
    });
    // Where no bytes are under way alone, both say the same.
    if one.0 < 0.9 * two.0 { one.1 } else { two.1 }
}
