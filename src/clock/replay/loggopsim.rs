//! LogGOPSim's rules, which are not the papers': what differs is told in `docs/replay.md`.
//!
//! A rank has processors and network interfaces. A send needs one of each, and so does a message when it comes, for which
//! the receiver spends o whether or not a receive was posted. Nothing stalls. What finds its processor or interface taken
//! tries again when that is free. Of what happens at the same time, what was put on the agenda first comes first.

use super::desk::{About, Desk, Desks, Mail};
use super::progress::Progress;
use super::queue::Links;
use super::{Replayed, not_received, refuse, stuck};
use crate::clock::agenda::{Agenda, Entry};
use crate::error::{Cause, Doing, RunError};
use crate::params::{Params, ParamsError};
use crate::schedule::{Kind, Packed, Schedule};
use crate::time::Time;

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
    pub fn of(params: &Params) -> Result<Costs, ParamsError> {
        let Params { L, o, g, .. } = *params;
        let Some(gps) = params.gps() else {
            let G = params.G().unwrap_or_default();
            return Ok(Costs { L, o, g, G, O: Time::ZERO, S: usize::MAX, params: *params });
        };
        if gps.O_s != gps.O_r || gps.G_s != gps.G_l || gps.G_l < Time::ZERO {
            return refuse(format!(
                "LogGOPSim has one O and one G of 0 or more, and here O_s = {}, O_r = {}, G_s = {} and G_l = {}; give O_s \
                 = O_r and G_s = G_l, or play it by the papers' rules",
                gps.O_s, gps.O_r, gps.G_s, gps.G_l
            ));
        }
        Ok(Costs { L, o, g, G: gps.G_s, O: gps.O_s, S: gps.S, params: *params })
    }

    /// The length of a message.
    fn words(&self, operation: &Packed) -> usize {
        self.params.words(usize::try_from(operation.size).unwrap_or(usize::MAX))
    }
}

/// A schedule that is being played.
pub(super) struct Play<'a> {
    /// How far it is.
    progress: Progress<'a>,
    /// What everything costs.
    costs: Costs,
    /// Whose each operation is.
    owners: Vec<u32>,
    /// Which sends have become messages under way.
    sent: Vec<bool>,
    /// How many processors a rank has.
    cpus: usize,
    /// How many network interfaces it has.
    nics: usize,
    /// When each rank's processors are free.
    free: Vec<Time>,
    /// When each rank's interfaces can send.
    can_send: Vec<Time>,
    /// When they can receive.
    can_receive: Vec<Time>,
    /// Each rank's receives and messages.
    desks: Desks,
    /// Each rank's place there.
    ranks: Vec<Desk>,
    /// What waits behind what.
    links: Links,
    /// What happens next: by time, and then as it was put here.
    agenda: Agenda,
    /// How many things were put there.
    turns: u32,
    /// How it goes.
    replayed: Replayed,
}

