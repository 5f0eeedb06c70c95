//! What calibration measures in the time that it has: which lengths, in how many rounds, and how often in each.
//!
//! The first round trips show what each measurement costs. Where not all of them fit, they are repeated less
//! often, and a length is left out if even a few repetitions of it would take the time of several others. What
//! the fit needs is always measured. After each round, the costs are those that it really had.

use loggp_programs::math::median::median;

use super::experiment::{
    EXCHANGE, ExperimentTimes, FLOOD, LONG, MESSAGES, MessageExperiment, WAY, experiments,
};

/// Bytes above which messages are measured less often.
const LONGER: usize = 1 << 20;
/// Number of rounds of all measurements, and the least number of rounds.
const ROUNDS: [usize; 2] = [5, 3];
/// Number of repetitions that do not count, and the least number of such repetitions.
const SKIPPED: [usize; 2] = [3, 1];
/// Least number of repetitions that count.
const LEAST: usize = 3;
/// Number of messages in a flood, at most: fewer where a message takes very long.
const FEWER: [usize; 3] = [MESSAGES, 16, 4];
/// Bytes up to which the fit needs all its lengths.
const NEEDED: usize = 64 << 10;
/// A length is left out if its least repetitions take so many times as long as others have.
const PATIENCE: f64 = 2.0;
/// Part of the time in which the first round trips are measured.
const FIRST: f64 = 1.0 / 6.0;
/// Number of lengths of the first round trips.
const FIRST_LENGTHS: f64 = 42.0;

/// How often something is repeated: first some times that do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeats {
    pub skipped: usize,
    pub counted: usize,
}

/// What is measured in each round. All times are in ns.
#[derive(Clone, Debug)]
pub(super) struct MeasuringPlan {
    pub experiments: Vec<MessageExperiment>,
    /// Time of a repetition of each.
    costs: Vec<f64>,
    pub rounds: usize,
    /// Time that an experiment has in a round.
    slice: f64,
    /// Time that what is left out would take in a round.
    left_out: f64,
}

impl Repeats {
    /// Returns how often the first round trips of a length are measured, if one way takes so long.
    pub(super) fn of_first(bytes: usize, way: f64, budget: f64) -> Repeats {
        let most = if bytes < LONG { 75 } else { 25 };
        // The next length may take twice as long as the one before.
        Repeats::within(budget * FIRST / FIRST_LENGTHS, 4.0 * way, most)
    }

    /// Returns as many as there is time for, but no more than `most` that count.
    fn within(slice: f64, cost: f64, most: usize) -> Repeats {
        if (SKIPPED[0] + most) as f64 * cost <= slice {
            return Repeats { skipped: SKIPPED[0], counted: most };
        }
        let counted = ((slice / cost) as usize).saturating_sub(SKIPPED[1]);
        Repeats { skipped: SKIPPED[1], counted: counted.min(most).max(LEAST) }
    }

    fn all(self) -> usize {
        self.skipped + self.counted
    }
}

