//! The trace of a run before it is put together from the processors' logs.

use std::panic::Location;

use loggp_model::log::{Log, Records};

use super::trace::Trace;

/// The logs of a traced run, from which its trace is made: at the end of the run, or when somebody asks for
/// the trace.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The trace without what happened.
    trace: Trace,
    /// The processors' logs, by number.
    logs: Vec<(usize, Box<Log>)>,
    /// The numbers of groups in the trace, by those in the logs.
    groups: Vec<u32>,
    asks_time: bool,
}

/// A run as an observer saw it.
#[derive(Debug)]
pub struct ObservedRun {
    /// The trace, up to the end or the failure of the run.
    pub trace: Trace,
    /// The source locations of calls that may take one of several messages, with the calls' indices in the
    /// trace.
    pub locations: Vec<(usize, &'static Location<'static>)>,
    /// True if the program asked for the time, on which its calls may depend.
    pub asks_time: bool,
}

impl Recording {
    /// Creates a recording from the logs of processors, and a trace without what happened.
    pub fn new(trace: Trace, mut logs: Vec<(usize, Box<Log>)>, groups: Vec<u32>) -> Recording {
        logs.sort_unstable_by_key(|(id, _)| *id);
        Recording { trace, logs, groups, asks_time: false }
    }

    /// Notes whether the program asked for the time.
    pub fn with_time_asked(self, asks_time: bool) -> Recording {
        Recording { asks_time, ..self }
    }

    /// Sets the number of acts that happened out of order.
    pub fn set_out_of_order(&mut self, count: u64) {
        self.trace.out_of_order = count;
    }

    /// Returns the run as an observer sees it.
    pub(super) fn observed(self) -> ObservedRun {
        let mut before = 0;
        let mut locations = Vec::new();
        for (_, log) in &self.logs {
            locations.extend(log.locations().map(|(call, at)| (before + call, at)));
            before += log.call_count();
        }
        ObservedRun { asks_time: self.asks_time, trace: self.into_trace(), locations }
    }

    /// Puts the trace together.
    pub fn into_trace(self) -> Trace {
        let Recording { trace, logs, groups, .. } = self;
        let mut records = Records::default();
        Log::reserve(&mut records, logs.iter().map(|(_, log)| &**log));
        for (id, log) in logs {
            log.append_to(id, &groups, &mut records);
        }
        let Records { activities, progress, mut messages, calls } = records;
        if trace.rendezvous.is_read() {
            messages.sort_by_key(|message| message.id); // the logs of their readers have some
        }
        Trace { activities, progress, messages, calls, ..trace }
    }
}
