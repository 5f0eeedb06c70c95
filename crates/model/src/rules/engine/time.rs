//! Computing, waits for a time, and the log.

use std::borrow::Cow;
use std::panic::Location;

use super::requests::account;
use super::{ActivityLog, Engine};
use crate::log::{ActivityKind, CallKind, CallMessages};
use crate::rules::operation::ActiveOperation;
use crate::time::Time;

impl<'n> Engine<'n> {
    /// Computes for the time `cost`. Work without a cost is not traced.
    #[inline]
    pub fn work(&mut self, kind: impl Into<Cow<'static, str>> + Clone, cost: Time) {
        let start = self.rank.now;
        self.rank.now = start.max(self.network.busy_until(self.id(), start, cost));
        self.stats.work += self.rank.now - start;
        if self.is_traced && self.rank.now > start {
            self.log_work(kind.into());
        }
    }

    #[cold]
    fn log_work(&mut self, kind: Cow<'static, str>) {
        self.log_activity(ActivityKind::Work(kind.clone()));
        self.write_call(|_| Some(CallKind::Work(kind)));
    }

    /// Waits until `t`, unless it has passed.
    pub fn wait_until(&mut self, t: Time) {
        self.spend_until(t, ActivityKind::Idle);
    }

    /// Waits until the deadline of a look that found nothing. If the deadline has passed, this takes a cycle,
    /// so that looking moves time forward.
    pub fn wait_in_vain(&mut self, deadline: Time) {
        let (now, cycle) = (self.rank.now, self.network.params().cycle);
        self.wait_until(if deadline > now { deadline } else { now + cycle });
    }

    /// Waits in the machine's own barrier until its end. The auditor counts barriers, also those without a wait.
    pub fn wait_in_barrier(&mut self, end: Time) {
        self.spend(end, ActivityKind::Barrier);
    }

    /// Spends the time until a moment, unless it has passed, on a wait.
    pub(super) fn spend_until(&mut self, until: Time, kind: ActivityKind) {
        if until > self.rank.now {
            self.spend(until, kind);
        }
    }

    fn spend(&mut self, until: Time, kind: ActivityKind) {
        let start = std::mem::replace(&mut self.rank.now, until);
        *account(&mut self.stats, &kind) += until - start;
        if self.is_traced {
            self.log_activity(kind);
        }
    }

    /// Runs a closure in the local time of an operation: its own if it is a request, else the processor's.
    #[inline(always)]
    pub(super) fn with_local_time<R>(
        &mut self,
        operation: &mut ActiveOperation,
        run: impl FnOnce(&mut Engine<'n>, ActivityLog) -> R,
    ) -> R {
        let Some(state) = &mut operation.request else { return run(self, None) };
        std::mem::swap(&mut self.rank.now, &mut state.now);
        let done = run(self, Some(&mut state.activities));
        std::mem::swap(&mut self.rank.now, &mut state.now);
        done
    }

    /// Logs an activity until now.
    #[cold]
    pub(super) fn log_activity(&mut self, kind: ActivityKind) {
        if let Some(log) = &mut self.log {
            log.add_activity(self.rank.now, kind);
        }
    }

    /// Logs the call that ends now, if the run is traced.
    #[inline]
    pub fn log_call(&mut self, what: impl FnOnce(&CallMessages) -> Option<CallKind>) {
        if self.is_traced {
            self.write_call(what);
        }
    }

    /// Logs the location of the last call, which could have received one of several messages.
    #[inline]
    pub fn log_location(&mut self, at: &'static Location<'static>) {
        if self.is_traced {
            self.write_location(at);
        }
    }

    #[cold]
    fn write_location(&mut self, at: &'static Location<'static>) {
        if let Some(log) = &mut self.log {
            log.note_location(at);
        }
    }

    #[cold]
    pub(super) fn write_call(&mut self, what: impl FnOnce(&CallMessages) -> Option<CallKind>) {
        if let Some(log) = &mut self.log {
            let what = what(&log.call_messages);
            log.end_call(self.rank.now, what);
        }
    }
}
