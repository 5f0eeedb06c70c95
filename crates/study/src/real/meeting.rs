//! The meeting of two processors that measure, and the order of what they measure.

use std::sync::Arc;
use std::time::{Duration, Instant};

use loggp::link::Link;
use loggp::params::{LogGps, Protocol};
use loggp::{Machine, Params, RunError, Time};
use loggp_programs::math::median::median;

use super::experiment::{EXCHANGE, ExperimentTimes, FLOOD, MessageExperiment, WAY};
use super::fit::ns;
use super::plan::{MeasuringPlan, Repeats};
use super::{RealLevel, WORD, find_threshold};

/// How far the calibration of a level is.
#[derive(Clone, Copy, Debug)]
pub struct CalibrationProgress {
    /// Processor with which processor 0 measures the level.
    pub other: usize,
    /// Number of this round; 0 while the first round trips are measured.
    pub round: usize,
    /// Number of all rounds.
    pub rounds: usize,
    /// Time that the rest of the level takes, if it is known yet.
    pub left: Option<Time>,
}

/// The processors 0 and `other` of a real machine, which measure while all others wait.
pub(super) struct Meeting<'a> {
    link: &'a Arc<dyn Link>,
    other: usize,
    /// The machine whose messages never wait for their receivers.
    free: Machine,
    start: Instant,
}

impl Meeting<'_> {
    pub(super) fn new(link: &Arc<dyn Link>, other: usize) -> Result<Meeting<'_>, RunError> {
        Ok(Meeting { link, other, free: machine(link, Params::NO_LIMIT)?, start: Instant::now() })
    }

    /// Measures on a machine. All processes get the times.
    fn run(
        &self,
        machine: &Machine,
        experiment: MessageExperiment,
        which: &[usize],
        Repeats { skipped, counted }: Repeats,
    ) -> Result<ExperimentTimes, RunError> {
        let run = machine.measure_across(|p| experiment.run(p, self.other, which, skipped, counted))?;
        Ok(run.results.into_iter().next().expect("processor 0 has times"))
    }

    /// Measures on the machine whose messages never wait.
    pub(super) fn run_freely(
        &self,
        experiment: MessageExperiment,
        which: &[usize],
        repeats: Repeats,
    ) -> Result<ExperimentTimes, RunError> {
        self.run(&self.free, experiment, which, repeats)
    }

    /// Returns who moves a message of so many bytes; `None` if that cannot be known. What a receiver pulls is there while its
    /// sender computes.
    fn find_protocol(&self, bytes: usize) -> Option<Protocol> {
        const COMPUTING: Duration = Duration::from_millis(200);
        let waits = self.link.wait_while_sender_computes(self.other, bytes, COMPUTING)?;
        Some(if waits < 0.5 { Protocol::Pull } else { Protocol::Push })
    }

    /// Returns the time since the start by the clock of processor 0, in ns.
    fn spent(&self) -> Result<f64, RunError> {
        let run = self.free.measure_across(|_| self.start.elapsed().as_nanos() as f64)?;
        Ok(run.results[0])
    }

    /// Measures groups of P processes.
    pub(super) fn measure(
        &self,
        P: usize,
        time: Duration,
        tell: &mut dyn FnMut(CalibrationProgress),
    ) -> Result<RealLevel, RunError> {
        let (budget, other) = (time.as_nanos() as f64, self.other);
        tell(CalibrationProgress { other, round: 0, rounds: 0, left: None });
        let way = |bytes: usize, repeats: Repeats| {
            let times = self.run_freely(MessageExperiment::written(bytes), &[WAY], repeats)?;
            Ok::<_, RunError>(median(&times[WAY]).as_ns())
        };
        let mut last = way(1, Repeats { skipped: 1, counted: 3 })?;
        let mut ways = Vec::new();
        let S = find_threshold(|bytes| {
            last = way(bytes, Repeats::of_first(bytes, last, budget))?;
            ways.push((bytes, last));
            Ok::<_, RunError>(last)
        })?;
        ways.sort_by_key(|(bytes, _)| *bytes);
        let bytes_S = S;
        let S = S.map_or(Params::NO_LIMIT, |bytes| bytes / WORD);
        let machine = machine(self.link, S)?;
        let mut plan = MeasuringPlan::new(budget - self.spent()?, bytes_S, |bytes| way_from(&ways, bytes));
        let mut rounds = Vec::new();
        while rounds.len() < plan.rounds {
            let before = self.spent()?;
            let mut round = Vec::new();
            for (index, experiment) in plan.experiments.iter().enumerate() {
                let later = (plan.rounds - rounds.len() - 1) as f64 * plan.time_from(0);
                let left = Some(ns(plan.time_from(index) + later));
                tell(CalibrationProgress { other, round: rounds.len() + 1, rounds: plan.rounds, left });
                round.push(self.run(&machine, *experiment, &[WAY, FLOOD, EXCHANGE], plan.repeats(index))?);
            }
            let now = self.spent()?;
            plan.correct(rounds.len() + 1, &round, now - before, budget - now);
            rounds.push(round);
        }
        let rendezvous = bytes_S.and_then(|bytes| self.find_protocol(4 * bytes));
        Ok(RealLevel { rendezvous, ..RealLevel::from_rounds(rounds, &plan, S, P, other) })
    }
}

