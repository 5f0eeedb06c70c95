//! How much slower the machine must run for the host to keep up.
//!
//! A run on the virtual clock tells when each processor has to act. These times are then played against cores that
//! need a while for each wait and each hand-over, and that tells how late the host would end.

use crate::clock::Clock;
use crate::clock::contract::pass_on;
use crate::message::parcel::Parcel;
use crate::message::{Envelope, Seen};
use crate::params::{ByLevel, ReceptionCost};
use crate::rules::network::{Exit, Network, Passage};
use crate::rules::pace::Outgoing;
use crate::rules::reception::Reception;
use crate::time::{MS, Time};

/// How many times slower than its parameters say a machine runs on the wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Dilation {
    /// The least dilation at which the host keeps up, found by a run on the virtual clock first. A program that may run
    /// [only once](crate::Machine::run_once) runs at 1.
    #[default]
    Auto,
    /// This dilation.
    Fixed(f64),
}

/// The part of the run's time by which its end may be late.
const LATE: f64 = 0.0005;
/// A run must last at least this long: in a shorter one a disturbance of the host would be a large part.
const SHORTEST: Time = Time::from_ps(20 * MS.as_ps());
/// By how much each guess at the dilation is larger than the one before.
const STEP: f64 = 1.1;

/// How long a core of the host takes to let its processors go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effort {
    /// The time to end a wait, with all that the processor does until the next one.
    pub wait: Time,
    /// The additional time to hand the core over to another processor.
    pub hand_over: Time,
}

/// A dilation, and why it was chosen.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub dilation: f64,
    pub why: String,
}

/// When a wait of a processor ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub until: Time,
    /// Whether the processor then does what others can see, and so must wait until all earlier acts have been done.
    pub acts: bool,
}

/// A clock that notes when its processor's waits end.
pub(crate) struct Recorder<'a> {
    clock: &'a mut dyn Clock,
    cost: ByLevel<ReceptionCost>,
    pub waits: Vec<Wait>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(clock: &'a mut dyn Clock, cost: ByLevel<ReceptionCost>) -> Recorder<'a> {
        Recorder { clock, cost, waits: Vec::new() }
    }
}

impl Clock for Recorder<'_> {
    pass_on!(clock);

    fn wait_until(&mut self, t: Time) {
        self.clock.wait_until(t);
        self.waits.push(Wait { until: t, acts: false });
    }

    fn act_at(&mut self, t: Time) {
        self.clock.act_at(t);
        self.waits.push(Wait { until: t, acts: true });
    }

    fn serve(&mut self, network: &Network, exit: &mut Exit, message: &Outgoing) -> Passage {
        self.clock.serve(network, exit, message)
    }

    fn deliver(&mut self, seen: Seen, parcel: Parcel) {
        self.clock.deliver(seen, parcel);
    }

    fn receive(&mut self, reception: &mut Reception, got: &mut Option<Envelope>) {
        let (ready, deadline, purpose) = (reception.ready, reception.deadline, reception.purpose);
        self.clock.receive(reception, got);
        let over = |message: &Envelope| purpose.over(message.seen(), ready, &self.cost);
        let until = got.as_ref().map_or(deadline, over);
        self.waits.push(Wait { until, acts: true });
    }
}

/// Chooses the least dilation at which processors with these waits end in time on so many cores that need this effort. If
/// work is measured, the processors of a core must also have the time to do it one after the other.
pub(crate) fn choose(waits: &[Vec<Wait>], cores: usize, effort: Effort, measured_work: bool) -> Chosen {
    let all = waits.iter().enumerate().flat_map(|(id, waits)| waits.iter().map(move |wait| (*wait, id)));
    let mut timetable: Vec<(Wait, usize)> = all.collect();
    timetable.sort_by_key(|(wait, id)| (wait.until, *id));
    let end = timetable.last().map_or(Time::ZERO, |(wait, _)| wait.until);
    let work = if measured_work { waits.len().div_ceil(cores) as f64 } else { 1.0 };
    let length = if end > Time::ZERO { SHORTEST.in_units(end) } else { 1.0 };
    let least = work.max(length).max(1.0);
    let mut dilation = least;
    let keeps_up = |dilation: f64| {
        let due = end.as_ps() as f64 * dilation;
        play(&timetable, cores, effort, dilation) - due <= LATE * due
    };
    while !keeps_up(dilation) && dilation < 1e9 {
        dilation *= STEP;
    }
    let why = if dilation > least {
        let Effort { wait, hand_over } = effort;
        format!(
            "at less, a core that needs {wait} for each wait and {hand_over} for each hand-over would be late"
        )
    } else if least == work && work > 1.0 {
        "the processors of a core work one after the other".into()
    } else if least > 1.0 {
        format!("a run must last {SHORTEST} to be measured")
    } else {
        "the host keeps up".into()
    };
    Chosen { dilation, why }
}

