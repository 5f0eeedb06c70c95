//! One processor's part of a trace, as it is written during the run: in few bytes, since memory that is
//! written for the first time is most of what tracing costs.

use std::borrow::Cow;
use std::panic::Location;

use super::call::{Call, CallKind, CallMessages, CallTag, Transfer, Until};
use super::record::{Activity, ActivityKind, Message, Progress, Trace};
use crate::message::{MessageId, RawTag};
use crate::time::Time;

/// One processor's part of a trace, written during the run.
// The fields that every message touches come first, and fill two cache lines: see `Proc`.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Log {
    activities: Vec<LoggedActivity>,
    messages: Vec<LoggedMessage>,
    calls: Vec<LoggedCall>,
    /// Messages of the current call.
    pub call_messages: CallMessages,
    /// The last of the names.
    last_name: LastName,
    /// The names of tags.
    names: Vec<&'static str>,
    /// The kinds of work, in order: of an activity and of a call.
    works: Vec<Cow<'static, str>>,
    /// The progress of the processor's requests.
    pub progress: Vec<Progress>,
    /// The calls that are logged in full, in order.
    full_calls: Vec<CallKind>,
    /// Source locations of calls that may take one of several messages, each with the call's index; `None`
    /// where nobody asks for them.
    locations: Option<Vec<(usize, &'static Location<'static>)>>,
}

/// The name that was logged last: where it is in memory, and its place.
#[derive(Clone, Copy, Debug, Default)]
struct LastName {
    address: usize,
    length: u32,
    place: LoggedName,
}

/// An activity. It starts when the one before it ends, since local time passes only in activities.
#[derive(Clone, Copy, Debug)]
struct LoggedActivity {
    end: Time,
    kind: LoggedKind,
}

/// A kind of activity, in as few bytes as a message's name takes.
#[derive(Clone, Copy, Debug)]
enum LoggedKind {
    /// The next of the kinds of work.
    Work,
    /// A message of the processor itself.
    Send(u32),
    Receive(LoggedId),
    Gap,
    Stall,
    Port,
    Idle,
    Barrier,
    Post(u32),
    Wait(u32),
}

/// A message's sender and number.
#[derive(Clone, Copy, Debug)]
struct LoggedId {
    from: u32,
    number: u32,
}

/// A message of the processor.
#[derive(Debug)]
struct LoggedMessage {
    latency: Time,
    enter: Time,
    first: Time,
    arrival: Time,
    number: u32,
    to: u32,
    words: u32,
    place: u32,
}

/// A call, which began when the one before it ended, since local time passes only in calls.
#[derive(Debug)]
struct LoggedCall {
    end: Time,
    kind: LoggedCallKind,
}

/// A kind of call: the frequent ones in few bytes.
#[derive(Debug)]
enum LoggedCallKind {
    /// The next of the kinds of work.
    Work,
    /// A send without a rendezvous.
    Send { to: u32, tag: u64, name: LoggedName, bytes: usize, number: u32 },
    /// A receive that waited for a message and got it, without a rendezvous.
    Receive { is_from_any: bool, tag: u64, name: LoggedName, received: LoggedId },
    /// The next of the calls that are logged in full.
    Full,
}

/// A tag's name: one more than its index, or 0 if the tag has none.
#[derive(Clone, Copy, Debug, Default)]
struct LoggedName(u32);

impl Log {
    /// Creates an empty log, which keeps the locations of calls if `with_locations`.
    pub(crate) fn new(with_locations: bool) -> Log {
        Log { locations: with_locations.then(Vec::new), ..Log::default() }
    }

    /// Adds an activity, which starts when the one before it ends.
    #[inline]
    pub(crate) fn add_activity(&mut self, end: Time, kind: ActivityKind) {
        let kind = match kind {
            ActivityKind::Work(kind) => {
                self.works.push(kind);
                LoggedKind::Work
            }
            ActivityKind::Send(id) => LoggedKind::Send(id.number as u32),
            ActivityKind::Receive(id) => LoggedKind::Receive(LoggedId::new(id)),
            ActivityKind::Gap => LoggedKind::Gap,
            ActivityKind::Stall => LoggedKind::Stall,
            ActivityKind::Port => LoggedKind::Port,
            ActivityKind::Idle => LoggedKind::Idle,
            ActivityKind::Barrier => LoggedKind::Barrier,
            ActivityKind::Post(request) => LoggedKind::Post(request),
            ActivityKind::Wait(request) => LoggedKind::Wait(request),
        };
        self.activities.push(LoggedActivity { end, kind });
    }

