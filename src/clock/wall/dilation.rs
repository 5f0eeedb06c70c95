//! The dilation: how many times slower the machine must run for the host to keep up.
//!
//! A run on the virtual clock gives the times at which each processor has to act. Cores that take some time
//! for each wait and each hand-over are then simulated on this timetable, which gives the lateness of the
//! host at the end.

use loggp_model::time::{MS, Time};

/// The factor by which a machine runs slower on the wall clock than its parameters say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Dilation {
    /// The least dilation at which the host keeps up. [`measure`](crate::Machine::measure) finds it, by a run on
    /// the virtual clock first; [`run`](crate::Machine::run) takes 1.
    #[default]
    Auto,
    /// This factor.
    Fixed(f64),
}

/// The fraction of a run's time by which its end may be late.
const ALLOWED_LATENESS: f64 = 0.0005;
/// The least duration of a run. In a shorter run a disturbance of the host would be a large part.
const SHORTEST_RUN: Time = Time::from_ps(20 * MS.as_ps());
/// The factor from each guess at the dilation to the next.
const STEP: f64 = 1.1;

/// The times that a core of the host needs to let its processors go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SwitchCosts {
    /// The time to end a wait, with all that the processor does until the next one.
    pub wait: Time,
    /// The additional time to hand the core over to another processor.
    pub hand_over: Time,
}

/// A dilation, and why it was chosen.
#[derive(Clone, Debug)]
pub(crate) struct DilationChoice {
    pub dilation: f64,
    pub why: String,
}

/// The end of a processor's wait on the virtual clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordedWait {
    pub until: Time,
    /// Whether the processor then acts, and so must wait until all earlier acts have been done.
    pub is_act: bool,
}

/// Chooses the least dilation at which processors with these waits end in time, on this number of cores with
/// these costs. If work is measured, the processors of a core must also have the time to do it one after the
/// other.
pub(crate) fn choose(
    waits: &[Vec<RecordedWait>],
    cores: usize,
    costs: SwitchCosts,
    measured_work: bool,
) -> DilationChoice {
    let all = waits.iter().enumerate().flat_map(|(id, waits)| waits.iter().map(move |wait| (*wait, id)));
    let mut timetable: Vec<(RecordedWait, usize)> = all.collect();
    timetable.sort_by_key(|(wait, id)| (wait.until, *id));
    let end = timetable.last().map_or(Time::ZERO, |(wait, _)| wait.until);
    let work = if measured_work { waits.len().div_ceil(cores) as f64 } else { 1.0 };
    let length = if end > Time::ZERO { SHORTEST_RUN.in_units(end) } else { 1.0 };
    let least = work.max(length).max(1.0);
    let mut dilation = least;
    let keeps_up = |dilation: f64| {
        let due = end.as_ps() as f64 * dilation;
        simulate_end(&timetable, cores, costs, dilation) - due <= ALLOWED_LATENESS * due
    };
    while !keeps_up(dilation) && dilation < 1e9 {
        dilation *= STEP;
    }
    let why = if dilation > least {
        let SwitchCosts { wait, hand_over } = costs;
        format!(
            "at less, a core that needs {wait} for each wait and {hand_over} for each hand-over would be late"
        )
    } else if least == work && work > 1.0 {
        "the processors of a core work one after the other".into()
    } else if least > 1.0 {
        format!("a run must last {SHORTEST_RUN} to be measured")
    } else {
        "the host keeps up".into()
    };
    DilationChoice { dilation, why }
}

