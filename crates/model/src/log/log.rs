//! One processor's part of a trace, as it is written during the run: records of few words, one behind the other.
//!
//! With many processors a record goes to memory that is in no cache. Most of what tracing costs are the lines
//! of memory that a message touches, so that all that it writes is in one place.

use std::borrow::Cow;
use std::panic::Location;

use super::call::{Call, CallKind, CallMessages, CallTag, Transfer, Until};
use super::kinds::{kind_number, number};
use super::record::{Activity, ActivityKind, Message, Progress, Records};
use crate::message::{MessageId, RawTag};
use crate::time::Time;

/// One processor's part of a trace, written during the run.
// The fields that every message touches come first, and fill two cache lines: see `Proc`.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Log {
    words: Words,
    /// The local time at which the last activity ended.
    now: Time,
    /// The number of activities, of messages, and of calls.
    counts: [u32; 3],
    /// The last of the names.
    last_name: LastName,
    /// Messages of the current call.
    pub call_messages: CallMessages,
    /// The names of tags.
    names: Vec<&'static str>,
    /// The kinds of work, in order: of an activity and of a call.
    works: Vec<Cow<'static, str>>,
    /// The progress of the processor's requests.
    pub progress: Vec<Progress>,
    /// The calls that are logged in full, in order.
    full_calls: Vec<CallKind>,
    /// Source locations of calls that may take one of several messages, each with the call's index; `None`
    /// where nobody asks for the locations.
    locations: Option<Vec<(usize, &'static Location<'static>)>>,
}

/// Indices of the counts.
const ACTIVITIES: usize = 0;
const MESSAGES: usize = 1;
const CALLS: usize = 2;

/// The words of records, each of which begins with a code in its lowest byte and a value in the others. The
/// words are in chunks, none of which moves when others are added.
#[derive(Clone, Debug, Default)]
struct Words {
    last: Vec<u64>,
    full: Vec<Vec<u64>>,
}

/// Codes of records. Those below are the [numbers](kind_number) of activities, whose value is their length.
mod code {
    /// The length of the next activity, which is too long for a value.
    pub(super) const LENGTH: u64 = 10;
    /// A message that enters alone: its value is the receiver's number, and its sender's place above.
    pub(super) const MESSAGE: u64 = 11;
    /// Any other message.
    pub(super) const FULL_MESSAGE: u64 = 12;
    /// A send without a rendezvous. The value of it, and of receives, is the number of the tag's name.
    pub(super) const SEND: u64 = 13;
    /// A receive that waited for a message of one sender, and got it without a rendezvous.
    pub(super) const RECEIVE_FROM: u64 = 14;
    /// The same, of any sender.
    pub(super) const RECEIVE: u64 = 15;
    /// Work: the next of the kinds.
    pub(super) const WORK: u64 = 16;
    /// The next of the calls that are logged in full.
    pub(super) const FULL_CALL: u64 = 17;
}

/// The bits of a code.
const CODE_BITS: u32 = 8;

/// The name that was logged last: where it is in memory, and its number.
#[derive(Clone, Copy, Debug, Default)]
struct LastName {
    address: usize,
    length: u32,
    number: u32,
}

impl Words {
    /// Adds a record.
    #[inline]
    fn add<const N: usize>(&mut self, record: [u64; N]) {
        if self.last.capacity() - self.last.len() < N {
            self.begin_piece();
        }
        self.last.extend_from_slice(&record);
    }

    #[cold]
    fn begin_piece(&mut self) {
        const LEAST: usize = 32;
        const MOST: usize = 512;
        let capacity = (2 * self.last.capacity()).clamp(LEAST, MOST);
        let full = std::mem::replace(&mut self.last, Vec::with_capacity(capacity));
        self.full.push(full);
    }
}

/// Returns two numbers in one word.
#[inline]
fn pair(high: usize, low: usize) -> u64 {
    (high as u64) << 32 | u64::from(low as u32)
}

/// Returns the two numbers of a word.
#[inline]
fn split(word: u64) -> (usize, usize) {
    ((word >> 32) as usize, word as u32 as usize)
}

impl Log {
    /// Creates an empty log, which keeps the locations of calls if `with_locations`.
    pub fn new(with_locations: bool) -> Log {
        Log { locations: with_locations.then(Vec::new), ..Log::default() }
    }

