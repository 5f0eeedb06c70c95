//! Whether every processor does one thing after the other, as long as each takes, and so do its requests beside it.

use std::collections::BTreeMap;

use super::auditor::{Auditor, Rule, broken, words};
use super::deed::Deed;
use super::flight::{Flight, Sent};
use crate::params::Params;
use crate::time::Time;
use crate::trace::{ActivityKind, Message};

/// When a request was called for and waited for, and what it did.
#[derive(Default)]
struct Request<'a> {
    /// The calls for it.
    posts: Vec<&'a Deed<'a>>,
    /// The waits for it.
    waits: Vec<&'a Deed<'a>>,
    /// What it did.
    did: &'a [Deed<'a>],
}

impl<'a> Auditor<'a> {
    /// A send is an overhead, perhaps a stall, and perhaps a wait for the port. Then the message enters.
    pub(super) fn follow_sends(&mut self, did: &[Deed]) {
        let mut rest = did.iter().peekable();
        while let Some(first) = rest.peek().copied() {
            let send = rest.next_if(|deed| matches!(deed.what, ActivityKind::Send(_)));
            let stall = rest.next_if(|deed| *deed.what == ActivityKind::Stall);
            let port = rest.next_if(|deed| *deed.what == ActivityKind::Port);
            let Some(last) = port.or(stall).or(send) else {
                rest.next();
                continue;
            };
            let (x, start, end, enter) = (first.id, first.start, first.end, last.end);
            let ActivityKind::Send(id) = *first.what else {
                self.report(Rule::Entry, format!("processor {x} waits to send until {enter}, and does not"));
                continue;
            };
            let Some(place) = self.find(id).filter(|_| id.from == x) else {
                let sentence = format!("processor {x} sends {id} at {start}, which it never sent");
                self.report(Rule::Overhead, sentence);
                continue;
            };
            let Flight { message, params, sent: before, .. } = self.flights[place];
            if let Some(Sent { begun, .. }) = before {
                let sentence = format!("processor {x} sends {id} at {begun} and again at {start}");
                self.report(Rule::Overhead, sentence);
                continue;
            }
            let admitted = stall.map_or(end, |stall| stall.end);
            self.flights[place].sent = Some(Sent { begun: start, ready: end, admitted, entered: enter });
            let (cost, took, at) = (send_cost(params, message.words), end - start, message.enter);
            let lasts = self.lasts(x, start, end, cost);
            broken!(self, "{id}",
                !lasts => Rule::Overhead, "takes {took} to send from {start}, and costs {cost}";
                at != enter => Rule::Entry, "enters at {at}, and its sender goes on at {enter}";
            );
        }
    }

    /// What a processor did, from 0 to its end, and its requests beside it.
    pub(super) fn follow_processor(&mut self, did: &[Deed]) {
        let id = did[0].id;
        broken!(self, "there is no processor {id}",
            id >= self.trace.params.P => Rule::Names, "to do anything";
        );
        let (own, beside) = did.split_at(did.partition_point(|deed| deed.request.is_none()));
        self.follow_time(Rule::OneThing, &format!("processor {id}"), Time::ZERO, own);
        self.follow_work(own);
        let received = did.iter().filter(|deed| matches!(deed.what, ActivityKind::Receive(_)));
        let mut received: Vec<&Deed> = received.collect();
        // Several can begin at one moment only if no gap follows all but the last.
        received.sort_by_key(|reception| (reception.start, self.gap_after(reception), reception.end));
        self.follow_receptions(&received);
        for of_one in did.chunk_by(|a, b| a.request == b.request) {
            self.follow_gaps(of_one, &received);
        }
        self.follow_requests(id, own, beside);
    }

    /// One thing follows the other. Returns when the last one is over.
    fn follow_time(&mut self, rule: Rule, who: &str, from: Time, did: &[Deed]) -> Time {
        let mut now = from;
        for &Deed { start, end, .. } in did {
            broken!(self, "{who}",
                start > now => rule, "does nothing from {now} to {start}";
                start < now => rule, "does two things from {start} to {now}";
                end < start => rule, "goes back from {start} to {end}";
            );
            now = now.max(end);
        }
        now
    }

