//! The papers' rules: a rank is a processor of the machine.
//!
//! A rank performs one act at a time: a computation, a send or a reception. Of the ready operations it takes
//! the one that can begin first, since a running gap delays only sends or only receptions; ties go to the one
//! that became ready first, and then to the one that was written first. Sends go in the order in which they
//! became ready. A reception is ready once its receive is posted and its message has arrived.
//!
//! Where operations wait for each other in a row, like the blocking calls of a program, at most one is ready. Such a rank
//! goes on from one to the next ([`PapersPlay::go_on`]) and needs no lists.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use loggp_model::agenda::{Agenda, AgendaEntry};
use loggp_model::error::{Cause, RunError};
use loggp_model::message::matching::PostedReceive;
use loggp_model::message::{MessageId, RawTag, RecvFilter};
use loggp_model::rules::network::Network;
use loggp_model::rules::operation::{ActiveOperation, OperationStep};
use loggp_model::rules::rank::{Acknowledged, OutgoingMessage, Rank, reception_activities, send_activities};
use loggp_model::time::Time;
use loggp_model::transport::{DataRead, Ingress, Passage, Protocol};
use loggp_trace::{Activity, ActivityKind, Message};

use super::acts::{Acts, run_acts};
use super::early::{EarlyReceives, is_early};
use super::kept::order::{DoneAct, DoneActs};
use super::lists::{List, ListPool};
use super::matching::{Mail, MatchedPairs, RankMatching, Reception};
use super::operations::ANY;
use super::outcome::{finish, stopped};
use super::progress::{ScheduleProgress, prefetch_value};
use super::sort::sort_by_rank_and_key;
use super::watch::{Beginning, Watcher};
use super::{OperationKind, PackedOperation, PlayReport, Schedule};

/// The state of a rank.
#[derive(Debug)]
struct RankState {
    rank: Rank,
    /// The rank's next act, as it was last chosen; nothing before the first choice, or if a message must arrive first.
    next: Option<NextAct>,
    /// True if that is what it would choose now.
    is_chosen: bool,
    /// The ticket of the rank's current entry on the agenda; older entries don't count.
    ticket: u32,
    /// Sends that are ready.
    sends: List,
    /// Computations and waits that are ready.
    calcs: List,
    matching: RankMatching,
    acknowledged: Acknowledged,
}

/// The next act of a rank.
#[derive(Clone, Copy, Debug)]
struct NextAct {
    act: RankAct,
    /// When it begins.
    begin: Time,
    turn: Time,
}

/// An act of a rank.
#[derive(Clone, Copy, Debug)]
enum RankAct {
    Calc,
    Send(NextSend),
    Receive,
}

/// A message to be sent, or to be read from another rank's memory.
#[derive(Clone, Copy, Debug)]
struct NextSend {
    operation: u32,
    to: u32,
    /// True if it is to be read.
    is_read: bool,
    /// Length in words.
    words: u32,
    tag: RawTag,
    /// True if its operation has no other message.
    is_short: bool,
}

/// If ranks have fewer operations than this, most are touched for the first time when a message arrives, and
/// prefetching pays. (A broadcast over a million ranks takes two thirds of the time; a dissemination would
/// take a fifth more.)
const FEW: usize = 8;

/// Least memory for an operation, in bytes: its state.
pub(super) const BYTES: u64 = 1;

/// A play of a schedule.
pub(super) struct PapersPlay<'a, 'w> {
    progress: ScheduleProgress<'a>,
    network: &'a Network,
    ingresses: Box<[Ingress]>,
    ranks: Vec<RankState>,
    /// A rank to which a message was sent.
    awake: Option<u32>,
    /// The operations in the lists of all ranks.
    ready: ListPool<(Time, u32)>,
    early: EarlyReceives,
    pairs: MatchedPairs,
    /// Operations of more than one message, because a long message starts with its announcement.
    long: HashMap<u32, ActiveOperation>,
    report: PlayReport,
    prefetches: bool,
    /// True if a reception goes before a send that could begin at the same moment.
    receives_first: bool,
    /// The record of all ranks, if the play is traced.
    log: Option<PlayLog>,
    /// The acts of all ranks, if their order is kept.
    done: Option<DoneActs>,
    /// If the play is traced or its order is kept, each message with the operations that sent and received it.
    ends: Vec<([u32; 2], [u32; 2])>,
    watcher: Watcher<'w>,
    /// True if there is a log, or acts are kept.
    keeps_acts: bool,
    /// True if it matters when operations begin.
    notes_beginnings: bool,
    /// Delivers messages to memories; `None` if the schedule can have none.
    reach_memory: Option<ReachMemory>,
    /// Ends the play, once it is true.
    stop: &'a AtomicBool,
}