    /// Adds an activity, which starts when the one before it ends: local time passes only in activities.
    #[inline]
    pub(crate) fn add_activity(&mut self, end: Time, kind: ActivityKind) {
        let mut length = (end - self.now).as_ps() as u64;
        self.now = end;
        self.counts[ACTIVITIES] += 1;
        if length >> (u64::BITS - CODE_BITS) > 0 {
            self.words.add([code::LENGTH, length]);
            length = 0;
        }
        let header = length << CODE_BITS | kind_number(&kind) as u64;
        match kind {
            ActivityKind::Send(id) | ActivityKind::Receive(id) => {
                self.words.add([header, pair(id.from, id.number)]);
            }
            ActivityKind::Post(request) | ActivityKind::Wait(request) => {
                self.words.add([header, request.into()]);
            }
            ActivityKind::Work(kind) => {
                self.works.push(kind);
                self.words.add([header]);
            }
            _ => self.words.add([header]),
        }
    }

    /// Adds activities of the processor's own local time.
    #[inline]
    pub(crate) fn add_activities(&mut self, activities: impl Iterator<Item = Activity>) {
        for Activity { end, kind, .. } in activities {
            self.add_activity(end, kind);
        }
    }

    /// Adds a message of the processor (`is_own`), or one that it reads from another's memory.
    #[inline]
    pub(crate) fn add_message(&mut self, message: Message, is_own: bool) {
        const PLACE_BITS: u32 = u64::BITS - CODE_BITS - u32::BITS;
        let Message { id, to, words, latency, place, enter, first, arrival } = message;
        self.counts[MESSAGES] += 1;
        let (to, sizes) = ((to as u64) << CODE_BITS, pair(id.number, words));
        let (latency, enter) = (latency.as_ps() as u64, enter.as_ps() as u64);
        let is_alone = is_own && first == message.enter + message.latency && arrival == first;
        if is_alone && place >> PLACE_BITS == 0 {
            let header = (place as u64) << (CODE_BITS + u32::BITS) | to | code::MESSAGE;
            self.words.add([header, sizes, latency, enter]);
        } else {
            let (first, arrival) = (first.as_ps() as u64, arrival.as_ps() as u64);
            let from_and_place = pair(id.from, place);
            self.words.add([to | code::FULL_MESSAGE, sizes, latency, enter, first, arrival, from_and_place]);
        }
    }

    /// Ends a call now and adds it, if `kind` is one.
    #[inline]
    pub(crate) fn end_call(&mut self, now: Time, kind: Option<CallKind>) {
        debug_assert_eq!(self.now, now);
        self.call_messages.clear();
        let Some(kind) = kind else { return };
        self.counts[CALLS] += 1;
        match kind {
            CallKind::Work(_) => self.words.add([code::WORK]),
            CallKind::Send {
                to,
                tag: CallTag { number: tag, name },
                bytes,
                sent: Transfer { message, rendezvous: None },
            } if !matches!(name, Some(Cow::Owned(_))) => {
                let header = self.log_name(name) << CODE_BITS | code::SEND;
                self.words.add([header, tag, bytes as u64, pair(to, message.number)]);
            }
            CallKind::Receive {
                from,
                tag: CallTag { number: tag, name },
                until: Until::Arrival,
                received: Some(Transfer { message, rendezvous: None }),
            } if !matches!(name, Some(Cow::Owned(_))) => {
                let code = if from.is_none() { code::RECEIVE } else { code::RECEIVE_FROM };
                let header = self.log_name(name) << CODE_BITS | code;
                self.words.add([header, tag, pair(message.from, message.number)]);
            }
            kind => {
                self.full_calls.push(kind);
                self.words.add([code::FULL_CALL]);
            }
        }
    }

    /// Returns the number of a tag's name: one more than its index, or 0 if the tag has none.
    #[inline]
    fn log_name(&mut self, name: Option<Cow<'static, str>>) -> u64 {
        let Some(Cow::Borrowed(name)) = name else { return 0 };
        let LastName { address, length, number } = self.last_name;
        if address == name.as_ptr().addr() && length as usize == name.len() {
            return number.into();
        }
        self.log_other_name(name).into()
    }

