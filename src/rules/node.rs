//! One processor's own rules: its local time, its gaps and overheads, its receptions, and where its time went.
//!
//! A node has no stack and no clock. It is told what its program calls, and says what must come first: its
//! [turn](Outgoing) in the network, or a message for a [reception](Reception). Whoever drives it sees to that, and tells
//! it. [`Proc`](crate::Proc) does so by waiting. A [`Player`](crate::Player) plays schedules by events, and keeps of each
//! processor its [`Pace`] alone. Together with `network.rs` this is the machine:
//!
//! - **send**: [`Node::turns_to`] a message, waits for its turn, and lets it [enter](Node::enters); rules 1 to 3 are the
//!   network's;
//! - **receive**: [`Node::is_ready`] from when on a message can be received, and [takes](Node::takes) the one that comes.
//!   Rule 4 is [`Reception`];
//! - **compute** and **wait**: [`Node::works`], [`Node::waits_until`];
//! - **leave it to a request** (LogGPS, section 3.2): [`Node::beside`] its own calls, a send or a receive goes on in a time
//!   of its own, and the processor [joins](Node::joins) it when it waits for it;
//! - **synchronize** (LogGPS, section 3.1): a [`Sending`] and a [`Receiving`] say which messages a long one takes.

use std::borrow::Cow;

use crate::message::{Letter, MessageId, RawTag, Tag, Want};
use crate::params::ReceptionCost;
use crate::rules::Stats;
use crate::rules::network::{Exit, Network, Passage, Request};
use crate::time::Time;
use crate::trace::{Activity, ActivityKind, CallKind, Log, Message, Parts, Progress, Transfer};

/// A processor as the rules see it. What every message touches comes first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Node {
    /// When it can do what.
    pace: Pace,
    /// What it notes beside that, if anything.
    notes: Option<Box<Notes>>,
    /// Where its time went.
    stats: Stats,
}

/// What a processor notes that is traced or has called for a request. It lies elsewhere, and all that has to do with it is
/// out of the way of those that have none.
#[derive(Debug, Default)]
struct Notes {
    /// What it did, if that is traced.
    log: Option<Box<Log>>,
    /// What a request does, while that is what it does.
    beside: Option<Vec<Piece>>,
}

/// When a processor can do what: its local time and its gaps, and no account of where its time went.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Pace {
    /// Its local time.
    now: Time,
    /// When it began the last reception, from where the gap counts; long before all, if there was none.
    received_at: Time,
    /// Its end of the network.
    exit: Exit,
}

/// What a request does while its processor does something else, or waits for it: it has a local time of its own.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// Its local time; once it is done, when it was.
    pub now: Time,
    /// What it did, from its call on.
    pieces: Vec<Piece>,
}

/// What a request did for a while.
#[derive(Debug)]
struct Piece {
    /// When that began.
    start: Time,
    /// When it was over.
    end: Time,
    /// The account on which it goes if the processor waits for it meanwhile.
    account: Account,
    /// What it was.
    what: ActivityKind,
}

/// One of the accounts on which a processor's time goes.
type Account = fn(&mut Stats) -> &mut Time;

/// A message to which its sender has turned, and which waits for its turn in the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// When its turn to ask the network is.
    pub turn: Time,
    /// Whether others can see that, so that all that comes before it must have been done.
    pub is_seen: bool,
    /// What it asks the network for.
    request: Request,
    /// Where it goes.
    pub to: usize,
    /// How long it is.
    pub words: usize,
    /// To how many messages its sender had turned before.
    pub number: u32,
}

/// A receive that waits for its message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reception {
    /// The messages that it takes.
    pub want: Want,
    /// From when on it can start: the processor is free, and the gap since its last reception began is over.
    pub ready: Time,
    /// The moment at which it gives up.
    pub deadline: Time,
    /// What it does with the message.
    pub purpose: Purpose,
}

/// What a receive does with its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It takes it, which costs the overhead.
    Take,
    /// It looks at it, which is over at once, and leaves it where it is.
    Look,
    /// It takes it for a request, which costs the processor nothing.
    Fetch,
}

impl Reception {
    /// 4. Reception: when that of a message starts; nothing if the receive has given up by then.
    #[inline]
    pub fn start(&self, arrival: Time) -> Option<Time> {
        let start = self.begins(arrival);
        (start <= self.deadline).then_some(start)
    }

