//! Whether what keeps a processor busy lasts as long as it costs, and as long as its detours last that fall into it.
//!
//! The detours of a time are laid out one by one, and what is outside of them is added up.

use super::auditor::{Auditor, Rule, broken};
use super::deed::Deed;
use crate::params::Noise;
use crate::time::{PS, Time};
use crate::trace::ActivityKind;

impl Auditor<'_> {
    /// Whether a processor that is busy from one moment to another has had as much time as that costs, and went on at once.
    pub(super) fn lasts(&self, id: usize, start: Time, end: Time, cost: Time) -> bool {
        match &self.trace.noise {
            Some(noise) if cost > Time::ZERO => {
                outside(noise, id, start, end) == cost && goes_on(noise, id, end)
            }
            _ => end - start == cost,
        }
    }

    /// Whether a processor can have had so much time by a moment.
    pub(super) fn may_have_had(&self, id: usize, start: Time, end: Time, cost: Time) -> bool {
        match &self.trace.noise {
            Some(noise) if cost > Time::ZERO => outside(noise, id, start, end) >= cost,
            _ => end - start >= cost,
        }
    }

    /// Nobody is done computing during a detour. (What the work costs, the trace does not say.)
    pub(super) fn follow_work(&mut self, did: &[Deed]) {
        let Some(noise) = &self.trace.noise else { return };
        for &Deed { id, start, end, what, .. } in did {
            if matches!(what, ActivityKind::Work(_)) && start < end {
                broken!(self, "processor {id} computes from {start}",
                    !goes_on(noise, id, end) || outside(noise, id, start, end) <= Time::ZERO => Rule::Noise,
                        "until {end}, in a detour";
                );
            }
        }
    }
}

/// Whether a processor has the picosecond before a moment to itself.
fn goes_on(noise: &Noise, id: usize, moment: Time) -> bool {
    outside_of_few(noise, id, moment - PS, moment) == PS
}

/// How much of a time a processor has to itself.
fn outside(noise: &Noise, id: usize, start: Time, end: Time) -> Time {
    let (cycle, length) = (noise.cycle(), end - start);
    if length == Time::MAX {
        return Time::ZERO; // a trace may say any times
    }
    let whole = (length.as_ps() / cycle.as_ps()).max(0);
    let rest = outside_of_few(noise, id, start + whole * cycle, end);
    if whole == 0 { rest } else { whole * outside_of_few(noise, id, Time::ZERO, cycle) + rest }
}

/// The same for a time with few detours.
fn outside_of_few(noise: &Noise, id: usize, start: Time, end: Time) -> Time {
    let taken: Time = noise.detours(id, start, end).iter().map(|(from, until)| *until - *from).sum();
    (end - start).max(Time::ZERO) - taken
}
