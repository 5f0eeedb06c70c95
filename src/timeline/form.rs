//! A trace as a page holds it: numbers in columns, which differ little from those before them and therefore pack well. What
//! each thing waited for stands beside it, so that the page can follow causes back.
//!
//! `page/run.js` reads it, and so do the tests.

use std::collections::HashMap;

use serde::Serialize;

use super::bytes::Bytes;
use super::grid::Grid;
use super::kinds::kind_of;
use super::shown::Shown;
use crate::path::{At, Events, Part, Walk, end};
use crate::time::Time;
use crate::trace::{ActivityKind, CallTag, Trace};

/// What stands before the columns.
#[derive(Debug, Serialize)]
pub(super) struct Head {
    /// How many processors there are.
    #[serde(rename = "P")]
    pub P: usize,
    /// Picoseconds of which all times are multiples; all times of a page are counted in it.
    pub quantum: i64,
    /// When the last processor finished.
    pub finish: i64,
    /// The latency.
    #[serde(rename = "L")]
    pub L: i64,
    /// How many messages may be in transit at each end of a processor, if that is limited.
    pub capacity: Option<usize>,
    /// The same at each level within the machine, from the outermost: how many processors a group has, and the capacity.
    pub levels: Vec<(usize, Option<usize>)>,
    /// Processors and requests that did something, what they did, and messages.
    pub tracks: usize,
    pub events: usize,
    pub messages: usize,
    /// The kinds of work.
    pub names: Vec<String>,
    /// What messages are about.
    pub tags: Vec<String>,
    /// What ended last.
    pub last: Option<usize>,
    /// What is drawn where the events are too many.
    pub grids: Vec<Grid>,
}

/// So many rows are shown of processors that did nothing.
const MOST_SILENT: usize = 1 << 20;

/// Writes a trace in columns.
pub(super) fn columns(trace: &Trace) -> (Head, Bytes) {
    let events = &Events::of(trace);
    let shown = &Shown::of(events);
    let quantum = quantum(events, shown);
    let mut form = Form { events, quantum, bytes: Bytes::default() };
    let names = form.events();
    let tags = form.messages();
    form.causes();
    form.groups();
    form.shown(shown);
    let mut bytes = form.bytes;
    let grids = Grid::all(events, shown, quantum);
    grids.iter().for_each(|grid| bytes.0.extend_from_slice(&grid.shares));
    let head = Head {
        // A file may say that there are far more than did anything.
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
        messages: events.messages(),
        names,
        tags,
        last: end(events),
        grids,
    };
    (head, bytes)
}

/// The longest time of which all times of a trace are multiples.
fn quantum(events: &Events, shown: &Shown) -> i64 {
    let mut quantum = events.trace.params.L.as_ps().unsigned_abs();
    let mut add = |time: Time| {
        let mut time = time.as_ps().unsigned_abs();
        if quantum == 0 || !time.is_multiple_of(quantum) {
            while time != 0 {
                (quantum, time) = (time, quantum % time);
            }
        }
    };
    for place in 0..events.len() {
        let event = events.event(place);
        add(event.start);
        add(event.end);
    }
    for place in 0..events.messages() {
        let message = events.message(place);
        [message.latency, message.enter, message.first, message.arrival].into_iter().for_each(&mut add);
    }
    shown.all_detours().for_each(|(start, end)| {
        add(start);
        add(end);
    });
    i64::try_from(quantum).unwrap_or(1).max(1)
}

/// Columns that are being written.
struct Form<'e, 'a> {
    events: &'e Events<'a>,
    quantum: i64,
    bytes: Bytes,
}

impl Form<'_, '_> {
    /// The time from one moment to another.
    fn span(&mut self, from: Time, to: Time) {
        let [from, to] = [from, to].map(|time| time.as_ps() / self.quantum);
        self.bytes.signed(to.wrapping_sub(from));
    }