    /// Returns the number of a name that is not the last one.
    fn log_other_name(&mut self, name: &'static str) -> u32 {
        /// The number of names among which a name is looked for: others are written again.
        const RECENT: usize = 4;
        let mut recent = self.names.iter().enumerate().rev().take(RECENT);
        let index = recent.find(|(_, before)| std::ptr::eq(**before, name)).map(|(index, _)| index);
        let index = index.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        let number = index as u32 + 1;
        self.last_name = LastName { address: name.as_ptr().addr(), length: name.len() as u32, number };
        number
    }

    /// Notes the source location of the last call, which may take one of several messages.
    #[inline]
    pub(crate) fn note_location(&mut self, at: &'static Location<'static>) {
        if let Some(locations) = &mut self.locations {
            let last = (self.counts[CALLS] as usize).checked_sub(1);
            locations.extend(last.map(|last| (last, at)));
        }
    }

    /// Returns the source locations of calls that may take one of several messages, each with the call's
    /// index among the processor's.
    pub fn locations(&self) -> impl Iterator<Item = (usize, &'static Location<'static>)> {
        self.locations.iter().flatten().copied()
    }

    /// Returns the number of calls.
    pub fn call_count(&self) -> usize {
        self.counts[CALLS] as usize
    }

    /// Makes room in a trace for what these logs will append to it.
    pub fn reserve<'a>(records: &mut Records, logs: impl Iterator<Item = &'a Log> + Clone) {
        let count = |what: usize| logs.clone().map(|log| log.counts[what] as usize).sum();
        records.activities.reserve_exact(count(ACTIVITIES));
        records.messages.reserve_exact(count(MESSAGES));
        records.calls.reserve_exact(count(CALLS));
        records.progress.reserve_exact(logs.clone().map(|log| log.progress.len()).sum());
    }

    /// Appends the log of processor `id` to a records. `groups` has the numbers of groups that tags have there.
    pub fn append_to(mut self, id: usize, groups: &[u32], records: &mut Records) {
        let first_message = records.messages.len();
        let mut reader = Reader {
            id,
            groups,
            now: Time::ZERO,
            called: Time::ZERO,
            length: 0,
            names: &self.names,
            kinds: self.works.iter(),
            call_kinds: self.works.iter(),
            full_calls: self.full_calls.into_iter(),
        };
        for piece in self.words.full.iter().chain([&self.words.last]) {
            let mut words = piece.as_slice();
            while let Some(rest) = reader.read(words, records) {
                words = rest;
            }
        }
        // Messages of requests may enter in another order than that of their numbers.
        records.messages[first_message..].sort_unstable_by_key(|message| message.id);
        records.progress.append(&mut self.progress);
    }
}

/// A reader of a log's records.
struct Reader<'a> {
    id: usize,
    groups: &'a [u32],
    /// The local time.
    now: Time,
    /// The end of the last call.
    called: Time,
    /// The length of the next activity, if its record does not say it.
    length: u64,
    names: &'a [&'static str],
    /// The kinds of the work that follows, for activities and for calls.
    kinds: std::slice::Iter<'a, Cow<'static, str>>,
    call_kinds: std::slice::Iter<'a, Cow<'static, str>>,
    full_calls: std::vec::IntoIter<CallKind>,
}