    /// When the reception of a message is over. A signal of the machine's own barrier costs nothing.
    #[inline]
    pub fn over(&self, arrival: Time, letter: &Letter, cost: &ReceptionCost) -> Time {
        let start = self.begins(arrival);
        let costs = self.purpose == Purpose::Take && !letter.tag.is_signal();
        if costs { start + cost.of(letter.words as usize) } else { start }
    }

    /// Once the message is there, and the processor ready.
    #[inline]
    fn begins(&self, arrival: Time) -> Time {
        self.ready.max(arrival)
    }
}

impl Pace {
    /// A processor at time 0.
    pub fn new(id: usize, network: &Network) -> Pace {
        Pace { now: Time::ZERO, received_at: Time::from_ps(i64::MIN), exit: network.exit(id) }
    }

    /// The processor's local time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// From when on a send of k words would not have to wait for the gap after the last one.
    #[inline]
    fn next_send(&self, network: &Network, k: usize) -> Time {
        self.exit.gap_over() - network.send_overhead(k)
    }

    /// When it would begin with the overhead of a send of k words, and when the message's turn would be, if its latency
    /// is exactly L.
    #[inline]
    pub fn foresees(&self, network: &Network, k: usize) -> (Time, Time) {
        let request = network.foreseen(&self.exit, k, self.now);
        (request.ready - network.send_overhead(k), network.turn(&request))
    }

    /// Turns to a message, which then waits for its turn; or nothing, if that is after the end of time.
    #[inline]
    pub fn turns_to(&mut self, network: &Network, to: usize, words: usize) -> Option<Outgoing> {
        let number = self.exit.requests();
        let request = network.request(&mut self.exit, words, self.now);
        let (turn, is_seen) = (network.turn(&request), network.is_seen(&request));
        (request.ask < Time::MAX).then_some(Outgoing { turn, is_seen, request, to, words, number })
    }

    /// The message's turn has come. The processor goes on when it enters.
    #[inline]
    pub fn enters(&mut self, network: &Network, message: &Outgoing) -> Passage {
        let passage = network.serve(self.exit.id(), &mut self.exit, message.to, message.request);
        self.now = passage.enter;
        passage
    }

    /// From when on it could receive a message: it is free, and the gap since its last reception began is over.
    #[inline]
    pub fn next_receive(&self, network: &Network) -> Time {
        self.now.max(self.received_at + network.params().g)
    }

    /// The reception of a message starts, and takes so long. The processor goes on when it is over.
    #[inline]
    pub fn receives(&mut self, start: Time, overhead: Time) {
        self.received_at = start;
        self.now = start + overhead;
    }

    /// Computes for so long.
    #[inline]
    pub fn works(&mut self, cost: Time) {
        self.now += cost;
    }
}

impl Node {
    /// A processor at time 0.
    pub fn new(id: usize, network: &Network, trace: bool) -> Node {
        let notes = trace.then(|| Box::new(Notes { log: Some(Box::default()), beside: None }));
        Node { pace: Pace::new(id, network), notes, stats: Stats::default() }
    }

    /// The processor's number.
    #[inline]
    pub fn id(&self) -> usize {
        self.pace.exit.id()
    }

    /// The processor's local time.
    #[inline]
    pub fn now(&self) -> Time {
        self.pace.now
    }

    /// The number that its next message will have.
    #[inline]
    pub fn next_number(&self) -> u32 {
        self.pace.exit.requests()
    }

    /// From when on a send of k words would not have to wait for the gap after the last one.
    #[inline]
    pub fn next_send(&self, network: &Network, k: usize) -> Time {
        self.pace.next_send(network, k)
    }

    /// Turns to a message, which then waits for its turn; or nothing, if that is after the end of time.
    #[inline]
    pub fn turns_to(&mut self, network: &Network, to: usize, words: usize) -> Option<Outgoing> {
        self.pace.turns_to(network, to, words)
    }

    /// Puts a message off until the gap is over after those that have entered since it was turned to, and until `turn`.
    /// Returns whether its turn is later now.
    pub fn puts_off(&self, network: &Network, message: &mut Outgoing, turn: Time) -> bool {
        let later = network.put_off(&self.pace.exit, &mut message.request, turn);
        message.turn = network.turn(&message.request);
        later
    }

    /// From now on its messages to one processor arrive in the order of their sends.
    pub fn keeps_order(&mut self) {
        self.pace.exit.keeps_order();
    }

