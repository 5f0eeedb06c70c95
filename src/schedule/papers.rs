//! The papers' rules: a rank is a processor of the machine.
//!
//! A rank does one thing at a time: it computes, or is busy with a send or a reception. Of what is ready it does what can
//! begin first, since a gap that runs keeps it only from sending, or only from receiving; at the same time what became
//! ready first, and then what was written first. Sends go in the order in which they became ready. A reception is ready
//! once its receive is posted and its message there.

use std::collections::HashMap;

use super::desk::{Desk, Pairs};
use super::early::{Early, is_early};
use super::mail::{Mail, wanted};
use super::progress::Progress;
use super::queue::{Links, Queue};
use super::record::Record;
use super::{Kind, Packed, Played, Schedule, not_received, stuck};
use crate::clock::agenda::{Agenda, Entry};
use crate::clock::stacks::prefetch::prefetch_value;
use crate::error::{Cause, RunError};
use crate::message::{MessageId, RawTag, Want};
use crate::rules::network::{Entrance, Network};
use crate::rules::operation::{Operation, Step};
use crate::rules::pace::Pace;
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
    /// Whether its operations were found to wait for each other in a row, once that was asked.
    is_in_row: Option<bool>,
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
    words: u32,
    /// What it is about.
    tag: RawTag,
}

/// Where ranks have fewer operations than this, most are touched for the first time when a message comes, and it pays to
/// fetch them before. (A broadcast over a million ranks takes two thirds of the time; a dissemination would take a fifth more.)
const FEW: usize = 8;

/// What an operation takes at the least: its state.
pub(super) const BYTES: u64 = 1;

/// A schedule that is being played.
pub(super) struct Play<'a> {
    /// How far it is.
    progress: Progress<'a>,
    /// What messages cost.
    network: &'a Network,
    /// The receiving sides of the network.
    entrances: Box<[Entrance]>,
    /// The ranks.
    ranks: Vec<Rank>,
    /// Who acts next.
    agenda: Agenda,
    /// What waits behind what.
    links: Links,
    /// The receives that wait for nothing.
    early: Early,
    /// The messages that have found their receives.
    pairs: Pairs,
    /// The operations that take more than one message, since a receiver is asked first.
    long: HashMap<u32, Operation>,
    /// How it goes.
    replayed: Played,
    /// Whether ranks are fetched before they are due.
    fetches: bool,
    /// What ranks did, if that is traced.
    record: Option<Record>,
}

/// Whether an entry on the agenda counts.
#[inline]
fn counts(ranks: &[Rank], entry: Entry) -> bool {
    entry.ticket() == ranks[entry.moment().1 as usize].ticket
}

