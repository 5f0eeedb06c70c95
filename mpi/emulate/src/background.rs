//! Immediate collectives: they make requests, and go on whenever their rank waits, tests or looks, for whatever it does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use loggp::schedule::Operation;
use loggp::{Filter, Payload, Proc, Request, Tag};

use crate::board::CollectiveId;
use crate::plan::{Blank, BlankTag, CollectivePlan, PlanProgress};

/// A request of an immediate collective.
enum Active {
    Send(Request<()>),
    Receive(Request<Blank>),
}

/// An immediate collective under way.
pub(crate) struct Background {
    progress: PlanProgress,
    tag: BlankTag,
    active: Vec<(u32, Active)>,
}

impl Background {
    /// Begins an immediate collective.
    pub(crate) fn begin(p: &mut Proc, plan: &Arc<CollectivePlan>, tag: BlankTag) -> Background {
        Background::resume(p, PlanProgress::new(plan), tag)
    }

    /// Goes on with a collective by requests.
    pub(crate) fn resume(p: &mut Proc, progress: PlanProgress, tag: BlankTag) -> Background {
        let mut begun = Background { progress, tag, active: Vec::new() };
        begun.post(p);
        begun
    }

    /// Posts what is ready.
    fn post(&mut self, p: &mut Proc) {
        loop {
            let unposted = |operation: &u32| self.active.iter().all(|(active, _)| active != operation);
            let receive = self.progress.posted.iter().find(unposted);
            let Some(operation) = receive.or(self.progress.ready.first()) else { return };
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
    fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.active.iter().map(|(_, request)| match request {
            Active::Send(request) => request.number(),
            Active::Receive(request) => request.number(),
        })
    }

    /// Takes note of a request that is done, and posts what waited for it.
    fn complete(&mut self, p: &mut Proc, index: usize) {
        let (operation, request) = self.active.remove(index);
        match request {
            Active::Send(request) => p.wait(request),
            Active::Receive(request) => _ = p.wait(request),
        }
        self.progress.posted.remove(operation);
        self.progress.end(operation);
        self.post(p);
    }

    /// Returns the index of a request that is done by now.
    fn done_by_now(&self, p: &mut Proc) -> Option<usize> {
        self.active.iter().position(|(_, request)| match request {
            Active::Send(request) => p.is_done(request),
            Active::Receive(request) => p.is_done(request),
        })
    }

    fn is_over(&self) -> bool {
        self.progress.left == 0
    }
}

/// The immediate collectives of a rank that are not over.
#[derive(Default)]
pub(crate) struct Backgrounds(BTreeMap<CollectiveId, Background>);

impl Backgrounds {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, id: CollectiveId) -> bool {
        self.0.contains_key(&id)
    }

    pub(crate) fn insert(&mut self, id: CollectiveId, begun: Background) {
        if !begun.is_over() {
            self.0.insert(id, begun);
        }
    }

    /// Does what can be done without waiting.
    pub(crate) fn advance(&mut self, p: &mut Proc) {
        let next =
            |all: &Self, p: &mut Proc| all.0.iter().find_map(|(id, one)| Some((*id, one.done_by_now(p)?)));
        while let Some(step) = next(self, p) {
            self.take(p, step);
        }
    }

    /// Returns the numbers of the requests of a collective that are under way.
    pub(crate) fn numbers(&self, id: CollectiveId) -> Vec<u32> {
        self.0.get(&id).map_or_else(Vec::new, |one| one.numbers().collect())
    }

    /// Returns the requests of all collectives: each with its collective and its index there, and its number.
    fn steps(&self) -> (Vec<(CollectiveId, usize)>, Vec<u32>) {
        let of_one = |(id, one): (&CollectiveId, &Background)| {
            let id = *id;
            one.numbers().enumerate().map(move |(index, number)| ((id, index), number)).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of_one).unzip()
    }

    /// Takes note of a collective's request that is done.
    fn take(&mut self, p: &mut Proc, (id, index): (CollectiveId, usize)) {
        let Some(one) = self.0.get_mut(&id) else { return };
        one.complete(p, index);
        if one.is_over() {
            self.0.remove(&id);
        }
    }

    /// Waits until one of the machine's requests with these numbers is done, and returns its index; or takes a step
    /// of a collective if that is done before, and returns `None`.
    pub(crate) fn first_done(&mut self, p: &mut Proc, numbers: &[u32]) -> Option<usize> {
        let (steps, of_steps) = self.steps();
        let index = p.first_done(&[numbers, &of_steps].concat());
        let Some(step) = index.checked_sub(numbers.len()) else { return Some(index) };
        self.take(p, steps[step]);
        None
    }

    /// Waits for a request.
    pub(crate) fn wait<R>(&mut self, p: &mut Proc, request: Request<R>) -> R {
        while !self.is_empty() && self.first_done(p, &[request.number()]).is_none() {}
        p.wait(request)
    }

    /// Waits for the end of a collective that is not among them.
    pub(crate) fn finish(&mut self, p: &mut Proc, mut one: Background) {
        while !one.is_over() {
            let numbers: Vec<u32> = one.numbers().collect();
            if let Some(index) = self.first_done(p, &numbers) {
                one.complete(p, index);
            }
        }
    }

    /// Receives a message.
    pub(crate) fn receive<F: Filter>(&mut self, p: &mut Proc, filter: F) -> F::Received {
        while !self.is_empty() {
            let (steps, numbers) = self.steps();
            match p.recv_unless_done(filter, &numbers) {
                Ok(received) => return received,
                Err(done) => self.take(p, steps[done]),
            }
        }
        p.recv(filter)
    }

    /// Sends a message, which waits until its receiver asks for it if it `is_synchronous`.
    pub(crate) fn send<T: Payload>(
        &mut self,
        p: &mut Proc,
        to: usize,
        (tag, value): (Tag<T>, T),
        is_synchronous: bool,
    ) {
        if !self.is_empty() && (is_synchronous || p.may_wait_to_send(to, value.bytes())) {
            let request = p.post_send(to, tag, value, is_synchronous);
            self.wait(p, request);
        } else if is_synchronous {
            p.send_synchronously(to, tag, value);
        } else {
            p.send(to, tag, value);
        }
    }
}
