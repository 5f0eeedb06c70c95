//! Audits the lengths of activities under noise: the cost, and the detours that fall into that time.
//!
//! The detours of a span of time are laid out one by one, and the time outside of them is added up.

use loggp_model::params::Noise;
use loggp_model::time::{PS, Time};

use super::auditor::{AuditRule, Auditor, broken};
use crate::ActivityKind;
use crate::path::Event;

impl Auditor<'_> {
    /// Returns whether a processor was busy from `start` to `end` for exactly `cost` outside of detours, and
    /// went on at once.
    pub(super) fn has_exact_length(&self, id: usize, start: Time, end: Time, cost: Time) -> bool {
        match &self.trace.noise {
            Some(noise) if cost > Time::ZERO => {
                undisturbed_time(noise, id, start, end) == cost && is_undisturbed(noise, id, end)
            }
            _ => end - start == cost,
        }
    }

    /// Returns whether a processor had at least `cost` outside of detours from `start` to `end`.
    pub(super) fn can_have_had(&self, id: usize, start: Time, end: Time, cost: Time) -> bool {
        match &self.trace.noise {
            Some(noise) if cost > Time::ZERO => undisturbed_time(noise, id, start, end) >= cost,
            _ => end - start >= cost,
        }
    }

    /// Audits that no work ends during a detour. (The trace does not have the cost of work.)
    pub(super) fn audit_work(&mut self, activities: &[Event]) {
        let Some(noise) = &self.trace.noise else { return };
        for &Event { id, start, end, kind, .. } in activities {
            if matches!(kind, ActivityKind::Work(_)) && start < end {
                broken!(self, "processor {id} computes from {start}",
                    !is_undisturbed(noise, id, end) || undisturbed_time(noise, id, start, end) <= Time::ZERO => AuditRule::Noise,
                        "until {end}, in a detour";
                );
            }
        }
    }
}

/// Returns whether the picosecond before a moment is outside of detours.
fn is_undisturbed(noise: &Noise, id: usize, moment: Time) -> bool {
    undisturbed_time_of_few(noise, id, moment - PS, moment) == PS
}

/// Returns the time outside of detours from `start` to `end`.
fn undisturbed_time(noise: &Noise, id: usize, start: Time, end: Time) -> Time {
    let (cycle, length) = (noise.cycle(), end - start);
    if length == Time::MAX {
        return Time::ZERO; // a trace can have any times
    }
    let whole = (length.as_ps() / cycle.as_ps()).max(0);
    let rest = undisturbed_time_of_few(noise, id, start + whole * cycle, end);
    if whole == 0 { rest } else { whole * undisturbed_time_of_few(noise, id, Time::ZERO, cycle) + rest }
}

/// Returns the same for a span with few detours.
fn undisturbed_time_of_few(noise: &Noise, id: usize, start: Time, end: Time) -> Time {
    let taken: Time = noise.detours(id, start, end).iter().map(|(from, until)| *until - *from).sum();
    (end - start).max(Time::ZERO) - taken
}