/// Does what a message does that an operation has sent to a memory, where it arrives at a time. The operation is named by its
/// rank and its number.
type ReachMemory = fn(&mut PapersPlay<'_, '_>, (u32, u32), &OutgoingMessage, RawTag, Time);

/// The result of a play, with its records.
pub(super) struct Played {
    pub report: PlayReport,
    pub log: Option<PlayLog>,
    pub done: Option<DoneActs>,
}

/// The activities and the messages of all ranks, as they were done.
#[derive(Default)]
pub(super) struct PlayLog {
    pub activities: Vec<Activity>,
    pub messages: Vec<Message>,
}

impl RankState {
    /// Lets messages keep their order: those of operations that do not wait in a row overlap, like those of requests.
    #[inline]
    fn keep_order(&mut self) {
        if self.rank.egress.may_overtake() {
            self.rank.egress.keep_order();
        }
    }
}

impl NextAct {
    /// Returns the act of a reception.
    #[inline]
    fn reception(rank: &Rank, network: &Network, reception: &Reception) -> NextAct {
        let Reception { ready, from, words, .. } = *reception;
        let (begin, turn) = rank.predict_reception(network, (from as usize, words as usize), ready);
        NextAct { act: RankAct::Receive, begin, turn }
    }
}

impl NextSend {
    /// Returns the only message of a send.
    #[inline]
    fn short(operation: u32, packed: &PackedOperation, words: u32) -> NextSend {
        NextSend {
            operation,
            to: packed.peer,
            is_read: false,
            words,
            tag: packed.filter().tag,
            is_short: true,
        }
    }

    /// Returns whether it goes to another rank's memory.
    #[inline]
    fn is_one_sided(&self) -> bool {
        !self.is_short && self.tag.is_one_sided()
    }
}

/// Returns the length in words of the message of a rank's send, or `None` if an announcement comes before it.
#[inline]
fn short_words(network: &Network, rank: u32, packed: &PackedOperation) -> Option<u32> {
    let OperationKind::Send(bytes) = packed.kind else { return None };
    let words = network.params().words(bytes as usize);
    let is_long = network.is_synchronous(rank as usize, packed.peer as usize, words);
    (!is_long).then_some(words as u32)
}

impl Acts for PapersPlay<'_, '_> {
    type Error = RunError;

    #[inline]
    fn start(&mut self, rank: u32) {
        if self.is_in_row(rank) {
            return self.follow_row(rank, self.progress.schedule.ranks[rank as usize].begin, Time::ZERO);
        }
        self.progress.start_rank(rank as usize);
        self.queue_ready(rank);
    }

    /// Plans the next act of a rank.
    #[inline]
    fn plan(&mut self, rank: u32) -> Option<AgendaEntry> {
        if !std::mem::take(&mut self.ranks[rank as usize].is_chosen) {
            self.choose_next(rank);
        }
        let state = &mut self.ranks[rank as usize];
        state.ticket = state.ticket.wrapping_add(1);
        state.next.as_ref().map(|next| AgendaEntry::new(next.turn, rank, state.ticket))
    }

    #[inline]
    fn act(&mut self, entry: AgendaEntry) -> Result<u32, RunError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        let (time, rank) = entry.moment();
        if time == Time::MAX {
            return Err(self.end_of_time(rank));
        }
        while let Some(NextAct { act, begin, .. }) = self.ranks[rank as usize].next.take() {
            match act {
                RankAct::Send(next) => self.send(rank, next, begin)?,
                RankAct::Receive => self.receive(rank),
                RankAct::Calc => self.calc(rank),
            }
            // What is known to come next at this moment comes before what all others do, unless one was sent a message.
            let state = &mut self.ranks[rank as usize];
            let is_now = state.next.as_ref().is_some_and(|next| next.turn == time);
            if !(is_now && state.is_chosen && self.awake.is_none()) {
                break;
            }
            state.is_chosen = false;
        }
        Ok(rank)
    }

    /// Returns a rank to which a message was sent, if it may now act earlier.
    #[inline]
    fn next_awake(&mut self) -> Option<u32> {
        let rank = self.awake.take()?;
        let (next, wake) =
            (self.choose(rank), |next: Option<NextAct>| next.map_or(Time::MAX, |next| next.turn));
        let state = &mut self.ranks[rank as usize];
        let is_earlier = wake(next) != wake(state.next);
        (state.next, state.is_chosen) = (next, is_earlier);
        is_earlier.then_some(rank)
    }

    #[inline]
    fn is_current(&self, entry: AgendaEntry) -> bool {
        entry.ticket() == self.ranks[entry.moment().1 as usize].ticket
    }

    /// Prefetches the data of ranks that are due soon. Each stage finds in the cache what the stage before
    /// has fetched.
    #[inline]
    fn look_ahead(&self, agenda: &Agenda) {
        if !self.prefetches {
            return;
        }
        let rank = |others: usize| {
            let (_, rank) = agenda.later_entry(others)?.moment();
            Some((rank, self.ranks.get(rank as usize)?))
        };
        if let Some((_, rank)) = rank(12) {
            prefetch_value(rank);
        }
        if let Some((id, rank)) = rank(8) {
            let send = self.ready.first(&rank.sends).map(|(_, send)| *send);
            let receive = self.pairs.next_receive(&rank.matching);
            [send, receive].into_iter().flatten().for_each(|operation| self.progress.prefetch(id, operation));
        }
        if let Some((id, rank)) = rank(4) {
            if let Some((_, send)) = self.ready.first(&rank.sends) {
                prefetch_value(&self.ranks[self.progress.operation(id, *send).peer as usize]);
            }
            if let Some(receive) = self.pairs.next_receive(&rank.matching) {
                self.progress.prefetch_followers(id, receive);
            }
        }
    }
}