/// Returns the time at which the cores have worked off the timetable, in ps of the host. Each wait and each
/// hand-over takes its time, and no processor acts before all earlier acts, on any core, have been done.
fn simulate_end(timetable: &[(RecordedWait, usize)], cores: usize, costs: SwitchCosts, dilation: f64) -> f64 {
    let (wait, hand_over) = (costs.wait.as_ps() as f64, costs.hand_over.as_ps() as f64);
    let mut free = vec![(0.0_f64, usize::MAX); cores];
    let mut acted = 0.0_f64;
    for (RecordedWait { until, is_act }, id) in timetable {
        let (now, holder) = &mut free[id % cores];
        if holder != id {
            *now += hand_over;
            *holder = *id;
        }
        *now = now.max(until.as_ps() as f64 * dilation);
        if *is_act {
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
    use loggp_model::time::{SEC, US};

    /// A core that needs 8 us for each hand-over.
    const COSTS: SwitchCosts = SwitchCosts { wait: Time::ZERO, hand_over: Time::from_ps(8 * US.as_ps()) };

    fn act(until: Time) -> RecordedWait {
        RecordedWait { until, is_act: true }
    }

    #[test]
    fn one_processor_per_core_needs_no_dilation() {
        let waits = vec![(0..1000).map(|i| act(i * 100 * US)).collect(); 2];
        assert_eq!(choose(&waits, 2, COSTS, false).dilation, 1.0);
    }

    #[test]
    fn short_run_is_stretched() {
        let chosen = choose(&[vec![act(US)], vec![act(2 * MS)]], 2, COSTS, false);
        assert_eq!(chosen.dilation, 10.0);
        assert!(chosen.why.contains("20 ms"));
    }

    #[test]
    fn each_hand_over_takes_time() {
        // Two processors of one core act in turn, one every 1 us, and each act takes the core 8 us.
        let waits: Vec<Vec<RecordedWait>> =
            (0..2).map(|id| (0..100_000).map(|i| act((2 * i + id) * US)).collect()).collect();
        let chosen = choose(&waits, 1, COSTS, false).dilation;
        assert!((7.9..8.8).contains(&chosen), "{chosen}");
        assert!(choose(&waits, 2, COSTS, false).dilation < 1.01);
    }

    /// Two processors act in turn for 10 ms, which takes their core 80 ms; then it has 90 ms to make up for
    /// that.
    #[test]
    fn idle_time_makes_up_for_lateness() {
        let turns = |id: i64| (0..5_000).map(move |i| (2 * i + id) * US).chain([100 * MS]);
        let waits: Vec<Vec<RecordedWait>> = (0..2).map(|id| turns(id).map(act).collect()).collect();
        assert_eq!(choose(&waits, 1, COSTS, false).dilation, 1.0);
    }

    /// The processors of one core act in turn for 10 ms, for which the core needs 80 ms. A processor on the
    /// other core must wait for them all.
    #[test]
    fn act_waits_for_all_earlier_acts() {
        let turns = |id: i64| (0..5_000).map(move |i| act((2 * i + id / 2) * US)).collect();
        let mut waits: Vec<Vec<RecordedWait>> = (0..4).map(turns).collect();
        waits[1] = vec![act(11 * MS)];
        waits[3] = Vec::new();
        let chosen = choose(&waits, 2, COSTS, false).dilation;
        assert!((7.0..8.0).contains(&chosen), "{chosen}");
        waits[1] = vec![RecordedWait { until: 90 * MS, is_act: false }];
        assert_eq!(choose(&waits, 2, COSTS, false).dilation, 1.0);
    }

    /// Two processors on different cores act every 1 us. Each act takes its core 3 us, even without a
    /// hand-over.
    #[test]
    fn wait_takes_time_without_a_hand_over() {
        let waits = vec![(0..100_000).map(|i| act(i * US)).collect(); 2];
        let costs = SwitchCosts { wait: 3 * US, ..COSTS };
        let chosen = choose(&waits, 2, costs, false);
        assert!((2.9..6.6).contains(&chosen.dilation), "{chosen:?}");
        assert!(chosen.why.contains("3 us"), "{chosen:?}");
    }

    #[test]
    fn measured_work_of_a_core_is_done_in_turn() {
        let waits = vec![vec![act(SEC)]; 8];
        assert_eq!(choose(&waits, 2, COSTS, true).dilation, 4.0);
    }
}