/// When the cores have done the timetable, in picoseconds of the host. Each wait and each hand-over takes its time, and no
/// processor acts before all earlier acts, on any core, have been done.
fn play(timetable: &[(Wait, usize)], cores: usize, effort: Effort, dilation: f64) -> f64 {
    let (wait, hand_over) = (effort.wait.as_ps() as f64, effort.hand_over.as_ps() as f64);
    let mut free = vec![(0.0_f64, usize::MAX); cores];
    let mut acted = 0.0_f64;
    for (Wait { until, acts }, id) in timetable {
        let (now, holder) = &mut free[id % cores];
        if holder != id {
            *now += hand_over;
            *holder = *id;
        }
        *now = now.max(until.as_ps() as f64 * dilation);
        if *acts {
            *now = now.max(acted);
            acted = *now;
        }
        *now += wait;
    }
    free.iter().map(|(now, _)| *now).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{SEC, US};

    /// A core that needs 8 us for each hand-over.
    const EFFORT: Effort = Effort { wait: Time::ZERO, hand_over: Time::from_ps(8 * US.as_ps()) };

    fn act(until: Time) -> Wait {
        Wait { until, acts: true }
    }

    #[test]
    fn one_processor_per_core_needs_no_dilation() {
        let waits = vec![(0..1000).map(|i| act(i * 100 * US)).collect(); 2];
        assert_eq!(choose(&waits, 2, EFFORT, false).dilation, 1.0);
    }

    #[test]
    fn a_short_run_is_stretched_until_it_can_be_measured() {
        let chosen = choose(&[vec![act(US)], vec![act(2 * MS)]], 2, EFFORT, false);
        assert_eq!(chosen.dilation, 10.0);
        assert!(chosen.why.contains("20 ms"));
    }

    #[test]
    fn processors_that_take_turns_need_time_for_each_hand_over() {
        // Two processors of one core act in turn, one every 1 us, and each act takes the core 8 us.
        let waits: Vec<Vec<Wait>> =
            (0..2).map(|id| (0..100_000).map(|i| act((2 * i + id) * US)).collect()).collect();
        let chosen = choose(&waits, 1, EFFORT, false).dilation;
        assert!((7.9..8.8).contains(&chosen), "{chosen}");
        assert!(choose(&waits, 2, EFFORT, false).dilation < 1.01);
    }

    /// Two processors act in turn for 10 ms, which takes their core 80 ms; then it has 90 ms to make up for that.
    #[test]
    fn idle_time_makes_up_for_a_busy_beginning() {
        let turns = |id: i64| (0..5_000).map(move |i| (2 * i + id) * US).chain([100 * MS]);
        let waits: Vec<Vec<Wait>> = (0..2).map(|id| turns(id).map(act).collect()).collect();
        assert_eq!(choose(&waits, 1, EFFORT, false).dilation, 1.0);
    }

    /// The processors of one core act in turn for 10 ms, which takes it 80 ms. An act on the other core must wait for them.
    #[test]
    fn who_acts_waits_for_all_that_comes_before() {
        let turns = |id: i64| (0..5_000).map(move |i| act((2 * i + id / 2) * US)).collect();
        let mut waits: Vec<Vec<Wait>> = (0..4).map(turns).collect();
        waits[1] = vec![act(11 * MS)];
        waits[3] = Vec::new();
        let chosen = choose(&waits, 2, EFFORT, false).dilation;
        assert!((7.0..8.0).contains(&chosen), "{chosen}");
        waits[1] = vec![Wait { until: 90 * MS, acts: false }];
        assert_eq!(choose(&waits, 2, EFFORT, false).dilation, 1.0);
    }

    /// Two processors on different cores act every 1 us. Each act takes its core 3 us, even without a hand-over.
    #[test]
    fn who_acts_often_takes_time_though_nobody_else_does() {
        let waits = vec![(0..100_000).map(|i| act(i * US)).collect(); 2];
        let effort = Effort { wait: 3 * US, ..EFFORT };
        let chosen = choose(&waits, 2, effort, false);
        assert!((2.9..6.6).contains(&chosen.dilation), "{chosen:?}");
        assert!(chosen.why.contains("3 us"), "{chosen:?}");
    }

    #[test]
    fn measured_work_of_one_core_is_done_in_turn() {
        let waits = vec![vec![act(SEC)]; 8];
        assert_eq!(choose(&waits, 2, EFFORT, true).dilation, 4.0);
    }
}