impl<'a, 'w> PapersPlay<'a, 'w> {
    /// Prepares a play.
    pub(super) fn new(
        schedule: &'a Schedule,
        network: &'a Network,
        is_traced: bool,
        stop: &'a AtomicBool,
    ) -> PapersPlay<'a, 'w> {
        let rank = |id| RankState {
            rank: Rank::new(id, network),
            next: None,
            is_chosen: false,
            ticket: 0,
            sends: List::default(),
            calcs: List::default(),
            matching: RankMatching::new(schedule.ranks[id].is_in_row),
            acknowledged: Acknowledged::default(),
        };
        PapersPlay {
            progress: ScheduleProgress::new(schedule, true),
            network,
            ingresses: network.new_ingresses(),
            ranks: (0..schedule.ranks()).map(rank).collect(),
            awake: None,
            ready: ListPool::with_capacity(schedule.initially_ready),
            early: EarlyReceives::new(schedule),
            pairs: MatchedPairs::with_capacity(0),
            long: HashMap::new(),
            report: PlayReport::default(),
            prefetches: schedule.len() < FEW * schedule.ranks(),
            receives_first: false,
            log: is_traced.then(PlayLog::default),
            done: None,
            ends: Vec::new(),
            watcher: Watcher::default(),
            keeps_acts: false,
            notes_beginnings: false,
            reach_memory: None,
            stop,
        }
    }

    /// Sets whether the moments of all operations are kept.
    pub(super) fn with_moments(mut self, moments: bool) -> PapersPlay<'a, 'w> {
        self.progress.moments = moments.then(|| vec![(Time::ZERO, Time::ZERO); self.progress.schedule.len()]);
        self
    }

    /// Sets what is called with each operation that begins.
    pub(super) fn watched_by(self, watcher: Watcher<'w>) -> PapersPlay<'a, 'w> {
        PapersPlay { watcher, ..self }
    }

    /// Sets whether a reception goes before a send that could begin at the same moment.
    pub(super) fn receiving_first(self, receives_first: bool) -> PapersPlay<'a, 'w> {
        PapersPlay { receives_first, ..self }
    }

    /// Sets that what all ranks do is kept, in its order.
    pub(super) fn keeping_order(mut self) -> PapersPlay<'a, 'w> {
        self.done = Some(DoneActs::default());
        self
    }

    /// Lets ranks reach into each other's memories.
    pub(super) fn with_memories(self) -> PapersPlay<'a, 'w> {
        PapersPlay {
            reach_memory: Some(|play, of, outgoing, tag, at| play.reach_memory(of, outgoing, tag, at)),
            ..self
        }
    }

    /// Plays the schedule to its end. Returns the records too, if there are any.
    pub(super) fn run(mut self) -> Result<Played, RunError> {
        self.keeps_acts = self.log.is_some() || self.done.is_some();
        self.notes_beginnings = self.watcher.0.is_some() || self.progress.needs_beginnings();
        let ranks = self.ranks.len() as u32;
        run_acts(&mut self, ranks)?;
        self.finish()
    }

    /// Chooses the next act of a rank, and computes what no message can change.
    #[inline(never)]
    fn choose_next(&mut self, rank: u32) {
        loop {
            let next = self.choose(rank);
            let state = &mut self.ranks[rank as usize];
            state.next = next;
            let is_calc = matches!(next, Some(NextAct { act: RankAct::Calc, .. }));
            if !is_calc || state.matching.has_receives() || !self.long.is_empty() {
                return;
            }
            self.calc(rank);
        }
    }

