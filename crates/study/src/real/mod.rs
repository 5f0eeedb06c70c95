//! Calibration of a real machine: LogGPS's parameters from round trips, floods and exchanges between two
//! processors, through the calls that programs use; and again for each level of the machine that its
//! processes' places show.
//!
//! First, round trips show S, above which a message costs more than its length explains. Then the machine
//! gets that S, so that its messages send requests as those of programs will. A fit over every other length
//! gives the rest, and the lengths in between show how good it is.

mod expected;
mod experiment;
mod fit;
mod meeting;
mod place;
mod plan;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use loggp::link::Link;
use loggp::params::Protocol;
use loggp::{Level, Machine, Params, ParamsBuilder, Ports, RunError, Time, Work};

pub use expected::RoughMachine;
pub use experiment::{CALL, EXCHANGE, FLOOD, LONG, MessageExperiment, WAY};
use experiment::{ExperimentTimes, experiments};
use fit::{Guess, NAMES, ns};
pub(crate) use fit::{MeasuredPoint, fit};
pub use meeting::CalibrationProgress;
use meeting::Meeting;
pub use place::{ProcessGroups, ProcessPlace, nested_groups, read_places};
use plan::MeasuringPlan;

use super::calibration::reading::Quartiles;

/// The measurements with messages of one length.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredExperiment {
    pub experiment: MessageExperiment,
    /// Medians of [`CALL`], [`WAY`], [`FLOOD`] and [`EXCHANGE`], each with its uncertainty.
    pub times: [(Time, Time); 4],
    /// Times by the fitted parameters.
    pub predicted: [Time; 4],
    /// True if the parameters were fitted to the experiment; if not, the experiment tests the parameters.
    pub fitted: bool,
}

impl MeasuredExperiment {
    /// Returns the relative error of the parameters for a kind of time.
    pub fn error(&self, kind: usize) -> f64 {
        self.predicted[kind].as_ns() / self.times[kind].0.as_ns() - 1.0
    }
}

/// A level of a real machine, as LogGPS sees it.
#[derive(Clone, Debug)]
pub struct RealLevel {
    /// Processor with which processor 0 measured the level.
    pub other: usize,
    /// Parameters, with words of 8 bytes.
    pub params: Params,
    /// One port for sends and receptions of a processor, or one for each.
    pub ports: Ports,
    /// The protocol of messages that wait for their receivers, if it is known.
    pub rendezvous: Option<Protocol>,
    /// Spread of each time over repeated measurements.
    pub doubts: Vec<(&'static str, Time)>,
    /// Measurements from which the parameters come.
    pub measured: Vec<MeasuredExperiment>,
    /// True if half a round trip is shorter than two overheads.
    pub has_overlap: bool,
    /// Number of rounds of all measurements.
    pub rounds: usize,
    /// Time that all measurements would have taken, if there was not enough.
    pub whole: Option<Time>,
}

const WORD: usize = 8;

impl RealLevel {
    /// Measures a machine level by level, from the outermost, in about this time, and tells how far it is.
    /// `groups` has the number of processes of a group of each level; the first is that of all processes. All
    /// processes must call this function.
    pub fn measure_levels(
        link: &Arc<dyn Link>,
        groups: &[usize],
        time: Duration,
        mut tell: impl FnMut(CalibrationProgress),
    ) -> Result<Vec<RealLevel>, RunError> {
        // The first processors of two groups have only this level in common.
        let others = groups.iter().skip(1).chain([&1]);
        let time = time / groups.len() as u32;
        let levels = groups.iter().zip(others);
        levels.map(|(&P, &other)| Meeting::new(link, other)?.measure(P, time, &mut tell)).collect()
    }

    /// Returns it as a level of a machine.
    pub fn level(&self) -> Level {
        Level::new(self.params).ports(self.ports)
    }

    /// Returns the median and the greatest relative error of floods and exchanges of lengths that were not
    /// fitted, either of short or of long messages; `None` if there are none.
    pub fn held_out_error(&self, long: bool) -> Option<(f64, f64)> {
        let rows = self
            .measured
            .iter()
            .filter(|it| !it.fitted && !it.experiment.cold && (it.experiment.bytes >= LONG) == long);
        let mut errors: Vec<f64> =
            rows.flat_map(|it| [FLOOD, EXCHANGE].map(|kind| it.error(kind).abs())).collect();
        errors.sort_by(f64::total_cmp);
        Some((*errors.get(errors.len() / 2)?, *errors.last()?))
    }