    /// A reception has its message, its time and its gap.
    fn follow_receptions(&mut self, did: &[&Deed]) {
        let mut last: Option<(Time, Time)> = None;
        for &&Deed { id: y, start, end, what, .. } in did {
            let ActivityKind::Receive(id) = *what else { continue };
            if let Some((last, g)) = last.filter(|(last, g)| start < *last + *g) {
                let sentence = format!("processor {y} begins receptions at {last} and {start}, and g = {g}");
                self.report(Rule::Gap, sentence);
            }
            last = Some((start, self.params(id.from, y).g));
            let Some(flight) = self.find(id).map(|place| &mut self.flights[place]) else {
                self.report(Rule::Reception, format!("processor {y} receives {id} at {start}, never sent"));
                continue;
            };
            let (params, &Message { to, words, arrival, .. }) = (flight.params, flight.message);
            let is_lost = self.trace.faults.lost.contains(&id);
            let mine = to == y;
            let before = flight.received;
            flight.received += usize::from(mine);
            let later = self.trace.faults.twice.get(&id).filter(|_| before == 1);
            let again = mine && before > 0 && later.is_none();
            let arrival = arrival + later.copied().unwrap_or_default();
            let (cost, took) = (receive_cost(params, words), end - start);
            let lasts = self.lasts(y, start, end, cost);
            broken!(self, "processor {y} receives {id} at {start},",
                !mine => Rule::Reception, "which was sent to {to}";
                again => Rule::Reception, "which it has received before";
                is_lost => Rule::Reception, "which was lost";
                mine && start < arrival => Rule::Arrival, "there at {arrival}";
                mine && !lasts => Rule::Overhead, "in {took}, and that costs {cost}";
            );
        }
    }

    /// Who waits for the gap sends or receives as soon as that is over.
    fn follow_gaps(&mut self, did: &[Deed], received: &[&Deed]) {
        // Where G_l takes time back, a message may ask before it is ready; one that goes after another may wait for that.
        let levels = self.trace.levels.iter().map(|level| &level.params);
        let takes_back = |params: &Params| params.gps().is_some_and(|gps| gps.G_l < Time::ZERO);
        if levels.chain([&self.trace.params]).any(takes_back) {
            return;
        }
        for (place, gap) in did.iter().enumerate().filter(|(_, deed)| *deed.what == ActivityKind::Gap) {
            let (over, goes_on) = match did.get(place + 1) {
                Some(Deed { what: ActivityKind::Send(id), end, .. }) => {
                    let flight = self.find(*id).map(|place| self.flights[place]);
                    let over = flight.and_then(|flight| flight.gap_over);
                    // The overhead is over with the gap, but for detours.
                    let cost = flight.map(|flight| send_cost(flight.params, flight.message.words));
                    let ends = over.zip(cost).is_some_and(|(over, cost)| {
                        *end >= over && self.lasts(gap.id, over - cost, *end, cost)
                    });
                    (over.map(|over| if ends { *end } else { over }), *end)
                }
                Some(Deed { what: ActivityKind::Receive(_), start, .. }) => {
                    let before = received.partition_point(|reception| reception.start < *start);
                    (before.checked_sub(1).map(|before| self.gap_after(received[before])), *start)
                }
                _ => (None, gap.end),
            };
            if over != Some(goes_on) {
                let over = over.map_or("there is none".into(), |over| format!("it is over at {over}"));
                let sentence = format!("processor {} waits for the gap until {goes_on}, and {over}", gap.id);
                self.report(Rule::Wait, sentence);
            }
        }
    }

