//! Requests of a rank: waits and tests.

use std::panic::Location;

use loggp::Proc;
use loggp_mpi_trace::call::{RequestId, WaitForm};

use crate::pending::{Completion, Pending};
use crate::rank::EmulatedRank;
use crate::reply::Reply;

/// The most requests that one answer says are complete, where some will do.
const MOST_FOUND: usize = 1000;

impl EmulatedRank<'_> {
    /// Waits for requests, or tests them.
    pub(crate) fn wait(&mut self, p: &mut Proc, form: WaitForm, requests: &[Option<RequestId>]) -> Reply {
        let open: Vec<(usize, RequestId)> =
            requests.iter().enumerate().filter_map(|(index, request)| Some((index, (*request)?))).collect();
        let one = |rank: &mut Self, p: &mut Proc, at: usize| {
            let (index, request) = open[at];
            vec![(index, rank.complete(p, request))]
        };
        match form {
            WaitForm::Wait | WaitForm::Waitall => {
                let all = open.iter().map(|&(index, request)| (index, self.complete(p, request)));
                Reply::Found(Some(all.collect()))
            }
            WaitForm::Waitany => {
                let first = self.first_over(p, &open);
                Reply::Found(Some(one(self, p, first)))
            }
            WaitForm::Waitsome => {
                let first = self.first_over(p, &open);
                let mut over = self.all_over(p, &open);
                over.truncate(MOST_FOUND);
                let over = if over.is_empty() { vec![first] } else { over };
                Reply::Found(Some(over.into_iter().flat_map(|at| one(self, p, at)).collect()))
            }
            WaitForm::Test | WaitForm::Testall => {
                let over = self.all_over(p, &open);
                if over.len() < open.len() {
                    return self.look_in_vain(p, &open);
                }
                Reply::Found(Some(over.into_iter().flat_map(|at| one(self, p, at)).collect()))
            }
            WaitForm::Testany => match self.all_over(p, &open).first() {
                Some(first) => Reply::Found(Some(one(self, p, *first))),
                None => self.look_in_vain(p, &open),
            },
            WaitForm::Testsome => match self.all_over(p, &open) {
                over if over.is_empty() => self.look_in_vain(p, &open),
                over => {
                    let some = over.into_iter().take(MOST_FOUND);
                    Reply::Found(Some(some.flat_map(|at| one(self, p, at)).collect()))
                }
            },
        }
    }

    fn look_in_vain(&mut self, p: &mut Proc, open: &[(usize, RequestId)]) -> Reply {
        self.lengthen_look(p);
        let request = open.iter().find_map(|(_, request)| self.numbers(*request).first().copied());
        p.look_in_vain(request.unwrap_or(0), Location::caller());
        Reply::Found(None)
    }

    /// Returns what a look at a request finds; the request stays.
    pub(crate) fn status(&mut self, p: &mut Proc, request: Option<RequestId>) -> Reply {
        let Some(request) = request else { return Reply::Words(vec![1, 0, 0, 0]) };
        self.backgrounds.advance(p);
        if !self.is_over(p, request) {
            self.lengthen_look(p);
            p.look_in_vain(self.numbers(request).first().copied().unwrap_or(0), Location::caller());
            return Reply::Words(vec![0; 4]);
        }
        let completion = self.complete(p, request);
        let words = match &completion {
            Completion::Receive(from, parcel) => {
                vec![1, *from, u64::from(parcel.tag), parcel.data.len() as u64]
            }
            _ => vec![1, 0, 0, 0],
        };
        self.requests.insert(request, Pending::Ready(completion));
        Reply::Words(words)
    }

    /// Cancels a receive that has taken nothing, or a send whose receiver has not asked for it.
    pub(crate) fn cancel(&mut self, p: &mut Proc, request: RequestId) -> Reply {
        let is_cancelled = match self.requests.get(&request) {
            Some(Pending::Own(_)) => true,
            Some(Pending::Receive { request, .. }) => p.withdraw(request),
            Some(Pending::Send(request, Some(_))) => {
                p.wait_to_act(); // what its receiver did before now is done
                p.withdraw(request)
            }
            _ => false,
        };
        if is_cancelled {
            let cancelled = Pending::Ready(Completion::Cancelled);
            if let Some(Pending::Send(request, Some(sent))) = self.requests.insert(request, cancelled) {
                self.forget_sent(sent.to, sent.number);
                self.given_up.push(Pending::Send(request, None));
            }
        }
        Reply::Words(vec![u64::from(is_cancelled)])
    }

    /// Returns what has come of requests that were freed.
    pub(crate) fn take_left(&mut self, p: &mut Proc, requests: &[Option<RequestId>]) -> Reply {
        let is_open = |(index, request): (usize, &Option<RequestId>)| Some((index, (*request)?));
        let open: Vec<_> = requests.iter().enumerate().filter_map(is_open).collect();
        let over = self.all_over(p, &open);
        let found = over.into_iter().map(|at| (open[at].0, self.complete(p, open[at].1)));
        Reply::Found(Some(found.collect()))
    }

    /// Returns the indices of the requests that are over.
    fn all_over(&mut self, p: &mut Proc, open: &[(usize, RequestId)]) -> Vec<usize> {
        self.backgrounds.advance(p);
        (0..open.len()).filter(|at| self.is_over(p, open[*at].1)).collect()
    }

    /// Waits until one of the requests is over, and returns its index.
    fn first_over(&mut self, p: &mut Proc, open: &[(usize, RequestId)]) -> usize {
        loop {
            if let Some(at) = (0..open.len()).find(|at| self.is_ready(p, open[*at].1)) {
                return at;
            }
            let mut numbers = Vec::new();
            for (at, (_, request)) in open.iter().enumerate() {
                let of_message = self.requests.get(request).map(numbers_of).unwrap_or_default();
                numbers.extend(of_message.into_iter().map(|number| (number, at)));
            }
            let is_collective =
                |(_, request): &(_, _)| matches!(self.requests.get(request), Some(Pending::Collective(_)));
            let is_hopeless = numbers.is_empty() && !open.iter().any(is_collective);
            if let (true, Some((_, request))) = (is_hopeless, open.first()) {
                self.complete(p, *request); // which says why it never is
            }
            let all: Vec<u32> = numbers.iter().map(|(number, _)| *number).collect();
            let Some(first) = self.backgrounds.first_done(p, &all) else { continue };
            let at = numbers[first].1;
            let request = open[at].1;
            let Some(Pending::Both(_)) = self.requests.get(&request) else { return at };
            if let Some(pending) = self.requests.remove(&request) {
                let done = self.finish_request(p, pending);
                self.requests.insert(request, Pending::Ready(done));
            }
        }
    }

    /// Returns whether a request is over without a wait at the machine.
    fn is_ready(&mut self, p: &mut Proc, request: RequestId) -> bool {
        self.take_own(p, request);
        match self.requests.get(&request) {
            None | Some(Pending::Ready(_)) => true,
            Some(Pending::OwnSend { number, .. }) => self.is_own_received(*number),
            Some(Pending::Collective(open)) => !self.backgrounds.contains(open.id),
            _ => false,
        }
    }

    /// Gives a receive from the rank itself the message that has been sent meanwhile.
    fn take_own(&mut self, p: &mut Proc, request: RequestId) {
        let Some(Pending::Own(receive)) = self.requests.get(&request) else { return };
        let receive = *receive;
        if let Some(got) = self.take_here(p, &receive) {
            let from = self.rank_in(receive.communicator, got.from);
            self.requests.insert(request, Pending::Ready(Completion::Receive(from, got.parcel)));
        }
    }

    /// Returns the machine's requests that a request waits for.
    fn numbers(&self, request: RequestId) -> Vec<u32> {
        match self.requests.get(&request) {
            Some(Pending::Collective(open)) => self.backgrounds.numbers(open.id),
            pending => pending.map(numbers_of).unwrap_or_default(),
        }
    }

    /// Returns whether a request is over by now.
    fn is_over(&mut self, p: &mut Proc, request: RequestId) -> bool {
        if self.is_ready(p, request) {
            return true;
        }
        self.requests.get(&request).is_none_or(|pending| is_done(p, pending))
    }

    /// Waits for a request, and returns what came of it.
    fn complete(&mut self, p: &mut Proc, request: RequestId) -> Completion {
        self.take_own(p, request);
        match self.requests.remove(&request) {
            Some(pending) => self.finish_request(p, pending),
            None => p.fail_with(format!("rank {} waits for a request that it has not posted", self.id)),
        }
    }

    /// Waits for a request that is no longer among the rank's.
    pub(crate) fn finish_request(&mut self, p: &mut Proc, pending: Pending) -> Completion {
        match pending {
            Pending::Ready(completion) => completion,
            Pending::Send(request, sent) => {
                self.awaits_send = true;
                self.backgrounds.wait(p, request);
                self.awaits_send = false;
                sent.into_iter().for_each(|sent| self.learn_of_receiver(sent.to, sent.mode));
                Completion::Send
            }
            Pending::Receive { request, communicator, scope, from, tag, types } => {
                self.awaited = Some((from, tag, scope));
                let (from, parcel) = self.backgrounds.wait(p, request);
                self.awaited = None;
                self.learn_ended(parcel.ended.as_ref());
                self.compare_types(p, from, &parcel, &types);
                let got = self.arrived(communicator, from, parcel);
                Completion::Receive(self.rank_in(communicator, from), got.parcel)
            }
            Pending::Own(receive) => {
                let Some(got) = self.take_here(p, &receive) else { self.fail_to_receive_own(p, &receive) };
                Completion::Receive(self.rank_in(receive.communicator, got.from), got.parcel)
            }
            Pending::OwnSend { number, mode } => match self.is_own_received(number) {
                true => Completion::Send,
                false => self.fail_to_send_own(p, mode),
            },
            Pending::Both(both) => {
                let [received, sent] = *both;
                let received = self.finish_request(p, received);
                self.finish_request(p, sent);
                received
            }
            Pending::Collective(open) => {
                while self.backgrounds.contains(open.id) {
                    self.backgrounds.first_done(p, &[]);
                }
                match open.duplicates {
                    true => {
                        let members = self.communicator(open.communicator).size();
                        self.part(open.id, members);
                        Completion::Send
                    }
                    false => Completion::Collective(self.take(p, &open)),
                }
            }
        }
    }

    /// Ends a request that the program gave up. A receive that has taken nothing is withdrawn.
    pub(crate) fn finish_given_up(&mut self, p: &mut Proc, pending: Pending) {
        match pending {
            Pending::Own(_) | Pending::OwnSend { .. } => (),
            Pending::Receive { ref request, .. } if p.withdraw(request) => (),
            pending => _ = self.finish_request(p, pending),
        }
    }
}

/// Returns the machine's requests for which one of a message waits.
fn numbers_of(pending: &Pending) -> Vec<u32> {
    match pending {
        Pending::Ready(_) | Pending::Own(_) | Pending::OwnSend { .. } | Pending::Collective(_) => Vec::new(),
        Pending::Send(request, _) => vec![request.number()],
        Pending::Receive { request, .. } => vec![request.number()],
        Pending::Both(both) => both.iter().flat_map(numbers_of).collect(),
    }
}

fn is_done(p: &mut Proc, pending: &Pending) -> bool {
    match pending {
        Pending::Ready(_) => true,
        Pending::Send(request, _) => p.is_done(request),
        Pending::Receive { request, .. } => p.is_done(request),
        Pending::Both(both) => both.iter().all(|one| is_done(p, one)),
        Pending::Own(_) | Pending::OwnSend { .. } | Pending::Collective(_) => false,
    }
}
