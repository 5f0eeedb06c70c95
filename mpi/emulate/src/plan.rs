//! The messages of a collective at one rank, and their order.
//!
//! A blocking collective makes blocking calls: a message is sent once those before it are through, and what comes while
//! the gap before a send runs is received meanwhile, as in an exchange. An immediate one makes requests, which go on
//! whenever its rank waits or tests.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use loggp::schedule::{Operation, Schedule};
use loggp::{Payload, Proc, Request, Tag, Time, WithSender};

/// A message without data that counts for so many bytes: the data of collectives go another way.
pub(crate) struct Blank(u64);

impl Blank {
    /// Creates a message of a word.
    pub(crate) fn word() -> Blank {
        Blank(8)
    }
}

impl Payload for Blank {
    fn bytes(&self) -> usize {
        self.0 as usize
    }
}

pub(crate) type BlankTag = Tag<Blank>;

/// What a rank does in a collective.
#[derive(Debug)]
pub(crate) struct Plan {
    operations: Vec<Operation>,
    /// How many operations each waits for.
    needs: Vec<u32>,
    /// The operations that wait for each, and whether its begin is enough.
    followers: Vec<Vec<(u32, bool)>>,
}

impl Plan {
    /// Reads the part of one rank.
    pub(crate) fn of_rank(schedule: &Schedule, rank: usize) -> Plan {
        let operations: Vec<Operation> = schedule.operations(rank).map(|placed| placed.operation).collect();
        let (mut needs, mut followers) = (vec![0; operations.len()], vec![Vec::new(); operations.len()]);
        for requirement in schedule.requirements_of(rank) {
            needs[requirement.later as usize] += 1;
            followers[requirement.earlier as usize].push((requirement.later, requirement.begun));
        }
        Plan { operations, needs, followers }
    }

    /// Makes the calls of a blocking collective.
    pub(crate) fn run(self: &Arc<Plan>, p: &mut Proc, tag: BlankTag) {
        let mut progress = Progress::new(self);
        while progress.left > 0 {
            let act = progress.first(|operation| !matches!(operation, Operation::Recv { .. }));
            let receives = progress.posted.len();
            match act.map(|act| (act, self.operations[act as usize])) {
                Some((act, Operation::Send { to, bytes, .. })) => {
                    if receives > 0 && is_long(p, to, bytes) {
                        // Two that send to each other would wait for ever.
                        return Background { progress, tag, active: Vec::new() }.finish(p);
                    }
                    progress.begin(act);
                    if receives > 0 {
                        let mut came = Vec::new();
                        let all = WithSender(tag);
                        p.send_receiving(to as usize, tag, Blank(bytes), all, |_, (from, _)| came.push(from));
                        came.into_iter().for_each(|from| progress.receive(from));
                    } else {
                        p.send(to as usize, tag, Blank(bytes));
                    }
                    progress.end(act);
                }
                Some((act, Operation::Calc(time))) => {
                    progress.begin(act);
                    p.compute_for(Cow::Borrowed("combine"), time);
                    progress.end(act);
                }
                Some((act, _)) => {
                    progress.begin(act);
                    progress.end(act);
                }
                None => {
                    let from = match progress.only_sender() {
                        Some(from) => {
                            p.recv(tag.from(from));
                            from
                        }
                        None => p.recv_with_sender(tag).0,
                    };
                    progress.receive(from);
                }
            }
        }
    }
}

/// Returns whether a message waits until its receiver asks for it (LogGPS).
pub(crate) fn is_long(p: &Proc, to: u32, bytes: u64) -> bool {
    let params = p.params_to(to as usize);
    params.gps().is_some_and(|gps| p.params().words(bytes as usize) > gps.S)
}

/// How far a rank is in its plan.
struct Progress {
    plan: Arc<Plan>,
    needs: Vec<u32>,
    left: usize,
    /// Operations that are ready and have not begun; a receive begins as soon as it is ready.
    ready: BTreeSet<u32>,
    /// Receives that have begun and got nothing yet.
    posted: BTreeSet<u32>,
    /// Senders of messages that came before their receives were ready.
    early: VecDeque<usize>,
}

impl Progress {
    fn new(plan: &Arc<Plan>) -> Progress {
        let mut progress = Progress {
            plan: plan.clone(),
            needs: plan.needs.clone(),
            left: plan.operations.len(),
            ready: BTreeSet::new(),
            posted: BTreeSet::new(),
            early: VecDeque::new(),
        };
        for operation in 0..plan.operations.len() as u32 {
            if plan.needs[operation as usize] == 0 {
                progress.make_ready(operation);
            }
        }
        progress
    }

    fn make_ready(&mut self, operation: u32) {
        let Operation::Recv { from, .. } = self.plan.operations[operation as usize] else {
            self.ready.insert(operation);
            return;
        };
        self.posted.insert(operation);
        self.begin(operation);
        let came = self.early.iter().position(|sender| from.is_none_or(|from| from as usize == *sender));
        if let Some(came) = came {
            self.early.remove(came);
            self.posted.remove(&operation);
            self.end(operation);
        }
    }