    /// What was done: the tracks, and then for all events their kinds, starts, lengths and subjects. Returns the kinds of work.
    fn events(&mut self) -> Vec<String> {
        let events = self.events;
        let mut id = 0;
        for track in events.tracks() {
            self.bytes.number((track.id - id) as u64);
            self.bytes.number(track.request.map_or(0, |request| u64::from(request) + 1));
            self.bytes.number(track.places.len() as u64);
            id = track.id;
        }
        let places = 0..events.len();
        places.clone().for_each(|place| self.bytes.0.push(kind_of(events.event(place).what) as u8));
        for track in events.tracks() {
            let mut at = Time::ZERO;
            for place in track.places.clone() {
                self.span(at, events.event(place).start);
                at = events.event(place).end;
            }
        }
        places.clone().for_each(|place| self.span(events.event(place).start, events.event(place).end));
        let mut names: Names = Names::default();
        let (mut last, mut request) = ([-1; 3], 0);
        for place in places {
            let event = events.event(place);
            match event.what {
                ActivityKind::Work(name) => self.bytes.number(names.number(name)),
                ActivityKind::Send(_) | ActivityKind::Receive(_) => match events.subject(place) {
                    // A run that failed has overheads of messages that it does not have.
                    None => self.bytes.number(0),
                    Some(message) => {
                        let last = &mut last[kind_of(event.what)];
                        let step = message as i64 - *last - 1;
                        self.bytes.number(1 + ((step << 1 ^ step >> 63) as u64));
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

    /// The messages, column by column. Returns what they are about.
    fn messages(&mut self) -> Vec<String> {
        let events = self.events;
        let mut tags = Names::default();
        let (mut about, mut lengths) = (vec![0; events.messages()], vec![0; events.messages()]);
        for (id, tag, bytes) in events.trace.sent() {
            if let Some(message) = events.named(id) {
                about[message] = 1 + tags.number(&tag.about());
                lengths[message] = (bytes as u64).saturating_add(1);
            }
        }
        let all = || (0..events.messages()).map(|place| events.message(place));
        let mut last = (0, -1_i64);
        for message in all() {
            let from = (message.id.from as i64).wrapping_sub(last.0);
            let number = message.id.number as i64;
            self.bytes.signed(from);
            self.bytes.signed(number.wrapping_sub(if from == 0 { last.1.wrapping_add(1) } else { 0 }));
            last = (message.id.from as i64, number);
        }
        let mut to = 0_i64;
        for message in all() {
            self.bytes.signed((message.to as i64).wrapping_sub(to));
            to = message.to as i64;
        }
        let mut words = 0_i64;
        for message in all() {
            self.bytes.signed((message.words as i64).wrapping_sub(words));
            words = message.words as i64;
        }
        lengths.into_iter().for_each(|length| self.bytes.number(length));
        about.into_iter().for_each(|tag| self.bytes.number(tag));
        let (mut from, mut enter) = (0, Time::ZERO);
        for message in all() {
            self.span(if message.id.from == from { enter } else { Time::ZERO }, message.enter);
            (from, enter) = (message.id.from, message.enter);
        }
        all().for_each(|message| self.span(events.trace.params.L, message.latency));
        all().for_each(|message| self.span(message.enter + message.latency, message.first));
        all().for_each(|message| self.span(message.first, message.arrival));
        tags.all
    }

    /// What every end of an event waited for, every start of a reception, every entry of a message and every arrival.
    fn causes(&mut self) {
        let events = self.events;
        let mut walk = Walk::through(events);
        for place in 0..events.len() {
            let cause = walk.cause(At::End(place));
            self.cause(cause, place, events.before(place));
        }
        for place in 0..events.len() {
            if matches!(events.event(place).what, ActivityKind::Receive(_)) {
                let cause = walk.cause(At::Reception(place));
                self.cause(cause, place, events.before(place));
            }
        }
        for message in 0..events.messages() {
            let cause = walk.cause(At::Entry(message));
            let sent = events.sent(message);
            self.cause(cause, message, sent.and_then(|send| events.before(send)));
        }
        for message in 0..events.messages() {
            let cause = walk.cause(At::Arrival(message, None));
            self.cause(cause, message, None);
        }
    }

    /// A cause: in the three lowest bits what it is, above them where, as the difference from what it is the cause of. What is
    /// usual is one number: 0 nothing, 1 the end of what the processor did `before`.
    fn cause(&mut self, cause: Option<At>, of: usize, before: Option<usize>) {
        let (what, place) = match cause {
            None => return self.bytes.number(0),
            Some(At::End(place)) if Some(place) == before => return self.bytes.number(1),
            Some(At::End(place)) => (2, place),
            Some(At::Reception(place)) => (3, place),
            Some(At::Entry(message)) => (4, message),
            Some(At::Arrival(message, None)) => (5, message),
            Some(At::Arrival(message, Some(Part::Stall))) => (6, message),
            Some(At::Arrival(message, Some(_))) => (7, message),
        };
        let step = place as i64 - of as i64;
        self.bytes.number(((step << 1 ^ step >> 63) as u64) << 3 | what);
    }

    /// The group of each processor that did something: the first one in whose collectives it took part, or else 0.
    fn groups(&mut self) {
        let trace = self.events.trace;
        let mut groups: HashMap<usize, u64> = HashMap::new();
        for call in &trace.calls {
            if let Some(group @ 1..) = call.what.tag().and_then(CallTag::group) {
                groups.entry(call.id).or_insert(u64::from(group));
            }
        }
        for track in self.events.processors() {
            self.bytes.number(groups.get(&track.id).copied().unwrap_or(0));
        }
    }

    /// The messages that are requests or replies: how many, and each from the one before; and the detours of each processor
    /// that did something: how many, and each from the end of the one before.
    fn shown(&mut self, shown: &Shown) {
        self.bytes.number(shown.asking().count() as u64);
        let mut last = 0;
        for place in shown.asking() {
            self.bytes.number((place - last) as u64);
            last = place;
        }
        for nth in 0..self.events.processors().count() {
            let all = shown.detours_of(nth);
            self.bytes.number(all.len() as u64);
            let mut now = Time::ZERO;
            for &(start, end) in all {
                self.span(now, start);
                self.span(start, end);
                now = end;
            }
        }
    }
}

/// Texts, numbered as they occur.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl Names {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.all.push(text.into());
        self.numbers.insert(text.into(), self.all.len() as u64 - 1);
        self.all.len() as u64 - 1
    }
}
