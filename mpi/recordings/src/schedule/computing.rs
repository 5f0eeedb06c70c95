//! The computing between calls, in which each moment of a rank counts once.
//!
//! A rank of a schedule is one processor, and threads that computed at once had one each. What several of them computed
//! in the same moments is done by the one whose call was written first, and the others wait for it.

use loggp_model::time::Time;
use loggp_schedule::Operation;

use super::functions::POINT_TO_POINT;
use super::rank::RankWriter;
use super::thread::{Thread, VainLooks};
use super::unseen::{add_found, add_vain};
use crate::call::{MpiCall, MpiCallKind};
use crate::error::ProgramError;

impl RankWriter<'_> {
    /// Adds the computing before a call.
    pub(super) fn add_compute(&mut self, call: &MpiCall) -> Result<(), ProgramError> {
        let thread = usize::from(call.thread);
        let Thread { computing_since, looks, .. } = &mut self.threads[thread];
        // A thread's first call may have been looks.
        let since = computing_since.unwrap_or_else(|| looks.map_or(call.begin, |looks| looks.begin));
        let finds = matches!(&call.kind, MpiCallKind::Complete { requests, .. } if !requests.is_empty())
            || matches!(call.kind, MpiCallKind::Probe { .. });
        let since_begin = |looks: &VainLooks| call.begin.saturating_sub(looks.begin);
        let until = match looks.take() {
            // Hardly any time is between the looks: the thread waits.
            Some(looks) if finds && since_begin(&looks) <= looks.inside_ns.max(0).saturating_mul(2) => {
                *self.times.entry(POINT_TO_POINT).or_default() += since_begin(&looks);
                add_found(&mut self.shared.unseen, &call.kind, true);
                looks.begin
            }
            looks => {
                add_vain(&mut self.shared.unseen, looks);
                add_found(&mut self.shared.unseen, &call.kind, false);
                call.begin
            }
        };
        self.compute(thread, since, until)
    }

    pub(super) fn compute(&mut self, thread: usize, since: i64, until: i64) -> Result<(), ProgramError> {
        let refuse = |rank, why: &str| Err(ProgramError::of_rank(rank, why));
        if until < since {
            return refuse(self.rank, "a call begins before the last one ended");
        }
        let ns = match self.threads.len() {
            1 => until.checked_sub(since),
            _ => until.checked_sub(since).map(|_| self.computed.add(since, until)),
        };
        let this = &mut self.threads[thread];
        let ps = ns.and_then(|ns| ns.checked_mul(1000)?.checked_add(this.carried_ps));
        let (Some(ns), Some(ps)) = (ns, ps) else {
            return refuse(self.rank, "it computes for longer than a schedule can");
        };
        self.index.computing_ns = self.index.computing_ns.saturating_add(ns);
        if self.threads.len() > 1 {
            self.wait_for_other_threads(thread, since, until);
        }
        let this = &mut self.threads[thread];
        let unit = self.shared.options.unit.as_ps().max(1);
        this.carried_ps = ps % unit;
        match ps - this.carried_ps {
            0 => Ok(()),
            ps => {
                let calc = self.add(thread, Operation::Calc(Time::from_ps(ps)))?;
                self.threads[thread].last_calc = Some((since, until, calc));
                self.go_on_after(thread, [(calc, false)]);
                Ok(())
            }
        }
    }

    /// Makes what follows wait for what other threads computed at the same time, since that counts for both.
    fn wait_for_other_threads(&mut self, thread: usize, since: i64, until: i64) {
        for other in 0..self.threads.len() {
            if let Some((begin, end, calc)) = self.threads[other].last_calc
                && other != thread
                && begin.max(since) < end.min(until)
            {
                self.threads[thread].before.push((calc, false));
            }
        }
    }
}