    /// Each request is called for and waited for once, goes on from its call without a break, and is waited for until it
    /// is done.
    fn follow_requests(&mut self, x: usize, own: &[Deed], beside: &[Deed]) {
        let mut requests: BTreeMap<u32, Request> = BTreeMap::new();
        for deed in own {
            match deed.what {
                ActivityKind::Post(number) => requests.entry(*number).or_default().posts.push(deed),
                ActivityKind::Wait(number) => requests.entry(*number).or_default().waits.push(deed),
                _ => {}
            }
        }
        for did in beside.chunk_by(|a, b| a.request == b.request) {
            if let Some(number) = did[0].request {
                requests.entry(number).or_default().did = did;
            }
        }
        for (number, Request { posts, waits, did }) in requests {
            let who = format!("number {number} of processor {x}");
            if waits.is_empty() && self.trace.faults.crashed.contains_key(&x) {
                continue;
            }
            let (&[post], &[wait], 1..) = (&posts[..], &waits[..], did.len()) else {
                let [posts, waits, did] = [posts.len(), waits.len(), did.len()];
                let sentence = format!("{who} is called for {posts} times and waited for {waits} times");
                self.report(Rule::Request, format!("{sentence}, and does {did} things"));
                continue;
            };
            let (o, took, end) = (self.trace.params.o, post.end - post.start, wait.end);
            let done = self.follow_time(Rule::Request, &who, post.start, did);
            let had_o = done >= wait.start && self.may_have_had(x, wait.start, done, o);
            let in_time = if had_o { end == done } else { self.lasts(x, wait.start, end, o) };
            let over = done.max(wait.start + o);
            let called = self.lasts(x, post.start, post.end, o);
            broken!(self, "{who}",
                !called => Rule::Request, "is called for in {took}, and that costs {o}";
                wait.start < post.end => Rule::Request, "is waited for before it is called for";
                !in_time => Rule::Request, "is waited for until {end}, and that is over at {over}";
            );
        }
    }

    /// The n-th barrier of every processor is the same one: it ends for all when the last one has come, and
    /// its cost later.
    pub(super) fn watch_barriers(&mut self, deeds: &[Deed]) {
        let mut barriers: Vec<Vec<&Deed>> = Vec::new();
        for did in deeds.chunk_by(|a, b| a.id == b.id) {
            let there = |deed: &&Deed| deed.request.is_none() && deed.id < self.trace.params.P;
            let taken = did.iter().filter(there).filter(|deed| *deed.what == ActivityKind::Barrier);
            for (number, deed) in taken.enumerate() {
                if number == barriers.len() {
                    barriers.push(Vec::new());
                }
                barriers[number].push(deed);
            }
        }
        let Some(last) = barriers.last() else { return };
        let Some(cost) = self.trace.barrier else {
            let (id, start) = (barriers[0][0].id, barriers[0][0].start);
            let sentence = format!("processor {id} waits in one at {start}, and the machine has none");
            return self.report(Rule::Barrier, sentence);
        };
        let is_missing = |id: &usize| last.binary_search_by_key(id, |deed| deed.id).is_err();
        let mut missing = (0..self.trace.params.P).filter(is_missing);
        if let Some(id) = missing.next() {
            let (most, others) = (barriers.len(), missing.count());
            let sentence =
                format!("processor {id} takes part in fewer than {most}, and so do {others} others");
            return self.report(Rule::Barrier, sentence); // nobody knows which one it missed
        }
        for (number, taken) in barriers.iter().enumerate() {
            let came = taken.iter().map(|deed| deed.start).max().unwrap_or_default();
            let over = came + cost;
            for Deed { id, end, .. } in taken {
                broken!(self, "processor {id} leaves number {number} at {end},",
                    *end != over => Rule::Barrier, "and the last comes at {came}, and it costs {cost}";
                );
            }
        }
    }

    /// When the gap after a reception is over.
    pub(super) fn gap_after(&self, reception: &Deed) -> Time {
        let ActivityKind::Receive(id) = *reception.what else { return reception.start };
        reception.start + self.params(id.from, reception.id).g
    }
}

/// How long a processor is busy sending k words (LogP: o; LogGPS, table 3: o' + kO_s, and R above S).
fn send_cost(params: &Params, k: usize) -> Time {
    params.gps().map_or(params.o, |gps| {
        let agreed = if k > gps.S { params.R } else { Time::ZERO };
        params.o + words(k) * gps.O_s + agreed
    })
}

/// How long a processor is busy receiving k words (LogP: o; LogGPS, table 3: o' + kO_r).
fn receive_cost(params: &Params, k: usize) -> Time {
    params.gps().map_or(params.o, |gps| params.o + words(k) * gps.O_r)
}