    /// Returns the next act of a rank, or `None` if nothing is ready.
    #[inline]
    fn choose(&mut self, rank: u32) -> Option<NextAct> {
        let state = &mut self.ranks[rank as usize];
        let reception = self.pairs.first_reception(&mut state.matching);
        let RankState { rank: own, sends, calcs, .. } = &self.ranks[rank as usize];
        let mut best: Option<NextAct> = None;
        let mut best_key = (Time::MAX, true, Time::MAX, u32::MAX);
        let mut offer = |act, begin: Time, turn, since: Time, operation: u32| {
            let is_second = self.receives_first && !matches!(act, RankAct::Receive);
            let key = (begin, is_second, since, operation);
            if best.is_none() || key < best_key {
                best = Some(NextAct { act, begin, turn });
                best_key = key;
            }
        };
        if let Some(&(since, send)) = self.ready.first(sends) {
            let next = self.next_send(rank, send);
            let (to, words) = (next.to as usize, next.words as usize);
            let (begin, turn) = match self.next_read(send, &next) {
                None if next.is_one_sided() => own.predict_one_sided(self.network, to, words),
                None => own.predict_send(self.network, to, words),
                Some(read) => own.predict_read(self.network, read.message.from),
            };
            offer(RankAct::Send(next), begin, turn, since, send);
        }
        if let Some(&(since, calc)) = self.ready.first(calcs) {
            offer(RankAct::Calc, own.now, own.now, since, calc);
        }
        if let Some(first) = reception {
            let NextAct { act, begin, turn } = NextAct::reception(own, self.network, &first);
            offer(act, begin, turn, first.ready, first.operation);
        }
        best
    }

    /// Notes that an operation begins, and when it is done if that is known.
    #[inline(always)]
    fn begin(&mut self, rank: u32, operation: u32, at: Time, end: Option<Time>) {
        if self.notes_beginnings {
            self.note_beginning(rank, operation, at, end);
        }
    }

    #[cold]
    fn note_beginning(&mut self, rank: u32, operation: u32, at: Time, end: Option<Time>) {
        if let Watcher(Some(watch)) = &mut self.watcher {
            let begin = self.progress.schedule.ranks[rank as usize].begin;
            watch(Beginning { rank: rank as usize, operation: operation - begin, at, end });
        }
        self.progress.start(rank, operation, at);
    }

    /// Performs the next computation or wait.
    fn calc(&mut self, rank: u32) {
        let state = &mut self.ranks[rank as usize];
        let Some((_, calc)) = self.ready.take_first(&mut state.calcs) else { return };
        let end = self.compute(rank, calc, self.progress.operation(rank, calc));
        self.end((rank, false), calc, end);
    }

    /// Performs a computation or a wait. Returns when it is done.
    fn compute(&mut self, rank: u32, calc: u32, packed: PackedOperation) -> Time {
        let state = &mut self.ranks[rank as usize];
        let begin = state.rank.now;
        match packed.kind {
            OperationKind::Calc(time) => state.rank.compute(self.network, time),
            OperationKind::WaitUntil(time)
                if time > state.rank.egress.send_gap_end() - self.network.params().o =>
            {
                state.rank.now = begin.max(time);
            }
            OperationKind::Flush => {
                let of = (packed.peer != ANY).then_some(packed.peer as usize);
                state.rank.now = begin.max(state.acknowledged.last(of));
            }
            _ => (),
        }
        let end = state.rank.now;
        self.report.events += 1;
        if let Some(done) = &mut self.done {
            match packed.kind {
                OperationKind::Flush => {
                    done.add(rank, DoneAct::Flush((packed.peer != ANY).then_some(packed.peer)))
                }
                OperationKind::Calc(time) if begin < end => done.add(rank, DoneAct::Calc(time)),
                OperationKind::Calc(_) => (),
                _ => done.has_moments = true,
            }
        }
        if begin < end
            && let Some(log) = &mut self.log
        {
            let is_wait = !matches!(packed.kind, OperationKind::Calc(_));
            let kind = if is_wait { ActivityKind::Idle } else { ActivityKind::Work("calc".into()) };
            log.activities.push(Activity { id: rank as usize, start: begin, end, kind });
        }
        self.begin(rank, calc, begin, Some(end));
        end
    }

    /// Returns whether the operations of a rank wait for each other in a row.
    #[inline]
    fn is_in_row(&self, rank: u32) -> bool {
        self.ranks[rank as usize].matching.is_in_row
    }