/// Returns the real machine with messages above S words that wait for their receivers.
fn machine(link: &Arc<dyn Link>, S: usize) -> Result<Machine, RunError> {
    let [O_s, O_r, G_s, G_l] = [Time::ZERO; 4];
    let gps = LogGps { s: S, S, O_s, O_r, G_s, G_l };
    let params = Params::builder(link.P()).word(WORD).gps(gps).build()?;
    Ok(Machine::new(params).with_link(link.clone()))
}

/// Returns half a round trip from those that were measured: that of the next longer message, or that of the
/// longest in proportion.
fn way_from(ways: &[(usize, f64)], bytes: usize) -> f64 {
    let (longest, way) = ways[ways.len() - 1];
    let longer = ways.iter().find(|(other, _)| *other >= bytes);
    longer.map_or(way * bytes as f64 / longest as f64, |(_, way)| *way)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;
    use std::thread;

    use loggp::link::{Channels, Incoming};
    use loggp::{SEC, Slice, US};

    use super::*;

    /// A link whose messages come late, one after the other.
    struct Late {
        channels: Channels,
        coming: Mutex<VecDeque<(Instant, Incoming)>>,
    }

    const LATENCY: Duration = Duration::from_micros(200);
    /// Time of a byte.
    const BYTE: Duration = Duration::from_nanos(5);

    impl Link for Late {
        fn id(&self) -> usize {
            self.channels.id()
        }

        fn P(&self) -> usize {
            self.channels.P()
        }

        fn send(&self, to: usize, bytes: &[u8], slice: Option<Slice>) {
            self.channels.send(to, bytes, slice);
        }

        fn poll(&self) -> Option<Incoming> {
            let mut coming = self.coming.lock().unwrap();
            while let Some(message) = self.channels.poll() {
                let slice = message.slice.as_ref().and_then(|_| Slice::announced_layout(&message.bytes));
                let bytes = slice.map_or(message.bytes.len(), |(length, _)| length);
                let free =
                    coming.back().map_or(Instant::now(), |(due, _)| (*due - LATENCY).max(Instant::now()));
                coming.push_back((free + BYTE * bytes as u32 + LATENCY, message));
            }
            let is_due = coming.front().is_some_and(|(due, _)| *due <= Instant::now());
            if is_due { coming.pop_front().map(|(_, message)| message) } else { None }
        }

        fn has_ended(&self, id: usize) -> bool {
            self.channels.has_ended(id)
        }

        fn is_crowded(&self) -> bool {
            self.channels.is_crowded()
        }

        fn name(&self) -> String {
            "late threads".into()
        }
    }

    /// A slow machine is measured in the time that there is, and the latency is found.
    #[test]
    fn slow_machine_is_measured_in_its_time() {
        const TIME: Duration = Duration::from_secs(3);
        let measure = |channels: Channels| {
            let link: Arc<dyn Link> = Arc::new(Late { channels, coming: Mutex::default() });
            let (mut told, start) = (Vec::new(), Instant::now());
            let levels = RealLevel::measure_levels(&link, &[2], TIME, |progress| told.push(progress));
            (levels.unwrap().remove(0), told, start.elapsed())
        };
        let ranks: Vec<_> =
            Channels::between(2).into_iter().map(|link| thread::spawn(move || measure(link))).collect();
        let mut ranks: Vec<_> = ranks.into_iter().map(|rank| rank.join().unwrap()).collect();
        let (found, told, took) = ranks.remove(0);
        assert_eq!(found.params, ranks[0].0.params);
        // All would take minutes; on a busy computer even the least takes longer than this.
        assert!(took < 25 * TIME, "{took:?}");
        assert!(found.whole.unwrap() > 10 * SEC && found.rounds >= 3);
        assert!(told.iter().is_sorted_by_key(|it| it.round) && told[told.len() - 1].round == found.rounds);
        let way = found.params.L + 2 * found.params.o;
        assert!(way >= 150 * US, "{way}");
    }
}
