//! Whether requests went on by themselves: from their calls on, and until their processor waited for them.

use std::collections::HashMap;

use super::{Auditor, Rule};
use crate::trace::{Activity, ActivityKind, Progress, Trace};

/// What requests did, as if processors had done it: by processor, and each one's by request and time.
pub(super) fn activities(trace: &Trace) -> Vec<(u32, Activity)> {
    let activity = |progress: &Progress| {
        let &Progress { id, request, start, end, ref what } = progress;
        (request, Activity { id, start, end, what: what.clone() })
    };
    let mut all: Vec<(u32, Activity)> = trace.progress.iter().map(activity).collect();
    all.sort_by_key(|(request, activity)| (activity.id, *request, activity.start, activity.end));
    all
}

/// From which of its messages on a sender keeps their order: the first that goes by a request.
pub(super) fn in_order(trace: &Trace) -> HashMap<usize, usize> {
    let mut first: HashMap<usize, usize> = HashMap::new();
    for progress in &trace.progress {
        if let ActivityKind::Send(id) = progress.what {
            let first = first.entry(id.from).or_insert(id.number);
            *first = id.number.min(*first);
        }
    }
    first
}

/// When a request was called for and waited for.
#[derive(Default)]
struct Called<'a> {
    /// The call for it.
    post: Option<&'a Activity>,
    /// The wait for it.
    wait: Option<&'a Activity>,
}

impl Auditor<'_> {
    /// Each request is called for and waited for once, goes on from its call without a break, and is waited for until it
    /// is done.
    pub(super) fn follow_requests(&mut self, x: usize, did: &[&Activity], beside: &[(u32, Vec<&Activity>)]) {
        let mut calls: HashMap<u32, Called> = HashMap::new();
        for activity in did {
            let (number, is_post) = match activity.what {
                ActivityKind::Post(number) => (number, true),
                ActivityKind::Wait(number) => (number, false),
                _ => continue,
            };
            let called = calls.entry(number).or_default();
            let slot = if is_post { &mut called.post } else { &mut called.wait };
            if let Some(before) = slot.replace(activity) {
                let what = if is_post { "calls" } else { "waits" };
                let sentence = format!(
                    "processor {x} {what} for number {number} at {} and {}",
                    before.start, activity.start
                );
                self.report(Rule::Request, sentence);
            }
        }
        let o = self.params.o;
        for (number, pieces) in beside {
            let Some(Called { post: Some(post), wait: Some(wait) }) = calls.remove(number) else {
                let sentence = format!("processor {x} does not both call and wait for number {number}");
                self.report(Rule::Request, sentence);
                continue;
            };
            if post.end - post.start != o {
                let sentence =
                    format!("processor {x} calls for number {number} in {}", post.end - post.start);
                self.report(Rule::Request, format!("{sentence}, and that costs {o}"));
            }
            let mut now = post.start;
            for piece in pieces {
                if piece.start != now || piece.end < piece.start {
                    let sentence =
                        format!("number {number} of processor {x} does nothing, or two things, at {now}");
                    self.report(Rule::Request, sentence);
                }
                now = piece.end;
            }
            let over = now.max(wait.start + o);
            if wait.end != over || wait.start < post.end {
                let sentence = format!("processor {x} waits for number {number} until {}", wait.end);
                self.report(Rule::Request, format!("{sentence}, and that is over at {over}"));
            }
        }
        let mut rest: Vec<u32> = calls.into_keys().collect();
        rest.sort_unstable();
        for number in rest {
            self.report(Rule::Request, format!("number {number} of processor {x} does nothing"));
        }
    }
}