impl Reader<'_> {
    /// Reads the first record into a records. Returns the words behind it, or `None` if there is none.
    #[inline]
    fn read<'w>(&mut self, words: &'w [u64], records: &mut Records) -> Option<&'w [u64]> {
        let (header, rest) = words.split_first()?;
        let (code, value) = (header & ((1 << CODE_BITS) - 1), header >> CODE_BITS);
        match code {
            code::LENGTH => {
                let ([length], rest) = rest.split_first_chunk()?;
                self.length = *length;
                Some(rest)
            }
            code::MESSAGE => {
                let ([sizes, latency, enter], rest) = rest.split_first_chunk()?;
                let (latency, enter) = (time(*latency), time(*enter));
                let (first, (place, to)) = (enter + latency, split(value));
                self.add_message(*sizes, (self.id, to, place), [latency, enter, first, first], records);
                Some(rest)
            }
            code::FULL_MESSAGE => {
                let ([sizes, latency, enter, first, arrival, ends], rest) = rest.split_first_chunk()?;
                let times = [*latency, *enter, *first, *arrival].map(time);
                let (from, place) = split(*ends);
                self.add_message(*sizes, (from, value as usize, place), times, records);
                Some(rest)
            }
            code::SEND => {
                let ([tag, bytes, ends], rest) = rest.split_first_chunk()?;
                let (to, number) = split(*ends);
                let sent = Transfer::new(MessageId { from: self.id, number }, None);
                let tag = self.tag(*tag, value);
                self.end_call(CallKind::Send { to, tag, bytes: *bytes as usize, sent }, records);
                Some(rest)
            }
            code::RECEIVE | code::RECEIVE_FROM => {
                let ([tag, message], rest) = rest.split_first_chunk()?;
                let (from, number) = split(*message);
                let received = Some(Transfer::new(MessageId { from, number }, None));
                let (tag, from) = (self.tag(*tag, value), (code == code::RECEIVE_FROM).then_some(from));
                self.end_call(CallKind::Receive { from, tag, until: Until::Arrival, received }, records);
                Some(rest)
            }
            code::WORK => {
                let kind = self.call_kinds.next()?.clone();
                self.end_call(CallKind::Work(kind), records);
                Some(rest)
            }
            code::FULL_CALL => {
                let mut kind = self.full_calls.next()?;
                kind.regroup(self.groups);
                self.end_call(kind, records);
                Some(rest)
            }
            activity => self.read_activity(activity, value, rest, records),
        }
    }

    /// Reads an activity, whose kind has this number, into a records.
    #[inline]
    fn read_activity<'w>(
        &mut self,
        number: u64,
        length: u64,
        words: &'w [u64],
        records: &mut Records,
    ) -> Option<&'w [u64]> {
        let length = std::mem::take(&mut self.length) + length;
        let start = self.now;
        self.now += time(length);
        let (kind, rest) = match number as usize {
            number::WORK => (ActivityKind::Work(self.kinds.next()?.clone()), words),
            number::GAP => (ActivityKind::Gap, words),
            number::STALL => (ActivityKind::Stall, words),
            number::PORT => (ActivityKind::Port, words),
            number::IDLE => (ActivityKind::Idle, words),
            number::BARRIER => (ActivityKind::Barrier, words),
            number => {
                let (word, rest) = words.split_first()?;
                let (from, low) = split(*word);
                let kind = match number {
                    number::SEND => ActivityKind::Send(MessageId { from, number: low }),
                    number::RECEIVE => ActivityKind::Receive(MessageId { from, number: low }),
                    number::POST => ActivityKind::Post(low as u32),
                    _ => ActivityKind::Wait(low as u32),
                };
                (kind, rest)
            }
        };
        records.activities.push(Activity { id: self.id, start, end: self.now, kind });
        Some(rest)
    }

    /// Adds a message with a sender, a receiver, a place and times to a records.
    #[inline]
    fn add_message(
        &self,
        sizes: u64,
        (from, to, place): (usize, usize, usize),
        times: [Time; 4],
        records: &mut Records,
    ) {
        let ((number, words), [latency, enter, first, arrival]) = (split(sizes), times);
        let id = MessageId { from, number };
        records.messages.push(Message { id, to, words, latency, place, enter, first, arrival });
    }

    /// Ends a call, which began when the one before it ended.
    #[inline]
    fn end_call(&mut self, kind: CallKind, records: &mut Records) {
        let start = std::mem::replace(&mut self.called, self.now);
        records.calls.push(Call { id: self.id, start, end: self.now, kind });
    }

    /// Returns a tag, with the name of a number.
    #[inline]
    fn tag(&self, number: u64, name: u64) -> CallTag {
        let name = (name as usize).checked_sub(1).and_then(|index| self.names.get(index));
        let number = RawTag::from_number(number).with_renumbered_group(self.groups).number();
        CallTag { number, name: name.map(|name| Cow::Borrowed(*name)) }
    }
}

/// Returns the time that a word says.
fn time(ps: u64) -> Time {
    Time::from_ps(ps as i64)
}
