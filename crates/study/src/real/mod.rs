//! Calibration of a real machine: LogGPS's parameters from round trips, floods and exchanges between two processors, through
//! the same calls as programs; and again for each level that the places of its processes show.
//!
//! First round trips show S, above which a message costs more than length explains. From then on the machine has that S, so
//! that its messages ask as those of programs will. A fit over every other length gives the rest, and the lengths in
//! between show what it is worth.

mod experiment;
mod fit;
mod place;

use std::iter::once;
use std::ops::RangeInclusive;
use std::sync::Arc;

use loggp::{Level, Link, LogGps, Machine, Params, ParamsBuilder, Ports, RunError, Time, Work};

pub use experiment::{CALL, EXCHANGE, Experiment, FLOOD, LONG, WAY};
use fit::{Guess, NAMES};
pub(crate) use fit::{Point, fit};
pub use place::{Grouped, Placed, groups, places};

use super::calibration::reading::Middle;
use loggp_programs::math::median::median;

/// What was measured with messages of one length.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Which messages.
    pub of: Experiment,
    /// The medians of [`CALL`], [`WAY`], [`FLOOD`] and [`EXCHANGE`], and how far from each the truth may be.
    pub times: [(Time, Time); 4],
    /// What the parameters say.
    pub said: [Time; 4],
    /// Whether the parameters come from it; if not, it shows what they are worth.
    pub fitted: bool,
}

impl Measured {
    /// By how much the parameters miss a kind of time, as a part of it.
    pub fn error(&self, kind: usize) -> f64 {
        self.said[kind].as_ns() / self.times[kind].0.as_ns() - 1.0
    }
}

/// A level of a real machine, as LogGPS sees it.
#[derive(Clone, Debug)]
pub struct Real {
    /// The processor with which processor 0 measured it.
    pub other: usize,
    /// Its parameters, with words of 8 bytes.
    pub params: Params,
    /// Whether what a processor sends and what it receives share a port.
    pub ports: Ports,
    /// By how much each time differs when it is measured again.
    pub doubts: Vec<(&'static str, Time)>,
    /// From what they come.
    pub measured: Vec<Measured>,
    /// Whether half a round trip is shorter than two overheads.
    pub overlaps: bool,
}

/// Bytes in a word.
const WORD: usize = 8;
/// Longer messages are measured less often.
const LONGER: usize = 1 << 20;
/// The longest message.
const LONGEST: usize = 16 << 20;
/// How often all is measured.
const ROUNDS: usize = 5;

impl Real {
    /// Measures a machine, level by level from the outermost: groups of so many processes each, of which the first is all.
    /// All processes must call it.
    pub fn study(link: &Arc<dyn Link>, groups: &[usize]) -> Result<Vec<Real>, RunError> {
        // The first processors of two groups have nothing nearer in common.
        let others = groups.iter().skip(1).chain([&1]);
        let levels = groups.iter().zip(others);
        levels.map(|(&P, &other)| Real::measure(link, P, other)).collect()
    }

    /// It as a level within a machine.
    pub fn level(&self) -> Level {
        Level::new(self.params).ports(self.ports)
    }

