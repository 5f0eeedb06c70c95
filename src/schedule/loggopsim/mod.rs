//! LogGOPSim's rules, which are not the papers': what differs is told in `docs/reference/replay.md`.
//!
//! A rank has processors and network interfaces. A send needs one of each, and so does a message when it comes, for which
//! the receiver spends o whether or not a receive was posted. Nothing stalls. What finds its processor or interface taken
//! tries again when that is free. Of what happens at the same time, what was put on the agenda first comes first.
//!
//! Of all that waits for the same processor and interface only the first is on the agenda: what comes behind it would try
//! in vain.

mod part;

use super::early::{Early, is_early};
use super::mail::{Mail, wanted};
use super::outcome::{Played, not_received, stuck};
use super::progress::Progress;
use super::queue::{Links, Queue};
use super::stored::{Kind, Packed, Schedule};
use super::unmet::Unmet;
use crate::clock::agenda::{Agenda, Entry};
use crate::error::{Cause, Doing, RunError};
use crate::message::matching::Receive;
use crate::message::{Matched, RawTag};
use crate::params::{Noise, Params, ParamsError};
use crate::time::Time;

use part::{Part, Parts};

/// What everything costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Latency: how long the first byte is under way.
    L: Time,
    /// Overhead of the processors, at both ends.
    o: Time,
    /// Gap of the interfaces, at both ends.
    g: Time,
    /// Gap per further byte.
    G: Time,
    /// Overhead per further byte.
    O: Time,
    /// A longer message is sent when its receive is posted.
    S: usize,
    /// How long messages are.
    params: Params,
}

impl Costs {
    /// On a machine with these parameters, if LogGOPSim knows such a machine.
    pub(super) fn of(params: &Params) -> Result<Costs, ParamsError> {
        let Params { L, o, g, .. } = *params;
        let Some(gps) = params.gps() else {
            let G = params.G().unwrap_or_default();
            return Ok(Costs { L, o, g, G, O: Time::ZERO, S: usize::MAX, params: *params });
        };
        if gps.O_s != gps.O_r || gps.G_s != gps.G_l || gps.G_l < Time::ZERO {
            return Err(ParamsError::new(format!(
                "LogGOPSim has one O and one G of 0 or more, and here O_s = {}, O_r = {}, G_s = {} and G_l = {}; give \
                 O_s = O_r and G_s = G_l, or play it by the papers' rules",
                gps.O_s, gps.O_r, gps.G_s, gps.G_l
            )));
        }
        if params.R > Time::ZERO {
            return Err(ParamsError::new(format!(
                "LogGOPSim has no R, and here it is {}; give R = 0, or play it by the papers' rules",
                params.R
            )));
        }
        Ok(Costs { L, o, g, G: gps.G_s, O: gps.O_s, S: gps.S, params: *params })
    }

    /// The length of a message.
    fn words(&self, operation: &Packed) -> usize {
        self.params.words(usize::try_from(operation.size).unwrap_or(usize::MAX))
    }
}

/// A processor and an interface of a rank.
#[derive(Clone, Debug, Default)]
struct Hardware {
    /// When the processor is free.
    free: Time,
    /// When the interface can send.
    can_send: Time,
    /// When it can receive.
    can_receive: Time,
    /// What waits for the two, by what it is; the one with the first turn is on the agenda.
    waiting: [Queue; 3],
}

/// What an operation takes at the least: its state, its owner, and how far it is.
pub(super) const BYTES: u64 = 6;

/// A schedule that is being played.
pub(super) struct Play<'a> {
    /// How far it is.
    progress: Progress<'a>,
    /// What everything costs.
    costs: Costs,
    /// The noise of the ranks' processors.
    noise: Option<&'a Noise>,
    /// Whose each operation is.
    owners: Vec<u32>,
    /// How far each operation is.
    reached: Vec<Reached>,
    /// Since when each receive is ready that is not ready at the beginning. The rest is never touched, and takes no memory.
    since: Vec<Time>,
    /// The ranks' processors and interfaces.
    hardware: Parts<Hardware>,
    /// What waits behind what.
    links: Links,
    /// The receives that wait for nothing.
    early: Early,
    /// Each rank's messages that have no receive, and its receives that have no message.
    desks: Vec<Unmet<Held>>,
    /// What happens next: by time, and then as it was put here.
    agenda: Agenda,
    /// How many things were put there.
    turns: u32,
    /// How it goes.
    replayed: Played,
}