    /// Adds activities of the processor's own local time.
    #[inline]
    pub(crate) fn add_activities(&mut self, activities: impl Iterator<Item = Activity>) {
        for Activity { end, kind, .. } in activities {
            self.add_activity(end, kind);
        }
    }

    /// Adds a message of the processor.
    #[inline]
    pub(crate) fn add_message(&mut self, message: Message) {
        let Message { id, to, words, latency, place, enter, first, arrival } = message;
        let (number, to, words, place) = (id.number as u32, to as u32, words as u32, place as u32);
        self.messages.push(LoggedMessage { latency, enter, first, arrival, number, to, words, place });
    }

    /// Ends a call and adds it, if `kind` is one.
    #[inline]
    pub(crate) fn end_call(&mut self, end: Time, kind: Option<CallKind>) {
        self.call_messages.clear();
        let Some(kind) = kind else { return };
        let kind = match kind {
            CallKind::Work(_) => LoggedCallKind::Work,
            CallKind::Send {
                to,
                tag: CallTag { number: tag, name },
                bytes,
                sent: Transfer { message, rendezvous: None },
            } if !matches!(name, Some(Cow::Owned(_))) => {
                let (name, number) = (self.log_name(name), message.number as u32);
                LoggedCallKind::Send { to: to as u32, tag, name, bytes, number }
            }
            CallKind::Receive {
                from,
                tag: CallTag { number: tag, name },
                until: Until::Arrival,
                received: Some(Transfer { message, rendezvous: None }),
            } if !matches!(name, Some(Cow::Owned(_))) => {
                let (name, received) = (self.log_name(name), LoggedId::new(message));
                LoggedCallKind::Receive { is_from_any: from.is_none(), tag, name, received }
            }
            kind => {
                self.full_calls.push(kind);
                LoggedCallKind::Full
            }
        };
        self.calls.push(LoggedCall { end, kind });
    }

    /// Returns the place of a tag's name.
    #[inline]
    fn log_name(&mut self, name: Option<Cow<'static, str>>) -> LoggedName {
        let Some(Cow::Borrowed(name)) = name else { return LoggedName(0) };
        let LastName { address, length, place } = self.last_name;
        if address == name.as_ptr().addr() && length as usize == name.len() {
            return place;
        }
        self.log_other_name(name)
    }

    /// Returns the place of a name that is not the last one.
    fn log_other_name(&mut self, name: &'static str) -> LoggedName {
        /// The number of names among which a name is looked for: others are written again.
        const RECENT: usize = 4;
        let mut recent = self.names.iter().enumerate().rev().take(RECENT);
        let place = recent.find(|(_, before)| std::ptr::eq(**before, name)).map(|(place, _)| place);
        let place = place.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        let place = LoggedName(place as u32 + 1);
        self.last_name = LastName { address: name.as_ptr().addr(), length: name.len() as u32, place };
        place
    }

    /// Notes the source location of the last call, which may take one of several messages.
    #[inline]
    pub(crate) fn note_location(&mut self, at: &'static Location<'static>) {
        if let Some(locations) = &mut self.locations {
            locations.extend(self.calls.len().checked_sub(1).map(|last| (last, at)));
        }
    }

    /// Returns the source locations of calls that may take one of several messages, each with the call's
    /// index among the processor's.
    pub(crate) fn locations(&self) -> impl Iterator<Item = (usize, &'static Location<'static>)> {
        self.locations.iter().flatten().copied()
    }

    /// Returns the number of calls.
    pub(crate) fn call_count(&self) -> usize {
        self.calls.len()
    }