    /// The message's turn has come. The processor goes on when it enters. Returns when it arrives.
    #[inline(always)]
    pub fn enters(&mut self, network: &Network, message: &Outgoing) -> Time {
        let Outgoing { request, to, words, number, .. } = *message;
        let passage = network.serve(self.pace.exit.id(), &mut self.pace.exit, to, request);
        let id = MessageId { from: self.pace.exit.id(), number: number as usize };
        let overhead = network.send_overhead(words);
        self.stats.sent += 1;
        self.stats.words_sent += words as u64;
        if passage.out_of_order {
            self.stats.out_of_order += 1;
        }
        self.waits(|stats| &mut stats.gap, passage.ready - overhead, || ActivityKind::Gap);
        self.passes(|stats| &mut stats.send, overhead, || ActivityKind::Send(id));
        let stall = passage.admitted - passage.ready;
        if stall > Time::ZERO {
            self.stats.stalls += 1;
            self.stats.longest_stall = self.stats.longest_stall.max(stall);
            self.waits(|stats| &mut stats.stall, passage.admitted, || ActivityKind::Stall);
        }
        self.waits(|stats| &mut stats.port, passage.enter, || ActivityKind::Port);
        if self.notes.is_some() {
            self.has_entered(network, message, passage);
        }
        passage.arrival
    }

    /// Notes a message that has entered, if that is traced.
    #[cold]
    fn has_entered(&mut self, network: &Network, message: &Outgoing, passage: Passage) {
        let Outgoing { turn, request, to, words, number, .. } = *message;
        let id = MessageId { from: self.id(), number: number as usize };
        if let Some(log) = self.log() {
            let Passage { enter, first, arrival, .. } = passage;
            let (latency, place) = (request.latency, network.place(turn, id.from));
            log.messages.push(Message { id, to, words, latency, place, enter, first, arrival });
        }
    }

    /// Whether it is traced, or has called for a request.
    #[inline]
    pub fn has_notes(&self) -> bool {
        self.notes.is_some()
    }

    /// What it did, if that is traced.
    #[inline]
    fn log(&mut self) -> Option<&mut Log> {
        self.notes.as_mut()?.log.as_deref_mut()
    }

    /// From when on it could receive a message, until it gives up.
    #[inline]
    pub fn is_ready(&self, network: &Network, want: Want, deadline: Time) -> Reception {
        Reception { want, ready: self.pace.next_receive(network), deadline, purpose: Purpose::Take }
    }

    /// The message of a reception has come. The processor goes on when the reception is over.
    #[inline(always)]
    pub fn takes(&mut self, network: &Network, reception: &Reception, arrival: Time, letter: &Letter) {
        let start = reception.begins(arrival);
        self.pace.received_at = start;
        self.stats.received += 1;
        self.stats.words_received += u64::from(letter.words);
        self.waits(|stats| &mut stats.idle, arrival, || ActivityKind::Idle);
        self.waits(|stats| &mut stats.gap, start, || ActivityKind::Gap);
        let id = MessageId { from: letter.from as usize, number: letter.number as usize };
        if let Some(notes) = &mut self.notes
            && let (Some(log), None) = (&mut notes.log, &notes.beside)
        {
            log.parts.takes(letter.tag, id);
        }
        let overhead = network.reception_cost().of(letter.words as usize);
        self.passes(|stats| &mut stats.recv, overhead, || ActivityKind::Receive(id));
    }

    /// It looked for a message in vain, until the deadline; and for a cycle if that had passed, so that looking moves
    /// time forward.
    pub fn looked_in_vain(&mut self, network: &Network, deadline: Time) {
        let until = if deadline > self.pace.now { deadline } else { self.pace.now + network.params().cycle };
        self.waits_until(until);
    }

    /// Computes for so long. Nothing to do is nothing done.
    #[inline]
    pub fn works(&mut self, kind: impl Into<Cow<'static, str>> + Clone, cost: Time) {
        let over = self.pace.now + cost;
        if over > self.pace.now {
            self.passes(
                |stats| &mut stats.work,
                over - self.pace.now,
                || ActivityKind::Work(kind.clone().into()),
            );
            self.called(|_| Some(CallKind::Work(kind.into())));
        }
    }

    /// Waits for a moment, if that is still to come.
    pub fn waits_until(&mut self, t: Time) {
        self.waits(|stats| &mut stats.idle, t, || ActivityKind::Idle);
    }

    /// Waits for the gap before a send of k words, if that runs.
    pub fn waits_for_gap(&mut self, network: &Network, k: usize) {
        let over = self.next_send(network, k);
        self.waits(|stats| &mut stats.gap, over, || ActivityKind::Gap);
    }

