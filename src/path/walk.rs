//! The critical path: what the end of a run waited for, and what that waited for, back to the start.
//!
//! Of all that had to be over before something could begin, what was over last is on the path. So the path has no waits
//! for others: it goes on with what the others did. Its hops follow each other without a hole, from 0 to the end.

use std::collections::HashMap;

use crate::time::Time;
use crate::trace::{ActivityKind, Message};

use super::causes::{Cause, Causes};
use super::events::{Event, Events};

/// What a hop of the path consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Computing.
    Work,
    /// Overhead at a sender.
    SendOverhead,
    /// Overhead at a receiver.
    ReceiveOverhead,
    /// A message's first word is under way.
    Latency,
    /// A message's further words follow.
    Stream,
    /// The gap between two messages.
    Gap,
    /// A message in transit that left no room for another.
    Stall,
    /// A message in a port that another waited for.
    Port,
    /// The machine's own barrier, once all have come.
    Barrier,
    /// A wait for a moment.
    Idle,
}

impl Part {
    /// All of them, in the order in which reports have them.
    pub const ALL: [Part; 10] = [
        Part::Work,
        Part::SendOverhead,
        Part::ReceiveOverhead,
        Part::Latency,
        Part::Stream,
        Part::Gap,
        Part::Stall,
        Part::Port,
        Part::Barrier,
        Part::Idle,
    ];

    /// What reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Part::Work => "work",
            Part::SendOverhead => "o at senders",
            Part::ReceiveOverhead => "o at receivers",
            Part::Latency => "L",
            Part::Stream => "G",
            Part::Gap => "g",
            Part::Stall => "stall",
            Part::Port => "port",
            Part::Barrier => "barrier",
            Part::Idle => "idle",
        }
    }
}

/// By what the length of a hop follows from the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// By no parameter.
    Fixed,
    /// It is the overhead of sending so many words.
    Send(usize),
    /// It is the overhead of receiving so many words.
    Receive(usize),
    /// It is the latency, or what was drawn for it.
    Latency,
    /// It is how long the last of so many words comes after the first.
    Stream(usize),
    /// It is the gap.
    Gap,
}

/// A piece of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// What it consists of.
    pub part: Part,
    /// What its length follows from.
    pub cost: Cost,
    /// The processor at which it lies; of a message under way, its sender.
    pub id: usize,
    /// The place of the message that it is about, if it is about one.
    pub message: Option<usize>,
    /// When it begins.
    pub start: Time,
    /// When it is over: before it begins, where a negative G_l takes time back.
    pub end: Time,
}

impl Hop {
    /// How long it is.
    pub fn length(&self) -> Time {
        self.end - self.start
    }
}

/// The critical path of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Its hops, from the start of the run to its end.
    pub hops: Vec<Hop>,
}

impl Path {
    /// Finds the path through these events.
    pub fn through(events: &Events) -> Path {
        path(events)
    }

    /// How much of it consists of this.
    pub fn part(&self, part: Part) -> Time {
        self.hops.iter().filter(|hop| hop.part == part).map(Hop::length).sum()
    }

    /// How long it is: as long as the run.
    pub fn length(&self) -> Time {
        self.hops.iter().map(Hop::length).sum()
    }
}

/// Finds the path through these events.
fn path(events: &Events) -> Path {
    let mut walk = Walk::through(events);
    let mut at = end(events).map(At::End);
    // No event is passed twice, as what comes later does not come before; a trace with messages that take no time could
    // be put together so that it does.
    let mut steps = 2 * (events.len() + events.messages());
    while let Some(here) = at {
        if steps == 0 {
            let (end, id) = walk.hops.last().map_or((events.finish, 0), |hop| (hop.start, hop.id));
            walk.hop(Part::Idle, Cost::Fixed, id, None, Time::ZERO, end);
            break;
        }
        steps -= 1;
        at = walk.step(here);
    }
    walk.hops.reverse();
    Path { hops: walk.hops }
}

/// The place of what ended last.
pub(crate) fn end(events: &Events) -> Option<usize> {
    let last = events.processors().map(|track| track.places.end - 1);
    last.max_by_key(|place| (events.event(*place).end, usize::MAX - place))
}

/// How far back the path has been followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// To the end of the activity at this place.
    End(usize),
    /// To the start of the reception at this place.
    Reception(usize),
    /// To the moment at which this message entered the network.
    Entry(usize),
    /// To the arrival of this message, which left the room or the port for another if this part is told.
    Arrival(usize, Option<Part>),
}

/// A walk from the end of a run to its start.
pub(crate) struct Walk<'e, 'a> {
    /// The events.
    events: &'e Events<'a>,
    /// What held messages back.
    causes: Causes<'e, 'a>,
    /// The number of each barrier at its processor, and for each number the place of who came last.
    barriers: Option<(HashMap<usize, usize>, Vec<usize>)>,
    /// Where each request was called for.
    posts: Option<HashMap<(usize, u32), usize>>,
    /// The hops until now, the last one first.
    hops: Vec<Hop>,
}