    /// Makes room in a trace for what these logs will append to it.
    pub(crate) fn reserve<'a>(trace: &mut Trace, logs: impl Iterator<Item = &'a Log> + Clone) {
        let count = |of: fn(&Log) -> usize| logs.clone().map(of).sum();
        trace.activities.reserve_exact(count(|log| log.activities.len()));
        trace.progress.reserve_exact(count(|log| log.progress.len()));
        trace.messages.reserve_exact(count(|log| log.messages.len()));
        trace.calls.reserve_exact(count(|log| log.calls.len()));
    }

    /// Appends the log of processor `id` to a trace. `groups` has the numbers of groups that tags have there.
    pub(crate) fn append_to(mut self, id: usize, groups: &[u32], trace: &mut Trace) {
        let Log { activities, progress, messages, calls, works, names, full_calls, .. } = &mut self;
        let mut start = Time::ZERO;
        let mut kinds = works.iter();
        trace.activities.extend(activities.iter().map(|LoggedActivity { end, kind }| {
            let kind = kind.full(id, &mut kinds);
            Activity { id, start: std::mem::replace(&mut start, *end), end: *end, kind }
        }));
        trace.progress.append(progress);
        // Messages of requests may enter in another order than that of their numbers.
        messages.sort_unstable_by_key(|message| message.number);
        trace.messages.extend(messages.iter().map(|message| message.full(id)));
        let mut start = Time::ZERO;
        let (mut kinds, mut full_calls) = (works.iter(), full_calls.drain(..));
        let tag = |number: u64, name: LoggedName| {
            let name = names.get((name.0 as usize).wrapping_sub(1)).map(|name| Cow::Borrowed(*name));
            CallTag { number: RawTag::from_number(number).with_renumbered_group(groups).number(), name }
        };
        trace.calls.extend(calls.iter().map(|LoggedCall { end, kind }| {
            let kind = match kind {
                LoggedCallKind::Work => CallKind::Work(next_kind(&mut kinds)),
                LoggedCallKind::Send { to, tag: about, name, bytes, number } => CallKind::Send {
                    to: *to as usize,
                    tag: tag(*about, *name),
                    bytes: *bytes,
                    sent: Transfer::new(MessageId { from: id, number: *number as usize }, None),
                },
                LoggedCallKind::Receive { is_from_any, tag: about, name, received } => CallKind::Receive {
                    from: (!is_from_any).then_some(received.from as usize),
                    tag: tag(*about, *name),
                    until: Until::Arrival,
                    received: Some(Transfer::new(received.full(), None)),
                },
                LoggedCallKind::Full => {
                    let mut kind = full_calls.next().expect("it was logged in full");
                    kind.regroup(groups);
                    kind
                }
            };
            Call { id, start: std::mem::replace(&mut start, *end), end: *end, kind }
        }));
    }
}

impl LoggedKind {
    /// Returns the kind of an activity of processor `id`. `kinds` are those of the work that follows.
    fn full<'a>(self, id: usize, kinds: &mut impl Iterator<Item = &'a Cow<'static, str>>) -> ActivityKind {
        match self {
            LoggedKind::Work => ActivityKind::Work(next_kind(kinds)),
            LoggedKind::Send(number) => ActivityKind::Send(MessageId { from: id, number: number as usize }),
            LoggedKind::Receive(message) => ActivityKind::Receive(message.full()),
            LoggedKind::Gap => ActivityKind::Gap,
            LoggedKind::Stall => ActivityKind::Stall,
            LoggedKind::Port => ActivityKind::Port,
            LoggedKind::Idle => ActivityKind::Idle,
            LoggedKind::Barrier => ActivityKind::Barrier,
            LoggedKind::Post(request) => ActivityKind::Post(request),
            LoggedKind::Wait(request) => ActivityKind::Wait(request),
        }
    }
}

/// Returns the kind of the next work: a log has one for each.
fn next_kind<'a>(kinds: &mut impl Iterator<Item = &'a Cow<'static, str>>) -> Cow<'static, str> {
    kinds.next().expect("work is logged with its kind").clone()
}

impl LoggedId {
    fn new(id: MessageId) -> LoggedId {
        LoggedId { from: id.from as u32, number: id.number as u32 }
    }

    fn full(self) -> MessageId {
        MessageId { from: self.from as usize, number: self.number as usize }
    }
}

impl LoggedMessage {
    /// Returns the record of the message, which processor `from` has sent.
    fn full(&self, from: usize) -> Message {
        let LoggedMessage { latency, enter, first, arrival, number, to, words, place } = *self;
        let id = MessageId { from, number: number as usize };
        let (to, words, place) = (to as usize, words as usize, place as usize);
        Message { id, to, words, latency, place, enter, first, arrival }
    }
}