impl<'a> Play<'a> {
    /// Nothing has happened.
    pub(super) fn new(schedule: &'a Schedule, network: &'a Network, record: Option<Record>) -> Play<'a> {
        let rank = |id| Rank {
            pace: Pace::new(id, network),
            wake: Time::MAX,
            ticket: 0,
            sends: Queue::default(),
            calcs: Queue::default(),
            is_in_row: None,
            desk: Desk::default(),
        };
        Play {
            progress: Progress::new(schedule),
            network,
            entrances: (0..network.entrances()).map(|_| Entrance::default()).collect(),
            ranks: (0..schedule.ranks()).map(rank).collect(),
            agenda: Agenda::default(),
            links: Links::with_room(schedule.ready_at_once()),
            early: Early::new(schedule),
            pairs: Pairs::new(),
            long: HashMap::new(),
            replayed: Played::default(),
            fetches: schedule.len() < FEW * schedule.ranks(),
            record,
        }
    }

    /// Plays it to its end.
    pub(super) fn run(mut self) -> Result<Played, RunError> {
        for rank in 0..self.ranks.len() as u32 {
            self.progress.begin(rank as usize);
            self.take_up(rank);
            if let Some(entry) = self.plan(rank) {
                self.add(entry);
            }
        }
        let mut next = self.agenda.pop();
        while let Some(entry) = next {
            if self.fetches {
                self.prefetch();
            }
            let (time, rank) = entry.moment();
            next = if !counts(&self.ranks, entry) {
                self.agenda.pop()
            } else if time == Time::MAX {
                return Err(self.end_of_time(rank));
            } else {
                if !self.act(rank) {
                    return Err(self.end_of_time(rank));
                }
                match self.plan(rank) {
                    // Whoever is still the first goes on at once.
                    Some(entry) => {
                        let ranks = &self.ranks;
                        self.agenda.exchange(entry, |other| counts(ranks, other)).or(Some(entry))
                    }
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
            Some((rank, self.ranks.get(rank as usize)?))
        };
        if let Some((_, rank)) = rank(12) {
            prefetch_value(rank);
        }
        if let Some((id, rank)) = rank(8) {
            let send = rank.sends.first(&self.links).map(|(_, send)| send);
            let receive = self.pairs.first(&rank.desk).map(|pair| pair.operation);
            [send, receive].into_iter().flatten().for_each(|operation| self.progress.prefetch(id, operation));
        }
        if let Some((id, rank)) = rank(4) {
            if let Some((_, send)) = rank.sends.first(&self.links) {
                prefetch_value(&self.ranks[self.progress.operation(id, send).peer as usize]);
            }
            if let Some(pair) = self.pairs.first(&rank.desk) {
                self.progress.prefetch_followers(id, pair.operation);
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
        if let Some((since, send)) = sends.first(&self.links) {
            let Outgoing { to, words, .. } = self.outgoing(rank, send);
            let (begin, turn) = pace.foresees(self.network, to as usize, words as usize);
            offer(Act::Send, begin, turn, since, send);
        }
        if let Some((since, calc)) = calcs.first(&self.links) {
            offer(Act::Calc, pace.now, pace.now, since, calc);
        }
        if let Some(pair) = self.pairs.first(desk) {
            let begin = pace.next_receive().max(pair.ready());
            let Mail { from, words, .. } = pair.mail;
            let over = self.received(begin, from, rank, words);
            offer(Act::Receive, begin, over, pair.ready(), pair.operation);
        }
        best.map(|(act, begin, turn, _)| (act, begin, turn))
    }

    /// Plans what a rank does next. Returns its entry on the agenda, if there is something and it is new.
    #[inline]
    fn plan(&mut self, rank: u32) -> Option<Entry> {
        loop {
            let chosen = self.choose(rank);
            if let Some((Act::Calc, ..)) = chosen
                && !self.ranks[rank as usize].desk.expects()
                && self.long.is_empty()
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
            self.add(entry);
        }
    }

    /// Adds an entry to the agenda.
    #[inline]
    fn add(&mut self, entry: Entry) {
        let ranks = &self.ranks;
        self.agenda.insert(entry, |other| counts(ranks, other));
    }

    /// A rank's turn has come. Returns whether there is still time.
    #[inline]
    fn act(&mut self, rank: u32) -> bool {
        self.ranks[rank as usize].wake = Time::MAX;
        match self.choose(rank) {
            Some((Act::Send, begin, _)) => return self.send(rank, begin),
            Some((Act::Receive, ..)) => self.receive(rank),
            Some((Act::Calc, ..)) => self.calc(rank),
            None => (),
        }
        true
    }

    /// Computes.
    fn calc(&mut self, rank: u32) {
        let here = &mut self.ranks[rank as usize];
        let Some(calc) = here.calcs.pop(&mut self.links) else { return };
        let begin = here.pace.now;
        let cost = Time::from_ps(self.progress.operation(rank, calc).size as i64);
        let end = self.network.busy_until(rank as usize, begin, cost);
        here.pace.now = end;
        self.replayed.events += 1;
        if let Some(record) = &mut self.record {
            record.calculates(rank, begin, end);
        }
        self.progress.begins(rank, calc, begin);
        self.progress.ends(rank, calc, end);
        self.take_up(rank);
    }

    /// Sends what is first in the queue. Returns whether there is still time.
    #[inline]
    fn send(&mut self, rank: u32, begin: Time) -> bool {
        let here = &mut self.ranks[rank as usize];
        let Some(send) = here.sends.pop(&mut self.links) else { return true };
        let Outgoing { to, words, tag } = self.outgoing(rank, send);
        let here = &mut self.ranks[rank as usize];
        if here.pace.exit.may_overtake() {
            let schedule = self.progress.schedule;
            if !*here.is_in_row.get_or_insert_with(|| schedule.is_in_row(rank as usize)) {
                here.pace.exit.keep_order(); // its sends are requests
            }
        }
        let now = here.pace.now;
        let outgoing = here.pace.turns_to(self.network, to as usize, words as usize);
        if outgoing.never_comes() {
            return false;
        }
        let passage =
            self.network.serve(&mut *self.entrances, &mut here.pace.exit, outgoing.to, &outgoing.request);
        here.pace.now = passage.enter;
        if let Some(record) = &mut self.record {
            record.sends(self.network, rank, (now, begin), &outgoing, &passage);
        }
        let stall = passage.admitted - passage.ready;
        self.replayed.messages += 1;
        self.replayed.events += 1;
        self.replayed.stalls += u64::from(stall > Time::ZERO);
        self.replayed.stalled += stall;

        let mail =
            Mail { arrival: passage.arrival, from: rank, sent_by: send, number: outgoing.number, tag, words };
        let mut early = self.early.of(&mut self.progress, to);
        let is_new = self.pairs.deliver(&mut self.ranks[to as usize].desk, &mut early, mail);
        if is_new && to != rank {
            self.replan(to);
        }

        if tag.is_first() {
            self.progress.begins(rank, send, begin);
        }
        if self.is_short(rank, send) {
            self.progress.ends(rank, send, passage.enter);
        } else if let Some(operation) = self.long.get_mut(&send) {
            operation.has_sent(send);
            self.goes_on(rank, send, passage.enter);
        }
        self.take_up(rank);
        true
    }

    /// Receives the message that is first.
    #[inline]
    fn receive(&mut self, rank: u32) {
        let here = &mut self.ranks[rank as usize];
        let Some(pair) = self.pairs.take_first(&mut here.desk) else { return };
        let (receive, Mail { from, sent_by, tag, words, .. }) = (pair.operation, pair.mail);
        let free = here.pace.now;
        let begin = here.pace.receives(self.network, from as usize, pair.ready());
        let now = self.received(begin, from, rank, words);
        self.ranks[rank as usize].pace.now = now;
        if let Some(record) = &mut self.record {
            let id = MessageId { from: from as usize, number: pair.mail.number as usize };
            record.receives(rank, (free, pair.ready()), (begin, now), id);
        }
        self.replayed.events += 1;
        if tag.is_first() && !tag.is_request() {
            self.progress.ends(rank, receive, now);
        } else {
            let want = wanted(&self.progress.operation(rank, receive));
            let operation = self.long.entry(receive).or_insert_with(|| Operation::receive(want));
            operation.has_taken(from, sent_by, tag);
            self.goes_on(rank, receive, now);
        }
        self.take_up(rank);
    }

    /// When a reception is over.
    #[inline]
    fn received(&self, begin: Time, from: u32, rank: u32, words: u32) -> Time {
        let overhead = self.network.recv_overhead(from as usize, rank as usize, words as usize);
        self.network.busy_until(rank as usize, begin, overhead)
    }

    /// An operation that takes more than one message has sent or taken one.
    #[cold]
    fn goes_on(&mut self, rank: u32, operation: u32, now: Time) {
        let here = &mut self.ranks[rank as usize];
        match self.long.get(&operation).map_or(Step::Done, Operation::next) {
            Step::Send(..) => {
                here.sends.push(&mut self.links, now, operation);
            }
            Step::Take(want) => self.pairs.post(&mut here.desk, want, now, operation),
            Step::Done => {
                self.long.remove(&operation);
                self.progress.ends(rank, operation, now);
            }
        }
    }

    /// The message that an operation sends next.
    #[inline]
    fn outgoing(&self, rank: u32, operation: u32) -> Outgoing {
        let packed = self.progress.operation(rank, operation);
        if !self.is_short(rank, operation)
            && let Some(long) = self.long.get(&operation)
            && let Step::Send(tag, words) = long.next()
        {
            return Outgoing { to: long.peer, words, tag };
        }
        Outgoing { to: packed.peer, words: self.words(&packed), tag: wanted(&packed).tag }
    }

    /// How long the message of an operation is.
    #[inline]
    fn words(&self, operation: &Packed) -> u32 {
        self.network.params().words(operation.size as usize) as u32
    }

    /// Whether an operation is one message that goes without asking.
    #[inline]
    fn is_short(&self, rank: u32, operation: u32) -> bool {
        let packed = self.progress.operation(rank, operation);
        packed.kind == Kind::Send && !self.network.may_be_synchronous(self.words(&packed) as usize)
    }

    /// Puts operations of a rank that have become ready where they wait for their turn: by time, and then as written.
    #[inline]
    fn take_up(&mut self, rank: u32) {
        // A receive is begun when it is posted, so others may become ready too.
        let mut place = 0;
        while let Some(&(since, operation)) = self.progress.fresh.get(place) {
            place += 1;
            if self.progress.operation(rank, operation).kind == Kind::Recv {
                self.progress.begins(rank, operation, since);
            }
        }
        let mut fresh = std::mem::take(&mut self.progress.fresh);
        if fresh.len() > 1 {
            fresh.sort_unstable();
        }
        for (since, operation) in fresh.drain(..) {
            let here = &mut self.ranks[rank as usize];
            let packed = self.progress.operation(rank, operation);
            match packed.kind {
                Kind::Send => {
                    here.sends.push(&mut self.links, since, operation);
                    if !self.is_short(rank, operation) {
                        let (words, tag) = (self.words(&packed), wanted(&packed).tag);
                        self.long.insert(operation, Operation::send(packed.peer, tag, words, true, None));
                    }
                }
                Kind::Calc => here.calcs.push(&mut self.links, since, operation),
                Kind::Recv if is_early(&packed) => here.desk.posts_early(),
                Kind::Recv => self.pairs.post(&mut here.desk, wanted(&packed), since, operation),
            }
        }
        self.progress.fresh = fresh;
    }

    /// Nothing more happens: how it went, or what is wrong.
    fn end(mut self) -> Result<Played, RunError> {
        if self.progress.left > 0 {
            if let Some(rank) = (0..self.ranks.len() as u32).find(|rank| self.choose(*rank).is_some()) {
                return Err(self.end_of_time(rank)); // it waits for what would come later
            }
            let now = |rank: usize| self.ranks[rank].pace.now;
            let sending = |rank: usize, operation: u32| {
                let is_send = self.progress.operation(rank as u32, operation).kind == Kind::Send;
                let long = self.long.get(&operation).filter(|_| is_send)?;
                Some(long.awaits(self.network, rank).doing(Want::NOTHING, None))
            };
            return Err(stuck(&self.progress, now, sending));
        }
        let left =
            self.ranks.iter().enumerate().flat_map(|(to, rank)| {
                rank.desk.left().map(move |mail| (mail.arrival, to, mail.from, mail.tag))
            });
        if let Some(error) = not_received(left) {
            return Err(error);
        }
        // What is over makes room for what is told.
        (self.agenda, self.pairs) = (Agenda::default(), Pairs::new());
        self.replayed.finishes = self.ranks.iter().map(|rank| rank.pace.now).collect();
        self.replayed.time = self.replayed.finishes.iter().copied().max().unwrap_or_default();
        let record = self.record.take();
        self.replayed.trace = record.map(|record| record.trace(*self.network.params()));
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