impl<'e, 'a> Walk<'e, 'a> {
    /// A walk that has not begun.
    pub(crate) fn through(events: &'e Events<'a>) -> Walk<'e, 'a> {
        Walk { events, causes: Causes::of(events), barriers: None, posts: None, hops: Vec::new() }
    }

    /// What one step leads back to.
    pub(crate) fn cause(&mut self, at: At) -> Option<At> {
        self.hops.clear();
        self.step(at)
    }

    /// Goes back by one cause; nothing is before the start of the run.
    fn step(&mut self, at: At) -> Option<At> {
        match at {
            At::End(place) => self.end(place),
            At::Reception(place) => self.reception(place),
            At::Entry(message) => self.entry(message),
            At::Arrival(message, held) => Some(self.arrival(message, held)),
        }
    }

    /// Adds a hop, if there is anything of it.
    fn hop(&mut self, part: Part, cost: Cost, id: usize, message: Option<usize>, start: Time, end: Time) {
        if start != end {
            self.hops.push(Hop { part, cost, id, message, start, end });
        }
    }

    /// Goes on before an event. Before all that a request did is what its processor did before it called for it.
    fn before(&mut self, place: usize) -> Option<At> {
        if let Some(before) = self.events.before(place) {
            return Some(At::End(before));
        }
        let Event { id, request, .. } = self.events.event(place);
        let posts = self.posts.get_or_insert_with(|| posts(self.events));
        let post = *posts.get(&(id, request?))?;
        self.events.before(post).map(At::End)
    }

    /// Adds what a call for a request, or for its end, costs its processor.
    fn own_overhead(&mut self, request: u32, id: usize, start: Time, end: Time) {
        let track = self.events.track(id, Some(request));
        let sends = track.and_then(|track| {
            track.places.clone().find_map(|place| match self.events.event(place).what {
                ActivityKind::Send(_) => Some(true),
                ActivityKind::Receive(_) => Some(false),
                _ => None,
            })
        });
        match sends {
            Some(true) => self.hop(Part::SendOverhead, Cost::Send(0), id, None, start, end),
            _ => self.hop(Part::ReceiveOverhead, Cost::Receive(0), id, None, start, end),
        }
    }

    /// What a processor did was over.
    fn end(&mut self, place: usize) -> Option<At> {
        let Event { id, start, end, what, .. } = self.events.event(place);
        let part = match what {
            ActivityKind::Receive(_) => {
                let message = self.events.subject(place);
                let words = message.map_or(0, |message| self.events.message(message).words);
                self.hop(Part::ReceiveOverhead, Cost::Receive(words), id, message, start, end);
                return Some(At::Reception(place));
            }
            ActivityKind::Send(_) | ActivityKind::Stall | ActivityKind::Port => {
                if let Some(message) = self.sending(place) {
                    return Some(At::Entry(message));
                }
                Part::Idle
            }
            ActivityKind::Barrier => return self.barrier(place),
            ActivityKind::Post(request) => {
                self.own_overhead(*request, id, start, end);
                return self.before(place);
            }
            ActivityKind::Wait(request) => {
                let last = self.events.track(id, Some(*request)).map(|track| track.places.end - 1);
                // A request that was done before is only asked whether it is.
                if let Some(last) = last.filter(|last| self.events.event(*last).end == end) {
                    return Some(At::End(last));
                }
                self.own_overhead(*request, id, start, end);
                return self.before(place);
            }
            ActivityKind::Work(_) => Part::Work,
            ActivityKind::Gap => Part::Gap,
            _ => Part::Idle,
        };
        self.hop(part, Cost::Fixed, id, None, start, end);
        self.before(place)
    }

    /// The message with which a processor was busy.
    fn sending(&self, mut place: usize) -> Option<usize> {
        while matches!(self.events.event(place).what, ActivityKind::Stall | ActivityKind::Port) {
            place = self.events.before(place)?;
        }
        self.events.subject(place)
    }

    /// A reception began: its gap was over, its message had come, or its processor was free.
    fn reception(&mut self, place: usize) -> Option<At> {
        let Event { id, start, .. } = self.events.event(place);
        let Some(before) = self.events.before(place) else { return self.before(place) };
        match self.events.event(before).what {
            ActivityKind::Gap => {
                let begun = start - self.events.trace.params.g;
                if let Some(last) = self.causes.reception(id, begun).filter(|last| *last != place) {
                    self.hop(Part::Gap, Cost::Gap, id, self.events.subject(place), begun, start);
                    return Some(At::Reception(last));
                }
            }
            ActivityKind::Idle => {
                let message = self.events.subject(place);
                if let Some(message) =
                    message.filter(|message| self.events.message(*message).arrival == start)
                {
                    return Some(At::Arrival(message, None));
                }
            }
            _ => (),
        }
        Some(At::End(before))
    }