    /// Measures groups of P processes by what processor 0 and another say.
    fn measure(link: &Arc<dyn Link>, P: usize, other: usize) -> Result<Real, RunError> {
        let with = |S: usize| {
            let [O_s, O_r, G_s, G_l] = [Time::ZERO; 4];
            let gps = LogGps { s: S, S, O_s, O_r, G_s, G_l };
            let params = Params::builder(link.p()).word(WORD).gps(gps).build()?;
            Ok::<_, RunError>(Machine::new(params).over(link.clone()))
        };
        let run = |machine: &Machine, of: Experiment, which: &[usize], repeats: usize| {
            let repeats = match of.bytes {
                ..LONG => 3 * repeats,
                LONG..=LONGER => repeats,
                _ => repeats / 2,
            };
            let run = machine.run_across(|p| of.run(p, other, which, 3, repeats))?;
            Ok::<_, RunError>(run.results.into_iter().next().expect("processor 0 has times"))
        };
        let free = with(Params::NO_LIMIT)?;
        let way = |bytes: usize| {
            let times = run(&free, Experiment { bytes, cold: false }, &[WAY], 25)?;
            Ok::<_, RunError>(median(&times[WAY]).as_ns())
        };
        let S = match threshold(way)? {
            Some(bytes) => bytes / WORD,
            None => Params::NO_LIMIT,
        };
        let machine = with(S)?;
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let all = experiments().map(|of| run(&machine, of, &[WAY, FLOOD, EXCHANGE], 9));
            rounds.push(all.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(Real::of(rounds, S, P, other))
    }

    /// How far the parameters are from the floods and exchanges of lengths that were not fitted, short or long ones: in the
    /// middle, and the farthest.
    pub fn held_out(&self, long: bool) -> (f64, f64) {
        let rows =
            self.measured.iter().filter(|it| !it.fitted && !it.of.cold && (it.of.bytes >= LONG) == long);
        let mut errors: Vec<f64> =
            rows.flat_map(|it| [FLOOD, EXCHANGE].map(|kind| it.error(kind).abs())).collect();
        errors.sort_by(f64::total_cmp);
        (errors[errors.len() / 2], errors[errors.len() - 1])
    }

    /// The parameters that explain what was measured in several rounds.
    fn of(rounds: Vec<Vec<experiment::Times>>, S: usize, P: usize, other: usize) -> Real {
        // Those in between show what the parameters are worth.
        let fitted = |of: Experiment| of.bytes.is_power_of_two() && !of.cold;
        let points = |rounds: &[Vec<experiment::Times>]| {
            let fitted = experiments().enumerate().filter(|(_, of)| fitted(*of));
            let point = |(place, of): (usize, Experiment)| {
                let time = |kind: usize| median_of(rounds, place, kind).0.as_ns();
                Point { k: of.bytes.div_ceil(WORD), messages: of.messages(), times: [0, 1, 2, 3].map(time) }
            };
            fitted.map(point).collect::<Vec<_>>()
        };
        let points_of_all = points(&rounds);
        let best = fit(&points_of_all, S);
        let params = best.set(Params::builder(P).word(WORD)).build().expect("no time is below 0");
        let ports = if best.dual { Ports::Dual } else { Ports::Single };
        let others: Vec<Guess> =
            rounds.iter().map(|round| best.again(&points(std::slice::from_ref(round)))).collect();
        let doubt = |i: usize| {
            let mut times: Vec<Time> = others.iter().map(|guess| ns(guess.times[i])).collect();
            let middle = Middle::of(&mut times).expect("there are rounds");
            (NAMES[i], middle.high - middle.low)
        };
        let measured = experiments().enumerate().map(|(place, of)| Measured {
            of,
            times: [0, 1, 2, 3].map(|kind| median_of(&rounds, place, kind)),
            said: says(params, ports, of),
            fitted: fitted(of),
        });
        let [call, way, ..] = points_of_all[0].times;
        Real {
            other,
            params,
            ports,
            doubts: (0..NAMES.len()).map(doubt).collect(),
            measured: measured.collect(),
            overlaps: way < 2.0 * call,
        }
    }
}

fn ns(ns: f64) -> Time {
    Time::from_ps((ns * 1e3).round() as i64)
}

/// All that is measured. A short message is written when it is sent, and never cold.
fn experiments() -> impl Iterator<Item = Experiment> {
    let doubled = || std::iter::successors(Some(1), |bytes| Some(2 * bytes)).take_while(|n| *n < LONGEST);
    let lengths = || once(1).chain(doubled().flat_map(|n| [2 * n, 3 * n])).filter(|n| *n <= LONGEST);
    let warm = lengths().map(|bytes| Experiment { bytes, cold: false });
    warm.chain(lengths().filter(|bytes| *bytes >= LONG).map(|bytes| Experiment { bytes, cold: true }))
}

/// The median of a kind of times over rounds, and how far from it the truth may be.
fn median_of(rounds: &[Vec<experiment::Times>], place: usize, kind: usize) -> (Time, Time) {
    let mut times: Vec<Time> = rounds.iter().flat_map(|round| &round[place][kind]).copied().collect();
    let middle = Middle::of(&mut times).expect("it was measured");
    (middle.median, middle.doubt())
}

/// What a machine with these parameters takes, as the virtual clock has it.
fn says(params: Params, ports: Ports, of: Experiment) -> [Time; 4] {
    let two = ParamsBuilder::from(params).P(2).build().expect("any machine may have two");
    let machine = Machine::new(two).ports(ports).work(Work::Charged);
    let of = Experiment { cold: false, ..of };
    let run = machine.run(|p| of.run(p, 1, &[WAY, FLOOD, EXCHANGE], 0, 1));
    let times = run.expect("two processors send and receive").results.swap_remove(0);
    times.map(|times| times[0])
}

/// What is left of the longer one's time when all that its length explains is taken off.
fn left((shorter, below): (usize, f64), (longer, above): (usize, f64)) -> f64 {
    above - below * longer as f64 / shorter as f64
}

/// Where messages begin to wait for their receivers, by half a round trip of some lengths: how high it jumps, the last length before
/// that with its time, and the first one behind. A message that is longer by some never takes longer by more than that,
/// unless something new begins; of several such jumps the highest is that of an agreement. Nothing if there is none.
pub(crate) fn jump(ways: &[(usize, f64)]) -> Option<(f64, (usize, f64), usize)> {
    /// No library has longer messages that do not wait, nor waits for shorter ones.
    const WAITS: RangeInclusive<usize> = 64..=128 << 10;
    let pairs = ways.windows(2).filter(|pair| pair.iter().all(|(bytes, _)| WAITS.contains(bytes)));
    let jumps = pairs.map(|pair| (left(pair[0], pair[1]), pair[0], pair[1].0));
    jumps.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(height, ..)| *height > 0.0)
}

/// The longest message that does not wait for its receiver, in bytes, by half a round trip of so many bytes.
fn threshold<E>(mut way: impl FnMut(usize) -> Result<f64, E>) -> Result<Option<usize>, E> {
    const STEPS: usize = 6;
    let mut times = Vec::new();
    for of in experiments().filter(|of| !of.cold && of.bytes <= 128 << 10) {
        times.push((of.bytes, way(of.bytes)?));
    }
    let Some((height, from, mut first)) = jump(&times) else { return Ok(None) };
    let mut last = from.0;
    for _ in 0..STEPS {
        let middle = last.midpoint(first);
        if left(from, (middle, way(middle)?)) < height / 2.0 { last = middle } else { first = middle }
    }
    Ok(Some(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machines of which no part hides another.
    fn guesses() -> Vec<Guess> {
        let of = |times: [f64; 8], s, S| [false, true].map(|dual| Guess { times, s, S, dual });
        [
            of([100.0, 300.0, 400.0, 2000.0, 0.6, 0.1, 2.0, 1.0], 64, 512),
            of([0.0, 250.0, 300.0, 2500.0, 0.7, 0.0, 0.0, 0.9], 1 << 18, 500),
            of([1500.0, 200.0, 350.0, 0.0, 0.0, 0.3, 1.5, 1.5], 128, Params::NO_LIMIT),
        ]
        .concat()
    }

    /// What the closed forms say is what the machine's rules say, for the same program.
    #[test]
    fn the_forms_are_the_rules() {
        for guess in guesses() {
            let ports = if guess.dual { Ports::Dual } else { Ports::Single };
            let params = guess.set(Params::builder(2).word(WORD)).build().unwrap();
            for bytes in [1, 64, 1000, 3000, 6 << 10, 200 << 10, 1 << 20] {
                let of = Experiment { bytes, cold: false };
                let forms = guess.said(params.words(bytes), of.messages());
                let rules = says(params, ports, of).map(Time::as_ns);
                for kind in [CALL, WAY, FLOOD, EXCHANGE] {
                    // At one port messages of an exchange meet or not, as the barrier before let their senders go.
                    let share = if kind == EXCHANGE && !guess.dual { 0.25 } else { 0.05 };
                    let near = (forms[kind] / rules[kind] - 1.0).abs() < share;
                    assert!(near, "{bytes} bytes, {kind}: {} and {} on {guess:?}", forms[kind], rules[kind]);
                }
            }
        }
    }

    /// A machine that follows the rules is found, up to what shows in none of its times.
    #[test]
    fn a_machine_is_found_by_its_times() {
        for set in guesses() {
            let point = |of: Experiment| {
                let (k, messages) = (of.bytes.div_ceil(WORD), of.messages());
                Point { k, messages, times: set.said(k, messages) }
            };
            let of = |fitted: bool| {
                experiments().filter(move |of| !of.cold && of.bytes.is_power_of_two() == fitted).map(point)
            };
            let found = fit(&of(true).collect::<Vec<_>>(), set.S);
            for Point { k, messages, times } in of(false) {
                for (kind, said) in found.said(k, messages).into_iter().enumerate() {
                    let error = said / times[kind] - 1.0;
                    assert!(
                        kind == CALL || error.abs() < 0.15,
                        "{k} words, {kind}: {error} on {found:?} for {set:?}"
                    );
                }
            }
        }
    }

    /// The agreement's jump is found where a lower one is too, and between the lengths that are tried first.
    #[test]
    fn messages_that_wait_are_found_by_a_jump() {
        let way = |S: usize| {
            move |bytes: usize| {
                let behind = if bytes >= LONG { 1000.0 } else { 0.0 };
                let agreed = if bytes > S { 3000.0 } else { 0.0 };
                Ok::<_, ()>(500.0 + 0.1 * bytes as f64 + behind + agreed)
            }
        };
        for S in [3000, 10_000, 65_536] {
            let found = threshold(way(S)).unwrap().unwrap();
            assert!(found <= S && S - found <= S / 64, "{found} for {S}");
        }
        assert_eq!(threshold(|bytes| Ok::<_, ()>(500.0 + bytes as f64)).unwrap(), None);
    }
}
