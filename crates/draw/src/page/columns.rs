//! A trace as a page holds it: columns of numbers that differ little from those before them and therefore
//! compress well. Each event and message has its cause, so that the page can follow causes back.
//!
//! `page/run.js` reads the columns, and so do the tests.

use std::collections::HashMap;

use loggp_model::log::kinds::kind_number;
use loggp_model::time::Time;
use loggp_trace::path::{Events, HopKind, Walk, WalkPosition, last_event};
use loggp_trace::{ActivityKind, CallTag, Message};
use serde::Serialize;

use super::annotations::Annotations;
use super::bytes::{ByteWriter, zigzag};
use super::grid::Grid;
use crate::letters::{Letter, letters};

/// The header of a trace on a page, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Head {
    /// The number of processors.
    #[serde(rename = "P")]
    pub P: usize,
    /// Unit of all times on the page, in ps: all times are multiples of this unit.
    pub quantum: i64,
    /// The finish of the last processor.
    pub finish: i64,
    #[serde(rename = "L")]
    pub L: i64,
    /// The most messages in transit at each end of a processor, if that is limited.
    pub capacity: Option<usize>,
    /// For each level within the machine, from the outermost, the processors of a group and the capacity.
    pub levels: Vec<(usize, Option<usize>)>,
    /// The numbers of tracks (processors and requests that did something), events and messages.
    pub tracks: usize,
    pub events: usize,
    pub messages: usize,
    /// Names of the kinds of work.
    pub names: Vec<String>,
    /// Descriptions of the messages' tags.
    pub tags: Vec<String>,
    /// The event that ended last.
    pub last: Option<usize>,
    /// Sums, which are drawn instead of events if those are too many.
    pub grids: Vec<Grid>,
    /// The letters above the rows.
    pub letters: Vec<Letter>,
}

/// The most rows that are shown for processors that did nothing.
const MOST_SILENT: usize = 1 << 20;

/// Writes a trace in columns, with the causes of all or of nothing. Returns its header and the bytes.
pub(super) fn write_columns(
    events: &Events,
    message_names: &[Option<&str>],
    has_causes: bool,
) -> (Head, ByteWriter) {
    let trace = events.trace;
    let annotations = &Annotations::new(events);
    let quantum = quantum(events, annotations);
    let mut writer = ColumnWriter { events, quantum, bytes: ByteWriter::default() };
    let names = writer.write_events();
    let tags = writer.write_messages(message_names);
    if has_causes {
        writer.write_causes();
    } else {
        writer.write_no_causes();
    }
    writer.write_groups();
    writer.write_annotations(annotations);
    let mut bytes = writer.bytes;
    let grids = Grid::all(events, annotations, quantum);
    grids.iter().for_each(|grid| bytes.0.extend_from_slice(&grid.shares));
    let head = Head {
        // A file may state far more processors than did anything.
        P: trace
            .params
            .P
            .min(events.tracks().last().map_or(0, |track| track.id.saturating_add(1)).max(MOST_SILENT)),
        quantum,
        finish: events.finish.as_ps() / quantum,
        L: trace.params.L.as_ps() / quantum,
        capacity: trace.params.capacity(),
        levels: trace.levels.iter().map(|level| (level.params.P, level.params.capacity())).collect(),
        tracks: events.tracks().len(),
        events: events.len(),
        messages: events.message_count(),
        names,
        tags,
        last: last_event(events),
        grids,
        letters: letters(events)
            .into_iter()
            .map(|letter| Letter { ends: letter.ends.map(|(time, id)| (time / quantum, id)), ..letter })
            .collect(),
    };
    (head, bytes)
}

/// Returns the longest time of which all times of a trace are multiples, in ps.
fn quantum(events: &Events, annotations: &Annotations) -> i64 {
    let mut quantum = events.trace.params.L.as_ps().unsigned_abs();
    let mut add = |time: Time| {
        let mut time = time.as_ps().unsigned_abs();
        if quantum == 0 || !time.is_multiple_of(quantum) {
            while time != 0 {
                (quantum, time) = (time, quantum % time);
            }
        }
    };
    for index in 0..events.len() {
        let event = events.event(index);
        add(event.start);
        add(event.end);
    }
    for index in 0..events.message_count() {
        let message = events.message(index);
        [message.latency, message.enter, message.first, message.arrival].into_iter().for_each(&mut add);
    }
    annotations.all_detours().for_each(|(start, end)| {
        add(start);
        add(end);
    });
    i64::try_from(quantum).unwrap_or(1).max(1)
}

