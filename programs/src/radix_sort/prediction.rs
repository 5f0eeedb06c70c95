//! Predicted time of a sort, phase by phase, from L, o, g, G and the cost of computing.
//!
//! The papers have the time of the remap of the keys (LogP 4.1.4, LogGP 3), and say that the local sort comes
//! on top of it. The scans are derived here in the same way. `docs/reference/radix-sort.md` says which of it
//! is exact, and bounds the rest.

use loggp::{Params, Ports, Time, Work};

use super::input::{KeyDistribution, SKEWED_BITS};
use super::item::Digit;
use super::setting::{SortRates, SortSetting};
use crate::{Case, ComputeTimes, PhaseName};

/// Name of the only phase of one processor.
pub(super) const ALONE: &str = "local sort";

/// Returns the phases for a report: first each phase summed over all passes, and then those of each pass.
pub(super) fn report(
    setting: &SortSetting,
    mut time: impl FnMut(usize, &'static str) -> Option<Time>,
) -> Vec<(PhaseName, Option<Time>)> {
    let (phases, mut single) = (setting.method.phases(), Vec::new());
    let mut sums = vec![Some(Time::ZERO); phases.len()];
    for pass in 0..setting.digits().len() {
        for (phase, sum) in phases.iter().zip(&mut sums) {
            let time = time(pass, phase);
            *sum = sum.zip(time).map(|(sum, time)| sum + time);
            single.push((format!("pass {}: {phase}", pass + 1).into(), time));
        }
    }
    let sums = phases.iter().zip(sums).map(|(phase, sum)| ((*phase).into(), sum));
    sums.chain(single).collect()
}

/// Returns all phases of a case, in the order of [`report`].
pub(super) fn phases(case: &Case, setting: &SortSetting) -> Vec<(PhaseName, Option<Time>)> {
    let rates = match case.work {
        Work::Charged => setting.charged,
        _ => match &case.compute_times {
            Some(computing) => measured_rates(case, setting, computing),
            None => return Vec::new(),
        },
    };
    phases_at(case, setting, rates)
}

/// Returns the cost of a unit of each kind of work, where work is measured: each phase's time, divided by its
/// units.
fn measured_rates(case: &Case, setting: &SortSetting, computing: &ComputeTimes) -> SortRates {
    let one = Time::from_ps(1);
    let units = SortRates { histogram: one, local_sort: one, moving: one, scan: one };
    let units = phases_at(&case.without_message_costs(), setting, units);
    let rate = |phase: &str| {
        let units = units.iter().find(|(name, _)| name == phase).and_then(|(_, units)| *units);
        let units = units.filter(|units| *units > Time::ZERO);
        units.map_or(Time::ZERO, |units| computing.phase(phase) / units.as_ps())
    };
    let [histogram, local_sort] = ["histogram", "local sort"].map(rate);
    SortRates { histogram, local_sort, moving: rate("distribution"), scan: rate("ranks") }
}

/// Returns all phases for these rates.
fn phases_at(case: &Case, setting: &SortSetting, rates: SortRates) -> Vec<(PhaseName, Option<Time>)> {
    let digits: Vec<Digit> = setting.digits().collect();
    if case.params.P == 1 {
        return vec![(ALONE.into(), Some((case.size * digits.len()) as i64 * rates.local_sort))];
    }
    report(setting, |pass, phase| {
        let pass = Pass { case, setting, rates, digit: digits[pass] };
        Some(pass.time(phase))
    })
}

/// A pass of the sort.
struct Pass<'a> {
    case: &'a Case,
    setting: &'a SortSetting,
    rates: SortRates,
    digit: Digit,
}