    /// Ends an operation of a rank whose operations wait in a row or not, and queues those that waited for it.
    #[inline(always)]
    fn end(&mut self, (rank, is_in_row): (u32, bool), operation: u32, at: Time) {
        if is_in_row {
            self.progress.end_in_row(operation, at);
            self.follow_row(rank, operation + 1, at);
        } else {
            self.progress.end(rank, operation, at);
            self.queue_ready(rank);
        }
    }

    /// Goes on with an operation of a rank whose operations wait in a row: like the code of a program, that says what comes
    /// next, and what needs no turn is done at once.
    #[inline(never)]
    fn follow_row(&mut self, rank: u32, mut operation: u32, mut at: Time) {
        let schedule = self.progress.schedule;
        let script = &schedule.ranks[rank as usize];
        while operation - script.begin < script.len {
            self.progress.start_in_row(operation);
            let packed = schedule.operation_of(script, operation);
            let state = &mut self.ranks[rank as usize];
            match packed.kind {
                OperationKind::Recv(_) => {
                    let receive = PostedReceive { order: (at, operation), filter: packed.filter() };
                    let first = state.matching.post_in_row(receive);
                    state.next = first.map(|first| NextAct::reception(&state.rank, self.network, &first));
                    state.is_chosen = true;
                    return self.begin(rank, operation, at, None);
                }
                OperationKind::Send(_) => {
                    if let Some(words) = short_words(self.network, rank, &packed) {
                        let (begin, turn) =
                            state.rank.predict_send(self.network, packed.peer as usize, words as usize);
                        let act = RankAct::Send(NextSend::short(operation, &packed, words));
                        state.next = Some(NextAct { act, begin, turn });
                        state.is_chosen = true;
                        return;
                    }
                }
                _ => (),
            }
            match self.compute_or_queue(rank, operation, at) {
                Some(end) => (operation, at) = (operation + 1, end),
                None => return,
            }
        }
    }

    /// Goes on with a computation in a row, and returns when it is done, or queues what has several messages.
    #[inline(never)]
    fn compute_or_queue(&mut self, rank: u32, operation: u32, since: Time) -> Option<Time> {
        let packed = self.progress.operation(rank, operation);
        if let OperationKind::Calc(_) | OperationKind::WaitUntil(_) | OperationKind::Flush = packed.kind {
            let end = self.compute(rank, operation, packed);
            self.progress.end_in_row(operation, end);
            return Some(end);
        }
        self.queue(rank, since, operation, packed);
        None
    }

    /// Performs a send.
    #[inline]
    fn send(&mut self, rank: u32, next: NextSend, begin: Time) -> Result<(), RunError> {
        if !next.is_short {
            return self.send_part(rank, next, begin);
        }
        let NextSend { operation, to, words, tag, .. } = next;
        let state = &mut self.ranks[rank as usize];
        let is_in_row = state.matching.is_in_row;
        if !is_in_row {
            self.ready.take_first(&mut state.sends);
            state.keep_order();
        }
        let now = state.rank.now;
        let outgoing = state.rank.prepare_send(self.network, to as usize, words as usize);
        if outgoing.departure.asked_at == Time::MAX {
            return Err(self.end_of_time(rank));
        }
        let passage = state.rank.send(self.network, &mut *self.ingresses, outgoing.to, &outgoing.departure);
        self.report.count_message(&passage);
        if self.keeps_acts {
            let by = (outgoing.id(rank as usize), rank);
            self.keep_send(by, outgoing, (now, begin), passage, DoneAct::Send(outgoing.number));
        }
        let (arrival, number) = (passage.arrival, outgoing.number);
        self.deliver(rank, to, Mail { arrival, from: rank, sent_by: operation, number, tag, words });
        self.begin(rank, operation, begin, None);
        self.end((rank, is_in_row), operation, passage.enter);
        Ok(())
    }