/// A writer of columns.
struct ColumnWriter<'e, 'a> {
    events: &'e Events<'a>,
    quantum: i64,
    bytes: ByteWriter,
}

impl ColumnWriter<'_, '_> {
    /// Writes the time from one moment to another, in quanta.
    fn write_span(&mut self, from: Time, to: Time) {
        let [from, to] = [from, to].map(|time| time.as_ps() / self.quantum);
        self.bytes.signed(to.wrapping_sub(from));
    }

    /// Writes the tracks, and then the kinds, starts, lengths and subjects of all events. Returns the names
    /// of the kinds of work.
    fn write_events(&mut self) -> Vec<String> {
        let events = self.events;
        let mut id = 0;
        for track in events.tracks() {
            self.bytes.number((track.id - id) as u64);
            self.bytes.number(track.request.map_or(0, |request| u64::from(request) + 1));
            self.bytes.number(track.indices.len() as u64);
            id = track.id;
        }
        let indices = 0..events.len();
        indices.clone().for_each(|index| self.bytes.0.push(kind_number(events.event(index).kind) as u8));
        for track in events.tracks() {
            let mut at = Time::ZERO;
            for index in track.indices.clone() {
                self.write_span(at, events.event(index).start);
                at = events.event(index).end;
            }
        }
        indices.clone().for_each(|index| self.write_span(events.event(index).start, events.event(index).end));
        let mut names: NameTable = NameTable::default();
        let (mut last, mut request) = ([-1; 3], 0);
        for index in indices {
            let event = events.event(index);
            match event.kind {
                ActivityKind::Work(name) => self.bytes.number(names.number(name)),
                ActivityKind::Send(_) | ActivityKind::Receive(_) => match events.message_of(index) {
                    // The trace of a failed run may lack the message.
                    None => self.bytes.number(0),
                    Some(message) => {
                        let last = &mut last[kind_number(event.kind)];
                        self.bytes.number(1 + zigzag(message as i64 - *last - 1));
                        *last = message as i64;
                    }
                },
                ActivityKind::Post(number) | ActivityKind::Wait(number) => {
                    self.bytes.signed(i64::from(*number) - request);
                    request = i64::from(*number);
                }
                _ => (),
            }
        }
        names.all
    }

    /// Writes the messages column by column. Returns the descriptions of their tags; where the trace has none, a
    /// message may have a name.
    fn write_messages(&mut self, names: &[Option<&str>]) -> Vec<String> {
        let events = self.events;
        let mut tags = NameTable::default();
        let (mut about, mut lengths) = (vec![0; events.message_count()], vec![0; events.message_count()]);
        for (about, name) in about.iter_mut().zip(names) {
            *about = name.map_or(0, |name| 1 + tags.number(name));
        }
        for (id, tag, bytes) in events.trace.sent() {
            if let Some(message) = events.message_index(id) {
                about[message] = 1 + tags.number(&tag.about());
                lengths[message] = (bytes as u64).saturating_add(1);
            }
        }
        let all = || (0..events.message_count()).map(|index| events.message(index));
        let mut last = (0, -1_i64);
        for message in all() {
            let from = (message.id.from as i64).wrapping_sub(last.0);
            let number = message.id.number as i64;
            self.bytes.signed(from);
            self.bytes.signed(number.wrapping_sub(if from == 0 { last.1.wrapping_add(1) } else { 0 }));
            last = (message.id.from as i64, number);
        }
        for column in [|message: &Message| message.to, |message: &Message| message.words] {
            let mut last = 0_i64;
            for number in all().map(|message| column(message) as i64) {
                self.bytes.signed(number.wrapping_sub(last));
                last = number;
            }
        }
        lengths.into_iter().for_each(|length| self.bytes.number(length));
        about.into_iter().for_each(|tag| self.bytes.number(tag));
        let (mut from, mut enter) = (0, Time::ZERO);
        for message in all() {
            self.write_span(if message.id.from == from { enter } else { Time::ZERO }, message.enter);
            (from, enter) = (message.id.from, message.enter);
        }
        all().for_each(|message| self.write_span(events.trace.params.L, message.latency));
        all().for_each(|message| self.write_span(message.enter + message.latency, message.first));
        all().for_each(|message| self.write_span(message.first, message.arrival));
        tags.all
    }

