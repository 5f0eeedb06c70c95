//! The papers' rules: a rank is a processor of the machine.
//!
//! A rank does one thing at a time: it computes, or is busy with a send or a reception. Of what is ready it does what can
//! begin first, since a gap that runs keeps it only from sending, or only from receiving; at the same time what became
//! ready first, and then what was written first. Sends go in the order in which they became ready. A reception is ready
//! once its receive is posted and its message there.

use std::collections::HashMap;

use super::desk::{About, Desk, Desks, Mail};
use super::progress::Progress;
use super::queue::{Links, Queue};
use super::{Played, not_received, stuck};
use crate::clock::agenda::{Agenda, Entry};
use crate::clock::stacks::prefetch::prefetch_value;
use crate::error::{Cause, Doing, RunError};
use crate::message::parcel::Parcel;
use crate::message::{Letter, RawTag, Tag};
use crate::rules::network::Network;
use crate::rules::node::{Pace, Receiving, Sending, Step};
use crate::schedule::{Kind, Schedule};
use crate::time::Time;

/// A rank.
#[derive(Debug)]
struct Rank {
    /// When it can do what.
    pace: Pace,
    /// When it does something next, the end of time if a message must come first.
    wake: Time,
    /// The ticket of the one entry on the agenda that counts.
    ticket: u32,
    /// What is ready to be sent, by operation.
    sends: Queue,
    /// The computations that are ready.
    calcs: Queue,
    /// Its receives and messages.
    desk: Desk,
}

/// What a rank does next.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Compute.
    Calc,
    /// Send.
    Send,
    /// Receive.
    Receive,
}

/// A message that is to be sent.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    /// The receiver.
    to: u32,
    /// Its length.
    words: usize,
    /// What it says.
    about: About,
    /// The operation of the receiver that waits for it, if one does.
    answers: Option<u32>,
}

/// A long message, for which its receiver is asked first (LogGPS, section 3.1), at one of its two ends.
#[derive(Debug)]
struct Handshake {
    /// How far it is.
    protocol: Protocol,
    /// What is to be sent or taken next.
    step: Step,
    /// The rank at the other end.
    peer: u32,
    /// The operation there, once that is known.
    operation: Option<u32>,
}

/// How far a handshake is.
#[derive(Debug)]
enum Protocol {
    /// At the sender.
    Sending(Sending),
    /// At the receiver.
    Receiving(Receiving),
}

impl Handshake {
    /// What came next is done, with the message of this number if it was a send. Returns what comes then.
    fn goes_on(&mut self, number: u32) -> Step {
        self.step = match &mut self.protocol {
            Protocol::Sending(sending) => {
                sending.has_sent(number);
                sending.next()
            }
            Protocol::Receiving(receiving) => receiving.next(),
        };
        self.step
    }
}

/// Where ranks have fewer operations than this, most are touched for the first time when a message comes, and it pays to
/// fetch them before. (A broadcast over a million ranks takes two thirds of the time; a dissemination would take a fifth more.)
const FEW: usize = 8;

/// A schedule that is being played.
pub(super) struct Play<'a> {
    /// How far it is.
    progress: Progress<'a>,
    /// What messages cost.
    network: &'a Network,
    /// The ranks.
    ranks: Vec<Rank>,
    /// Who acts next.
    agenda: Agenda,
    /// What waits behind what.
    links: Links,
    /// Where messages find receives.
    pub desks: Desks,
    /// The long messages that are under way, by operation.
    handshakes: HashMap<u32, Handshake>,
    /// How it goes.
    replayed: Played,
    /// Whether ranks are fetched before they are due.
    fetches: bool,
}