    /// Fits the parameters to several rounds of measurements.
    fn from_rounds(
        rounds: Vec<Vec<ExperimentTimes>>,
        plan: &MeasuringPlan,
        S: usize,
        P: usize,
        other: usize,
    ) -> RealLevel {
        let experiments = || plan.experiments.iter().copied();
        let points = |rounds: &[Vec<ExperimentTimes>]| {
            let fitted = experiments().enumerate().filter(|(_, it)| it.is_fitted());
            let point = |(index, experiment): (usize, MessageExperiment)| {
                let time = |kind: usize| median_of(rounds, index, kind).0.as_ns();
                MeasuredPoint {
                    k: experiment.bytes.div_ceil(WORD),
                    messages: experiment.messages(),
                    times: [0, 1, 2, 3].map(time),
                }
            };
            fitted.map(point).collect::<Vec<_>>()
        };
        let points_of_all = points(&rounds);
        let best = fit(&points_of_all, S);
        let params = best.set(Params::builder(P).word(WORD)).build().expect("no time is below 0");
        let ports = if best.dual { Ports::Dual } else { Ports::Single };
        let others: Vec<Guess> =
            rounds.iter().map(|round| best.refit(&points(std::slice::from_ref(round)))).collect();
        let doubt = |i: usize| {
            let mut times: Vec<Time> = others.iter().map(|guess| ns(guess.times[i])).collect();
            let middle = Quartiles::from_values(&mut times).expect("there are rounds");
            (NAMES[i], middle.high - middle.low)
        };
        let measured = experiments().enumerate().map(|(index, experiment)| MeasuredExperiment {
            experiment,
            times: [0, 1, 2, 3].map(|kind| median_of(&rounds, index, kind)),
            predicted: model_times(params, ports, experiment),
            fitted: experiment.is_fitted(),
        });
        let [call, way, ..] = points_of_all[0].times;
        RealLevel {
            other,
            params,
            ports,
            rendezvous: None,
            doubts: (0..NAMES.len()).map(doubt).collect(),
            measured: measured.collect(),
            has_overlap: way < 2.0 * call,
            rounds: rounds.len(),
            whole: plan.is_short().then(|| ns(plan.whole())),
        }
    }
}

/// Returns the median of a kind of time over the rounds, and its uncertainty.
fn median_of(rounds: &[Vec<ExperimentTimes>], index: usize, kind: usize) -> (Time, Time) {
    let mut times: Vec<Time> = rounds.iter().flat_map(|round| &round[index][kind]).copied().collect();
    let middle = Quartiles::from_values(&mut times).expect("it was measured");
    (middle.median, middle.doubt())
}

/// Returns the times of an experiment on the virtual clock with these parameters.
fn model_times(params: Params, ports: Ports, experiment: MessageExperiment) -> [Time; 4] {
    let two = ParamsBuilder::from(params).P(2).build().expect("any machine may have two");
    let machine = Machine::new(two).ports(ports).work(Work::Charged);
    let experiment = MessageExperiment { cold: false, ..experiment };
    let run = machine.run(|p| experiment.run(p, 1, &[WAY, FLOOD, EXCHANGE], 0, 1));
    let times = run.expect("two processors send and receive").results.swap_remove(0);
    times.map(|times| times[0])
}

/// Returns the part of the longer message's time that its length does not explain.
fn unexplained_time((shorter, below): (usize, f64), (longer, above): (usize, f64)) -> f64 {
    above - below * longer as f64 / shorter as f64
}

/// Finds where messages begin to wait for their receivers, from half a round trip by length: the height of
/// the jump, the last length before it with its time, and the first one after it. A longer message never
/// takes longer by more than its length explains, unless something new begins; the highest of several such
/// jumps is that of the rendezvous. `None` if there is no jump.
pub(crate) fn find_agreement_jump(ways: &[(usize, f64)]) -> Option<(f64, (usize, f64), usize)> {
    /// Lengths in bytes between which libraries begin to wait.
    const WAITS: RangeInclusive<usize> = 64..=128 << 10;
    let pairs = ways.windows(2).filter(|pair| pair.iter().all(|(bytes, _)| WAITS.contains(bytes)));
    let jumps = pairs.map(|pair| (unexplained_time(pair[0], pair[1]), pair[0], pair[1].0));
    jumps.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(height, ..)| *height > 0.0)
}