    /// Performs the next message of an operation of several, or of one that goes to a memory.
    #[inline(never)]
    fn send_part(&mut self, rank: u32, next: NextSend, begin: Time) -> Result<(), RunError> {
        let read = self.next_read(next.operation, &next);
        let NextSend { operation: send, to, words, tag, .. } = next;
        let state = &mut self.ranks[rank as usize];
        self.ready.take_first(&mut state.sends);
        if !state.matching.is_in_row {
            state.keep_order();
        }
        let now = state.rank.now;
        let outgoing = match read {
            None if next.is_one_sided() => {
                let is_request = tag == RawTag::GET;
                state.rank.prepare_one_sided(self.network, to as usize, words as usize, is_request)
            }
            None => state.rank.prepare_send(self.network, to as usize, words as usize),
            Some(read) => state.rank.prepare_read(self.network, read),
        };
        if outgoing.departure.asked_at == Time::MAX {
            return Err(self.end_of_time(rank));
        }
        let (own, departure, ingresses) = (&mut state.rank, &outgoing.departure, &mut *self.ingresses);
        let (id, sent_by, passage) = match read {
            None => {
                let passage = own.send(self.network, ingresses, outgoing.to, departure);
                (outgoing.id(rank as usize), send, passage)
            }
            Some(DataRead { message, announced, .. }) => {
                (message, announced, own.read(self.network, ingresses, message.from, departure))
            }
        };
        self.report.count_message(&passage);
        if self.keeps_acts {
            let number = id.number as u32;
            let act = match read {
                Some(_) => DoneAct::Read(id.from as u32, number),
                None if tag == RawTag::GET => DoneAct::Get(number),
                None if tag.is_one_sided() => DoneAct::Put(number),
                None => DoneAct::Send(number),
            };
            self.keep_send((id, rank), outgoing, (now, begin), passage, act);
        }
        let (arrival, from, number) = (passage.arrival, id.from as u32, outgoing.number);
        if tag.is_one_sided() {
            let reach_memory = self.reach_memory.expect("it is set for such a schedule");
            reach_memory(self, (rank, send), &outgoing, tag, arrival);
        } else {
            self.deliver(rank, to, Mail { arrival, from, sent_by, number, tag, words });
        }
        if tag.is_start_of_send() {
            self.begin(rank, send, begin, None);
        }
        if let Some(operation) = self.long.get_mut(&send) {
            if operation.keeps_number() {
                self.ranks[rank as usize].rank.egress.keep_number();
            }
            operation.on_sent(send);
            self.advance(rank, send, passage.enter);
        }
        self.queue_ready(rank);
        Ok(())
    }

    /// Keeps what is asked for of a message that a rank has sent or read.
    #[cold]
    fn keep_send(
        &mut self,
        (id, rank): (MessageId, u32),
        outgoing: OutgoingMessage,
        times: (Time, Time),
        passage: Passage,
        act: DoneAct,
    ) {
        let OutgoingMessage { to, words, .. } = outgoing;
        if let Some(log) = &mut self.log {
            log.activities.extend(send_activities(rank as usize, id, times, &passage));
            log.messages.push(outgoing.record(self.network, (id.from, rank as usize), &passage));
        }
        if let Some(done) = &mut self.done {
            let by = (id.from as u32, id.number as u32);
            done.add_message(by, (id.from as u32, to as u32, words as u32));
            done.add(rank, act);
        }
    }

    /// Delivers a message. The receiver may act earlier now.
    #[inline(always)]
    fn deliver(&mut self, by: u32, to: u32, mail: Mail) {
        let matching = &mut self.ranks[to as usize].matching;
        let is_new = match matching.is_in_row {
            true => matching.deliver_in_row(mail),
            false => self.pairs.deliver(matching, &mut self.early.of_rank(&mut self.progress, to), mail),
        };
        self.awake = (is_new && to != by).then_some(to);
    }

    /// Notes when a rank knows that what it puts is in a memory, or sends it the memory's answer.
    #[cold]
    fn reach_memory(
        &mut self,
        (rank, operation): (u32, u32),
        outgoing: &OutgoingMessage,
        tag: RawTag,
        arrival: Time,
    ) {
        let (id, memory) = (rank as usize, outgoing.to);
        if self.keeps_acts {
            let number = operation - self.progress.schedule.ranks[id].begin;
            self.ends.push(([rank, outgoing.number], [number, PlayReport::NOT_RECEIVED]));
        }
        if tag != RawTag::GET {
            self.ranks[id].acknowledged.add(self.network, (id, memory), arrival);
            return;
        }
        let OperationKind::Get(bytes) = self.progress.operation(rank, operation).kind else { return };
        let words = self.network.params().words(bytes as usize);
        let egress = &mut self.ranks[id].rank.egress;
        let answer = outgoing.answer(self.network, egress, words, arrival);
        let mut sender = self.network.memory(memory);
        let passage = self.network.serve(&mut *self.ingresses, &mut sender, id, &answer.departure);
        if let Some(log) = &mut self.log {
            log.messages.push(answer.record(self.network, (id, id), &passage));
        }
        if let Some(done) = &mut self.done {
            done.add_message((rank, answer.number), (memory as u32, rank, words as u32));
        }
        let (arrival, from, tag) = (passage.arrival, memory as u32, RawTag::answer(operation));
        let mail =
            Mail { arrival, from, sent_by: operation, number: answer.number, tag, words: words as u32 };
        self.deliver(rank, rank, mail);
    }