impl<'a> Play<'a> {
    /// Nothing has happened.
    pub fn new(schedule: &'a Schedule, network: &'a Network) -> Play<'a> {
        let rank = |id| Rank {
            pace: Pace::new(id, network),
            wake: Time::MAX,
            ticket: 0,
            sends: Queue::default(),
            calcs: Queue::default(),
            desk: Desk::default(),
        };
        Play {
            progress: Progress::new(schedule),
            network,
            ranks: (0..schedule.ranks()).map(rank).collect(),
            agenda: Agenda::default(),
            links: Links::new(schedule.len()),
            desks: Desks::new(),
            handshakes: HashMap::new(),
            replayed: Played::default(),
            fetches: schedule.len() < FEW * schedule.ranks(),
        }
    }

    /// Plays it to its end.
    pub fn run(mut self) -> Result<Played, RunError> {
        for rank in 0..self.ranks.len() as u32 {
            self.progress.begin(rank as usize);
            self.take_up(rank);
            if let Some(entry) = self.plan(rank) {
                self.agenda.add(entry);
            }
        }
        let mut next = self.agenda.pop();
        while let Some(entry) = next {
            if self.fetches {
                self.prefetch();
            }
            let (time, rank) = entry.moment();
            next = if entry.ticket() != self.ranks[rank as usize].ticket {
                self.agenda.pop()
            } else if time == Time::MAX {
                return Err(self.end_of_time(rank));
            } else {
                if !self.act(rank) {
                    return Err(self.end_of_time(rank));
                }
                match self.plan(rank) {
                    // Whoever is still the first goes on at once.
                    Some(entry) => self.agenda.exchange(entry, |_| true).or(Some(entry)),
                    None => self.agenda.pop(),
                }
            };
        }
        self.end()
    }

    /// Fetches what those will need that are due soon. Each stage finds in the cache what the stage before has fetched.
    #[inline]
    fn prefetch(&self) {
        let rank = |others: usize| {
            let (_, rank) = self.agenda.coming(others)?.moment();
            self.ranks.get(rank as usize)
        };
        if let Some(rank) = rank(12) {
            prefetch_value(rank);
        }
        if let Some(rank) = rank(8) {
            let sends = rank.sends.first();
            let receives = self.desks.first(&rank.desk).map(|mail| mail.receive);
            [sends, receives].into_iter().flatten().for_each(|operation| self.progress.prefetch(operation));
        }
        if let Some(rank) = rank(4) {
            if let Some(send) = rank.sends.first() {
                prefetch_value(&self.ranks[self.progress.operation(send).peer as usize]);
            }
            if let Some(mail) = self.desks.first(&rank.desk) {
                self.progress.prefetch_followers(mail.receive);
            }
        }
    }

    /// What a rank does next, when it begins with that, and when its turn is.
    #[inline]
    fn choose(&self, rank: u32) -> Option<(Act, Time, Time)> {
        let Rank { pace, sends, calcs, desk, .. } = &self.ranks[rank as usize];
        let mut best: Option<(Act, Time, Time, (Time, u32))> = None;
        let mut offer = |act, begin: Time, turn, since: Time, operation: u32| {
            let first = |(_, other, _, key): &_| (begin, (since, operation)) < (*other, *key);
            if best.as_ref().is_none_or(first) {
                best = Some((act, begin, turn, (since, operation)));
            }
        };
        if let Some(send) = sends.first() {
            let (begin, turn) = pace.foresees(self.network, self.outgoing(send).words);
            offer(Act::Send, begin, turn, self.progress.ready_since(send), send);
        }
        if let Some(calc) = calcs.first() {
            offer(Act::Calc, pace.now(), pace.now(), self.progress.ready_since(calc), calc);
        }
        if let Some(mail) = self.desks.first(desk) {
            let begin = pace.next_receive(self.network).max(mail.ready);
            let over = begin + self.network.reception_cost().of(mail.words as usize);
            offer(Act::Receive, begin, over, mail.ready, mail.receive);
        }
        best.map(|(act, begin, turn, _)| (act, begin, turn))
    }

    /// Plans what a rank does next. Returns its entry on the agenda, if there is something and it is new.
    #[inline]
    fn plan(&mut self, rank: u32) -> Option<Entry> {
        loop {
            let chosen = self.choose(rank);
            if let Some((Act::Calc, ..)) = chosen
                && !self.desks.expects(&self.ranks[rank as usize].desk)
                && self.handshakes.is_empty()
            {
                self.calc(rank); // nothing can come before it
                continue;
            }
            let here = &mut self.ranks[rank as usize];
            here.ticket = here.ticket.wrapping_add(1);
            here.wake = chosen.map_or(Time::MAX, |(.., turn)| turn);
            return chosen.map(|_| Entry::new(here.wake, rank, here.ticket));
        }
    }

    /// A message has come for a rank that may now do something else first.
    #[inline]
    fn replan(&mut self, rank: u32) {
        let wake = self.choose(rank).map_or(Time::MAX, |(.., turn)| turn);
        if wake != self.ranks[rank as usize].wake
            && let Some(entry) = self.plan(rank)
        {
            self.agenda.add(entry);
        }
    }

    /// A rank's turn has come. Returns whether there is still time.
    #[inline]
    fn act(&mut self, rank: u32) -> bool {
        self.ranks[rank as usize].wake = Time::MAX;
        match self.choose(rank) {
            Some((Act::Send, begin, _)) => return self.send(rank, begin),
            Some((Act::Receive, begin, _)) => self.receive(rank, begin),
            Some((Act::Calc, ..)) => self.calc(rank),
            None => (),
        }
        true
    }

    /// Computes.
    fn calc(&mut self, rank: u32) {
        let here = &mut self.ranks[rank as usize];
        let Some(calc) = here.calcs.pop(&self.links) else { return };
        let begin = here.pace.now();
        let end = begin + Time::from_ps(self.progress.operation(calc).size as i64);
        here.pace.works(end - begin);
        self.replayed.events += 1;
        self.progress.begins(calc, begin);
        self.progress.ends(calc, end);
        self.take_up(rank);
    }

    /// Sends what is first in the queue. Returns whether there is still time.
    #[inline]
    fn send(&mut self, rank: u32, begin: Time) -> bool {
        let here = &mut self.ranks[rank as usize];
        let Some(send) = here.sends.pop(&self.links) else { return true };
        let Outgoing { to, words, about, answers } = self.outgoing(send);
        let here = &mut self.ranks[rank as usize];
        let Some(outgoing) = here.pace.turns_to(self.network, to as usize, words) else { return false };
        let passage = here.pace.enters(self.network, &outgoing);
        let stall = passage.admitted - passage.ready;
        self.replayed.messages += 1;
        self.replayed.events += 1;
        self.replayed.stalls += u64::from(stall > Time::ZERO);
        self.replayed.stalled += stall;

        let operation = self.progress.operation(send);
        let mail = Mail::new(passage.arrival, rank, send, operation.tag, words as u32, about);
        let (there, since) = (&mut self.ranks[to as usize], answers.map(|to| self.progress.ready_since(to)));
        let is_new = match answers {
            Some(waiting) => {
                self.desks.deliver_to(&mut there.desk, mail, waiting, since.unwrap_or_default());
                true
            }
            None => self.desks.deliver(&mut there.desk, to, &mut self.links, &self.progress, mail),
        };
        if is_new && to != rank {
            self.replan(to);
        }

        let is_first = operation.kind == Kind::Send && answers.is_none();
        if is_first {
            self.progress.begins(send, begin);
        }
        let is_short = self.is_short(operation.kind, words, about);
        let handshake = if is_short { None } else { self.handshakes.get_mut(&send) };
        let step = handshake.map_or(Step::Done, |handshake| handshake.goes_on(outgoing.number));
        if step == Step::Done {
            if !is_short {
                self.handshakes.remove(&send);
            }
            self.progress.ends(send, passage.enter);
        }
        self.take_up(rank);
        true
    }

    /// Receives the message that is first.
    #[inline]
    fn receive(&mut self, rank: u32, begin: Time) {
        let here = &mut self.ranks[rank as usize];
        let Some(mail) = self.desks.take_first(&mut here.desk) else { return };
        let Mail { from, sent_by, receive, words, about, .. } = mail;
        here.pace.receives(begin, self.network.reception_cost().of(words as usize));
        let now = here.pace.now();
        self.replayed.events += 1;
        let step = match about {
            About::Data => Step::Done,
            About::Request => {
                let tag = RawTag::scheduled(Some(mail.tag)).request();
                let letter = Letter { from, to: rank, number: sent_by, words, tag, parcel: Parcel::new(()) };
                let protocol = Protocol::Receiving(Receiving::new(&letter, None));
                let mut handshake =
                    Handshake { protocol, step: Step::Done, peer: from, operation: Some(sent_by) };
                let step = handshake.goes_on(0);
                self.handshakes.insert(receive, handshake);
                step
            }
            About::Answer => match self.handshakes.get_mut(&receive) {
                Some(handshake) => {
                    handshake.operation = Some(sent_by);
                    handshake.goes_on(0)
                }
                None => Step::Done,
            },
        };
        match step {
            Step::Done => {
                if about != About::Data {
                    self.handshakes.remove(&receive);
                }
                self.progress.ends(receive, now);
                self.take_up(rank);
            }
            Step::Send { .. } => {
                self.progress.is_ready_again(receive, now);
                let since = |other| self.progress.ready_since(other);
                self.ranks[rank as usize].sends.push(&mut self.links, receive, since);
            }
            Step::Take(_) => (),
        }
    }

    /// The message that an operation sends next.
    #[inline]
    fn outgoing(&self, operation: u32) -> Outgoing {
        let packed = self.progress.operation(operation);
        let words = self.network.params().words(packed.size as usize);
        if self.is_short(packed.kind, words, About::Data) {
            return Outgoing { to: packed.peer, words, about: About::Data, answers: None };
        }
        match self.handshakes.get(&operation) {
            Some(&Handshake { step: Step::Send { words, .. }, peer, operation, .. }) => {
                // Only who asks does not know yet who answers.
                let about = if operation.is_none() { About::Request } else { About::Answer };
                Outgoing { to: peer, words, about, answers: operation }
            }
            _ => Outgoing { to: packed.peer, words, about: About::Data, answers: None },
        }
    }

    /// Whether a message is one that goes without asking.
    #[inline]
    fn is_short(&self, kind: Kind, words: usize, about: About) -> bool {
        kind == Kind::Send && about == About::Data && !self.network.params().is_synchronous(words)
    }

    /// Puts operations of a rank that have become ready where they wait for their turn: by time, and then as written.
    #[inline]
    fn take_up(&mut self, rank: u32) {
        // A receive is begun when it is posted, so others may become ready too.
        let mut place = 0;
        while let Some(&operation) = self.progress.fresh.get(place) {
            place += 1;
            if self.progress.operation(operation).kind == Kind::Recv {
                self.progress.begins(operation, self.progress.ready_since(operation));
            }
        }
        let mut fresh = std::mem::take(&mut self.progress.fresh);
        if fresh.len() > 1 {
            fresh.sort_unstable_by_key(|operation| (self.progress.ready_since(*operation), *operation));
        }
        for operation in fresh.drain(..) {
            let here = &mut self.ranks[rank as usize];
            let packed = self.progress.operation(operation);
            match packed.kind {
                Kind::Send => {
                    here.sends.push(&mut self.links, operation, |other| self.progress.ready_since(other));
                    let words = self.network.params().words(packed.size as usize);
                    if !self.is_short(Kind::Send, words, About::Data) {
                        self.begin_to_ask(operation, packed.peer, words);
                    }
                }
                Kind::Calc => {
                    here.calcs.push(&mut self.links, operation, |other| self.progress.ready_since(other))
                }
                Kind::Recv => {
                    self.desks.post(&mut here.desk, rank, &mut self.links, &self.progress, operation);
                }
            }
        }
        self.progress.fresh = fresh;
    }

    /// A long message is to be sent, for which its receiver is asked first.
    #[cold]
    fn begin_to_ask(&mut self, send: u32, to: u32, words: usize) {
        const SCHEDULED: Tag<()> = Tag::new(0);
        let sending = Sending::new(self.network, to as usize, SCHEDULED, words);
        let protocol = Protocol::Sending(sending);
        let mut handshake = Handshake { protocol, step: Step::Done, peer: to, operation: None };
        handshake.goes_on(0);
        self.handshakes.insert(send, handshake);
    }

    /// Nothing more happens: how it went, or what is wrong.
    fn end(mut self) -> Result<Played, RunError> {
        if self.progress.left > 0 {
            if let Some(rank) = (0..self.ranks.len() as u32).find(|rank| self.choose(*rank).is_some()) {
                return Err(self.end_of_time(rank)); // it waits for what would come later
            }
            let now = |rank: usize| self.ranks[rank].pace.now();
            let S = self.network.params().gps().map_or(usize::MAX, |gps| gps.S);
            let sending = |operation: u32| {
                let packed = self.progress.operation(operation);
                let words = self.network.params().words(packed.size as usize);
                let waits = packed.kind == Kind::Send && self.handshakes.contains_key(&operation);
                waits.then_some(Doing::WaitingToSend { to: packed.peer as usize, words, S })
            };
            return Err(stuck(&self.progress, now, sending));
        }
        let left = self.ranks.iter().enumerate().flat_map(|(to, rank)| {
            self.desks.left(&rank.desk).map(move |mail| (mail.arrival, to, mail.from, mail.tag))
        });
        if let Some(error) = not_received(left) {
            return Err(error);
        }
        self.replayed.finishes = self.ranks.iter().map(|rank| rank.pace.now()).collect();
        self.replayed.time = self.replayed.finishes.iter().copied().max().unwrap_or_default();
        match self.replayed.finishes.iter().position(|finish| *finish == Time::MAX) {
            Some(rank) => Err(self.end_of_time(rank as u32)),
            None => Ok(self.replayed),
        }
    }

    /// The error of a rank that came to the end of time.
    fn end_of_time(&self, rank: u32) -> RunError {
        Cause::EndOfTime { id: rank as usize }.into()
    }
}
