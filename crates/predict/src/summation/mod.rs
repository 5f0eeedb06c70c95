//! Summation: n operands are added up, and processor 0 gets the sum. The operands may lie anywhere at the
//! start.
//!
//! The optimal algorithm is a broadcast run backwards (LogP, section 3.3 and figure 4; Karp et al., section
//! 4). All processors add all the time, and send their sum as late as its receiver can still use it. A
//! processor whose sum is to be ready at T can add a received sum in the last o + 1 cycles. That sum was sent
//! at T - (L + 2o + 1), and the one before it g earlier. So S(T), the most operands that can be summed by T,
//! is a sum over the P smallest labels t of the broadcast tree with D = L + 2o + 1 and d = max(g, o + 1): a
//! processor sends at T - t, and contributes T - t additions less the o that its message costs its receiver
//! (lemma 4.2).

pub mod schedule;

use loggp_model::params::Params;
use loggp_model::time::Time;
use loggp_schedule::{Schedule, ScheduleError};

use crate::plan::boxed;
use crate::trees::{self, choose, reachable};
use crate::{ClosedForm, Description, FormKind, Predict, Refusal, Setting, Size, StepProgram, steps};
use schedule::{StepTimes, SummationRole};

/// Purpose and source of the program.
pub const ABOUT: &str =
    "one processor gets the sum of n operands (LogP, section 3.3; Karp et al., section 4)";
/// Meaning and default of its size.
pub const SIZE: Size = Size { meaning: "operands, unless --time says how many", default: 1000 };

/// The program.
pub static SUMMATION: StepProgram = StepProgram {
    about: ABOUT,
    size: SIZE,
    algorithms: &[
        (OPTIMAL, |s| boxed(Summation::new(s, SummationVariant::Optimal, None))),
        (BINOMIAL, |s| boxed(Summation::new(s, SummationVariant::Binomial, None))),
    ],
};

/// The algorithm `optimal`.
pub const OPTIMAL: Description = Description {
    name: "optimal",
    about: "every processor adds all the time, and sends its sum as late as it is of use",
    formula: ClosedForm::Paper(
        "Karp et al., lemma 4.2",
        "the least T with S(T) >= n, where L, o and g are whole cycles: S(T) = o + 1 + the sum of \
                 T - o - t over the labels t <= T - o of the P first",
    ),
};

/// The algorithm `binomial`.
pub const BINOMIAL: Description = Description {
    name: "binomial",
    about: "every processor adds up its n/P operands, then halves send their sums to halves",
    formula: ClosedForm::Ours(
        "t(P), with t(1) = its operands - 1 and \
                 t(m) = max(L+2o+1 + t(floor(m/2)), max(g, o+1) + t(ceil(m/2)))",
    ),
};

/// The distribution of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummationVariant {
    /// As in a broadcast run backwards: every processor adds all the time.
    Optimal,
    /// Evenly; halves of the processors send their sums to the other halves.
    Binomial,
}

/// A summation.
pub struct Summation<'a> {
    setting: Setting<'a>,
    variant: SummationVariant,
    /// Time in which the most possible operands are summed, if it was given.
    time: Option<Time>,
    /// Number of operands.
    operands: i128,
}

impl<'a> Summation<'a> {
    /// Returns the summation of as many operands as the size says, or of the most that can be summed in a time; or refuses it.
    pub fn new(
        setting: Setting<'a>,
        variant: SummationVariant,
        time: Option<Time>,
    ) -> Result<Summation<'a>, Refusal> {
        /// More than 4 GiB of operands.
        const MOST: i128 = 1 << 28;
        let (params, size) = (setting.params, setting.size);
        if time.is_some() && size != SIZE.default {
            refuse!("--time says how many operands there are; leave --size out");
        }
        let n = time.map_or(size as i128, |T| most_operands(params, variant, T));
        match time {
            _ if n == 0 => refuse!("a size of 0 leaves nothing to sum; give at least 1"),
            None if n > MOST => {
                refuse!("{n} operands are more than a host may have room for; give at most {MOST}")
            }
            Some(T) if n > MOST => refuse!(
                "{n} operands can be summed in {T}, more than a host may have room for; give a shorter time, \
                 for at most {MOST} operands"
            ),
            _ if n > (Time::MAX.as_ps() / params.cycle.as_ps()).into() => {
                refuse!("{n} additions of {} take longer than time lasts; give fewer", params.cycle)
            }
            _ => Ok(Summation { setting, variant, time, operands: n }),
        }
    }

    /// Returns the number of operands.
    pub fn operands(&self) -> i128 {
        self.operands
    }

    /// Returns each processor's role.
    pub fn roles(&self) -> Vec<SummationRole> {
        schedule(self.setting.params, self.variant, self.operands as usize)
    }
}

impl Predict for Summation<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        let params = self.setting.params;
        let time = match self.variant {
            SummationVariant::Optimal => {
                let whole = |time: Time| time.as_ps() % params.cycle.as_ps() == 0;
                let n = || self.time.map_or(self.operands, |T| S(T, params));
                [params.L, params.o, params.g].into_iter().all(whole).then(|| optimal_time(n(), params))?
            }
            SummationVariant::Binomial => binomial_time(self.operands, params.P, &StepTimes::new(params)),
        };
        Some((FormKind::Exact, time))
    }

    fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        let Setting { params, levels, .. } = self.setting;
        let roles = self.roles();
        let steps = |id: usize| roles.get(id).into_iter().flat_map(SummationRole::steps);
        levels.is_empty().then(|| steps::schedule(params, steps))
    }
}