impl MeasuringPlan {
    /// Plans what fits into the time that is left, on a machine whose messages above `S` bytes wait for their
    /// receivers. `way` returns half a round trip.
    pub(super) fn new(budget: f64, S: Option<usize>, way: impl Fn(usize) -> f64) -> MeasuringPlan {
        let is_needed =
            |it: &MessageExperiment| !it.cold && it.bytes <= S.map_or(NEEDED, |S| NEEDED.max(4 * S));
        // A message of a flood takes no longer than one that is alone, and a barrier as long as two.
        let cost = |it: &MessageExperiment| (2 * it.messages() + 4) as f64 * way(it.bytes);
        let all = |most| experiments().map(move |it| MessageExperiment { most, ..it });
        let planned = |rounds: usize, most: usize| {
            let mut plan = MeasuringPlan {
                experiments: all(most).collect(),
                costs: all(most).map(|it| cost(&it)).collect(),
                rounds,
                slice: f64::INFINITY,
                left_out: 0.0,
            };
            let whole = plan.round();
            let is_kept = |slice: f64, it: &MessageExperiment, cost: f64| {
                let least = (SKIPPED[1] + LEAST) as f64 * cost;
                is_needed(it) || least <= PATIENCE * slice
            };
            plan.slice = longest_slice(budget, rounds as f64 * whole, |slice| {
                let of = |(it, cost): (&MessageExperiment, &f64)| {
                    let all = Repeats::within(slice, *cost, most_repeats(*it)).all() as f64 * cost;
                    if is_kept(slice, it, *cost) { all } else { 0.0 }
                };
                rounds as f64 * plan.experiments.iter().zip(&plan.costs).map(of).sum::<f64>()
            });
            let pairs = plan.experiments.iter().copied().zip(plan.costs.iter().copied());
            (plan.experiments, plan.costs) =
                pairs.filter(|(it, cost)| is_kept(plan.slice, it, *cost)).unzip();
            plan.left_out = whole - plan.full_round();
            plan
        };
        let [most, few] = ROUNDS;
        let rest = FEWER.map(|messages| (few, messages));
        let tries = [(most, MESSAGES)].into_iter().chain(rest);
        let mut plans = tries.map(|(rounds, messages)| planned(rounds, messages));
        let is_enough = |plan: &MeasuringPlan| plan.round() * plan.rounds as f64 <= budget;
        let mut last = None;
        let fitting = plans.find(|plan| {
            last = Some(plan.clone());
            is_enough(plan)
        });
        fitting.or(last).expect("there are several tries")
    }

    /// Returns how often an experiment is repeated in a round.
    pub(super) fn repeats(&self, index: usize) -> Repeats {
        Repeats::within(self.slice, self.costs[index], most_repeats(self.experiments[index]))
    }

    /// Returns the time that these experiments take in a round.
    pub(super) fn time_from(&self, index: usize) -> f64 {
        (index..self.experiments.len())
            .map(|index| self.repeats(index).all() as f64 * self.costs[index])
            .sum()
    }

    /// Returns the time of a round.
    fn round(&self) -> f64 {
        self.time_from(0)
    }

    /// Returns the time of a round in which each experiment has all the time that it needs.
    fn full_round(&self) -> f64 {
        MeasuringPlan { slice: f64::INFINITY, ..self.clone() }.round()
    }

    /// Returns the time that all measurements would take.
    pub(super) fn whole(&self) -> f64 {
        ROUNDS[0] as f64 * (self.full_round() + self.left_out)
    }

    /// Corrects the plan by a round that took `spent`, so that the rest fits into the time that is left.
    pub(super) fn correct(&mut self, done: usize, round: &[ExperimentTimes], spent: f64, left: f64) {
        let repeated: Vec<f64> =
            (0..self.experiments.len()).map(|index| self.repeats(index).all() as f64).collect();
        for ((cost, it), times) in self.costs.iter_mut().zip(&self.experiments).zip(round) {
            let time = |kind: usize| median(&times[kind]).as_ns();
            *cost = it.messages() as f64 * (time(FLOOD) + time(EXCHANGE)) + 4.0 * time(WAY);
        }
        // The time between measurements counts too.
        let planned: f64 = self.costs.iter().zip(repeated).map(|(cost, repeated)| cost * repeated).sum();
        let factor = spent / planned;
        self.costs.iter_mut().chain([&mut self.left_out]).for_each(|cost| *cost *= factor);
        let is_late = |plan: &MeasuringPlan| plan.round() * (plan.rounds - done) as f64 > left;
        self.slice = f64::INFINITY;
        if is_late(self) {
            let plan = self.clone();
            let rounds = (self.rounds - done) as f64;
            self.slice = longest_slice(left, plan.round() * rounds, |slice| {
                rounds * MeasuringPlan { slice, ..plan.clone() }.round()
            });
        }
        while is_late(self) && self.rounds > done.max(ROUNDS[1]) {
            self.rounds -= 1;
        }
    }