    /// Performs the first reception.
    #[inline]
    fn receive(&mut self, rank: u32) {
        let state = &mut self.ranks[rank as usize];
        let is_in_row = state.matching.is_in_row;
        let Some((receive, ready, mail)) = self.pairs.take_reception(&mut state.matching) else { return };
        let Mail { from, sent_by, tag, words, number, .. } = mail;
        let free = state.rank.now;
        let (begin, now) = state.rank.receive(self.network, (from as usize, words as usize), ready);
        if self.keeps_acts {
            let sender = if tag.is_answer() { rank } else { from };
            self.keep_reception((rank, receive), (sender, sent_by, number), free, [ready, begin, now]);
        }
        self.report.events += 1;
        if tag.is_start_of_send() {
            self.progress.meet((rank, receive), (from, sent_by));
            if !tag.is_announce() {
                return self.end((rank, is_in_row), receive, now);
            }
        }
        let filter = self.progress.operation(rank, receive).filter();
        let operation = self.long.entry(receive).or_insert_with(|| ActiveOperation::receive(filter));
        operation.on_received(from, sent_by, tag);
        if tag.is_announce() {
            self.offer((rank, receive), (from, sent_by, number));
        }
        self.advance(rank, receive, now);
    }

    /// Keeps what is asked for of a reception of a rank by an operation: of the message of another operation of its sender,
    /// which has a number.
    #[cold]
    fn keep_reception(
        &mut self,
        (rank, receive): (u32, u32),
        (sender, sent_by, number): (u32, u32, u32),
        called: Time,
        ends: [Time; 3],
    ) {
        if let Some(log) = &mut self.log {
            let id = MessageId { from: sender as usize, number: number as usize };
            log.activities.extend(reception_activities(rank as usize, id, called, ends));
        }
        if let Some(done) = &mut self.done {
            done.add(rank, DoneAct::Receive(sender, number));
        }
        let in_rank = |rank: u32, operation| operation - self.progress.schedule.ranks[rank as usize].begin;
        self.ends.push(([sender, number], [in_rank(sender, sent_by), in_rank(rank, receive)]));
    }

    /// Lets a receive that has received an announcement know what it can read, where receivers do.
    fn offer(&mut self, (rank, receive): (u32, u32), (from, sent_by, number): (u32, u32, u32)) {
        let words = self.network.params().words(self.progress.operation(from, sent_by).bytes() as usize);
        let protocol = self.network.rendezvous(from as usize, rank as usize, words);
        if let Some(operation) =
            self.long.get_mut(&receive).filter(|_| protocol.is_some_and(Protocol::is_read))
        {
            operation.on_offered(number, words as u32);
        }
    }

    /// Takes the next step of an operation of more than one message, after one of them was sent or received.
    #[cold]
    fn advance(&mut self, rank: u32, operation: u32, now: Time) {
        let state = &mut self.ranks[rank as usize];
        match self.long.get(&operation).map_or(OperationStep::Done, ActiveOperation::next_step) {
            OperationStep::Send(..) | OperationStep::Read(_) => {
                self.ready.insert(&mut state.sends, (now, operation));
            }
            OperationStep::Receive(filter) => self.pairs.post(&mut state.matching, filter, now, operation),
            OperationStep::Done => {
                self.long.remove(&operation);
                self.end((rank, self.is_in_row(rank)), operation, now);
            }
        }
    }

    /// Returns the next message that an operation sends.
    #[inline]
    fn next_send(&self, rank: u32, operation: u32) -> NextSend {
        let packed = self.progress.operation(rank, operation);
        if let Some(words) = short_words(self.network, rank, &packed) {
            return NextSend::short(operation, &packed, words);
        }
        match self.long.get(&operation).map(|long| (long.peer, long.next_step())) {
            Some((to, OperationStep::Send(tag, words))) => {
                NextSend { operation, to, is_read: false, words, tag, is_short: false }
            }
            Some((_, OperationStep::Read(read))) => {
                let (tag, words) = (read.tag(), read.words);
                NextSend { operation, to: rank, is_read: true, words, tag, is_short: false }
            }
            _ => unreachable!("an operation among the sends that are ready sends a message next"),
        }
    }

    /// Returns the read of an operation's next message, if it is read.
    #[inline]
    fn next_read(&self, operation: u32, next: &NextSend) -> Option<DataRead> {
        if !next.is_read {
            return None;
        }
        match self.long.get(&operation)?.next_step() {
            OperationStep::Read(read) => Some(read),
            _ => None,
        }
    }