/// Returns each processor's role in a summation of n operands. Processors beyond the end of the list have
/// nothing to do.
pub fn schedule(params: &Params, variant: SummationVariant, n: usize) -> Vec<SummationRole> {
    let P = params.P;
    match variant {
        SummationVariant::Optimal => schedule::optimal(StepTimes::new(params), P, n),
        SummationVariant::Binomial => schedule::binomial(P, n),
    }
}

/// Returns the most operands that can be summed in time T.
fn most_operands(params: &Params, variant: SummationVariant, T: Time) -> i128 {
    let (P, steps) = (params.P, StepTimes::new(params));
    if variant == SummationVariant::Optimal {
        return schedule::most_operands(steps, P, T);
    }
    let (mut enough, mut too_many) = (1, P as i128 * i128::from(T.as_ps() / steps.cycle.as_ps() + 1) + 1);
    while too_many - enough > 1 {
        let n = enough + (too_many - enough) / 2;
        if binomial_time(n, P, &steps) <= T { enough = n } else { too_many = n }
    }
    enough
}

/// Returns the least T with S(T) >= n.
fn optimal_time(n: i128, params: &Params) -> Time {
    let (mut early, mut enough) = (-1, n as i64 - 1); // cycles; one processor needs n - 1
    while enough - early > 1 {
        let T = early + (enough - early) / 2;
        if S(T * params.cycle, params) < n { early = T } else { enough = T }
    }
    enough * params.cycle
}

/// Returns S(T), the most operands that can be summed by T (Karp et al., theorem 4.1), where L, o and g are
/// whole cycles.
///
/// By lemma 4.2 it is the sum of S_i - o over all P processors, plus o + 1, with S_i = T - t_i for the label
/// t_i. A processor with S_i < o would cost more than it contributes, so it is left out (LogP, section 3.3).
/// At depth j of the tree there are C(i+j-1, j-1) labels jD + id, and for all i <= m
///
/// - the sum of C(i+j-1, j-1) is C(m+j, j),
/// - the sum of i C(i+j-1, j-1) is j C(m+j, j+1).
fn S(T: Time, params: &Params) -> i128 {
    let Params { L, o, g, P, cycle, .. } = *params;
    let (D, d) = (L + 2 * o + cycle, g.max(o + cycle));
    let worth = T - o; // a processor with label t contributes this less t
    // The last label that counts. Others after the P-th processor may have the same one.
    let last = worth.min(if P == 1 { Time::ZERO } else { trees::B(P, D, d) });
    let surplus = reachable(last, D, d, 2 * P).saturating_sub(P as u128);

    let ps = |time: Time| i128::from(time.as_ps());
    let mut sum = ps(worth); // the root's contribution, even if it is negative
    for j in 1.. {
        let rest = last - j * D;
        if rest < Time::ZERO {
            break;
        }
        let (j, m) = (j as u128, (rest.as_ps() / d.as_ps()) as u128);
        let count = choose(m + j, j, u128::MAX) as i128;
        let elder = if m == 0 { 0 } else { j as i128 * choose(m + j, j + 1, u128::MAX) as i128 };
        sum += count * (ps(worth) - j as i128 * ps(D)) - elder * ps(d);
    }
    sum -= surplus as i128 * ps(worth - last);
    (sum + ps(o + cycle)) / ps(cycle)
}

/// Returns the time of the tree by halving for n operands on P processors. Those with the highest numbers
/// have one operand more.
fn binomial_time(n: i128, P: usize, steps: &StepTimes) -> Time {
    let P = P.min(usize::try_from(n).unwrap_or(usize::MAX)).max(1);
    halving_time(P, (n % P as i128) as usize, (n / P as i128) as i64 - 1, steps)
}

/// Returns the time at which a group of m processors has its sum. `more` of them have `additions` + 1
/// additions of their own, and the others have `additions`.
fn halving_time(m: usize, more: usize, additions: i64, steps: &StepTimes) -> Time {
    let alike = |additions| additions * steps.cycle + trees::binomial_time(m, steps.D, steps.d);
    match more {
        0 => alike(additions),
        _ if more == m => alike(additions + 1),
        _ => {
            // The half that is sent away has the higher numbers.
            let (kept, sent) = (m - m / 2, m / 2);
            let (of_kept, of_sent) = (more.saturating_sub(sent), more.min(sent));
            let sent = steps.D + halving_time(sent, of_sent, additions, steps);
            if kept == 1 { sent } else { sent.max(steps.d + halving_time(kept, of_kept, additions, steps)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use loggp_model::time::US;

    use super::*;

    /// Compares the closed form with the labels themselves: n = sum of S_i - o(P-1) + 1 (lemma 4.2).
    #[test]
    fn closed_form_is_lemma_4_2() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..2000 {
            let mut cycles = |most| rng.i64(0..=most) * US;
            let (L, o, g) = (cycles(20), cycles(6), cycles(12));
            let params = Params::builder(rng.usize(1..40)).L(L).o(o).g(g).build().unwrap();
            let mut labels = vec![Time::ZERO];
            let mut next = vec![L + 2 * o + US];
            while labels.len() < params.P {
                let child = (0..next.len()).min_by_key(|id| next[*id]).unwrap();
                labels.push(next[child]);
                next.push(next[child] + L + 2 * o + US);
                next[child] += g.max(o + US);
            }
            for T in 0..60 {
                let S_less_o = labels[1..].iter().map(|t| (T * US - *t - o).max(Time::ZERO));
                let n = (T * US + S_less_o.sum::<Time>() + US).as_ps() / US.as_ps();
                assert_eq!(S(T * US, &params), n.into(), "{params:?}, T = {T}");
            }
        }
    }
}