    /// Returns whether something was left out for want of time.
    pub(super) fn is_short(&self) -> bool {
        self.rounds < ROUNDS[0]
            || self.experiments.len() < experiments().count()
            || self.experiments.iter().any(|it| it.most < MESSAGES)
    }
}

/// Returns how often an experiment is repeated where there is time.
fn most_repeats(experiment: MessageExperiment) -> usize {
    match experiment.bytes {
        ..LONG => 27,
        LONG..=LONGER => 9,
        _ => 4,
    }
}

/// Returns the longest slice for each experiment with which all take no longer than `budget`. They take
/// `whole` if each has all the time that it needs.
fn longest_slice(budget: f64, whole: f64, time: impl Fn(f64) -> f64) -> f64 {
    if whole <= budget {
        return f64::INFINITY;
    }
    let (mut fits, mut does_not) = (0.0, whole);
    for _ in 0..60 {
        let middle = (fits + does_not) / 2.0;
        if time(middle) <= budget { fits = middle } else { does_not = middle }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: f64 = 1e9;

    /// Returns half a round trip of a network, in ns, by its latency in us and its bandwidth in Mbit/s.
    fn network(us: f64, mbit: f64) -> impl Fn(usize) -> f64 {
        move |bytes| 1e3 * us + bytes as f64 * 8e3 / mbit
    }

    #[test]
    fn fast_machine_is_measured_whole() {
        let plan = MeasuringPlan::new(60.0 * S, Some(4096), network(0.4, 24_000.0));
        assert_eq!(plan.experiments, experiments().collect::<Vec<_>>());
        assert_eq!((plan.rounds, plan.is_short()), (5, false));
        let repeats = |bytes| {
            let index = plan.experiments.iter().position(|it| it.bytes == bytes).unwrap();
            (plan.repeats(index).skipped, plan.repeats(index).counted)
        };
        assert_eq!([repeats(1), repeats(4096), repeats(2 << 20)], [(3, 27), (3, 9), (3, 4)]);
    }

    /// Whatever the network, the plan fits into its time, unless the least does not, and has what a fit needs.
    #[test]
    fn plan_fits_into_its_time() {
        for (us, mbit, seconds) in
            [(200.0, 1e3, 60.0), (200.0, 1e3, 10.0), (50.0, 100.0, 60.0), (2e3, 1e4, 60.0)]
        {
            let plan = MeasuringPlan::new(seconds * S, Some(64 << 10), network(us, mbit));
            let time = plan.round() * plan.rounds as f64 / S;
            assert!(time <= seconds && time > 0.6 * seconds, "{us} us: {time} of {seconds} s");
            assert!(plan.is_short() && plan.whole() > seconds * S);
            let powers = plan.experiments.iter().filter(|it| !it.cold && it.bytes.is_power_of_two());
            assert!(powers.count() >= 19, "{us} us");
            assert!(plan.experiments.iter().any(|it| !it.bytes.is_power_of_two()));
        }
    }

    /// The time that a round really took decides how often the next are repeated.
    #[test]
    fn slow_round_is_made_up_for() {
        let mut plan = MeasuringPlan::new(60.0 * S, None, network(20.0, 1e4));
        let all = plan.experiments.clone();
        let round: Vec<ExperimentTimes> = all
            .iter()
            .map(|it| {
                let time = loggp::Time::from_ps((1e3 * network(20.0, 1e4)(it.bytes)) as i64);
                [const { Vec::new() }; 4].map(|_: Vec<loggp::Time>| vec![time])
            })
            .collect();
        let spent = 2.0 * plan.round();
        plan.correct(1, &round, spent, 60.0 * S - spent);
        let rest = 4.0 * plan.round();
        assert!(rest <= 60.0 * S - spent && rest > 0.6 * (60.0 * S - spent), "{rest} after {spent}");
        // Not even the least fits.
        plan.correct(2, &round, 30.0 * S, 1.0 * S);
        assert_eq!((plan.rounds, plan.repeats(0)), (3, Repeats { skipped: 1, counted: 3 }));
        assert_eq!(plan.experiments, all);
    }
}