    /// Returns the message of an operation to another rank's memory.
    fn one_sided(&self, packed: &PackedOperation) -> ActiveOperation {
        let words = |bytes: u64| self.network.params().words(bytes as usize) as u32;
        match packed.kind {
            OperationKind::Get(back) => {
                let asked = words(packed.tag.into()).max(1);
                ActiveOperation::one_sided(packed.peer, asked, Some(words(back)))
            }
            _ => ActiveOperation::one_sided(packed.peer, words(packed.bytes()), None),
        }
    }

    /// Queues the operations of a rank that have become ready.
    #[inline(always)]
    fn queue_ready(&mut self, rank: u32) {
        if !self.progress.newly_ready.is_empty() {
            self.queue_newly_ready(rank);
        }
    }

    /// Queues operations of a rank that have become ready, by time and then by number.
    #[inline(never)]
    fn queue_newly_ready(&mut self, rank: u32) {
        // A receive begins when it is posted, so operations that wait for that become ready too.
        let mut index = 0;
        while let Some(&(since, operation)) = self.progress.newly_ready.get(index) {
            index += 1;
            let packed = self.progress.operation(rank, operation);
            if let OperationKind::Recv(_) = packed.kind {
                self.begin(rank, operation, since, None);
            }
            if self.progress.newly_ready.len() == 1 {
                // Mostly it is one.
                self.progress.newly_ready.clear();
                return self.queue(rank, since, operation, packed);
            }
        }
        self.queue_several(rank);
    }

    /// Queues several operations of a rank that have become ready.
    #[inline(never)]
    fn queue_several(&mut self, rank: u32) {
        let mut fresh = std::mem::take(&mut self.progress.newly_ready);
        if !fresh.is_sorted() {
            fresh.sort_unstable();
        }
        for (since, operation) in fresh.drain(..) {
            let packed = self.progress.operation(rank, operation);
            self.queue(rank, since, operation, packed);
        }
        self.progress.newly_ready = fresh;
    }

    /// Queues an operation of a rank that is ready since a time.
    #[inline]
    fn queue(&mut self, rank: u32, since: Time, operation: u32, packed: PackedOperation) {
        let state = &mut self.ranks[rank as usize];
        match packed.kind {
            OperationKind::Send(bytes) => {
                self.ready.insert(&mut state.sends, (since, operation));
                if short_words(self.network, rank, &packed).is_none() {
                    let (tag, words) = (packed.filter().tag, self.network.params().words(bytes as usize));
                    let protocol = self.network.rendezvous(rank as usize, packed.peer as usize, words);
                    let send = ActiveOperation::send(packed.peer, tag, words as u32, protocol, None);
                    self.long.insert(operation, send);
                }
            }
            OperationKind::Put(_) | OperationKind::Get(_) => {
                self.ready.insert(&mut state.sends, (since, operation));
                self.long.insert(operation, self.one_sided(&packed));
            }
            OperationKind::Calc(_) | OperationKind::WaitUntil(_) | OperationKind::Flush => {
                self.ready.insert(&mut state.calcs, (since, operation))
            }
            OperationKind::Recv(_) if is_early(&packed) => state.matching.post_early(),
            OperationKind::Recv(_) => self.pairs.post(&mut state.matching, packed.filter(), since, operation),
        }
    }

    /// Ends the play, and returns its report or its error.
    fn finish(mut self) -> Result<Played, RunError> {
        if self.progress.remaining > 0
            && let Some(rank) = (0..self.ranks.len() as u32).find(|rank| self.choose(*rank).is_some())
        {
            return Err(self.end_of_time(rank)); // its next act is after the end of time
        }
        let sending = |rank: usize, operation: u32| {
            let is_receive = self.progress.is_receive(rank as u32, operation);
            let long = self.long.get(&operation).filter(|_| !is_receive)?;
            Some(long.wait_reason(self.network, rank).status(RecvFilter::NOTHING, None))
        };
        let left = self.ranks.iter().enumerate().flat_map(|(to, rank)| {
            rank.matching.unreceived().map(move |mail| (mail.arrival, to, mail.from, mail.tag))
        });
        let finishes = self.ranks.iter().map(|rank| rank.rank.now).collect();
        sort_by_rank_and_key(&mut self.ends, self.ranks.len(), |([rank, _], _)| *rank as usize, |ends| *ends);
        self.report.operations = self.ends.into_iter().map(|(_, ends)| ends).collect();
        let report = finish(self.report, &self.progress, finishes, sending, left)?;
        let report = PlayReport { moments: self.progress.moments, ..report };
        Ok(Played { report, log: self.log, done: self.done })
    }

    /// Returns the error of a rank that has reached the end of time.
    fn end_of_time(&self, rank: u32) -> RunError {
        Cause::EndOfTime { id: rank as usize }.into()
    }
}
