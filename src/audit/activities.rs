//! The activities of processors and of their requests.

use crate::time::Time;
use crate::trace::{Activity, ActivityKind, Progress, Trace};

/// An activity of a processor, or of one of its requests.
#[derive(Clone, Copy)]
pub(super) struct AuditedActivity<'a> {
    pub id: usize,
    /// The number of the request, or `None` if the processor itself was active.
    pub request: Option<u32>,
    pub start: Time,
    pub end: Time,
    pub kind: &'a ActivityKind,
}

/// Returns all activities of a trace, sorted by processor. A processor's own come before those of its
/// requests, and each track is sorted by time.
pub(super) fn activities(trace: &Trace) -> Vec<AuditedActivity<'_>> {
    let own =
        |&Activity { id, start, end, ref kind }| AuditedActivity { id, request: None, start, end, kind };
    let beside = |&Progress { id, request, start, end, ref kind }| {
        let request = Some(request);
        AuditedActivity { id, request, start, end, kind }
    };
    let mut activities: Vec<AuditedActivity> = trace.activities.iter().map(own).collect();
    activities.extend(trace.progress.iter().map(beside));
    // An activity of no length comes before a longer one that begins at the same moment.
    activities.sort_by_key(|activity| (activity.id, activity.request, activity.start, activity.end));
    activities
}
