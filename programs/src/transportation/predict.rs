//! The predicted times (sections 7.3 and 8), with tau and mu expressed by L, o, g, G and the barrier, and all
//! terms kept.
//!
//! A message of k words takes (k-1)G longer than one of a word, and mu is an element's part of that. With
//! single ports one of two processors that exchange long messages waits for the other, as each has its port
//! in use: both take L + 2(k-1)G. tau is a step with messages of a word: L + 2o and the barrier after it, or
//! the gap if that is more.

use loggp::{Params, Ports, Time, Work};
use loggp_predict::remap::lockstep_time;

use super::linear::partners;
use super::matrix::Matrix;
use super::packet::{BYTES, Padding};
use super::split::Scheme;
use super::two_stage::TwoStageForm;
use crate::Case;

/// Costs of operations on a case's machine.
pub(super) struct TransportationCosts<'a> {
    case: &'a Case,
    /// Time to set the place and length of a part.
    part: Time,
}

impl TransportationCosts<'_> {
    /// Returns the costs of a case, or `None` if the formulas do not hold for its work.
    pub(super) fn new(case: &Case, part: Time) -> Option<TransportationCosts<'_>> {
        (case.work == Work::Charged).then_some(TransportationCosts { case, part })
    }

    /// Returns the time that an element adds to a message, in ps.
    pub(super) fn mu(case: &Case) -> Option<f64> {
        let G = case.params.G()?.as_ps() as f64;
        let ports = if case.ports == Ports::Single { 2.0 } else { 1.0 };
        Some(ports * G * BYTES as f64 / case.params.word.get() as f64)
    }

    /// Returns P as a factor of times.
    fn P(&self) -> i64 {
        self.case.params.P as i64
    }

    /// Returns the time of a message of a word: L + 2o.
    fn way(&self) -> Time {
        self.case.params.L + 2 * self.case.params.o
    }

    /// Returns the rounds of a barrier or a collective: ceil(log2 P).
    fn rounds(&self) -> i64 {
        i64::from(self.case.params.P.next_power_of_two().ilog2())
    }

    /// Returns the time from a send of a word to the next, with a reception in between: max(L + 2o, g).
    fn hop(&self) -> Time {
        self.way().max(self.case.params.g)
    }

    /// Returns the time of a barrier at whose start no gap runs.
    fn barrier(&self) -> Time {
        match self.case.barrier {
            Some(cost) => cost,
            None if self.P() == 1 => Time::ZERO,
            None => (self.rounds() - 1) * self.hop() + self.way(),
        }
    }

    /// Returns the time of a step of a linear permutation with messages of a word.
    pub(super) fn tau(&self) -> Time {
        match self.case.barrier {
            Some(cost) => (self.way() + cost).max(self.case.params.g),
            None => (self.rounds() + 1) * self.hop(),
        }
    }

    /// Returns the rest of the gap after a stage that ended with a barrier.
    fn gap_left(&self) -> Time {
        match self.case.barrier {
            Some(cost) => (self.case.params.g - self.way() - cost).max(Time::ZERO),
            None => self.hop() - self.way(),
        }
    }

    /// Returns the time that messages of `bytes` bytes take longer than those of a word, where pairs exchange
    /// them, or where each processor sends to one and receives from another.
    fn extra_time(&self, bytes: usize, in_pairs: bool) -> Time {
        let stream = self.case.params.stream(self.case.params.words(bytes));
        if in_pairs { self.pair_time(stream, stream) } else { self.ring_time(stream, true) }
    }

    /// Returns the same for a pair, whose messages stream for `one` and `other`. With a single port one waits
    /// for the other, if it does not fit into L.
    fn pair_time(&self, one: Time, other: Time) -> Time {
        let wait = self.case.ports == Ports::Single
            && one.max(other) > self.case.params.L
            && one.min(other) > Time::ZERO;
        if wait { self.case.params.L + one + other } else { one.max(other) }
    }

    /// Returns the same where each processor sends to one and receives from another, for at most `longest`.
    /// If some do `both` for longer than a word, a message may wait for the two that need its ports.
    fn ring_time(&self, longest: Time, both: bool) -> Time {
        let wait = self.case.ports == Ports::Single && longest > self.case.params.L && both;
        if wait { 2 * self.case.params.L + 3 * longest } else { longest }
    }

    /// Returns the same for step k of a linear permutation with a matrix's messages, or `None` if it has
    /// none: "the time taken by any iteration is dictated by the longest of the messages that need to be sent
    /// during that iteration" (appendix).
    fn step_time(&self, matrix: &Matrix, k: usize) -> Option<Time> {
        let P = matrix.P();
        let stream = |i: usize| match matrix.at(i, partners(i, k, P).0) {
            0 => Time::ZERO,
            elements => self.case.params.stream(self.case.params.words(BYTES * elements)),
        };
        let comes = |i: usize| stream(partners(i, k, P).1);
        let any = (0..P).any(|i| matrix.at(i, partners(i, k, P).0) > 0);
        let longest = match P.is_power_of_two() {
            true => (0..P).map(|i| self.pair_time(stream(i), comes(i))).max(),
            false => {
                let both = (0..P).any(|i| stream(i).min(comes(i)) > Time::ZERO);
                (0..P).map(stream).max().map(|longest| self.ring_time(longest, both))
            }
        };
        longest.filter(|_| any)
    }

    /// Returns the time of an exchange in which each processor has `bytes` bytes for each (LogP, section
    /// 4.1.4).
    fn all_to_all(&self, bytes: usize) -> Time {
        let Params { L, o, g, .. } = self.case.params;
        let stream = self.case.params.stream(self.case.params.words(bytes));
        match self.P() - 1 {
            0 => Time::ZERO,
            others => lockstep_time(others, o, g, stream + g, stream + L),
        }
    }

    /// Returns the time of the exchange of send vectors, if the gap of the last message still runs for
    /// `gap_left`.
    pub(super) fn vectors(&self, gap_left: Time) -> Time {
        if self.P() == 1 { Time::ZERO } else { gap_left + self.all_to_all(BYTES) }
    }

    /// Returns the time of the steps of a linear permutation. Some have messages, and take this much `longer`
    /// than with messages of a word: the sum of tau + mu s. The others are barriers.
    fn steps_time(&self, longer: &[Time]) -> Time {
        let busy = longer.len() as i64;
        let empty = self.P() - 1 - busy;
        let barriers = match self.case.barrier {
            Some(cost) => empty * cost,
            None => empty * self.rounds() * self.hop(),
        };
        let gap_before = self.hop() - self.way();
        match (busy, self.case.barrier) {
            (0, Some(_)) => barriers,
            _ if self.P() == 1 => Time::ZERO,
            _ => {
                gap_before + longer.iter().copied().sum::<Time>() + busy * self.tau() + barriers
                    - self.gap_left()
            }
        }
    }

    /// Returns the time of steps that all have messages of at most `elements` elements and their padding.
    fn all_steps(&self, elements: usize, padding: usize) -> Time {
        let P = self.case.params.P;
        match elements {
            0 => self.steps_time(&[]),
            _ => self
                .steps_time(&vec![self.extra_time(BYTES * (elements + padding), P.is_power_of_two()); P - 1]),
        }
    }

    /// Returns the rest of the gap after the reception of a word and then this computing.
    fn gap_after(&self, computing: Time) -> Time {
        (self.hop() - self.way() - computing).max(Time::ZERO)
    }

    /// Returns the time of a scan of a number (docs/reference/collectives.md), and the rest of the gap after
    /// it.
    fn scan(&self) -> (Time, Time) {
        let Params { g, cycle, .. } = self.case.params;
        let (way, step) = (self.way(), |ops: i64| (self.way() + ops * cycle).max(g));
        match self.rounds() {
            0 => (Time::ZERO, Time::ZERO),
            1 => (way, self.gap_after(Time::ZERO)),
            R => (step(1) + (R - 2) * step(2) + way + cycle, self.gap_after(cycle)),
        }
    }

    /// Returns the time of a scan of vectors of P numbers, or of their sum for all, by the faster of two
    /// methods (docs/reference/collectives.md); and the rest of the gap after it.
    fn vector(&self, sum: bool) -> (Time, Time) {
        let (Params { o, g, cycle, .. }, P) = (self.case.params, self.P());
        if P == 1 {
            return (Time::ZERO, Time::ZERO);
        }
        let stream = |bytes: usize| self.case.params.stream(self.case.params.words(bytes));
        let (whole, part) = (stream(self.case.params.P * BYTES), stream(BYTES));
        let combining = P * cycle;
        let in_parts = 2 * ((P - 2) * (part + g).max(2 * o) + self.way() + part) + (P - 1) * cycle;
        if in_parts < self.rounds() * (self.way() + whole + combining) {
            let between = ((P - 1) * cycle).max(g - self.way());
            return (2 * self.all_to_all(BYTES) + between, self.gap_after(Time::ZERO));
        }
        // With a single port a vector may meet the vectors of the steps before and after.
        let meets = self.case.ports == Ports::Single && whole > Time::ZERO;
        let whole = if meets { 2 * self.case.params.L + 3 * whole } else { whole };
        let step = whole + (self.way() + combining).max(g);
        match sum && !self.case.params.P.is_power_of_two() {
            true => ((self.rounds() + 1) * step + self.way() + whole, self.gap_after(Time::ZERO)),
            false => ((self.rounds() - 1) * step + self.way() + whole + combining, self.gap_after(combining)),
        }
    }
}