    /// Waits in the machine's own barrier until that is over.
    pub fn waits_in_barrier(&mut self, over: Time) {
        self.passes(|stats| &mut stats.idle, over - self.pace.now, || ActivityKind::Barrier);
    }

    /// Notes what a message of its own that has entered is about, if that is traced.
    #[inline]
    pub fn has_sent(&mut self, number: u32, tag: RawTag) {
        let id = MessageId { from: self.id(), number: number as usize };
        if let Some(log) = self.log() {
            log.parts.sends(tag, id);
        }
    }

    /// Notes the call that is over now, if that is traced.
    #[inline]
    pub fn called(&mut self, what: impl FnOnce(&Parts) -> Option<CallKind>) {
        let (id, now) = (self.id(), self.now());
        if let Some(log) = self.log() {
            std::hint::cold_path();
            let what = what(&log.parts);
            log.called(id, now, what);
        }
    }

    /// It calls for a request, and goes on after o (LogGPS, equations 6 and 10). Returns where the request's own time
    /// begins.
    pub fn posts(&mut self, network: &Network, number: u32, sends: bool) -> Beside {
        let called = self.pace.now;
        self.passes(overhead_of(sends), network.params().o, || ActivityKind::Post(number));
        Beside { now: called, pieces: Vec::new() }
    }

    /// Does something for a request, in that one's own time.
    pub fn beside<R>(&mut self, beside: &mut Beside, does: impl FnOnce(&mut Node) -> R) -> R {
        let own = std::mem::replace(&mut self.pace.now, beside.now);
        self.notes.get_or_insert_default().beside = Some(std::mem::take(&mut beside.pieces));
        let done = does(self);
        beside.now = std::mem::replace(&mut self.pace.now, own);
        beside.pieces = self.notes.as_mut().and_then(|notes| notes.beside.take()).unwrap_or_default();
        done
    }

    /// It waits for a request that is done, for o at least (LogGPS, equation 11). What the request did meanwhile is where
    /// the time goes.
    pub fn joins(&mut self, network: &Network, number: u32, sends: bool, beside: Beside) {
        let (called, least) = (self.pace.now, self.pace.now + network.params().o);
        for piece in &beside.pieces {
            let waited = piece.end - piece.start.max(called);
            if waited > Time::ZERO {
                *(piece.account)(&mut self.stats) += waited;
            }
        }
        let idle = called.max(beside.now);
        *overhead_of(sends)(&mut self.stats) += (least - idle).max(Time::ZERO);
        self.pace.now = least.max(beside.now);
        let (id, end) = (self.pace.exit.id(), self.pace.now);
        if let Some(log) = self.log() {
            log.activities.push(Activity { id, start: called, end, what: ActivityKind::Wait(number) });
            let transfer = transfer(&beside.pieces, sends);
            log.called(id, end, transfer.map(|transfer| CallKind::Wait { request: number, sends, transfer }));
            let progress =
                |Piece { start, end, what, .. }| Progress { id, request: number, start, end, what };
            log.progress.extend(beside.pieces.into_iter().map(progress));
        }
    }

    /// The program has returned: where its time went, and what it did, if that is traced.
    pub fn finishes(mut self) -> (Stats, Option<Box<Log>>) {
        self.stats.finish = self.pace.now;
        self.stats.most_from = self.pace.exit.most_in_transit();
        let mut log = self.notes.and_then(|notes| notes.log);
        if let Some(log) = &mut log {
            // Requests may enter in another order than their sends were turned to.
            log.messages.sort_unstable_by_key(|message| message.id.number);
        }
        (self.stats, log)
    }

    /// Lets local time pass until a moment, on one account, if that is still to come.
    #[inline]
    fn waits(&mut self, account: Account, until: Time, what: impl FnOnce() -> ActivityKind) {
        if until > self.pace.now {
            self.passes(account, until - self.pace.now, what);
        }
    }

    /// Lets local time pass, on one account. A send, a reception or a barrier is one even if it costs nothing.
    #[inline]
    fn passes(&mut self, account: Account, time: Time, what: impl FnOnce() -> ActivityKind) {
        let start = self.pace.now;
        self.pace.now += time;
        if let Some(notes) = &mut self.notes {
            std::hint::cold_path();
            let (id, end) = (self.pace.exit.id(), self.pace.now);
            if let Some(pieces) = &mut notes.beside {
                return pieces.push(Piece { start, end, account, what: what() });
            }
            if let Some(log) = &mut notes.log {
                log.activities.push(Activity { id, start, end, what: what() });
            }
        }
        *account(&mut self.stats) += time;
    }
}