impl Pass<'_> {
    /// Returns the time of a phase.
    fn time(&self, phase: &str) -> Time {
        let n = self.case.size as i64;
        // Where all keys are in one bucket, a pass ends with the ranks.
        let settled = self.setting.input == KeyDistribution::Equal;
        match phase {
            "histogram" => n * self.rates.histogram,
            "ranks" => self.ranks_time(),
            _ if settled => Time::ZERO,
            "local sort" => n * self.rates.local_sort,
            _ if !self.setting.method.bulk => self.short_time(),
            _ => self.long_time(),
        }
    }

    /// Returns the time of the scans over the processors and over the buckets.
    fn ranks_time(&self) -> Time {
        let scan = self.digit.buckets() as i64 * self.rates.scan;
        scan + if self.setting.method.bulk { self.doubling_time() } else { self.pipeline_time() }
    }

    /// Returns the time of a pipeline of P processors for the sums, and of one for the totals. The first
    /// bucket passes all of it, and the others follow at the pace of the slowest processors: those inside
    /// receive, add and send.
    fn pipeline_time(&self) -> Time {
        let Params { L, o, g, P, .. } = self.case.params;
        let (p, buckets, c) = (P as i64, self.digit.buckets() as i64, self.rates.scan);
        let inside = if P > 2 { o } else { Time::ZERO };
        let sums = (p - 1) * (L + 2 * o + c) + c + (buckets - 1) * g.max(o + inside + c);
        let totals = (p - 1) * (L + 2 * o) + (buckets - 1) * g.max(o + inside);
        sums + totals
    }

    /// Returns the time of floor(log2 P) rounds in each of which pairs swap the sums of all buckets. Both
    /// send at once. If the port is single and a message would arrive while its receiver still sends, one
    /// sends after the other.
    ///
    /// If P is no power of two, the processors that take part for a pair begin late. A partner that is not
    /// late has sent before, so that there is only one message left to wait for.
    fn doubling_time(&self) -> Time {
        let Params { L, o, P, .. } = self.case.params;
        let scan = self.digit.buckets() as i64 * self.rates.scan;
        let message = |sums: usize| L + self.stream_time(4 * sums * self.digit.buckets());
        let rounds = P.ilog2();
        let pairs = P - (1 << rounds);
        let meet = |round: &u32| pairs == 0 || 1 << round < pairs;
        let turns = match self.case.ports == Ports::Single && message(1) > 2 * L {
            true => (0..rounds).filter(meet).count() as i64,
            false => 0,
        };
        let mut time = i64::from(rounds) * (2 * o + message(1) + scan) + turns * message(1);
        if pairs > 0 {
            time += 2 * o + message(1) + scan; // one of a pair gets the sums of both
            time += 2 * o + message(2) + scan; // and sends the result to the other
        }
        time
    }

    /// Returns the time to distribute single keys, of which every processor gets the same number: (n/P) max(1
    /// us + 2o, g) + L in LogP 4.1.4, where one key in P stays. All keys are moved, and each sent one costs a
    /// send and a reception.
    fn short_time(&self) -> Time {
        let Params { L, o, g, P, .. } = self.case.params;
        let n = self.case.size as i64;
        let sent = n - n / P as i64;
        let busy = n * self.rates.moving + 2 * sent * o;
        (sent * g).max(busy) + L
    }

    /// Returns the time to distribute keys in a message for each processor, staggered. Every processor sends
    /// and receives the same amount, at different times: the 2kG of LogGP 3.
    fn long_time(&self) -> Time {
        let Params { o, g, P, .. } = self.case.params;
        let n = self.case.size;
        // If there are fewer buckets than processors, each bucket goes to one processor.
        let used = match self.setting.input {
            KeyDistribution::Skewed => self.digit.bits.min(SKEWED_BITS),
            _ => self.digit.bits,
        };
        let slices = P.min(1 << used);
        let messages = slices.min(P - 1).min(n) as i64;
        let S = self.stream_time((n / slices).max(1) * (self.setting.bits / 8) as usize);
        let stage = (2 * o).max(S + g).max(match self.case.ports {
            Ports::Single => 2 * S,
            _ => S,
        });
        (messages - 1) * stage + o + self.transit_time(S) + S + o + n as i64 * self.rates.moving
    }

    /// Returns the time for which a message of `bytes` bytes streams: (k-1)G.
    fn stream_time(&self, bytes: usize) -> Time {
        self.case.params.stream(self.case.params.words(bytes))
    }

    /// Returns the time from the entry of a message until its receiver's port can take it, if both ends send
    /// at once.
    fn transit_time(&self, stream: Time) -> Time {
        match self.case.ports {
            Ports::Single => self.case.params.L.max(stream),
            _ => self.case.params.L,
        }
    }
}
