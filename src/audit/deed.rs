//! What a processor did for a while, or one of its requests beside it.

use crate::time::Time;
use crate::trace::{Activity, ActivityKind, Progress, Trace};

/// What a processor or a request did for a while.
#[derive(Clone, Copy)]
pub(super) struct Deed<'a> {
    /// The processor.
    pub id: usize,
    /// Its request that did so, unless it was itself.
    pub request: Option<u32>,
    /// When it began.
    pub start: Time,
    /// When it was over.
    pub end: Time,
    /// What it was.
    pub what: &'a ActivityKind,
}

/// All that was done: by processor, what it did itself before what each of its requests did, and by time.
pub(super) fn deeds(trace: &Trace) -> Vec<Deed<'_>> {
    let own = |&Activity { id, start, end, ref what }| Deed { id, request: None, start, end, what };
    let beside = |&Progress { id, request, start, end, ref what }| {
        let request = Some(request);
        Deed { id, request, start, end, what }
    };
    let mut deeds: Vec<Deed> = trace.activities.iter().map(own).collect();
    deeds.extend(trace.progress.iter().map(beside));
    // What lasts no time comes before what begins with it.
    deeds.sort_by_key(|deed| (deed.id, deed.request, deed.start, deed.end));
    deeds
}