impl<'a> Play<'a> {
    /// Nothing has happened.
    pub fn new(schedule: &'a Schedule, costs: Costs) -> Play<'a> {
        let P = schedule.ranks();
        let most = |part: fn(&Packed) -> u8| schedule.all().iter().map(part).max().unwrap_or(0) as usize + 1;
        let (cpus, nics) = (most(|operation| operation.cpu), most(|operation| operation.nic));
        let mut owners = vec![0; schedule.len()];
        (0..P).for_each(|rank| owners[schedule.range(rank)].fill(rank as u32));
        Play {
            progress: Progress::new(schedule),
            costs,
            owners,
            sent: vec![false; schedule.len()],
            cpus,
            nics,
            free: vec![Time::ZERO; P * cpus],
            can_send: vec![Time::ZERO; P * nics],
            can_receive: vec![Time::ZERO; P * nics],
            desks: Desks::new(),
            ranks: vec![Desk::default(); P],
            links: Links::new(schedule.len()),
            agenda: Agenda::default(),
            turns: 0,
            replayed: Replayed::default(),
        }
    }

    /// Plays it to its end.
    pub fn run(mut self) -> Result<Replayed, RunError> {
        for rank in 0..self.ranks.len() {
            self.progress.begin(rank);
            self.take_up();
        }
        while let Some(entry) = self.agenda.pop() {
            let (time, turn) = entry.moment();
            let operation = entry.ticket();
            let packed = self.progress.operation(operation);
            let rank = self.owners[operation as usize] as usize;
            if time == Time::MAX {
                return Err(Cause::EndOfTime { id: rank }.into());
            }
            let later = match packed.kind {
                Kind::Calc => self.calc(operation, packed, rank, time),
                Kind::Send if self.sent[operation as usize] => self.message(operation, packed, rank, time),
                Kind::Send => self.send(operation, packed, rank, time),
                Kind::Recv => {
                    self.receive(operation, packed, rank, time);
                    None
                }
            };
            match later {
                Some(later) => self.agenda.add(Entry::new(later, turn, operation)),
                None => {
                    self.replayed.events += 1;
                    if !self.progress.fresh.is_empty() {
                        self.take_up();
                    }
                }
            }
        }
        self.end()
    }

    /// Computes, or says when it can.
    fn calc(&mut self, operation: u32, packed: &Packed, rank: usize, time: Time) -> Option<Time> {
        let free = &mut self.free[rank * self.cpus + packed.cpu as usize];
        if *free > time {
            return Some(*free);
        }
        *free = time + Time::from_ps(packed.size as i64);
        self.progress.begins(operation, time);
        self.progress.ends(operation, time);
        None
    }

    /// Sends a message, or says when that can be.
    fn send(&mut self, operation: u32, packed: &Packed, rank: usize, time: Time) -> Option<Time> {
        let Costs { L, o, g, G, O, S, .. } = self.costs;
        let (cpu, nic) = (rank * self.cpus + packed.cpu as usize, rank * self.nics + packed.nic as usize);
        let can = self.free[cpu].max(self.can_send[nic]);
        if can > time {
            return Some(can);
        }
        let words = self.costs.words(packed);
        let further = words.max(1) as i64 - 1;
        self.free[cpu] = time + o + further * O;
        self.can_send[nic] = time + g + further * G;
        self.sent[operation as usize] = true;
        self.replayed.messages += 1;
        let turn = self.turn();
        // The first byte; what the others take, the receiver spends.
        self.agenda.add(Entry::new(time + o + L, turn, operation));
        self.progress.begins(operation, time);
        if words <= S {
            self.progress.ends(operation, time);
        }
        None
    }

    /// Posts a receive, or gives it a message that has come.
    fn receive(&mut self, operation: u32, packed: &Packed, rank: usize, time: Time) {
        self.progress.begins(operation, time);
        let (desk, links) = (&mut self.ranks[rank], &mut self.links);
        let mail = self.desks.take_or_post(desk, rank as u32, links, &self.progress, operation);
        if let Some(mail) = mail {
            self.agree(&mail, packed, time);
            self.progress.ends(operation, time);
        }
    }

    /// A message's first byte is there: spends what it takes to receive it, or says when that can be.
    fn message(&mut self, operation: u32, packed: &Packed, from: usize, time: Time) -> Option<Time> {
        let Costs { o, g, G, O, .. } = self.costs;
        let rank = packed.peer as usize;
        let (cpu, nic) = (rank * self.cpus + packed.cpu as usize, rank * self.nics + packed.nic as usize);
        let can = self.free[cpu].max(self.can_receive[nic]);
        if can > time {
            return Some(can);
        }
        let words = self.costs.words(packed);
        let further = words.max(1) as i64 - 1;
        self.free[cpu] = time + o + (further * O).max(further * G);
        self.can_receive[nic] = time + g + further * G;
        let mail = Mail::new(time, from as u32, operation, packed.tag, words as u32, About::Data);
        let (desk, links) = (&mut self.ranks[rank], &mut self.links);
        match self.desks.take_posted(desk, rank as u32, links, &self.progress, from as u32, packed.tag) {
            Some(receive) => {
                self.agree(&mail, packed, time);
                self.progress.ends(receive, time);
            }
            None => self.desks.hold(desk, rank as u32, mail),
        }
        None
    }

    /// A message has found its receive. The send of a long one is done only now, and its sender goes on not before now: with
    /// the processor and the interface that `by` names.
    fn agree(&mut self, mail: &Mail, by: &Packed, time: Time) {
        if mail.words as usize <= self.costs.S {
            return;
        }
        let sender = mail.from as usize;
        for (place, times) in [
            (sender * self.cpus + by.cpu as usize, &mut self.free),
            (sender * self.nics + by.nic as usize, &mut self.can_send),
        ] {
            times[place] = times[place].max(time);
        }
        self.progress.ends(mail.sent_by, time);
    }

    /// Puts what has become ready on the agenda: rank by rank, sends first, then receives, then computations. Each is tried
    /// when its processor is free.
    fn take_up(&mut self) {
        let mut fresh = std::mem::take(&mut self.progress.fresh);
        if fresh.len() > 1 {
            let order = |operation: &u32| {
                (self.owners[*operation as usize], self.progress.operation(*operation).kind)
            };
            fresh.sort_by_key(order);
        }
        for operation in fresh.drain(..) {
            let Packed { kind, cpu, nic, .. } = *self.progress.operation(operation);
            let rank = self.owners[operation as usize] as usize;
            let mut time = self.free[rank * self.cpus + cpu as usize];
            if kind == Kind::Send {
                time = time.max(self.can_send[rank * self.nics + nic as usize]);
            }
            let turn = self.turn();
            self.agenda.add(Entry::new(time, turn, operation));
        }
        self.progress.fresh = fresh;
    }

    /// The turn of what is put on the agenda next. A schedule has too few operations for it to overflow.
    fn turn(&mut self) -> u32 {
        self.turns = self.turns.wrapping_add(1);
        self.turns
    }

    /// Nothing more happens: how it went, or what is wrong.
    fn end(mut self) -> Result<Replayed, RunError> {
        let finish =
            |rank: usize| self.free[rank * self.cpus..][..self.cpus].iter().copied().max().unwrap_or_default();
        if self.progress.left > 0 {
            let sending = |operation: u32| {
                let packed = self.progress.operation(operation);
                let (to, words) = (packed.peer as usize, self.costs.words(packed));
                let waits = packed.kind == Kind::Send && self.sent[operation as usize];
                waits.then_some(Doing::WaitingToSend { to, words, S: self.costs.S })
            };
            return Err(stuck(&self.progress, finish, sending));
        }
        let left = self.ranks.iter().enumerate().flat_map(|(to, desk)| {
            self.desks.left(desk).map(move |mail| (mail.arrival, to, mail.from, mail.tag))
        });
        if let Some(error) = not_received(left) {
            return Err(error);
        }
        self.replayed.finishes = (0..self.ranks.len()).map(finish).collect();
        self.replayed.time = self.replayed.finishes.iter().copied().max().unwrap_or_default();
        match self.replayed.finishes.iter().position(|finish| *finish == Time::MAX) {
            Some(id) => Err(Cause::EndOfTime { id }.into()),
            None => Ok(self.replayed),
        }
    }
}
