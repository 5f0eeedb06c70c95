//! Tests of the rule of noise against a reading of it that goes through time step by step.

use proptest::prelude::*;

use super::*;
use crate::time::{NS, PS};

/// The picoseconds of [-span, span) that a processor has outside of its detours, by the definition of the
/// pattern.
struct NoiseByStep {
    span: i64,
    free: Vec<bool>,
}

impl NoiseByStep {
    fn new(noise: &Noise, id: usize, span: i64) -> NoiseByStep {
        let mut free = vec![true; 2 * span as usize];
        let mut takes = |from: i64, until: i64| {
            for t in from.max(-span)..until.min(span) {
                free[(t + span) as usize] = false;
            }
        };
        match noise.detours_of(id) {
            Detours::Periods(periods) => {
                for (period, length, phase) in periods {
                    let [period, length, phase] = [period, length, phase].map(Time::as_ps);
                    assert!((0..period).contains(&phase));
                    for number in -span..=span {
                        takes(phase + number * period, phase + number * period + length);
                    }
                }
            }
            Detours::Record(record, offset) => {
                let cycle = noise.cycle().as_ps();
                for round in -span..=span {
                    for (from, until) in record {
                        let begun = round * cycle - offset.as_ps();
                        takes(begun + from.as_ps(), begun + until.as_ps());
                    }
                }
            }
        }
        NoiseByStep { span, free }
    }

    fn is_free(&self, t: i64) -> bool {
        self.free[(t + self.span) as usize]
    }

    fn count(&self, from: i64, until: i64) -> i64 {
        (from..until).filter(|t| self.is_free(*t)).count() as i64
    }

    fn end(&self, start: i64, work: i64) -> i64 {
        (start..).find(|end| self.count(start, *end) == work).unwrap()
    }
}

fn noise() -> impl Strategy<Value = Noise> {
    let period = (2..12_i64).prop_flat_map(|period| (Just(period), 1..period));
    let times = |pairs: Vec<(i64, i64)>| pairs.into_iter().map(|(a, b)| (a * PS, b * PS));
    let periodic = prop::collection::vec(period, 1..4);
    let record = prop::collection::vec((0..30_i64, 0..6_i64), 1..5).prop_map(|mut detours| {
        detours.sort_unstable();
        detours
    });
    let any = prop_oneof![
        periodic.prop_filter_map("it takes all", move |periods| Noise::from_periods(times(periods)).ok()),
        record.prop_filter_map("it is none", move |record| Noise::from_record(times(record)).ok()),
    ];
    (any, any_seed()).prop_map(|(noise, seed)| noise.seed(seed))
}

fn any_seed() -> impl Strategy<Value = u64> {
    any::<u64>()
}

proptest! {
    #[test]
    fn noise_agrees_with_a_reading_step_by_step(
        noise in noise(), id in 0..1000_usize, start in 0..40_i64, work in 0..60_i64, least in 0..20_i64
    ) {
        // Of any cycle at least a thousandth is left; here far more is.
        let read = NoiseByStep::new(&noise, id, 4000);
        let end = read.end(start, work);
        prop_assert_eq!(noise.end(id, start * PS, work * PS).as_ps(), end);
        prop_assert_eq!(noise.free(id, start * PS, end * PS).as_ps(), work);
        let least = (start - least).max(0);
        let begin = (0..=end).find(|begin| work > 0 && read.count(*begin, end) == work).unwrap_or(end);
        prop_assert_eq!(noise.earliest_start(id, end * PS, work * PS, least * PS).as_ps(), begin.max(least));
        let detours = noise.detours(id, start * PS, end * PS);
        let is_in = |t: i64| detours.iter().any(|(from, until)| (from.as_ps()..until.as_ps()).contains(&t));
        prop_assert!((start..end).all(|t| is_in(t) != read.is_free(t)), "{:?}", detours);
        prop_assert!(detours.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", detours);
    }
}

#[test]
fn long_work_is_lengthened_by_all_its_detours() {
    let noise = Noise::from_periods([(10 * NS, NS)]).unwrap();
    let end = noise.end(3, 5 * NS, 9 * NS * 1_000_000_000);
    assert!((end - 5 * NS - 10 * NS * 1_000_000_000).as_ps().abs() <= NS.as_ps(), "{end}");
    assert_eq!(noise.end(3, Time::ZERO, Time::MAX), Time::MAX);
}

#[test]
fn phases_depend_on_the_processor_and_the_seed() {
    let noise = Noise::from_periods([(1_000_000 * NS, NS)]).unwrap();
    let phase = |noise: &Noise, id| match noise.detours_of(id) {
        Detours::Periods(periods) => periods[0].2,
        Detours::Record(..) => unreachable!(),
    };
    let phases: Vec<Time> = (0..1000).map(|id| phase(&noise, id)).collect();
    let mean = phases.iter().sum::<Time>().in_units(NS) / 1000.0;
    assert!((450_000.0..550_000.0).contains(&mean), "{mean}");
    assert_ne!(phase(&noise.clone().seed(2), 7), phases[7]);
    let together = noise.together();
    assert_eq!(phase(&together, 7), phase(&together, 8));
}