    /// A message entered: what it waited for was over, or its overhead.
    fn entry(&mut self, message: usize) -> Option<At> {
        let send = self.events.sent(message)?;
        let Event { id, start, end, .. } = self.events.event(send);
        let words = self.events.message(message).words;
        let waits: Vec<Event> = std::iter::successors(self.events.after(send), |at| self.events.after(*at))
            .map(|at| self.events.event(at))
            .take_while(|wait| matches!(wait.what, ActivityKind::Stall | ActivityKind::Port))
            .collect();
        let cause = match waits.last().map(|wait| &wait.what) {
            None => None,
            Some(ActivityKind::Port) => self.causes.of_port(message),
            Some(_) => self.causes.of_stall(message),
        };
        match cause {
            Some(Cause::LeftRoom(other)) => return Some(At::Arrival(other, Some(Part::Stall))),
            Some(Cause::CameIn(other)) => return Some(At::Arrival(other, Some(Part::Port))),
            Some(Cause::WentOut(other)) => {
                self.goes_out(other, Part::Port);
                return Some(At::Entry(other));
            }
            None => (),
        }
        for wait in waits.iter().rev() {
            let part = if *wait.what == ActivityKind::Stall { Part::Stall } else { Part::Port };
            self.hop(part, Cost::Fixed, id, Some(message), wait.start, wait.end);
        }
        let waited =
            self.events.before(send).is_some_and(|at| *self.events.event(at).what == ActivityKind::Gap);
        let params = &self.events.trace.params;
        if let Some(last) = self.causes.gone(message, id, end - params.g).filter(|_| waited) {
            let gone = self.causes.out(last);
            self.hop(Part::Gap, Cost::Gap, id, Some(message), gone, end);
            self.goes_out(last, Part::Stream);
            return Some(At::Entry(last));
        }
        // A request's message turns to the network when one to the same processor, called for before, has entered.
        if let Some(last) = self.causes.behind(message, end - params.o).filter(|_| waited) {
            self.hop(Part::SendOverhead, Cost::Send(0), id, Some(message), end - params.o, end);
            return Some(At::Entry(last));
        }
        self.hop(Part::SendOverhead, Cost::Send(words), id, Some(message), start, end);
        self.before(send)
    }

    /// Adds the time in which the words of a message go out.
    fn goes_out(&mut self, message: usize, part: Part) {
        let Message { id, words, enter, .. } = *self.events.message(message);
        self.hop(part, Cost::Stream(words), id.from, Some(message), enter, self.causes.out(message));
    }

    /// A message had arrived: its words had followed each other, and the first one had been under way.
    fn arrival(&mut self, message: usize, held: Option<Part>) -> At {
        let Message { id, words, latency, enter, first, arrival, .. } = *self.events.message(message);
        if first > enter + latency
            && let Some(earlier) = self.causes.of_order(message)
        {
            return At::Arrival(earlier, held);
        }
        let part = |own| held.unwrap_or(own);
        self.hop(part(Part::Stream), Cost::Stream(words), id.from, Some(message), first, arrival);
        let soonest = enter + latency;
        if first > soonest {
            match self.causes.of_entrance(message) {
                Some(Cause::CameIn(other) | Cause::LeftRoom(other)) => {
                    return At::Arrival(other, Some(Part::Port));
                }
                Some(Cause::WentOut(other)) => {
                    self.goes_out(other, Part::Port);
                    return At::Entry(other);
                }
                None => self.hop(Part::Port, Cost::Fixed, id.from, Some(message), soonest, first),
            }
        }
        self.hop(part(Part::Latency), Cost::Latency, id.from, Some(message), enter, soonest.min(first));
        At::Entry(message)
    }

    /// A barrier was over: the last one had come, and its cost was paid.
    fn barrier(&mut self, place: usize) -> Option<At> {
        let (numbers, lasts) = self.barriers.get_or_insert_with(|| barriers(self.events));
        let last = numbers.get(&place).and_then(|number| lasts.get(*number)).copied().unwrap_or(place);
        let Event { id, start, .. } = self.events.event(last);
        self.hop(Part::Barrier, Cost::Fixed, id, None, start, self.events.event(place).end);
        self.before(last)
    }
}

/// The number of each barrier at its processor, and for each number the place of who came last.
fn barriers(events: &Events) -> (HashMap<usize, usize>, Vec<usize>) {
    let (mut numbers, mut lasts) = (HashMap::new(), Vec::new());
    for track in events.processors() {
        let waits = |place: &usize| events.event(*place).what == &ActivityKind::Barrier;
        for (number, place) in track.places.clone().filter(waits).enumerate() {
            numbers.insert(place, number);
            match lasts.get_mut(number) {
                None => lasts.push(place),
                Some(last) if events.event(*last).start < events.event(place).start => *last = place,
                Some(_) => (),
            }
        }
    }
    (numbers, lasts)
}

/// Where each request was called for.
fn posts(events: &Events) -> HashMap<(usize, u32), usize> {
    let post = |place: usize| match events.event(place) {
        Event { id, request: None, what: ActivityKind::Post(request), .. } => Some(((id, *request), place)),
        _ => None,
    };
    (0..events.len()).filter_map(post).collect()
}