/// Returns the times of the algorithm `linear`: the exchange of the vectors, and the steps.
pub(super) fn linear_times(costs: &TransportationCosts, matrix: &Matrix) -> Vec<Time> {
    let longer: Vec<Time> = (1..matrix.P()).filter_map(|k| costs.step_time(matrix, k)).collect();
    vec![costs.vectors(Time::ZERO), costs.steps_time(&longer)]
}

/// Returns the longest message of either stage, in elements.
pub fn longest_messages(matrix: &Matrix, form: &TwoStageForm) -> (usize, usize) {
    let P = matrix.P();
    let rounded =
        |elements: &mut dyn Iterator<Item = usize>| elements.map(|a_ij| a_ij.div_ceil(P)).sum::<usize>();
    match form.scheme {
        // Sections 7.1 and 7.2.
        Scheme::Local | Scheme::Scan => {
            let second = (0..P).map(|j| rounded(&mut matrix.column(j))).max();
            (matrix.r().div_ceil(P), second.unwrap_or(0))
        }
        // Section 8.
        Scheme::Alternate | Scheme::Combine => {
            let first = (0..P).map(|i| rounded(&mut matrix.row(i).iter().copied())).max();
            (first.unwrap_or(0), matrix.c().div_ceil(P))
        }
    }
}