    /// Writes the causes of every end of an event, start of a reception, entry of a message and arrival.
    fn write_causes(&mut self) {
        let events = self.events;
        let mut walk = Walk::new(events);
        for index in 0..events.len() {
            let cause = walk.cause(WalkPosition::End(index));
            self.write_cause(cause, index, events.previous(index));
        }
        for index in 0..events.len() {
            if matches!(events.event(index).kind, ActivityKind::Receive(_)) {
                let cause = walk.cause(WalkPosition::Reception(index));
                self.write_cause(cause, index, events.previous(index));
            }
        }
        for message in 0..events.message_count() {
            let cause = walk.cause(WalkPosition::Entry(message));
            let sent = events.send_event(message);
            self.write_cause(cause, message, sent.and_then(|send| events.previous(send)));
        }
        for message in 0..events.message_count() {
            let cause = walk.cause(WalkPosition::Arrival(message, None));
            self.write_cause(cause, message, None);
        }
    }

    /// Writes that nothing has a cause.
    fn write_no_causes(&mut self) {
        let events = self.events;
        let is_reception = |index: &usize| matches!(events.event(*index).kind, ActivityKind::Receive(_));
        let receptions = (0..events.len()).filter(is_reception).count();
        let length = self.bytes.0.len() + events.len() + receptions + 2 * events.message_count();
        self.bytes.0.resize(length, 0);
    }

    /// Writes a cause: its kind in the three lowest bits, and above them its index, as the difference from
    /// `of`. The usual ones are one number: 0 for none, 1 for the end of the processor's event `before`.
    fn write_cause(&mut self, cause: Option<WalkPosition>, of: usize, before: Option<usize>) {
        let (kind, index) = match cause {
            None => return self.bytes.number(0),
            Some(WalkPosition::End(index)) if Some(index) == before => return self.bytes.number(1),
            Some(WalkPosition::End(index)) => (2, index),
            Some(WalkPosition::Reception(index)) => (3, index),
            Some(WalkPosition::Entry(message)) => (4, message),
            Some(WalkPosition::Arrival(message, None)) => (5, message),
            Some(WalkPosition::Arrival(message, Some(HopKind::Stall))) => (6, message),
            Some(WalkPosition::Arrival(message, Some(_))) => (7, message),
        };
        self.bytes.number(zigzag(index as i64 - of as i64) << 3 | kind);
    }

    /// Writes the group of each processor that did something: the first one in whose collectives it took
    /// part, or else 0.
    fn write_groups(&mut self) {
        let trace = self.events.trace;
        let mut groups: HashMap<usize, u64> = HashMap::new();
        for call in &trace.calls {
            if let Some(group @ 1..) = call.kind.tag().and_then(CallTag::group) {
                groups.entry(call.id).or_insert(u64::from(group));
            }
        }
        for track in self.events.processors() {
            self.bytes.number(groups.get(&track.id).copied().unwrap_or(0));
        }
    }

    /// Writes the messages that are requests or replies: their number, and each as the difference from the
    /// one before; and the detours of each processor that did something: their number, and each from the end
    /// of the one before.
    fn write_annotations(&mut self, annotations: &Annotations) {
        self.bytes.number(annotations.handshakes().count() as u64);
        let mut last = 0;
        for index in annotations.handshakes() {
            self.bytes.number((index - last) as u64);
            last = index;
        }
        for nth in 0..self.events.processors().count() {
            let all = annotations.detours_of(nth);
            self.bytes.number(all.len() as u64);
            let mut now = Time::ZERO;
            for &(start, end) in all {
                self.write_span(now, start);
                self.write_span(start, end);
                now = end;
            }
        }
    }
}

/// Texts, numbered in the order in which they first occur.
#[derive(Default)]
struct NameTable {
    all: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl NameTable {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.all.push(text.into());
        self.numbers.insert(text.into(), self.all.len() as u64 - 1);
        self.all.len() as u64 - 1
    }
}
