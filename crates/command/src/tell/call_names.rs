//! The names of the messages and the computing of a played schedule: the calls of the recorded program.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use loggp::path::Events;
use loggp::schedule::{Beginning, Operation, PlayReport};
use loggp::trace::{ActivityKind, Trace};
use loggp_schedule::program::{ProgramSchedule, SpanKind};
use loggp_study::analysis::{BEFORE, IN, MessageNames};

use crate::number::count;

/// The names of messages: each is made once.
pub struct CallNames<'a> {
    program: &'a ProgramSchedule,
    calls: HashMap<SpanKind, Rc<str>>,
    others: HashMap<String, Rc<str>>,
}

impl<'a> CallNames<'a> {
    pub fn new(program: &'a ProgramSchedule) -> CallNames<'a> {
        CallNames { program, calls: HashMap::new(), others: HashMap::new() }
    }

    /// Returns the names of the messages of a play, of which the operations that sent and received each are given.
    pub fn of_messages(mut self, trace: &Trace, operations: &[[u32; 2]]) -> MessageNames {
        let events = Events::new(trace);
        let mut names = MessageNames { are_calls: self.program.is_recorded(), ..MessageNames::default() };
        for (message, operations) in operations.iter().enumerate() {
            let ends = [events.message(message).id.from, events.message(message).to];
            let [sent, received] = self.of_message(ends, *operations);
            names.sent.push(Some(sent));
            names.received.push(Some(received));
        }
        names
    }

    /// Returns what the send and the reception of a message are called: by their calls, if they are known, or else by
    /// the message's ends, tag and length.
    pub fn of_message(&mut self, [from, to]: [usize; 2], [sent, received]: [u32; 2]) -> [Rc<str>; 2] {
        /// From this number of ranks on messages are told apart by tag and length alone.
        const MANY: usize = 64;
        let [one, other] = [(from, sent), (to, received)].map(|(rank, operation)| {
            let operation = Some(operation).filter(|operation| *operation != PlayReport::NOT_RECEIVED)?;
            let kind = self.program.call_of(rank, operation)?.kind;
            let name = || self.program.call_name(kind).into();
            Some(Rc::clone(self.calls.entry(kind).or_insert_with(name)))
        });
        match (one, other) {
            (Some(one), Some(other)) => return [one, other],
            (Some(one), None) | (None, Some(one)) => return [Rc::clone(&one), one],
            (None, None) => (),
        }
        let schedule = &self.program.schedule;
        // The reply before a long message is sent by its receive.
        let placed =
            [schedule.operation_at(from, sent), schedule.operation_at(to, received)].into_iter().flatten();
        let of_send = placed.map(|placed| placed.operation).find_map(|operation| match operation {
            Operation::Send { bytes, tag, .. } => {
                Some(format!("tag {tag}, {}", count(bytes as usize, "byte")))
            }
            _ => None,
        });
        let about = of_send.unwrap_or_default();
        let name = if schedule.ranks() < MANY { format!("{from} to {to}, {about}") } else { about };
        let name = self.others.entry(name).or_insert_with_key(|name| name.as_str().into());
        [Rc::clone(name), Rc::clone(name)]
    }
}

/// Returns the names of both ends of a message as one.
pub fn joined_name([one, other]: &[Rc<str>; 2]) -> String {
    if one == other { one.to_string() } else { format!("{one}, received by {other}") }
}

/// The names of what the ranks of a recorded program compute, in the order in which they do.
pub struct WorkNames<'a> {
    program: &'a ProgramSchedule,
    kinds: HashMap<(SpanKind, bool), &'static str>,
    of_ranks: Vec<Vec<&'static str>>,
}

impl<'a> WorkNames<'a> {
    pub fn new(program: &'a ProgramSchedule) -> WorkNames<'a> {
        let of_ranks = vec![Vec::new(); program.ranks.len()];
        WorkNames { program, kinds: HashMap::new(), of_ranks }
    }

    /// Notes that an operation begins.
    pub fn begin(&mut self, Beginning { rank, operation, at, end, .. }: Beginning) {
        // What takes no time is no activity.
        if end.is_none_or(|end| end <= at) {
            return;
        }
        let Some(span) = self.program.call_of(rank, operation) else { return };
        let is_before = span.kind.has_calc && operation == span.first;
        let name = self.kinds.entry((span.kind, is_before)).or_insert_with(|| {
            let how = if is_before { BEFORE } else { IN };
            // A command reads few programs, which call from few places, so the leak is bounded.
            format!("{how}{}", self.program.call_name(span.kind)).leak()
        });
        self.of_ranks[rank].push(name);
    }

    /// Names the computing in the trace of the play.
    pub fn write(self, trace: &mut Trace) {
        let mut names: Vec<_> = self.of_ranks.into_iter().map(Vec::into_iter).collect();
        for activity in &mut trace.activities {
            if let ActivityKind::Work(kind) = &mut activity.kind
                && let Some(name) = names.get_mut(activity.id).and_then(Iterator::next)
            {
                *kind = Cow::Borrowed(name);
            }
        }
    }
}