/// What needs hardware.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Calc,
    Send,
    /// A message comes.
    Message,
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// It has not been tried.
    Nothing,
    /// It waits for its hardware.
    Queue,
    /// It is sent, and its message under way.
    Network,
    /// Its message waits for the receiver's hardware.
    ReceiversQueue,
    /// It is over.
    End,
}

/// A message that has no receive, and how much had happened before it came: those that came first go first, whoever sent
/// them.
#[derive(Debug)]
struct Held(Mail, u64);

impl Matched for Held {
    fn arrival(&self) -> Time {
        Time::from_ps(self.1 as i64)
    }

    fn from(&self) -> u32 {
        self.0.from
    }

    fn number(&self) -> u32 {
        self.0.number
    }

    fn tag(&self) -> RawTag {
        self.0.tag
    }
}

impl<'a> Play<'a> {
    /// Nothing has happened.
    pub(super) fn new(schedule: &'a Schedule, costs: Costs, noise: Option<&'a Noise>) -> Play<'a> {
        let P = schedule.ranks();
        let owners = (0..P).flat_map(|rank| schedule.range(rank).map(move |_| rank as u32)).collect();
        Play {
            progress: Progress::new(schedule),
            costs,
            noise,
            owners,
            reached: vec![Reached::Nothing; schedule.len()],
            since: vec![Time::ZERO; schedule.len()],
            hardware: Parts::new(P),
            links: Links::with_room(schedule.ready_at_once()),
            early: Early::new(schedule),
            desks: (0..P).map(|_| Unmet::default()).collect(),
            agenda: Agenda::default(),
            turns: 0,
            replayed: Played::default(),
        }
    }

    /// Plays it to its end.
    pub(super) fn run(mut self) -> Result<Played, RunError> {
        for rank in 0..self.desks.len() {
            self.progress.begin(rank);
            self.take_up();
        }
        while let Some(entry) = self.agenda.pop() {
            let (time, turn) = entry.moment();
            let operation = entry.ticket();
            if time == Time::MAX {
                return Err(Cause::EndOfTime { id: self.owners[operation as usize] as usize }.into());
            }
            self.happens(time, turn, operation);
        }
        self.end()
    }

    /// What is on the agenda is tried.
    #[inline]
    fn happens(&mut self, time: Time, turn: u32, operation: u32) {
        let rank = self.owners[operation as usize];
        let packed = &self.progress.operation(rank, operation);
        let reached = self.reached[operation as usize];
        let act = match (packed.kind, reached) {
            (_, Reached::End) => return,
            (Kind::Recv, _) => {
                self.receive(operation, packed, rank, time);
                return self.is_done();
            }
            (Kind::Calc, _) => Act::Calc,
            (Kind::Send, Reached::Network | Reached::ReceiversQueue) => Act::Message,
            (Kind::Send, _) => Act::Send,
        };
        let part = Play::part(act, packed, rank);
        let has_waited = matches!(reached, Reached::Queue | Reached::ReceiversQueue);
        if has_waited && self.first(act, part) != Some((turn, operation)) {
            return; // another one came before it, and is on the agenda
        }
        let when = self.when(act, part);
        match (when > time, has_waited) {
            (true, true) => return self.agenda.add(Entry::new(when, turn, operation)),
            (true, false) => return self.wait(act, part, when, turn, operation),
            (false, true) => {
                let (waiting, links) = self.waiting(act, part);
                waiting.pop(links);
            }
            (false, false) => (),
        }
        match act {
            Act::Calc => self.calc(operation, packed, part, time),
            Act::Send => self.send(operation, packed, part, time),
            Act::Message => self.message(operation, packed, part, rank, time),
        }
        self.is_done();
        if has_waited && let Some((turn, operation)) = self.first(act, part) {
            self.agenda.add(Entry::new(self.when(act, part), turn, operation));
        }
    }

    /// What has happened has been counted, and what may follow is on the agenda.
    #[inline]
    fn is_done(&mut self) {
        self.replayed.events += 1;
        if !self.progress.fresh.is_empty() {
            self.take_up();
        }
    }

    /// The hardware that something needs. A message takes those at the receiver that have the numbers of the sender's.
    #[inline]
    fn part(act: Act, packed: &Packed, rank: u32) -> Part {
        let Packed { cpu, nic, peer, .. } = *packed;
        match act {
            Act::Calc => Part { rank, cpu, nic: 0 },
            Act::Send => Part { rank, cpu, nic },
            Act::Message => Part { rank: peer, cpu, nic },
        }
    }

    /// When the hardware is free for something.
    #[inline]
    fn when(&self, act: Act, part: Part) -> Time {
        let free = self.hardware.get(part.processor()).map_or(Time::ZERO, |hardware| hardware.free);
        let interface = || self.hardware.get(part.interface());
        match act {
            Act::Calc => free,
            Act::Send => free.max(interface().map_or(Time::ZERO, |hardware| hardware.can_send)),
            Act::Message => free.max(interface().map_or(Time::ZERO, |hardware| hardware.can_receive)),
        }
    }

    /// When the processor is free.
    #[inline]
    fn free(&mut self, part: Part) -> &mut Time {
        &mut self.hardware.get_mut(part.processor()).free
    }

    /// When the interface can send.
    #[inline]
    fn can_send(&mut self, part: Part) -> &mut Time {
        &mut self.hardware.get_mut(part.interface()).can_send
    }

    /// What waits for the same.
    #[inline]
    fn waiting(&mut self, act: Act, part: Part) -> (&mut Queue, &mut Links) {
        (&mut self.hardware.get_mut(part).waiting[act as usize], &mut self.links)
    }

    /// The turn of what is the first to wait for the same, and its operation.
    #[inline]
    fn first(&mut self, act: Act, part: Part) -> Option<(u32, u32)> {
        let (waiting, links) = self.waiting(act, part);
        waiting.first(links).map(|(turn, operation)| (turn.as_ps() as u32, operation))
    }

    /// Something waits until the hardware is free. If it is the first to do so, it is on the agenda.
    #[inline]
    fn wait(&mut self, act: Act, part: Part, when: Time, turn: u32, operation: u32) {
        let is_message = act == Act::Message;
        self.reached[operation as usize] = if is_message { Reached::ReceiversQueue } else { Reached::Queue };
        let (waiting, links) = self.waiting(act, part);
        // Those with the first turns go first.
        waiting.push(links, Time::from_ps(i64::from(turn)), operation);
        if self.first(act, part) == Some((turn, operation)) {
            self.agenda.add(Entry::new(when, turn, operation));
        }
    }

    /// When a processor is done with a computation or an overhead o.
    #[inline]
    fn busy_until(&self, part: Part, start: Time, time: Time) -> Time {
        self.noise.map_or(start + time, |noise| noise.end(part.rank as usize, start, time))
    }

    /// Computes.
    fn calc(&mut self, operation: u32, packed: &Packed, part: Part, time: Time) {
        self.reached[operation as usize] = Reached::End;
        *self.free(part) = self.busy_until(part, time, Time::from_ps(packed.size as i64));
        self.progress.begins(part.rank, operation, time);
        self.progress.ends(part.rank, operation, time);
    }

    /// Sends a message.
    fn send(&mut self, operation: u32, packed: &Packed, part: Part, time: Time) {
        let Costs { L, o, g, G, O, S, .. } = self.costs;
        let words = self.costs.words(packed);
        let further = words.max(1) as i64 - 1;
        // A detour keeps the processor, and not the message.
        *self.free(part) = self.busy_until(part, time, o) + further * O;
        *self.can_send(part) = time + g + further * G;
        self.reached[operation as usize] = Reached::Network;
        self.replayed.messages += 1;
        let turn = self.turn();
        // The first byte; what the others take, the receiver spends.
        self.agenda.add(Entry::new(time + o + L, turn, operation));
        self.progress.begins(part.rank, operation, time);
        if words <= S {
            self.progress.ends(part.rank, operation, time);
        }
    }

    /// Posts a receive, or gives it a message that has come.
    fn receive(&mut self, operation: u32, packed: &Packed, rank: u32, time: Time) {
        self.reached[operation as usize] = Reached::End;
        self.progress.begins(rank, operation, time);
        let desk = &mut self.desks[rank as usize];
        if is_early(packed) {
            return desk.posts_early();
        }
        let receive = Receive { place: (self.since[operation as usize], operation), want: wanted(packed) };
        if let Some(Held(mail, _)) = desk.post(receive) {
            self.agree(&mail, packed, time);
            self.progress.ends(rank, operation, time);
        }
    }

    /// A message's first byte is there: spends what it takes to receive it.
    fn message(&mut self, operation: u32, packed: &Packed, part: Part, from: u32, time: Time) {
        let Costs { o, g, G, O, .. } = self.costs;
        self.reached[operation as usize] = Reached::End;
        let words = self.costs.words(packed);
        let further = words.max(1) as i64 - 1;
        *self.free(part) = self.busy_until(part, time, o) + (further * O).max(further * G);
        self.hardware.get_mut(part.interface()).can_receive = time + g + further * G;
        let tag = wanted(packed).tag;
        let mail = Mail { arrival: time, from, sent_by: operation, number: 0, tag, words: words as u32 };
        let held = Held(mail, self.replayed.events);
        let desk = &mut self.desks[part.rank as usize];
        let mut early = self.early.of(&mut self.progress, part.rank);
        match desk.first(&early, &held) {
            Some(found) => {
                let receive = desk.takes(&mut early, found);
                self.agree(&mail, packed, time);
                self.progress.ends(part.rank, receive.place.1, time);
            }
            None => desk.put(held),
        }
    }

    /// A message has found its receive. The send of a long one is done only now, and its sender goes on not before now: with
    /// the processor and the interface that `by` names.
    fn agree(&mut self, mail: &Mail, by: &Packed, time: Time) {
        if mail.words as usize <= self.costs.S {
            return;
        }
        let part = Part { rank: mail.from, cpu: by.cpu, nic: by.nic };
        *self.free(part) = time.max(*self.free(part));
        *self.can_send(part) = time.max(*self.can_send(part));
        self.progress.ends(mail.from, mail.sent_by, time);
    }

    /// Puts what has become ready on the agenda: rank by rank, sends first, then receives, then computations. Each is tried
    /// when its processor is free.
    #[inline]
    fn take_up(&mut self) {
        let mut fresh = std::mem::take(&mut self.progress.fresh);
        if fresh.len() > 1 {
            let order = |(_, operation): &(Time, u32)| {
                let rank = self.owners[*operation as usize];
                (rank, self.progress.operation(rank, *operation).kind)
            };
            fresh.sort_by_key(order);
        }
        for (since, operation) in fresh.drain(..) {
            let rank = self.owners[operation as usize];
            let packed = &self.progress.operation(rank, operation);
            if is_early(packed) && !self.progress.is_awaited(rank, operation) {
                // It is posted before any message comes, and nothing follows from that.
                self.desks[rank as usize].posts_early();
                self.replayed.events += 1;
                continue;
            }
            if packed.kind == Kind::Recv && since > Time::ZERO {
                self.since[operation as usize] = since;
            }
            let act = if packed.kind == Kind::Send { Act::Send } else { Act::Calc };
            let part = Play::part(act, packed, rank);
            let (when, turn) = (self.when(act, part), self.turn());
            match packed.kind {
                Kind::Recv => self.agenda.add(Entry::new(when, turn, operation)),
                _ => self.wait(act, part, when, turn, operation),
            }
        }
        self.progress.fresh = fresh;
    }

    /// The turn of what is put on the agenda next. A schedule has too few operations for it to overflow.
    fn turn(&mut self) -> u32 {
        self.turns = self.turns.wrapping_add(1);
        self.turns
    }

    /// Nothing more happens: how it went, or what is wrong.
    fn end(mut self) -> Result<Played, RunError> {
        let mut finishes = vec![Time::ZERO; self.desks.len()];
        for (rank, hardware) in self.hardware.iter() {
            finishes[rank as usize] = hardware.free.max(finishes[rank as usize]);
        }
        if self.progress.left > 0 {
            let sending = |rank: usize, operation: u32| {
                let packed = self.progress.operation(rank as u32, operation);
                let (to, words) = (packed.peer as usize, self.costs.words(&packed));
                let waits = packed.kind == Kind::Send && self.reached[operation as usize] == Reached::End;
                waits.then_some(Doing::WaitingToSend { to, words, S: self.costs.S })
            };
            return Err(stuck(&self.progress, |rank| finishes[rank], sending));
        }
        let left = self.desks.iter().enumerate().flat_map(|(to, desk)| {
            desk.left().map(move |Held(mail, _)| (mail.arrival, to, mail.from, mail.tag))
        });
        if let Some(error) = not_received(left) {
            return Err(error);
        }
        self.replayed.time = finishes.iter().copied().max().unwrap_or_default();
        let late = finishes.iter().position(|finish| *finish == Time::MAX);
        self.replayed.finishes = finishes;
        late.map_or(Ok(self.replayed), |id| Err(Cause::EndOfTime { id }.into()))
    }
}