/// Returns the longest message that does not wait for its receiver, in bytes. `way` measures half a round
/// trip of a number of bytes.
fn find_threshold<E>(mut way: impl FnMut(usize) -> Result<f64, E>) -> Result<Option<usize>, E> {
    const STEPS: usize = 6;
    let mut times = Vec::new();
    for experiment in experiments().filter(|experiment| !experiment.cold && experiment.bytes <= 128 << 10) {
        times.push((experiment.bytes, way(experiment.bytes)?));
    }
    let Some((height, from, mut first)) = find_agreement_jump(&times) else { return Ok(None) };
    let mut last = from.0;
    for _ in 0..STEPS {
        let middle = last.midpoint(first);
        if unexplained_time(from, (middle, way(middle)?)) < height / 2.0 {
            last = middle
        } else {
            first = middle
        }
    }
    Ok(Some(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns machines in which no parameter hides another.
    fn guesses() -> Vec<Guess> {
        let both_ports = |times: [f64; 8], s, S| [false, true].map(|dual| Guess { times, s, S, dual });
        [
            both_ports([100.0, 300.0, 400.0, 2000.0, 0.6, 0.1, 2.0, 1.0], 64, 512),
            both_ports([0.0, 250.0, 300.0, 2500.0, 0.7, 0.0, 0.0, 0.9], 1 << 18, 500),
            both_ports([1500.0, 200.0, 350.0, 0.0, 0.0, 0.3, 1.5, 1.5], 128, Params::NO_LIMIT),
        ]
        .concat()
    }

    /// The closed forms agree with the machine's rules, for the same program.
    #[test]
    fn closed_forms_agree_with_the_machine() {
        for guess in guesses() {
            let ports = if guess.dual { Ports::Dual } else { Ports::Single };
            let params = guess.set(Params::builder(2).word(WORD)).build().unwrap();
            for bytes in [1, 64, 1000, 3000, 6 << 10, 200 << 10, 1 << 20] {
                let experiment = MessageExperiment::written(bytes);
                let forms = guess.predicted_times(params.words(bytes), experiment.messages());
                let rules = model_times(params, ports, experiment).map(Time::as_ns);
                for kind in [CALL, WAY, FLOOD, EXCHANGE] {
                    // At one port messages of an exchange meet or not, depending on when the barrier before
                    // let their senders go.
                    let share = if kind == EXCHANGE && !guess.dual { 0.25 } else { 0.05 };
                    let near = (forms[kind] / rules[kind] - 1.0).abs() < share;
                    assert!(near, "{bytes} bytes, {kind}: {} and {} on {guess:?}", forms[kind], rules[kind]);
                }
            }
        }
    }

    /// A machine that follows the rules is found, except for what shows in none of its times.
    #[test]
    fn fit_finds_a_machine_by_its_times() {
        for set in guesses() {
            let point = |experiment: MessageExperiment| {
                let (k, messages) = (experiment.bytes.div_ceil(WORD), experiment.messages());
                MeasuredPoint { k, messages, times: set.predicted_times(k, messages) }
            };
            let points = |fitted: bool| {
                experiments().filter(move |it| !it.cold && it.bytes.is_power_of_two() == fitted).map(point)
            };
            let found = fit(&points(true).collect::<Vec<_>>(), set.S);
            for MeasuredPoint { k, messages, times } in points(false) {
                for (kind, predicted) in found.predicted_times(k, messages).into_iter().enumerate() {
                    let error = predicted / times[kind] - 1.0;
                    assert!(
                        kind == CALL || error.abs() < 0.15,
                        "{k} words, {kind}: {error} on {found:?} for {set:?}"
                    );
                }
            }
        }
    }

    /// The jump of the rendezvous is found where there is a lower one too, and between the lengths that are
    /// tried first.
    #[test]
    fn threshold_is_found_by_the_jump() {
        let way = |S: usize| {
            move |bytes: usize| {
                let behind = if bytes >= LONG { 1000.0 } else { 0.0 };
                let agreed = if bytes > S { 3000.0 } else { 0.0 };
                Ok::<_, ()>(500.0 + 0.1 * bytes as f64 + behind + agreed)
            }
        };
        for S in [3000, 10_000, 65_536] {
            let found = find_threshold(way(S)).unwrap().unwrap();
            assert!(found <= S && S - found <= S / 64, "{found} for {S}");
        }
        assert_eq!(find_threshold(|bytes| Ok::<_, ()>(500.0 + bytes as f64)).unwrap(), None);
    }
}
