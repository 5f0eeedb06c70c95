//! How long a sort takes, phase by phase, from L, o, g, G and what computing costs.
//!
//! The papers say what the remap of the keys takes (LogP 4.1.4, LogGP 3), and that the local sort comes on
//! top of it; the scans are worked out here in the same way. `docs/reference/radix-sort.md` says which of it is exact,
//! and bounds the rest.

use loggp::{Params, Ports, Time, Work};

use super::input::{Input, SKEWED_BITS};
use super::item::Digit;
use super::setting::{Rates, Setting};
use crate::{Case, Computing, PhaseName};

/// The only phase of one processor.
pub const ALONE: &str = "local sort";

/// The phases for a report, from those of each pass: first each phase over all passes, and then one by one.
pub fn report(
    setting: &Setting,
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

/// All phases of a case, as [`report`] has them.
pub fn phases(case: &Case, setting: &Setting) -> Vec<(PhaseName, Option<Time>)> {
    let rates = match case.work {
        _ if !case.params.is_loggp() => return Vec::new(),
        Work::Charged => setting.charged,
        _ => match &case.computing {
            Some(computing) => measured(case, setting, computing),
            None => return Vec::new(),
        },
    };
    at(case, setting, rates)
}

/// What a unit of each kind of work costs, where work is measured: where messages cost nothing, each phase takes its units.
fn measured(case: &Case, setting: &Setting, computing: &Computing) -> Rates {
    let one = Time::from_ps(1);
    let units = Rates { histogram: one, local_sort: one, moving: one, scan: one };
    let units = at(&case.free(), setting, units);
    let rate = |phase: &str| {
        let units = units.iter().find(|(name, _)| name == phase).and_then(|(_, units)| *units);
        let units = units.filter(|units| *units > Time::ZERO);
        units.map_or(Time::ZERO, |units| computing.phase(phase) / units.as_ps())
    };
    let [histogram, local_sort] = ["histogram", "local sort"].map(rate);
    Rates { histogram, local_sort, moving: rate("distribution"), scan: rate("ranks") }
}

/// All phases, where a unit of work costs so much.
fn at(case: &Case, setting: &Setting, rates: Rates) -> Vec<(PhaseName, Option<Time>)> {
    let digits: Vec<Digit> = setting.digits().collect();
    if case.params.P == 1 {
        return vec![(ALONE.into(), Some((case.size * digits.len()) as i64 * rates.local_sort))];
    }
    report(setting, |pass, phase| {
        let pass = Pass { case, setting, rates, digit: digits[pass] };
        Some(pass.time(phase))
    })
}

/// A pass whose time is asked for.
struct Pass<'a> {
    case: &'a Case,
    setting: &'a Setting,
    rates: Rates,
    digit: Digit,
}

impl Pass<'_> {
    /// How long a phase takes.
    fn time(&self, phase: &str) -> Time {
        let n = self.case.size as i64;
        // Where all keys are in one bucket a pass ends with the ranks.
        let settled = self.setting.input == Input::Equal;
        match phase {
            "histogram" => n * self.rates.histogram,
            "ranks" => self.ranks(),
            _ if settled => Time::ZERO,
            "local sort" => n * self.rates.local_sort,
            _ if !self.setting.method.bulk => self.short(),
            _ => self.long(),
        }
    }

    /// The scan over the processors, and that over the buckets.
    fn ranks(&self) -> Time {
        let scan = self.digit.buckets() as i64 * self.rates.scan;
        scan + if self.setting.method.bulk { self.doubling() } else { self.pipeline() }
    }

    /// A pipeline of P processors for the sums, and one for the totals. The first bucket passes all of it,
    /// and the others follow at the pace of the slowest: those inside receive, add and send.
    fn pipeline(&self) -> Time {
        let Params { L, o, g, P, .. } = self.case.params;
        let (p, buckets, c) = (P as i64, self.digit.buckets() as i64, self.rates.scan);
        let inside = if P > 2 { o } else { Time::ZERO };
        let sums = (p - 1) * (L + 2 * o + c) + c + (buckets - 1) * g.max(o + inside + c);
        let totals = (p - 1) * (L + 2 * o) + (buckets - 1) * g.max(o + inside);
        sums + totals
    }

    /// A swap of the sums of all buckets in each of floor(log2 P) rounds. Both send at once. If the port is
    /// single and what comes would come while a processor still sends, one sends after the other.
    ///
    /// If P is no power of two, those who take part for a pair begin late. Who swaps with one of them without being
    /// late too has sent before, so that there is only one message left to wait for.
    fn doubling(&self) -> Time {
        let Params { L, o, P, .. } = self.case.params;
        let scan = self.digit.buckets() as i64 * self.rates.scan;
        let message = |sums: usize| L + self.stream(4 * sums * self.digit.buckets());
        let rounds = P.ilog2();
        let pairs = P - (1 << rounds);
        let meet = |round: &u32| pairs == 0 || 1 << round < pairs;
        let turns = match self.case.ports == Ports::Single && message(1) > 2 * L {
            true => (0..rounds).filter(meet).count() as i64,
            false => 0,
        };
        let mut time = i64::from(rounds) * (2 * o + message(1) + scan) + turns * message(1);
        if pairs > 0 {
            time += 2 * o + message(1) + scan; // one of a pair takes part for both
            time += 2 * o + message(2) + scan; // and tells the other
        }
        time
    }

    /// A key at a time, and every processor gets as many: (n/P) max(1 us + 2o, g) + L in LogP
    /// 4.1.4, of which one key in P stays. All keys are moved, and each that goes costs a send and a
    /// reception.
    fn short(&self) -> Time {
        let Params { L, o, g, P, .. } = self.case.params;
        let n = self.case.size as i64;
        let gone = n - n / P as i64;
        let busy = n * self.rates.moving + 2 * gone * o;
        (gone * g).max(busy) + L
    }

    /// A message for each processor, staggered. Everyone sends and receives as much, at different times: that
    /// is the 2kG of LogGP 3.
    fn long(&self) -> Time {
        let Params { o, g, P, .. } = self.case.params;
        let n = self.case.size;
        // If there are fewer buckets than processors, the keys of each go to one processor.
        let used = match self.setting.input {
            Input::Skewed => self.digit.bits.min(SKEWED_BITS),
            _ => self.digit.bits,
        };
        let slices = P.min(1 << used);
        let messages = slices.min(P - 1).min(n) as i64;
        let S = self.stream((n / slices).max(1) * (self.setting.bits / 8) as usize);
        let stage = (2 * o).max(S + g).max(match self.case.ports {
            Ports::Single => 2 * S,
            _ => S,
        });
        (messages - 1) * stage + o + self.wait(S) + S + o + n as i64 * self.rates.moving
    }

    /// How long so many bytes stream: (k-1)G.
    fn stream(&self, bytes: usize) -> Time {
        self.case.params.stream(self.case.params.words(bytes))
    }

    /// How long after a message enters another can begin to come out, if both ends send at once.
    fn wait(&self, stream: Time) -> Time {
        match self.case.ports {
            Ports::Single => self.case.params.L.max(stream),
            _ => self.case.params.L,
        }
    }
}
