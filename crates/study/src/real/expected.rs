//! How long studies will take on a real machine, roughly: by the model of a machine that a few messages show.

use std::sync::Arc;

use loggp::link::Link;
use loggp::{Latency, Machine, Params, RunError, Time};
use loggp_programs::math::median::median;
use loggp_programs::{Case, Emulation};

use super::experiment::{CALL, FLOOD, MessageExperiment, WAY};
use super::fit::ns;
use super::meeting::Meeting;
use super::plan::Repeats;
use crate::Study;

/// LogGP's parameters of a real machine, roughly.
#[derive(Clone, Copy, Debug)]
pub struct RoughMachine {
    pub L: Time,
    pub o: Time,
    pub g: Time,
    /// Time of a byte of a long message, in ns.
    pub byte: f64,
}

/// Length of a long message in bytes.
const LONG: usize = 64 << 10;

impl RoughMachine {
    /// Measures a few messages between the first and the last process. All processes must call this function.
    pub fn measure(link: &Arc<dyn Link>) -> Result<RoughMachine, RunError> {
        if link.P() < 2 {
            return Ok(RoughMachine { L: Time::ZERO, o: Time::ZERO, g: Time::ZERO, byte: 0.0 });
        }
        let meeting = Meeting::new(link, link.P() - 1)?;
        let measure = |bytes: usize, which: &[usize]| {
            let repeats = Repeats { skipped: 2, counted: 5 };
            let times = meeting.run_freely(MessageExperiment::written(bytes), which, repeats)?;
            let time = |kind: usize| if times[kind].is_empty() { 0.0 } else { median(&times[kind]).as_ns() };
            Ok::<_, RunError>([CALL, WAY, FLOOD].map(time))
        };
        let [call, way, flood] = measure(1, &[WAY, FLOOD])?;
        let [_, long, _] = measure(LONG, &[WAY])?;
        let o = call.min(way / 2.0);
        // A flood ends with a round trip.
        let step = (flood - 2.0 * way / MessageExperiment::written(1).messages() as f64).max(o);
        let byte = (long - way).max(0.0) / (LONG - 1) as f64;
        Ok(RoughMachine { L: ns(way - 2.0 * o), o: ns(o), g: ns(step), byte })
    }

    /// Returns these parameters in place of others.
    fn replace(&self, params: &Params) -> Params {
        let word = params.word.get();
        let new = Params::builder(params.P).word(word).cycle(params.cycle).L(self.L).o(self.o).g(self.g);
        new.G(ns(self.byte * word as f64)).build().expect("no time is below 0")
    }

    /// Returns how long all runs of each study will take, or `None` where the model fails. All processes must
    /// call it, and get the same times.
    pub fn expected_times(
        &self,
        link: &Arc<dyn Link>,
        studies: &[&Study],
    ) -> Result<Vec<Option<Time>>, RunError> {
        let params = Params::builder(link.P()).build()?;
        let meeting = Machine::new(params).with_link(link.clone());
        meeting.measure_across(|_| ())?;
        // The others wait, so that computing takes the time that it takes alone.
        let times: Vec<Option<u64>> = match link.id() {
            0 => {
                studies.iter().map(|study| Some(self.expected_time(study)?.as_ps().unsigned_abs())).collect()
            }
            _ => Vec::new(),
        };
        let agreed = meeting.measure_across(|_| times.clone())?.results.swap_remove(0);
        Ok(agreed.into_iter().map(|time| time.map(|ps| Time::from_ps(ps as i64))).collect())
    }

    fn expected_time(&self, Study { case, repeat, .. }: &Study) -> Option<Time> {
        let params = self.replace(&case.params);
        let latency = Latency::default();
        let case = Case { params, levels: Vec::new(), latency, noise: None, barrier: None, ..case.clone() };
        let run = case.plan().ok()?.run(&Emulation::default()).ok()?.run;
        Some(run.time * *repeat as i64)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use loggp::US;
    use loggp::link::Channels;
    use loggp_programs::broadcast::BROADCAST;

    use super::*;

    /// All processes agree on the times, which are those of the model.
    #[test]
    fn processes_expect_the_same() {
        let rough = RoughMachine { L: 10 * US, o: US, g: 2 * US, byte: 0.5 };
        let expect = move |channels: Channels| {
            let link: Arc<dyn Link> = Arc::new(channels);
            let measured = RoughMachine::measure(&link).unwrap();
            let case = |P: usize| Case::new(&BROADCAST, "optimal", Params::builder(P).build().unwrap());
            let twice = Study { repeat: 2, ..Study::new(case(2)) };
            let mut impossible = Study::new(case(2));
            impossible.case.size = 0;
            let times = rough.expected_times(&link, &[&Study::new(case(2)), &twice, &impossible]).unwrap();
            (measured.L + measured.o, times)
        };
        let ranks: Vec<_> =
            Channels::between(2).into_iter().map(|link| thread::spawn(move || expect(link))).collect();
        for rank in ranks {
            let (way, times) = rank.join().unwrap();
            assert!(way > Time::ZERO && way < loggp::SEC);
            assert_eq!(times, [Some(12 * US), Some(24 * US), None]);
        }
    }
}