    /// Returns the first operation that is ready and of a kind.
    fn first(&self, is_meant: impl Fn(&Operation) -> bool) -> Option<u32> {
        self.ready.iter().copied().find(|operation| is_meant(&self.plan.operations[*operation as usize]))
    }

    fn begin(&mut self, operation: u32) {
        self.ready.remove(&operation);
        self.notify(operation, true);
    }

    fn end(&mut self, operation: u32) {
        self.left -= 1;
        self.notify(operation, false);
    }

    fn notify(&mut self, operation: u32, is_begun: bool) {
        let plan = self.plan.clone();
        for &(later, needs_begin) in &plan.followers[operation as usize] {
            if needs_begin == is_begun {
                self.needs[later as usize] -= 1;
                if self.needs[later as usize] == 0 {
                    self.make_ready(later);
                }
            }
        }
    }

    /// Returns the sender for which all receives wait that have begun, if it is one.
    fn only_sender(&self) -> Option<usize> {
        let sender = |operation: &u32| match self.plan.operations[*operation as usize] {
            Operation::Recv { from, .. } => from,
            _ => None,
        };
        let first = sender(self.posted.first()?)?;
        self.posted.iter().all(|operation| sender(operation) == Some(first)).then_some(first as usize)
    }

    /// Notes that a message has been received.
    fn receive(&mut self, sender: usize) {
        let takes = |operation: &&u32| match self.plan.operations[**operation as usize] {
            Operation::Recv { from, .. } => from.is_none_or(|from| from as usize == sender),
            _ => false,
        };
        match self.posted.iter().find(takes).copied() {
            Some(operation) => {
                self.posted.remove(&operation);
                self.end(operation);
            }
            None => self.early.push_back(sender),
        }
    }
}

/// A request of an immediate collective.
enum Active {
    Send(Request<()>),
    Receive(Request<Blank>),
}

/// An immediate collective under way.
pub(crate) struct Background {
    progress: Progress,
    tag: BlankTag,
    active: Vec<(u32, Active)>,
}

impl Background {
    /// Begins an immediate collective.
    pub(crate) fn begin(p: &mut Proc, plan: &Arc<Plan>, tag: BlankTag) -> Background {
        let mut begun = Background { progress: Progress::new(plan), tag, active: Vec::new() };
        begun.post(p);
        begun
    }

    /// Posts what is ready.
    fn post(&mut self, p: &mut Proc) {
        loop {
            let unposted = |operation: &&u32| self.active.iter().all(|(active, _)| active != *operation);
            let receive = self.progress.posted.iter().find(unposted).copied();
            let Some(operation) = receive.or(self.progress.ready.first().copied()) else { return };
            let request = match self.progress.plan.operations[operation as usize] {
                Operation::Send { to, bytes, .. } => {
                    Active::Send(p.post_send(to as usize, self.tag, Blank(bytes), false))
                }
                Operation::Recv { from, .. } => {
                    let from = from.expect("a collective's receives name their senders") as usize;
                    self.active.push((operation, Active::Receive(p.irecv(self.tag.from(from)))));
                    continue;
                }
                Operation::Calc(time) => {
                    p.compute_for(Cow::Borrowed("combine"), time);
                    self.progress.begin(operation);
                    self.progress.end(operation);
                    continue;
                }
                _ => {
                    self.progress.begin(operation);
                    self.progress.end(operation);
                    continue;
                }
            };
            self.active.push((operation, request));
            self.progress.begin(operation);
        }
    }

    /// Returns the numbers of the machine's requests that are under way.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.active.iter().map(|(_, request)| match request {
            Active::Send(request) => request.number(),
            Active::Receive(request) => request.number(),
        })
    }

    /// Takes note of a request that is done, and posts what waited for it.
    pub(crate) fn complete(&mut self, p: &mut Proc, place: usize) {
        let (operation, request) = self.active.remove(place);
        match request {
            Active::Send(request) => p.wait(request),
            Active::Receive(request) => _ = p.wait(request),
        }
        self.progress.posted.remove(&operation);
        self.progress.end(operation);
        self.post(p);
    }

    /// Does what can be done without waiting. Returns whether it is over.
    pub(crate) fn go_on(&mut self, p: &mut Proc) -> bool {
        let is_done = |p: &mut Proc, (_, request): &(u32, Active)| match request {
            Active::Send(request) => p.is_done(request),
            Active::Receive(request) => p.is_done(request),
        };
        while let Some(place) = self.active.iter().position(|active| is_done(p, active)) {
            self.complete(p, place);
        }
        self.is_over()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.progress.left == 0
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self, p: &mut Proc) {
        self.post(p);
        while !self.is_over() {
            let numbers: Vec<u32> = self.numbers().collect();
            let place = p.first_done(&numbers);
            self.complete(p, place);
        }
    }
}

/// Returns a time that is `speed` times the one of a rank's computing.
pub(crate) fn scaled(ns: u64, speed: f64) -> Time {
    Time::from_ps((ns as f64 * 1000.0 * speed).round() as i64)
}
