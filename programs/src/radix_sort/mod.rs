//! Radix sort: the keys of all processors, sorted a digit at a time (LogGP, section 3).
//!
//! Every processor has n keys, and in the end processor 0 has the n smallest in order, processor 1 the next,
//! and so on. A pass sorts by one digit, lowest first, and keeps the order of keys with the same digit. A
//! processor counts its keys by their digit; the processors compute where each bucket of each begins; and
//! every key goes to its place. The original version sends each key as soon as its place is known. The
//! long-message version first sorts its keys by the digit, and sends all that go to one processor at once. It
//! is the opposite of FFT: the work to get the right setup comes before the transfer (section 2.3).

mod alone;
mod input;
mod item;
mod kernels;
mod prediction;
mod ranks;
mod setting;
mod sort;
mod tag;

pub use input::KeyDistribution;
pub use item::{Digit, SortItem};
pub use setting::{BUCKET_SCAN, INPUT, KEY_BITS, KEY_HISTOGRAM, KEY_MOVE, KEY_SORT, RADIX};
pub use sort::{SortMemory, SortMethod, sort};

use std::fmt::Debug;

use loggp::{Machine, Proc, RunError, Time, US, Work};

use crate::emulation::phase_times;
use crate::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, Metric, Outcome, PhaseName, PlanResult, Program, Size,
};
use item::SortKey;
use setting::SortSetting;

/// Radix sort of the keys of all processors.
pub static RADIX_SORT: Program = Program {
    name: "radix-sort",
    about: "the keys of all processors are sorted, a digit in each pass (LogGP, section 3)",
    algorithms: &[
        Algorithm {
            name: "long",
            about: "sorts its keys by the digit first, and sends all for a processor at once (LogGP, section 3)",
            formula: ClosedForm::Ours(
                "per pass: n histogram + ranks + n sort + (P-2) max(2S, S+g, 2o) + 2o + max(L, S) + S + n move, \
                 where S streams n/P keys (LogGP, section 3, has the 2kG); ranks are in docs/reference/radix-sort.md",
            ),
            plan: |case| RadixSort::plan(case, true),
        },
        Algorithm {
            name: "short",
            about: "sends each key to its place as soon as that is known, and receives meanwhile (LogGP, section 3)",
            formula: ClosedForm::Ours(
                "per pass: n histogram + ranks + max(m g, n move + 2 m o) + L, where m = n - n/P keys go \
                 (LogP, section 4.1.4, has n max(1us + 2o, g) + L); ranks are in docs/reference/radix-sort.md",
            ),
            plan: |case| RadixSort::plan(case, false),
        },
    ],
    size: Size { meaning: "keys per processor", default: 1024 },
    options: &[&KEY_BITS, &RADIX, &INPUT, &KEY_HISTOGRAM, &KEY_SORT, &KEY_MOVE, &BUCKET_SCAN],
    work: Work::Charged,
};

/// The plan of a case.
struct RadixSort<'a> {
    case: &'a Case,
    setting: SortSetting,
}

impl RadixSort<'_> {
    fn plan(case: &Case, bulk: bool) -> PlanResult<'_> {
        let setting = SortSetting::new(case, bulk);
        setting.check(case)?;
        Ok(Box::new(RadixSort { case, setting }))
    }
}

impl crate::Predict for RadixSort<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        let phases = self.phases();
        // The sums of phases over all passes come first.
        let (sums, kind) = match self.case.params.P {
            1 => (1, FormKind::Exact),
            _ => (self.setting.method.phases().len(), FormKind::Estimate),
        };
        let time = phases.get(..sums)?.iter().map(|(_, time)| *time).sum::<Option<Time>>()?;
        Some((kind, time))
    }

    fn phases(&self) -> Vec<(PhaseName, Option<Time>)> {
        prediction::phases(self.case, &self.setting)
    }
}

impl crate::Plan for RadixSort<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let machine = self.case.machine(emulation);
        match self.setting.bits {
            32 => run::<u32>(self.case, &self.setting, machine),
            _ => run::<u64>(self.case, &self.setting, machine),
        }
    }
}

/// Sorts keys of one type.
fn run<K: SortKey>(case: &Case, setting: &SortSetting, machine: Machine) -> Result<Outcome, RunError> {
    let n = case.size;
    let mut keys: Vec<K> = setting.input.keys(n * case.params.P, setting.method.radix, case.seed);
    let costs = setting.charged;
    let machine = machine
        .rate("histogram", costs.histogram)
        .rate("local sort", costs.local_sort)
        .rate("move", costs.moving)
        .rate("scan", costs.scan);
    let sort = |p: &mut Proc| {
        let mut memory = p.prepare(|| SortMemory::new(setting.method, n, case.params.P));
        let ends = sort(p, setting.method, &keys[p.id() * n..][..n], &mut memory);
        (memory, ends) // all of it, as freeing memory takes time
    };
    let run = machine.measure_across_map(sort, |(memory, ends)| (memory.items, ends));
    let (run, results) = run?.take_results();
    let (results, ends): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    keys.sort_unstable();
    let ends: Vec<&[Time]> = ends.iter().map(|ends| &ends[..]).collect();
    let phases = phases(setting, &phase_times(&ends));
    let metrics = vec![Metric {
        name: "time per key of a processor",
        unit: "us",
        value: run.time.in_units(US) / n as f64,
    }];
    let verified = verify(&results, &keys);
    Ok(Outcome { phases, metrics, ..Outcome::new(run, verified) })
}

/// Checks that every processor has its part of the sorted keys.
fn verify<K: PartialEq + Debug>(results: &[Vec<K>], sorted: &[K]) -> Result<(), String> {
    let n = sorted.len() / results.len();
    for (id, (result, part)) in results.iter().zip(sorted.chunks(n)).enumerate() {
        if result.len() != n {
            return Err(format!("processor {id} has {} keys and should have {n}", result.len()));
        }
        if let Some(place) = (0..n).find(|place| result[*place] != part[*place]) {
            let (key, right) = (&result[place], &part[place]);
            return Err(format!("processor {id} has {key:?} at place {place}, where {right:?} belongs"));
        }
    }
    Ok(())
}

/// Returns the phases, from the times of all in order; one processor has only one.
fn phases(setting: &SortSetting, times: &[Time]) -> Vec<(PhaseName, Time)> {
    if let [alone] = times {
        return vec![(prediction::ALONE.into(), *alone)];
    }
    let phases = setting.method.phases();
    let time = |pass: usize, phase: &str| {
        let index = pass * phases.len() + phases.iter().position(|other| *other == phase)?;
        times.get(index).copied()
    };
    let report = prediction::report(setting, time);
    report.into_iter().filter_map(|(name, time)| Some((name, time?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_notices_a_wrong_result() {
        let sorted = [1, 2, 3, 4];
        assert_eq!(verify(&[vec![1, 2], vec![3, 4]], &sorted), Ok(()));
        for (wrong, what) in [
            (vec![4, 3], "processor 1 has 4 at place 0, where 3 belongs"),
            (vec![3, 3], "processor 1 has 3 at place 1, where 4 belongs"),
            (vec![3], "processor 1 has 1 keys and should have 2"),
            (vec![3, 4, 5], "processor 1 has 3 keys and should have 2"),
        ] {
            assert_eq!(verify(&[vec![1, 2], wrong], &sorted), Err(what.into()));
        }
    }
}