/// Returns the times of a two-stage algorithm: preprocessing and communication of the first stage, and of the
/// second.
pub(super) fn two_stage_times(
    costs: &TransportationCosts,
    matrix: &Matrix,
    form: &TwoStageForm,
) -> Vec<Time> {
    let P = matrix.P();
    let (longest1, longest2) = longest_messages(matrix, form);
    let padded = |padding: Padding, longest: usize| padding.elements(form.order(P, longest));
    let bound1 = form.longest1(P, matrix.r());
    let padding1 = padded(form.padding(P, bound1), bound1);
    let padding2 = padded(form.padding(P, longest2), longest2);

    let parts = |most: usize| costs.part * (if form.sparse { (P * P).min(most) } else { P * P }) as i64;
    let shuffling = if form.shuffled { P as i64 * costs.part } else { Time::ZERO };
    let work1 = parts(matrix.r()) + shuffling;
    let work2 = parts(longest1 * P);
    let after = |work: Time| (costs.gap_left() - work).max(Time::ZERO);
    let gap_of_a_word = if P > 1 { costs.hop() - costs.way() } else { Time::ZERO };
    let (scans, gap) = match form.scheme {
        Scheme::Local => (Time::ZERO, Time::ZERO),
        Scheme::Scan => costs.scan(),
        Scheme::Alternate => costs.vector(false),
        Scheme::Combine => {
            let ((sum, gap_between), (scan, gap)) = (costs.vector(true), costs.vector(false));
            (sum + gap_between + scan, gap)
        }
    };
    let (mut before1, mut wait1) = (Time::ZERO, Time::ZERO);
    if form.needs_barrier() {
        let scanned = (gap - work1).max(Time::ZERO);
        (wait1, before1) = match costs.case.barrier {
            Some(cost) => (cost, (scanned - cost).max(Time::ZERO)),
            None => (scanned + costs.barrier(), gap_of_a_word),
        };
    }
    let (mut before2, mut wait2) = (after(work2), Time::ZERO);
    if form.sparse {
        (wait2, before2) = match costs.case.barrier {
            Some(cost) => (cost, after(work2 + cost)),
            None => (after(work2) + costs.barrier(), costs.gap_left()),
        };
    }
    vec![
        scans + work1 + wait1,
        costs.vectors(before1) + costs.all_steps(longest1, padding1),
        work2 + wait2,
        costs.vectors(before2) + costs.all_steps(longest2, padding2),
    ]
}

/// Returns the appendix's expected length of the longest message of the second stage, where parts are
/// shuffled: t/p + sqrt(p/6) (sqrt(2 ln p) + gamma / sqrt(2 ln p)). `None` for one processor.
pub fn expected_longest(t: usize, P: usize) -> Option<f64> {
    const GAMMA: f64 = 0.5772;
    let p = P as f64;
    let normal = (2.0 * p.ln()).sqrt();
    (P > 1).then(|| t as f64 / p + (p / 6.0).sqrt() * (normal + GAMMA / normal))
}