/// The message of a request that is done, from what it did: the last one that went its way, after a request if there were
/// two.
fn transfer(pieces: &[Piece], sends: bool) -> Option<Transfer> {
    let ids = |sends: bool| {
        pieces.iter().filter_map(move |piece| match piece.what {
            ActivityKind::Send(id) if sends => Some(id),
            ActivityKind::Receive(id) if !sends => Some(id),
            _ => None,
        })
    };
    let first = ids(sends).next()?;
    Some(Transfer::of(ids(sends).next_back()?, Some(first).zip(ids(!sends).next())))
}

/// The account of the overhead of sends, or of receptions.
fn overhead_of(sends: bool) -> Account {
    if sends { |stats| &mut stats.send } else { |stats| &mut stats.recv }
}

/// What a processor has to do next for a send or a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Send a message.
    Send {
        /// What it is about.
        tag: RawTag,
        /// How long it is.
        words: usize,
        /// Whether it is what the program sends, or only says that this is to come, or may.
        is_data: bool,
    },
    /// Take a message that such a receive takes.
    Take(Want),
    /// Nothing: it is done.
    Done,
}

/// A send, which is one message, or three if the receiver has to agree first (LogGPS, section 3.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    /// The receiver.
    pub to: usize,
    /// What the message is about.
    tag: RawTag,
    /// What errors call the tag.
    name: Option<&'static str>,
    /// How long it is.
    pub words: usize,
    /// How far the send has come.
    stage: Stage,
}

/// How far a send has come.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Its receiver must be asked.
    Asks,
    /// The request is on its way.
    Asking,
    /// The request with this number was sent.
    Asked(u32),
    /// The message can go.
    Goes(RawTag),
    /// The message has gone.
    Gone,
}

impl Sending {
    /// A send of so many words that has not begun.
    #[inline]
    pub fn new<T>(network: &Network, to: usize, tag: Tag<T>, words: usize) -> Sending {
        let Tag { raw: tag, name, .. } = tag;
        let stage = if network.params().is_synchronous(words) { Stage::Asks } else { Stage::Goes(tag) };
        Sending { to, tag, name, words, stage }
    }

    /// The message that it sent last has this number.
    #[inline]
    pub fn has_sent(&mut self, number: u32) {
        if let Stage::Asking = self.stage {
            self.stage = Stage::Asked(number);
        }
    }

    /// Goes on: what the processor has to do next, once it has done all before.
    #[inline]
    pub fn next(&mut self) -> Step {
        match self.stage {
            Stage::Asks => {
                self.stage = Stage::Asking;
                Step::Send { tag: self.tag.request(), words: 0, is_data: false }
            }
            Stage::Asked(number) => {
                self.stage = Stage::Goes(RawTag::agreed(number));
                Step::Take(Want { from: Some(self.to as u32), tag: RawTag::reply(number), name: self.name })
            }
            Stage::Goes(tag) => {
                self.stage = Stage::Gone;
                Step::Send { tag, words: self.words, is_data: true }
            }
            Stage::Asking | Stage::Gone => Step::Done,
        }
    }
}

/// What follows the first message that a receive has taken: if that is a request, it is granted, and what was asked for
/// is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Receiving {
    /// A request with this number has come from this processor, for a message that errors call so.
    Grants(u32, u32, Option<&'static str>),
    /// The request was granted.
    Waits(u32, u32, Option<&'static str>),
    /// The message is there.
    Come,
}

impl Receiving {
    /// A receive that has taken its first message.
    #[inline]
    pub fn new(first: &Letter, name: Option<&'static str>) -> Receiving {
        match first.tag.is_request() {
            true => Receiving::Grants(first.from, first.number, name),
            false => Receiving::Come,
        }
    }

    /// Goes on: what the processor has to do next, once it has done all before.
    #[inline]
    pub fn next(&mut self) -> Step {
        match *self {
            Receiving::Grants(from, number, name) => {
                *self = Receiving::Waits(from, number, name);
                Step::Send { tag: RawTag::reply(number), words: 0, is_data: false }
            }
            Receiving::Waits(from, number, name) => {
                *self = Receiving::Come;
                Step::Take(Want { from: Some(from), tag: RawTag::agreed(number), name })
            }
            Receiving::Come => Step::Done,
        }
    }
}
