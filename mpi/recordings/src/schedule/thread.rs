//! The state of a rank's threads while its operations are written.

use std::collections::BTreeMap;

use loggp_goal::patterns::Prerequisite;

/// A thread, which does one thing after the other.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The operations that the next one waits for.
    pub before: Vec<Prerequisite>,
    /// The start of the current computation; `None` if the thread has made no call.
    pub computing_since: Option<i64>,
    /// The rest of past computations below a unit, in ps.
    pub carried_ps: i64,
    /// The last computation: when it began and ended, and its operation.
    pub last_calc: Option<(i64, i64, u32)>,
    /// Tests and probes that found nothing, and that may turn out to be waiting.
    pub looks: Option<VainLooks>,
    /// The gets for which it has not waited: the rank whose memory it is, and the operation.
    pub gets: Vec<(u32, u32)>,
}

/// Tests and probes that found nothing, with no other call in between.
#[derive(Clone, Copy, Debug)]
pub(super) struct VainLooks {
    pub begin: i64,
    pub count: u64,
    /// The time inside of these calls.
    pub inside_ns: i64,
}

/// The moments that count already.
#[derive(Debug, Default)]
pub(super) struct CountedTime {
    /// Stretches that neither overlap nor touch: their begins and ends.
    stretches: BTreeMap<i64, i64>,
}

impl CountedTime {
    /// Counts the moments between two, and returns how many of them did not count before.
    pub(super) fn add(&mut self, since: i64, until: i64) -> i64 {
        if since >= until {
            return 0;
        }
        let (mut begin, mut end, mut known) = (since, until, 0);
        // Mostly there is none, or the last one.
        while let Some((&other, &other_end)) = self.stretches.range(..=end).next_back() {
            if other_end < begin {
                break;
            }
            known += (other_end.min(until) - other.max(since)).max(0);
            (begin, end) = (begin.min(other), end.max(other_end));
            self.stretches.remove(&other);
        }
        self.stretches.insert(begin, end);
        until - since - known
    }

    /// Forgets all before a moment, after which everything begins that will be added.
    pub(super) fn forget_before(&mut self, moment: i64) {
        while let Some(first) = self.stretches.first_entry()
            && *first.get() < moment
        {
            first.remove();
        }
    }
}
