//! A deed: what a processor, or one of its requests beside it, did for a while.

use crate::time::Time;
use crate::trace::{Activity, ActivityKind, Progress, Trace};

/// What a processor or a request did for a while.
#[derive(Clone, Copy)]
pub(super) struct Deed<'a> {
    /// The processor.
    pub id: usize,
    /// The processor's request that did this, or `None` if the processor itself did.
    pub request: Option<u32>,
    /// When the deed began.
    pub start: Time,
    /// When the deed was over.
    pub end: Time,
    /// What the deed was.
    pub what: &'a ActivityKind,
}

/// All deeds of a trace, sorted by processor. A processor's own deeds come before those of its requests, and each of these
/// lists is in the order of time.
pub(super) fn deeds(trace: &Trace) -> Vec<Deed<'_>> {
    let own = |&Activity { id, start, end, ref what }| Deed { id, request: None, start, end, what };
    let beside = |&Progress { id, request, start, end, ref what }| {
        let request = Some(request);
        Deed { id, request, start, end, what }
    };
    let mut deeds: Vec<Deed> = trace.activities.iter().map(own).collect();
    deeds.extend(trace.progress.iter().map(beside));
    // A deed that lasts no time comes before one that begins at the same moment and lasts.
    deeds.sort_by_key(|deed| (deed.id, deed.request, deed.start, deed.end));
    deeds
}
